//! What a judgement reads, as far as the other commit has something else there.
//!
//! A judgement is a function of what it reads. Where the other commit has the same for every file and folder that was read, and
//! nothing where nothing was found, a judgement by that commit's files would read the same and come to the same.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::diag::{Diagnostic, ReadFailure};
use crate::model::{CaseId, RepoPath};
use crate::suites::{Entry, Files};
use crate::text::without_returns;

/// The commit that a judgement's files are compared with.
pub trait OtherCommit: Sync {
    /// Whether it has a file with these bytes; `None` asks whether the file is missing.
    fn has_file(&self, file: &RepoPath, bytes: Option<&[u8]>) -> bool;

    /// Its files.
    fn files(&self) -> &dyn Files;

    /// Whether it has a folder with these entries; `None` asks whether the folder is missing.
    fn has_folder(&self, folder: &RepoPath, names: FolderNames, entries: Option<&[Entry]>) -> bool {
        match (names.of(self.files(), folder), entries) {
            (Ok(own), Some(entries)) => own == entries,
            (Err(problem), None) => problem.is_read_failure(ReadFailure::MissingFolder),
            (Ok(_), None) | (Err(_), Some(_)) => false,
        }
    }
}

/// Which names of a folder were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderNames {
    /// Those that begin with no dot.
    Shown,
    /// All.
    All,
}

impl FolderNames {
    /// These entries of a folder.
    ///
    /// # Errors
    /// Why it cannot be listed.
    pub fn of(self, files: &dyn Files, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        match self {
            Self::Shown => files.list(folder),
            Self::All => files.list_all(folder),
        }
    }
}

/// What a file or folder was read for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadFor {
    /// The suite as a whole: its rules, lists and labels.
    Suite,
    /// The cases of this golden file, while the suite was opened.
    Golden(RepoPath),
    /// This case, while its runs were graded.
    Case(CaseId),
}

/// Whether a file or the entries of a folder were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadKind {
    /// The bytes of a file.
    File,
    /// The names in a folder.
    Folder,
}

/// One thing that was read and that the other commit does not have as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DifferentRead {
    /// What it was read for.
    pub read_for: ReadFor,
    /// Where it is.
    pub path: RepoPath,
    /// What was asked for.
    pub kind: ReadKind,
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
    /// It is.
    Yes,
    /// There is none, and nothing is known of it.
    No,
}

impl ReadLog {
    /// An empty list, of reads that are compared with this commit.
    pub fn beside(other: Option<&dyn OtherCommit>) -> Self {
        Self { different: Mutex::default(), compared: other.map_or(Compared::No, |_| Compared::Yes) }
    }

    /// The reads that differ, in order.
    pub fn different(&self) -> Vec<DifferentRead> {
        self.all().iter().cloned().collect()
    }

    /// Whether the other commit has everything as it is that was read for opening the suite. Opened there with the same settings,
    /// it is the same suite.
    pub fn opens_alike(&self) -> bool {
        let is_of_opening = |read: &DifferentRead| match read.read_for {
            ReadFor::Suite | ReadFor::Golden(_) => true,
            ReadFor::Case(_) => false,
        };
        self.compared == Compared::Yes && !self.all().iter().any(is_of_opening)
    }

    fn all(&self) -> MutexGuard<'_, BTreeSet<DifferentRead>> {
        self.different.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, read: DifferentRead) {
        self.all().insert(read);
    }
}

/// Files that keep a list of what is read and differs from the other commit.
pub struct RecordedFiles<'a> {
    files: &'a dyn Files,
    other: &'a dyn OtherCommit,
    log: &'a ReadLog,
    read_for: ReadFor,
}

impl<'a> RecordedFiles<'a> {
    /// Records what is read from `files` for `read_for`.
    pub fn new(files: &'a dyn Files, other: &'a dyn OtherCommit, log: &'a ReadLog, read_for: ReadFor) -> Self {
        Self { files, other, log, read_for }
    }

    /// Lists a folder, and compares what was asked for: who did not look at the hidden names did not read them.
    fn listed(&self, folder: &RepoPath, names: FolderNames) -> Result<Vec<Entry>, Diagnostic> {
        let listed = names.of(self.files, folder);
        let same = match &listed {
            Ok(entries) => self.other.has_folder(folder, names, Some(entries)),
            Err(problem) => {
                problem.is_read_failure(ReadFailure::MissingFolder) && self.other.has_folder(folder, names, None)
            }
        };
        if !same {
            self.note(folder, ReadKind::Folder);
        }
        listed
    }

    fn note(&self, path: &RepoPath, kind: ReadKind) {
        self.log.note(DifferentRead { read_for: self.read_for.clone(), path: path.clone(), kind });
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
        let read = self.files.bytes(file);
        let same = match &read {
            Ok(bytes) => self.other.has_file(file, Some(bytes)),
            Err(problem) => problem.is_read_failure(ReadFailure::MissingFile) && self.other.has_file(file, None),
        };
        if !same {
            self.note(file, ReadKind::File);
        }
        read
    }

    fn for_golden<'b>(&'b self, golden: &RepoPath) -> Option<Box<dyn Files + 'b>> {
        let Self { files, other, log, .. } = self;
        Some(Box::new(RecordedFiles { files: *files, other: *other, log, read_for: ReadFor::Golden(golden.clone()) }))
    }
}

/// The head's files, as the commit that the base's judgement is compared with.
pub struct HeadCommit<'a>(
    /// The head's files.
    pub &'a dyn Files,
);

impl OtherCommit for HeadCommit<'_> {
    fn files(&self) -> &dyn Files {
        self.0
    }

    fn has_file(&self, file: &RepoPath, bytes: Option<&[u8]>) -> bool {
        match (self.0.bytes(file), bytes) {
            (Ok(own), Some(bytes)) => own == bytes || without_returns(&own) == without_returns(bytes),
            (Err(problem), None) => problem.is_read_failure(ReadFailure::MissingFile),
            (Ok(_), None) | (Err(_), Some(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{HeadCommit, ReadFor, ReadLog, RecordedFiles};
    use crate::diag::{Diagnostic, ReadFailure};
    use crate::model::{CaseId, RepoPath};
    use crate::suites::{Entry, EntryKind, Files};

    struct MemoryFiles(BTreeMap<RepoPath, Vec<u8>>);

    impl Files for MemoryFiles {
        fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
            let names = self.0.keys().filter(|path| path.parent() == *folder);
            let entries: Vec<Entry> =
                names.map(|path| Entry { name: path.name().to_owned(), kind: EntryKind::File }).collect();
            match entries.is_empty() {
                true => Err(Diagnostic::of_read(folder, ReadFailure::MissingFolder, "none", "none")),
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

    fn held(files: &[(&str, &str)]) -> MemoryFiles {
        MemoryFiles(files.iter().map(|(path, text)| (at(path), text.as_bytes().to_vec())).collect())
    }

    #[test]
    fn what_differs_is_kept_with_what_it_was_read_for() {
        let own = held(&[("a/x", "1"), ("a/y", "2"), ("a/z", "3\r\n"), ("b/only", "4"), ("c/x", "1"), ("d/x", "1")]);
        let other = held(&[
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
        let log = ReadLog::beside(Some(&other));
        let files = RecordedFiles::new(&own, &other, &log, ReadFor::Suite);
        let _ = (files.bytes(&at("a/x")), files.bytes(&at("a/z")), files.bytes(&at("none")), files.list(&at("none")));
        assert_eq!((log.different(), log.opens_alike()), (Vec::new(), true));
        assert!(!ReadLog::beside(None).opens_alike());
        let case = CaseId::new("c").unwrap();
        let of_case = RecordedFiles::new(&own, &other, &log, ReadFor::Case(case.clone()));
        drop(of_case.bytes(&at("a/y")));
        assert!(log.opens_alike());
        let _ = (files.bytes(&at("a/y")), files.list(&at("a")), files.bytes(&at("a/more")));
        let _ = (files.list(&at("c")), files.list_all(&at("d")));
        let _ = files.for_golden(&at("b/only")).map(|own| own.bytes(&at("b/only")));
        let found: Vec<(ReadFor, String)> =
            log.different().into_iter().map(|read| (read.read_for, read.path.to_string())).collect();
        let suite = |path: &str| (ReadFor::Suite, path.to_owned());
        let golden = (ReadFor::Golden(at("b/only")), "b/only".to_owned());
        let of_case = (ReadFor::Case(case), "a/y".to_owned());
        assert_eq!(found, [suite("a"), suite("a/more"), suite("a/y"), suite("d"), golden, of_case]);
        assert!(!log.opens_alike());
    }
}
