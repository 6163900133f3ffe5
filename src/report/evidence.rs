//! The evidence for a metric: the cases that moved it, each with the expected and the produced value.

use crate::fold;
use crate::model::{
    AgentReport, Aggregate, BaselineEntry, Better, CaseEvidence, CaseTrend, Difference,
    EvidenceLine, EvidenceSource, Exclusion, ExplainedBy, MOVED, MetricEvidence, MetricReport,
    MetricSpec, PairCheck, PairResult, Ruling, Tag, Unit, Verdict, metric_value,
};
use crate::text::line;

/// The number of cases that are listed for one metric.
const CASES: usize = 5;

/// The number of differences that are listed for one case and metric.
const DIFFERENCES: usize = 4;

/// The longest side of a difference, in characters.
const LONGEST: usize = 300;

/// The entries that cases are compared with.
#[derive(Clone, Copy)]
pub struct EvidenceEntries<'a> {
    /// What the numbers are compared with.
    pub reference: Option<&'a BaselineEntry>,
    /// The base commit's own runs: what they show as well is not the change's.
    pub base_runs: Option<&'a BaselineEntry>,
}

/// Adds evidence to each metric that fails, is inconclusive or is worse than the baseline.
pub fn add_evidence(specs: &[MetricSpec], report: &mut AgentReport, entries: EvidenceEntries<'_>) {
    let AgentReport { metrics, cases, .. } = report;
    for (index, metric) in metrics.iter_mut().enumerate() {
        if needs_evidence(metric) {
            let fails_on_base = metric
                .gates
                .iter()
                .any(|gate| gate.base_commit.is_some() && gate.ruling.fails());
            let entry = if fails_on_base {
                entries.base_runs
            } else {
                entries.reference
            };
            let explained = Explained {
                specs,
                index,
                metric,
                cases,
                entry,
            };
            metric.evidence = explained.evidence();
        }
    }
}

fn needs_evidence(metric: &MetricReport) -> bool {
    let unwell = matches!(
        metric.verdict,
        Ruling::Judged(Verdict::Fail | Verdict::Inconclusive)
    );
    let worse = metric.better != Better::Neither && metric.loss().is_some_and(|loss| loss > MOVED);
    unwell || worse
}

/// One metric with its cases.
struct Explained<'a> {
    specs: &'a [MetricSpec],
    index: usize,
    metric: &'a MetricReport,
    cases: &'a [PairResult],
    entry: Option<&'a BaselineEntry>,
}

/// The distance of a case's value from its baseline value and from the best value. Both are at least 0; greater is worse.
struct Cost<'a> {
    case: &'a PairResult,
    value: Option<f64>,
    baseline: Option<f64>,
    since_baseline: f64,
    from_best: f64,
}

impl<'a> Explained<'a> {
    fn spec(&self) -> &'a MetricSpec {
        &self.specs[self.index]
    }

    fn evidence(&self) -> MetricEvidence {
        match self.spec().aggregate {
            Aggregate::Coverage => self.unmeasured(),
            Aggregate::NewlyFailing => self.newly_failing(),
            Aggregate::Worst
            | Aggregate::Mean
            | Aggregate::Sum
            | Aggregate::Median
            | Aggregate::P95
            | Aggregate::Rate
            | Aggregate::Harmonic(..) => {
                let costs = self.costs();
                listed(&costs, |cost| CaseEvidence {
                    case: cost.case.case.clone(),
                    value: cost.value,
                    baseline: cost.baseline,
                    differences: self.differences(cost),
                })
            }
        }
    }

    /// The cases without a majority of completed samples, each with the reason.
    fn unmeasured(&self) -> MetricEvidence {
        let lost: Vec<&PairResult> = self
            .cases
            .iter()
            .filter(|case| case.exclusion == Exclusion::NoMajority)
            .collect();
        listed(&lost, |case| {
            let pair = case;
            let why = pair
                .lost
                .first()
                .map_or_else(|| "no sample".to_owned(), |lost| lost.why.text());
            let difference = Difference {
                line: 1,
                expected: format!("more than half of {} samples complete", pair.planned),
                produced: line(&format!("{} completed: {why}", pair.completed), LONGEST),
            };
            whole_case(
                case,
                vec![EvidenceLine::unchecked(EvidenceSource::Number, difference)],
            )
        })
    }

    fn newly_failing(&self) -> MetricEvidence {
        let failing: Vec<&PairResult> = self
            .cases
            .iter()
            .filter(|case| case.trend == CaseTrend::NewlyFailing)
            .collect();
        listed(&failing, |case| {
            whole_case(
                case,
                failed_checks(case, |_| true).take(DIFFERENCES).collect(),
            )
        })
    }

    /// The cases that moved the metric, worst first.
    fn costs(&self) -> Vec<Cost<'a>> {
        let by_change = self.metric.gates.iter().all(|gate| gate.from_baseline);
        let counted = self
            .cases
            .iter()
            .filter(|case| case.exclusion == Exclusion::Counted);
        let mut costs: Vec<Cost<'a>> = counted.map(|case| self.cost(case)).collect();
        let compared = by_change && costs.iter().any(is_moved);
        costs.retain(|cost| is_moved(cost) || (!compared && cost.from_best > MOVED));
        costs.sort_by(|left, right| {
            let by_baseline = right.since_baseline.total_cmp(&left.since_baseline);
            let by_best = right.from_best.total_cmp(&left.from_best);
            match (self.spec().aggregate, compared) {
                // The worst case decides, new or not.
                (Aggregate::Worst, false) => by_best.then(by_baseline),
                _ => by_baseline.then(by_best),
            }
        });
        costs
    }

    fn cost(&self, case: &'a PairResult) -> Cost<'a> {
        let spec = self.spec();
        let value = case.values.get(self.index).and_then(|value| value.value);
        let values = self.entry.and_then(|entry| entry.cases.get(&case.case));
        let baseline = values.and_then(|values| {
            let specs = self.specs.iter();
            fold::pair_values(specs, |name| values.get(name).map(Vec::as_slice))[self.index]
        });
        let best = spec.most.unwrap_or(1.0);
        let since_baseline = match (value, baseline) {
            (Some(value), Some(baseline)) => spec.better.loss(baseline, value),
            // A lost value counts as the worst.
            (None, Some(_)) => best,
            (_, None) => 0.0,
        };
        let from_best = value.map_or(0.0, |value| match (spec.better, spec.unit) {
            (Better::Higher, Unit::Share | Unit::Points) => best - value,
            (Better::Higher, Unit::Count | Unit::Spread | Unit::Dollars) => -value,
            (Better::Lower | Better::Neither, _) => value.abs(),
        });
        Cost {
            case,
            value,
            baseline,
            since_baseline: since_baseline.max(0.0),
            from_best,
        }
    }

    /// The differences that lowered the metric; only the numbers if nothing else is known.
    fn differences(&self, cost: &Cost<'_>) -> Vec<EvidenceLine> {
        let mut lines = Vec::new();
        match self.spec().aggregate {
            Aggregate::Harmonic(first, second) => {
                for part in self.specs {
                    if [first, second].contains(&part.name) {
                        lines.extend(of_metric(part, cost.case));
                    }
                }
            }
            _ => lines.extend(of_metric(self.spec(), cost.case)),
        }
        // An answer that cannot be read has the worst value of every metric.
        if lines.is_empty() {
            lines.extend(failed_checks(cost.case, is_of_form));
        }
        lines.truncate(DIFFERENCES);
        if lines.is_empty() {
            lines.push(self.by_numbers(cost));
        }
        lines
    }

    fn by_numbers(&self, cost: &Cost<'_>) -> EvidenceLine {
        let unit = self.metric.unit;
        let expected = match (cost.baseline, self.metric.better) {
            (Some(baseline), Better::Higher) => {
                format!(
                    "at least {}, as in the baseline",
                    metric_value(unit, Some(baseline))
                )
            }
            (Some(baseline), Better::Lower) => {
                format!(
                    "at most {}, as in the baseline",
                    metric_value(unit, Some(baseline))
                )
            }
            (Some(baseline), Better::Neither) => {
                format!("{}, as in the baseline", metric_value(unit, Some(baseline)))
            }
            (None, Better::Higher) => {
                let best = self.spec().most.unwrap_or(1.0);
                format!("{} at best", metric_value(unit, Some(best)))
            }
            (None, Better::Lower | Better::Neither) => {
                format!("{} at best", metric_value(unit, Some(0.0)))
            }
        };
        let samples = cost
            .case
            .values
            .get(self.index)
            .map(|value| value.samples.as_slice())
            .unwrap_or_default();
        let each: Vec<String> = samples
            .iter()
            .map(|sample| metric_value(unit, *sample))
            .collect();
        let each = if each.len() > 1 {
            format!(" (by sample: {})", each.join(", "))
        } else {
            String::new()
        };
        let produced = match cost.value {
            Some(value) => format!("{}{each}", metric_value(unit, Some(value))),
            None => "no value".to_owned(),
        };
        let line = cost
            .case
            .checks
            .first()
            .map_or(1, |check| check.location.line);
        let difference = Difference {
            line,
            expected: format!("{} {expected}", self.metric.name),
            produced,
        };
        EvidenceLine {
            tag: Some(self.spec().tag),
            ..EvidenceLine::unchecked(EvidenceSource::Number, difference)
        }
    }
}

pub(super) fn listed<T>(all: &[T], evidence: impl Fn(&T) -> CaseEvidence) -> MetricEvidence {
    let more = u32::try_from(all.len().saturating_sub(CASES)).unwrap_or(u32::MAX);
    MetricEvidence {
        cases: all.iter().take(CASES).map(evidence).collect(),
        more,
    }
}

fn whole_case(case: &PairResult, differences: Vec<EvidenceLine>) -> CaseEvidence {
    CaseEvidence {
        case: case.case.clone(),
        value: None,
        baseline: None,
        differences,
    }
}

fn is_moved(cost: &Cost<'_>) -> bool {
    cost.since_baseline > MOVED
}

/// Whether a check failed because the answer could not be read.
fn is_of_form(check: &PairCheck) -> bool {
    let failure = check.failure.as_deref();
    failure.is_some_and(|failure| failure.tag == Tag::Schema)
}

/// The differences in a case that lower the metric of this spec.
fn of_metric<'a>(
    spec: &'a MetricSpec,
    case: &'a PairResult,
) -> impl Iterator<Item = EvidenceLine> + 'a {
    let completed = case.completed;
    let shortfalls = case
        .shortfalls
        .iter()
        .filter(|shortfall| shortfall.metrics.iter().any(|metric| metric == spec.name));
    let shortfalls = shortfalls.map(move |shortfall| EvidenceLine {
        samples: (completed > 1).then_some(shortfall.samples),
        tag: Some(spec.tag),
        ..EvidenceLine::unchecked(
            EvidenceSource::Element,
            bounded(shortfall.difference.clone()),
        )
    });
    let is_explaining = move |check: &PairCheck| match spec.explained_by {
        ExplainedBy::AllChecks => true,
        ExplainedBy::Checks(words) => words.contains(&&*check.name.word),
        ExplainedBy::Shortfalls => false,
    };
    failed_checks(case, is_explaining).chain(shortfalls)
}

/// The failed checks of a case. Checks that fail in few samples are included only if no check fails in most.
pub(super) fn failed_checks<'a>(
    case: &'a PairResult,
    included: impl Fn(&PairCheck) -> bool + 'a,
) -> impl Iterator<Item = EvidenceLine> + 'a {
    let all: Vec<&PairCheck> = case.checks.iter().filter(|check| included(check)).collect();
    let by_turns = all.iter().all(|check| check.standing.passes());
    let failed = all
        .into_iter()
        .filter(move |check| by_turns || !check.standing.passes());
    failed.filter_map(|check| {
        let failure = check.failure.as_deref()?;
        let difference = Difference {
            line: check.location.line,
            expected: check.expected.as_deref().unwrap_or_default().to_owned(),
            produced: failure.detail.clone(),
        };
        Some(EvidenceLine {
            difference: bounded(difference),
            samples: None,
            tag: Some(failure.tag),
            next_action: Some(line(&failure.next_action, LONGEST)),
            source: EvidenceSource::Check,
        })
    })
}

fn bounded(difference: Difference) -> Difference {
    let Difference {
        line: at,
        expected,
        produced,
    } = difference;
    Difference {
        line: at,
        expected: line(&expected, LONGEST),
        produced: line(&produced, LONGEST),
    }
}
