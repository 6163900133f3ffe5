//! Recordings of an older version of a prompt: they may be of the agent before the change, whatever their digests say.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::Sides;
use super::agent_files::agent_files;
use super::files::text;
use super::gone_texts::GoneTexts;
use super::prompt_texts::{ChangedAgentFile, PLACEHOLDERS, letters, requests};
use crate::files::{FileMatch, FilePaths, Files, SourceText};
use crate::model::{Agent, RepoPath};
use crate::text::norm;

/// The fewest characters of a prompt that is looked for: a shorter one may be part of another text.
const LEAST: usize = 20;

/// What shows that a recording may be of an older prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OldPrompt<'a> {
    /// Its requests have the older version of this file.
    Sent(&'a RepoPath),
    /// Its requests have a text that this file no longer has.
    SentText(&'a RepoPath),
    /// Its requests have no new line of this file.
    WithoutNewLines(&'a RepoPath),
}

/// The prompts of an agent that a change replaces.
pub struct ReplacedPrompts<'a> {
    head: &'a dyn Files,
    /// The agent's files on the head.
    files: FilePaths,
    prompts: Vec<ReplacedPrompt>,
    /// The number of the agent's files that changed, with those that are no such prompts.
    changed: usize,
}

/// The texts that prompts have no more. They are found once, for all recordings.
pub type KnownGoneTexts<'a> = OnceCell<Option<GoneTexts<'a>>>;

/// A prompt, with its texts in normal form.
struct ReplacedPrompt {
    file: RepoPath,
    before: String,
    /// What is around the placeholders of the older version, as [`pieces_of`] returns it.
    before_pieces: Vec<String>,
    after: NewPrompt,
    /// The texts of both commits as they are.
    texts: [String; 2],
    /// Whether it is in the agent's files in another way. Known only once a recording was asked with it, because all files are read for it.
    kept: OnceCell<bool>,
}

/// The present version of a prompt.
struct NewPrompt {
    /// Its text in normal form; empty if the file is gone, or has another name.
    text: String,
    /// Its lines in normal form that the older version does not have; of lines with placeholders, what is around them.
    new_lines: Vec<String>,
    /// What is around its placeholders, as [`pieces_of`] returns it.
    pieces: Vec<String>,
}

impl<'a> ReplacedPrompts<'a> {
    /// Reads the files of the agent on both sides.
    pub fn of(sides: &Sides<'a>, before: &Agent, after: &Agent) -> Self {
        let files = |files: &dyn Files, agent| {
            agent_files(files, agent)
                .ok()
                .flatten()
                .map(|(files, _)| files)
        };
        let (Some(old), Some(new)) = (files(sides.base, before), files(sides.head, after)) else {
            return Self {
                head: sides.head,
                files: FilePaths::new(),
                prompts: Vec::new(),
                changed: 0,
            };
        };
        let is_same = |file: &RepoPath| sides.base.likeness(file, file) == FileMatch::Same;
        let all: BTreeSet<&RepoPath> = old.values().chain(new.values()).collect();
        let changed: Vec<&RepoPath> = all.into_iter().filter(|file| !is_same(file)).collect();
        let replaced = |file: &&RepoPath| {
            let before = old
                .get(file.as_str())
                .and_then(|file| text(sides.base, file))?;
            let normal = norm(&before.text);
            let after = match new.get(file.as_str()) {
                Some(file) => text(sides.head, file)?.text,
                None => String::new(),
            };
            is_long([&normal]).then(|| ReplacedPrompt {
                file: (*file).clone(),
                after: NewPrompt::of(&after, &normal),
                before: normal,
                before_pieces: pieces_of(&before.text),
                texts: [before.text, after],
                kept: OnceCell::new(),
            })
        };
        let (prompts, changed) = (changed.iter().filter_map(replaced).collect(), changed.len());
        Self {
            head: sides.head,
            files: new,
            prompts,
            changed,
        }
    }

    /// Returns the replaced prompt whose older version a recording of the head was asked with. `before` is a recording of the same case from
    /// the base commit, and `said` what the user says by the case.
    pub fn older_in<'p>(
        &'p self,
        gone: &KnownGoneTexts<'p>,
        now: Option<SourceText>,
        before: impl FnOnce() -> Option<SourceText>,
        said: impl FnOnce() -> String,
    ) -> Option<OldPrompt<'p>> {
        if self.prompts.is_empty() {
            return None;
        }
        let asked = requests(&now?)?;
        let now = norm(&asked.join("\n"));
        let older = self
            .prompts
            .iter()
            .find(|prompt| prompt.is_still_in(&now) && !self.is_kept(prompt));
        if let Some(prompt) = older {
            return Some(OldPrompt::Sent(&prompt.file));
        }
        let before = requests(&before()?)?;
        if let Some(gone) = gone.get_or_init(|| self.gone_texts())
            && let Some(file) = gone.still_in([&asked, &before], said)
        {
            return Some(OldPrompt::SentText(file));
        }
        // Changed code may ask with another text than the whole file.
        let before = (self.prompts.len() == self.changed).then(|| norm(&before.join("\n")))?;
        let is_replaced =
            |prompt: &ReplacedPrompt| before.contains(&prompt.before) && !self.is_kept(prompt);
        let is_literal = self.prompts.iter().all(is_replaced);
        let missing = self
            .prompts
            .iter()
            .find(|prompt| is_literal && prompt.is_missing_in(&now));
        missing.map(|prompt| OldPrompt::WithoutNewLines(&prompt.file))
    }

    fn gone_texts(&self) -> Option<GoneTexts<'_>> {
        let changed = self.prompts.iter().map(
            |ReplacedPrompt {
                 file,
                 texts: [before, after],
                 ..
             }| ChangedAgentFile {
                file,
                before,
                after,
            },
        );
        let now = || {
            self.files
                .values()
                .filter_map(|file| text(self.head, file))
                .collect()
        };
        GoneTexts::of(&changed.collect::<Vec<_>>(), now)
    }

    fn is_kept(&self, prompt: &ReplacedPrompt) -> bool {
        let [before, after] = &prompt.texts;
        *prompt
            .kept
            .get_or_init(|| is_kept(self.head, [before, after], &self.files, &prompt.file))
    }
}

impl ReplacedPrompt {
    fn is_still_in(&self, asked: &str) -> bool {
        let NewPrompt { text, .. } = &self.after;
        let is_asked = !text.is_empty() && asked.contains(text) && !self.before.contains(text);
        let is_part_of_new =
            text.contains(&self.before) || is_asked || self.after.may_be(&self.before);
        !is_part_of_new && (asked.contains(&self.before) || self.is_template_in(asked))
    }

    /// Whether a request fits the older version's text around its placeholders, and not that of the present version.
    fn is_template_in(&self, asked: &str) -> bool {
        let NewPrompt { text, pieces, .. } = &self.after;
        // A part of the present version may not be sent, such as a branch or a header.
        let mut new = pieces
            .iter()
            .filter(|piece| is_long([*piece]) && !self.before.contains(piece.as_str()))
            .peekable();
        let is_new = match (pieces.is_empty(), new.peek().is_some()) {
            (true, _) => !text.is_empty() && asked.contains(text),
            (false, true) => new.any(|piece| asked.contains(piece)),
            (false, false) => rest_after(pieces, asked).is_some(),
        };
        // What has a piece of the present version inside may be made of it.
        let may_be_made = |gone: &str| {
            pieces
                .iter()
                .any(|piece| piece.chars().count() >= LEAST / 2 && gone.contains(piece))
        };
        let gone = self
            .before_pieces
            .iter()
            .filter(|piece| !text.contains(piece.as_str()) && !may_be_made(piece));
        !is_new && is_long(gone) && rest_after(&self.before_pieces, asked).is_some()
    }

    /// Whether a request has no new line of the prompt. An agent may leave out some of them, such as a header.
    fn is_missing_in(&self, asked: &str) -> bool {
        let lines = &self.after.new_lines;
        !lines.is_empty() && !lines.iter().any(|line| asked.contains(line))
    }
}

impl NewPrompt {
    fn of(text: &str, before: &str) -> Self {
        // Of a line with placeholders, the longest text around them.
        let lines = text
            .lines()
            .filter_map(|line| match line.contains(PLACEHOLDERS) {
                true => around_placeholders(line)
                    .into_iter()
                    .max_by_key(String::len)
                    .filter(|piece| is_long([piece])),
                false => Some(norm(line)),
            });
        let new_lines = lines
            .filter(|line| !line.is_empty() && !before.contains(line))
            .collect();
        Self {
            text: norm(text),
            new_lines,
            pieces: pieces_of(text),
        }
    }

    /// Whether a text may be what comes of its placeholders: what is around them is in the text, in order, from its start to its end.
    fn may_be(&self, text: &str) -> bool {
        let (Some(first), Some(last)) = (self.pieces.first(), self.pieces.last()) else {
            return false;
        };
        rest_after(&self.pieces, text).is_some() && text.starts_with(first) && text.ends_with(last)
    }
}

/// Finds texts in order, and returns what is behind the last of them.
fn rest_after<'a>(pieces: &[String], text: &'a str) -> Option<&'a str> {
    pieces.iter().try_fold(text, |rest, piece| {
        rest.find(piece).and_then(|at| rest.get(at + piece.len()..))
    })
}

/// What is around the placeholders of a text, in normal form; empty if it has none, or if almost nothing is around them: that fits any text.
fn pieces_of(text: &str) -> Vec<String> {
    let pieces = if text.contains(PLACEHOLDERS) {
        around_placeholders(text)
    } else {
        Vec::new()
    };
    if is_long(&pieces) { pieces } else { Vec::new() }
}

/// What is around the placeholders of a text, in normal form.
fn around_placeholders(text: &str) -> Vec<String> {
    let mut parts: Vec<char> = text.chars().collect();
    // A placeholder may begin with several of them.
    parts.dedup_by(|next, last| PLACEHOLDERS.contains(next) && PLACEHOLDERS.contains(last));
    String::from_iter(parts)
        .split(PLACEHOLDERS)
        .step_by(2)
        .map(norm)
        .collect()
}

/// Whether texts together are long enough to be looked for.
fn is_long<'a>(texts: impl IntoIterator<Item = &'a String>) -> bool {
    texts
        .into_iter()
        .map(|text| text.chars().count())
        .sum::<usize>()
        >= LEAST
}

/// Whether a prompt is in the agent's files in another way: at least half of its lines are in other files, or all of them are in these and
/// in the file itself, which lacks some.
fn is_kept(head: &dyn Files, [before, after]: [&str; 2], new: &FilePaths, file: &RepoPath) -> bool {
    let others = new
        .values()
        .filter(|other| *other != file)
        .filter_map(|other| text(head, other));
    let others = letters(&others.map(|source| source.text).collect::<String>());
    let own = letters(after);
    let lines: BTreeSet<String> = before
        .lines()
        .map(letters)
        .filter(|line| !line.is_empty())
        .collect();
    let count = |is_in: &dyn Fn(&String) -> bool| lines.iter().filter(|line| is_in(line)).count();
    let in_own = count(&|line| own.contains(line.as_str()));
    let in_both = count(&|line| own.contains(line.as_str()) || others.contains(line.as_str()));
    let is_moved = 2 * count(&|line| others.contains(line.as_str())) >= lines.len();
    is_moved || (in_both == lines.len() && in_own < in_both)
}
