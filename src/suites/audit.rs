//! What can be said of golden files before anything is graded: what nobody can satisfy, and what nobody reads.

use super::{EntryKind, Files};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::RepoPath;

/// The findings of `goldgate check` on one suite.
#[derive(Debug, Default)]
pub struct Audit {
    /// What makes a golden file impossible to satisfy.
    pub problems: Diagnostics,
    /// What is there and has no effect.
    pub notes: Vec<Diagnostic>,
}

impl Audit {
    /// Something that is there and has no effect.
    pub fn note(&mut self, file: &RepoPath, what: impl Into<String>, help: impl Into<String>) {
        self.notes.push(Diagnostic::of_file(file, "unused", what, help));
    }

    /// Every entry of a folder of golden files that is none.
    pub fn strays(&mut self, files: &dyn Files, folder: &RepoPath) {
        for entry in files.list(folder).unwrap_or_default() {
            if entry.kind != EntryKind::File || !entry.name.ends_with(".json") {
                let help = "rename it to {case}.json, or move it elsewhere";
                self.note(&folder.child(&entry.name), "this is no golden file, and is not read", help);
            }
        }
    }
}
