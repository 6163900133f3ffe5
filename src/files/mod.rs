//! Read-only access to files, and what was read.
//!
//! [`Files`] is the trait that suites and golden changes read through: a checkout, a commit or a test has its own. Here are walks, digests,
//! overlays and texts with positions. Nothing here opens a file: that is `world`.

mod base_files;
mod digest;
mod overlay;
mod read_log;
mod renamed;
mod source;
mod walk;

use crate::diag::{Code, Diagnostic};
use crate::model::RepoPath;

pub(crate) use self::base_files::{BaseFiles, FileMatch, HistoryExtent};
pub(crate) use self::digest::escaped_name;
pub use self::digest::sha256_hex;
pub(crate) use self::overlay::OverlayFiles;
pub(crate) use self::read_log::{
    DifferentRead, FolderNames, HeadCommit, OtherCommit, ReadFor, ReadKind, ReadLog, RecordedFiles,
};
pub(crate) use self::renamed::{MovedPath, RenamedAgent, RenamedFiles};
pub use self::source::SourceText;
pub(crate) use self::source::{OriginPiece, PieceChange, is_lfs_pointer, too_large};
pub use self::walk::files_below;
pub(crate) use self::walk::{FilePaths, all_files_below, is_of_the_finder};

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name without the folder.
    pub name: String,
    /// File or folder.
    pub kind: EntryKind,
}

/// The type of a folder entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link that is not followed: reading it is an error.
    Link(LinkTarget),
}

/// What a link may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkTarget {
    /// A folder.
    Folder,
    /// A file, or nothing in the repository.
    Other,
}

/// Read-only access to the files of the repository.
pub trait Files: Sync {
    /// All entries of a folder, sorted by name, except [`is_of_git`].
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic>;

    /// The entries of a folder, sorted by name, without names that start with a dot: those are neither cases nor
    /// recordings.
    ///
    /// # Errors
    /// The folder cannot be listed, or one of these entries is a link.
    fn list(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let mut entries = self.list_all(folder)?;
        entries.retain(|entry| !entry.name.starts_with('.'));
        match entries
            .iter()
            .find(|entry| matches!(entry.kind, EntryKind::Link(_)))
        {
            Some(link) => Err(refused_link(&folder.child(&link.name))),
            None => Ok(entries),
        }
    }

    /// The bytes of a file.
    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic>;

    /// The bytes of a baseline, which goldgate wrote: it may be larger than a file of people.
    fn baseline_bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        self.bytes(file)
    }

    /// The text of a file.
    ///
    /// # Errors
    /// The file cannot be read, or is not UTF-8.
    fn text(&self, file: &RepoPath) -> Result<SourceText, Diagnostic> {
        SourceText::new(file.clone(), self.bytes(file)?)
    }

    /// The text of a file whose values count, and not its form, such as a JSON Schema.
    ///
    /// # Errors
    /// As [`Self::text`].
    fn values_text(&self, file: &RepoPath) -> Result<SourceText, Diagnostic> {
        self.text(file)
    }

    /// Whether git ignores a file, so that no commit contains it.
    fn is_ignored(&self, _file: &RepoPath) -> bool {
        false
    }

    /// The same files for reading one case; an implementation may record which files the case depends on.
    fn for_golden<'a>(&'a self, _golden: &GoldenPart) -> Option<Box<dyn Files + 'a>> {
        None
    }
}

/// A golden file of one case, or the entry of a case in a file of many.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoldenPart {
    /// The file.
    pub file: RepoPath,
    /// The id of the case in a file of many; `None` if the whole file is the case.
    pub case: Option<String>,
}

impl GoldenPart {
    /// A file that is one case.
    pub fn of_file(file: RepoPath) -> Self {
        Self { file, case: None }
    }
}

/// Reads one case through [`Files::for_golden`].
pub fn read_case<T>(
    files: &dyn Files,
    golden: &GoldenPart,
    read: impl FnOnce(&dyn Files) -> T,
) -> T {
    match files.for_golden(golden) {
        Some(golden_files) => read(&*golden_files),
        None => read(files),
    }
}

/// The problem of a link in what is compared: another reader could follow it to another file.
pub(crate) fn refused_link(link: &RepoPath) -> Diagnostic {
    Diagnostic::of_file(
        link,
        Code::BAD_LINK,
        "this is a symbolic link, which the gate does not follow",
        "commit the file or folder itself",
    )
}

/// Whether the name belongs to git, so that no commit contains the entry.
pub fn is_of_git(name: &str) -> bool {
    name == ".git"
}
