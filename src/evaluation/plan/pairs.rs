//! Checks that the runs of all pairs have a source.

use super::LoadedSuite;
use crate::diag::{Code, Diagnostic, Diagnostics, nearest};
use crate::model::{Agent, AgentName, Config, RunKey, Tier};
use crate::suites::Pair;

/// Refuses pairs with runs of unknown agents, and pairs that no tier of the suite can run: they would silently never be
/// measured.
pub(super) fn check(loaded: &LoadedSuite, config: &Config, problems: &mut Diagnostics) {
    for pair in loaded.suite.pairs_to_run() {
        let elsewhere = |key: &&RunKey| key.suite != loaded.config.id;
        let unknown: Vec<Diagnostic> = pair
            .runs
            .iter()
            .filter(elsewhere)
            .filter_map(|key| unknown_run(config, pair, key))
            .collect();
        let is_known = unknown.is_empty();
        unknown
            .into_iter()
            .for_each(|problem| problems.push(problem));
        if is_known
            && !loaded
                .config
                .tiers
                .iter()
                .any(|tier| has_all(config, pair, *tier))
        {
            problems.push(never_run(loaded, config, pair));
        }
    }
}

fn agent<'a>(config: &'a Config, key: &RunKey) -> Option<&'a Agent> {
    config.suite(&key.suite)?.agents.get(&key.agent)
}

/// Whether every run of a pair has a source in a tier.
fn has_all(config: &Config, pair: &Pair, tier: Tier) -> bool {
    pair.runs
        .iter()
        .all(|key| agent(config, key).is_some_and(|agent| agent.source(tier).is_some()))
}

fn never_run(loaded: &LoadedSuite, config: &Config, pair: &Pair) -> Diagnostic {
    let runs = pair.runs.iter().map(|key| {
        let in_tier =
            |tier: &Tier| agent(config, key).is_some_and(|agent| agent.source(*tier).is_some());
        let tiers: Vec<&str> = [Tier::Deterministic, Tier::Model]
            .iter()
            .filter(|tier| in_tier(tier))
            .map(|tier| tier.as_str())
            .collect();
        let tiers = if tiers.is_empty() {
            "no tier".to_owned()
        } else {
            tiers.join(" and ")
        };
        format!("{}/{} ({tiers})", key.suite, key.agent)
    });
    let (runs, id) = (runs.collect::<Vec<_>>().join(", "), &loaded.config.id);
    let tiers: Vec<&str> = loaded
        .config
        .tiers
        .iter()
        .map(|tier| tier.as_str())
        .collect();
    let what = format!(
        "the case \"{}\" of \"{id}\" ({}) would never be measured: no tier has all of its runs: {runs}",
        pair.case,
        tiers.join(" and "),
    );
    Diagnostic::of_file(
        &pair.golden,
        Code::NEVER_RUN,
        what,
        "add a source for all of these agents in one tier of the suite, or remove agents without a source",
    )
}

/// Refuses runs of an agent that another suite does not have.
fn unknown_run(config: &Config, pair: &Pair, key: &RunKey) -> Option<Diagnostic> {
    let suite = config.suite(&key.suite)?;
    if suite.agents.contains_key(&key.agent) {
        return None;
    }
    let known: Vec<&str> = suite.agents.keys().map(AgentName::as_str).collect();
    let help = match nearest(key.agent.as_str(), known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("its agents are {}", known.join(", ")),
    };
    let what = format!("the suite \"{}\" has no agent \"{}\"", key.suite, key.agent);
    Some(Diagnostic::of_file(
        &pair.golden,
        Code::UNKNOWN_AGENT,
        what,
        help,
    ))
}
