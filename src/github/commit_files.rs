//! The files of a commit, in memory: nothing is written to disk, and nothing is executed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;

use crate::diag::{Code, Diagnostic, ReadFailure};
use crate::files::{
    BaseFiles, Entry, EntryKind, FileMatch, Files, OtherCommit, is_of_git, too_large,
};
use crate::format::archive::Unpacked;
use crate::github::client::{Blob, Tree};
use crate::model::{InputLimit, RepoPath};

/// Reads the files with these ids.
pub type FilesById<'a> = &'a dyn Fn(&[&str]) -> anyhow::Result<BTreeMap<String, Vec<u8>>>;

/// The files of one commit: all names, and the content of those that grading may read.
pub struct CommitFiles {
    folders: BTreeMap<RepoPath, BTreeSet<Entry>>,
    tree: Tree,
    files: BTreeMap<RepoPath, Vec<u8>>,
}

impl CommitFiles {
    /// The files of a commit, from git's tree of it and the wanted files of its archive. The `.gitattributes` of a commit can omit or
    /// replace content in an archive, so the archive is checked against the tree, and `by_id` reads what it does not have as
    /// committed: its author shows the gate no other bytes than are merged.
    ///
    /// # Errors
    /// A failure of `by_id`.
    pub fn verified(
        tree: Tree,
        unpacked: Unpacked,
        wanted: &dyn Fn(&RepoPath) -> bool,
        by_id: FilesById<'_>,
    ) -> anyhow::Result<Self> {
        let mut files = Self {
            folders: BTreeMap::new(),
            tree,
            files: unpacked.files,
        };
        let mut left: Vec<(&RepoPath, &str)> = Vec::new();
        for (path, blob) in &files.tree {
            name(&mut files.folders, path);
            let Blob::File(id) = blob else { continue };
            if wanted(path) && files.files.get(path).is_none_or(|bytes| !blob.holds(bytes)) {
                left.push((path, id));
            }
        }
        let ids: BTreeSet<&str> = left.iter().map(|(_, id)| *id).collect();
        let ids: Vec<&str> = ids.into_iter().collect();
        let contents = if ids.is_empty() {
            BTreeMap::new()
        } else {
            by_id(&ids)?
        };
        for (path, id) in left {
            let bytes = contents.get(id).cloned();
            files.files.insert(
                path.clone(),
                bytes.with_context(|| format!("{path} of the commit cannot be read"))?,
            );
        }
        let folders = &files.folders;
        files.files.retain(|path, _| {
            let entry = Entry {
                name: path.name().to_owned(),
                kind: EntryKind::File,
            };
            folders
                .get(&path.parent())
                .is_some_and(|entries| entries.contains(&entry))
        });
        Ok(files)
    }

    /// The files whose content was read, by path.
    #[cfg(feature = "models")]
    pub fn contents(&self) -> impl Iterator<Item = (&RepoPath, &[u8])> {
        self.files
            .iter()
            .map(|(path, bytes)| (path, bytes.as_slice()))
    }

    /// Returns the files with these ids, as far as they were read.
    pub fn files_of(&self, ids: &[&str]) -> BTreeMap<String, Vec<u8>> {
        let wanted: BTreeSet<&str> = ids.iter().copied().collect();
        let named = self
            .files
            .iter()
            .filter_map(|(path, bytes)| match self.tree.get(path)? {
                Blob::File(id) if wanted.contains(id.as_str()) => Some((id.clone(), bytes.clone())),
                Blob::File(_) | Blob::Link => None,
            });
        named.collect()
    }

    /// The entries of a folder; `None` if there is none.
    fn entries(&self, folder: &RepoPath) -> Option<Vec<Entry>> {
        let entries = self.folders.get(folder)?.iter();
        Some(
            entries
                .filter(|entry| !is_of_git(&entry.name))
                .cloned()
                .collect(),
        )
    }

    /// Returns the symbolic link that the path is or passes through.
    fn link<'a>(&'a self, path: &RepoPath) -> Option<&'a RepoPath> {
        let mut at = path.clone();
        while !at.as_str().is_empty() {
            if let Some((link, Blob::Link)) = self.tree.get_key_value(&at) {
                return Some(link);
            }
            at = at.parent();
        }
        None
    }
}

/// Adds a file and its parent folders.
fn name(folders: &mut BTreeMap<RepoPath, BTreeSet<Entry>>, path: &RepoPath) {
    let (mut path, mut kind) = (path.clone(), EntryKind::File);
    while !path.as_str().is_empty() {
        let folder = path.parent();
        let entries = folders.entry(folder.clone()).or_default();
        if !entries.insert(Entry {
            name: path.name().to_owned(),
            kind,
        }) {
            break;
        }
        (path, kind) = (folder, EntryKind::Folder);
    }
}

fn linked(link: &RepoPath) -> Diagnostic {
    let message = "this is a symbolic link or a submodule, which the trusted gate does not follow";
    Diagnostic::of_file(
        link,
        Code::BAD_LINK,
        message,
        "commit the file or folder itself",
    )
}

impl Files for CommitFiles {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let Some(shown) = self.entries(folder) else {
            return Err(self
                .link(folder)
                .map_or_else(|| Diagnostic::of_missing_folder(folder), linked));
        };
        // A link whose name begins with a dot may be listed: reading it gives an error.
        let plain = shown.iter().filter(|entry| !entry.name.starts_with('.'));
        let mut paths = plain.map(|entry| folder.child(&entry.name));
        match paths.find(|path| self.tree.get(path) == Some(&Blob::Link)) {
            Some(link) => Err(linked(&link)),
            None => Ok(shown),
        }
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        let bytes = self.baseline_bytes(file)?;
        if InputLimit::FILE.is_exceeded_by(bytes.len()) {
            return Err(too_large(file, &InputLimit::FILE));
        }
        Ok(bytes)
    }

    // The archive that the files come from is read with the limit of a baseline.
    fn baseline_bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        if let Some(bytes) = self.files.get(file) {
            return Ok(bytes.clone());
        }
        if let Some(link) = self.link(file) {
            return Err(linked(link));
        }
        let entry = Entry {
            name: file.name().to_owned(),
            kind: EntryKind::File,
        };
        let is_committed = self
            .folders
            .get(&file.parent())
            .is_some_and(|entries| entries.contains(&entry));
        if !is_committed {
            return Err(Diagnostic::of_missing_file(file));
        }
        Err(Diagnostic::of_read(
            file,
            ReadFailure::NotFetched,
            "the base commit's config does not name this file, so the trusted gate has not read it",
            "keep it below the suite's folder, or name it in the config of the base branch",
        ))
    }
}

/// The base commit as the detection of golden changes reads it, with the head to compare with.
pub struct BaseView<'a> {
    base: &'a CommitFiles,
    head: &'a CommitFiles,
    /// The links of the base commit that were met. They count as missing there.
    links: Mutex<BTreeSet<RepoPath>>,
}

impl<'a> BaseView<'a> {
    /// The files of both commits.
    pub fn of(base: &'a CommitFiles, head: &'a CommitFiles) -> Self {
        Self {
            base,
            head,
            links: Mutex::default(),
        }
    }

    /// Whether a path is a link or leads through one, which is recorded.
    fn meets_link(&self, path: &RepoPath) -> bool {
        let Some(link) = self.base.link(path) else {
            return false;
        };
        self.links
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(link.clone());
        true
    }
}

impl Files for BaseView<'_> {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let mut entries = self.base.entries(folder).unwrap_or_default();
        entries.retain(|entry| {
            let path = folder.child(&entry.name);
            self.base.tree.get(&path) != Some(&Blob::Link)
        });
        if entries.is_empty() {
            self.meets_link(folder);
            return Err(Diagnostic::of_missing_folder(folder));
        }
        Ok(entries)
    }

    fn list(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let named = self.base.entries(folder).unwrap_or_default();
        for entry in named.iter().filter(|entry| !entry.name.starts_with('.')) {
            self.meets_link(&folder.child(&entry.name));
        }
        let mut entries = self.list_all(folder)?;
        entries.retain(|entry| !entry.name.starts_with('.'));
        Ok(entries)
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        if self.meets_link(file) {
            return Err(Diagnostic::of_missing_file(file));
        }
        self.base.bytes(file)
    }

    fn baseline_bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        if self.meets_link(file) {
            return Err(Diagnostic::of_missing_file(file));
        }
        self.base.baseline_bytes(file)
    }
}

impl OtherCommit for BaseView<'_> {
    fn files(&self) -> &dyn Files {
        self
    }

    fn has_file(&self, file: &RepoPath, bytes: Option<&[u8]>) -> bool {
        if self.meets_link(file) {
            return bytes.is_none();
        }
        match (self.base.tree.get(file), bytes) {
            (Some(blob @ Blob::File(_)), Some(bytes)) => blob.holds(bytes),
            (None, None) => true,
            (Some(Blob::File(_) | Blob::Link), _) | (None, Some(_)) => false,
        }
    }
}

impl BaseFiles for BaseView<'_> {
    fn find(&self, names: &[&str]) -> Result<Option<RepoPath>, String> {
        Ok(self
            .base
            .tree
            .keys()
            .find(|path| names.contains(&path.name()))
            .cloned())
    }

    fn links_gone(&self) -> Vec<RepoPath> {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = links.iter().filter(|link| self.head.link(link).is_none());
        gone.cloned().collect()
    }

    fn likeness(&self, old_path: &RepoPath, new_path: &RepoPath) -> FileMatch {
        match (self.base.tree.get(old_path), self.head.tree.get(new_path)) {
            (Some(Blob::File(old)), Some(Blob::File(new))) if old == new => FileMatch::Same,
            (Some(Blob::File(_) | Blob::Link) | None, _) => FileMatch::Differs,
        }
    }
}

#[cfg(test)]
mod tests {
    use sha1::{Digest, Sha1};

    use super::{Blob, Code, CommitFiles, Files, ReadFailure, RepoPath, Tree, Unpacked};

    fn at(path: &str) -> RepoPath {
        RepoPath::root().join(path).unwrap()
    }

    fn id(bytes: &[u8]) -> String {
        let digest = Sha1::new_with_prefix(format!("blob {}\0", bytes.len()))
            .chain_update(bytes)
            .finalize();
        hex::encode(digest)
    }

    fn files(tree: &[(&str, Blob)], files: &[(&str, &[u8])]) -> Result<CommitFiles, String> {
        let tree: Tree = tree
            .iter()
            .map(|(path, blob)| (at(path), blob.clone()))
            .collect();
        let files = files
            .iter()
            .map(|(path, bytes)| (at(path), bytes.to_vec()))
            .collect();
        let wanted = |path: &RepoPath| path.as_str().starts_with("golden/");
        let by_id = |ids: &[&str]| {
            Ok(ids
                .iter()
                .filter(|of| **of == id(b"1"))
                .map(|of| (of.to_string(), b"1".to_vec()))
                .collect())
        };
        CommitFiles::verified(
            tree,
            Unpacked {
                files,
                ..Unpacked::default()
            },
            &wanted,
            &by_id,
        )
        .map_err(|error| error.to_string())
    }

    #[test]
    fn an_archive_must_match_the_git_tree() {
        // As `git hash-object` prints it.
        assert_eq!(id(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
        let file = |bytes: &[u8]| Blob::File(id(bytes));
        let whole = files(
            &[("golden/a.json", file(b"1")), ("src/main.py", file(b"2"))],
            &[("golden/a.json", b"1")],
        )
        .unwrap();
        assert_eq!(whole.bytes(&at("golden/a.json")).unwrap(), b"1");
        assert_eq!(
            whole.bytes(&at("src/main.py")).unwrap_err().read_failure,
            Some(ReadFailure::NotFetched)
        );
        assert_eq!(
            whole.bytes(&at("golden/b.json")).unwrap_err().read_failure,
            Some(ReadFailure::MissingFile)
        );
        let names: Vec<String> = whole
            .list(&RepoPath::root())
            .unwrap()
            .into_iter()
            .map(|entry| entry.name)
            .collect();
        assert_eq!(names, ["golden", "src"]);
        let one = [("golden/a.json", file(b"1"))];
        // What the archive hides or replaces is read by its id.
        for archive in [&[][..], &[("golden/a.json", &b"2"[..])]] {
            assert_eq!(
                files(&one, archive)
                    .unwrap()
                    .bytes(&at("golden/a.json"))
                    .unwrap(),
                b"1"
            );
        }
        let unread = files(&[("golden/c.json", file(b"3"))], &[]).err().unwrap();
        assert_eq!(unread, "golden/c.json of the commit cannot be read");
        // A file that is not in the git tree does not exist, even if the archive has it.
        let more = files(&one, &[("golden/a.json", b"1"), ("golden/b.json", b"2")]).unwrap();
        assert_eq!(
            more.bytes(&at("golden/b.json")).unwrap_err().read_failure,
            Some(ReadFailure::MissingFile)
        );
    }

    #[test]
    fn no_link_is_followed() {
        let tree = [
            ("golden/a.json", Blob::Link),
            ("docs", Blob::Link),
            ("other/b.json", Blob::File(id(b"1"))),
        ];
        let files = files(&tree, &[]).unwrap();
        for path in ["golden/a.json", "docs", "docs/deeper/c.md"] {
            assert_eq!(
                files.bytes(&at(path)).unwrap_err().code,
                Code::BAD_LINK,
                "{path}"
            );
        }
        for folder in ["golden", "docs", "docs/deeper", ""] {
            assert_eq!(
                files.list(&at(folder)).unwrap_err().code,
                Code::BAD_LINK,
                "{folder}"
            );
        }
    }
}
