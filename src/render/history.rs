//! The history of all numbers for a terminal: a table with a line of bars, then the commits that moved a number.

use comfy_table::{Cell, Table};

use super::number::{ValueDirection, delta, direction};
use super::plain::{line, put};
use super::screen::{Detail, Screen};
use super::sparkline::sparkline;
use super::terminal::{plain_table, right};
use super::words::plural;
use crate::model::metric_value;
use crate::report::{History, NumberMove, NumberTrend};

/// The most bars of a line.
const BARS: usize = 30;

/// The most moves that are shown of a measurement.
const MOVES: usize = 4;

/// The history as text. Numbers that never moved are counted, unless everything is wanted.
pub fn history(history: &History, screen: Screen) -> String {
    let mut out = String::new();
    let everything = screen.detail == Detail::Everything;
    let shown: Vec<&NumberTrend> = history
        .trends
        .iter()
        .filter(|trend| everything || trend.has_moved())
        .collect();
    put(&mut out, &span(history));
    if !shown.is_empty() {
        put(&mut out, &format!("{}", table(&shown, screen.columns)));
    }
    match history.trends.len() - shown.len() {
        0 => {}
        1 => put(&mut out, "1 number never moved; -v shows it"),
        same => put(
            &mut out,
            &format!(
                "{} never moved; -v shows them",
                plural(same, "number", "numbers")
            ),
        ),
    }
    out.push('\n');
    for (measurement, moves) in history
        .measurements
        .iter()
        .rev()
        .filter(|(_, moves)| !moves.is_empty())
    {
        put(
            &mut out,
            &format!(
                "{} {}  {}",
                measurement.name,
                date(&measurement.at),
                line(&measurement.title, 100)
            ),
        );
        let most = if everything { moves.len() } else { MOVES };
        for number_move in moves.iter().take(most) {
            put(&mut out, &format!("  {}", move_words(history, number_move)));
        }
        if moves.len() > most {
            put(
                &mut out,
                &format!(
                    "  … and {}",
                    plural(moves.len() - most, "more number", "more numbers")
                ),
            );
        }
    }
    for note in &history.notes {
        put(&mut out, &format!("note: {}", line(note, 400)));
    }
    out
}

/// How many measurements there are, and from when to when.
pub(super) fn span(history: &History) -> String {
    let count = plural(history.measurements.len(), "measurement", "measurements");
    let dates = history
        .measurements
        .first()
        .zip(history.measurements.last());
    dates.map_or(count.clone(), |((first, _), (last, _))| {
        format!("{count} from {} to {}", date(&first.at), date(&last.at))
    })
}

pub(super) fn date(at: &str) -> &str {
    at.get(..10).unwrap_or(at)
}

/// A moved number with both values: `contracts/legal f1_score 100% → 87.5% (−12.5 pp, worse)`.
pub(super) fn move_words(history: &History, number_move: &NumberMove) -> String {
    let NumberTrend {
        name: (suite, agent, metric),
        scale,
        ..
    } = &history.trends[number_move.trend];
    let name = line(&format!("{suite}/{agent} {metric}"), 200);
    let earlier = metric_value(scale.unit, Some(number_move.before));
    let Some(after) = number_move.after else {
        return format!("{name} {earlier} → no longer measured");
    };
    let change = Some(after - number_move.before);
    let size = delta(scale.unit, change);
    let change = match direction(scale.better, scale.unit, change) {
        ValueDirection::Better => format!("{size}, better"),
        ValueDirection::Worse => format!("{size}, worse"),
        ValueDirection::Other => size,
        ValueDirection::Same => "less than one digit".to_owned(),
    };
    format!(
        "{name} {earlier} → {} ({change})",
        metric_value(scale.unit, Some(after))
    )
}

/// The first and the last value of a number.
pub(super) fn ends(trend: &NumberTrend) -> (Option<f64>, Option<f64>) {
    (
        trend.values.iter().flatten().next().copied(),
        trend.values.last().copied().flatten(),
    )
}

fn table(trends: &[&NumberTrend], width: u16) -> Table {
    let mut table = plain_table(width);
    table.set_header([
        "suite/agent",
        "metric",
        "trend",
        "first",
        "now",
        "each time",
    ]);
    let mut above = String::new();
    for trend in trends {
        let (suite, agent, metric) = &trend.name;
        let owner = format!("{suite}/{agent}");
        let (first, last) = ends(trend);
        let start = trend.values.len().saturating_sub(BARS);
        table.add_row(vec![
            Cell::new(if owner == above { "" } else { &owner }),
            Cell::new(metric),
            Cell::new(sparkline(&trend.values[start..])),
            right(metric_value(trend.scale.unit, first)),
            right(metric_value(trend.scale.unit, last)),
            right(delta(trend.scale.unit, trend.slope)),
        ]);
        above = owner;
    }
    table
}
