//! Why a request failed, and whether a retry helps: the one place that reads GitHub's refusals.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::Value;

use super::response::GitHubResponse;
use crate::text::line;
use crate::world::clock::Clock;

/// Why a request to GitHub failed: GitHub refused it, or did not answer. Every function that makes a request may return it.
#[derive(Debug)]
pub enum GitHubError {
    /// GitHub refused the request; nothing was done.
    Refused(GitHubRefusal),
    /// It does not exist, or the token may not see it.
    Missing,
    /// What GitHub has is of no use: a file that is too large, or one that is gone. Asking again does not help.
    Unusable(anyhow::Error),
    /// Any other failure.
    Failed(anyhow::Error),
}

/// Why GitHub refused a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitHubRefusal {
    /// The token lacks a permission. GitHub names the sets of permissions that would do, such as `pull-requests: write`.
    Permission(Vec<Vec<String>>),
    /// The token may only read, because of what started the run.
    ReadOnly(ReadOnlyToken),
    /// GitHub does not accept the token.
    BadToken,
    /// The conversation of the issue or pull request is locked.
    Locked,
    /// Too many requests.
    RateLimit(RateLimit),
    /// The workflow run is still in progress, so it cannot be re-run.
    RunInProgress,
    /// The workflow run has no failed job, so its failed jobs cannot be re-run.
    NothingFailed,
    /// The workflow run is too old to be re-run.
    TooOld,
    /// Another reason, in GitHub's words: an archived repository, an IP allow list, a single sign-on.
    Other(String),
}

/// What started a run whose token may only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnlyToken {
    Fork,
    /// Dependabot, unless the job states its permissions.
    Dependabot,
}

/// A limit on the number of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    pub kind: RateLimitKind,
    /// When GitHub lifts it, if it says so.
    pub wait: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateLimitKind {
    /// The requests of an hour are used up.
    Primary,
    /// Too many requests in a short time.
    Secondary,
}

/// The shortest wait after a secondary limit that gives no time (GitHub docs, "Rate limits for the REST API").
const SECONDARY: Duration = Duration::from_secs(60);

impl From<anyhow::Error> for GitHubError {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<GitHubRefusal> for GitHubError {
    fn from(refusal: GitHubRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl GitHubError {
    /// Whether the token may not do it, so that the same request will fail again.
    pub fn is_denied(&self) -> bool {
        match self {
            Self::Refused(
                GitHubRefusal::Permission(_)
                | GitHubRefusal::ReadOnly(_)
                | GitHubRefusal::BadToken
                | GitHubRefusal::Other(_),
            )
            | Self::Missing => true,
            Self::Refused(
                GitHubRefusal::Locked
                | GitHubRefusal::RateLimit(_)
                | GitHubRefusal::RunInProgress
                | GitHubRefusal::NothingFailed
                | GitHubRefusal::TooOld,
            )
            | Self::Failed(_)
            | Self::Unusable(_) => false,
        }
    }

    /// The reason as a clause. `permission` is what the request needs, such as `statuses: write`.
    pub fn reason(&self, permission: &str) -> String {
        match self {
            Self::Refused(refusal) => refusal.explained(permission),
            // GitHub hides what a token may not see.
            Self::Missing => GitHubRefusal::Permission(Vec::new()).explained(permission),
            Self::Failed(error) | Self::Unusable(error) => format!("{error:#}"),
        }
    }

    /// An error that says what failed and why. `permission` is what the request needs, such as `statuses: write`.
    pub fn explained(self, message: &str, permission: &str) -> anyhow::Error {
        match self {
            Self::Failed(error) | Self::Unusable(error) => error.context(message.to_owned()),
            Self::Refused(_) | Self::Missing => {
                anyhow::anyhow!("{message}: {}", self.reason(permission))
            }
        }
    }
}

impl GitHubRefusal {
    /// The reason as a clause. `permission` is what the request needs, such as `statuses: write`.
    pub fn explained(&self, permission: &str) -> String {
        match self {
            Self::Permission(sets) => {
                format!("the job needs the permission `{}`", named(sets, permission))
            }
            Self::ReadOnly(ReadOnlyToken::Fork) => {
                "the token of a fork's pull request is read-only".to_owned()
            }
            Self::ReadOnly(ReadOnlyToken::Dependabot) => format!(
                "the token of a run that Dependabot started is read-only; the job needs the permission `{permission}`"
            ),
            Self::BadToken => "GitHub does not accept the token; check the input token".to_owned(),
            Self::Locked => {
                "the conversation is locked; unlock it and run the job again".to_owned()
            }
            Self::RateLimit(limit) => limit.explained(),
            Self::RunInProgress => "the workflow run is still in progress".to_owned(),
            Self::NothingFailed => "the workflow run has no failed job".to_owned(),
            Self::TooOld => {
                "GitHub starts no run again that is older than 30 days: push a commit".to_owned()
            }
            Self::Other(message) => format!("GitHub refuses it: {}", line(message, MESSAGE)),
        }
    }
}

impl RateLimit {
    fn explained(self) -> String {
        let message = match self.kind {
            RateLimitKind::Primary => "GitHub's rate limit of this token is used up",
            RateLimitKind::Secondary => {
                "GitHub limits this token, because it sent too many requests in a short time"
            }
        };
        let minutes = self.wait.unwrap_or(SECONDARY).as_secs().div_ceil(60).max(1);
        format!("{message}; run the job again in {minutes} min")
    }
}

/// The permission to show: `expected`, unless GitHub names sets of which none is about the same scope.
fn named(sets: &[Vec<String>], expected: &str) -> String {
    let is_known = sets
        .iter()
        .flatten()
        .any(|permission| scope(permission) == scope(expected));
    match sets.first() {
        Some(first) if !is_known => first.join("` and `"),
        Some(_) | None => expected.to_owned(),
    }
}

/// The part of a permission before its level, such as `contents` of `contents: read`.
fn scope(permission: &str) -> &str {
    permission.split(':').next().unwrap_or_default()
}

/// The error in an unsuccessful answer. GitHub answers 403 for many reasons, and only some are missing permissions.
pub(super) fn error(
    method: &Method,
    answer: &GitHubResponse,
    read_only: Option<ReadOnlyToken>,
) -> GitHubError {
    if let Some(limit) = rate_limit(answer) {
        return GitHubRefusal::RateLimit(limit).into();
    }
    let message = message(answer);
    match answer.status {
        StatusCode::UNAUTHORIZED => GitHubRefusal::BadToken.into(),
        StatusCode::FORBIDDEN => {
            let read_only = read_only.filter(|_| method != Method::GET);
            let known = forbidden(&message.to_lowercase(), read_only);
            known.unwrap_or_else(|| unknown(answer, message)).into()
        }
        StatusCode::NOT_FOUND => GitHubError::Missing,
        status => {
            let detail = if message.is_empty() {
                message
            } else {
                format!(": {message}")
            };
            GitHubError::Failed(anyhow::anyhow!("GitHub answered {status}{detail}"))
        }
    }
}

/// The cause of a 403 other than a missing permission. GitHub gives it in the message alone.
fn forbidden(message: &str, read_only: Option<ReadOnlyToken>) -> Option<GitHubRefusal> {
    // "Unable to create comment because issue is locked."
    if message.contains("is locked") {
        return Some(GitHubRefusal::Locked);
    }
    // "This workflow run cannot be retried" (metabase/metabase#28400, #70916).
    if message.contains("cannot be retried") {
        return Some(GitHubRefusal::NothingFailed);
    }
    // "This workflow is already running" (apache/tvm#12847, cli/cli#9221).
    if message.contains("already running") {
        return Some(GitHubRefusal::RunInProgress);
    }
    // "Unable to retry this workflow run because it was created over a month ago" (cli/cli#9989).
    if message.contains("over a month ago") {
        return Some(GitHubRefusal::TooOld);
    }
    read_only.map(GitHubRefusal::ReadOnly)
}

/// How GitHub says that a token lacks a permission, in lower case: "Resource not accessible by integration", "Resource not accessible by
/// personal access token", "Must have admin rights to Repository.", "Must have push access to repository", "You do not have permission to …".
const DENIED: [&str; 4] = [
    "not accessible by",
    "must have admin rights",
    "must have push access",
    "not have permission",
];

/// A 403 for another reason than the known ones: a missing permission where GitHub says so or says nothing; else what GitHub says. The header
/// with the accepted permissions decides nothing, because GitHub may also send it when the repository is archived, or an allow list or a
/// single sign-on keeps the token out.
fn unknown(answer: &GitHubResponse, message: String) -> GitHubRefusal {
    let said = message.to_lowercase();
    let is_permission = said.is_empty() || DENIED.iter().any(|words| said.contains(words));
    if is_permission {
        GitHubRefusal::Permission(accepted(answer))
    } else {
        GitHubRefusal::Other(message)
    }
}

/// The sets of permissions that GitHub accepts for a request, such as `pull-requests: write` (docs, "Troubleshooting the REST API":
/// sets are separated by semicolons, permissions of a set by commas).
fn accepted(answer: &GitHubResponse) -> Vec<Vec<String>> {
    let text = answer
        .headers
        .get("x-accepted-github-permissions")
        .and_then(|value| value.to_str().ok());
    let mut sets = Vec::new();
    for listed in text.unwrap_or_default().split(';') {
        let set: Vec<String> = listed.split(',').filter_map(permission_of).collect();
        if !set.is_empty() {
            sets.push(set);
        }
    }
    sets
}

/// The permission `contents: read` of the header's `contents=read`.
fn permission_of(entry: &str) -> Option<String> {
    let (scope, level) = entry.trim().split_once('=')?;
    let is_plain = scope
        .bytes()
        .chain(level.bytes())
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_plain.then(|| format!("{}: {level}", scope.replace('_', "-")))
}

/// The longest message of GitHub, in characters.
const MESSAGE: usize = 200;

/// The first characters of the message in an answer, with the reasons of a failed validation, which have a list of their own (GitHub docs, "Client
/// errors").
fn message(answer: &GitHubResponse) -> String {
    let body = serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
    let errors = body["errors"].as_array().into_iter().flatten();
    let reasons = errors.filter_map(|error| error["message"].as_str().or(error.as_str()));
    let said: Vec<&str> = body["message"]
        .as_str()
        .into_iter()
        .chain(reasons)
        .collect();
    said.join(": ").chars().take(MESSAGE).collect()
}

/// The limit that an answer reports, as 403 or 429 (docs, "Rate limits for the REST API").
fn rate_limit(answer: &GitHubResponse) -> Option<RateLimit> {
    if answer.status != StatusCode::FORBIDDEN && answer.status != StatusCode::TOO_MANY_REQUESTS {
        return None;
    }
    let used_up = number(answer, "x-ratelimit-remaining") == Some(0);
    if let Some(seconds) = number(answer, "retry-after") {
        let kind = if used_up {
            RateLimitKind::Primary
        } else {
            RateLimitKind::Secondary
        };
        return Some(RateLimit {
            kind,
            wait: Some(Duration::from_secs(seconds)),
        });
    }
    if used_up {
        let seconds = Clock::new(None).nanoseconds() / 1_000_000_000;
        let wait = number(answer, "x-ratelimit-reset")
            .map(|reset| Duration::from_secs(reset.saturating_sub(seconds)));
        return Some(RateLimit {
            kind: RateLimitKind::Primary,
            wait,
        });
    }
    let said = message(answer).to_lowercase();
    let is_limit = answer.status == StatusCode::TOO_MANY_REQUESTS
        || ["rate limit", "abuse detection"]
            .iter()
            .any(|words| said.contains(words));
    is_limit.then_some(RateLimit {
        kind: RateLimitKind::Secondary,
        wait: None,
    })
}

/// The number in a header of the answer.
fn number(answer: &GitHubResponse, header: &str) -> Option<u64> {
    let value = answer.headers.get(header)?.to_str().ok()?;
    value.trim().parse().ok()
}

/// Whether a request may be sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeatable {
    /// A second one changes nothing.
    Yes,
    /// A second one would write twice.
    No,
}

/// How long to wait before a retry; `None` if a retry would not help.
pub(super) fn pause(
    repeatable: Repeatable,
    answer: &GitHubResponse,
    tries: u32,
) -> Option<Duration> {
    if let Some(limit) = rate_limit(answer) {
        let unknown = match answer.status {
            StatusCode::TOO_MANY_REQUESTS => backoff(tries),
            _ => SECONDARY,
        };
        return Some(limit.wait.unwrap_or(unknown));
    }
    // 502 to 504 come from GitHub's edge, which may have passed the request on.
    (answer.status.is_server_error() && repeatable == Repeatable::Yes).then(|| backoff(tries))
}

/// 0.25, 0.5, 1, 2 seconds.
pub(super) fn backoff(tries: u32) -> Duration {
    Duration::from_millis(125 * (1 << tries.min(8)))
}

#[cfg(test)]
mod tests;
