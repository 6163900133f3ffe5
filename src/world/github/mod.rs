//! GitHub's REST API, and the only user of octocrab. Requests are retried and read across pages, and never show the token.

mod approvals;
mod artifacts;
mod branches;
mod checks;
mod comments;
mod commits;
mod contents;
mod download;
mod download_clients;
mod pulls;
mod settings;
mod trees;

use std::time::Duration;

use anyhow::Context;
use http::{HeaderMap, Method, StatusCode, Uri};
use http_body_util::BodyExt;
use octocrab::Octocrab;
use serde::Deserialize;
use serde_json::Value;

pub use self::artifacts::{Artifact, WorkflowRun};
pub use self::branches::{FileCommit, NotCommitted};
pub use self::checks::{CheckRun, Conclusion};
pub use self::commits::{Blob, Tree};
use self::download_clients::DownloadClients;
pub use self::pulls::{MergeState, OpenPull};
pub use self::settings::{BranchRules, ImageState, QueueGrouping, RequiredCheck};
use super::env::Secret;
use super::web;

/// One repository on GitHub, or on a GitHub Enterprise Server.
pub struct GitHub {
    client: Octocrab,
    clients: DownloadClients,
    runtime: tokio::runtime::Runtime,
    repository: String,
    graphql: GraphQl,
}

/// The GraphQL endpoint; on an Enterprise Server it is not below the REST API.
struct GraphQl {
    client: Octocrab,
    path: String,
}

/// Why a request to GitHub failed.
#[derive(Debug)]
pub enum GitHubError {
    /// The token lacks the permission.
    Forbidden,
    /// It does not exist, or the token may not see it.
    Missing,
    /// Any other failure.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for GitHubError {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// Attempts per request.
const TRIES: u32 = 5;
/// Maximum total wait of one request.
const TIMEOUTS: Duration = Duration::from_secs(120);
/// Entries per page.
const PAGE: usize = 100;
/// Maximum number of pages, in case a server never ends the list.
const PAGES: usize = 300;

/// Media type of JSON answers.
const JSON: &str = "application/vnd.github+json";
/// Media type for the unchanged bytes of a file.
const RAW: &str = "application/vnd.github.raw+json";

struct GitHubResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl GitHubResponse {
    /// Whether a list continues after this page of `count` entries. A server may cap pages below the requested size, so its own
    /// link header decides, if there is one.
    fn has_next(&self, count: usize) -> bool {
        let link = self.headers.get("link").and_then(|link| link.to_str().ok());
        link.map_or(count == PAGE, |link| link.contains("rel=\"next\""))
    }
}

/// Percent-encodes a text for a path or a query.
fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

impl GitHub {
    /// Opens the repository `owner/name` at the API's address.
    ///
    /// # Errors
    /// The address is not valid, or a client cannot be built.
    pub fn open(api: &str, repository: &str, token: &Secret) -> anyhow::Result<Self> {
        let well_formed = repository.split('/').count() == 2
            && repository.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/'));
        anyhow::ensure!(well_formed, "GITHUB_REPOSITORY is {repository:?}; use owner/name");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("while starting the network client")?;
        // octocrab spawns a task when it is built.
        let guard = runtime.enter();
        let client = built(api, "GITHUB_API_URL", token)?;
        let clients = DownloadClients::open(api, token)?;
        drop(guard);
        let graphql = GraphQl { client: client.clone(), path: "/graphql".to_owned() };
        Ok(Self { client, clients, runtime, repository: repository.to_owned(), graphql })
    }

    /// Uses another address for GraphQL.
    ///
    /// # Errors
    /// The address is not valid, or a client cannot be built.
    pub fn with_graphql(self, address: &str, token: &Secret) -> anyhow::Result<Self> {
        let uri: Uri = address.parse().with_context(|| format!("GITHUB_GRAPHQL_URL is {address:?}"))?;
        let guard = self.runtime.enter();
        let client = built(address, "GITHUB_GRAPHQL_URL", token)?;
        drop(guard);
        Ok(Self { graphql: GraphQl { client, path: uri.path().to_owned() }, ..self })
    }

    /// The repository, as `owner/name`.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    fn path(&self, rest: &str) -> String {
        format!("/repos/{}{rest}", self.repository)
    }

    fn ask(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        doing: &'static str,
    ) -> Result<GitHubResponse, GitHubError> {
        self.ask_as(method, path, body, doing, JSON)
    }

    fn ask_as(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        doing: &'static str,
        form: &'static str,
    ) -> Result<GitHubResponse, GitHubError> {
        self.runtime.block_on(self.send(method, path, body, form)).map_err(|refusal| match refusal {
            GitHubError::Failed(error) => {
                GitHubError::Failed(error.context(format!("{doing} ({} {path})", method.as_str())))
            }
            other => other,
        })
    }

    async fn send(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        form: &str,
    ) -> Result<GitHubResponse, GitHubError> {
        let mut waited = Duration::ZERO;
        let mut tries = 1;
        loop {
            let outcome = self.sent(method, path, body, form).await;
            let (wait, refusal) = match outcome {
                Ok(answer) if answer.status.is_success() => return Ok(answer),
                Ok(answer) => (pause(method, &answer, tries), refusal(&answer)),
                // GitHub may have executed a POST whose answer was lost.
                Err(error) => ((method != Method::POST).then(|| backoff(tries)), GitHubError::Failed(error)),
            };
            match wait {
                Some(wait) if tries < TRIES && waited + wait <= TIMEOUTS => {
                    tokio::time::sleep(wait).await;
                    waited += wait;
                    tries += 1;
                }
                Some(_) | None => return Err(refusal),
            }
        }
    }

    async fn sent(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        form: &str,
    ) -> anyhow::Result<GitHubResponse> {
        let text = body.map(Value::to_string).unwrap_or_default();
        let request = http::Request::builder()
            .method(method.clone())
            .uri(path)
            .header("accept", form)
            .header("content-type", "application/json")
            .header("user-agent", concat!("goldgate/", env!("CARGO_PKG_VERSION")))
            .header("x-github-api-version", "2022-11-28")
            .body(text)?;
        let client = if path == self.graphql.path { &self.graphql.client } else { &self.client };
        let response = client.execute(request).await?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await?.to_bytes().to_vec();
        Ok(GitHubResponse { status: parts.status, headers: parts.headers, body })
    }
}

fn built(address: &str, variable: &str, token: &Secret) -> anyhow::Result<Octocrab> {
    Octocrab::builder()
        .base_uri(address)
        .with_context(|| format!("{variable} is {address:?}"))?
        .personal_token(token.reveal())
        .build_with_reqwest(web::client()?)
        .context("while building the GitHub client")
}

/// How long to wait before a retry; `None` if a retry would not help.
fn pause(method: &Method, answer: &GitHubResponse, tries: u32) -> Option<Duration> {
    let number = |name| {
        answer.headers.get(name).and_then(|value| value.to_str().ok()).and_then(|text| text.trim().parse::<u64>().ok())
    };
    let limited = answer.status == StatusCode::TOO_MANY_REQUESTS
        || (answer.status == StatusCode::FORBIDDEN
            && (number("retry-after").is_some() || number("x-ratelimit-remaining") == Some(0)));
    if limited {
        let until_reset = || {
            let now =
                std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
            number("x-ratelimit-reset").map(|reset| reset.saturating_sub(now))
        };
        return Some(number("retry-after").or_else(until_reset).map_or_else(|| backoff(tries), Duration::from_secs));
    }
    // 502 to 504 come from GitHub's edge, which may have passed a POST on.
    (answer.status.is_server_error() && method != Method::POST).then(|| backoff(tries))
}

/// 0.25, 0.5, 1, 2 seconds.
fn backoff(tries: u32) -> Duration {
    Duration::from_millis(125 * (1 << tries.min(8)))
}

fn refusal(answer: &GitHubResponse) -> GitHubError {
    match answer.status {
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => GitHubError::Forbidden,
        StatusCode::NOT_FOUND => GitHubError::Missing,
        status => {
            let message: Option<String> = serde_json::from_slice::<Value>(&answer.body)
                .ok()
                .and_then(|body| Some(body.get("message")?.as_str()?.to_owned()));
            let detail =
                message.map_or(String::new(), |message| format!(": {}", message.chars().take(200).collect::<String>()));
            GitHubError::Failed(anyhow::anyhow!("GitHub answered {status}{detail}"))
        }
    }
}

fn parsed<T: for<'de> Deserialize<'de>>(answer: &GitHubResponse, path: &str) -> Result<T, GitHubError> {
    serde_json::from_slice(&answer.body)
        .with_context(|| format!("GitHub's answer to {path} does not have the documented form"))
        .map_err(GitHubError::Failed)
}
