//! Tests how gates of the config replace default gates, key by key.

use super::planned;
use crate::model::{
    Aggregate, Better, ChangeDirection, Gate, Limit, LimitSide, MetricSpec, SampleFold, StatedBand,
    StatedGate, StatedLimit, Strictness, Unit,
};

const FLOOR: Gate = Gate::Threshold {
    side: LimitSide::Min,
    limit: Limit::Number(0.8),
    strictness: Strictness::Hard,
};
const NEAR: Gate = Gate::Threshold {
    side: LimitSide::Min,
    limit: Limit::Baseline { otherwise: None },
    strictness: Strictness::Band(0.05),
};
const DROP: Gate = Gate::Change {
    direction: ChangeDirection::Drop,
    tolerance: 0.15,
};

fn spec(better: Better, unit: Unit, gates: &'static [Gate]) -> MetricSpec {
    MetricSpec {
        name: "m",
        better,
        fold: SampleFold::Median,
        aggregate: Aggregate::Mean,
        unit,
        gates,
        ..MetricSpec::PLAIN
    }
}

fn higher(gates: &'static [Gate]) -> MetricSpec {
    spec(Better::Higher, Unit::Share, gates)
}

fn min(number: f64) -> StatedGate {
    StatedGate {
        min: Some(StatedLimit::Number(number)),
        ..StatedGate::default()
    }
}

fn floor(number: f64, strictness: Strictness) -> Gate {
    Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Number(number),
        strictness,
    }
}

fn gates(spec: &MetricSpec, stated: &[StatedGate]) -> Vec<Gate> {
    planned(spec, stated)
        .unwrap()
        .into_iter()
        .map(|planned| planned.gate)
        .collect()
}

#[test]
fn an_empty_config_keeps_the_defaults() {
    assert_eq!(gates(&higher(&[FLOOR, DROP]), &[]), [FLOOR, DROP]);
}

#[test]
fn a_configured_max_leaves_min_unchanged() {
    let stated = StatedGate {
        max: Some(StatedLimit::Number(3.0)),
        ..StatedGate::default()
    };
    let ceiling = Gate::Threshold {
        side: LimitSide::Max,
        limit: Limit::Number(3.0),
        strictness: Strictness::Band(0.0),
    };
    assert_eq!(
        gates(&spec(Better::Neither, Unit::Count, &[FLOOR]), &[stated]),
        [FLOOR, ceiling]
    );
}

#[test]
fn a_configured_min_keeps_omitted_settings() {
    assert_eq!(
        gates(&higher(&[FLOOR]), &[min(0.9)]),
        [floor(0.9, Strictness::Hard)]
    );
    let soft = StatedGate {
        hard: Some(false),
        ..min(0.9)
    };
    assert_eq!(
        gates(&higher(&[FLOOR]), &[soft]),
        [floor(0.9, Strictness::Band(0.0))]
    );
    let zoned = StatedGate {
        zone: Some(0.1),
        ..min(0.9)
    };
    assert_eq!(
        gates(&higher(&[FLOOR]), std::slice::from_ref(&zoned)),
        [floor(0.9, Strictness::Hard)],
        "hard has no band"
    );
    assert_eq!(
        gates(&higher(&[]), &[zoned]),
        [floor(0.9, Strictness::Band(0.1))]
    );
    let narrower = StatedGate {
        zone: Some(0.01),
        ..StatedGate::default()
    };
    let expected = Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Baseline { otherwise: None },
        strictness: Strictness::Band(0.01),
    };
    assert_eq!(gates(&higher(&[NEAR]), &[narrower]), [expected]);
    assert_eq!(
        gates(&higher(&[NEAR]), &[min(0.9)]),
        [floor(0.9, Strictness::Band(0.05))]
    );
    let hard = StatedGate {
        hard: Some(true),
        ..StatedGate::default()
    };
    let expected = Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Baseline { otherwise: None },
        strictness: Strictness::Hard,
    };
    assert_eq!(gates(&higher(&[NEAR]), &[hard]), [expected]);
}

#[test]
fn a_configured_baseline_replaces_a_number() {
    let stated = StatedGate {
        min: Some(StatedLimit::Baseline),
        otherwise: Some(0.7),
        ..StatedGate::default()
    };
    let expected = Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Baseline {
            otherwise: Some(0.7),
        },
        strictness: Strictness::Hard,
    };
    assert_eq!(gates(&higher(&[FLOOR]), &[stated]), [expected]);
    let otherwise = StatedGate {
        otherwise: Some(0.6),
        ..StatedGate::default()
    };
    let expected = Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Baseline {
            otherwise: Some(0.6),
        },
        strictness: Strictness::Band(0.05),
    };
    assert_eq!(gates(&higher(&[NEAR]), &[otherwise]), [expected]);
}

#[test]
fn a_configured_change_leaves_min_unchanged() {
    let drop = StatedGate {
        max_drop: Some(0.05),
        ..StatedGate::default()
    };
    let tighter = Gate::Change {
        direction: ChangeDirection::Drop,
        tolerance: 0.05,
    };
    assert_eq!(
        gates(&higher(&[FLOOR]), std::slice::from_ref(&drop)),
        [FLOOR, tighter]
    );
    assert_eq!(
        gates(&higher(&[DROP]), std::slice::from_ref(&drop)),
        [tighter]
    );
    let both = StatedGate {
        max_drop: Some(0.05),
        ..min(0.5)
    };
    assert_eq!(
        gates(&higher(&[FLOOR, DROP]), &[both]),
        [floor(0.5, Strictness::Hard), tighter]
    );
    assert_eq!(
        gates(&higher(&[FLOOR]), &[min(0.9), drop]),
        [floor(0.9, Strictness::Hard), tighter]
    );
}

#[test]
fn a_disabled_default_is_still_reported() {
    let off = StatedGate {
        off: Some("not yet".to_owned()),
        ..StatedGate::default()
    };
    let planned = planned(&higher(&[FLOOR, DROP]), &[off]).unwrap();
    assert!(
        planned
            .iter()
            .all(|planned| planned.off.as_deref() == Some("not yet"))
    );
    assert_eq!(planned.len(), 2);
}

#[test]
fn a_limit_points_in_the_metrics_direction() {
    let lower = spec(Better::Lower, Unit::Share, &[]);
    let neither = spec(Better::Neither, Unit::Count, &[]);
    let max = StatedGate {
        max: Some(StatedLimit::Number(0.1)),
        ..StatedGate::default()
    };
    let rise = StatedGate {
        max_rise: Some(0.1),
        ..StatedGate::default()
    };
    let drop = StatedGate {
        max_drop: Some(0.1),
        ..StatedGate::default()
    };
    for (spec, stated, key) in [
        (&higher(&[]), &max, "max"),
        (&higher(&[]), &rise, "max_rise"),
        (&lower, &min(0.5), "min"),
        (&lower, &drop, "max_drop"),
    ] {
        let problems = planned(spec, std::slice::from_ref(stated)).unwrap_err();
        assert_eq!(
            (problems.len(), problems[0].key, problems[0].index),
            (1, key, 0)
        );
    }
    assert_eq!(gates(&lower, &[max.clone(), rise.clone()]).len(), 2);
    assert_eq!(gates(&neither, &[min(1.0), max, rise, drop]).len(), 4);
}

#[test]
fn settings_without_effect_are_refused() {
    let refused =
        |spec: &MetricSpec, stated: StatedGate| planned(spec, &[stated]).unwrap_err().remove(0).key;
    let empty = StatedGate::default();
    assert_eq!(
        refused(
            &higher(&[]),
            StatedGate {
                zone: Some(0.1),
                ..empty.clone()
            }
        ),
        "zone"
    );
    assert_eq!(
        refused(
            &higher(&[DROP]),
            StatedGate {
                hard: Some(true),
                ..empty.clone()
            }
        ),
        "hard"
    );
    assert_eq!(
        refused(
            &higher(&[]),
            StatedGate {
                otherwise: Some(0.1),
                ..empty.clone()
            }
        ),
        "otherwise"
    );
    assert_eq!(
        refused(
            &higher(&[FLOOR]),
            StatedGate {
                otherwise: Some(0.1),
                ..empty.clone()
            }
        ),
        "otherwise"
    );
    assert_eq!(refused(&higher(&[FLOOR]), empty.clone()), "min");
    assert_eq!(
        refused(
            &higher(&[FLOOR]),
            StatedGate {
                off: Some("r".to_owned()),
                ..min(0.1)
            }
        ),
        "off"
    );
}

#[test]
fn the_band_of_a_count_is_as_wide_as_stated() {
    let spec = spec(Better::Lower, Unit::Count, &[]);
    let stated = |zone| StatedGate {
        max: Some(StatedLimit::Number(30_000.0)),
        zone: Some(zone),
        ..StatedGate::default()
    };
    let ceiling = |zone| Gate::Threshold {
        side: LimitSide::Max,
        limit: Limit::Number(30_000.0),
        strictness: Strictness::Band(zone),
    };
    for zone in [0.0, 0.5, 30_000.0, 1e9] {
        assert_eq!(gates(&spec, &[stated(zone)]), [ceiling(zone)]);
    }
}

#[test]
fn what_decides_in_a_band_needs_a_band_and_the_direction_of_its_limit() {
    let stated = |zone, band| StatedGate {
        zone,
        in_zone: Some(band),
        ..min(0.9)
    };
    let drop = StatedBand {
        max_drop: Some(0.05),
        max_rise: None,
    };
    let rise = StatedBand {
        max_drop: None,
        max_rise: Some(0.05),
    };
    let both = StatedBand {
        max_drop: Some(0.05),
        max_rise: Some(0.05),
    };
    let compared = Strictness::ComparedBand {
        zone: 0.1,
        tolerance: 0.05,
    };
    let spec = higher(&[]);
    assert_eq!(
        gates(&spec, &[stated(Some(0.1), drop)]),
        [floor(0.9, compared)]
    );
    let too_much = StatedBand {
        max_drop: Some(1.5),
        max_rise: None,
    };
    for refused in [
        stated(None, drop),
        stated(Some(0.0), drop),
        stated(Some(0.1), rise),
        stated(Some(0.1), both),
        stated(Some(0.1), StatedBand::default()),
        stated(Some(0.1), too_much),
        StatedGate {
            hard: Some(true),
            ..stated(Some(0.1), drop)
        },
        StatedGate {
            min: None,
            max_drop: Some(0.1),
            ..stated(None, drop)
        },
    ] {
        let problems = planned(&spec, std::slice::from_ref(&refused)).unwrap_err();
        assert_eq!(problems[0].key, "in_zone", "{refused:?}");
    }
}

#[test]
fn a_zone_is_as_wide_as_its_unit_allows() {
    for (unit, widest) in [(Unit::Share, 0.5), (Unit::Points, 6.0), (Unit::Spread, 0.5)] {
        let spec = MetricSpec {
            most: (unit == Unit::Points).then_some(12.0),
            ..spec(Better::Higher, unit, &[])
        };
        let limit = widest + 0.1;
        let zoned = |zone| StatedGate {
            zone: Some(zone),
            ..min(limit)
        };
        assert_eq!(
            gates(&spec, &[zoned(widest)]),
            [floor(limit, Strictness::Band(widest))]
        );
        assert_eq!(
            planned(&spec, &[zoned(widest + 0.01)]).unwrap_err()[0].key,
            "zone"
        );
    }
}

fn refusal(spec: &MetricSpec, stated: StatedGate) -> Option<(&'static str, String)> {
    let problem = planned(spec, &[stated]).err()?.remove(0);
    Some((problem.key, problem.help))
}

#[test]
fn a_limit_must_be_a_possible_value() {
    let max = |number| StatedGate {
        max: Some(StatedLimit::Number(number)),
        ..StatedGate::default()
    };
    let drop = |number| StatedGate {
        max_drop: Some(number),
        ..StatedGate::default()
    };
    let base = |number| StatedGate {
        min: Some(StatedLimit::Baseline),
        otherwise: Some(number),
        ..StatedGate::default()
    };
    let lower = spec(Better::Lower, Unit::Share, &[]);
    let count = spec(Better::Neither, Unit::Count, &[]);
    let points = MetricSpec {
        most: Some(12.0),
        ..spec(Better::Higher, Unit::Points, &[])
    };
    for (spec, stated, key, help) in [
        (&lower, max(15.0), "max", "did you mean 0.15?"),
        (&higher(&[]), min(100.0), "min", "did you mean 1?"),
        (
            &higher(&[]),
            min(101.0),
            "min",
            "write a number from 0 to 1",
        ),
        (&higher(&[]), min(-0.1), "min", "write a number from 0 to 1"),
        (&higher(&[]), base(80.0), "otherwise", "did you mean 0.8?"),
        (&higher(&[]), drop(15.0), "max_drop", "did you mean 0.15?"),
        (&count, max(-1.0), "max", "write 0 or more"),
        (&points, min(12.5), "min", "write a number from 0 to 12"),
    ] {
        assert_eq!(
            refusal(spec, stated.clone()),
            Some((key, help.to_owned())),
            "{stated:?}"
        );
    }
    for (spec, stated) in [
        (&lower, max(0.0)),
        (&lower, max(0.999)),
        (&higher(&[]), min(1.0)),
        (&higher(&[]), base(0.0)),
        (&higher(&[]), drop(0.0)),
        (&count, max(40.0)),
        (&count, min(3.0)),
        (&points, min(12.0)),
        (&points, drop(11.9)),
    ] {
        assert_eq!(refusal(spec, stated.clone()), None, "{stated:?}");
    }
}

#[test]
fn a_gate_that_no_value_can_fail_is_refused() {
    let zoned = |number, zone| StatedGate {
        zone: Some(zone),
        ..min(number)
    };
    let max = |number, zone| StatedGate {
        max: Some(StatedLimit::Number(number)),
        zone: Some(zone),
        ..StatedGate::default()
    };
    let drop = |number| StatedGate {
        max_drop: Some(number),
        ..StatedGate::default()
    };
    let lower = spec(Better::Lower, Unit::Share, &[]);
    for (spec, stated, key) in [
        (&higher(&[]), min(0.0), "min"),
        (&higher(&[]), zoned(0.5, 0.5), "min"),
        (&higher(&[]), zoned(0.1, 0.3), "min"),
        (&lower, max(1.0, 0.0), "max"),
        (&lower, max(0.6, 0.5), "max"),
        (&higher(&[]), drop(1.0), "max_drop"),
        (&spec(Better::Higher, Unit::Count, &[]), min(0.0), "min"),
    ] {
        assert_eq!(
            refusal(spec, stated.clone()).map(|(key, _)| key),
            Some(key),
            "{stated:?}"
        );
    }
    assert_eq!(refusal(&higher(&[]), zoned(0.51, 0.5)), None);
    assert_eq!(refusal(&lower, max(0.49, 0.5)), None);
}
