//! Every answer that GitHub documents or was seen to give.

use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use serde_json::json;

use super::{
    GitHubError, GitHubRefusal, RateLimit, RateLimitKind, ReadOnlyToken, Repeatable, error, pause,
};
use crate::github::client::response::GitHubResponse;

fn answer(status: u16, headers: &[(&'static str, &str)], message: &str) -> GitHubResponse {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| ((*name).parse().unwrap(), (*value).parse().unwrap()))
        .collect();
    let body = json!({ "message": message }).to_string().into_bytes();
    GitHubResponse {
        status: StatusCode::from_u16(status).unwrap(),
        headers,
        body,
    }
}

fn refused(
    method: &Method,
    answer: &GitHubResponse,
    read_only: Option<ReadOnlyToken>,
) -> GitHubRefusal {
    match error(method, answer, read_only) {
        GitHubError::Refused(refusal) => refusal,
        other => unreachable!("{other:?}"),
    }
}

const DENIED: &str = "Resource not accessible by integration";

#[test]
fn a_403_is_read_before_it_is_explained() {
    let limit = |kind, seconds: Option<u64>| {
        GitHubRefusal::RateLimit(RateLimit {
            kind,
            wait: seconds.map(Duration::from_secs),
        })
    };
    let post = |answer: &GitHubResponse| refused(&Method::POST, answer, None);
    let used_up = "API rate limit exceeded for installation ID 1.";
    let reset = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1")];
    assert_eq!(
        post(&answer(403, &reset, used_up)),
        limit(RateLimitKind::Primary, Some(0))
    );
    let slow =
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    assert_eq!(
        post(&answer(403, &[("retry-after", "7")], slow)),
        limit(RateLimitKind::Secondary, Some(7))
    );
    for status in [403, 429] {
        assert_eq!(
            post(&answer(status, &[], slow)),
            limit(RateLimitKind::Secondary, None)
        );
    }
    let locked = "Unable to create comment because issue is locked.";
    assert_eq!(post(&answer(403, &[], locked)), GitHubRefusal::Locked);
    assert_eq!(
        post(&answer(403, &[], "This workflow is already running")),
        GitHubRefusal::RunInProgress
    );
    assert_eq!(
        post(&answer(403, &[], "This workflow run cannot be retried")),
        GitHubRefusal::NothingFailed
    );
    assert_eq!(
        post(&answer(401, &[], "Bad credentials")),
        GitHubRefusal::BadToken
    );
    assert_eq!(
        post(&answer(403, &[], DENIED)),
        GitHubRefusal::Permission(Vec::new())
    );
    // A header that says how many requests are left proves nothing while there are some.
    assert_eq!(
        post(&answer(403, &[("x-ratelimit-remaining", "12")], DENIED)),
        GitHubRefusal::Permission(Vec::new())
    );
    for read_only in [ReadOnlyToken::Fork, ReadOnlyToken::Dependabot] {
        let denied = answer(403, &[], DENIED);
        assert_eq!(
            refused(&Method::POST, &denied, Some(read_only)),
            GitHubRefusal::ReadOnly(read_only)
        );
        assert_eq!(
            refused(&Method::GET, &denied, Some(read_only)),
            GitHubRefusal::Permission(Vec::new())
        );
        assert_eq!(
            refused(&Method::POST, &answer(403, &[], locked), Some(read_only)),
            GitHubRefusal::Locked
        );
    }
}

#[test]
fn a_failed_validation_has_its_reasons() {
    let mut answer = answer(422, &[], "");
    for (body, said) in [
        (
            json!({ "message": "Validation Failed", "errors": [{ "field": "base", "code": "invalid" }] }),
            "Validation Failed",
        ),
        (
            json!({ "message": "Validation Failed", "errors": [{ "code": "custom", "message": "body is too long" }, "base invalid"] }),
            "Validation Failed: body is too long: base invalid",
        ),
    ] {
        answer.body = body.to_string().into_bytes();
        let error = error(&Method::POST, &answer, None).explained("it failed", "");
        assert_eq!(
            format!("{error:#}"),
            format!("it failed: GitHub answered 422 Unprocessable Entity: {said}")
        );
    }
}

#[test]
fn another_reason_is_given_in_githubs_words_whatever_the_header_names() {
    for said in [
        "Repository was archived so is read-only.",
        "Resource protected by organization SAML enforcement.",
    ] {
        let denied = answer(
            403,
            &[("x-accepted-github-permissions", "pull_requests=write")],
            said,
        );
        assert_eq!(
            refused(&Method::POST, &denied, None),
            GitHubRefusal::Other(said.to_owned())
        );
    }
}

#[test]
fn the_missing_permission_is_the_one_that_github_names() {
    for (accepted, expected) in [
        (
            "issues=write; pull_requests=write",
            "the job needs the permission `pull-requests: write`",
        ),
        (
            "statuses=write",
            "the job needs the permission `statuses: write`",
        ),
        (
            "contents=read,metadata=read",
            "the job needs the permission `contents: read` and `metadata: read`",
        ),
        (
            "pull_requests=read",
            "the job needs the permission `pull-requests: write`",
        ),
        ("", "the job needs the permission `pull-requests: write`"),
        (
            "@acme=write; <b>",
            "the job needs the permission `pull-requests: write`",
        ),
    ] {
        let denied = answer(403, &[("x-accepted-github-permissions", accepted)], DENIED);
        let refusal = refused(&Method::POST, &denied, None);
        assert_eq!(
            refusal.explained("pull-requests: write"),
            expected,
            "{accepted}"
        );
    }
}

#[test]
fn only_what_may_be_sent_twice_is_sent_twice_after_a_server_error() {
    let lost = answer(502, &[], "");
    assert!(
        pause(Repeatable::Yes, &lost, 1).is_some() && pause(Repeatable::No, &lost, 1).is_none()
    );
    // A refused request did nothing, so it may always be sent again.
    let wait = |status, headers: &[(&'static str, &str)], message| {
        pause(Repeatable::No, &answer(status, headers, message), 1)
    };
    assert_eq!(
        wait(429, &[("retry-after", "3")], ""),
        Some(Duration::from_secs(3))
    );
    assert_eq!(
        wait(403, &[], "You have exceeded a secondary rate limit."),
        Some(Duration::from_secs(60))
    );
    assert_eq!(wait(403, &[], DENIED), None);
}
