//! The files below a folder, on either side.

use super::Sides;
use super::edits::{FileView, edited};
use crate::files::{
    BaseFiles, FileMatch, FilePaths, Files, SourceText, files_below, is_lfs_pointer,
};
use crate::model::RepoPath;

/// The files below `root`, by their path relative to it.
///
/// # Errors
/// Why they cannot be listed.
pub fn below(files: &dyn Files, root: &RepoPath) -> Result<FilePaths, String> {
    files_below(files, root).map_err(|problem| problem.to_string())
}

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

/// The text of a file, as an agent may read it: also with a byte order mark, and with other bytes than UTF-8 replaced. `None` if it is missing or
/// not a text, such as a pointer of Git LFS.
pub fn text(files: &dyn Files, file: &RepoPath) -> Option<SourceText> {
    let bytes = files
        .bytes(file)
        .ok()
        .filter(|bytes| !is_lfs_pointer(bytes))?;
    let text = match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => utf_16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf_16(rest, u16::from_be_bytes),
        bytes => String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
            .into_owned(),
    };
    (!text.contains('\0')).then(|| SourceText::from_text(file.clone(), text))
}

fn utf_16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> String {
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| unit([pair[0], pair[1]]))
        .collect();
    String::from_utf16_lossy(&units)
}

/// Whether two sets of files have the same names and contents.
pub fn are_alike(base: &dyn BaseFiles, before: &FilePaths, after: &FilePaths) -> bool {
    before.len() == after.len()
        && before.iter().all(|(inner, file)| {
            after
                .get(inner)
                .is_some_and(|other| base.likeness(file, other) == FileMatch::Same)
        })
}
