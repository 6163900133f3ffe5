//! Downloads of large files: GitHub redirects to another address, which gets no token unless it is a repository of the API.

use std::time::Duration;

use anyhow::Context;
use http::{HeaderMap, Method, StatusCode, Uri};
use octocrab::Octocrab;

use super::redirect::HOPS;
use super::send_once::{SendError, send_once};
use super::{
    GitHub, GitHubError, GitHubResponse, JSON, Repeatable, TIMEOUTS, TRIES, backoff, error, pause,
};

impl GitHub {
    /// Downloads from an address of the API, at most `limit` bytes.
    pub(super) fn download(
        &self,
        path: &str,
        limit: u64,
        doing: &'static str,
    ) -> Result<Vec<u8>, GitHubError> {
        self.within_longest(self.fetched(path, limit))
            .map_err(|refusal| match refusal {
                GitHubError::Failed(error) => {
                    GitHubError::Failed(error.context(format!("{doing} (GET {path})")))
                }
                GitHubError::Unusable(error) => {
                    GitHubError::Unusable(error.context(format!("{doing} (GET {path})")))
                }
                refusal => refusal,
            })
    }

    async fn fetched(&self, path: &str, limit: u64) -> Result<Vec<u8>, GitHubError> {
        let mut waited = Duration::ZERO;
        for tries in 1.. {
            let (wait, refused) = match self.hops(path, limit).await {
                Ok(answer) if answer.status.is_success() => return Ok(answer.body),
                // The artifact has expired.
                Ok(answer) if answer.status == StatusCode::GONE => {
                    return Err(match error(&Method::GET, &answer, self.read_only) {
                        GitHubError::Failed(error) => GitHubError::Unusable(error),
                        refusal => refusal,
                    });
                }
                Ok(answer) => (
                    pause(Repeatable::Yes, &answer, tries),
                    error(&Method::GET, &answer, self.read_only),
                ),
                Err(SendError::Refused(error)) => return Err(GitHubError::Unusable(error)),
                Err(SendError::Broken(error)) => (Some(backoff(tries)), GitHubError::Failed(error)),
            };
            match wait {
                Some(wait) if tries < TRIES && waited.saturating_add(wait) <= TIMEOUTS => {
                    tokio::time::sleep(wait).await;
                    waited += wait;
                }
                Some(_) | None => return Err(refused),
            }
        }
        Err(GitHubError::Failed(anyhow::anyhow!(
            "GitHub never answered"
        )))
    }

    /// Calls the API, then follows its redirects.
    async fn hops(&self, path: &str, limit: u64) -> Result<GitHubResponse, SendError> {
        let mut answer = got(&self.clients.asking, path, limit).await?;
        for _ in 0..HOPS {
            let Some(next) = self.api.next_path(&Method::GET, &answer) else {
                break;
            };
            answer = got(&self.clients.asking, &next, limit).await?;
        }
        for _ in 0..HOPS {
            if !answer.status.is_redirection() {
                return Ok(answer);
            }
            let next = location(&answer.headers, self.clients.plain).map_err(SendError::Refused)?;
            answer = got(&self.clients.bare, &next, limit).await?;
        }
        if answer.status.is_redirection() {
            return Err(SendError::Refused(anyhow::anyhow!(
                "there were more than {HOPS} redirects"
            )));
        }
        Ok(answer)
    }
}

/// The target of a redirect. It may contain a signature, so messages must not show it.
fn location(headers: &HeaderMap, plain: bool) -> anyhow::Result<String> {
    let text = headers
        .get("location")
        .and_then(|value| value.to_str().ok())
        .context("a redirect has no address")?;
    let uri: Uri = text
        .parse()
        .ok()
        .context("a redirect has an invalid address")?;
    match uri.scheme_str() {
        Some("https") => Ok(text.to_owned()),
        Some("http") if plain => Ok(text.to_owned()),
        Some(_) | None => {
            anyhow::bail!("a redirect leads to an address without TLS, which is not followed")
        }
    }
}

async fn got(client: &Octocrab, address: &str, limit: u64) -> Result<GitHubResponse, SendError> {
    let request = http::Request::builder()
        .method(Method::GET)
        .uri(address)
        .header("accept", JSON)
        .header(
            "user-agent",
            concat!("goldgate/", env!("CARGO_PKG_VERSION")),
        )
        .header("x-github-api-version", "2022-11-28")
        .body(String::new())
        .map_err(|_| SendError::Refused(anyhow::anyhow!("the address is not valid")))?;
    // The client's errors contain the whole address.
    let answer = send_once(client, request, limit, |_| {
        anyhow::anyhow!("the connection broke")
    })
    .await?;
    Ok(GitHubResponse {
        status: checked_status(answer.status, &answer.headers),
        ..answer
    })
}

/// Treats a redirect status without an address as a server error.
fn checked_status(status: StatusCode, headers: &HeaderMap) -> StatusCode {
    if status.is_redirection() && !headers.contains_key("location") {
        StatusCode::BAD_GATEWAY
    } else {
        status
    }
}
