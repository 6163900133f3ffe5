//! The reasons for worse numbers that approved, merged pull requests gave. The pull request with the baseline takes them over, so that
//! nobody has to give them twice.

use super::pull_request_context::log;
use crate::publish;
use crate::publish::approval::ApprovalScope;
use crate::publish::{ConfigKey, approval};
use crate::world::{GitHub, GitHubError, MergedPull, World};

/// Maximum number of merged pull requests whose approvals are read.
const MOST: usize = 20;

/// Returns the reasons of the approved pull requests that were merged into a branch since a time, the oldest first. If they cannot be
/// read, the pull request with the baseline asks for a reason.
pub fn given_reasons(
    world: &World,
    github: &GitHub,
    key: &ConfigKey,
    into: &str,
    since: Option<&str>,
) -> Option<String> {
    let merged = github
        .merged_pulls(into)
        .and_then(|merged| approved(github, key, merged, since));
    match merged {
        Ok(reasons) => (!reasons.is_empty()).then(|| reasons.join("; ")),
        Err(error) => {
            let what = "the reasons of merged pull requests cannot be read";
            log(
                world,
                &format!("{:#}", error.explained(what, "statuses: read")),
            );
            None
        }
    }
}

fn approved(
    github: &GitHub,
    key: &ConfigKey,
    mut merged: Vec<MergedPull>,
    since: Option<&str>,
) -> Result<Vec<String>, GitHubError> {
    // All these times are in one format in UTC, so they compare as texts.
    merged.retain(|one| since.is_none_or(|since| one.at.as_str() >= since));
    merged.sort_by(|one, other| other.at.cmp(&one.at));
    let identity = github.identity().unwrap_or_default();
    let mut reasons = Vec::new();
    let stated = merged
        .iter()
        .filter_map(|one| Some((one, publish::reason(&one.description)?)));
    for (one, reason) in stated.take(MOST) {
        let statuses = github.statuses(&one.head)?;
        let scope = ApprovalScope {
            key,
            identity,
            pull: Some(one.number),
        };
        if approval::standing(&statuses, scope, &one.head).is_some() {
            reasons.push(format!("{reason} (pull request {})", one.number));
        }
    }
    reasons.reverse();
    Ok(reasons)
}
