//! What the report says about the age of recordings.

use super::{FreshnessInputs, ReplayedAgent};
use crate::app::fingerprint::{AgentState, DigestOrigin};
use crate::app::plan::LoadedSuite;
use crate::model::{Agent, AgentName, CaseId, Freshness, RecordingAge, RunSource};
use crate::render::plural;

/// Cases that are named; the rest is counted.
const NAMED: usize = 3;

/// What the age of recordings means for the verdict.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FreshnessVerdict {
    /// What is said beside the numbers.
    pub notes: Vec<String>,
    /// Why no verdict can be given.
    pub refused: Option<String>,
}

/// What is said of the recordings of one agent of a suite; `pairs` has each case that was graded, in order.
pub fn freshness_verdict<'p>(
    inputs: &FreshnessInputs<'_>,
    name: &AgentName,
    pairs: impl Iterator<Item = (&'p CaseId, Freshness)>,
) -> FreshnessVerdict {
    let mut verdict = FreshnessVerdict::default();
    let words = AgentWords::of(inputs, name);
    if words.agents.is_empty() {
        return verdict;
    }
    let pairs: Vec<(&CaseId, Freshness)> = pairs.collect();
    let mut refused: Vec<String> = Vec::new();
    let changed = [
        (words.changed(), (|age: &Freshness| age.agent) as fn(&Freshness) -> RecordingAge),
        ("what the case asks changed since they were made".to_owned(), |age: &Freshness| age.input),
    ];
    for (why, age) in changed {
        let of = |wanted| pairs.iter().filter(move |(_, freshness)| age(freshness) == wanted).map(|(case, _)| *case);
        refused.extend(words.stale(of(RecordingAge::Stale).collect(), &why));
        verdict.notes.extend(words.stale(of(RecordingAge::StaleNoted).collect(), &why));
    }
    if refused.is_empty() {
        refused.extend(words.nothing_fits());
    }
    verdict.refused = (!refused.is_empty()).then(|| refused.join("; "));
    verdict.notes.extend(words.unknown(&pairs));
    verdict
}

/// Who is spoken of, and how recordings of it are made again.
struct AgentWords<'a> {
    opened: &'a LoadedSuite,
    name: &'a AgentName,
    /// The agents whose recordings are graded: one, or those of another suite.
    agents: Vec<(&'a AgentName, &'a ReplayedAgent<'a>)>,
}

impl<'a> AgentWords<'a> {
    fn of(inputs: &'a FreshnessInputs<'a>, name: &'a AgentName) -> Self {
        let opened = inputs.opened;
        let own = |of: &AgentName| opened.config.runs_of.is_some() || of == name;
        let agents = inputs.agents().iter().filter(|((_, of), _)| own(of)).map(|((_, of), agent)| (of, agent));
        Self { opened, name, agents: agents.collect() }
    }

    /// The agent's files, in words.
    fn files(&self) -> String {
        match (&self.opened.config.runs_of, self.agents.as_slice()) {
            (None, [(_, ReplayedAgent { state: Some(AgentState::Digest(now)), .. })]) => now.files.clone(),
            (Some(suite), _) => format!("the files of the agents of {suite}"),
            (None, _) => format!("the files of {}", self.name),
        }
    }

    fn changed(&self) -> String {
        format!("{} changed since they were made", self.files())
    }

    fn stale(&self, cases: Vec<&CaseId>, why: &str) -> Option<String> {
        if cases.is_empty() {
            return None;
        }
        let what = plural(cases.len(), "case's recordings are stale", "cases' recordings are stale");
        let named: Vec<&str> = cases.iter().take(NAMED).map(|case| case.as_str()).collect();
        let named = match cases.len().saturating_sub(NAMED) {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        };
        Some(format!("{what} ({named}): {why}; {}", self.record_again()))
    }

    /// Recordings that were made of patterns that fit no file would never be stale.
    fn nothing_fits(&self) -> Option<String> {
        let mut empty = self.agents.iter().filter_map(|(_, agent)| match &agent.state {
            Some(AgentState::Digest(now)) if now.origin == DigestOrigin::NoFile => Some(&now.files),
            Some(AgentState::Digest(_) | AgentState::Nameless(_)) | None => None,
        });
        let files = empty.next()?;
        Some(format!("there is no file at {files}: name the agent's files; then {}", self.record_again()))
    }

    /// What cannot be known, in one note for all cases.
    fn unknown(&self, pairs: &[(&CaseId, Freshness)]) -> Vec<String> {
        let mut notes = Vec::new();
        for (name, agent) in &self.agents {
            let Some(AgentState::Nameless(why)) = &agent.state else { continue };
            let whose = match &self.opened.config.runs_of {
                None => "this agent".to_owned(),
                Some(suite) => format!("the agent {suite}/{name}"),
            };
            notes.push(format!("cannot tell whether these recordings are of {whose}: {why}"));
        }
        let nameless = !notes.is_empty();
        let count = |age: fn(&Freshness) -> RecordingAge| {
            pairs.iter().filter(|(_, freshness)| age(freshness) == RecordingAge::Unknown).count()
        };
        let agent = if nameless { 0 } else { count(|age| age.agent) };
        let input = count(|age| age.input);
        let kept =
            [(agent, self.files(), "are of this agent"), (input, "their input".to_owned(), "answer these cases")];
        let unknown: Vec<_> = kept.iter().filter(|(count, ..)| *count > 0).collect();
        let Some(most) = unknown.iter().map(|(count, ..)| *count).max() else { return notes };
        let join = |words: Vec<&str>| words.join(" and ");
        let of = join(unknown.iter().map(|(_, of, _)| of.as_str()).collect());
        let tell = join(unknown.iter().map(|(.., tell)| *tell).collect());
        let all = plural(pairs.len(), "case's recordings", "cases' recordings");
        notes.push(format!("{most} of {all} keep no digest of {of}: cannot tell whether they {tell}"));
        notes
    }

    /// The command that records the runs again.
    fn record_again(&self) -> String {
        let suite = self.opened.config.runs_of.as_ref().unwrap_or(&self.opened.config.id);
        let named = if self.opened.config.runs_of.is_some() { None } else { Some(self.name) };
        let agent = self.agents.first().map(|(_, agent)| agent.agent);
        let folder = match agent.and_then(|agent| agent.deterministic.as_ref()) {
            Some(RunSource::Replay(folder)) => folder.as_str(),
            Some(RunSource::Live(_)) | None => "DIR",
        };
        let whose = named.map_or(String::new(), |name| format!(" --agent {name}"));
        match agent.is_some_and(has_live_source) {
            true => format!("re-record: `goldgate run --tier model --suite {suite}{whose} --record {folder}`"),
            false => format!(
                "record the agent again, then import its transcripts: `goldgate import FORMAT FILE{whose} --out {folder} --force`"
            ),
        }
    }
}

fn has_live_source(agent: &Agent) -> bool {
    [&agent.deterministic, &agent.model].into_iter().any(|source| matches!(source, Some(RunSource::Live(_))))
}
