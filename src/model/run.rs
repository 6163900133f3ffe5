//! What an agent did once: a run, and the sample that it is of a case.

use super::ids::{AgentName, CaseId, SuiteId};
use super::judge::Ballot;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunStatus {
    /// It came to its end; what it produced, even nothing, is a result.
    Completed,
    /// It threw.
    Error,
    /// It took too long.
    Timeout,
    /// Its stream stopped.
    Stalled,
    /// It was called off.
    Cancelled,
}

/// One recorded or live run of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// How it ended.
    pub status: RunStatus,
    /// What it said when it did not complete.
    pub error: Option<String>,
    /// The record's `outputs` object, as JSON text; each kind reads its own fields of it.
    pub outputs: Box<str>,
    /// The record's `intermediate` object, as JSON text, where there is one.
    pub intermediate: Option<Box<str>>,
    /// What judges said of it, where somebody asked them.
    pub ballots: Vec<Ballot>,
    /// What it cost.
    pub tokens: Tokens,
    /// Where it came from.
    pub provenance: Provenance,
    /// The prompt that it answers, where it keeps one and no digest of its input.
    pub prompt: Option<Box<str>>,
}

impl Run {
    /// A completed run of which nothing is known but its outputs.
    pub fn of(outputs: impl Into<Box<str>>) -> Self {
        Self {
            status: RunStatus::Completed,
            error: None,
            outputs: outputs.into(),
            intermediate: None,
            ballots: Vec::new(),
            tokens: Tokens::default(),
            provenance: Provenance::default(),
            prompt: None,
        }
    }
}

/// Counts that an agent reported about itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tokens {
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens in all, where recorded.
    pub total: Option<f64>,
    /// Milliseconds from request to end, where recorded.
    pub latency_ms: Option<f64>,
    /// US dollars, where known.
    pub cost_usd: Option<f64>,
}

/// Where a run came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// The model that answered.
    pub model: Option<String>,
    /// The name of the prompt package.
    pub prompt_package: Option<String>,
    /// The digest of the prompt package.
    pub prompt_sha256: Option<String>,
    /// Whether it was answered from a cache (`hit`).
    pub cache: Option<String>,
    /// The digest of the agent's files: another one makes the recording stale.
    pub fingerprint: Option<String>,
    /// The digest of what the agent was asked: another one makes the recording stale.
    pub input_sha256: Option<String>,
}

/// Which recordings belong together: those of one agent on one case of one suite.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey {
    /// The suite whose agents are run.
    pub suite: SuiteId,
    /// The agent.
    pub agent: AgentName,
    /// The case, or another name that the kind gives a run of it.
    pub case: CaseId,
}

/// Why a sample gave nothing to grade. Infrastructure, never the agent's failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UngradedReason {
    /// The run ended in another way than `completed`.
    Ended {
        /// How it ended.
        status: RunStatus,
        /// What it said.
        error: Option<String>,
    },
    /// There is no recording of this sample.
    NotRecorded,
}

impl UngradedReason {
    /// One line for people.
    pub fn text(&self) -> String {
        match self {
            Self::Ended { status, error: Some(error) } => format!("{}: {error}", status.as_str()),
            Self::Ended { status, error: None } => status.as_str().to_owned(),
            Self::NotRecorded => "no recording of this sample".to_owned(),
        }
    }
}

/// One sample of a pair: the runs it consists of (mostly one), or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Sample {
    /// All its runs completed, in the order in which the case names them.
    Completed(Vec<Run>),
    /// At least one did not.
    Inconclusive {
        /// Why.
        why: UngradedReason,
        /// The run that ended so, where there is one: what it produced until then is no result, and may be kept.
        run: Option<Box<Run>>,
    },
    /// It was not made, since no answer could have changed a verdict.
    Spared,
}

impl RunStatus {
    /// The word used in run records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Stalled => "stalled",
            Self::Cancelled => "cancelled",
        }
    }
}
