//! Notes on the list of an agent's files.

use crate::evaluation::agent_digest::{AgentFilesState, AgentState};
use crate::files::Files;
use crate::golden_changes::{FilesChange, Sides, is_listed, is_named};
use crate::model::{Agent, Config, RepoPath, RunSource, Transport};
use crate::text::first_of;

/// How the files of an agent differ from the base commit's.
pub fn files_change(
    state: &AgentState,
    base_state: Option<&AgentState>,
    sides: Option<&Sides<'_>>,
) -> FilesChange {
    match (state, base_state) {
        (AgentState::Files(head), Some(AgentState::Files(base)))
            if head.sha256 != base.sha256 && head.contents == base.contents =>
        {
            FilesChange::Places
        }
        (AgentState::Files(_) | AgentState::Unnamed(_), _) => {
            FilesChange::Content(changed_files(state, sides))
        }
    }
}

/// The files of an agent that differ from the base commit's, for a sentence; all of them if none does.
fn changed_files(state: &AgentState, sides: Option<&Sides<'_>>) -> String {
    let AgentState::Files(AgentFilesState { named, files, .. }) = state else {
        return "the agent's files".to_owned();
    };
    let mut changed: Vec<&str> = Vec::new();
    if let Some(Sides { base, head }) = sides {
        for file in files {
            let is_same = head
                .bytes(file)
                .is_ok_and(|bytes| base.has_file(file, Some(&bytes)));
            if !is_same {
                changed.push(file.as_str());
            }
        }
    }
    if changed.is_empty() {
        format!("the agent's files ({named})")
    } else {
        first_of(&changed)
    }
}

/// Notes on the list of an agent's files.
pub fn list_notes(
    config: &Config,
    agent: &Agent,
    state: &AgentState,
    files: &dyn Files,
) -> Vec<String> {
    let AgentState::Files(state) = state else {
        let why = agent
            .no_fingerprint
            .as_deref()
            .unwrap_or("it names no files");
        return vec![format!(
            "unknown whether these recordings are of this agent: {why}"
        )];
    };
    let mut notes = Vec::new();
    if !state.files.is_empty() {
        for pattern in &state.unused {
            notes.push(format!("no file of the agent matches {pattern}, so goldgate does not track the files it is meant for; correct or remove it"));
        }
    }
    if let Some(program) = unlisted_program(config, agent, files) {
        notes.push(format!(
            "fingerprint does not name {program}, which a target of the agent starts: a change of it makes no recording stale"
        ));
    }
    notes.extend(unsent_prompts(config, agent, state));
    notes
}

/// The file that a command target of the agent starts, if the agent's files are stated without it.
fn unlisted_program(config: &Config, agent: &Agent, files: &dyn Files) -> Option<RepoPath> {
    let live = agent.model.as_ref().and_then(RunSource::live)?;
    for name in live.targets() {
        let target = config.targets.get(name)?;
        let Transport::Command { argv, .. } = &target.transport else {
            continue;
        };
        for argument in argv {
            let Ok(file) = RepoPath::root().join(argument) else {
                continue;
            };
            let is_there = file != RepoPath::root() && is_listed(files, &file).unwrap_or(false);
            if is_there && !is_named(agent, &file) {
                return Some(file);
            }
        }
    }
    None
}

/// A note on files of a prompt that no model gets.
fn unsent_prompts(config: &Config, agent: &Agent, state: &AgentFilesState) -> Option<String> {
    let prompt = agent.prompt.as_ref()?;
    let live = agent.model.as_ref().and_then(RunSource::live)?;
    let target = config.targets.get(&live.target)?;
    if !matches!(target.transport, Transport::Model(_)) {
        return None;
    }
    let mut inner: Vec<&str> = Vec::new();
    for file in &state.files {
        if file.is_within(prompt) && file.parent() != *prompt && file != prompt {
            inner.push(file.as_str());
        }
    }
    if inner.is_empty() {
        return None;
    }
    Some(format!(
        "only the files directly in a prompt package are sent to the model, so not {}",
        first_of(&inner)
    ))
}
