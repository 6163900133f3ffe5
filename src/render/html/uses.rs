//! What the samples of each agent use: tokens, time and cost, as plots. Each has a text with the same content.

use maud::{Markup, html};

use super::plots::{AREA, ROW, ROWS, WIDTH, fixed};
use super::texts::agent_name;
use crate::fold;
use crate::model::{AgentReport, Better, MovedUse, Report, SampleUse};
use crate::render::plain::{line, title};
use crate::render::since_base;

/// The uses with the words for a sample that has them.
const USES: [(SampleUse, &str); 3] = [
    (SampleUse::Tokens, "Tokens of a sample"),
    (SampleUse::Latency, "Time of a sample"),
    (SampleUse::Cost, "Cost of a sample"),
];

/// The largest number of marks of one agent.
const MARKS: usize = 60;

/// What the cases of one agent use, in ascending order; never empty.
struct AgentUses {
    name: String,
    values: Vec<f64>,
}

impl AgentUses {
    fn median(&self) -> f64 {
        fold::median(Better::Lower, self.values.clone()).unwrap_or_default()
    }

    fn ends(&self) -> (f64, f64) {
        (
            self.values.first().copied().unwrap_or_default(),
            self.values.last().copied().unwrap_or_default(),
        )
    }

    /// As many values as there are marks, evenly chosen, with both ends.
    fn shown(&self) -> Vec<f64> {
        let count = self.values.len();
        let marks = count.min(MARKS);
        let mut shown = Vec::new();
        for mark in 0..marks {
            let index = if marks < 2 {
                0
            } else {
                mark * (count - 1) / (marks - 1)
            };
            shown.extend(self.values.get(index).copied());
        }
        shown
    }

    /// The median, and both ends if there are several cases. It fits next to the marks.
    fn words(&self, sample_use: SampleUse) -> String {
        let (low, high) = self.ends();
        let low_text = since_base::use_value(sample_use, low);
        if self.values.len() == 1 {
            return low_text;
        }
        format!(
            "median {} ({low_text} to {})",
            since_base::use_value(sample_use, self.median()),
            since_base::use_value(sample_use, high)
        )
    }
}

/// What samples use, one plot for each use; and what moved since the base commit, as bars. Empty where nothing is known.
pub fn uses(report: &Report) -> Markup {
    let moved: Vec<_> = report
        .suite_agents()
        .filter(|(_, agent)| !agent.since_base.uses.is_empty())
        .collect();
    let mut plots: Vec<(SampleUse, &str, Vec<AgentUses>)> = Vec::new();
    for (sample_use, words) in USES {
        let mut rows = Vec::new();
        for (suite, agent) in report.suite_agents() {
            let values = values(agent, sample_use);
            if !values.is_empty() {
                rows.push(AgentUses {
                    name: agent_name(suite, agent),
                    values,
                });
            }
        }
        if !rows.is_empty() {
            plots.push((sample_use, words, rows));
        }
    }
    html! {
        @if !plots.is_empty() || !moved.is_empty() {
            section aria-labelledby="uses" {
                h2 id="uses" { "Tokens, time and cost of a sample" } "\n"
                @for (suite, agent) in &moved {
                    h3 { (agent_name(suite, agent)) } "\n"
                    @if let Some(text) = since_base::moved_uses(agent) { p { (title(&text)) } "\n" }
                    @for moved in &agent.since_base.uses { (bars(moved)) "\n" }
                }
                @for (sample_use, words, rows) in &plots { (plot(*sample_use, words, rows)) }
            } "\n"
        }
    }
}

/// The medians of the cases that count.
fn values(agent: &AgentReport, sample_use: SampleUse) -> Vec<f64> {
    let mut values: Vec<f64> = agent
        .cases
        .iter()
        .filter_map(|case| case.uses.of(sample_use))
        .filter(|value| value.is_finite())
        .collect();
    values.sort_by(f64::total_cmp);
    values
}

fn plot(sample_use: SampleUse, words: &str, rows: &[AgentUses]) -> Markup {
    let shown = rows.get(..ROWS).unwrap_or(rows);
    let most = shown
        .iter()
        .map(|row| row.ends().1)
        .fold(f64::MIN_POSITIVE, f64::max);
    let (left, width) = AREA;
    let x = |value: f64| left + width * value / most;
    let height = ROW * (shown.len() + 1);
    html! {
        h3 { (words) ", each mark a case" } "\n"
        div.wide role="region" tabindex="0" aria-label=(words) {
            svg.plot width=(WIDTH) height=(height) viewBox={ "0 0 " (WIDTH) " " (height) } role="img"
                aria-label={ @for row in shown { (row.name) " " (row.words(sample_use)) ". " } } {
                line.zero x1=(fixed(x(0.0))) x2=(fixed(x(0.0))) y1="0" y2=(height - ROW) {}
                @for (index, row) in shown.iter().enumerate() {
                    @let y = index * ROW + ROW / 2;
                    text x="0" y=(y + 5) { (line(&row.name, 46)) }
                    @for value in row.shown() { circle.case cx=(fixed(x(value))) cy=(y) r="4" {} }
                    line.base x1=(fixed(x(row.median()))) x2=(fixed(x(row.median()))) y1=(y - 9) y2=(y + 9) {}
                    text x=(left + width + 14.0) y=(y + 5) { (row.words(sample_use)) }
                }
                @for (value, anchor) in [(0.0, "start"), (most, "end")] {
                    text.axis x=(fixed(x(value))) y=(height - 8) text-anchor=(anchor) { (since_base::use_value(sample_use, value)) }
                }
            }
        } "\n"
        @if rows.len() > shown.len() { p.soft { "… and " (rows.len() - shown.len()) " more agents" } "\n" }
    }
}

/// The height and the greatest width of a bar, in pixels, and the left end of all bars.
const BAR: (f64, f64, f64) = (14.0, 300.0, 200.0);

fn bars(moved: &MovedUse) -> Markup {
    let (height, widest, left) = BAR;
    let most = moved.before.max(moved.now).max(f64::MIN_POSITIVE);
    let class = if moved.now > moved.before {
        "worse"
    } else {
        "better"
    };
    let rows = [("base", moved.before, "other"), ("now", moved.now, class)];
    html! {
        svg.plot width=(WIDTH) height=(2.0 * height + 12.0) role="img" aria-label={ (moved.what.as_str()) " at the base commit and now" } {
            @for (index, (name, value, class)) in rows.iter().enumerate() {
                @let top = index as f64 * (height + 4.0);
                text x="0" y=(fixed(top + height - 2.0)) { (moved.what.as_str()) " " (name) }
                rect class=(class) x=(left) y=(fixed(top)) width=(fixed(widest * value / most)) height=(height) {}
                text x=(fixed(left + widest * value / most + 6.0)) y=(fixed(top + height - 2.0)) { (since_base::use_value(moved.what, *value)) }
            }
        }
    }
}
