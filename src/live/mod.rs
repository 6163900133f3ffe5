//! Live samples: calls the targets, saves answers as they arrive, and presents them like recordings.
//!
//! `engine` schedules (concurrency, retries, budget, resume), `targets` are commands, servers and models, `wire` has a file for each
//! vendor's API. Only the model tier and `record` come here. A verdict is never decided here.

#[cfg(feature = "models")]
mod affected;
#[cfg(feature = "models")]
mod agent_digests;
#[cfg(feature = "models")]
mod bounds;
#[cfg(feature = "models")]
mod early_stop;
#[cfg(feature = "models")]
mod engine;
#[cfg(feature = "models")]
mod event_sink;
#[cfg(feature = "models")]
mod judge_runner;
#[cfg(feature = "models")]
mod keys;
#[cfg(feature = "models")]
mod make;
#[cfg(feature = "models")]
mod planned_run;
#[cfg(feature = "models")]
mod recorded_samples;
#[cfg(feature = "models")]
mod recording;
#[cfg(feature = "models")]
mod saved_answers;
#[cfg(feature = "models")]
mod session;
#[cfg(feature = "models")]
mod session_outcome;
#[cfg(feature = "models")]
mod store;
#[cfg(feature = "models")]
mod target_queues;
#[cfg(feature = "models")]
pub mod targets;
#[cfg(feature = "models")]
mod tracing;
pub mod wire;

#[cfg(not(feature = "models"))]
use std::collections::BTreeSet;

#[cfg(feature = "models")]
pub(crate) use self::affected::UnaffectedAgents;
#[cfg(feature = "models")]
pub(crate) use self::bounds::limits;
#[cfg(feature = "models")]
pub(crate) use self::judge_runner::JudgeRequests;
#[cfg(feature = "models")]
pub(crate) use self::judge_runner::JudgeRunner;
#[cfg(feature = "models")]
pub(crate) use self::judge_runner::VoteReuse;
#[cfg(feature = "models")]
pub(crate) use self::judge_runner::poll;
#[cfg(feature = "models")]
pub(crate) use self::keys::keys_of_base;
#[cfg(all(feature = "github", feature = "models"))]
pub(crate) use self::keys::named_by;
#[cfg(feature = "models")]
pub(crate) use self::make::make;
#[cfg(all(feature = "github", feature = "models"))]
pub(crate) use self::planned_run::requested_bytes;
#[cfg(feature = "models")]
pub(crate) use self::saved_answers::unfinished;
#[cfg(all(feature = "github", feature = "models"))]
pub(crate) use crate::evaluation::live_options::Recorder;
pub(crate) use crate::evaluation::live_options::{
    Caching, CurrentRecordings, EarlierAnswers, EarlyStopping, KeyHosts, LeastSamples, LiveOptions,
    Resume,
};
pub(crate) use crate::evaluation::live_runs::{LiveRuns, NotRun};
#[cfg(not(feature = "models"))]
use crate::evaluation::plan::Plan;
#[cfg(not(feature = "models"))]
use crate::model::{RepoPath, Tier};
#[cfg(not(feature = "models"))]
use crate::render::CliError;

/// Returns the vendors' hosts: without live targets keys are never sent.
#[cfg(not(feature = "models"))]
pub(crate) fn keys_of_base(
    _: &dyn crate::world::Objects,
    _: &str,
    _: &crate::world::Disk,
    _: &RepoPath,
) -> KeyHosts {
    named_by(None)
}

/// As [`keys_of_base`].
#[cfg(not(feature = "models"))]
pub(crate) fn named_by(_: Option<&crate::model::Config>) -> KeyHosts {
    KeyHosts::Only(BTreeSet::new())
}

/// Reports all live agents as not run: this program was built without live targets.
#[cfg(not(feature = "models"))]
pub(crate) fn make(
    plan: &Plan,
    tier: Tier,
    _disk: &crate::world::Disk,
    _world: &crate::world::World,
    _options: &LiveOptions,
) -> Result<LiveRuns, CliError> {
    let mut made = LiveRuns::default();
    for loaded in plan
        .suites
        .iter()
        .filter(|loaded| loaded.config.tiers.contains(&tier))
    {
        for (name, agent) in loaded
            .config
            .agents
            .iter()
            .filter(|(name, _)| plan.wanted.agent(name))
        {
            if let Some(crate::model::RunSource::Live(live)) =
                crate::evaluation::plan::source_of(agent, tier)
            {
                let message = format!(
                    "not run: {}/{name}: this program was built without live targets, so \"{}\" cannot be called",
                    loaded.config.id, live.target
                );
                made.not_run.push(NotRun { tier, message });
            }
        }
    }
    Ok(made)
}
