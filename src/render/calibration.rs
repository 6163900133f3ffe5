//! The output of `goldgate calibrate`: a table of the gates, its assumptions, and the tolerances to paste into the config.

use comfy_table::{Cell, ColumnConstraint};
use std::collections::BTreeMap;

use super::plain::{line, put};
use super::terminal::{plain_table, right};
use super::words;
use crate::gate::calibration::{
    Alarms, CalibratedGate, CalibrationFinding, FEWEST, Proposal, has_zone,
};
use crate::gate::statistics::RepeatedMetric;
use crate::model::{Better, GateKind, GateRuling, SuiteId, Unit, metric_value};

/// The input of the output of `goldgate calibrate`.
pub struct Calibration {
    /// The gates, in the order of the report.
    pub gates: Vec<CalibratedGate>,
    /// Agents with runs that are left out, and the number of these runs.
    pub left_out: Vec<(String, usize)>,
    pub runs_are: RunsAre,
    /// The accepted share of runs in which an unchanged agent fails a gate, 0 to 1.
    pub rate: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsAre {
    /// Each sample number is a run.
    Samples {
        /// The largest number of samples per case.
        of: u32,
    },
    Reports {
        count: usize,
        /// Samples per case.
        samples: u32,
    },
}

/// The calibration as text for a terminal of this width.
pub fn calibration(calibration: &Calibration, width: u16) -> String {
    let mut out = String::new();
    let runs = match calibration.runs_are {
        RunsAre::Samples { .. } => "each sample counts as one run".to_owned(),
        RunsAre::Reports { count, .. } => format!("each of {count} reports counts as one run"),
    };
    put(
        &mut out,
        &format!(
            "goldgate calibrate · {runs} · accepted false alarms per gate: {} of the runs",
            metric_value(Unit::Share, Some(calibration.rate))
        ),
    );
    put(&mut out, &tables(&calibration.gates, width));
    write_summary(&mut out, calibration);
    snippet(&mut out, &calibration.gates);
    out
}

/// A narrower terminal gets the numbers and the gates in two tables.
const ONE_TABLE: u16 = 100;

/// The columns of what was measured, and of the gates.
const MEASURED: [&str; 5] = ["runs", "mean", "sd", "lowest", "highest"];
const GATES: [&str; 3] = ["current gate", "false alarms", "proposed"];

fn tables(gates: &[CalibratedGate], width: u16) -> String {
    let both = |one: &CalibratedGate| measured(one).into_iter().chain(judged(one)).collect();
    match width < ONE_TABLE {
        true => format!(
            "{}\n{}",
            table(gates, width, &MEASURED, &measured),
            table(gates, width, &GATES, &judged)
        ),
        false => table(gates, width, &[&MEASURED[..], &GATES].concat(), &both),
    }
}

fn table(
    gates: &[CalibratedGate],
    width: u16,
    columns: &[&str],
    cells: &dyn Fn(&CalibratedGate) -> Vec<Cell>,
) -> String {
    let mut table = plain_table(width);
    table.set_header([&["metric"], columns].concat());
    let mut last = None;
    for one in gates {
        let who = (&one.suite, &one.agent);
        if last != Some(who) {
            table.add_row(vec![Cell::new(format!("{}/{}", one.suite, one.agent))]);
        }
        last = Some(who);
        let name = Cell::new(format!("  {}", line(&one.metric.name, 60)));
        table.add_row([name].into_iter().chain(cells(one)));
    }
    if let Some(metrics) = table.column_mut(0) {
        metrics.set_constraint(ColumnConstraint::ContentWidth);
    }
    table.to_string()
}

/// The number of runs, their mean, deviation and range.
fn measured(one: &CalibratedGate) -> Vec<Cell> {
    let unit = one.metric.unit;
    let value = |value| right(metric_value(unit, value));
    let mut cells = vec![right(one.values.len().to_string())];
    match &one.finding {
        CalibrationFinding::NoSpread => {
            cells.extend([
                value(one.values.first().copied()),
                value(None),
                value(None),
                value(None),
            ]);
        }
        CalibrationFinding::Spread { runs, .. } => {
            let (low, high) = runs.range();
            cells.extend([
                value(Some(runs.mean())),
                right(words::spread(unit, runs.deviation())),
            ]);
            cells.extend([value(Some(low)), value(Some(high))]);
        }
    }
    cells
}

/// The present gate, its false alarms, and the proposed one.
fn judged(one: &CalibratedGate) -> Vec<Cell> {
    let gate = one
        .gate
        .as_ref()
        .map_or("none".to_owned(), |gate| words::limit(&one.metric, gate));
    let (alarms, proposal) = match &one.finding {
        CalibrationFinding::NoSpread => ("–".to_owned(), "too few runs".to_owned()),
        CalibrationFinding::Spread {
            alarms, proposal, ..
        } => (seen(*alarms), proposed(one, *proposal)),
    };
    vec![Cell::new(gate), Cell::new(alarms), Cell::new(proposal)]
}

fn seen(alarms: Option<Alarms>) -> String {
    alarms.map_or("–".to_owned(), |Alarms { rate, seen, of }| {
        format!("{} ({seen} of {of})", metric_value(Unit::Share, Some(rate)))
    })
}

fn proposed(one: &CalibratedGate, proposal: Proposal) -> String {
    match proposal {
        Proposal::Width(width) => format!("{}: {width}", key(one)),
        Proposal::TooFew => "too few runs".to_owned(),
        Proposal::Steady => "did not vary".to_owned(),
        Proposal::Hard => "none: hard".to_owned(),
        Proposal::TooNoisy(width) => format!("none: {width} would be needed"),
    }
}

/// The config key of the proposed tolerance.
fn key(one: &CalibratedGate) -> &'static str {
    match (&one.gate, one.metric.better) {
        (Some(gate), _) if has_zone(gate) => "zone",
        (Some(gate), _) if gate.gate == GateKind::MaxRise => "max_rise",
        (Some(_), _) | (None, Better::Higher | Better::Neither) => "max_drop",
        (None, Better::Lower) => "max_rise",
    }
}

/// What the numbers rest on, and what is missing.
fn write_summary(out: &mut String, calibration: &Calibration) {
    for (who, count) in &calibration.left_out {
        put(
            out,
            &format!(
                "{who}: {} left out, because a sample is missing",
                words::plural(*count, "run is", "runs are")
            ),
        );
    }
    let spreads = || {
        calibration
            .gates
            .iter()
            .filter_map(|one| match &one.finding {
                CalibrationFinding::Spread { runs, proposal, .. } => Some((one, runs, proposal)),
                CalibrationFinding::NoSpread => None,
            })
    };
    if calibration
        .gates
        .iter()
        .any(|one| one.finding == CalibrationFinding::NoSpread)
    {
        put(
            out,
            "One run has no spread. Record more samples, or pass the folders of several runs.",
        );
    }
    let fewest: Option<&RepeatedMetric> = spreads()
        .map(|(_, runs, _)| runs)
        .min_by_key(|runs| runs.count());
    if let Some(runs) = fewest {
        put(
            out,
            &format!(
                "The next run falls between the lowest and the highest of these {} runs with a probability of {}, whatever their \
             distribution. Proposals beyond that range assume a normal distribution.",
                runs.count(),
                metric_value(Unit::Share, Some(runs.inside()))
            ),
        );
    }
    if spreads().any(|(.., proposal)| *proposal == Proposal::TooFew) {
        put(
            out,
            &format!(
                "Fewer than {FEWEST} runs are too few for a proposal; only their mean and range are shown."
            ),
        );
    }
    if let Some((_, runs, _)) = spreads().find(|(.., proposal)| **proposal == Proposal::Steady) {
        put(
            out,
            &format!(
                "A metric that did not vary in {} runs may still vary in up to {} of future runs (95% confidence). These runs \
             suggest no tolerance for its gate.",
                runs.count(),
                metric_value(Unit::Share, Some(runs.at_most_differs()))
            ),
        );
    }
    if let RunsAre::Samples { of: 2.. } = calibration.runs_are {
        let less = "Each run has one sample per case, so it varies more than the median of several samples that a gate uses. For \
                    that, calibrate with several reports that have as many samples as the gate.";
        put(out, less);
    }
    put(
        out,
        "The false alarm rate is per gate: with several gates, false alarms add up.",
    );
}

/// The gates whose tolerance would change, by suite and metric. All agents of a suite get the largest one.
fn snippet(out: &mut String, gates: &[CalibratedGate]) {
    let mut suites: BTreeMap<&SuiteId, BTreeMap<&str, Vec<&CalibratedGate>>> = BTreeMap::new();
    for one in gates.iter().filter(|one| one.gate.is_some()) {
        suites
            .entry(&one.suite)
            .or_default()
            .entry(&one.metric.name)
            .or_default()
            .push(one);
    }
    let mut lines = String::new();
    for (suite, metrics) in suites {
        let stated: Vec<String> = metrics
            .into_iter()
            .filter_map(|(metric, all)| gates_yaml(metric, &all))
            .collect();
        if !stated.is_empty() {
            lines.push_str(&format!(
                "  # suite {suite}\n    gates:\n{}",
                stated.concat()
            ));
        }
    }
    match lines.is_empty() {
        true => put(out, "\nNo gate would change."),
        false => out.push_str(&format!(
            "\nPaste this into the config, and keep the other keys of these metrics. The agent with the largest tolerance \
             decides:\n\n{lines}"
        )),
    }
}

/// One metric's gates as YAML for the config; `None` if nothing changes or an agent has no proposal.
fn gates_yaml(metric: &str, all: &[&CalibratedGate]) -> Option<String> {
    let first = &all.first()?.agent;
    let count = all.iter().filter(|one| one.agent == *first).count();
    let (mut changes, mut gates) = (false, Vec::new());
    for index in 0..count {
        let same: Vec<&&CalibratedGate> = all.iter().skip(index).step_by(count).collect();
        let gate = same.first()?.gate.as_ref().filter(|gate| !gate.is_off())?;
        let mut widest: Option<f64> = None;
        for one in &same {
            let CalibrationFinding::Spread { proposal, .. } = &one.finding else {
                return None;
            };
            match proposal {
                Proposal::Width(width) => widest = Some(widest.unwrap_or(0.0).max(*width)),
                Proposal::Hard | Proposal::Steady => {}
                Proposal::TooFew | Proposal::TooNoisy(_) => return None,
            }
        }
        let present = if has_zone(gate) {
            gate.zone
        } else {
            gate.threshold.unwrap_or_default()
        };
        changes |= widest.is_some_and(|width| width != present);
        gates.push(yaml(gate, widest.unwrap_or(present)));
    }
    let gates = if let [only] = gates.as_slice() {
        only.clone()
    } else {
        format!("[{}]", gates.join(", "))
    };
    changes.then(|| format!("      {}: {gates}\n", line(metric, 60)))
}

fn yaml(gate: &GateRuling, width: f64) -> String {
    let limit = match (gate.from_baseline, gate.threshold) {
        (false, Some(threshold)) => threshold.to_string(),
        (true, _) | (_, None) => "baseline".to_owned(),
    };
    match (has_zone(gate), gate.hard) {
        (true, true) => format!("{{ {}: {limit}, hard: true }}", gate.gate),
        (true, false) => format!("{{ {}: {limit}, zone: {width} }}", gate.gate),
        (false, _) => format!("{{ {}: {width} }}", gate.gate),
    }
}
