//! Whole commits: git's list of a commit's files, and the tarball of it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

use super::{Answer, Request, Standin, State, missing, ok};
use crate::repository::Repository;

/// The mode of a link.
pub const LINK: u32 = 0o120_000;

/// The mode of a submodule.
pub const SUBMODULE: u32 = 0o160_000;

/// Commits by their ids.
#[derive(Default)]
pub struct Commits(BTreeMap<String, Commit>);

/// One commit.
#[derive(Default, Clone)]
pub struct Commit {
    /// Files and links with their modes.
    pub entries: BTreeMap<String, (u32, Vec<u8>)>,
    /// Files that the archive leaves out or replaces, as `.gitattributes` can say.
    pub archived: BTreeMap<String, Option<Vec<u8>>>,
    /// Another archive altogether.
    pub tarball: Option<Vec<u8>>,
    /// Whether the list is longer than GitHub gives.
    pub truncated: bool,
}

impl Standin {
    /// A commit with the files of a repository on the disk, whose recordings are of the present files.
    pub fn commit(&self, id: &str, repository: &Repository) {
        repository.stamp_unless_kept();
        self.commit_as_is(id, repository);
    }

    /// A commit with the files of a repository on the disk.
    pub fn commit_as_is(&self, id: &str, repository: &Repository) {
        let commit = Commit::of(repository);
        self.change(|state| {
            for (path, (_, bytes)) in &commit.entries {
                state.contents.put(id, path, bytes.clone());
            }
            state.commits.0.insert(id.to_owned(), commit);
        });
    }

    /// Changes what is told of a commit.
    pub fn change_commit(&self, id: &str, what: impl FnOnce(&mut Commit)) {
        self.change(|state| what(state.commits.0.get_mut(id).unwrap()));
    }
}

fn walk(folder: &Path, inside: &str, commit: &mut Commit) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if inside.is_empty() && name == ".git" {
            continue;
        }
        let path = if inside.is_empty() {
            name
        } else {
            format!("{inside}/{name}")
        };
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            let leads = std::fs::read_link(entry.path()).unwrap();
            commit
                .entries
                .insert(path, (LINK, leads.to_str().unwrap().as_bytes().to_vec()));
        } else if kind.is_dir() && std::fs::read_dir(entry.path()).unwrap().next().is_none() {
            // Git stores no empty folder: this is how a checkout without submodules has one.
            commit.archived.insert(path.clone(), None);
            commit.entries.insert(path, (SUBMODULE, b"1".to_vec()));
        } else if kind.is_dir() {
            walk(&entry.path(), &path, commit);
        } else {
            commit
                .entries
                .insert(path, (0o100_644, std::fs::read(entry.path()).unwrap()));
        }
    }
}

impl Commits {
    /// A new commit on top of a known one.
    pub fn inherit(
        &mut self,
        parent: &str,
        id: &str,
        additions: &[(String, Vec<u8>)],
        deletions: &[String],
    ) {
        let Some(mut commit) = self.0.get(parent).cloned() else {
            return;
        };
        for path in deletions {
            assert!(
                commit.entries.remove(path).is_some(),
                "{path} is deleted and does not exist"
            );
        }
        for (path, bytes) in additions {
            commit
                .entries
                .insert(path.clone(), (0o100_644, bytes.clone()));
        }
        self.0.insert(id.to_owned(), commit);
    }

    /// The ids of a commit's files; `None` if nobody described it.
    pub fn blobs(&self, commit: &str) -> Option<BTreeMap<String, String>> {
        let entries = &self.0.get(commit)?.entries;
        Some(
            entries
                .iter()
                .map(|(path, (_, bytes))| (path.clone(), blob_id(bytes)))
                .collect(),
        )
    }

    /// The files of all commits.
    pub fn all_bytes(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.0
            .values()
            .flat_map(|commit| commit.entries.values())
            .map(|(_, bytes)| bytes)
    }
}

impl Commit {
    /// The files of a repository on the disk.
    pub fn of(repository: &Repository) -> Self {
        let mut commit = Self::of_all(repository);
        // What the tests keep beside the repository's own files.
        let beside = [".runner", ".goldgate", ".stdin"];
        let is_beside = |path: &String| beside.contains(&path.split('/').next().unwrap());
        commit.entries.retain(|path, _| !is_beside(path));
        commit.archived.retain(|path, _| !is_beside(path));
        commit
    }

    /// All files in the folder of a repository.
    pub fn of_all(repository: &Repository) -> Self {
        let mut commit = Self::default();
        walk(&repository.path(""), "", &mut commit);
        commit
    }

    /// A commit of these files.
    fn holding(files: BTreeMap<String, Vec<u8>>) -> Self {
        let entries = files
            .into_iter()
            .map(|(path, bytes)| (path, (0o100_644, bytes)))
            .collect();
        Self {
            entries,
            ..Self::default()
        }
    }

    fn tarball(&self, id: &str) -> Vec<u8> {
        if let Some(bytes) = &self.tarball {
            return bytes.clone();
        }
        let root = format!("acme-agents-{}", &id[..7]);
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::XGlobalHeader);
        let comment = format!("52 comment={id}\n");
        header.set_size(comment.len() as u64);
        builder
            .append_data(&mut header, "pax_global_header", comment.as_bytes())
            .unwrap();
        for (path, (mode, bytes)) in &self.entries {
            let bytes = match self.archived.get(path) {
                Some(None) => continue,
                Some(Some(other)) => other,
                None => bytes,
            };
            let mut header = tar::Header::new_ustar();
            header.set_mode(0o664);
            if *mode == LINK {
                header.set_entry_type(tar::EntryType::Symlink);
                header.set_size(0);
                builder
                    .append_link(
                        &mut header,
                        format!("{root}/{path}"),
                        std::str::from_utf8(bytes).unwrap(),
                    )
                    .unwrap();
            } else {
                header.set_size(bytes.len() as u64);
                builder
                    .append_data(&mut header, format!("{root}/{path}"), &bytes[..])
                    .unwrap();
            }
        }
        gzipped(&builder.into_inner().unwrap())
    }

    fn tree(&self) -> Value {
        let mut entries: BTreeMap<&str, Value> = BTreeMap::new();
        for (path, (mode, bytes)) in &self.entries {
            // Folders are entries as well (REST, "Get a tree": a `type` is blob, tree or commit).
            for (end, _) in path.match_indices('/') {
                let folder = &path[..end];
                entries.insert(
                    folder,
                    json!({ "path": folder, "mode": "040000", "type": "tree", "sha": blob_id(folder.as_bytes()) }),
                );
            }
            let kind = if *mode == SUBMODULE { "commit" } else { "blob" };
            let (mode, size) = (format!("{mode:06o}"), bytes.len());
            entries
                .insert(path, json!({ "path": path, "mode": mode, "type": kind, "sha": blob_id(bytes), "size": size }));
        }
        json!({ "truncated": self.truncated, "tree": entries.into_values().collect::<Vec<_>>() })
    }
}

pub fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// The id that git gives a file.
pub fn blob_id(bytes: &[u8]) -> String {
    let digest = Sha1::new()
        .chain_update(format!("blob {}\0", bytes.len()))
        .chain_update(bytes)
        .finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `git/commits/ID`, `git/trees/ID`, `tarball/ID`; the tree of a commit has the id of the commit, backwards.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let backwards = |id: &str| id.chars().rev().collect::<String>();
    match (request.method.as_str(), segments) {
        ("GET", ["git", "commits", id]) => {
            let known = state.commits.0.contains_key(*id);
            let parents: Vec<Value> = state
                .pulls
                .parents(id)
                .iter()
                .map(|parent| json!({ "sha": parent }))
                .collect();
            known.then(|| {
                ok(json!({ "sha": id, "tree": { "sha": backwards(id) }, "parents": parents }))
            })
        }
        ("GET", ["git", "trees", id]) => {
            // REST, "Get a tree": "The SHA1 value or ref name of the tree", and a commit's is taken as well.
            let checkout = state.trees.checkout.as_ref();
            let commit = state
                .commits
                .0
                .get(&backwards(id))
                .or_else(|| state.commits.0.get(*id))
                .or_else(|| Some(&checkout.filter(|(commit, _)| commit == id)?.1))?;
            Some(if request.asked("recursive").is_some() {
                ok(commit.tree())
            } else {
                missing()
            })
        }
        ("GET", ["tarball", id]) if request.has_token => {
            let commit = match state.commits.0.get(*id) {
                Some(commit) => commit.clone(),
                None if state.commits.0.is_empty() && !state.trees.has_no_archive => {
                    let mut commit = Commit::holding(state.contents.all());
                    let hidden = |path: &&String| {
                        state
                            .trees
                            .hidden
                            .as_ref()
                            .is_some_and(|folder| path.starts_with(folder))
                    };
                    commit.archived = commit
                        .entries
                        .keys()
                        .filter(hidden)
                        .map(|path| (path.clone(), None))
                        .collect();
                    commit
                }
                None => return Some(missing()),
            };
            let bytes = commit.tarball(id);
            Some(
                state
                    .archives
                    .redirect(state.port, &format!("tarball-{id}"), Some(bytes)),
            )
        }
        _ => None,
    }
}
