//! Recordings that count with a change for the first time, although they are older: of a draft that becomes a case, or in a tier, a suite or for an
//! agent that is added. While they counted nowhere, nobody had to record them again.

use std::collections::{BTreeMap, BTreeSet};

use super::agent_files::{AgentFileChange, agent_file_change};
use super::found::ChangeCollector;
use super::record_command::{RecordedCases, record_again};
use super::recorded_before::HistorySearch;
use super::recorded_elsewhere::{case_below, evidence};
use super::recording_change::{RecordedFile, Recordings, counted_recordings, recordings};
use super::recording_comparison::KnownRecordings;
use super::recording_lists::recorded_files;
use super::sides::{Sides, same_suite};
use crate::format::lenient;
use crate::model::{
    Agent, AgentFiles, AgentName, CaseId, ChangeClass, Config, RecordingAge, RepoPath, RunKey,
    RunSource, SuiteId, Tier, Weight,
};

/// Both commits.
pub struct NewlyCounted<'a> {
    pub sides: &'a Sides<'a>,
    pub before: &'a Config,
    pub after: &'a Config,
    pub known: &'a KnownRecordings<'a>,
}

impl NewlyCounted<'_> {
    /// Reports those recordings that count for the first time and that the base commit has in files that do not count there, and those of a changed agent that it
    /// has at all. Recordings with digests of the present agent are of it.
    pub fn report(&self, found: &mut ChangeCollector) {
        let mut cases: BTreeMap<(&SuiteId, &AgentName), BTreeSet<&str>> = BTreeMap::new();
        for run in self.known.runs.iter().filter(|run| self.is_new(run)) {
            cases
                .entry((&run.suite, &run.agent))
                .or_default()
                .insert(run.case.as_str());
        }
        for ((suite, name), cases) in cases {
            let Some(agent) = self
                .after
                .suite(suite)
                .and_then(|suite| suite.agents.get(name))
            else {
                continue;
            };
            // Of an agent that names no files nobody can tell whether it changed.
            if matches!(
                agent.files(),
                AgentFiles::Nameless(_) | AgentFiles::Unstated
            ) {
                continue;
            }
            let replayed = |tier: &Tier| match agent.source(*tier)? {
                RunSource::Replay(folder) => Some(folder),
                RunSource::Live(_) => None,
            };
            let folders: BTreeSet<&RepoPath> =
                self.known.tiers.iter().filter_map(replayed).collect();
            for folder in folders {
                self.report_folder((suite, name, agent), folder, &cases, found);
            }
        }
    }

    /// Whether no recordings of a run decide on the base commit.
    fn is_new(&self, run: &RunKey) -> bool {
        let suite = self
            .after
            .suite(&run.suite)
            .and_then(|suite| same_suite(self.before, suite));
        let has_source = |agent: &Agent| {
            self.known
                .tiers
                .iter()
                .any(|tier| agent.source(*tier).is_some())
        };
        let had_source = suite
            .and_then(|suite| suite.agents.get(&run.agent))
            .is_some_and(has_source);
        !had_source || !(self.known.counts_on_base)(run)
    }

    fn report_folder(
        &self,
        (suite, name, agent): (&SuiteId, &AgentName, &Agent),
        folder: &RepoPath,
        cases: &BTreeSet<&str>,
        found: &mut ChangeCollector,
    ) {
        let own = folder.child(name.as_str());
        let files = recorded_files(self.sides.head, &own).unwrap_or_default();
        let mut new: Recordings = recordings(files);
        new.retain(|(case, _), _| cases.contains(case.as_str()));
        let is_changed = self.has_changed(name, agent);
        if !self.is_compared(suite, name) {
            let added = HistorySearch {
                sides: self.sides,
                config: self.after,
                suite,
                name,
                agent,
                folder,
                places: BTreeSet::from([own]),
                old: &Recordings::new(),
                new: &new,
                age: &|_, text| (self.known.age)(suite, name, text),
            };
            added.report_older(found, new.keys());
        }
        new.retain(|_, recorded| self.is_older((suite, name), recorded, is_changed));
        let Some(first) = new.values().next() else {
            return;
        };
        let names: Vec<&str> = new
            .values()
            .map(|recorded| recorded.name.as_str())
            .collect();
        let again = record_again(
            self.after,
            suite,
            Some(name),
            folder.as_str(),
            RecordedCases::All,
        );
        let what = "counted nowhere on the base commit, and without a digest of the agent's files may be of an earlier agent";
        let words = format!(
            "{}; {again}",
            counted_recordings(&names, &format!("{suite}/{name}"), what)
        );
        found.add(
            ChangeClass::Recording,
            Weight::NeedsApproval,
            words,
            Some(&first.file),
        );
    }

    /// Whether the recordings of an agent are compared with those of the base commit.
    fn is_compared(&self, suite: &SuiteId, name: &AgentName) -> bool {
        let old = self
            .after
            .suite(suite)
            .and_then(|suite| same_suite(self.before, suite));
        old.is_some_and(|old| old.agents.contains_key(name))
    }

    /// Whether the agent, under its name in any suite, has other files on the base commit.
    fn has_changed(&self, name: &AgentName, agent: &Agent) -> bool {
        let before = self
            .before
            .suites
            .iter()
            .filter_map(|suite| suite.agents.get(name));
        let is_other = |before: &Agent| {
            !matches!(
                agent_file_change(self.sides, before, agent),
                Ok(AgentFileChange::Unchanged(_) | AgentFileChange::Unknown)
            )
        };
        before.into_iter().any(is_other)
    }

    fn is_older(
        &self,
        (suite, name): (&SuiteId, &AgentName),
        recorded: &RecordedFile,
        is_changed: bool,
    ) -> bool {
        let Ok(source) = self.sides.head.text(&recorded.file) else {
            return false;
        };
        let places = self.known.contents.like(name, &recorded.file, &source.text);
        if places.is_empty() {
            return false;
        }
        if (self.known.age)(suite, name, &source.text) != RecordingAge::Unknown {
            return false;
        }
        let is_telling = lenient::whole(&source.text)
            .as_ref()
            .and_then(evidence)
            .is_some();
        (places.contains(&recorded.file) || is_telling)
            && (is_changed || !places.iter().any(|file| self.counted_before(file)))
    }

    /// Whether a recording counts on the base commit, in a suite, for an agent and in a tier that decides.
    fn counted_before(&self, file: &RepoPath) -> bool {
        self.before.suites.iter().any(|suite| {
            let is_left = same_suite(self.after, suite).is_some();
            suite.agents.iter().any(|(name, agent)| {
                let folders = self
                    .known
                    .tiers
                    .iter()
                    .filter_map(|tier| agent.source(*tier)?.recordings());
                folders
                    .map(|folder| folder.child(name.as_str()))
                    .any(|folder| {
                        let Some(case) = case_below(file, &folder) else {
                            return false;
                        };
                        let run = CaseId::new(&case).ok().map(|case| RunKey {
                            suite: suite.id.clone(),
                            agent: name.clone(),
                            case,
                        });
                        // The cases of a suite that was removed or renamed are not known.
                        !is_left || run.is_some_and(|run| (self.known.counts_on_base)(&run))
                    })
            })
        })
    }
}
