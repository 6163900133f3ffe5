//! The files below a folder.

use std::collections::BTreeMap;

use super::desk::{EntryKind, Shelf};
use crate::diag::Diagnostic;
use crate::model::RepoPath;

/// How deep a folder is followed: a link may lead back to where it stands.
const DEEPEST: usize = 24;
/// The most files that are looked at below one folder.
const MOST: usize = 200_000;

/// Files by their path below a folder; the folder itself, where it is a file, has the empty path.
pub type Files = BTreeMap<String, RepoPath>;

/// The files below `root` but for those that are skipped, a folder with everything in it. Nothing there is no file.
///
/// # Errors
/// A folder that cannot be listed, or holds more than can be looked at.
pub fn files_below(shelf: &dyn Shelf, root: &RepoPath, skip: &dyn Fn(&RepoPath) -> bool) -> Result<Files, Diagnostic> {
    let mut files = Files::new();
    if shelf.list_all(root).is_err() {
        return match shelf.bytes(root) {
            Ok(_) => Ok(Files::from([(String::new(), root.clone())])),
            Err(problem) if matches!(problem.code, "missing-file" | "missing-folder") => Ok(files),
            Err(problem) => Err(problem),
        };
    }
    walk(shelf, root, "", 0, skip, &mut files)?;
    Ok(files)
}

fn walk(
    shelf: &dyn Shelf,
    folder: &RepoPath,
    inner: &str,
    depth: usize,
    skip: &dyn Fn(&RepoPath) -> bool,
    files: &mut Files,
) -> Result<(), Diagnostic> {
    let refuse = |what: String| Diagnostic::of_file(folder, "too-many-files", what, "name a smaller folder");
    if depth > DEEPEST {
        return Err(refuse(format!("this lies deeper than {DEEPEST} folders")));
    }
    for entry in shelf.list_all(folder)? {
        let path = folder.child(&entry.name);
        if skip(&path) {
            continue;
        }
        let inner = if inner.is_empty() { entry.name } else { format!("{inner}/{}", entry.name) };
        match entry.kind {
            EntryKind::File if files.len() >= MOST => return Err(refuse(format!("there are more than {MOST} files"))),
            EntryKind::File => drop(files.insert(inner, path)),
            EntryKind::Folder => walk(shelf, &path, &inner, depth + 1, skip, files)?,
        }
    }
    Ok(())
}
