//! Passes a request on to the model's server, and the answer back, piece by piece as it arrives.

use std::error::Error;

use reqwest::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderMap, HeaderName,
    TRANSFER_ENCODING,
};
use reqwest::{Method, Response, Url};
use serde_json::Value;
use tokio::time::Instant;

use super::endpoint_answers::{EndpointAnswer, recorded_body, refusal};
use super::http_connection::HttpConnection;
use super::observed::Observed;
use super::sample_key::SampleKey;
use super::upstream::Upstreams;
use crate::model::{ExchangeWire, RecordedExchange, RecordedRequest, RecordedResponse};
use crate::text::line;

/// Headers that belong to one connection. Without `accept-encoding`, answers arrive as they are recorded.
const OF_CONNECTION: [HeaderName; 6] = [
    ACCEPT_ENCODING,
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    HOST,
    TRANSFER_ENCODING,
];

/// A call of a model, on its way to the model's server.
pub struct ForwardedCall<'a> {
    pub upstreams: &'a Upstreams,
    /// What the endpoint saw.
    pub observed: &'a Observed,
    /// The key that the agent sends, which is replaced by the real one.
    pub key: &'a SampleKey,
    pub wire: ExchangeWire,
    /// The request in its recorded form.
    pub request: RecordedRequest,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl ForwardedCall<'_> {
    /// Passes the call on, and its answer back. The exchange is kept before the answer ends, so that an agent that ends at once loses
    /// none.
    ///
    /// # Errors
    /// The answer of goldgate itself, if the server gave none.
    pub async fn pass(self, connection: &mut HttpConnection) -> Result<(), EndpointAnswer> {
        let Self {
            upstreams,
            observed,
            key,
            wire,
            request,
            mut headers,
            body,
        } = self;
        let place = observed.begin().map_err(|why| refusal(429, &why))?;
        let method = Method::from_bytes(request.method.as_bytes()).ok();
        let (Some(url), Some(method)) = (upstreams.address(wire, &request.path), method) else {
            return Err(refusal(400, "the path of the request is not valid"));
        };
        OF_CONNECTION
            .iter()
            .for_each(|name| drop(headers.remove(name)));
        upstreams
            .authorize(wire, key, &mut headers)
            .map_err(|why| refusal(401, &why.to_string()))?;
        let begun = Instant::now();
        let server = origin(&url);
        let sent = upstreams
            .client
            .request(method, url)
            .headers(headers)
            .body(body)
            .send()
            .await;
        let answer = sent.map_err(|error| {
            let why = format!(
                "the model's server {server} cannot be reached: {}",
                cause(error)
            );
            observed.unreachable(why.clone());
            refusal(502, &why)
        })?;
        let status = answer.status().as_u16();
        let content_type = answer
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .map(str::to_owned);
        if let Some(whole) = passed_back(answer, observed, connection).await {
            let latency_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            let response = RecordedResponse {
                status,
                content_type,
                body: recorded_body(&whole),
            };
            observed.keep(
                place,
                RecordedExchange {
                    wire,
                    request,
                    response,
                    latency_ms,
                },
            );
            // A client that is gone needs no end.
            let _ = connection.end().await;
        }
        Ok(())
    }
}

/// Passes an answer back, and returns its body; `None` if it broke off. The body is not ended.
async fn passed_back(
    mut answer: Response,
    observed: &Observed,
    connection: &mut HttpConnection,
) -> Option<Vec<u8>> {
    let mut headers = answer.headers().clone();
    OF_CONNECTION
        .iter()
        .for_each(|name| drop(headers.remove(name)));
    let mut whole = Vec::new();
    let mut sent = connection.begin(answer.status().as_u16(), &headers).await;
    // An agent that has seen enough of a stream ends it; what it saw is recorded.
    while sent.is_ok() {
        let piece = match answer.chunk().await {
            Ok(Some(piece)) => piece,
            Ok(None) => break,
            Err(error) => {
                observed.unreachable(format!(
                    "the answer of the model broke off: {}",
                    cause(error)
                ));
                return None;
            }
        };
        observed.count(piece.len()).ok()?;
        whole.extend_from_slice(&piece);
        sent = connection.piece(&piece).await;
    }
    Some(whole)
}

/// The server of an address, without what may be secret: `https://api.openai.com`, `http://127.0.0.1:8080`.
fn origin(url: &Url) -> String {
    line(&url.origin().ascii_serialization(), 200)
}

/// The innermost cause. The address is left out, because its query may contain a key.
fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn Error = &error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    line(&innermost.to_string(), 200)
}

/// The body of a recorded answer as it was sent.
pub fn sent_body(body: &Value) -> Vec<u8> {
    match body {
        Value::String(text) => text.clone().into_bytes(),
        Value::Null => Vec::new(),
        body @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            body.to_string().into_bytes()
        }
    }
}
