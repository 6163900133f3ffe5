//! The details of cases as data for the page's script, in the order of the table. The text is safe inside a script element.

use maud::{Markup, PreEscaped, html};
use serde_json::{Map, Value, json};

use super::cases::{CaseResult, ListedCase, rows};
use super::texts::agent_name;
use crate::model::{
    AgentReport, Exclusion, MetricReport, PairCheck, PairResult, PairValue, Report, metric_value,
};
use crate::render::evidence::has_cases;
use crate::render::plain::line;
use crate::render::{judges, words};

/// The most bytes of details. Cases that pass are last in the table, so they are what is left out.
const LIMIT: usize = 600_000;
/// The longest text, in characters.
const TEXT: usize = 600;

/// The element with the details; nothing without cases.
pub fn data(report: &Report) -> Markup {
    let rows = rows(report);
    let (mut details, mut size) = (Vec::new(), 0);
    for row in &rows {
        let text = escaped(&detail(row));
        size += text.len() + 1;
        if size > LIMIT {
            break;
        }
        details.push(text);
    }
    let agents = report
        .suite_agents()
        .map(|(suite, agent)| (agent_name(suite, agent), metric_names(agent)));
    let agents: Map<String, Value> = agents.collect();
    let (agents, cases) = (escaped(&Value::Object(agents)), details.join(","));
    html! {
        @if !rows.is_empty() {
            script id="details" type="application/json" { (PreEscaped(format!("{{\"agents\":{agents},\"cases\":[{cases}]}}"))) }
        }
        "\n"
    }
}

/// A value as JSON without characters that end a script element, open a comment, or end a line of a script.
fn escaped(value: &Value) -> String {
    let text = value.to_string();
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(char)))
            }
            _ => out.push(char),
        }
    }
    out
}

fn metric_names(agent: &AgentReport) -> Value {
    agent
        .metrics
        .iter()
        .filter(|metric| has_cases(metric))
        .map(|metric| line(&metric.name, TEXT))
        .collect()
}

/// The short keys keep a page of a thousand cases small: golden file, checks, other differences, outputs since
/// the base commit, lost samples, values.
fn detail(row: &ListedCase<'_>) -> Value {
    let ListedCase {
        suite: _,
        agent,
        case,
        result,
    } = row;
    let mut out = Map::new();
    let start = case
        .checks
        .iter()
        .map(|check| check.location.line)
        .min()
        .unwrap_or(1);
    out.insert(
        "g".to_owned(),
        json!(format!("{}:{start}", line(case.golden.as_str(), TEXT))),
    );
    add(
        &mut out,
        "c",
        case.checks.iter().filter_map(check).collect(),
    );
    add(&mut out, "d", differences(case));
    let changed = agent.since_base.outputs_of(&case.case);
    add(
        &mut out,
        "o",
        changed
            .iter()
            .map(|change| {
                json!([
                    line(&change.name, TEXT),
                    side(change.before.as_deref()),
                    side(change.now.as_deref())
                ])
            })
            .collect(),
    );
    add(&mut out, "l", lost(case));
    add(
        &mut out,
        "j",
        judges::of_case(case, line)
            .into_iter()
            .map(Value::String)
            .collect(),
    );
    let passed = case
        .checks
        .iter()
        .filter(|check| check.failure.is_none())
        .count();
    add(
        &mut out,
        "p",
        if passed > 0 {
            vec![json!(passed)]
        } else {
            Vec::new()
        },
    );
    let of_case = agent
        .metrics
        .iter()
        .zip(&case.values)
        .filter(|(metric, _)| has_cases(metric));
    // The columns are the metrics of the cases that count.
    let of_case = of_case.filter(|_| *result != CaseResult::Draft);
    add(
        &mut out,
        "v",
        of_case
            .map(|(metric, value)| json!(values(metric, value)))
            .collect(),
    );
    Value::Object(out)
}

/// Adds a list under a key, unless it is empty.
fn add(out: &mut Map<String, Value>, key: &str, all: Vec<Value>) {
    if !all.is_empty() {
        out.insert(key.to_owned(), Value::Array(all));
    }
}

/// A value of one side's output.
fn side(text: Option<&str>) -> String {
    text.map_or("–".to_owned(), |text| line(text, TEXT))
}

/// A check that failed in a sample: its name, its result, what was expected and produced, likely cause, next step.
fn check(check: &PairCheck) -> Option<Value> {
    let failure = check.failure.as_deref()?;
    let result = match (check.standing.passes(), check.standing.is_flaky()) {
        (true, _) => "passes in most samples",
        (false, true) => "fails in most samples",
        (false, false) => "fails",
    };
    let expected = line(check.expected.as_deref().unwrap_or_default(), TEXT);
    let (got, next) = (
        line(&failure.detail, TEXT),
        line(&failure.next_action, TEXT),
    );
    Some(json!([
        line(&check.name.to_string(), TEXT),
        result,
        expected,
        got,
        failure.tag.as_str(),
        next
    ]))
}

fn differences(case: &PairResult) -> Vec<Value> {
    let all = case.shortfalls.iter().map(|shortfall| {
        let seen = match case.completed {
            0 | 1 => String::new(),
            completed => format!("{} of {completed} samples", shortfall.samples),
        };
        let (expected, got) = (
            line(&shortfall.difference.expected, TEXT),
            line(&shortfall.difference.produced, TEXT),
        );
        json!([
            line(&shortfall.metrics.join(", "), TEXT),
            seen,
            expected,
            got
        ])
    });
    all.collect()
}

fn lost(case: &PairResult) -> Vec<Value> {
    let quarantine = (case.exclusion == Exclusion::Quarantined)
        .then(|| json!(line(&words::quarantine(case), TEXT)));
    let lost = case.lost.iter().map(|lost| {
        json!(format!(
            "sample {}: {}",
            lost.sample,
            line(&lost.why.text(), TEXT)
        ))
    });
    quarantine.into_iter().chain(lost).collect()
}

/// The value of a metric; with samples that differ, each of them.
fn values(metric: &MetricReport, value: &PairValue) -> String {
    let whole = metric_value(metric.unit, value.value);
    let samples: Vec<String> = value
        .samples
        .iter()
        .map(|sample| metric_value(metric.unit, *sample))
        .collect();
    if samples.iter().all(|sample| *sample == whole) {
        return whole;
    }
    format!("{whole} (by sample: {})", samples.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::escaped;

    #[test]
    fn data_ends_no_script_and_stays_the_same() {
        let hostile = json!({ "a": "</script><!-- <script> & \u{2028}\u{2029} \\ \" ]]>" });
        let text = escaped(&hostile);
        assert!(
            !text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), hostile);
    }
}
