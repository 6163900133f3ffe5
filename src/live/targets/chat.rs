//! A model behind a vendor's wire format.

use std::fmt;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Url};
use serde_json::Value;

use super::bedrock::Bedrock;
use super::http_request::TargetRequest;
use super::secret_header::secret_header;
use super::{Timeouts, Unopened};
use crate::live::wire::{Server, anthropic, converse, openai};
use crate::model::{CallError, Conversation, ModelTurn, Provider, Wire};
use crate::world::env::{Env, Secret};
use crate::world::web::client_for_targets;

/// A model that can be called.
pub struct ChatModel {
    provider: Provider,
    timeouts: Timeouts,
    client: Client,
    wire: WireSettings,
}

enum WireSettings {
    OpenAi(Endpoint),
    Anthropic(Endpoint),
    Bedrock(Box<Bedrock>),
}

/// Address, kind of server and headers of calls.
struct Endpoint {
    url: Url,
    server: Server,
    headers: HeaderMap,
}

impl fmt::Debug for ChatModel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Chat")
            .field("provider", &self.provider)
            .finish_non_exhaustive()
    }
}

struct Vendor {
    base_url: &'static str,
    base_url_env: &'static str,
    key_env: &'static str,
    /// The vendor's hosts; an entry with a leading dot matches subdomains.
    hosts: &'static [&'static str],
}

const OPENAI: Vendor = Vendor {
    base_url: "https://api.openai.com/v1",
    base_url_env: "OPENAI_BASE_URL",
    key_env: "OPENAI_API_KEY",
    hosts: &[
        "api.openai.com",
        ".api.openai.com",
        ".openai.azure.com",
        ".services.ai.azure.com",
    ],
};

const ANTHROPIC: Vendor = Vendor {
    base_url: "https://api.anthropic.com",
    base_url_env: "ANTHROPIC_BASE_URL",
    key_env: "ANTHROPIC_API_KEY",
    hosts: &["api.anthropic.com"],
};

impl ChatModel {
    /// Opens a model; makes no call yet.
    pub fn open(provider: &Provider, timeouts: Timeouts, env: &Env) -> Result<Self, Unopened> {
        let client =
            client_for_targets().map_err(|error| Unopened::Unusable(format!("{error:#}")))?;
        let wire = match provider.wire {
            Wire::OpenAi => WireSettings::OpenAi(Endpoint::of(provider, &OPENAI, env)?),
            Wire::Anthropic => WireSettings::Anthropic(Endpoint::of(provider, &ANTHROPIC, env)?),
            Wire::Bedrock => WireSettings::Bedrock(Box::new(Bedrock::of(provider, &client, env)?)),
        };
        Ok(Self {
            provider: provider.clone(),
            timeouts,
            client,
            wire,
        })
    }

    /// Makes one call and returns the model's next turn.
    pub async fn turn(&self, conversation: &Conversation) -> Result<ModelTurn, CallError> {
        match &self.wire {
            WireSettings::OpenAi(endpoint) => {
                let body = openai::request(conversation, &self.provider, endpoint.server);
                openai::turn(
                    &self
                        .post(&endpoint.url, endpoint.headers.clone(), body.to_string())
                        .await?,
                )
            }
            WireSettings::Anthropic(endpoint) => {
                let body = anthropic::request(conversation, &self.provider, endpoint.server);
                let answer = self
                    .post(&endpoint.url, endpoint.headers.clone(), body.to_string())
                    .await?;
                anthropic::turn(&answer, conversation)
            }
            WireSettings::Bedrock(bedrock) => {
                let body = converse::request(conversation, &self.provider).to_string();
                let headers = bedrock.headers(&body).await?;
                converse::turn(&self.post(&bedrock.url, headers, body).await?, conversation)
            }
        }
    }

    async fn post(&self, url: &Url, headers: HeaderMap, body: String) -> Result<Value, CallError> {
        let (client, url, timeouts) = (&self.client, url.clone(), self.timeouts);
        TargetRequest {
            client,
            method: Method::POST,
            url,
            headers,
            body,
            timeouts,
        }
        .answer()
        .await
    }
}

impl Endpoint {
    fn of(provider: &Provider, vendor: &Vendor, env: &Env) -> Result<Self, Unopened> {
        let stated = provider.base_url.as_deref();
        let configured = stated.or_else(|| env.get(vendor.base_url_env));
        let base = configured.unwrap_or(vendor.base_url);
        let url = address(base, provider.wire).ok_or_else(|| {
            Unopened::Unusable(format!(
                "the base_url of {} is not an http address",
                provider.model
            ))
        })?;
        let vendors = url.host_str().is_some_and(|host| is_of(host, vendor.hosts));
        let key = key(provider, vendor, env)?;
        let headers = headers(provider.wire, key.as_ref())?;
        Ok(Self {
            url,
            server: if vendors {
                Server::Vendor
            } else {
                Server::Compatible
            },
            headers,
        })
    }
}

/// The key from the configured variable; without one from the vendor's usual variable, but never for a `base_url` in the config,
/// which might be anybody's server.
fn key(provider: &Provider, vendor: &Vendor, env: &Env) -> Result<Option<Secret>, Unopened> {
    match (&provider.api_key_env, &provider.base_url) {
        (Some(name), _) => env.secret(name).map(Some).ok_or_else(|| missing_key(name)),
        (None, Some(_)) => Ok(None),
        (None, None) => match env.secret(vendor.key_env) {
            // A server named by the environment may need no key.
            None if env.get(vendor.base_url_env).is_none() => Err(missing_key(vendor.key_env)),
            key => Ok(key),
        },
    }
}

fn missing_key(variable: &str) -> Unopened {
    Unopened::NoKey {
        wanted: format!("set the environment variable {variable}"),
    }
}

fn headers(wire: Wire, key: Option<&Secret>) -> Result<HeaderMap, Unopened> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let (name, prefix) = match wire {
        Wire::Anthropic => {
            headers.insert(
                "anthropic-version",
                HeaderValue::from_static(anthropic::VERSION),
            );
            (HeaderName::from_static("x-api-key"), "")
        }
        Wire::OpenAi | Wire::Bedrock => (AUTHORIZATION, "Bearer "),
    };
    if let Some(key) = key {
        headers.insert(name, secret_header(prefix, key)?);
    }
    Ok(headers)
}

/// The address of calls. OpenAI's clients include the version in the base address, Anthropic's do not; both forms work, and a
/// base with its own path keeps it.
fn address(base: &str, wire: Wire) -> Option<Url> {
    let mut url: Url = base.trim().parse().ok()?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return None;
    }
    let path = url.path().trim_end_matches('/');
    let path = match wire {
        Wire::Anthropic => format!("{}/v1/messages", path.strip_suffix("/v1").unwrap_or(path)),
        Wire::OpenAi | Wire::Bedrock if path.is_empty() => "/v1/chat/completions".to_owned(),
        Wire::OpenAi | Wire::Bedrock => format!("{path}/chat/completions"),
    };
    url.set_path(&path);
    Some(url)
}

fn is_of(host: &str, hosts: &[&str]) -> bool {
    hosts.iter().any(|known| {
        if known.starts_with('.') {
            host.ends_with(known)
        } else {
            host == *known
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{OPENAI, address, is_of};
    use crate::model::Wire;

    #[test]
    fn a_base_address_works_with_and_without_its_version() {
        for (base, wire, wanted) in [
            ("http://h:1", Wire::OpenAi, "http://h:1/v1/chat/completions"),
            (
                "http://h:1/",
                Wire::OpenAi,
                "http://h:1/v1/chat/completions",
            ),
            (
                "http://h:1/v1",
                Wire::OpenAi,
                "http://h:1/v1/chat/completions",
            ),
            (
                "http://h:1/v1/",
                Wire::OpenAi,
                "http://h:1/v1/chat/completions",
            ),
            (
                "https://h/v1beta/openai/",
                Wire::OpenAi,
                "https://h/v1beta/openai/chat/completions",
            ),
            (
                "https://h/x?api-version=3",
                Wire::OpenAi,
                "https://h/x/chat/completions?api-version=3",
            ),
            ("http://h:1", Wire::Anthropic, "http://h:1/v1/messages"),
            ("http://h:1/v1/", Wire::Anthropic, "http://h:1/v1/messages"),
            (
                "https://h/anthropic",
                Wire::Anthropic,
                "https://h/anthropic/v1/messages",
            ),
        ] {
            assert_eq!(address(base, wire).unwrap().as_str(), wanted, "{base}");
        }
        for base in ["", "h:1", "file:///etc", "ftp://h", "http://"] {
            assert_eq!(address(base, Wire::OpenAi), None, "{base}");
        }
    }

    #[test]
    fn only_the_vendors_own_hosts_are_the_vendor() {
        for (host, wanted) in [
            ("api.openai.com", true),
            ("eu.api.openai.com", true),
            ("acme.openai.azure.com", true),
            ("api.openai.com.example", false),
            ("notopenai.azure.com", false),
            ("127.0.0.1", false),
        ] {
            assert_eq!(is_of(host, OPENAI.hosts), wanted, "{host}");
        }
    }
}
