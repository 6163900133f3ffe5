//! What the report says of the recordings of an agent, row by row.

use std::collections::BTreeSet;

use super::{
    BaseProof, Content, Digest, GradedRecording, Proof, Recorder, decide, effect, is_new_in_change,
};
use crate::golden_changes::found::ChangeCollector;
use crate::golden_changes::record_command::{Maker, RecordCommand, RecordedCases, stamp_command};
use crate::model::{
    AgentName, ChangeClass, Config, Effect, RecordingPlace, RecordingRow, RecordingTrust, RepoPath,
    Row, SuiteId, Weight,
};
use crate::text::{as_argument, first_of, named};

/// The most cases that a command names.
const NAMED_CASES: usize = 10;

/// The most files that a command restores.
const RESTORED: usize = 3;

/// What a recorder of one's own does, so that its recordings count.
const OWN_RECORDER: &str = "a program of your own writes `provenance.recorded_at`, by which equal answers are new, and `goldgate stamp` the digests";

/// A graded recording with what the report says of it.
pub struct NamedRecording {
    /// Its case.
    pub case: String,
    /// Its path below the agent's folder.
    pub name: String,
    /// Its file.
    pub file: RepoPath,
    /// What the table needs to know of it.
    pub graded: GradedRecording,
    /// Whether its answers or calls differ from those of the base commit's recording.
    pub answers: Answers,
    /// The digest of the agent's files that it states.
    pub agent_sha256: Option<String>,
    /// Whether `goldgate stamp` wrote its digests.
    pub origin: Origin,
    /// The target and the model that it states.
    pub made_by: String,
    /// What made it.
    pub maker: Maker,
    /// Why the base commit's recording cannot be read: nothing is known of what changed.
    pub unread: Option<String>,
    /// Why it is not shown that the recording workflow wrote it; `None` if it is shown, or need not be.
    pub not_shown: Option<String>,
}

/// The answers and calls of a recording, compared with those of the base commit's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// The same, or there are none to compare with.
    Same,
    /// Other ones.
    Other,
}

/// What wrote the digests of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// What made it.
    Recorder,
    /// A person, with `goldgate stamp`.
    Stamp,
}

impl NamedRecording {
    /// Whether it is stale because of the agent's files alone, and states this digest of them.
    fn is_of_agent(&self, sha256: Option<&String>) -> bool {
        self.graded.proof == Proof::Stale(Digest::Agent)
            && sha256.is_some()
            && self.agent_sha256.as_ref() == sha256
    }
}

/// How the files of an agent differ from the base commit's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilesChange {
    /// In their content; the files, or all of them where none is known to differ.
    Content(String),
    /// Only in where they are.
    Places,
}

impl FilesChange {
    /// The files, for a sentence.
    fn names(&self) -> &str {
        match self {
            Self::Content(files) => files,
            Self::Places => "the place of the agent's files",
        }
    }
}

/// A recording that only the base commit has.
pub struct GoneRecording {
    /// Its path below the agent's folder.
    pub name: String,
    /// Its file on the base commit.
    pub file: RepoPath,
}

/// What messages call the base commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseName {
    /// The commit, for a command.
    pub revision: String,
    /// Its branch, if known.
    pub branch: Option<String>,
}

/// The graded recordings of one agent, and what the messages on them name.
pub struct AgentRecordings<'a> {
    /// The suite.
    pub suite: &'a SuiteId,
    /// The agent.
    pub agent: &'a AgentName,
    /// The config with its commands.
    pub config: &'a Config,
    /// The place of the recordings.
    pub place: &'a RecordingPlace,
    /// Which recordings count.
    pub trust: RecordingTrust,
    /// The recordings.
    pub recordings: Vec<NamedRecording>,
    /// The recordings that only the base commit has, of cases that keep others.
    pub gone: Vec<GoneRecording>,
    /// How the agent's files changed.
    pub files_change: FilesChange,
    /// What the agent calls.
    pub target: Option<String>,
    /// The digest of its files on the base commit.
    pub base_sha256: Option<String>,
    /// The digest of its files on the branch, where a merge with the base branch is graded.
    pub branch_sha256: Option<String>,
    /// A file of the agent that is a Git LFS pointer: its content is not here.
    pub pointer: Option<RepoPath>,
    /// The base commit; `None` without one.
    pub base: Option<BaseName>,
}

/// What the recordings of an agent mean for the verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordingReport {
    /// The reason why the agent has no verdict.
    pub refused: Option<String>,
    /// The cases whose recordings give no verdict.
    pub refused_cases: BTreeSet<String>,
    /// Notes, which do not change the verdict.
    pub notes: Vec<String>,
    /// The rows that hold, with the number of recordings in each.
    pub rows: Vec<RecordingRow>,
    /// What made the recordings.
    pub makers: BTreeSet<Maker>,
}

impl AgentRecordings<'_> {
    /// Decides on the recordings, and adds what is listed or needs an approval to the golden changes.
    pub fn report(&self, collector: &mut ChangeCollector) -> RecordingReport {
        let graded: Vec<GradedRecording> = self
            .recordings
            .iter()
            .map(|recording| recording.graded)
            .collect();
        let mut report = RecordingReport {
            makers: self.makers(),
            ..RecordingReport::default()
        };
        let mut reasons = Vec::new();
        let mut unread = Vec::new();
        for recording in &self.recordings {
            if let Some(why) = &recording.unread {
                unread.push((recording, why));
            }
        }
        if let [(_, why), ..] = unread.as_slice() {
            let members: Vec<&NamedRecording> =
                unread.iter().map(|(recording, _)| *recording).collect();
            let subject = self.subject(&members, "recording", "recordings");
            reasons.push(format!("{subject} cannot be compared: {why}"));
        }
        for (row, members, recorder) in self.by_row(&graded) {
            let effect = effect(row, self.trust, recorder);
            report.rows.push(recording_row(row, effect, members.len()));
            match effect {
                Effect::NoVerdict => {
                    reasons.push(self.reason(row, &members));
                    let cases = members.iter().map(|recording| recording.case.clone());
                    report.refused_cases.extend(cases);
                }
                Effect::Approval => {
                    let words = self.words(row, &members);
                    add(collector, Weight::NeedsApproval, words, &files_of(&members));
                }
                Effect::Listed => {
                    let words = self.words(row, &members);
                    add(collector, Weight::Listed, words, &files_of(&members));
                }
                Effect::Counts if row == Row::UnprovenAsBefore => {
                    report.notes.push(self.unproven_note(&members));
                }
                Effect::Counts => {}
            }
        }
        if !self.gone.is_empty() {
            let effect = effect(Row::Gone, self.trust, Recorder::Shown);
            report
                .rows
                .push(recording_row(Row::Gone, effect, self.gone.len()));
            let files: Vec<RepoPath> = self
                .gone
                .iter()
                .map(|recording| recording.file.clone())
                .collect();
            add(collector, Weight::NeedsApproval, self.gone_words(), &files);
        }
        report.refused = (!reasons.is_empty()).then(|| reasons.join("; "));
        report
    }

    /// The recordings by row; where the recording workflow has to show them, those that it does not show are apart.
    fn by_row(&self, graded: &[GradedRecording]) -> Vec<(Row, Vec<&NamedRecording>, Recorder)> {
        let mut rows = Vec::new();
        for (row, indexes) in decide(graded) {
            let members = indexes.iter().map(|index| &self.recordings[*index]);
            let (shown, not_shown): (Vec<_>, Vec<_>) = members
                .partition(|recording| recording.not_shown.is_none() || !is_new_in_change(row));
            rows.push((row, shown, Recorder::Shown));
            rows.push((row, not_shown, Recorder::NotShown));
        }
        rows.retain(|(_, members, _)| !members.is_empty());
        rows
    }

    /// `3 recordings of s/a are`, with the word for their number.
    fn subject(&self, members: &[&NamedRecording], singular: &str, plural: &str) -> String {
        let noun = if members.len() == 1 { singular } else { plural };
        format!("{} {noun}", members.len())
    }

    fn of_agent(&self, members: &[&NamedRecording], singular: &str, plural: &str) -> String {
        let whose = format!("`{}/{}`", self.suite, self.agent);
        if members.len() == 1 {
            format!("1 recording of {whose} {singular}")
        } else {
            format!("{} recordings of {whose} {plural}", members.len())
        }
    }

    /// Why recordings of a row give no verdict, and what to do.
    fn reason(&self, row: Row, members: &[&NamedRecording]) -> String {
        match row {
            Row::Stale => self.stale_reason(members),
            Row::Unproven => self.unproven_reason(members),
            Row::UnprovenAsBefore
            | Row::RecordedForChange
            | Row::StampedNotRecorded
            | Row::Unchanged
            | Row::StampedAsBefore
            | Row::New
            | Row::RecordedAgain
            | Row::PartChanged
            | Row::MoreSamples
            | Row::Gone => {
                let subject = self.subject(
                    members,
                    "recording is new, changed or stamped",
                    "recordings are new, changed or stamped",
                );
                format!(
                    "{subject} ({}), and only the recording workflow may write recordings here (`recordings: {{ trust: ci }}`): {}",
                    first_of(&names(members)),
                    members
                        .iter()
                        .find_map(|recording| recording.not_shown.as_deref())
                        .unwrap_or_default()
                )
            }
        }
    }

    /// The first clause says why, because a headline shows it alone.
    fn stale_reason(&self, members: &[&NamedRecording]) -> String {
        let subject = self.subject(members, "recording is stale", "recordings are stale");
        if self.files_change == FilesChange::Places && are_of_agent(members, &self.base_sha256) {
            return format!(
                "{subject}: files of the agent moved, and no content changed ({}): `{}` makes {} current",
                first_of(&names(members)),
                self.stamp(members, " --stale"),
                if members.len() == 1 { "it" } else { "them" }
            );
        }
        let mut parts = Vec::new();
        if self.base_sha256 != self.branch_sha256 && are_of_agent(members, &self.branch_sha256) {
            let branch = self.base.as_ref().and_then(|base| base.branch.as_ref());
            let branch = branch.map_or("the base branch".to_owned(), |name| format!("`{name}`"));
            parts.push(format!(
                "{subject}: {branch} changed the agent since: merge {branch}, then do this"
            ));
        } else {
            parts.push(format!(
                "{subject}: {}",
                self.changes(members).join(", and ")
            ));
        }
        let is_stale_on_base = members
            .iter()
            .all(|recording| recording.graded.content == Content::Same(BaseProof::Other));
        if let Some(base) = &self.base
            && is_stale_on_base
        {
            let name = base
                .branch
                .as_ref()
                .map_or("the base commit".to_owned(), |branch| format!("`{branch}`"));
            parts.push(format!("{name} itself is stale"));
        }
        parts.push(self.next_of_stale(members));
        parts.join("; ")
    }

    /// What changed since stale recordings were made.
    fn changes(&self, members: &[&NamedRecording]) -> Vec<String> {
        let mut changes = Vec::new();
        for digest in [
            Digest::Agent,
            Digest::Input,
            Digest::Target,
            Digest::Content,
        ] {
            let of_digest: Vec<&NamedRecording> = members
                .iter()
                .copied()
                .filter(|recording| recording.graded.proof == Proof::Stale(digest))
                .collect();
            if of_digest.is_empty() {
                continue;
            }
            let they_were = if of_digest.len() == 1 {
                "it was"
            } else {
                "they were"
            };
            let why = match digest {
                Digest::Agent => {
                    format!(
                        "{} changed since {they_were} made",
                        self.files_change.names()
                    )
                }
                Digest::Input => format!("what the case asks changed since {they_were} made"),
                Digest::Target => format!(
                    "what the agent calls ({}) changed since {they_were} made",
                    self.target.as_deref().unwrap_or("none")
                ),
                Digest::Content => format!("{they_were} edited after {they_were} made"),
            };
            changes.push(format!("{why} ({})", first_of(&names(&of_digest))));
        }
        changes
    }

    fn next_of_stale(&self, members: &[&NamedRecording]) -> String {
        if let Some(pointer) = &self.pointer {
            return format!(
                "{pointer} is a Git LFS pointer, not the file itself: get it with `git lfs pull` (`lfs: true` of actions/checkout)"
            );
        }
        let again = self.record_again(members);
        let stamp = self.stamp(members, " --stale");
        let edited = Proof::Stale(Digest::Content);
        let condition = if members.iter().all(|one| one.graded.proof == edited) {
            "if these are answers of the agent"
        } else {
            "if the change cannot alter an answer"
        };
        match again.recorder {
            OwnRecorder::Wrote => format!(
                "{}, then `{stamp}`; that command alone {condition}",
                again.text
            ),
            OwnRecorder::No => format!("{}; {condition}: `{stamp}`", again.text),
        }
    }

    fn unproven_reason(&self, members: &[&NamedRecording]) -> String {
        let mut missing: BTreeSet<&str> = BTreeSet::new();
        for recording in members {
            match recording.graded.proof {
                Proof::Missing(Digest::Agent) => missing.insert("the agent's files"),
                Proof::Missing(Digest::Input) => missing.insert("what the case asks"),
                Proof::Missing(Digest::Target) => missing.insert("what the agent calls"),
                Proof::Missing(Digest::Content) | Proof::Current | Proof::Stale(_) => false,
            };
        }
        let missing: Vec<&str> = missing.into_iter().collect();
        let missing = missing.join(" and ");
        let subject = if members.len() == 1 {
            format!(
                "1 recording that is new, or whose agent, input or target changed, states no digest of {missing}"
            )
        } else {
            format!(
                "{} recordings that are new, or whose agent, input or target changed, state no digest of {missing}",
                members.len()
            )
        };
        let again = self.record_again(members);
        format!(
            "{subject} ({}); `{}` if made with the present files, else {}{}",
            first_of(&names(members)),
            self.stamp(members, ""),
            again.text,
            again.own_recorder()
        )
    }

    fn unproven_note(&self, members: &[&NamedRecording]) -> String {
        let subject = self.subject(
            members,
            "recording states no digests",
            "recordings state no digests",
        );
        let stamp = stamp_command(self.config, self.suite, self.agent, RecordedCases::All, "");
        let count = if members.len() == 1 {
            "it counts"
        } else {
            "they count"
        };
        format!(
            "{subject} ({}): once the agent changes, {count} no longer; if made with the present files: `{stamp}`",
            first_of(&names(members))
        )
    }

    /// What is listed of the recordings of a row, or needs an approval.
    fn words(&self, row: Row, members: &[&NamedRecording]) -> String {
        let (statement, why) = match row {
            Row::RecordedForChange => {
                let same = members
                    .iter()
                    .filter(|recording| matches!(recording.graded.content, Content::Same(_)))
                    .count();
                let kept = match same {
                    0 => String::new(),
                    _ => format!("; {same} of them with the content of before"),
                };
                let words = self.of_agent(members, "is of this change", "are of this change");
                (format!("{words}{kept}"), "")
            }
            Row::StampedNotRecorded => (
                self.of_agent(
                    members,
                    "is stamped, not recorded",
                    "are stamped, not recorded",
                ),
                if members.len() == 1 {
                    "it has the digests of this change and the content of before"
                } else {
                    "they have the digests of this change and the content of before"
                },
            ),
            Row::New => (
                self.of_agent(
                    members,
                    "is of a new case, or replaces one that was not current",
                    "are of new cases, or replace some that were not current",
                ),
                "",
            ),
            Row::RecordedAgain => (
                self.of_agent(
                    members,
                    "was recorded again, and the files that it depends on did not change",
                    "were recorded again, and the files that they depend on did not change",
                ),
                "",
            ),
            Row::PartChanged => {
                let words = self.of_agent(members, "has other content", "have other content");
                (
                    format!(
                        "{words}, and others do not, though nothing that they were made with changed"
                    ),
                    "edited, or a part recorded again",
                )
            }
            Row::MoreSamples => (
                self.of_agent(
                    members,
                    "was added to a case that has others",
                    "were added to cases that have others",
                ),
                "",
            ),
            Row::Stale
            | Row::Unproven
            | Row::UnprovenAsBefore
            | Row::Unchanged
            | Row::StampedAsBefore
            | Row::Gone => (self.of_agent(members, "counts", "count"), ""),
        };
        let head = if why.is_empty() {
            format!("{statement}: {}", first_of(&names(members)))
        } else {
            format!("{statement}: {why}; {}", first_of(&names(members)))
        };
        let stamped = members
            .iter()
            .filter(|recording| recording.origin == Origin::Stamp)
            .count();
        let by_hand = match stamped {
            0 => String::new(),
            _ => format!("; {stamped} stamped by hand"),
        };
        let makers: BTreeSet<&str> = members
            .iter()
            .map(|recording| recording.made_by.as_str())
            .filter(|maker| !maker.is_empty())
            .collect();
        let makers: Vec<&str> = makers.into_iter().collect();
        let made_by = if makers.is_empty() {
            String::new()
        } else {
            format!(" (recorded by {})", named(&makers))
        };
        let next = if row == Row::StampedNotRecorded {
            let again = self.record_again(members);
            format!("; {}{}", again.text, again.own_recorder())
        } else {
            String::new()
        };
        format!("{head}{}{by_hand}{made_by}{next}", other_answers(members))
    }

    fn gone_words(&self) -> String {
        let whose = format!("`{}/{}`", self.suite, self.agent);
        let (subject, them) = match self.gone.len() {
            1 => (
                format!("1 recording of {whose} was removed from a case that keeps others"),
                "it",
            ),
            more => (
                format!("{more} recordings of {whose} were removed from cases that keep others"),
                "them",
            ),
        };
        let names: Vec<&str> = self
            .gone
            .iter()
            .map(|recording| recording.name.as_str())
            .collect();
        let back = match &self.base {
            Some(base) if names.len() > RESTORED => {
                format!("; commit {} has {them}", base.revision)
            }
            Some(base) => {
                let files: Vec<String> = self
                    .gone
                    .iter()
                    .map(|recording| as_argument(recording.file.as_str()))
                    .collect();
                format!(
                    "; `git restore --source {} --staged --worktree -- {}` brings {them} back",
                    as_argument(&base.revision),
                    files.join(" ")
                )
            }
            None => String::new(),
        };
        format!("{subject}: {}{back}", first_of(&names))
    }

    /// The cases of these recordings where a command should name them; none for all of the agent.
    fn cases_of<'m>(&self, members: &[&'m NamedRecording]) -> Vec<&'m str> {
        let some: BTreeSet<&str> = members
            .iter()
            .map(|recording| recording.case.as_str())
            .collect();
        let all: BTreeSet<&str> = self
            .recordings
            .iter()
            .map(|recording| recording.case.as_str())
            .collect();
        if some.len() == all.len() || some.len() > NAMED_CASES {
            return Vec::new();
        }
        some.into_iter().collect()
    }

    fn makers(&self) -> BTreeSet<Maker> {
        self.recordings
            .iter()
            .map(|recording| recording.maker.clone())
            .collect()
    }

    /// What to do to get new recordings of these.
    fn record_again(&self, members: &[&NamedRecording]) -> NextRecording {
        let makers = members
            .iter()
            .map(|recording| recording.maker.clone())
            .collect();
        let command = RecordCommand {
            config: self.config,
            suite: self.suite,
            agent: self.agent,
            makers: &makers,
        };
        NextRecording {
            text: command.record_again_hint(self.place, recorded_cases(&self.cases_of(members))),
            recorder: if command.is_own() {
                OwnRecorder::Wrote
            } else {
                OwnRecorder::No
            },
        }
    }

    /// The command that writes today's digests into these.
    fn stamp(&self, members: &[&NamedRecording], options: &str) -> String {
        stamp_command(
            self.config,
            self.suite,
            self.agent,
            recorded_cases(&self.cases_of(members)),
            options,
        )
    }
}

/// What to do to get new recordings.
struct NextRecording {
    text: String,
    recorder: OwnRecorder,
}

/// Whether a recorder of the user's own wrote recordings, which may state no digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OwnRecorder {
    Wrote,
    No,
}

impl NextRecording {
    /// The sentence for a recorder of the user's own, after a semicolon; empty where another one wrote the recordings.
    fn own_recorder(&self) -> String {
        match self.recorder {
            OwnRecorder::Wrote => format!("; {OWN_RECORDER}"),
            OwnRecorder::No => String::new(),
        }
    }
}

fn add(collector: &mut ChangeCollector, weight: Weight, words: String, files: &[RepoPath]) {
    collector.add_about(ChangeClass::Recording, weight, words, files);
}

fn files_of(members: &[&NamedRecording]) -> Vec<RepoPath> {
    members
        .iter()
        .map(|recording| recording.file.clone())
        .collect()
}

fn recording_row(row: Row, effect: Effect, count: usize) -> RecordingRow {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    RecordingRow { row, effect, count }
}

fn recorded_cases<'c>(cases: &'c [&'c str]) -> RecordedCases<'c> {
    if cases.is_empty() {
        RecordedCases::All
    } else {
        RecordedCases::Named(cases)
    }
}

/// Whether all recordings were made with these files of the agent.
fn are_of_agent(members: &[&NamedRecording], sha256: &Option<String>) -> bool {
    members
        .iter()
        .all(|recording| recording.is_of_agent(sha256.as_ref()))
}

fn names<'m>(members: &[&'m NamedRecording]) -> Vec<&'m str> {
    members
        .iter()
        .map(|recording| recording.name.as_str())
        .collect()
}

/// The cases with other answers or calls than on the base commit. They may still pass. Empty where no content changed.
fn other_answers(members: &[&NamedRecording]) -> String {
    let has_changed = members
        .iter()
        .any(|recording| matches!(recording.graded.content, Content::Changed(_)));
    if !has_changed {
        return String::new();
    }
    let mut compared: BTreeSet<&str> = BTreeSet::new();
    let mut different: BTreeSet<&str> = BTreeSet::new();
    for recording in members {
        if let Content::Same(_) | Content::Changed(_) = recording.graded.content {
            compared.insert(recording.case.as_str());
        }
        if recording.answers == Answers::Other {
            different.insert(recording.case.as_str());
        }
    }
    if different.is_empty() {
        return "; the answers and calls are the same".to_owned();
    }
    let names: Vec<&str> = different.into_iter().collect();
    let cases = if compared.len() == 1 { "case" } else { "cases" };
    format!(
        "; other answers or calls in {} of {} {cases}: {}",
        names.len(),
        compared.len(),
        first_of(&names)
    )
}
