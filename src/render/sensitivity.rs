//! What the cases and samples of an agent can tell, in words.

use super::words::{plural, whole_percent};
use crate::chance::{CaseCount, Detection, detection, pass_rate_range, samples_to_see};
use crate::model::{AgentReport, Exclusion, Policy, SuiteReport};

/// What is said of the gates of documents: their rates are not known by construction.
const OF_SEED: &str = "policy seed: its gates turn an unchanged agent red in 6 to 100% of its re-recordings (docs/statistics.md)";

/// The samples of an agent's cases.
struct Recorded {
    cases: Vec<CaseCount>,
    /// The number of samples of a case that most cases have.
    samples: usize,
}

impl Recorded {
    fn of(agent: &AgentReport) -> Self {
        let counted = agent
            .cases
            .iter()
            .filter(|case| case.exclusion == Exclusion::Counted);
        let cases: Vec<CaseCount> = counted
            .map(|case| CaseCount {
                passed: case.passing.unwrap_or(0) as usize,
                samples: case.completed as usize,
            })
            .collect();
        let mut counts: Vec<usize> = cases.iter().map(|case| case.samples).collect();
        counts.sort_unstable();
        let samples = counts.get(counts.len() / 2).copied().unwrap_or(0);
        Self { cases, samples }
    }

    fn pass_rate(&self) -> Option<f64> {
        let passed: usize = self.cases.iter().map(|case| case.passed).sum();
        let all: usize = self.cases.iter().map(|case| case.samples).sum();
        (all > 0).then(|| passed as f64 / all as f64)
    }
}

/// What the cases and samples of an agent can tell, a line each.
pub fn agent_sensitivity(suite: &SuiteReport, agent: &AgentReport) -> String {
    let recorded = Recorded::of(agent);
    let who = format!("{}/{}", suite.id, agent.agent);
    let mut lines = vec![format!(
        "{who}: {}, {} of each",
        plural(recorded.cases.len(), "case", "cases"),
        plural(recorded.samples, "sample", "samples")
    )];
    if policy_of(agent) == Policy::Seed {
        lines.push(format!("  {OF_SEED}"));
    }
    match (pass_rate_range(&recorded.cases), recorded.pass_rate()) {
        (Some((low, high)), Some(rate)) => lines.push(format!(
            "  {} of the samples pass; the true rate is most likely between {} and {} (90% range)",
            whole_percent(rate),
            whole_percent(low),
            whole_percent(high)
        )),
        _ => lines.push("  no rate is stated from fewer than five cases".to_owned()),
    }
    if policy_of(agent) == Policy::Regression {
        lines.extend(of_regression(agent, &recorded));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn of_regression(agent: &AgentReport, recorded: &Recorded) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(p) = agent.policy.as_ref().and_then(|policy| policy.p) {
        lines.push(format!("  against the baseline: p = {}", whole_percent(p)));
    }
    let (cases, samples) = (recorded.cases.len(), recorded.samples);
    let rate = recorded.pass_rate().unwrap_or(1.0);
    let Some(seen) = detection(cases, samples, rate) else {
        return lines;
    };
    lines.push(format!("  {}", seen_words(seen)));
    match samples_to_see(cases, rate) {
        Some(needed) if needed <= samples => {}
        Some(needed) => lines.push(format!(
            "  a loss of 10 points in every case is seen in nine of ten runs with {needed} samples of each"
        )),
        None => lines.push(
            "  a loss of 10 points in every case is seen in nine of ten runs with more cases only"
                .to_owned(),
        ),
    }
    if samples == 1 {
        lines.push("  one sample cannot tell chance from change: record three of each".to_owned());
    }
    lines
}

fn policy_of(agent: &AgentReport) -> Policy {
    agent
        .policy
        .as_ref()
        .map_or(Policy::Regression, |policy| policy.name)
}

fn seen_words(Detection { spread, lost }: Detection) -> String {
    format!(
        "a loss of 10 points in every case is seen in about {:.0}% of runs, a lost case in about {:.0}%",
        spread * 100.0,
        lost * 100.0
    )
}

/// The policy of an agent, and what it can see, on one line.
pub fn policy_line(suite: &SuiteReport, agent: &AgentReport) -> String {
    let who = format!("{}/{}", suite.id, agent.agent);
    if policy_of(agent) == Policy::Seed {
        return format!("{who}: policy seed\n");
    }
    let recorded = Recorded::of(agent);
    let (cases, samples) = (recorded.cases.len(), recorded.samples);
    let advice = if samples == 1 {
        "; record three samples of each case"
    } else {
        ""
    };
    match detection(cases, samples, recorded.pass_rate().unwrap_or(1.0)) {
        Some(seen) => format!("{who}: policy regression; {}{advice}\n", seen_words(seen)),
        None => format!("{who}: policy regression; fewer than five cases{advice}\n"),
    }
}
