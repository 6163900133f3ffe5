//! Finds the case of a run by its query, and adds drafts to a golden file for runs without a case.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::{LoadedSuite, Plan, plan};
use super::proposed_case::{AnswerWords, Origin, ProposedCase, id_of_file};
use super::selection::Selection;
use crate::app::cli_error::CliError;
use crate::diag::{Code, Diagnostic};
use crate::files::Files;
use crate::format::transcript::Transcript;
use crate::model::{AgentName, CaseId, RepoPath};
use crate::suites::{CaseStage, is_same_text, query, with_cases};
use crate::world::{Disk, World};

/// The default config file.
const CONFIG: &str = "goldgate.yaml";

/// The cases of a config.
pub struct KnownCases {
    disk: Disk,
    plan: Plan,
}

/// A run without a case.
pub struct NewRun<'a> {
    /// The run.
    pub run: &'a Transcript,
    /// Where it was read.
    pub origin: Origin<'a>,
    /// Its agent.
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

impl AddedDrafts<'_> {
    /// Takes the drafts back. Returns why that failed.
    pub fn undo(&self) -> Option<anyhow::Error> {
        let disk = self.disk?;
        self.before.iter().find_map(|(file, text)| disk.replace_input(file, text.as_bytes()).err())
    }
}

impl KnownCases {
    /// Reads a config; `None` if none was named and the default one does not exist.
    ///
    /// # Errors
    /// A config that cannot be read.
    pub fn open(config: Option<&str>, world: &World) -> Result<Option<Self>, CliError> {
        let (disk, file) = Disk::of_config(config.unwrap_or(CONFIG))?;
        if config.is_none() && !disk.holds(&file) {
            return Ok(None);
        }
        let plan = plan(&disk, &file, Selection::default(), &world.clock)?;
        Ok(Some(Self { disk, plan }))
    }

    /// The case of an agent with the query of the run; of several, the one with the name of the file. `None` without such a case.
    pub fn case_of(&self, agent: &AgentName, run: &Transcript, file: &str) -> Option<CaseId> {
        let found = self.cases_asking(agent, run.query.as_deref()?);
        let named = id_of_file(file).and_then(|id| found.iter().find(|case| case.as_str() == id));
        let only = found.first().filter(|_| found.len() == 1);
        named.or(only).map(|case| (*case).clone())
    }

    /// The cases of an agent with a query.
    pub fn cases_asking(&self, agent: &AgentName, asked: &str) -> BTreeSet<&CaseId> {
        let mut found: BTreeSet<&CaseId> = BTreeSet::new();
        for loaded in &self.plan.suites {
            for pair in loaded.suite.pairs_to_run().filter(|pair| pair.agent == *agent) {
                let asks = pair.runs.iter().filter_map(|key| loaded.suite.ask(pair, key, &self.disk).ok()?);
                if asks.filter_map(|ask| query(&ask).map(str::to_owned)).any(|query| is_same_text(&query, asked)) {
                    found.insert(&pair.case);
                }
            }
        }
        found
    }

    /// Whether a suite of the agent has the case.
    pub fn has(&self, agent: &AgentName, case: &CaseId) -> bool {
        let mut pairs = self.plan.suites.iter().flat_map(|loaded| loaded.suite.pairs_to_run());
        pairs.any(|pair| pair.agent == *agent && pair.case == *case)
    }

    /// Adds one draft for each query to the agent's suite of kind `tool_use`. The rest of the golden file stays unchanged.
    ///
    /// # Errors
    /// No such suite, or a file that cannot be edited.
    pub fn add_drafts(&self, runs: &[NewRun<'_>]) -> Result<AddedDrafts<'_>, CliError> {
        let words = AnswerWords::of(runs.iter().filter_map(|new| new.run.text.as_deref()));
        let mut added: Vec<(&AgentName, &str, CaseId)> = Vec::new();
        let (mut cases, mut before) = (Vec::new(), BTreeMap::new());
        for new in runs {
            let NewRun { run, origin, agent } = new;
            let asked = run.query.as_deref().unwrap_or_default();
            if let Some((.., case)) = added.iter().find(|(of, known, _)| *of == agent && is_same_text(known, asked)) {
                cases.push(Some(case.clone()));
                continue;
            }
            let loaded = self.suite_of(agent)?;
            let Some(mut case) = ProposedCase::of(run, *origin, &words, CaseStage::Draft) else {
                cases.push(None);
                continue;
            };
            let known = loaded.suite.pairs_to_run().map(|pair| &pair.case);
            let retired = loaded.suite.retired().iter().map(|(case, _)| case);
            let new = added.iter().map(|(.., case)| case);
            case.renamed(&mut known.chain(retired).chain(new).map(ToString::to_string).collect());
            let id = CaseId::new(&case.id).map_err(|bad| anyhow::anyhow!("{bad}"))?;
            let source = self.disk.text(&loaded.config.path)?;
            let text = serde_json::to_string_pretty(&case).map_err(anyhow::Error::from)?;
            let text = with_cases(&source.text, &text)
                .ok_or_else(|| anyhow::anyhow!("{}: a case cannot be added to this text", source.file))?;
            self.disk.replace_input(&source.file, text.as_bytes())?;
            before.entry(source.file).or_insert(source.text);
            cases.push(Some(id.clone()));
            added.push((agent, asked, id));
        }
        Ok(AddedDrafts { cases, before, disk: Some(&self.disk) })
    }

    /// The suite of kind `tool_use` with the agent.
    fn suite_of(&self, agent: &AgentName) -> Result<&LoadedSuite, Diagnostic> {
        let mut suites = self.plan.suites.iter();
        let found = suites.find(|loaded| loaded.kind.name == "tool_use" && loaded.config.agents.contains_key(agent));
        found.ok_or_else(|| {
            let what = format!("--new-cases: no suite of kind tool_use has the agent \"{agent}\"");
            let help = "add the agent to such a suite, or set one up with goldgate init";
            Diagnostic::of_file(&self.plan.config.file, Code::NOTHING_SELECTED, what, help)
        })
    }
}
