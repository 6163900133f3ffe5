//! Delivers recordings: as a commit on the pull request's branch, or as a folder that the workflow uploads.

use std::path::Path;

use super::context::RecordContext;
use super::new_recordings::NewRecordings;
use crate::format::recorded_v1;
use crate::format::recorded_v1::Recorded;
use crate::github::client::{FilesCommit, NotCommitted};
use crate::github::inputs::inside;
use crate::github::requests::needs;
use crate::model::{BranchOrigin, RepoPath};
use crate::render::CliError;
use crate::world::Disk;

/// The folder for recordings that are not committed, relative to the workspace.
pub const FOLDER: &str = ".goldgate/recordings";

/// Where the recordings are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// In a commit on the branch; the artifact lists their digests.
    Committed {
        /// The commit.
        commit: String,
        /// The name of the artifact.
        artifact: String,
    },
    /// In the folder, to be uploaded.
    Left {
        /// The name of the artifact.
        artifact: String,
        /// The command that applies it.
        command: String,
        /// Why they are not committed.
        why: &'static str,
    },
    /// Nowhere: the head moved to this commit meanwhile.
    Moved(String),
}

/// Delivers recordings, if the head is still the recorded commit.
///
/// # Errors
/// A failed request, or a file that cannot be written.
pub fn deliver(
    context: &RecordContext<'_>,
    files: &NewRecordings,
    body: &str,
) -> Result<Delivery, CliError> {
    let pull = &context.pull;
    let head = context.github.head_of(pull.number);
    let head = head.map_err(needs(
        "the pull request cannot be read",
        "pull-requests: write",
    ))?;
    if head != pull.head {
        return Ok(Delivery::Moved(head));
    }
    if pull.origin == BranchOrigin::Fork {
        return leave(context, files, "the branch is in a fork");
    }
    let headline = "Record the agents again";
    let files_commit = FilesCommit {
        additions: &files.additions,
        removals: &files.removals,
        headline,
        body,
    };
    match context
        .github
        .commit_files_on(&pull.branch, &pull.head, &files_commit)
    {
        Ok(commit) => {
            create_folder(context, files)?;
            let artifact = context.key.recordings_artifact(&pull.head);
            Ok(Delivery::Committed { commit, artifact })
        }
        Err(NotCommitted::Moved) => {
            let head = context.github.head_of(pull.number);
            Ok(Delivery::Moved(head.map_err(needs(
                "the pull request cannot be read",
                "pull-requests: write",
            ))?))
        }
        Err(NotCommitted::Refused(error)) if error.is_denied() => {
            leave(context, files, "the token may not push to the branch")
        }
        // Answers of models were paid for, so they are kept, whatever GitHub answers.
        Err(NotCommitted::Refused(_)) => leave(context, files, "GitHub did not accept the commit"),
    }
}

/// Creates the folder that is uploaded, with the list of what was recorded.
fn create_folder(context: &RecordContext<'_>, files: &NewRecordings) -> Result<Disk, CliError> {
    let workspace = context.world.env.get("GITHUB_WORKSPACE").unwrap_or(".");
    // What an earlier step left would be uploaded as well.
    Disk::create(Path::new(workspace))?.remove(&RepoPath::root().below(FOLDER))?;
    let folder = Disk::create(Path::new(&inside(workspace, FOLDER)))?;
    let list = Recorded::new(context.pull.number, &files.additions);
    let path = RepoPath::root().below(recorded_v1::FILE);
    folder.replace(&path, list.written().as_bytes())?;
    Ok(folder)
}

fn leave(
    context: &RecordContext<'_>,
    files: &NewRecordings,
    why: &'static str,
) -> Result<Delivery, CliError> {
    let folder = create_folder(context, files)?;
    for (file, text) in &files.additions {
        folder.replace(file, text.as_bytes())?;
    }
    let artifact = context.key.recordings_artifact(&context.pull.head);
    let run = context.world.env.get("GITHUB_RUN_ID").unwrap_or("RUN");
    let repository = context.github.repository();
    let mut command = format!(
        "dir=$(mktemp -d) && gh run download {run} --repo {repository} --name {artifact} --dir \"$dir\" && cp -R \"$dir\"/. ."
    );
    if !files.removals.is_empty() {
        let removed: Vec<String> = files.removals.iter().map(quoted).collect();
        command.push_str(&format!(" && git rm -q -- {}", removed.join(" ")));
    }
    Ok(Delivery::Left {
        artifact,
        command,
        why,
    })
}

/// A path as one word of a shell.
fn quoted(file: &RepoPath) -> String {
    format!("'{}'", file.as_str().replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use crate::model::RepoPath;

    #[test]
    fn a_path_is_one_word_of_the_shell() {
        let file = RepoPath::root()
            .join("runs/a'; rm -r b $(c)/x.json")
            .unwrap();
        assert_eq!(quoted(&file), "'runs/a'\\''; rm -r b $(c)/x.json'");
    }
}
