//! What people said: scores that replace a rubric's, and tags that replace a failure's. Both are kept and shown.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Shelf;
use super::rubric::DIMENSIONS;
use crate::diag::Diagnostic;
use crate::diag::Diagnostics;
use crate::diag::nearest;
use crate::format::Place;
use crate::format::Step::Key;
use crate::format::json;
use crate::model::AgentName;
use crate::model::CaseId;
use crate::model::RepoPath;
use crate::model::Tag;

/// One label: a score of a dimension, or the tag of a check.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "label that a person gave")]
pub struct LabelForm {
    /// The agent; every one where absent.
    agent: Option<String>,
    /// The case.
    case: String,
    /// The rubric's dimension (kind `interview`), with `score`.
    dimension: Option<String>,
    /// Its points, 0 to 2.
    score: Option<u8>,
    /// The name of a check, with `tag`.
    check: Option<String>,
    /// The right tag of its failure.
    tag: Option<String>,
    /// Who said so.
    by: String,
    /// Why.
    reason: String,
}

/// One label, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    agent: Option<String>,
    case: String,
    /// What it says.
    pub says: Says,
    /// Who said so.
    pub by: String,
    /// Why.
    pub reason: String,
}

/// What a label says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Says {
    /// The points of the dimension at this place of the rubric.
    Score(usize, u8),
    /// The tag of the check of this name.
    Tag(String, Tag),
}

/// The labels of a suite.
#[derive(Debug, Clone, Default)]
pub struct Labels(Vec<Label>);

impl Labels {
    /// Reads a file of labels; none where the suite names no file.
    ///
    /// # Errors
    /// Everything in it that cannot be.
    pub fn open(file: Option<&RepoPath>, shelf: &dyn Shelf) -> Result<Self, Diagnostics> {
        let Some(file) = file else { return Ok(Self::default()) };
        let source = shelf.text(file)?;
        let raws: Vec<&RawValue> = json::golden(&source)?;
        let mut problems = Diagnostics::default();
        let read = raws.iter().filter_map(|raw| problems.keep(label(&Place::part(&source, raw))));
        let read = read.collect();
        problems.or(Self(read))
    }

    /// The labels of one agent on one case.
    pub fn of<'a>(&'a self, agent: &'a AgentName, case: &'a CaseId) -> impl Iterator<Item = &'a Label> {
        self.0.iter().filter(move |label| {
            label.case == case.as_str() && label.agent.as_deref().is_none_or(|one| one == agent.as_str())
        })
    }

    /// Labels of cases that there are not.
    pub fn strays<'a>(&'a self, cases: &BTreeSet<&str>) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .map(|label| label.case.as_str())
            .filter(|case| !cases.contains(case))
            .collect::<Vec<_>>()
            .into_iter()
    }
}

fn label(place: &Place<'_>) -> Result<Label, Diagnostic> {
    let LabelForm { agent, case, dimension, score, check, tag, by, reason } = place.read()?;
    if by.trim().is_empty() || reason.trim().is_empty() {
        let what = "a label has to say who gave it, and why";
        return Err(place.problem_of_key(&[Key("by")], "no-reason", what, "fill in by and reason"));
    }
    let says = match (dimension, score, check, tag) {
        (Some(name), Some(points @ 0..=2), None, None) => {
            let at = DIMENSIONS.iter().position(|one| *one == name);
            Says::Score(at.ok_or_else(|| unknown(place, "dimension", &name, &DIMENSIONS))?, points)
        }
        (None, None, Some(check), Some(word)) => {
            let known = Tag::ALL.map(Tag::word);
            let tag = Tag::ALL.into_iter().find(|tag| tag.word() == word);
            Says::Tag(check, tag.ok_or_else(|| unknown(place, "tag", &word, &known))?)
        }
        _ => {
            let what = "a label is either a dimension with a score of 0 to 2, or a check with a tag";
            return Err(place.problem_of_key(&[Key("case")], "bad-label", what, "state one of both pairs"));
        }
    };
    Ok(Label { agent, case, says, by, reason })
}

fn unknown(place: &Place<'_>, what: &str, found: &str, known: &[&str]) -> Diagnostic {
    let help = match nearest(found, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("known are {}", known.join(", ")),
    };
    place.problem(&[Key(what)], "unknown-value", format!("unknown {what} \"{found}\""), help)
}
