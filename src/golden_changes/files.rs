//! The files below a folder, on either side.

use super::edits::{FileView, edited};
use super::{BaseFiles, FileMatch, Sides};
use crate::format::SourceText;
use crate::model::RepoPath;
use crate::suites::{FilePaths, Files, files_below};

/// The files below `root`.
///
/// # Errors
/// Why they cannot be listed, in words.
pub fn below(files: &dyn Files, root: &RepoPath) -> Result<FilePaths, String> {
    files_below(files, root).map_err(|problem| problem.to_string())
}

/// What of a file differs between the sides; `None` where nothing but its form does.
pub fn difference(sides: &Sides<'_>, before: &RepoPath, after: &RepoPath, look: FileView) -> Option<String> {
    match sides.base.likeness(before, after) {
        FileMatch::Same => None,
        FileMatch::Differs => match (text(sides.base, before), text(sides.head, after)) {
            (Some(before), Some(after)) => {
                edited(&before, &SourceText::from_text(before.file.clone(), after.text), look)
            }
            (None, _) | (_, None) => Some("its bytes".to_owned()),
        },
    }
}

fn text(files: &dyn Files, file: &RepoPath) -> Option<SourceText> {
    files.text(file).ok()
}

/// Whether two sets of files hold the same.
pub fn are_alike(base: &dyn BaseFiles, before: &FilePaths, after: &FilePaths) -> bool {
    before.len() == after.len()
        && before
            .iter()
            .all(|(inner, file)| after.get(inner).is_some_and(|other| base.likeness(file, other) == FileMatch::Same))
}
