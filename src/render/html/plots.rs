//! Plots as SVG: differences since the baseline with their intervals, and the samples of a case. Each has a text with the same content.

use maud::{Markup, html};

use super::texts::{agent_name, bounded};
use crate::model::{
    AgentReport, CalledTool, CaseEvidence, MetricReport, Noise, PairResult, Report, Unit,
    metric_value,
};
use crate::render::evidence::has_moved;
use crate::render::number::ValueDirection;
use crate::render::plain::line;
use crate::render::words::plural;
use crate::render::{certainty, number};

/// The largest number of rows of one plot.
pub const ROWS: usize = 60;
/// The height of a row, in pixels.
pub const ROW: usize = 26;
/// The left end and the width of the area with the marks, in pixels.
pub const AREA: (f64, f64) = (330.0, 260.0);
/// The width of a plot, in pixels.
pub const WIDTH: f64 = 840.0;

struct MovedNumber<'a> {
    name: String,
    metric: &'a MetricReport,
    delta: f64,
}

/// The differences since the baseline, one plot for each unit.
pub fn differences(report: &Report) -> Markup {
    let mut moved = Vec::new();
    for (suite, agent) in report.suite_agents() {
        for metric in agent.metrics.iter().filter(|metric| has_moved(metric)) {
            let name = format!("{} {}", agent_name(suite, agent), bounded(&metric.name));
            moved.extend(metric.comparison.delta.map(|delta| MovedNumber {
                name,
                metric,
                delta,
            }));
        }
    }
    html! {
        @if !moved.is_empty() {
            section aria-labelledby="moved" {
                h2 id="moved" { "Moved numbers" } "\n"
                p.soft {
                    "Each mark is a difference since the baseline. A line is its 95% interval; a hollow mark is within the noise, or has no \
                     interval."
                } "\n"
                @for unit in Unit::ALL {
                    @let rows: Vec<&MovedNumber<'_>> = moved.iter().filter(|one| one.metric.unit == unit).collect();
                    @if !rows.is_empty() { (forest(unit, &rows)) }
                }
            } "\n"
        }
    }
}

fn forest(unit: Unit, rows: &[&MovedNumber<'_>]) -> Markup {
    let shown = rows.get(..ROWS).unwrap_or(rows);
    let reach = shown.iter().map(|row| {
        ends(row)
            .map(f64::abs)
            .into_iter()
            .fold(row.delta.abs(), f64::max)
    });
    let reach = reach.fold(f64::MIN_POSITIVE, f64::max);
    let (left, width) = AREA;
    let x = |value: f64| left + width * (value / reach + 1.0) / 2.0;
    let height = ROW * (shown.len() + 1);
    html! {
        div.wide role="region" tabindex="0" aria-label={ "Differences of " (shown.len()) " numbers" } {
            svg.plot width=(WIDTH) height=(height) viewBox={ "0 0 " (WIDTH) " " (height) } role="img"
                aria-label={ @for row in shown { (row.name) " " (sentence(row)) ". " } } {
                line.zero x1=(fixed(x(0.0))) x2=(fixed(x(0.0))) y1="0" y2=(height - ROW) {}
                @for (index, row) in shown.iter().enumerate() { (mark(row, index * ROW + ROW / 2, &x)) }
                @for (value, anchor) in [(-reach, "start"), (0.0, "middle"), (reach, "end")] {
                    text.axis x=(fixed(x(value))) y=(height - 8) text-anchor=(anchor) { (axis(unit, value)) }
                }
            }
        } "\n"
        @if rows.len() > shown.len() { p.soft { "… and " (rows.len() - shown.len()) " more below" } "\n" }
    }
}

fn mark(row: &MovedNumber<'_>, y: usize, x: &dyn Fn(f64) -> f64) -> Markup {
    let metric = row.metric;
    let direction = match number::direction_of(metric) {
        ValueDirection::Better => "better",
        ValueDirection::Worse => "worse",
        ValueDirection::Other | ValueDirection::Same => "other",
    };
    let hollow = if metric.comparison.noise == Some(Noise::Beyond) {
        ""
    } else {
        " hollow"
    };
    let class = format!("{direction}{hollow}");
    let [low, high] = ends(row);
    html! {
        text x="0" y=(y + 5) { (line(&row.name, 46)) }
        @if metric.comparison.ci95.is_some() {
            line class=(direction) x1=(fixed(x(low))) x2=(fixed(x(high))) y1=(y) y2=(y) {}
        }
        circle class=(class) cx=(fixed(x(row.delta))) cy=(y) r="5" {}
        text x=(AREA.0 + AREA.1 + 14.0) y=(y + 5) {
            (metric_value(metric.unit, metric.comparison.baseline)) " → " (metric_value(metric.unit, metric.value))
            " (" (number::change(metric)) ")"
        }
    }
}

/// The ends of the interval; the difference itself without one.
fn ends(row: &MovedNumber<'_>) -> [f64; 2] {
    row.metric
        .comparison
        .ci95
        .map_or([row.delta, row.delta], |(low, high)| [low, high])
}

fn sentence(row: &MovedNumber<'_>) -> String {
    let metric = row.metric;
    let delta = number::delta(metric.unit, Some(row.delta));
    match metric.comparison.ci95 {
        Some(ends) => format!(
            "{delta}, 95% interval {}",
            certainty::interval(metric.unit, ends)
        ),
        None => delta,
    }
}

fn axis(unit: Unit, value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else {
        number::delta(unit, Some(value))
    }
}

/// A coordinate with one decimal place.
pub fn fixed(value: f64) -> String {
    format!("{value:.1}")
}

/// The width and height of the plot of samples, in pixels.
const STRIP: (f64, f64) = (150.0, 22.0);

/// The samples of a case as marks between the lowest and the highest value, with the baseline's value as a line; empty for one sample.
pub fn samples(
    agent: &AgentReport,
    metric: &MetricReport,
    evidence: &CaseEvidence,
    case: Option<&PairResult>,
) -> Markup {
    let index = agent
        .metrics
        .iter()
        .position(|candidate| candidate.name == metric.name);
    let value = case
        .zip(index)
        .and_then(|(case, index)| case.values.get(index));
    let values: Vec<f64> = value.map_or(Vec::new(), |value| {
        value.samples.iter().copied().flatten().collect()
    });
    if values.len() < 2 {
        return html! {};
    }
    let known = values.iter().copied().chain(evidence.baseline);
    let low = known.clone().fold(
        if metric.unit == Unit::Share {
            0.0
        } else {
            f64::INFINITY
        },
        f64::min,
    );
    let high = known.fold(
        if metric.unit == Unit::Share {
            1.0
        } else {
            f64::NEG_INFINITY
        },
        f64::max,
    );
    let (width, height) = STRIP;
    let reach = if high > low { high - low } else { 1.0 };
    let x = |value: f64| 6.0 + (width - 12.0) * (value - low) / reach;
    let texts: Vec<String> = values
        .iter()
        .map(|value| metric_value(metric.unit, Some(*value)))
        .collect();
    let baseline = evidence.baseline.map_or(String::new(), |value| {
        format!("; baseline {}", metric_value(metric.unit, Some(value)))
    });
    // Equal samples lie side by side.
    let mut seen: Vec<f64> = Vec::new();
    html! {
        br;
        svg.strip width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img"
            aria-label={ "Samples: " (texts.join(", ")) (baseline) } {
            line.zero x1="6" x2=(width - 6.0) y1=(height / 2.0) y2=(height / 2.0) {}
            @if let Some(value) = evidence.baseline {
                line.base x1=(fixed(x(value))) x2=(fixed(x(value))) y1="2" y2=(height - 2.0) {}
            }
            @for value in &values {
                @let same = seen.iter().filter(|shown| **shown == *value).count() as f64;
                @let shift = if x(*value) > width / 2.0 { -4.0 * same } else { 4.0 * same };
                circle.other cx=(fixed(x(*value) + shift)) cy=(height / 2.0) r="4" {}
                @let () = seen.push(*value);
            }
        }
    }
}

/// The width and height of the plot of past baselines, in pixels.
const TREND: (f64, f64) = (300.0, 60.0);

/// The values in the last committed baselines as a line, then this run's value as a mark.
pub fn trend(metric: &MetricReport) -> Markup {
    let all: Vec<Option<f64>> = metric.past.iter().copied().chain([metric.value]).collect();
    let known = all.iter().flatten().copied();
    let (low, high) = (
        known.clone().fold(f64::INFINITY, f64::min),
        known.fold(f64::NEG_INFINITY, f64::max),
    );
    let (width, height) = TREND;
    let steps = all.len().saturating_sub(1).max(1) as f64;
    let reach = if high > low { high - low } else { 1.0 };
    let x = |index: usize| 8.0 + (width - 16.0) * index as f64 / steps;
    let y = |value: f64| height - 8.0 - (height - 16.0) * (value - low) / reach;
    let points = metric
        .past
        .iter()
        .enumerate()
        .filter_map(|(index, value)| Some((x(index), y((*value)?))));
    let points: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    html! {
        svg.strip width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img"
            aria-label={ "Now " (metric_value(metric.unit, metric.value)) } {
            polyline.past points=(points.join(" ")) {}
            @if let Some(value) = metric.value { circle.worse cx=(fixed(x(metric.past.len()))) cy=(fixed(y(value))) r="4" {} }
        }
    }
}

/// The width and height of the plot of sums, in pixels, and the height of its bars.
const SUMS: (f64, f64) = (420.0, 120.0);
const BARS: f64 = 90.0;

fn score_sum(value: f64) -> String {
    format!("{:.2}", value)
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

/// The sums of scores that runs of an unchanged agent would have as bars, and the sum of this run as a line.
pub fn unchanged_sums(agent: &AgentReport) -> Markup {
    let policy = agent.policy.as_deref();
    let Some((policy, sums, p)) =
        policy.and_then(|policy| Some((policy, policy.unchanged.as_ref()?, policy.p?)))
    else {
        return html! {};
    };
    let (width, height) = SUMS;
    let step = width / sums.shares.len().max(1) as f64;
    let tallest = sums
        .shares
        .iter()
        .copied()
        .fold(f64::MIN_POSITIVE, f64::max);
    let place = ((sums.observed - sums.first) / sums.width + 1e-6).floor();
    let x = (place + 0.5) * step;
    let is_red = policy.limit.is_some_and(|limit| p <= limit);
    let low = if is_red { "worse" } else { "other" };
    let (observed, chance) = (
        score_sum(sums.observed),
        number::p_in_percent(p, policy.limit.unwrap_or(p)),
    );
    let last = sums.first + sums.width * (sums.shares.len() as f64 - 1.0);
    html! {
        figure {
            svg.plot width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img"
                aria-label={ "This run's sum of scores is " (observed) "; p = " (chance) } {
                @for (bar, share) in sums.shares.iter().enumerate() {
                    @let tall = BARS * share / tallest;
                    rect class=(if bar as f64 <= place { low } else { "rest" }) x=(fixed(bar as f64 * step)) y=(fixed(BARS - tall))
                        width=(fixed((step - 1.0).max(1.0))) height=(fixed(tall)) {}
                }
                line.base x1=(fixed(x)) x2=(fixed(x)) y1="0" y2=(BARS) {}
                text.axis x="0" y=(height - 10.0) { (score_sum(sums.first)) }
                text x=(fixed(x)) y=(height - 10.0) text-anchor=(if x < width / 6.0 { "start" } else { "middle" }) { (observed) }
                text.axis x=(width) y=(height - 10.0) text-anchor="end" { (score_sum(last)) }
            }
            figcaption.soft {
                (agent.agent) ": had nothing changed, re-recordings would have these sums of scores. This run has " (observed)
                " (dashed line); p = " (chance) "."
            }
        } "\n"
    }
}

/// The longest name of a tool in a lane, in characters.
const TOOL: usize = 24;

/// The tool calls of each sample as a lane, in order; empty if no sample called a tool. Equal lanes share one.
pub fn lanes(case: &PairResult) -> Markup {
    let mut lanes: Vec<(&[CalledTool], usize)> = Vec::new();
    for calls in &case.calls {
        match lanes.iter_mut().find(|(lane, _)| lane == calls) {
            Some((_, samples)) => *samples += 1,
            None => lanes.push((calls, 1)),
        }
    }
    html! {
        @for (calls, samples) in &lanes {
            ol.lane aria-label={ "Calls of " (plural(*samples, "sample", "samples")) } {
                @if calls.is_empty() { li { "no call" } }
                @for call in *calls {
                    li class=[call.failed.then_some("fail")] { (line(&call.tool, TOOL)) @if call.failed { " failed" } }
                }
                @if case.calls.len() > 1 { li.soft { "× " (samples) } }
            }
        }
    }
}
