//! Suggests gate tolerances from repeated runs, so that an unchanged agent passes nearly always.

use super::limits::widest_zone;
use super::statistics::{ComparisonTarget, RepeatedMetric};
use crate::model::{AgentName, Better, EPSILON, GateKind, GateRuling, MetricReport, SuiteId, Unit};

/// Minimum number of runs for a proposal: with fewer, Student's quantile is so large that any tolerance would do.
pub const FEWEST: usize = 5;

/// One gate of one agent, evaluated on repeated runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibratedGate {
    pub suite: SuiteId,
    pub agent: AgentName,
    /// The metric as reported by the last run.
    pub metric: MetricReport,
    /// The metric's values in the runs that have one.
    pub values: Vec<f64>,
    /// The gate; `None` if the metric has none.
    pub gate: Option<GateRuling>,
    pub finding: CalibrationFinding,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CalibrationFinding {
    /// Fewer than two runs have a value.
    NoSpread,
    /// Two or more runs have a value.
    Spread {
        /// Statistics of the runs.
        runs: RepeatedMetric,
        /// How often the current gate would fail on an unchanged agent; `None` without a gate.
        alarms: Option<Alarms>,
        proposal: Proposal,
    },
}

/// How often a gate fails on an unchanged agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alarms {
    /// The probability, 0 to 1.
    pub rate: f64,
    /// Number of comparisons between these runs that failed.
    pub seen: usize,
    /// Number of comparisons.
    pub of: usize,
}

/// A proposed tolerance, or why it is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Proposal {
    /// This zone or tolerance.
    Width(f64),
    /// Too few runs for such a rare event.
    TooFew,
    /// All runs are equal.
    Steady,
    /// The gate is hard: it intentionally has no band.
    Hard,
    /// More than a config accepts, or than is possible: the metric varies too much for a gate.
    TooNoisy(f64),
}

/// The results for each gate of a metric, or for a possible change gate if it has none. Empty for an informational metric, and for one
/// without gate and value. `rate` is the accepted probability that an unchanged agent fails.
pub fn calibrated(
    metric: &MetricReport,
    values: &[f64],
    rate: f64,
) -> Vec<(Option<GateRuling>, CalibrationFinding)> {
    if metric.better == Better::Neither || (values.is_empty() && metric.gates.is_empty()) {
        return Vec::new();
    }
    let gates: Vec<Option<GateRuling>> = match metric.gates.is_empty() {
        true => vec![None],
        false => metric.gates.iter().cloned().map(Some).collect(),
    };
    let found = |gate: Option<GateRuling>| {
        let finding = finding(metric, gate.as_ref(), values, rate);
        (gate, finding)
    };
    gates.into_iter().map(found).collect()
}

fn finding(
    metric: &MetricReport,
    gate: Option<&GateRuling>,
    values: &[f64],
    rate: f64,
) -> CalibrationFinding {
    let Some(runs) = RepeatedMetric::new(values.to_vec()) else {
        return CalibrationFinding::NoSpread;
    };
    let (against, tolerance) = gate.map_or((ComparisonTarget::Run, 0.0), held_against);
    let alarms = gate.map(|_| {
        let (seen, of) = runs.seen_alarms(metric.better, against, tolerance);
        Alarms {
            rate: runs.false_alarms(metric.better, against, tolerance),
            seen,
            of,
        }
    });
    let proposal = match gate {
        Some(gate) if gate.hard => Proposal::Hard,
        _ if !runs.vary() => Proposal::Steady,
        _ if runs.count() < FEWEST => Proposal::TooFew,
        _ => {
            let width = rounded_up(metric.unit, runs.tolerance(metric.better, against, rate));
            if width > widest(metric.unit, gate.is_some_and(has_zone)) {
                Proposal::TooNoisy(width)
            } else {
                Proposal::Width(width)
            }
        }
    };
    CalibrationFinding::Spread {
        runs,
        alarms,
        proposal,
    }
}

/// Whether the gate's width is a zone around a threshold, not the tolerance of a change.
pub fn has_zone(gate: &GateRuling) -> bool {
    matches!(gate.gate, GateKind::Min | GateKind::Max)
}

/// What a gate compares with, and how much worse a value may be.
fn held_against(gate: &GateRuling) -> (ComparisonTarget, f64) {
    match (has_zone(gate), gate.from_baseline, gate.threshold) {
        (true, false, Some(threshold)) => (ComparisonTarget::Number(threshold), gate.zone),
        // The baseline is a run of the same agent, too.
        (true, _, _) => (ComparisonTarget::Run, gate.zone),
        (false, _, tolerance) => (ComparisonTarget::Run, tolerance.unwrap_or_default()),
    }
}

/// The widest zone that a config accepts, or the largest possible change.
fn widest(unit: Unit, zone: bool) -> f64 {
    match (unit, zone) {
        (_, true) => widest_zone(unit),
        (Unit::Share, false) => 1.0,
        (Unit::Points | Unit::Count | Unit::Spread | Unit::Dollars, false) => f64::INFINITY,
    }
}

/// Rounds up: to whole percentage points, whole counts, tenths of points, ten-thousandths of spreads.
pub(super) fn rounded_up(unit: Unit, value: f64) -> f64 {
    let parts = match unit {
        Unit::Share => 100.0,
        Unit::Count => 1.0,
        Unit::Points => 10.0,
        Unit::Spread | Unit::Dollars => 10_000.0,
    };
    // A negative need means 0; adding 0.0 removes a negative zero.
    (value * parts - EPSILON).ceil().max(0.0) / parts + 0.0
}

#[cfg(test)]
mod tests {
    use super::{CalibrationFinding, Proposal, calibrated, rounded_up};
    use crate::model::{
        Better, Comparison, GateKind, GateRuling, MetricEvidence, MetricReport, Ruling, Strictness,
        Unit, Verdict,
    };

    fn gate(
        gate: GateKind,
        threshold: f64,
        from_baseline: bool,
        strictness: Strictness,
    ) -> GateRuling {
        let (zone, hard) = (strictness.zone(), strictness == Strictness::Hard);
        let ruling = Ruling::Judged(Verdict::Pass);
        GateRuling {
            gate,
            threshold: Some(threshold),
            from_baseline,
            zone,
            hard,
            ruling,
            base_commit: None,
            chance: None,
            new_parts: Vec::new(),
        }
    }

    fn metric(better: Better, gates: Vec<GateRuling>) -> MetricReport {
        MetricReport {
            name: "m".to_owned(),
            value: None,
            ci95: None,
            better,
            unit: Unit::Share,
            aggregate: "mean".to_owned(),
            comparison: Comparison::default(),
            gates,
            verdict: Ruling::Judged(Verdict::Pass),
            evidence: MetricEvidence::default(),
            past: Vec::new(),
        }
    }

    fn proposal(gate: GateRuling, values: &[f64]) -> Option<Proposal> {
        match calibrated(&metric(Better::Higher, vec![gate]), values, 0.01)
            .remove(0)
            .1
        {
            CalibrationFinding::Spread { proposal, .. } => Some(proposal),
            CalibrationFinding::NoSpread => None,
        }
    }

    /// Seed 000: precision varies by 0.10 to 0.13 between runs; a band of 0.05 flaked, 0.15 did not.
    const SWINGS: [f64; 8] = [0.86, 0.92, 0.90, 0.84, 0.94, 0.88, 0.89, 0.91];

    #[test]
    fn a_flaky_band_gets_a_wider_proposal() {
        let drop = || gate(GateKind::MaxDrop, 0.05, false, Strictness::Band(0.0));
        let CalibrationFinding::Spread { alarms, .. } =
            calibrated(&metric(Better::Higher, vec![drop()]), &SWINGS, 0.01)
                .remove(0)
                .1
        else {
            unreachable!("there are eight runs")
        };
        let alarms = alarms.unwrap();
        // The deviation is 0.0324, so 0.05 is 1.09 times the deviation of a difference.
        assert!((0.14..0.17).contains(&alarms.rate), "{alarms:?}");
        assert_eq!((alarms.seen, alarms.of), (7, 56));
        assert_eq!(proposal(drop(), &SWINGS), Some(Proposal::Width(0.14)));
        assert_eq!(
            proposal(
                gate(GateKind::Min, 0.9, true, Strictness::Band(0.05)),
                &SWINGS
            ),
            Some(Proposal::Width(0.14))
        );
    }

    #[test]
    fn too_little_data_gives_no_proposal() {
        let drop = || gate(GateKind::MaxDrop, 0.15, false, Strictness::Band(0.0));
        for (gate, values, expected) in [
            (
                gate(GateKind::Min, 0.8, false, Strictness::Hard),
                &SWINGS[..],
                Proposal::Hard,
            ),
            (drop(), &SWINGS[..4], Proposal::TooFew),
            (drop(), &[0.9; 9], Proposal::Steady),
            (
                gate(GateKind::Min, 0.8, false, Strictness::Band(0.0)),
                &SWINGS[..],
                Proposal::Width(0.02),
            ),
            (
                gate(GateKind::Min, 0.5, false, Strictness::Band(0.1)),
                &SWINGS[..],
                Proposal::Width(0.0),
            ),
            (
                gate(GateKind::Min, 0.9, true, Strictness::Band(0.1)),
                &[0.0, 1.0, 0.0, 1.0, 0.0],
                Proposal::TooNoisy(2.91),
            ),
            (drop(), &[0.0, 1.0, 0.0, 1.0, 0.0], Proposal::TooNoisy(2.91)),
        ] {
            assert_eq!(
                proposal(gate.clone(), values),
                Some(expected),
                "{gate:?} {values:?}"
            );
        }
        let none = calibrated(&metric(Better::Higher, Vec::new()), &[0.5], 0.01);
        assert_eq!(none, [(None, CalibrationFinding::NoSpread)]);
        assert_eq!(
            calibrated(&metric(Better::Higher, Vec::new()), &[], 0.01),
            []
        );
        assert_eq!(
            calibrated(&metric(Better::Neither, Vec::new()), &SWINGS, 0.01),
            []
        );
    }

    #[test]
    fn a_proposal_is_never_rounded_down() {
        for (unit, value, expected) in [
            (Unit::Share, 0.1201, 0.13),
            (Unit::Share, 0.12, 0.12),
            (Unit::Share, 0.1 + 0.2, 0.3),
            (Unit::Count, 2.2, 3.0),
            (Unit::Points, 0.51, 0.6),
            (Unit::Spread, 0.010_01, 0.0101),
            (Unit::Share, 0.0, 0.0),
        ] {
            assert!(
                (rounded_up(unit, value) - expected).abs() < 1e-12,
                "{value}: {}",
                rounded_up(unit, value)
            );
        }
    }
}
