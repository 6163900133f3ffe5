//! Tolerances out of repeated runs: how wide a gate has to be for an unchanged agent to pass it nearly always.

use super::limits::widest_zone;
use super::statistics::{ComparisonTarget, RepeatedMetric};
use crate::model::{AgentName, Better, EPSILON, GateKind, GateRuling, MetricReport, SuiteId, Unit};

/// Fewer runs than this propose nothing: Student's quantile is then so large that any tolerance would do.
pub const FEWEST: usize = 5;

/// One gate of one agent, held against repeated runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibratedGate {
    /// The suite.
    pub suite: SuiteId,
    /// The agent.
    pub agent: AgentName,
    /// The metric, as the last run reports it.
    pub metric: MetricReport,
    /// The metric's values in the runs that have one.
    pub values: Vec<f64>,
    /// The gate; `None` where the metric has none.
    pub gate: Option<GateRuling>,
    /// What the runs say.
    pub finding: CalibrationFinding,
}

/// What the runs say of a gate.
#[derive(Debug, Clone, PartialEq)]
pub enum CalibrationFinding {
    /// There are not two runs with a value.
    NoSpread,
    /// The runs have a spread.
    Spread {
        /// The runs.
        runs: RepeatedMetric,
        /// How often the present gate would fail on an unchanged agent; `None` where there is no gate.
        alarms: Option<Alarms>,
        /// The tolerance that is proposed.
        proposal: Proposal,
    },
}

/// How often a gate fails on an unchanged agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alarms {
    /// The probability.
    pub rate: f64,
    /// In how many comparisons of these runs it failed.
    pub seen: usize,
    /// Of how many.
    pub of: usize,
}

/// A tolerance that is proposed, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Proposal {
    /// This zone or tolerance.
    Width(f64),
    /// Too few runs to tell so seldom an event.
    TooFew,
    /// The runs are all equal.
    Steady,
    /// The gate is hard: it has no band by intent.
    Hard,
    /// More than a config accepts, or than can be: the metric varies too much to be gated.
    TooNoisy(f64),
}

/// What repeated runs say of each gate of a metric, or of the change that it could be gated by where it has none; nothing
/// for a metric that only informs, or that has neither a gate nor a value. `rate` is how often an unchanged agent may fail.
pub fn calibrated(metric: &MetricReport, values: &[f64], rate: f64) -> Vec<(Option<GateRuling>, CalibrationFinding)> {
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

fn finding(metric: &MetricReport, gate: Option<&GateRuling>, values: &[f64], rate: f64) -> CalibrationFinding {
    let Some(runs) = RepeatedMetric::new(values.to_vec()) else { return CalibrationFinding::NoSpread };
    let (against, tolerance) = gate.map_or((ComparisonTarget::Run, 0.0), held_against);
    let alarms = gate.map(|_| {
        let (seen, of) = runs.seen_alarms(metric.better, against, tolerance);
        Alarms { rate: runs.false_alarms(metric.better, against, tolerance), seen, of }
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
    CalibrationFinding::Spread { runs, alarms, proposal }
}

/// Whether the gate's width is a zone below a threshold, and not the tolerance of a change.
pub fn has_zone(gate: &GateRuling) -> bool {
    matches!(gate.gate, GateKind::Min | GateKind::Max)
}

/// What a gate compares with, and how much worse may be.
fn held_against(gate: &GateRuling) -> (ComparisonTarget, f64) {
    match (has_zone(gate), gate.from_baseline, gate.threshold) {
        (true, false, Some(threshold)) => (ComparisonTarget::Number(threshold), gate.zone),
        // The baseline is a run of the same agent as well.
        (true, _, _) => (ComparisonTarget::Run, gate.zone),
        (false, _, tolerance) => (ComparisonTarget::Run, tolerance.unwrap_or_default()),
    }
}

/// The widest zone that a config accepts, and the largest change that can be.
fn widest(unit: Unit, zone: bool) -> f64 {
    match (unit, zone) {
        (_, true) => widest_zone(unit),
        (Unit::Share, false) => 1.0,
        (Unit::Points | Unit::Count | Unit::Spread, false) => f64::INFINITY,
    }
}

/// The next larger round number: whole percentage points, whole counts, tenths of points, ten thousandths of spreads.
fn rounded_up(unit: Unit, value: f64) -> f64 {
    let parts = match unit {
        Unit::Share => 100.0,
        Unit::Count => 1.0,
        Unit::Points => 10.0,
        Unit::Spread => 10_000.0,
    };
    // Nothing is needed where the value is below zero; a sum with zero has no negative one.
    (value * parts - EPSILON).ceil().max(0.0) / parts + 0.0
}

#[cfg(test)]
mod tests {
    use super::{CalibrationFinding, Proposal, calibrated, rounded_up};
    use crate::model::{
        Better, Comparison, GateKind, GateRuling, GateState, MetricEvidence, MetricReport, Ruling, Unit, Verdict,
    };

    fn gate(gate: GateKind, threshold: f64, from_baseline: bool, zone: f64, hard: bool) -> GateRuling {
        let ruling = Ruling::Judged(Verdict::Pass);
        GateRuling { gate, state: GateState::On, threshold: Some(threshold), from_baseline, zone, hard, ruling }
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
        }
    }

    fn proposal(gate: GateRuling, values: &[f64]) -> Option<Proposal> {
        match calibrated(&metric(Better::Higher, vec![gate]), values, 0.01).remove(0).1 {
            CalibrationFinding::Spread { proposal, .. } => Some(proposal),
            CalibrationFinding::NoSpread => None,
        }
    }

    /// Seed 000: precision swings by 0.10 to 0.13 from run to run, a band of 0.05 flaked, 0.15 did not.
    const SWINGS: [f64; 8] = [0.86, 0.92, 0.90, 0.84, 0.94, 0.88, 0.89, 0.91];

    #[test]
    fn a_band_that_flaked_is_told_and_a_wider_one_is_proposed() {
        let drop = || gate(GateKind::MaxDrop, 0.05, false, 0.0, false);
        let CalibrationFinding::Spread { alarms, .. } =
            calibrated(&metric(Better::Higher, vec![drop()]), &SWINGS, 0.01).remove(0).1
        else {
            unreachable!("there are eight runs")
        };
        let alarms = alarms.unwrap();
        // The deviation is 0.0324, so 0.05 is 1.09 of the deviation of a difference.
        assert!((0.14..0.17).contains(&alarms.rate), "{alarms:?}");
        assert_eq!((alarms.seen, alarms.of), (7, 56));
        assert_eq!(proposal(drop(), &SWINGS), Some(Proposal::Width(0.14)));
        assert_eq!(proposal(gate(GateKind::Min, 0.9, true, 0.05, false), &SWINGS), Some(Proposal::Width(0.14)));
    }

    #[test]
    fn what_the_runs_cannot_say_is_not_said() {
        let drop = || gate(GateKind::MaxDrop, 0.15, false, 0.0, false);
        for (gate, values, wanted) in [
            (gate(GateKind::Min, 0.8, false, 0.0, true), &SWINGS[..], Proposal::Hard),
            (drop(), &SWINGS[..4], Proposal::TooFew),
            (drop(), &[0.9; 9], Proposal::Steady),
            (gate(GateKind::Min, 0.8, false, 0.0, false), &SWINGS[..], Proposal::Width(0.02)),
            (gate(GateKind::Min, 0.5, false, 0.1, false), &SWINGS[..], Proposal::Width(0.0)),
            (gate(GateKind::Min, 0.9, true, 0.1, false), &[0.0, 1.0, 0.0, 1.0, 0.0], Proposal::TooNoisy(2.91)),
            (drop(), &[0.0, 1.0, 0.0, 1.0, 0.0], Proposal::TooNoisy(2.91)),
        ] {
            assert_eq!(proposal(gate.clone(), values), Some(wanted), "{gate:?} {values:?}");
        }
        let none = calibrated(&metric(Better::Higher, Vec::new()), &[0.5], 0.01);
        assert_eq!(none, [(None, CalibrationFinding::NoSpread)]);
        assert_eq!(calibrated(&metric(Better::Higher, Vec::new()), &[], 0.01), []);
        assert_eq!(calibrated(&metric(Better::Neither, Vec::new()), &SWINGS, 0.01), []);
    }

    #[test]
    fn a_proposal_is_never_rounded_down() {
        for (unit, value, wanted) in [
            (Unit::Share, 0.1201, 0.13),
            (Unit::Share, 0.12, 0.12),
            (Unit::Share, 0.1 + 0.2, 0.3),
            (Unit::Count, 2.2, 3.0),
            (Unit::Points, 0.51, 0.6),
            (Unit::Spread, 0.010_01, 0.0101),
            (Unit::Share, 0.0, 0.0),
        ] {
            assert!((rounded_up(unit, value) - wanted).abs() < 1e-12, "{value}: {}", rounded_up(unit, value));
        }
    }
}
