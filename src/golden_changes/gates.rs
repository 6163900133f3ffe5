//! The gates of both sides: the effective ones, with the defaults merged in.

use std::collections::BTreeSet;

use super::found::{ChangeCollector, LimitMove};
use crate::gate::{PlannedGate, planned_in};
use crate::model::{
    ChangeDirection, Gate, Limit, LimitSide, MetricSpec, Strictness, SuiteConfig, Tier,
    at_least_two_places,
};
use crate::suites::kind;

/// The tiers whose gates are compared. A suite that changed its only tier has none in common; that is a change of its own.
fn common_tiers(base: &SuiteConfig, head: &SuiteConfig) -> Vec<Tier> {
    let both = [Tier::Deterministic, Tier::Model];
    let common = both
        .into_iter()
        .filter(|tier| base.tiers.contains(tier) && head.tiers.contains(tier));
    let common: Vec<Tier> = common.collect();
    if common.is_empty() {
        vec![Tier::Deterministic]
    } else {
        common
    }
}

/// The gates of a metric on both sides, in one tier.
struct ComparedGates<'a> {
    suite: &'a SuiteConfig,
    spec: &'a MetricSpec,
    /// Where the gates apply; empty in the suite's first tier.
    place: &'static str,
}

/// Compares the gates of one suite, metric by metric, in each of its tiers: their defaults differ.
pub fn compare(base: &SuiteConfig, head: &SuiteConfig, collector: &mut ChangeCollector) {
    let Some(kind) = kind(&head.kind) else {
        return;
    };
    // The gates of an added metric of the suite are new with it.
    let suite_metrics = head
        .expressions
        .specs()
        .filter(|spec| base.expressions.metrics.contains_key(spec.name));
    let stated: BTreeSet<&String> = base.gates.keys().chain(head.gates.keys()).collect();
    let of_family = stated.into_iter().filter_map(|name| kind.of_family(name));
    let tiers = common_tiers(base, head);
    for spec in &kind
        .every_metric()
        .copied()
        .chain(of_family)
        .chain(suite_metrics)
        .collect::<Vec<_>>()
    {
        let mut first = None;
        for tier in &tiers {
            match (planned_in(spec, base, *tier), planned_in(spec, head, *tier)) {
                (Ok(base_gates), Ok(head_gates)) => {
                    let both = (base_gates, head_gates);
                    if first.as_ref() == Some(&both) {
                        continue;
                    }
                    let place = if first.is_some() {
                        " in the model tier"
                    } else {
                        ""
                    };
                    first.get_or_insert_with(|| both.clone());
                    metric(
                        &ComparedGates {
                            suite: head,
                            spec,
                            place,
                        },
                        both.0,
                        both.1,
                        collector,
                    );
                }
                (Err(_), _) => {
                    let words = format!(
                        "the gates of {} of `{}` on the base commit are not valid any more",
                        spec.name, head.id
                    );
                    collector.needs(words, None);
                    break;
                }
                // A head with invalid gates was rejected before.
                (Ok(_), Err(_)) => {}
            }
        }
    }
}

fn metric(
    compared: &ComparedGates<'_>,
    base: Vec<PlannedGate>,
    head: Vec<PlannedGate>,
    collector: &mut ChangeCollector,
) {
    let mut fresh = head;
    let mut left = Vec::new();
    for old in base {
        match fresh.iter().position(|new| *new == old) {
            Some(index) => drop(fresh.remove(index)),
            None => left.push(old),
        }
    }
    for old in left {
        let index = fresh
            .iter()
            .position(|new| new.gate.kind() == old.gate.kind());
        match index.map(|index| fresh.remove(index)) {
            Some(new) => pair(compared, &old, &new, collector),
            None => collector.needs(
                format!("{} removed: {}", compared.subject(&old.gate), limit(&old)),
                None,
            ),
        }
    }
    for new in fresh {
        collector.lists(
            format!("{} added: {}", compared.subject(&new.gate), limit(&new)),
            None,
        );
    }
}

impl ComparedGates<'_> {
    /// The gate as a message names it: ``finding_recall floor of `contracts` ``.
    fn subject(&self, gate: &Gate) -> String {
        format!(
            "{} of `{}`{}",
            name(self.spec, gate),
            self.suite.id,
            self.place
        )
    }
}

fn pair(
    compared: &ComparedGates<'_>,
    old: &PlannedGate,
    new: &PlannedGate,
    collector: &mut ChangeCollector,
) {
    let subject = compared.subject(&old.gate);
    match (&old.off, &new.off) {
        (None, Some(reason)) => {
            return collector.needs(format!("{subject} switched off: {reason}"), None);
        }
        (Some(_), None) => {
            return collector.lists(format!("{subject} switched on again: {}", limit(new)), None);
        }
        (Some(_), Some(reason)) if old.gate == new.gate => {
            return collector.lists(
                format!("{subject} stays switched off, for another reason: {reason}"),
                None,
            );
        }
        (None, None) | (Some(_), Some(_)) => {}
    }
    collector.moved(
        looser(compared.spec, &old.gate, &new.gate),
        format!("{subject} {} -> {}", limit(old), limit(new)),
        None,
    );
}

/// The name of a gate: `finding_recall floor`.
fn name(spec: &MetricSpec, gate: &Gate) -> String {
    let word = match gate {
        Gate::Threshold {
            side: LimitSide::Min,
            ..
        } => "floor",
        Gate::Threshold {
            side: LimitSide::Max,
            ..
        } => "ceiling",
        Gate::Change {
            direction: ChangeDirection::Drop,
            ..
        } => "largest drop",
        Gate::Change {
            direction: ChangeDirection::Rise,
            ..
        } => "largest rise",
    };
    format!("{} {word}", spec.name)
}

fn limit(planned: &PlannedGate) -> String {
    let text = match planned.gate {
        Gate::Threshold {
            limit, strictness, ..
        } => {
            let limit = match limit {
                Limit::Number(number) => at_least_two_places(number),
                Limit::Baseline { otherwise: None } => "the baseline".to_owned(),
                Limit::Baseline {
                    otherwise: Some(number),
                } => {
                    format!("the baseline, else {}", at_least_two_places(number))
                }
            };
            match strictness {
                Strictness::Hard => format!("{limit} (hard)"),
                Strictness::Band(zone) if zone > 0.0 => {
                    format!("{limit} (band {})", at_least_two_places(zone))
                }
                Strictness::ComparedBand { zone, tolerance } => format!(
                    "{limit} (band {}, in it a change of {})",
                    at_least_two_places(zone),
                    at_least_two_places(tolerance)
                ),
                Strictness::Band(_) | Strictness::Open => limit,
            }
        }
        Gate::Change { tolerance, .. } => at_least_two_places(tolerance),
    };
    match &planned.off {
        Some(_) => format!("{text} (switched off)"),
        None => text,
    }
}

/// Whether the new gate may pass a value that failed before; unknown counts as looser.
fn looser(spec: &MetricSpec, old: &Gate, new: &Gate) -> LimitMove {
    let loose = match (old, new) {
        // Only the best value passes, and it passed before.
        (
            Gate::Threshold { .. },
            Gate::Threshold {
                side,
                limit: Limit::Number(number),
                strictness: Strictness::Hard,
            },
        ) if is_end_of_range(spec, *side, *number) => false,
        (Gate::Change { tolerance: old, .. }, Gate::Change { tolerance: new, .. }) => new > old,
        (
            Gate::Threshold {
                side,
                limit: old_limit,
                strictness: old_edge,
            },
            Gate::Threshold {
                limit: new_limit,
                strictness: new_edge,
                ..
            },
        ) => looser_limit(*side, *old_limit, *new_limit) || looser_edge(*old_edge, *new_edge),
        (Gate::Threshold { .. }, Gate::Change { .. })
        | (Gate::Change { .. }, Gate::Threshold { .. }) => true,
    };
    if loose {
        LimitMove::Looser
    } else {
        LimitMove::Tighter
    }
}

/// Whether a limit is the best value that the metric can take.
fn is_end_of_range(spec: &MetricSpec, side: LimitSide, number: f64) -> bool {
    match side {
        LimitSide::Min => number >= spec.greatest(),
        LimitSide::Max => number <= spec.least,
    }
}

fn looser_number(side: LimitSide, old: f64, new: f64) -> bool {
    match side {
        LimitSide::Min => new < old,
        LimitSide::Max => new > old,
    }
}

/// Whether the limit without a baseline got looser. A metric without a number has no such limit.
fn looser_otherwise(side: LimitSide, old: Option<f64>, new: Option<f64>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => looser_number(side, old, new),
        (Some(_), None) => true,
        (None, _) => false,
    }
}

fn looser_limit(side: LimitSide, old: Limit, new: Limit) -> bool {
    match (old, new) {
        (Limit::Number(old), Limit::Number(new)) => looser_number(side, old, new),
        (Limit::Baseline { otherwise: old }, Limit::Baseline { otherwise: new }) => {
            looser_otherwise(side, old, new)
        }
        (Limit::Number(_), Limit::Baseline { .. }) | (Limit::Baseline { .. }, Limit::Number(_)) => {
            true
        }
    }
}

fn looser_edge(old: Strictness, new: Strictness) -> bool {
    match (old, new) {
        (_, Strictness::Hard) | (Strictness::Open, Strictness::Band(_) | Strictness::Open) => false,
        (Strictness::Hard, Strictness::Band(_))
        | (_, Strictness::Open)
        // In this band values pass that had no verdict.
        | (
            Strictness::Hard | Strictness::Band(_) | Strictness::Open,
            Strictness::ComparedBand { .. },
        ) => true,
        (
            Strictness::Band(old) | Strictness::ComparedBand { zone: old, .. },
            Strictness::Band(new),
        ) => new > old,
        (
            Strictness::ComparedBand { zone, tolerance },
            Strictness::ComparedBand {
                zone: new_zone,
                tolerance: new_tolerance,
            },
        ) => new_zone > zone || new_tolerance > tolerance,
    }
}

#[cfg(test)]
mod tests {
    use super::{LimitMove, looser};
    use crate::model::{ChangeDirection, Gate, Limit, LimitSide, MetricSpec, Strictness};

    fn gate(side: LimitSide, limit: Limit, strictness: Strictness) -> Gate {
        Gate::Threshold {
            side,
            limit,
            strictness,
        }
    }

    #[test]
    fn what_passes_now_and_did_not_before_is_looser() {
        let number = Limit::Number;
        let base = |otherwise| Limit::Baseline { otherwise };
        let (hard, band) = (Strictness::Hard, Strictness::Band);
        let floor = |limit, strictness| gate(LimitSide::Min, limit, strictness);
        let ceiling = |limit, strictness| gate(LimitSide::Max, limit, strictness);
        let change = |tolerance| Gate::Change {
            direction: ChangeDirection::Drop,
            tolerance,
        };
        let table = [
            (
                floor(number(0.8), hard),
                floor(number(0.7), hard),
                LimitMove::Looser,
            ),
            (
                floor(number(0.8), hard),
                floor(number(0.9), hard),
                LimitMove::Tighter,
            ),
            (
                ceiling(number(0.1), hard),
                ceiling(number(0.2), hard),
                LimitMove::Looser,
            ),
            (
                ceiling(number(0.1), hard),
                ceiling(number(0.05), hard),
                LimitMove::Tighter,
            ),
            (
                floor(number(0.8), hard),
                floor(number(0.8), band(0.0)),
                LimitMove::Looser,
            ),
            (
                floor(number(0.8), hard),
                floor(number(0.9), band(0.1)),
                LimitMove::Looser,
            ),
            (
                floor(number(0.8), band(0.1)),
                floor(number(0.8), hard),
                LimitMove::Tighter,
            ),
            (
                floor(number(0.8), band(0.1)),
                floor(number(0.8), band(0.2)),
                LimitMove::Looser,
            ),
            (
                floor(number(0.8), band(0.2)),
                floor(number(0.8), band(0.1)),
                LimitMove::Tighter,
            ),
            (
                floor(number(0.8), hard),
                floor(base(None), hard),
                LimitMove::Looser,
            ),
            (
                floor(base(None), hard),
                floor(number(0.8), hard),
                LimitMove::Looser,
            ),
            (
                floor(base(None), band(0.05)),
                floor(number(1.0), hard),
                LimitMove::Tighter,
            ),
            (
                floor(base(None), hard),
                floor(number(1.0), band(0.05)),
                LimitMove::Looser,
            ),
            (
                ceiling(base(None), band(0.05)),
                ceiling(number(0.0), hard),
                LimitMove::Tighter,
            ),
            (
                floor(base(None), hard),
                floor(base(Some(0.5)), hard),
                LimitMove::Tighter,
            ),
            (
                floor(base(Some(0.5)), hard),
                floor(base(None), hard),
                LimitMove::Looser,
            ),
            (
                floor(base(Some(0.5)), hard),
                floor(base(Some(0.4)), hard),
                LimitMove::Looser,
            ),
            (change(0.1), change(0.2), LimitMove::Looser),
            (change(0.2), change(0.1), LimitMove::Tighter),
            (change(0.2), floor(number(0.1), hard), LimitMove::Looser),
        ];
        for (old, new, moved) in table {
            assert_eq!(
                looser(&MetricSpec::PLAIN, &old, &new),
                moved,
                "{old:?} {new:?}"
            );
        }
        let negative = MetricSpec {
            least: f64::NEG_INFINITY,
            ..MetricSpec::PLAIN
        };
        assert_eq!(
            looser(
                &negative,
                &ceiling(base(None), hard),
                &ceiling(number(0.0), hard)
            ),
            LimitMove::Looser
        );
    }

    #[test]
    fn a_band_in_which_the_baseline_decides_is_looser_than_one_without() {
        let band = Strictness::Band;
        let compared = |zone, tolerance| Strictness::ComparedBand { zone, tolerance };
        let floor = |strictness| gate(LimitSide::Min, Limit::Number(0.8), strictness);
        let table = [
            (
                floor(band(0.1)),
                floor(compared(0.1, 0.05)),
                LimitMove::Looser,
            ),
            (
                floor(compared(0.1, 0.05)),
                floor(band(0.1)),
                LimitMove::Tighter,
            ),
            (
                floor(compared(0.1, 0.05)),
                floor(compared(0.1, 0.06)),
                LimitMove::Looser,
            ),
            (
                floor(compared(0.1, 0.05)),
                floor(compared(0.05, 0.05)),
                LimitMove::Tighter,
            ),
        ];
        for (old, new, moved) in table {
            assert_eq!(
                looser(&MetricSpec::PLAIN, &old, &new),
                moved,
                "{old:?} {new:?}"
            );
        }
    }
}
