//! Trees and blobs of a commit by id.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::forms::ShaForm;
use super::{GitHub, GitHubError};
use crate::files::HistoryCut;
use crate::format::archive;
use crate::format::archive::ArchiveLimits;
use crate::model::{CommitStatus, RepoPath};
use crate::text::encoded_segment;
use crate::world::objects::{Archived, CommitsBelow, Depth, Listing, NodeKind, Objects, TreeNode};

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
        let entries = form.tree.into_iter().map(
            |EntryForm {
                 path,
                 mode,
                 sha,
                 size,
             }| {
                let kind = NodeKind::of_mode(&mode);
                (
                    path,
                    TreeNode {
                        kind,
                        id: sha.unwrap_or_default(),
                        size,
                    },
                )
            },
        );
        Ok(Listing {
            entries: entries.collect(),
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

    fn earlier(&self, commit: &str, file: &RepoPath) -> anyhow::Result<Vec<Vec<u8>>> {
        let (commit, path) = (of_id(commit)?, encoded_segment(file.as_str()));
        let path = self.path(&format!(
            "/commits?sha={commit}&path={path}&per_page={CHANGES}"
        ));
        let what = "the history of a file";
        let changes: Vec<ShaForm> = self
            .get(&path, "while reading the history of a file")
            .map_err(|refusal| tree_error(refusal, what))?;
        let mut earlier = Vec::new();
        for change in changes {
            earlier.extend(
                self.file(file, of_id(&change.sha)?)
                    .map_err(|refusal| tree_error(refusal, what))?,
            );
        }
        Ok(earlier)
    }

    fn commits_below(
        &self,
        [_, head]: [&str; 2],
        folders: &[RepoPath],
    ) -> anyhow::Result<CommitsBelow> {
        let head = of_id(head)?;
        let mut ids: Vec<String> = Vec::new();
        for folder in folders {
            let path = encoded_segment(folder.as_str());
            let path = self.path(&format!(
                "/commits?sha={head}&path={path}&per_page={PAST_COMMITS}"
            ));
            let what = "the history of recordings";
            let commits: Vec<ShaForm> = self
                .get(&path, "while reading the history of recordings")
                .map_err(|refusal| tree_error(refusal, what))?;
            for commit in commits {
                let id = of_id(&commit.sha)?.to_owned();
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
        let is_limited = ids.len() >= PAST_COMMITS;
        let ends = ids
            .last()
            .filter(|_| is_limited)
            .cloned()
            .into_iter()
            .collect();
        Ok(CommitsBelow {
            ids,
            ends,
            cut: is_limited.then_some(HistoryCut::Limited(PAST_COMMITS)),
        })
    }

    fn statuses_of(&self, commit: &str) -> Option<anyhow::Result<Vec<CommitStatus>>> {
        let statuses = of_id(commit).and_then(|commit| {
            self.statuses(commit).map_err(|error| {
                error.explained("commit statuses cannot be read", "statuses: read")
            })
        });
        Some(statuses)
    }

    fn archive(
        &self,
        commit: &str,
        wanted: &dyn Fn(&RepoPath) -> bool,
    ) -> anyhow::Result<Option<Archived>> {
        let what = "the files of the base commit";
        let bytes = self
            .tarball(of_id(commit)?, ArchiveLimits::DOWNLOAD)
            .map_err(|refusal| tree_error(refusal, what))?;
        let unpacked = archive::tarball(&bytes, ArchiveLimits::REPOSITORY, wanted)?;
        Ok(Some(unpacked.files))
    }
}

/// Number of a file's changes that are read, one request each.
const CHANGES: usize = 5;

/// Number of past commits whose files are listed, one request each.
const PAST_COMMITS: usize = 10;

/// Checks an id from a GitHub answer before it is put into a path.
fn of_id(id: &str) -> anyhow::Result<&str> {
    anyhow::ensure!(
        !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{id:?} is not a git object id; expected 40 or 64 hexadecimal digits"
    );
    Ok(id)
}

fn tree_error(refusal: GitHubError, what: &str) -> anyhow::Error {
    refusal.explained(&format!("{what} cannot be read"), "contents: read")
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
