//! Where git trees and blobs come from: a checkout, or GitHub.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::edited::EditedFiles;
use crate::model::RepoPath;

/// One entry of a commit's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeNode {
    pub kind: NodeKind,
    /// Its git object id.
    pub id: String,
    /// Its size in bytes, if known.
    pub size: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    File,
    /// A link; its content is the target path.
    Link,
    Folder,
    /// A submodule.
    Other,
}

impl NodeKind {
    /// The kind for a mode of git, which leaves out leading zeros within trees.
    pub(crate) fn of_mode(mode: &str) -> Self {
        match mode {
            "40000" | "040000" => Self::Folder,
            LINK_MODE => Self::Link,
            SUBMODULE_MODE => Self::Other,
            _ => Self::File,
        }
    }
}

/// The mode of a link in a tree.
pub(super) const LINK_MODE: &str = "120000";

/// The mode of a submodule in a tree and in the index.
pub(super) const SUBMODULE_MODE: &str = "160000";

/// How deep a tree is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Direct entries only.
    One,
    /// All entries, by path.
    All,
}

/// The entries of a tree, by name or path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    pub entries: Vec<(String, TreeNode)>,
    /// Whether entries are missing because there are too many.
    pub truncated: bool,
}

/// Source of git trees and blobs.
pub trait Objects: Sync {
    /// The entries of a tree, given its id or a commit's.
    fn tree(&self, id: &str, depth: Depth) -> anyhow::Result<Listing>;

    /// The bytes of a file.
    fn blob(&self, id: &str) -> anyhow::Result<Vec<u8>>;

    /// The files with these ids, as far as many of them come in one request. The others are read one by one.
    fn texts(&self, _ids: &[&str]) -> BTreeMap<String, Vec<u8>> {
        BTreeMap::new()
    }

    /// The objects of the submodule checked out in this folder; `None` if they are not available.
    fn submodule(&self, _folder: &RepoPath) -> Option<Submodule> {
        None
    }

    /// The files of the working tree that may differ from a commit; `None` if that is not known, so that contents have to be compared.
    fn edited(&self, _commit: &str) -> Option<EditedFiles> {
        None
    }

    /// Maximum number of files fetched one by one; each may be a separate request.
    fn most_files(&self) -> usize {
        400
    }

    /// The wanted files of a commit in one download; `None` if single files are as cheap.
    fn archive(
        &self,
        _commit: &str,
        _wanted: &dyn Fn(&RepoPath) -> bool,
    ) -> anyhow::Result<Option<Archived>> {
        Ok(None)
    }
}

/// The objects of a submodule's repository.
pub type Submodule = Arc<dyn Objects + Send>;

/// Files of a commit by path.
pub type Archived = BTreeMap<RepoPath, Vec<u8>>;
