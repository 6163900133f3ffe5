//! Whether a result that somebody approved covers another result.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::model::{
    AgentName, AgentReport, GateRuling, GoldenChange, JudgeIdentity, JudgeReport, MetricReport,
    RepoPath, Report, SuiteId, SuiteReport, Tier, Verdict, Weight, six_places,
};

/// The parts of a result that need an approval and that an approved result does not have: agents with a failed gate, and golden changes.
/// Empty if all of them are covered.
///
/// An agent is covered if the approved result has exactly the same of it: samples of every case, values, the numbers that they are compared
/// with, identity and gates. Edits of golden files that change none of these are golden changes of their own. A golden change is covered if
/// the approved result lists it in the same words, about the same content on both commits.
pub fn uncovered(report: &Report, approved: Option<&Report>) -> Vec<String> {
    let known: BTreeSet<String> = approved
        .iter()
        .flat_map(|approved| &approved.golden_changes)
        .map(change)
        .collect();
    let mut uncovered = Vec::new();
    for suite in bound_suites(report) {
        for agent in &suite.agents {
            if fails(agent) && !approved.is_some_and(|approved| has(approved, suite, agent)) {
                uncovered.push(format!("the numbers of {}/{}", suite.id, agent.agent));
            }
        }
    }
    for golden_change in &report.golden_changes {
        let needs_approval = golden_change.weight == Weight::NeedsApproval;
        if needs_approval && !known.contains(&change(golden_change)) {
            uncovered.push(golden_change.words.clone());
        }
    }
    uncovered
}

/// Whether a gate of an agent fails: then an approval of the result is one of the agent's numbers.
pub fn fails_for(report: &Report, suite_id: &SuiteId, wanted: &AgentName) -> bool {
    bound_suites(report)
        .filter(|suite| suite.id == *suite_id)
        .flat_map(|suite| &suite.agents)
        .any(|agent| agent.agent == *wanted && fails(agent))
}

fn fails(agent: &AgentReport) -> bool {
    let mut gates = agent.metrics.iter().flat_map(|metric| &metric.gates);
    gates.any(|gate| gate.ruling.verdict() == Some(Verdict::Fail))
}

/// Whether a report has the same result of an agent.
fn has(report: &Report, wanted_suite: &SuiteReport, wanted: &AgentReport) -> bool {
    let key = (&wanted_suite.id, &wanted_suite.kind, wanted_suite.tier);
    let mut agents = bound_suites(report)
        .filter(|suite| (&suite.id, &suite.kind, suite.tier) == key)
        .flat_map(|suite| &suite.agents);
    agents.any(|candidate| agent(candidate) == agent(wanted))
}

/// The suites that an approval binds.
fn bound_suites(report: &Report) -> impl Iterator<Item = &SuiteReport> {
    let deterministic = report.tiers.contains(&Tier::Deterministic);
    report
        .suites
        .iter()
        .filter(move |suite| !deterministic || suite.tier == Tier::Deterministic)
}

/// What of an agent's result is bound by an approval.
fn agent(agent: &AgentReport) -> Value {
    let identity = &agent.identity;
    let metrics: Vec<Value> = agent.metrics.iter().map(metric).collect();
    let cases: Vec<Value> = agent
        .cases
        .iter()
        .map(|case| {
            let values = case
                .values
                .iter()
                .map(|value| value.samples.iter().map(|sample| places(*sample)).collect());
            let samples: Vec<Vec<Value>> = values.collect();
            json!({ "case": case.case.as_str(), "samples": samples })
        })
        .collect();
    let retired: Vec<&str> = agent.retired.keys().map(|case| case.as_str()).collect();
    let mut value = json!({
        "agent": agent.agent.as_str(), "scorer": identity.scorer,
        "model": identity.model, "prompt": identity.agent_sha256, "judge": identity.judge, "samples": identity.samples,
        "metrics": metrics, "cases": cases, "retired": retired,
    });
    // Judges affect no gate, but a baseline stores them.
    if !agent.judges.is_empty() {
        value["judges"] = agent
            .judges
            .iter()
            .map(|judged| judge(agent, judged))
            .collect();
    }
    value
}

fn judge(agent: &AgentReport, judge: &JudgeReport) -> Value {
    let marks = agent.cases.iter().filter_map(|case| {
        let judged = case
            .judged
            .iter()
            .find(|judged| judged.judge == judge.name)?;
        Some(json!([case.case.as_str(), judged.opinion.mark()?.as_str()]))
    });
    let marks: Vec<Value> = marks.collect();
    let JudgeIdentity {
        model,
        rubric_sha256,
        votes,
    } = &judge.identity;
    json!([judge.name.as_str(), model, rubric_sha256, votes, marks])
}

fn metric(metric: &MetricReport) -> Value {
    // A threshold from the baseline differs between the base's baseline and the approved one, so it is left out.
    let gates: Vec<Value> = metric
        .gates
        .iter()
        .map(|gate| {
            let GateRuling {
                gate,
                threshold,
                from_baseline,
                zone,
                in_zone,
                hard,
                ruling: _,
                base_commit: _,
            } = gate;
            let threshold = threshold.filter(|_| !from_baseline);
            let band = match in_zone {
                Some(tolerance) => json!([places(Some(*zone)), places(Some(*tolerance))]),
                None => json!(places(Some(*zone))),
            };
            json!([gate.as_str(), places(threshold), from_baseline, band, hard])
        })
        .collect();
    json!([
        metric.name,
        places(metric.value),
        places(metric.comparison.baseline),
        gates
    ])
}

/// What of a golden change is bound by an approval.
fn change(change: &GoldenChange) -> String {
    json!([
        change.class.as_str(),
        change.file.as_ref().map(RepoPath::as_str),
        change.words,
        change.content
    ])
    .to_string()
}

/// A number with six decimal places, as in a baseline: two machines may differ in the last bit.
fn places(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| {
        json!(format!("{:.6}", six_places(value)))
    })
}
