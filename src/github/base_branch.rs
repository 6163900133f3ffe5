//! The base branch of a job, and what it requires.

use std::collections::BTreeSet;

use super::requests::needs;
use crate::github::client::{BranchRules, GitHub};
use crate::render::CliError;

/// Whether a branch is the default branch, or requires what that one requires; `None` if the token may not know it.
///
/// # Errors
/// A failed request.
pub fn relies_on_checks(github: &GitHub, branch: &str) -> Result<Option<bool>, CliError> {
    let Some(default) = readable_default(github)? else {
        return Ok(None);
    };
    if default == branch {
        return Ok(Some(true));
    }
    let Some(branch_rules) = rules(github, branch)? else {
        return Ok(None);
    };
    let of_default = rules(github, &default)?;
    Ok(Some(
        requires_any(&branch_rules)
            && of_default
                .is_none_or(|default| not_required(branch, &branch_rules, &default).is_empty()),
    ))
}

const UNREAD: &str = "the repository cannot be read";
const METADATA: &str = "metadata: read";

/// The default branch. It may have been another one when the event came, so GitHub is asked.
///
/// # Errors
/// A failed request.
pub fn known_default(github: &GitHub) -> Result<String, CliError> {
    github.default_branch().map_err(needs(UNREAD, METADATA))
}

/// The default branch; `None` if the token may not know it.
fn readable_default(github: &GitHub) -> Result<Option<String>, CliError> {
    match github.default_branch() {
        Ok(default) => Ok(Some(default)),
        Err(error) if error.is_denied() => Ok(None),
        Err(error) => Err(needs(UNREAD, METADATA)(error)),
    }
}

/// What a branch requires; `None` if the token may not know it.
///
/// # Errors
/// A failed request.
pub fn rules(github: &GitHub, branch: &str) -> Result<Option<BranchRules>, CliError> {
    match github.branch_rules(branch) {
        Ok(rules) => Ok(Some(rules)),
        Err(error) if error.is_denied() => Ok(None),
        Err(error) => Err(needs(
            "the rules of the base branch cannot be read",
            "metadata: read",
        )(error)),
    }
}

/// Whether a branch requires any check.
pub fn requires_any(rules: &BranchRules) -> bool {
    !rules.required.is_empty() || !rules.workflows.is_empty()
}

/// The checks of the default branch that a branch does not require: one of them may be the gate, and then a pull request merges without it.
/// None where the branch alone has a check whose name ends in its own, as in `gate (release/1.0)`, because that one counts for no other
/// branch. A check of the default branch such as `tests (linux)` is not one of the branch `linux`.
pub fn not_required(branch: &str, rules: &BranchRules, default: &BranchRules) -> Vec<String> {
    let branch_names = names(rules);
    let default_names = names(default);
    if branch_names
        .difference(&default_names)
        .any(|name| is_of_branch(name, branch))
    {
        return Vec::new();
    }
    default_names
        .difference(&branch_names)
        .map(|name| (*name).to_owned())
        .collect()
}

/// The names of the checks, and the paths of the workflows.
fn names(rules: &BranchRules) -> BTreeSet<&str> {
    let checks = rules.required.iter().map(|check| check.name.as_str());
    checks
        .chain(rules.workflows.iter().map(String::as_str))
        .collect()
}

fn is_of_branch(name: &str, branch: &str) -> bool {
    [" (", ": "]
        .iter()
        .any(|separator| name.ends_with(&format!("{separator}{branch})")))
}
