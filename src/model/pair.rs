//! Results of a pair: one agent on one case, over all samples.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::evidence::PairShortfall;
use super::grade::{CheckName, Failure, Layer};
use super::ids::{AgentName, CaseId};
use super::judge::PairJudged;
use super::mark::Mark;
use super::path::RepoPath;
use super::run::UngradedReason;

/// A sample without a result to grade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostSample {
    /// The sample, from 0.
    pub sample: u32,
    /// The reason.
    pub why: UngradedReason,
}

/// One metric of a pair.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairValue {
    /// The aggregated value; `None` if no completed sample has one.
    pub value: Option<f64>,
    /// The value of each completed sample.
    pub samples: SmallVec<[Option<f64>; 1]>,
}

impl PairValue {
    /// The sample standard deviation; `None` for fewer than two values.
    pub fn spread(&self) -> Option<f64> {
        let values: SmallVec<[f64; 8]> = self.samples.iter().copied().flatten().collect();
        if values.len() < 2 {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        // The mean of equal values may be rounded; their spread is still 0.
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
    /// How many samples pass it.
    pub standing: Standing,
    /// The most frequent failure among the samples, if any.
    pub failure: Option<Box<Failure>>,
    /// The expected result, if it failed.
    pub expected: Option<Box<str>>,
}

impl PairResult {
    /// Whether more than half of the planned samples completed (grading.md 2.2); also for a case in quarantine.
    pub fn has_majority(&self) -> bool {
        2 * u64::from(self.completed) > u64::from(self.planned)
    }
}

/// How many completed samples pass a check (grading.md 2.5).
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
    /// The standing for `passed` of `samples`.
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

    /// The mark of the case by its samples: weak if they disagree.
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

/// Whether a pair is excluded from all metrics, and why (grading.md 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exclusion {
    /// It counts.
    Counted,
    /// No majority of its planned samples completed.
    NoMajority,
    /// In quarantine: it runs and is reported, but does not gate (grading.md 14).
    Quarantined,
}

/// Why a case temporarily does not gate, and who owns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantine {
    /// Who fixes the case.
    pub owner: String,
    /// The reason.
    pub reason: String,
    /// The last day as `YYYY-MM-DD`; it gates again from the next day on.
    pub expires: String,
}

/// The result of a pair over its samples.
#[derive(Debug, Clone, PartialEq)]
pub struct PairResult {
    /// The case.
    pub case: CaseId,
    /// The agent.
    pub agent: AgentName,
    /// The golden file with the checks.
    pub golden: RepoPath,
    /// Planned samples.
    pub planned: u32,
    /// Completed samples.
    pub completed: u32,
    /// Whether it counts.
    pub exclusion: Exclusion,
    /// Its quarantine, if any.
    pub quarantine: Option<Box<Quarantine>>,
    /// The samples without a result, in order.
    pub lost: Vec<LostSample>,
    /// Number of samples that were skipped, because no answer could change a verdict.
    pub spared: u32,
    /// One value for each metric of the kind, in the order of its table.
    pub values: Vec<PairValue>,
    /// How many samples passed all their checks.
    pub passed: Standing,
    /// Number of samples that passed; `None` if a stored report does not contain it.
    pub passing: Option<u32>,
    /// Its checks.
    pub checks: Vec<PairCheck>,
    /// Shortfalls in metrics that no check covers, most frequent first.
    pub shortfalls: Vec<PairShortfall>,
    /// How each completed sample was parsed.
    pub layers: Box<[Layer]>,
    /// Audit data of single samples, by sample; stored next to a report, not in it.
    pub kept: Vec<(u32, Box<str>)>,
    /// What the agent's program wrote to stderr, by sample (the last 64 KiB); stored next to a report, not in it.
    pub complaints: BTreeMap<u32, String>,
    /// The verdicts of the suite's LLM judges, in config order.
    pub judged: Vec<PairJudged>,
    /// The digest of its samples' outputs, if it has a human score.
    pub outputs_sha256: Option<String>,
    /// The model and the prompt package that answered.
    pub answered_by: AnsweredBy,
}

/// The model and the prompt package: part of a measurement's identity.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnsweredBy {
    /// The model, if recorded.
    pub model: Option<String>,
    /// The prompt package's SHA-256, if recorded.
    pub prompt_sha256: Option<String>,
    /// Whether the agent and the input are unchanged since the recordings.
    pub freshness: Freshness,
}

/// Whether the agent and the input are unchanged since the recordings: the worst of all samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Freshness {
    /// The agent's files against their recorded digest.
    pub agent: RecordingAge,
    /// The case's input against its recorded digest.
    pub input: RecordingAge,
}

/// Whether a recording is up to date, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RecordingAge {
    /// Unchanged, or just recorded.
    #[default]
    Fresh,
    /// The recording has no digest.
    Unknown,
    /// Changed, and the config only wants a warning.
    StaleNoted,
    /// Changed.
    Stale,
}

impl RecordingAge {
    /// The value in stored parts of a run.
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
    /// The worse of both, field by field.
    pub fn and(self, other: Self) -> Self {
        Self { agent: self.agent.max(other.agent), input: self.input.max(other.input) }
    }
}

#[cfg(test)]
mod tests {
    use super::PairValue;

    /// The mean of 2, 4, 4, 4, 5, 5, 7, 9 is 5; the squared deviations sum to 32.
    #[test]
    fn the_spread_is_the_sample_standard_deviation() {
        let spread = |values: &[Option<f64>]| PairValue { value: None, samples: values.into() }.spread();
        let textbook = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(Some);
        assert!((spread(&textbook).unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(spread(&[Some(0.1), None, Some(0.1), Some(0.1)]), Some(0.0));
        assert_eq!((spread(&[Some(0.5), None]), spread(&[None]), spread(&[])), (None, None, None));
    }
}
