//! How a file differs between the two sides.

use super::Sides;
use super::edits::{FileView, edited};
use crate::files::{FileMatch, SourceText};
use crate::model::RepoPath;

/// How a file differs between the sides; `None` if only its form does.
pub fn difference(
    sides: &Sides<'_>,
    before: &RepoPath,
    after: &RepoPath,
    view: FileView,
) -> Option<String> {
    match sides.base.likeness(before, after) {
        FileMatch::Same => None,
        FileMatch::Differs => match (sides.base.text(before), sides.head.text(after)) {
            (Ok(before), Ok(after)) => edited(
                &before,
                &SourceText::from_text(before.file.clone(), after.text),
                view,
            ),
            (Err(_), _) | (_, Err(_)) => Some("its bytes differ".to_owned()),
        },
    }
}
