//! LLM judges for what rules cannot score. They are advisory: no gate uses their verdicts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ids::{CaseId, JudgeName};
use super::mark::Mark;
use super::path::RepoPath;
use super::run_source::LiveSource;

/// A judge of a suite, as the config names it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judge {
    /// Its name: its key under `judges:`.
    pub name: JudgeName,
    /// The target that votes.
    pub source: LiveSource,
    /// The file that defines pass, weak and fail.
    pub rubric: RepoPath,
    /// Votes per output: an odd number, 1 to 15.
    pub votes: u32,
    /// The file of human labels by the same rubric.
    pub labels: Option<RepoPath>,
    /// Cohen's kappa with people that the judge must exceed before it may recommend, 0 to 1.
    pub floor: f64,
}

/// One vote of a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vote {
    /// A readable vote.
    Given {
        /// The judge's verdict on the output.
        mark: Mark,
        /// The judge's reason.
        reason: String,
    },
    /// A missing vote, with the cause. It does not count.
    Missing(String),
}

impl Vote {
    /// The mark, if there is one.
    pub fn mark(&self) -> Option<Mark> {
        match self {
            Self::Given { mark, .. } => Some(*mark),
            Self::Missing(_) => None,
        }
    }
}

/// The votes of one judge on one output, as stored in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ballot {
    /// The judge.
    pub judge: JudgeName,
    /// The SHA-256 of the rubric.
    pub rubric_sha256: String,
    /// The SHA-256 of the task and the output.
    pub judged_sha256: String,
    /// The name of the target.
    pub target: Option<String>,
    /// The models that voted, by their own names.
    pub model: Option<String>,
    /// The votes, in the order of the requests.
    pub votes: Vec<Vote>,
}

/// The result of a judge's votes on one sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgeConsensus {
    /// A mark that missing votes could not change.
    Settled(Mark),
    /// No result, with the cause. Never a fail of the agent.
    Unsettled(String),
}

impl JudgeConsensus {
    /// The mark, if settled.
    pub fn mark(&self) -> Option<Mark> {
        match self {
            Self::Settled(mark) => Some(*mark),
            Self::Unsettled(_) => None,
        }
    }
}

/// A judge's votes on one completed sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedSample {
    /// The result of its votes.
    pub opinion: JudgeConsensus,
    /// The votes that count; empty if they refer to another output.
    pub votes: Vec<Vote>,
}

/// A judge's votes on all samples of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairJudged {
    /// The judge.
    pub judge: JudgeName,
    /// The models that voted.
    pub model: Option<String>,
    /// The result over all samples.
    pub opinion: JudgeConsensus,
    /// The completed samples in order.
    pub samples: Vec<JudgedSample>,
    /// The digest of the pair's outputs, which labels of people must match.
    pub outputs_sha256: Option<String>,
}

/// What a judge's number was measured with; numbers with different identities are not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeIdentity {
    /// The models that voted; `None` if none did.
    pub model: Option<String>,
    /// The SHA-256 of the rubric.
    pub rubric_sha256: String,
    /// Votes per output.
    pub votes: u32,
}

/// A judge's verdicts on an agent, as stored in a baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeEntry {
    /// What it was measured with.
    pub identity: JudgeIdentity,
    /// The mark of each settled case.
    pub cases: BTreeMap<CaseId, Mark>,
}

/// A judge's number compared with the baseline's, on the cases that both have settled.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeComparison {
    /// The baseline has no such number.
    Absent,
    /// The baseline has a number of the same judge.
    Known {
        /// The baseline's share of passes.
        baseline: f64,
        /// This run's share minus the baseline's.
        delta: f64,
    },
    /// The baseline's judge differs; the text names the difference.
    Incomparable(String),
}

/// The agreement between two sets of marks: those of people, and those of a score or a judge.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// Number of cases with both marks.
    pub cases: usize,
    /// Confusion matrix from worst to best: rows are the marks of people, columns those of the score.
    pub table: [[usize; Mark::ALL.len()]; Mark::ALL.len()],
    /// The share of cases with the same mark.
    pub observed: f64,
    /// Cohen's kappa; `None` if both sides always gave the same mark, so that chance explains everything.
    pub kappa: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Kappa in which neighbouring marks count as half a disagreement.
    pub weighted: Option<f64>,
    /// The share of cases that people marked as passed.
    pub base_rate: f64,
    /// The most frequent mark of people, and the share of cases with it.
    pub constant: (Mark, f64),
}

/// Whether a judge may recommend, with the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Trust {
    /// Its agreement with people; `None` if no label counts.
    pub agreement: Option<Agreement>,
    /// Number of labels whose output has changed since; they do not count.
    pub stale: u32,
    /// The kappa that it must exceed.
    pub floor: f64,
    /// Whether it may recommend.
    pub standing: JudgeStanding,
}

/// Whether a judge may recommend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeStanding {
    /// It may recommend.
    Recommends,
    /// The config has no file of labels.
    NoLabels,
    /// Too few labels match the current outputs.
    TooFewLabels,
    /// People and judge always gave the same mark: agreement cannot be distinguished from chance.
    NothingToTell,
    /// Its agreement does not exceed the floor.
    BelowFloor,
}

impl JudgeStanding {
    /// All standings.
    pub const ALL: [Self; 5] =
        [Self::Recommends, Self::NoLabels, Self::TooFewLabels, Self::NothingToTell, Self::BelowFloor];

    /// The value in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recommends => "recommends",
            Self::NoLabels => "no_labels",
            Self::TooFewLabels => "too_few_labels",
            Self::NothingToTell => "nothing_to_tell",
            Self::BelowFloor => "below_floor",
        }
    }
}

/// One judge on one agent: reported next to the metrics, never one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeReport {
    /// The judge.
    pub name: JudgeName,
    /// What it was measured with.
    pub identity: JudgeIdentity,
    /// Number of counted cases by mark, from worst to best.
    pub marks: [u32; Mark::ALL.len()],
    /// Counted cases without a verdict.
    pub unsettled: u32,
    /// The comparison with the baseline.
    pub comparison: JudgeComparison,
    /// Whether it may recommend.
    pub trust: Trust,
}

impl JudgeReport {
    /// The share of settled cases that pass; `None` without settled cases.
    pub fn share(&self) -> Option<f64> {
        let settled: u32 = self.marks.iter().sum();
        super::share(self.marks[Mark::Pass as usize] as usize, settled as usize)
    }
}
