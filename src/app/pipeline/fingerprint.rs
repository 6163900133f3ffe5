//! The digest of an agent's files: a recording of another state proves nothing about the current one (grading.md 14).

use std::collections::BTreeSet;

use crate::diag::Diagnostic;
use crate::files::{CheckoutDigest, DigestList, FilePaths, Files, files_below, is_lfs_pointer};
use crate::golden_changes::{files_of_patterns, further_prompt_files, is_in_folder};
use crate::model::{Agent, AgentFiles, PathGlob, RecordingAge, RepoPath};
use crate::suites::PromptPackage;

/// The current state of an agent's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentState {
    Digest(FilesDigest),
    /// Its files cannot be named, for this reason.
    Nameless(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesDigest {
    pub digest: CheckoutDigest,
    /// The files for messages: patterns, or the path of the prompt package.
    pub files: String,
    pub origin: DigestOrigin,
    /// The files themselves.
    pub listed: BTreeSet<RepoPath>,
    /// The first of them that is a Git LFS pointer.
    pub pointer: Option<RepoPath>,
    /// The patterns that no file of the agent fits.
    pub unused: Vec<String>,
}

/// Where an agent's files are stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestOrigin {
    /// In `fingerprint`, or below the folder of the prompt package; at least one file exists.
    Files,
    /// In the same place, but no file exists.
    NoFile,
    /// They are exactly the prompt package: the digest equals `prompt_sha256`.
    Prompt,
}

/// The digests of its agent that a recording contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptDigests<'a> {
    /// The digest of the agent's files.
    pub fingerprint: Option<&'a str>,
    pub prompt_sha256: Option<&'a str>,
}

impl AgentState {
    /// Computes the state of an agent; `None` if its config does not state files. `prompt` is its prompt package, if any.
    pub fn of(
        files: &dyn Files,
        agent: &Agent,
        prompt: Option<&PromptPackage>,
    ) -> Result<Option<Self>, Diagnostic> {
        Ok(match agent.files() {
            AgentFiles::Patterns(patterns) => {
                let further = prompt
                    .map(|_| further_prompt_files(files, agent))
                    .transpose()?;
                Some(Self::Digest(of_patterns(
                    files,
                    agent,
                    patterns,
                    further.unwrap_or_default(),
                )?))
            }
            AgentFiles::Prompt(path) => match prompt {
                Some(package) => Some(Self::Digest(of_prompt(files, path, package)?)),
                None => None,
            },
            AgentFiles::Nameless(why) => Some(Self::Nameless(why.to_owned())),
            AgentFiles::Unstated => None,
        })
    }

    /// Returns whether a recording with these digests was made by the current agent; `prompt` is its prompt package. This function
    /// alone decides it, both for the freshness of a run and for the comparison with the base commit. A recording without a digest
    /// of the agent's files can still be stale by the digest of its prompt package, and so can one with it. No recording is of an agent
    /// without files.
    pub fn age(&self, prompt: Option<&PromptPackage>, kept: &KeptDigests<'_>) -> RecordingAge {
        let Self::Digest(now) = self else {
            return RecordingAge::Unknown;
        };
        if now.origin == DigestOrigin::NoFile {
            return RecordingAge::Stale;
        }
        // The prompt package is part of the agent, also where `fingerprint` names other files.
        let is_other_prompt = |recorded: &str| prompt.is_some_and(|now| !now.digest.is(recorded));
        match (kept.fingerprint, kept.prompt_sha256) {
            (_, Some(recorded)) if is_other_prompt(recorded) => RecordingAge::Stale,
            (Some(recorded), _) if now.digest.is(recorded) => RecordingAge::Fresh,
            (Some(_), _) => RecordingAge::Stale,
            (None, Some(_)) if now.origin == DigestOrigin::Prompt => RecordingAge::Fresh,
            (None, Some(_) | None) => RecordingAge::Unknown,
        }
    }

    /// Returns the digest, if known.
    pub fn sha256(&self) -> Option<&str> {
        match self {
            Self::Digest(digest) => Some(&digest.digest.sha256),
            Self::Nameless(_) => None,
        }
    }
}

/// The files that fit the patterns, and those in folders of the prompt package, which its own digest leaves out. `further` are the files
/// of the package that no pattern names.
fn of_patterns(
    files: &dyn Files,
    agent: &Agent,
    patterns: &[PathGlob],
    further: FilePaths,
) -> Result<FilesDigest, Diagnostic> {
    let mut named = files_of_patterns(files, agent, patterns)?;
    let origin = if named.is_empty() {
        DigestOrigin::NoFile
    } else {
        DigestOrigin::Files
    };
    let mut words: Vec<&str> = patterns.iter().map(PathGlob::as_str).collect();
    let unused = patterns
        .iter()
        .filter(|glob| !named.iter().any(|file| glob.matches(file)));
    let unused = unused.map(|glob| glob.as_str().to_owned()).collect();
    words.extend(
        agent
            .prompt
            .as_ref()
            .filter(|_| !further.is_empty())
            .map(RepoPath::as_str),
    );
    named.extend(
        further
            .into_iter()
            .filter(|(path, _)| is_in_folder(path))
            .map(|(_, file)| file),
    );
    let (digest, pointer) = (
        of_files(files, named.iter())?,
        pointer(files, named.iter())?,
    );
    Ok(FilesDigest {
        digest,
        files: words.join(", "),
        listed: named,
        origin,
        pointer,
        unused,
    })
}

/// A prompt package is a file, or the files of a folder. If there are more files below the folder, they count, too.
fn of_prompt(
    files: &dyn Files,
    path: &RepoPath,
    package: &PromptPackage,
) -> Result<FilesDigest, Diagnostic> {
    let below = files_below(files, path)?;
    let of_package = || package.digest.clone();
    let (digest, origin) = match (
        below.is_empty(),
        below.keys().any(|path| is_in_folder(path)),
    ) {
        (true, _) => (of_package(), DigestOrigin::NoFile),
        (false, true) => (of_files(files, below.values())?, DigestOrigin::Files),
        (false, false) => (of_package(), DigestOrigin::Prompt),
    };
    let pointer = pointer(files, below.values())?;
    let listed = below.into_values().collect();
    Ok(FilesDigest {
        digest,
        files: path.to_string(),
        listed,
        origin,
        pointer,
        unused: Vec::new(),
    })
}

/// The first file that is a Git LFS pointer.
fn pointer<'a>(
    files: &dyn Files,
    mut paths: impl Iterator<Item = &'a RepoPath>,
) -> Result<Option<RepoPath>, Diagnostic> {
    let is_pointer = |file: &&RepoPath| files.bytes(file).map(|bytes| is_lfs_pointer(&bytes));
    paths
        .find_map(|file| {
            is_pointer(&file)
                .map(|is| is.then(|| file.clone()))
                .transpose()
        })
        .transpose()
}

/// Returns the digest of all files of a folder, by path and content.
#[cfg(feature = "models")]
pub fn of_folder(files: &dyn Files) -> Result<String, Diagnostic> {
    Ok(of_files(files, files_below(files, &RepoPath::root())?.values())?.raw_sha256)
}

/// Returns the digest of these files, by path and content.
fn of_files<'a>(
    files: &dyn Files,
    paths: impl Iterator<Item = &'a RepoPath>,
) -> Result<CheckoutDigest, Diagnostic> {
    let mut list = DigestList::default();
    for file in paths {
        list.add_file(&files.bytes(file)?, file.as_str());
    }
    Ok(list.digest())
}
