//! Reads runs of LangSmith and traces of Langfuse: nested runs of models and tools, as JSON.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::case_key::text_at;
use crate::dates::moment;
use crate::otlp::{Attributes, TraceSpan, runs_of};
use crate::problem::Problem;
use crate::source::Source;
use crate::transcript::{Format, Hints, Transcript};

/// Reads the runs of a file, one after the other or in lists; each trace is a run of the agent.
pub fn read_run_trees(
    form: Format,
    source: &Source<'_>,
    hints: Hints<'_>,
) -> Result<Vec<Transcript>, Vec<Problem>> {
    let mut spans = Vec::new();
    for (record, at) in source.records() {
        spans.extend(spans_of(form, at, record, hints.case_key));
    }
    // The first call of a model has the whole prompt, the run around it only the user's part.
    let chats = spans.iter().filter(|span| is_of(span, "chat"));
    let with_chats: BTreeSet<String> = chats.map(|span| span.trace.clone()).collect();
    for span in &mut spans {
        if with_chats.contains(&span.trace) && is_of(span, "invoke_agent") {
            span.attributes.remove("gen_ai.input.messages");
        }
    }
    runs_of(spans, hints)
}

/// The attribute that says what a span is.
const OPERATION: &str = "gen_ai.operation.name";

fn is_of(span: &TraceSpan, operation: &str) -> bool {
    span.attributes.get(OPERATION).and_then(Value::as_str) == Some(operation)
}

fn spans_of(form: Format, at: usize, value: &Value, case_key: Option<&str>) -> Vec<TraceSpan> {
    let mut spans = match form {
        Format::Langfuse => langfuse(at, value),
        _ => langsmith_tree(at, value),
    };
    let case = case_key.and_then(|key| Some((key, text_at(value, key)?)));
    if let (Some((key, case)), Some(root)) = (case, spans.first_mut()) {
        root.attributes.insert(key.to_owned(), json!(case));
    }
    spans
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn nanos(value: &Value, keys: [&str; 2]) -> i64 {
    let first = keys
        .iter()
        .find_map(|key| moment(value.get(*key)?.as_str()?));
    first
        .and_then(|moment| i64::try_from(moment.as_nanosecond()).ok())
        .unwrap_or(0)
}

/// A run of LangSmith with the runs in it.
fn langsmith_tree(at: usize, run: &Value) -> Vec<TraceSpan> {
    let outer = langsmith(at, run);
    let children = run
        .get("child_runs")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut inner: Vec<TraceSpan> = children
        .flat_map(|child| langsmith_tree(at, child))
        .collect();
    for span in &mut inner {
        span.trace.clone_from(&outer.trace);
        if span.parent.is_empty() {
            span.parent.clone_from(&outer.id);
        }
    }
    std::iter::once(outer).chain(inner).collect()
}

fn langsmith(at: usize, run: &Value) -> TraceSpan {
    let id = text(run, "id").unwrap_or_default();
    let null = Value::Null;
    let (inputs, outputs) = (
        run.get("inputs").unwrap_or(&null),
        run.get("outputs").unwrap_or(&null),
    );
    let parent = text(run, "parent_run_id").unwrap_or_default();
    let kind = match text(run, "run_type")
        .map(|kind| kind.to_ascii_lowercase())
        .as_deref()
    {
        Some("llm") => RunKind::Model,
        Some("tool") => RunKind::Tool,
        _ if parent.is_empty() => RunKind::Agent,
        _ => RunKind::Step,
    };
    let extra = run.get("extra").unwrap_or(&null);
    let usages = ["/llm_output/token_usage", "/usage_metadata", "/usage"];
    let usage = usages
        .iter()
        .find_map(|path| outputs.pointer(path))
        .cloned();
    let model = [
        "/metadata/ls_model_name",
        "/invocation_params/ls_model_name",
        "/metadata/model",
        "/invocation_params/model",
    ];
    let model = model.iter().find_map(|path| extra.pointer(path)?.as_str());
    let call_id =
        text(extra, "tool_call_id").or_else(|| text(outputs.get("output")?, "tool_call_id"));
    let node = RunNode {
        kind,
        name: text(run, "name"),
        input: inputs,
        output: outputs,
        usage,
        model: model.map(str::to_owned),
        call_id,
    };
    TraceSpan {
        at,
        trace: text(run, "trace_id").unwrap_or_else(|| id.clone()),
        id,
        parent,
        start: nanos(run, ["start_time", "startTime"]),
        end: nanos(run, ["end_time", "endTime"]),
        attributes: node.attributes(),
        events: Vec::new(),
        failed: text(run, "error")
            .or_else(|| text(run, "status").filter(|status| UNFINISHED.contains(&status.as_str()))),
    }
}

/// The states of a run of LangSmith that gave no whole answer.
const UNFINISHED: [&str; 3] = ["error", "interrupted", "pending"];

/// A trace of Langfuse with its observations, or one observation.
fn langfuse(at: usize, value: &Value) -> Vec<TraceSpan> {
    let Some(observations) = value.get("observations").and_then(Value::as_array) else {
        return vec![observation(at, value, "")];
    };
    let id = text(value, "id").unwrap_or_default();
    let root = format!("{id}-trace");
    let inner: Vec<TraceSpan> = observations
        .iter()
        .map(|value| observation(at, value, &root))
        .collect();
    let null = Value::Null;
    let node = RunNode {
        kind: RunKind::Agent,
        name: text(value, "name"),
        input: value.get("input").unwrap_or(&null),
        output: value.get("output").unwrap_or(&null),
        usage: None,
        model: None,
        call_id: None,
    };
    let failed = inner
        .iter()
        .find(|span| span.parent == root)
        .and_then(|span| span.failed.clone());
    let start = inner
        .iter()
        .map(|span| span.start)
        .filter(|start| *start > 0)
        .min();
    let trace = TraceSpan {
        at,
        trace: id.clone(),
        id: root,
        parent: String::new(),
        start: start.unwrap_or_else(|| nanos(value, ["timestamp", "createdAt"])),
        end: inner.iter().map(|span| span.end).max().unwrap_or(0),
        attributes: node.attributes(),
        events: Vec::new(),
        failed,
    };
    std::iter::once(trace)
        .chain(inner.into_iter().map(|span| TraceSpan {
            trace: id.clone(),
            ..span
        }))
        .collect()
}

fn observation(at: usize, value: &Value, root: &str) -> TraceSpan {
    let null = Value::Null;
    let kind = match text(value, "type")
        .unwrap_or_default()
        .to_ascii_uppercase()
        .as_str()
    {
        "GENERATION" => RunKind::Model,
        "TOOL" => RunKind::Tool,
        _ => RunKind::Step,
    };
    let details = value
        .get("usageDetails")
        .filter(|usage| usage.as_object().is_some_and(|usage| !usage.is_empty()));
    let node = RunNode {
        kind,
        name: text(value, "name"),
        input: value.get("input").unwrap_or(&null),
        output: value.get("output").unwrap_or(&null),
        usage: details.or_else(|| value.get("usage")).cloned(),
        model: text(value, "model"),
        call_id: value
            .pointer("/metadata/tool_call_id")
            .and_then(Value::as_str)
            .map(str::to_owned),
    };
    let failed = (text(value, "level").as_deref() == Some("ERROR"))
        .then(|| text(value, "statusMessage").unwrap_or_default());
    TraceSpan {
        at,
        trace: text(value, "traceId").unwrap_or_default(),
        id: text(value, "id").unwrap_or_default(),
        parent: text(value, "parentObservationId").unwrap_or_else(|| root.to_owned()),
        start: nanos(value, ["startTime", "start_time"]),
        end: nanos(value, ["endTime", "end_time"]),
        attributes: node.attributes(),
        events: Vec::new(),
        failed,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunKind {
    Agent,
    Model,
    Tool,
    Step,
}

/// A nested run of a tool that has its own names for everything.
struct RunNode<'a> {
    kind: RunKind,
    name: Option<String>,
    input: &'a Value,
    output: &'a Value,
    usage: Option<Value>,
    model: Option<String>,
    call_id: Option<String>,
}

impl RunNode<'_> {
    /// Its data under the names of the GenAI conventions.
    fn attributes(&self) -> Attributes {
        let (operation, mut stated) = match self.kind {
            RunKind::Step => (None, Vec::new()),
            RunKind::Tool => {
                let result = self.output.get("output").unwrap_or(self.output);
                let result = result.get("content").unwrap_or(result);
                let of_call = vec![
                    ("gen_ai.tool.name", self.name.clone().map(Value::String)),
                    (
                        "gen_ai.tool.call.id",
                        self.call_id.clone().map(Value::String),
                    ),
                    ("gen_ai.tool.call.arguments", Some(self.input.clone())),
                    ("gen_ai.tool.call.result", Some(result.clone())),
                ];
                (Some("execute_tool"), of_call)
            }
            RunKind::Agent | RunKind::Model => {
                let (operation, name) = match self.kind {
                    RunKind::Model => ("chat", None),
                    _ => ("invoke_agent", self.name.clone().map(Value::String)),
                };
                let of_model = vec![
                    ("gen_ai.agent.name", name),
                    ("gen_ai.input.messages", messages(self.input, "user")),
                    ("gen_ai.output.messages", messages(self.output, "assistant")),
                    (
                        "gen_ai.response.model",
                        self.model.clone().map(Value::String),
                    ),
                    (
                        "gen_ai.usage.input_tokens",
                        self.token_count(["input_tokens", "prompt_tokens", "input"]),
                    ),
                    (
                        "gen_ai.usage.output_tokens",
                        self.token_count(["output_tokens", "completion_tokens", "output"]),
                    ),
                ];
                (Some(operation), of_model)
            }
        };
        if self.kind != RunKind::Tool {
            // The state of a step may have calls that no model's run has.
            stated.push(("input.value", Some(self.input.clone())));
            stated.push(("output.value", Some(self.output.clone())));
        }
        stated.push((OPERATION, operation.map(Value::from)));
        let mut attributes = Attributes::new();
        for (key, value) in stated {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                attributes.insert(key.to_owned(), value);
            }
        }
        attributes
    }

    fn token_count(&self, keys: [&str; 3]) -> Option<Value> {
        let usage = self.usage.as_ref()?;
        keys.iter().find_map(|key| usage.get(*key)).cloned()
    }
}

/// The messages in an input or an output: a list, under `messages`, the generations of LangChain, choices, one message, or a text.
fn messages(value: &Value, role: &str) -> Option<Value> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
        Value::String(text) => Some(text_messages(text, role)),
        Value::Array(list) => match list.first() {
            Some(Value::Array(inner))
                if inner
                    .iter()
                    .all(|element| element.is_object() || element.is_array()) =>
            {
                messages(list.first()?, role)
            }
            _ => Some(value.clone()),
        },
        Value::Object(fields) => {
            if let Some(list) = fields.get("messages") {
                return messages(list, role);
            }
            if let Some(generation) = value.pointer("/generations/0/0") {
                let message = generation.get("message");
                return messages(message.or_else(|| generation.get("text"))?, role);
            }
            if let Some(choice) = value.pointer("/choices/0/message") {
                return messages(choice, role);
            }
            if ["content", "role", "kwargs", "tool_calls"]
                .iter()
                .any(|key| fields.contains_key(*key))
            {
                return Some(json!([with_role(value, role)]));
            }
            let texts: Vec<&str> = fields.values().filter_map(Value::as_str).collect();
            let named = ["output", "answer", "input", "question", "query"]
                .iter()
                .find_map(|key| fields.get(*key)?.as_str());
            named
                .or_else(|| texts.first().copied().filter(|_| texts.len() == 1))
                .map(|text| text_messages(text, role))
        }
    }
}

fn text_messages(text: &str, role: &str) -> Value {
    json!([{ "role": role, "content": text }])
}

fn with_role(message: &Value, role: &str) -> Value {
    let mut message = message.clone();
    if let Some(fields) = message
        .as_object_mut()
        .filter(|fields| !fields.contains_key("type"))
    {
        fields.entry("role").or_insert_with(|| json!(role));
    }
    message
}
