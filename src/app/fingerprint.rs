//! What an agent is made of, as a digest: a recording of another state proves nothing about this one (grading.md 14).

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::plan::Opened;
use super::plan::source_of;
use crate::diag::Diagnostic;
use crate::diag::Diagnostics;
use crate::model::Agent;
use crate::model::AgentName;
use crate::model::PairResult;
use crate::model::PathGlob;
use crate::model::RepoPath;
use crate::model::Source;
use crate::model::Stale;
use crate::model::Tier;
use crate::render::plural;
use crate::suites::Shelf;
use crate::suites::files_below;
use crate::suites::sha256_hex;

/// Cases that are named; the rest is counted.
const NAMED: usize = 3;

/// The digest of the files that an agent declares itself to be made of, by path and content; `None` where it declares none.
///
/// # Errors
/// A file or folder that cannot be read.
pub fn digest(shelf: &dyn Shelf, globs: &[PathGlob]) -> Result<Option<String>, Diagnostic> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut files: BTreeSet<RepoPath> = BTreeSet::new();
    for glob in globs {
        let below = files_below(shelf, glob.folder(), &|_| false)?;
        files.extend(below.into_values().filter(|file| glob.fits(file)));
    }
    Ok(Some(of_files(shelf, files.iter())?))
}

/// The digest of all files of a folder, by path and content.
///
/// # Errors
/// A file or folder that cannot be read.
#[cfg(feature = "models")]
pub fn of_folder(shelf: &dyn Shelf) -> Result<String, Diagnostic> {
    of_files(shelf, files_below(shelf, &RepoPath::root(), &|_| false)?.values())
}

fn of_files<'a>(shelf: &dyn Shelf, files: impl Iterator<Item = &'a RepoPath>) -> Result<String, Diagnostic> {
    let lines: Vec<String> = files
        .map(|file| Ok(format!("{}  {file}\n", sha256_hex(&shelf.bytes(file)?))))
        .collect::<Result<_, Diagnostic>>()?;
    Ok(sha256_hex(lines.concat().as_bytes()))
}

/// The digests of a suite's agents as their files are now, as far as their recordings are graded in this tier.
///
/// # Errors
/// A file or folder that cannot be read.
pub fn of_replayed(shelf: &dyn Shelf, opened: &Opened, tier: Tier) -> Result<BTreeMap<AgentName, String>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let replays = |agent: &&Agent| matches!(source_of(agent, tier), Some(Source::Replay(_)));
    let digests = opened.config.agents.iter().filter(|(_, agent)| replays(agent)).filter_map(|(name, agent)| {
        let digest = problems.keep(digest(shelf, &agent.fingerprint))??;
        Some((name.clone(), digest))
    });
    let digests = digests.collect();
    problems.or(digests)
}

/// What has to be said of an agent's recordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Age {
    /// They are of the agent as it is.
    Fresh,
    /// Some are of another one, or nobody knows; a remark.
    Told(String),
    /// Some are of another one, so no verdict can be given.
    Refused(String),
}

/// Holds recordings against the agent as it is now. `recorded` has each case with the digest that its recordings keep.
pub fn age<'a>(
    opened: &Opened,
    name: &AgentName,
    now: &str,
    recorded: impl Iterator<Item = (&'a str, Option<&'a str>)>,
) -> Age {
    let Some(agent) = opened.config.agents.get(name) else { return Age::Fresh };
    let (mut stale, mut unknown, mut all) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (case, digest) in recorded {
        all.insert(case);
        match digest {
            None => drop(unknown.insert(case)),
            Some(digest) if digest != now => drop(stale.insert(case)),
            Some(_) => {}
        }
    }
    let patterns: Vec<&str> = agent.fingerprint.iter().map(PathGlob::as_str).collect();
    let (patterns, again) = (patterns.join(", "), again(opened, name, agent));
    if stale.is_empty() {
        return match unknown.len() {
            0 => Age::Fresh,
            some => Age::Told(format!(
                "{some} of {} keep no digest of {patterns}: whether they are of the agent as it is cannot be told; {again}",
                plural(all.len(), "case's recordings", "cases' recordings"),
            )),
        };
    }
    let more = stale.len().saturating_sub(NAMED);
    let named = stale.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let named = if more == 0 { named } else { format!("{named} and {more} more") };
    let what = plural(stale.len(), "case's recordings are stale", "cases' recordings are stale");
    let told = format!("{what} ({named}): {patterns} changed since they were made; {again}");
    match agent.stale {
        Stale::Refused => Age::Refused(told),
        Stale::Told => Age::Told(told),
    }
}

/// How to make the recordings anew.
fn again(opened: &Opened, name: &AgentName, agent: &Agent) -> String {
    let folder = match &agent.deterministic {
        Some(Source::Replay(folder)) => folder.as_str(),
        Some(Source::Live(_)) | None => "DIR",
    };
    format!("re-record: `goldgate run --tier model --suite {} --agent {name} --record {folder}`", opened.config.id)
}

/// The digests that graded pairs were recorded with.
pub fn of_pairs(pairs: &[PairResult]) -> impl Iterator<Item = (&str, Option<&str>)> {
    let completed = pairs.iter().filter(|pair| pair.completed > 0);
    completed.map(|pair| (pair.case.as_str(), pair.answered_by.fingerprint.as_deref()))
}
