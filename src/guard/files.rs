//! The files below a folder, on either side.

use std::collections::BTreeMap;

use super::Base;
use super::Likeness;
use super::Sides;
use super::edits::Look;
use super::edits::edited;
use crate::format::SourceText;
use crate::model::RepoPath;
use crate::suites::EntryKind;
use crate::suites::Shelf;

/// How deep a folder is followed: a link may lead back to where it stands.
const DEEPEST: usize = 24;
/// The most files that are looked at below one folder.
const MOST: usize = 200_000;

/// Files by their path below the folder; the folder itself, where it is a file, has the empty path.
pub type Files = BTreeMap<String, RepoPath>;

/// The files below `root` but for those in a folder that is skipped.
///
/// # Errors
/// Why they cannot be listed, in words.
pub fn below(shelf: &dyn Shelf, root: &RepoPath, skip: &dyn Fn(&RepoPath) -> bool) -> Result<Files, String> {
    let mut files = Files::new();
    let Ok(_) = shelf.list(root) else {
        return match shelf.bytes(root) {
            Ok(_) => Ok(Files::from([(String::new(), root.clone())])),
            Err(problem) if matches!(problem.code, "missing-file" | "missing-folder") => Ok(files),
            Err(problem) => Err(problem.to_string()),
        };
    };
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
) -> Result<(), String> {
    if depth > DEEPEST {
        return Err(format!("{folder} lies deeper than {DEEPEST} folders"));
    }
    for entry in shelf.list(folder).map_err(|problem| problem.to_string())? {
        let path = folder.child(&entry.name);
        if skip(&path) {
            continue;
        }
        let inner = if inner.is_empty() { entry.name.clone() } else { format!("{inner}/{}", entry.name) };
        match entry.kind {
            EntryKind::File if files.len() >= MOST => return Err(format!("{folder} has more than {MOST} files")),
            EntryKind::File => drop(files.insert(inner, path)),
            EntryKind::Folder => walk(shelf, &path, &inner, depth + 1, skip, files)?,
        }
    }
    Ok(())
}

/// Whether a path is `folder`, or lies below it.
pub fn is_within(path: &RepoPath, folder: &RepoPath) -> bool {
    let (path, folder) = (path.as_str(), folder.as_str());
    folder.is_empty() || path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// What of a file differs between the sides; `None` where nothing but its form does.
pub fn difference(sides: &Sides<'_>, before: &RepoPath, after: &RepoPath, look: Look) -> Option<String> {
    match sides.base.likeness(before, after) {
        Likeness::Same => None,
        Likeness::Differs => match (text(sides.base, before), text(sides.head, after)) {
            (Some(before), Some(after)) => edited(&before, &SourceText { file: before.file.clone(), ..after }, look),
            (None, _) | (_, None) => Some("its bytes".to_owned()),
        },
    }
}

fn text(shelf: &dyn Shelf, file: &RepoPath) -> Option<SourceText> {
    shelf.text(file).ok()
}

/// Whether two sets of files hold the same.
pub fn are_alike(base: &dyn Base, before: &Files, after: &Files) -> bool {
    before.len() == after.len()
        && before
            .iter()
            .all(|(inner, file)| after.get(inner).is_some_and(|other| base.likeness(file, other) == Likeness::Same))
}
