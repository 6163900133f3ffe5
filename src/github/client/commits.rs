//! A commit's files: all of them in one archive, and git's own list to verify the archive.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{GitHub, GitHubError};
use crate::model::RepoPath;
use crate::text::encoded_segment;
use crate::world::object_id::{IdForm, ObjectId, ObjectKind};

/// A file in a git tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Blob {
    /// A file, by its blob id.
    File(String),
    /// A symbolic link or a submodule.
    Link,
}

pub type Tree = BTreeMap<RepoPath, Blob>;

impl Blob {
    /// Whether these bytes are the file's content. An archive may differ from the commit, because `.gitattributes` in the commit can
    /// leave out or replace files.
    pub fn holds(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Link => false,
            Self::File(id) => IdForm::of(id)
                .is_some_and(|form| ObjectId::of(form, ObjectKind::Blob, bytes).is(id)),
        }
    }
}

impl GitHub {
    /// A gzipped tarball of this repository at a commit, at most `limit` bytes. A fork's commit is available here while a pull
    /// request contains it.
    pub fn tarball(&self, commit: &str, limit: u64) -> Result<Vec<u8>, GitHubError> {
        let path = self.path(&format!("/tarball/{commit}"));
        self.download(&path, limit, "while downloading the files of a commit")
    }

    /// Git's own list of a commit's files; `None` if it is longer than GitHub returns.
    pub fn tree(&self, commit: &str) -> Result<Option<Tree>, GitHubError> {
        let doing = "while reading the list of a commit's files";
        // GitHub takes a commit's id for that of its tree.
        let path = self.path(&format!(
            "/git/trees/{}?recursive=1",
            encoded_segment(commit)
        ));
        let form: CommitTreeForm = self.get(&path, doing)?;
        if form.truncated {
            return Ok(None);
        }
        let mut tree = Tree::new();
        for CommitEntryForm { path, mode, sha } in form.tree {
            let blob = match mode.as_str() {
                "040000" => continue,
                "100644" | "100755" => Blob::File(sha),
                _ => Blob::Link,
            };
            // A name that is not a valid path here cannot be a golden file.
            if let Ok(path) = RepoPath::root().join(&path) {
                tree.insert(path, blob);
            }
        }
        Ok(Some(tree))
    }
}

#[derive(Deserialize)]
struct CommitTreeForm {
    #[serde(default)]
    truncated: bool,
    tree: Vec<CommitEntryForm>,
}

#[derive(Deserialize)]
struct CommitEntryForm {
    path: String,
    mode: String,
    sha: String,
}
