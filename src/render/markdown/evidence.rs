//! Why gates fail and numbers moved: the cases, each with the expected and the produced value.

use std::collections::BTreeSet;

use super::Links;
use crate::model::{
    AgentName, AgentReport, CaseEvidence, CaseId, EvidenceLine, MetricReport, PairCheck,
    PairResult, Report, SuiteId, SuiteReport, Tag, Tier,
};
use crate::render::evidence::FailedMetric;
use crate::render::plain::{inline, name, put, put_more, sentence, title};
use crate::render::since_base::{DiffMarks, LIKELY_CAUSE, UNDO_IT, agent_changes, change_line};
use crate::render::{evidence, since_base, words};
use crate::text::encoded_path;

/// The number of failed gates that are listed with their cases.
const GATES: usize = 12;

/// The number of differences that are listed for the first case of a gate.
const FIRST: usize = 4;

/// The number of differences that are listed for each other case.
const OTHERS: usize = 2;

/// The number of values of an output that are listed for the first case of a gate.
const OUTPUTS: usize = 3;

/// The number of values of an output that are listed for each other case.
const OTHER_OUTPUTS: usize = 1;

/// The number of changes of an agent that are listed.
const CHANGES: usize = 4;

/// Removed words are struck out, added words are bold.
pub const MARKS: DiffMarks = DiffMarks {
    clean: inline,
    longest: 160,
    removed: ("~~", "~~"),
    added: ("**", "**"),
};

/// What this commit changed in an agent: the first thing to look at, before any classification of failures.
fn changes(out: &mut String, agent: &AgentReport) {
    let all = agent_changes(agent, MARKS);
    if all.is_empty() {
        return;
    }
    put(out, &format!("{}:\n", title(LIKELY_CAUSE)));
    all.iter()
        .take(CHANGES)
        .for_each(|change| put(out, &format!("- {change}")));
    put_more(out, all.len(), CHANGES, |more| {
        format!("- … and {more} more in the full report")
    });
    put(out, &format!("\n{}\n", title(UNDO_IT)));
    put(out, "Cases behind the number:\n");
}

/// Each failed gate with the cases that moved it.
pub fn failed_gates(report: &Report, links: &Links) -> String {
    let failed = evidence::failed_metrics(report);
    let mut out = String::new();
    let mut shown = ShownCases {
        hints: Hints::Shown(BTreeSet::new()),
        ..ShownCases::default()
    };
    let mut above: Option<&AgentReport> = None;
    for FailedMetric {
        suite,
        agent,
        metric,
        gate,
    } in failed.iter().take(GATES)
    {
        let text = sentence(&evidence::failed_gate(metric, gate), 300);
        put(
            &mut out,
            &format!(
                "**{} / {}: {text}**\n",
                name(suite.id.as_str()),
                name(agent.agent.as_str())
            ),
        );
        if above.is_none_or(|above| !std::ptr::eq(above, *agent)) {
            changes(&mut out, agent);
        }
        above = Some(agent);
        shown.list(&mut out, suite, agent, metric, links);
        if let Some(chance) = words::steady_failures(agent, metric) {
            put(&mut out, &format!("\n{}", title(&chance)));
        }
        if let Some(past) = evidence::past_baselines(metric) {
            put(&mut out, &format!("\n{}", title(&past)));
        }
        out.push('\n');
    }
    put_more(&mut out, failed.len(), GATES, |more| {
        format!("… and {more} more failed gates in the full report")
    });
    out.truncate(out.trim_end().len());
    if out.is_empty() { out } else { out + "\n" }
}

/// The cases behind numbers that are worse or inconclusive but do not fail.
pub fn moved_cases(report: &Report, links: &Links) -> String {
    let (mut out, mut shown) = (String::new(), ShownCases::default());
    for FailedMetric {
        suite,
        agent,
        metric,
        ..
    } in evidence::failed_metrics(report).into_iter().take(GATES)
    {
        shown.list(&mut String::new(), suite, agent, metric, links);
    }
    for (suite, agent) in report.suite_agents() {
        let moved = |metric: &&MetricReport| {
            !metric.verdict.fails()
                && metric
                    .evidence
                    .cases
                    .iter()
                    .any(|one| !shown.has(&key(suite, agent, one)))
        };
        let moved: Vec<&MetricReport> = agent.metrics.iter().filter(moved).take(GATES).collect();
        for metric in moved {
            let title = format!(
                "{} / {}: {}",
                name(suite.id.as_str()),
                name(agent.agent.as_str()),
                inline(&metric.name, 60)
            );
            put(&mut out, &format!("**{title}**\n"));
            shown.list(&mut out, suite, agent, metric, links);
            out.push('\n');
        }
    }
    if out.is_empty() {
        return out;
    }
    format!("<details><summary>Cases behind the other moved numbers</summary>\n\n{out}</details>\n")
}

/// A case with the differences that moved a metric.
type CaseEvidenceKey<'a> = (
    &'a SuiteId,
    Tier,
    &'a AgentName,
    &'a CaseId,
    &'a [EvidenceLine],
);

type CaseKey<'a> = (&'a SuiteId, Tier, &'a AgentName, &'a CaseId);

fn key<'a>(
    suite: &'a SuiteReport,
    agent: &'a AgentReport,
    evidence: &'a CaseEvidence,
) -> CaseEvidenceKey<'a> {
    (
        &suite.id,
        suite.tier,
        &agent.agent,
        &evidence.case,
        &evidence.differences,
    )
}

/// The cases that are listed already. A case that moved several metrics for the same reasons shows them once.
#[derive(Default)]
struct ShownCases<'a> {
    all: Vec<CaseEvidenceKey<'a>>,
    /// The cases whose outputs are listed.
    outputs: Vec<CaseKey<'a>>,
    /// The cases whose outputs cannot be read.
    unreadable: Vec<CaseKey<'a>>,
    hints: Hints,
}

/// Likely causes and next steps. A hint that an earlier case of the metric has is not repeated.
#[derive(Default)]
enum Hints {
    /// Nothing failed, so nothing is to be done.
    #[default]
    Left,
    Shown(BTreeSet<String>),
}

impl Hints {
    fn is_new(&mut self, hint: &str) -> bool {
        match self {
            Self::Left => false,
            Self::Shown(hints) => hints.insert(hint.to_owned()),
        }
    }

    fn begin(&mut self) {
        if let Self::Shown(hints) = self {
            hints.clear();
        }
    }
}

impl<'a> ShownCases<'a> {
    fn has(&self, case: &CaseEvidenceKey<'a>) -> bool {
        self.all.contains(case)
    }

    fn list(
        &mut self,
        out: &mut String,
        suite: &'a SuiteReport,
        agent: &'a AgentReport,
        metric: &'a MetricReport,
        links: &Links,
    ) {
        let mut above = Vec::new();
        self.hints.begin();
        for (index, (one, case)) in evidence::cases_with_reports(agent, metric).enumerate() {
            let value = evidence::case_value(metric, one);
            let value = if value.is_empty() {
                value
            } else {
                format!(" {value}")
            };
            let (key, of) = (
                key(suite, agent, one),
                (&suite.id, suite.tier, &agent.agent, &one.case),
            );
            if self.has(&key) || self.unreadable.contains(&of) {
                above.push(format!("{}{value}", linked(one, case, links)));
                continue;
            }
            self.all.push(key);
            put(
                out,
                &format!(
                    "- {}{value}{}",
                    linked(one, case, links),
                    links.recording(case)
                ),
            );
            if let Some(check) = evidence::unreadable(case, one) {
                self.unreadable.push(of);
                unreadable(out, agent, case, check, &mut self.hints);
            } else {
                differences(
                    out,
                    (agent, one, case),
                    if index == 0 { FIRST } else { OTHERS },
                    &mut self.hints,
                );
            }
            if !self.outputs.contains(&of) {
                self.outputs.push(of);
                outputs(
                    out,
                    agent,
                    one,
                    case,
                    if index == 0 { OUTPUTS } else { OTHER_OUTPUTS },
                );
            }
        }
        if !above.is_empty() {
            put(out, &format!("- {}, as above", above.join(", ")));
        }
        if let Some(more) = evidence::more_cases(metric) {
            put(out, &format!("- … and {more}"));
        }
    }
}

/// The failed check of an output's format.
fn unreadable(
    out: &mut String,
    agent: &AgentReport,
    case: Option<&PairResult>,
    check: &PairCheck,
    hints: &mut Hints,
) {
    let Some(failure) = check.failure.as_deref() else {
        return;
    };
    let expected = check.expected.as_deref().unwrap_or_default();
    let (expected, got) = (inline(expected, 200), inline(&failure.detail, 300));
    let hint = hint(agent, case, failure.tag, &failure.next_action)
        .filter(|hint| hints.is_new(hint))
        .map_or(String::new(), |hint| format!("<br>{hint}"));
    put(out, &format!("  - expected {expected}<br>got {got}{hint}"));
}

/// The differences of a case. Those with the same expectation share it, and a hint follows the first one that it explains.
fn differences(
    out: &mut String,
    (agent, evidence, case): (&AgentReport, &CaseEvidence, Option<&PairResult>),
    limit: usize,
    hints: &mut Hints,
) {
    let lines = evidence
        .differences
        .get(..limit)
        .unwrap_or(&evidence.differences);
    for same in lines.chunk_by(|one, next| one.difference.expected == next.difference.expected) {
        let Some(first) = same.first() else { continue };
        let mut text = format!("  - expected {}", inline(&first.difference.expected, 200));
        for line in same {
            let samples = evidence::in_samples(case, line);
            text.push_str(&format!(
                "<br>got {}{samples}",
                inline(&line.difference.produced, 400)
            ));
        }
        for line in same {
            let found = line.tag.zip(line.next_action.as_deref());
            let hint = found.and_then(|(tag, next)| hint(agent, case, tag, next));
            if let Some(hint) = hint.filter(|hint| hints.is_new(hint)) {
                text.push_str(&format!("<br>{hint}"));
            }
        }
        put(out, &text);
    }
    put_more(out, evidence.differences.len(), lines.len(), |more| {
        format!("  - … and {more} more")
    });
}

/// The values of the output that differ from the base commit's.
fn outputs(
    out: &mut String,
    agent: &AgentReport,
    evidence: &CaseEvidence,
    case: Option<&PairResult>,
    most: usize,
) {
    let completed = case.map_or(1, |case| case.completed);
    let changed = agent.since_base.outputs_of(&evidence.case);
    for change in changed.iter().take(most) {
        put(
            out,
            &format!(
                "  - output since the base commit: {}",
                change_line(change, completed, MARKS)
            ),
        );
    }
    if changed.len() > most {
        put(
            out,
            &format!(
                "  - … and {}; `goldgate explain` shows them",
                words::plural(changed.len() - most, "more value", "more values")
            ),
        );
    }
}

/// The likely cause and the next step; `None` where the changes of the agent are the cause, which are listed with its first gate.
fn hint(
    agent: &AgentReport,
    case: Option<&PairResult>,
    tag: Tag,
    next_action: &str,
) -> Option<String> {
    (!since_base::explains(agent, case)).then(|| likely_cause(tag, next_action))
}

/// The likely cause by a tag, and the next step.
pub fn likely_cause(tag: Tag, next_action: &str) -> String {
    format!(
        "likely cause: {}. Next: {}",
        tag.as_str(),
        inline(next_action, 300)
    )
}

/// The name of a case, linked to the golden file at the line of its first difference.
fn linked(evidence: &CaseEvidence, case: Option<&PairResult>, links: &Links) -> String {
    let title = name(evidence.case.as_str());
    let golden = case.map(|case| case.golden.as_str());
    match (&links.files, golden, evidence.differences.first()) {
        (Some(address), Some(golden), Some(line)) => {
            format!(
                "[{title}]({address}/{}#L{})",
                encoded_path(golden),
                line.difference.line
            )
        }
        (_, _, _) => title,
    }
}
