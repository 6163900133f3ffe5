//! The recordings of one agent on both sides, and how they differ.

use std::collections::{BTreeMap, BTreeSet};

use super::Sides;
use super::called_targets::{ChangedTargets, OtherMaker, RecordedOn};
use super::found::ChangeCollector;
use super::present_calls::PresentCalls;
use super::recorded_contents::RecordedContents;
use super::recording_change::{CaseSample, RecordedFile, RecordingChange, Recordings, digest};
use super::recording_lists::RecordingLists;
use super::recording_use::RecordingUse;
use crate::files::Files;
use crate::model::{
    AgentName, CaseId, ChangeClass, Config, RecordingAge, RepoPath, RunKey, SuiteId, Tier, Weight,
};

/// Whose recordings are compared.
pub struct ComparedAgent<'a> {
    /// The suite.
    pub suite: &'a SuiteId,
    /// The agent.
    pub agent: &'a AgentName,
    /// The config of the base commit.
    pub config_before: &'a Config,
    /// The config of the head.
    pub config: &'a Config,
    /// The tiers to compare, and what is known of the recordings.
    pub recordings: &'a KnownRecordings<'a>,
    /// What the agent calls otherwise now.
    pub targets: ChangedTargets,
    /// What the agent calls now; `None` if it calls nothing.
    pub calls: Option<PresentCalls>,
}

/// The tiers of the head's recordings, and what is known of them.
pub struct KnownRecordings<'a> {
    /// The tiers whose recordings are compared: those that decide.
    pub tiers: &'a [Tier],
    /// The age of a recording by the digests in its text, as in the freshness check of a run.
    pub age: &'a dyn Fn(&SuiteId, &AgentName, &str) -> RecordingAge,
    /// The age that it had on the base commit.
    pub age_on_base: &'a dyn Fn(&SuiteId, &AgentName, &str) -> RecordingAge,
    /// Whether a case counts on one of the commits. Recordings of other cases are not compared.
    pub counts: &'a dyn Fn(&SuiteId, &AgentName, &str) -> bool,
    /// The files of the folders of recordings.
    pub lists: &'a RecordingLists<'a>,
    /// The recordings of the base commit by their content.
    pub contents: &'a RecordedContents<'a>,
    /// What names the base commit in a command.
    pub revision: &'a str,
    /// The runs that count on the head.
    pub runs: &'a [&'a RunKey],
    /// Whether the cases of a suite were read. Those that `--suite` leaves out are not.
    pub is_read: &'a dyn Fn(&SuiteId) -> bool,
    /// Whether a run counts on the base commit.
    pub counts_on_base: &'a dyn Fn(&RunKey) -> bool,
    /// Whether the input of a run changed and was recorded, by the digests of the input in its recordings of the base commit and of the head.
    pub has_new_input: &'a dyn Fn(&RunKey, [&str; 2]) -> bool,
    /// The target that plays the user of a run.
    pub user: &'a dyn Fn(&RunKey) -> Option<String>,
    /// What the user of a run says by its case.
    pub said: &'a dyn Fn(&RunKey) -> String,
}

pub struct RecordingComparison<'a> {
    pub sides: &'a Sides<'a>,
    pub owner: &'a ComparedAgent<'a>,
    /// The head's folder of recordings.
    pub folder: &'a RepoPath,
    pub old: &'a Recordings,
    pub new: &'a Recordings,
    pub changes: BTreeMap<CaseSample, RecordingChange>,
    /// See [`ComparedAgent::uncompared`].
    pub uncompared: BTreeSet<&'a CaseSample>,
    /// Those whose content their case had before, under another number. See [`Self::is_copy`].
    pub copies: BTreeSet<CaseSample>,
    /// See [`super::agent_files::digests_of_prompt_change`].
    pub prompt_digests: &'static [&'static str],
    /// Whether the agent's files are named by other patterns.
    pub is_other_list: bool,
    /// Whether the agent has the same files, in another place or list.
    pub has_same_contents: bool,
    /// The base commit's recordings that were made with something that the agent calls otherwise now; what that is.
    pub made_otherwise: BTreeMap<&'a CaseSample, OtherMaker>,
    /// The recordings that differ from those and still state the model of before.
    pub still_otherwise: BTreeSet<&'a CaseSample>,
    /// The recordings that an earlier commit has with other files of the agent.
    pub older: BTreeSet<CaseSample>,
}

impl ComparedAgent<'_> {
    /// Returns the recordings that are compared with none, although their cases count on the base commit: it has no recordings of the case,
    /// or names this one without having it (`missing`). They can come from anywhere, such as an earlier step of the job.
    pub fn uncompared<'a>(
        &self,
        old: &Recordings,
        new: &'a Recordings,
        missing: &BTreeSet<CaseSample>,
    ) -> BTreeSet<&'a CaseSample> {
        let cases: BTreeSet<&String> = old.keys().map(|(case, _)| case).collect();
        let KnownRecordings { counts_on_base, .. } = self.recordings;
        let is_uncompared = |(key, _): &(&'a CaseSample, &RecordedFile)| {
            let is_unknown = || !cases.contains(&key.0) || missing.contains(*key);
            !old.contains_key(*key)
                && is_unknown()
                && self.run(&key.0).is_some_and(|run| counts_on_base(&run))
        };
        new.iter()
            .filter(is_uncompared)
            .map(|(key, _)| key)
            .collect()
    }

    /// What a recording of one commit was made with, if the agent calls something else now.
    pub fn made_otherwise(
        &self,
        files: &dyn Files,
        key: &CaseSample,
        recording: &RecordedFile,
        on: RecordedOn,
        used: RecordingUse,
    ) -> Option<OtherMaker> {
        let source = files.text(&recording.file).ok()?;
        self.targets.made(&source.text, on, used, || self.user(key))
    }

    /// The target that plays the user of a recording's case.
    pub fn user(&self, key: &CaseSample) -> Option<String> {
        (self.recordings.user)(&self.run(&key.0)?)
    }

    /// The run of a case; `None` if no case can have this name.
    pub fn run(&self, case: &str) -> Option<RunKey> {
        let case = CaseId::new(case).ok()?;
        Some(RunKey {
            suite: self.suite.clone(),
            agent: self.agent.clone(),
            case,
        })
    }
}

impl RecordingComparison<'_> {
    pub fn of(&self, kinds: &[RecordingChange]) -> Vec<&CaseSample> {
        self.changes
            .iter()
            .filter(|(_, change)| kinds.contains(change))
            .map(|(key, _)| key)
            .collect()
    }

    /// The recordings of the head that the base commit does not have, also those of new cases.
    pub fn made(&self) -> impl Iterator<Item = &CaseSample> {
        self.new.keys().filter(|key| match self.changes.get(*key) {
            Some(RecordingChange::Content | RecordingChange::Added) | None => true,
            Some(
                RecordingChange::Same
                | RecordingChange::Votes
                | RecordingChange::Digests
                | RecordingChange::Unread,
            ) => false,
        })
    }

    /// The recording of a sample from the head, else from the base commit.
    pub fn recording(&self, key: &CaseSample) -> Option<&RecordedFile> {
        self.new.get(key).or_else(|| self.old.get(key))
    }

    pub fn names(&self, keys: &[&CaseSample]) -> Vec<&str> {
        keys.iter()
            .filter_map(|key| self.recording(key))
            .map(|recording| recording.name.as_str())
            .collect()
    }

    pub fn agent(&self) -> String {
        format!("{}/{}", self.owner.suite, self.owner.agent)
    }

    /// Adds one line about recordings.
    pub fn add_line(
        &self,
        found: &mut ChangeCollector,
        keys: &[&CaseSample],
        weight: Weight,
        words: String,
    ) {
        let file = keys
            .first()
            .and_then(|key| self.recording(key))
            .map(|recording| &recording.file);
        found.add(ChangeClass::Recording, weight, words, file);
    }

    /// The age of a recording by its digests. After a change of the prompt package it is unknown without those that cover the change.
    pub fn age(&self, key: &CaseSample) -> Option<RecordingAge> {
        let ComparedAgent {
            suite,
            agent,
            recordings,
            ..
        } = self.owner;
        let source = self.sides.head.text(&self.new.get(key)?.file).ok()?;
        Some(
            match (
                (recordings.age)(suite, agent, &source.text),
                self.prompt_digests,
            ) {
                (RecordingAge::Fresh, digests)
                    if !digests
                        .iter()
                        .all(|key| digest(&source.text, key).is_some()) =>
                {
                    RecordingAge::Unknown
                }
                (age, _) => age,
            },
        )
    }

    /// Whether a recording has digests of the current agent.
    pub fn is_proved(&self, key: &CaseSample) -> bool {
        self.age(key) == Some(RecordingAge::Fresh)
    }

    /// Whether all changed and added recordings have digests of the current agent.
    pub fn are_proved(&self) -> bool {
        let mut changed = self
            .of(&[
                RecordingChange::Content,
                RecordingChange::Digests,
                RecordingChange::Added,
            ])
            .into_iter();
        changed.all(|key| self.is_proved(key))
    }

    /// Whether a recording only changed its number. One with digests of the current agent may have the content of another by chance, but
    /// then not all samples of its case do.
    pub fn is_copy(&self, key: &CaseSample) -> bool {
        let is_new = |other: &CaseSample| {
            let change = self.changes.get(other);
            matches!(
                change,
                Some(RecordingChange::Content | RecordingChange::Added)
            ) && !self.copies.contains(other)
        };
        let has_new = || {
            self.new
                .range((key.0.clone(), 0)..=(key.0.clone(), u32::MAX))
                .any(|(other, _)| is_new(other))
        };
        self.copies.contains(key) && !(self.is_proved(key) && has_new())
    }

    /// The recordings that only changed their number.
    pub fn only_renumbered(&self) -> Vec<&CaseSample> {
        self.copies.iter().filter(|key| self.is_copy(key)).collect()
    }
}
