//! From samples to values: medians and majorities over samples, aggregates over cases.
//!
//! A value that lost samples is an interval, from the worst to the best that they may hide. No limit and no baseline is known here.

mod interval;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::model::{
    AgentName, Aggregate, AnsweredBy, Better, CaseId, CaseTrend, CheckOutcome, Difference,
    Exclusion, Failure, GoldenLine, Grade, LostSample, MetricSpec, PairCheck, PairResult,
    PairShortfall, PairValue, RepoPath, Ruling, RunStatus, SampleFold, SampleUses, Shortfall,
    Standing, Tag, UngradedReason, ValueSource, harmonic, indicator, share,
};

pub use interval::{End, Interval, agent_intervals, pair_end, pair_interval};

#[derive(Debug, Clone, PartialEq)]
pub enum GradedSample {
    Completed(Grade),
    /// It has nothing to grade.
    Lost(UngradedReason),
    /// It was not run because the result was already certain.
    Spared,
}

impl GradedSample {
    /// A sample with a result. One that does not have what its checks need has none, unless it fails another check.
    pub fn of(grade: Grade) -> Self {
        match grade.unknown() {
            Some(why) => Self::Lost(UngradedReason::Ended {
                status: RunStatus::Completed,
                error: Some(why.to_owned()),
            }),
            None => Self::Completed(grade),
        }
    }

    /// The grade of a completed sample.
    pub fn grade(&self) -> Option<&Grade> {
        match self {
            Self::Completed(grade) => Some(grade),
            Self::Lost(_) | Self::Spared => None,
        }
    }
}

/// What a pair consists of.
#[derive(Debug, Clone, PartialEq)]
pub struct PairMeta {
    pub case: CaseId,
    pub agent: AgentName,
    pub golden: RepoPath,
    /// The model or program that answered.
    pub answered_by: AnsweredBy,
}

/// Combines the planned samples of one pair.
pub fn pair(specs: &[MetricSpec], heading: PairMeta, samples: Vec<GradedSample>) -> PairResult {
    let planned = samples.len();
    let (mut lost, mut kept, mut spared) = (Vec::new(), Vec::new(), 0);
    let mut grades: Vec<Grade> = Vec::new();
    for (index, sample) in (0_u32..).zip(samples) {
        match sample {
            GradedSample::Completed(mut grade) => {
                if let Some(output) = grade.kept.take() {
                    kept.push((index, output));
                }
                grades.push(grade);
            }
            GradedSample::Lost(why) => lost.push(LostSample { sample: index, why }),
            GradedSample::Spared => spared += 1,
        }
    }
    let majority = 2 * grades.len() > planned;
    let passing = grades.iter().filter(|grade| grade.passed()).count();
    let PairMeta {
        case,
        agent,
        golden,
        answered_by,
    } = heading;
    let layers = grades.iter().map(|grade| grade.layer).collect();
    let values = values(specs, &grades);
    let (completed, standing) = (narrow(grades.len()), Standing::of(passing, grades.len()));
    let shortfalls = shortfalls(&mut grades);
    let checks = checks(&golden, grades);
    let flaky = checks.iter().any(|check| check.standing.is_flaky());
    PairResult {
        case,
        agent,
        verdict: Ruling::Skipped("the gates are not evaluated yet".to_owned()),
        planned: narrow(planned),
        logged: None,
        completed,
        exclusion: if majority {
            Exclusion::Counted
        } else {
            Exclusion::NoMajority
        },
        quarantine: None,
        lost,
        spared,
        values,
        passed: standing,
        passing: Some(narrow(passing)),
        layers,
        shortfalls,
        checks,
        flaky,
        scored: Box::default(),
        broken: Vec::new(),
        input_sha256: None,
        graded_by: String::new(),
        same_answer: None,
        trend: CaseTrend::Unknown,
        golden,
        recording: None,
        kept,
        complaints: BTreeMap::new(),
        judged: Vec::new(),
        asked: None,
        calls: Vec::new(),
        uses: SampleUses::default(),
        outputs_sha256: None,
        answered_by,
    }
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn values(specs: &[MetricSpec], grades: &[Grade]) -> Vec<PairValue> {
    let mut values = Vec::with_capacity(specs.len());
    for (index, spec) in specs.iter().enumerate() {
        let samples: SmallVec<[Option<f64>; 1]> = grades
            .iter()
            .map(|grade| sample_value(spec, index, grade))
            .collect();
        values.push(PairValue {
            name: spec.name.into(),
            value: folded(spec, &samples),
            samples,
        });
    }
    let simple: Vec<Option<f64>> = values.iter().map(|value| value.value).collect();
    for (value, whole) in values.iter_mut().zip(composed(specs.iter(), &simple)) {
        value.value = whole;
    }
    values
}

/// The values of a pair from those of its samples, by the name of the metric.
pub fn pair_values<'s>(
    specs: impl Iterator<Item = &'s MetricSpec> + Clone,
    samples: impl Fn(&str) -> Option<&'s [Option<f64>]>,
) -> Vec<Option<f64>> {
    let simple: Vec<Option<f64>> = specs
        .clone()
        .map(|spec| folded(spec, samples(spec.name)?))
        .collect();
    composed(specs, &simple)
}

/// The value of one sample for the metric at `index` of the table.
pub fn sample_value(spec: &MetricSpec, index: usize, grade: &Grade) -> Option<f64> {
    match spec.source {
        ValueSource::Grade | ValueSource::Expression | ValueSource::Use => {
            grade.values.get(index).copied().flatten()
        }
    }
}

/// The value of a pair from the values of its completed samples; `None` values are left out. `None` if no value remains, and for a metric
/// that is computed from others.
pub fn folded(spec: &MetricSpec, samples: &[Option<f64>]) -> Option<f64> {
    let measured: Vec<f64> = samples.iter().copied().flatten().collect();
    match (spec.aggregate, spec.fold) {
        (Aggregate::Rate, _) if measured.is_empty() => None,
        (Aggregate::Rate, _) => {
            let passed = measured.iter().filter(|value| **value >= 0.5).count();
            Some(indicator(2 * passed > measured.len()))
        }
        // These are computed from other values of the pair, or per agent.
        (Aggregate::Harmonic(..) | Aggregate::Coverage | Aggregate::NewlyFailing, _) => None,
        (
            Aggregate::Worst
            | Aggregate::Mean
            | Aggregate::Sum
            | Aggregate::Median
            | Aggregate::P95,
            fold,
        ) => match fold {
            SampleFold::Median => median(spec.better, measured),
            SampleFold::Mean => mean(&measured),
            SampleFold::Worst => worst(spec.better, &measured),
        },
    }
}

/// The median; the worse of the two middle values if the count is even, so that one lucky value cannot rescue an agent. Without a
/// direction it is the lower one. `None` without values.
pub fn median(better: Better, mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let index = match better {
        Better::Lower => values.len() / 2,
        Better::Higher | Better::Neither => values.len().saturating_sub(1) / 2,
    };
    values.get(index).copied()
}

/// The smallest value that at least 95 % of the values do not exceed; `None` without values.
fn p95(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * 95).div_ceil(100);
    values.get(rank.checked_sub(1)?).copied()
}

/// The arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let sum = values.iter().sum::<f64>();
    // The sum of the largest numbers overflows, their mean does not.
    let mean = if sum.is_finite() {
        sum / count
    } else {
        values.iter().map(|value| value / count).sum()
    };
    (!values.is_empty()).then_some(mean)
}

/// The worst value: the lowest, or the highest if lower is better.
fn worst(better: Better, values: &[f64]) -> Option<f64> {
    let values = values.iter().copied();
    match better {
        Better::Lower => values.reduce(f64::max),
        Better::Higher | Better::Neither => values.reduce(f64::min),
    }
}

/// The shortfalls of a pair. Equal ones of several samples are merged. The most frequent comes first; ties keep the order of
/// first occurrence.
fn shortfalls(grades: &mut [Grade]) -> Vec<PairShortfall> {
    let mut counts: BTreeMap<(&[&str], Difference), (usize, u32)> = BTreeMap::new();
    for shortfall in grades
        .iter_mut()
        .flat_map(|grade| std::mem::take(&mut grade.shortfalls))
    {
        let Shortfall {
            metrics,
            difference,
        } = shortfall;
        let index = counts.len();
        counts.entry((metrics, difference)).or_insert((index, 0)).1 += 1;
    }
    let mut folded: Vec<_> = counts.into_iter().collect();
    folded.sort_by_key(|(_, (index, samples))| (Reverse(*samples), *index));
    let folded = folded
        .into_iter()
        .map(|((metrics, difference), (_, samples))| {
            let metrics = metrics.iter().map(|&name| name.to_owned()).collect();
            PairShortfall {
                metrics,
                difference,
                samples,
            }
        });
    folded.collect()
}

/// The checks of a pair. Every sample has the same checks in the same order.
fn checks(golden: &RepoPath, grades: Vec<Grade>) -> Vec<PairCheck> {
    let samples = grades.len();
    let mut folded: Vec<(PairCheck, usize, Vec<Failure>)> =
        Vec::with_capacity(grades.first().map_or(0, |grade| grade.checks.len()));
    for grade in grades {
        for (index, check) in grade.checks.into_iter().enumerate() {
            if index == folded.len() {
                let fresh = PairCheck {
                    name: check.name,
                    location: GoldenLine {
                        file: golden.clone(),
                        line: check.line,
                    },
                    standing: Standing::Fails,
                    failure: None,
                    expected: None,
                };
                folded.push((fresh, 0, Vec::new()));
            }
            let (so_far, passed, failures) = &mut folded[index];
            match check.outcome {
                CheckOutcome::Passed => *passed += 1,
                CheckOutcome::Unknown(_) => {}
                CheckOutcome::Failed(failure) => {
                    failures.push(*failure);
                    so_far.expected = so_far.expected.take().or(check.expected);
                }
            }
        }
    }
    // A check that is unknown in every sample has no standing.
    let known = folded
        .into_iter()
        .filter(|(_, passed, failures)| passed + failures.len() > 0);
    // Not collected: that would keep the room of the failures of all samples.
    let mut checks = Vec::with_capacity(known.size_hint().1.unwrap_or(0));
    checks.extend(known.map(|(check, passed, failures)| {
        let decided = passed + failures.len();
        let failure = most_frequent(failures, samples).map(Box::new);
        PairCheck {
            standing: Standing::of(passed, decided),
            failure,
            ..check
        }
    }));
    checks
}

/// The failure reported for all samples: the most frequent tag, on a tie the one with the lowest precedence number; within it the most
/// frequent text, on a tie the first. If it does not apply to all samples, it says to how many.
fn most_frequent(failures: Vec<Failure>, samples: usize) -> Option<Failure> {
    if failures.is_empty() {
        return None;
    }
    let tag = Tag::ALL
        .into_iter()
        .max_by_key(|tag| (with_tag(&failures, *tag).count(), Reverse(tag.precedence())))?;
    let mut texts: BTreeMap<&str, usize> = BTreeMap::new();
    for failure in with_tag(&failures, tag) {
        *texts.entry(&failure.detail).or_default() += 1;
    }
    // `max_by_key` returns the last of equal elements, so the order is reversed.
    let shown = with_tag(&failures, tag)
        .rev()
        .max_by_key(|failure| texts[failure.detail.as_str()])?;
    let count = with_tag(&failures, tag).count();
    let scope = match texts.len() {
        _ if count == samples => String::new(),
        1 => format!(" ({count} of {samples} samples)"),
        _ => format!(" ({} in {count} of {samples} samples)", tag.as_str()),
    };
    Some(Failure {
        detail: format!("{}{scope}", shown.detail),
        ..shown.clone()
    })
}

fn with_tag(failures: &[Failure], tag: Tag) -> impl DoubleEndedIterator<Item = &Failure> {
    failures.iter().filter(move |failure| failure.tag == tag)
}

/// Whether there are pairs, and none of them has a majority of completed samples. Quarantined pairs are ignored, because gates
/// do not use their values.
pub fn all_excluded<'p>(pairs: impl Iterator<Item = &'p PairResult>) -> bool {
    let mut gating = pairs
        .filter(|pair| pair.exclusion != Exclusion::Quarantined)
        .peekable();
    gating.peek().is_some() && gating.all(|pair| pair.exclusion == Exclusion::NoMajority)
}

/// The agent's values: one per metric, over the pairs that count.
pub fn agent<'p>(
    specs: &[MetricSpec],
    pairs: impl Iterator<Item = &'p PairResult> + Clone,
) -> Vec<Option<f64>> {
    let counted: Vec<&PairResult> = pairs
        .clone()
        .filter(|pair| pair.exclusion == Exclusion::Counted)
        .collect();
    let mut values = aggregates(specs, counted.len(), |row, column| {
        counted[row].values[column].value
    });
    let coverage = coverage(pairs);
    for (spec, value) in specs.iter().zip(&mut values) {
        if spec.aggregate == Aggregate::Coverage {
            *value = coverage;
        }
    }
    values
}

/// Measured pairs / planned pairs, without quarantined ones; `None` without pairs.
pub fn coverage<'p>(pairs: impl Iterator<Item = &'p PairResult> + Clone) -> Option<f64> {
    let (mut measured, mut lost) = (0, 0);
    for pair in pairs {
        match pair.exclusion {
            Exclusion::Counted => measured += 1,
            Exclusion::NoMajority => lost += 1,
            Exclusion::Quarantined => {}
        }
    }
    share(measured, measured + lost)
}

/// The values of one metric over the pairs that count and have a value.
pub fn column<'p>(pairs: impl Iterator<Item = &'p PairResult>, index: usize) -> Vec<f64> {
    let counted = pairs.filter(|pair| pair.exclusion == Exclusion::Counted);
    counted
        .filter_map(|pair| pair.values[index].value)
        .collect()
}

/// The aggregates over `rows` rows of values; `cell(row, column)` returns the value of a metric.
pub fn aggregates(
    specs: &[MetricSpec],
    rows: usize,
    cell: impl Fn(usize, usize) -> Option<f64>,
) -> Vec<Option<f64>> {
    let simple: Vec<Option<f64>> = specs
        .iter()
        .enumerate()
        .map(|(column, spec)| {
            let values: Vec<f64> = (0..rows).filter_map(|row| cell(row, column)).collect();
            // A case that does not state what it used would otherwise make the agent look cheaper.
            let is_whole = spec.source != ValueSource::Use || values.len() == rows;
            if is_whole {
                aggregate(spec, &values)
            } else {
                None
            }
        })
        .collect();
    composed(specs.iter(), &simple)
}

/// The values with those of the metrics that are computed from other metrics.
fn composed<'s>(
    specs: impl Iterator<Item = &'s MetricSpec> + Clone,
    simple: &[Option<f64>],
) -> Vec<Option<f64>> {
    let mut values = Vec::with_capacity(simple.len());
    for (spec, value) in specs.clone().zip(simple) {
        values.push(match spec.aggregate.parts() {
            Some(parts) => harmonic_of(specs.clone(), simple, parts),
            None => *value,
        });
    }
    values
}

fn harmonic_of<'s>(
    specs: impl Iterator<Item = &'s MetricSpec> + Clone,
    simple: &[Option<f64>],
    parts: [&str; 2],
) -> Option<f64> {
    let [left, right] = parts.map(|name| {
        let index = specs.clone().position(|spec| spec.name == name)?;
        simple[index]
    });
    Some(harmonic(left?, right?))
}

fn aggregate(spec: &MetricSpec, values: &[f64]) -> Option<f64> {
    match (spec.aggregate, spec.better) {
        (Aggregate::Worst, better) => worst(better, values),
        (Aggregate::Mean | Aggregate::Rate, _) => mean(values),
        (Aggregate::Median, better) => median(better, values.to_vec()),
        (Aggregate::P95, _) => p95(values.to_vec()),
        (Aggregate::Sum, _) => (!values.is_empty()).then(|| values.iter().sum()),
        // Computed from the agent's other metrics, or from more than the pairs that count.
        (Aggregate::Harmonic(..) | Aggregate::Coverage | Aggregate::NewlyFailing, _) => None,
    }
}

#[cfg(test)]
mod tests;
