//! Medians and majorities; small input spaces are tested exhaustively.

use proptest::collection::vec;
use proptest::proptest;

use super::{GradedSample, PairMeta, aggregates, folded, median, pair, pair_values};
use crate::model::{
    AgentName, Aggregate, AnsweredBy, Better, CaseId, Check, CheckKey, CheckName, CheckOutcome,
    Difference, Exclusion, Failure, Grade, Layer, MetricSpec, RepoPath, SampleFold, Shortfall,
    Standing, Tag, UngradedReason, Unit, harmonic,
};

fn spec(name: &'static str, better: Better, aggregate: Aggregate) -> MetricSpec {
    MetricSpec {
        name,
        better,
        fold: SampleFold::Median,
        aggregate,
        unit: Unit::Share,
        ..MetricSpec::PLAIN
    }
}

fn heading() -> PairMeta {
    PairMeta {
        case: CaseId::new("c").unwrap(),
        agent: AgentName::new("a").unwrap(),
        golden: RepoPath::root(),
        answered_by: AnsweredBy::default(),
    }
}

fn grade(value: Option<f64>, outcomes: &[bool]) -> GradedSample {
    let checks = outcomes.iter().zip(0_u32..).map(|(passed, place)| Check {
        name: CheckName {
            word: "check".into(),
            key: CheckKey::At(place),
        },
        line: 1,
        outcome: match passed {
            true => CheckOutcome::Passed,
            false => CheckOutcome::Failed(Box::new(Failure {
                tag: Tag::Prompt,
                detail: String::new(),
                next_action: String::new(),
            })),
        },
        expected: None,
    });
    GradedSample::Completed(Grade {
        values: vec![value],
        checks: checks.collect(),
        layer: Layer::Structured,
        shortfalls: Vec::new(),
        kept: None,
    })
}

#[test]
fn the_median_is_the_middle_of_every_short_list() {
    let levels = [0.0, 0.25, 0.5, 1.0];
    for one in levels {
        let middle = |better, values: &[f64]| median(better, values.to_vec());
        assert_eq!(middle(Better::Higher, &[one]), Some(one));
        for two in levels {
            assert_eq!(middle(Better::Higher, &[one, two]), Some(one.min(two)));
            assert_eq!(middle(Better::Neither, &[one, two]), Some(one.min(two)));
            assert_eq!(middle(Better::Lower, &[one, two]), Some(one.max(two)));
            for three in levels {
                let mut sorted = [one, two, three];
                sorted.sort_by(f64::total_cmp);
                assert_eq!(middle(Better::Lower, &[one, two, three]), Some(sorted[1]));
                assert_eq!(middle(Better::Higher, &[one, two, three]), Some(sorted[1]));
                for four in levels {
                    let mut sorted = [one, two, three, four];
                    sorted.sort_by(f64::total_cmp);
                    let all = [one, two, three, four];
                    assert_eq!(middle(Better::Higher, &all), Some(sorted[1]));
                    assert_eq!(middle(Better::Lower, &all), Some(sorted[2]));
                }
            }
        }
    }
    assert_eq!(median(Better::Higher, vec![]), None);
    assert_eq!(median(Better::Lower, vec![]), None);
}

#[test]
fn a_pair_counts_with_a_majority_of_its_planned_samples() {
    let specs = [spec("m", Better::Higher, Aggregate::Mean)];
    for planned in 1_usize..=6 {
        for completed in 0..=planned {
            let mut samples: Vec<GradedSample> =
                (0..completed).map(|_| grade(Some(1.0), &[])).collect();
            samples.resize(planned, GradedSample::Lost(UngradedReason::NotRecorded));
            let result = pair(&specs, heading(), samples);
            let counted = 2 * completed > planned;
            assert_eq!(
                result.exclusion == Exclusion::Counted,
                counted,
                "{completed} of {planned}"
            );
            assert_eq!(
                (result.planned as usize, result.completed as usize),
                (planned, completed)
            );
            assert_eq!(result.lost.len(), planned - completed);
        }
    }
}

#[test]
fn a_lost_sample_keeps_its_number() {
    let samples = vec![
        grade(Some(1.0), &[]),
        GradedSample::Lost(UngradedReason::NotRecorded),
        grade(None, &[]),
    ];
    let result = pair(
        &[spec("m", Better::Higher, Aggregate::Mean)],
        heading(),
        samples,
    );
    assert_eq!(result.lost[0].sample, 1);
    assert_eq!(&*result.values[0].samples, [Some(1.0), None]);
    assert_eq!(result.values[0].value, Some(1.0));
}

#[test]
fn a_check_passes_in_more_than_half_and_is_flaky_when_samples_disagree() {
    let specs = [spec("m", Better::Higher, Aggregate::Mean)];
    for samples in 1_usize..=5 {
        for passed in 0..=samples {
            let grades = (0..samples)
                .map(|place| grade(None, &[place < passed]))
                .collect();
            let result = pair(&specs, heading(), grades);
            let check = &result.checks[0];
            assert_eq!(
                check.standing.passes(),
                2 * passed > samples,
                "{passed} of {samples}"
            );
            assert_eq!(check.standing.is_flaky(), passed > 0 && passed < samples);
            assert_eq!(check.failure.is_some(), passed < samples);
            assert_eq!(result.passed, check.standing);
        }
    }
    assert_eq!(Standing::of(0, 0), Standing::Fails);
}

/// The failure shown for a check that fails in these samples with these tags and details, and passes in the others.
fn shown(failing: &[Option<(Tag, &str)>]) -> (Tag, String) {
    let graded = |failing: &Option<(Tag, &str)>| {
        let failure = failing.map(|(tag, detail)| Failure {
            tag,
            detail: detail.to_owned(),
            next_action: String::new(),
        });
        let checks = vec![Check::of("check", CheckKey::Only, 1, String::new, failure)];
        GradedSample::Completed(Grade {
            values: vec![None],
            checks,
            layer: Layer::Structured,
            shortfalls: Vec::new(),
            kept: None,
        })
    };
    let spec = [spec("m", Better::Higher, Aggregate::Mean)];
    let failure = pair(&spec, heading(), failing.iter().map(graded).collect())
        .checks
        .remove(0)
        .failure
        .unwrap();
    (failure.tag, failure.detail)
}

#[test]
fn of_equally_frequent_tags_the_one_with_precedence_is_shown() {
    let tags = [
        Tag::Schema,
        Tag::Tooling,
        Tag::Routing,
        Tag::Prompt,
        Tag::Model,
    ];
    for (index, first) in tags.into_iter().enumerate() {
        for later in &tags[index + 1..] {
            for samples in [[first, *later], [*later, first]] {
                let found = shown(&samples.map(|tag| Some((tag, "x"))));
                assert_eq!(
                    found,
                    (first, "x (1 of 2 samples)".to_owned()),
                    "{samples:?}"
                );
            }
        }
    }
}

#[test]
fn of_several_reasons_the_most_frequent_is_shown_with_its_count() {
    let (tooling, routing) = (
        Some((Tag::Tooling, "a tool failed")),
        Some((Tag::Routing, "a wrong argument")),
    );
    let other = Some((Tag::Routing, "another argument"));
    for (samples, tag, detail) in [
        (vec![routing], Tag::Routing, "a wrong argument"),
        (vec![routing, routing], Tag::Routing, "a wrong argument"),
        (
            vec![tooling, routing, routing],
            Tag::Routing,
            "a wrong argument (2 of 3 samples)",
        ),
        (
            vec![routing, tooling, other],
            Tag::Routing,
            "a wrong argument (routing in 2 of 3 samples)",
        ),
        (
            vec![other, routing, routing, None],
            Tag::Routing,
            "a wrong argument (routing in 3 of 4 samples)",
        ),
        (
            vec![None, tooling],
            Tag::Tooling,
            "a tool failed (1 of 2 samples)",
        ),
        (vec![other, routing], Tag::Routing, "another argument"),
    ] {
        assert_eq!(shown(&samples), (tag, detail.to_owned()), "{samples:?}");
    }
}

#[test]
fn equal_shortfalls_are_merged_and_the_most_frequent_comes_first() {
    let of = |metrics: &'static [&'static str], line: u32| {
        let difference = Difference {
            line,
            expected: "more".to_owned(),
            produced: "less".to_owned(),
        };
        Shortfall {
            metrics,
            difference,
        }
    };
    let (recall, both): (&[&str], &[&str]) = (&["recall"], &["recall", "precision"]);
    let sample = |shortfalls: Vec<Shortfall>| {
        GradedSample::Completed(Grade {
            values: vec![None],
            checks: Vec::new(),
            layer: Layer::Structured,
            shortfalls,
            kept: None,
        })
    };
    let samples = vec![
        sample(vec![of(recall, 9), of(recall, 2), of(both, 2), of(both, 2)]),
        sample(vec![of(recall, 1), of(recall, 2)]),
        sample(vec![of(recall, 2)]),
    ];
    let result = pair(
        &[spec("recall", Better::Higher, Aggregate::Mean)],
        heading(),
        samples,
    );
    let found: Vec<(usize, u32, u32)> = result
        .shortfalls
        .iter()
        .map(|one| (one.metrics.len(), one.difference.line, one.samples))
        .collect();
    assert_eq!(found, [(1, 2, 3), (2, 2, 2), (1, 9, 1), (1, 1, 1)]);
}

#[test]
fn a_pair_passes_if_most_samples_pass_all_checks() {
    // Each check passes in two of three samples, but only one sample passes all checks.
    let grades = vec![
        grade(None, &[true, false]),
        grade(None, &[false, true]),
        grade(None, &[true, true]),
    ];
    let result = pair(
        &[spec("m", Better::Higher, Aggregate::Mean)],
        heading(),
        grades,
    );
    assert!(
        result
            .checks
            .iter()
            .all(|check| check.standing == Standing::PassesFlaky)
    );
    assert_eq!(result.passed, Standing::FailsFlaky);
}

#[test]
fn a_rate_is_the_mean_of_majorities() {
    let rate = spec("r", Better::Higher, Aggregate::Rate);
    assert_eq!(folded(&rate, &[Some(1.0), Some(0.0)]), Some(0.0));
    assert_eq!(folded(&rate, &[Some(1.0), Some(0.0), Some(1.0)]), Some(1.0));
    assert_eq!(folded(&rate, &[None]), None);
    assert_eq!(
        aggregates(&[rate], 2, |row, _| Some(row as f64)),
        [Some(0.5)]
    );
}

#[test]
fn a_pairs_harmonic_mean_is_that_of_its_own_values() {
    let specs = [
        spec("recall", Better::Higher, Aggregate::Mean),
        spec("precision", Better::Higher, Aggregate::Mean),
        spec(
            "f1",
            Better::Higher,
            Aggregate::Harmonic("recall", "precision"),
        ),
    ];
    // The f1 of the samples are 0.5, 0.5 and 1; the medians are 0.5 and 1.
    let sample = |recall: f64, precision: f64| {
        let f1 = harmonic(recall, precision);
        let GradedSample::Completed(grade) = grade(None, &[]) else {
            unreachable!("it is completed")
        };
        GradedSample::Completed(Grade {
            values: vec![Some(recall), Some(precision), Some(f1)],
            ..grade
        })
    };
    let samples = vec![sample(0.5, 0.5), sample(1.0 / 3.0, 1.0), sample(1.0, 1.0)];
    let result = pair(&specs, heading(), samples);
    assert_eq!(result.values[2].value, Some(2.0 / 3.0));
    let kept = |name: &str| {
        let value = result.values.iter().find(|value| value.name == name)?;
        Some(value.samples.as_slice())
    };
    assert_eq!(
        pair_values(specs.iter(), kept),
        [Some(0.5), Some(1.0), Some(2.0 / 3.0)]
    );
}

#[test]
fn an_average_over_samples_is_not_a_median() {
    let mean = MetricSpec {
        fold: SampleFold::Mean,
        ..spec("m", Better::Higher, Aggregate::Mean)
    };
    assert_eq!(folded(&mean, &[Some(0.0), Some(0.0), Some(0.9)]), Some(0.3));
}

#[test]
fn a_worst_metric_takes_the_worst_pair() {
    let specs = [
        spec("up", Better::Higher, Aggregate::Worst),
        spec("down", Better::Lower, Aggregate::Worst),
        spec("mean", Better::Higher, Aggregate::Mean),
        spec("sum", Better::Neither, Aggregate::Sum),
        spec("f", Better::Higher, Aggregate::Harmonic("up", "mean")),
    ];
    let rows = [0.5, 1.0];
    let values = aggregates(&specs, 2, |row, _| Some(rows[row]));
    assert_eq!(
        values,
        [Some(0.5), Some(1.0), Some(0.75), Some(1.5), Some(0.6)]
    );
    assert_eq!(aggregates(&specs, 0, |_, _| None), [None; 5]);
    assert_eq!(aggregates(&specs, 1, |_, _| Some(0.0))[4], Some(0.0));
}

proptest! {
    #[test]
    fn the_order_of_samples_changes_no_value(values in vec(0_u8..5, 1..7), turn in 0_usize..7) {
        let specs = [spec("m", Better::Higher, Aggregate::Mean)];
        let samples: Vec<GradedSample> = values.iter().map(|value| match value {
            0 => GradedSample::Lost(UngradedReason::NotRecorded),
            1 => grade(None, &[true]),
            other => grade(Some(f64::from(*other)), &[other % 2 == 0]),
        }).collect();
        let mut turned = samples.clone();
        turned.rotate_left(turn % values.len());
        let (one, other) = (pair(&specs, heading(), samples), pair(&specs, heading(), turned));
        assert_eq!(one.values[0].value, other.values[0].value);
        assert_eq!((one.exclusion, one.completed, one.passed), (other.exclusion, other.completed, other.passed));
    }
}
