//! One HTTP request to a target.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Method, Response, Url};
use serde_json::Value;
use tokio::time::timeout;

use super::{MAX_ANSWER_BYTES, Timeouts, display_timeout, lasting, passing};
use crate::live::wire;
use crate::model::{CallError, Retry, RunStatus};
use crate::text::line;

/// A request that is ready to be sent.
pub struct TargetRequest<'a> {
    pub client: &'a Client,
    /// The method, usually `POST`.
    pub method: Method,
    pub url: Url,
    /// Its headers, including keys.
    pub headers: HeaderMap,
    pub body: String,
    pub timeouts: Timeouts,
}

impl TargetRequest<'_> {
    /// Sends the request and returns the content type and body of a successful answer.
    ///
    /// # Errors
    /// The call's failure. Its text contains no header and no query.
    pub async fn bytes(self) -> Result<(Option<String>, Vec<u8>), CallError> {
        let call = self.timeouts.call;
        timeout(call, self.send())
            .await
            .unwrap_or_else(|_| Err(too_slow(call)))
    }

    /// Sends the request and returns the unchanged text of a JSON answer.
    pub async fn text(self) -> Result<String, CallError> {
        let (kind, body) = self.bytes().await?;
        wire::answer(kind.as_deref(), &body)?;
        String::from_utf8(body).map_err(|_| passing("the answer is not UTF-8".to_owned()).charged())
    }

    /// Sends the request and parses the JSON answer.
    pub async fn answer(self) -> Result<Value, CallError> {
        let (kind, body) = self.bytes().await?;
        wire::answer(kind.as_deref(), &body)
    }

    async fn send(self) -> Result<(Option<String>, Vec<u8>), CallError> {
        let sent = self
            .client
            .request(self.method, self.url)
            .headers(self.headers)
            .body(self.body)
            .send()
            .await;
        let response = sent.map_err(broken)?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = body(response, self.timeouts.stall).await;
        match status {
            200..=299 => Ok((
                text(&headers, CONTENT_TYPE.as_str()).map(str::to_owned),
                body?,
            )),
            // The body of an error answer is useful, but may be incomplete.
            _ => Err(refused(status, &headers, &body.unwrap_or_default())),
        }
    }
}

fn too_slow(call: Duration) -> CallError {
    let message = format!("no answer within {}", display_timeout(call));
    CallError {
        status: RunStatus::Timeout,
        ..passing(message)
    }
    .charged()
}

/// The failure of a broken connection. The address is left out, because its query may contain a key.
fn broken(error: reqwest::Error) -> CallError {
    let (build, sent) = (error.is_builder(), !error.is_connect());
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    let message = line(&text, 300);
    match (build, sent) {
        (true, _) => lasting(message),
        (false, false) => passing(message),
        (false, true) => passing(message).charged(),
    }
}

async fn body(mut response: Response, stall: Duration) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    loop {
        let piece = timeout(stall, response.chunk()).await.map_err(|_| {
            let message = format!(
                "the answer stopped after {} bytes for {}",
                body.len(),
                display_timeout(stall)
            );
            CallError {
                status: RunStatus::Stalled,
                ..passing(message)
            }
            .charged()
        })?;
        let Some(piece) = piece.map_err(broken)? else {
            return Ok(body);
        };
        if body.len() + piece.len() > MAX_ANSWER_BYTES {
            return Err(lasting(format!(
                "the answer is larger than {} MiB",
                MAX_ANSWER_BYTES >> 20
            ))
            .charged());
        }
        body.extend_from_slice(&piece);
    }
}

fn refused(status: u16, headers: &HeaderMap, body: &[u8]) -> CallError {
    let error_body: Value = serde_json::from_slice(body).unwrap_or_default();
    let shown = wire::refusal(&error_body)
        .unwrap_or_else(|| line(&String::from_utf8_lossy(&body[..body.len().min(800)]), 200));
    let message = match shown.as_str() {
        "" => format!("HTTP {status}"),
        shown => format!("HTTP {status}: {shown}"),
    };
    let transient = matches!(status, 408 | 409 | 429 | 500..=599)
        && !(status == 429 && wire::is_final(&error_body));
    // Both vendors' own clients follow this header.
    let again = match text(headers, "x-should-retry") {
        Some("true") => true,
        Some("false") => false,
        Some(_) | None => transient,
    };
    if !again {
        return lasting(message);
    }
    let hint = wire::RetryHint {
        after: text(headers, RETRY_AFTER.as_str()),
        after_ms: text(headers, "retry-after-ms"),
        date: text(headers, DATE.as_str()),
    };
    CallError {
        retry: Retry::Later {
            after: wire::wait(hint),
        },
        ..passing(message)
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
