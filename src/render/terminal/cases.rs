//! What is broken, by case, and the gates that these cases moved.

use std::collections::BTreeSet;

use crate::model::{FailureLine, Report};
use crate::render::broken::{
    BrokenAgent, BrokenCase, CaseRow, Differences, SHOWN, broken_agents, other_checks,
};
use crate::render::plain::{line, put, put_more};
use crate::render::screen::Detail;
use crate::render::since_base::{PLAIN_MARKS, agent_changes, change_line};
use crate::render::words;
use crate::text::clauses;

/// The number of agents, of golden changes, and of cases that failed before, that are listed.
pub(super) const LISTED: usize = 12;

/// The number of changes of an agent that are listed.
const CHANGES: usize = 3;

/// Each agent with its broken cases and the gates that they moved.
pub(super) fn cases(out: &mut String, report: &Report, detail: Detail) {
    let (most, differences) = match detail {
        Detail::Everything => (usize::MAX, Differences::All),
        Detail::Changes | Detail::Verdict => (SHOWN, Differences::Few),
    };
    let agents = broken_agents(report, most);
    for broken in agents.iter().take(LISTED) {
        agent(out, broken, differences);
    }
    put_more(out, agents.len(), LISTED, |more| {
        let agents = words::plural(more, "more agent", "more agents");
        format!("… and {agents} with broken cases; --out DIR shows all\n")
    });
}

fn agent(out: &mut String, broken: &BrokenAgent<'_>, differences: Differences) {
    let (suite, agent) = (&broken.suite.id, &broken.agent.agent);
    put(out, &format!("{suite}/{agent}: {}", broken.title()));
    if broken.fails() {
        changes(out, broken);
    }
    let mut hints = BTreeSet::new();
    for case in &broken.cases {
        block(out, case, differences, &mut hints);
    }
    if let Some(others) = broken.others(name) {
        put(out, &format!("  {others}"));
    }
    if !broken.gates.is_empty() {
        put(out, &format!("  gates: {}", broken.gate_line(name)));
    }
    out.push('\n');
}

fn name(text: &str) -> String {
    line(text, words::NAME)
}

fn block<'a>(
    out: &mut String,
    case: &BrokenCase<'a>,
    differences: Differences,
    hints: &mut BTreeSet<&'a str>,
) {
    let standing = match case.standing() {
        standing if standing.is_empty() => standing,
        standing => format!(": {}", line(&standing, 200)),
    };
    let place = case
        .golden()
        .map_or(String::new(), |file| format!("  ({file}:{})", case.line()));
    put(out, &format!("  {}{standing}{place}", case.case));
    for row in case.rows(differences, hints) {
        let text = match row {
            CaseRow::Asked(text) => format!("asked    {}", line(text, 120)),
            CaseRow::Expected(all) => {
                let all: Vec<String> = all.iter().map(|text| line(text, 160)).collect();
                format!("expected {}", all.join("; "))
            }
            CaseRow::Got(text, samples) => format!("got      {}{samples}", line(text, 240)),
            CaseRow::Changed(change, completed) => {
                format!("changed  {}", change_line(change, completed, PLAIN_MARKS))
            }
            CaseRow::Missing(needed, how) => {
                format!("missing  {}; {}", line(needed, 160), clauses(how, 400))
            }
            CaseRow::Next(tag, next) => {
                format!("next     {} ({})", line(next, 200), tag.as_str())
            }
            CaseRow::More(more) => {
                let more = words::plural(more, "more difference", "more differences");
                format!("… and {more}; `goldgate explain {}`", case.case)
            }
        };
        put(out, &format!("    {text}"));
    }
}

/// What this commit changed in an agent.
fn changes(out: &mut String, broken: &BrokenAgent<'_>) {
    let all = agent_changes(broken.agent, PLAIN_MARKS);
    if all.is_empty() {
        return;
    }
    put(out, &format!("  {}:", broken.likely_cause()));
    all.iter()
        .take(CHANGES)
        .for_each(|change| put(out, &format!("    {change}")));
    put_more(out, all.len(), CHANGES, |more| {
        let more = words::plural(more, "more change", "more changes");
        format!("    … and {more}; --out DIR shows all")
    });
    if let Some(next) = broken.undo_it() {
        put(out, &format!("    {next}"));
    }
}

/// The cases that failed before and decide no gate: one line each.
pub(super) fn failed_before(out: &mut String, report: &Report) {
    let others = other_checks(report);
    let cases: Vec<&[FailureLine<'_>]> = others
        .chunk_by(|left, right| std::ptr::eq(left.case, right.case))
        .collect();
    if cases.is_empty() {
        return;
    }
    let title = words::plural(cases.len(), "case", "cases");
    put(out, &format!("{title} failed before, too"));
    for failed in cases.iter().take(LISTED) {
        let Some(first) = failed.first() else {
            continue;
        };
        let checks: Vec<String> = failed
            .iter()
            .map(|failure| failure.check.name.to_string())
            .collect();
        let (suite, agent, case) = (&first.suite.id, &first.agent.agent, &first.case.case);
        let checks = line(&checks.join(", "), 160);
        put(out, &format!("  {suite}/{agent}/{case}: {checks}"));
    }
    put_more(out, cases.len(), LISTED, |more| {
        format!("  … and {more} more; `goldgate explain CASE` or --out DIR shows all")
    });
    out.push('\n');
}
