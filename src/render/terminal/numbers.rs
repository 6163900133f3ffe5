//! The table of numbers: those that moved or failed, or all of them.

use comfy_table::{Attribute, Cell, Color, ColumnConstraint, Table};

use super::frame::{WIDE, on_screen, right, suite_name};
use super::wrapping::wrapped;
use crate::model::{AgentReport, MetricReport, Report, Ruling, Unit, Verdict, metric_value};
use crate::render::number::{ValueDirection, direction_of};
use crate::render::plain::line;
use crate::render::screen::{Detail, Screen};
use crate::render::{judges, number, words};

/// The number of metrics that moved without a failed gate and are shown.
const MOVED: usize = 20;

/// Columns after the name that are not wrapped: two numbers, their difference and the verdict, with the space between all columns.
const FIXED: u16 = 44;

/// The table; `None` if no number moved and no gate failed.
pub(super) fn numbers(report: &Report, screen: Screen) -> Option<String> {
    let mut table = Table::new();
    on_screen(&mut table, screen);
    let mut header = vec!["", "baseline", "now", "delta", "verdict"];
    header.extend((screen.columns >= WIDE).then_some("gate"));
    let columns = header.len();
    table.set_header(header);
    let names = usize::from(screen.columns.saturating_sub(FIXED) / 5 * 3).clamp(16, 48);
    let mut left = MOVED;
    let mut folded = 0;
    for (suite, agent) in report.suite_agents() {
        let metrics: Vec<&MetricReport> = match screen.detail {
            Detail::Everything => agent
                .metrics
                .iter()
                .filter(|metric| !metric.is_silent())
                .collect(),
            Detail::Changes | Detail::Verdict => changed(agent, &mut left, &mut folded),
        };
        let judges = if screen.detail == Detail::Everything {
            agent.judges.as_slice()
        } else {
            &[]
        };
        if metrics.is_empty() && judges.is_empty() {
            continue;
        }
        let name = wrapped(
            &format!("{}/{}", suite_name(report, suite), agent.agent),
            names,
        );
        table.add_row(vec![Cell::new(name).add_attribute(Attribute::Bold)]);
        for metric in metrics {
            for row in rows(metric, names) {
                add(&mut table, row, columns);
            }
        }
        for judge in judges {
            let [baseline, current, delta] = judges::numbers(judge);
            let row = vec![
                Cell::new(indented(&judges::row_name(judge), names)),
                right(metric_value(Unit::Share, baseline)),
                right(metric_value(Unit::Share, current)),
                right(number::delta(Unit::Share, delta)),
                Cell::new(judges::standing_word(judge)).fg(Color::DarkGrey),
                Cell::new(judges::ADVISORY),
            ];
            add(&mut table, row, columns);
        }
    }
    for index in 0..5 {
        let column = table.column_mut(index)?;
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    (table.row_count() > 0).then(|| match folded {
        0 => table.to_string(),
        _ => format!(
            "{table}\n… and {}; -v shows them",
            words::plural(folded, "more number", "more numbers")
        ),
    })
}

/// The metrics whose number moved, or with a gate that does not simply pass. Without a baseline every number is new.
fn changed<'a>(
    agent: &'a AgentReport,
    left: &mut usize,
    folded: &mut usize,
) -> Vec<&'a MetricReport> {
    let is_new = agent
        .metrics
        .iter()
        .all(|metric| metric.comparison.baseline.is_none());
    let mut shown = Vec::new();
    for metric in agent.metrics.iter().filter(|metric| !metric.is_silent()) {
        let is_plain = metric
            .gates
            .iter()
            .all(|gate| passes(&gate.ruling) && gate.base_commit.is_none());
        match (is_plain, direction_of(metric)) {
            (true, ValueDirection::Same) if !is_new => {}
            (true, _) if *left == 0 => *folded += 1,
            (true, _) => {
                *left -= 1;
                shown.push(metric);
            }
            (false, _) => shown.push(metric),
        }
    }
    shown
}

fn passes(ruling: &Ruling) -> bool {
    match ruling {
        Ruling::Judged(Verdict::Pass) | Ruling::Skipped(_) | Ruling::Off(_) => true,
        Ruling::Judged(Verdict::Fail | Verdict::Inconclusive) => false,
    }
}

/// Adds a row without the columns that the screen has no room for.
fn add(table: &mut Table, mut row: Vec<Cell>, columns: usize) {
    row.truncate(columns);
    table.add_row(row);
}

/// One row per gate; a metric without a gate has one row.
fn rows(metric: &MetricReport, names: usize) -> Vec<Vec<Cell>> {
    let delta = number::change(metric);
    let first = vec![
        Cell::new(indented(&metric.name, names)),
        right(metric_value(metric.unit, metric.comparison.baseline)),
        right(words::value(metric)),
        right(delta).fg(colour(direction_of(metric))),
    ];
    if metric.gates.is_empty() {
        return vec![first];
    }
    let mut rows = Vec::new();
    for (index, gate) in metric.gates.iter().enumerate() {
        let mut row = if index == 0 {
            first.clone()
        } else {
            vec![Cell::new(""); 4]
        };
        row.push(verdict(&gate.ruling));
        let limit = words::gate_with(metric, gate, |branch| line(branch, words::NAME));
        row.push(Cell::new(limit));
        rows.push(row);
    }
    rows
}

fn colour(direction: ValueDirection) -> Color {
    match direction {
        ValueDirection::Better => Color::Green,
        ValueDirection::Worse => Color::Red,
        ValueDirection::Other | ValueDirection::Same => Color::Reset,
    }
}

fn verdict(ruling: &Ruling) -> Cell {
    let cell = Cell::new(ruling.as_str());
    match ruling {
        Ruling::Judged(Verdict::Pass) => cell.fg(Color::Green),
        Ruling::Judged(Verdict::Inconclusive) => cell.fg(Color::Yellow),
        Ruling::Judged(Verdict::Fail) => cell.fg(Color::Red).add_attribute(Attribute::Bold),
        Ruling::Skipped(_) | Ruling::Off(_) => cell.fg(Color::DarkGrey),
    }
}

fn indented(name: &str, columns: usize) -> String {
    wrapped(name, columns.saturating_sub(2))
        .lines()
        .map(|part| format!("  {part}"))
        .collect::<Vec<_>>()
        .join("\n")
}
