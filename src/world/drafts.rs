//! Drafts: temporary files that are renamed when complete, and folder locks for writers.

use std::io;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use cap_std::fs::OpenOptions;

use super::disk::{Disk, is_link, named, not_of_git};
use super::draft_name::{DRAFT, DraftContent, draft_file};
use super::owner_access::{allow_owner, create_folder};
use crate::model::RepoPath;

/// The folder in a repository that belongs to goldgate.
const OWN: &str = ".goldgate";

/// Age after which a draft is considered abandoned.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// A lock on a folder; other goldgate processes wait until it is dropped.
pub struct FolderLock(
    #[expect(dead_code, reason = "the lock ends when the file is closed")] std::fs::File,
);

impl Disk {
    /// Writes a new file and waits until it is on disk.
    pub(super) fn write_new(&self, file: &RepoPath, write: DraftContent<'_>) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let opened = self
            .root
            .open_with(file.as_str(), options.write(true).create_new(true))?
            .into_std();
        allow_owner(&opened)?;
        let mut out = BufWriter::new(opened);
        write(&mut out)?;
        out.into_inner()?.sync_all()
    }

    /// Waits until the names in a folder are on disk.
    pub(super) fn sync_folder(&self, folder: &RepoPath) -> io::Result<()> {
        if cfg!(not(unix)) {
            return Ok(());
        }
        match self
            .root
            .open(named(folder))
            .and_then(|opened| opened.sync_all())
        {
            // Some file systems do not support this.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
                ) =>
            {
                Ok(())
            }
            result => result,
        }
    }

    /// Creates a folder and its parents. Links are rejected: committed content must not choose where files are written.
    pub(super) fn make_folder(&self, folder: &RepoPath) -> io::Result<()> {
        not_of_git(folder)?;
        let mut whole = PathBuf::new();
        for part in Path::new(folder.as_str()) {
            whole.push(part);
            match self.root.symlink_metadata(&whole) {
                Ok(metadata) if metadata.is_symlink() => return Err(is_link(&whole)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match create_folder(&self.root, &whole) {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                            return Err(error);
                        }
                        Err(_) | Ok(()) => {}
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// A free path for a draft and its root. In a repository it is in a folder that git ignores.
    pub(super) fn draft(&self) -> io::Result<(&Self, RepoPath)> {
        if let Some(home) = &self.home {
            return home.draft();
        }
        if !self.is_repository {
            return Ok((self, RepoPath::root().child(&draft_file())));
        }
        let drafts = RepoPath::root().child(OWN).child("drafts");
        if self.root.symlink_metadata(drafts.as_str()).is_err() {
            self.make_folder(&drafts)?;
            match self.write_new(&drafts.child(".gitignore"), &|out| out.write_all(b"*\n")) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Err(_) | Ok(()) => {}
            }
        } else {
            self.make_folder(&drafts)?;
            self.sweep(&drafts);
        }
        Ok((self, drafts.child(&draft_file())))
    }

    /// Removes the drafts of killed runs. A recent draft may belong to a run that is still active.
    fn sweep(&self, drafts: &RepoPath) {
        let Ok(entries) = self.root.read_dir(drafts.as_str()) else {
            return;
        };
        for entry in entries.flatten().filter(is_abandoned) {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if !name.starts_with(DRAFT) {
                continue;
            }
            // Another run may remove it at the same time.
            let _ = self.remove(&drafts.child(&name));
        }
    }

    /// Locks the folder of a file until the lock is dropped. Use it to read a file, change it and write it back. Waits while another
    /// process has the lock; `None` on systems without locks.
    ///
    /// # Errors
    /// The folder cannot be created or opened.
    pub fn lock(&self, file: &RepoPath) -> anyhow::Result<Option<FolderLock>> {
        let folder = file.parent();
        self.make_folder(&folder)
            .with_context(|| format!("while locking {file}"))?;
        if cfg!(not(unix)) {
            return Ok(None);
        }
        let opened = self
            .root
            .open(named(&folder))
            .with_context(|| format!("while locking {file}"))?
            .into_std();
        // Continue without a lock on file systems that have none.
        Ok(opened.lock().ok().map(|()| FolderLock(opened)))
    }
}

fn is_abandoned(entry: &cap_std::fs::DirEntry) -> bool {
    let Ok(modified) = entry.metadata().and_then(|metadata| metadata.modified()) else {
        return false;
    };
    let age = modified.into_std().elapsed();
    age.is_ok_and(|age| age > ABANDONED)
}
