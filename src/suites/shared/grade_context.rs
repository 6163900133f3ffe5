//! What grading may read: the suite's files, the prompt packages, and cached documents.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::rule_text::rule_change;
use crate::diag::Diagnostic;
use crate::files::Files;
use crate::model::{AgentName, RepoPath};
use crate::text::{Keyword, norm};

/// The rules that an agent was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPackage {
    pub text: String,
    pub normal: String,
    /// The text of the base commit's package at the same path, if it differs.
    pub before: Option<String>,
}

/// The optional parts of outputs that some run of each agent has.
pub type RecordedParts = BTreeMap<AgentName, BTreeSet<&'static str>>;

/// What the grading of the pairs of one case has access to.
pub struct GradeContext<'a> {
    files: &'a dyn Files,
    prompts: &'a BTreeMap<AgentName, PromptPackage>,
    recorded_parts: Option<&'a RecordedParts>,
    // The samples of a case cite the same few documents many times.
    papers: RefCell<BTreeMap<RepoPath, Arc<str>>>,
    // The digest of all outputs of the pair that is being graded.
    outputs: RefCell<Option<String>>,
    // Tools that fail in passing samples of the pair as well.
    harmless_tools: RefCell<BTreeSet<String>>,
}

impl<'a> GradeContext<'a> {
    /// A context without cached documents.
    pub fn new(files: &'a dyn Files, prompts: &'a BTreeMap<AgentName, PromptPackage>) -> Self {
        Self {
            files,
            prompts,
            recorded_parts: None,
            papers: RefCell::default(),
            outputs: RefCell::default(),
            harmless_tools: RefCell::default(),
        }
    }

    /// The same context for agents with these optional parts in their runs.
    pub fn with_recorded_parts(self, recorded_parts: &'a RecordedParts) -> Self {
        Self {
            recorded_parts: Some(recorded_parts),
            ..self
        }
    }

    /// Whether some run of an agent has an optional part of outputs.
    pub fn has_recorded_part(&self, agent: &AgentName, part: &str) -> bool {
        self.recorded_parts
            .and_then(|recorded| recorded.get(agent))
            .is_some_and(|parts| parts.contains(part))
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

    /// Sets the tools whose failure explains no failed check of the next sample, because passing samples have it as well.
    pub fn set_harmless_tools(&self, tools: BTreeSet<String>) {
        *self.harmless_tools.borrow_mut() = tools;
    }

    /// Whether the failure of a tool explains no failed check.
    pub fn is_harmless(&self, tool: &str) -> bool {
        self.harmless_tools.borrow().contains(tool)
    }

    /// A document in its normal form, cached.
    pub fn paper(&self, file: &RepoPath) -> Result<Arc<str>, Diagnostic> {
        if let Some(paper) = self.papers.borrow().get(file) {
            return Ok(paper.clone());
        }
        let paper: Arc<str> = norm(&self.files.text(file)?.text).into();
        self.papers.borrow_mut().insert(file.clone(), paper.clone());
        Ok(paper)
    }

    /// Whether the run's prompt package has this rule, by its id or text.
    pub fn had_rule(&self, agent: &AgentName, rule: &str) -> bool {
        // Whole words: T-1 is not T-10.
        let rule = Keyword::new(rule);
        self.prompts
            .get(agent)
            .zip(rule)
            .is_some_and(|(package, rule)| rule.is_word_of(&package.normal))
    }

    /// How this commit changed a rule that the run used; `None` if it is unchanged or the base is unknown.
    pub fn rule_change(&self, agent: &AgentName, rule: &str) -> Option<String> {
        let package = self.prompts.get(agent)?;
        rule_change(rule, package.before.as_deref()?, &package.text)
    }
}
