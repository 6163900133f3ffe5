//! Results of a pair: one agent on one case, over all samples.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;

use super::answered_by::AnsweredBy;
use super::evidence::PairShortfall;
use super::file_form::{Named, is_false, is_zero, read_by_name, write_by_name};
use super::grade::{CheckName, Failure, Layer};
use super::ids::{AgentName, CaseId};
use super::judge::PairJudged;
use super::mark::Mark;
use super::path::RepoPath;
use super::policy::{BrokenClass, ScoredSample};
use super::run::{LogVerdict, UngradedReason};
use super::sample_uses::SampleUses;
use super::tag::Tag;
use super::verdict::Ruling;
use super::words::words;

/// A sample without a result to grade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostSample {
    /// The sample, from 0.
    pub sample: u32,
    /// The reason.
    #[serde(flatten)]
    pub why: UngradedReason,
}

/// One metric of a pair.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StatedValue", into = "StatedValue")]
pub struct PairValue {
    /// The name of the metric.
    pub name: Cow<'static, str>,
    /// The aggregated value; absent if no completed sample has one.
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
        Some(if equal {
            0.0
        } else {
            (squares / (count - 1.0)).sqrt()
        })
    }
}

/// One metric of a pair in a file, under its name.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct StatedValue {
    /// The aggregated value.
    value: Option<f64>,
    /// The value of each completed sample.
    samples: Vec<Option<f64>>,
    /// The standard deviation of two or more samples.
    #[serde(default)]
    spread: Option<f64>,
}

impl From<PairValue> for StatedValue {
    fn from(value: PairValue) -> Self {
        Self {
            value: value.value,
            spread: value.spread(),
            samples: value.samples.into_vec(),
        }
    }
}

impl From<StatedValue> for PairValue {
    fn from(
        StatedValue {
            value,
            samples,
            spread: _,
        }: StatedValue,
    ) -> Self {
        Self {
            name: Cow::default(),
            value,
            samples: samples.into(),
        }
    }
}

impl Named for PairValue {
    fn name(&self) -> &str {
        &self.name
    }

    fn with_name(self, name: String) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }
}

/// A position in a golden file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoldenLine {
    /// The file, from the repository's root.
    pub file: RepoPath,
    /// The line, from 1.
    pub line: u32,
}

/// One check of a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StatedCheck", into = "StatedCheck")]
pub struct PairCheck {
    /// Its name.
    pub name: CheckName,
    /// Its position in the golden file.
    pub location: GoldenLine,
    /// How many samples pass it.
    pub standing: Standing,
    /// The most frequent failure among the samples, if any.
    pub failure: Option<Box<Failure>>,
    /// The expected result, if it failed.
    pub expected: Option<Box<str>>,
}

/// One check of a pair in a file.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct StatedCheck {
    /// Its name.
    name: String,
    /// Whether it passes in more than half of the samples.
    passed: bool,
    /// Whether samples disagree.
    flaky: bool,
    /// The kind of failure, if a sample failed.
    tag: Option<Tag>,
    /// The expected result, if a sample failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expected: Option<Box<str>>,
    /// The evidence.
    detail: Option<String>,
    /// The next step for an engineer.
    next_action: Option<String>,
    /// Its position in the golden file.
    location: Option<GoldenLine>,
}

impl From<PairCheck> for StatedCheck {
    fn from(
        PairCheck {
            name,
            location,
            standing,
            failure,
            expected,
        }: PairCheck,
    ) -> Self {
        let (tag, detail, next_action) = match failure.map(|failure| *failure) {
            Some(Failure {
                tag,
                detail,
                next_action,
            }) => (Some(tag), Some(detail), Some(next_action)),
            None => (None, None, None),
        };
        Self {
            name: name.to_string(),
            passed: standing.passes(),
            flaky: standing.is_flaky(),
            tag,
            expected,
            detail,
            next_action,
            location: Some(location),
        }
    }
}

impl From<StatedCheck> for PairCheck {
    fn from(stated: StatedCheck) -> Self {
        let StatedCheck {
            name,
            passed,
            flaky,
            tag,
            expected,
            detail,
            next_action,
            location,
        } = stated;
        let failure = tag.zip(detail).zip(next_action);
        let failure = failure.map(|((tag, detail), next_action)| {
            Box::new(Failure {
                tag,
                detail,
                next_action,
            })
        });
        let standing = match (passed, flaky) {
            (true, false) => Standing::Passes,
            (true, true) => Standing::PassesFlaky,
            (false, true) => Standing::FailsFlaky,
            (false, false) => Standing::Fails,
        };
        let location = location.unwrap_or_else(|| GoldenLine {
            file: RepoPath::root(),
            line: 1,
        });
        Self {
            name: CheckName::of(&name),
            location,
            standing,
            failure,
            expected,
        }
    }
}

impl PairResult {
    /// Its checks that fail in half of the samples or more.
    pub fn failed_checks(&self) -> impl Iterator<Item = &PairCheck> {
        self.checks.iter().filter(|check| !check.standing.passes())
    }

    /// Whether a sample disagrees with another one on a check.
    pub fn has_flaky_check(&self) -> bool {
        self.checks.iter().any(|check| check.standing.is_flaky())
    }

    /// Whether more than half of the planned samples completed; also for a case in quarantine.
    pub fn has_majority(&self) -> bool {
        2 * u64::from(self.completed) > u64::from(self.planned)
    }
}

words! {
    /// How many completed samples pass a check.
    pub enum Standing {
        /// Every sample passes.
        Passes = "passes",
        /// More than half pass, not all.
        PassesFlaky = "passes_flaky",
        /// Half or fewer pass, not none.
        FailsFlaky = "fails_flaky",
        /// No sample passes.
        Fails = "fails",
    }
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

/// Whether a pair is excluded from all metrics, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "bool", into = "bool")]
pub enum Exclusion {
    /// It counts.
    Counted,
    /// No majority of its planned samples completed.
    NoMajority,
    /// In quarantine: it runs and is reported, but does not gate.
    Quarantined,
}

impl From<bool> for Exclusion {
    fn from(excluded: bool) -> Self {
        if excluded {
            Self::NoMajority
        } else {
            Self::Counted
        }
    }
}

impl From<Exclusion> for bool {
    fn from(exclusion: Exclusion) -> Self {
        exclusion != Exclusion::Counted
    }
}

/// Why a case temporarily does not gate, and who owns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quarantine {
    /// Who fixes the case.
    pub owner: String,
    /// The reason.
    pub reason: String,
    /// The last day as `YYYY-MM-DD`; it gates again from the next day on.
    pub expires: String,
}

/// The result of a pair over its samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairResult {
    /// The case.
    pub case: CaseId,
    /// The agent.
    #[serde(skip, default)]
    pub agent: AgentName,
    /// The verdict of its own values against the thresholds of the gates, for information; skipped until the gates are evaluated.
    #[serde(flatten)]
    pub verdict: Ruling,
    /// The golden file with the checks.
    pub golden: RepoPath,
    /// Its recording, or the folder with one recording a sample; absent if it was called live, or is graded without runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<RepoPath>,
    /// The verdict of the log that its recordings were imported from; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged: Option<LogVerdict>,
    /// Planned samples.
    #[serde(rename = "samples_planned")]
    pub planned: u32,
    /// Completed samples.
    #[serde(rename = "samples_completed")]
    pub completed: u32,
    /// Number of samples that passed; absent if a stored report does not contain it.
    #[serde(rename = "samples_passed", default)]
    pub passing: Option<u32>,
    /// Whether it is excluded from every metric.
    #[serde(rename = "excluded")]
    pub exclusion: Exclusion,
    /// Its quarantine, during which it does not gate.
    #[serde(default)]
    pub quarantine: Option<Box<Quarantine>>,
    /// The samples without a result to grade, in order.
    #[serde(rename = "inconclusive")]
    pub lost: Vec<LostSample>,
    /// Number of samples that were skipped, because no answer could change a verdict.
    #[serde(rename = "samples_spared", default, skip_serializing_if = "is_zero")]
    pub spared: u32,
    /// How many samples passed all their checks.
    pub passed: Standing,
    /// One value for each metric of the kind, in the order of its table; in files by name.
    #[serde(
        rename = "metrics",
        serialize_with = "write_by_name",
        deserialize_with = "read_by_name"
    )]
    #[schemars(with = "BTreeMap<String, PairValue>")]
    pub values: Vec<PairValue>,
    /// Its checks.
    pub checks: Vec<PairCheck>,
    /// Shortfalls in metrics that no check covers, most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortfalls: Vec<PairShortfall>,
    /// The verdicts of the suite's LLM judges, in config order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<PairJudged>,
    /// How each completed sample was parsed: 0 structured, 1 strict, 2 repaired, 3 salvaged, 4 unreadable.
    #[serde(
        rename = "read_layer",
        serialize_with = "write_layers",
        deserialize_with = "read_layers"
    )]
    #[schemars(with = "Vec<u8>")]
    pub layers: Box<[Layer]>,
    /// The comparison with the baseline; unknown until there is one.
    #[serde(rename = "baseline_state")]
    pub trend: CaseTrend,
    /// Whether samples disagree on any check.
    pub flaky: bool,
    /// The completed samples as the policy `regression` sees them, in order.
    #[serde(
        rename = "scored_samples",
        default,
        skip_serializing_if = "<[ScoredSample]>::is_empty"
    )]
    #[schemars(with = "Vec<ScoredSample>")]
    pub scored: Box<[ScoredSample]>,
    /// The classes of what an agent never does that samples break.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<BrokenClass>,
    /// The digest of what the recordings say that the agent was asked; absent if they say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_sha256: Option<String>,
    /// The digest of the expectation and the scorer that graded it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub graded_by: String,
    /// The length in characters of the answer that every one of two or more samples gave; absent if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_answer: Option<u32>,
    /// Audit data of single samples, by sample; stored next to a report, not in it.
    #[serde(skip)]
    pub kept: Vec<(u32, Box<str>)>,
    /// The user's messages, on one line; only if the case fails, and absent where no user asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<str>>,
    /// The tools that each sample called, in order; only if the case fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Vec<CalledTool>>,
    /// What a sample uses; unknown where no recording states it.
    #[serde(default, skip_serializing_if = "SampleUses::is_unknown")]
    pub uses: SampleUses,
    /// What the agent's program wrote to stderr, by sample (the last 64 KiB); stored next to a report, not in it.
    #[serde(skip)]
    pub complaints: BTreeMap<u32, String>,
    /// The digest of its samples' outputs, if it has a human score.
    #[serde(skip)]
    pub outputs_sha256: Option<String>,
    /// The model and the prompt package that answered.
    #[serde(skip)]
    pub answered_by: AnsweredBy,
}

/// A tool that a sample called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CalledTool {
    /// Its name.
    pub tool: String,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
}

/// Writes layers by number.
fn write_layers<S: Serializer>(layers: &[Layer], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(layers.iter().map(|layer| layer.number()))
}

fn read_layers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<[Layer]>, D::Error> {
    let mut layers = Vec::new();
    for number in Vec::<u8>::deserialize(deserializer)? {
        let Some(layer) = Layer::ALL
            .into_iter()
            .find(|layer| layer.number() == number)
        else {
            return Err(D::Error::custom(format!("read_layer is {number}")));
        };
        layers.push(layer);
    }
    Ok(layers.into())
}

words! {
    /// The state of a case compared with the baseline.
    #[derive(PartialOrd, Ord)]
    pub enum CaseTrend {
        /// Failed before, fails now.
        StillFailing = "still_failing",
        /// Passed before, fails now.
        NewlyFailing = "newly_failing",
        /// Failed before, passes now.
        NewlyPassing = "newly_passing",
        /// Passed before, passes now.
        StillPassing = "still_passing",
        /// Not in the baseline.
        New = "new",
        /// There is nothing to compare with.
        Unknown = "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::PairValue;

    /// The mean of 2, 4, 4, 4, 5, 5, 7, 9 is 5; the squared deviations sum to 32.
    #[test]
    fn the_spread_is_the_sample_standard_deviation() {
        let spread = |values: &[Option<f64>]| {
            PairValue {
                samples: values.into(),
                ..PairValue::default()
            }
            .spread()
        };
        let textbook = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(Some);
        assert!((spread(&textbook).unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(spread(&[Some(0.1), None, Some(0.1), Some(0.1)]), Some(0.0));
        assert_eq!(
            (spread(&[Some(0.5), None]), spread(&[None]), spread(&[])),
            (None, None, None)
        );
    }
}
