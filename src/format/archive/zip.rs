//! Reads the zip archives in which GitHub serves a run's artifacts.

use std::io::Cursor;

use ::zip::ZipArchive;
use ::zip::read::ZipFileEntry;
use ::zip::result::ZipError;

use super::{ArchiveEntries, ArchiveError, ArchiveLimits, CountingReader, Unpacked, broken, escaped, path_of};
use crate::model::RepoPath;

/// Mask for the file type in a Unix mode.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;

/// Reads the wanted files of a zip archive. Every entry is checked, including unwanted ones; links are rejected.
///
/// # Errors
/// An [`ArchiveError`] if any entry breaks a rule; nothing is returned then.
pub fn zip(bytes: &[u8], limits: ArchiveLimits, wanted: &dyn Fn(&RepoPath) -> bool) -> Result<Unpacked, ArchiveError> {
    let mut entries = ArchiveEntries::new(limits);
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| refused(&error))?;
    let mut chosen = Vec::new();
    for index in 0..archive.len() {
        entries.count()?;
        let entry = archive.by_index_data(index).map_err(|error| refused(&error))?;
        if let Some(path) = file(&entry)? {
            entries.register(&path)?;
            chosen.extend(wanted(&path).then_some((index, path)));
        }
    }
    // A zip lists its entries twice. Readers that trust different lists let an entry slip past a check. This call also refuses duplicate
    // names and entries that share bytes.
    archive.validate_header_consistency().map_err(|error| refused(&error))?;
    let mut inflated = 0;
    for (index, path) in chosen {
        let file = archive.by_index(index).map_err(|error| refused(&error))?;
        let mut counted = CountingReader::new(file, limits.inflated);
        counted.left -= inflated;
        entries.keep(path, &mut counted)?;
        inflated = limits.inflated - counted.left;
    }
    entries.closed()
}

/// The path of a file; `None` for a folder.
fn file(entry: &ZipFileEntry<'_>) -> Result<Option<RepoPath>, ArchiveError> {
    let path = path_of(entry.name_raw())?;
    let kind = entry.unix_mode().map_or(0, |mode| mode & KIND);
    match (entry.name_raw().ends_with(b"/"), kind) {
        (true, 0 | FOLDER) => Ok(None),
        (false, 0 | REGULAR) if entry.encrypted() => Err(ArchiveError::Encrypted(path)),
        (false, 0 | REGULAR) => Ok(Some(path)),
        (true | false, _) => Err(ArchiveError::Special(path)),
    }
}

fn refused(error: &ZipError) -> ArchiveError {
    match error {
        ZipError::Io(error) => broken(error),
        other => ArchiveError::Broken(escaped(other.to_string().as_bytes())),
    }
}
