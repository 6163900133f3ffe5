//! Tests what a gate is compared with: the baseline, or the base commit's own runs.

use super::{CompareSetup, drop_gate, entry, floor, pair};
use crate::gate::PlannedGate;
use crate::model::{Limit, PairResult, Ruling, Strictness, Verdict};

const CASES: [&str; 4] = ["a", "b", "c", "d"];

fn pairs(value: f64) -> Vec<PairResult> {
    CASES.map(|case| pair(case, &[Some(value)])).into()
}

/// The verdict of a gate, and the base commit's own value where it counts.
fn judged(
    gate: &PlannedGate,
    baseline: Option<f64>,
    base: f64,
    change: f64,
) -> (Ruling, Option<f64>) {
    let gates = [gate.clone()];
    let entry = baseline.map(|value| entry(value, &CASES.map(|case| (case, value))));
    let (base, change) = (pairs(base), pairs(change));
    let outcome = CompareSetup {
        base: Some(&base),
        ..CompareSetup::new(&gates, &change, entry.as_ref())
    }
    .judge();
    let gate = &outcome.metrics[0].gates[0];
    let value = gate.base_commit.as_ref().map(|base| base.value);
    (gate.ruling.clone(), value)
}

#[test]
fn a_gate_that_the_base_commit_fails_asks_for_no_worse_value() {
    let absolute = floor(Limit::Number(0.9), Strictness::Hard);
    let lagging = floor(Limit::Baseline { otherwise: None }, Strictness::Band(0.05));
    for gate in [absolute, lagging, drop_gate(0.05)] {
        for (change, verdict) in [
            (0.8, Verdict::Pass),
            (0.85, Verdict::Pass),
            (0.79, Verdict::Fail),
        ] {
            assert_eq!(
                judged(&gate, Some(0.9), 0.8, change),
                (Ruling::Judged(verdict), Some(0.8)),
                "{gate:?} {change}"
            );
        }
    }
}

#[test]
fn a_gate_that_the_base_commit_passes_is_compared_with_the_baseline() {
    let gate = drop_gate(0.05);
    for (change, verdict) in [(0.85, Verdict::Pass), (0.84, Verdict::Fail)] {
        assert_eq!(
            judged(&gate, Some(0.9), 0.86, change),
            (Ruling::Judged(verdict), None),
            "{change}"
        );
    }
}

#[test]
fn ten_small_losses_in_a_row_fail_while_the_baseline_stays() {
    let gate = drop_gate(0.15);
    let mut base = 1.0;
    let (mut against_baseline, mut against_base) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        let change = base - 0.02;
        against_baseline.push(judged(&gate, Some(1.0), base, change).0);
        against_base.push(judged(&gate, None, base, change).0);
        base = change;
    }
    let fails = |rulings: &[Ruling]| rulings.iter().filter(|ruling| ruling.fails()).count();
    assert_eq!(fails(&against_baseline), 3, "{against_baseline:?}");
    assert_eq!(fails(&against_base), 0, "the control: {against_base:?}");
}

#[test]
fn without_a_baseline_the_base_commits_own_runs_are_the_reference() {
    for (gate, change, verdict) in [
        (drop_gate(0.15), 0.9, Verdict::Pass),
        (drop_gate(0.15), 0.5, Verdict::Fail),
        (
            floor(
                Limit::Baseline {
                    otherwise: Some(0.1),
                },
                Strictness::Hard,
            ),
            0.9,
            Verdict::Fail,
        ),
    ] {
        assert_eq!(
            judged(&gate, None, 1.0, change),
            (Ruling::Judged(verdict), None),
            "{gate:?}"
        );
    }
}

#[test]
fn a_case_that_only_the_base_commit_has_is_compared_with_it() {
    let before = entry(1.0, &[("a", 1.0)]);
    let gates = [drop_gate(0.1)];
    let base = pairs(1.0);
    let change = [pair("a", &[Some(1.0)]), pair("b", &[Some(0.0)])];
    let outcome = |base| {
        CompareSetup {
            base,
            ..CompareSetup::new(&gates, &change, Some(&before))
        }
        .judge()
    };
    assert!(outcome(Some(base.as_slice())).verdict.fails());
    assert!(!outcome(None).verdict.fails(), "the control");
}
