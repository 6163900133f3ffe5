//! Downloads of large files: GitHub redirects to another address, which gets no token.

use std::time::Duration;

use anyhow::Context;
use http::{HeaderMap, Method, StatusCode, Uri};
use http_body_util::BodyExt;
use octocrab::Octocrab;

use super::{GitHub, GitHubError, GitHubResponse, JSON, Repeatable, TIMEOUTS, TRIES, backoff, error, pause};

/// Maximum number of redirects per download.
const HOPS: usize = 3;
/// Maximum time per download.
const LONGEST: Duration = Duration::from_secs(600);

impl GitHub {
    /// Downloads from an address of the API, at most `limit` bytes.
    pub(super) fn download(&self, path: &str, limit: u64, doing: &'static str) -> Result<Vec<u8>, GitHubError> {
        let fetched = async {
            match tokio::time::timeout(LONGEST, self.fetched(path, limit)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(GitHubError::Failed(anyhow::anyhow!("it took longer than {} s", LONGEST.as_secs()))),
            }
        };
        self.runtime.block_on(fetched).map_err(|refusal| match refusal {
            GitHubError::Failed(error) => GitHubError::Failed(error.context(format!("{doing} (GET {path})"))),
            other => other,
        })
    }

    async fn fetched(&self, path: &str, limit: u64) -> Result<Vec<u8>, GitHubError> {
        let mut waited = Duration::ZERO;
        for tries in 1.. {
            let (wait, refused) = match self.hops(path, limit).await {
                Ok(answer) if answer.status.is_success() => return Ok(answer.body),
                Ok(answer) => (pause(Repeatable::Yes, &answer, tries), error(&Method::GET, &answer, self.read_only)),
                Err(DownloadError::Refused(error)) => return Err(GitHubError::Failed(error)),
                Err(DownloadError::Broken(error)) => (Some(backoff(tries)), GitHubError::Failed(error)),
            };
            match wait {
                Some(wait) if tries < TRIES && waited + wait <= TIMEOUTS => {
                    tokio::time::sleep(wait).await;
                    waited += wait;
                }
                Some(_) | None => return Err(refused),
            }
        }
        Err(GitHubError::Failed(anyhow::anyhow!("GitHub never answered")))
    }

    /// Calls the API, then follows its redirects.
    async fn hops(&self, path: &str, limit: u64) -> Result<GitHubResponse, DownloadError> {
        let mut answer = got(&self.clients.asking, path, limit).await?;
        for _ in 0..HOPS {
            if !answer.status.is_redirection() {
                return Ok(answer);
            }
            let next = location(&answer.headers, self.clients.plain).map_err(DownloadError::Refused)?;
            answer = got(&self.clients.bare, &next, limit).await?;
        }
        match answer.status.is_redirection() {
            true => Err(DownloadError::Refused(anyhow::anyhow!("there were more than {HOPS} redirects"))),
            false => Ok(answer),
        }
    }
}

/// Why a download failed.
enum DownloadError {
    /// A permanent failure; a retry would not help.
    Refused(anyhow::Error),
    /// The connection broke.
    Broken(anyhow::Error),
}

/// The target of a redirect. It may contain a signature, so messages must not show it.
fn location(headers: &HeaderMap, plain: bool) -> anyhow::Result<String> {
    let text = headers.get("location").and_then(|value| value.to_str().ok()).context("a redirect has no address")?;
    let uri: Uri = text.parse().ok().context("a redirect has an invalid address")?;
    match uri.scheme_str() {
        Some("https") => Ok(text.to_owned()),
        Some("http") if plain => Ok(text.to_owned()),
        Some(_) | None => anyhow::bail!("a redirect leads to an address without TLS, which is not followed"),
    }
}

async fn got(client: &Octocrab, address: &str, limit: u64) -> Result<GitHubResponse, DownloadError> {
    // The client's errors contain the whole address.
    let broken = |_| DownloadError::Broken(anyhow::anyhow!("the connection broke"));
    let request = http::Request::builder()
        .method(Method::GET)
        .uri(address)
        .header("accept", JSON)
        .header("user-agent", concat!("goldgate/", env!("CARGO_PKG_VERSION")))
        .header("x-github-api-version", "2022-11-28")
        .body(String::new())
        .map_err(|_| DownloadError::Refused(anyhow::anyhow!("the address is not valid")))?;
    let response = client.execute(request).await.map_err(broken)?;
    let (parts, mut frames) = response.into_parts();
    let mut body = Vec::new();
    while let Some(frame) = frames.frame().await {
        let frame = frame.map_err(broken)?;
        let Some(bytes) = frame.data_ref() else { continue };
        if (body.len() + bytes.len()) as u64 > limit {
            let what = format!("it is larger than {} MiB", limit / 1_048_576);
            return Err(DownloadError::Refused(anyhow::anyhow!(what)));
        }
        body.extend_from_slice(bytes);
    }
    Ok(GitHubResponse { status: checked_status(parts.status, &parts.headers), headers: parts.headers, body })
}

/// Treats a redirect status without an address as a server error.
fn checked_status(status: StatusCode, headers: &HeaderMap) -> StatusCode {
    match status.is_redirection() && !headers.contains_key("location") {
        true => StatusCode::BAD_GATEWAY,
        false => status,
    }
}
