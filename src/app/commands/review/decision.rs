//! Decisions on drafts: an accepted one counts from then on, a rejected one is removed with its recordings.

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobMatcher;

use crate::evaluation::plan::Plan;
use crate::files::{Files, SourceText};
use crate::format::recording_layout::RecordingPaths;
use crate::model::{AgentName, CaseId, Config, RepoPath, RunKey, SuiteConfig, SuiteId, words};
use crate::render::CliError;
use crate::suites::{CaseText, GoldenForm, Pair};
use crate::world::Disk;

/// A draft case, with what a decision on it changes.
pub struct DraftCase {
    pub suite: SuiteId,
    pub case: CaseId,
    /// The agents that are graded on it.
    pub agents: Vec<AgentName>,
    pub golden: RepoPath,
    /// Its recordings that no other case uses.
    recordings: BTreeSet<RepoPath>,
    form: GoldenForm,
}

words! {
    pub enum Decision {
        /// It becomes a case.
        Accepted = "accepted",
        /// It is removed.
        Rejected = "rejected",
    }
}

/// The selected drafts of a plan, by suite and case.
pub fn drafts(plan: &Plan) -> Vec<DraftCase> {
    let mut drafts: Vec<DraftCase> = Vec::new();
    let readers = RecordingReaders::of(plan);
    for loaded in &plan.suites {
        for pair in loaded.chosen_drafts(&plan.wanted) {
            let recordings = pair
                .runs
                .iter()
                .filter_map(|key| recording_paths(&plan.config, key))
                .filter(|paths| !readers.has_other(paths, pair))
                .flat_map(|paths| [paths.single(), paths.folder()]);
            let known = drafts
                .iter_mut()
                .find(|draft| {
                    draft.suite == loaded.config.id
                        && draft.case == pair.case
                        && draft.golden == pair.golden
                })
                .filter(|_| !loaded.kind.golden.is_of_agent());
            match known {
                Some(known) => {
                    known.agents.push(pair.agent.clone());
                    known.recordings.extend(recordings);
                }
                None => drafts.push(DraftCase {
                    suite: loaded.config.id.clone(),
                    case: pair.case.clone(),
                    agents: vec![pair.agent.clone()],
                    golden: pair.golden.clone(),
                    recordings: recordings.collect(),
                    form: loaded.kind.golden,
                }),
            }
        }
    }
    drafts
}

/// The paths of a replayed run's recordings.
fn recording_paths(config: &Config, key: &RunKey) -> Option<RecordingPaths> {
    let suite = config.suite(&key.suite)?;
    let folder = suite
        .agents
        .get(&key.agent)?
        .deterministic
        .as_ref()?
        .replay()?
        .folder()?;
    Some(RecordingPaths::new(folder, &key.agent, &key.case))
}

/// Which cases read which recordings: suites may share a folder.
struct RecordingReaders<'a> {
    cases: BTreeMap<RecordingPaths, BTreeSet<(&'a CaseId, &'a RepoPath)>>,
    /// The folders of agents of suites that are not read now, so their cases are not known.
    unknown: BTreeSet<RepoPath>,
}

impl<'a> RecordingReaders<'a> {
    fn of(plan: &'a Plan) -> Self {
        let mut cases: BTreeMap<RecordingPaths, BTreeSet<_>> = BTreeMap::new();
        for pair in plan
            .suites
            .iter()
            .flat_map(|loaded| loaded.suite.pairs_to_run())
        {
            for paths in pair
                .runs
                .iter()
                .filter_map(|key| recording_paths(&plan.config, key))
            {
                cases
                    .entry(paths)
                    .or_default()
                    .insert((&pair.case, &pair.golden));
            }
        }
        let unread = plan
            .config
            .suites
            .iter()
            .filter(|suite| plan.suite(&suite.id).is_none());
        Self {
            cases,
            unknown: unread.flat_map(SuiteConfig::recording_folders).collect(),
        }
    }

    /// Whether another case may read these recordings.
    fn has_other(&self, paths: &RecordingPaths, pair: &Pair) -> bool {
        let others = self.cases.get(paths).into_iter().flatten();
        self.unknown.contains(paths.agent_folder())
            || others
                .into_iter()
                .any(|reader| *reader != (&pair.case, &pair.golden))
    }
}

impl DraftCase {
    /// Its name for `--accept` and `--reject`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.suite, self.case)
    }

    /// Whether a pattern fits one of its names.
    pub fn is_named(&self, pattern: &GlobMatcher) -> bool {
        let mut with_agent = self
            .agents
            .iter()
            .map(|agent| format!("{}/{agent}/{}", self.suite, self.case));
        pattern.is_match(self.name())
            || pattern.is_match(self.case.as_str())
            || with_agent.any(|name| pattern.is_match(name))
    }

    /// Its part of its golden file.
    ///
    /// # Errors
    /// The file has changed and does not contain it.
    fn text<'a>(&self, source: &'a SourceText) -> Result<CaseText<'a>, CliError> {
        let agent = self.agents.first();
        agent
            .and_then(|agent| CaseText::find(self.form, source, &self.case, agent))
            .ok_or_else(|| self.refuse())
    }

    /// Changes the golden file, and nothing in it but this case. The result was read again before it replaces the file.
    pub fn decide(&self, decision: Decision, disk: &Disk) -> Result<(), CliError> {
        let source = disk.text(&self.golden)?;
        let text = self.text(&source)?;
        match decision {
            Decision::Accepted => {
                let accepted = text.accepted().ok_or_else(|| self.refuse())?;
                disk.replace_input(&self.golden, accepted.as_bytes())?;
            }
            Decision::Rejected if text.is_file() => disk.remove(&self.golden)?,
            Decision::Rejected => {
                let removed = text.removed().ok_or_else(|| self.refuse())?;
                disk.replace_input(&self.golden, removed.as_bytes())?;
            }
        }
        if decision == Decision::Rejected {
            for recording in &self.recordings {
                disk.remove(recording)?;
            }
        }
        Ok(())
    }

    fn refuse(&self) -> CliError {
        anyhow::anyhow!(
            "{}: the draft {} cannot be found in the text; edit it by hand",
            self.golden,
            self.case
        )
        .into()
    }
}
