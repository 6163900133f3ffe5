//! GitHub's REST API, and the only user of octocrab: its authentication and its client. Three of its parts do not fit:
//!
//! - Its retries repeat a POST, which may post a comment twice, and repeat without a pause.
//! - Its models require what GitHub may leave out, such as the branch of a run, and one entry without it loses the whole list. They lack
//!   the path, the attempt and the actor of a run.
//! - Its pages end where an answer has no link header, which a proxy may drop.

mod account;
mod approvals;
mod artifacts;
mod blobs;
mod branch_rules;
mod branches;
mod checks;
mod comments;
mod commits;
mod comparisons;
mod contents;
mod download;
mod download_clients;
mod forms;
mod identity;
mod labels;
mod pulls;
mod redirect;
mod refusal;
mod response;
mod runs;
mod send_once;
mod settings;
mod trees;

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use anyhow::Context;
use http::{Method, Uri};
use octocrab::Octocrab;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Runtime;

pub use self::branch_rules::{BranchRules, OwnerReview, QueueGrouping, RequiredCheck};
pub use self::branches::{FileCommit, FilesCommit, NotCommitted};
pub use self::checks::{CheckRun, Conclusion};
pub use self::commits::{Blob, Tree};
use self::download_clients::DownloadClients;
pub use self::labels::RepositoryLabel;
pub use self::pulls::{ClosedPull, MergeState, MergedPull, OpenPull};
use self::redirect::{ApiAddress, HOPS};
pub use self::refusal::{GitHubError, GitHubRefusal, ReadOnlyToken};
use self::refusal::{Repeatable, backoff, error, pause};
use self::response::{GitHubResponse, PAGE};
pub use self::runs::{WorkflowJob, WorkflowRun};
use self::send_once::{SendError, send_once};
pub use self::settings::{EnvironmentUse, ImageState};
use crate::model::InputLimit;
use crate::world::env::Secret;
use crate::world::runtime::start_runtime;
use crate::world::web;

/// One repository on GitHub, or on a GitHub Enterprise Server.
pub struct GitHub {
    client: Octocrab,
    clients: DownloadClients,
    api: ApiAddress,
    runtime: Runtime,
    repository: String,
    graphql: GraphQl,
    /// Why the token may only read, if it is known.
    read_only: Option<ReadOnlyToken>,
    /// The login that GraphQL gives; `None` if it gives none.
    viewer: OnceLock<Option<String>>,
    /// The login that GitHub gave to the first comment that was written.
    writer: OnceLock<String>,
    /// The name of the default branch, once it was asked.
    default_branch: OnceLock<String>,
    /// What branches require, as far as it was asked.
    rules: Mutex<BTreeMap<String, BranchRules>>,
}

/// The GraphQL endpoint; on an Enterprise Server it is not below the REST API.
struct GraphQl {
    client: Octocrab,
    path: String,
}

/// Attempts per request.
const TRIES: u32 = 5;
/// Maximum total wait of one request.
const TIMEOUTS: Duration = Duration::from_secs(120);
/// Maximum time of one request with its retries.
const LONGEST: Duration = Duration::from_secs(600);
/// Maximum number of pages, in case a server never ends the list.
const PAGES: usize = 300;

/// Media type of JSON answers.
const JSON: &str = "application/vnd.github+json";
/// Media type for the unchanged bytes of a file.
const RAW: &str = "application/vnd.github.raw+json";

struct GitHubRequest<'a> {
    method: &'a Method,
    path: &'a str,
    body: Option<&'a Value>,
    /// The media type of the answer.
    form: &'static str,
    repeatable: Repeatable,
}

impl GitHub {
    /// Opens the repository `owner/name` at the API's address.
    ///
    /// # Errors
    /// The address is not valid, or a client cannot be built.
    pub fn open(api: &str, repository: &str, token: &Secret) -> anyhow::Result<Self> {
        let well_formed = repository.split('/').count() == 2
            && repository.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/')
            });
        anyhow::ensure!(
            well_formed,
            "GITHUB_REPOSITORY is {repository:?}; use owner/name"
        );
        let runtime = start_runtime().context("while starting the network client")?;
        Self::open_on(runtime, api, repository, token)
    }

    fn open_on(
        runtime: Runtime,
        api: &str,
        repository: &str,
        token: &Secret,
    ) -> anyhow::Result<Self> {
        // octocrab spawns a task when it is built.
        let guard = runtime.enter();
        let address = ApiAddress::parse(api)?;
        let client = built(api, "GITHUB_API_URL", token)?;
        let clients = DownloadClients::open(api, token)?;
        drop(guard);
        let graphql = GraphQl {
            client: client.clone(),
            path: "/graphql".to_owned(),
        };
        let repository = repository.to_owned();
        let (viewer, writer, default_branch, rules) = Default::default();
        Ok(Self {
            client,
            clients,
            api: address,
            runtime,
            repository,
            graphql,
            read_only: None,
            viewer,
            writer,
            default_branch,
            rules,
        })
    }

    /// Notes that the token may only read.
    pub fn with_read_only(self, read_only: Option<ReadOnlyToken>) -> Self {
        Self { read_only, ..self }
    }

    /// Uses another address for GraphQL.
    ///
    /// # Errors
    /// The address is not valid, or a client cannot be built.
    pub fn with_graphql(self, address: &str, token: &Secret) -> anyhow::Result<Self> {
        let uri: Uri = address
            .parse()
            .with_context(|| format!("GITHUB_GRAPHQL_URL is {address:?}"))?;
        let guard = self.runtime.enter();
        let client = built(address, "GITHUB_GRAPHQL_URL", token)?;
        drop(guard);
        Ok(Self {
            graphql: GraphQl {
                client,
                path: uri.path().to_owned(),
            },
            ..self
        })
    }

    /// The repository, as `owner/name`.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The owner of the repository.
    fn owner(&self) -> &str {
        self.repository.split('/').next().unwrap_or_default()
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
        let repeatable = if *method == Method::POST {
            Repeatable::No
        } else {
            Repeatable::Yes
        };
        self.ask_as(
            &GitHubRequest {
                method,
                path,
                body,
                form: JSON,
                repeatable,
            },
            doing,
        )
    }

    /// Sends a POST that changes nothing more when it is sent twice, so that it is retried after a server error as well.
    fn ask_repeatable(
        &self,
        path: &str,
        body: &Value,
        doing: &'static str,
    ) -> Result<GitHubResponse, GitHubError> {
        let (method, body) = (&Method::POST, Some(body));
        self.ask_as(
            &GitHubRequest {
                method,
                path,
                body,
                form: JSON,
                repeatable: Repeatable::Yes,
            },
            doing,
        )
    }

    /// Reads the unchanged bytes of a file.
    fn ask_raw(&self, path: &str, doing: &'static str) -> Result<GitHubResponse, GitHubError> {
        let (method, body) = (&Method::GET, None);
        self.ask_as(
            &GitHubRequest {
                method,
                path,
                body,
                form: RAW,
                repeatable: Repeatable::Yes,
            },
            doing,
        )
    }

    fn ask_as(
        &self,
        request: &GitHubRequest<'_>,
        doing: &'static str,
    ) -> Result<GitHubResponse, GitHubError> {
        self.within_longest(self.send(request))
            .map_err(|refusal| match refusal {
                GitHubError::Failed(error) => GitHubError::Failed(error.context(format!(
                    "{doing} ({} {})",
                    request.method.as_str(),
                    request.path
                ))),
                refusal => refusal,
            })
    }

    /// Waits for a request with its retries, at most [`LONGEST`].
    fn within_longest<T>(
        &self,
        request: impl Future<Output = Result<T, GitHubError>>,
    ) -> Result<T, GitHubError> {
        let outcome = self
            .runtime
            .block_on(async { tokio::time::timeout(LONGEST, request).await });
        outcome.unwrap_or_else(|_| {
            Err(GitHubError::Failed(anyhow::anyhow!(
                "it took longer than {} s",
                LONGEST.as_secs()
            )))
        })
    }

    /// Reads what an address of the API answers.
    fn get<T: DeserializeOwned>(&self, path: &str, doing: &'static str) -> Result<T, GitHubError> {
        parsed(&self.ask(&Method::GET, path, None, doing)?, path)
    }

    /// Posts to an address of the API, and reads its answer.
    fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        doing: &'static str,
    ) -> Result<T, GitHubError> {
        parsed(&self.ask(&Method::POST, path, Some(body), doing)?, path)
    }

    /// Every entry of a list, across its pages.
    fn entries<T: DeserializeOwned>(
        &self,
        path: &str,
        doing: &'static str,
    ) -> Result<Vec<T>, GitHubError> {
        let mut all = Vec::new();
        for page in 1..=PAGES {
            let path = format!("{path}?per_page={PAGE}&page={page}");
            let answer = self.ask(&Method::GET, &path, None, doing)?;
            let entries: Vec<T> = parsed(&answer, &path)?;
            let count = entries.len();
            all.extend(entries);
            if !answer.has_next(count) {
                break;
            }
        }
        Ok(all)
    }

    async fn send(&self, request: &GitHubRequest<'_>) -> Result<GitHubResponse, GitHubError> {
        let mut waited = Duration::ZERO;
        let mut tries = 1;
        loop {
            let (wait, refusal) = match self.sent(request).await {
                Ok(answer) if answer.status.is_success() => return Ok(answer),
                Ok(answer) => (
                    pause(request.repeatable, &answer, tries),
                    error(request.method, &answer, self.read_only),
                ),
                Err(SendError::Refused(error)) => (None, GitHubError::Failed(error)),
                // GitHub may have executed a request whose answer was lost.
                Err(SendError::Broken(error)) => (
                    (request.repeatable == Repeatable::Yes).then(|| backoff(tries)),
                    GitHubError::Failed(error),
                ),
            };
            match wait {
                Some(wait) if tries < TRIES && waited.saturating_add(wait) <= TIMEOUTS => {
                    tokio::time::sleep(wait).await;
                    waited += wait;
                    tries += 1;
                }
                Some(_) | None => return Err(refusal),
            }
        }
    }

    /// Sends a request, and once more to each address that a redirect within the API leads to.
    async fn sent(&self, request: &GitHubRequest<'_>) -> Result<GitHubResponse, SendError> {
        if request.path == self.graphql.path {
            return asked(&self.graphql.client, request, request.path).await;
        }
        let mut answer = asked(&self.client, request, request.path).await?;
        for _ in 0..HOPS {
            let Some(path) = self.api.next_path(request.method, &answer) else {
                break;
            };
            answer = asked(&self.client, request, &path).await?;
        }
        Ok(answer)
    }
}

async fn asked(
    client: &Octocrab,
    request: &GitHubRequest<'_>,
    path: &str,
) -> Result<GitHubResponse, SendError> {
    let GitHubRequest {
        method,
        path: _,
        body,
        form,
        repeatable: _,
    } = *request;
    let text = body.map(Value::to_string).unwrap_or_default();
    let request = http::Request::builder()
        .method(method.clone())
        .uri(path)
        .header("accept", form)
        .header("content-type", "application/json")
        .header(
            "user-agent",
            concat!("goldgate/", env!("CARGO_PKG_VERSION")),
        )
        .header("x-github-api-version", "2022-11-28")
        .body(text)
        .map_err(|error| SendError::Refused(error.into()))?;
    send_once(
        client,
        request,
        InputLimit::API_ANSWER.most,
        anyhow::Error::from,
    )
    .await
}

fn built(address: &str, variable: &str, token: &Secret) -> anyhow::Result<Octocrab> {
    // The client panics on others, which no header can have.
    anyhow::ensure!(
        token.reveal().bytes().all(|byte| byte.is_ascii_graphic()),
        "the token has a character that no token of GitHub has"
    );
    Octocrab::builder()
        .base_uri(address)
        .with_context(|| format!("{variable} is {address:?}"))?
        .personal_token(token.reveal())
        .build_with_reqwest(web::client()?)
        .context("while building the GitHub client")
}

fn parsed<T: DeserializeOwned>(answer: &GitHubResponse, path: &str) -> Result<T, GitHubError> {
    serde_json::from_slice(&answer.body)
        .with_context(|| format!("GitHub's answer to {path} does not have the documented form"))
        .map_err(GitHubError::Failed)
}

/// `None` if what was asked for does not exist.
pub fn if_found<T>(answer: Result<T, GitHubError>) -> Result<Option<T>, GitHubError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(GitHubError::Missing) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
