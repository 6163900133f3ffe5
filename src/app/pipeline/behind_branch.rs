//! A branch that is behind its base branch: the baseline of the base branch improved after the branch began.

use crate::model::{Baseline, MOVED, MetricReport, Report, Ruling, Verdict};

/// Whether a failed gate compares with a number that is better than in this baseline of the commit where the branch began.
pub fn is_behind(report: &Report, began: &Baseline) -> bool {
    let agents = report.suites.iter().flat_map(|suite| suite.agents.iter().map(move |agent| (&suite.id, agent)));
    let fails = |metric: &&MetricReport| {
        metric.gates.iter().any(|gate| gate.from_baseline && gate.ruling == Ruling::Judged(Verdict::Fail))
    };
    agents.into_iter().any(|(suite, agent)| {
        let Some(entry) = began.entry(suite, &agent.agent) else { return false };
        agent.metrics.iter().filter(fails).any(|metric| {
            let numbers = entry.metrics.get(&metric.name).copied().zip(metric.comparison.baseline);
            numbers.is_some_and(|(before, now)| metric.better.loss(now, before) > MOVED)
        })
    })
}
