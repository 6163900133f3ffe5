//! Tests which cases of this run and of the baseline are compared.

use std::collections::BTreeMap;

use super::{CompareSetup, drop_gate, entry, floor, pair, trends};
use crate::gate::compare::CaseSelection;
use crate::model::{CaseId, CaseTrend, Exclusion, Limit, PairResult, Ruling, Strictness, Verdict};

#[test]
fn cases_of_one_side_are_left_out_and_named() {
    let before = entry(0.9, &[("a", 0.4), ("gone", 0.1)]);
    let gates = [drop_gate(0.05)];
    let pairs = [pair("a", &[Some(0.4)]), pair("new", &[Some(0.0)])];
    let judgement = CompareSetup::new(&gates, &pairs, Some(&before)).judge();
    let metric = &judgement.metrics[0];
    // The shown number is over all cases; the comparison is over the shared one.
    assert_eq!(
        (
            metric.value,
            metric.comparison.baseline,
            metric.comparison.delta
        ),
        (Some(0.0), Some(0.4), Some(0.0))
    );
    assert_eq!(judgement.verdict, Ruling::Judged(Verdict::Pass));
    assert_eq!(judgement.removed, [CaseId::new("gone").unwrap()]);
    let remarks = CompareSetup::new(&gates, &pairs, Some(&before)).remarks();
    assert_eq!(
        remarks,
        ["the case sets differ (1 new, 1 removed); cases compared with the baseline: 1"]
    );
    assert_eq!(trends(&judgement)[1], CaseTrend::New);

    let part = CompareSetup {
        selection: CaseSelection::Part,
        ..CompareSetup::new(&gates, &pairs[..1], Some(&before))
    };
    assert_eq!(
        part.remarks(),
        ["only selected cases ran; cases compared with the baseline: 1"]
    );
    assert!(part.judge().removed.is_empty());
    assert_eq!(part.judge().metrics[0].comparison.baseline, Some(0.4));
}

#[test]
fn only_added_or_only_removed_cases_make_the_sets_differ_too() {
    let pairs = [pair("a", &[Some(0.4)]), pair("b", &[Some(0.4)])];
    let gates = [drop_gate(0.05)];
    for (cases, remarks) in [
        (vec![("a", 0.4), ("b", 0.4)], vec![]),
        (
            vec![("a", 0.4)],
            vec!["the case sets differ (1 new, 0 removed); cases compared with the baseline: 1"],
        ),
        (
            vec![("a", 0.4), ("b", 0.4), ("c", 0.4)],
            vec!["the case sets differ (0 new, 1 removed); cases compared with the baseline: 2"],
        ),
    ] {
        assert_eq!(
            CompareSetup::new(&gates, &pairs, Some(&entry(0.4, &cases))).remarks(),
            remarks
        );
    }
}

#[test]
fn no_common_case_is_reported_and_never_passes() {
    let before = entry(0.9, &[("gone", 0.9)]);
    let gates = [drop_gate(0.05)];
    let pairs = [pair("a", &[Some(0.1)])];
    let judgement = CompareSetup::new(&gates, &pairs, Some(&before)).judge();
    assert_eq!(
        judgement.verdict,
        Ruling::Skipped("no case in common with the baseline".to_owned())
    );
}

#[test]
fn cases_measured_on_one_side_are_named_and_not_compared() {
    let gates = [floor(Limit::Baseline { otherwise: None }, Strictness::Hard)];
    let lost = || {
        let mut before = entry(1.0, &[("a", 0.0), ("b", 1.0)]);
        before
            .cases
            .insert(CaseId::new("a").unwrap(), BTreeMap::new());
        before
    };
    let remark = |which| {
        format!("measured only in this run or only in the baseline: {which}; cases compared: 1")
    };
    for (before, now, baseline, delta, verdict) in [
        // A missing recording neither fails the run nor hides the regression of another case.
        (
            entry(0.5, &[("a", 1.0), ("b", 0.0)]),
            [None, Some(0.0)],
            0.0,
            0.0,
            Verdict::Pass,
        ),
        (
            entry(1.0, &[("a", 1.0), ("b", 1.0)]),
            [None, Some(0.75)],
            1.0,
            -0.25,
            Verdict::Fail,
        ),
        (lost(), [Some(0.5), Some(1.0)], 1.0, 0.0, Verdict::Pass),
    ] {
        let pairs = [pair("a", &[now[0]]), pair("b", &[now[1]])];
        let setting = CompareSetup::new(&gates, &pairs, Some(&before));
        let judgement = setting.judge();
        let comparison = &judgement.metrics[0].comparison;
        assert_eq!(
            (comparison.baseline, comparison.delta),
            (Some(baseline), Some(delta)),
            "{now:?}"
        );
        assert_eq!(
            (judgement.verdict, setting.remarks()),
            (Ruling::Judged(verdict), vec![remark("a")]),
            "{now:?}"
        );
    }
    let neither = [pair("a", &[None]), pair("b", &[Some(1.0)])];
    let quarantined = [
        PairResult {
            exclusion: Exclusion::Quarantined,
            ..pair("a", &[Some(0.0)])
        },
        neither[1].clone(),
    ];
    for same in [neither, quarantined.clone()] {
        assert_eq!(
            CompareSetup::new(&gates, &same, Some(&lost())).remarks(),
            [""; 0],
            "the same cases count"
        );
    }
    let began = entry(0.5, &[("a", 0.0), ("b", 1.0)]);
    assert_eq!(
        CompareSetup::new(&gates, &quarantined, Some(&began)).remarks(),
        [remark("a")]
    );
    let nothing = [pair("a", &[None]), pair("b", &[None])];
    let setting = CompareSetup::new(&gates, &nothing, Some(&began));
    assert_eq!(
        setting.judge().metrics[0].comparison.baseline,
        Some(0.5),
        "the number is shown if nothing was measured"
    );
    assert_eq!(setting.remarks(), [""; 0]);
    let minority = PairResult {
        exclusion: Exclusion::Quarantined,
        ..pair("a", &[Some(0.0), None])
    };
    let judged = CompareSetup::new(&gates, &[minority], None).judge();
    assert_eq!(
        judged.cases[0].0,
        Ruling::Judged(Verdict::Inconclusive),
        "a minority in quarantine measures nothing either"
    );
}

#[test]
fn a_note_names_eight_cases() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
    let before = entry(0.5, &names.map(|name| (name, 0.5)));
    for (lost, named) in [
        (8, "a, b, c, d, e, f, g, h"),
        (9, "a, b, c, d, e, f, g, h, … and 1 more"),
        (10, "a, b, c, d, e, f, g, h, … and 2 more"),
    ] {
        let value = |index: usize| if index < lost { None } else { Some(0.5) };
        let pairs: Vec<PairResult> = names
            .iter()
            .enumerate()
            .map(|(index, name)| pair(name, &[value(index)]))
            .collect();
        let remarks = CompareSetup::new(&[], &pairs, Some(&before)).remarks();
        let whole = format!(
            "measured only in this run or only in the baseline: {named}; cases compared: {}",
            names.len() - lost
        );
        assert_eq!(remarks, [whole]);
    }
}

#[test]
fn a_pair_that_either_side_excluded_is_not_compared() {
    let mut before = entry(0.5, &[("a", 0.9), ("b", 0.9), ("c", 0.5)]);
    before
        .cases
        .insert(CaseId::new("b").unwrap(), BTreeMap::new());
    let pairs = [
        pair("a", &[None]),
        pair("b", &[Some(0.1)]),
        pair("c", &[Some(0.5)]),
        pair("new", &[Some(0.5)]),
    ];
    let gates = [floor(Limit::Number(0.5), Strictness::Hard)];
    let judgement = CompareSetup::new(&gates, &pairs, Some(&before)).judge();
    assert_eq!(judgement.metrics[0].comparison.baseline, Some(0.5));
    assert_eq!(
        trends(&judgement),
        [
            CaseTrend::Unknown,
            CaseTrend::Unknown,
            CaseTrend::StillPassing,
            CaseTrend::New
        ],
        "an excluded pair has no data"
    );
    assert_eq!(judgement.cases[0].0, Ruling::Judged(Verdict::Inconclusive));
}

#[test]
fn cases_without_data_change_no_number() {
    let mut before = entry(0.666_667, &[("a", 0.666_667), ("gone", 0.1)]);
    before
        .cases
        .insert(CaseId::new("gone").unwrap(), BTreeMap::new());
    let gates = [drop_gate(0.05)];
    let pairs = [pair("a", &[Some(0.666_667)]), pair("new", &[None])];
    let setting = CompareSetup::new(&gates, &pairs, Some(&before));
    assert_eq!(setting.remarks(), [""; 0]);
    assert_eq!(
        setting.judge().removed,
        [CaseId::new("gone").unwrap()],
        "it is still listed"
    );
    assert_eq!(trends(&setting.judge())[1], CaseTrend::New);
}
