//! Which heads of a pull request are git's own merge of the base branch: the button "Update branch", or a merge by hand that changes nothing
//! more.

use crate::github::client::{GitHub, GitHubError};
use crate::github::requests::needs;
use crate::github::three_trees;
use crate::model::PullRequestDetails;
use crate::publish::approval::BranchUpdate;
use crate::render::CliError;

/// The newest heads that are git's own merges of the base branch, newest first, up to the first one that is not.
///
/// # Errors
/// A failed request.
pub fn updates(
    github: &GitHub,
    pull: &PullRequestDetails,
    most: usize,
) -> Result<Vec<BranchUpdate>, CliError> {
    let mut updates = Vec::new();
    let mut head = pull.head.clone();
    while updates.len() < most {
        let parent = before_update(github, pull, &head).map_err(needs(
            "the commits of the branch cannot be read",
            "contents: read",
        ))?;
        let Some(parent) = parent else { break };
        updates.push(BranchUpdate {
            head: head.clone(),
            before: parent.clone(),
        });
        head = parent;
    }
    Ok(updates)
}

/// The head before, if a commit is a merge of the base branch whose every file is what the three trees say.
fn before_update(
    github: &GitHub,
    pull: &PullRequestDetails,
    head: &str,
) -> Result<Option<String>, GitHubError> {
    let parents = match github.parents(head) {
        Ok(parents) => parents,
        Err(GitHubError::Missing) => return Ok(None),
        Err(error) => return Err(error),
    };
    let [parent, merged] = parents.as_slice() else {
        return Ok(None);
    };
    if !github.branch_has(&pull.into, merged)? {
        return Ok(None);
    }
    let origin = github.common_commit(merged, parent)?;
    let trees = (
        github.tree(&origin)?,
        github.tree(parent)?,
        github.tree(merged)?,
        github.tree(head)?,
    );
    let (Some(origin), Some(ours), Some(theirs), Some(merge)) = trees else {
        return Ok(None);
    };
    let is_own = three_trees::merged(&origin, &ours, &theirs) == Some(merge);
    Ok(is_own.then(|| parent.clone()))
}
