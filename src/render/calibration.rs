//! What repeated runs say of the gates: a table, what it rests on, and what to paste.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, Table};
use std::collections::BTreeMap;

use super::plain::{line, put};
use super::terminal::plain_style;
use super::words;
use crate::gate::calibration::{Alarms, CalibratedGate, CalibrationFinding, FEWEST, Proposal, has_zone};
use crate::gate::statistics::RepeatedMetric;
use crate::model::{Better, GateKind, GateRuling, SuiteId, Unit, metric_value};

/// Everything that is said.
pub struct Calibration {
    /// The gates, in the order of the report.
    pub gates: Vec<CalibratedGate>,
    /// Agents with runs that are left out, and how many.
    pub left_out: Vec<(String, usize)>,
    /// What a run is.
    pub runs_are: RunsAre,
    /// How often an unchanged agent may fail.
    pub rate: f64,
}

/// What a run of the agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsAre {
    /// Each sample number of the cases, of this many at most.
    Samples {
        /// Samples a case.
        of: u32,
    },
    /// Each report, with this many samples a case.
    Reports {
        /// How many.
        count: usize,
        /// Samples a case.
        samples: u32,
    },
}

/// The calibration as text.
pub fn calibration(calibration: &Calibration, width: u16) -> String {
    let mut out = String::new();
    let runs = match calibration.runs_are {
        RunsAre::Samples { .. } => "each sample is a run of the agent".to_owned(),
        RunsAre::Reports { count, .. } => format!("each of {count} reports is a run of the agent"),
    };
    put(
        &mut out,
        &format!(
            "goldgate calibrate · {runs} · an unchanged agent may fail a gate in {} of its runs",
            metric_value(Unit::Share, Some(calibration.rate))
        ),
    );
    put(&mut out, &table(&calibration.gates, width));
    write_summary(&mut out, calibration);
    snippet(&mut out, &calibration.gates);
    out
}

fn table(gates: &[CalibratedGate], width: u16) -> String {
    let mut table = Table::new();
    plain_style(&mut table, width);
    table.force_no_tty();
    table.set_header(["metric", "runs", "mean", "sd", "lowest", "highest", "present gate", "false alarms", "proposed"]);
    let mut last = None;
    for one in gates {
        let who = (&one.suite, &one.agent);
        if last != Some(who) {
            table.add_row(vec![Cell::new(format!("{}/{}", one.suite, one.agent))]);
        }
        last = Some(who);
        table.add_row(row(one));
    }
    if let Some(metrics) = table.column_mut(0) {
        metrics.set_constraint(ColumnConstraint::ContentWidth);
    }
    table.to_string()
}

fn row(one: &CalibratedGate) -> Vec<Cell> {
    let unit = one.metric.unit;
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let value = |value| right(metric_value(unit, value));
    let gate = one.gate.as_ref().map_or("none".to_owned(), |gate| words::gate(&one.metric, gate));
    let mut cells = vec![Cell::new(format!("  {}", line(&one.metric.name, 60))), right(one.values.len().to_string())];
    match &one.finding {
        CalibrationFinding::NoSpread => {
            cells.extend([value(one.values.first().copied()), value(None), value(None), value(None)]);
            cells.extend([Cell::new(gate), Cell::new("–"), Cell::new("too few runs")]);
        }
        CalibrationFinding::Spread { runs, alarms, proposal } => {
            let (low, high) = runs.range();
            cells.extend([value(Some(runs.mean())), right(words::spread(unit, runs.deviation()))]);
            cells.extend([value(Some(low)), value(Some(high)), Cell::new(gate)]);
            cells.extend([Cell::new(seen(*alarms)), Cell::new(proposed(one, *proposal))]);
        }
    }
    cells
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

/// The key of the config that the width belongs to.
fn key(one: &CalibratedGate) -> &'static str {
    match (&one.gate, one.metric.better) {
        (Some(gate), _) if has_zone(gate) => "zone",
        (Some(gate), _) if gate.gate == GateKind::MaxRise => "max_rise",
        (Some(_), _) | (None, Better::Higher | Better::Neither) => "max_drop",
        (None, Better::Lower) => "max_rise",
    }
}

/// What the runs can say, and what they cannot.
fn write_summary(out: &mut String, calibration: &Calibration) {
    for (who, count) in &calibration.left_out {
        put(
            out,
            &format!("{who}: {} left out, because a sample was lost", words::plural(*count, "run is", "runs are")),
        );
    }
    let spreads = || {
        calibration.gates.iter().filter_map(|one| match &one.finding {
            CalibrationFinding::Spread { runs, proposal, .. } => Some((one, runs, proposal)),
            CalibrationFinding::NoSpread => None,
        })
    };
    if calibration.gates.iter().any(|one| one.finding == CalibrationFinding::NoSpread) {
        put(out, "One run has no spread: record more samples, or give the folders of several runs.");
    }
    let fewest: Option<&RepeatedMetric> = spreads().map(|(_, runs, _)| runs).min_by_key(|runs| runs.count());
    if let Some(runs) = fewest {
        put(
            out,
            &format!(
                "Of {} runs, whatever their distribution: a further one lies between the lowest and the highest with {}. \
             Proposals beyond the range take the runs to be about normal.",
                runs.count(),
                metric_value(Unit::Share, Some(runs.inside()))
            ),
        );
    }
    if spreads().any(|(.., proposal)| *proposal == Proposal::TooFew) {
        put(out, &format!("Fewer than {FEWEST} runs propose nothing: their mean and range are what can be said."));
    }
    if let Some((_, runs, _)) = spreads().find(|(.., proposal)| **proposal == Proposal::Steady) {
        put(
            out,
            &format!(
                "What did not vary in {} runs may still differ in up to {} of further ones (95% confidence); its gate needs \
             no tolerance that these runs could show.",
                runs.count(),
                metric_value(Unit::Share, Some(runs.at_most_differs()))
            ),
        );
    }
    if let RunsAre::Samples { of: 2.. } = calibration.runs_are {
        let less = "Each run is a single sample a case: a gate on the median of several samples sees less noise than this. \
                    Several reports with as many samples as the gate has would tell how much.";
        put(out, less);
    }
    put(out, "Each gate by itself fails so seldom; of several gates one fails more often.");
}

/// The gates whose width would change, by suite and metric: one width for all agents of a suite, the largest.
fn snippet(out: &mut String, gates: &[CalibratedGate]) {
    let mut suites: BTreeMap<&SuiteId, BTreeMap<&str, Vec<&CalibratedGate>>> = BTreeMap::new();
    for one in gates.iter().filter(|one| one.gate.is_some()) {
        suites.entry(&one.suite).or_default().entry(&one.metric.name).or_default().push(one);
    }
    let mut lines = String::new();
    for (suite, metrics) in suites {
        let stated: Vec<String> = metrics.into_iter().filter_map(|(metric, all)| stated(metric, &all)).collect();
        if !stated.is_empty() {
            lines.push_str(&format!("  # suite {suite}\n    gates:\n{}", stated.concat()));
        }
    }
    match lines.is_empty() {
        true => put(out, "\nNo gate would change."),
        false => out.push_str(&format!(
            "\nTo paste; the widest of a suite's agents decides. What else the config states of these metrics stays beside \
             it:\n\n{lines}"
        )),
    }
}

/// One metric's gates as the config would state them; `None` where nothing changes or not every agent has a proposal.
fn stated(metric: &str, all: &[&CalibratedGate]) -> Option<String> {
    let first = &all.first()?.agent;
    let count = all.iter().filter(|one| one.agent == *first).count();
    let (mut changes, mut shown) = (false, Vec::new());
    for place in 0..count {
        let same: Vec<&&CalibratedGate> = all.iter().skip(place).step_by(count).collect();
        let gate = same.first()?.gate.as_ref().filter(|gate| !gate.is_off())?;
        let mut widest: Option<f64> = None;
        for one in &same {
            let CalibrationFinding::Spread { proposal, .. } = &one.finding else { return None };
            match proposal {
                Proposal::Width(width) => widest = Some(widest.unwrap_or(0.0).max(*width)),
                Proposal::Hard | Proposal::Steady => {}
                Proposal::TooFew | Proposal::TooNoisy(_) => return None,
            }
        }
        let present = if has_zone(gate) { gate.zone } else { gate.threshold.unwrap_or_default() };
        changes |= widest.is_some_and(|width| width != present);
        shown.push(yaml(gate, widest.unwrap_or(present)));
    }
    let shown = if let [only] = shown.as_slice() { only.clone() } else { format!("[{}]", shown.join(", ")) };
    changes.then(|| format!("      {}: {shown}\n", line(metric, 60)))
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
