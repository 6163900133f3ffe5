//! From the config to the report: the steps that several commands share.

pub mod base_commit;
pub mod base_judgement;
pub mod baseline;
pub mod evaluate;
pub mod fingerprint;
pub mod freshness;
pub mod judged;
pub mod legacy_output;
pub mod plan;
pub mod prompts;
pub mod remarks;
pub mod replay;
pub mod sample_count;
pub mod selection;
pub mod show;
pub mod snapshots;
pub mod tiers;
