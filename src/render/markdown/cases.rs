//! Cases that moved, are flaky or are excluded.

use crate::model::{AgentReport, CaseId, Exclusion, Report, SuiteReport};
use crate::render::plain::{inline, name, put, title};
use crate::render::words;
use crate::text::line_with_end;

/// The number of cases that one list names.
const NAMED: usize = 30;

pub fn cases(report: &Report) -> String {
    let mut out = String::new();
    for trend in words::MOVED_TRENDS {
        let moved_cases = report.suite_agents().flat_map(|(suite, agent)| {
            let moved = agent
                .cases
                .iter()
                .filter(move |case| words::trend(case) == trend);
            moved.map(move |case| full(suite, agent, &case.case))
        });
        list(&mut out, &title(trend), moved_cases.collect());
    }
    let flaky = report.suite_agents().flat_map(|(suite, agent)| {
        // Where no sample passes, only the failed checks differ: the case is not flaky for a reader.
        let flaky = agent
            .cases
            .iter()
            .filter(|case| case.flaky && case.passing != Some(0));
        flaky.map(move |case| {
            format!(
                "{}{}",
                full(suite, agent, &case.case),
                words::samples_passed(case)
            )
        })
    });
    list(&mut out, "Flaky (samples disagree)", flaky.collect());
    let removed = report.suite_agents().flat_map(|(suite, agent)| {
        agent
            .removed
            .iter()
            .map(move |case| full(suite, agent, case))
    });
    list(
        &mut out,
        "Cases that only the baseline has",
        removed.collect(),
    );
    for (suite, agent) in report.suite_agents() {
        for case in agent
            .cases
            .iter()
            .filter(|case| case.exclusion == Exclusion::Quarantined)
        {
            let quarantine = inline(&words::quarantine(case), 300);
            put(
                &mut out,
                &format!(
                    "- **Quarantined**: {}: {quarantine}",
                    full(suite, agent, &case.case)
                ),
            );
        }
        let drafts = agent.drafts.iter().map(|draft| {
            format!(
                "{} ({})",
                full(suite, agent, &draft.case),
                inline(&words::draft(draft), 120)
            )
        });
        list(
            &mut out,
            "**Drafts**, which count for nothing",
            drafts.collect(),
        );
        for case in agent.cases.iter().filter(|case| !case.lost.is_empty()) {
            let why = words::lost_samples(case, |why| {
                inline(&line_with_end(why, words::WHY_LOST), 2 * words::WHY_LOST)
            });
            let word = if case.exclusion == Exclusion::NoMajority {
                "**Excluded**"
            } else {
                "Inconclusive"
            };
            put(
                &mut out,
                &format!(
                    "- {word}: {} ({} of {} samples completed; {})",
                    full(suite, agent, &case.case),
                    case.completed,
                    case.planned,
                    why
                ),
            );
        }
    }
    if out.is_empty() {
        out
    } else {
        format!("<details><summary>Cases: moved, flaky, excluded</summary>\n\n{out}\n</details>\n")
    }
}

fn full(suite: &SuiteReport, agent: &AgentReport, case: &CaseId) -> String {
    format!(
        "{}/{}/{}",
        name(suite.id.as_str()),
        name(agent.agent.as_str()),
        name(case.as_str())
    )
}

fn list(out: &mut String, title: &str, cases: Vec<String>) {
    if cases.is_empty() {
        return;
    }
    let more = if cases.len() > NAMED {
        format!(", … and {} more", cases.len() - NAMED)
    } else {
        String::new()
    };
    let named: Vec<String> = cases.iter().take(NAMED).cloned().collect();
    put(
        out,
        &format!("- {title} ({}): {}{more}", cases.len(), named.join(", ")),
    );
}
