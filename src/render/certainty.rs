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
    let stopped = reliability.stopped_early;
    let missing = unknown_because(
        reliability.untold.saturating_sub(stopped),
        "a sample is missing",
    );
    let unknown = missing
        + &unknown_because(
            stopped,
            "sampling stopped early (`early_stop: false` takes every sample)",
        );
    let earlier = reliability
        .every_before
        .map_or(String::new(), |earlier| format!(", {earlier} before"));
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
        "{majority}, {every} (pass^N{earlier}){each}{unknown}"
    ))
}

fn unknown_because(count: u32, why: &str) -> String {
    if count == 0 {
        return String::new();
    }
    format!(
        "; unknown for {}, because {why}",
        words::plural(count as usize, "case", "cases")
    )
}

/// One sentence per agent: the smallest change of each average that its cases can distinguish from noise. The policy `regression` says
/// itself what it sees.
pub fn detectable(report: &Report, clean: Clean) -> Vec<String> {
    let mut lines = Vec::new();
    for (suite, agent) in report.suite_agents() {
        let policy = agent.policy.as_deref().map(|policy| policy.name);
        if agent.cases.len() < FEWEST_CASES || policy == Some(Policy::Regression) {
            continue;
        }
        let mut limits = Vec::new();
        for metric in &agent.metrics {
            if let Some(detectable) = metric.comparison.detectable {
                let width = words::spread(metric.unit, detectable);
                limits.push(format!("{} below {width}", clean(&metric.name, 60)));
            }
        }
        if limits.is_empty() {
            continue;
        }
        lines.push(format!(
            "{}/{}: with {}, changes of {} cannot be distinguished from noise",
            suite.id,
            agent.agent,
            words::plural(agent.cases.len(), "case", "cases"),
            limits.join(", ")
        ));
    }
    lines
}

/// The interval of a difference: `−31.2 pp to 0`.
pub fn interval(unit: Unit, (low, high): (f64, f64)) -> String {
    format!("{} to {}", end(unit, low), end(unit, high))
}

fn end(unit: Unit, value: f64) -> String {
    match number::delta(unit, Some(value)).as_str() {
        "=" => "0".to_owned(),
        text => text.to_owned(),
    }
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

fn passing(passing: &Passing, subject: &str) -> String {
    if (passing.of as usize) < FEWEST_CASES {
        return format!("{} of {}{subject}", passing.passed, passing.of);
    }
    let share = metric_value(Unit::Share, passing.share());
    let ends = passing.ci95.map_or(String::new(), |ends| {
        format!(", 95% interval {}", between(Unit::Share, ends))
    });
    format!(
        "{} of {}{subject} ({share}{ends})",
        passing.passed, passing.of
    )
}
