//! Recordings beside the files that they are of: a recording that changed while its agent did not was not recorded.

use std::collections::BTreeSet;

use super::Likeness;
use super::Sides;
use super::files::are_alike;
use super::files::below;
use super::found::Found;
use super::found::counted;
use crate::format::run_v1;
use crate::model::Agent;
use crate::model::AgentName;
use crate::model::PathGlob;
use crate::model::RepoPath;
use crate::model::Source;
use crate::model::SuiteId;
use crate::suites::Files;
use crate::suites::Shelf;

/// Whose recordings are compared.
pub struct Who<'a> {
    /// The suite.
    pub suite: &'a SuiteId,
    /// The agent.
    pub agent: &'a AgentName,
    /// The config, for what is said of the agent as a whole.
    pub file: &'a RepoPath,
}

/// Compares the recordings of one agent in the deterministic tier. New ones, of new cases, are no change of old ones.
pub fn compare(sides: &Sides<'_>, who: &Who<'_>, before: &Agent, after: &Agent, found: &mut Found) {
    let (Some(Source::Replay(old)), Some(Source::Replay(new))) = (&before.deterministic, &after.deterministic) else {
        return;
    };
    let (old, new) = (old.child(who.agent.as_str()), new.child(who.agent.as_str()));
    let all = |_: &RepoPath| false;
    let (files_before, files_after) = match (below(sides.base, &old, &all), below(sides.head, &new, &all)) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(why), _) | (_, Err(why)) => {
            let words = format!("recordings of `{}/{}` cannot be compared: {why}", who.suite, who.agent);
            return found.needs(words, Some(who.file));
        }
    };
    let (votes, changed): (Vec<String>, Vec<String>) = changed(sides, &files_before, &files_after)
        .into_iter()
        .partition(|inner| in_votes_alone(sides, files_before.get(inner), files_after.get(inner)));
    if !votes.is_empty() {
        let file = votes.first().and_then(|inner| files_after.get(inner));
        let whose = format!("of `{}/{}` got other votes of judges, which gate nothing", who.suite, who.agent);
        found.lists(counted(&votes, "recording", "recordings", &whose), file);
    }
    if changed.is_empty() {
        return;
    }
    let file = changed.first().and_then(|inner| files_after.get(inner)).cloned();
    let what = counted(&changed, "recording", "recordings", &format!("of `{}/{}` changed", who.suite, who.agent));
    match inputs(sides, before, after) {
        Ok(Inputs::Changed) => {
            found.lists(format!("{what}; what the agent is made of has changed, too"), file.as_ref())
        }
        Ok(Inputs::Unchanged(of)) => {
            found.needs(format!("{what}, while what the agent is made of ({of}) is unchanged"), file.as_ref());
        }
        Ok(Inputs::Unknown) => found.lists(
            format!("{what}; whether the agent has changed cannot be told: it declares no fingerprint"),
            file.as_ref(),
        ),
        Err(why) => found.needs(format!("{what}; what the agent is made of cannot be compared: {why}"), file.as_ref()),
    }
}

/// Whether a recording says what it said, and judges alone say something else of it.
fn in_votes_alone(sides: &Sides<'_>, before: Option<&RepoPath>, after: Option<&RepoPath>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return false };
    let texts = sides.base.text(before).ok().zip(sides.head.text(after).ok());
    texts.is_some_and(|(before, after)| run_v1::differ_in_votes_alone(&before.text, &after.text))
}

/// Recordings of cases that both sides have, and that differ, come or go.
fn changed(sides: &Sides<'_>, before: &Files, after: &Files) -> Vec<String> {
    // A case's recording is `{case}.json`, or `{case}/{sample}.json`.
    let case = |inner: &str| {
        let first = inner.split('/').next().unwrap_or(inner);
        first.strip_suffix(".json").unwrap_or(first).to_owned()
    };
    let cases = |files: &Files| -> BTreeSet<String> { files.keys().map(|inner| case(inner)).collect() };
    let (old, new) = (cases(before), cases(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let of_both = names.into_iter().filter(|inner| old.contains(&case(inner)) && new.contains(&case(inner)));
    let differs = |inner: &&String| match (before.get(*inner), after.get(*inner)) {
        (Some(before), Some(after)) => sides.base.likeness(before, after) == Likeness::Differs,
        (None, _) | (_, None) => true,
    };
    of_both.filter(differs).cloned().collect()
}

/// Whether the files that an agent is made of have changed.
enum Inputs {
    /// They have.
    Changed,
    /// They have not; what they are.
    Unchanged(String),
    /// It names none.
    Unknown,
}

fn inputs(sides: &Sides<'_>, before: &Agent, after: &Agent) -> Result<Inputs, String> {
    let said = |alike: bool, of: String| if alike { Inputs::Unchanged(of) } else { Inputs::Changed };
    // The base's patterns are looked at on both sides: other patterns alone are no other agent.
    let globs = if before.fingerprint.is_empty() { &after.fingerprint } else { &before.fingerprint };
    if !globs.is_empty() {
        let (old, new) = (fitting(sides.base, globs)?, fitting(sides.head, globs)?);
        let of: Vec<&str> = globs.iter().map(PathGlob::as_str).collect();
        return Ok(said(are_alike(sides.base, &old, &new), of.join(", ")));
    }
    let all = |_: &RepoPath| false;
    let Some(old) = before.prompt.as_ref().or(after.prompt.as_ref()) else { return Ok(Inputs::Unknown) };
    let new = after.prompt.as_ref().unwrap_or(old);
    let alike = are_alike(sides.base, &below(sides.base, old, &all)?, &below(sides.head, new, &all)?);
    Ok(said(alike, format!("its prompt package {old}")))
}

/// The files that fit any of the patterns, by their whole paths.
fn fitting(shelf: &dyn Shelf, globs: &[PathGlob]) -> Result<Files, String> {
    let mut fitting = Files::new();
    for glob in globs {
        let files = below(shelf, glob.folder(), &|_| false)?;
        fitting.extend(files.into_values().filter(|file| glob.fits(file)).map(|file| (file.as_str().to_owned(), file)));
    }
    Ok(fitting)
}
