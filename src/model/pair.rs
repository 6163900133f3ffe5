//! A pair is one agent on one case: what its samples come to.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::evidence::PairShortfall;
use super::grade::{CheckName, Failure, Layer};
use super::ids::{AgentName, CaseId};
use super::judge::PairJudged;
use super::mark::Mark;
use super::path::RepoPath;
use super::run::UngradedReason;

/// A sample that gave nothing to grade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostSample {
    /// Which sample, from 0.
    pub sample: u32,
    /// Why.
    pub why: UngradedReason,
}

/// One metric of a pair.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairValue {
    /// The folded value; `None` where no completed sample had one.
    pub value: Option<f64>,
    /// The completed samples' values, in their order.
    pub samples: SmallVec<[Option<f64>; 1]>,
}

impl PairValue {
    /// How far the samples lie apart: their sample standard deviation; `None` of fewer than two.
    pub fn spread(&self) -> Option<f64> {
        let values: SmallVec<[f64; 8]> = self.samples.iter().copied().flatten().collect();
        if values.len() < 2 {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        // The mean of equal values may be rounded; they do not vary for that.
        let equal = values.iter().all(|value| *value == values[0]);
        Some(if equal { 0.0 } else { (squares / (count - 1.0)).sqrt() })
    }
}

/// One check of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairCheck {
    /// Its name.
    pub name: CheckName,
    /// The line of the golden file, from 1.
    pub line: u32,
    /// How it stands over the samples.
    pub standing: Standing,
    /// The most frequent failure among the samples, where there is one.
    pub failure: Option<Box<Failure>>,
    /// What would be right, where there is a failure.
    pub expected: Option<Box<str>>,
}

impl PairResult {
    /// Whether more than half of the planned samples completed (grading.md 2.2); of a case in quarantine too.
    pub fn has_majority(&self) -> bool {
        2 * u64::from(self.completed) > u64::from(self.planned)
    }
}

/// How a check stands over the completed samples (grading.md 2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Every sample passes.
    Passes,
    /// More than half pass, not all.
    PassesFlaky,
    /// Half or fewer pass, not none.
    FailsFlaky,
    /// No sample passes.
    Fails,
}

impl Standing {
    /// How `passed` of `samples` stands.
    pub fn of(passed: usize, samples: usize) -> Self {
        match (passed, samples) {
            (_, 0) => Self::Fails,
            (passed, samples) if passed == samples => Self::Passes,
            (0, _) => Self::Fails,
            (passed, samples) if 2 * passed > samples => Self::PassesFlaky,
            _ => Self::FailsFlaky,
        }
    }

    /// Whether more than half of the samples pass.
    pub fn passes(self) -> bool {
        matches!(self, Self::Passes | Self::PassesFlaky)
    }

    /// What the samples say of the case: weak where they disagree.
    pub fn mark(self) -> Mark {
        match self {
            Self::Passes => Mark::Pass,
            Self::PassesFlaky | Self::FailsFlaky => Mark::Weak,
            Self::Fails => Mark::Fail,
        }
    }

    /// Whether the samples disagree.
    pub fn is_flaky(self) -> bool {
        matches!(self, Self::PassesFlaky | Self::FailsFlaky)
    }
}

/// Why a pair is left out of every aggregate (grading.md 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exclusion {
    /// It counts.
    Counted,
    /// No majority of its planned samples completed.
    NoMajority,
    /// It is in quarantine: it runs and shows, and does not gate (grading.md 14).
    Quarantined,
}

/// Why a case does not gate for a while, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantine {
    /// Who mends it.
    pub owner: String,
    /// What is known of it.
    pub reason: String,
    /// The last day, as `YYYY-MM-DD`; from the next day on it gates again.
    pub expires: String,
}

/// What the samples of one pair come to.
#[derive(Debug, Clone, PartialEq)]
pub struct PairResult {
    /// The case.
    pub case: CaseId,
    /// The agent.
    pub agent: AgentName,
    /// The golden file that asks for the checks.
    pub golden: RepoPath,
    /// Samples planned.
    pub planned: u32,
    /// Samples completed.
    pub completed: u32,
    /// Whether it counts.
    pub exclusion: Exclusion,
    /// Its quarantine, where it is in one.
    pub quarantine: Option<Box<Quarantine>>,
    /// The samples that gave nothing, in their order.
    pub lost: Vec<LostSample>,
    /// How many samples were not made, since no answer could have changed a verdict.
    pub spared: u32,
    /// One value for each metric of the kind, in the order of its table.
    pub values: Vec<PairValue>,
    /// Whether the samples passed: all their checks in more than half of the completed ones.
    pub passed: Standing,
    /// Samples that passed; `None` where a stored report does not say.
    pub passing: Option<u32>,
    /// Its checks.
    pub checks: Vec<PairCheck>,
    /// What costs the metrics that no check looks at, the most frequent first.
    pub shortfalls: Vec<PairShortfall>,
    /// How the completed samples were read.
    pub layers: Box<[Layer]>,
    /// What is kept of single samples for an audit, by their places; written beside a report, and no part of it.
    pub kept: Vec<(u32, Box<str>)>,
    /// What the agent's program wrote to stderr, by sample: its last 64 KiB; written beside a report, and no part of it.
    pub complaints: BTreeMap<u32, String>,
    /// What the suite's judges say of it, in the order of the config.
    pub judged: Vec<PairJudged>,
    /// The digest of what its samples put out, where a person's score has to be of the same.
    pub outputs_sha256: Option<String>,
    /// The model and the prompt package that answered.
    pub answered_by: AnsweredBy,
}

/// Who answered: part of a measurement's identity.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnsweredBy {
    /// The model, where the records name one.
    pub model: Option<String>,
    /// The prompt package's digest, where the records name one.
    pub prompt_sha256: Option<String>,
    /// Whether the records are of the agent and of the input that there are now.
    pub freshness: Freshness,
}

/// Whether recordings are of the agent and of the input that there are now: the worst of all samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Freshness {
    /// The agent's files against their recorded digest.
    pub agent: RecordingAge,
    /// What the case asks against its recorded digest.
    pub input: RecordingAge,
}

/// Whether a recording is of what there is now; in the order from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RecordingAge {
    /// It is, or it was made a moment ago.
    #[default]
    Fresh,
    /// It keeps no digest.
    Unknown,
    /// It is of something else, and the config says that this is only noted.
    StaleNoted,
    /// It is of something else.
    Stale,
}

impl RecordingAge {
    /// The word used in stored parts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Unknown => "unknown",
            Self::StaleNoted => "stale_noted",
            Self::Stale => "stale",
        }
    }
}

impl Freshness {
    /// The worse of both, part by part.
    pub fn and(self, other: Self) -> Self {
        Self { agent: self.agent.max(other.agent), input: self.input.max(other.input) }
    }
}

#[cfg(test)]
mod tests {
    use super::PairValue;

    /// The mean of 2, 4, 4, 4, 5, 5, 7, 9 is 5, their squares come to 32.
    #[test]
    fn the_spread_is_the_sample_standard_deviation() {
        let spread = |values: &[Option<f64>]| PairValue { value: None, samples: values.into() }.spread();
        let textbook = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(Some);
        assert!((spread(&textbook).unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(spread(&[Some(0.1), None, Some(0.1), Some(0.1)]), Some(0.0));
        assert_eq!((spread(&[Some(0.5), None]), spread(&[None]), spread(&[])), (None, None, None));
    }
}
