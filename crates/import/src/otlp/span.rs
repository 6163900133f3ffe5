//! Parses spans of OTLP's JSON encoding, and reads attributes under the conventions' current and older names.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use crate::problem::Problem;
use crate::source::{fields, offset_of};

/// One export request: the collector's file exporter writes one per line.
#[derive(Deserialize)]
pub struct TraceRequest<'a> {
    #[serde(borrow, rename = "resourceSpans", alias = "resource_spans")]
    pub resources: Vec<ResourceForm<'a>>,
}

#[derive(Deserialize)]
pub struct ResourceForm<'a> {
    #[serde(default)]
    resource: Option<AttributesForm>,
    #[serde(borrow, default, rename = "scopeSpans", alias = "scope_spans")]
    scopes: Vec<ScopeForm<'a>>,
}

#[derive(Deserialize)]
struct AttributesForm {
    #[serde(default)]
    attributes: Vec<TraceAttribute>,
}

#[derive(Deserialize)]
struct ScopeForm<'a> {
    #[serde(borrow, default)]
    spans: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpanForm {
    #[serde(alias = "trace_id")]
    trace_id: String,
    #[serde(alias = "span_id")]
    span_id: String,
    #[serde(default)]
    name: String,
    #[serde(default, alias = "parent_span_id")]
    parent_span_id: Option<String>,
    #[serde(default, alias = "start_time_unix_nano")]
    start_time_unix_nano: IntegerText,
    #[serde(default, alias = "end_time_unix_nano")]
    end_time_unix_nano: IntegerText,
    #[serde(default)]
    attributes: Vec<TraceAttribute>,
    #[serde(default)]
    events: Vec<EventForm>,
    #[serde(default)]
    status: Option<TraceStatusForm>,
}

#[derive(Deserialize)]
struct EventForm {
    #[serde(default)]
    name: String,
    #[serde(default)]
    attributes: Vec<TraceAttribute>,
}

#[derive(Deserialize)]
struct TraceStatusForm {
    #[serde(default)]
    code: Value,
    #[serde(default)]
    message: Option<String>,
}

#[derive(Deserialize)]
struct TraceAttribute {
    key: String,
    #[serde(default)]
    value: Option<TraceValue>,
}

#[derive(Deserialize)]
enum TraceValue {
    #[serde(rename = "stringValue", alias = "string_value")]
    Text(String),
    #[serde(rename = "boolValue", alias = "bool_value")]
    Truth(bool),
    #[serde(rename = "intValue", alias = "int_value")]
    Whole(IntegerText),
    #[serde(rename = "doubleValue", alias = "double_value")]
    Number(Value),
    #[serde(rename = "arrayValue", alias = "array_value")]
    List(TraceListForm),
    #[serde(rename = "kvlistValue", alias = "kvlist_value")]
    Object(ObjectForm),
    #[serde(rename = "bytesValue", alias = "bytes_value")]
    Bytes(String),
}

#[derive(Deserialize)]
struct TraceListForm {
    #[serde(default)]
    values: Vec<TraceValue>,
}

#[derive(Deserialize)]
struct ObjectForm {
    #[serde(default)]
    values: Vec<TraceAttribute>,
}

/// A whole number, which protobuf's JSON encoding writes as a string.
#[derive(Deserialize, Clone, Copy, Default)]
#[serde(try_from = "Value")]
struct IntegerText(i64);

impl TryFrom<Value> for IntegerText {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let whole = match &value {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        whole
            .map(Self)
            .ok_or_else(|| format!("invalid value: {value}, expected a whole number"))
    }
}

impl TraceValue {
    fn value(self) -> Value {
        match self {
            Self::Text(text) | Self::Bytes(text) => Value::String(text),
            Self::Truth(truth) => Value::Bool(truth),
            Self::Whole(IntegerText(number)) => Value::Number(Number::from(number)),
            Self::Number(number) => number,
            Self::List(list) => list.values.into_iter().map(Self::value).collect(),
            Self::Object(object) => Value::Object(attributes(object.values).into_iter().collect()),
        }
    }
}

pub type Attributes = BTreeMap<String, Value>;

fn attributes(list: Vec<TraceAttribute>) -> Attributes {
    list.into_iter()
        .map(|attribute| {
            (
                attribute.key,
                attribute.value.map_or(Value::Null, TraceValue::value),
            )
        })
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanOperation {
    Agent,
    /// A call of a model.
    Chat,
    Tool,
    Other,
}

pub struct TraceSpan {
    /// The byte offset at which it starts.
    pub at: usize,
    /// The trace id in lower case.
    pub trace: String,
    /// The span id in lower case.
    pub id: String,
    /// The id of the parent span; empty for a root span.
    pub parent: String,
    /// Start time in nanoseconds since 1970.
    pub start: i64,
    /// End time in nanoseconds since 1970.
    pub end: i64,
    /// Its attributes, including those of its resource.
    pub attributes: Attributes,
    pub events: Vec<(String, Attributes)>,
    /// The error message, if its status is an error.
    pub failed: Option<String>,
}

/// Reads the spans of a request, in order.
///
/// # Errors
/// The position of the first invalid span.
pub fn spans(text: &str, raw: &RawValue) -> Result<Vec<TraceSpan>, Problem> {
    let request: TraceRequest<'_> = fields(text, raw)?;
    let mut spans = Vec::new();
    for resource in request.resources {
        let around = attributes(resource.resource.map_or(Vec::new(), |form| form.attributes));
        for raw in resource.scopes.iter().flat_map(|scope| &scope.spans) {
            let form: SpanForm = fields(text, raw)?;
            spans.push(TraceSpan::of(form, offset_of(text, raw), around.clone()));
        }
    }
    Ok(spans)
}

impl TraceSpan {
    fn of(form: SpanForm, at: usize, mut all: Attributes) -> Self {
        all.extend(attributes(form.attributes));
        if all.contains_key("langfuse.observation.type") {
            all.insert(
                "langfuse.observation.name".to_owned(),
                Value::String(form.name),
            );
        }
        let failed = form
            .status
            .filter(TraceStatusForm::is_error)
            .map(|status| status.message.unwrap_or_default());
        Self {
            at,
            trace: form.trace_id.to_ascii_lowercase(),
            id: form.span_id.to_ascii_lowercase(),
            parent: form.parent_span_id.unwrap_or_default().to_ascii_lowercase(),
            start: form.start_time_unix_nano.0,
            end: form.end_time_unix_nano.0,
            attributes: all,
            events: form
                .events
                .into_iter()
                .map(|event| (event.name, attributes(event.attributes)))
                .collect(),
            failed,
        }
    }

    /// The first of these attributes that is a text.
    pub fn text(&self, keys: &[&str]) -> Option<&str> {
        keys.iter()
            .find_map(|key| self.attributes.get(*key)?.as_str())
            .filter(|text| !text.is_empty())
    }

    /// The first of these attributes that is a count.
    pub fn count(&self, keys: &[&str]) -> Option<u64> {
        keys.iter()
            .find_map(|key| self.attributes.get(*key)?.as_u64())
    }

    /// The tool that it names.
    pub fn tool(&self) -> Option<&str> {
        self.text(&[
            "gen_ai.tool.name",
            "ai.toolCall.name",
            "traceloop.entity.name",
        ])
    }

    /// The id of the call that the tool of this span answers.
    pub fn call_id(&self) -> Option<&str> {
        self.text(&["gen_ai.tool.call.id", "ai.toolCall.id"])
    }

    /// Its operation. Older spans without an operation name are recognized by their other attributes.
    pub fn operation(&self) -> SpanOperation {
        // The Vercel AI SDK's own span of a tool.
        if self.text(&["ai.operationId"]) == Some("ai.toolCall") {
            return SpanOperation::Tool;
        }
        match self.text(&[
            "gen_ai.operation.name",
            "traceloop.span.kind",
            "llm.request.type",
        ]) {
            Some("invoke_agent" | "invoke_workflow" | "agent" | "workflow") => SpanOperation::Agent,
            Some("chat" | "text_completion" | "generate_content" | "completion") => {
                SpanOperation::Chat
            }
            Some("execute_tool" | "tool") => SpanOperation::Tool,
            Some(_) => SpanOperation::Other,
            None if self.attributes.contains_key("gen_ai.tool.name") => SpanOperation::Tool,
            None if self.attributes.contains_key("gen_ai.request.model") => SpanOperation::Chat,
            None => SpanOperation::Other,
        }
    }

    pub fn latency_ms(&self) -> Option<u64> {
        milliseconds(self.start, self.end)
    }
}

/// Most ancestors of a span that are followed: the parents in a broken trace may form a cycle.
pub const DEPTH: usize = 500;

/// Whether one of the spans is around a span.
pub fn is_inside(span: &TraceSpan, spans: &BTreeSet<&str>, parents: &BTreeMap<&str, &str>) -> bool {
    let around = std::iter::successors(Some(span.parent.as_str()), |id| parents.get(id).copied());
    around
        .take_while(|id| !id.is_empty())
        .take(DEPTH)
        .any(|id| spans.contains(id))
}

/// The milliseconds between two times; `None` if one is missing or they are in the wrong order.
pub fn milliseconds(start: i64, end: i64) -> Option<u64> {
    let nanos = end.checked_sub(start).filter(|_| start > 0)?;
    u64::try_from(nanos).ok().map(|nanos| nanos / 1_000_000)
}

impl TraceStatusForm {
    fn is_error(&self) -> bool {
        self.code == 2 || self.code == "STATUS_CODE_ERROR"
    }
}
