//! Whether an agent has the same files as on the base commit, wherever they are and whichever list names them.

use std::collections::{BTreeSet, HashSet};

use super::Sides;
use super::agent_files::agent_files;
use crate::files::{CheckoutDigest, FileMatch, FilePaths, Files, files_below};
use crate::model::{Agent, RepoPath};

/// The files of an agent whose content is new, changed or gone since the base commit. A file that only moved has the content of one that left
/// the list, and a file that only one of the two lists names is unchanged. `None` if one of the commits names no files of the agent.
///
/// # Errors
/// Why the files cannot be listed or read.
pub fn changed_contents(
    sides: &Sides<'_>,
    before: &Agent,
    after: &Agent,
) -> Result<Option<BTreeSet<RepoPath>>, String> {
    // The head first: it tells a submodule that is not checked out from a file.
    let (new, old) = (
        all_files(sides.head, after)?,
        all_files(sides.base, before)?,
    );
    let (Some(old), Some(new)) = (old, new) else {
        return Ok(None);
    };
    let is_moved = |file: &RepoPath, files: &dyn Files, others: &HashSet<String>| {
        content(files, file).map(|content| others.contains(&content))
    };
    let only = |files: &dyn Files,
                of: &FilePaths,
                others: &FilePaths|
     -> Result<HashSet<String>, String> {
        let moved = of.iter().filter(|(path, _)| !others.contains_key(*path));
        moved.map(|(_, file)| content(files, file)).collect()
    };
    let (left, arrived) = (only(sides.base, &old, &new)?, only(sides.head, &new, &old)?);
    let mut changed = BTreeSet::new();
    for file in new.values() {
        let is_on_base = !sides.base.has_file(file, None);
        let is_same = match is_on_base {
            true => sides.base.likeness(file, file) == FileMatch::Same,
            false => is_moved(file, sides.head, &left)?,
        };
        changed.extend((!is_same).then(|| file.clone()));
    }
    for file in old.values().filter(|file| !new.contains_key(file.as_str())) {
        let is_same = match sides.head.bytes(file) {
            Ok(_) => sides.base.likeness(file, file) == FileMatch::Same,
            Err(_) => is_moved(file, sides.base, &arrived)?,
        };
        changed.extend((!is_same).then(|| file.clone()));
    }
    Ok(Some(changed))
}

/// The files that an agent's list names, and all of its prompt package.
fn all_files(files: &dyn Files, agent: &Agent) -> Result<Option<FilePaths>, String> {
    let Some((mut all, _)) = agent_files(files, agent)? else {
        return Ok(None);
    };
    if let Some(prompt) = &agent.prompt {
        let package = files_below(files, prompt).map_err(|problem| problem.to_string())?;
        all.extend(
            package
                .into_values()
                .map(|file| (file.as_str().to_owned(), file)),
        );
    }
    Ok(Some(all))
}

fn content(files: &dyn Files, file: &RepoPath) -> Result<String, String> {
    let bytes = files.bytes(file).map_err(|problem| problem.to_string())?;
    Ok(CheckoutDigest::of(&bytes).sha256)
}
