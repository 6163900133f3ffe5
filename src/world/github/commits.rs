//! A commit's files: all of them in one archive, and git's own list to hold the archive against.

use std::collections::BTreeMap;

use http::Method;
use serde::Deserialize;
use sha1::{Digest, Sha1};

use super::{GitHub, GitHubError, parsed};
use crate::model::RepoPath;

/// A file as git knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blob {
    /// A file, by the id of its content.
    File(String),
    /// A symbolic link, or another repository's commit.
    Link,
}

/// Every file of a commit.
pub type Tree = BTreeMap<RepoPath, Blob>;

impl Blob {
    /// Whether these bytes are the file's. An archive is made by rules that stand in the archived commit itself
    /// (`.gitattributes`: what is left out, what is replaced), so it may hold other bytes than the commit.
    pub fn holds(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Link => false,
            Self::File(id) => {
                let mut digest = Sha1::new();
                digest.update(format!("blob {}\0", bytes.len()));
                digest.update(bytes);
                *id == digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>()
            }
        }
    }
}

impl GitHub {
    /// A gzipped tarball of this repository at a commit, at most `limit` bytes of it. A fork's commit is found here as well
    /// while a pull request has it.
    ///
    /// # Errors
    /// Why there is none.
    pub fn tarball(&self, commit: &str, limit: u64) -> Result<Vec<u8>, GitHubError> {
        let path = self.path(&format!("/tarball/{commit}"));
        self.download(&path, limit, "while downloading the files of a commit")
    }

    /// Git's own list of a commit's files; `None` where it is longer than GitHub gives.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn tree(&self, commit: &str) -> Result<Option<Tree>, GitHubError> {
        let doing = "while reading the list of a commit's files";
        let path = self.path(&format!("/git/commits/{commit}"));
        let found: CommitForm = parsed(&self.ask(&Method::GET, &path, None, doing)?, &path)?;
        let path = self.path(&format!("/git/trees/{}?recursive=1", found.tree.sha));
        let form: CommitTreeForm = parsed(&self.ask(&Method::GET, &path, None, doing)?, &path)?;
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
            // A name that is no path here is nobody's golden file.
            if let Ok(path) = RepoPath::root().join(&path) {
                tree.insert(path, blob);
            }
        }
        Ok(Some(tree))
    }
}

#[derive(Deserialize)]
struct CommitForm {
    tree: NamedForm,
}

#[derive(Deserialize)]
struct NamedForm {
    sha: String,
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
