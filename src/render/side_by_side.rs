//! Two baselines or reports, side by side.

use comfy_table::{Cell, CellAlignment, Table};

use super::number;
use super::terminal::plain_style;
use crate::model::{Unit, metric_value};

/// One metric of one agent in both measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricRow {
    /// The suite.
    pub suite: String,
    /// The agent.
    pub agent: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// The value in the first one.
    pub before: Option<f64>,
    /// The value in the second one.
    pub after: Option<f64>,
}

/// The rows as a table of this width.
pub fn side_by_side(rows: &[MetricRow], width: u16) -> String {
    let mut table = Table::new();
    plain_style(&mut table, width);
    table.force_no_tty().set_header(["suite", "agent", "metric", "before", "after", "delta"]);
    for row in rows {
        let delta = row.before.zip(row.after).map(|(before, after)| after - before);
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        table.add_row(vec![
            Cell::new(&row.suite),
            Cell::new(&row.agent),
            Cell::new(&row.metric),
            right(metric_value(row.unit, row.before)),
            right(metric_value(row.unit, row.after)),
            right(number::delta(row.unit, delta)),
        ]);
    }
    format!("{table}\n")
}
