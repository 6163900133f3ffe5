//! Judges: models that mark what no rule can score. They inform, and no gate ever sees what they say.

use std::collections::BTreeMap;

use serde::Serialize;

use super::config::LiveSource;
use super::ids::{CaseId, JudgeName};
use super::mark::Mark;
use super::path::RepoPath;

/// A judge of a suite, as the config names it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judge {
    /// Its name: its key under `judges:`.
    pub name: JudgeName,
    /// Who votes.
    pub source: LiveSource,
    /// The file that says what is a pass, weak and a fail.
    pub rubric: RepoPath,
    /// Votes on each output: an odd number, 1 to 15.
    pub votes: u32,
    /// What people said by the same rubric.
    pub labels: Option<RepoPath>,
    /// Cohen's kappa with people that has to be exceeded before the judge may recommend, 0 to 1.
    pub floor: f64,
}

/// One vote of a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vote {
    /// It was given and could be read.
    Given {
        /// What the judge says of the output.
        mark: Mark,
        /// Why, in the judge's words.
        reason: String,
    },
    /// There is none: the text says why. It counts for nothing.
    Missing(String),
}

impl Vote {
    /// The mark, where there is one.
    pub fn mark(&self) -> Option<Mark> {
        match self {
            Self::Given { mark, .. } => Some(*mark),
            Self::Missing(_) => None,
        }
    }
}

/// The votes of one judge on one output, as a recording keeps them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ballot {
    /// The judge.
    pub judge: JudgeName,
    /// The digest of the rubric that was voted by.
    pub rubric_sha256: String,
    /// The digest of what was voted on: the task and the output.
    pub judged_sha256: String,
    /// The name of the target that was asked.
    pub target: Option<String>,
    /// The models that voted, as they name themselves.
    pub model: Option<String>,
    /// The votes, in the order in which they were asked for.
    pub votes: Vec<Vote>,
}

/// What a judge's votes on one sample come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgeConsensus {
    /// A mark that no missing vote could change.
    Settled(Mark),
    /// It cannot be told; the text says why. Never a fail of the agent.
    Unsettled(String),
}

impl JudgeConsensus {
    /// The mark, where it is settled.
    pub fn mark(&self) -> Option<Mark> {
        match self {
            Self::Settled(mark) => Some(*mark),
            Self::Unsettled(_) => None,
        }
    }
}

/// A judge on one completed sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedSample {
    /// What its votes come to.
    pub opinion: JudgeConsensus,
    /// The votes that count; none where they are on another output.
    pub votes: Vec<Vote>,
}

/// A judge on all samples of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairJudged {
    /// The judge.
    pub judge: JudgeName,
    /// The models that voted.
    pub model: Option<String>,
    /// What the samples come to.
    pub opinion: JudgeConsensus,
    /// The completed samples, in their order.
    pub samples: Vec<JudgedSample>,
    /// The digest of the pair's outputs: labels of people are on the same ones.
    pub outputs_sha256: Option<String>,
}

/// What a judge's number was measured with: another one makes two numbers incomparable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeIdentity {
    /// The models that voted; `None` where nobody did.
    pub model: Option<String>,
    /// The digest of the rubric.
    pub rubric_sha256: String,
    /// Votes on each output.
    pub votes: u32,
}

/// What a judge measured of an agent, as a baseline keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeEntry {
    /// What it was measured with.
    pub identity: JudgeIdentity,
    /// The mark of each case that is settled.
    pub cases: BTreeMap<CaseId, Mark>,
}

/// A judge's number beside the baseline's, on the cases that both have settled.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeComparison {
    /// The baseline has none, or none of these cases.
    Absent,
    /// It has one of the same judge.
    Known {
        /// The baseline's share of passes.
        baseline: f64,
        /// This run's share less the baseline's.
        delta: f64,
    },
    /// It has one of another judge; the text names what differs.
    Incomparable(String),
}

/// How far two sets of marks agree: people's, and those of a score or a judge.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// Cases that both have marked.
    pub cases: usize,
    /// How often people gave the mark of the row and the score that of the column, both from worst to best.
    pub table: [[usize; Mark::ALL.len()]; Mark::ALL.len()],
    /// The share of cases with the same mark.
    pub observed: f64,
    /// Cohen's kappa; `None` where both gave one and the same mark throughout, so that chance explains everything.
    pub kappa: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Kappa with half a disagreement between neighbours.
    pub weighted: Option<f64>,
    /// The share of cases that people marked as passed.
    pub base_rate: f64,
    /// The mark that people gave most often, and how often it would be right if it were always given.
    pub constant: (Mark, f64),
}

/// Whether a judge may recommend, and on what grounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Trust {
    /// How far it agrees with people; `None` where no label counts.
    pub agreement: Option<Agreement>,
    /// Labels on outputs that have changed since; they do not count.
    pub stale: u32,
    /// The kappa that has to be exceeded.
    pub floor: f64,
    /// Whether it may.
    pub standing: JudgeStanding,
}

/// Whether a judge may recommend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeStanding {
    /// It may.
    Recommends,
    /// The config names no file of labels.
    NoLabels,
    /// There are too few labels on the outputs of today.
    TooFewLabels,
    /// Labels and judge gave one and the same mark throughout: agreement cannot be told from chance.
    NothingToTell,
    /// Its agreement does not exceed the floor.
    BelowFloor,
}

impl JudgeStanding {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Recommends, Self::NoLabels, Self::TooFewLabels, Self::NothingToTell, Self::BelowFloor];

    /// The word used in reports.
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

/// One judge on one agent: shown beside the metrics, and never one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeReport {
    /// The judge.
    pub name: JudgeName,
    /// What it was measured with.
    pub identity: JudgeIdentity,
    /// How many of the counted cases have each mark, from worst to best.
    pub marks: [u32; Mark::ALL.len()],
    /// Counted cases of which nothing can be told.
    pub unsettled: u32,
    /// Against the baseline.
    pub comparison: JudgeComparison,
    /// Whether it may recommend.
    pub trust: Trust,
}

impl JudgeReport {
    /// The share of settled cases that pass; `None` of nothing.
    pub fn share(&self) -> Option<f64> {
        let settled: u32 = self.marks.iter().sum();
        super::share(self.marks[Mark::Pass as usize] as usize, settled as usize)
    }
}
