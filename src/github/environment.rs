//! The event, and the client of GitHub, as the runner names them.

use std::path::Path;

use crate::files::SourceText;
use crate::format::event::Event;
use crate::format::event_action::EventAction;
use crate::format::{event, event_action};
use crate::github::client::{GitHub, ReadOnlyToken};
use crate::model::{BranchOrigin, RepoPath};
use crate::render::CliError;
use crate::world::{Disk, Env};

/// Reads the event of the job; none without a payload.
///
/// # Errors
/// A payload that cannot be read, or one without what its event is about: the change would be judged by its own rules.
pub(super) fn event_of(env: &Env) -> Result<Event, CliError> {
    let event = match payload(env)? {
        Some(source) => event::read_event(&source)?,
        None => Event::NONE,
    };
    let name = env.get("GITHUB_EVENT_NAME").unwrap_or_default();
    let names_commits = match name {
        "pull_request" | "pull_request_target" => event.pull_request.is_some(),
        "merge_group" => event.base.is_some(),
        _ => true,
    };
    if names_commits {
        return Ok(event);
    }
    let message = format!(
        "the event is {name}, but the file in GITHUB_EVENT_PATH does not say which commits it is about"
    );
    Err(anyhow::anyhow!(message).into())
}

/// Reads the action of the event; `None` without a payload.
///
/// # Errors
/// A payload that cannot be read.
pub(super) fn action_of(env: &Env) -> Result<Option<EventAction>, CliError> {
    Ok(payload(env)?
        .map(|source| event_action::read_event_action(&source))
        .transpose()?)
}

/// Reads the payload of the event.
pub(super) fn payload(env: &Env) -> Result<Option<SourceText>, CliError> {
    let Some(path) = env.get("GITHUB_EVENT_PATH") else {
        return Ok(None);
    };
    let (folder, name) = Path::new(path)
        .parent()
        .zip(Path::new(path).file_name().and_then(|name| name.to_str()))
        .ok_or_else(|| {
            anyhow::anyhow!("GITHUB_EVENT_PATH is {path:?}, which does not name a file")
        })?;
    let file = RepoPath::root().child(name);
    let bytes = Disk::open(folder)?
        .read(&file)
        .map_err(|_| anyhow::anyhow!("the event payload {path} cannot be read"))?;
    Ok(Some(SourceText::new(file, bytes)?))
}

/// Opens the client of the job's repository; `None` without a token.
pub(super) fn github(env: &Env) -> Result<Option<GitHub>, CliError> {
    let Some(token) = env
        .secret("INPUT_TOKEN")
        .or_else(|| env.secret("GITHUB_TOKEN"))
    else {
        return Ok(None);
    };
    let repository = env.get("GITHUB_REPOSITORY").ok_or_else(|| {
        anyhow::anyhow!("GITHUB_REPOSITORY is not set: the runner sets it to OWNER/NAME; pass it on to the container")
    })?;
    let api = env
        .get("GITHUB_API_URL")
        .unwrap_or("https://api.github.com");
    let github = GitHub::open(api, repository, &token)?.with_read_only(read_only_token(env));
    Ok(Some(match env.get("GITHUB_GRAPHQL_URL") {
        Some(address) => github.with_graphql(address, &token)?,
        None => github,
    }))
}

/// Returns why the token of this job may only read, if the event says so. The token of `pull_request_target` may write.
pub(super) fn read_only_token(env: &Env) -> Option<ReadOnlyToken> {
    let event = env.get("GITHUB_EVENT_NAME")?;
    let pull_request = event_of(env).ok()?.pull_request;
    let is_fork =
        pull_request.is_some_and(|pull_request| pull_request.origin == BranchOrigin::Fork);
    match event {
        "pull_request" if is_fork => Some(ReadOnlyToken::Fork),
        // GitHub docs, "Troubleshooting Dependabot on GitHub Actions": the actor decides, also where somebody re-runs the job.
        "pull_request" | "push" if env.get("GITHUB_ACTOR") == Some("dependabot[bot]") => {
            Some(ReadOnlyToken::Dependabot)
        }
        _ => None,
    }
}
