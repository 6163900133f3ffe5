//! Operating characteristics as text: how often the gates of a suite fail by chance, and how often they detect a drop.

use comfy_table::{Cell, ColumnConstraint, Table};

use super::plain::{line, put};
use super::terminal::plain_table;
use super::words;
use crate::gate::GatedMetric;
use crate::gate::operating::{
    Advice, Basis, DROP, GateAdvice, GateRates, HardGates, OperatingEstimate, Rates,
};
use crate::model::{AgentReport, Gate, Limit, Strictness, SuiteId};

pub struct SuiteOperating<'a> {
    pub suite: &'a SuiteId,
    /// Its agents, as in the estimates.
    pub agents: Vec<&'a AgentReport>,
    /// The number of samples per case as recorded.
    pub recorded: usize,
    /// The estimates by number of samples per case.
    pub estimates: Vec<(usize, OperatingEstimate)>,
    /// Gates and samples with few false alarms, without changes of hard gates.
    pub advice: Option<Advice>,
    /// The same with changes of hard gates.
    pub hard_advice: Option<Advice>,
}

/// The table of all suites and what follows from it, for a terminal of this width.
pub fn operating_table(suites: &[SuiteOperating<'_>], width: u16) -> String {
    let mut out = String::new();
    if suites.is_empty() {
        return out;
    }
    let known: Vec<&SuiteOperating<'_>> = suites.iter().filter(|suite| is_known(suite)).collect();
    if let Some(first) = known.first() {
        put(&mut out, &table_of(first, &known, width));
    }
    for suite in suites {
        sentences(suite)
            .iter()
            .for_each(|sentence| put(&mut out, sentence));
    }
    put(&mut out, "");
    out
}

/// The table, with its heading.
fn table_of(first: &SuiteOperating<'_>, suites: &[&SuiteOperating<'_>], width: u16) -> String {
    let mut out = String::new();
    let drop = (DROP * 100.0).round();
    put(
        &mut out,
        "How often each gate fails, by samples per case. Left of the slash: an unchanged",
    );
    put(
        &mut out,
        &format!(
            "agent that is recorded again. Right: after a drop of {drop} points (the agent gets"
        ),
    );
    put(
        &mut out,
        "everything wrong in a tenth of the cases). ~: about.",
    );
    let mut table = plain_table(width);
    let samples = first
        .estimates
        .iter()
        .map(|(samples, _)| words::plural(*samples, "sample", "samples"));
    table.set_header(["gate".to_owned()].into_iter().chain(samples));
    for suite in suites {
        rows(&mut table, suite);
    }
    // The names of the gates share what the numbers leave.
    for column in 1..=first.estimates.len() {
        if let Some(rates) = table.column_mut(column) {
            rates.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    out.push_str(&table.to_string());
    out
}

/// Whether there is an estimate for any number of samples.
fn is_known(suite: &SuiteOperating<'_>) -> bool {
    suite
        .estimates
        .iter()
        .any(|(_, estimate)| estimate.rates().is_some())
}

/// One sentence per suite: the rates with the recorded number of samples.
pub fn operating_sentence(suite: &SuiteOperating<'_>) -> String {
    let id = suite.suite;
    match recorded_estimate(suite) {
        Some(OperatingEstimate::Rates(found)) => format!(
            "{id}: with {}, an unchanged agent would be blocked in {} of re-recordings; a drop of {} points is caught in {}",
            words::plural(suite.recorded, "sample per case", "samples per case"),
            about(found.basis, found.suite.false_alarms),
            (DROP * 100.0).round(),
            about(found.basis, found.suite.detection)
        ),
        Some(other) => format!("{id}: {}", missing(suite.recorded, other)),
        None => format!("{id}: no samples are recorded"),
    }
}

/// One line per suite with rates, and one for all the others.
pub fn rates_list(suites: &[SuiteOperating<'_>]) -> String {
    let (known, unknown): (Vec<_>, Vec<_>) = suites.iter().partition(|suite| is_known(suite));
    let mut out = String::new();
    known
        .iter()
        .for_each(|suite| put(&mut out, &format!("{}.", operating_sentence(suite))));
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.iter().map(|suite| suite.suite.as_str()).collect();
        let why =
            "too few recorded samples to estimate how often an unchanged agent would be blocked";
        put(&mut out, &format!("{}: {why}", names.join(", ")));
    }
    out
}

/// A rate in whole percent, with its precision: `about 50%`.
pub fn about(basis: Basis, rate: f64) -> String {
    match basis {
        Basis::Dealt => words::whole_percent(rate),
        Basis::Pooled => format!("about {}", words::whole_percent(rate)),
    }
}

/// The first words of the comment on gates that `goldgate calibrate --write` changed.
pub const CALIBRATED: &str = "goldgate calibrate:";

/// Why gates are as they are.
pub fn reason(suite: &SuiteOperating<'_>, advice: &Advice) -> String {
    let before = recorded_rates(suite).map_or(String::new(), |(basis, rates)| {
        format!(
            " ({} before, caught in {})",
            about(basis, rates.false_alarms),
            about(basis, rates.detection)
        )
    });
    format!(
        "with {}, an unchanged agent fails in {} of re-recordings, a drop of {} points is caught in {}{before}",
        words::plural(advice.samples, "sample per case", "samples per case"),
        about(advice.basis, advice.rates.false_alarms),
        (DROP * 100.0).round(),
        about(advice.basis, advice.rates.detection)
    )
}

/// One changed gate, with its new value.
pub fn change_line(
    suite: &SuiteOperating<'_>,
    change: &GateAdvice,
    metrics: &[GatedMetric],
) -> String {
    let metric = &metrics[change.metric];
    let present = metric
        .gates
        .get(change.index)
        .map_or(&change.gate, |planned| &planned.gate);
    let (old, new) = (
        gate_yaml(present, present),
        gate_yaml(present, &change.gate),
    );
    format!("{}: {} {old} becomes {new}", suite.suite, metric.spec.name)
}

/// Why the gates of a suite stay as they are.
pub fn unchanged_line(
    suite: &SuiteOperating<'_>,
    advice: Option<&Advice>,
    hard: HardGates,
) -> String {
    let sentence = match recorded_estimate(suite) {
        Some(OperatingEstimate::Rates(_)) => operating_sentence(suite),
        Some(other) => {
            let why = shortfall(suite.recorded, other);
            return format!(
                "{}: no gate was changed, because too few samples are recorded for an estimate: {why}",
                suite.suite
            );
        }
        None => {
            return format!(
                "{}: no gate was changed, because no samples are recorded",
                suite.suite
            );
        }
    };
    let why = match (advice, hard) {
        (Some(_), _) => "no gate needs a change",
        (None, HardGates::Keep) => {
            "the false alarms stay above 5% unless hard gates change: record more samples, or use `goldgate calibrate --write --hard-too`"
        }
        (None, HardGates::Change) => "no change of the gates brings the false alarms down to 5%",
    };
    format!("{sentence}: {why}")
}

/// The estimate for the recorded number of samples.
fn recorded_estimate<'a>(suite: &'a SuiteOperating<'_>) -> Option<&'a OperatingEstimate> {
    suite
        .estimates
        .iter()
        .find(|(samples, _)| *samples == suite.recorded)
        .map(|(_, estimate)| estimate)
}

fn recorded_rates(suite: &SuiteOperating<'_>) -> Option<(Basis, Rates)> {
    recorded_estimate(suite)?
        .rates()
        .map(|found| (found.basis, found.suite))
}

fn rows(table: &mut Table, suite: &SuiteOperating<'_>) {
    let cells = |name: String, of: &dyn Fn(&OperatingEstimate) -> Option<(Basis, Rates)>| {
        let rates = suite
            .estimates
            .iter()
            .map(|(_, estimate)| Cell::new(of(estimate).map_or("–".to_owned(), rate_cell)));
        [Cell::new(name)]
            .into_iter()
            .chain(rates)
            .collect::<Vec<Cell>>()
    };
    let all =
        |estimate: &OperatingEstimate| estimate.rates().map(|found| (found.basis, found.suite));
    table.add_row(cells(format!("{} (all gates)", suite.suite), &all));
    for (index, agent) in suite.agents.iter().enumerate() {
        for (metric, gate) in failing_gates(suite, index) {
            let Some(report) = agent.metrics.get(metric) else {
                continue;
            };
            let limit = report
                .gates
                .get(gate)
                .map_or(String::new(), |gate| words::limit(report, gate));
            let name = format!("  {} {} {limit}", agent.agent, line(&report.name, 60));
            table.add_row(cells(name, &|estimate| {
                let found = rates_of(estimate, index)
                    .iter()
                    .find(|one| (one.metric, one.index) == (metric, gate))?;
                Some((estimate.rates()?.basis, found.rates))
            }));
        }
    }
}

/// The gates of an agent that fail by chance with any number of samples.
fn failing_gates(suite: &SuiteOperating<'_>, agent: usize) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = suite
        .estimates
        .iter()
        .flat_map(|(_, estimate)| rates_of(estimate, agent))
        .filter(|one| one.rates.false_alarms > 0.0)
        .map(|one| (one.metric, one.index))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn rates_of(estimate: &OperatingEstimate, agent: usize) -> &[GateRates] {
    estimate
        .rates()
        .and_then(|found| found.agents.get(agent))
        .map_or(&[], Vec::as_slice)
}

fn rate_cell(
    (
        basis,
        Rates {
            false_alarms,
            detection,
        },
    ): (Basis, Rates),
) -> String {
    let mark = match basis {
        Basis::Dealt => "",
        Basis::Pooled => "~",
    };
    format!(
        "{mark}{}/{mark}{}",
        words::whole_percent(false_alarms),
        words::whole_percent(detection)
    )
}

fn missing(samples: usize, estimate: &OperatingEstimate) -> String {
    let what = words::plural(samples, "sample per case", "samples per case");
    format!(
        "too few samples are recorded for an estimate with {what}: {}",
        shortfall(samples, estimate)
    )
}

/// What an estimate lacks; empty if it has rates.
fn shortfall(samples: usize, estimate: &OperatingEstimate) -> String {
    match estimate {
        OperatingEstimate::TooFew {
            enough,
            cases,
            needed,
        } => {
            format!("{enough} of {cases} cases have the {needed} samples that it needs")
        }
        OperatingEstimate::FewCases(cases) => {
            let cases = words::plural(*cases, "case", "cases");
            format!("with {cases}, it needs {} samples of each", 2 * samples)
        }
        OperatingEstimate::Rates(_) => String::new(),
    }
}

/// What the rates mean, what is missing, and what would help.
fn sentences(suite: &SuiteOperating<'_>) -> Vec<String> {
    let mut all = vec![format!("{}.", operating_sentence(suite))];
    if !is_known(suite) {
        return all;
    }
    let others = suite
        .estimates
        .iter()
        .filter(|(samples, _)| *samples != suite.recorded);
    let lacking = others.filter(|(_, estimate)| estimate.rates().is_none());
    all.extend(
        lacking.map(|(samples, estimate)| {
            format!("{}: {}.", suite.suite, missing(*samples, estimate))
        }),
    );
    let pooled = suite.estimates.iter().find(|(_, estimate)| {
        estimate
            .rates()
            .is_some_and(|found| found.basis == Basis::Pooled)
    });
    if let Some((samples, _)) = pooled {
        let rates = words::plural(*samples, "sample per case", "samples per case");
        let needed = words::plural(2 * samples, "sample", "samples");
        all.push(format!(
            "{}: the rates for {rates} are approximate; record {needed} per case for an estimate without bias.",
            suite.suite
        ));
    }
    all.extend(advised(suite));
    all
}

fn advised(suite: &SuiteOperating<'_>) -> Vec<String> {
    let id = suite.suite;
    match (&suite.advice, &suite.hard_advice) {
        (Some(found), _) => vec![format!(
            "{id}: at most 5% false alarms {}",
            advice_text(suite, found)
        )],
        (None, Some(found)) => vec![format!(
            "{id}: no change outside the hard gates gives at most 5% false alarms. With them: {}",
            advice_text(suite, found)
        )],
        (None, None) => vec![format!(
            "{id}: no change of the gates gives at most 5% false alarms."
        )],
    }
}

/// Samples, rates, and the gates to change, one metric a line with all its gates.
fn advice_text(suite: &SuiteOperating<'_>, found: &Advice) -> String {
    let Advice {
        samples,
        basis,
        gates,
        rates,
    } = found;
    let mut metrics: Vec<usize> = gates.iter().map(|one| one.metric).collect();
    metrics.dedup();
    let lines: Vec<String> = metrics
        .into_iter()
        .map(|metric| metric_line(suite, gates, metric))
        .collect();
    let (and, lines) = match lines.is_empty() {
        true => ("", ".".to_owned()),
        false => (" and these gates", format!(":\n{}", lines.join("\n"))),
    };
    format!(
        "with {}{and} ({} false alarms, a drop is caught in {}){lines}",
        words::plural(*samples, "sample per case", "samples per case"),
        about(*basis, rates.false_alarms),
        about(*basis, rates.detection)
    )
}

fn metric_line(suite: &SuiteOperating<'_>, changed: &[GateAdvice], metric: usize) -> String {
    let name = suite
        .agents
        .first()
        .and_then(|agent| agent.metrics.get(metric))
        .map_or("", |metric| &metric.name);
    let known = suite
        .estimates
        .iter()
        .map(|(_, estimate)| rates_of(estimate, 0))
        .find(|rates| !rates.is_empty());
    let present = known
        .unwrap_or_default()
        .iter()
        .filter(|one| one.metric == metric);
    let gates = present.map(|one| {
        let new = changed
            .iter()
            .find(|change| (change.metric, change.index) == (metric, one.index));
        gate_yaml(&one.gate, new.map_or(&one.gate, |change| &change.gate))
    });
    let gates: Vec<String> = gates.collect();
    match gates.as_slice() {
        [only] => format!("      {}: {only}", line(name, 60)),
        several => format!("      {}: [{}]", line(name, 60), several.join(", ")),
    }
}

/// A gate in the syntax of a config, in place of the present one.
fn gate_yaml(present: &Gate, gate: &Gate) -> String {
    let was_hard = matches!(
        present,
        Gate::Threshold {
            strictness: Strictness::Hard,
            ..
        }
    );
    match *gate {
        Gate::Threshold {
            limit, strictness, ..
        } => {
            let limit = match limit {
                Limit::Number(number) => number.to_string(),
                Limit::Baseline { .. } => "baseline".to_owned(),
            };
            let strictness = match strictness {
                Strictness::Hard => ", hard: true".to_owned(),
                Strictness::Band(zone) if was_hard => format!(", zone: {zone}, hard: false"),
                Strictness::Band(zone) => format!(", zone: {zone}"),
                Strictness::Open => String::new(),
            };
            format!("{{ {}: {limit}{strictness} }}", gate.kind())
        }
        Gate::Change { tolerance, .. } => format!("{{ {}: {tolerance} }}", gate.kind()),
    }
}
