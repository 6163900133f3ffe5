//! One line for each suite and agent: its cases, its gates, and the number that needs most attention.

use comfy_table::{Attribute, Cell, CellAlignment, Color, ColumnConstraint, Table};

use super::frame::{WIDE, on_screen, suite_name};
use super::wrapping::wrapped;
use crate::model::{AgentReport, MetricReport, Report, metric_value};
use crate::render::number::{ValueDirection, change, direction_of};
use crate::render::plain::line;
use crate::render::screen::Screen;
use crate::render::words::GateCounts;
use crate::render::{evidence, words};

pub(super) fn overview(report: &Report, screen: Screen) -> String {
    let mut table = Table::new();
    on_screen(&mut table, screen);
    let names = usize::from(screen.columns / 2).saturating_sub(8);
    let has_room = screen.columns >= WIDE;
    let mut header = vec!["suite/agent", "cases", "gates"];
    header.extend(has_room.then_some("largest change"));
    table.set_header(header);
    for (suite, agent) in report.suite_agents() {
        let gates = GateCounts::of_agents([agent]);
        let mut row = vec![
            Cell::new(wrapped(
                &format!("{}/{}", suite_name(report, suite), agent.agent),
                names,
            )),
            Cell::new(agent.cases.len()).set_alignment(CellAlignment::Right),
            coloured(Cell::new(gates.to_counts()), gates),
        ];
        row.extend(has_room.then(|| Cell::new(largest_change(agent))));
        table.add_row(row);
    }
    // Names are broken at their slashes already.
    if let Some(column) = table.column_mut(0) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    table.to_string()
}

fn coloured(cell: Cell, gates: GateCounts) -> Cell {
    match (gates.fail, gates.inconclusive) {
        (0, 0) if gates.pass > 0 => cell.fg(Color::Green),
        (0, 0) => cell,
        (0, _) => cell.fg(Color::Yellow),
        _ => cell.fg(Color::Red).add_attribute(Attribute::Bold),
    }
}

/// The first failed gate, else the number that became worse by most of its scale, else whether a number moved at all.
fn largest_change(agent: &AgentReport) -> String {
    let failed = agent
        .metrics
        .iter()
        .find(|metric| evidence::first_failed(metric).is_some());
    if let Some(metric) = failed {
        let name = line(&metric.name, words::NAME);
        return format!("{name} {}", words::value(metric));
    }
    let worst = largest_move(agent, ValueDirection::Worse)
        .or_else(|| largest_move(agent, ValueDirection::Better));
    match worst.or_else(|| largest_move(agent, ValueDirection::Other)) {
        Some(metric) => {
            let change = change(metric);
            format!(
                "{} {} ({change})",
                metric.name,
                metric_value(metric.unit, metric.value)
            )
        }
        None if agent
            .metrics
            .iter()
            .all(|metric| metric.comparison.baseline.is_none()) =>
        {
            "no baseline".to_owned()
        }
        None => "–".to_owned(),
    }
}

/// The number that moved most in a direction.
fn largest_move(agent: &AgentReport, wanted: ValueDirection) -> Option<&MetricReport> {
    let metrics = agent.metrics.iter();
    metrics
        .filter(|metric| direction_of(metric) == wanted)
        .max_by(|left, right| share_moved(left).total_cmp(&share_moved(right)))
}

/// How far a number moved, as a share of its larger value, so that metrics of different units compare.
fn share_moved(metric: &MetricReport) -> f64 {
    let change = metric.comparison.delta.unwrap_or_default().abs();
    let scale = metric
        .comparison
        .baseline
        .unwrap_or_default()
        .abs()
        .max(metric.value.unwrap_or_default().abs());
    if scale > 0.0 { change / scale } else { 0.0 }
}
