//! The agents that a change can affect: the model tier needs to call no others.

use std::collections::{BTreeMap, BTreeSet};

use super::planned_run::planned_runs;
use crate::diag::Diagnostics;
use crate::evaluation::agent_digest::AgentState;
use crate::evaluation::plan::{LoadedSuite, Plan, plan};
use crate::evaluation::selection::Selection;
use crate::files::Files;
use crate::model::{
    Agent, AgentName, Baseline, BaselineEntry, CaseId, LiveSource, Price, RepoPath, RunDays,
    RunSource, SampleRequest, SuiteConfig, SuiteId, Target, Tier, metric_value,
};
use crate::suites::input_digest;

/// The most numbers of an agent that are carried over in its note.
const CARRIED: usize = 6;

/// The agents that a change cannot affect, with the plan of the changed commit.
pub struct UnaffectedAgents {
    pub agents: BTreeSet<(SuiteId, AgentName)>,
    plan: Plan,
}

impl UnaffectedAgents {
    /// Compares everything that the answers and the grades of each selected agent depend on: its settings, its targets, its files, what it
    /// is asked, and what its cases expect. An agent whose files are not stated, one that answers from recordings, and one that the base
    /// commit does not have, are affected. So is every agent if this version cannot read the base commit.
    pub fn find(
        head: &dyn Files,
        base: &dyn Files,
        config: &RepoPath,
        wanted: &Selection,
        days: &RunDays,
    ) -> Result<Self, Diagnostics> {
        let head_plan = plan(head, config, wanted.clone(), days)?;
        let head_dependencies = dependencies(&head_plan, head)?;
        let base_plan = plan(base, config, wanted.clone(), days).ok();
        let base_dependencies = base_plan
            .as_ref()
            .and_then(|plan| dependencies(plan, base).ok())
            .unwrap_or_default();
        let mut agents: BTreeSet<(SuiteId, AgentName)> = BTreeSet::new();
        for (key, agent_dependencies) in &head_dependencies {
            if agent_dependencies.are_same(base_dependencies.get(key)) {
                agents.insert(key.clone());
            }
        }
        let depending: Vec<(SuiteId, AgentName)> = head_dependencies.into_keys().collect();
        // Suites that grade the runs of one suite are graded together.
        let mut runs_of: BTreeMap<&SuiteId, &SuiteId> = BTreeMap::new();
        let mut shared: BTreeSet<&SuiteId> = BTreeSet::new();
        for loaded in &head_plan.suites {
            let suite = &loaded.config;
            runs_of.insert(&suite.id, suite.runs_of.as_ref().unwrap_or(&suite.id));
            shared.extend(&suite.runs_of);
        }
        let affected: BTreeSet<&SuiteId> = depending
            .iter()
            .filter(|key| !agents.contains(*key))
            .filter_map(|(suite, _)| runs_of.get(suite).copied())
            .filter(|runs| shared.contains(runs))
            .collect();
        agents.retain(|(suite, _)| {
            !runs_of
                .get(suite)
                .is_some_and(|runs| affected.contains(runs))
        });
        Ok(Self {
            agents,
            plan: head_plan,
        })
    }

    /// One note for each agent, with its numbers in the baseline.
    pub fn notes(&self, baseline: Option<&Baseline>) -> Vec<String> {
        let mut notes = Vec::new();
        for (suite, agent) in &self.agents {
            let entry = baseline.and_then(|baseline| baseline.entry(suite, agent));
            let loaded = self.plan.suite(suite);
            let numbers = entry
                .zip(loaded)
                .and_then(|(entry, loaded)| carried_over(entry, loaded));
            let numbers = numbers.unwrap_or_else(|| {
                "the baseline has no numbers of the model tier for it".to_owned()
            });
            notes.push(format!(
                "{suite}/{agent}: not affected by this change, so it did not run; {numbers}"
            ));
        }
        notes
    }
}

/// The gated numbers of an agent in the baseline, if they are of the model tier.
fn carried_over(entry: &BaselineEntry, loaded: &LoadedSuite) -> Option<String> {
    let tier = entry
        .identity
        .as_ref()
        .and_then(|identity| identity.tier.as_deref());
    if tier != Some(Tier::Model.as_str()) {
        return None;
    }
    let gated = loaded
        .metrics_of(Tier::Model)
        .iter()
        .filter(|metric| !metric.gates.is_empty());
    let numbers = gated.filter_map(|metric| {
        let value = entry.metrics.get(metric.spec.name)?;
        Some(format!(
            "{} {}",
            metric.spec.name,
            metric_value(metric.spec.unit, Some(*value))
        ))
    });
    let numbers: Vec<String> = numbers.take(CARRIED).collect();
    (!numbers.is_empty()).then(|| format!("carried over from the baseline: {}", numbers.join(", ")))
}

/// What the answers and the grades of an agent depend on.
#[derive(PartialEq)]
struct AgentDependencies<'a> {
    /// The suite with this agent alone.
    suite: SuiteConfig,
    targets: BTreeMap<&'a str, Option<&'a Target>>,
    prices: &'a BTreeMap<String, Price>,
    /// The state of the agent's files.
    files: AgentState,
    /// The digests of the rubrics of the suite's judges.
    rubrics: Vec<&'a str>,
    /// The labels of people.
    labels: Option<Vec<u8>>,
    /// The digest of each case's expectations.
    expectations: BTreeMap<&'a CaseId, &'a str>,
    /// What it is asked, with the digest of the files that it may read, and how often.
    requests: Vec<(SampleRequest, String, u32)>,
}

impl AgentDependencies<'_> {
    fn are_same(&self, base: Option<&Self>) -> bool {
        // Recordings are not compared: to read them again costs no call.
        let is_recorded = self.suite.agents.values().any(|agent| {
            agent
                .model
                .as_ref()
                .is_some_and(|source| source.recordings().is_some())
        });
        !is_recorded && matches!(self.files, AgentState::Files(_)) && base == Some(self)
    }
}

/// What each selected agent of a commit depends on.
fn dependencies<'a>(
    plan: &'a Plan,
    files: &dyn Files,
) -> Result<BTreeMap<(SuiteId, AgentName), AgentDependencies<'a>>, Diagnostics> {
    let mut by_agent = BTreeMap::new();
    for loaded in &plan.suites {
        let selected = loaded
            .config
            .agents
            .iter()
            .filter(|(name, _)| plan.wanted.agent(name));
        for (name, agent) in selected {
            by_agent.insert(
                (loaded.config.id.clone(), name.clone()),
                of_agent(plan, loaded, (name, agent), files)?,
            );
        }
    }
    for run in planned_runs(plan, Tier::Model, files)? {
        let key = (run.request.key.suite.clone(), run.request.key.agent.clone());
        let Some(agent_dependencies) = by_agent.get_mut(&key) else {
            continue;
        };
        let digest = input_digest(&run.request.ask, files)?;
        let called: Vec<_> = run
            .targets()
            .filter_map(|name| plan.config.targets.get_key_value(name))
            .collect();
        agent_dependencies.targets.extend(
            called
                .into_iter()
                .map(|(name, target)| (name.as_str(), Some(target))),
        );
        agent_dependencies
            .requests
            .push((run.request, digest, run.samples));
    }
    Ok(by_agent)
}

fn of_agent<'a>(
    plan: &'a Plan,
    loaded: &'a LoadedSuite,
    (name, agent): (&'a AgentName, &'a Agent),
    files: &dyn Files,
) -> Result<AgentDependencies<'a>, Diagnostics> {
    let config = &loaded.config;
    let judges = loaded.judges.iter().map(|judge| &judge.config);
    let live = agent.model.as_ref().and_then(RunSource::live);
    let called = live
        .into_iter()
        .chain(judges.map(|judge| &judge.source))
        .flat_map(LiveSource::targets);
    Ok(AgentDependencies {
        suite: SuiteConfig {
            index: 0,
            agents: BTreeMap::from([(name.clone(), agent.clone())]),
            ..config.clone()
        },
        targets: called
            .map(|name| (name.as_str(), plan.config.targets.get(name)))
            .collect(),
        prices: &plan.config.prices,
        files: AgentState::of(files, agent)?,
        rubrics: loaded
            .judges
            .iter()
            .map(|judge| judge.rubric_sha256.as_str())
            .collect(),
        labels: config
            .labels
            .as_ref()
            .and_then(|file| files.bytes(file).ok()),
        expectations: loaded
            .suite
            .pairs_to_run()
            .filter(|pair| pair.agent == *name)
            .map(|pair| (&pair.case, pair.digest.as_str()))
            .collect(),
        requests: Vec::new(),
    })
}
