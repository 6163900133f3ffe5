//! The owner of an address.

use reqwest::Url;

use crate::model::Wire;

/// Scheme, host and port of an address in normalized form; `None` if it is not an address.
pub fn origin(address: &str) -> Option<String> {
    let url: Url = address.trim().parse().ok()?;
    url.host_str()?;
    Some(url.origin().ascii_serialization())
}

/// Whether an address is the vendor's own, over TLS on the default port. Cloud hosts on which anybody can run a server do not count.
pub fn is_vendors(wire: Wire, address: &str) -> bool {
    let Ok(url) = address.trim().parse::<Url>() else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let is_own = match wire {
        Wire::OpenAi => host == "api.openai.com" || host.ends_with(".api.openai.com"),
        Wire::Anthropic => host == "api.anthropic.com",
        Wire::Bedrock => is_bedrock(host),
    };
    url.scheme() == "https" && url.port().is_none() && is_own
}

fn is_bedrock(host: &str) -> bool {
    let rest = host
        .strip_prefix("bedrock-runtime.")
        .or_else(|| host.strip_prefix("bedrock-runtime-fips."));
    let region = rest.and_then(|rest| {
        rest.strip_suffix(".amazonaws.com")
            .or_else(|| rest.strip_suffix(".amazonaws.com.cn"))
    });
    region.is_some_and(|region| !region.is_empty() && !region.contains('.'))
}
