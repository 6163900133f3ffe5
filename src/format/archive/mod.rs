//! Archives that strangers wrote: read in memory, within limits, never written to a disk.
//!
//! No size or count of an archive's own is believed: what is inflated is counted while it is inflated. One name that leads out,
//! one link where none belongs, one encrypted entry, and nothing of the archive is used. Archives inside of it stay closed.

mod tarball;
#[cfg(test)]
mod tests;
mod zip;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;

pub use self::tarball::tarball;
pub use self::zip::zip;
use super::MAX_FILE_BYTES;
use crate::model::{BadPath, RepoPath};

/// How much of an archive is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Entries, wanted or not.
    pub entries: usize,
    /// Bytes of one file that is kept.
    pub file: u64,
    /// Bytes of all files that are kept.
    pub kept: u64,
    /// Bytes that are inflated at all.
    pub inflated: u64,
}

impl ArchiveLimits {
    /// The largest tarball of a repository that is downloaded.
    pub const DOWNLOAD: u64 = 256 * 1024 * 1024;

    /// What is read of it.
    pub const REPOSITORY: Self =
        Self { entries: 100_000, file: MAX_FILE_BYTES, kept: 256 * 1024 * 1024, inflated: 2 * 1024 * 1024 * 1024 };
}

/// Folders that may stand in each other; a path has at most this many parts.
const DEPTH: usize = 64;
/// The longest path, in bytes.
const LENGTH: usize = 4096;

/// Why an archive is not used. The sentence names no more of it than a path that was checked or is shown with escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchiveError {
    /// It is no archive of this form, or a broken one.
    Broken(String),
    /// It has more entries than are read.
    Entries(usize),
    /// A file is larger than is read.
    File(RepoPath, u64),
    /// All wanted files together are larger than is kept.
    Kept(u64),
    /// It inflates to more than is read.
    Inflated(u64),
    /// A path leads out of the archive, or is none.
    Path(String, BadPath),
    /// A path with characters that are not shown as they are, or that is no UTF-8.
    Name(String),
    /// A path that is too deep or too long.
    Deep(String),
    /// Two entries have the same path, or one is the other's folder and a file.
    Twice(RepoPath),
    /// A link, device or other entry that is neither file nor folder.
    Special(RepoPath),
    /// An entry that only a password opens.
    Encrypted(RepoPath),
    /// The entries do not stand in one folder, as those of GitHub's own do.
    Rootless(String),
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(why) => write!(out, "the archive cannot be read: {why}"),
            Self::Entries(limit) => write!(out, "the archive has more than {limit} entries"),
            Self::File(file, limit) => write!(out, "{file} in the archive is larger than {}", size(*limit)),
            Self::Kept(limit) => write!(out, "the files in the archive are larger than {} together", size(*limit)),
            Self::Inflated(limit) => write!(out, "the archive unpacks to more than {}", size(*limit)),
            Self::Path(name, bad) => write!(out, "the path \"{name}\" in the archive {bad}"),
            Self::Name(name) => write!(out, "the path \"{name}\" in the archive has characters that cannot be shown"),
            Self::Deep(name) => write!(out, "the path \"{name}…\" in the archive is too deep or too long"),
            Self::Twice(file) => write!(out, "{file} is in the archive twice"),
            Self::Special(file) => write!(out, "{file} in the archive is a link or a device"),
            Self::Encrypted(file) => write!(out, "{file} in the archive is encrypted"),
            Self::Rootless(name) => write!(out, "\"{name}\" stands outside of the archive's one folder"),
        }
    }
}

impl std::error::Error for ArchiveError {}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}

/// What was read of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unpacked {
    /// The wanted files.
    pub files: BTreeMap<RepoPath, Vec<u8>>,
    /// Links, wanted or not; where they lead is never looked at.
    pub links: BTreeSet<RepoPath>,
}

/// The bookkeeping that both forms share.
struct ArchiveEntries {
    limits: ArchiveLimits,
    entries: usize,
    kept: u64,
    seen: BTreeSet<RepoPath>,
    unpacked: Unpacked,
}

impl ArchiveEntries {
    fn new(limits: ArchiveLimits) -> Self {
        Self { limits, entries: 0, kept: 0, seen: BTreeSet::new(), unpacked: Unpacked::default() }
    }

    fn count(&mut self) -> Result<(), ArchiveError> {
        self.entries += 1;
        if self.entries > self.limits.entries { Err(ArchiveError::Entries(self.limits.entries)) } else { Ok(()) }
    }

    /// A file or link stands at this path alone.
    fn stands(&mut self, path: &RepoPath) -> Result<(), ArchiveError> {
        if self.seen.insert(path.clone()) { Ok(()) } else { Err(ArchiveError::Twice(path.clone())) }
    }

    /// Keeps a file as far as the limits go.
    fn keep(&mut self, path: RepoPath, content: impl Read) -> Result<(), ArchiveError> {
        let ArchiveLimits { file, kept, .. } = self.limits;
        let room = kept.saturating_sub(self.kept);
        // One byte more than allowed tells what is too large.
        let mut bytes = Vec::new();
        content.take(file.min(room).saturating_add(1)).read_to_end(&mut bytes).map_err(|error| broken(&error))?;
        let length = bytes.len() as u64;
        if length > file {
            return Err(ArchiveError::File(path, file));
        }
        if length > room {
            return Err(ArchiveError::Kept(kept));
        }
        self.kept += length;
        self.unpacked.files.insert(path, bytes);
        Ok(())
    }

    /// What was kept, once no path is a file and a folder.
    fn closed(self) -> Result<Unpacked, ArchiveError> {
        for path in &self.seen {
            let mut folder = path.parent();
            while !folder.as_str().is_empty() {
                if self.seen.contains(&folder) {
                    return Err(ArchiveError::Twice(folder));
                }
                folder = folder.parent();
            }
        }
        Ok(self.unpacked)
    }
}

/// An entry's path, checked.
fn path_of(raw: &[u8]) -> Result<RepoPath, ArchiveError> {
    if raw.len() > LENGTH || raw.iter().filter(|byte| **byte == b'/').count() > DEPTH {
        return Err(ArchiveError::Deep(shown(&raw[..raw.len().min(60)])));
    }
    let text = std::str::from_utf8(raw).map_err(|_| ArchiveError::Name(shown(raw)))?;
    let drive = matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    match () {
        () if drive => return Err(ArchiveError::Path(shown(raw), BadPath::Absolute)),
        () if text.split('/').any(|part| part == "..") => return Err(ArchiveError::Path(shown(raw), BadPath::Leaves)),
        // A NUL is a bad path, and said so below.
        () if text.chars().any(|char| char != '\0' && is_unshown(char)) => return Err(ArchiveError::Name(shown(raw))),
        () => {}
    }
    RepoPath::root().join(text).map_err(|bad| ArchiveError::Path(shown(raw), bad))
}

/// Control characters, and those that change how others are shown or are not shown at all.
fn is_unshown(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// A foreign name in a message: plain letters, everything else as escapes.
fn shown(raw: &[u8]) -> String {
    raw.iter().take(120).flat_map(|byte| std::ascii::escape_default(*byte)).map(char::from).collect()
}

/// A failure of a reader in the words of the one that found it.
fn broken(error: &std::io::Error) -> ArchiveError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<ArchiveError>()) {
        Some(refused) => refused.clone(),
        None => ArchiveError::Broken(shown(error.to_string().as_bytes())),
    }
}

/// A reader that counts what comes out of it, and ends in an error at its limit.
struct CountingReader<R> {
    inner: R,
    limit: u64,
    left: u64,
}

impl<R: Read> CountingReader<R> {
    fn new(inner: R, limit: u64) -> Self {
        Self { inner, limit, left: limit }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(into)?;
        match self.left.checked_sub(count as u64) {
            Some(left) => self.left = left,
            None => return Err(std::io::Error::other(ArchiveError::Inflated(self.limit))),
        }
        Ok(count)
    }
}
