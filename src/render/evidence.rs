//! Why a gate failed: its value, its limit, and the cases that moved it.

use super::number::ValueDirection;
use super::plain::line;
use super::rules::failed_rule;
use super::sparkline::sparkline;
use super::{number, words};
use crate::model::{
    AgentReport, Approval, COVERAGE, CaseEvidence, FailureLine, GateKind, GateRuling, MOVED,
    MetricReport, NEWLY_FAILING, POLICY_METRICS, PairCheck, PairResult, Report, SuiteReport, Tag,
    metric_value,
};

#[derive(Clone, Copy)]
pub struct FailedMetric<'a> {
    pub suite: &'a SuiteReport,
    pub agent: &'a AgentReport,
    pub metric: &'a MetricReport,
    /// Its first failed gate.
    pub gate: &'a GateRuling,
}

/// All metrics with a failed gate: those that name what single cases lost, then those that are worse than the baseline.
pub fn failed_metrics(report: &Report) -> Vec<FailedMetric<'_>> {
    let mut failed: Vec<FailedMetric<'_>> = Vec::new();
    for (suite, agent) in report.suite_agents() {
        let metrics = agent.metrics.iter().filter_map(|metric| {
            let gate = first_failed(metric)?;
            Some(FailedMetric {
                suite,
                agent,
                metric,
                gate,
            })
        });
        failed.extend(metrics);
    }
    failed.sort_by_key(|candidate| {
        let is_small = candidate.metric.loss().is_none_or(|loss| loss <= MOVED);
        (!names_its_cases(candidate), is_small)
    });
    failed
}

/// Whether a rule says of single cases what they lost, which needs no statistics.
fn names_its_cases(failed: &FailedMetric<'_>) -> bool {
    let cases = &failed.metric.evidence.cases;
    match failed.gate.gate {
        GateKind::Never => true,
        GateKind::Lost => cases.iter().any(|case| case.value.is_some()),
        GateKind::Min
        | GateKind::Max
        | GateKind::MaxDrop
        | GateKind::MaxRise
        | GateKind::Test
        | GateKind::Floor => false,
    }
}

/// Whether a number differs from the baseline after rounding, or has vanished.
pub fn has_moved(metric: &MetricReport) -> bool {
    let moved = number::direction_of(metric) != ValueDirection::Same;
    let mut gates = metric.gates.iter();
    moved
        || gates.any(|gate| gate.gate == GateKind::Test && gate.threshold.is_some())
        || (metric.value.is_none() && metric.comparison.baseline.is_some())
}

/// Whether a metric is shown and has a value for each case; some exist for the agent only.
pub fn has_cases(metric: &MetricReport) -> bool {
    !metric.is_silent() && ![COVERAGE, NEWLY_FAILING].contains(&metric.name.as_str())
}

/// The gate that a number fails, where somebody approved the result.
pub fn approved_gate<'a>(
    approval: Option<&Approval>,
    metric: &'a MetricReport,
) -> Option<&'a GateRuling> {
    let mut failed = metric.gates.iter().filter(|gate| gate.ruling.fails());
    failed.next().filter(|_| approval.is_some())
}

/// Whether a number is that of a rule of the policy `regression`.
pub fn is_rule(metric: &MetricReport) -> bool {
    POLICY_METRICS.contains(&metric.name.as_str())
}

pub fn first_failed(metric: &MetricReport) -> Option<&GateRuling> {
    metric.gates.iter().find(|gate| gate.ruling.fails())
}

/// A gate with its value and its limit: `severity_accuracy 87.5% (needs ≥ 95%)`.
pub fn short_gate(
    metric: &MetricReport,
    gate: &GateRuling,
    clean: impl Fn(&str) -> String,
) -> String {
    format!(
        "{} {} (needs {})",
        clean(&metric.name),
        words::value(metric),
        words::gate_with(metric, gate, &clean)
    )
}

/// A failed gate in one phrase: `severity_accuracy 87.5%, needs 95% (baseline 100%)`.
pub fn failed_gate(metric: &MetricReport, gate: &GateRuling) -> String {
    if let Some(rule) = failed_rule(metric, gate) {
        return rule;
    }
    let baseline = match metric.comparison.baseline {
        Some(_) => format!(
            "baseline {}",
            metric_value(metric.unit, metric.comparison.baseline)
        ),
        None => "not in the baseline".to_owned(),
    };
    let value = words::value(metric);
    // Inside the band a gate is inconclusive; it fails beyond.
    let band = if gate.gate == GateKind::Max {
        gate.zone
    } else {
        -gate.zone
    };
    let limit = metric_value(
        metric.unit,
        gate.threshold.map(|threshold| threshold + band),
    );
    // In a band that is compared with the baseline, a value may fail on either side of its end.
    let (limit, or) = match gate.in_zone {
        None => (limit, String::new()),
        Some(tolerance) => (
            metric_value(metric.unit, gate.threshold),
            format!(
                ", or {limit} with a {} of at most {}",
                words::change_word(gate),
                words::spread(metric.unit, tolerance)
            ),
        ),
    };
    let needs = match (gate.gate, gate.threshold) {
        (GateKind::Min, Some(_)) => format!("needs {limit}{or}"),
        (GateKind::Max, Some(_)) => format!("needs at most {limit}{or}"),
        (GateKind::MaxDrop, Some(most)) => {
            format!("may drop by {}", words::spread(metric.unit, most))
        }
        (GateKind::MaxRise, Some(most)) => {
            format!("may rise by {}", words::spread(metric.unit, most))
        }
        (GateKind::Test | GateKind::Lost | GateKind::Never | GateKind::Floor, _) | (_, None) => {
            "needs the baseline's value".to_owned()
        }
    };
    let name = line(&metric.name, words::NAME);
    format!("{name} {value}, {needs} ({baseline})")
}

/// A case's value and its baseline value; empty if it has neither, and for the rules of the policy `regression`, whose cases say in words
/// how many samples are right.
pub fn case_value(metric: &MetricReport, evidence: &CaseEvidence) -> String {
    if is_rule(metric) {
        return String::new();
    }
    let unit = metric.unit;
    match (evidence.value, evidence.baseline) {
        (None, None) => String::new(),
        (value, None) => metric_value(unit, value),
        (value, baseline) => format!(
            "{} (baseline {})",
            metric_value(unit, value),
            metric_value(unit, baseline)
        ),
    }
}

/// The check of the output's format, if it explains why a case moved a metric: what cannot be read fails every other check.
pub fn unreadable<'a>(
    case: Option<&'a PairResult>,
    evidence: &CaseEvidence,
) -> Option<&'a PairCheck> {
    let is_of_format = evidence
        .differences
        .iter()
        .any(|line| line.tag == Some(Tag::Schema));
    case.filter(|_| is_of_format).and_then(format_check)
}

/// Whether a failed check only repeats that the output of its case cannot be read.
pub fn repeats_unreadable(failed: &FailureLine<'_>) -> bool {
    let is_of_format = failed
        .check
        .failure
        .as_ref()
        .is_some_and(|failure| failure.tag == Tag::Schema);
    is_of_format && format_check(failed.case).is_some_and(|first| first.name != failed.check.name)
}

/// The first failed check of a case, if its cause is the format.
fn format_check(case: &PairResult) -> Option<&PairCheck> {
    let mut failed = case.failed_checks();
    failed.next().filter(|check| {
        check
            .failure
            .as_ref()
            .is_some_and(|failure| failure.tag == Tag::Schema)
    })
}

/// The metric's values in the last committed baselines; `None` if they are not known.
pub fn past_baselines(metric: &MetricReport) -> Option<String> {
    let known = metric.past.iter().flatten().copied();
    let (low, high) = (
        known.clone().reduce(f64::min)?,
        known.clone().reduce(f64::max)?,
    );
    let (low, high) = (
        metric_value(metric.unit, Some(low)),
        metric_value(metric.unit, Some(high)),
    );
    let ends = if low == high {
        format!("always {low}")
    } else {
        format!("{low} to {high}")
    };
    let (all, with) = (metric.past.len(), known.count());
    let those = if with < all {
        format!("; {with} of them have it")
    } else {
        String::new()
    };
    Some(format!(
        "last {all} baselines: {} ({ends}{those})",
        sparkline(&metric.past)
    ))
}
