//! How a file differs between the two sides.

use super::Sides;
use super::edits::{FileView, edited};
use crate::files::{FileMatch, SourceText};
use crate::model::RepoPath;

/// How a file differs between the sides; `None` if only its form does.
pub fn difference(
    sides: &Sides<'_>,
    base: &RepoPath,
    head: &RepoPath,
    view: FileView,
) -> Option<String> {
    match sides.base.likeness(base, head) {
        FileMatch::Same => None,
        FileMatch::Differs => match (sides.base.text(base), sides.head.text(head)) {
            (Ok(base), Ok(head)) => edited(
                &base,
                &SourceText::from_text(base.file.clone(), head.text),
                view,
            ),
            (Err(_), _) | (_, Err(_)) => Some("its bytes differ".to_owned()),
        },
    }
}
