//! The files below a folder.

use std::collections::BTreeMap;

use super::desk::{Entry, EntryKind, Shelf};
use crate::diag::Diagnostic;
use crate::model::RepoPath;

/// How deep a folder is followed: a link may lead back to where it stands.
const DEEPEST: usize = 24;
/// The most files that are looked at below one folder.
const MOST: usize = 200_000;

/// Files by their path below a folder; the folder itself, where it is a file, has the empty path.
pub type Files = BTreeMap<String, RepoPath>;

/// The files below `root`. Nothing there is no file.
///
/// # Errors
/// A folder that cannot be listed, or holds more than can be looked at.
pub fn files_below(shelf: &dyn Shelf, root: &RepoPath) -> Result<Files, Diagnostic> {
    let mut files = Files::new();
    let Ok(entries) = shelf.list_all(root) else {
        return match shelf.bytes(root) {
            Ok(_) => Ok(Files::from([(String::new(), root.clone())])),
            Err(problem) if matches!(problem.code, "missing-file" | "missing-folder") => Ok(files),
            Err(problem) => Err(problem),
        };
    };
    walk(shelf, root, entries, "", 0, &mut files)?;
    Ok(files)
}

fn walk(
    shelf: &dyn Shelf,
    folder: &RepoPath,
    entries: Vec<Entry>,
    inner: &str,
    depth: usize,
    files: &mut Files,
) -> Result<(), Diagnostic> {
    let refuse = |what: String| Diagnostic::of_file(folder, "too-many-files", what, "name a smaller folder");
    if depth > DEEPEST {
        return Err(refuse(format!("this lies deeper than {DEEPEST} folders")));
    }
    for entry in entries {
        let path = folder.child(&entry.name);
        let inner = if inner.is_empty() { entry.name } else { format!("{inner}/{}", entry.name) };
        match entry.kind {
            EntryKind::File if files.len() >= MOST => return Err(refuse(format!("there are more than {MOST} files"))),
            EntryKind::File => drop(files.insert(inner, path)),
            EntryKind::Folder => walk(shelf, &path, shelf.list_all(&path)?, &inner, depth + 1, files)?,
        }
    }
    Ok(())
}
