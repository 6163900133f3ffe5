//! Stated gates over default gates, key by key.

use super::planned;
use crate::model::Aggregate;
use crate::model::Better;
use crate::model::Drift;
use crate::model::Edge;
use crate::model::Gate;
use crate::model::Limit;
use crate::model::MetricSpec;
use crate::model::SampleFold;
use crate::model::Side;
use crate::model::StatedGate;
use crate::model::StatedLimit;
use crate::model::Unit;

const FLOOR: Gate = Gate::Threshold { side: Side::Min, limit: Limit::Number(0.8), edge: Edge::Hard };
const NEAR: Gate =
    Gate::Threshold { side: Side::Min, limit: Limit::Baseline { otherwise: None }, edge: Edge::Band(0.05) };
const DROP: Gate = Gate::Change { drift: Drift::Drop, tolerance: 0.15 };

fn spec(better: Better, unit: Unit, gates: &'static [Gate]) -> MetricSpec {
    MetricSpec { name: "m", better, fold: SampleFold::Median, aggregate: Aggregate::Mean, unit, gates, meaning: "" }
}

fn higher(gates: &'static [Gate]) -> MetricSpec {
    spec(Better::Higher, Unit::Share, gates)
}

fn min(number: f64) -> StatedGate {
    StatedGate { min: Some(StatedLimit::Number(number)), ..StatedGate::default() }
}

fn floor(number: f64, edge: Edge) -> Gate {
    Gate::Threshold { side: Side::Min, limit: Limit::Number(number), edge }
}

fn gates(spec: &MetricSpec, stated: &[StatedGate]) -> Vec<Gate> {
    planned(spec, stated).unwrap().into_iter().map(|planned| planned.gate).collect()
}

#[test]
fn nothing_stated_leaves_the_defaults() {
    assert_eq!(gates(&higher(&[FLOOR, DROP]), &[]), [FLOOR, DROP]);
}

#[test]
fn a_stated_ceiling_takes_nothing_from_a_floor() {
    let stated = StatedGate { max: Some(StatedLimit::Number(3.0)), ..StatedGate::default() };
    let ceiling = Gate::Threshold { side: Side::Max, limit: Limit::Number(3.0), edge: Edge::Band(0.0) };
    assert_eq!(gates(&spec(Better::Neither, Unit::Count, &[FLOOR]), &[stated]), [FLOOR, ceiling]);
}

#[test]
fn a_stated_floor_keeps_what_it_does_not_say() {
    assert_eq!(gates(&higher(&[FLOOR]), &[min(0.9)]), [floor(0.9, Edge::Hard)]);
    let soft = StatedGate { hard: Some(false), ..min(0.9) };
    assert_eq!(gates(&higher(&[FLOOR]), &[soft]), [floor(0.9, Edge::Band(0.0))]);
    let zoned = StatedGate { zone: Some(0.1), ..min(0.9) };
    assert_eq!(gates(&higher(&[FLOOR]), std::slice::from_ref(&zoned)), [floor(0.9, Edge::Hard)], "hard has no band");
    assert_eq!(gates(&higher(&[]), &[zoned]), [floor(0.9, Edge::Band(0.1))]);
    let narrower = StatedGate { zone: Some(0.01), ..StatedGate::default() };
    let wanted =
        Gate::Threshold { side: Side::Min, limit: Limit::Baseline { otherwise: None }, edge: Edge::Band(0.01) };
    assert_eq!(gates(&higher(&[NEAR]), &[narrower]), [wanted]);
    assert_eq!(gates(&higher(&[NEAR]), &[min(0.9)]), [floor(0.9, Edge::Band(0.05))]);
    let hard = StatedGate { hard: Some(true), ..StatedGate::default() };
    let wanted = Gate::Threshold { side: Side::Min, limit: Limit::Baseline { otherwise: None }, edge: Edge::Hard };
    assert_eq!(gates(&higher(&[NEAR]), &[hard]), [wanted]);
}

#[test]
fn a_stated_baseline_takes_the_place_of_a_number() {
    let stated = StatedGate { min: Some(StatedLimit::Baseline), otherwise: Some(0.7), ..StatedGate::default() };
    let wanted = Gate::Threshold { side: Side::Min, limit: Limit::Baseline { otherwise: Some(0.7) }, edge: Edge::Hard };
    assert_eq!(gates(&higher(&[FLOOR]), &[stated]), [wanted]);
    let otherwise = StatedGate { otherwise: Some(0.6), ..StatedGate::default() };
    let wanted =
        Gate::Threshold { side: Side::Min, limit: Limit::Baseline { otherwise: Some(0.6) }, edge: Edge::Band(0.05) };
    assert_eq!(gates(&higher(&[NEAR]), &[otherwise]), [wanted]);
}

#[test]
fn a_stated_change_leaves_the_floor() {
    let drop = StatedGate { max_drop: Some(0.05), ..StatedGate::default() };
    let tighter = Gate::Change { drift: Drift::Drop, tolerance: 0.05 };
    assert_eq!(gates(&higher(&[FLOOR]), std::slice::from_ref(&drop)), [FLOOR, tighter]);
    assert_eq!(gates(&higher(&[DROP]), std::slice::from_ref(&drop)), [tighter]);
    let both = StatedGate { max_drop: Some(0.05), ..min(0.5) };
    assert_eq!(gates(&higher(&[FLOOR, DROP]), &[both]), [floor(0.5, Edge::Hard), tighter]);
    assert_eq!(gates(&higher(&[FLOOR]), &[min(0.9), drop]), [floor(0.9, Edge::Hard), tighter]);
}

#[test]
fn a_default_that_is_switched_off_stays_to_be_shown() {
    let off = StatedGate { off: Some("not yet".to_owned()), ..StatedGate::default() };
    let planned = planned(&higher(&[FLOOR, DROP]), &[off]).unwrap();
    assert!(planned.iter().all(|planned| planned.off.as_deref() == Some("not yet")));
    assert_eq!(planned.len(), 2);
}

#[test]
fn a_limit_points_in_the_metrics_direction() {
    let lower = spec(Better::Lower, Unit::Share, &[]);
    let neither = spec(Better::Neither, Unit::Count, &[]);
    let max = StatedGate { max: Some(StatedLimit::Number(0.1)), ..StatedGate::default() };
    let rise = StatedGate { max_rise: Some(0.1), ..StatedGate::default() };
    let drop = StatedGate { max_drop: Some(0.1), ..StatedGate::default() };
    for (spec, stated, key) in [
        (&higher(&[]), &max, "max"),
        (&higher(&[]), &rise, "max_rise"),
        (&lower, &min(0.5), "min"),
        (&lower, &drop, "max_drop"),
    ] {
        let problems = planned(spec, std::slice::from_ref(stated)).unwrap_err();
        assert_eq!((problems.len(), problems[0].key, problems[0].place), (1, key, 0));
    }
    assert_eq!(gates(&lower, &[max.clone(), rise.clone()]).len(), 2);
    assert_eq!(gates(&neither, &[min(1.0), max, rise, drop]).len(), 4);
}

#[test]
fn what_has_no_effect_is_refused() {
    let refused = |spec: &MetricSpec, stated: StatedGate| planned(spec, &[stated]).unwrap_err().remove(0).key;
    let empty = StatedGate::default();
    assert_eq!(refused(&higher(&[]), StatedGate { zone: Some(0.1), ..empty.clone() }), "zone");
    assert_eq!(refused(&higher(&[DROP]), StatedGate { hard: Some(true), ..empty.clone() }), "hard");
    assert_eq!(refused(&higher(&[]), StatedGate { otherwise: Some(0.1), ..empty.clone() }), "otherwise");
    assert_eq!(refused(&higher(&[FLOOR]), StatedGate { otherwise: Some(0.1), ..empty.clone() }), "otherwise");
    assert_eq!(refused(&higher(&[FLOOR]), empty.clone()), "min");
    assert_eq!(refused(&higher(&[FLOOR]), StatedGate { off: Some("r".to_owned()), ..min(0.1) }), "off");
}

#[test]
fn a_zone_is_as_wide_as_its_unit_allows() {
    let zoned = |zone| StatedGate { zone: Some(zone), ..min(0.5) };
    for (unit, widest) in [(Unit::Share, 0.5), (Unit::Points, 6.0), (Unit::Count, 0.5), (Unit::Spread, 0.5)] {
        let spec = spec(Better::Higher, unit, &[]);
        assert_eq!(gates(&spec, &[zoned(widest)]), [floor(0.5, Edge::Band(widest))]);
        assert_eq!(planned(&spec, &[zoned(widest + 0.01)]).unwrap_err()[0].key, "zone");
    }
}
