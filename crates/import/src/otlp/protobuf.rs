//! Converts OTLP traces in protobuf to OTLP's JSON encoding. The field numbers are those of opentelemetry-proto, which are frozen.

use prost::Message;
use serde_json::{Map, Value, json};

/// The body of an export request, or a file of such bodies.
#[derive(Clone, PartialEq, Message)]
struct TraceDump {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceDump>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceDump {
    #[prost(message, optional, tag = "1")]
    resource: Option<AttributesDump>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeDump>,
}

#[derive(Clone, PartialEq, Message)]
struct AttributesDump {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<AttributeDump>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeDump {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<SpanDump>,
}

#[derive(Clone, PartialEq, Message)]
struct SpanDump {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(fixed64, tag = "7")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<AttributeDump>,
    #[prost(message, repeated, tag = "11")]
    events: Vec<EventDump>,
    #[prost(message, optional, tag = "15")]
    status: Option<StatusDump>,
}

#[derive(Clone, PartialEq, Message)]
struct EventDump {
    #[prost(string, tag = "2")]
    name: String,
    #[prost(message, repeated, tag = "3")]
    attributes: Vec<AttributeDump>,
}

#[derive(Clone, PartialEq, Message)]
struct StatusDump {
    #[prost(string, tag = "2")]
    message: String,
    #[prost(int32, tag = "3")]
    code: i32,
}

#[derive(Clone, PartialEq, Message)]
struct AttributeDump {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<ValueDump>,
}

#[derive(Clone, PartialEq, Message)]
struct ValueDump {
    #[prost(oneof = "ValueForm", tags = "1, 2, 3, 4, 5, 6, 7")]
    value: Option<ValueForm>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum ValueForm {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(bool, tag = "2")]
    Truth(bool),
    #[prost(int64, tag = "3")]
    Whole(i64),
    #[prost(double, tag = "4")]
    Number(f64),
    #[prost(message, tag = "5")]
    List(ListDump),
    #[prost(message, tag = "6")]
    Object(AttributesDump),
    #[prost(bytes = "vec", tag = "7")]
    Bytes(Vec<u8>),
}

#[derive(Clone, PartialEq, Message)]
struct ListDump {
    #[prost(message, repeated, tag = "1")]
    values: Vec<ValueDump>,
}

/// The JSON of traces in protobuf; `None` if the bytes are something else. Bodies that were written one after the other are one.
pub fn json_of_protobuf(bytes: &[u8]) -> Option<String> {
    let dump = TraceDump::decode(bytes).ok()?;
    let mut scopes = dump
        .resource_spans
        .iter()
        .flat_map(|resource| &resource.scope_spans);
    if scopes.all(|scope| scope.spans.is_empty()) {
        return None;
    }
    let resources: Vec<Value> = dump.resource_spans.into_iter().map(resource).collect();
    Some(json!({ "resourceSpans": resources }).to_string())
}

fn resource(dump: ResourceDump) -> Value {
    let around = dump
        .resource
        .map_or_else(Vec::new, |resource| resource.attributes);
    json!({
        "resource": { "attributes": attributes(around) },
        "scopeSpans": dump.scope_spans.into_iter().map(scope).collect::<Vec<_>>(),
    })
}

fn scope(dump: ScopeDump) -> Value {
    json!({ "spans": dump.spans.into_iter().map(span).collect::<Vec<_>>() })
}

fn span(dump: SpanDump) -> Value {
    let status = dump
        .status
        .map(|status| json!({ "message": status.message, "code": status.code }));
    json!({
        "traceId": hex::encode(dump.trace_id),
        "spanId": hex::encode(dump.span_id),
        "name": dump.name,
        "parentSpanId": hex::encode(dump.parent_span_id),
        "startTimeUnixNano": dump.start_time_unix_nano.to_string(),
        "endTimeUnixNano": dump.end_time_unix_nano.to_string(),
        "attributes": attributes(dump.attributes),
        "events": dump.events.into_iter().map(event).collect::<Vec<_>>(),
        "status": status,
    })
}

fn event(dump: EventDump) -> Value {
    json!({ "name": dump.name, "attributes": attributes(dump.attributes) })
}

fn attributes(list: Vec<AttributeDump>) -> Vec<Value> {
    list.into_iter()
        .map(|attribute| json!({ "key": attribute.key, "value": attribute.value.and_then(value) }))
        .collect()
}

fn value(dump: ValueDump) -> Option<Value> {
    let (key, value) = match dump.value? {
        ValueForm::Text(text) => ("stringValue", json!(text)),
        ValueForm::Truth(truth) => ("boolValue", json!(truth)),
        ValueForm::Whole(number) => ("intValue", json!(number.to_string())),
        ValueForm::Number(number) => ("doubleValue", json!(number)),
        ValueForm::List(list) => {
            let values: Vec<Value> = list.values.into_iter().filter_map(self::value).collect();
            ("arrayValue", json!({ "values": values }))
        }
        ValueForm::Object(object) => (
            "kvlistValue",
            json!({ "values": attributes(object.attributes) }),
        ),
        ValueForm::Bytes(bytes) => ("bytesValue", json!(hex::encode(bytes))),
    };
    Some(Value::Object(Map::from_iter([(key.to_owned(), value)])))
}
