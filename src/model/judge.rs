//! LLM judges for what rules cannot score. They are advisory: no gate uses their verdicts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file_form::known_words;
use super::ids::{CaseId, JudgeName};
use super::mark::Mark;
use super::path::RepoPath;
use super::run_source::LiveSource;
use super::words::words;

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StatedVote", into = "StatedVote")]
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

/// One vote in a report.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct StatedVote {
    /// The verdict; absent where the vote is missing.
    verdict: Option<Mark>,
    /// The judge's reason; for a missing vote, why it is missing.
    reason: String,
}

impl From<Vote> for StatedVote {
    fn from(vote: Vote) -> Self {
        match vote {
            Vote::Given { mark, reason } => Self {
                verdict: Some(mark),
                reason,
            },
            Vote::Missing(reason) => Self {
                verdict: None,
                reason,
            },
        }
    }
}

impl From<StatedVote> for Vote {
    fn from(StatedVote { verdict, reason }: StatedVote) -> Self {
        match verdict {
            Some(mark) => Self::Given { mark, reason },
            None => Self::Missing(reason),
        }
    }
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StatedConsensus", into = "StatedConsensus")]
pub enum JudgeConsensus {
    /// A mark that missing votes could not change.
    Settled(Mark),
    /// No result, with the cause. Never a fail of the agent.
    Unsettled(String),
}

/// The result of votes in a report.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct StatedConsensus {
    /// The median of the votes; absent if missing votes could change it.
    verdict: Option<Mark>,
    /// Why the verdict is unknown.
    reason: Option<String>,
}

impl From<JudgeConsensus> for StatedConsensus {
    fn from(opinion: JudgeConsensus) -> Self {
        match opinion {
            JudgeConsensus::Settled(mark) => Self {
                verdict: Some(mark),
                reason: None,
            },
            JudgeConsensus::Unsettled(why) => Self {
                verdict: None,
                reason: Some(why),
            },
        }
    }
}

impl From<StatedConsensus> for JudgeConsensus {
    fn from(StatedConsensus { verdict, reason }: StatedConsensus) -> Self {
        verdict.map_or_else(
            || Self::Unsettled(reason.unwrap_or_default()),
            Self::Settled,
        )
    }
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedSample {
    /// The result of its votes.
    #[serde(flatten)]
    pub opinion: JudgeConsensus,
    /// The votes that count; empty if they refer to another output.
    pub votes: Vec<Vote>,
}

/// A judge's votes on all samples of a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairJudged {
    /// The judge.
    pub judge: JudgeName,
    /// The models that voted.
    pub model: Option<String>,
    /// The result over all samples.
    #[serde(flatten)]
    pub opinion: JudgeConsensus,
    /// The digest of the pair's outputs, which labels of people must match.
    pub outputs_sha256: Option<String>,
    /// The completed samples in order.
    pub samples: Vec<JudgedSample>,
}

/// What a judge's number was measured with; numbers with different identities are not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeIdentity {
    /// The models that voted; absent if none did.
    pub model: Option<String>,
    /// The SHA-256 of the rubric.
    pub rubric_sha256: String,
    /// Votes per output.
    pub votes: u32,
}

/// A judge's verdicts on an agent, as stored in a baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeEntry {
    /// What it was measured with.
    #[serde(flatten)]
    pub identity: JudgeIdentity,
    /// The mark of each settled case: `pass`, `weak` or `fail`.
    #[serde(default, deserialize_with = "known_words")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub cases: BTreeMap<CaseId, Mark>,
}

/// A judge's number compared with the baseline's, on the cases that both have settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StatedComparison", into = "StatedComparison")]
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

/// A judge's comparison in a report.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct StatedComparison {
    /// The baseline's share, on the cases that both have.
    baseline: Option<f64>,
    /// The difference.
    delta: Option<f64>,
    /// Why it is not compared with the baseline.
    incomparable: Option<String>,
}

impl From<JudgeComparison> for StatedComparison {
    fn from(comparison: JudgeComparison) -> Self {
        match comparison {
            JudgeComparison::Absent => Self {
                baseline: None,
                delta: None,
                incomparable: None,
            },
            JudgeComparison::Known { baseline, delta } => Self {
                baseline: Some(baseline),
                delta: Some(delta),
                incomparable: None,
            },
            JudgeComparison::Incomparable(why) => Self {
                baseline: None,
                delta: None,
                incomparable: Some(why),
            },
        }
    }
}

impl From<StatedComparison> for JudgeComparison {
    fn from(stated: StatedComparison) -> Self {
        match (stated.baseline, stated.delta, stated.incomparable) {
            (Some(baseline), Some(delta), None) => Self::Known { baseline, delta },
            (None, None, Some(why)) => Self::Incomparable(why),
            _ => Self::Absent,
        }
    }
}

/// The agreement between two sets of marks: those of people, and those of a score or a judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// Number of cases with both marks.
    #[serde(rename = "labels")]
    pub cases: usize,
    /// Confusion matrix from worst to best: rows are the marks of people, columns those of the score.
    pub table: [[usize; Mark::ALL.len()]; Mark::ALL.len()],
    /// The share of cases with the same mark.
    pub observed: f64,
    /// Cohen's kappa; absent if both sides always gave the same mark, so that chance explains everything.
    pub kappa: Option<f64>,
    /// Its 95 % interval.
    #[serde(rename = "ci95")]
    pub interval: Option<(f64, f64)>,
    /// Kappa in which neighbouring marks count as half a disagreement.
    #[serde(rename = "weighted_kappa")]
    pub weighted: Option<f64>,
    /// The share of cases that people marked as passed.
    pub base_rate: f64,
    /// The most frequent mark of people.
    pub constant: Mark,
    /// The share of cases with this mark.
    pub constant_right: f64,
}

/// Whether a judge may recommend, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trust {
    /// Its agreement with people; absent if no label counts.
    pub agreement: Option<Agreement>,
    /// Number of labels whose output has changed since; they do not count.
    #[serde(rename = "stale_labels")]
    pub stale: u32,
    /// The kappa that it must exceed.
    pub floor: f64,
    /// Whether it may recommend.
    pub standing: JudgeStanding,
}

words! {
    /// Whether a judge may recommend.
    pub enum JudgeStanding {
        /// It may recommend.
        Recommends = "recommends",
        /// The config has no file of labels.
        NoLabels = "no_labels",
        /// Too few labels match the current outputs.
        TooFewLabels = "too_few_labels",
        /// People and judge always gave the same mark: agreement cannot be distinguished from chance.
        NothingToTell = "nothing_to_tell",
        /// Its agreement does not exceed the floor.
        BelowFloor = "below_floor",
    }
}

/// One judge on one agent: reported next to the metrics, never one of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeReport {
    /// The judge.
    #[serde(rename = "judge")]
    pub name: JudgeName,
    /// What it was measured with.
    #[serde(flatten)]
    pub identity: JudgeIdentity,
    /// Number of counted cases by mark.
    #[serde(flatten)]
    pub marks: MarkCounts,
    /// Counted cases without a verdict; never counted as a fail.
    pub unsettled: u32,
    /// The comparison with the baseline.
    #[serde(flatten)]
    pub comparison: JudgeComparison,
    /// Whether it may recommend.
    #[serde(flatten)]
    pub trust: Trust,
}

/// Numbers of cases by mark, from worst to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StatedMarkCounts", into = "StatedMarkCounts")]
pub struct MarkCounts(
    /// One number for each mark.
    pub [u32; Mark::ALL.len()],
);

/// Numbers of cases by mark in a report.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct StatedMarkCounts {
    /// The share of passing cases among those with a verdict.
    share: Option<f64>,
    /// Cases that pass.
    pass: u32,
    /// Cases with the verdict weak.
    weak: u32,
    /// Cases that fail.
    fail: u32,
}

impl From<MarkCounts> for StatedMarkCounts {
    fn from(counts: MarkCounts) -> Self {
        let MarkCounts([fail, weak, pass]) = counts;
        Self {
            share: counts.share(),
            pass,
            weak,
            fail,
        }
    }
}

impl From<StatedMarkCounts> for MarkCounts {
    fn from(
        StatedMarkCounts {
            share: _,
            pass,
            weak,
            fail,
        }: StatedMarkCounts,
    ) -> Self {
        Self([fail, weak, pass])
    }
}

impl MarkCounts {
    /// The share of settled cases that pass; `None` without settled cases.
    pub fn share(&self) -> Option<f64> {
        let settled: u32 = self.0.iter().sum();
        super::share(self.0[Mark::Pass as usize] as usize, settled as usize)
    }
}
