//! Sentences on the certainty of the numbers, shared by several formats.

use super::number::ValueDirection;
use super::{number, words};
use crate::model::{AgentReport, Noise, Passing, Policy, Report, Unit, metric_value};

/// The fewest cases of an average with an interval.
const FEWEST_CASES: usize = 5;

/// Escapes an untrusted text for an output format, cut to a number of characters.
pub type Clean = fn(&str, usize) -> String;

/// One sentence per number that moved: its 95% interval, and whether it is noise. Numbers without an interval share a sentence.
pub fn moved(report: &Report, clean: Clean) -> Vec<String> {
    let mut sentences = Vec::new();
    for (suite, agent) in report.suite_agents() {
        let mut without = Vec::new();
        for metric in &agent.metrics {
            let comparison = &metric.comparison;
            let same = number::direction_of(metric) == ValueDirection::Same;
            let (name, delta) = (clean(&metric.name, 60), number::change(metric));
            match (comparison.noise.filter(|_| !same), comparison.ci95) {
                (None, _) => {}
                (Some(noise), Some(ends)) => {
                    let ends = interval(metric.unit, ends);
                    // A failed gate decides. "Within the noise" next to it would read as an excuse.
                    let fails = metric.verdict.fails() || agent.verdict.fails();
                    let noise = if fails {
                        String::new()
                    } else {
                        format!(": {}", noise_phrase(noise))
                    };
                    let sure = format!("{name} {delta}, 95% interval {ends}{noise}");
                    sentences.push(format!("{}/{} {sure}", suite.id, agent.agent));
                }
                (Some(_), None) => without.push(name),
            }
        }
        if !without.is_empty() {
            let names = without.join(", ");
            // With enough cases, what is missing is the average: the worst case of a suite has no interval.
            let why = match agent.cases.len() {
                0..FEWEST_CASES => format!("it needs at least {FEWEST_CASES} cases"),
                _ => "not an average over the cases".to_owned(),
            };
            sentences.push(format!(
                "{}/{}: no interval for {names}: {why}",
                suite.id, agent.agent
            ));
        }
    }
    sentences
}

/// One sentence per agent with several samples per case: cases that pass in most samples, and in every sample.
pub fn reliability(report: &Report) -> Vec<String> {
    let sentences = report
        .suite_agents()
        .filter_map(|(suite, agent)| Some((suite, agent, agent_reliability(agent)?)));
    sentences
        .map(|(suite, agent, text)| format!("{}/{}: {text}", suite.id, agent.agent))
        .collect()
}

/// The same for one agent; `None` if no case has more than one sample.
pub fn agent_reliability(agent: &AgentReport) -> Option<String> {
    let reliability = agent.reliability.as_ref()?;
    let every = reliability.every.as_ref()?;
    let unknown = |count: u32, why: &str| match count {
        0 => String::new(),
        count => format!(
            "; unknown for {}, because {why}",
            words::plural(count as usize, "case", "cases")
        ),
    };
    let stopped = reliability.stopped_early;
    let missing = unknown(
        reliability.untold.saturating_sub(stopped),
        "a sample is missing",
    );
    let unknown = missing
        + &unknown(
            stopped,
            "sampling stopped early (`early_stop: false` takes every sample)",
        );
    let before = reliability
        .every_before
        .map_or(String::new(), |before| format!(", {before} before"));
    let (majority, every) = (
        passing(&reliability.majority, " cases pass by majority"),
        passing(every, " in every sample"),
    );
    let each: Vec<String> = (1..)
        .zip(&reliability.pass_hat)
        .map(|(count, share)| format!("pass^{count} {}", metric_value(Unit::Share, Some(*share))))
        .collect();
    let each = if each.is_empty() {
        String::new()
    } else {
        format!("; {}", each.join(", "))
    };
    Some(format!(
        "{majority}, {every} (pass^N{before}){each}{unknown}"
    ))
}

/// One sentence per agent: the smallest change of each average that its cases can distinguish from noise. The policy `regression` says
/// itself what it sees.
pub fn detectable(report: &Report, clean: Clean) -> Vec<String> {
    let has_enough = |agent: &AgentReport| {
        let policy = agent.policy.as_deref().map(|policy| policy.name);
        agent.cases.len() >= FEWEST_CASES && policy != Some(Policy::Regression)
    };
    let agents = report.suite_agents().filter(|(_, agent)| has_enough(agent));
    let lines = agents.filter_map(|(suite, agent)| {
        let limits = agent.metrics.iter().filter_map(|metric| {
            let width = words::spread(metric.unit, metric.comparison.detectable?);
            Some(format!("{} below {width}", clean(&metric.name, 60)))
        });
        let limits: Vec<String> = limits.collect();
        let cases = words::plural(agent.cases.len(), "case", "cases");
        let limits = (!limits.is_empty()).then(|| limits.join(", "))?;
        Some(format!(
            "{}/{}: with {cases}, changes of {limits} cannot be distinguished from noise",
            suite.id, agent.agent
        ))
    });
    lines.collect()
}

/// The interval of a difference: `−31.2 pp to 0`.
pub fn interval(unit: Unit, (low, high): (f64, f64)) -> String {
    let end = |value| match number::delta(unit, Some(value)).as_str() {
        "=" => "0".to_owned(),
        other => other.to_owned(),
    };
    format!("{} to {}", end(low), end(high))
}

/// The interval of a value: `43.9% to 100%`.
pub fn between(unit: Unit, (low, high): (f64, f64)) -> String {
    format!(
        "{} to {}",
        metric_value(unit, Some(low)),
        metric_value(unit, Some(high))
    )
}

/// How a difference compares with the noise.
pub fn noise_phrase(noise: Noise) -> &'static str {
    match noise {
        Noise::Within => "within the noise",
        Noise::Beyond => "beyond the noise",
        Noise::Untold => "no interval",
    }
}

fn passing(passing: &Passing, what: &str) -> String {
    if (passing.of as usize) < FEWEST_CASES {
        return format!("{} of {}{what}", passing.passed, passing.of);
    }
    let share = metric_value(Unit::Share, passing.share());
    let ends = passing.ci95.map_or(String::new(), |ends| {
        format!(", 95% interval {}", between(Unit::Share, ends))
    });
    format!("{} of {}{what} ({share}{ends})", passing.passed, passing.of)
}
