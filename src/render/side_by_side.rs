//! Two measurements, side by side: by metric, then by case.

use comfy_table::{Cell, Table};

use super::number::{ValueDirection, delta, direction};
use super::plain::{line, put};
use super::screen::{Detail, Screen};
use super::terminal::{plain_table, right};
use super::words::plural;
use crate::model::{Unit, metric_value};
use crate::report::{CaseMove, CaseMoves, CaseName, NumberScale};

/// One metric of one agent in both measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricRow {
    pub suite: String,
    pub agent: String,
    pub metric: String,
    pub scale: NumberScale,
    /// The value in the first one.
    pub before: Option<f64>,
    /// The value in the second one.
    pub after: Option<f64>,
}

/// The number of cases that are shown.
const CASES: usize = 12;

/// The number of values that are shown of a case.
const VALUES: usize = 5;

/// The metrics as a table, then the cases. What is equal is counted, unless everything is wanted.
pub fn side_by_side(
    rows: &[MetricRow],
    cases: &CaseMoves,
    scale: &dyn Fn(&str) -> NumberScale,
    screen: Screen,
) -> String {
    let everything = screen.detail == Detail::Everything;
    let shown: Vec<&MetricRow> = rows
        .iter()
        .filter(|row| everything || differs(row))
        .collect();
    let mut out = String::new();
    if !shown.is_empty() {
        put(&mut out, &table(&shown, screen.columns).to_string());
    }
    match rows.len() - shown.len() {
        0 => {}
        1 => put(&mut out, "1 number is equal; -v shows it"),
        equal => put(
            &mut out,
            &format!(
                "{} are equal; -v shows them",
                plural(equal, "number", "numbers")
            ),
        ),
    }
    moved_cases(
        &mut out,
        cases,
        scale,
        if everything { usize::MAX } else { CASES },
    );
    for (names, side) in [
        (&cases.added, "only in the second"),
        (&cases.removed, "only in the first"),
    ] {
        if !names.is_empty() {
            put(
                &mut out,
                &format!(
                    "{} {side}: {}",
                    plural(names.len(), "case is", "cases are"),
                    listed(names)
                ),
            );
        }
    }
    out
}

fn differs(row: &MetricRow) -> bool {
    let known = row.before.zip(row.after);
    known.map_or(row.before != row.after, |(left, right)| {
        (left - right).abs() > 0.5e-6
    })
}

fn table(rows: &[&MetricRow], width: u16) -> Table {
    let mut table = plain_table(width);
    table.set_header(["suite/agent", "metric", "before", "after", "delta", ""]);
    let mut above = String::new();
    for row in rows {
        let change = row.before.zip(row.after).map(|(left, right)| right - left);
        let unit = row.scale.unit;
        let turn = match direction(row.scale.better, unit, change) {
            ValueDirection::Better => "better",
            ValueDirection::Worse => "worse",
            ValueDirection::Other | ValueDirection::Same => "",
        };
        let owner = line(&format!("{}/{}", row.suite, row.agent), 200);
        table.add_row(vec![
            Cell::new(if owner == above { "" } else { &owner }),
            Cell::new(line(&row.metric, 100)),
            right(metric_value(unit, row.before)),
            right(metric_value(unit, row.after)),
            right(delta(unit, change)),
            Cell::new(turn),
        ]);
        above = owner;
    }
    table
}

fn moved_cases(
    out: &mut String,
    cases: &CaseMoves,
    scale: &dyn Fn(&str) -> NumberScale,
    most: usize,
) {
    if cases.moved.is_empty() {
        return;
    }
    put(
        out,
        &format!(
            "\n{}; those that pass less often come first",
            plural(cases.moved.len(), "case moved", "cases moved")
        ),
    );
    for case in cases.moved.iter().take(most) {
        let CaseMove {
            name,
            passed,
            values,
            why,
        } = case;
        let passing = passed.map_or(String::new(), |(left, right)| {
            format!(
                ": samples that pass {} → {}",
                metric_value(Unit::Share, Some(left)),
                metric_value(Unit::Share, Some(right))
            )
        });
        put(out, &format!("  {}{passing}", full_name(name)));
        let shown = values.iter().take(VALUES).map(|(metric, left, right)| {
            let unit = scale(metric).unit;
            format!(
                "{} {} → {}",
                line(metric, 100),
                metric_value(unit, Some(*left)),
                metric_value(unit, Some(*right))
            )
        });
        let mut shown: Vec<String> = shown.collect();
        if values.len() > VALUES {
            shown.push(format!("{} more", values.len() - VALUES));
        }
        if !shown.is_empty() {
            put(out, &format!("    {}", shown.join(", ")));
        }
        if let Some(why) = why {
            put(out, &format!("    {}", line(why, 200)));
        }
    }
    if cases.moved.len() > most {
        put(
            out,
            &format!(
                "  … and {}; -v shows all",
                plural(cases.moved.len() - most, "more case", "more cases")
            ),
        );
    }
}

fn full_name((suite, agent, case): &CaseName) -> String {
    line(&format!("{suite}/{agent}/{case}"), 200)
}

/// The first names, and the number of the others.
fn listed(names: &[CaseName]) -> String {
    let mut shown: Vec<String> = names.iter().take(VALUES).map(full_name).collect();
    if names.len() > VALUES {
        shown.push(format!("{} more", names.len() - VALUES));
    }
    shown.join(", ")
}
