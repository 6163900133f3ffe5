//! Exports traces over HTTP in protobuf to the receivers named in the environment. A failure is a warning and changes no verdict.

use std::time::Duration;

use anyhow::Context;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url};

use super::env::Env;
use super::runtime::start_runtime;
use super::web;
use crate::format::otlp;
use crate::format::otlp::{Content, ExportedRun};
use crate::model::Traced;
use crate::text::decoded;

/// Attempts per request.
const TRIES: u32 = 3;
/// The longest wait before a retry, even if the receiver requests more.
const TIMEOUTS: Duration = Duration::from_secs(5);
/// Bytes read of an answer; a valid one is shorter.
const ANSWER_BYTES: usize = 64 * 1024;

struct Receiver {
    url: Url,
    headers: HeaderMap,
    timeout: Duration,
}

/// Sends finished samples to every receiver in the environment, and returns one warning per failed receiver. `samples` is called only
/// if there is a receiver. Blocks on a runtime of its own, so call it after all samples are done.
pub fn export(env: &Env, started_at: &str, samples: impl FnOnce() -> Vec<Traced>) -> Vec<String> {
    if is_on(env, &["OTEL_SDK_DISABLED"]) {
        return Vec::new();
    }
    let named: Vec<_> = [standard(env), langsmith(env)]
        .into_iter()
        .flatten()
        .collect();
    if named.is_empty() {
        return Vec::new();
    }
    let samples = samples();
    if samples.is_empty() {
        return Vec::new();
    }
    let (resource, mut warnings) = resource(env);
    let is_sent = is_on(env, &["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"]);
    let content = if is_sent {
        Content::Sent
    } else {
        Content::Kept
    };
    let run = ExportedRun {
        started_at: started_at.to_owned(),
        resource,
        content,
    };
    let requests = otlp::requests(&run, &samples);
    for receiver in named {
        let sent = receiver.and_then(|receiver| {
            // A URL's path may contain a key, so only the host is shown.
            let host = receiver.url.host_str().unwrap_or_default().to_owned();
            receiver
                .send(&requests)
                .with_context(|| format!("while sending to {host}"))
        });
        if let Err(error) = sent {
            warnings.push(format!("warning: traces were not sent: {error:#}"));
        }
    }
    warnings
}

fn is_on(env: &Env, names: &[&str]) -> bool {
    names.iter().any(|name| {
        env.get(name)
            .is_some_and(|value| value.eq_ignore_ascii_case("true"))
    })
}

fn first<'a>(env: &'a Env, names: &[&'static str]) -> Option<(&'static str, &'a str)> {
    names.iter().find_map(|name| Some((*name, env.get(name)?)))
}

/// The receiver named by OpenTelemetry's own variables.
fn standard(env: &Env) -> Option<anyhow::Result<Receiver>> {
    if env.get("OTEL_TRACES_EXPORTER") == Some("none") {
        return None;
    }
    if let Some((name, url)) = first(env, &["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]) {
        return Some(of_standard(env, name, url));
    }
    let (name, base) = first(env, &["OTEL_EXPORTER_OTLP_ENDPOINT"])?;
    let url = format!("{}/v1/traces", base.trim_end_matches('/'));
    Some(of_standard(env, name, &url))
}

fn of_standard(env: &Env, name: &str, url: &str) -> anyhow::Result<Receiver> {
    let protocol = first(
        env,
        &[
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
            "OTEL_EXPORTER_OTLP_PROTOCOL",
        ],
    );
    if let Some((name, protocol)) = protocol.filter(|(_, protocol)| *protocol != "http/protobuf") {
        anyhow::bail!("{name} is {protocol:?}; goldgate sends http/protobuf");
    }
    let headers = match first(
        env,
        &[
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            "OTEL_EXPORTER_OTLP_HEADERS",
        ],
    ) {
        // The value is not shown, because it contains keys.
        Some((name, list)) => {
            pairs(list).with_context(|| format!("{name} is not a list of name=value"))?
        }
        None => Vec::new(),
    };
    let mut map = HeaderMap::new();
    for (name, value) in &headers {
        put(&mut map, name, value)?;
    }
    let timeout = match first(
        env,
        &[
            "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
            "OTEL_EXPORTER_OTLP_TIMEOUT",
        ],
    ) {
        Some((name, text)) => {
            let milliseconds = text
                .parse()
                .ok()
                .with_context(|| format!("{name} is {text:?}; use milliseconds"));
            Duration::from_millis(milliseconds?)
        }
        None => Duration::from_secs(10),
    };
    Ok(Receiver {
        url: address(name, url)?,
        headers: map,
        timeout,
    })
}

/// LangSmith's endpoint, named by LangSmith's variables or LangChain's older ones.
fn langsmith(env: &Env) -> Option<anyhow::Result<Receiver>> {
    let switches = [
        "LANGSMITH_TRACING",
        "LANGSMITH_TRACING_V2",
        "LANGCHAIN_TRACING_V2",
        "LANGCHAIN_TRACING",
    ];
    is_on(env, &switches).then(|| of_langsmith(env))
}

fn of_langsmith(env: &Env) -> anyhow::Result<Receiver> {
    let key = first(env, &["LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"]);
    let (_, key) = key.context("LangSmith tracing is on, but LANGSMITH_API_KEY is not set")?;
    let stated = first(env, &["LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"]);
    let (name, base) = stated.unwrap_or(("LANGSMITH_ENDPOINT", "https://api.smith.langchain.com"));
    let mut headers = HeaderMap::new();
    put(&mut headers, "x-api-key", key)?;
    if let Some((_, project)) = first(env, &["LANGSMITH_PROJECT", "LANGCHAIN_PROJECT"]) {
        put(&mut headers, "langsmith-project", project)?;
    }
    let url = format!("{}/otel/v1/traces", base.trim_end_matches('/'));
    Ok(Receiver {
        url: address(name, &url)?,
        headers,
        timeout: Duration::from_secs(10),
    })
}

/// Adds a header with a secret value.
fn put(headers: &mut HeaderMap, name: &str, value: &str) -> anyhow::Result<()> {
    let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name), HeaderValue::try_from(value))
    else {
        anyhow::bail!(
            "the header {name:?} cannot be sent: its name or value is not a valid header"
        );
    };
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

fn address(name: &str, url: &str) -> anyhow::Result<Url> {
    let url = Url::parse(url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.with_context(|| format!("{name} is not a valid address; use one such as http://host:4318"))
}

/// The resource attributes, and warnings about those that could not be read.
fn resource(env: &Env) -> (Vec<(String, String)>, Vec<String>) {
    let mut warnings = Vec::new();
    let stated = env.get("OTEL_RESOURCE_ATTRIBUTES").map(pairs);
    let mut attributes = match stated {
        Some(Err(_)) => {
            warnings.push(
                "warning: OTEL_RESOURCE_ATTRIBUTES is not a list of name=value and is not sent"
                    .to_owned(),
            );
            Vec::new()
        }
        Some(Ok(pairs)) => pairs,
        None => Vec::new(),
    };
    if let Some(name) = env.get("OTEL_SERVICE_NAME") {
        attributes.retain(|(key, _)| key != "service.name");
        attributes.insert(0, ("service.name".to_owned(), name.to_owned()));
    }
    if !attributes.iter().any(|(key, _)| key == "service.name") {
        attributes.insert(0, ("service.name".to_owned(), "goldgate".to_owned()));
    }
    (attributes, warnings)
}

/// Parses `name=value,name=value` with percent-encoded values.
fn pairs(list: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    for part in list.split(',').map(str::trim) {
        if !part.is_empty() {
            pairs.push(pair(part).context("an entry has no name or no value")?);
        }
    }
    Ok(pairs)
}

fn pair(part: &str) -> Option<(String, String)> {
    let (name, value) = part.split_once('=')?;
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    Some((name.to_owned(), decoded(value.trim())?))
}

impl Receiver {
    /// Sends all requests in order; stops at the first failure.
    fn send(&self, requests: &[Vec<u8>]) -> anyhow::Result<()> {
        let runtime = start_runtime()?;
        let client = web::client_for_targets()?;
        let mut rejected = 0;
        for body in requests {
            rejected += runtime.block_on(self.delivered(&client, body))?;
        }
        anyhow::ensure!(rejected == 0, "the receiver rejected {rejected} spans");
        Ok(())
    }

    /// Sends one request with retries, and returns the number of spans that the receiver rejected.
    async fn delivered(&self, client: &Client, body: &[u8]) -> anyhow::Result<u64> {
        let mut tries = 1;
        loop {
            let (wait, refusal) = match self.posted(client, body).await {
                Ok(answer) if answer.status().is_success() => {
                    return Ok(otlp::rejected(&read_response(answer).await));
                }
                Ok(answer) => (
                    pause(&answer, tries),
                    anyhow::anyhow!("the receiver answered {}", answer.status()),
                ),
                // The URL may contain a key.
                Err(error) => (Some(backoff(tries)), error.without_url().into()),
            };
            match wait {
                Some(wait) if tries < TRIES => tokio::time::sleep(wait.min(TIMEOUTS)).await,
                Some(_) | None => return Err(refusal),
            }
            tries += 1;
        }
    }

    async fn posted(&self, client: &Client, body: &[u8]) -> reqwest::Result<Response> {
        let request = client
            .post(self.url.clone())
            .timeout(self.timeout)
            .headers(self.headers.clone());
        request
            .header("content-type", "application/x-protobuf")
            .body(body.to_vec())
            .send()
            .await
    }
}

/// The answer's body; empty if it is too long.
async fn read_response(mut answer: Response) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Ok(Some(more)) = answer.chunk().await {
        bytes.extend_from_slice(&more);
        if bytes.len() > ANSWER_BYTES {
            return Vec::new();
        }
    }
    bytes
}

/// How long to wait before a retry; `None` if a retry would not help.
fn pause(answer: &Response, tries: u32) -> Option<Duration> {
    let again = matches!(
        answer.status(),
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    );
    let requested = answer
        .headers()
        .get("retry-after")
        .and_then(|value| value.to_str().ok()?.trim().parse().ok());
    again.then(|| requested.map_or_else(|| backoff(tries), Duration::from_secs))
}

/// 0.25, 0.5, 1 seconds.
fn backoff(tries: u32) -> Duration {
    Duration::from_millis(125 << tries.min(4))
}
