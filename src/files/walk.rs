//! The files below a folder.

use std::collections::BTreeMap;

use super::{Entry, EntryKind, Files, LinkTarget, refused_link};
use crate::diag::{Code, Diagnostic, ReadFailure};
use crate::model::{InputLimit, RepoPath};

/// Maximum depth.
const DEEPEST: usize = InputLimit::FOLDER_LEVELS.count();
/// Maximum number of files below one folder.
const MOST: usize = InputLimit::FOLDER_FILES.count();

/// Files by their path relative to a folder; if the "folder" is a file, its path is empty.
pub type FilePaths = BTreeMap<String, RepoPath>;

/// The files below `root` without those that git ignores; empty if `root` does not exist.
///
/// # Errors
/// A folder cannot be listed or is a link, or the limits on depth or number of files are exceeded.
pub fn files_below(files: &dyn Files, root: &RepoPath) -> Result<FilePaths, Diagnostic> {
    below(files, root, Ignored::LeftOut)
}

/// The files below `root`, also those that git ignores: whatever is there is read.
///
/// # Errors
/// As [`files_below`].
pub fn all_files_below(files: &dyn Files, root: &RepoPath) -> Result<FilePaths, Diagnostic> {
    below(files, root, Ignored::Included)
}

fn below(files: &dyn Files, root: &RepoPath, ignored: Ignored) -> Result<FilePaths, Diagnostic> {
    match files.list_all(root) {
        Ok(entries) => {
            let mut walk = Walk {
                files,
                ignored,
                found: FilePaths::new(),
            };
            walk.add(root, entries, "", 0)?;
            Ok(walk.found)
        }
        // A folder whose entries are at fault.
        Err(problem) if problem.read_failure.is_none() => Err(problem),
        Err(_) => match files.bytes(root) {
            Ok(_) => Ok(FilePaths::from([(String::new(), root.clone())])),
            Err(problem)
                if matches!(
                    problem.read_failure,
                    Some(ReadFailure::MissingFile | ReadFailure::MissingFolder)
                ) =>
            {
                Ok(FilePaths::new())
            }
            Err(problem) => Err(problem),
        },
    }
}

/// The name under which macOS's Finder keeps what it knows of a folder.
const FINDER: &str = ".DS_Store";

/// Whether a file is what macOS's Finder keeps of a folder, by its name and its first bytes: a program may read another file of this
/// name.
pub fn is_of_the_finder(path: &RepoPath, bytes: &[u8]) -> bool {
    path.name() == FINDER && bytes.starts_with(b"\0\0\0\x01Bud1")
}

/// What becomes of files that git ignores.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ignored {
    LeftOut,
    Included,
}

struct Walk<'a> {
    files: &'a dyn Files,
    ignored: Ignored,
    found: FilePaths,
}

impl Walk<'_> {
    /// Whether an entry is what macOS's Finder keeps of the folder. Only a file of that name is read.
    fn is_finders(&self, path: &RepoPath) -> bool {
        path.name() == FINDER
            && self
                .files
                .bytes(path)
                .is_ok_and(|bytes| is_of_the_finder(path, &bytes))
    }

    fn add(
        &mut self,
        folder: &RepoPath,
        entries: Vec<Entry>,
        inner: &str,
        depth: usize,
    ) -> Result<(), Diagnostic> {
        if depth > DEEPEST {
            let description = format!("this folder is more than {} levels deep", DEEPEST);
            return Err(refused(folder, description, &InputLimit::FOLDER_LEVELS));
        }
        for entry in entries {
            let path = folder.child(&entry.name);
            let inner = if inner.is_empty() {
                entry.name
            } else {
                format!("{inner}/{}", entry.name)
            };
            let is_left_out = self.ignored == Ignored::LeftOut && self.files.is_ignored(&path);
            if is_left_out || self.is_finders(&path) {
                continue;
            }
            match entry.kind {
                EntryKind::File | EntryKind::Link(LinkTarget::Other)
                    if self.found.len() >= MOST =>
                {
                    return Err(refused(
                        folder,
                        format!("more than {} files", MOST),
                        &InputLimit::FOLDER_FILES,
                    ));
                }
                // Reading the link is an error; one that no pattern names is of no concern.
                EntryKind::File | EntryKind::Link(LinkTarget::Other) => {
                    self.found.insert(inner, path);
                }
                EntryKind::Link(LinkTarget::Folder) => return Err(refused_link(&path)),
                EntryKind::Folder => {
                    let entries = self.files.list_all(&path)?;
                    self.add(&path, entries, &inner, depth + 1)?;
                }
            }
        }
        Ok(())
    }
}

fn refused(folder: &RepoPath, description: String, limit: &InputLimit) -> Diagnostic {
    Diagnostic::of_file(folder, Code::TOO_MANY_FILES, description, limit.help)
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, FilePaths, MOST, files_below};
    use crate::diag::Diagnostic;
    use crate::files::{Entry, EntryKind, Files};
    use crate::model::RepoPath;

    /// Folders in folders; the last one has the files.
    struct Nested {
        levels: usize,
        files: usize,
    }

    impl Files for Nested {
        fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
            let level = folder.as_str().matches('/').count();
            let (count, kind) = if level < self.levels {
                (1, EntryKind::Folder)
            } else {
                (self.files, EntryKind::File)
            };
            Ok((0..count)
                .map(|number| Entry {
                    name: number.to_string(),
                    kind,
                })
                .collect())
        }

        fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
            panic!("{file} is read to list it")
        }
    }

    fn below(levels: usize, files: usize) -> Result<FilePaths, Diagnostic> {
        files_below(&Nested { levels, files }, &RepoPath::root().child("root"))
    }

    #[test]
    fn folders_have_at_most_24_levels() {
        assert_eq!(below(DEEPEST, 1).unwrap().len(), 1);
        let refused = below(DEEPEST + 1, 1).unwrap_err().to_string();
        assert!(
            refused.contains("this folder is more than 24 levels deep"),
            "{refused}"
        );
    }

    #[test]
    fn a_folder_has_at_most_200_000_files() {
        assert_eq!(below(0, MOST).unwrap().len(), MOST);
        let refused = below(0, MOST + 1).unwrap_err().to_string();
        assert!(refused.contains("more than 200000 files"), "{refused}");
    }
}
