//! Recordings of an older version of a prompt: they may be of the agent before the change, whatever their digests say.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Sides;
use super::agent_files::agent_files;
use super::files::text;
use crate::files::{FileMatch, FilePaths, Files, SourceText};
use crate::model::{Agent, RepoPath};
use crate::text::norm;

/// The fewest characters of a prompt that is looked for: a shorter one may be part of another text.
const LEAST: usize = 20;

/// The prompts of an agent that a change replaces.
pub struct ReplacedPrompts {
    prompts: Vec<ReplacedPrompt>,
    /// The number of the agent's files that changed, with those that are no such prompts.
    changed: usize,
}

/// A prompt, with its texts in normal form.
struct ReplacedPrompt {
    file: RepoPath,
    before: String,
    after: NewPrompt,
}

enum NewPrompt {
    /// Recordings of the new version contain this text.
    Literal(String),
    /// It may have placeholders, so recordings contain another text.
    Template(String),
    /// The file is gone, or has another name.
    Gone,
}

impl ReplacedPrompts {
    /// Reads the files of the agent on both sides.
    pub fn of(sides: &Sides<'_>, before: &Agent, after: &Agent) -> Self {
        let files = |files: &dyn Files, agent| agent_files(files, agent).ok().flatten().map(|(files, _)| files);
        let (Some(old), Some(new)) = (files(sides.base, before), files(sides.head, after)) else {
            return Self { prompts: Vec::new(), changed: 0 };
        };
        let is_same = |file: &RepoPath| sides.base.likeness(file, file) == FileMatch::Same;
        let all: BTreeSet<&RepoPath> = old.values().chain(new.values()).collect();
        let changed: Vec<&RepoPath> = all.into_iter().filter(|file| !is_same(file)).collect();
        let replaced = |file: &&RepoPath| {
            let before = old.get(file.as_str()).and_then(|file| text(sides.base, file))?;
            let after = match new.get(file.as_str()) {
                Some(file) => NewPrompt::of(&text(sides.head, file)?),
                None => NewPrompt::Gone,
            };
            let is_elsewhere = || is_kept(sides.head, &before.text, &new, file);
            let normal = norm(&before.text);
            let is_replaced = normal.chars().count() >= LEAST && !is_elsewhere();
            is_replaced.then(|| ReplacedPrompt { file: (*file).clone(), before: normal, after })
        };
        Self { prompts: changed.iter().filter_map(replaced).collect(), changed: changed.len() }
    }

    /// Returns the replaced prompt whose older version a recording of the head was asked with. `before` is a recording of the same case from
    /// the base commit.
    pub fn older_in(&self, now: Option<SourceText>, before: impl FnOnce() -> Option<SourceText>) -> Option<&RepoPath> {
        if self.prompts.is_empty() {
            return None;
        }
        let now = asked(&now?)?;
        let older = self.prompts.iter().find(|prompt| prompt.is_still_in(&now));
        let missing = || {
            // Changed code may ask with another text than the whole file.
            let before =
                (self.prompts.len() == self.changed).then(before).flatten().and_then(|source| asked(&source))?;
            let is_literal = self.prompts.iter().all(|prompt| before.contains(&prompt.before));
            self.prompts.iter().find(|prompt| is_literal && prompt.is_missing_in(&now))
        };
        older.or_else(missing).map(|prompt| &prompt.file)
    }
}

impl ReplacedPrompt {
    fn is_still_in(&self, asked: &str) -> bool {
        let is_part_of_new = match &self.after {
            NewPrompt::Literal(after) => {
                after.contains(&self.before) || (asked.contains(after) && !self.before.contains(after))
            }
            NewPrompt::Template(after) => after.contains(&self.before),
            NewPrompt::Gone => false,
        };
        !is_part_of_new && asked.contains(&self.before)
    }

    fn is_missing_in(&self, asked: &str) -> bool {
        match &self.after {
            NewPrompt::Literal(after) => !asked.contains(after),
            NewPrompt::Template(_) | NewPrompt::Gone => false,
        }
    }
}

impl NewPrompt {
    fn of(source: &SourceText) -> Self {
        match source.text.contains(['{', '<', '$', '%']) {
            true => Self::Template(norm(&source.text)),
            false => Self::Literal(norm(&source.text)),
        }
    }
}

/// Whether at least half of the lines of a prompt are in other files of the agent now, as part of longer lines or not.
fn is_kept(head: &dyn Files, before: &str, new: &FilePaths, file: &RepoPath) -> bool {
    let others = new.values().filter(|other| *other != file).filter_map(|other| text(head, other));
    let others = others.map(|source| source.text).collect::<Vec<_>>().join("\n");
    let lines: BTreeSet<&str> = before.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    2 * lines.iter().filter(|line| others.contains(**line)).count() >= lines.len()
}

/// What the model was asked: the prompt, and the texts of all recorded requests, in normal form. `None` if a recording states neither.
fn asked(recording: &SourceText) -> Option<String> {
    let run: Value = serde_json::from_str(&recording.text).ok()?;
    let mut texts = Vec::new();
    texts_of(&run["inputs"]["prompt"], &mut texts);
    for exchange in run["intermediate"]["exchanges"].as_array().into_iter().flatten() {
        texts_of(&exchange["request"]["body"], &mut texts);
    }
    (!texts.is_empty()).then(|| norm(&texts.join("\n")))
}

fn texts_of<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(list) => list.iter().for_each(|one| texts_of(one, texts)),
        Value::Object(fields) => fields.values().for_each(|one| texts_of(one, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
