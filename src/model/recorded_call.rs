//! Exchanges between an agent and its model: what was asked over HTTP, and what was answered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::words::words;

words! {
    /// The wire format of a recorded exchange.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum ExchangeWire {
        /// Chat completions, responses and the other addresses of OpenAI's API.
        OpenAi = "openai",
        /// Messages and the other addresses of Anthropic's API.
        Anthropic = "anthropic",
    }
}

words! {
    /// What the run record of a captured agent is made from.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum CaptureSource {
        /// The answers of its models: OpenAI's above all.
        OpenAi = "openai",
        /// The answers of its models: Anthropic's above all.
        Anthropic = "anthropic",
        /// The spans that it exports over OTLP.
        Otlp = "otlp",
        /// The answers of its models; without any, its spans.
        Auto = "auto",
    }
}

words! {
    /// What the answer of a captured program is. A recording keeps it under `intermediate.answered_by`, once for each start of the
    /// program.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Answerer {
        /// What it printed.
        Program = "program",
        /// What its model said last: it printed nothing.
        Model = "model",
    }
}

/// One request to a model, and its answer. A recording keeps it under `intermediate.exchanges`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedExchange {
    /// The wire format.
    pub wire: ExchangeWire,
    /// What was asked.
    pub request: RecordedRequest,
    /// What was answered.
    pub response: RecordedResponse,
    /// The time until the end of the answer, in milliseconds.
    pub latency_ms: u64,
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedRequest {
    /// The HTTP method.
    pub method: String,
    /// The path below the vendor's version, such as `/chat/completions`, with its query.
    pub path: String,
    /// The names of its headers, without their values: some are keys.
    #[serde(default)]
    pub headers: Vec<String>,
    /// The body: its JSON, or another text.
    #[serde(default)]
    pub body: Value,
}

/// The answer of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedResponse {
    /// The HTTP status.
    pub status: u16,
    /// The type of its body.
    pub content_type: Option<String>,
    /// The body: its JSON, or another text such as an event stream.
    #[serde(default)]
    pub body: Value,
}
