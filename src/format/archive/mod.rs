//! Reads untrusted archives in memory, within limits; writes nothing to disk.
//!
//! Sizes and counts in the headers are not trusted: bytes are counted while they are inflated. A path that leaves the archive, a link among
//! wanted files or an encrypted entry rejects the whole archive. Archives inside an archive are not opened.

#[cfg(feature = "github")]
mod tarball;
#[cfg(test)]
#[cfg(feature = "github")]
mod tests;
mod zip;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;

#[cfg(feature = "github")]
pub use self::tarball::tarball;
pub use self::zip::zip;
use crate::model::{BadPath, InputLimit, RepoPath};

/// Limits for reading an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Most entries, including unwanted ones.
    pub entries: usize,
    /// Most bytes of one wanted file.
    pub file: u64,
    /// Most bytes of all wanted files together.
    pub kept: u64,
    /// Most bytes inflated in total, including unwanted entries.
    pub inflated: u64,
}

impl ArchiveLimits {
    /// Largest repository tarball that is downloaded, in bytes.
    pub const DOWNLOAD: u64 = InputLimit::ARCHIVE.most;

    /// Limits for a repository tarball. One of its files is the baseline.
    pub const REPOSITORY: Self = Self {
        entries: InputLimit::ARCHIVE_ENTRIES.count(),
        file: InputLimit::BASELINE.most,
        kept: InputLimit::ARCHIVE.most,
        inflated: InputLimit::ARCHIVE_UNPACKED.most,
    };
}

/// Most parts of a path.
const DEPTH: usize = 64;
/// Most bytes of a path.
const LENGTH: usize = 4096;

/// Why an archive is rejected. The message shows a path only if it was checked, or with escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchiveError {
    /// It is broken or has another format.
    Broken(String),
    /// It has too many entries.
    Entries(usize),
    /// A wanted file is too large.
    File(RepoPath, u64),
    /// The wanted files together are too large.
    Kept(u64),
    /// It inflates to too many bytes.
    Inflated(u64),
    /// A path is invalid or leaves the archive.
    Path(String, BadPath),
    /// A path is not UTF-8, or has characters that cannot be displayed.
    Name(String),
    /// A path is too deep or too long.
    Deep(String),
    /// Two entries have the same path, or one path is both a file and a folder.
    Twice(RepoPath),
    /// An entry is a link, a device or another special file.
    Special(RepoPath),
    /// An entry needs a password.
    Encrypted(RepoPath),
    /// An entry is outside the single root folder that GitHub's tarballs have.
    Rootless(String),
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(why) => write!(out, "the archive cannot be read: {why}"),
            Self::Entries(limit) => write!(out, "the archive has more than {limit} entries"),
            Self::File(file, limit) => {
                write!(out, "{file} in the archive is larger than {}", size(*limit))
            }
            Self::Kept(limit) => write!(
                out,
                "the files in the archive are larger than {} together",
                size(*limit)
            ),
            Self::Inflated(limit) => {
                write!(out, "the archive unpacks to more than {}", size(*limit))
            }
            Self::Path(name, bad) => write!(out, "the path \"{name}\" in the archive {bad}"),
            Self::Name(name) => write!(
                out,
                "the path \"{name}\" in the archive has characters that cannot be shown"
            ),
            Self::Deep(name) => write!(
                out,
                "the path \"{name}…\" in the archive is too deep or too long"
            ),
            Self::Twice(file) => write!(out, "{file} is in the archive twice"),
            Self::Special(file) => write!(out, "{file} in the archive is a link or a device"),
            Self::Encrypted(file) => write!(out, "{file} in the archive is encrypted"),
            Self::Rootless(name) => write!(
                out,
                "\"{name}\" is outside the archive's single root folder"
            ),
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

/// The content of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unpacked {
    /// The wanted files by path.
    pub files: BTreeMap<RepoPath, Vec<u8>>,
    /// Paths of all links; their targets are never read.
    pub links: BTreeSet<RepoPath>,
}

/// Entry checks that both archive formats share.
struct ArchiveEntries {
    limits: ArchiveLimits,
    entries: usize,
    kept: u64,
    seen: BTreeSet<RepoPath>,
    unpacked: Unpacked,
}

impl ArchiveEntries {
    fn new(limits: ArchiveLimits) -> Self {
        Self {
            limits,
            entries: 0,
            kept: 0,
            seen: BTreeSet::new(),
            unpacked: Unpacked::default(),
        }
    }

    fn count(&mut self) -> Result<(), ArchiveError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            Err(ArchiveError::Entries(self.limits.entries))
        } else {
            Ok(())
        }
    }

    /// Registers the path of a file or link; a second entry at the path is an error.
    fn register(&mut self, path: &RepoPath) -> Result<(), ArchiveError> {
        if self.seen.insert(path.clone()) {
            Ok(())
        } else {
            Err(ArchiveError::Twice(path.clone()))
        }
    }

    /// Reads and keeps a file within the limits.
    fn keep(&mut self, path: RepoPath, content: impl Read) -> Result<(), ArchiveError> {
        let ArchiveLimits { file, kept, .. } = self.limits;
        let room = kept.saturating_sub(self.kept);
        // Read one byte more than allowed, to detect a file that is too large.
        let mut bytes = Vec::new();
        content
            .take(file.min(room).saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| broken(&error))?;
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

    /// Returns the kept files after checking that no path is both a file and a folder.
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

fn path_of(raw: &[u8]) -> Result<RepoPath, ArchiveError> {
    if raw.len() > LENGTH || raw.iter().filter(|byte| **byte == b'/').count() > DEPTH {
        return Err(ArchiveError::Deep(escaped(&raw[..raw.len().min(60)])));
    }
    let text = std::str::from_utf8(raw).map_err(|_| ArchiveError::Name(escaped(raw)))?;
    let drive = matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    match () {
        () if drive => return Err(ArchiveError::Path(escaped(raw), BadPath::Absolute)),
        () if text.split('/').any(|part| part == "..") => {
            return Err(ArchiveError::Path(escaped(raw), BadPath::Leaves));
        }
        // A NUL is reported below as a bad path.
        () if text.chars().any(|char| char != '\0' && is_unshown(char)) => {
            return Err(ArchiveError::Name(escaped(raw)));
        }
        () => {}
    }
    RepoPath::root()
        .join(text)
        .map_err(|bad| ArchiveError::Path(escaped(raw), bad))
}

/// Whether the character is a control character, is invisible, or changes how others are displayed.
fn is_unshown(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// An untrusted name for a message: ASCII as is, everything else escaped.
fn escaped(raw: &[u8]) -> String {
    raw.iter()
        .take(120)
        .flat_map(|byte| std::ascii::escape_default(*byte))
        .map(char::from)
        .collect()
}

/// Converts an I/O error; keeps the `ArchiveError` inside it, if any.
fn broken(error: &std::io::Error) -> ArchiveError {
    match error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<ArchiveError>())
    {
        Some(refused) => refused.clone(),
        None => ArchiveError::Broken(escaped(error.to_string().as_bytes())),
    }
}

/// A reader that counts its bytes and fails at the limit.
struct CountingReader<R> {
    inner: R,
    limit: u64,
    left: u64,
}

impl<R: Read> CountingReader<R> {
    fn new(inner: R, limit: u64) -> Self {
        Self {
            inner,
            limit,
            left: limit,
        }
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
