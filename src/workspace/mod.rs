//! What commands and the action do with a working tree: grade it, read and write its baseline, recordings, outputs and transcripts.
//!
//! `worktree` opens checkout and base commit, `grade` is the order of the steps. Arguments are parsed in `app`, and what is pure is in
//! `evaluation`.

pub mod baseline;
pub mod case_queries;
pub mod failed_cases;
pub mod grade;
pub mod imported_runs;
pub mod joined_shards;
pub mod legacy_output;
pub mod past_baselines;
pub mod past_outputs;
pub mod personal_data;
pub mod proposed_case;
pub mod run_record_file;
pub mod shard_part;
pub mod show;
pub mod snapshots;
pub mod transcript_files;
pub mod weighed_baseline;
pub mod worktree;
