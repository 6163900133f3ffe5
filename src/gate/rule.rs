//! Evaluates one gate on one value (grading.md 3, 15).

use super::limits::PlannedGate;
use crate::model::{
    ChangeDirection, EPSILON, Gate, GateRuling, Limit, LimitSide, Ruling, SWITCHED_OFF, Strictness,
    Verdict,
};

/// Tolerance at the exact boundary if a number comes from a baseline: these are rounded to six decimal places.
const BASELINE_EPSILON: f64 = 1e-6;

/// The value to evaluate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subject {
    /// The value; `None` means that there was nothing to measure.
    pub value: Option<f64>,
    /// The value on the cases that the baseline also has.
    pub shared_value: Option<f64>,
    /// The value on the cases that are not in the baseline.
    pub added_value: Option<f64>,
    /// Number of cases that both this run and the baseline measured.
    pub in_common: usize,
    /// Whether no pair counts, or the metric lacks a value that it needs.
    pub all_excluded: bool,
    /// Number of cases that this run measured.
    pub measured: usize,
}

impl Subject {
    /// A value without other cases to consider.
    pub fn alone(value: Option<f64>) -> Self {
        Self {
            value,
            shared_value: value,
            added_value: None,
            in_common: 0,
            all_excluded: false,
            measured: 0,
        }
    }
}

/// The baseline's number for a metric, or why it is missing.
#[derive(Debug, Clone, PartialEq)]
pub enum BaseNumber {
    Known(f64),
    /// The baseline has no number for this agent and metric.
    Absent,
    /// The number is not comparable; the text names the reason.
    Incomparable(String),
}

pub fn ruling(gate: &Gate, subject: &Subject, base: &BaseNumber) -> GateRuling {
    match gate {
        Gate::Threshold {
            side,
            limit,
            strictness,
        } => by_threshold(gate, *side, *limit, *strictness, subject, base),
        // Without a baseline it is a fixed limit and is reported as one.
        Gate::Change {
            direction,
            otherwise: Some(number),
            ..
        } if *base == BaseNumber::Absent => {
            let side = if *direction == ChangeDirection::Drop {
                LimitSide::Min
            } else {
                LimitSide::Max
            };
            let floor = Gate::Threshold {
                side,
                limit: Limit::Number(*number),
                strictness: Strictness::Hard,
            };
            ruling(&floor, subject, base)
        }
        Gate::Change {
            direction,
            tolerance,
            ..
        } => by_change(gate, *direction, *tolerance, subject, base),
    }
}

fn by_threshold(
    gate: &Gate,
    side: LimitSide,
    limit: Limit,
    strictness: Strictness,
    subject: &Subject,
    base: &BaseNumber,
) -> GateRuling {
    let (threshold, from_baseline) = match (limit, base) {
        (Limit::Number(number), _) => (Ok(number), false),
        (Limit::Baseline { .. }, BaseNumber::Known(number)) => (Ok(*number), true),
        (
            Limit::Baseline {
                otherwise: Some(number),
            },
            BaseNumber::Absent,
        ) => (Ok(number), false),
        (Limit::Baseline { otherwise: None }, BaseNumber::Absent) => {
            (Err("no baseline".to_owned()), true)
        }
        (Limit::Baseline { .. }, BaseNumber::Incomparable(why)) => (Err(why.clone()), true),
    };
    let epsilon = if from_baseline {
        BASELINE_EPSILON
    } else {
        EPSILON
    };
    let value = if from_baseline {
        subject.shared_value
    } else {
        subject.value
    };
    // An upper limit is a lower limit with opposite signs.
    let judged = |value: f64, threshold: f64, epsilon: f64| {
        let above = match side {
            LimitSide::Min => value - threshold,
            LimitSide::Max => threshold - value,
        };
        match strictness {
            Strictness::Hard | Strictness::Band(_) => banded(above, strictness.zone(), epsilon),
            Strictness::Open => banded(above, f64::INFINITY, epsilon),
        }
    };
    // New cases cannot be compared with the baseline: they are compared with the limit that applies without one.
    let added = match (limit, from_baseline) {
        (
            Limit::Baseline {
                otherwise: Some(number),
            },
            true,
        ) => subject
            .added_value
            .map(|value| judged(value, number, EPSILON)),
        (Limit::Number(_) | Limit::Baseline { .. }, _) => None,
    };
    // Check first whether there is anything to measure: a baseline is irrelevant otherwise.
    let ruled = match (&threshold, value) {
        (Ok(_), None) => worse(of_nothing(subject, base), added),
        (Err(_), None) => of_nothing(subject, base),
        (Err(why), Some(_)) => Ruling::Skipped(why.clone()),
        (Ok(threshold), Some(value)) => {
            let compared = judged(value, *threshold, epsilon);
            Ruling::Judged(added.map_or(compared, |added| added.max(compared)))
        }
    };
    GateRuling {
        gate: gate.kind(),
        threshold: threshold.ok(),
        from_baseline,
        zone: strictness.zone(),
        hard: strictness == Strictness::Hard,
        ruling: ruled,
        base_commit: None,
        chance: None,
        new_parts: Vec::new(),
    }
}

/// The verdict on a value that is `above` its threshold by this much, or below it if negative.
fn banded(above: f64, zone: f64, epsilon: f64) -> Verdict {
    if above >= -epsilon {
        Verdict::Pass
    } else if above >= -zone - epsilon {
        Verdict::Inconclusive
    } else {
        Verdict::Fail
    }
}

fn by_change(
    gate: &Gate,
    direction: ChangeDirection,
    tolerance: f64,
    subject: &Subject,
    base: &BaseNumber,
) -> GateRuling {
    let ruled = match (base, subject.shared_value) {
        (_, None) => of_nothing(subject, base),
        (BaseNumber::Absent, Some(_)) => Ruling::Skipped("no baseline".to_owned()),
        (BaseNumber::Incomparable(why), Some(_)) => Ruling::Skipped(why.clone()),
        (BaseNumber::Known(base), Some(value)) => {
            let lost = match direction {
                ChangeDirection::Drop => base - value,
                ChangeDirection::Rise => value - base,
            };
            Ruling::Judged(if lost <= tolerance + BASELINE_EPSILON {
                Verdict::Pass
            } else {
                Verdict::Fail
            })
        }
    };
    GateRuling {
        gate: gate.kind(),
        threshold: Some(tolerance),
        from_baseline: true,
        zone: 0.0,
        hard: false,
        ruling: ruled,
        base_commit: None,
        chance: None,
        new_parts: Vec::new(),
    }
}

/// The worse of a result and the verdict on the cases that are not in the baseline.
fn worse(compared: Ruling, added: Option<Verdict>) -> Ruling {
    match added {
        None => compared,
        Some(added) => Ruling::Judged(
            compared
                .verdict()
                .map_or(added, |compared| compared.max(added)),
        ),
    }
}

/// The result for a metric without a value. If the baseline measured it and this run did not, although its cases ran, the agent may have
/// become worse: the gate is not skipped.
fn of_nothing(subject: &Subject, base: &BaseNumber) -> Ruling {
    let is_lost = matches!(base, BaseNumber::Known(_)) && subject.measured > 0;
    match (subject.all_excluded || is_lost, subject.value) {
        (true, _) => Ruling::Judged(Verdict::Inconclusive),
        (false, None) => Ruling::Skipped("nothing to measure".to_owned()),
        (false, Some(_)) if subject.in_common > 0 => {
            let cases = if subject.in_common == 1 {
                "case"
            } else {
                "cases"
            };
            Ruling::Skipped(format!(
                "null on the {} {cases} in common with the baseline",
                subject.in_common
            ))
        }
        (false, Some(_)) => Ruling::Skipped("no case in common with the baseline".to_owned()),
    }
}

pub(super) fn ruled(planned: &PlannedGate, subject: &Subject, base: &BaseNumber) -> GateRuling {
    let judged = ruling(&planned.gate, subject, base);
    match &planned.off {
        None => judged,
        Some(reason) => GateRuling {
            ruling: Ruling::Off(format!("{SWITCHED_OFF}{reason}")),
            ..judged
        },
    }
}

#[cfg(test)]
mod tests;
