//! The lines about changed recordings, and about a changed list of agent files.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use super::agent_files::{AgentFileChange, agent_files, ignored_now, names_all_of};
use super::called_targets::{Certainty, OtherMaker};
use super::found::ChangeCollector;
use super::old_prompts::{KnownGoneTexts, OldPrompt, ReplacedPrompts};
use super::present_calls::PresentCalls;
use super::record_command::{RecordedCases, record_again};
use super::recording_change::{
    CaseSample, RecordedFile, RecordingChange, answers_otherwise, counted_recordings, digest,
    recorded_at, recorded_by,
};
use super::recording_comparison::{ComparedAgent, RecordingComparison};
use crate::files::{FileMatch, FilePaths, Files, SourceText};
use crate::model::{Agent, IMPORTED, RecordingAge, RepoPath, Weight};
use crate::text::{as_argument, config_option, first_of, named};

/// What is said of changed recordings: of an agent that changed, of the same answers of such an agent, and of one that names no files.
const EXPECTED: &str = "changed; the agent's files changed too, as expected for new recordings";
const OTHER_LIST: &str =
    "changed; the list of the agent's files is written otherwise, and no file of it changed";
const SAME_ANSWERS: &str = "changed only in their digests or numbers, while the agent's files changed: either the agent gave the same answers again, or the \
                            recordings are old; recordings with a date, times or token counts show which";
const OTHER_TARGET: &str =
    "changed; what the agent calls changed too, as expected for new recordings";
const OTHER_INPUT: &str =
    "changed; what the agent was asked changed too, as expected for new recordings";
const OTHER_DIGEST: &str =
    "changed only in their digests, which are of another list of the agent's files now";
const OLDER: &str = "dated before those of the base commit, so perhaps not of the changed agent; record them with the agent of this change";
const ELSEWHERE: &str = "with the content that the base commit has in a file of another name, so not recorded again; record them with the agent of this change";
const LOST_INPUT: &str = "without a digest of their input, which those that they replace have; import or record them with the input of their cases";
const STALE_BEFORE: &str = "changed; those of the base commit were stale";
const UNKNOWN: &str = "changed; it is unknown whether the agent changed, because it names no files";

/// The most cases that a command names.
const NAMED_CASES: usize = 10;

impl RecordingComparison<'_> {
    /// Reports the recordings that changed, with the target and model that recorded them.
    pub fn list(&self, found: &mut ChangeCollector, inputs: &Result<AgentFileChange, String>) {
        let count = |keys: &[&CaseSample], what: &str| self.counted(keys, what);
        let votes = self.of(&[RecordingChange::Votes]);
        if !votes.is_empty() {
            let words = count(
                &votes,
                "changed in votes of judges only, which affect no gate",
            );
            self.add_line(found, &votes, Weight::Listed, words);
        }
        self.list_uncompared(found);
        let elsewhere = LazyCell::new(|| self.recorded_elsewhere());
        self.list_added(found, inputs, &|key| elsewhere.contains(key));
        let removed: Vec<&CaseSample> = self
            .of(&[RecordingChange::Content])
            .into_iter()
            .filter(|key| !self.new.contains_key(*key))
            .collect();
        if !removed.is_empty() {
            let words = count(
                &removed,
                "removed from cases that keep others; they may be the failing samples",
            );
            let words = words + &self.restoring();
            self.add_line(found, &removed, Weight::NeedsApproval, words);
        }
        let is_new_agent = matches!(inputs, Ok(AgentFileChange::Changed));
        let mut same = Vec::new();
        if is_new_agent {
            same.extend(self.of(&[RecordingChange::Digests]));
            same.extend(self.only_renumbered());
            same.retain(|key| self.is_proved(key));
        }
        if !same.is_empty() {
            self.add_line(
                found,
                &same,
                Weight::NeedsApproval,
                count(&same, SAME_ANSWERS),
            );
        }
        let mut changed = match is_new_agent {
            true => self
                .of(&[RecordingChange::Content])
                .into_iter()
                .filter(|key| !self.is_copy(key))
                .collect(),
            false => self.of(&[RecordingChange::Digests, RecordingChange::Content]),
        };
        changed.retain(|key| self.new.contains_key(*key) && !self.older.contains(*key));
        if is_new_agent && !self.has_same_contents {
            self.list_doubtful(found, &mut changed, |key| {
                self.is_dated_before(key).then_some(OLDER)
            });
            self.list_doubtful(found, &mut changed, |key| {
                elsewhere.contains(key).then_some(ELSEWHERE)
            });
        }
        self.list_doubtful(found, &mut changed, |key| {
            self.has_lost_input(key).then_some(LOST_INPUT)
        });
        self.list_doubtful(found, &mut changed, |key| self.lost_part(key));
        if let Ok(AgentFileChange::Unchanged(_)) = inputs {
            self.list_expected(found, &mut changed);
        }
        if changed.is_empty() {
            return;
        }
        let (weight, words) = match inputs {
            Ok(AgentFileChange::Changed) => {
                let expected = if self.has_same_contents {
                    OTHER_LIST
                } else {
                    EXPECTED
                };
                (
                    Weight::Listed,
                    format!(
                        "{}{}",
                        count(&changed, expected),
                        self.other_answers(&changed)
                    ),
                )
            }
            Ok(AgentFileChange::Unchanged(of)) => {
                let what = format!("changed, but none of the agent's files ({of}) changed");
                let further = "; if another file changed the agent, name it under `fingerprint`";
                (
                    Weight::NeedsApproval,
                    format!("{}{further}{}", count(&changed, &what), self.restoring()),
                )
            }
            Ok(AgentFileChange::Unknown) => (Weight::Listed, count(&changed, UNKNOWN)),
            Err(why) => {
                let what = format!("changed; the agent's files cannot be compared ({why})");
                (Weight::NeedsApproval, count(&changed, &what))
            }
        };
        self.add_line(
            found,
            &changed,
            weight,
            format!("{words}{}", self.recorded_by(&changed)),
        );
    }

    /// Takes the recordings out of `changed` that need an approval whatever changed, and reports them.
    fn list_doubtful(
        &self,
        found: &mut ChangeCollector,
        changed: &mut Vec<&CaseSample>,
        doubt: impl Fn(&CaseSample) -> Option<&'static str>,
    ) {
        for (what, keys) in taken_out(changed, doubt) {
            self.add_line(
                found,
                &keys,
                Weight::NeedsApproval,
                self.counted(&keys, what),
            );
        }
    }

    /// Whether a recording has no digest of its input any more: it may be of another case.
    fn has_lost_input(&self, key: &CaseSample) -> bool {
        let states = |files: &dyn Files, recorded: Option<&RecordedFile>| {
            let source = files.text(&recorded?.file).ok()?;
            Some(digest(&source.text, "input_sha256").is_some())
        };
        let before = states(self.sides.base, self.old.get(key));
        before == Some(true) && states(self.sides.head, self.new.get(key)) == Some(false)
    }

    /// Whether a recording is older than all those of its case on the base commit. One that was recorded with the digest of the present agent is
    /// of it whatever the clock said, as after a revert.
    fn is_dated_before(&self, key: &CaseSample) -> bool {
        let text = self
            .new
            .get(key)
            .and_then(|recorded| self.sides.head.text(&recorded.file).ok());
        let target = text.and_then(|source| digest(&source.text, "target"));
        if self.is_proved(key) && target.is_some_and(|target| !target.starts_with(IMPORTED)) {
            return false;
        }
        let at = |files: &dyn Files, recorded: &RecordedFile| {
            recorded_at(&files.text(&recorded.file).ok()?.text)
        };
        let of_case = self
            .old
            .range((key.0.clone(), 0)..=(key.0.clone(), u32::MAX));
        let before: Option<Vec<_>> = of_case
            .map(|(_, recorded)| at(self.sides.base, recorded))
            .collect();
        let first = before.and_then(|dates| dates.into_iter().min());
        let now = self
            .new
            .get(key)
            .and_then(|recorded| at(self.sides.head, recorded));
        now.zip(first).is_some_and(|(now, first)| now < first)
    }

    fn list_added(
        &self,
        found: &mut ChangeCollector,
        inputs: &Result<AgentFileChange, String>,
        is_elsewhere: &dyn Fn(&CaseSample) -> bool,
    ) {
        let mut added = self.of(&[RecordingChange::Added]);
        added.retain(|key| !self.uncompared.contains(*key) && !self.older.contains(*key));
        if matches!(inputs, Ok(AgentFileChange::Changed)) && !self.has_same_contents {
            self.list_doubtful(found, &mut added, |key| {
                self.is_dated_before(key).then_some(OLDER)
            });
            self.list_doubtful(found, &mut added, |key| {
                is_elsewhere(key).then_some(ELSEWHERE)
            });
        }
        if !added.is_empty() {
            let (words, by) = (
                self.counted(&added, "added to cases that already have recordings"),
                self.recorded_by(&added),
            );
            match inputs {
                Ok(_) => self.add_line(found, &added, Weight::Listed, format!("{words}{by}")),
                Err(why) => {
                    let words = format!("{words}{by}; the agent's files cannot be compared: {why}");
                    self.add_line(found, &added, Weight::NeedsApproval, words);
                }
            }
        }
    }

    fn list_uncompared(&self, found: &mut ChangeCollector) {
        let uncompared: Vec<&CaseSample> = self.uncompared.iter().copied().collect();
        if !uncompared.is_empty() {
            let what = "that the base commit does not have, so they cannot be compared";
            self.add_line(
                found,
                &uncompared,
                Weight::Listed,
                self.counted(&uncompared, what),
            );
        }
    }

    pub fn counted(&self, keys: &[&CaseSample], what: &str) -> String {
        counted_recordings(&self.names(keys), &self.agent(), what)
    }

    /// Takes the recordings out of `changed` that have a reason to be new, and reports them.
    fn list_expected(&self, found: &mut ChangeCollector, changed: &mut Vec<&CaseSample>) {
        for (reason, keys) in taken_out(changed, |key| self.reason(key)) {
            let words =
                self.counted(&keys, reason) + &self.other_answers(&keys) + &self.recorded_by(&keys);
            self.add_line(found, &keys, Weight::Listed, words);
        }
    }

    /// Why a recording was made again although the agent's files did not change; `None` without a reason. One with the content of another
    /// was not recorded again.
    fn reason(&self, key: &CaseSample) -> Option<&'static str> {
        let change = self.changes.get(key)?;
        if self.is_copy(key)
            || !matches!(change, RecordingChange::Content | RecordingChange::Digests)
        {
            return None;
        }
        let (old, new) = self.old.get(key).zip(self.new.get(key))?;
        let (old, new) = (
            self.sides.base.text(&old.file).ok()?,
            self.sides.head.text(&new.file).ok()?,
        );
        let ComparedAgent {
            suite,
            agent,
            recordings,
            ..
        } = self.owner;
        let age_before = || (recordings.age_on_base)(suite, agent, &old.text);
        let is_fresh = || self.age(key) == Some(RecordingAge::Fresh);
        // A digest is of the list as well, so another list needs others.
        if *change == RecordingChange::Digests {
            let was_fresh = self.is_other_list && age_before() == RecordingAge::Fresh;
            return (was_fresh && is_fresh() && self.has_same_contents).then_some(OTHER_DIGEST);
        }
        let is_made_again = |made: &OtherMaker| match made.certainty {
            Certainty::Stated => true,
            Certainty::Supposed => self.is_by_present_target([&old, &new]),
        };
        if self.made_otherwise.get(key).is_some_and(is_made_again)
            && !self.still_otherwise.contains(key)
        {
            return Some(OTHER_TARGET);
        }
        let run = self.owner.run(&key.0)?;
        let [was, is] = [&old, &new].map(|source| digest(&source.text, "input_sha256"));
        if was
            .zip(is)
            .is_some_and(|(was, is)| (recordings.has_new_input)(&run, [&was, &is]))
        {
            return Some(OTHER_INPUT);
        }
        // A file that git ignores is in no commit: on the base commit no digest is current then.
        let is_other = ["fingerprint", "prompt_sha256"]
            .iter()
            .any(|key| digest(&old.text, key) != digest(&new.text, key));
        let was_stale = is_other && age_before() == RecordingAge::Stale;
        (was_stale && is_fresh()).then_some(STALE_BEFORE)
    }

    /// Whether the agent's present target made a recording in place of something else.
    fn is_by_present_target(&self, [old, new]: [&SourceText; 2]) -> bool {
        let present = self.owner.calls.as_ref().map(PresentCalls::target);
        let [was, is] = [old, new].map(|source| digest(&source.text, "target"));
        present.is_some() && is.as_deref() == present && was != is
    }

    /// Reports recordings that were made with something that the agent calls otherwise now, and were not recorded again.
    pub fn of_other_targets(&self, found: &mut ChangeCollector) {
        let mut kept: BTreeMap<&str, Vec<&CaseSample>> = BTreeMap::new();
        for (key, made) in &self.made_otherwise {
            let is_other =
                self.changes.get(*key) == Some(&RecordingChange::Content) && !self.is_copy(key);
            let is_new = is_other && !self.still_otherwise.contains(*key);
            if self.new.contains_key(*key) && !is_new {
                kept.entry(made.what.as_str()).or_default().push(*key);
            }
        }
        for (made, keys) in kept {
            let ComparedAgent {
                suite,
                agent,
                config,
                ..
            } = self.owner;
            let what = format!("recorded with {made}, and not recorded again");
            let all: BTreeSet<&str> = self.new.keys().map(|key| key.0.as_str()).collect();
            let some: BTreeSet<&str> = keys.iter().map(|key| key.0.as_str()).collect();
            let some: Vec<&str> = some.into_iter().collect();
            // A recording of another case that is made again would be one without a reason.
            let cases = match some.len() < all.len() && some.len() <= NAMED_CASES {
                true => RecordedCases::Named(&some),
                false => RecordedCases::All,
            };
            let again = record_again(config, suite, Some(agent), self.folder.as_str(), cases);
            self.add_line(
                found,
                &keys,
                Weight::NeedsApproval,
                format!("{}; {again}", self.counted(&keys, &what)),
            );
        }
    }

    /// Reports new recordings that were asked with an older version of a prompt.
    pub fn old_prompts(&self, found: &mut ChangeCollector, prompts: &ReplacedPrompts<'_>) {
        let mut older: BTreeMap<OldPrompt<'_>, Vec<&CaseSample>> = BTreeMap::new();
        let gone = KnownGoneTexts::new();
        for key in self.made() {
            let now = self
                .new
                .get(key)
                .and_then(|recorded| self.sides.head.text(&recorded.file).ok());
            let before = || self.sides.base.text(&self.old_of_case(&key.0)?.file).ok();
            let said = || {
                self.owner
                    .run(&key.0)
                    .map(|run| (self.owner.recordings.said)(&run))
                    .unwrap_or_default()
            };
            if let Some(prompt) = prompts.older_in(&gone, now, before, said) {
                older.entry(prompt).or_default().push(key);
            }
        }
        for (prompt, keys) in older {
            let (what, next) = match prompt {
                OldPrompt::Sent(prompt) => (
                    format!("made with an older version of {prompt}"),
                    "record them with the agent of this change",
                ),
                OldPrompt::SentText(prompt) => (
                    format!(
                        "made with a text that {prompt} no longer has, so perhaps with an older version of it"
                    ),
                    "record them with the agent of this change; if the agent has this text from elsewhere, name that file under `fingerprint`, or an approval says so",
                ),
                OldPrompt::WithoutNewLines(prompt) => (
                    format!(
                        "without any new line of {prompt} in their requests, so perhaps made with an older version of it"
                    ),
                    "record them with the agent of this change; if it leaves these lines out, such as a header, an approval says so",
                ),
            };
            let words = format!("{}; {next}", self.counted(&keys, &what));
            self.add_line(found, &keys, Weight::NeedsApproval, words);
        }
    }

    /// Reports changed recordings that answer the calls of the agent's code and still have the digest of its former version: they were edited.
    /// Nothing else compares their digests, because changed code may keep its recordings.
    pub fn edited_answers(&self, found: &mut ChangeCollector) {
        let has_same_digest = |key: &CaseSample| -> Option<bool> {
            let old = self.sides.base.text(&self.old.get(key)?.file).ok()?;
            let new = self.sides.head.text(&self.new.get(key)?.file).ok()?;
            Some(digest(&old.text, "fingerprint") == digest(&new.text, "fingerprint"))
        };
        let mut edited = self.of(&[RecordingChange::Content]);
        edited.retain(|key| {
            self.age(key) == Some(RecordingAge::Stale) && has_same_digest(key) == Some(true)
        });
        if !edited.is_empty() {
            let what = "changed and still with the digest of the agent's former version, so not recorded again";
            self.add_line(
                found,
                &edited,
                Weight::NeedsApproval,
                self.counted(&edited, what),
            );
        }
    }

    /// The first recording of a case on the base commit; without one, the first of the agent.
    pub fn old_of_case(&self, case: &str) -> Option<&RecordedFile> {
        let mut of_case = self
            .old
            .range((case.to_owned(), 0)..=(case.to_owned(), u32::MAX));
        of_case
            .next()
            .or_else(|| self.old.first_key_value())
            .map(|(_, recorded)| recorded)
    }

    /// The cases with other answers or other calls. They may still pass.
    fn other_answers(&self, changed: &[&CaseSample]) -> String {
        let is_other = |key: &CaseSample| {
            let files = self.old.get(key).zip(self.new.get(key));
            files.is_some_and(|(old, new)| answers_otherwise(self.sides, &old.file, &new.file))
        };
        let cases = |keys: &mut dyn Iterator<Item = &&CaseSample>| -> BTreeSet<String> {
            keys.map(|key| key.0.clone()).collect()
        };
        let all = cases(&mut changed.iter()).len();
        let other: Vec<String> = cases(&mut changed.iter().filter(|key| is_other(key)))
            .into_iter()
            .collect();
        match other.is_empty() {
            true => "; the answers and calls are the same".to_owned(),
            false => {
                let names: Vec<&str> = other.iter().map(String::as_str).collect();
                format!(
                    "; other answers or calls in {} of {all} cases: {}",
                    names.len(),
                    first_of(&names)
                )
            }
        }
    }

    fn recorded_by(&self, changed: &[&CaseSample]) -> String {
        recorded_by(
            self.sides.head,
            changed.iter().filter_map(|key| self.new.get(*key)),
        )
    }

    /// Reports a changed list of agent files. It needs no approval if it names every file that the old list would name, or if every
    /// recording was made again and no changed file was dropped from the list.
    pub fn moved_files(&self, found: &mut ChangeCollector, before: &Agent, after: &Agent) {
        let (old, new) = match (
            agent_files(self.sides.base, before),
            agent_files(self.sides.head, after),
        ) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(why), _) | (_, Err(why)) => {
                let words = format!("the files of `{}` cannot be compared: {why}", self.agent());
                return found.needs(words, Some(&self.owner.config.file));
            }
        };
        let named_by = |files: &Option<(FilePaths, String)>| {
            files
                .as_ref()
                .map_or("none".to_owned(), |(_, of)| of.clone())
        };
        let words = match (named_by(&old), named_by(&new)) {
            (before_list, after_list) if before_list == after_list => {
                let of = |agent: &Agent| {
                    agent
                        .prompt
                        .as_ref()
                        .map_or("none", RepoPath::as_str)
                        .to_owned()
                };
                format!(
                    "prompt of `{}`: {} -> {}",
                    self.agent(),
                    of(before),
                    of(after)
                )
            }
            (before_list, after_list) => {
                format!("files of `{}`: {before_list} -> {after_list}", self.agent())
            }
        };
        if names_all_of(before, after, self.sides.head) {
            let words = format!("{words}; no pattern was dropped{}", self.renewable());
            return found.lists(words, Some(&self.owner.config.file));
        }
        let ignored: Vec<String> = ignored_now(before, after, self.sides.head)
            .iter()
            .map(ToString::to_string)
            .collect();
        if !ignored.is_empty() {
            let words = format!(
                "{words}; git ignores {}, so a pattern with a wildcard leaves it out",
                named(&ignored)
            );
            return found.needs(words, Some(&self.owner.config.file));
        }
        let (Some((old, _)), kept) = (old, new.map(|(files, _)| files).unwrap_or_default()) else {
            return found.lists(words, Some(&self.owner.config.file));
        };
        // A list that names fewer files and adds none does not describe a new version: the files that it leaves out may change later,
        // and nobody would see it.
        let is_narrower = kept.keys().all(|path| old.contains_key(path));
        let left: Vec<&String> = old
            .iter()
            .filter(|(path, file)| {
                let changed = || self.sides.base.likeness(file, file) == FileMatch::Differs;
                !kept.contains_key(*path)
                    && self.sides.head.bytes(file).is_ok()
                    && (is_narrower || changed())
            })
            .map(|(path, _)| path)
            .collect();
        match (left.is_empty(), self.is_whole_new()) {
            (true, true) => found.lists(
                format!("{words}; every recording was recorded again"),
                Some(&self.owner.config.file),
            ),
            (false, _) => {
                let words = match is_narrower {
                    true => format!("{words}; no longer listed: {}", named(&left)),
                    false => format!(
                        "{words}; {} changed and dropped out of the list",
                        named(&left)
                    ),
                };
                found.needs(words, Some(&self.owner.config.file));
            }
            (true, false) => {
                let words = format!(
                    "{words}, and not every recording was recorded again{}",
                    self.renewable()
                );
                found.needs(words, Some(&self.owner.config.file));
            }
        }
    }

    /// Whether every recording was recorded again.
    pub fn is_whole_new(&self) -> bool {
        let is_new = |change: &RecordingChange| {
            matches!(change, RecordingChange::Content | RecordingChange::Added)
        };
        !self.changes.is_empty()
            && self.only_renumbered().is_empty()
            && self.changes.values().all(is_new)
    }

    /// How the recordings of the base commit come back; empty if they are in another folder there.
    fn restoring(&self) -> String {
        let is_here = self
            .old
            .values()
            .any(|recorded| recorded.file.is_within(self.folder));
        match is_here {
            true => format!(
                "; `git restore --source {} --staged --worktree -- {}` brings back those of before",
                as_argument(self.owner.recordings.revision),
                as_argument(self.folder.as_str())
            ),
            false => String::new(),
        }
    }

    /// How recordings become current that are stale only by the list or the place of the agent's files; empty if there are none.
    fn renewable(&self) -> String {
        let ComparedAgent {
            suite,
            agent,
            recordings,
            ..
        } = self.owner;
        let was_fresh = |key: &CaseSample| {
            let text = self
                .old
                .get(key)
                .and_then(|recorded| self.sides.base.text(&recorded.file).ok());
            text.is_some_and(|source| {
                (recordings.age_on_base)(suite, agent, &source.text) == RecordingAge::Fresh
            })
        };
        let kept = self.of(&[RecordingChange::Same, RecordingChange::Votes]);
        let is_stale = kept
            .into_iter()
            .any(|key| self.age(key) == Some(RecordingAge::Stale) && was_fresh(key));
        match is_stale && self.has_same_contents {
            true => format!(
                "; no content changed: `goldgate digests{} --base {}` writes the current digests into the recordings",
                config_option(self.owner.config.file.as_str()),
                as_argument(recordings.revision),
            ),
            false => String::new(),
        }
    }
}

/// Takes the recordings out of `keys` that something is to be said of, by what it is.
fn taken_out<'k>(
    keys: &mut Vec<&'k CaseSample>,
    what: impl Fn(&CaseSample) -> Option<&'static str>,
) -> BTreeMap<&'static str, Vec<&'k CaseSample>> {
    let mut taken: BTreeMap<&str, Vec<&CaseSample>> = BTreeMap::new();
    keys.retain(|key| {
        let said = what(key);
        said.into_iter()
            .for_each(|said| taken.entry(said).or_default().push(key));
        said.is_none()
    });
    taken
}
