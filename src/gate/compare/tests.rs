//! Tests the invariants of gates, from samples to the verdict.

mod references;
mod sets;

use std::collections::BTreeMap;
use std::slice::from_ref;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy};
use proptest::{prop_oneof, proptest};

use super::{CaseSelection, Comparability, ComparedPair, GateInput, GateOutcome, agent};
use crate::fold;
use crate::fold::{GradedSample, PairMeta};
use crate::gate::{BaseRuns, GatedMetric, PlannedGate};
use crate::model::{
    AgentName, Aggregate, AnsweredBy, BaselineEntry, Better, CaseId, CaseTrend, ChangeDirection,
    Exclusion, Gate, Grade, Identity, Layer, Limit, LimitSide, MetricSpec, PairResult, RepoPath,
    Ruling, Strictness, UngradedReason, Verdict,
};

const SPECS: &[MetricSpec] = &[MetricSpec {
    name: "m",
    aggregate: Aggregate::Worst,
    ..MetricSpec::PLAIN
}];

/// A sample's value; `None` if it did not complete.
type SampleValue = Option<f64>;

fn pair(case: &str, samples: &[SampleValue]) -> PairResult {
    let graded = samples.iter().map(|sample| match sample {
        Some(value) => GradedSample::Completed(Grade {
            values: vec![Some(*value)],
            checks: Vec::new(),
            layer: Layer::Structured,
            shortfalls: Vec::new(),
            kept: None,
        }),
        None => GradedSample::Lost(UngradedReason::NotRecorded),
    });
    let heading = PairMeta {
        case: CaseId::new(case).unwrap(),
        agent: AgentName::new("a").unwrap(),
        golden: RepoPath::root(),
        answered_by: AnsweredBy::default(),
    };
    fold::pair(SPECS, heading, graded.collect())
}

fn floor(limit: Limit, strictness: Strictness) -> PlannedGate {
    PlannedGate {
        gate: Gate::Threshold {
            side: LimitSide::Min,
            limit,
            strictness,
        },
        off: None,
    }
}

fn drop_gate(tolerance: f64) -> PlannedGate {
    PlannedGate {
        gate: Gate::Change {
            direction: ChangeDirection::Drop,
            tolerance,
        },
        off: None,
    }
}

fn identity() -> Identity {
    Identity {
        suite_digest: Some("d".to_owned()),
        scorer: Some("s/1".to_owned()),
        model: None,
        agent_sha256: None,
        judge: None,
        samples: Some(1),
        tier: Some("deterministic".to_owned()),
    }
}

/// A baseline of cases with one sample each.
fn entry(value: f64, cases: &[(&str, f64)]) -> BaselineEntry {
    let rows = cases.iter().map(|(case, value)| {
        (
            CaseId::new(case).unwrap(),
            BTreeMap::from([("m".to_owned(), vec![Some(*value)])]),
        )
    });
    BaselineEntry {
        metrics: BTreeMap::from([("m".to_owned(), value)]),
        identity: Some(identity()),
        cases: rows.collect(),
        ..BaselineEntry::default()
    }
}

struct CompareSetup<'a> {
    specs: &'a [MetricSpec],
    gates: &'a [PlannedGate],
    pairs: &'a [PairResult],
    zone: Option<f64>,
    identity: Identity,
    before: Option<&'a BaselineEntry>,
    base: Option<&'a [PairResult]>,
    selection: CaseSelection,
}

impl<'a> CompareSetup<'a> {
    fn new(
        gates: &'a [PlannedGate],
        pairs: &'a [PairResult],
        before: Option<&'a BaselineEntry>,
    ) -> Self {
        Self {
            specs: SPECS,
            gates,
            pairs,
            zone: None,
            identity: identity(),
            before,
            base: None,
            selection: CaseSelection::Whole,
        }
    }

    fn judge(&self) -> GateOutcome {
        let gated = |spec: &MetricSpec| GatedMetric {
            spec: *spec,
            gates: self.gates.to_vec(),
        };
        let compared = |result| ComparedPair {
            result,
            document: &result.case,
            zone: self.zone,
        };
        agent(&GateInput {
            metrics: &self.specs.iter().map(gated).collect::<Vec<_>>(),
            pairs: &self.pairs.iter().map(compared).collect::<Vec<_>>(),
            identity: &self.identity,
            before: self.before,
            base: self.base.map(|results| BaseRuns {
                branch: Some("main"),
                results,
            }),
            selection: self.selection,
        })
    }

    fn remarks(&self) -> Vec<String> {
        match self.judge().comparability {
            Comparability::Comparable(remarks) => remarks,
            Comparability::Absent => vec!["absent".to_owned()],
            Comparability::Incomparable(why) => vec![format!("incomparable: {why}")],
        }
    }
}

fn trends(judgement: &GateOutcome) -> Vec<CaseTrend> {
    judgement.cases.iter().map(|(_, trend)| *trend).collect()
}

#[test]
fn a_rounded_number_of_the_baseline_is_equal() {
    let before = entry(0.666_667, &[("a", 0.666_667)]);
    let gates = [floor(Limit::Number(0.666_667), Strictness::Hard)];
    let judgement =
        CompareSetup::new(&gates, &[pair("a", &[Some(2.0 / 3.0)])], Some(&before)).judge();
    assert_eq!(
        judgement.cases[0].0,
        Ruling::Judged(Verdict::Fail),
        "the gate itself is exact"
    );
    assert_eq!(trends(&judgement), [CaseTrend::StillPassing]);
}

#[test]
fn a_case_is_newly_failing_against_fixed_numbers_only() {
    let before = entry(0.5, &[("a", 0.9), ("b", 0.1), ("c", 0.1), ("d", 0.9)]);
    let pairs = [("a", 0.1), ("b", 0.9), ("c", 0.1), ("d", 0.9)]
        .map(|(case, value)| pair(case, &[Some(value)]));
    let fixed = [floor(Limit::Number(0.5), Strictness::Hard)];
    let found = trends(&CompareSetup::new(&fixed, &pairs, Some(&before)).judge());
    let expected = [
        CaseTrend::NewlyFailing,
        CaseTrend::NewlyPassing,
        CaseTrend::StillFailing,
        CaseTrend::StillPassing,
    ];
    assert_eq!(found, expected);
    let moving = [
        floor(Limit::Baseline { otherwise: None }, Strictness::Hard),
        drop_gate(0.0),
    ];
    let judgement = CompareSetup::new(&moving, &pairs, Some(&before)).judge();
    assert_eq!(trends(&judgement), [CaseTrend::StillPassing; 4]);
    // A number worse than the case's own in the baseline makes it inconclusive, not failed.
    let own = |index: usize| judgement.cases[index].0.verdict();
    assert_eq!(
        (own(0), own(1), own(2)),
        (
            Some(Verdict::Inconclusive),
            Some(Verdict::Pass),
            Some(Verdict::Pass)
        )
    );
    let changes = [drop_gate(0.0)];
    let judgement = CompareSetup::new(&changes, &pairs, Some(&before)).judge();
    assert_eq!(judgement.cases[0].0.verdict(), None);
    // A baseline without cases has no data about them.
    let bare = entry(0.5, &[]);
    assert_eq!(
        trends(&CompareSetup::new(&fixed, &pairs, Some(&bare)).judge()),
        [CaseTrend::Unknown; 4]
    );
    assert_eq!(
        trends(&CompareSetup::new(&fixed, &pairs, None).judge()),
        [CaseTrend::Unknown; 4]
    );
}

#[test]
fn a_case_of_a_gated_share_fails_for_every_source_of_the_threshold() {
    let before = entry(0.5, &[("a", 1.0), ("b", 0.0), ("c", 0.0), ("d", 1.0)]);
    let pairs = [("a", 0.0), ("b", 1.0), ("c", 0.0), ("d", 1.0)]
        .map(|(case, value)| pair(case, &[Some(value)]));
    let expected = [
        CaseTrend::NewlyFailing,
        CaseTrend::NewlyPassing,
        CaseTrend::StillFailing,
        CaseTrend::StillPassing,
    ];
    let off = Some("not now".to_owned());
    for (better, expected) in [
        (Better::Higher, expected),
        (
            Better::Lower,
            [expected[1], expected[0], expected[3], expected[2]],
        ),
    ] {
        let specs = [MetricSpec {
            name: "m",
            better,
            ..MetricSpec::RATE
        }];
        for gates in [
            floor(
                Limit::Baseline {
                    otherwise: Some(1.0),
                },
                Strictness::Hard,
            ),
            drop_gate(0.0),
        ] {
            let judged = |gates: &[PlannedGate]| {
                trends(
                    &CompareSetup {
                        specs: &specs,
                        ..CompareSetup::new(gates, &pairs, Some(&before))
                    }
                    .judge(),
                )
            };
            assert_eq!(judged(from_ref(&gates)), expected, "{better:?} {gates:?}");
            assert_eq!(
                judged(&[]),
                [CaseTrend::StillPassing; 4],
                "a metric without a gate fails no case"
            );
            assert_eq!(
                judged(&[PlannedGate {
                    off: off.clone(),
                    ..gates
                }]),
                [CaseTrend::StillPassing; 4]
            );
        }
    }
}

#[test]
fn an_incomparable_threshold_gives_a_case_no_verdict() {
    let before = entry(0.9, &[("a", 0.9)]);
    let gates = [floor(
        Limit::Baseline {
            otherwise: Some(1.0),
        },
        Strictness::Hard,
    )];
    let pairs = [pair("a", &[Some(0.1)])];
    let other = Identity {
        scorer: Some("other/9".to_owned()),
        ..identity()
    };
    let judgement = CompareSetup {
        identity: other,
        ..CompareSetup::new(&gates, &pairs, Some(&before))
    }
    .judge();
    assert_eq!(
        (judgement.verdict.verdict(), judgement.cases[0].0.verdict()),
        (None, None)
    );
    assert_eq!(
        CompareSetup::new(&gates, &pairs, None).judge().cases[0].0,
        Ruling::Judged(Verdict::Fail)
    );
}

#[test]
fn an_ambiguity_zone_widens_bands_but_not_hard_gates() {
    let pairs = [pair("a", &[Some(0.4)])];
    for (strictness, zone, expected) in [
        (Strictness::Band(0.0), Some(0.2), Verdict::Inconclusive),
        (Strictness::Band(0.2), Some(0.0), Verdict::Fail),
        (Strictness::Band(0.2), None, Verdict::Inconclusive),
        (Strictness::Hard, Some(0.2), Verdict::Fail),
    ] {
        let gates = [floor(Limit::Number(0.5), strictness)];
        let judgement = CompareSetup {
            zone,
            ..CompareSetup::new(&gates, &pairs, None)
        }
        .judge();
        assert_eq!(
            judgement.cases[0].0,
            Ruling::Judged(expected),
            "{strictness:?} {zone:?}"
        );
        let without = if strictness == Strictness::Band(0.2) {
            Verdict::Inconclusive
        } else {
            Verdict::Fail
        };
        assert_eq!(
            judgement.verdict,
            Ruling::Judged(without),
            "the agent's gates keep their own band"
        );
    }
}

#[test]
fn a_disabled_gate_is_skipped_with_its_reason() {
    let gates = [PlannedGate {
        off: Some("flaky upstream".to_owned()),
        ..floor(Limit::Number(0.5), Strictness::Hard)
    }];
    let judgement = CompareSetup::new(&gates, &[pair("a", &[Some(0.0)])], None).judge();
    assert_eq!(
        judgement.verdict,
        Ruling::Off("switched off: flaky upstream".to_owned())
    );
    assert_eq!(judgement.metrics[0].gates[0].threshold, Some(0.5));
}

#[test]
fn every_part_of_an_identity_is_compared_and_reported() {
    let pairs = [pair("a", &[Some(0.4)])];
    let some = |text: &str| Some(text.to_owned());
    // A digest that one of the two lacks is not compared.
    let of_before = Identity {
        agent_sha256: some("w"),
        ..identity()
    };
    let before = BaselineEntry {
        identity: Some(of_before),
        ..entry(0.4, &[("a", 0.4)])
    };
    let table = [
        (
            Identity {
                samples: Some(3),
                ..identity()
            },
            "samples per case: 1 in the baseline, 3 in this run",
        ),
        (
            Identity {
                samples: None,
                ..identity()
            },
            "samples per case: 1 in the baseline, unknown in this run",
        ),
        (
            Identity {
                model: some("x"),
                ..identity()
            },
            "the baseline's model is none, this run's is x",
        ),
        (
            Identity {
                agent_sha256: some("x"),
                ..identity()
            },
            "the agent's files have changed since the baseline",
        ),
        (
            Identity {
                tier: some("model"),
                ..identity()
            },
            "the baseline's tier is deterministic, this run's is model",
        ),
        (
            Identity {
                suite_digest: some("x"),
                ..identity()
            },
            "cases or expectations have changed since the baseline",
        ),
        (
            Identity {
                scorer: some("s/2"),
                ..identity()
            },
            "incomparable: not comparable with the baseline: its scorer revision is s/1, this run's is s/2; write a new baseline with `goldgate run --update-baseline`",
        ),
        (
            Identity {
                judge: some("j"),
                ..identity()
            },
            "incomparable: not comparable with the baseline: its judge is none, this run's is j; write a new baseline with `goldgate run --update-baseline`",
        ),
    ];
    for (identity, remark) in table {
        let setting = CompareSetup {
            identity,
            ..CompareSetup::new(&[], &pairs, Some(&before))
        };
        assert_eq!(setting.remarks(), [remark]);
    }
    assert_eq!(
        CompareSetup::new(&[], &pairs, Some(&before)).remarks(),
        [""; 0]
    );
    let unknown = BaselineEntry {
        identity: None,
        ..before
    };
    let remarks = CompareSetup::new(&[], &pairs, Some(&unknown)).remarks();
    assert_eq!(
        remarks,
        ["the origin of the baseline is unknown: its entry has no identity"]
    );
    assert_eq!(CompareSetup::new(&[], &pairs, None).remarks(), ["absent"]);
}

#[test]
fn an_incomparable_baseline_gives_no_number() {
    let before = entry(0.4, &[("a", 0.4), ("b", 0.9)]);
    let pairs = [pair("a", &[Some(0.4)]), pair("b", &[Some(0.4)])];
    let gates = [drop_gate(1.0)];
    let identity = Identity {
        scorer: Some("s/2".to_owned()),
        ..identity()
    };
    let judgement = CompareSetup {
        identity,
        ..CompareSetup::new(&gates, &pairs, Some(&before))
    }
    .judge();
    let comparison = &judgement.metrics[0].comparison;
    assert_eq!(
        (comparison.baseline, comparison.delta, comparison.ci95),
        (None, None, None)
    );
    assert_eq!(judgement.verdict.verdict(), None);
    assert_eq!(trends(&judgement), [CaseTrend::Unknown; 2]);
    assert!(judgement.removed.is_empty());
}

#[test]
fn excluded_pairs_are_inconclusive_and_no_pairs_are_skipped() {
    let gates = [floor(Limit::Number(0.5), Strictness::Hard)];
    let excluded = [pair("a", &[None]), pair("b", &[Some(1.0), None])];
    assert_eq!(
        CompareSetup::new(&gates, &excluded, None).judge().verdict,
        Ruling::Judged(Verdict::Inconclusive)
    );
    let verdict = CompareSetup::new(&gates, &[], None).judge().verdict;
    assert_eq!(verdict, Ruling::Skipped("nothing to measure".to_owned()));
    for quarantined in [pair("q", &[Some(1.0)]), pair("q", &[None])] {
        let quarantined = PairResult {
            exclusion: Exclusion::Quarantined,
            ..quarantined
        };
        let verdict = CompareSetup::new(&gates, from_ref(&quarantined), None)
            .judge()
            .verdict;
        assert_eq!(
            verdict,
            Ruling::Skipped("nothing to measure".to_owned()),
            "a case in quarantine measures nothing"
        );
        let verdict = CompareSetup::new(&gates, &[pair("a", &[None]), quarantined], None)
            .judge()
            .verdict;
        assert_eq!(
            verdict,
            Ruling::Judged(Verdict::Inconclusive),
            "and hides nothing"
        );
    }
    let one_counts = [pair("a", &[None]), pair("b", &[Some(0.4)])];
    assert_eq!(
        CompareSetup::new(&gates, &one_counts, None).judge().verdict,
        Ruling::Judged(Verdict::Fail)
    );
}

fn samples() -> impl Strategy<Value = Vec<SampleValue>> {
    vec(
        prop_oneof![1 => Just(None), 4 => (0_u32..=20).prop_map(|step| Some(f64::from(step) / 20.0))],
        1..7,
    )
}

fn gates() -> impl Strategy<Value = (PlannedGate, f64)> {
    let strictness = prop_oneof![
        Just(Strictness::Hard),
        (0_u32..=8).prop_map(|step| Strictness::Band(f64::from(step) / 20.0))
    ];
    (1_u32..=20, strictness).prop_map(|(number, strictness)| {
        let number = f64::from(number) / 20.0;
        (
            floor(Limit::Number(number), strictness),
            number - strictness.zone(),
        )
    })
}

/// Every list of this length of these values.
fn lists_of(values: &[f64], length: usize) -> Vec<Vec<f64>> {
    let mut lists = vec![Vec::new()];
    for _ in 0..length {
        let shorter = std::mem::take(&mut lists);
        for list in &shorter {
            for value in values {
                lists.push([list.as_slice(), &[*value]].concat());
            }
        }
    }
    lists
}

fn verdict(gate: &PlannedGate, pairs: &[PairResult]) -> Verdict {
    let gates = [gate.clone()];
    CompareSetup::new(&gates, pairs, None)
        .judge()
        .verdict
        .verdict()
        .unwrap()
}

proptest! {
    #[test]
    fn a_further_failing_sample_never_improves_a_verdict(
        (gate, strictness) in gates(), own in samples(), other in samples(), below in 0.01..1.0,
    ) {
        let more: Vec<SampleValue> = own.iter().copied().chain([Some(strictness - below)]).collect();
        let (before, after) = (pair("a", &own), pair("a", &more));
        if before.exclusion == Exclusion::Counted {
            let other_pair = pair("b", &other);
            let alone = (verdict(&gate, from_ref(&before)), verdict(&gate, from_ref(&after)));
            assert!(alone.1 >= alone.0, "{own:?} {gate:?}");
            let together = (verdict(&gate, &[before, other_pair.clone()]), verdict(&gate, &[after, other_pair]));
            assert!(together.1 >= together.0, "{own:?} {other:?} {gate:?}");
        }
    }

    #[test]
    fn a_verdict_is_that_of_every_way_in_which_the_missing_samples_could_end((gate, _) in gates(), own in samples(), other in samples()) {
        let cases = [own, other];
        let pairs = [pair("a", &cases[0]), pair("b", &cases[1])];
        let missing: usize = cases.iter().flatten().filter(|sample| sample.is_none()).count();
        if missing <= 4 {
            let mut ends = Vec::new();
            for values in lists_of(&[0.0, 0.35, 1.0], missing) {
                let mut rest = values.into_iter();
                let complete = |samples: &Vec<SampleValue>, rest: &mut dyn Iterator<Item = f64>| -> Vec<SampleValue> {
                    samples.iter().map(|sample| sample.or_else(|| rest.next())).collect()
                };
                let complete = [pair("a", &complete(&cases[0], &mut rest)), pair("b", &complete(&cases[1], &mut rest))];
                ends.push(verdict(&gate, &complete));
            }
            let (best, worst) = (ends.iter().min().unwrap(), ends.iter().max().unwrap());
            let expected = if best == worst { *best } else { Verdict::Inconclusive };
            assert_eq!(verdict(&gate, &pairs), expected, "{cases:?} {gate:?}");
        }
    }

    #[test]
    fn dropping_an_inconclusive_sample_never_turns_a_fail_into_a_pass((gate, _) in gates(), own in samples()) {
        if let Some(index) = own.iter().position(Option::is_none) && own.len() > 1 {
            let fewer: Vec<SampleValue> = own.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, one)| *one).collect();
            let (before, after) = (pair("a", &own), pair("a", &fewer));
            if before.exclusion == after.exclusion {
                let (before, after) = (verdict(&gate, &[before]), verdict(&gate, &[after]));
                assert!(before != Verdict::Fail || after == Verdict::Fail, "{own:?} {gate:?}");
            }
        }
    }

    #[test]
    fn a_value_below_the_band_fails_whatever_else_is_measured((gate, strictness) in gates(), other in samples(), below in 0.01..1.0) {
        let failing = pair("a", &[Some(strictness - below)]);
        assert_eq!(verdict(&gate, &[failing, pair("b", &other)]), Verdict::Fail);
    }

    #[test]
    fn the_order_of_samples_changes_no_verdict((gate, _) in gates(), own in samples(), turn in 0_usize..7) {
        let mut turned = own.clone();
        turned.rotate_left(turn % own.len());
        assert_eq!(verdict(&gate, &[pair("a", &own)]), verdict(&gate, &[pair("a", &turned)]));
    }
}
