//! The files of an agent (`fingerprint`, `prompt`), and changes of the list of them.

use std::collections::BTreeSet;

use super::found::ChangeCollector;
use crate::diag::{Diagnostic, ReadFailure};
use crate::files::{EntryKind, FilePaths, Files, files_below};
use crate::format::recorded_attempts::recording_text;
use crate::format::recording_layout::case_and_sample;
use crate::format::run_v1;
use crate::model::{Agent, AgentName, PathGlob, RecordingPlace, RepoPath};
use crate::text::named;

/// The files that a pattern of an agent names, without its own recordings: they say what the agent did, and do not define it. A pattern
/// without a wildcard names its file also where git ignores it, as a generated prompt.
///
/// # Errors
/// A folder cannot be listed.
pub fn files_of_pattern(
    files: &dyn Files,
    agent: &Agent,
    glob: &PathGlob,
) -> Result<BTreeSet<RepoPath>, Diagnostic> {
    if let Some(file) = glob.file() {
        let is_there = is_listed(files, &file)?;
        return Ok(is_there.then_some(file).into_iter().collect());
    }
    let mut named: BTreeSet<RepoPath> = files_below(files, glob.folder())?
        .into_values()
        .filter(|file| glob.matches(file))
        .collect();
    named.retain(|file| !is_recording(files, agent, file));
    Ok(named)
}

/// The files of an agent by path; empty if it names none.
///
/// # Errors
/// A folder cannot be listed.
pub fn agent_files(files: &dyn Files, agent: &Agent) -> Result<FilePaths, Diagnostic> {
    let mut paths = FilePaths::new();
    for glob in &agent.fingerprint {
        for file in files_of_pattern(files, agent, glob)? {
            paths.insert(file.as_str().to_owned(), file);
        }
    }
    if let Some(prompt) = &agent.prompt {
        for file in files_below(files, prompt)?.into_values() {
            paths.insert(file.as_str().to_owned(), file);
        }
    }
    Ok(paths)
}

/// Whether a folder lists this file. The file itself is not read, because the files of a base commit that can be read are limited.
pub fn is_listed(files: &dyn Files, file: &RepoPath) -> Result<bool, Diagnostic> {
    let folder = file.parent();
    match files.list_all(&folder) {
        Ok(entries) => Ok(entries
            .iter()
            .any(|entry| entry.kind != EntryKind::Folder && entry.name == file.name())),
        Err(problem) => match problem.read_failure {
            Some(ReadFailure::MissingFile | ReadFailure::MissingFolder) => Ok(false),
            // A file is where the folder should be.
            Some(ReadFailure::Unreadable) if files.bytes(&folder).is_ok() => Ok(false),
            Some(_) | None => Err(problem),
        },
    }
}

/// Whether a file is a recording of the agent, or of another one in the same folder.
fn is_recording(files: &dyn Files, agent: &Agent, file: &RepoPath) -> bool {
    let mut places = agent.recorded.iter();
    let recording = places.find_map(|(place, name)| recording_of(place, name, file));
    let Some(recording) = recording else {
        return false;
    };
    recording_text(files, &recording).is_ok_and(|source| run_v1::is_run(&source))
}

/// The recording that a file is, or that it is a part of.
fn recording_of(place: &RecordingPlace, agent: &AgentName, file: &RepoPath) -> Option<RepoPath> {
    match place {
        RecordingPlace::Folder(folder) => {
            let folder = folder.child(agent.as_str());
            let inner = file.as_str().strip_prefix(folder.as_str())?;
            let placed = case_and_sample(inner.strip_prefix('/')?);
            placed.map(|_| file.clone())
        }
        RecordingPlace::Pattern(pattern) => {
            let matched = pattern.recording(agent, file)?;
            Some(matched.file)
        }
    }
}

/// Whether an agent's patterns or its prompt name a file.
pub fn is_named(agent: &Agent, file: &RepoPath) -> bool {
    agent.fingerprint.iter().any(|glob| glob.matches(file))
        || agent
            .prompt
            .as_ref()
            .is_some_and(|prompt| file.is_within(prompt))
}

/// How an agent's files of the two commits compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilesDigests {
    /// Both commits have the same digest: a folder moved, or the list is written otherwise.
    Same,
    /// They differ, or one is unknown.
    Other,
}

/// Whether all recordings of an agent that the base commit has were recorded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedAgain {
    /// Each of them has new content.
    All,
    /// At least one has not, or there is none.
    NotAll,
}

/// A list of an agent's files that may have changed between the commits.
pub struct FileListChange<'a> {
    /// `suite/agent`, for messages.
    pub who: &'a str,
    /// The config.
    pub config: &'a RepoPath,
    /// The agent of the base commit.
    pub base: &'a Agent,
    /// The agent of the head.
    pub head: &'a Agent,
    /// How their files compare.
    pub digests: FilesDigests,
    /// Whether all recordings were recorded again.
    pub recorded: RecordedAgain,
}

impl FileListChange<'_> {
    /// Reports a changed list: a longer list and one with the same digest are listed. A pattern that leaves the list needs an approval,
    /// whatever joins it, and so does another prompt unless everything was recorded again.
    pub fn report(&self, collector: &mut ChangeCollector) {
        let Self {
            who,
            config,
            base,
            head,
            ..
        } = self;
        if base.fingerprint == head.fingerprint && base.prompt == head.prompt {
            return;
        }
        let words = format!(
            "files of `{who}`: {} -> {}",
            list_words(base),
            list_words(head)
        );
        if self.digests == FilesDigests::Same {
            return collector.lists(format!("{words}; their digest is the same"), Some(config));
        }
        let left: Vec<&str> = base
            .fingerprint
            .iter()
            .map(PathGlob::as_str)
            .filter(|old| !head.fingerprint.iter().any(|new| new.as_str() == *old))
            .collect();
        if !left.is_empty() {
            let words = format!("{words}; no longer in the list: {}", named(&left));
            return collector.needs(words, Some(config));
        }
        let is_moved_prompt = base.prompt.is_some() && base.prompt != head.prompt;
        let is_recorded_for = head.prompt.is_some() && self.recorded == RecordedAgain::All;
        if is_moved_prompt && !is_recorded_for {
            let words = format!("{words}; not every recording was recorded again");
            return collector.needs(words, Some(config));
        }
        collector.lists(words, Some(config));
    }
}

fn list_words(agent: &Agent) -> String {
    let patterns = agent.fingerprint.iter().map(PathGlob::as_str);
    let prompt = agent.prompt.as_ref().map(RepoPath::as_str);
    let words: Vec<&str> = patterns.chain(prompt).collect();
    if words.is_empty() {
        "none".to_owned()
    } else {
        words.join(", ")
    }
}
