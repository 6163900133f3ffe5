//! Reads the tarball that GitHub serves for a repository at a commit.

use flate2::read::GzDecoder;
use tar::{Archive, EntryType};

use super::{
    ArchiveEntries, ArchiveError, ArchiveLimits, CountingReader, Unpacked, broken, escaped, path_of,
};
use crate::model::{BadPath, RepoPath};

/// Reads the wanted files of a gzipped tarball. Paths are relative to its root folder. Links are listed and never followed.
///
/// # Errors
/// An [`ArchiveError`] if any entry breaks a rule; nothing is returned then.
pub fn tarball(
    bytes: &[u8],
    limits: ArchiveLimits,
    wanted: &dyn Fn(&RepoPath) -> bool,
) -> Result<Unpacked, ArchiveError> {
    let mut entries = ArchiveEntries::new(limits);
    let mut archive = Archive::new(CountingReader::new(GzDecoder::new(bytes), limits.inflated));
    let mut root: Option<Vec<u8>> = None;
    for entry in archive.entries().map_err(|error| broken(&error))? {
        let entry = entry.map_err(|error| broken(&error))?;
        entries.count()?;
        let kind = entry.header().entry_type();
        if kind == EntryType::XGlobalHeader {
            continue;
        }
        let raw = entry.path_bytes().into_owned();
        // Check the whole path: the part before the root folder must not leave the archive either.
        match path_of(&raw) {
            Ok(_) => {}
            // Git tracks such names, and nothing that is graded has one.
            Err(ArchiveError::Name(_) | ArchiveError::Path(_, BadPath::Odd)) => continue,
            Err(error) => return Err(error),
        }
        let (folder, rest) = match raw.iter().position(|byte| *byte == b'/') {
            Some(index) => (&raw[..index], &raw[index + 1..]),
            None => (&raw[..], &[][..]),
        };
        let root_folder = root.get_or_insert_with(|| folder.to_vec());
        let path = path_of(rest)?;
        let is_root = kind == EntryType::Directory && path.as_str().is_empty();
        if root_folder != folder || (path.as_str().is_empty() && !is_root) {
            return Err(ArchiveError::Rootless(escaped(&raw)));
        }
        match kind {
            EntryType::Directory => {}
            EntryType::Regular => {
                entries.register(&path)?;
                if wanted(&path) {
                    entries.keep(path, entry)?;
                }
            }
            EntryType::Symlink => {
                entries.register(&path)?;
                entries.unpacked.links.insert(path);
            }
            // Git tracks none of these: hard links, devices, queues, sparse files and vendor extensions.
            _ => return Err(ArchiveError::Special(path)),
        }
    }
    entries.closed()
}
