//! How sure the numbers are, in sentences that several formats share.

use super::number::ValueDirection;
use super::{number, words};
use crate::model::{AgentReport, Noise, Passing, Report, SuiteReport, Unit, metric_value};

/// Makes a foreign text harmless for a format, cut at a number of characters.
pub type Clean = fn(&str, usize) -> String;

/// A sentence for each number that moved: how far its difference may be noise; those of which nothing can be told together.
pub fn moved(report: &Report, clean: Clean) -> Vec<String> {
    let mut sentences = Vec::new();
    for (suite, agent) in agents(report) {
        let mut untold = Vec::new();
        for metric in &agent.metrics {
            let comparison = &metric.comparison;
            let same = number::direction(metric.better, metric.unit, comparison.delta) == ValueDirection::Same;
            let (name, delta) = (clean(&metric.name, 60), number::delta(metric.unit, comparison.delta));
            match (comparison.noise().filter(|_| !same), comparison.ci95) {
                (None, _) => {}
                (Some(noise), Some(ends)) => {
                    let ends = interval(metric.unit, ends);
                    let sure = format!("{name} {delta}, 95% interval {ends}: {}", noise_phrase(noise));
                    sentences.push(format!("{}/{} {sure}", suite.id, agent.agent));
                }
                (Some(_), None) => untold.push(name),
            }
        }
        if !untold.is_empty() {
            let takes = "an interval takes an average over 5 documents or more";
            let names = untold.join(", ");
            sentences.push(format!("{}/{}: no interval for {names}: {takes}", suite.id, agent.agent));
        }
    }
    sentences
}

/// A sentence for each agent with several samples a case: who passes by majority, and who passes always.
pub fn reliability(report: &Report) -> Vec<String> {
    let told = agents(report).filter_map(|(suite, agent)| Some((suite, agent, agent_reliability(agent)?)));
    told.map(|(suite, agent, said)| format!("{}/{}: {said}", suite.id, agent.agent)).collect()
}

/// Of one agent: who passes by majority, and who passes always; `None` where no case has more than one sample.
pub fn agent_reliability(agent: &AgentReport) -> Option<String> {
    let reliability = agent.reliability.as_ref()?;
    let every = reliability.every.as_ref()?;
    let untold = match reliability.untold {
        0 => String::new(),
        count => {
            let cases = words::plural(count as usize, "case", "cases");
            format!("; of {cases} this cannot be told, because a sample was lost")
        }
    };
    let (majority, every) =
        (passing(&reliability.majority, " cases pass by majority"), passing(every, " in every sample"));
    Some(format!("{majority}, {every} (pass^N){untold}"))
}

/// For each agent the smallest change of each average that these cases can tell from noise.
pub fn detectable(report: &Report, clean: Clean) -> Vec<String> {
    let lines = agents(report).filter_map(|(suite, agent)| {
        let seen = agent.metrics.iter().filter_map(|metric| {
            let width = words::spread(metric.unit, metric.comparison.detectable?);
            Some(format!("{} {width}", clean(&metric.name, 60)))
        });
        let seen: Vec<String> = seen.collect();
        let cases = words::plural(agent.cases.len(), "case", "cases");
        (!seen.is_empty()).then(|| format!("{}/{}, {cases}: {}", suite.id, agent.agent, seen.join(", ")))
    });
    lines.collect()
}

/// The ends of an interval of a difference.
pub fn interval(unit: Unit, (low, high): (f64, f64)) -> String {
    let end = |value| match number::delta(unit, Some(value)).as_str() {
        "=" => "0".to_owned(),
        shown => shown.to_owned(),
    };
    format!("{} to {}", end(low), end(high))
}

/// The ends of an interval of a value.
pub fn between(unit: Unit, (low, high): (f64, f64)) -> String {
    format!("{} to {}", metric_value(unit, Some(low)), metric_value(unit, Some(high)))
}

/// Whether a difference is noise, in words.
pub fn noise_phrase(noise: Noise) -> &'static str {
    match noise {
        Noise::Within => "within the noise",
        Noise::Beyond => "beyond the noise",
        Noise::Untold => "no interval",
    }
}

fn passing(passing: &Passing, what: &str) -> String {
    let share = metric_value(Unit::Share, passing.share());
    let ends = passing.ci95.map_or(String::new(), |ends| format!(", 95% interval {}", between(Unit::Share, ends)));
    format!("{} of {}{what} ({share}{ends})", passing.passed, passing.of)
}

fn agents(report: &Report) -> impl Iterator<Item = (&SuiteReport, &AgentReport)> {
    report.suites.iter().flat_map(|suite| suite.agents.iter().map(move |agent| (suite, agent)))
}
