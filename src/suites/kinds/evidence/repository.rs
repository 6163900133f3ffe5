//! The fixture repository of a task, and the paths in it.

use std::collections::BTreeSet;

use crate::diag::{Code, Diagnostic};
use crate::files::{EntryKind, Files};
use crate::format::JsonCursor;
use crate::format::Step::Key;
use crate::model::{InputLimit, RepoPath};
use crate::suites::shared::case_files::suite_folder;

/// The fixture repository of a task, relative to the suite's folder, else to the root of the repository. `None` if it does not exist.
pub fn find_root(suite: &RepoPath, path: &str, files: &dyn Files) -> Option<RepoPath> {
    let bases = [suite_folder(suite), RepoPath::root()];
    let mut roots = bases.iter().filter_map(|base| base.join(path).ok());
    roots.find(|root| files.list(root).is_ok())
}

/// The problem of a task without a fixture repository.
pub fn no_root(cursor: &JsonCursor<'_>, path: &str) -> Diagnostic {
    let help = "correct repo_path, or state allowed_files";
    let message = format!("fixture repository {path:?} does not exist");
    cursor.problem_of_key(&[Key("repo_path")], Code::MISSING_FOLDER, message, help)
}

/// Maximum number of subfolders of a fixture repository.
const FOLDERS: usize = InputLimit::FIXTURE_FOLDERS.count();

/// The files of a fixture repository.
///
/// # Errors
/// A folder cannot be listed, or there are more than [`FOLDERS`].
pub fn files(
    cursor: &JsonCursor<'_>,
    root: RepoPath,
    files: &dyn Files,
) -> Result<BTreeSet<String>, Diagnostic> {
    let mut names = BTreeSet::new();
    let mut open = vec![(root, String::new())];
    let mut folders = 0;
    while let Some((folder, inside)) = open.pop() {
        for entry in files.list(&folder)? {
            if files.is_ignored(&folder.child(&entry.name)) {
                continue;
            }
            let name = if inside.is_empty() {
                entry.name.clone()
            } else {
                format!("{inside}/{}", entry.name)
            };
            match entry.kind {
                EntryKind::File | EntryKind::Link(_) => {
                    names.insert(name);
                }
                EntryKind::Folder if folders < FOLDERS => {
                    folders += 1;
                    open.push((folder.child(&entry.name), name));
                }
                EntryKind::Folder => {
                    return Err(cursor.problem_of_key(
                        &[Key("repo_path")],
                        Code::MISSING_FOLDER,
                        "the fixture repository has too many folders",
                        "state allowed_files",
                    ));
                }
            }
        }
    }
    Ok(names)
}

/// A path without `.`, empty parts and `a/..`; `None` if it leaves the repository.
pub fn tidied(path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.starts_with('/') || drive {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{FOLDERS, files, tidied};
    use crate::diag::Diagnostic;
    use crate::files::{Entry, EntryKind, Files, SourceText};
    use crate::format::JsonCursor;
    use crate::model::RepoPath;

    /// A folder with this many folders, each with one file.
    struct Wide(usize);

    impl Files for Wide {
        fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
            let root = !folder.as_str().contains('/');
            let folders = (0..self.0).map(|at| Entry {
                name: format!("f{at}"),
                kind: EntryKind::Folder,
            });
            let file = Entry {
                name: "a.py".to_owned(),
                kind: EntryKind::File,
            };
            Ok(if root { folders.collect() } else { vec![file] })
        }

        fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
            panic!("{file} is read to list it")
        }
    }

    #[test]
    fn a_repository_has_at_most_a_thousand_folders() {
        let text = "{\n \"repo_path\": \"wide\" }".into();
        let source = SourceText::new(RepoPath::root().child("task.json"), text).unwrap();
        let read = |folders| {
            files(
                &JsonCursor::whole(&source),
                RepoPath::root().child("wide"),
                &Wide(folders),
            )
        };
        let most = read(FOLDERS).unwrap();
        assert!(
            most.len() == FOLDERS && most.contains("f999/a.py"),
            "{}",
            most.len()
        );
        let refused = read(FOLDERS + 1).unwrap_err().to_string();
        assert!(
            refused.starts_with("task.json:2:2: the fixture repository has too many folders"),
            "{refused}"
        );
    }

    #[test]
    fn a_path_is_tidied_and_never_leaves() {
        for (path, expected) in [
            ("a/b.py", Some("a/b.py")),
            ("./a//b.py", Some("a/b.py")),
            ("a/../b.py", Some("b.py")),
            ("a\\b.py", Some("a/b.py")),
            ("../b.py", None),
            ("a/../../b.py", None),
            ("/etc/passwd", None),
            ("C:/x", None),
            (".", None),
            ("", None),
        ] {
            assert_eq!(tidied(path).as_deref(), expected, "{path}");
        }
    }
}
