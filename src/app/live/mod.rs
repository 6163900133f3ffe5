//! Live samples: calls the targets, saves answers as they arrive, and presents them like recordings.

#[cfg(feature = "models")]
mod agent_digests;
#[cfg(feature = "models")]
mod bounds;
#[cfg(feature = "models")]
mod early_stop;
#[cfg(feature = "models")]
mod event_sink;
#[cfg(feature = "models")]
mod judge_runner;
#[cfg(feature = "models")]
mod keys;
#[cfg(feature = "models")]
mod planned_run;
#[cfg(feature = "models")]
mod recording;
#[cfg(feature = "models")]
mod session;
#[cfg(feature = "models")]
mod store;
#[cfg(feature = "models")]
mod target_queues;
#[cfg(feature = "models")]
mod tracing;

use std::collections::BTreeSet;

#[cfg(feature = "models")]
pub use self::bounds::limits;
#[cfg(feature = "models")]
pub use self::bounds::redactor;
#[cfg(feature = "models")]
pub use self::judge_runner::JudgeRequests;
#[cfg(feature = "models")]
pub use self::judge_runner::JudgeRunner;
#[cfg(feature = "models")]
pub use self::judge_runner::VoteReuse;
#[cfg(feature = "models")]
pub use self::judge_runner::poll;
#[cfg(feature = "models")]
pub use self::keys::keys_of_base;
#[cfg(feature = "models")]
pub use self::keys::named_by;
#[cfg(feature = "models")]
pub use self::session::make;
#[cfg(feature = "models")]
pub use self::session::unfinished;
#[cfg(not(feature = "models"))]
use super::cli_error::CliError;
#[cfg(not(feature = "models"))]
use super::pipeline::plan::Plan;
use super::pipeline::replay::LiveLayout;
use crate::files::{Files, OverlayFiles};
use crate::model::{Interruption, RepoPath, RunUsage, Tier};
use crate::world::Loudness;

/// Which answers are cached and reused by later runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// No answers.
    Off,
    /// All except those of suites that measure variance.
    Usual,
    /// All.
    All,
}

/// Whether to resume an unfinished run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// Reuse its finished samples.
    Yes,
    /// Start from the beginning.
    No,
}

/// Which answers of earlier runs may be reused, whatever `--cache` and `--resume` request. They are files in the working tree, so a
/// commit can contain forged ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "models"), allow(dead_code, reason = "nothing is reused without live targets"))]
pub enum EarlierAnswers {
    /// All.
    All,
    /// Those whose address covers everything they depend on: of models, and of programs whose files the config names.
    Addressed,
    /// No answers: the verdict must be on this commit's agent.
    None,
}

/// Whether to skip unneeded samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlyStopping {
    /// Skip samples that cannot change a verdict.
    Exact,
    /// Never skip: a baseline and recordings need every sample.
    Off,
}

/// Which hosts may receive API keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyHosts {
    /// All hosts: the graded code is trusted.
    Any,
    /// The vendors' own hosts and these: scheme, host and port.
    Only(BTreeSet<String>),
}

/// Options for making live samples.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveOptions {
    /// The folder for recordings.
    pub record: Option<String>,
    /// Which answers are cached.
    pub caching: Caching,
    /// Whether to resume an unfinished run.
    pub resume: Resume,
    /// Which earlier answers may be reused.
    pub earlier: EarlierAnswers,
    /// Whether to skip samples that cannot change a verdict.
    pub sparing: EarlyStopping,
    /// How much progress is printed.
    pub loudness: Loudness,
    /// The budget in US dollars instead of the config's.
    pub max_cost_usd: Option<f64>,
    /// Which hosts may receive API keys.
    pub keys: KeyHosts,
}

/// The results of live runs.
#[derive(Default)]
pub struct LiveRuns {
    /// The records, with their paths in the overlay.
    pub files: Vec<(RepoPath, String)>,
    /// The folders of the records, and which samples were skipped.
    pub layout: LiveLayout,
    /// The usage.
    pub usage: RunUsage,
    /// Notes for the report.
    pub notes: Vec<String>,
    /// Selected agents that were not run.
    pub not_run: Vec<NotRun>,
    /// Why samples are missing, if the run was interrupted.
    pub called_off: Option<Interruption>,
}

/// Selected agents that were not run, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRun {
    /// The tier.
    pub tier: Tier,
    /// The agents and the reason.
    pub message: String,
}

impl LiveRuns {
    /// Returns the files with the live records added.
    pub fn overlay<'a>(&'a self, below: &'a dyn Files) -> OverlayFiles<'a> {
        let mut overlay = OverlayFiles::over(below);
        self.layout.folders.iter().for_each(|((_, agent), folder)| overlay.folder(folder.child(agent.as_str())));
        self.files.iter().for_each(|(file, text)| overlay.put(file.clone(), text));
        overlay
    }
}

impl LiveOptions {
    /// The options of a command without live samples.
    pub const NONE: Self = Self {
        record: None,
        caching: Caching::Off,
        resume: Resume::No,
        earlier: EarlierAnswers::All,
        sparing: EarlyStopping::Exact,
        loudness: Loudness::Quiet,
        max_cost_usd: None,
        keys: KeyHosts::Any,
    };
}

/// Returns the vendors' hosts: without live targets keys are never sent.
#[cfg(not(feature = "models"))]
pub fn keys_of_base(_: &dyn crate::world::Objects, _: &str, _: &crate::world::Disk, _: &RepoPath) -> KeyHosts {
    named_by(None)
}

/// As [`keys_of_base`].
#[cfg(not(feature = "models"))]
pub fn named_by(_: Option<&crate::model::Config>) -> KeyHosts {
    KeyHosts::Only(BTreeSet::new())
}

/// Reports all live agents as not run: this program was built without live targets.
///
/// # Errors
/// Never.
#[cfg(not(feature = "models"))]
pub fn make(
    plan: &Plan,
    tier: Tier,
    _disk: &crate::world::Disk,
    _world: &crate::world::World,
    _options: &LiveOptions,
) -> Result<LiveRuns, CliError> {
    let mut made = LiveRuns::default();
    for loaded in plan.suites.iter().filter(|loaded| loaded.config.tiers.contains(&tier)) {
        for (name, agent) in loaded.config.agents.iter().filter(|(name, _)| plan.wanted.agent(name)) {
            if let Some(crate::model::RunSource::Live(live)) = super::pipeline::plan::source_of(agent, tier) {
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
