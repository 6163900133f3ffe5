//! The files below a folder, on either side.

use super::edits::{Look, edited};
use super::{Base, Likeness, Sides};
use crate::format::SourceText;
use crate::model::RepoPath;
use crate::suites::{Files, Shelf, files_below};

/// The files below `root`.
///
/// # Errors
/// Why they cannot be listed, in words.
pub fn below(shelf: &dyn Shelf, root: &RepoPath) -> Result<Files, String> {
    files_below(shelf, root).map_err(|problem| problem.to_string())
}

/// What of a file differs between the sides; `None` where nothing but its form does.
pub fn difference(sides: &Sides<'_>, before: &RepoPath, after: &RepoPath, look: Look) -> Option<String> {
    match sides.base.likeness(before, after) {
        Likeness::Same => None,
        Likeness::Differs => match (text(sides.base, before), text(sides.head, after)) {
            (Some(before), Some(after)) => {
                edited(&before, &SourceText::from_text(before.file.clone(), after.text), look)
            }
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
