//! The estimates against known truth, and their properties.

use fastrand::Rng;

use super::advice::ACCEPTED;
use super::rates::SuiteRates;
use super::recorded::RecordedSample;
use super::{Basis, HardGates, OperatingEstimate, RecordedAgent, RecordedCase, advice, operating};
use crate::gate::limits::{GatedMetric, PlannedGate};
use crate::model::{Aggregate, ChangeDirection, Gate, Limit, LimitSide, MetricSpec, Strictness};

const RECALL: MetricSpec = MetricSpec {
    name: "recall",
    aggregate: Aggregate::Worst,
    ..MetricSpec::PLAIN
};
const MEAN: MetricSpec = MetricSpec {
    name: "mean",
    ..MetricSpec::PLAIN
};
const NEWLY_FAILING: MetricSpec = MetricSpec {
    name: "newly_failing",
    aggregate: Aggregate::NewlyFailing,
    ..MetricSpec::PLAIN
};

fn floor(limit: f64) -> PlannedGate {
    let gate = Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Number(limit),
        strictness: Strictness::Hard,
    };
    PlannedGate { gate, off: None }
}

fn drop(tolerance: f64) -> PlannedGate {
    PlannedGate {
        gate: Gate::Change {
            direction: ChangeDirection::Drop,
            tolerance,
            otherwise: None,
        },
        off: None,
    }
}

fn metrics() -> Vec<GatedMetric> {
    vec![
        GatedMetric {
            spec: RECALL,
            gates: vec![floor(0.8)],
        },
        GatedMetric {
            spec: MEAN,
            gates: vec![drop(0.05)],
        },
        GatedMetric {
            spec: NEWLY_FAILING,
            gates: Vec::new(),
        },
    ]
}

/// One sample: three findings, each found with this probability.
fn sample(found: f64, random: &mut Rng) -> RecordedSample {
    let recall = (0..3).filter(|_| random.f64() < found).count() as f64 / 3.0;
    RecordedSample {
        values: vec![Some(recall), Some(recall), None].into(),
        passed: recall > 0.99,
    }
}

fn cases(found: &[f64], samples: usize, random: &mut Rng) -> Vec<RecordedCase> {
    let case = |found: &f64| RecordedCase {
        samples: (0..samples).map(|_| sample(*found, random)).collect(),
    };
    found.iter().map(case).collect()
}

fn rates(metrics: &[GatedMetric], cases: Vec<RecordedCase>, samples: usize) -> SuiteRates {
    match operating(
        &[RecordedAgent {
            metrics,
            cases,
            refold: None,
        }],
        samples,
    ) {
        OperatingEstimate::Rates(rates) => rates,
        other => unreachable!("{other:?}"),
    }
}

/// Twelve documents with three findings each, found with 95 %, median of three, worst at least 80 %. A document fails if two of three
/// samples miss a finding: 5.5 %. So 49.4 % of the recordings fail.
#[test]
fn the_estimate_has_the_true_mean_if_enough_samples_are_recorded() {
    let (metrics, mut random) = (metrics(), Rng::with_seed(5));
    let (mut alarms, mut changes, trials) = (0.0, 0.0, 60);
    for _ in 0..trials {
        let rates = rates(&metrics, cases(&[0.95; 12], 6, &mut random), 3);
        assert_eq!(rates.basis, Basis::Dealt);
        alarms += rates.agents[0][0].rates.false_alarms / f64::from(trials);
        changes += rates.agents[0][1].rates.false_alarms / f64::from(trials);
    }
    let missed = 1.0 - 0.95_f64.powi(3);
    let fails = 3.0 * missed.powi(2) * (1.0 - missed) + missed.powi(3);
    let truth = 1.0 - (1.0 - fails).powi(12);
    assert!((truth - 0.494).abs() < 0.001, "{truth}");
    assert!((alarms - truth).abs() < 0.07, "{alarms}, not {truth}");
    assert!((changes - 0.08).abs() < 0.04, "{changes}");
}

/// With as many recorded samples as a run has, the estimate is less accurate, but far better than drawing each case alone, which says 79 %.
#[test]
fn few_samples_give_an_approximate_estimate() {
    let (metrics, mut random) = (metrics(), Rng::with_seed(6));
    let (mut alarms, trials) = (0.0, 60);
    for _ in 0..trials {
        let rates = rates(&metrics, cases(&[0.95; 12], 3, &mut random), 3);
        assert_eq!(rates.basis, Basis::Pooled);
        alarms += rates.agents[0][0].rates.false_alarms / f64::from(trials);
    }
    assert!((alarms - 0.494).abs() < 0.15, "{alarms}");
}

#[test]
fn too_few_samples_give_no_estimate() {
    let (metrics, mut random) = (metrics(), Rng::with_seed(7));
    let mut estimate = |samples: usize, count: usize, per_run: usize| {
        let cases = cases(&vec![0.9; count], samples, &mut random);
        operating(
            &[RecordedAgent {
                metrics: &metrics,
                cases,
                refold: None,
            }],
            per_run,
        )
    };
    let too_few = |enough, cases, needed| OperatingEstimate::TooFew {
        enough,
        cases,
        needed,
    };
    assert_eq!(estimate(1, 9, 1), too_few(0, 9, 2));
    assert_eq!(estimate(2, 9, 3), too_few(0, 9, 3));
    assert_eq!(estimate(3, 9, 5), too_few(0, 9, 5));
    assert_eq!(estimate(3, 4, 3), OperatingEstimate::FewCases(4));
    assert!(matches!(estimate(6, 4, 3), OperatingEstimate::Rates(_)));
    assert_eq!(estimate(3, 0, 1), too_few(0, 0, 2));
}

#[test]
fn a_lost_sample_of_one_case_in_ten_keeps_the_estimate() {
    let metrics = metrics();
    let estimate = |short: &[usize]| {
        let mut cases = cases(&[0.9; 20], 3, &mut Rng::with_seed(7));
        short
            .iter()
            .enumerate()
            .for_each(|(case, left)| cases[case].samples.truncate(*left));
        operating(
            &[RecordedAgent {
                metrics: &metrics,
                cases,
                refold: None,
            }],
            3,
        )
    };
    assert!(matches!(
        estimate(&[2, 1]),
        OperatingEstimate::Rates(SuiteRates {
            basis: Basis::Pooled,
            ..
        })
    ));
    assert_eq!(
        estimate(&[2, 2, 2]),
        OperatingEstimate::TooFew {
            enough: 17,
            cases: 20,
            needed: 3
        }
    );
    assert_eq!(
        estimate(&[0]),
        OperatingEstimate::TooFew {
            enough: 19,
            cases: 20,
            needed: 3
        }
    );
}

#[test]
fn steady_recordings_never_fail_and_a_drop_is_detected() {
    let metrics = metrics();
    for (samples, basis) in [(6, Basis::Dealt), (3, Basis::Pooled)] {
        let steady = cases(&[1.0; 20], samples, &mut Rng::with_seed(1));
        let rates = rates(&metrics, steady, 3);
        assert_eq!((rates.basis, rates.suite.false_alarms), (basis, 0.0));
        // Two of twenty cases break: the worst of all is 0, the mean falls by 10 points.
        assert_eq!(rates.suite.detection, 1.0);
        assert!(
            rates.agents[0]
                .iter()
                .all(|gate| gate.rates.detection == 1.0),
            "{rates:?}"
        );
    }
}

/// A gate that is failed already fails in every re-recording.
#[test]
fn what_fails_in_every_sample_fails_always() {
    let metrics = metrics();
    let broken = cases(&[0.0, 1.0, 1.0, 1.0, 1.0, 1.0], 6, &mut Rng::with_seed(1));
    let rates = rates(&metrics, broken, 3);
    assert_eq!(
        (
            rates.agents[0][0].rates.false_alarms,
            rates.suite.false_alarms
        ),
        (1.0, 1.0)
    );
    assert_eq!(rates.agents[0][1].rates.false_alarms, 0.0);
}

/// Wider gates fail more rarely, the suite fails at least as often as each gate and at most as often as all together, and the same
/// recordings give the same rates.
#[test]
fn rates_are_consistent() {
    let mut random = Rng::with_seed(9);
    for samples in [3, 6] {
        let recorded = cases(&[0.9, 0.8, 0.95, 0.7, 0.99, 0.9], samples, &mut random);
        let mut last = 1.0;
        for tolerance in [0.0, 0.02, 0.05, 0.1, 0.2, 0.4] {
            let mut metrics = metrics();
            metrics[1].gates = vec![drop(tolerance)];
            metrics[2].gates = vec![PlannedGate {
                gate: Gate::NONE,
                off: None,
            }];
            let found = rates(&metrics, recorded.clone(), 3);
            let each: Vec<f64> = found.agents[0]
                .iter()
                .map(|gate| gate.rates.false_alarms)
                .collect();
            assert!(each[1] <= last, "{tolerance}: {each:?}");
            last = each[1];
            let most = each.iter().copied().fold(0.0, f64::max);
            assert!(
                most <= found.suite.false_alarms
                    && found.suite.false_alarms <= each.iter().sum::<f64>() + 1e-9
            );
            assert_eq!(found, rates(&metrics, recorded.clone(), 3));
        }
    }
}

#[test]
fn a_disabled_gate_has_no_rates() {
    let mut metrics = metrics();
    metrics[0].gates[0].off = Some("not now".to_owned());
    let found = rates(&metrics, cases(&[0.5; 8], 6, &mut Rng::with_seed(3)), 3);
    assert_eq!(
        found.agents[0]
            .iter()
            .map(|gate| gate.metric)
            .collect::<Vec<_>>(),
        [1]
    );
}

/// The order of recorded samples changes nothing beyond the simulation's own noise; a refold is used for each draw.
#[test]
fn a_kind_folds_its_own_values() {
    let metrics = vec![GatedMetric {
        spec: RECALL,
        gates: vec![floor(0.8)],
    }];
    let sample = || RecordedSample {
        values: vec![Some(1.0)].into(),
        passed: true,
    };
    let cases = vec![
        RecordedCase {
            samples: vec![sample(), sample()]
        };
        5
    ];
    let refold = |case: usize, values: &mut [crate::model::PairValue]| {
        values[0].value = Some(if case == 4 { 0.0 } else { 1.0 });
    };
    let agent = RecordedAgent {
        metrics: &metrics,
        cases,
        refold: Some(Box::new(refold)),
    };
    let OperatingEstimate::Rates(found) = operating(&[agent], 1) else {
        unreachable!("two samples a case")
    };
    assert_eq!(found.suite.false_alarms, 1.0);
}

#[test]
fn the_advice_keeps_hard_gates_unless_they_may_change() {
    let metrics = metrics();
    let recorded = cases(&[0.95; 12], 10, &mut Rng::with_seed(4));
    let agents = [RecordedAgent {
        metrics: &metrics,
        cases: recorded,
        refold: None,
    }];
    assert_eq!(advice(&agents, &[1, 3], HardGates::Keep), None);
    let changed = advice(&agents, &[1, 3, 5, 9], HardGates::Change).unwrap();
    assert!(changed.rates.false_alarms <= ACCEPTED, "{changed:?}");
    assert!(
        changed.rates.detection > 0.9 && changed.samples <= 5,
        "{changed:?}"
    );
    let Gate::Threshold {
        limit: Limit::Number(limit),
        strictness: Strictness::Hard,
        ..
    } = changed.gates[0].gate
    else {
        unreachable!("the gate stays hard: {changed:?}")
    };
    assert!((0.3..0.8).contains(&limit), "{limit}");
}

#[test]
fn a_banded_gate_gets_the_room_that_it_needs() {
    let metrics = vec![GatedMetric {
        spec: MEAN,
        gates: vec![drop(0.0)],
    }];
    let recorded = cases(&[0.9; 12], 6, &mut Rng::with_seed(8));
    let agents = [RecordedAgent {
        metrics: &metrics,
        cases: recorded,
        refold: None,
    }];
    let found = advice(&agents, &[3], HardGates::Keep).unwrap();
    assert!(
        found.rates.false_alarms <= ACCEPTED && found.gates.len() == 1,
        "{found:?}"
    );
    let Gate::Change { tolerance, .. } = found.gates[0].gate else {
        unreachable!("{found:?}")
    };
    assert!((0.02..0.15).contains(&tolerance), "{tolerance}");
    let steady = cases(&[1.0; 12], 6, &mut Rng::with_seed(8));
    let agents = [RecordedAgent {
        metrics: &metrics,
        cases: steady,
        refold: None,
    }];
    assert_eq!(advice(&agents, &[3], HardGates::Keep).unwrap().gates, []);
}
