//! The addresses of the endpoint, and the environment variables by which agents find them.

use crate::model::ExchangeWire;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointPath {
    /// A call of a model: the path below the vendor's version, with its query.
    Model(ExchangeWire, String),
    Spans,
    /// An export of logs or numbers, which are not used.
    OtherTelemetry,
    /// A request that the agent sends to another server, through the endpoint as its proxy.
    Elsewhere(String),
    /// None of them.
    Unknown(String),
}

impl EndpointPath {
    pub fn of(target: &str) -> Self {
        if !target.starts_with('/') {
            let address = target
                .split_once("://")
                .map_or(target, |(_, address)| address);
            return Self::Elsewhere(
                address
                    .split(['/', ':', '?'])
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            );
        }
        let (path, query) = target
            .split_once('?')
            .map_or((target, None), |(path, query)| (path, Some(query)));
        let query = query.map_or(String::new(), |query| format!("?{query}"));
        if let Some(rest) = path_below(path, "/openai") {
            return Self::Model(ExchangeWire::OpenAi, format!("/{rest}{query}"));
        }
        if let Some(rest) = path_below(path, "/anthropic") {
            return Self::Model(ExchangeWire::Anthropic, format!("/{rest}{query}"));
        }
        match path_below(path, "/otlp") {
            Some("traces") if query.is_empty() => Self::Spans,
            Some("logs" | "metrics") if query.is_empty() => Self::OtherTelemetry,
            Some(_) | None => Self::Unknown(path.to_owned()),
        }
    }
}

/// What follows the prefix. Some clients have the version in their base address, and others add it.
fn path_below<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(prefix)?.strip_prefix('/')?;
    let rest = rest.strip_prefix("v1/").unwrap_or(rest);
    (!rest.is_empty()).then_some(rest)
}

/// The variables by which the clients of both vendors and OpenTelemetry's exporters find an endpoint on this port, and its key.
pub fn endpoint_variables(port: u16, token: &str) -> Vec<(String, String)> {
    let base = format!("http://127.0.0.1:{port}");
    let variables = [
        ("OPENAI_BASE_URL", format!("{base}/openai/v1")),
        ("OPENAI_API_BASE", format!("{base}/openai/v1")),
        ("OPENAI_API_KEY", token.to_owned()),
        ("ANTHROPIC_BASE_URL", format!("{base}/anthropic")),
        ("ANTHROPIC_API_URL", format!("{base}/anthropic")),
        ("ANTHROPIC_API_KEY", token.to_owned()),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", format!("{base}/otlp")),
        (
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            format!("{base}/otlp/v1/traces"),
        ),
        ("OTEL_EXPORTER_OTLP_HEADERS", format!("x-api-key={token}")),
        (
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            format!("x-api-key={token}"),
        ),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf".to_owned()),
        (
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
            "http/protobuf".to_owned(),
        ),
    ];
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// The variables that also send every other request of an agent to the endpoint, which refuses it: a replay needs no network.
pub fn proxy_variables(port: u16) -> Vec<(String, String)> {
    let proxy = format!("http://127.0.0.1:{port}");
    let names = [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ];
    let proxies = names
        .into_iter()
        .map(|name| (name.to_owned(), proxy.clone()));
    let local = ["NO_PROXY", "no_proxy"]
        .into_iter()
        .map(|name| (name.to_owned(), "127.0.0.1,localhost".to_owned()));
    proxies.chain(local).collect()
}

#[cfg(test)]
mod tests {
    use super::EndpointPath;
    use crate::model::ExchangeWire;

    #[test]
    fn a_path_is_known_with_and_without_its_version() {
        let model = |wire, rest: &str| EndpointPath::Model(wire, rest.to_owned());
        for (uri, wanted) in [
            (
                "/openai/v1/chat/completions",
                model(ExchangeWire::OpenAi, "/chat/completions"),
            ),
            (
                "/openai/responses?x=1",
                model(ExchangeWire::OpenAi, "/responses?x=1"),
            ),
            (
                "/anthropic/v1/messages",
                model(ExchangeWire::Anthropic, "/messages"),
            ),
            (
                "/anthropic/messages",
                model(ExchangeWire::Anthropic, "/messages"),
            ),
            ("/otlp/v1/traces", EndpointPath::Spans),
            ("/otlp/v1/metrics", EndpointPath::OtherTelemetry),
            (
                "/v1/chat/completions",
                EndpointPath::Unknown("/v1/chat/completions".to_owned()),
            ),
            ("/openai", EndpointPath::Unknown("/openai".to_owned())),
            (
                "http://api.example.com/v1/x",
                EndpointPath::Elsewhere("api.example.com".to_owned()),
            ),
            (
                "api.example.com:443",
                EndpointPath::Elsewhere("api.example.com".to_owned()),
            ),
        ] {
            assert_eq!(EndpointPath::of(uri), wanted, "{uri}");
        }
    }
}
