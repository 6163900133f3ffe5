//! The report of an approved result.

use std::collections::BTreeMap;

use crate::model::{
    AgentReport, Approval, MetricReport, NoVerdict, PairResult, Report, SuiteId, SuiteReport, Tier,
};

/// Combines two reports on the same runs: `shown` is compared with the base commit's baseline, `ruled` with the approved one.
///
/// The rulings are those of `ruled`: a gate that depends on the baseline uses the approved numbers; a gate with a fixed threshold is
/// not affected. The values and comparisons are those of `shown`, so that an approval hides no change and the result keeps its digest.
/// A reason of `shown` that no approval lifts stays: `ruled` is not judged by the base commit's rules.
pub fn approved(shown: Report, ruled: Report, approval: Approval) -> Report {
    let by = &approval.by;
    let note = format!(
        "{by} approved the moved numbers and golden changes of this result; gates with fixed thresholds still apply"
    );
    let mut ruled_suites: BTreeMap<(SuiteId, Tier), SuiteReport> = ruled
        .suites
        .into_iter()
        .map(|suite| ((suite.id.clone(), suite.tier), suite))
        .collect();
    let suites = shown.suites.into_iter().map(|shown| {
        match ruled_suites.remove(&(shown.id.clone(), shown.tier)) {
            Some(ruled) => suite(shown, ruled),
            // A suite that does not decide has no second report: that would need new model calls.
            None => shown,
        }
    });
    let suites = suites.collect();
    let mut notes = shown.notes;
    notes.push(note);
    let (verdict, not_gateable) = (ruled.verdict, ruled.not_gateable);
    let before = shown.not_gateable;
    let mut report = Report {
        suites,
        verdict,
        not_gateable,
        lasting: ruled.lasting,
        approval: Some(approval),
        notes,
        ..shown
    };
    let lasting = shown.lasting.into_iter().map(NoVerdict::Lasting).collect();
    super::refuse(&mut report, lasting);
    report.lifted = before
        .into_iter()
        .filter(|why| !report.not_gateable.contains(why))
        .collect();
    report
}

fn suite(shown: SuiteReport, ruled: SuiteReport) -> SuiteReport {
    let agents = shown
        .agents
        .into_iter()
        .zip(ruled.agents)
        .map(|(shown, ruled)| agent(shown, ruled))
        .collect();
    SuiteReport { agents, ..ruled }
}

fn agent(shown: AgentReport, ruled: AgentReport) -> AgentReport {
    let metrics = shown
        .metrics
        .into_iter()
        .zip(ruled.metrics)
        .map(|(shown, ruled)| MetricReport {
            value: shown.value,
            comparison: shown.comparison,
            evidence: shown.evidence,
            ..ruled
        });
    let cases = shown
        .cases
        .into_iter()
        .zip(ruled.cases)
        .map(|(shown, ruled)| PairResult {
            trend: shown.trend,
            ..ruled
        });
    AgentReport {
        metrics: metrics.collect(),
        cases: cases.collect(),
        removed: shown.removed,
        notes: shown.notes,
        taxonomy_before: shown.taxonomy_before,
        infra_before: shown.infra_before,
        since_base: shown.since_base,
        ..ruled
    }
}
