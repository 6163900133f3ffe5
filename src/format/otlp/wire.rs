//! OTLP's messages in protobuf, as far as spans need them; the numbers are those of opentelemetry-proto, which are frozen.

/// What is posted.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ExportRequest {
    /// The spans of each resource.
    #[prost(message, repeated, tag = "1")]
    pub resource_spans: Vec<ResourceSpans>,
}

/// The spans of one resource.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ResourceSpans {
    /// Who made them.
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    /// Its spans by what made them.
    #[prost(message, repeated, tag = "2")]
    pub scope_spans: Vec<ScopeSpans>,
}

/// Who made spans.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Resource {
    /// What is said of it.
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<OtlpAttribute>,
}

/// The spans that one program made.
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
    /// 8 bytes, or none at the root.
    #[prost(bytes = "vec", tag = "4")]
    pub parent_span_id: Vec<u8>,
    /// What people see.
    #[prost(string, tag = "5")]
    pub name: String,
    /// Whether it is a call to the outside.
    #[prost(enumeration = "SpanKind", tag = "6")]
    pub kind: i32,
    /// Nanoseconds after 1970.
    #[prost(fixed64, tag = "7")]
    pub start_time_unix_nano: u64,
    /// The same.
    #[prost(fixed64, tag = "8")]
    pub end_time_unix_nano: u64,
    /// What is said of it.
    #[prost(message, repeated, tag = "9")]
    pub attributes: Vec<OtlpAttribute>,
    /// How it ended.
    #[prost(message, optional, tag = "15")]
    pub status: Option<SpanStatus>,
}

/// Whether a span is a call to the outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum SpanKind {
    /// Not said.
    Unspecified = 0,
    /// It is not.
    Internal = 1,
    /// It is.
    Client = 3,
}

/// How a span ended.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SpanStatus {
    /// What was said of it.
    #[prost(string, tag = "2")]
    pub message: String,
    /// Well or not.
    #[prost(enumeration = "SpanCode", tag = "3")]
    pub code: i32,
}

/// Whether a span ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum SpanCode {
    /// Not said, which stands for well.
    Unset = 0,
    /// It failed.
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
    /// One of its forms.
    #[prost(oneof = "OtlpValueForm", tags = "1, 3, 4, 5")]
    pub value: Option<OtlpValueForm>,
}

/// The forms of a value.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum OtlpValueForm {
    /// A text.
    #[prost(string, tag = "1")]
    Text(String),
    /// A whole number.
    #[prost(int64, tag = "3")]
    Whole(i64),
    /// A number.
    #[prost(double, tag = "4")]
    Number(f64),
    /// A list.
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

/// What a receiver answers.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Response {
    /// What it did not take.
    #[prost(message, optional, tag = "1")]
    pub partial_success: Option<PartialSuccess>,
}

/// What a receiver did not take.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PartialSuccess {
    /// So many spans.
    #[prost(int64, tag = "1")]
    pub rejected_spans: i64,
}
