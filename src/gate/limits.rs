//! Merges the gates of the config with the kind's default gates, key by key.

use crate::model::{
    Aggregate, Better, ChangeDirection, Gate, Limit, LimitSide, MetricSpec, Policy, StatedBand,
    StatedGate, StatedLimit, Strictness, SuiteConfig, Tier, Unit,
};

/// A gate to evaluate, or a disabled one to report.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedGate {
    pub gate: Gate,
    /// Why it is disabled, if it is.
    pub off: Option<String>,
}

impl PlannedGate {
    /// The gate that only asks for a value as good as the reference's. Its own limit applies to the cases that the reference
    /// does not have.
    pub(super) fn without_tolerance(&self) -> Self {
        let (side, otherwise) = match self.gate {
            Gate::Threshold {
                side,
                limit: Limit::Number(number),
                ..
            } => (side, Some(number)),
            Gate::Threshold {
                side,
                limit: Limit::Baseline { otherwise },
                ..
            } => (side, otherwise),
            Gate::Change { direction, .. } => (direction.limit_side(), None),
        };
        Self {
            gate: Gate::Threshold {
                side,
                limit: Limit::Baseline { otherwise },
                strictness: Strictness::Hard,
            },
            off: self.off.clone(),
        }
    }
}

/// A metric of a kind, with its gates in a suite and a tier.
#[derive(Debug, Clone)]
pub struct GatedMetric {
    pub spec: MetricSpec,
    pub gates: Vec<PlannedGate>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateProblem {
    /// The index of the gate in the config, from 0.
    pub index: usize,
    pub key: &'static str,
    pub what: String,
    pub help: String,
}

/// The config's gates of a metric, with what they leave out from its defaults.
///
/// # Errors
///
/// The gates that are invalid for this metric.
fn stated_gates(
    spec: &MetricSpec,
    stated: &[StatedGate],
) -> Result<Vec<PlannedGate>, Vec<GateProblem>> {
    let mut problems = Vec::new();
    let mut gates: Vec<PlannedGate> = Vec::new();
    for (index, stated_gate) in stated.iter().enumerate() {
        match merged(spec, stated_gate) {
            Ok(merged) if merged.is_empty() && stated_gate.off.is_none() => {
                problems.push(GateProblem {
                    index,
                    key: "min",
                    what: "the gate is empty".to_owned(),
                    help: "write min, max, max_drop or max_rise".to_owned(),
                });
            }
            Ok(merged) if !merged.is_empty() && stated_gate.off.is_some() => {
                problems.push(GateProblem {
                    index,
                    key: "off",
                    what: "a gate is disabled and also has a limit".to_owned(),
                    help: "remove off, or every key except off and reason".to_owned(),
                });
            }
            Ok(merged) => gates.extend(
                merged
                    .into_iter()
                    .map(|gate| PlannedGate { gate, off: None }),
            ),
            Err((key, what, help)) => problems.push(GateProblem {
                index,
                key,
                what,
                help,
            }),
        }
    }
    if problems.is_empty() {
        Ok(gates)
    } else {
        Err(problems)
    }
}

/// The gates of a metric: the defaults if the config sets none, else the config's gates merged over them.
///
/// A lower or upper limit takes omitted settings (number, zone, hardness) from the default of its side, so that it never silently loses
/// `hard`. A default that nothing replaces remains.
///
/// # Errors
///
/// The config's gates that are invalid for this metric.
pub fn planned(
    spec: &MetricSpec,
    stated: &[StatedGate],
) -> Result<Vec<PlannedGate>, Vec<GateProblem>> {
    let mut gates = stated_gates(spec, stated)?;
    let off = stated.iter().find_map(|gate| gate.off.as_deref());
    let mut kept = Vec::new();
    for default in spec.gates {
        let is_replaced = gates
            .iter()
            .any(|planned| planned.gate.kind() == default.kind());
        if !is_replaced {
            kept.push(PlannedGate {
                gate: *default,
                off: off.map(str::to_owned),
            });
        }
    }
    gates.splice(0..0, kept);
    Ok(gates)
}

type GateRejection = (&'static str, String, String);

/// The gates of a metric in a suite and a tier: the defaults there, merged with the suite's gates.
///
/// # Errors
/// The suite's gates that are invalid for this metric.
pub fn planned_in(
    spec: &MetricSpec,
    suite: &SuiteConfig,
    tier: Tier,
) -> Result<Vec<PlannedGate>, Vec<GateProblem>> {
    let switched = if suite.no_newly_failing {
        spec.switched_gates
    } else {
        &[]
    };
    let defaults = match (tier, spec.model_gates, switched) {
        (_, _, [_, ..]) => switched,
        (Tier::Model, Some(gates), []) => gates,
        (Tier::Model | Tier::Deterministic, _, []) => spec.gates,
    };
    let spec = MetricSpec {
        gates: defaults,
        ..*spec
    };
    let stated = suite.gates.get(spec.name).map_or(&[][..], Vec::as_slice);
    // Of the defaults, only the coverage is a precondition of the policy `regression`, and what the suite switches on.
    let has_defaults = suite.policy == Policy::Seed
        || spec.aggregate == Aggregate::Coverage
        || !switched.is_empty();
    if has_defaults {
        return planned(&spec, stated);
    }
    match stated.iter().position(|gate| gate.off.is_some()) {
        None => stated_gates(&spec, stated),
        Some(index) => Err(vec![GateProblem {
            index,
            key: "off",
            what: format!("{} has no gate that could be switched off", spec.name),
            help: "remove it: with the policy regression only stated gates count".to_owned(),
        }]),
    }
}

/// Below its minimum, coverage gives no verdict; so its gate accepts only `min` with a number.
fn coverage_has_a_floor_only(spec: &MetricSpec, stated: &StatedGate) -> Result<(), GateRejection> {
    let StatedGate {
        min,
        max: _,
        otherwise,
        zone,
        in_zone,
        hard,
        max_drop,
        max_rise,
        off: _,
    } = stated;
    let given = [
        ("min", matches!(min, Some(StatedLimit::Baseline))),
        ("otherwise", otherwise.is_some()),
        ("zone", zone.is_some()),
        ("in_zone", in_zone.is_some()),
        ("hard", hard.is_some()),
        ("max_drop", max_drop.is_some()),
        ("max_rise", max_rise.is_some()),
    ];
    if spec.aggregate != Aggregate::Coverage {
        return Ok(());
    }
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((key, _)) => {
            let message = format!(
                "{} accepts only min with a number: below it no verdict is possible",
                spec.name
            );
            Err((key, message, "write only min: NUMBER".to_owned()))
        }
    }
}

fn merged(spec: &MetricSpec, stated: &StatedGate) -> Result<Vec<Gate>, GateRejection> {
    coverage_has_a_floor_only(spec, stated)?;
    let StatedGate {
        min,
        max,
        otherwise,
        zone,
        in_zone,
        hard,
        max_drop,
        max_rise,
        off: _,
    } = stated;
    let settings = [
        ("zone", zone.is_some()),
        ("in_zone", in_zone.is_some()),
        ("hard", hard.is_some()),
        ("otherwise", otherwise.is_some()),
    ];
    let setting = settings.into_iter().find(|(_, given)| *given);
    let default_side = spec.gates.iter().find_map(|gate| match gate {
        Gate::Threshold { side, .. } => Some(*side),
        Gate::Change { .. } => None,
    });
    let mut gates = Vec::new();
    for (side, limit) in [(LimitSide::Min, *min), (LimitSide::Max, *max)] {
        let meant = limit.is_some()
            || (setting.is_some() && min.is_none() && max.is_none() && default_side == Some(side));
        if meant {
            gates.push(threshold(spec, side, limit, stated)?);
        }
    }
    if gates.is_empty()
        && let Some((key, _)) = setting
    {
        let message = format!("{key} has no effect: {} has no threshold here", spec.name);
        return Err((key, message, "add min or max".to_owned()));
    }
    for (direction, tolerance) in [
        (ChangeDirection::Drop, *max_drop),
        (ChangeDirection::Rise, *max_rise),
    ] {
        if let Some(tolerance) = tolerance {
            let gate = Gate::Change {
                direction,
                tolerance,
            };
            fits(
                spec,
                direction == ChangeDirection::Drop,
                gate.kind().as_str(),
            )?;
            lies_within(spec, gate.kind().as_str(), tolerance)?;
            can_fail(spec, &gate)?;
            gates.push(gate);
        }
    }
    Ok(gates)
}

/// Checks that a limit points in the metric's direction.
fn fits(spec: &MetricSpec, floor: bool, key: &'static str) -> Result<(), GateRejection> {
    let (right, keys) = match spec.better {
        Better::Higher => (floor, "min or max_drop"),
        Better::Lower => (!floor, "max or max_rise"),
        Better::Neither => (true, ""),
    };
    if right {
        return Ok(());
    }
    Err((
        key,
        format!(
            "{key} does not fit {}: {} is better",
            spec.name,
            spec.better.as_str()
        ),
        format!("write {keys}"),
    ))
}

fn threshold(
    spec: &MetricSpec,
    side: LimitSide,
    limit: Option<StatedLimit>,
    stated: &StatedGate,
) -> Result<Gate, GateRejection> {
    let key = if side == LimitSide::Min { "min" } else { "max" };
    fits(spec, side == LimitSide::Min, key)?;
    let default = spec.gates.iter().find_map(|gate| match gate {
        Gate::Threshold {
            side: default_side,
            limit,
            strictness,
        } if *default_side == side => Some((*limit, *strictness)),
        Gate::Threshold { .. } | Gate::Change { .. } => None,
    });
    let default_limit = default.map(|(limit, _)| limit);
    let default_otherwise = match default_limit {
        Some(Limit::Baseline { otherwise }) => otherwise,
        Some(Limit::Number(_)) | None => None,
    };
    let limit = match (limit, default_limit) {
        (Some(StatedLimit::Number(number)), _) => Limit::Number(number),
        (Some(StatedLimit::Baseline), _) | (None, Some(Limit::Baseline { .. })) => {
            Limit::Baseline {
                otherwise: stated.otherwise.or(default_otherwise),
            }
        }
        (None, Some(default)) => default,
        (None, None) => {
            return Err((
                key,
                format!("{} has no threshold", spec.name),
                format!("write {key}"),
            ));
        }
    };
    if let (Limit::Number(_), Some(_)) = (limit, stated.otherwise) {
        let help = format!("remove it, or write {key}: baseline");
        return Err((
            "otherwise",
            "otherwise has no effect with a number".to_owned(),
            help,
        ));
    }
    match limit {
        Limit::Number(number) => lies_within(spec, key, number)?,
        Limit::Baseline {
            otherwise: Some(number),
        } => lies_within(spec, "otherwise", number)?,
        Limit::Baseline { otherwise: None } => {}
    }
    let gate = Gate::Threshold {
        side,
        limit,
        strictness: strictness(
            spec,
            side,
            default.map(|(_, strictness)| strictness),
            stated,
        )?,
    };
    can_fail(spec, &gate)?;
    Ok(gate)
}

/// Checks that the metric can reach the limit: shares within 0..1, counts at least 0, points within the rubric.
fn lies_within(spec: &MetricSpec, key: &'static str, number: f64) -> Result<(), GateRejection> {
    let greatest = spec.greatest();
    if (0.0..=greatest).contains(&number) {
        return Ok(());
    }
    let message = match (spec.unit, greatest.is_finite()) {
        (Unit::Share, _) => format!(
            "{key} is {number}: {} is a share between 0 and 1",
            spec.name
        ),
        (Unit::Count | Unit::Points | Unit::Spread | Unit::Dollars, true) => {
            format!(
                "{key} is {number}: {} lies between 0 and {greatest}",
                spec.name
            )
        }
        (Unit::Count | Unit::Points | Unit::Spread | Unit::Dollars, false) => {
            format!("{key} is {number}: {} is never negative", spec.name)
        }
    };
    let percent = spec.unit == Unit::Share && number > 1.0 && number <= 100.0;
    let help = match (percent, greatest.is_finite()) {
        (true, _) => format!("did you mean {}?", number / 100.0),
        (false, true) => format!("write a number from 0 to {greatest}"),
        (false, false) => "write 0 or more".to_owned(),
    };
    Err((key, message, help))
}

/// Refuses a gate that every value passes, because it measures nothing; `off` is the explicit way.
fn can_fail(spec: &MetricSpec, gate: &Gate) -> Result<(), GateRejection> {
    let greatest = spec.greatest();
    let never = match *gate {
        Gate::Threshold {
            side: LimitSide::Min,
            limit: Limit::Number(number),
            strictness,
        } => number <= strictness.zone(),
        Gate::Threshold {
            side: LimitSide::Max,
            limit: Limit::Number(number),
            strictness,
        } => greatest - number <= strictness.zone(),
        Gate::Threshold {
            limit: Limit::Baseline { .. },
            ..
        } => false,
        Gate::Change { tolerance, .. } => tolerance >= greatest,
    };
    if !never {
        return Ok(());
    }
    Err((
        gate.kind().as_str(),
        format!("no value of {} can fail this gate", spec.name),
        "write a limit that a value can miss, or disable the gate: { off: true, reason: ... }"
            .to_owned(),
    ))
}

/// The widest zone that a config accepts: a count has no greatest value, so that its band has none either.
pub fn widest_zone(unit: Unit) -> f64 {
    match unit {
        Unit::Points => 6.0,
        Unit::Share | Unit::Spread => 0.5,
        Unit::Count | Unit::Dollars => f64::INFINITY,
    }
}

fn strictness(
    spec: &MetricSpec,
    side: LimitSide,
    default: Option<Strictness>,
    stated: &StatedGate,
) -> Result<Strictness, GateRejection> {
    let widest = widest_zone(spec.unit);
    if let Some(zone) = stated.zone.filter(|zone| !(0.0..=widest).contains(zone)) {
        let help = if widest.is_finite() {
            format!("write a number from 0 to {widest}")
        } else {
            "write 0 or more".to_owned()
        };
        return Err(("zone", format!("zone is {zone}"), help));
    }
    if default == Some(Strictness::Open) {
        return Ok(Strictness::Open);
    }
    let zone = stated.zone.or(default.map(Strictness::zone)).unwrap_or(0.0);
    if stated.hard.unwrap_or(default == Some(Strictness::Hard)) {
        return match stated.in_zone {
            None => Ok(Strictness::Hard),
            Some(_) => Err(without_band("a hard gate has no band")),
        };
    }
    match stated.in_zone {
        None => Ok(Strictness::Band(zone)),
        Some(_) if zone <= 0.0 => Err(without_band("the gate has no band")),
        Some(band) => Ok(Strictness::ComparedBand {
            zone,
            tolerance: tolerance(spec, side, band)?,
        }),
    }
}

fn without_band(why: &str) -> GateRejection {
    let help = "add zone: the width of the band, and hard: false if the gate is hard";
    let message = format!("in_zone has no effect: {why}");
    ("in_zone", message, help.to_owned())
}

/// How much worse than the baseline a value in the band may be.
fn tolerance(spec: &MetricSpec, side: LimitSide, band: StatedBand) -> Result<f64, GateRejection> {
    let StatedBand { max_drop, max_rise } = band;
    let (key, number, opposite) = match side {
        LimitSide::Min => ("max_drop", max_drop, max_rise),
        LimitSide::Max => ("max_rise", max_rise, max_drop),
    };
    match (number, opposite) {
        (Some(number), None) => {
            lies_within(spec, "in_zone", number)?;
            Ok(number)
        }
        (None, _) | (_, Some(_)) => {
            let message = "in_zone does not fit the gate".to_owned();
            Err((
                "in_zone",
                message,
                format!("write in_zone: {{ {key}: NUMBER }}"),
            ))
        }
    }
}

#[cfg(test)]
mod tests;
