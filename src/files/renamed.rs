//! The files of a base commit under the names of the head: [`RenamedFiles`].

use regex::bytes::Regex;

use super::{BaseFiles, Entry, FileMatch, Files, OtherCommit};
use crate::diag::Diagnostic;
use crate::model::{AgentName, RepoPath};

/// A file or folder that has another path on the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedPath {
    /// On the base commit.
    pub before: RepoPath,
    /// On the head.
    pub after: RepoPath,
}

/// An agent that has another name on the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenamedAgent {
    pub before: AgentName,
    pub after: AgentName,
    /// The paths on the head below which JSON files may name it, under the key `agent` or `agents`.
    pub named_in: Vec<RepoPath>,
}

/// The files of a base commit, read by the paths of the head, and with its names of agents.
pub struct RenamedFiles<'a> {
    base: &'a dyn BaseFiles,
    moved: Vec<MovedPath>,
    agents: Vec<(RenamedAgent, Regex)>,
}

impl<'a> RenamedFiles<'a> {
    pub fn new(base: &'a dyn BaseFiles, moved: Vec<MovedPath>, agents: Vec<RenamedAgent>) -> Self {
        let agents = agents.into_iter().filter_map(|agent| {
            let name = regex::escape(agent.before.as_str());
            let key = r#"(?<before>"agents?"\s*:\s*(?:\[[^\[\]{}]*)?)"#;
            let pattern = Regex::new(&format!(r#"{key}"{name}""#)).ok()?;
            Some((agent, pattern))
        });
        Self {
            base,
            moved,
            agents: agents.collect(),
        }
    }

    /// The path on the base commit.
    fn before(&self, path: &RepoPath) -> RepoPath {
        let moved = self
            .moved
            .iter()
            .filter(|renamed| path.is_within(&renamed.after));
        // The innermost one: a folder of an agent in a folder that moved.
        moved
            .max_by_key(|renamed| renamed.after.as_str().len())
            .and_then(|renamed| path.rebased(&renamed.after, &renamed.before))
            .unwrap_or_else(|| path.clone())
    }

    /// The bytes with the names of the head.
    fn named(&self, path: &RepoPath, bytes: Vec<u8>) -> Vec<u8> {
        let mut named = bytes;
        for (agent, pattern) in &self.agents {
            if !agent.named_in.iter().any(|folder| path.is_within(folder)) {
                continue;
            }
            let after = format!("\"{}\"", agent.after);
            let replaced = pattern.replace_all(&named, |captures: &regex::bytes::Captures<'_>| {
                [&captures["before"], after.as_bytes()].concat()
            });
            named = replaced.into_owned();
        }
        named
    }

    fn is_named_in(&self, path: &RepoPath) -> bool {
        let mut folders = self.agents.iter().flat_map(|(agent, _)| &agent.named_in);
        folders.any(|folder| path.is_within(folder))
    }

    /// The entries of a folder, under their names on the head.
    fn entries(&self, folder: &RepoPath, entries: Vec<Entry>) -> Vec<Entry> {
        let base_folder = self.before(folder);
        let mut entries = entries;
        for entry in &mut entries {
            let path = base_folder.child(&entry.name);
            let moved = self
                .moved
                .iter()
                .find(|renamed| renamed.before == path && renamed.after.parent() == *folder);
            if let Some(moved) = moved {
                moved.after.name().clone_into(&mut entry.name);
            }
        }
        entries.sort();
        entries
    }
}

impl Files for RenamedFiles<'_> {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let entries = self.base.list_all(&self.before(folder))?;
        Ok(self.entries(folder, entries))
    }

    fn list(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let entries = self.base.list(&self.before(folder))?;
        Ok(self.entries(folder, entries))
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        let bytes = self.base.bytes(&self.before(file))?;
        Ok(self.named(file, bytes))
    }

    fn baseline_bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        self.base.baseline_bytes(&self.before(file))
    }

    fn is_ignored(&self, file: &RepoPath) -> bool {
        self.base.is_ignored(&self.before(file))
    }
}

impl OtherCommit for RenamedFiles<'_> {
    fn files(&self) -> &dyn Files {
        self
    }

    fn has_file(&self, file: &RepoPath, bytes: Option<&[u8]>) -> bool {
        match bytes {
            Some(bytes) if self.is_named_in(file) => {
                self.bytes(file).is_ok_and(|content| content == bytes)
            }
            Some(_) | None => self.base.has_file(&self.before(file), bytes),
        }
    }
}

impl BaseFiles for RenamedFiles<'_> {
    fn find(&self, names: &[&str]) -> Result<Option<RepoPath>, String> {
        self.base.find(names)
    }

    fn likeness(&self, base_file: &RepoPath, head_file: &RepoPath) -> FileMatch {
        self.base.likeness(&self.before(base_file), head_file)
    }

    fn links_gone(&self) -> Vec<RepoPath> {
        self.base.links_gone()
    }
}
