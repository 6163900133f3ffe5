//! Finds the case of a run by its query, and adds drafts to a golden file for runs without a case.

use std::collections::{BTreeMap, BTreeSet};

use import::Transcript;

use super::imported_runs::SamplesOfCase;
use super::proposed_case::{Origin, ProposedSamples, id_of_file};
use crate::diag::{Code, Diagnostic, nearest};
use crate::evaluation::plan::{LoadedSuite, Plan, plan};
use crate::evaluation::selection::Selection;
use crate::files::Files;
use crate::format::redact::redacted_ask;
use crate::model::{AgentName, CaseId, RepoPath};
use crate::render::CliError;
use crate::suites::{CaseStage, fits_said, with_cases};
use crate::text::Redactor;
use crate::world::{Disk, World};

pub struct KnownCases {
    disk: Disk,
    plan: Plan,
    redactor: Redactor,
}

/// A run without a case.
pub struct NewRun<'a> {
    pub run: &'a Transcript,
    pub origin: Origin<'a>,
    pub agent: AgentName,
}

/// Drafts that were added to golden files.
#[derive(Default)]
pub struct AddedDrafts<'a> {
    /// The case of each run; `None` for runs without a query or an answer.
    pub cases: Vec<Option<CaseId>>,
    /// The golden files as they were.
    before: BTreeMap<RepoPath, String>,
    disk: Option<&'a Disk>,
}

/// What makes runs samples of one draft: the file, the stated case, and the words of each user message.
type DraftKey<'a> = (&'a RepoPath, Option<&'a str>, Vec<Vec<&'a str>>);

/// A file of cases that gets new ones.
struct ExtendedFile {
    /// The ids of its cases.
    used: BTreeSet<String>,
    /// The new cases, as JSON.
    new: Vec<String>,
}

impl ExtendedFile {
    fn of(loaded: &LoadedSuite) -> Self {
        let known = loaded.suite.pairs_to_run().map(|pair| &pair.case);
        let retired = loaded.suite.retired().iter().map(|(case, _)| case);
        Self {
            used: known.chain(retired).map(ToString::to_string).collect(),
            new: Vec::new(),
        }
    }
}

impl AddedDrafts<'_> {
    /// Adds new cases to a golden file.
    fn write(&mut self, disk: &Disk, path: &RepoPath, new: &[String]) -> Result<(), CliError> {
        let source = disk.text(path)?;
        let text = with_cases(&source, new).ok_or_else(|| {
            anyhow::anyhow!("{}: a case cannot be added to this text", source.file)
        })?;
        disk.replace_input(&source.file, text.as_bytes())?;
        self.before.insert(source.file, source.text);
        Ok(())
    }

    /// Takes the drafts back. Returns why that failed.
    pub fn undo(&self) -> Option<anyhow::Error> {
        let disk = self.disk?;
        self.before
            .iter()
            .find_map(|(file, text)| disk.replace_input(file, text.as_bytes()).err())
    }
}

/// Whether the id of a case is the name of a file with a position in it.
fn is_part_of_file(case: &str, file: &str) -> bool {
    let position = case
        .strip_prefix(file)
        .and_then(|rest| rest.strip_prefix('-'));
    position.is_some_and(|position| position.parse::<u32>().is_ok())
}

impl KnownCases {
    /// Reads a config; `None` if none was named and the default one does not exist.
    pub fn open(config: Option<&str>, world: &World) -> Result<Option<Self>, CliError> {
        let Some((disk, file)) = Disk::of_config_if_any(config)? else {
            return Ok(None);
        };
        let plan = plan(&disk, &file, Selection::default(), &world.clock.days())?;
        let redactor = world.redactor();
        Ok(Some(Self {
            disk,
            plan,
            redactor,
        }))
    }

    /// The case of an agent in which the user says what the run's user says; of several, the one with the name of the file. `None` without
    /// such a case.
    pub fn case_of(&self, agent: &AgentName, run: &Transcript, file: &str) -> Option<CaseId> {
        let asking = self.cases_asking(agent, run);
        if let Some(id) = id_of_file(file) {
            if let Some(case) = asking.iter().find(|case| case.as_str() == id) {
                return Some((*case).clone());
            }
            let mut parts = asking
                .iter()
                .filter(|case| is_part_of_file(case.as_str(), &id));
            if let (Some(only), None) = (parts.next(), parts.next()) {
                return Some((*only).clone());
            }
        }
        let mut cases = asking.into_iter();
        match (cases.next(), cases.next()) {
            (Some(only), None) => Some(only.clone()),
            (Some(_) | None, _) => None,
        }
    }

    /// The cases of an agent in which the user says what the run's user says.
    pub fn cases_asking(&self, agent: &AgentName, run: &Transcript) -> BTreeSet<&CaseId> {
        let said = run.messages();
        let mut cases: BTreeSet<&CaseId> = BTreeSet::new();
        for loaded in &self.plan.suites {
            for pair in loaded
                .suite
                .pairs_to_run()
                .filter(|pair| pair.agent == *agent)
            {
                let mut asks = pair
                    .runs
                    .iter()
                    .filter_map(|key| loaded.suite.ask(pair, key, &self.disk).ok()?);
                if !said.is_empty()
                    && asks.any(|ask| fits_said(&redacted_ask(&ask, &self.redactor), &said))
                {
                    cases.insert(&pair.case);
                }
            }
        }
        cases
    }

    /// Which agents there are; `None` if this is one of them.
    pub fn help_with_agent(&self, agent: &AgentName) -> Option<String> {
        let suites = self.plan.suites.iter();
        let known: BTreeSet<&str> = suites
            .flat_map(|loaded| loaded.config.agents.keys())
            .map(AgentName::as_str)
            .collect();
        if known.contains(agent.as_str()) {
            return None;
        }
        Some(match nearest(agent.as_str(), known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!(
                "the agents are {}",
                known.into_iter().collect::<Vec<_>>().join(", ")
            ),
        })
    }

    pub fn has(&self, agent: &AgentName, case: &CaseId) -> bool {
        let mut pairs = self
            .plan
            .suites
            .iter()
            .flat_map(|loaded| loaded.suite.pairs_to_run());
        pairs.any(|pair| pair.agent == *agent && pair.case == *case)
    }

    /// Adds one draft for each query and stated case to the agent's suite of kind `tool_use`. The rest of the golden file stays unchanged.
    ///
    /// # Errors
    /// No such suite, or a file that cannot be edited. Then no file is changed.
    pub fn add_drafts(
        &self,
        runs: &[NewRun<'_>],
        samples: SamplesOfCase,
    ) -> Result<AddedDrafts<'_>, CliError> {
        let samples = ProposedSamples::of(runs.iter().map(|new| new.run), samples);
        let mut groups: Vec<Vec<&NewRun<'_>>> = Vec::new();
        let mut known: BTreeMap<DraftKey<'_>, usize> = BTreeMap::new();
        let mut group_of_run = Vec::with_capacity(runs.len());
        for new in runs {
            let path = &self.suite_of(&new.agent)?.config.path;
            let asked = samples
                .messages(new.run)
                .into_iter()
                .map(|message| message.split_whitespace().collect())
                .collect();
            let key = (path, new.run.case.as_deref(), asked);
            let group = *known.entry(key).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(new);
            group_of_run.push(group);
        }
        let mut files: BTreeMap<&RepoPath, ExtendedFile> = BTreeMap::new();
        let mut case_of_group: Vec<Option<CaseId>> = Vec::with_capacity(groups.len());
        for group in &groups {
            let of_case: Vec<&Transcript> = group.iter().map(|new| new.run).collect();
            let Some(first) = group.first() else { continue };
            let Ok(mut case) = samples.case(&of_case, first.origin, CaseStage::Draft) else {
                case_of_group.push(None);
                continue;
            };
            let loaded = self.suite_of(&first.agent)?;
            let file = files
                .entry(&loaded.config.path)
                .or_insert_with(|| ExtendedFile::of(loaded));
            case.renamed(&mut file.used);
            file.new
                .push(serde_json::to_string_pretty(&case).map_err(anyhow::Error::from)?);
            let id = CaseId::new(&case.id).map_err(|bad| anyhow::anyhow!("{bad}"))?;
            case_of_group.push(Some(id));
        }
        let mut drafts = AddedDrafts {
            cases: group_of_run
                .into_iter()
                .map(|group| case_of_group[group].clone())
                .collect(),
            disk: Some(&self.disk),
            ..AddedDrafts::default()
        };
        for (path, golden) in files {
            if let Err(error) = drafts.write(&self.disk, path, &golden.new) {
                return Err(drafts.undo().map_or(error, CliError::from));
            }
        }
        Ok(drafts)
    }

    /// The suite of kind `tool_use` with the agent.
    fn suite_of(&self, agent: &AgentName) -> Result<&LoadedSuite, Diagnostic> {
        for loaded in &self.plan.suites {
            if loaded.kind.name == "tool_use" && loaded.config.agents.contains_key(agent) {
                return Ok(loaded);
            }
        }
        Err(Diagnostic::of_file(
            &self.plan.config.file,
            Code::NOTHING_SELECTED,
            format!("--new-cases: no suite of kind tool_use has the agent \"{agent}\""),
            "add the agent to such a suite, or set one up with goldgate init",
        ))
    }
}
