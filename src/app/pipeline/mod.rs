//! From the config to the report: the steps that several commands share.

pub mod base_commit;
pub mod base_judgement;
pub mod baseline;
pub mod evaluate;
pub mod fingerprint;
pub mod freshness;
pub mod grade;
pub mod grade_tier;
pub mod graded_run;
pub mod joined_shards;
pub mod judged;
pub mod legacy_output;
pub mod live_options;
pub mod live_runs;
pub mod plan;
pub mod prompts;
pub mod remarks;
pub mod replay;
pub mod run_options;
pub mod sample_count;
pub mod selection;
pub mod shard_part;
pub mod show;
pub mod snapshots;
pub mod tiers;
