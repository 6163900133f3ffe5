//! A single run of an agent, and the sample of a case that it belongs to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grade::Layer;
use super::ids::{AgentName, CaseId, SuiteId};
use super::judge::Ballot;
use super::outputs::Outputs;
use super::words::words;

words! {
    /// How a run ended.
    #[derive(Hash)]
    pub enum RunStatus {
        /// It ended normally; its output, even an empty one, is a result.
        Completed = "completed",
        /// It failed with an error.
        Error = "error",
        /// It exceeded its time limit.
        Timeout = "timeout",
        /// Its stream stopped.
        Stalled = "stalled",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

/// One recorded or live run of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// How it ended.
    pub status: RunStatus,
    /// The error message, if it did not complete.
    pub error: Option<String>,
    /// The record's `outputs` object as JSON text; each kind parses its own fields.
    pub outputs: Outputs,
    /// The record's `intermediate` object as JSON text, if any.
    pub intermediate: Option<Box<str>>,
    /// The votes of LLM judges, if any.
    pub ballots: Vec<Ballot>,
    /// Its tokens, time and cost.
    pub tokens: Tokens,
    /// The calls that its measures count.
    pub counted_tools: CountedTools,
    /// Its origin.
    pub provenance: Provenance,
    /// The prompt in the record, if there is one and no digest of the input.
    pub prompt: Option<Box<str>>,
    /// How the JSON in its text was read, if its parts were put in place before grading.
    pub text_layer: Option<Layer>,
}

/// The calls that the measures of a run count, by tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CountedTools {
    /// The number of calls of each tool that was called.
    pub calls: BTreeMap<String, u64>,
    /// Why there are no counts, or not all of them, though the run has some.
    pub unreadable: Option<&'static str>,
}

impl Run {
    /// A completed run with only its outputs.
    pub fn of(outputs: impl Into<Outputs>) -> Self {
        Self {
            status: RunStatus::Completed,
            error: None,
            outputs: outputs.into(),
            intermediate: None,
            ballots: Vec::new(),
            tokens: Tokens::default(),
            counted_tools: CountedTools::default(),
            provenance: Provenance::default(),
            prompt: None,
            text_layer: None,
        }
    }
}

/// Measures that an agent reported about itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tokens {
    /// Input tokens, if recorded.
    pub input: Option<u64>,
    /// Output tokens, if recorded.
    pub output: Option<u64>,
    /// Total tokens, if recorded.
    pub total: Option<f64>,
    /// Total time in milliseconds, if recorded.
    pub latency_ms: Option<f64>,
    /// US dollars, if known.
    pub cost_usd: Option<f64>,
    /// Model calls, if recorded.
    pub model_calls: Option<f64>,
}

/// The origin of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// The model that answered.
    pub model: Option<String>,
    /// The name of the prompt package.
    pub prompt_package: Option<String>,
    /// `hit` if the answer came from a cache.
    pub cache: Option<String>,
    /// The digest of the agent's files.
    pub agent_sha256: Option<String>,
    /// The digest of what the case asks.
    pub input_sha256: Option<String>,
    /// The digest of what was called, if a target of the config was.
    pub target_sha256: Option<String>,
    /// The verdict of the log that the run was imported from.
    pub log: Option<LogVerdict>,
}

words! {
    /// What a log of another evaluation system says of a case.
    #[derive(Hash)]
    pub enum LogVerdict {
        /// It passed.
        Pass = "pass",
        /// It failed.
        Fail = "fail",
    }
}

/// Identifies the recordings of one agent on one case of one suite.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey {
    /// The suite whose agents are run.
    pub suite: SuiteId,
    /// The agent.
    pub agent: AgentName,
    /// The case, or the kind's name for a run of it.
    pub case: CaseId,
}

/// Why a sample has no result to grade. Infrastructure, never the agent's failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StatedEnd", into = "StatedEnd")]
pub enum UngradedReason {
    /// The run did not complete.
    Ended {
        /// How it ended.
        status: RunStatus,
        /// The error message.
        error: Option<String>,
    },
    /// This sample has no recording.
    NotRecorded,
}

/// Why a sample has no result, in a file.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct StatedEnd {
    /// How the run ended; absent without a recording.
    status: Option<RunStatus>,
    /// Its error message.
    error: Option<String>,
}

impl From<UngradedReason> for StatedEnd {
    fn from(why: UngradedReason) -> Self {
        match why {
            UngradedReason::Ended { status, error } => Self {
                status: Some(status),
                error,
            },
            UngradedReason::NotRecorded => Self {
                status: None,
                error: None,
            },
        }
    }
}

impl From<StatedEnd> for UngradedReason {
    fn from(StatedEnd { status, error }: StatedEnd) -> Self {
        status.map_or(Self::NotRecorded, |status| Self::Ended { status, error })
    }
}

impl UngradedReason {
    /// One line for people.
    pub fn text(&self) -> String {
        match self {
            Self::Ended {
                status: RunStatus::Completed,
                error: Some(error),
            } => error.clone(),
            Self::Ended {
                status,
                error: Some(error),
            } => format!("{}: {error}", status.as_str()),
            Self::Ended {
                status,
                error: None,
            } => status.as_str().to_owned(),
            Self::NotRecorded => "no recording of this sample".to_owned(),
        }
    }
}

/// One sample of a pair: its runs (usually one), or why it has none.
#[derive(Debug, Clone, PartialEq)]
pub enum Sample {
    /// All its runs completed, in the order of the case.
    Completed(Vec<Run>),
    /// At least one run did not complete.
    Inconclusive {
        why: UngradedReason,
        /// That run, if any: its partial output is not a result, but may be kept.
        run: Option<Box<Run>>,
    },
    /// It was skipped, because no answer could change a verdict.
    Spared,
}

impl Sample {
    /// Its completed runs; none if one of them did not complete.
    pub fn runs(&self) -> &[Run] {
        match self {
            Self::Completed(runs) => runs,
            Self::Inconclusive { .. } | Self::Spared => &[],
        }
    }
}
