//! Options for making live samples.

use std::collections::{BTreeMap, BTreeSet};
#[cfg(feature = "models")]
use std::path::Path;
use std::path::PathBuf;

use crate::model::{Loudness, RunKey};

/// Which answers are cached and reused by later runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// No answers.
    Off,
    /// All except those of suites that measure variance.
    Usual,
    All,
}

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
pub enum EarlierAnswers {
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
    /// Make the samples of a case one at a time, and skip those after the first right one: a case that is right once is not lost.
    FirstRight,
    /// Never skip: a baseline and recordings need every sample.
    Off,
}

/// How many samples of each case are made where no option says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeastSamples {
    /// As many as the config states.
    AsStated,
    /// At least as many as are recorded, because the new recordings replace those.
    AsRecorded,
}

/// What becomes of recordings that are up to date when an agent is recorded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurrentRecordings {
    /// New ones replace them.
    Replaced,
    /// They are kept, and only missing and stale ones are made.
    Kept,
}

/// Which hosts may receive API keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyHosts {
    /// All hosts: the graded code is trusted.
    Any,
    /// The vendors' own hosts and these: scheme, host and port.
    Only(BTreeSet<String>),
}

/// The recorder of a pull request: its files are data, so nothing of it is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorder {
    /// The recorded commit.
    pub commit: String,
    /// The workflow run, as a URL.
    pub run: String,
    /// The folder in which targets' programs run.
    pub programs: PathBuf,
    /// The least number of samples of each run.
    pub samples: BTreeMap<RunKey, u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LiveOptions {
    /// The folder for recordings.
    pub record: Option<String>,
    /// How many samples are made where no option says it.
    pub least: LeastSamples,
    /// What becomes of recordings that are up to date.
    pub current: CurrentRecordings,
    pub caching: Caching,
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
    /// The server that answers captured agents instead of the usual one.
    pub upstream: Option<String>,
    /// The recorder of a pull request; `None` if the files are this machine's own.
    pub recorder: Option<Recorder>,
}

impl LiveOptions {
    /// The options of a command without live samples.
    pub const NONE: Self = Self {
        record: None,
        least: LeastSamples::AsStated,
        current: CurrentRecordings::Replaced,
        caching: Caching::Off,
        resume: Resume::No,
        earlier: EarlierAnswers::All,
        sparing: EarlyStopping::Exact,
        loudness: Loudness::Quiet,
        max_cost_usd: None,
        keys: KeyHosts::Any,
        upstream: None,
        recorder: None,
    };
}

impl Recorder {
    /// Returns the least number of samples of a run.
    #[cfg(feature = "models")]
    pub fn least_samples(&self, key: &RunKey) -> u32 {
        self.samples.get(key).copied().unwrap_or(1)
    }
}

#[cfg(feature = "models")]
impl LiveOptions {
    /// Returns the folder in which targets' programs run: never one with files of a pull request that are only data. Otherwise it is `place`.
    pub fn programs<'a>(&'a self, place: &'a Path) -> &'a Path {
        self.recorder
            .as_ref()
            .map_or(place, |recorder| &recorder.programs)
    }
}
