//! Texts that a change takes out of an agent's files. A prompt is not always a whole file: it may be a value of YAML or JSON, or a text in
//! code. A new request that has such a text as often as the request before is of the agent before the change.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;

use super::prompt_texts::{ChangedAgentFile, PLACEHOLDERS, QUOTES, letters, values};
use super::rewritten_texts::RewrittenTexts;
use crate::files::SourceText;
use crate::model::RepoPath;

/// The fewest letters and digits of a text that is looked for: a shorter one may be in a request by chance.
const LONG: usize = 40;
/// The fewest letters and digits around placeholders that show of what a text may be made.
const PIECE: usize = 10;
/// Most bytes of changed files whose texts are looked for.
const MOST_BYTES: usize = 2 * 1024 * 1024;
/// Most matches in one text. There are more only where texts contain each other.
const MOST_MATCHES: usize = 100_000;

/// The texts that no file of the agent has any more.
pub struct GoneTexts<'a> {
    gone: AhoCorasick,
    /// Each with the file that had it.
    texts: Vec<(String, &'a RepoPath)>,
    /// The texts that the change adds; `None` without any.
    added: Option<AhoCorasick>,
    rewritten: RewrittenTexts,
}

impl<'a> GoneTexts<'a> {
    /// Finds the texts; `None` if there are none. `now` returns the texts of all files that the agent has now.
    pub fn of(
        changed: &[ChangedAgentFile<'a>],
        now: impl FnOnce() -> Vec<SourceText>,
    ) -> Option<Self> {
        if changed
            .iter()
            .map(|file| file.before.len() + file.after.len())
            .sum::<usize>()
            > MOST_BYTES
        {
            return None;
        }
        let mut gone: BTreeMap<String, &RepoPath> = BTreeMap::new();
        let (mut added, mut pieces) = (BTreeSet::new(), BTreeSet::new());
        for ChangedAgentFile {
            file,
            before,
            after,
        } in changed
        {
            let [old, new] = [before, after].map(|text| long_texts(file, text));
            added.extend(new.difference(&old).cloned());
            gone.extend(
                old.into_iter()
                    .filter(|text| !new.contains(text))
                    .map(|text| (text, *file)),
            );
            let lines: BTreeSet<&str> = before.lines().collect();
            let new_lines = after
                .lines()
                .filter(|line| !lines.contains(line) && line.contains(PLACEHOLDERS));
            let around = new_lines
                .flat_map(|line| line.split(PLACEHOLDERS).flat_map(|part| part.split(QUOTES)));
            pieces.extend(around.map(letters).filter(|piece| piece.len() >= PIECE));
        }
        if gone.is_empty() {
            return None;
        }
        let now = now();
        let all: Vec<String> = now.iter().map(|file| letters(&file.text)).collect();
        let kept = kept(&gone, now.iter().zip(&all))?;
        gone.retain(|text, _| !kept.contains(text));
        // What has such a piece inside may be made of a line with placeholders.
        let pieces = AhoCorasick::new(pieces).ok()?;
        gone.retain(|text, _| !pieces.is_match(text));
        let added = if added.is_empty() {
            None
        } else {
            Some(AhoCorasick::new(added).ok()?)
        };
        let texts: Vec<(String, &RepoPath)> = gone.into_iter().collect();
        let search = AhoCorasick::new(texts.iter().map(|(text, _)| text)).ok()?;
        (!texts.is_empty()).then(|| Self {
            gone: search,
            texts,
            added,
            rewritten: RewrittenTexts::of(changed, &all),
        })
    }

    /// The file whose former text is in these requests as often as in those before, which have no new text. A user may say what a prompt has, such as
    /// an example.
    pub fn still_in(
        &self,
        [now, before]: [&[String]; 2],
        said: impl FnOnce() -> String,
    ) -> Option<&'a RepoPath> {
        let now: Vec<String> = now.iter().map(|request| letters(request)).collect();
        if self
            .added
            .as_ref()
            .is_some_and(|added| now.iter().any(|request| added.is_match(request)))
        {
            return None;
        }
        let counts = self.counts(&now);
        if counts.is_empty() {
            return None;
        }
        let before = self.counts(
            &before
                .iter()
                .map(|request| letters(request))
                .collect::<Vec<_>>(),
        );
        let kept = counts
            .iter()
            .filter(|(text, count)| before.get(text).is_some_and(|before| before <= count));
        let mut found = kept
            .filter_map(|(text, _)| self.texts.get(*text))
            .peekable();
        let said = if found.peek().is_some() {
            letters(&said())
        } else {
            String::new()
        };
        found
            .find(|(text, _)| !said.contains(text) && !self.rewritten.may_make(text, &now))
            .map(|(_, file)| *file)
    }

    /// How often each text is in the request that has it most often. A conversation repeats it in each of its requests.
    fn counts(&self, requests: &[String]) -> BTreeMap<usize, usize> {
        let mut most: BTreeMap<usize, usize> = BTreeMap::new();
        for request in requests {
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            for found in self.gone.find_overlapping_iter(request).take(MOST_MATCHES) {
                *counts.entry(found.pattern().as_usize()).or_default() += 1;
            }
            for (text, count) in counts {
                let known = most.entry(text).or_default();
                *known = count.max(*known);
            }
        }
        most
    }
}

/// The texts that a file of the agent still has, perhaps wrapped or quoted otherwise; `None` if there are too many to tell.
fn kept<'t>(
    texts: &BTreeMap<String, &RepoPath>,
    now: impl Iterator<Item = (&'t SourceText, &'t String)>,
) -> Option<BTreeSet<String>> {
    let search = AhoCorasick::new(texts.keys()).ok()?;
    let all: Vec<&String> = texts.keys().collect();
    let mut kept = BTreeSet::new();
    for (file, text) in now {
        let own = values(&file.file, &file.text)
            .map(|values| letters(&values.concat()))
            .unwrap_or_default();
        for text in [text, &own] {
            for (count, found) in search.find_overlapping_iter(text).enumerate() {
                if count == MOST_MATCHES {
                    return None;
                }
                kept.extend(
                    all.get(found.pattern().as_usize())
                        .map(|text| (*text).clone()),
                );
            }
        }
    }
    Some(kept)
}

/// The long texts of a file: its lines, and what is quoted or behind a key in them; of JSON and YAML, the values.
fn long_texts(file: &RepoPath, text: &str) -> BTreeSet<String> {
    let in_line = |line: &str| -> Vec<String> {
        let value = line.split_once(": ").map(|(_, value)| letters(value));
        let quoted = QUOTES
            .iter()
            .flat_map(|quote| line.split(*quote))
            .map(letters);
        quoted.chain([letters(line)]).chain(value).collect()
    };
    let texts: Vec<String> = match values(file, text) {
        Some(values) => {
            let lines = values.iter().flat_map(|value| value.lines()).map(letters);
            lines
                .chain(values.iter().map(|value| letters(value)))
                .collect()
        }
        None => text.lines().flat_map(in_line).collect(),
    };
    texts
        .into_iter()
        .filter(|text| text.chars().count() >= LONG)
        .collect()
}
