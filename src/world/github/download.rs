//! Large files: GitHub answers with another address, and that address gets no token.

use std::time::Duration;

use anyhow::Context;
use http::{HeaderMap, Method, StatusCode, Uri};
use http_body_util::BodyExt;

use super::{Answer, GitHub, JSON, Octocrab, PATIENCE, Refusal, TRIES, backoff, pause, refusal};
use crate::world::env::Secret;
use crate::world::web;

/// The two clients of a download. Neither follows a redirect by itself: reqwest would, and octocrab adds its token again to
/// every address of the API's own host.
pub struct Doors {
    /// Asks the API, with the token.
    asking: Octocrab,
    /// Fetches from wherever the API said; it has no token to lose.
    bare: Octocrab,
    /// Whether addresses without TLS are followed: only where the API itself has none.
    plain: bool,
}

impl Doors {
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
    pub(super) fn download(&self, path: &str, limit: u64, doing: &'static str) -> Result<Vec<u8>, Refusal> {
        let fetched = async {
            match tokio::time::timeout(LONGEST, self.fetched(path, limit)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(Refusal::Failed(anyhow::anyhow!("it took longer than {} s", LONGEST.as_secs()))),
            }
        };
        self.runtime.block_on(fetched).map_err(|refusal| match refusal {
            Refusal::Failed(error) => Refusal::Failed(error.context(format!("{doing} (GET {path})"))),
            other => other,
        })
    }

    async fn fetched(&self, path: &str, limit: u64) -> Result<Vec<u8>, Refusal> {
        let mut waited = Duration::ZERO;
        for tries in 1.. {
            let (wait, refused) = match self.hops(path, limit).await {
                Ok(answer) if answer.status.is_success() => return Ok(answer.body),
                Ok(answer) => (pause(&Method::GET, &answer, tries), refusal(&answer)),
                Err(Lost::Refused(error)) => return Err(Refusal::Failed(error)),
                Err(Lost::Broken(error)) => (Some(backoff(tries)), Refusal::Failed(error)),
            };
            match wait {
                Some(wait) if tries < TRIES && waited + wait <= PATIENCE => {
                    tokio::time::sleep(wait).await;
                    waited += wait;
                }
                Some(_) | None => return Err(refused),
            }
        }
        Err(Refusal::Failed(anyhow::anyhow!("it was never answered")))
    }

    /// Asks the API, then goes where it says.
    async fn hops(&self, path: &str, limit: u64) -> Result<Answer, Lost> {
        let mut answer = got(&self.doors.asking, path, limit).await?;
        for _ in 0..HOPS {
            if !answer.status.is_redirection() {
                return Ok(answer);
            }
            let next = location(&answer.headers, self.doors.plain).map_err(Lost::Refused)?;
            answer = got(&self.doors.bare, &next, limit).await?;
        }
        match answer.status.is_redirection() {
            true => Err(Lost::Refused(anyhow::anyhow!("it was sent on more than {HOPS} times"))),
            false => Ok(answer),
        }
    }
}

/// Why there is no answer.
enum Lost {
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

async fn got(client: &Octocrab, address: &str, limit: u64) -> Result<Answer, Lost> {
    // The errors of the client name the whole address.
    let broken = |_| Lost::Broken(anyhow::anyhow!("the connection broke"));
    let request = http::Request::builder()
        .method(Method::GET)
        .uri(address)
        .header("accept", JSON)
        .header("user-agent", concat!("goldgate/", env!("CARGO_PKG_VERSION")))
        .header("x-github-api-version", "2022-11-28")
        .body(String::new())
        .map_err(|_| Lost::Refused(anyhow::anyhow!("the address cannot be asked")))?;
    let response = client.execute(request).await.map_err(broken)?;
    let (parts, mut frames) = response.into_parts();
    let mut body = Vec::new();
    while let Some(frame) = frames.frame().await {
        let frame = frame.map_err(broken)?;
        let Some(bytes) = frame.data_ref() else { continue };
        if (body.len() + bytes.len()) as u64 > limit {
            let what = format!("it is larger than {} MiB, which is more than is read", limit / 1_048_576);
            return Err(Lost::Refused(anyhow::anyhow!(what)));
        }
        body.extend_from_slice(bytes);
    }
    Ok(Answer { status: told(parts.status, &parts.headers), headers: parts.headers, body })
}

/// A 304 without an address is no redirect.
fn told(status: StatusCode, headers: &HeaderMap) -> StatusCode {
    match status.is_redirection() && !headers.contains_key("location") {
        true => StatusCode::BAD_GATEWAY,
        false => status,
    }
}
