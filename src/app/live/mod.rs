//! Live samples: what is wanted is asked for, kept as it comes, and laid out like recordings.

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
mod overlay_files;
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
use self::overlay_files::OverlayFiles;
#[cfg(feature = "models")]
pub use self::session::make;
#[cfg(feature = "models")]
pub use self::session::unfinished;
#[cfg(not(feature = "models"))]
use super::cli_error::CliError;
#[cfg(not(feature = "models"))]
use super::plan::Plan;
use super::replay::LiveLayout;
use crate::model::{Interruption, RepoPath, RunUsage, Tier};
use crate::suites::Files;
use crate::world::Loudness;

/// Which answers are kept for later runs, and taken from earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// None.
    Off,
    /// All but those of suites that measure how answers vary.
    Usual,
    /// All.
    All,
}

/// Whether an unfinished run is gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// Its finished samples are taken over.
    Yes,
    /// It begins anew.
    No,
}

/// Which answers of earlier runs may be taken over, whatever `--cache` and `--resume` ask for. They lie in files of the working tree,
/// so a commit can bring them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "models"), allow(dead_code, reason = "nothing is taken over without live targets"))]
pub enum EarlierAnswers {
    /// All.
    All,
    /// Those whose address holds all that they depend on: of models, and of programs whose files the config names.
    Addressed,
    /// None: the verdict is one on this commit's agent by the rules of its base.
    None,
}

/// Whether samples are spared at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlyStopping {
    /// Where no verdict can change.
    Exact,
    /// Never: a baseline and a recording keep every sample.
    Off,
}

/// Where keys of models may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyHosts {
    /// Anywhere: what is measured is one's own.
    Any,
    /// To the vendors' own addresses and to these: scheme, host and port.
    Only(BTreeSet<String>),
}

/// How live samples are made.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveOptions {
    /// A folder for recordings.
    pub record: Option<String>,
    /// Whether answers are cached.
    pub caching: Caching,
    /// Whether an unfinished run is gone on with.
    pub resume: Resume,
    /// Which answers may be taken over at all.
    pub earlier: EarlierAnswers,
    /// Whether samples are spared that can change no verdict.
    pub sparing: EarlyStopping,
    /// How loud progress is.
    pub loudness: Loudness,
    /// Another limit of dollars than the config's.
    pub max_cost_usd: Option<f64>,
    /// Where keys of models may go.
    pub keys: KeyHosts,
}

/// What live runs gave.
#[derive(Default)]
pub struct LiveRuns {
    /// The records, by their place in the drawer.
    pub files: Vec<(RepoPath, String)>,
    /// Where they lie, and which samples were not needed.
    pub layout: LiveLayout,
    /// What they took.
    pub usage: RunUsage,
    /// What people should know.
    pub notes: Vec<String>,
    /// Agents that were asked for and not run.
    pub not_run: Vec<NotRun>,
    /// Why samples are missing, where the run was called off.
    pub called_off: Option<Interruption>,
}

/// Agents that were asked for and not run, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRun {
    /// The tier that they were asked for in.
    pub tier: Tier,
    /// Who, and why.
    pub message: String,
}

impl LiveRuns {
    /// Everything that can be read, with the records in it.
    pub fn overlay<'a>(&'a self, below: &'a dyn Files) -> OverlayFiles<'a> {
        let mut overlay = OverlayFiles::over(below);
        self.layout.folders.iter().for_each(|((_, agent), folder)| overlay.folder(folder.child(agent.as_str())));
        self.files.iter().for_each(|(file, text)| overlay.put(file.clone(), text));
        overlay
    }
}

impl LiveOptions {
    /// For a command that makes none.
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

/// Where keys may go: this program was built without targets that take any.
#[cfg(not(feature = "models"))]
pub fn keys_of_base(_: &dyn crate::world::Objects, _: &str, _: &crate::world::Disk, _: &RepoPath) -> KeyHosts {
    named_by(None)
}

/// As [`keys_of_base`].
#[cfg(not(feature = "models"))]
pub fn named_by(_: Option<&crate::model::Config>) -> KeyHosts {
    KeyHosts::Only(BTreeSet::new())
}

/// Makes none: this program was built without live targets.
///
/// # Errors
/// None.
#[cfg(not(feature = "models"))]
pub fn make(
    plan: &Plan,
    tier: Tier,
    _disk: &crate::world::Disk,
    _world: &crate::world::World,
    _options: &LiveOptions,
) -> Result<LiveRuns, CliError> {
    let mut made = LiveRuns::default();
    for opened in plan.suites.iter().filter(|opened| opened.config.tiers.contains(&tier)) {
        for (name, agent) in opened.config.agents.iter().filter(|(name, _)| plan.wanted.agent(name)) {
            if let Some(crate::model::RunSource::Live(live)) = super::plan::source_of(agent, tier) {
                let message = format!(
                    "not run: {}/{name}: this program was built without live targets, so \"{}\" cannot be called",
                    opened.config.id, live.target
                );
                made.not_run.push(NotRun { tier, message });
            }
        }
    }
    Ok(made)
}
