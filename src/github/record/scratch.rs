//! The head's files as data in a folder of their own: plain files without a mode, no links, nothing else of the repository.

use std::path::{Path, PathBuf};

use crate::github::commit_files::CommitFiles;
use crate::model::RepoPath;
use crate::world::Disk;

/// The folder below the workspace.
const FOLDER: &str = ".goldgate/record";

/// A folder with the files of a commit, removed at the end.
pub struct ScratchFolder {
    home: Disk,
    /// The folder.
    pub disk: Disk,
}

impl ScratchFolder {
    /// Writes the files of a commit that were read.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn create(workspace: &str, files: &CommitFiles) -> anyhow::Result<Self> {
        let home = Disk::create(Path::new(workspace))?;
        home.remove(&folder())?;
        let place: PathBuf = Path::new(workspace).join(FOLDER);
        let disk = Disk::create(&place)?;
        for (path, bytes) in files.contents() {
            disk.replace(path, bytes)?;
        }
        Ok(Self { home, disk })
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // What remains is removed by the next recording.
        let _ = self.home.remove(&folder());
    }
}

fn folder() -> RepoPath {
    RepoPath::root().below(FOLDER)
}
