//! Reads zip archives: a run's artifacts as GitHub serves them, and logs of other tools.

use std::io::{Cursor, Read};

use ::zip::read::ZipFileEntry;
use ::zip::result::ZipError;
use ::zip::{CompressionMethod, ZipArchive};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::{
    ArchiveEntries, ArchiveError, ArchiveLimits, CountingReader, Unpacked, broken, escaped, path_of,
};
use crate::model::RepoPath;

/// Mask for the file type in a Unix mode.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;

/// Reads the wanted files of a zip archive. Every entry is checked, including unwanted ones; links are rejected.
///
/// # Errors
/// An [`ArchiveError`] if any entry breaks a rule; nothing is returned then.
pub fn zip(
    bytes: &[u8],
    limits: ArchiveLimits,
    wanted: &dyn Fn(&RepoPath) -> bool,
) -> Result<Unpacked, ArchiveError> {
    let mut entries = ArchiveEntries::new(limits);
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| refused(&error))?;
    let mut chosen = Vec::new();
    for index in 0..archive.len() {
        entries.count()?;
        let entry = archive
            .by_index_data(index)
            .map_err(|error| refused(&error))?;
        if let Some(path) = file(&entry)? {
            entries.register(&path)?;
            chosen.extend(wanted(&path).then_some((index, path)));
        }
    }
    // A zip lists its entries twice. Readers that trust different lists let an entry slip past a check. This call also refuses duplicate
    // names and entries that share bytes.
    archive
        .validate_header_consistency()
        .map_err(|error| refused(&error))?;
    let mut inflated = 0;
    for (index, path) in chosen {
        let mut counted = CountingReader::new(content(&mut archive, index)?, limits.inflated);
        counted.left -= inflated;
        entries.keep(path, &mut counted)?;
        inflated = limits.inflated - counted.left;
    }
    entries.closed()
}

fn content<'a>(
    archive: &'a mut ZipArchive<Cursor<&[u8]>>,
    index: usize,
) -> Result<Box<dyn Read + 'a>, ArchiveError> {
    let mut raw = archive
        .by_index_raw(index)
        .map_err(|error| refused(&error))?;
    if raw.compression() != CompressionMethod::ZSTD {
        drop(raw);
        return Ok(Box::new(
            archive.by_index(index).map_err(|error| refused(&error))?,
        ));
    }
    let mut compressed = Vec::new();
    raw.read_to_end(&mut compressed)
        .map_err(|error| broken(&error))?;
    Ok(Box::new(ZstandardFrames {
        compressed: Some(Cursor::new(compressed)),
        frame: None,
    }))
}

/// The frames of a content that is compressed with Zstandard, one after the other.
struct ZstandardFrames {
    /// What is left before the next frame begins.
    compressed: Option<Cursor<Vec<u8>>>,
    frame: Option<StreamingDecoder<Cursor<Vec<u8>>, FrameDecoder>>,
}

impl Read for ZstandardFrames {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        loop {
            if let Some(mut frame) = self.frame.take() {
                match frame.read(into)? {
                    0 if !into.is_empty() => self.compressed = Some(frame.into_inner()),
                    count => {
                        self.frame = Some(frame);
                        return Ok(count);
                    }
                }
            }
            let rest = self
                .compressed
                .take()
                .filter(|rest| rest.position() < rest.get_ref().len() as u64);
            let Some(rest) = rest else { return Ok(0) };
            self.frame = Some(StreamingDecoder::new(rest).map_err(std::io::Error::other)?);
        }
    }
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
        error => ArchiveError::Broken(escaped(error.to_string().as_bytes())),
    }
}
