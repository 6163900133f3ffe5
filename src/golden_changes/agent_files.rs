//! The files of an agent (`fingerprint`, `prompt`), on both sides.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use super::Sides;
use super::files::{are_alike, below};
use super::found::ChangeCollector;
use super::moved_files::{LeftBehind, MovedContent, TooAlike, moved_out};
use crate::diag::{Diagnostic, ReadFailure};
use crate::files::{EntryKind, FilePaths, Files, files_below};
use crate::format::recording_layout::case_and_sample;
use crate::format::run_v1;
use crate::model::{Agent, PathGlob, RepoPath};
use crate::text::first_of;

/// Whether the files of an agent have changed.
pub enum AgentFileChange {
    /// At least one file changed.
    Changed,
    /// No file changed; a description of the files.
    Unchanged(String),
    /// The agent names no files.
    Unknown,
}

/// The digests by which a recording shows that it was made after the change of the head's prompt package; none if the package did not
/// change. `prompt_sha256` covers the files of the package's own folder, and the digest of the agent's files those of inner folders.
/// Where the package is all that the agent names, the latter alone decides.
pub fn digests_of_prompt_change(sides: &Sides<'_>, after: &Agent) -> &'static [&'static str] {
    let is_only = after.fingerprint.is_empty();
    let of_side = |files: &dyn Files| match (&after.prompt, is_only) {
        (Some(prompt), true) => files_below(files, prompt),
        (_, false) | (None, _) => further_prompt_files(files, after),
    };
    let (Ok(old), Ok(new)) = (of_side(sides.base), of_side(sides.head)) else {
        return &[];
    };
    let of = |all: &FilePaths, inner: bool| -> FilePaths {
        let some = all.iter().filter(|(path, _)| is_in_folder(path) == inner);
        some.map(|(path, file)| (path.clone(), file.clone()))
            .collect()
    };
    let alike = |inner| are_alike(sides.base, &of(&old, inner), &of(&new, inner));
    match (is_only || alike(false), alike(true)) {
        (true, true) => &[],
        (true, false) => &["fingerprint"],
        (false, true) => &["prompt_sha256"],
        (false, false) => &["prompt_sha256", "fingerprint"],
    }
}

/// Whether a path relative to a prompt package is one that `prompt_sha256` does not cover: in a folder of it, or hidden.
pub fn is_in_folder(path: &str) -> bool {
    path.contains('/') || path.starts_with('.')
}

/// The files of an agent's prompt package that its `fingerprint` does not name, by their path in the package.
///
/// # Errors
/// A folder cannot be listed.
pub fn further_prompt_files(files: &dyn Files, agent: &Agent) -> Result<FilePaths, Diagnostic> {
    let Some(prompt) = agent
        .prompt
        .as_ref()
        .filter(|_| !agent.fingerprint.is_empty())
    else {
        return Ok(FilePaths::new());
    };
    let mut further = files_below(files, prompt)?;
    further.retain(|_, file| !names(agent, file));
    Ok(further)
}

/// Compares all files that either side names. Naming more files does not count as a change of the agent. A file that git ignores is in no
/// commit, so it cannot be compared; the digests of recordings cover it.
///
/// # Errors
/// Why they cannot be compared.
pub fn agent_file_change(
    sides: &Sides<'_>,
    before: &Agent,
    after: &Agent,
) -> Result<AgentFileChange, String> {
    let of_both = |files: &dyn Files| -> Result<FilePaths, String> {
        let (old, new) = (agent_files(files, before)?, agent_files(files, after)?);
        Ok(old
            .into_iter()
            .chain(new)
            .flat_map(|(files, _)| files)
            .collect())
    };
    let Some((_, of)) = agent_files(sides.head, after)? else {
        return Ok(AgentFileChange::Unknown);
    };
    let (before, mut after) = (of_both(sides.base)?, of_both(sides.head)?);
    after.retain(|path, file| before.contains_key(path) || !sides.head.is_ignored(file));
    let alike = are_alike(sides.base, &before, &after);
    Ok(if alike {
        AgentFileChange::Unchanged(of)
    } else {
        AgentFileChange::Changed
    })
}

/// The agent of both sides, each with the folders of recordings of both: the recordings of an agent that only one side has define no agent.
pub fn with_all_recordings(before: &Agent, after: &Agent) -> [Agent; 2] {
    let recorded: BTreeSet<RepoPath> = before.recorded.union(&after.recorded).cloned().collect();
    [before, after].map(|agent| Agent {
        recorded: recorded.clone(),
        ..agent.clone()
    })
}

/// Reports folders with files of an agent that an added agent makes a folder of recordings: new files in it would not change the agent.
pub fn report_taken_over(
    sides: &Sides<'_>,
    [before, after]: [&Agent; 2],
    name: &str,
    found: &mut ChangeCollector,
) {
    let mut added = after.recorded.difference(&before.recorded).peekable();
    if added.peek().is_none() {
        return;
    }
    let old = agent_files(sides.base, before)
        .ok()
        .flatten()
        .map(|(files, _)| files)
        .unwrap_or_default();
    for folder in added.filter(|folder| old.values().any(|file| file.is_within(folder))) {
        let words = format!(
            "files of `{name}`: {folder} now counts as a folder of recordings, so goldgate does not track new files in it; let the added agent replay another folder"
        );
        found.needs(words, Some(folder));
    }
}

/// The files that an agent's patterns name, without its own recordings. A pattern without a wildcard names its file also where git ignores
/// it, as a generated prompt.
///
/// # Errors
/// A folder cannot be listed.
pub fn files_of_patterns(
    files: &dyn Files,
    agent: &Agent,
    patterns: &[PathGlob],
) -> Result<BTreeSet<RepoPath>, Diagnostic> {
    let (mut named, mut exact) = (BTreeSet::new(), BTreeSet::new());
    for glob in patterns {
        match glob.file() {
            Some(file) if is_listed(files, &file)? => drop(exact.insert(file)),
            Some(_) => {}
            None => named.extend(
                files_below(files, glob.folder())?
                    .into_values()
                    .filter(|file| glob.matches(file)),
            ),
        }
    }
    named.retain(|file| !is_recording(files, agent, file));
    // A file that is named without a wildcard is one of the agent, whatever it contains.
    named.append(&mut exact);
    Ok(named)
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

/// Whether a file is a recording of the agent, or of another one in the same folder. A recording says what the agent did; it does not
/// define the agent.
fn is_recording(files: &dyn Files, agent: &Agent, file: &RepoPath) -> bool {
    let inner = |folder: &RepoPath| {
        file.as_str()
            .strip_prefix(folder.as_str())?
            .strip_prefix('/')
    };
    let is_placed =
        |folder: &RepoPath| inner(folder).is_some_and(|inner| case_and_sample(inner).is_some());
    agent.recorded.iter().any(is_placed)
        && files.text(file).is_ok_and(|source| run_v1::is_run(&source))
}

/// Whether an agent's patterns or its prompt package name a file.
pub fn is_named(agent: &Agent, file: &RepoPath) -> bool {
    names(agent, file)
        || agent
            .prompt
            .as_ref()
            .is_some_and(|prompt| file.is_within(prompt))
}

/// Whether a pattern of an agent names a file.
fn names(agent: &Agent, file: &RepoPath) -> bool {
    agent.fingerprint.iter().any(|glob| glob.matches(file))
}

/// Whether `after` names every file that `before` names, in any commit. That both name the same files today is not enough: a file that
/// is added later may fit one pattern only.
pub fn names_all_of(before: &Agent, after: &Agent, head: &dyn Files) -> bool {
    let is_named = |old: &PathGlob| {
        let same = after
            .fingerprint
            .iter()
            .any(|new| new.as_str() == old.as_str());
        same || old.file().is_some_and(|file| names(after, &file))
    };
    let keeps_prompt = before.prompt.is_none() || before.prompt == after.prompt;
    keeps_prompt
        && before.fingerprint.iter().all(is_named)
        && ignored_now(before, after, head).is_empty()
}

/// The files that `before` names without a wildcard and `after` only with one that leaves them out, because git ignores them.
pub fn ignored_now(before: &Agent, after: &Agent, head: &dyn Files) -> BTreeSet<RepoPath> {
    let listed =
        LazyCell::new(|| files_of_patterns(head, after, &after.fingerprint).unwrap_or_default());
    let exact = before.fingerprint.iter().filter_map(PathGlob::file);
    let matched = exact.filter(|file| names(after, file));
    matched
        .filter(|file| head.bytes(file).is_ok() && !listed.contains(file))
        .collect()
}

/// Reports files that left the list of an agent: they are elsewhere now, or no other file matches their pattern, which both commits have. Later
/// changes of what replaces them would not make its recordings stale.
pub fn report_moved_out(
    sides: &Sides<'_>,
    [before, after]: [&Agent; 2],
    name: &str,
    found: &mut ChangeCollector,
) {
    // Files that cannot be compared are reported with the recordings.
    let (Ok(Some((old, _))), Ok(Some((new, _)))) = (
        agent_files(sides.base, before),
        agent_files(sides.head, after),
    ) else {
        return;
    };
    let mut moved = moved_out(sides, &old, &new).unwrap_or_else(|TooAlike| {
        let words = format!(
            "files of `{name}`: too many files have the same lines, so goldgate cannot tell whether their content moved out of the list"
        );
        found.needs(words, None);
        Vec::new()
    });
    // What a list with other patterns does not name any more is compared with the list.
    let is_same = before.fingerprint == after.fingerprint;
    let keeps_patterns = is_same || names_all_of(before, after, sides.head);
    moved.retain(|moved| keeps_patterns || new.contains_key(moved.from.as_str()));
    for MovedContent { from, to, left } in &moved {
        let it = if to.len() == 1 { "it" } else { "them" };
        let what = format!(
            "files of `{name}`: the content of {from} moved to {}, which `fingerprint` does not name",
            first_of(&to.iter().map(RepoPath::as_str).collect::<Vec<_>>())
        );
        match left {
            LeftBehind::Rewritten => found.lists(what, to.first()),
            LeftBehind::Stub => {
                let next = format!(
                    "add {it} to `fingerprint`; if the agent does not use {it}, as a note that quotes the text, an approval says so"
                );
                found.needs(format!("{what}; {next}"), to.first());
            }
        }
    }
    for file in old
        .values()
        .filter(|file| !new.contains_key(file.as_str()) && names(after, file))
    {
        if is_recording(sides.head, after, file) {
            let words = format!(
                "files of `{name}`: {file} now counts as a recording, so goldgate does not track its changes; move it, or the recordings"
            );
            found.needs(words, Some(file));
        }
    }
    // A pattern of a wider list may be replaced by another one, which names a file that the base commit does not have.
    let is_replaced = !is_same
        && new
            .values()
            .any(|file| !old.contains_key(file.as_str()) && sides.base.has_file(file, None));
    let is_kept = |glob: &&PathGlob| {
        before
            .fingerprint
            .iter()
            .any(|old| old.as_str() == glob.as_str())
    };
    for glob in after
        .fingerprint
        .iter()
        .filter(is_kept)
        .filter(|_| !is_replaced)
    {
        let fits = |file: &&RepoPath| glob.matches(file);
        let is_emptied =
            old.values().any(|file| fits(&file)) && !new.values().any(|file| fits(&file));
        if is_emptied && !moved.iter().any(|moved| glob.matches(&moved.from)) {
            let words = format!(
                "files of `{name}`: no file matches {} any more; name what replaces it, or remove the pattern",
                glob.as_str()
            );
            found.needs(words, None);
        }
    }
}

/// The files of an agent on one side by path, and a description of them; `None` if the agent names no files.
///
/// # Errors
/// Why they cannot be listed.
pub fn agent_files(
    files: &dyn Files,
    agent: &Agent,
) -> Result<Option<(FilePaths, String)>, String> {
    if !agent.fingerprint.is_empty() {
        let named = files_of_patterns(files, agent, &agent.fingerprint)
            .map_err(|problem| problem.to_string())?;
        let mut fitting: FilePaths = named
            .into_iter()
            .map(|file| (file.as_str().to_owned(), file))
            .collect();
        let mut of: Vec<&str> = agent.fingerprint.iter().map(PathGlob::as_str).collect();
        let further = further_prompt_files(files, agent).map_err(|problem| problem.to_string())?;
        if !further.is_empty() {
            of.extend(agent.prompt.as_ref().map(RepoPath::as_str));
            fitting.extend(
                further
                    .into_values()
                    .map(|file| (file.as_str().to_owned(), file)),
            );
        }
        return Ok(Some((fitting, of.join(", "))));
    }
    let Some(prompt) = &agent.prompt else {
        return Ok(None);
    };
    let paths = below(files, prompt)?
        .into_values()
        .map(|file| (file.as_str().to_owned(), file));
    Ok(Some((
        paths.collect(),
        format!("its prompt package {prompt}"),
    )))
}
