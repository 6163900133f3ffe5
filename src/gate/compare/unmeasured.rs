//! Takes back the failure of a fixed limit that the cases without a result may yet reach (verdict.md 4: a run that did not measure every
//! case is inconclusive, "never the agent's failure").

use super::GateInput;
use crate::fold;
use crate::gate::limits::GatedMetric;
use crate::gate::rule::{BaseNumber, Subject, ruled};
use crate::model::{Aggregate, Better, Exclusion, MetricReport, MetricSpec, Ruling, Unit, Verdict};

/// Makes failed gates inconclusive if coverage is below its own gate and the gate would not fail with the best results for all cases that
/// were not measured. A gate that fails in any case, and one that compares with the baseline, which is over the measured cases alone,
/// stay as they are.
pub(super) fn withhold_failures(judged: &GateInput<'_>, metrics: &mut [MetricReport]) {
    let is_open = |(gated, report): (&GatedMetric, &MetricReport)| {
        gated.spec.aggregate == Aggregate::Coverage
            && report.verdict == Ruling::Judged(Verdict::Inconclusive)
    };
    if !judged.metrics.iter().zip(metrics.iter()).any(is_open) {
        return;
    }
    let missing = judged
        .results()
        .filter(|pair| pair.exclusion == Exclusion::NoMajority)
        .count();
    for (index, (gated, report)) in judged.metrics.iter().zip(metrics).enumerate() {
        let Some(value) = at_best(&gated.spec, &fold::column(judged.results(), index), missing)
        else {
            continue;
        };
        let best = Subject::alone(Some(value));
        for (planned, gate) in gated.gates.iter().zip(&mut report.gates) {
            if !gate.from_baseline
                && gate.ruling.fails()
                && !ruled(planned, &best, &BaseNumber::Absent).ruling.fails()
            {
                gate.ruling = Ruling::Judged(Verdict::Inconclusive);
            }
        }
        report.verdict = Ruling::of_all(report.gates.iter().map(|gate| &gate.ruling));
    }
}

/// The value if each of the missing cases had the best one; `None` for a metric that further cases cannot improve, or not by a known
/// value.
fn at_best(spec: &MetricSpec, values: &[f64], missing: usize) -> Option<f64> {
    let best = match (spec.better, spec.unit) {
        (Better::Higher, Unit::Share) => 1.0,
        (Better::Higher, Unit::Points) => spec.most?,
        (Better::Lower, _) => 0.0,
        (Better::Higher, Unit::Count | Unit::Spread | Unit::Dollars) | (Better::Neither, _) => {
            return None;
        }
    };
    let all = values.len() + missing;
    let measured: f64 = match spec.aggregate {
        Aggregate::Mean => values.iter().sum(),
        // A case counts as a whole or not at all.
        Aggregate::Rate => values.iter().filter(|value| **value >= 0.5).count() as f64,
        Aggregate::Worst
        | Aggregate::Sum
        | Aggregate::Median
        | Aggregate::P95
        | Aggregate::Harmonic(..)
        | Aggregate::Coverage
        | Aggregate::NewlyFailing => return None,
    };
    (all > 0).then(|| (measured + best * missing as f64) / all as f64)
}

#[cfg(test)]
mod tests {
    use super::at_best;
    use crate::model::{Aggregate, Better, MetricSpec};

    #[test]
    fn a_missing_case_counts_as_the_best() {
        let spec = |aggregate, better| MetricSpec {
            aggregate,
            better,
            ..MetricSpec::PLAIN
        };
        for (aggregate, better, values, missing, expected) in [
            (
                Aggregate::Rate,
                Better::Higher,
                &[1.0, 0.0][..],
                8,
                Some(0.9),
            ),
            (Aggregate::Rate, Better::Higher, &[1.0, 0.0], 0, Some(0.5)),
            (Aggregate::Mean, Better::Higher, &[0.5, 0.7], 2, Some(0.8)),
            (Aggregate::Mean, Better::Lower, &[0.5, 0.5], 3, Some(0.2)),
            (Aggregate::Worst, Better::Higher, &[0.5], 9, None),
            (Aggregate::Rate, Better::Higher, &[], 0, None),
        ] {
            let found = at_best(&spec(aggregate, better), values, missing);
            let same = found
                .zip(expected)
                .map_or(found == expected, |(one, other)| {
                    (one - other).abs() < 1e-12
                });
            assert!(same, "{aggregate:?} {values:?} {missing}: {found:?}");
        }
    }
}
