//! Notes on the run and on cases: lost samples, quarantine, exclusions, and cases that moved.

use crate::model::{
    AgentReport, COVERAGE, Exclusion, MetricReport, PairResult, Report, Ruling, SuiteReport,
    Verdict,
};
use crate::render::evidence::short_gate;
use crate::render::plain::{line, put};
use crate::render::screen::Detail;
use crate::render::{since_base, words};
use crate::text::line_with_end;

/// Notes on an agent that are shown without all details. Those on its recordings as a whole come first.
const OF_AGENT: usize = 1;

/// The number of drafts that are named.
const DRAFTS: usize = 5;

/// Notes that say why a case does not count, which cases moved, and the first on each agent; the others only with all details.
pub(super) fn notes(out: &mut String, report: &Report, detail: Detail) {
    let start = out.len();
    for note in &report.notes {
        put(out, &format!("note: {}", words::note(note)));
    }
    let review = words::command(report, "review", "");
    let mut folded = Vec::new();
    for (suite, agent) in report.suite_agents() {
        let mut texts = minor(suite, agent);
        let shown = match detail {
            Detail::Everything => texts.len(),
            Detail::Changes | Detail::Verdict => agent.notes.len().min(OF_AGENT),
        };
        folded.extend(texts.split_off(shown));
        for text in texts {
            put(out, &text);
        }
        major(out, suite, agent, &review);
        if let Some(uses) = since_base::moved_uses(agent) {
            put(out, &format!("{}/{}: {uses}", suite.id, agent.agent));
        }
    }
    if let [note] = folded.as_slice() {
        put(out, note);
    } else if !folded.is_empty() {
        let notes = words::plural(folded.len(), "more note", "more notes");
        put(
            out,
            &format!("… and {notes} on single cases, lost samples and quarantine; -v shows them"),
        );
    }
    if out.len() > start {
        out.push('\n');
    }
}

/// Notes on agents and on single cases.
fn minor(suite: &SuiteReport, agent: &AgentReport) -> Vec<String> {
    let who = format!("{}/{}", suite.id, agent.agent);
    let notes = agent
        .notes
        .iter()
        .map(|note| format!("{who}: {}", words::note(note)));
    let cases =
        agent
            .cases
            .iter()
            .filter_map(|case| match (case.exclusion, case.lost.is_empty()) {
                (Exclusion::Quarantined, _) => {
                    Some(format!("{who}/{}: {}", case.case, words::quarantine(case)))
                }
                (Exclusion::Counted, false) => {
                    Some(format!("{who}/{}: inconclusive: {}", case.case, lost(case)))
                }
                (Exclusion::Counted, true) | (Exclusion::NoMajority, _) => None,
            });
    notes.chain(cases).collect()
}

/// Cases that do not count because samples are missing, and cases that moved.
fn major(out: &mut String, suite: &SuiteReport, agent: &AgentReport, review: &str) {
    let who = format!("{}/{}", suite.id, agent.agent);
    excluded(out, &who, agent);
    for metric in &agent.metrics {
        for gate in &metric.gates {
            if gate.base_commit.is_some() && !gate.ruling.fails() {
                let gate = short_gate(metric, gate, |text| line(text, words::NAME));
                put(out, &format!("{who}: excused: {gate}"));
            }
        }
    }
    // A case that newly fails is shown as broken.
    for trend in words::MOVED_TRENDS.into_iter().skip(1) {
        let moved = agent
            .cases
            .iter()
            .filter(|case| words::trend(case) == trend);
        let cases: Vec<&str> = moved.map(|case| case.case.as_str()).collect();
        if !cases.is_empty() {
            put(out, &format!("{who}: {trend}: {}", cases.join(", ")));
        }
    }
    if !agent.drafts.is_empty() {
        let named = agent
            .drafts
            .iter()
            .take(DRAFTS)
            .map(|draft| format!("{} {}", draft.case, words::draft(draft)));
        let more = match agent.drafts.len().saturating_sub(DRAFTS) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let count = words::plural(agent.drafts.len(), "draft counts", "drafts count");
        let named = line(&named.collect::<Vec<_>>().join("; "), 400);
        put(
            out,
            &format!("{who}: {count} for nothing until {review} accepts: {named}{more}"),
        );
    }
    if !agent.removed.is_empty() {
        let cases: Vec<&str> = agent.removed.iter().map(|case| case.as_str()).collect();
        put(
            out,
            &format!(
                "{who}: cases that only the baseline has: {}",
                cases.join(", ")
            ),
        );
    }
}

/// The cases that do not count because samples are missing, those with the same reason together. Where coverage has no verdict, the reason
/// for that names them.
fn excluded(out: &mut String, who: &str, agent: &AgentReport) {
    let is_open = |metric: &MetricReport| {
        metric.name == COVERAGE && metric.verdict == Ruling::Judged(Verdict::Inconclusive)
    };
    if agent.metrics.iter().any(is_open) {
        return;
    }
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for case in &agent.cases {
        if case.exclusion != Exclusion::NoMajority {
            continue;
        }
        let (done, planned) = (case.completed, case.planned);
        let reason = format!("{done} of {planned} samples completed: {}", lost(case));
        match reasons.last_mut() {
            Some((last, cases)) if *last == reason => cases.push(case.case.as_str()),
            Some(_) | None => reasons.push((reason, vec![case.case.as_str()])),
        }
    }
    for (reason, cases) in reasons {
        put(
            out,
            &format!("{who}: excluded: {}: {reason}", cases.join(", ")),
        );
    }
}

/// Why samples of a case are missing.
fn lost(case: &PairResult) -> String {
    words::lost_samples(case, |why| line_with_end(why, words::WHY_LOST))
}
