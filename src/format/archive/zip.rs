//! Zip archives, as GitHub gives a run's artifacts.

use std::io::Cursor;

use ::zip::ZipArchive;
use ::zip::read::ZipFileEntry;
use ::zip::result::ZipError;

use super::{ArchiveEntries, ArchiveError, ArchiveLimits, CountingReader, Unpacked, broken, path_of, shown};
use crate::model::RepoPath;

/// The bits of a Unix mode that say what an entry is.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;

/// Reads the wanted files of a zip archive. Every entry is looked at, wanted or not: an artifact has no use for links.
///
/// # Errors
/// Why nothing of it is used.
pub fn zip(bytes: &[u8], limits: ArchiveLimits, wanted: &dyn Fn(&RepoPath) -> bool) -> Result<Unpacked, ArchiveError> {
    let mut shelves = ArchiveEntries::new(limits);
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| refused(&error))?;
    let mut chosen = Vec::new();
    for place in 0..archive.len() {
        shelves.count()?;
        let entry = archive.by_index_data(place).map_err(|error| refused(&error))?;
        if let Some(path) = file(&entry)? {
            shelves.stands(&path)?;
            chosen.extend(wanted(&path).then_some((place, path)));
        }
    }
    // A zip names its entries in two places; readers that believe different ones are how an entry is smuggled past a check.
    // This also refuses a name that is there twice, and entries that share their bytes.
    archive.validate_header_consistency().map_err(|error| refused(&error))?;
    let mut inflated = 0;
    for (place, path) in chosen {
        let file = archive.by_index(place).map_err(|error| refused(&error))?;
        let mut counted = CountingReader::new(file, limits.inflated);
        counted.left -= inflated;
        shelves.keep(path, &mut counted)?;
        inflated = limits.inflated - counted.left;
    }
    shelves.closed()
}

/// The path of an entry that is a file; `None` for a folder.
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
        other => ArchiveError::Broken(shown(other.to_string().as_bytes())),
    }
}
