//! Tarballs, as GitHub gives a repository at a commit.

use flate2::read::GzDecoder;
use tar::{Archive, EntryType};

use super::{ArchiveEntries, ArchiveError, ArchiveLimits, CountingReader, Unpacked, broken, path_of, shown};
use crate::model::RepoPath;

/// Reads the wanted files of a gzipped tarball; paths are those inside of its one folder. Links are named and never followed.
///
/// # Errors
/// Why nothing of it is used.
pub fn tarball(
    bytes: &[u8],
    limits: ArchiveLimits,
    wanted: &dyn Fn(&RepoPath) -> bool,
) -> Result<Unpacked, ArchiveError> {
    let mut shelves = ArchiveEntries::new(limits);
    let mut archive = Archive::new(CountingReader::new(GzDecoder::new(bytes), limits.inflated));
    let mut root: Option<Vec<u8>> = None;
    for entry in archive.entries().map_err(|error| broken(&error))? {
        let entry = entry.map_err(|error| broken(&error))?;
        shelves.count()?;
        let kind = entry.header().entry_type();
        if kind == EntryType::XGlobalHeader {
            continue;
        }
        let raw = entry.path_bytes().into_owned();
        // The whole path is checked: what stands before the root must not lead out either.
        path_of(&raw)?;
        let (folder, rest) = match raw.iter().position(|byte| *byte == b'/') {
            Some(index) => (&raw[..index], &raw[index + 1..]),
            None => (&raw[..], &[][..]),
        };
        let own = root.get_or_insert_with(|| folder.to_vec());
        let path = path_of(rest)?;
        let is_root = kind == EntryType::Directory && path.as_str().is_empty();
        if own != folder || (path.as_str().is_empty() && !is_root) {
            return Err(ArchiveError::Rootless(shown(&raw)));
        }
        match kind {
            EntryType::Directory => {}
            EntryType::Regular => {
                shelves.stands(&path)?;
                if wanted(&path) {
                    shelves.keep(path, entry)?;
                }
            }
            EntryType::Symlink => {
                shelves.stands(&path)?;
                shelves.unpacked.links.insert(path);
            }
            // Git knows none of them: hard links, devices, queues, sparse files and what others added.
            _ => return Err(ArchiveError::Special(path)),
        }
    }
    shelves.closed()
}
