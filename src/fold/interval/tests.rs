//! Tests the interval of a value against every way in which the missing samples could end.

use super::{Interval, agent_intervals, pair_interval};
use crate::fold::{aggregates, folded};
use crate::model::{Aggregate, Better, MetricSpec, SampleFold, Unit};

const POINTS: [f64; 4] = [0.0, 0.4, 0.6, 1.0];

fn lists(length: usize) -> Vec<Vec<f64>> {
    let mut lists = vec![Vec::new()];
    for _ in 0..length {
        let shorter = std::mem::take(&mut lists);
        for list in &shorter {
            for point in POINTS {
                lists.push([list.as_slice(), &[point]].concat());
            }
        }
    }
    lists
}

fn stated(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

fn range(values: impl Iterator<Item = f64>) -> Interval {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        least = least.min(value);
        most = most.max(value);
    }
    Interval { least, most }
}

fn is_equal(one: Interval, other: Interval) -> bool {
    (one.least - other.least).abs() < 1e-12 && (one.most - other.most).abs() < 1e-12
}

fn specs() -> Vec<MetricSpec> {
    let mut specs = Vec::new();
    for fold in [SampleFold::Median, SampleFold::Mean, SampleFold::Worst] {
        for aggregate in [
            Aggregate::Worst,
            Aggregate::Mean,
            Aggregate::Median,
            Aggregate::P95,
            Aggregate::Sum,
            Aggregate::Rate,
        ] {
            for better in [Better::Higher, Better::Lower] {
                specs.push(MetricSpec {
                    name: "m",
                    fold,
                    aggregate,
                    better,
                    ..MetricSpec::PLAIN
                });
            }
        }
    }
    specs
}

#[test]
fn the_interval_of_a_share_is_exactly_what_the_missing_samples_could_make() {
    let mut compared = 0;
    for spec in specs() {
        for completed in 1..=3 {
            for missing in 0..=3 {
                for values in lists(completed) {
                    let found = pair_interval(&spec, &stated(&values), missing).unwrap();
                    let ends = lists(missing).into_iter().map(|more| {
                        folded(&spec, &stated(&[values.as_slice(), &more].concat())).unwrap()
                    });
                    assert!(
                        is_equal(found, range(ends)),
                        "{spec:?} {values:?} {missing}: {found:?}"
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn a_missing_sample_without_a_value_stays_within_the_interval() {
    for spec in specs() {
        for values in lists(3) {
            let found = pair_interval(&spec, &stated(&values[..2]), 2).unwrap();
            for more in 0..=2 {
                let fewer = folded(&spec, &stated(&values[..2 + more.min(1)])).unwrap();
                assert!(
                    found.least <= fewer && fewer <= found.most,
                    "{spec:?} {values:?}"
                );
            }
        }
    }
}

#[test]
fn the_interval_of_an_agent_is_exactly_what_its_pairs_could_make() {
    for spec in specs() {
        for values in lists(3) {
            // The first two pairs are known, and two have no result.
            let rows = [Some(values[0]), Some(values[1]), None, None];
            let found = agent_intervals(&[spec], rows.len(), |row, _, end| {
                rows[row].or(Some(super::extreme(&spec, end)))
            });
            let ends = lists(2).into_iter().map(|more| {
                let all = [values[0], values[1], more[0], more[1]];
                aggregates(&[spec], all.len(), |row, _| Some(all[row]))[0].unwrap()
            });
            assert!(
                is_equal(found[0].unwrap(), range(ends)),
                "{spec:?} {values:?}"
            );
        }
    }
}

#[test]
fn a_count_has_no_upper_bound_and_is_never_negative() {
    let count = MetricSpec {
        unit: Unit::Count,
        aggregate: Aggregate::Sum,
        better: Better::Lower,
        ..MetricSpec::PLAIN
    };
    let found = pair_interval(&count, &stated(&[5.0]), 1).unwrap();
    assert_eq!(
        found,
        Interval {
            least: 5.0,
            most: f64::INFINITY
        }
    );
    assert_eq!(
        pair_interval(&count, &stated(&[5.0]), 0),
        Some(Interval::at(5.0)),
        "nothing is missing"
    );
}
