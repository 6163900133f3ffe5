//! The files below a folder, on either side.

use super::Sides;
use super::edits::{FileView, edited};
use crate::files::{BaseFiles, FileMatch, FilePaths, Files, SourceText, files_below};
use crate::model::RepoPath;

/// The files below `root`, by their path relative to it.
///
/// # Errors
/// Why they cannot be listed.
pub fn below(files: &dyn Files, root: &RepoPath) -> Result<FilePaths, String> {
    files_below(files, root).map_err(|problem| problem.to_string())
}

/// How a file differs between the sides; `None` if only its form does.
pub fn difference(sides: &Sides<'_>, before: &RepoPath, after: &RepoPath, view: FileView) -> Option<String> {
    match sides.base.likeness(before, after) {
        FileMatch::Same => None,
        FileMatch::Differs => match (text(sides.base, before), text(sides.head, after)) {
            (Some(before), Some(after)) => {
                edited(&before, &SourceText::from_text(before.file.clone(), after.text), view)
            }
            (None, _) | (_, None) => Some("its bytes differ".to_owned()),
        },
    }
}

/// The text of a file; `None` if it cannot be read as one.
pub fn text(files: &dyn Files, file: &RepoPath) -> Option<SourceText> {
    files.text(file).ok()
}

/// Whether two sets of files have the same names and contents.
pub fn are_alike(base: &dyn BaseFiles, before: &FilePaths, after: &FilePaths) -> bool {
    before.len() == after.len()
        && before
            .iter()
            .all(|(inner, file)| after.get(inner).is_some_and(|other| base.likeness(file, other) == FileMatch::Same))
}
