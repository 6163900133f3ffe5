//! The files of the base commit: a tree of object ids. Only files that differ from the head are fetched.

mod same_as_head;
mod tree_folders;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use self::tree_folders::{TreeFolder, by_folder};
use super::edited::EditedFiles;
use super::objects::{Archived, Depth, NodeKind, Objects, Submodule, TreeNode};
use super::read_once::{ReadContent, ReadOnce};
use crate::diag::{Diagnostic, ReadFailure};
use crate::files::{
    BaseFiles, Entry, EntryKind, FileMatch, Files, OtherCommit, is_of_git, too_large,
};
use crate::model::{InputLimit, RepoPath};

/// Number of files fetched one by one before all differing files are downloaded at once.
const SINGLE_FILES: usize = 2;

/// The files of one commit.
pub struct BaseTree<'a> {
    objects: &'a dyn Objects,
    commit: String,
    head: &'a ReadOnce<'a>,
    state: Mutex<TreeCache>,
    /// The files of the head that may differ from this commit, if that is known.
    edited: OnceLock<Option<EditedFiles>>,
    /// The commit that is checked out; `None` if it is not known.
    checkout: Option<&'a BaseTree<'a>>,
    /// Whether the archive download was tried. Other threads wait on this lock for it.
    archive_read: Mutex<bool>,
}

#[derive(Default)]
struct TreeCache {
    folders: HashMap<RepoPath, TreeFolder>,
    blobs: HashMap<String, Arc<[u8]>>,
    /// Whether all folders of the commit are listed.
    lists_all: bool,
    /// Number of files fetched one by one.
    single_files: usize,
    submodules: BTreeMap<RepoPath, Submodule>,
    /// The links that were looked for, or are in a folder that was listed.
    links: BTreeSet<RepoPath>,
    trouble: Option<anyhow::Error>,
}

/// A file of the base commit.
#[derive(Clone, Copy)]
struct BaseFile<'a> {
    path: &'a RepoPath,
    blob: &'a TreeNode,
}

/// Why a tree entry was not found.
enum MissingNode {
    Missing,
    Because(String),
}

impl<'a> BaseTree<'a> {
    /// Opens the tree of a commit, to compare it with the files of the head.
    pub fn open(
        objects: &'a dyn Objects,
        commit: &str,
        head: &'a ReadOnce<'a>,
    ) -> anyhow::Result<Self> {
        let mut state = TreeCache::default();
        let whole = objects.tree(commit, Depth::All)?;
        if whole.truncated {
            // Folders are listed one by one on demand.
            let top = objects.tree(commit, Depth::One)?;
            anyhow::ensure!(
                !top.truncated,
                "the root of the base commit has too many entries to list"
            );
            state.folders.insert(
                RepoPath::root(),
                Arc::new(top.entries.into_iter().collect()),
            );
        } else {
            state.folders = by_folder(whole.entries);
            state.lists_all = true;
        }
        Ok(Self::of(objects, commit, head, state))
    }

    fn of(
        objects: &'a dyn Objects,
        commit: &str,
        head: &'a ReadOnce<'a>,
        state: TreeCache,
    ) -> Self {
        let (commit, state) = (commit.to_owned(), Mutex::new(state));
        let (edited, archive_read) = Default::default();
        Self {
            objects,
            commit,
            head,
            state,
            edited,
            checkout: None,
            archive_read,
        }
    }

    /// The same, with the commit that the head's files are checked out from.
    pub fn with_checkout(self, checkout: Option<&'a BaseTree<'a>>) -> Self {
        Self { checkout, ..self }
    }

    /// The first failed request; after one, the comparison is unreliable.
    pub fn trouble(&self) -> Option<anyhow::Error> {
        self.state().trouble.take()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, TreeCache> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a failed request, and returns its message.
    fn failed(&self, error: anyhow::Error) -> MissingNode {
        let words = format!("{error:#}");
        self.state().trouble.get_or_insert(error);
        MissingNode::Because(words)
    }

    fn folder(&self, path: &RepoPath) -> Result<TreeFolder, MissingNode> {
        if let Some(folder) = self.state().folders.get(path).cloned() {
            return Ok(folder);
        }
        if path.as_str().is_empty() {
            return Err(MissingNode::Missing);
        }
        let node = self.node(path)?;
        match node.kind {
            NodeKind::Folder => {}
            NodeKind::Other => return self.submodule(path, &node.id),
            // Below a file there is nothing.
            NodeKind::File | NodeKind::Link => return Err(MissingNode::Missing),
        }
        let listing = self
            .objects
            .tree(&node.id, Depth::One)
            .map_err(|error| self.failed(error))?;
        if listing.truncated {
            return Err(MissingNode::Because(
                "the folder has too many entries to list".to_owned(),
            ));
        }
        let folder: TreeFolder = Arc::new(listing.entries.into_iter().collect());
        self.state().folders.insert(path.clone(), folder.clone());
        Ok(folder)
    }

    /// The root folder of a submodule at a commit, if the submodule's repository is here and has that commit.
    fn submodule(&self, path: &RepoPath, commit: &str) -> Result<TreeFolder, MissingNode> {
        self.open_submodule(path, commit).ok_or_else(|| {
            MissingNode::Because(format!(
                "{path} is a submodule whose commit {commit} is not available here"
            ))
        })
    }

    fn open_submodule(&self, path: &RepoPath, commit: &str) -> Option<TreeFolder> {
        let objects = self.objects.submodule(path)?;
        let whole = objects.tree(commit, Depth::All).ok()?;
        if whole.truncated {
            return None;
        }
        let mut state = self.state();
        for (inside, entries) in by_folder(whole.entries) {
            let folder = path.join(inside.as_str()).ok()?;
            state.folders.insert(folder, entries);
        }
        state.submodules.insert(path.clone(), objects);
        state.folders.get(path).cloned()
    }

    /// The objects of the innermost submodule that contains a file; `None` if it is in no submodule.
    fn submodule_of(&self, file: &RepoPath) -> Option<Submodule> {
        let state = self.state();
        for (folder, objects) in state.submodules.iter().rev() {
            let inside = file.as_str().strip_prefix(folder.as_str());
            if inside.is_some_and(|inside| inside.starts_with('/')) {
                return Some(objects.clone());
            }
        }
        None
    }

    /// The entry of a file or folder. A link, and what is behind one, counts as missing.
    fn node(&self, path: &RepoPath) -> Result<TreeNode, MissingNode> {
        let folder = self.folder(&path.parent())?;
        let node = folder.get(path.name()).ok_or(MissingNode::Missing)?;
        if node.kind == NodeKind::Link {
            self.meet_link(path);
            return Err(MissingNode::Missing);
        }
        Ok(node.clone())
    }

    /// Records a link that counts as missing.
    fn meet_link(&self, link: &RepoPath) {
        self.state().links.insert(link.clone());
    }

    /// The entries of a folder, links included.
    fn entries(&self, folder: &RepoPath) -> Result<TreeFolder, Diagnostic> {
        self.folder(folder)
            .map_err(|lost| refused(folder, lost, "folder", ReadFailure::MissingFolder))
    }

    fn blob(&self, at: &RepoPath, node: &TreeNode) -> Result<Arc<[u8]>, MissingNode> {
        if let Some(bytes) = self.state().blobs.get(&node.id).cloned() {
            return Ok(bytes);
        }
        if self.are_many_needed() || !self.reserves_single_file(SINGLE_FILES) {
            self.read_archive();
            if let Some(bytes) = self.state().blobs.get(&node.id).cloned() {
                return Ok(bytes);
            }
            let most = self.objects.most_files();
            if !self.reserves_single_file(most) {
                return Err(MissingNode::Because(format!(
                    "more than {most} files have changed, which is too many to compare"
                )));
            }
        }
        let fetched = match self.submodule_of(at) {
            Some(submodule) => submodule.blob(&node.id),
            None => self.objects.blob(&node.id),
        };
        let bytes: Arc<[u8]> = fetched
            .map_err(|error| self.failed(error.context(at.to_string())))?
            .into();
        self.state().blobs.insert(node.id.clone(), bytes.clone());
        Ok(bytes)
    }

    /// Whether more files differ than are fetched on their own, as far as the head's files were read before.
    fn are_many_needed(&self) -> bool {
        if self.state().single_files != 0 {
            return false;
        }
        self.head
            .is_different_in_more(SINGLE_FILES, &|file, content| {
                self.file_node(file).is_some_and(|blob| {
                    self.form_in(
                        BaseFile {
                            path: file,
                            blob: &blob,
                        },
                        file,
                        content,
                    )
                    .is_none()
                })
            })
    }

    /// Counts a file that is fetched on its own, unless there are already this many.
    fn reserves_single_file(&self, most: usize) -> bool {
        let mut state = self.state();
        let is_free = state.single_files < most;
        state.single_files += usize::from(is_free);
        is_free
    }

    /// Downloads every file that differs from the head at once, on the first call. Files that the archive leaves out, or has with
    /// other bytes, are fetched by their ids.
    fn read_archive(&self) {
        let mut read = self
            .archive_read
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *read, true) || !self.state().lists_all {
            return;
        }
        let archived: RefCell<HashSet<RepoPath>> = RefCell::default();
        let listed = self.objects.archive(&self.commit, &|path| {
            archived.borrow_mut().insert(path.clone());
            self.file_node(path)
                .is_some_and(|node| self.is_fetched(&node, path))
        });
        let files = match listed {
            Ok(Some(files)) => files,
            // Single files are as cheap.
            Ok(None) => return,
            Err(_) => Archived::new(),
        };
        let mut left = Vec::new();
        for (path, bytes) in files {
            let Some(node) = self.file_node(&path) else {
                continue;
            };
            if ReadContent::of(bytes.clone()).form_in(&node).is_some() {
                self.state().blobs.insert(node.id, bytes.into());
            } else {
                left.push(node.id);
            }
        }
        left.extend(self.files_outside(&archived.into_inner()));
        if left.len() > SINGLE_FILES {
            let ids: Vec<&str> = left.iter().map(String::as_str).collect();
            let texts = self
                .objects
                .texts(&ids)
                .into_iter()
                .map(|(id, bytes)| (id, bytes.into()));
            self.state().blobs.extend(texts);
        }
    }

    /// The ids of the files that differ from the head and are not among these.
    fn files_outside(&self, archived: &HashSet<RepoPath>) -> Vec<String> {
        let folders: Vec<(RepoPath, TreeFolder)> = self
            .state()
            .folders
            .iter()
            .map(|(path, folder)| (path.clone(), folder.clone()))
            .collect();
        let mut ids = Vec::new();
        for (folder, entries) in &folders {
            for (name, node) in entries
                .iter()
                .filter(|(_, node)| node.kind == NodeKind::File)
            {
                let path = folder.child(name);
                if !archived.contains(&path) && self.is_fetched(node, &path) {
                    ids.push(node.id.clone());
                }
            }
        }
        ids.sort_unstable();
        ids
    }

    /// The file at a path whose folder is listed.
    fn file_node(&self, path: &RepoPath) -> Option<TreeNode> {
        let folder = self.state().folders.get(&path.parent()).cloned()?;
        folder
            .get(path.name())
            .filter(|node| node.kind == NodeKind::File)
            .cloned()
    }

    /// Whether a file is fetched: it differs from the head, and is not too large to be read.
    fn is_fetched(&self, node: &TreeNode, path: &RepoPath) -> bool {
        node.size.is_none_or(|size| size <= InputLimit::FILE.most)
            && self.local(BaseFile { path, blob: node }, path).is_none()
    }
}

fn refused(path: &RepoPath, lost: MissingNode, kind: &str, missing: ReadFailure) -> Diagnostic {
    match lost {
        MissingNode::Missing => {
            let words = format!("the {kind} does not exist in the base commit");
            Diagnostic::of_read(path, missing, words, "check the base commit")
        }
        MissingNode::Because(why) => {
            let words = format!("the {kind} of the base commit cannot be read: {why}");
            Diagnostic::of_read(
                path,
                ReadFailure::Unreadable,
                words,
                "check the base commit",
            )
        }
    }
}

fn missing_file(file: &RepoPath, lost: MissingNode) -> Diagnostic {
    refused(file, lost, "file", ReadFailure::MissingFile)
}

impl Files for BaseTree<'_> {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let listed = self.entries(folder)?;
        let mut entries = Vec::new();
        for (name, node) in listed.iter().filter(|(name, _)| !is_of_git(name)) {
            let kind = match node.kind {
                NodeKind::File => EntryKind::File,
                // Listing a submodule reports if its files are not here.
                NodeKind::Folder | NodeKind::Other => EntryKind::Folder,
                NodeKind::Link => continue,
            };
            entries.push(Entry {
                name: name.clone(),
                kind,
            });
        }
        entries.sort_unstable();
        Ok(entries)
    }

    fn list(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        for (name, node) in self.entries(folder)?.iter() {
            if node.kind == NodeKind::Link && !name.starts_with('.') {
                self.meet_link(&folder.child(name));
            }
        }
        let mut entries = self.list_all(folder)?;
        entries.retain(|entry| !entry.name.starts_with('.'));
        Ok(entries)
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        self.bytes_within(file, &InputLimit::FILE)
    }

    fn baseline_bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        self.bytes_within(file, &InputLimit::BASELINE)
    }
}

impl BaseTree<'_> {
    fn bytes_within(&self, file: &RepoPath, limit: &InputLimit) -> Result<Vec<u8>, Diagnostic> {
        let node = self.node(file).map_err(|lost| missing_file(file, lost))?;
        if node.kind != NodeKind::File {
            let lost = MissingNode::Because("it is not a file".to_owned());
            return Err(missing_file(file, lost));
        }
        if node.size.is_some_and(|size| size > limit.most) {
            return Err(too_large(file, limit));
        }
        let base = BaseFile {
            path: file,
            blob: &node,
        };
        let bytes = match self.local(base, file) {
            Some(content) => content.bytes.clone(),
            None => self
                .blob(file, &node)
                .map_err(|lost| missing_file(file, lost))?
                .to_vec(),
        };
        if limit.is_exceeded_by(bytes.len()) {
            return Err(too_large(file, limit));
        }
        Ok(bytes)
    }
}

impl OtherCommit for BaseTree<'_> {
    fn files(&self) -> &dyn Files {
        self
    }

    fn has_file(&self, file: &RepoPath, bytes: Option<&[u8]>) -> bool {
        match (self.node(file), bytes) {
            (Ok(node), Some(bytes)) => {
                let base = BaseFile {
                    path: file,
                    blob: &node,
                };
                node.kind == NodeKind::File && self.is_same(base, file, bytes)
            }
            (Err(MissingNode::Missing), None) => true,
            (Ok(_), None) | (Err(MissingNode::Missing | MissingNode::Because(_)), _) => false,
        }
    }
}

impl BaseFiles for BaseTree<'_> {
    fn find(&self, names: &[&str]) -> Result<Option<RepoPath>, String> {
        let state = self.state();
        if !state.lists_all {
            return Err("it has too many files to list at once".to_owned());
        }
        let mut first: Option<RepoPath> = None;
        for (folder, entries) in &state.folders {
            let name = entries
                .iter()
                .find(|(name, node)| node.kind == NodeKind::File && names.contains(&name.as_str()));
            if let Some((name, _)) = name {
                let path = folder.child(name);
                if first.as_ref().is_none_or(|first| path < *first) {
                    first = Some(path);
                }
            }
        }
        Ok(first)
    }

    fn links_gone(&self) -> Vec<RepoPath> {
        let mut links = self.state().links.clone();
        links.retain(|link| self.head.link_on(link).is_none());
        links.into_iter().collect()
    }

    fn likeness(&self, before: &RepoPath, after: &RepoPath) -> FileMatch {
        match self.node(before) {
            Ok(node) if node.kind == NodeKind::File => {
                let base = BaseFile {
                    path: before,
                    blob: &node,
                };
                if self.local(base, after).is_some() {
                    FileMatch::Same
                } else {
                    FileMatch::Differs
                }
            }
            Ok(_) | Err(_) => FileMatch::Differs,
        }
    }
}
