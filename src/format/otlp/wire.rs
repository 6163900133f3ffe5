//! OTLP's protobuf messages for spans. The field numbers are those of opentelemetry-proto, which are frozen.

/// The body of an export request.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ExportRequest {
    /// The spans by resource.
    #[prost(message, repeated, tag = "1")]
    pub resource_spans: Vec<ResourceSpans>,
}

/// The spans of one resource.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ResourceSpans {
    /// The sender.
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    /// Its spans by program.
    #[prost(message, repeated, tag = "2")]
    pub scope_spans: Vec<ScopeSpans>,
}

/// The sender of spans.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Resource {
    /// Its attributes.
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<OtlpAttribute>,
}

/// The spans of one program.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ScopeSpans {
    /// The program.
    #[prost(message, optional, tag = "1")]
    pub scope: Option<Scope>,
    /// Its spans.
    #[prost(message, repeated, tag = "2")]
    pub spans: Vec<OtlpSpan>,
}

/// A program.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Scope {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its version.
    #[prost(string, tag = "2")]
    pub version: String,
}

/// One span.
#[derive(Clone, PartialEq, prost::Message)]
pub struct OtlpSpan {
    /// 16 bytes.
    #[prost(bytes = "vec", tag = "1")]
    pub trace_id: Vec<u8>,
    /// 8 bytes.
    #[prost(bytes = "vec", tag = "2")]
    pub span_id: Vec<u8>,
    /// 8 bytes; empty for the root span.
    #[prost(bytes = "vec", tag = "4")]
    pub parent_span_id: Vec<u8>,
    /// The displayed name.
    #[prost(string, tag = "5")]
    pub name: String,
    /// The direction of the call.
    #[prost(enumeration = "SpanKind", tag = "6")]
    pub kind: i32,
    /// Start time in nanoseconds since 1970.
    #[prost(fixed64, tag = "7")]
    pub start_time_unix_nano: u64,
    /// End time in nanoseconds since 1970.
    #[prost(fixed64, tag = "8")]
    pub end_time_unix_nano: u64,
    /// Its attributes.
    #[prost(message, repeated, tag = "9")]
    pub attributes: Vec<OtlpAttribute>,
    /// How it ended.
    #[prost(message, optional, tag = "15")]
    pub status: Option<SpanStatus>,
}

/// Whether a span is an outgoing call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum SpanKind {
    /// Not specified.
    Unspecified = 0,
    /// Not an outgoing call.
    Internal = 1,
    /// An outgoing call.
    Client = 3,
}

/// How a span ended.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SpanStatus {
    /// The error message.
    #[prost(string, tag = "2")]
    pub message: String,
    /// Success or failure.
    #[prost(enumeration = "SpanCode", tag = "3")]
    pub code: i32,
}

/// Success or failure of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum SpanCode {
    /// Not set, which means success.
    Unset = 0,
    /// Failure.
    Error = 2,
}

/// An attribute.
#[derive(Clone, PartialEq, prost::Message)]
pub struct OtlpAttribute {
    /// Its name.
    #[prost(string, tag = "1")]
    pub key: String,
    /// Its value.
    #[prost(message, optional, tag = "2")]
    pub value: Option<OtlpValue>,
}

/// A value of an attribute.
#[derive(Clone, PartialEq, prost::Message)]
pub struct OtlpValue {
    /// The value in one of its types.
    #[prost(oneof = "OtlpValueForm", tags = "1, 3, 4, 5")]
    pub value: Option<OtlpValueForm>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum OtlpValueForm {
    #[prost(string, tag = "1")]
    Text(String),
    /// A whole number.
    #[prost(int64, tag = "3")]
    Whole(i64),
    #[prost(double, tag = "4")]
    Number(f64),
    #[prost(message, tag = "5")]
    List(List),
}

/// A list of values.
#[derive(Clone, PartialEq, prost::Message)]
pub struct List {
    /// The values.
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<OtlpValue>,
}

/// The answer of a receiver.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Response {
    /// What the receiver rejected.
    #[prost(message, optional, tag = "1")]
    pub partial_success: Option<PartialSuccess>,
}

/// What a receiver rejected.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PartialSuccess {
    /// The number of rejected spans.
    #[prost(int64, tag = "1")]
    pub rejected_spans: i64,
}
