//! Draft cases in the report. They are kept apart from the cases, so that no number and no verdict can include them.

use std::collections::BTreeMap;

use crate::model::{AgentName, AgentReport, CaseTrend, Identity, PairResult, Ruling, SinceBase};

/// Why a draft has no verdict.
const NO_VERDICT: &str = "a draft counts for nothing";
/// Why an agent without other cases has no verdict.
const NOTHING_COUNTS: &str = "every case is a draft; `goldgate review` decides on them";

/// Adds the results of drafts to an agent's report.
pub fn add_drafts(report: &mut AgentReport, drafts: Vec<PairResult>) {
    report.drafts.clear();
    for draft in drafts {
        report.drafts.push(PairResult {
            verdict: Ruling::Skipped(NO_VERDICT.to_owned()),
            trend: CaseTrend::Unknown,
            flaky: draft.has_flaky_check(),
            ..draft
        });
    }
}

/// The report of an agent without any case that counts. It is skipped: a run in which nothing else counts has no verdict.
pub fn only_drafts(agent: AgentName, drafts: Vec<PairResult>) -> AgentReport {
    let mut report = AgentReport {
        agent,
        verdict: Ruling::Skipped(NOTHING_COUNTS.to_owned()),
        identity: Identity::default(),
        policy: None,
        metric_order: Vec::new(),
        metrics: Vec::new(),
        recordings: Vec::new(),
        judges: Vec::new(),
        reliability: None,
        cases: Vec::new(),
        drafts: Vec::new(),
        retired: BTreeMap::new(),
        removed: Vec::new(),
        notes: Vec::new(),
        read_layers: BTreeMap::new(),
        taxonomy_before: None,
        infra_before: None,
        since_base: SinceBase::default(),
    };
    add_drafts(&mut report, drafts);
    report
}
