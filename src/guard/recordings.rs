//! Recordings beside the files of the agent that they are of: what changed on one side alone was not recorded.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;

use super::KnownRecordings;
use super::Likeness;
use super::Sides;
use super::files::are_alike;
use super::files::below;
use super::found::Found;
use super::found::counted;
use super::found::named;
use crate::format::run_v1;
use crate::model::Agent;
use crate::model::AgentName;
use crate::model::ChangeClass;
use crate::model::NotGateable;
use crate::model::PathGlob;
use crate::model::RecordingAge;
use crate::model::RepoPath;
use crate::model::Source;
use crate::model::SuiteId;
use crate::model::Tier;
use crate::model::Weight;
use crate::suites::Files;
use crate::suites::Shelf;

/// Whose recordings are compared.
pub struct Recorded<'a> {
    /// The suite.
    pub suite: &'a SuiteId,
    /// The agent.
    pub agent: &'a AgentName,
    /// The config, for what is said of the agent as a whole.
    pub file: &'a RepoPath,
    /// What is known of the recordings.
    pub recordings: &'a KnownRecordings<'a>,
}

/// Compares the recordings of one agent in the tiers that decide, and gives why they carry no verdict, where they do not. New
/// ones, of new cases, are no change of old ones.
pub fn compare(
    sides: &Sides<'_>,
    who: &Recorded<'_>,
    before: &Agent,
    after: &Agent,
    found: &mut Found,
) -> Vec<NotGateable> {
    let replayed = |tier: &Tier| match (before.source(*tier), after.source(*tier)) {
        (Some(Source::Replay(old)), Some(Source::Replay(new))) => Some((old, new)),
        (Some(Source::Replay(_) | Source::Live(_)) | None, _) => None,
    };
    // Both tiers may replay the same recordings.
    let folders: BTreeSet<(&RepoPath, &RepoPath)> = who.recordings.tiers.iter().filter_map(replayed).collect();
    let inputs = inputs(sides, before, after);
    let refusals = folders.into_iter().filter_map(|(old, new)| {
        let folder = new;
        let (old, new) = (old.child(who.agent.as_str()), new.child(who.agent.as_str()));
        let all = |_: &RepoPath| false;
        let (files_before, files_after) = match (below(sides.base, &old, &all), below(sides.head, &new, &all)) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(why), _) | (_, Err(why)) => {
                let words = format!("recordings of `{}/{}` cannot be compared: {why}", who.suite, who.agent);
                found.add(ChangeClass::Recording, Weight::NeedsApproval, words, Some(who.file));
                return None;
            }
        };
        let one = Compared {
            sides,
            who,
            folder,
            old: &files_before,
            new: &files_after,
            changes: changes(sides, &files_before, &files_after),
        };
        if let Some(unread) = one.unread() {
            return Some(unread);
        }
        one.list(found, &inputs);
        one.moved_files(found, before, after);
        match &inputs {
            Ok(Inputs::Changed) => one.stale(),
            Ok(Inputs::Unchanged(_) | Inputs::Unknown) => None,
            Err(why) => one.incomparable(why),
        }
    });
    refusals.collect()
}

/// How the recording of a case that both sides have differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Not at all.
    Same,
    /// In the votes of judges alone, which gate nothing.
    Votes,
    /// In the digests alone that say what it is of.
    Digests,
    /// In what the agent did, or it came or went.
    Content,
    /// That is not known, because one of them cannot be read.
    Unread,
}

/// The recordings of cases that both sides have, by their paths below the agent's folder.
fn changes(sides: &Sides<'_>, before: &Files, after: &Files) -> BTreeMap<String, Change> {
    // A case's recording is `{case}.json`, or `{case}/{sample}.json`.
    let case = |inner: &str| {
        let first = inner.split('/').next().unwrap_or(inner);
        first.strip_suffix(".json").unwrap_or(first).to_owned()
    };
    let cases = |files: &Files| -> BTreeSet<String> { files.keys().map(|inner| case(inner)).collect() };
    let (old, new) = (cases(before), cases(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let of_both = names.into_iter().filter(|inner| old.contains(&case(inner)) && new.contains(&case(inner)));
    let change = |inner: &String| match (before.get(inner), after.get(inner)) {
        (Some(before), Some(after)) => difference(sides, before, after),
        (None, _) | (_, None) => Change::Content,
    };
    of_both.map(|inner| (inner.clone(), change(inner))).collect()
}

fn difference(sides: &Sides<'_>, before: &RepoPath, after: &RepoPath) -> Change {
    if sides.base.likeness(before, after) == Likeness::Same {
        return Change::Same;
    }
    let (old, new) = match (sides.base.text(before), sides.head.text(after)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(problem), _) if problem.code == "unreadable" => return Change::Unread,
        (Err(_), _) | (_, Err(_)) => return Change::Content,
    };
    if run_v1::differ_in_votes_alone(&old.text, &new.text) {
        return Change::Votes;
    }
    match content(&old.text).zip(content(&new.text)) {
        Some((old, new)) if old == new => Change::Digests,
        Some(_) | None => Change::Content,
    }
}

/// A recording without the digests that say what it is of.
fn content(text: &str) -> Option<Value> {
    let mut run: Value = serde_json::from_str(text).ok()?;
    if let Some(provenance) = run.get_mut("provenance").and_then(Value::as_object_mut) {
        provenance.retain(|key, _| !is_digest(key));
    }
    Some(run)
}

fn is_digest(key: &str) -> bool {
    key == "fingerprint" || key.ends_with("sha256") || key.ends_with("digest")
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

/// Looks at the files that either side names, on both sides: to name more files changes no agent.
fn inputs(sides: &Sides<'_>, before: &Agent, after: &Agent) -> Result<Inputs, String> {
    let of_both = |shelf: &dyn Shelf| -> Result<Files, String> {
        let (old, new) = (agent_files(shelf, before)?, agent_files(shelf, after)?);
        Ok(old.into_iter().chain(new).flat_map(|(files, _)| files).collect())
    };
    let Some((_, of)) = agent_files(sides.head, after)? else { return Ok(Inputs::Unknown) };
    let alike = are_alike(sides.base, &of_both(sides.base)?, &of_both(sides.head)?);
    Ok(if alike { Inputs::Unchanged(of) } else { Inputs::Changed })
}

/// The files of an agent on one side, by their whole paths, and how people call them; `None` where it names none.
fn agent_files(shelf: &dyn Shelf, agent: &Agent) -> Result<Option<(Files, String)>, String> {
    let all = |_: &RepoPath| false;
    if !agent.fingerprint.is_empty() {
        let mut fitting = Files::new();
        for glob in &agent.fingerprint {
            let files = below(shelf, glob.folder(), &all)?.into_values().filter(|file| glob.fits(file));
            fitting.extend(files.map(|file| (file.as_str().to_owned(), file)));
        }
        let of: Vec<&str> = agent.fingerprint.iter().map(PathGlob::as_str).collect();
        return Ok(Some((fitting, of.join(", "))));
    }
    let Some(prompt) = &agent.prompt else { return Ok(None) };
    let files = below(shelf, prompt, &all)?.into_values().map(|file| (file.as_str().to_owned(), file));
    Ok(Some((files.collect(), format!("its prompt package {prompt}"))))
}

struct Compared<'a> {
    sides: &'a Sides<'a>,
    who: &'a Recorded<'a>,
    /// Where the head keeps them.
    folder: &'a RepoPath,
    old: &'a Files,
    new: &'a Files,
    changes: BTreeMap<String, Change>,
}

impl Compared<'_> {
    fn of(&self, wanted: &[Change]) -> Vec<&String> {
        self.changes.iter().filter(|(_, change)| wanted.contains(change)).map(|(inner, _)| inner).collect()
    }

    fn agent(&self) -> String {
        format!("{}/{}", self.who.suite, self.who.agent)
    }

    /// Lists recordings that changed, with who recorded them.
    fn list(&self, found: &mut Found, inputs: &Result<Inputs, String>) {
        let votes = self.of(&[Change::Votes]);
        if !votes.is_empty() {
            let whose = format!("of `{}` got other votes of judges, which gate nothing", self.agent());
            let file = votes.first().and_then(|inner| self.new.get(*inner));
            let words = counted(&votes, "recording", "recordings", &whose);
            found.add(ChangeClass::Recording, Weight::Listed, words, file);
        }
        let changed = self.of(&[Change::Digests, Change::Content]);
        if changed.is_empty() {
            return;
        }
        let file = changed.first().and_then(|inner| self.new.get(*inner).or_else(|| self.old.get(*inner)));
        let what = counted(&changed, "recording", "recordings", &format!("of `{}` changed", self.agent()));
        let what = format!("{what}{}", self.recorded_by(&changed));
        let (weight, words) = match inputs {
            Ok(Inputs::Changed) => (Weight::Listed, format!("{what}; the agent's files changed, too")),
            Ok(Inputs::Unchanged(of)) => {
                (Weight::NeedsApproval, format!("{what}, but none of the agent's files ({of}) did"))
            }
            Ok(Inputs::Unknown) => {
                (Weight::Listed, format!("{what}; whether the agent changed is unknown, because it names no files"))
            }
            Err(why) => (Weight::NeedsApproval, format!("{what}; the agent's files cannot be compared: {why}")),
        };
        found.add(ChangeClass::Recording, weight, words, file);
    }

    /// What made the recordings that changed, as they say themselves.
    fn recorded_by(&self, changed: &[&String]) -> String {
        let said = changed.iter().filter_map(|inner| {
            let run: Value = serde_json::from_str(&self.sides.head.text(self.new.get(*inner)?).ok()?.text).ok()?;
            let text = |key: &str| run.get("provenance")?.get(key)?.as_str().map(str::to_owned);
            let parts: Vec<String> = [text("target"), text("model")].into_iter().flatten().collect();
            (!parts.is_empty()).then(|| parts.join(" "))
        });
        let said: Vec<String> = said.collect::<BTreeSet<_>>().into_iter().collect();
        if said.is_empty() { String::new() } else { format!(" (recorded by {})", named(&said)) }
    }

    /// Why it is not known how some recordings changed.
    fn unread(&self) -> Option<NotGateable> {
        let unread = self.of(&[Change::Unread]);
        let count = match unread.len() {
            0 => return None,
            1 => "1 recording".to_owned(),
            more => format!("{more} recordings"),
        };
        Some(NotGateable(format!(
            "{}: it is not known how {count} changed, because the base commit's cannot be read: {}",
            self.agent(),
            named(&unread)
        )))
    }

    /// Recordings that are as they were, or got other votes alone, and that do not say by themselves whether they are of the agent
    /// as it is now.
    fn unknown(&self) -> Vec<&String> {
        let Recorded { suite, agent, recordings, .. } = self.who;
        let unknown = |inner: &&String| {
            let text = self.new.get(*inner).and_then(|file| self.sides.head.text(file).ok());
            text.is_some_and(|source| (recordings.age)(suite, agent, &source.text) == RecordingAge::Unknown)
        };
        self.of(&[Change::Same, Change::Votes]).into_iter().filter(unknown).collect()
    }

    /// The agent's files changed: a recording that did not, or that got new digests alone, is of the agent as it was.
    fn stale(&self) -> Option<NotGateable> {
        let mut stale: Vec<&String> = self.of(&[Change::Digests]);
        stale.extend(self.unknown());
        stale.sort();
        self.refused(&stale, |were| format!("the agent's files changed and {were} not made again"))
    }

    /// Whether the agent's files changed cannot be seen: a recording without a digest of them may be of another agent.
    fn incomparable(&self, why: &str) -> Option<NotGateable> {
        let words = |were: &str| {
            format!(
                "the agent's files cannot be compared with the base commit ({why}), and {were} made without a digest of them"
            )
        };
        self.refused(&self.unknown(), words)
    }

    fn refused(&self, recordings: &[&String], what: impl Fn(&str) -> String) -> Option<NotGateable> {
        let were = match recordings.len() {
            0 => return None,
            1 => "1 recording was".to_owned(),
            count => format!("{count} recordings were"),
        };
        let Recorded { suite, agent, .. } = self.who;
        Some(NotGateable(format!(
            "{suite}/{agent}: {}: {}; record again: `goldgate run --tier model --suite {suite} --agent {agent} --record {}`",
            what(&were),
            named(recordings),
            self.folder,
        )))
    }

    /// A new version of an agent may name other files, when every recording was made again and no file that changed drops out.
    fn moved_files(&self, found: &mut Found, before: &Agent, after: &Agent) {
        if before.fingerprint == after.fingerprint && before.prompt == after.prompt {
            return;
        }
        let (old, new) = match (agent_files(self.sides.base, before), agent_files(self.sides.head, after)) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(why), _) | (_, Err(why)) => {
                let words = format!("the files of `{}` cannot be compared: {why}", self.agent());
                return found.needs(words, Some(self.who.file));
            }
        };
        let named_by = |files: &Option<(Files, String)>| files.as_ref().map_or("none".to_owned(), |(_, of)| of.clone());
        let words = format!("files of `{}`: {} -> {}", self.agent(), named_by(&old), named_by(&new));
        let (Some((old, _)), kept) = (old, new.map(|(files, _)| files).unwrap_or_default()) else {
            return found.lists(words, Some(self.who.file));
        };
        let left: Vec<&String> = old
            .iter()
            .filter(|(path, file)| {
                let changed = self.sides.base.likeness(file, file) == Likeness::Differs;
                !kept.contains_key(*path) && self.sides.head.bytes(file).is_ok() && changed
            })
            .map(|(path, _)| path)
            .collect();
        let again = !self.changes.is_empty() && self.changes.values().all(|change| *change == Change::Content);
        match (left.is_empty(), again) {
            (true, true) => found.lists(format!("{words}; every recording was made again"), Some(self.who.file)),
            (false, _) => {
                let words = format!("{words}; {} changed and is not named any more", named(&left));
                found.needs(words, Some(self.who.file));
            }
            (true, false) => {
                found.needs(format!("{words}, and not every recording was made again"), Some(self.who.file));
            }
        }
    }
}
