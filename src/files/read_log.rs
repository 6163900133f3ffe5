//! Records the reads of a grading whose result differs on the other commit.
//!
//! A grade depends only on what was read. If the other commit has the same content for every file and folder that was read,
//! grading with that commit's files gives the same result.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Entry, Files, GoldenPart, SourceText};
use crate::diag::{Diagnostic, ReadFailure};
use crate::model::{CaseId, RepoPath};
use crate::text::without_returns;

/// The commit that reads are compared with.
pub trait OtherCommit: Sync {
    /// Whether its file has these bytes; with `None`, whether the file is missing.
    fn has_file(&self, file: &RepoPath, bytes: Option<&[u8]>) -> bool;

    fn files(&self) -> &dyn Files;

    /// Whether its folder has these entries; with `None`, whether the folder is missing.
    fn has_folder(&self, folder: &RepoPath, names: FolderNames, entries: Option<&[Entry]>) -> bool {
        match (names.of(self.files(), folder), entries) {
            (Ok(listed), Some(entries)) => {
                listed == entries || committed(self.files(), folder, &listed).eq(entries)
            }
            (Err(problem), None) => problem.is_read_failure(ReadFailure::MissingFolder),
            (Ok(_), None) | (Err(_), Some(_)) => false,
        }
    }
}

/// The entries that git does not ignore: no commit contains the others.
fn committed<'a>(
    files: &dyn Files,
    folder: &RepoPath,
    entries: &'a [Entry],
) -> impl Iterator<Item = &'a Entry> {
    entries
        .iter()
        .filter(move |entry| !files.is_ignored(&folder.child(&entry.name)))
}

/// Which entries of a folder were listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderNames {
    /// Those that do not begin with a dot.
    Shown,
    All,
}

impl FolderNames {
    /// Lists these entries of a folder.
    pub fn of(self, files: &dyn Files, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        match self {
            Self::Shown => files.list(folder),
            Self::All => files.list_all(folder),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadFor {
    /// For the whole suite: its rules, lists and labels.
    Suite,
    /// For the cases of this golden file or entry, while the suite was loaded.
    Golden(GoldenPart),
    /// For this case, while its runs were graded.
    Case(CaseId),
}

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadKind {
    /// A file, of which every byte counts.
    File,
    /// A file, of which only the values count.
    Values,
    /// The entries of a folder.
    Folder,
}

/// One read whose result differs on the other commit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DifferentRead {
    pub read_for: ReadFor,
    pub path: RepoPath,
    pub kind: ReadKind,
}

impl DifferentRead {
    fn is_of_loading(&self) -> bool {
        match self.read_for {
            ReadFor::Suite | ReadFor::Golden(_) => true,
            ReadFor::Case(_) => false,
        }
    }
}

/// The reads of one suite that differ between the two commits.
#[derive(Debug)]
pub struct ReadLog {
    different: Mutex<BTreeSet<DifferentRead>>,
    compared: Compared,
}

/// Whether what is read is compared with another commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compared {
    Yes,
    /// There is no other commit.
    No,
}

impl ReadLog {
    /// An empty log of reads that are compared with this commit.
    pub fn comparing(other_commit: Option<&dyn OtherCommit>) -> Self {
        Self {
            different: Mutex::default(),
            compared: other_commit.map_or(Compared::No, |_| Compared::Yes),
        }
    }

    /// The reads that differ, sorted.
    pub fn different(&self) -> Vec<DifferentRead> {
        self.all().iter().cloned().collect()
    }

    /// Whether everything that was read to load the suite is the same on the other commit. With the same settings, loading it there
    /// gives the same suite.
    pub fn opens_alike(&self) -> bool {
        self.compared == Compared::Yes && !self.all().iter().any(DifferentRead::is_of_loading)
    }

    fn all(&self) -> MutexGuard<'_, BTreeSet<DifferentRead>> {
        self.different
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, read: DifferentRead) {
        self.all().insert(read);
    }
}

/// Files that log each read whose result differs on the other commit.
pub struct RecordedFiles<'a> {
    files: &'a dyn Files,
    other_commit: &'a dyn OtherCommit,
    log: &'a ReadLog,
    read_for: ReadFor,
}

impl<'a> RecordedFiles<'a> {
    /// Logs what is read from `files` for `read_for`.
    pub fn new(
        files: &'a dyn Files,
        other_commit: &'a dyn OtherCommit,
        log: &'a ReadLog,
        read_for: ReadFor,
    ) -> Self {
        Self {
            files,
            other_commit,
            log,
            read_for,
        }
    }

    /// Lists a folder and compares only the listed entries: hidden names count only if they were requested.
    fn listed(&self, folder: &RepoPath, names: FolderNames) -> Result<Vec<Entry>, Diagnostic> {
        let listed = names.of(self.files, folder);
        let same = match &listed {
            Ok(entries) => {
                self.other_commit.has_folder(folder, names, Some(entries)) || {
                    let committed: Vec<Entry> =
                        committed(self.files, folder, entries).cloned().collect();
                    self.other_commit
                        .has_folder(folder, names, Some(&committed))
                }
            }
            Err(problem) => {
                problem.is_read_failure(ReadFailure::MissingFolder)
                    && self.other_commit.has_folder(folder, names, None)
            }
        };
        if !same {
            self.note(folder, ReadKind::Folder);
        }
        listed
    }

    /// Reads a file and compares it.
    fn read(&self, file: &RepoPath, kind: ReadKind) -> Result<Vec<u8>, Diagnostic> {
        let read = self.files.bytes(file);
        let same = match &read {
            Ok(bytes) => self.other_commit.has_file(file, Some(bytes)),
            Err(problem) => {
                problem.is_read_failure(ReadFailure::MissingFile)
                    && self.other_commit.has_file(file, None)
            }
        };
        if !same {
            self.note(file, kind);
        }
        read
    }

    fn note(&self, path: &RepoPath, kind: ReadKind) {
        self.log.note(DifferentRead {
            read_for: self.read_for.clone(),
            path: path.clone(),
            kind,
        });
    }
}

impl Files for RecordedFiles<'_> {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        self.listed(folder, FolderNames::All)
    }

    fn list(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        self.listed(folder, FolderNames::Shown)
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        self.read(file, ReadKind::File)
    }

    fn values_text(&self, file: &RepoPath) -> Result<SourceText, Diagnostic> {
        SourceText::new(file.clone(), self.read(file, ReadKind::Values)?)
    }

    fn is_ignored(&self, file: &RepoPath) -> bool {
        self.files.is_ignored(file)
    }

    fn for_golden<'b>(&'b self, golden: &GoldenPart) -> Option<Box<dyn Files + 'b>> {
        let Self {
            files,
            other_commit,
            log,
            ..
        } = self;
        Some(Box::new(RecordedFiles {
            files: *files,
            other_commit: *other_commit,
            log,
            read_for: ReadFor::Golden(golden.clone()),
        }))
    }
}

/// The head's files, as the other commit for a grading of the base.
pub struct HeadCommit<'a>(pub &'a dyn Files);

impl OtherCommit for HeadCommit<'_> {
    fn files(&self) -> &dyn Files {
        self.0
    }

    fn has_file(&self, file: &RepoPath, bytes: Option<&[u8]>) -> bool {
        match (self.0.bytes(file), bytes) {
            (Ok(content), Some(bytes)) => {
                content == bytes || without_returns(&content) == without_returns(bytes)
            }
            (Err(problem), None) => problem.is_read_failure(ReadFailure::MissingFile),
            (Ok(_), None) | (Err(_), Some(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::diag::{Diagnostic, ReadFailure};
    use crate::files::{
        Entry, EntryKind, Files, GoldenPart, HeadCommit, ReadFor, ReadLog, RecordedFiles,
    };
    use crate::model::{CaseId, RepoPath};

    struct MemoryFiles(BTreeMap<RepoPath, Vec<u8>>);

    impl Files for MemoryFiles {
        fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
            let names = self.0.keys().filter(|path| path.parent() == *folder);
            let entries: Vec<Entry> = names
                .map(|path| Entry {
                    name: path.name().to_owned(),
                    kind: EntryKind::File,
                })
                .collect();
            match entries.is_empty() {
                true => Err(Diagnostic::of_read(
                    folder,
                    ReadFailure::MissingFolder,
                    "none",
                    "none",
                )),
                false => Ok(entries),
            }
        }

        fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
            let missing = || Diagnostic::of_read(file, ReadFailure::MissingFile, "none", "none");
            self.0.get(file).cloned().ok_or_else(missing)
        }
    }

    fn at(path: &str) -> RepoPath {
        RepoPath::root().join(path).unwrap()
    }

    fn files_of(files: &[(&str, &str)]) -> MemoryFiles {
        MemoryFiles(
            files
                .iter()
                .map(|(path, text)| (at(path), text.as_bytes().to_vec()))
                .collect(),
        )
    }

    #[test]
    fn a_read_that_differs_is_logged_with_its_purpose() {
        let own = files_of(&[
            ("a/x", "1"),
            ("a/y", "2"),
            ("a/z", "3\r\n"),
            ("b/only", "4"),
            ("c/x", "1"),
            ("d/x", "1"),
        ]);
        let other = files_of(&[
            ("c/x", "1"),
            ("c/.y", "1"),
            ("d/x", "1"),
            ("d/.y", "1"),
            ("a/x", "1"),
            ("a/y", "other"),
            ("a/z", "3\n"),
            ("a/more", "5"),
        ]);
        let other = HeadCommit(&other);
        let log = ReadLog::comparing(Some(&other));
        let files = RecordedFiles::new(&own, &other, &log, ReadFor::Suite);
        let _ = (
            files.bytes(&at("a/x")),
            files.bytes(&at("a/z")),
            files.bytes(&at("none")),
            files.list(&at("none")),
        );
        assert_eq!((log.different(), log.opens_alike()), (Vec::new(), true));
        assert!(!ReadLog::comparing(None).opens_alike());
        let case = CaseId::new("c").unwrap();
        let of_case = RecordedFiles::new(&own, &other, &log, ReadFor::Case(case.clone()));
        drop(of_case.bytes(&at("a/y")));
        assert!(log.opens_alike());
        let _ = (
            files.bytes(&at("a/y")),
            files.list(&at("a")),
            files.bytes(&at("a/more")),
        );
        let _ = (files.list(&at("c")), files.list_all(&at("d")));
        let only = GoldenPart::of_file(at("b/only"));
        let _ = files.for_golden(&only).map(|own| own.bytes(&at("b/only")));
        let found: Vec<(ReadFor, String)> = log
            .different()
            .into_iter()
            .map(|read| (read.read_for, read.path.to_string()))
            .collect();
        let suite = |path: &str| (ReadFor::Suite, path.to_owned());
        let golden = (ReadFor::Golden(only), "b/only".to_owned());
        let of_case = (ReadFor::Case(case), "a/y".to_owned());
        assert_eq!(
            found,
            [
                suite("a"),
                suite("a/more"),
                suite("a/y"),
                suite("d"),
                golden,
                of_case
            ]
        );
        assert!(!log.opens_alike());
    }
}
