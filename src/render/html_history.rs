//! The history of all numbers as one HTML page that loads nothing: a plot for each number that moved.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::history::{date, ends, move_words, span};
use super::html::policy::policy;
use super::number::delta;
use super::plain::line;
use crate::model::metric_value;
use crate::report::{History, Measurement, NumberTrend};

const STYLE: &str = "
:root{color-scheme:light dark;--line:#d0d7de;--soft:#57606a;--ink:#0969da}
@media(prefers-color-scheme:dark){:root{--line:#3d444d;--soft:#9198a1;--ink:#4493f8}}
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
main{display:grid;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr));gap:1rem}
figure{margin:0;border:1px solid var(--line);border-radius:.4rem;padding:.6rem}figcaption{overflow-wrap:anywhere}
svg{width:100%;height:auto}polyline{fill:none;stroke:var(--ink);stroke-width:2}circle{fill:var(--ink)}.day{white-space:nowrap}.axis{stroke:var(--line)}
text{fill:var(--soft);font-size:11px}.soft{color:var(--soft)}h1{font-size:1.5rem}h2{font-size:1.15rem}
table{border-collapse:collapse;width:100%}th,td{padding:.3rem .5rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:anywhere}
";

/// The width and height of a plot, and the space around its lines.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 110.0;
const LEFT: f64 = 46.0;
const EDGE: f64 = 12.0;

pub fn html_history(history: &History) -> String {
    let moved: Vec<&NumberTrend> = history
        .trends
        .iter()
        .filter(|trend| trend.has_moved())
        .collect();
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width"; "\n"
                meta http-equiv="Content-Security-Policy" content=(policy(STYLE, None)); "\n"
                title { "goldgate history" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                "\n" h1 { "goldgate history" } "\n"
                p.soft { (span(history)) " · " (history.trends.len()) " numbers, of which " (moved.len()) " moved" } "\n"
                @for note in &history.notes { p { (line(note, 400)) } "\n" }
                main { @for trend in &moved { (figure(history, trend)) "\n" } } "\n"
                h2 { "What moved the numbers" } "\n"
                (moves(history))
            }
        }
        "\n"
    };
    page.into_string()
}

/// One number: its name, its ends, its plot.
fn figure(history: &History, trend: &NumberTrend) -> Markup {
    let (suite, agent, metric) = &trend.name;
    let unit = trend.scale.unit;
    let (first, last) = ends(trend);
    let change = format!(
        "{} → {}",
        metric_value(unit, first),
        metric_value(unit, last)
    );
    let slope = trend
        .slope
        .map(|slope| delta(unit, Some(slope)))
        .filter(|slope| slope != "=");
    html! {
        figure {
            figcaption { b { (line(metric, 100)) } " " span.soft { (line(&format!("{suite}/{agent}"), 200)) } }
            (plot(history, trend, &format!("{}: {change}", line(metric, 100))))
            div { (change) @if let Some(slope) = slope { span.soft { " · " (slope) " each time" } } }
        }
    }
}

fn plot(history: &History, trend: &NumberTrend, label: &str) -> Markup {
    let known = trend.values.iter().flatten().copied();
    let (low, high) = (
        known.clone().fold(f64::INFINITY, f64::min),
        known.fold(f64::NEG_INFINITY, f64::max),
    );
    let steps = trend.values.len().saturating_sub(1).max(1) as f64;
    let x = |index: usize| LEFT + (WIDTH - LEFT - EDGE) * index as f64 / steps;
    let y = |value: f64| {
        if high > low {
            HEIGHT - EDGE - (HEIGHT - 2.0 * EDGE) * (value - low) / (high - low)
        } else {
            HEIGHT / 2.0
        }
    };
    let points: Vec<(usize, f64)> = trend
        .values
        .iter()
        .enumerate()
        .filter_map(|(index, value)| Some((index, (*value)?)))
        .collect();
    let path: Vec<String> = points
        .iter()
        .map(|(index, value)| format!("{:.1},{:.1}", x(*index), y(*value)))
        .collect();
    let unit = trend.scale.unit;
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(label) {
            @for value in [low, high] {
                line.axis x1=(LEFT) x2=(WIDTH - EDGE) y1=(format!("{:.1}", y(value))) y2=(format!("{:.1}", y(value))) {}
                text x=(LEFT - 6.0) y=(format!("{:.1}", y(value) + 4.0)) text-anchor="end" { (metric_value(unit, Some(value))) }
            }
            polyline points=(path.join(" ")) {}
            @for (index, value) in &points {
                circle cx=(format!("{:.1}", x(*index))) cy=(format!("{:.1}", y(*value))) r="3" {
                    title { (tip(&history.measurements[*index].0)) ": " (metric_value(unit, Some(*value))) }
                }
            }
        }
    }
}

/// What a point shows of its measurement.
fn tip(measurement: &Measurement) -> String {
    line(
        &format!(
            "{} {} {}",
            measurement.name,
            date(&measurement.at),
            measurement.title
        ),
        200,
    )
}

fn moves(history: &History) -> Markup {
    html! {
        table {
            thead { tr { th scope="col" { "commit or report" } th scope="col" { "day" } th scope="col" { "title" } th scope="col" { "numbers" } } }
            "\n"
            tbody {
                @for (measurement, moves) in history.measurements.iter().rev().filter(|(_, moves)| !moves.is_empty()) {
                    tr {
                        td { code { (line(&measurement.name, 100)) } }
                        td.day { (date(&measurement.at)) }
                        td { (line(&measurement.title, 200)) }
                        td { @for one in moves { (move_words(history, one)) br; } }
                    } "\n"
                }
            }
        }
    }
}
