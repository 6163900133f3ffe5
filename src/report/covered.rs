//! What approved results cover of a result that contains the changes of several pull requests.

use std::collections::BTreeSet;

use super::digest::{agent, bound_suites, change};
use crate::model::{AgentReport, Report, SuiteReport, Verdict, Weight};

/// The parts of a result that need an approval and that none of these approved results has: agents with a failed gate, golden changes,
/// and reasons for a missing verdict. Empty if all of them are covered.
///
/// An agent is covered if an approved result has exactly the same of it: samples of every case, values, the numbers that they are
/// compared with, identity and gates. A golden change is covered if an approved result lists it in the same words. A reason for a missing
/// verdict is never covered.
pub fn uncovered(report: &Report, approved: &[Report]) -> Vec<String> {
    let known: BTreeSet<String> = approved
        .iter()
        .flat_map(|one| &one.golden_changes)
        .map(change)
        .collect();
    let reasons = report.not_gateable.iter().map(|why| why.0.clone());
    let agents =
        bound_suites(report).flat_map(|suite| suite.agents.iter().map(move |agent| (suite, agent)));
    let failed = agents.filter(|(_, agent)| fails(agent));
    let numbers =
        failed.filter(|(suite, agent)| !approved.iter().any(|one| has(one, suite, agent)));
    let numbers =
        numbers.map(|(suite, agent)| format!("the numbers of {}/{}", suite.id, agent.agent));
    let needing = report
        .golden_changes
        .iter()
        .filter(|one| one.weight == Weight::NeedsApproval);
    let changes = needing
        .filter(|one| !known.contains(&change(one)))
        .map(|one| one.words.clone());
    reasons.chain(numbers).chain(changes).collect()
}

fn fails(agent: &AgentReport) -> bool {
    let mut gates = agent.metrics.iter().flat_map(|metric| &metric.gates);
    gates.any(|gate| gate.ruling.verdict() == Some(Verdict::Fail))
}

/// Whether a report has the same result of an agent.
fn has(report: &Report, of: &SuiteReport, wanted: &AgentReport) -> bool {
    let same =
        |suite: &&SuiteReport| (&suite.id, &suite.kind, suite.tier) == (&of.id, &of.kind, of.tier);
    let mut agents = bound_suites(report)
        .filter(same)
        .flat_map(|suite| &suite.agents);
    agents.any(|one| agent(one) == agent(wanted))
}
