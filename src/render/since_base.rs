//! What differs from the base commit, apart from the numbers: the agent, its outputs, and what it uses.

use std::collections::BTreeSet;

use super::number::duration;
use super::words::plural;
use crate::model::{
    AgentName, AgentReport, AgentRuns, CaseTrend, ChangedText, MovedUse, PairResult, Report,
    SampleUse, Unit, fixed_places, metric_value,
};
use crate::text::{WordPiece, changed_words, line};

/// How a format marks words that differ.
#[derive(Clone, Copy)]
pub struct DiffMarks {
    /// Escapes an untrusted text, cut to a number of characters.
    pub clean: fn(&str, usize) -> String,
    /// The longest part of a text, in characters.
    pub longest: usize,
    /// Put before and after removed words.
    pub removed: (&'static str, &'static str),
    /// Put before and after added words.
    pub added: (&'static str, &'static str),
}

/// Whether what this commit changed in an agent explains a failed case: its output is another one than on the base commit, or its code ran
/// here with the recorded answers of its model. Then a tag would only contradict it.
pub fn explains(agent: &AgentReport, case: Option<&PairResult>) -> bool {
    let since = &agent.since_base;
    if since.agent.is_empty() {
        return false;
    }
    let Some(case) = case else {
        return true;
    };
    let may_differ = since.runs == AgentRuns::Code || !since.outputs_of(&case.case).is_empty();
    case.trend != CaseTrend::StillFailing && may_differ
}

/// The marks of git's word diff, for terminals.
pub const PLAIN_MARKS: DiffMarks = DiffMarks {
    clean: line,
    longest: 300,
    removed: ("[-", "-]"),
    added: ("{+", "+}"),
};

/// A text with its removed and added words marked.
pub fn word_diff(change: &ChangedText, marks: DiffMarks) -> String {
    let (base, head) = (change.before.as_deref(), change.now.as_deref());
    let mut pieces = Vec::new();
    for piece in changed_words(base.unwrap_or_default(), head.unwrap_or_default()) {
        pieces.push(match piece {
            WordPiece::Same(text) => (marks.clean)(&text, marks.longest),
            WordPiece::Removed(text) => marked(&text, marks.removed, marks),
            WordPiece::Added(text) => marked(&text, marks.added, marks),
        });
    }
    pieces.join(" ")
}

fn marked(text: &str, (open, close): (&str, &str), marks: DiffMarks) -> String {
    format!("{open}{}{close}", (marks.clean)(text, marks.longest))
}

/// The name of a change and its word diff: `prompts/a.md: ask for [-the week-] {+one day+}`.
pub fn change_line(change: &ChangedText, completed: u32, marks: DiffMarks) -> String {
    let samples = match change.samples {
        Some(samples) if samples < completed => format!(" ({samples} of {completed} samples)"),
        Some(_) | None => String::new(),
    };
    format!(
        "{}{samples}: {}",
        (marks.clean)(&change.name, 160),
        word_diff(change, marks)
    )
}

/// What an agent uses more or less of, in one sentence; `None` if nothing moved.
pub fn moved_uses(agent: &AgentReport) -> Option<String> {
    let uses: Vec<String> = agent
        .since_base
        .uses
        .iter()
        .map(|moved| use_words(agent, moved))
        .collect();
    (!uses.is_empty()).then(|| {
        format!(
            "median of a sample since the base commit: {}",
            uses.join("; ")
        )
    })
}

fn use_words(agent: &AgentReport, moved: &MovedUse) -> String {
    let MovedUse {
        what: sample_use,
        before: base,
        now: head,
    } = moved;
    let name = match sample_use {
        SampleUse::Tokens => "tokens",
        SampleUse::Latency => "latency",
        SampleUse::Cost => "cost",
    };
    let is_gated = agent
        .metrics
        .iter()
        .any(|metric| metric.name == sample_use.as_str() && !metric.gates.is_empty());
    let gate = if is_gated { "" } else { ", no gate is on it" };
    format!(
        "{name} {} → {} ({}{gate})",
        use_value(*sample_use, *base),
        use_value(*sample_use, *head),
        change(moved)
    )
}

pub fn use_value(sample_use: SampleUse, value: f64) -> String {
    match sample_use {
        SampleUse::Tokens => metric_value(Unit::Count, Some(value.round())),
        SampleUse::Latency => duration(value.max(0.0).round() as u64),
        SampleUse::Cost => format!("${}", fixed_places(value, 4)),
    }
}

/// The change in percent, with its sign.
fn change(moved: &MovedUse) -> String {
    let percent = ((moved.now / moved.before - 1.0) * 100.0).round();
    let sign = if percent < 0.0 { "−" } else { "+" };
    format!("{sign}{}%", metric_value(Unit::Count, Some(percent.abs())))
}

/// The agents that use more than at the base commit, for the headline: `assistant uses +100% tokens and +100% latency`.
pub fn greater_uses(report: &Report) -> Option<String> {
    let greater = report.agents().filter_map(|agent| {
        let uses: Vec<String> = agent
            .since_base
            .uses
            .iter()
            .filter(|moved| moved.now > moved.before)
            .map(more)
            .collect();
        (!uses.is_empty()).then(|| (&agent.agent, uses.join(" and ")))
    });
    let greater: Vec<(&AgentName, String)> = greater.collect();
    let (name, uses) = greater.first()?;
    // One agent may be in several suites.
    let others: BTreeSet<&AgentName> = greater
        .iter()
        .map(|(candidate, _)| *candidate)
        .filter(|candidate| candidate != name)
        .collect();
    Some(match others.len() {
        0 => format!("{name} needs {uses}"),
        count => format!(
            "{name} needs {uses} (and {} more)",
            plural(count, "agent", "agents")
        ),
    })
}

fn more(moved: &MovedUse) -> String {
    let name = match moved.what {
        SampleUse::Tokens => "tokens",
        SampleUse::Latency => "time",
        SampleUse::Cost => "money",
    };
    format!("{} {name}", change(moved))
}

/// What this commit changed in an agent, by name: `this change of prompts/a.md and 2 more`.
pub fn changed_names(agent: &AgentReport, clean: impl Fn(&str) -> String) -> String {
    let all = &agent.since_base.agent;
    let first = all
        .first()
        .map_or(String::new(), |change| clean(&change.name));
    match all.len() {
        0 | 1 => format!("this change of {first}"),
        count => format!("this change of {first} and {} more", count - 1),
    }
}

/// The lines on what changed in an agent; empty without a base commit.
pub fn agent_changes(agent: &AgentReport, marks: DiffMarks) -> Vec<String> {
    agent
        .since_base
        .agent
        .iter()
        .map(|change| change_line(change, 1, marks))
        .collect()
}
