//! Computes the live samples to make: all planned samples of each run of the selected pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::recorded_samples::recorded_samples_of;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::evaluation::plan::{LoadedSuite, Plan, source_of};
use crate::evaluation::sample_count::stated;
use crate::files::Files;
use crate::model::{
    LiveSource, Protocol, RunKey, RunSource, SampleRequest, SimulatedUser, Tier, Transport,
};
use crate::suites::{CaseStage, Pair, Refinement, in_words};

/// The samples of one run of an agent.
pub struct PlannedRun<'a> {
    pub loaded: &'a LoadedSuite,
    /// The pair that the run is of; `None` for the vote of a judge.
    pub pair: Option<&'a Pair>,
    pub live: &'a LiveSource,
    /// The request; each sample has its own number.
    pub request: SampleRequest,
    /// The refinement loop that the request starts, if the agent has a critic.
    pub refinement: Option<Arc<dyn Refinement>>,
    /// The number of the first sample.
    pub first: u32,
    pub samples: u32,
    /// Whether the pair has only this run and nothing else uses it: only then can samples be skipped.
    pub alone: bool,
}

impl PlannedRun<'_> {
    /// The targets that are called: those of its source, and the model that plays the user.
    pub fn targets(&self) -> impl Iterator<Item = &String> {
        self.live
            .targets()
            .chain(self.simulated_user().map(|user| &user.target))
    }

    /// The user that a model plays. With recorded exchanges, the recordings tell what the user said.
    pub fn simulated_user(&self) -> Option<&SimulatedUser> {
        self.request
            .ask
            .turns
            .simulated_user()
            .filter(|_| self.live.exchanges.is_none())
    }
}

/// Returns the live runs of a tier.
///
/// # Errors
/// Cases whose request cannot be built, or targets that the tier must not call.
pub fn planned_runs<'a>(
    plan: &'a Plan,
    tier: Tier,
    files: &dyn Files,
) -> Result<Vec<PlannedRun<'a>>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut by_key: BTreeMap<RunKey, PlannedRun<'a>> = BTreeMap::new();
    let mut elsewhere: BTreeSet<&RunKey> = BTreeSet::new();
    for loaded in &plan.suites {
        let keys = loaded.suite.pairs_to_run().flat_map(|pair| &pair.runs);
        elsewhere.extend(keys.filter(|key| key.suite != loaded.config.id));
    }
    for loaded in plan
        .suites
        .iter()
        .filter(|loaded| loaded.config.tiers.contains(&tier))
    {
        for pair in loaded.chosen_to_run(&plan.wanted) {
            for key in pair.runs.iter().filter(|key| key.suite == loaded.config.id) {
                let agent = loaded.config.agents.get(&key.agent);
                let Some(RunSource::Live(live)) = agent.and_then(|agent| source_of(agent, tier))
                else {
                    continue;
                };
                let planned = plan.wanted.samples.or_else(|| stated(plan, loaded, pair));
                let Some(Some(ask)) = problems.keep(loaded.suite.ask(pair, key, files)) else {
                    continue;
                };
                let target = plan.config.targets.get(&live.target);
                let reads_prompt = target.is_some_and(|target| match target.transport {
                    Transport::Model(_)
                    | Transport::Command {
                        protocol: Protocol::Captured(_),
                        ..
                    } => true,
                    Transport::Command {
                        protocol: Protocol::Oneshot | Protocol::Jsonl,
                        ..
                    }
                    | Transport::Http(_) => false,
                });
                if reads_prompt && problems.keep(in_words(&ask, pair)).is_none() {
                    continue;
                }
                let system = loaded
                    .prompts
                    .get(&key.agent)
                    .map_or(String::new(), |package| package.text.clone());
                let refinement = match live.critic {
                    Some(_) => {
                        let Some(loaded) = problems.keep(loaded.refinement(pair, files)) else {
                            continue;
                        };
                        loaded.map(Arc::from)
                    }
                    None => None,
                };
                // No verdict says when enough of a draft is known.
                let is_draft = pair.marks.stage == CaseStage::Draft;
                let alone = pair.runs.len() == 1 && !elsewhere.contains(key) && !is_draft;
                let request = SampleRequest {
                    key: key.clone(),
                    sample: 0,
                    system,
                    ask,
                    conversation: None,
                };
                // As in a replay of recordings: all recorded samples, and at least those that are planned.
                let recorded = live
                    .exchanges
                    .as_ref()
                    .filter(|_| plan.wanted.samples.is_none());
                let recorded = recorded.map_or(0, |folder| {
                    recorded_samples_of(files, folder, &key.agent, &key.case)
                });
                let samples = planned.unwrap_or(1).max(recorded);
                let wanted = PlannedRun {
                    loaded,
                    pair: Some(pair),
                    live,
                    request,
                    refinement,
                    first: 0,
                    samples,
                    alone,
                };
                if let Some(problem) = forbidden_target(plan, tier, &wanted) {
                    problems.push(problem);
                    continue;
                }
                // Pairs may share a run, for example the base of several variants.
                by_key
                    .entry(key.clone())
                    .and_modify(|earlier| earlier.alone = false)
                    .or_insert(wanted);
            }
        }
    }
    problems.or(by_key.into_values().collect())
}

/// Returns the bytes of all requests of a tier, by target: a lower limit of what it is sent.
#[cfg(feature = "github")]
pub fn requested_bytes(
    plan: &Plan,
    tier: Tier,
    files: &dyn Files,
    samples: &BTreeMap<RunKey, u32>,
) -> Result<BTreeMap<String, u64>, Diagnostics> {
    let mut bytes = BTreeMap::new();
    for run in planned_runs(plan, tier, files)? {
        let count = run
            .samples
            .max(samples.get(&run.request.key).copied().unwrap_or(1));
        let SampleRequest { system, ask, .. } = &run.request;
        let sum: &mut u64 = bytes.entry(run.live.target.clone()).or_default();
        *sum = sum.saturating_add(
            u64::from(count)
                * (system.len() + ask.said().iter().map(|text| text.len()).sum::<usize>()) as u64,
        );
    }
    Ok(bytes)
}

/// Refuses models and HTTP targets in the deterministic tier: it may only start commands that are deterministic.
fn forbidden_target(plan: &Plan, tier: Tier, run: &PlannedRun<'_>) -> Option<Diagnostic> {
    if tier == Tier::Model {
        return None;
    }
    for name in run.targets() {
        let is_refused = match plan
            .config
            .targets
            .get(name)
            .map(|target| &target.transport)
        {
            // Its model calls are only answered from recordings here.
            Some(Transport::Command {
                protocol: Protocol::Captured(_),
                ..
            }) => run.live.exchanges.is_none(),
            None | Some(Transport::Command { .. }) => false,
            Some(Transport::Model(_) | Transport::Http(_)) => true,
        };
        if is_refused {
            return Some(Diagnostic::of_file(
                &plan.config.file,
                Code::LIVE_TARGET,
                format!("the deterministic tier must not call the target \"{name}\""),
                "use replay: FOLDER, a deterministic command, or replay: exchanges, and move the target to the model tier",
            ));
        }
    }
    None
}
