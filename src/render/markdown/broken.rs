//! What is broken, by case, and the gates that these cases moved.

use std::collections::BTreeSet;

use super::Links;
use crate::model::{Report, Tag};
use crate::render::broken::{
    BrokenAgent, BrokenCase, CaseRow, Differences, SHOWN, broken_agents, moved_agents,
};
use crate::render::plain::{coded, inline, name, put, put_more, sentence, title};
use crate::render::since_base::{DiffMarks, agent_changes, change_line};
use crate::render::{evidence, words};
use crate::text::{clauses, encoded_path};

/// The number of agents that are listed.
const AGENTS: usize = 12;

/// The number of cases behind moved numbers that are listed.
const MOVED: usize = 30;

/// The number of changes of an agent that are listed.
const CHANGES: usize = 3;

/// Removed words are struck out, added words are bold.
pub const MARKS: DiffMarks = DiffMarks {
    clean: inline,
    longest: 160,
    removed: ("~~", "~~"),
    added: ("**", "**"),
};

/// Each agent with its broken cases and the gates that they moved.
pub fn broken_cases(report: &Report, links: &Links) -> String {
    let agents = broken_agents(report, SHOWN);
    let mut out = String::new();
    for broken in agents.iter().take(AGENTS) {
        agent(&mut out, broken, links);
        out.push('\n');
    }
    put_more(&mut out, agents.len(), AGENTS, |more| {
        let agents = words::plural(more, "more agent", "more agents");
        format!("… and {agents} with broken cases in the full report")
    });
    out.truncate(out.trim_end().len());
    if out.is_empty() { out } else { out + "\n" }
}

/// The cases behind numbers that are worse and fail no gate, folded.
pub fn moved_cases(report: &Report, links: &Links) -> String {
    let mut out = String::new();
    for moved in moved_agents(report, MOVED) {
        put(&mut out, &format!("**{}**\n", agent_name(&moved)));
        cases(&mut out, &moved, links);
        out.push('\n');
    }
    if out.is_empty() {
        return out;
    }
    format!("<details><summary>Cases behind the other moved numbers</summary>\n\n{out}</details>\n")
}

fn agent_name(broken: &BrokenAgent<'_>) -> String {
    let (suite, agent) = (broken.suite.id.as_str(), broken.agent.agent.as_str());
    format!("{} / {}", name(suite), name(agent))
}

fn agent(out: &mut String, broken: &BrokenAgent<'_>, links: &Links) {
    put(
        out,
        &format!("**{}: {}**\n", agent_name(broken), broken.title()),
    );
    if broken.fails() {
        changes(out, broken);
    }
    cases(out, broken, links);
    if !broken.gates.is_empty() {
        let gates = broken.gate_line(|text| sentence(text, words::NAME));
        put(out, &format!("\nGates: {gates}"));
    }
    let with_past = broken
        .gates
        .iter()
        .find_map(|(metric, _)| Some((metric, evidence::past_baselines(metric)?)));
    if let Some((metric, past)) = with_past {
        let metric = inline(&metric.name, words::NAME);
        put(out, &format!("\n{metric}, {past}"));
    }
}

/// What this commit changed in an agent.
fn changes(out: &mut String, broken: &BrokenAgent<'_>) {
    let all = agent_changes(broken.agent, MARKS);
    if all.is_empty() {
        return;
    }
    put(out, &format!("{}:\n", title(broken.likely_cause())));
    all.iter()
        .take(CHANGES)
        .for_each(|change| put(out, &format!("- {change}")));
    put_more(out, all.len(), CHANGES, |more| {
        format!("- … and {more} more in the full report")
    });
    out.push('\n');
    if let Some(next) = broken.undo_it() {
        put(out, &format!("{}\n", title(next)));
    }
}

fn cases(out: &mut String, broken: &BrokenAgent<'_>, links: &Links) {
    let mut hints = BTreeSet::new();
    for case in &broken.cases {
        block(out, case, links, &mut hints);
    }
    if let Some(others) = broken.others(name) {
        put(out, &format!("- {others}"));
    }
}

fn block<'a>(
    out: &mut String,
    case: &BrokenCase<'a>,
    links: &Links,
    hints: &mut BTreeSet<&'a str>,
) {
    let standing = case.standing();
    let standing = if standing.is_empty() {
        standing
    } else {
        format!(": {}", inline(&standing, 200))
    };
    let mut text = format!(
        "- **{}**{}{standing}",
        linked(case, links),
        links.recording(case.result)
    );
    for row in case.rows(Differences::Few, hints) {
        let row = match row {
            CaseRow::Asked(text) => format!("asked {}", inline(text, 120)),
            CaseRow::Expected(all) => {
                let all: Vec<String> = all.iter().map(|text| inline(text, 160)).collect();
                format!("expected {}", all.join("; "))
            }
            CaseRow::Got(text, samples) => format!("got {}{samples}", inline(text, 240)),
            CaseRow::Changed(change, completed) => {
                format!("changed {}", change_line(change, completed, MARKS))
            }
            CaseRow::Missing(needed, how) => format!(
                "missing {}; {}",
                inline(needed, 160),
                coded(&clauses(how, 400))
            ),
            CaseRow::Next(tag, next) => next_step(tag, next),
            CaseRow::More(more) => {
                let more = words::plural(more, "more difference", "more differences");
                format!("… and {more}")
            }
        };
        text.push_str(&format!("<br>{row}"));
    }
    put(out, &text);
}

/// The next step, with the tag of the failure.
pub fn next_step(tag: Tag, next: &str) -> String {
    format!("next: {} (`{}`)", inline(next, 300), tag.as_str())
}

/// The name of a case, linked to the golden file at the line of its first difference.
fn linked(case: &BrokenCase<'_>, links: &Links) -> String {
    let title = name(case.case.as_str());
    match (&links.files, case.golden()) {
        (Some(address), Some(golden)) => format!(
            "[{title}]({address}/{}#L{})",
            encoded_path(golden),
            case.line()
        ),
        (_, _) => title,
    }
}
