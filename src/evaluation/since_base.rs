//! What differs between the base commit and this one, apart from the numbers: the agent's files, its outputs, and what it uses.

use std::collections::{BTreeMap, BTreeSet};

use super::live_layout::LiveLayout;
use super::plan::{LoadedSuite, Plan, source_of};
use super::replay::{Replay, RunReader};
use super::sample_count::SampleCount;
use super::target_settings::changed_target_settings;
use crate::files::{BaseFiles, FileMatch, Files};
use crate::golden_changes::agent_files;
use crate::model::{
    Agent, AgentReport, AgentRuns, CaseId, CaseTrend, ChangeClass, ChangedText, Config, PairResult,
    RepoPath, Report, RunSource, Sample, SinceBase, Tier, Verdict,
};
use crate::report;
use crate::suites::Pair;

/// The number of changed paragraphs that are kept of an agent.
const PARAGRAPHS: usize = 12;

/// The name of a change of the recordings' model.
const MODEL: &str = "model of the recordings";

#[derive(Clone, Copy)]
pub struct BothCommits<'a> {
    pub base: &'a dyn BaseFiles,
    /// The base commit's config.
    pub before: &'a Config,
    pub head: &'a dyn Files,
}

/// Adds to each agent with recordings what differs from the base commit. It decides nothing, so what cannot be read is left out.
pub fn add_since_base(report: &mut Report, plan: &Plan, both: BothCommits<'_>) {
    let base_config = both.before;
    let recorded = report
        .golden_changes
        .iter()
        .any(|change| change.class == ChangeClass::Recording);
    let layout = LiveLayout::default();
    let replays = recorded.then(|| {
        let old = Replay::of(both.base, plan, base_config, Tier::Deterministic, &layout).ok()?;
        let new = Replay::open(both.head, plan, Tier::Deterministic, &layout).ok()?;
        Some(Replays { old, new })
    });
    let replays = replays.flatten();
    for suite in report
        .suites
        .iter_mut()
        .filter(|suite| suite.tier == Tier::Deterministic)
    {
        let Some(loaded) = plan.suite(&suite.id) else {
            continue;
        };
        for agent in &mut suite.agents {
            let mut since = SinceBase {
                agent: changed_files(plan, loaded, agent, base_config, both),
                runs: runs_of(loaded, agent),
                ..SinceBase::default()
            };
            if let Some(replays) = &replays {
                replays.add(&mut since, loaded, plan, agent);
                // Another setting of a target is a cause only for runs that were recorded again.
                let agents: Vec<&Agent> = [base_config, &plan.config]
                    .into_iter()
                    .flat_map(|config| agents_behind(config, loaded, agent))
                    .collect();
                since
                    .agent
                    .extend(changed_target_settings(&agents, base_config, &plan.config));
            }
            agent.since_base = since;
        }
    }
}

/// What made the runs of an agent of the deterministic tier.
fn runs_of(loaded: &LoadedSuite, report: &AgentReport) -> AgentRuns {
    let agent = loaded.config.agents.get(&report.agent);
    match agent.and_then(|agent| source_of(agent, Tier::Deterministic)) {
        Some(RunSource::Live(_)) => AgentRuns::Code,
        Some(RunSource::Replay(_)) | None => AgentRuns::Recorded,
    }
}

/// What to say of a run that fails although nothing of it differs from the base commit.
pub fn failing_on_base(report: &Report, plan: &Plan) -> Option<String> {
    // Code that runs again may have changed without a golden change.
    let mut agents = plan
        .suites
        .iter()
        .flat_map(|loaded| loaded.config.agents.values());
    let are_replayed = plan.wanted.tiers == [Tier::Deterministic]
        && agents.all(|agent| {
            let source = source_of(agent, Tier::Deterministic);
            !matches!(source, Some(RunSource::Live(_)))
        });
    let is_same = report.golden_changes.is_empty()
        && report.agents().all(|agent| agent.since_base.is_empty());
    let fails = report.verdict.verdict() == Some(Verdict::Fail);
    (fails && are_replayed && is_same).then(|| {
        "nothing that was graded differs from the base commit, which fails as well: correct it on the base branch, or here".to_owned()
    })
}

/// The paragraphs of the agent's files that differ. Without any, the files that differ.
fn changed_files(
    plan: &Plan,
    loaded: &LoadedSuite,
    report: &AgentReport,
    base_config: &Config,
    both: BothCommits<'_>,
) -> Vec<ChangedText> {
    let head_files = agents_behind(&plan.config, loaded, report)
        .flat_map(|agent| agent_files(both.head, agent).unwrap_or_default());
    let base_files = agents_behind(base_config, loaded, report)
        .flat_map(|agent| agent_files(both.base, agent).unwrap_or_default());
    let paths: BTreeMap<String, RepoPath> = head_files.chain(base_files).collect();
    let changed = paths
        .values()
        .filter(|path| both.base.likeness(path, path) == FileMatch::Differs);
    let paragraphs = changed.flat_map(|path| {
        let (old, new) = (text_of(both.base, path), text_of(both.head, path));
        report::changed_paragraphs(path.as_str(), &old, &new)
    });
    paragraphs.take(PARAGRAPHS).collect()
}

/// The text of a file; empty if it cannot be read.
fn text_of(files: &dyn Files, path: &RepoPath) -> String {
    match files.text(path) {
        Ok(source) => source.text,
        Err(_) => String::new(),
    }
}

/// The agents whose runs an agent of the report has: its own, or those of all agents of the suite whose runs are read.
fn agents_behind<'a>(
    config: &'a Config,
    loaded: &'a LoadedSuite,
    report: &'a AgentReport,
) -> impl Iterator<Item = &'a Agent> {
    let runs_of = &loaded.config.runs_of;
    let suite = runs_of.as_ref().unwrap_or(&loaded.config.id);
    let agents = config
        .suites
        .iter()
        .filter(|candidate| candidate.id == *suite)
        .flat_map(|candidate| &candidate.agents);
    agents
        .filter(|(name, _)| runs_of.is_some() || **name == report.agent)
        .map(|(_, agent)| agent)
}

/// The recordings of both commits.
struct Replays<'a> {
    old: Replay<'a>,
    new: Replay<'a>,
}

impl Replays<'_> {
    fn add(&self, since: &mut SinceBase, loaded: &LoadedSuite, plan: &Plan, agent: &AgentReport) {
        let cases: BTreeMap<&CaseId, &PairResult> =
            agent.cases.iter().map(|case| (&case.case, case)).collect();
        let (shown, mut samples) = (cases_with_evidence(agent), Vec::new());
        for pair in loaded
            .chosen(&plan.wanted)
            .filter(|pair| pair.agent == agent.agent)
        {
            let Some((old, new)) = cases
                .get(&pair.case)
                .and_then(|case| self.samples(pair, case.planned))
            else {
                continue;
            };
            if shown.contains(&pair.case) {
                let changed = report::changed_outputs(&run_names(pair), &old, &new);
                if !changed.is_empty() {
                    since.outputs.insert(pair.case.clone(), changed);
                }
            }
            samples.push((old, new));
        }
        since.uses = report::moved_uses(
            samples
                .iter()
                .map(|(old, new)| (old.as_slice(), new.as_slice())),
        );
        let before = models_of_all(samples.iter().flat_map(|(old, _)| old));
        let now = models_of_all(samples.iter().flat_map(|(_, new)| new));
        if before != now && before.is_some() && now.is_some() {
            since.agent.insert(
                0,
                ChangedText {
                    name: MODEL.to_owned(),
                    before,
                    now,
                    samples: None,
                },
            );
        }
    }

    fn samples(&self, pair: &Pair, planned: u32) -> Option<(Vec<Sample>, Vec<Sample>)> {
        if pair.runs.is_empty() || !self.old.has(pair) {
            return None;
        }
        let old = self.old.samples(pair, SampleCount::AtLeast(1)).ok()?;
        Some((
            old,
            self.new.samples(pair, SampleCount::Exactly(planned)).ok()?,
        ))
    }
}

/// The names of the runs of a sample, if it has several: their agents, or their cases where one agent made all of them.
fn run_names(pair: &Pair) -> Vec<&str> {
    match pair.runs.as_slice() {
        [] | [_] => Vec::new(),
        [first, others @ ..] if others.iter().all(|run| run.agent == first.agent) => {
            pair.runs.iter().map(|run| run.case.as_str()).collect()
        }
        runs => runs.iter().map(|run| run.agent.as_str()).collect(),
    }
}

fn models_of(sample: &Sample) -> BTreeSet<&str> {
    match sample {
        Sample::Completed(runs) => runs
            .iter()
            .filter_map(|run| run.provenance.model.as_deref())
            .collect(),
        Sample::Inconclusive { .. } | Sample::Spared => BTreeSet::new(),
    }
}

/// The models that answered these samples, in one text; `None` if none is known.
fn models_of_all<'s>(samples: impl Iterator<Item = &'s Sample>) -> Option<String> {
    let names: BTreeSet<&str> = samples.flat_map(models_of).collect();
    if names.is_empty() {
        return None;
    }
    Some(names.into_iter().collect::<Vec<_>>().join(", "))
}

/// The cases whose outputs are shown: they moved a number, or fail since the baseline.
fn cases_with_evidence(agent: &AgentReport) -> BTreeSet<&CaseId> {
    let moved = agent
        .metrics
        .iter()
        .flat_map(|metric| &metric.evidence.cases)
        .map(|evidence| &evidence.case);
    let failing = agent
        .cases
        .iter()
        .filter(|case| case.trend == CaseTrend::NewlyFailing)
        .map(|case| &case.case);
    moved.chain(failing).collect()
}
