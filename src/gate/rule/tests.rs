//! Tests the invariants and boundaries of gates.

use proptest::prelude::{Just, Strategy};
use proptest::{prop_oneof, proptest};

use super::{BaseNumber, Openness, Subject, ruling};
use crate::fold::Interval;
use crate::model::{ChangeDirection, Gate, Limit, LimitSide, Ruling, Strictness, Verdict};

fn subject(value: f64) -> Subject {
    Subject::alone(Some(value))
}

fn floor(number: f64, strictness: Strictness) -> Gate {
    Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Number(number),
        strictness,
    }
}

fn judged(gate: &Gate, value: f64, base: &BaseNumber) -> Verdict {
    ruling(gate, &subject(value), base)
        .gate
        .ruling
        .verdict()
        .unwrap()
}

#[test]
fn in_a_compared_band_the_change_from_the_baseline_decides() {
    let strictness = Strictness::ComparedBand {
        zone: 0.05,
        tolerance: 0.03,
    };
    let gate = floor(0.9, strictness);
    let ceiling = Gate::Threshold {
        side: LimitSide::Max,
        limit: Limit::Number(-0.9),
        strictness,
    };
    let other_scorer = BaseNumber::Incomparable("another scorer".to_owned());
    let table = [
        (0.95, BaseNumber::Known(1.0), Verdict::Pass),
        (0.9, BaseNumber::Known(1.0), Verdict::Pass),
        (0.88, BaseNumber::Known(0.91), Verdict::Pass),
        (0.88, BaseNumber::Known(0.92), Verdict::Fail),
        (0.88, BaseNumber::Known(0.5), Verdict::Pass),
        (0.85, BaseNumber::Known(0.86), Verdict::Pass),
        (0.84, BaseNumber::Known(0.84), Verdict::Fail),
        (0.88, BaseNumber::Absent, Verdict::Inconclusive),
        (0.88, other_scorer, Verdict::Inconclusive),
        (0.84, BaseNumber::Absent, Verdict::Fail),
    ];
    for (value, base, expected) in table {
        assert_eq!(judged(&gate, value, &base), expected, "{value} {base:?}");
        let mirrored = match &base {
            BaseNumber::Known(number) => BaseNumber::Known(-number),
            BaseNumber::Absent | BaseNumber::Incomparable(_) => base.clone(),
        };
        assert_eq!(
            judged(&ceiling, -value, &mirrored),
            expected,
            "-{value} {base:?}"
        );
    }
    // Only cases that the baseline also has are compared with it.
    let subject = Subject {
        shared_value: Some(Interval::at(0.95)),
        ..subject(0.88)
    };
    let shared = ruling(&gate, &subject, &BaseNumber::Known(0.97)).gate;
    assert_eq!(shared.ruling, Ruling::Judged(Verdict::Pass));
    let open = Subject {
        value: Some(Interval {
            least: 0.86,
            most: 0.89,
        }),
        shared_value: Some(Interval {
            least: 0.86,
            most: 0.89,
        }),
        ..Subject::default()
    };
    let open = ruling(&gate, &open, &BaseNumber::Known(0.91));
    assert_eq!(
        (open.gate.ruling, open.openness),
        (Ruling::Judged(Verdict::Inconclusive), Openness::Open)
    );
}

#[test]
fn both_edges_of_a_band_carry_the_epsilon() {
    let gate = floor(0.8, Strictness::Band(0.05));
    let table = [
        (0.8, Verdict::Pass),
        (0.8 - 0.9e-9, Verdict::Pass),
        (0.8 - 1.1e-9, Verdict::Inconclusive),
        (0.75, Verdict::Inconclusive),
        (0.75 - 0.9e-9, Verdict::Inconclusive),
        (0.75 - 1.1e-9, Verdict::Fail),
    ];
    for (value, expected) in table {
        assert_eq!(
            judged(&gate, value, &BaseNumber::Absent),
            expected,
            "{value}"
        );
        let mirrored = Gate::Threshold {
            side: LimitSide::Max,
            limit: Limit::Number(-0.8),
            strictness: Strictness::Band(0.05),
        };
        assert_eq!(
            judged(&mirrored, -value, &BaseNumber::Absent),
            expected,
            "-{value}"
        );
    }
}

#[test]
fn a_hard_gate_has_no_band() {
    assert_eq!(
        judged(
            &floor(0.8, Strictness::Hard),
            0.8 - 1.1e-9,
            &BaseNumber::Absent
        ),
        Verdict::Fail
    );
    assert_eq!(
        judged(
            &floor(0.8, Strictness::Band(0.0)),
            0.8 - 1.1e-9,
            &BaseNumber::Absent
        ),
        Verdict::Fail
    );
    let ruled = ruling(
        &floor(0.8, Strictness::Hard),
        &subject(1.0),
        &BaseNumber::Absent,
    )
    .gate;
    assert_eq!(
        (ruled.hard, ruled.zone, ruled.threshold, ruled.from_baseline),
        (true, 0.0, Some(0.8), false)
    );
}

#[test]
fn a_threshold_of_the_baseline_is_compared_with_six_places() {
    let gate = Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Baseline {
            otherwise: Some(0.5),
        },
        strictness: Strictness::Hard,
    };
    let base = BaseNumber::Known(0.333_333);
    assert_eq!(judged(&gate, 0.333_333 - 0.9e-6, &base), Verdict::Pass);
    assert_eq!(judged(&gate, 0.333_333 - 1.1e-6, &base), Verdict::Fail);
    assert_eq!(
        judged(&gate, 0.5 - 1.1e-9, &BaseNumber::Absent),
        Verdict::Fail
    );
    assert_eq!(judged(&gate, 0.5, &BaseNumber::Absent), Verdict::Pass);
    let skipped = ruling(
        &gate,
        &subject(1.0),
        &BaseNumber::Incomparable("scorer".to_owned()),
    )
    .gate;
    assert_eq!(skipped.ruling, Ruling::Skipped("scorer".to_owned()));
    let bare = Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Baseline { otherwise: None },
        strictness: Strictness::Hard,
    };
    let skipped = ruling(&bare, &subject(1.0), &BaseNumber::Absent).gate;
    assert_eq!(
        (
            skipped.ruling.as_str(),
            skipped.threshold,
            skipped.from_baseline
        ),
        ("skipped", None, true)
    );
}

#[test]
fn only_the_baselines_number_is_compared_on_the_shared_cases() {
    let apart = Subject {
        value: Some(Interval::at(0.9)),
        ..subject(0.1)
    };
    let number = floor(0.5, Strictness::Hard);
    let base = Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Baseline { otherwise: None },
        strictness: Strictness::Hard,
    };
    let known = BaseNumber::Known(0.5);
    assert_eq!(
        ruling(&number, &apart, &known).gate.ruling.verdict(),
        Some(Verdict::Pass)
    );
    assert_eq!(
        ruling(&base, &apart, &known).gate.ruling.verdict(),
        Some(Verdict::Fail)
    );
}

#[test]
fn the_boundary_of_a_regression_passes() {
    let drop = Gate::Change {
        direction: ChangeDirection::Drop,
        tolerance: 0.15,
    };
    let rise = Gate::Change {
        direction: ChangeDirection::Rise,
        tolerance: 0.15,
    };
    let base = BaseNumber::Known(0.5);
    for (moved, expected) in [
        (0.15, Verdict::Pass),
        (0.15 + 0.9e-6, Verdict::Pass),
        (0.15 + 1.1e-6, Verdict::Fail),
        (-0.4, Verdict::Pass),
    ] {
        assert_eq!(judged(&drop, 0.5 - moved, &base), expected, "{moved}");
        assert_eq!(judged(&rise, 0.5 + moved, &base), expected, "{moved}");
    }
    assert_eq!(
        ruling(&drop, &subject(0.0), &BaseNumber::Absent)
            .gate
            .ruling
            .as_str(),
        "skipped"
    );
    assert_eq!(
        ruling(
            &drop,
            &subject(0.0),
            &BaseNumber::Incomparable("x".to_owned())
        )
        .gate
        .ruling
        .as_str(),
        "skipped"
    );
}

/// A value of which samples are missing.
fn between(least: f64, most: f64) -> Subject {
    let value = Some(Interval { least, most });
    Subject {
        value,
        shared_value: value,
        ..Subject::default()
    }
}

#[test]
fn a_gate_passes_or_fails_only_if_the_whole_interval_does() {
    let hard = floor(0.8, Strictness::Hard);
    let band = floor(0.8, Strictness::Band(0.1));
    let drop = Gate::NO_LARGE_DROP;
    for (gate, least, most, verdict, openness) in [
        (hard, 0.8, 1.0, Verdict::Pass, Openness::Settled),
        (hard, 0.1, 0.7, Verdict::Fail, Openness::Settled),
        (hard, 0.7, 0.8, Verdict::Inconclusive, Openness::Open),
        (band, 0.75, 0.9, Verdict::Inconclusive, Openness::Settled),
        (band, 0.6, 0.75, Verdict::Inconclusive, Openness::Open),
        (drop, 0.85, 1.0, Verdict::Pass, Openness::Settled),
        (drop, 0.84, 1.0, Verdict::Inconclusive, Openness::Open),
        (drop, 0.0, 0.84, Verdict::Fail, Openness::Settled),
        (
            Gate::NONE,
            0.0,
            f64::INFINITY,
            Verdict::Inconclusive,
            Openness::Open,
        ),
        (
            Gate::NONE,
            1.0,
            f64::INFINITY,
            Verdict::Fail,
            Openness::Settled,
        ),
    ] {
        let result = ruling(&gate, &between(least, most), &BaseNumber::Known(1.0));
        assert_eq!(
            (result.gate.ruling, result.openness),
            (Ruling::Judged(verdict), openness),
            "{gate:?} {least} {most}"
        );
    }
}

#[test]
fn a_new_case_that_fails_its_limit_fails_the_gate() {
    let gate = Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Baseline {
            otherwise: Some(0.5),
        },
        strictness: Strictness::Hard,
    };
    for (added, verdict) in [
        (Interval::at(0.5), Verdict::Pass),
        (Interval::at(0.4), Verdict::Fail),
        (
            Interval {
                least: 0.4,
                most: 0.6,
            },
            Verdict::Inconclusive,
        ),
    ] {
        let subject = Subject {
            added_value: Some(added),
            ..subject(1.0)
        };
        let result = ruling(&gate, &subject, &BaseNumber::Known(1.0));
        assert_eq!(result.gate.ruling, Ruling::Judged(verdict), "{added:?}");
    }
}

#[test]
fn nothing_to_measure_is_never_a_pass() {
    let near = Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Baseline { otherwise: None },
        strictness: Strictness::Band(0.05),
    };
    for gate in [
        floor(0.0, Strictness::Hard),
        near,
        Gate::Change {
            direction: ChangeDirection::Drop,
            tolerance: 1.0,
        },
    ] {
        for base in [
            BaseNumber::Known(0.5),
            BaseNumber::Absent,
            BaseNumber::Incomparable("scorer".to_owned()),
        ] {
            assert_eq!(
                ruling(&gate, &Subject::default(), &base).gate.ruling,
                Ruling::Skipped("nothing to measure".to_owned())
            );
        }
    }
}

fn gates() -> impl Strategy<Value = (Gate, f64, f64)> {
    let strictness = prop_oneof![
        Just(Strictness::Hard),
        (0.0..0.5).prop_map(Strictness::Band)
    ];
    (0.0..1.0, strictness)
        .prop_map(|(number, strictness)| (floor(number, strictness), number, strictness.zone()))
}

proptest! {
    #[test]
    fn every_value_below_the_band_fails((gate, threshold, zone) in gates(), below in 2e-9..2.0, base in 0.0..1.0) {
        for base in [BaseNumber::Absent, BaseNumber::Known(base), BaseNumber::Incomparable(String::new())] {
            assert_eq!(judged(&gate, threshold - zone - below, &base), Verdict::Fail);
        }
    }

    #[test]
    fn a_lower_value_is_never_judged_better((gate, ..) in gates(), value in -0.5..1.5, less in 0.0..1.0) {
        assert!(judged(&gate, value - less, &BaseNumber::Absent) >= judged(&gate, value, &BaseNumber::Absent));
    }

    #[test]
    fn an_interval_is_never_judged_better_than_its_best_value((gate, ..) in gates(), one in -0.5..1.5, other in -0.5..1.5) {
        let (least, most) = if one < other { (one, other) } else { (other, one) };
        let base = BaseNumber::Absent;
        let verdict = ruling(&gate, &between(least, most), &base).gate.ruling.verdict().unwrap();
        assert!(verdict >= judged(&gate, most, &base));
        assert!(verdict <= judged(&gate, least, &base));
    }
}
