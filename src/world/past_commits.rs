//! The last commits that changed something in some folders, and what they have there.

use super::objects::Objects;
use crate::files::{CommitRecordings, PastCommits, Predecessors};
use crate::model::RepoPath;

/// The last commits up to the second one that changed something in these folders, with the files in them. The first one is the base commit.
///
/// # Errors
/// A commit that cannot be listed.
pub fn past_commits(
    objects: &dyn Objects,
    range: [&str; 2],
    folders: &[RepoPath],
) -> anyhow::Result<PastCommits> {
    let below = objects.commits_below(range, folders)?;
    let commit = |id: String| {
        let files = objects.files_below(&id, folders)?;
        let predecessors = if below.ends.contains(&id) {
            Predecessors::Unknown
        } else {
            Predecessors::Known
        };
        Ok(CommitRecordings {
            id,
            files,
            predecessors,
        })
    };
    let commits = below
        .ids
        .iter()
        .cloned()
        .map(commit)
        .collect::<anyhow::Result<_>>()?;
    Ok(PastCommits {
        commits,
        cut: below.cut,
    })
}
