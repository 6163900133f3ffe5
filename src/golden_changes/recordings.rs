//! Compares recordings together with the files of their agent. A recording that changed alone was edited, not recorded.

use std::collections::{BTreeMap, BTreeSet};

use super::Sides;
use super::agent_files::{
    AgentFileChange, agent_file_change, agent_files, digests_of_prompt_change, ignored_now, names_all_of,
    report_moved_out,
};
use super::files::below;
use super::found::ChangeCollector;
use super::old_prompts::ReplacedPrompts;
use super::record_command::record_again;
use super::recording_change::{
    CaseSample, RecordedFile, RecordingChange, Recordings, answers_otherwise, changes, copies, difference, has_digest,
    recorded_by, recordings,
};
use super::recording_use::{RecordingUse, RunsOf};
use crate::files::{FileMatch, FilePaths, Files};
use crate::model::{
    Agent, AgentName, CaseId, ChangeClass, NoVerdict, RecordingAge, RepoPath, RunKey, RunSource, SuiteId, Tier, Weight,
};
use crate::text::{first_of, named};

/// What is said of changed recordings: of an agent that changed, of the same answers of such an agent, and of one that names no files.
const EXPECTED: &str = "changed; the agent's files changed too, as expected for new recordings";
const SAME_ANSWERS: &str = "changed only in their digests, while the agent's files changed: either the agent gave the same answers again, or the \
                            recordings are old; recordings with times or token counts show which";
const UNKNOWN: &str = "changed; it is unknown whether the agent changed, because it names no files";

/// Whose recordings are compared.
pub struct ComparedAgent<'a> {
    /// The suite.
    pub suite: &'a SuiteId,
    /// The agent.
    pub agent: &'a AgentName,
    /// The config file, for changes that concern the whole agent.
    pub file: &'a RepoPath,
    /// The tiers to compare, and what is known of the recordings.
    pub recordings: &'a KnownRecordings<'a>,
}

/// Compares the recordings of one agent in the tiers that decide. Returns the reasons why they give no verdict. Recordings of new
/// cases do not count as changes.
pub fn compare(
    sides: &Sides<'_>,
    owner: &ComparedAgent<'_>,
    before: &Agent,
    after: &Agent,
    found: &mut ChangeCollector,
) -> Vec<NoVerdict> {
    let replayed = |tier: &Tier| {
        let (old, new) = (before.source(*tier)?.recordings()?, after.source(*tier)?.recordings()?);
        Some((old, new, RecordingUse::of(after.source(*tier)?)))
    };
    // Both tiers may replay the same recordings.
    let folders: BTreeSet<(&RepoPath, &RepoPath, RecordingUse)> =
        owner.recordings.tiers.iter().filter_map(replayed).collect();
    let inputs = agent_file_change(sides, before, after);
    let refusals = folders.into_iter().filter_map(|(old, new, used)| {
        let folder = new;
        let (old, new) = (old.child(owner.agent.as_str()), new.child(owner.agent.as_str()));
        let (files_before, files_after) = match (below(sides.base, &old), below(sides.head, &new)) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(why), _) | (_, Err(why)) => {
                let words = format!("recordings of `{}/{}` cannot be compared: {why}", owner.suite, owner.agent);
                found.add(ChangeClass::Recording, Weight::NeedsApproval, words, Some(owner.file));
                return None;
            }
        };
        let (mut old, mut new) = (recordings(files_before), recordings(files_after));
        let counts = |key: &CaseSample| (owner.recordings.counts)(owner.suite, owner.agent, &key.0);
        old.retain(|key, _| counts(key));
        new.retain(|key, _| counts(key));
        let changes = changes(sides, &old, &new);
        let copies = copies(sides, &old, &new, &changes);
        let one = RecordingComparison {
            sides,
            owner,
            folder,
            old: &old,
            new: &new,
            changes,
            copies,
            prompt_digests: digests_of_prompt_change(sides, after),
        };
        if let Some(unread) = one.unread() {
            return Some(unread);
        }
        // Naming more files does not change the agent: a file that only the new list names cannot be the reason for changed recordings.
        let is_wider = before.fingerprint != after.fingerprint && names_all_of(before, after, sides.head);
        match is_wider {
            true => one.list(found, &agent_file_change(sides, before, before)),
            false => one.list(found, &inputs),
        }
        let is_same_list = before.fingerprint == after.fingerprint && before.prompt == after.prompt;
        if !is_same_list {
            one.moved_files(found, before, after);
        }
        if matches!(inputs, Ok(AgentFileChange::Changed)) {
            one.old_prompts(found, &ReplacedPrompts::of(sides, before, after));
        }
        if !is_same_list || matches!(inputs, Ok(AgentFileChange::Changed)) {
            report_moved_out(sides, [before, after], &one.agent(), found);
        }
        match (&inputs, used) {
            (Ok(AgentFileChange::Changed), RecordingUse::Graded) => one.stale(after),
            // The changed code runs again, and a request that is not recorded gives no result.
            (Ok(AgentFileChange::Changed), RecordingUse::AnswersCalls) => None,
            (Ok(AgentFileChange::Unchanged(_) | AgentFileChange::Unknown), _) => None,
            (Err(why), _) => one.incomparable(after, why),
        }
    });
    refusals.collect()
}

/// The samples that were added to existing cases of an unchanged agent, in one tier. Reads no recording.
pub fn added(sides: &Sides<'_>, owner: &RunsOf<'_>, before: &Agent, after: &Agent) -> BTreeSet<(RunKey, u32)> {
    let recordings_of = |agent: &'_ Agent| agent.source(owner.tier).and_then(RunSource::recordings).cloned();
    let (Some(old), Some(new)) = (recordings_of(before), recordings_of(after)) else { return BTreeSet::new() };
    let of =
        |files: &dyn Files, folder: &RepoPath| below(files, &folder.child(owner.agent.as_str())).unwrap_or_default();
    let (old, new) = (of(sides.base, &old), of(sides.head, &new));
    if old.keys().eq(new.keys()) {
        return BTreeSet::new();
    }
    let (old, new) = (recordings(old), recordings(new));
    let cases: BTreeSet<&String> = old.keys().map(|(case, _)| case).collect();
    let is_added = |key: &&CaseSample| cases.contains(&key.0) && !old.contains_key(*key);
    let added: Vec<&CaseSample> = new.keys().filter(is_added).collect();
    // A changed agent is recorded again, with any number of samples.
    if added.is_empty() || matches!(agent_file_change(sides, before, after), Ok(AgentFileChange::Changed)) {
        return BTreeSet::new();
    }
    let run = |(case, sample): &CaseSample| {
        let key = RunKey { suite: owner.suite.clone(), agent: owner.agent.clone(), case: CaseId::new(case).ok()? };
        Some((key, *sample))
    };
    added.into_iter().filter_map(run).collect()
}

/// The recordings of an agent in one tier that the base commit does not hold: new ones, and those that differ in more than votes or
/// their form.
///
/// # Errors
/// Why they cannot be listed.
pub fn not_of_base(
    sides: &Sides<'_>,
    owner: &RunsOf<'_>,
    before: Option<&Agent>,
    after: &Agent,
) -> Result<Vec<RepoPath>, String> {
    let Some(folder) = after.source(owner.tier).and_then(RunSource::recordings) else { return Ok(Vec::new()) };
    let new = recordings(below(sides.head, &folder.child(owner.agent.as_str()))?);
    let old = match before.and_then(|agent| agent.source(owner.tier)?.recordings()) {
        Some(folder) => recordings(below(sides.base, &folder.child(owner.agent.as_str()))?),
        None => Recordings::new(),
    };
    let is_of_base = |key: &CaseSample, file: &RepoPath| {
        old.get(key).is_some_and(|before| match difference(sides, &before.file, file) {
            RecordingChange::Same | RecordingChange::Votes => true,
            RecordingChange::Digests | RecordingChange::Added | RecordingChange::Content | RecordingChange::Unread => {
                false
            }
        })
    };
    let found = new.into_iter().filter(|(key, recorded)| !is_of_base(key, &recorded.file));
    Ok(found.map(|(_, recorded)| recorded.file).collect())
}

struct RecordingComparison<'a> {
    sides: &'a Sides<'a>,
    owner: &'a ComparedAgent<'a>,
    /// The head's folder of recordings.
    folder: &'a RepoPath,
    old: &'a Recordings,
    new: &'a Recordings,
    changes: BTreeMap<CaseSample, RecordingChange>,
    /// Those whose content their case had before, under another number.
    copies: BTreeSet<CaseSample>,
    /// See [`digests_of_prompt_change`].
    prompt_digests: &'static [&'static str],
}

impl RecordingComparison<'_> {
    fn of(&self, kinds: &[RecordingChange]) -> Vec<&CaseSample> {
        self.changes.iter().filter(|(_, change)| kinds.contains(change)).map(|(key, _)| key).collect()
    }

    /// The recording of a sample from the head, else from the base commit.
    fn recording(&self, key: &CaseSample) -> Option<&RecordedFile> {
        self.new.get(key).or_else(|| self.old.get(key))
    }

    fn names(&self, keys: &[&CaseSample]) -> Vec<&str> {
        keys.iter().filter_map(|key| self.recording(key)).map(|recording| recording.name.as_str()).collect()
    }

    fn agent(&self) -> String {
        format!("{}/{}", self.owner.suite, self.owner.agent)
    }

    /// Adds one line about recordings.
    fn add_line(&self, found: &mut ChangeCollector, keys: &[&CaseSample], weight: Weight, words: String) {
        let file = keys.first().and_then(|key| self.recording(key)).map(|recording| &recording.file);
        found.add(ChangeClass::Recording, weight, words, file);
    }

    /// Reports the recordings that changed, with the target and model that recorded them.
    fn list(&self, found: &mut ChangeCollector, inputs: &Result<AgentFileChange, String>) {
        let count = |keys: &[&CaseSample], what: &str| {
            let names = self.names(keys);
            let noun = if names.len() == 1 { "recording" } else { "recordings" };
            format!("{} {noun} of `{}` {what}: {}", names.len(), self.agent(), first_of(&names))
        };
        let votes = self.of(&[RecordingChange::Votes]);
        if !votes.is_empty() {
            let words = count(&votes, "changed in votes of judges only, which affect no gate");
            self.add_line(found, &votes, Weight::Listed, words);
        }
        let added = self.of(&[RecordingChange::Added]);
        if !added.is_empty() {
            let (words, by) = (count(&added, "added to cases that already have recordings"), self.recorded_by(&added));
            match inputs {
                Ok(_) => self.add_line(found, &added, Weight::Listed, format!("{words}{by}")),
                Err(why) => {
                    let words = format!("{words}{by}; the agent's files cannot be compared: {why}");
                    self.add_line(found, &added, Weight::NeedsApproval, words);
                }
            }
        }
        let removed: Vec<&CaseSample> =
            self.of(&[RecordingChange::Content]).into_iter().filter(|key| !self.new.contains_key(*key)).collect();
        if !removed.is_empty() {
            let words = count(&removed, "removed from cases that keep others: the bad samples may be among them");
            self.add_line(found, &removed, Weight::NeedsApproval, words);
        }
        let is_new_agent = matches!(inputs, Ok(AgentFileChange::Changed));
        let mut same = if is_new_agent { self.of(&[RecordingChange::Digests]) } else { Vec::new() };
        same.retain(|key| self.is_proved(key));
        if !same.is_empty() {
            self.add_line(found, &same, Weight::NeedsApproval, count(&same, SAME_ANSWERS));
        }
        let mut changed = match is_new_agent {
            true => self.of(&[RecordingChange::Content]),
            false => self.of(&[RecordingChange::Digests, RecordingChange::Content]),
        };
        changed.retain(|key| self.new.contains_key(*key));
        if changed.is_empty() {
            return;
        }
        let (weight, words) = match inputs {
            Ok(AgentFileChange::Changed) => {
                (Weight::Listed, format!("{}{}", count(&changed, EXPECTED), self.other_answers(&changed)))
            }
            Ok(AgentFileChange::Unchanged(of)) => {
                let what = format!("changed, but none of the agent's files ({of}) changed");
                (Weight::NeedsApproval, count(&changed, &what))
            }
            Ok(AgentFileChange::Unknown) => (Weight::Listed, count(&changed, UNKNOWN)),
            Err(why) => {
                let what = format!("changed; the agent's files cannot be compared ({why})");
                (Weight::NeedsApproval, count(&changed, &what))
            }
        };
        self.add_line(found, &changed, weight, format!("{words}{}", self.recorded_by(&changed)));
    }

    /// Reports new recordings that were asked with the prompt of the base commit.
    fn old_prompts(&self, found: &mut ChangeCollector, prompts: &ReplacedPrompts) {
        let mut old = self.of(&[RecordingChange::Content, RecordingChange::Added]);
        old.retain(|key| self.new.get(*key).is_some_and(|recording| prompts.are_in(self.sides.head, &recording.file)));
        if !old.is_empty() {
            let what = "with the base commit's prompt, which this change replaces";
            let (names, agent) = (self.names(&old), self.agent());
            let words = format!("recordings of `{agent}` that were made {what}: {}", first_of(&names));
            self.add_line(found, &old, Weight::NeedsApproval, words);
        }
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
        let other: Vec<String> = cases(&mut changed.iter().filter(|key| is_other(key))).into_iter().collect();
        match other.is_empty() {
            true => "; the answers and calls are the same".to_owned(),
            false => {
                let names: Vec<&str> = other.iter().map(String::as_str).collect();
                format!("; other answers or calls in {} of {all} cases: {}", names.len(), first_of(&names))
            }
        }
    }

    fn recorded_by(&self, changed: &[&CaseSample]) -> String {
        recorded_by(self.sides.head, changed.iter().filter_map(|key| self.new.get(*key)))
    }

    /// The reason why some recordings cannot be compared; `None` if all can.
    fn unread(&self) -> Option<NoVerdict> {
        let unread = self.of(&[RecordingChange::Unread]);
        let count = match unread.len() {
            0 => return None,
            1 => "1 recording".to_owned(),
            more => format!("{more} recordings"),
        };
        Some(NoVerdict::liftable(format!(
            "{}: {count} cannot be compared, because the base commit's version cannot be read: {}",
            self.agent(),
            named(&self.names(&unread))
        )))
    }

    /// The age of a recording by its digests. After a change of the prompt package it is unknown without those that cover the change.
    fn age(&self, key: &CaseSample) -> Option<RecordingAge> {
        let ComparedAgent { suite, agent, recordings, .. } = self.owner;
        let source = self.sides.head.text(&self.new.get(key)?.file).ok()?;
        Some(match ((recordings.age)(suite, agent, &source.text), self.prompt_digests) {
            (RecordingAge::Fresh, digests) if !digests.iter().all(|key| has_digest(&source.text, key)) => {
                RecordingAge::Unknown
            }
            (age, _) => age,
        })
    }

    /// Whether a recording has digests of the current agent and did not only change its number.
    fn is_proved(&self, key: &CaseSample) -> bool {
        self.age(key) == Some(RecordingAge::Fresh) && !self.copies.contains(key)
    }

    /// Unchanged recordings, apart from votes, whose digests do not prove that they are from the current agent, or from its changed
    /// prompt package.
    fn unknown(&self) -> Vec<&CaseSample> {
        let unknown = |key: &&CaseSample| self.age(key) == Some(RecordingAge::Unknown);
        self.of(&[RecordingChange::Same, RecordingChange::Votes]).into_iter().filter(unknown).collect()
    }

    /// The recordings that are stale because the agent's files changed: those that did not change, or only in digests that prove
    /// nothing or in their number.
    fn stale(&self, agent: &Agent) -> Option<NoVerdict> {
        let mut stale: Vec<&CaseSample> =
            self.of(&[RecordingChange::Digests]).into_iter().filter(|key| !self.is_proved(key)).collect();
        stale.extend(self.unknown());
        stale.extend(&self.copies);
        stale.sort();
        stale.dedup();
        self.refused(agent, &stale, |were| format!("the agent's files changed and {were} not made again"))
    }

    /// If the agent's files cannot be compared, a recording without a digest of them may be from another version of the agent.
    fn incomparable(&self, agent: &Agent, why: &str) -> Option<NoVerdict> {
        let words = |were: &str| {
            format!(
                "the agent's files cannot be compared with the base commit ({why}), and {were} made without a digest of them"
            )
        };
        self.refused(agent, &self.unknown(), words)
    }

    fn refused(&self, of: &Agent, recordings: &[&CaseSample], what: impl Fn(&str) -> String) -> Option<NoVerdict> {
        let were = match recordings.len() {
            0 => return None,
            1 => "1 recording was".to_owned(),
            count => format!("{count} recordings were"),
        };
        let ComparedAgent { suite, agent, file, .. } = self.owner;
        Some(NoVerdict::lasting(format!(
            "{suite}/{agent}: {} ({}); {}",
            what(&were),
            first_of(&self.names(recordings)),
            record_again(file, suite, Some(agent), Some(of), self.folder.as_str()),
        )))
    }

    /// Reports a changed list of agent files. It needs no approval if it names every file that the old list would name, or if every
    /// recording was made again and no changed file was dropped from the list.
    fn moved_files(&self, found: &mut ChangeCollector, before: &Agent, after: &Agent) {
        let (old, new) = match (agent_files(self.sides.base, before), agent_files(self.sides.head, after)) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(why), _) | (_, Err(why)) => {
                let words = format!("the files of `{}` cannot be compared: {why}", self.agent());
                return found.needs(words, Some(self.owner.file));
            }
        };
        let named_by =
            |files: &Option<(FilePaths, String)>| files.as_ref().map_or("none".to_owned(), |(_, of)| of.clone());
        let words = format!("files of `{}`: {} -> {}", self.agent(), named_by(&old), named_by(&new));
        if names_all_of(before, after, self.sides.head) {
            return found.lists(format!("{words}; no pattern was dropped"), Some(self.owner.file));
        }
        let ignored: Vec<String> =
            ignored_now(before, after, self.sides.head).iter().map(ToString::to_string).collect();
        if !ignored.is_empty() {
            let words = format!("{words}; git ignores {}, so a pattern with a wildcard leaves it out", named(&ignored));
            return found.needs(words, Some(self.owner.file));
        }
        let (Some((old, _)), kept) = (old, new.map(|(files, _)| files).unwrap_or_default()) else {
            return found.lists(words, Some(self.owner.file));
        };
        // A list that names fewer files and adds none does not describe a new version: the files that it leaves out may change later,
        // and nobody would see it.
        let is_narrower = kept.keys().all(|path| old.contains_key(path));
        let left: Vec<&String> = old
            .iter()
            .filter(|(path, file)| {
                let changed = || self.sides.base.likeness(file, file) == FileMatch::Differs;
                !kept.contains_key(*path) && self.sides.head.bytes(file).is_ok() && (is_narrower || changed())
            })
            .map(|(path, _)| path)
            .collect();
        let again = !self.changes.is_empty()
            && self.copies.is_empty()
            && self.changes.values().all(|change| matches!(change, RecordingChange::Content | RecordingChange::Added));
        match (left.is_empty(), again) {
            (true, true) => found.lists(format!("{words}; every recording was made again"), Some(self.owner.file)),
            (false, _) => {
                let words = match is_narrower {
                    true => format!("{words}; no longer listed: {}", named(&left)),
                    false => format!("{words}; {} changed and dropped out of the list", named(&left)),
                };
                found.needs(words, Some(self.owner.file));
            }
            (true, false) => {
                found.needs(format!("{words}, and not every recording was made again"), Some(self.owner.file));
            }
        }
    }
}

/// The tiers of the head's recordings, and what is known of them.
pub struct KnownRecordings<'a> {
    /// The tiers whose recordings are compared: those that decide.
    pub tiers: &'a [Tier],
    /// The age of a recording by the digests in its text, as in the freshness check of a run.
    pub age: &'a dyn Fn(&SuiteId, &AgentName, &str) -> RecordingAge,
    /// Whether a case counts on one of the commits. Recordings of other cases are not compared.
    pub counts: &'a dyn Fn(&SuiteId, &AgentName, &str) -> bool,
}
