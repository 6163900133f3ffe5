//! The report's messages about the age of recordings.

use super::{FreshnessInputs, ReplayedAgent};
use crate::app::pipeline::fingerprint::{AgentState, DigestOrigin};
use crate::app::pipeline::plan::LoadedSuite;
use crate::files::files_below;
use crate::format::recording_layout::RecordingPaths;
use crate::golden_changes::{RecordedCases, is_in_folder, record_again};
use crate::model::{
    Agent, AgentName, CaseId, Freshness, RecordingAge, RepoPath, RunSource, SuiteConfig, Transport,
};
use crate::render::plural;
use crate::text::{config_option, first_of};

/// The effect of the recordings' age on the verdict.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FreshnessVerdict {
    /// Notes about recordings, which do not change the verdict.
    pub notes: Vec<String>,
    /// Notes about the list of the agent's files.
    pub list_notes: Vec<String>,
    /// The reason why no verdict is possible.
    pub refused: Option<String>,
}

/// Returns the messages about the recordings of one agent of a suite; `pairs` contains all graded cases in order.
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
    let no_file = words.no_matching_file();
    let is_fresh =
        |age: RecordingAge| !matches!(age, RecordingAge::Stale | RecordingAge::StaleNoted);
    let wanted = match pairs
        .iter()
        .any(|(_, age)| is_fresh(age.agent) && is_fresh(age.input))
    {
        true => RecordedCases::Missing,
        false => RecordedCases::All,
    };
    let changed = [
        (
            Changed::Agent,
            (|age: &Freshness| age.agent) as fn(&Freshness) -> RecordingAge,
        ),
        (Changed::Input, |age: &Freshness| age.input),
    ];
    for (what, age) in changed {
        let of = |wanted| {
            pairs
                .iter()
                .filter(move |(_, freshness)| age(freshness) == wanted)
                .map(|(case, _)| *case)
        };
        refused.extend(words.stale(&of(RecordingAge::Stale).collect::<Vec<_>>(), what));
        let noted = words.stale(&of(RecordingAge::StaleNoted).collect::<Vec<_>>(), what);
        verdict
            .notes
            .extend(noted.map(|noted| format!("{noted}; {}", words.record_again(wanted))));
    }
    verdict.list_notes = [words.unused_patterns(), words.unlisted_programs()].concat();
    verdict.list_notes.extend(words.unsent_prompts());
    // Where a pattern is wrong, its files did not change.
    if let Some(why) = no_file {
        refused = vec![why];
    } else if let Some(why) = words.other_list().filter(|_| !refused.is_empty()) {
        refused.extend([why, words.record_again(RecordedCases::All)]);
    } else if !refused.is_empty() {
        let is_of_agent = pairs
            .iter()
            .any(|(_, age)| age.agent == RecordingAge::Stale);
        let next = || {
            if is_of_agent {
                words.make_current(wanted)
            } else {
                words.record_again(wanted)
            }
        };
        refused.push(words.get_pointer().unwrap_or_else(next));
    }
    verdict.refused = (!refused.is_empty()).then(|| refused.join("; "));
    verdict.notes.extend(words.unknown(&pairs));
    verdict
}

/// What changed since a recording was made.
#[derive(Clone, Copy)]
enum Changed {
    Agent,
    Input,
}

/// The names for messages about an agent's recordings.
struct AgentWords<'a> {
    inputs: &'a FreshnessInputs<'a>,
    loaded: &'a LoadedSuite,
    name: &'a AgentName,
    /// The agents whose recordings are graded: one, or those of another suite.
    agents: Vec<(&'a AgentName, &'a ReplayedAgent<'a>)>,
}

impl<'a> AgentWords<'a> {
    fn of(inputs: &'a FreshnessInputs<'a>, name: &'a AgentName) -> Self {
        let loaded = inputs.loaded;
        let own = |of: &AgentName| loaded.config.runs_of.is_some() || of == name;
        let agents = inputs
            .agents()
            .iter()
            .filter(|((_, of), _)| own(of))
            .map(|((_, of), agent)| (of, agent));
        Self {
            inputs,
            loaded,
            name,
            agents: agents.collect(),
        }
    }

    /// The agent's files, for messages.
    fn files(&self) -> String {
        match (&self.loaded.config.runs_of, self.agents.as_slice()) {
            (
                None,
                [
                    (
                        _,
                        ReplayedAgent {
                            state: Some(AgentState::Digest(now)),
                            ..
                        },
                    ),
                ],
            ) => now.files.clone(),
            (Some(suite), _) => format!("the files of the agents of {suite}"),
            (None, _) => format!("the files of {}", self.name),
        }
    }

    /// The agent's files that differ from those of the base commit, for a sentence.
    fn changed_files(&self) -> String {
        let mut changed: Vec<RepoPath> = self
            .agents
            .iter()
            .flat_map(|(_, agent)| self.inputs.changed_files(agent))
            .collect();
        changed.sort();
        changed.dedup();
        if !changed.is_empty() {
            return first_of(&changed.iter().map(RepoPath::as_str).collect::<Vec<_>>());
        }
        let only = self.agents.first().and_then(|(_, agent)| agent.only_file());
        match (&self.loaded.config.runs_of, only, self.inputs.base) {
            (Some(suite), ..) => format!("one of the files of the agents of {suite}"),
            (None, Some(file), None) => file.to_string(),
            (None, None, None) => format!("one of the agent's files ({})", self.files()),
            // None differs from the base commit, so a file left the list or joined it, or they were stale there.
            (None, _, Some(_)) => {
                format!("the agent's files or the list of them ({})", self.files())
            }
        }
    }

    fn stale(&self, cases: &[&CaseId], what: Changed) -> Option<String> {
        if cases.is_empty() {
            return None;
        }
        let why = match what {
            Changed::Agent if self.is_recorded_here(cases) => {
                format!(
                    "this change recorded or moved them, and they are of other files of the agent than it has: {} changed later, or one was not committed",
                    self.changed_files()
                )
            }
            Changed::Agent => format!("{} changed since they were recorded", self.changed_files()),
            Changed::Input => {
                format!(
                    "the case's input changed since they were recorded{}",
                    self.other_suite().unwrap_or_default()
                )
            }
        };
        let stale = plural(
            cases.len(),
            "case's recordings are stale",
            "cases' recordings are stale",
        );
        let named: Vec<&str> = cases.iter().map(|case| case.as_str()).collect();
        Some(format!("{stale} ({}): {why}", first_of(&named)))
    }

    /// Whether the base commit lacks all recordings of these cases as they are.
    fn is_recorded_here(&self, cases: &[&CaseId]) -> bool {
        let FreshnessInputs {
            base: Some(base),
            files,
            ..
        } = self.inputs
        else {
            return false;
        };
        let of_agent = |(name, replayed): &(&AgentName, &ReplayedAgent<'_>)| {
            let folder = replayed
                .agent
                .deterministic
                .as_ref()
                .and_then(RunSource::recordings);
            let paths = folder.map(|folder| {
                cases
                    .iter()
                    .map(|case| RecordingPaths::new(folder, name, case))
            });
            paths
                .into_iter()
                .flatten()
                .filter_map(|paths| paths.list(*files).ok())
                .flatten()
                .collect::<Vec<_>>()
        };
        let is_of_base = |file: &RepoPath| {
            files
                .bytes(file)
                .is_ok_and(|bytes| base.has_file(file, Some(&bytes)))
        };
        !self
            .agents
            .iter()
            .flat_map(of_agent)
            .any(|(_, file)| is_of_base(&file))
    }

    /// Refuses patterns that match no file: their recordings would never become stale.
    fn no_matching_file(&self) -> Option<String> {
        let mut empty = self
            .agents
            .iter()
            .filter_map(|(_, agent)| match &agent.state {
                Some(AgentState::Digest(now)) if now.origin == DigestOrigin::NoFile => {
                    Some(&now.files)
                }
                Some(AgentState::Digest(_) | AgentState::Nameless(_)) | None => None,
            });
        let files = empty.next()?;
        Some(format!(
            "no file matches {files}: correct the patterns, then {}",
            self.record_again(RecordedCases::All)
        ))
    }

    /// Why recordings of two suites cannot be current in both.
    fn other_list(&self) -> Option<String> {
        let other = self
            .agents
            .iter()
            .find_map(|(_, agent)| agent.other_list.as_ref())?;
        Some(format!(
            "the suite {other} names other files for the same recordings: write the same `fingerprint` in both"
        ))
    }

    /// Another suite whose recordings may be in the same files, with the input of its cases.
    fn other_suite(&self) -> Option<String> {
        let own = &self.loaded.config.id;
        let shares = |suite: &SuiteConfig, (name, replayed): &(&AgentName, &ReplayedAgent<'_>)| {
            let folder = |agent: &Agent| {
                agent
                    .deterministic
                    .as_ref()
                    .and_then(RunSource::recordings)
                    .cloned()
            };
            suite.agents.get(*name).is_some_and(|agent| {
                folder(agent).is_some() && folder(agent) == folder(replayed.agent)
            })
        };
        let others = self
            .inputs
            .config
            .suites
            .iter()
            .filter(|suite| suite.id != *own);
        let other = others
            .into_iter()
            .find(|suite| self.agents.iter().any(|agent| shares(suite, agent)))?;
        Some(format!(
            " (the suite {} keeps its recordings in the same folder: where both have a case of one name, give one of them another folder)",
            other.id
        ))
    }

    /// Notes about files of a prompt package that no model gets.
    fn unsent_prompts(&self) -> Option<String> {
        let FreshnessInputs { config, files, .. } = self.inputs;
        let is_model = |agent: &Agent| {
            let live = agent.model.as_ref().and_then(RunSource::live);
            live.and_then(|live| config.targets.get(&live.target))
                .is_some_and(|target| matches!(target.transport, Transport::Model(_)))
        };
        let of_agent = |agent: &Agent| agent.prompt.as_ref().filter(|_| is_model(agent)).cloned();
        let packages = self
            .agents
            .iter()
            .filter_map(|(_, replayed)| of_agent(replayed.agent));
        let found = packages
            .filter_map(|package| files_below(*files, &package).ok())
            .flatten();
        let inner: Vec<String> = found
            .filter(|(path, _)| is_in_folder(path))
            .map(|(_, file)| file.to_string())
            .collect();
        (!inner.is_empty()).then(|| {
            let inner: Vec<&str> = inner.iter().map(String::as_str).collect();
            format!(
                "only the files directly in a prompt package are sent to the model, so not {}",
                first_of(&inner)
            )
        })
    }

    /// Notes about patterns that match no file while others match some.
    fn unused_patterns(&self) -> Vec<String> {
        let states = self
            .agents
            .iter()
            .filter_map(|(_, agent)| match &agent.state {
                Some(AgentState::Digest(now)) if now.origin == DigestOrigin::Files => {
                    Some(&now.unused)
                }
                Some(AgentState::Digest(_) | AgentState::Nameless(_)) | None => None,
            });
        let notes = states.flatten().map(|pattern| {
            format!("no file of the agent matches {pattern}, so goldgate does not track the files it is meant for; correct or remove it")
        });
        notes.collect()
    }

    /// Notes about programs whose changes make no recording stale.
    fn unlisted_programs(&self) -> Vec<String> {
        let programs = self
            .agents
            .iter()
            .filter_map(|(_, agent)| agent.program.as_ref());
        let note = |program| {
            format!(
                "fingerprint does not name {program}, which a target of the agent starts: a change of it makes no recording stale"
            )
        };
        programs.map(note).collect()
    }

    /// How to get an agent's file that is a Git LFS pointer; `None` if there is none. A new recording would be of the pointer.
    fn get_pointer(&self) -> Option<String> {
        let file = self
            .agents
            .iter()
            .find_map(|(_, agent)| match &agent.state {
                Some(AgentState::Digest(now)) => now.pointer.as_ref(),
                Some(AgentState::Nameless(_)) | None => None,
            })?;
        Some(format!(
            "{file} is a Git LFS pointer, not the file itself: get it with `git lfs pull` (`lfs: true` of actions/checkout)"
        ))
    }

    /// Returns the notes about recordings of unknown age: one for all cases.
    fn unknown(&self, pairs: &[(&CaseId, Freshness)]) -> Vec<String> {
        let mut notes = Vec::new();
        for (name, agent) in &self.agents {
            let Some(AgentState::Nameless(why)) = &agent.state else {
                continue;
            };
            let whose = match &self.loaded.config.runs_of {
                None => "this agent".to_owned(),
                Some(suite) => format!("the agent {suite}/{name}"),
            };
            notes.push(format!(
                "unknown whether these recordings are of {whose}: {why}"
            ));
        }
        let nameless = !notes.is_empty();
        let count = |age: fn(&Freshness) -> RecordingAge| {
            pairs
                .iter()
                .filter(|(_, freshness)| age(freshness) == RecordingAge::Unknown)
                .count()
        };
        let agent = if nameless { 0 } else { count(|age| age.agent) };
        let input = count(|age| age.input);
        let kept = [
            (agent, self.files(), "are of this agent"),
            (input, "their input".to_owned(), "answer these cases"),
        ];
        let unknown: Vec<_> = kept.iter().filter(|(count, ..)| *count > 0).collect();
        let Some(most) = unknown.iter().map(|(count, ..)| *count).max() else {
            return notes;
        };
        let join = |words: Vec<&str>| words.join(" and ");
        let of = join(unknown.iter().map(|(_, of, _)| of.as_str()).collect());
        let claim = join(unknown.iter().map(|(.., claim)| *claim).collect());
        let all = plural(pairs.len(), "case's recordings", "cases' recordings");
        notes.push(format!(
            "{most} of {all} have no digest of {of}: unknown whether they {claim}"
        ));
        notes
    }

    /// Returns the commands that make stale recordings current.
    fn make_current(&self, cases: RecordedCases<'_>) -> String {
        let again = self.record_again(cases);
        // Where no file differs from the base commit, the list of them may.
        let has_same_files = self
            .agents
            .iter()
            .all(|(_, agent)| self.inputs.changed_files(agent).is_empty());
        match self.inputs.base.is_some() && has_same_files {
            true => format!(
                "if the list of its files changed and no file did: `goldgate digests{} --base REV` (REV: the base branch); if they were \
                 stale on the base branch already: {again}",
                config_option(self.inputs.config.file.as_str())
            ),
            false => again,
        }
    }

    /// Returns the command that records the runs again.
    fn record_again(&self, cases: RecordedCases<'_>) -> String {
        let suite = self
            .loaded
            .config
            .runs_of
            .as_ref()
            .unwrap_or(&self.loaded.config.id);
        let named = if self.loaded.config.runs_of.is_some() {
            None
        } else {
            Some(self.name)
        };
        let agent = self.agents.first().map(|(_, agent)| agent.agent);
        let folder = agent
            .and_then(|agent| agent.deterministic.as_ref()?.recordings())
            .map_or("DIR", RepoPath::as_str);
        record_again(self.inputs.config, suite, named, folder, cases)
    }
}
