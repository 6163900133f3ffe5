//! Tests all short lists of samples with all possible continuations.

use super::{SoFar, is_settled};
use crate::fold;
use crate::gate::rule::{BaseNumber, Subject, ruling};
use crate::gate::{GatedMetric, PlannedGate};
use crate::model::{
    Aggregate, Check, CheckKey, Failure, Gate, Grade, Layer, Limit, LimitSide, MetricSpec,
    Strictness, Tag,
};

const FLOOR: Gate = Gate::Threshold {
    side: LimitSide::Min,
    limit: Limit::Number(0.8),
    strictness: Strictness::Band(0.1),
};
const WORST: MetricSpec = MetricSpec {
    name: "worst",
    aggregate: Aggregate::Worst,
    ..MetricSpec::PLAIN
};
const MEAN: MetricSpec = MetricSpec {
    name: "mean",
    ..MetricSpec::PLAIN
};
const RATE: MetricSpec = MetricSpec {
    name: "rate",
    ..MetricSpec::RATE
};

fn grade(value: f64) -> Grade {
    let failure = (value < 0.8).then(|| Failure {
        tag: Tag::Model,
        detail: String::new(),
        next_action: String::new(),
    });
    let check = Check::of("c", CheckKey::Only, 1, String::new, failure);
    Grade {
        values: vec![Some(value)],
        checks: vec![check],
        layer: Layer::Structured,
        shortfalls: Vec::new(),
        kept: None,
    }
}

fn settled(spec: MetricSpec, gate: Gate, values: &[f64], lost: u32, planned: u32) -> bool {
    let grades: Vec<Grade> = values.iter().map(|value| grade(*value)).collect();
    let grades: Vec<&Grade> = grades.iter().collect();
    let metric = GatedMetric {
        spec,
        gates: vec![PlannedGate { gate, off: None }],
    };
    is_settled(
        &[metric],
        &SoFar {
            grades: &grades,
            lost,
            planned,
            zone: None,
        },
    )
}

/// The decisions about a pair: the side of its value, the value itself if a mean uses it, its check.
fn decided(spec: &MetricSpec, values: &[f64]) -> (String, Option<f64>, bool) {
    let samples: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
    let value = fold::folded(spec, &samples);
    let subject = Subject::alone(value);
    let word = ruling(&FLOOR, &subject, &BaseNumber::Absent)
        .gate
        .ruling
        .as_str()
        .to_owned();
    let passing = values.iter().filter(|value| **value >= 0.8).count();
    let exact = value.filter(|_| spec.aggregate != Aggregate::Worst);
    (word, exact, 2 * passing > values.len())
}

const POINTS: [f64; 5] = [0.0, 0.7, 0.75, 0.8, 1.0];

fn lists(length: usize) -> Vec<Vec<f64>> {
    (0..length).fold(vec![Vec::new()], |lists, _| {
        let longer = |list: &Vec<f64>| POINTS.map(|point| [list.as_slice(), &[point]].concat());
        lists.iter().flat_map(longer).collect()
    })
}

#[test]
fn further_samples_of_a_settled_pair_change_nothing() {
    let mut settled_ones = 0;
    for spec in [WORST, MEAN, RATE] {
        for planned in 1..=5_usize {
            for done in 1..=planned {
                for values in lists(done) {
                    if !settled(spec, FLOOR, &values, 0, planned as u32) {
                        continue;
                    }
                    settled_ones += 1;
                    let now = decided(&spec, &values);
                    for more in (0..=planned - done).flat_map(lists) {
                        let later = [values.as_slice(), &more].concat();
                        assert_eq!(
                            decided(&spec, &later),
                            now,
                            "{} {values:?} then {more:?}",
                            spec.name
                        );
                    }
                }
            }
        }
    }
    assert!(
        settled_ones > 500,
        "the rule must save samples: {settled_ones}"
    );
}

#[test]
fn two_equal_votes_of_three_settle_the_result() {
    assert!(
        settled(WORST, FLOOR, &[1.0, 0.9], 0, 3),
        "both above the floor"
    );
    assert!(
        !settled(MEAN, FLOOR, &[1.0, 0.9], 0, 3),
        "a mean moves with the median"
    );
    assert!(settled(MEAN, FLOOR, &[1.0, 1.0], 0, 3));
    assert!(!settled(WORST, FLOOR, &[1.0, 0.0], 0, 3));
    assert!(!settled(WORST, FLOOR, &[1.0], 0, 3), "no majority yet");
    assert!(
        !settled(WORST, FLOOR, &[1.0, 1.0], 1, 4),
        "half is not a majority"
    );
    assert!(settled(WORST, FLOOR, &[0.2], 0, 1), "no samples are left");
}

#[test]
fn a_limit_of_the_baseline_needs_the_value_itself() {
    let gate = Gate::Threshold {
        side: LimitSide::Min,
        limit: Limit::Baseline { otherwise: None },
        strictness: Strictness::Hard,
    };
    assert!(!settled(WORST, gate, &[1.0, 0.9], 0, 3));
    assert!(settled(WORST, gate, &[0.9, 0.9], 0, 3));
}
