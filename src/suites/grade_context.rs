//! What a grading may read: the suite's own files, and the documents it has open.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::rule_text::rule_change;
use crate::diag::Diagnostic;
use crate::format::SourceText;
use crate::model::{RepoPath, Run};
use crate::text::{Keyword, norm};

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name, without its folder.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A file, or a link to one.
    File,
    /// A folder, or a link to one.
    Folder,
}

/// The files of the repository, as far as a suite may read them.
pub trait Files: Sync {
    /// All entries of a folder, by name, but for [`is_of_the_system`].
    ///
    /// # Errors
    /// Why it cannot be listed.
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic>;

    /// The entries of a folder, by name, without those whose name begins with a dot: they are no cases and no recordings.
    ///
    /// # Errors
    /// Why it cannot be listed.
    fn list(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let mut entries = self.list_all(folder)?;
        entries.retain(|entry| !entry.name.starts_with('.'));
        Ok(entries)
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic>;

    /// The text of a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn text(&self, file: &RepoPath) -> Result<SourceText, Diagnostic> {
        SourceText::new(file.clone(), self.bytes(file)?)
    }

    /// The same files for reading the case of one golden file, where somebody keeps a list of what each case is judged by.
    fn for_golden<'a>(&'a self, _golden: &RepoPath) -> Option<Box<dyn Files + 'a>> {
        None
    }
}

/// Reads the case of one golden file, and lets a list of what was read say that it was read for this case.
pub fn read_case<T>(files: &dyn Files, golden: &RepoPath, read: impl FnOnce(&dyn Files) -> T) -> T {
    match files.for_golden(golden) {
        Some(own) => read(&*own),
        None => read(files),
    }
}

/// Whether git or a file manager keeps an entry of this name for itself, so that no commit has it.
pub fn is_of_the_system(name: &str) -> bool {
    matches!(name, ".git" | ".DS_Store")
}

/// The rules that an agent was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPackage {
    /// The digest of its files, with the line ends that git keeps.
    pub sha256: String,
    /// The digest of its files as they are checked out: older recordings keep this one.
    pub raw_sha256: String,
    /// Its text.
    pub text: String,
    /// Its text in the normal form.
    pub normal: String,
    /// The text of the base commit's package at the same path, where it is another one.
    pub before: Option<String>,
}

impl PromptPackage {
    /// Whether a recording keeps this package's digest.
    pub fn is_of(&self, recorded: &str) -> bool {
        recorded == self.sha256 || recorded == self.raw_sha256
    }
}

/// What lies open while the pairs of one case are graded.
pub struct GradeContext<'a> {
    files: &'a dyn Files,
    prompts: &'a BTreeMap<crate::model::AgentName, PromptPackage>,
    // The samples of a case cite the same few documents again and again.
    papers: RefCell<BTreeMap<RepoPath, Arc<str>>>,
    // The digest of what all samples of the pair put out that is being graded.
    outputs: RefCell<Option<String>>,
}

impl<'a> GradeContext<'a> {
    /// An empty desk.
    pub fn new(files: &'a dyn Files, prompts: &'a BTreeMap<crate::model::AgentName, PromptPackage>) -> Self {
        Self { files, prompts, papers: RefCell::default(), outputs: RefCell::default() }
    }

    /// The files of the repository.
    pub fn files(&self) -> &dyn Files {
        self.files
    }

    /// Says what the samples of the pair put out that is graded next: a person's score is on these outputs or on others.
    pub fn set_outputs(&self, digest: Option<String>) {
        *self.outputs.borrow_mut() = digest;
    }

    /// Whether the samples of the pair that is being graded put out what has this digest.
    pub fn has_outputs(&self, digest: Option<&str>) -> bool {
        digest.is_some() && self.outputs.borrow().as_deref() == digest
    }

    /// A document in its normal form.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn paper(&self, file: &RepoPath) -> Result<Arc<str>, Diagnostic> {
        if let Some(paper) = self.papers.borrow().get(file) {
            return Ok(paper.clone());
        }
        let paper: Arc<str> = norm(&self.files.text(file)?.text).into();
        self.papers.borrow_mut().insert(file.clone(), paper.clone());
        Ok(paper)
    }

    /// Whether the prompt package that the run used has this rule, by its id or text (grading.md 12).
    pub fn had_rule(&self, agent: &crate::model::AgentName, run: &Run, rule: &str) -> bool {
        // Whole words: T-1 is not T-10.
        let rule = Keyword::new(rule);
        self.package(agent, run).zip(rule).is_some_and(|(package, rule)| rule.is_word_of(&package.normal))
    }

    /// What this commit changed in a rule that the run used, in words; `None` where it is the base commit's, or none is known.
    pub fn rule_change(&self, agent: &crate::model::AgentName, run: &Run, rule: &str) -> Option<String> {
        let package = self.package(agent, run)?;
        rule_change(rule, package.before.as_deref()?, &package.text)
    }

    /// The prompt package that the run used: one of another digest than the run's is another package.
    fn package(&self, agent: &crate::model::AgentName, run: &Run) -> Option<&PromptPackage> {
        let package = self.prompts.get(agent);
        package.filter(|package| run.provenance.prompt_sha256.as_ref().is_none_or(|digest| package.is_of(digest)))
    }
}
