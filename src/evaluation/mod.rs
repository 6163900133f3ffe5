//! From config, golden set, recordings and answers to the report of a tier: pure, the same for both tiers.
//!
//! [`plan`] says which cases run, [`replay`] reads their recordings, [`evaluate`] grades, folds and judges them, [`policies`] applies the
//! policy to all agents at once, and [`base_judgement`] compares with the base commit. What needs a disk, git, GitHub or a model is not here:
//! it comes in as files and as data.

pub mod agent_digest;
pub mod answering_models;
mod asked;
pub mod base_judgement;
pub mod base_runs;
pub mod call_lanes;
pub mod evaluate;
pub mod grade_tier;
pub mod graded_run;
pub mod harmless_tools;
pub mod judged;
pub mod live_layout;
pub mod live_options;
pub mod live_runs;
pub mod plan;
pub mod policies;
pub mod prompts;
pub mod read_runs;
pub mod recorded_agents;
pub mod remarks;
pub mod replay;
pub mod required_samples;
pub mod run_options;
pub mod sample_count;
pub mod selection;
pub mod since_base;
pub mod target_settings;
pub mod tiers;
