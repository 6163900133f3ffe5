//! The measures of a run record.

use std::collections::BTreeMap;

use serde_json::Number;
use serde_json::value::RawValue;

use crate::format::lenient;
use crate::model::CountedTools;

/// The measures of a run; a missing, negative or non-numeric value counts as not recorded.
#[derive(Default)]
pub(super) struct CountsForm {
    pub(super) total_tokens: Option<f64>,
    pub(super) tokens_of_nodes: Option<f64>,
    pub(super) input_tokens: Option<f64>,
    pub(super) output_tokens: Option<f64>,
    pub(super) total_latency_ms: Option<f64>,
    pub(super) cost_usd: Option<f64>,
    pub(super) model_calls: Option<f64>,
    pub(super) counted_tools: CountedTools,
}

impl CountsForm {
    /// Agents write this: an odd value invalidates neither the other values nor the run.
    pub(super) fn read(raw: &RawValue) -> Self {
        let fields: BTreeMap<String, &RawValue> =
            serde_json::from_str(raw.get()).unwrap_or_default();
        Self {
            counted_tools: counted_tools(&fields),
            total_tokens: largest(&fields, &["total_tokens", "totalTokens"]),
            tokens_of_nodes: tokens_of_nodes(&fields),
            input_tokens: largest(&fields, &["input_tokens"]),
            output_tokens: largest(&fields, &["output_tokens"]),
            total_latency_ms: largest(
                &fields,
                &["total_latency_ms", "totalLatency", "totalDurationMs"],
            ),
            cost_usd: largest(&fields, &["cost_usd"]),
            model_calls: largest(&fields, &["model_calls", "totalLlmCalls"]),
        }
    }
}

/// The largest number under several spellings of a key: a smaller one would hide what the run used.
fn largest(fields: &BTreeMap<String, &RawValue>, keys: &[&str]) -> Option<f64> {
    keys.iter()
        .filter_map(|key| number(fields.get(*key)?))
        .reduce(f64::max)
}

/// The sum of the tokens of all nodes.
fn tokens_of_nodes(fields: &BTreeMap<String, &RawValue>) -> Option<f64> {
    let mut sum = None;
    for key in ["tokens_per_node", "tokensPerNode"] {
        let Some(raw) = fields.get(key) else {
            continue;
        };
        let Ok(nodes) = serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get()) else {
            continue;
        };
        for tokens in nodes.into_values().filter_map(number) {
            sum = Some(sum.map_or(tokens, |sum| sum + tokens));
        }
    }
    sum
}

/// The number of calls by tool that the measures of a record state.
pub fn tool_call_counts(metrics: &str) -> BTreeMap<String, u64> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(metrics).unwrap_or_default();
    counted_tools(&fields).calls
}

/// The counted calls by tool, the larger one of two counts.
fn counted_tools(fields: &BTreeMap<String, &RawValue>) -> CountedTools {
    let mut counted = CountedTools::default();
    for key in ["tool_call_counts", "toolCallCounts"] {
        let Some(raw) = fields.get(key).filter(|raw| raw.get() != "null") else {
            continue;
        };
        let Ok(counts) = serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get()) else {
            counted.unreadable = Some("the counts of calls are not an object of counts by tool");
            continue;
        };
        for (tool, count) in counts
            .into_iter()
            .filter(|(_, count)| count.get() != "null")
        {
            match number(count) {
                Some(0.0) => {}
                Some(count) => {
                    let known = counted.calls.entry(tool).or_default();
                    *known = (*known).max(count.ceil() as u64);
                }
                None => counted.unreadable = Some("a count of calls is not a number"),
            }
        }
    }
    counted
}

/// A number, also one written as a text; `None` for any other value.
fn number(raw: &RawValue) -> Option<f64> {
    let number = match lenient::any(raw.get()).ok()? {
        serde_json::Value::Number(number) => number,
        serde_json::Value::String(text) => text.trim().parse::<Number>().ok()?,
        _ => return None,
    };
    // A negative value would make the mean of the other recordings lower.
    number
        .as_f64()
        .filter(|number| number.is_finite() && *number >= 0.0)
}
