//! What grading may read: the suite's files, the prompt packages, and cached documents.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::digest::CheckoutDigest;
use super::rule_text::rule_change;
use crate::diag::Diagnostic;
use crate::format::SourceText;
use crate::model::{RepoPath, Run};
use crate::text::{Keyword, norm};

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name without the folder.
    pub name: String,
    /// File or folder.
    pub kind: EntryKind,
}

/// The type of a folder entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A file, or a link to one.
    File,
    /// A folder, or a link to one.
    Folder,
}

/// Read-only access to the files of the repository.
pub trait Files: Sync {
    /// All entries of a folder, sorted by name, except [`is_of_the_system`].
    ///
    /// # Errors
    /// The folder cannot be listed.
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic>;

    /// The entries of a folder, sorted by name, without names that start with a dot: those are neither cases nor
    /// recordings.
    ///
    /// # Errors
    /// The folder cannot be listed.
    fn list(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let mut entries = self.list_all(folder)?;
        entries.retain(|entry| !entry.name.starts_with('.'));
        Ok(entries)
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// The file cannot be read.
    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic>;

    /// The text of a file.
    ///
    /// # Errors
    /// The file cannot be read, or is not UTF-8.
    fn text(&self, file: &RepoPath) -> Result<SourceText, Diagnostic> {
        SourceText::new(file.clone(), self.bytes(file)?)
    }

    /// The same files for reading one golden file; an implementation may record which files the case depends on.
    fn for_golden<'a>(&'a self, _golden: &RepoPath) -> Option<Box<dyn Files + 'a>> {
        None
    }
}

/// Reads one golden file through [`Files::for_golden`].
pub fn read_case<T>(files: &dyn Files, golden: &RepoPath, read: impl FnOnce(&dyn Files) -> T) -> T {
    match files.for_golden(golden) {
        Some(own) => read(&*own),
        None => read(files),
    }
}

/// Whether the name belongs to git or a file manager, so that no commit contains the entry.
pub fn is_of_the_system(name: &str) -> bool {
    matches!(name, ".git" | ".DS_Store")
}

/// The rules that an agent was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPackage {
    /// The digest of its files.
    pub digest: CheckoutDigest,
    /// Its text.
    pub text: String,
    /// Its text in the normal form.
    pub normal: String,
    /// The text of the base commit's package at the same path, if it differs.
    pub before: Option<String>,
}

/// What the grading of the pairs of one case has access to.
pub struct GradeContext<'a> {
    files: &'a dyn Files,
    prompts: &'a BTreeMap<crate::model::AgentName, PromptPackage>,
    // The samples of a case cite the same few documents many times.
    papers: RefCell<BTreeMap<RepoPath, Arc<str>>>,
    // The digest of all outputs of the pair that is being graded.
    outputs: RefCell<Option<String>>,
}

impl<'a> GradeContext<'a> {
    /// A context without cached documents.
    pub fn new(files: &'a dyn Files, prompts: &'a BTreeMap<crate::model::AgentName, PromptPackage>) -> Self {
        Self { files, prompts, papers: RefCell::default(), outputs: RefCell::default() }
    }

    /// The files of the repository.
    pub fn files(&self) -> &dyn Files {
        self.files
    }

    /// Sets the digest of the outputs of the next pair; a person's score counts for the outputs that it was given on.
    pub fn set_outputs(&self, digest: Option<String>) {
        *self.outputs.borrow_mut() = digest;
    }

    /// Whether `digest` is that of the outputs of the pair that is being graded.
    pub fn has_outputs(&self, digest: Option<&str>) -> bool {
        digest.is_some() && self.outputs.borrow().as_deref() == digest
    }

    /// A document in its normal form, cached.
    ///
    /// # Errors
    /// The document cannot be read.
    pub fn paper(&self, file: &RepoPath) -> Result<Arc<str>, Diagnostic> {
        if let Some(paper) = self.papers.borrow().get(file) {
            return Ok(paper.clone());
        }
        let paper: Arc<str> = norm(&self.files.text(file)?.text).into();
        self.papers.borrow_mut().insert(file.clone(), paper.clone());
        Ok(paper)
    }

    /// Whether the run's prompt package has this rule, by its id or text (grading.md 12).
    pub fn had_rule(&self, agent: &crate::model::AgentName, run: &Run, rule: &str) -> bool {
        // Whole words: T-1 is not T-10.
        let rule = Keyword::new(rule);
        self.package(agent, run).zip(rule).is_some_and(|(package, rule)| rule.is_word_of(&package.normal))
    }

    /// How this commit changed a rule that the run used; `None` if it is unchanged or the base is unknown.
    pub fn rule_change(&self, agent: &crate::model::AgentName, run: &Run, rule: &str) -> Option<String> {
        let package = self.package(agent, run)?;
        rule_change(rule, package.before.as_deref()?, &package.text)
    }

    /// The agent's prompt package, if it is the one that the run used (same digest, or no digest recorded).
    fn package(&self, agent: &crate::model::AgentName, run: &Run) -> Option<&PromptPackage> {
        let package = self.prompts.get(agent);
        package.filter(|package| run.provenance.prompt_sha256.as_ref().is_none_or(|digest| package.digest.is(digest)))
    }
}
