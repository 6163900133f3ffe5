//! Evaluates one gate on one value. A value that lost samples is an interval: a gate passes if the whole interval passes, fails if the
//! whole interval fails, and else is inconclusive.

use super::limits::PlannedGate;
use crate::fold::Interval;
use crate::model::{
    ChangeDirection, EPSILON, Gate, GateRuling, Limit, LimitSide, Ruling, SWITCHED_OFF, Strictness,
    Verdict,
};

/// Tolerance at the exact boundary if a number comes from a baseline: these are rounded to six decimal places.
const BASELINE_EPSILON: f64 = 1e-6;

/// The value to evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Subject {
    /// The value; `None` means that there was nothing to measure.
    pub value: Option<Interval>,
    /// The value on the cases that the reference also has.
    pub shared_value: Option<Interval>,
    /// The value on the cases that the reference does not have.
    pub added_value: Option<Interval>,
    /// Number of cases that both this run and the reference measured.
    pub in_common: usize,
}

impl Subject {
    /// A value without other cases to consider.
    pub fn alone(value: Option<f64>) -> Self {
        let value = value.map(Interval::at);
        Self {
            value,
            shared_value: value,
            ..Self::default()
        }
    }
}

/// The result of a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct GateResult {
    pub gate: GateRuling,
    /// Whether it is open.
    pub openness: Openness,
}

/// Whether missing samples decide about a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Openness {
    /// They change nothing that blocks a merge.
    Settled,
    /// With them it could fail, and it could also not fail.
    Open,
}

/// The reference's number for a metric, or why it is missing.
#[derive(Debug, Clone, PartialEq)]
pub enum BaseNumber {
    Known(f64),
    /// The reference has no number for this agent and metric.
    Absent,
    /// The number is not comparable; the text names the reason.
    Incomparable(String),
}

pub fn ruling(gate: &Gate, subject: &Subject, base: &BaseNumber) -> GateResult {
    match gate {
        Gate::Threshold {
            side,
            limit,
            strictness,
        } => by_threshold(gate, *side, *limit, *strictness, subject, base),
        Gate::Change {
            direction,
            tolerance,
        } => by_change(gate, *direction, *tolerance, subject, base),
    }
}

/// The verdicts at both ends of an interval.
#[derive(Clone, Copy)]
struct EndVerdicts {
    best: Verdict,
    worst: Verdict,
}

impl EndVerdicts {
    /// The verdicts at the ends of an interval.
    fn of(interval: Interval, verdict: impl Fn(f64) -> Verdict) -> Self {
        Self::between(verdict(interval.least), verdict(interval.most))
    }

    fn between(left: Verdict, right: Verdict) -> Self {
        Self {
            best: left.min(right),
            worst: left.max(right),
        }
    }

    /// The worse verdict of each end.
    fn and(self, right: Option<Self>) -> Self {
        right.map_or(self, |right| Self {
            best: self.best.max(right.best),
            worst: self.worst.max(right.worst),
        })
    }

    fn verdict(self) -> Verdict {
        if self.best == self.worst {
            self.best
        } else {
            Verdict::Inconclusive
        }
    }

    fn openness(self) -> Openness {
        if self.best != self.worst && self.worst == Verdict::Fail {
            Openness::Open
        } else {
            Openness::Settled
        }
    }
}

/// What a gate says: the verdicts at both ends of its value, or why it is skipped.
type Judged = Result<EndVerdicts, String>;

fn by_threshold(
    gate: &Gate,
    side: LimitSide,
    limit: Limit,
    strictness: Strictness,
    subject: &Subject,
    base: &BaseNumber,
) -> GateResult {
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
    let (value, epsilon) = if from_baseline {
        (subject.shared_value, BASELINE_EPSILON)
    } else {
        (subject.value, EPSILON)
    };
    // New cases cannot be compared with the reference: they are compared with the limit that applies without one.
    let added = match (limit, subject.added_value) {
        (
            Limit::Baseline {
                otherwise: Some(number),
            },
            Some(value),
        ) if from_baseline => {
            let band = Band {
                side,
                threshold: number,
                strictness,
                epsilon: EPSILON,
                base,
            };
            Some(band.end_verdicts(value, None))
        }
        (Limit::Number(_) | Limit::Baseline { .. }, _) => None,
    };
    // Check first whether there is anything to measure: a baseline is irrelevant otherwise.
    let ends = match (&threshold, value) {
        (Ok(threshold), Some(value)) => {
            let band = Band {
                side,
                threshold: *threshold,
                strictness,
                epsilon,
                base,
            };
            Ok(band.end_verdicts(value, subject.shared_value).and(added))
        }
        (Ok(_), None) => added.ok_or_else(|| of_nothing(subject)),
        (Err(_), None) => Err(of_nothing(subject)),
        (Err(why), Some(_)) => Err(why.clone()),
    };
    result(
        ends,
        GateRuling {
            gate: gate.kind(),
            threshold: threshold.ok(),
            from_baseline,
            zone: strictness.zone(),
            in_zone: strictness.tolerance(),
            hard: strictness == Strictness::Hard,
            ruling: Ruling::Judged(Verdict::Inconclusive),
            base_commit: None,
        },
    )
}

/// A threshold with its band.
struct Band<'a> {
    side: LimitSide,
    threshold: f64,
    strictness: Strictness,
    epsilon: f64,
    base: &'a BaseNumber,
}

impl Band<'_> {
    /// The verdicts on both ends of an interval.
    fn end_verdicts(&self, value: Interval, shared: Option<Interval>) -> EndVerdicts {
        EndVerdicts::between(
            self.verdict(value.least, shared.map(|shared| shared.least)),
            self.verdict(value.most, shared.map(|shared| shared.most)),
        )
    }

    /// The verdict on a value; `shared` is the value on the cases that the baseline also has, which decides in the band.
    fn verdict(&self, value: f64, shared: Option<f64>) -> Verdict {
        let zone = match self.strictness {
            Strictness::Hard | Strictness::Band(_) | Strictness::ComparedBand { .. } => {
                self.strictness.zone()
            }
            Strictness::Open => f64::INFINITY,
        };
        let verdict = banded(self.above(value, self.threshold), zone, self.epsilon);
        match (verdict, self.strictness.tolerance(), self.base, shared) {
            (Verdict::Inconclusive, Some(tolerance), BaseNumber::Known(base), Some(shared)) => {
                banded(tolerance + self.above(shared, *base), 0.0, BASELINE_EPSILON)
            }
            _ => verdict,
        }
    }

    /// How much better a number is than a limit; an upper limit is a lower one with opposite signs.
    fn above(&self, number: f64, limit: f64) -> f64 {
        match self.side {
            LimitSide::Min => number - limit,
            LimitSide::Max => limit - number,
        }
    }
}

fn result(ends: Judged, gate: GateRuling) -> GateResult {
    match ends {
        Ok(ends) => GateResult {
            gate: GateRuling {
                ruling: Ruling::Judged(ends.verdict()),
                ..gate
            },
            openness: ends.openness(),
        },
        Err(why) => GateResult {
            gate: GateRuling {
                ruling: Ruling::Skipped(why),
                ..gate
            },
            openness: Openness::Settled,
        },
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
) -> GateResult {
    let ends = match (base, subject.shared_value) {
        (_, None) => Err(of_nothing(subject)),
        (BaseNumber::Absent, Some(_)) => Err("no baseline".to_owned()),
        (BaseNumber::Incomparable(why), Some(_)) => Err(why.clone()),
        (BaseNumber::Known(base), Some(value)) => Ok(EndVerdicts::of(value, |value| {
            let lost = match direction {
                ChangeDirection::Drop => base - value,
                ChangeDirection::Rise => value - base,
            };
            banded(tolerance - lost, 0.0, BASELINE_EPSILON)
        })),
    };
    result(
        ends,
        GateRuling {
            gate: gate.kind(),
            threshold: Some(tolerance),
            from_baseline: true,
            zone: 0.0,
            in_zone: None,
            hard: false,
            ruling: Ruling::Judged(Verdict::Inconclusive),
            base_commit: None,
        },
    )
}

/// Why a gate is skipped that has no value.
fn of_nothing(subject: &Subject) -> String {
    match (subject.value, subject.in_common) {
        (None, _) => "nothing to measure".to_owned(),
        (Some(_), 0) => "no case in common with the baseline".to_owned(),
        (Some(_), 1) => "null on the 1 case in common with the baseline".to_owned(),
        (Some(_), count) => format!("null on the {count} cases in common with the baseline"),
    }
}

pub(super) fn ruled(planned: &PlannedGate, subject: &Subject, base: &BaseNumber) -> GateResult {
    let judged = ruling(&planned.gate, subject, base);
    match &planned.off {
        None => judged,
        Some(reason) => GateResult {
            gate: GateRuling {
                ruling: Ruling::Off(format!("{SWITCHED_OFF}{reason}")),
                ..judged.gate
            },
            openness: Openness::Settled,
        },
    }
}

#[cfg(test)]
mod tests;
