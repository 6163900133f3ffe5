//! Trees and blobs of a commit by id.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{GitHub, GitHubError};
use crate::format::archive;
use crate::format::archive::ArchiveLimits;
use crate::model::RepoPath;
use crate::world::objects::{Archived, Depth, Listing, NodeKind, Objects, TreeNode};

impl Objects for GitHub {
    fn tree(&self, id: &str, depth: Depth) -> anyhow::Result<Listing> {
        let query = match depth {
            Depth::One => "",
            Depth::All => "?recursive=1",
        };
        let path = self.path(&format!("/git/trees/{}{query}", of_id(id)?));
        let form: TreeForm = self
            .get(&path, "while listing the base commit")
            .map_err(|refusal| tree_error(refusal, "the files of the base commit"))?;
        let mut entries = Vec::new();
        for entry in form.tree {
            let node = TreeNode {
                kind: NodeKind::of_mode(&entry.mode),
                id: entry.sha.unwrap_or_default(),
                size: entry.size,
            };
            entries.push((entry.path, node));
        }
        Ok(Listing {
            entries,
            truncated: form.truncated,
        })
    }

    fn blob(&self, id: &str) -> anyhow::Result<Vec<u8>> {
        let path = self.path(&format!("/git/blobs/{}", of_id(id)?));
        let doing = "while reading a file of the base commit";
        let answer = self
            .ask_raw(&path, doing)
            .map_err(|refusal| tree_error(refusal, "a file of the base commit"))?;
        Ok(answer.body)
    }

    fn texts(&self, ids: &[&str]) -> BTreeMap<String, Vec<u8>> {
        self.texts_by_id(ids)
    }

    fn archive(
        &self,
        commit: &str,
        wanted: &dyn Fn(&RepoPath) -> bool,
    ) -> anyhow::Result<Option<Archived>> {
        let bytes = self
            .tarball(of_id(commit)?, ArchiveLimits::DOWNLOAD)
            .map_err(|refusal| tree_error(refusal, "the files of the base commit"))?;
        let unpacked = archive::tarball(&bytes, ArchiveLimits::REPOSITORY, wanted)?;
        Ok(Some(unpacked.files))
    }
}

/// Checks an id from a GitHub answer before it is put into a path.
fn of_id(id: &str) -> anyhow::Result<&str> {
    anyhow::ensure!(
        !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{id:?} is not a git object id; expected 40 or 64 hexadecimal digits"
    );
    Ok(id)
}

fn tree_error(refusal: GitHubError, subject: &str) -> anyhow::Error {
    refusal.explained(&format!("{subject} cannot be read"), "contents: read")
}

#[derive(Deserialize)]
struct TreeForm {
    tree: Vec<EntryForm>,
    #[serde(default)]
    truncated: bool,
}

#[derive(Deserialize)]
struct EntryForm {
    path: String,
    mode: String,
    sha: Option<String>,
    size: Option<u64>,
}
