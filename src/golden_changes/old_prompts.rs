//! Recordings that contain the prompt of the base commit: they may be of the agent before the change, whatever their digests say.

use serde_json::Value;

use super::Sides;
use super::agent_files::agent_files;
use super::files::text;
use crate::files::{FileMatch, Files};
use crate::model::{Agent, RepoPath};
use crate::text::norm;

/// The fewest characters of a prompt that is looked for: a shorter one may be part of another text.
const LEAST: usize = 20;

/// The prompts of an agent that a change replaces, in normal form.
pub struct ReplacedPrompts(Vec<ReplacedPrompt>);

struct ReplacedPrompt {
    before: String,
    after: String,
}

impl ReplacedPrompts {
    /// Reads the files of the agent on both sides. A recording never has a new prompt with placeholders literally.
    pub fn of(sides: &Sides<'_>, before: &Agent, after: &Agent) -> Self {
        let files = |files: &dyn Files, agent| agent_files(files, agent).ok().flatten().map(|(files, _)| files);
        let (Some(old), Some(new)) = (files(sides.base, before), files(sides.head, after)) else {
            return Self(Vec::new());
        };
        let replaced = |file: &RepoPath| {
            if !new.contains_key(file.as_str()) || sides.base.likeness(file, file) == FileMatch::Same {
                return None;
            }
            let (before, after) = (text(sides.base, file)?.text, text(sides.head, file)?.text);
            let has_placeholder = after.contains(['{', '<', '$', '%']);
            let (before, after) = (norm(&before), norm(&after));
            (!has_placeholder && before.chars().count() >= LEAST).then_some(ReplacedPrompt { before, after })
        };
        Self(old.values().filter_map(replaced).collect())
    }

    /// Whether a recording was asked with a replaced prompt.
    pub fn are_in(&self, files: &dyn Files, recording: &RepoPath) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let run = text(files, recording).and_then(|source| serde_json::from_str::<Value>(&source.text).ok());
        let run = run.unwrap_or_default();
        let asked = run.pointer("/inputs/prompt").and_then(Value::as_str).map(norm).unwrap_or_default();
        self.0.iter().any(|prompt| asked.contains(&prompt.before) && !asked.contains(&prompt.after))
    }
}
