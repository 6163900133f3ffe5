//! Which live samples a run needs: one for each run that a chosen pair is made of, as often as is planned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::app::plan::{LoadedSuite, Plan, source_of};
use crate::app::sample_count::stated;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{LiveSource, RunKey, RunSource, SampleRequest, Tier, Transport};
use crate::suites::{Files, Refinement, in_words};

/// The samples of one run of an agent.
pub struct PlannedRun<'a> {
    /// The suite.
    pub opened: &'a LoadedSuite,
    /// The pair, by its place in the suite.
    pub pair: usize,
    /// Where it comes from.
    pub live: &'a LiveSource,
    /// What is asked; each sample has its own number.
    pub request: SampleRequest,
    /// The loop that the request begins, where the agent has a critic.
    pub refinement: Option<Arc<dyn Refinement>>,
    /// The number of the first sample.
    pub first: u32,
    /// How many samples.
    pub samples: u32,
    /// Whether the pair is made of this run alone and nothing else looks at it: only then can samples be spared.
    pub alone: bool,
}

/// The live runs of a tier.
///
/// # Errors
/// Cases that cannot be asked, and targets that the tier must not call.
pub fn wanted<'a>(plan: &'a Plan, tier: Tier, files: &dyn Files) -> Result<Vec<PlannedRun<'a>>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut found: BTreeMap<RunKey, PlannedRun<'a>> = BTreeMap::new();
    let elsewhere: BTreeSet<&RunKey> = plan
        .suites
        .iter()
        .flat_map(|opened| {
            opened.suite.pairs().iter().flat_map(|pair| &pair.runs).filter(|key| key.suite != opened.config.id)
        })
        .collect();
    for opened in plan.suites.iter().filter(|opened| opened.config.tiers.contains(&tier)) {
        for index in opened.chosen(&plan.wanted) {
            let pair = &opened.suite.pairs()[index];
            for (at, key) in pair.runs.iter().enumerate().filter(|(_, key)| key.suite == opened.config.id) {
                let agent = opened.config.agents.get(&key.agent);
                let Some(RunSource::Live(live)) = agent.and_then(|agent| source_of(agent, tier)) else { continue };
                if let Some(problem) = too_much(plan, tier, live) {
                    problems.push(problem);
                    continue;
                }
                let planned = plan.wanted.samples.or_else(|| stated(plan, opened, pair));
                let Some(Some(ask)) = problems.keep(opened.suite.ask(index, at, files)) else { continue };
                let target = plan.config.targets.get(&live.target);
                let is_model = target.is_some_and(|target| matches!(target.transport, Transport::Model(_)));
                if is_model && problems.keep(in_words(&ask, pair)).is_none() {
                    continue;
                }
                let system = opened.prompts.get(&key.agent).map_or(String::new(), |package| package.text.clone());
                let refinement = match live.critic {
                    Some(_) => {
                        let Some(opened) = problems.keep(opened.suite.refinement(index, files)) else { continue };
                        opened.map(Arc::from)
                    }
                    None => None,
                };
                let alone = pair.runs.len() == 1 && !elsewhere.contains(key);
                let request = SampleRequest { key: key.clone(), sample: 0, system, ask };
                let samples = planned.unwrap_or(1);
                let wanted = PlannedRun { opened, pair: index, live, request, refinement, first: 0, samples, alone };
                // Pairs may share a run, such as the base of several variants.
                found.entry(key.clone()).and_modify(|other| other.alone = false).or_insert(wanted);
            }
        }
    }
    problems.or(found.into_values().collect())
}

/// The deterministic tier calls no model and no address: a command that is itself deterministic is all that it may start.
fn too_much(plan: &Plan, tier: Tier, live: &LiveSource) -> Option<Diagnostic> {
    let refused = |name: &&String| match (tier, plan.config.targets.get(*name).map(|target| &target.transport)) {
        (Tier::Model, _) | (Tier::Deterministic, None | Some(Transport::Command { .. })) => false,
        (Tier::Deterministic, Some(Transport::Model(_) | Transport::Http(_))) => true,
    };
    let name = live.targets().find(refused)?;
    let what = format!("the deterministic tier must not call the target \"{name}\"");
    let help = "give it replay: FOLDER or a command that is itself deterministic, and the target to the model tier";
    Some(Diagnostic::of_file(&plan.config.file, "live-target", what, help))
}
