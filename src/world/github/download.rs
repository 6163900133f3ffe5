//! Large files: GitHub answers with another address, and that address gets no token.

use std::time::Duration;

use anyhow::Context;
use http::{HeaderMap, Method, StatusCode, Uri};
use http_body_util::BodyExt;

use super::{GitHub, GitHubError, GitHubResponse, JSON, Octocrab, TIMEOUTS, TRIES, backoff, pause, refusal};
use crate::world::env::Secret;
use crate::world::web;

/// The two clients of a download. Neither follows a redirect by itself: reqwest would, and octocrab adds its token again to
/// every address of the API's own host.
pub struct DownloadClients {
    /// Asks the API, with the token.
    asking: Octocrab,
    /// Fetches from wherever the API said; it has no token to lose.
    bare: Octocrab,
    /// Whether addresses without TLS are followed: only where the API itself has none.
    plain: bool,
}

impl DownloadClients {
    /// Opens both.
    pub fn open(api: &str, token: &Secret) -> anyhow::Result<Self> {
        let context = "while building the client for downloads";
        let builder = || Octocrab::builder().base_uri(api).with_context(|| format!("GITHUB_API_URL is {api:?}"));
        Ok(Self {
            asking: builder()?
                .personal_token(token.reveal())
                .build_with_reqwest(web::still_client()?)
                .context(context)?,
            bare: builder()?.build_with_reqwest(web::still_client()?).context(context)?,
            plain: api.starts_with("http://"),
        })
    }
}

/// Redirects of one download.
const HOPS: usize = 3;
/// The longest that one download may take.
const LONGEST: Duration = Duration::from_secs(600);

impl GitHub {
    /// The bytes behind an address of the API, at most `limit` of them.
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
                Ok(answer) => (pause(&Method::GET, &answer, tries), refusal(&answer)),
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
        Err(GitHubError::Failed(anyhow::anyhow!("it was never answered")))
    }

    /// Asks the API, then goes where it says.
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
            true => Err(DownloadError::Refused(anyhow::anyhow!("it was sent on more than {HOPS} times"))),
            false => Ok(answer),
        }
    }
}

/// Why there is no answer.
enum DownloadError {
    /// It was not taken; another try would be the same.
    Refused(anyhow::Error),
    /// The connection did not hold.
    Broken(anyhow::Error),
}

/// The address that a redirect names. It may carry a signature, so it is in no message.
fn location(headers: &HeaderMap, plain: bool) -> anyhow::Result<String> {
    let text = headers.get("location").and_then(|value| value.to_str().ok()).context("a redirect names no address")?;
    let uri: Uri = text.parse().ok().context("a redirect names no address that can be read")?;
    match uri.scheme_str() {
        Some("https") => Ok(text.to_owned()),
        Some("http") if plain => Ok(text.to_owned()),
        Some(_) | None => anyhow::bail!("a redirect leads to an address without TLS, which is not followed"),
    }
}

async fn got(client: &Octocrab, address: &str, limit: u64) -> Result<GitHubResponse, DownloadError> {
    // The errors of the client name the whole address.
    let broken = |_| DownloadError::Broken(anyhow::anyhow!("the connection broke"));
    let request = http::Request::builder()
        .method(Method::GET)
        .uri(address)
        .header("accept", JSON)
        .header("user-agent", concat!("goldgate/", env!("CARGO_PKG_VERSION")))
        .header("x-github-api-version", "2022-11-28")
        .body(String::new())
        .map_err(|_| DownloadError::Refused(anyhow::anyhow!("the address cannot be asked")))?;
    let response = client.execute(request).await.map_err(broken)?;
    let (parts, mut frames) = response.into_parts();
    let mut body = Vec::new();
    while let Some(frame) = frames.frame().await {
        let frame = frame.map_err(broken)?;
        let Some(bytes) = frame.data_ref() else { continue };
        if (body.len() + bytes.len()) as u64 > limit {
            let what = format!("it is larger than {} MiB, which is more than is read", limit / 1_048_576);
            return Err(DownloadError::Refused(anyhow::anyhow!(what)));
        }
        body.extend_from_slice(bytes);
    }
    Ok(GitHubResponse { status: checked_status(parts.status, &parts.headers), headers: parts.headers, body })
}

/// A 304 without an address is no redirect.
fn checked_status(status: StatusCode, headers: &HeaderMap) -> StatusCode {
    match status.is_redirection() && !headers.contains_key("location") {
        true => StatusCode::BAD_GATEWAY,
        false => status,
    }
}
