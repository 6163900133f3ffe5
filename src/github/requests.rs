//! The client of these modes, and what its refusals mean to them.

use std::time::Duration;

use super::environment::github;
use crate::github::client::{GitHub, GitHubError};
use crate::render::CliError;
use crate::world::Env;

/// How often is read what GitHub may show a moment after it was written, and the pause before reading it again.
pub const LOOKS: usize = 3;
pub const PAUSE: Duration = Duration::from_secs(2);

/// Returns the GitHub client, which these modes require.
///
/// # Errors
/// The token is missing.
pub fn open(env: &Env) -> Result<GitHub, CliError> {
    github(env)?.ok_or_else(|| anyhow::anyhow!("the token is missing: set the input token").into())
}

/// Returns a function that turns a GitHub error into a CLI error and names the permission that the job needs.
pub fn needs(message: &str, permission: &str) -> impl Fn(GitHubError) -> CliError {
    move |error| error.explained(message, permission).into()
}

/// Returns why two commits have no merge base.
pub fn no_merge_base(error: GitHubError) -> CliError {
    match error {
        // GitHub answers the same in both cases.
        GitHubError::Missing => anyhow::anyhow!(
            "no verdict: the head and its base have no common history, or the job needs the permission `contents: read`"
        )
        .into(),
        error => needs("the merge base cannot be read", "contents: read")(error),
    }
}

/// Why there is no verdict.
pub fn no_verdict(why: &str) -> CliError {
    anyhow::anyhow!("no verdict: {why}").into()
}
