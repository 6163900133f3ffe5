//! GitHub's REST API: the only user of octocrab. Requests are retried, read across pages, and never show the token.

use std::time::Duration;

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::Method;
use http::StatusCode;
use http_body_util::BodyExt;
use octocrab::Octocrab;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use super::env::Secret;
use super::web;
use crate::model::Comment;
use crate::model::RepoPath;

/// One repository on GitHub, or on a GitHub Enterprise Server.
pub struct GitHub {
    client: Octocrab,
    runtime: tokio::runtime::Runtime,
    repository: String,
}

/// Why GitHub did not do what was asked.
#[derive(Debug)]
pub enum Refusal {
    /// The token must not do it.
    Forbidden,
    /// There is no such thing, or the token must not see it.
    Missing,
    /// Something else.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// Tries of one request.
const TRIES: u32 = 5;
/// The longest that all waits of one request may take together.
const PATIENCE: Duration = Duration::from_secs(120);
/// Comments a page.
const PAGE: usize = 100;
/// Pages that are read at most: a bound against a server that never ends.
const PAGES: usize = 300;

/// How GitHub is asked to answer.
const JSON: &str = "application/vnd.github+json";
/// The same, for a file's bytes as they are.
const RAW: &str = "application/vnd.github.raw+json";

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl GitHub {
    /// Opens `owner/name` at the API's address.
    ///
    /// # Errors
    /// An address that is none, or a client that cannot be built.
    pub fn open(api: &str, repository: &str, token: &Secret) -> anyhow::Result<Self> {
        let well_formed = repository.split('/').count() == 2
            && repository.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/'));
        anyhow::ensure!(well_formed, "GITHUB_REPOSITORY is {repository:?}; owner/name would be right");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("while starting the network client")?;
        // octocrab spawns its own buffer task when it is built.
        let guard = runtime.enter();
        let client = Octocrab::builder()
            .base_uri(api)
            .with_context(|| format!("GITHUB_API_URL is {api:?}"))?
            .personal_token(token.reveal())
            .build_with_reqwest(web::client()?)
            .context("while building the GitHub client")?;
        drop(guard);
        Ok(Self { client, runtime, repository: repository.to_owned() })
    }

    /// The login under which this token writes. A workflow's own token may not ask; it writes as GitHub's bot.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn author(&self) -> Result<String, Refusal> {
        match self.ask(&Method::GET, "/user", None, "while asking who writes the comment") {
            Ok(answer) => {
                let user: UserForm = parsed(&answer, "/user")?;
                Ok(user.login)
            }
            Err(Refusal::Forbidden | Refusal::Missing) => Ok("github-actions[bot]".to_owned()),
            Err(other) => Err(other),
        }
    }

    /// The commit at the head of a pull request, now.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn head_of(&self, pull_request: u64) -> Result<String, Refusal> {
        let path = self.path(&format!("/pulls/{pull_request}"));
        let answer = self.ask(&Method::GET, &path, None, "while asking for the pull request's head")?;
        let form: PullForm = parsed(&answer, &path)?;
        Ok(form.head.sha)
    }

    /// Every comment of a pull request, across all pages.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn comments(&self, pull_request: u64) -> Result<Vec<Comment>, Refusal> {
        let mut all = Vec::new();
        for page in 1..=PAGES {
            let path = self.path(&format!("/issues/{pull_request}/comments?per_page={PAGE}&page={page}"));
            let answer = self.ask(&Method::GET, &path, None, "while reading the comments")?;
            let forms: Vec<CommentForm> = parsed(&answer, &path)?;
            let count = forms.len();
            all.extend(forms.into_iter().map(Comment::from));
            // A server behind a proxy may cap the page below what was asked for, so its own link decides where there is one.
            let more = answer
                .headers
                .get("link")
                .and_then(|link| link.to_str().ok())
                .map_or(count == PAGE, |link| link.contains("rel=\"next\""));
            if !more {
                break;
            }
        }
        Ok(all)
    }

    /// Writes a new comment. It is not retried after an answer was lost: it may stand already, and the caller looks.
    ///
    /// # Errors
    /// Why GitHub did not do it.
    pub fn create_comment(&self, pull_request: u64, body: &str) -> Result<Comment, Refusal> {
        let path = self.path(&format!("/issues/{pull_request}/comments"));
        let answer = self.ask(&Method::POST, &path, Some(&json!({ "body": body })), "while posting the comment")?;
        Ok(parsed::<CommentForm>(&answer, &path)?.into())
    }

    /// Gives a comment a new text.
    ///
    /// # Errors
    /// Why GitHub did not do it.
    pub fn update_comment(&self, id: u64, body: &str) -> Result<Comment, Refusal> {
        // octocrab's own update_comment sends POST, which GitHub does not document.
        let path = self.path(&format!("/issues/comments/{id}"));
        let answer = self.ask(&Method::PATCH, &path, Some(&json!({ "body": body })), "while updating the comment")?;
        Ok(parsed::<CommentForm>(&answer, &path)?.into())
    }

    /// One comment.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn comment(&self, id: u64) -> Result<Comment, Refusal> {
        let path = self.path(&format!("/issues/comments/{id}"));
        let answer = self.ask(&Method::GET, &path, None, "while reading the comment back")?;
        Ok(parsed::<CommentForm>(&answer, &path)?.into())
    }

    /// Removes a comment.
    ///
    /// # Errors
    /// Why GitHub did not do it.
    pub fn remove_comment(&self, id: u64) -> Result<(), Refusal> {
        let path = self.path(&format!("/issues/comments/{id}"));
        self.ask(&Method::DELETE, &path, None, "while removing a second comment").map(|_| ())
    }

    /// The bytes of a file at a commit; `None` where the commit has no such file.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn file(&self, file: &RepoPath, commit: &str) -> Result<Option<Vec<u8>>, Refusal> {
        // Slashes are sent encoded: the route's path is one segment, and GitHub takes it.
        let encoded: String = file
            .as_str()
            .bytes()
            .map(|byte| match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
                other => format!("%{other:02X}"),
            })
            .collect();
        let path = self.path(&format!("/contents/{encoded}?ref={commit}"));
        let doing = "while reading a file of the base commit";
        match self.ask(&Method::GET, &path, None, doing) {
            Ok(answer) => match content(&answer, &path)? {
                Some(bytes) => Ok(Some(bytes)),
                None => self.ask_as(&Method::GET, &path, None, doing, RAW).map(|answer| Some(answer.body)),
            },
            Err(Refusal::Missing) => Ok(None),
            Err(other) => Err(other),
        }
    }

    fn path(&self, rest: &str) -> String {
        format!("/repos/{}{rest}", self.repository)
    }

    fn ask(&self, method: &Method, path: &str, body: Option<&Value>, doing: &'static str) -> Result<Answer, Refusal> {
        self.ask_as(method, path, body, doing, JSON)
    }

    fn ask_as(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        doing: &'static str,
        form: &'static str,
    ) -> Result<Answer, Refusal> {
        self.runtime.block_on(self.asked(method, path, body, form)).map_err(|refusal| match refusal {
            Refusal::Failed(error) => Refusal::Failed(error.context(format!("{doing} ({} {path})", method.as_str()))),
            other => other,
        })
    }

    async fn asked(&self, method: &Method, path: &str, body: Option<&Value>, form: &str) -> Result<Answer, Refusal> {
        let mut waited = Duration::ZERO;
        let mut tries = 1;
        loop {
            let outcome = self.sent(method, path, body, form).await;
            let (wait, refusal) = match outcome {
                Ok(answer) if answer.status.is_success() => return Ok(answer),
                Ok(answer) => (pause(method, &answer, tries), refusal(&answer)),
                // A lost answer to a POST may have been done.
                Err(error) => ((method != Method::POST).then(|| backoff(tries)), Refusal::Failed(error)),
            };
            match wait {
                Some(wait) if tries < TRIES && waited + wait <= PATIENCE => {
                    tokio::time::sleep(wait).await;
                    waited += wait;
                    tries += 1;
                }
                Some(_) | None => return Err(refusal),
            }
        }
    }

    async fn sent(&self, method: &Method, path: &str, body: Option<&Value>, form: &str) -> anyhow::Result<Answer> {
        let text = body.map(Value::to_string).unwrap_or_default();
        let request = http::Request::builder()
            .method(method.clone())
            .uri(path)
            .header("accept", form)
            .header("content-type", "application/json")
            .header("user-agent", concat!("goldgate/", env!("CARGO_PKG_VERSION")))
            .header("x-github-api-version", "2022-11-28")
            .body(text)?;
        let response = self.client.execute(request).await?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await?.to_bytes().to_vec();
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    }
}

/// How long to wait before the next try; `None` where another try would not help.
fn pause(method: &Method, answer: &Answer, tries: u32) -> Option<Duration> {
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
    // 502 to 504 come from GitHub's edge; a POST may have been done behind it.
    (answer.status.is_server_error() && method != Method::POST).then(|| backoff(tries))
}

/// 0.25, 0.5, 1, 2 seconds.
fn backoff(tries: u32) -> Duration {
    Duration::from_millis(125 * (1 << tries.min(8)))
}

fn refusal(answer: &Answer) -> Refusal {
    match answer.status {
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => Refusal::Forbidden,
        StatusCode::NOT_FOUND => Refusal::Missing,
        status => {
            let message: Option<String> = serde_json::from_slice::<Value>(&answer.body)
                .ok()
                .and_then(|body| Some(body.get("message")?.as_str()?.to_owned()));
            let said =
                message.map_or(String::new(), |message| format!(": {}", message.chars().take(200).collect::<String>()));
            Refusal::Failed(anyhow::anyhow!("GitHub answered {status}{said}"))
        }
    }
}

fn parsed<T: for<'de> Deserialize<'de>>(answer: &Answer, path: &str) -> Result<T, Refusal> {
    serde_json::from_slice(&answer.body)
        .with_context(|| format!("GitHub's answer to {path} has another form than documented"))
        .map_err(Refusal::Failed)
}

/// A file's bytes out of the contents API's base64; `None` where it has more than the 1 MB that are given so.
fn content(answer: &Answer, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
    let form: ContentForm = parsed(answer, path)?;
    if form.encoding != "base64" {
        return Ok(None);
    }
    let plain: String = form.content.chars().filter(|char| !char.is_whitespace()).collect();
    STANDARD.decode(plain).context("the file's base64 is broken").map(Some).map_err(Refusal::Failed)
}

#[derive(Deserialize)]
struct UserForm {
    login: String,
}

#[derive(Deserialize)]
struct PullForm {
    head: HeadForm,
}

#[derive(Deserialize)]
struct HeadForm {
    sha: String,
}

#[derive(Deserialize)]
struct CommentForm {
    id: u64,
    #[serde(default)]
    body: Option<String>,
    html_url: Option<String>,
    user: Option<UserForm>,
}

#[derive(Deserialize)]
struct ContentForm {
    #[serde(default)]
    content: String,
    encoding: String,
}

impl From<CommentForm> for Comment {
    fn from(form: CommentForm) -> Self {
        Self {
            id: form.id,
            // A user that is gone wrote nothing of ours.
            author: form.user.map_or(String::new(), |user| user.login),
            body: form.body.unwrap_or_default(),
            url: form.html_url.unwrap_or_default(),
        }
    }
}
