//! The repository's files; a file of labels that does not exist yet is read as an empty list.

use crate::diag::Diagnostic;
use crate::files::{Entry, Files};
use crate::model::RepoPath;
use crate::world::{Disk, NoFile};

/// The files, with the paths of the files of labels.
pub struct LabelFiles<'a> {
    pub disk: &'a Disk,
    pub labels: Vec<RepoPath>,
}

impl Files for LabelFiles<'_> {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        self.disk.list_all(folder)
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        if self.labels.contains(file) && self.disk.read(file) == Err(NoFile::Missing) {
            return Ok(b"[]\n".to_vec());
        }
        self.disk.bytes(file)
    }

    fn is_ignored(&self, file: &RepoPath) -> bool {
        self.disk.is_ignored(file)
    }
}
