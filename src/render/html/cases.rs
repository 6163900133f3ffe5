//! The table of all cases. Without the script it is whole; with it, it filters, sorts and opens details.

use maud::{Markup, html};

use super::texts::agent_name;
use crate::model::{AgentReport, CaseTrend, Exclusion, PairResult, Report, SuiteReport};
use crate::render::words;

pub struct ListedCase<'a> {
    pub suite: &'a SuiteReport,
    pub agent: &'a AgentReport,
    pub case: &'a PairResult,
    pub result: CaseResult,
}

/// All cases: newly failing ones first, then failing, excluded, flaky and passing ones.
pub fn rows(report: &Report) -> Vec<ListedCase<'_>> {
    let mut rows = Vec::new();
    for (suite, agent) in report.suite_agents() {
        rows.extend(agent.cases.iter().map(|case| ListedCase {
            suite,
            agent,
            case,
            result: CaseResult::of(agent, case),
        }));
        let result = CaseResult::Draft;
        rows.extend(agent.drafts.iter().map(|case| ListedCase {
            suite,
            agent,
            case,
            result,
        }));
    }
    rows.sort_by_key(|row| {
        (
            row.case.trend != CaseTrend::NewlyFailing || row.result != CaseResult::Fails,
            row.result,
        )
    });
    rows
}

crate::model::words! {
    /// The result of a case, worst first.
    #[derive(PartialOrd, Ord)]
    pub enum CaseResult {
        Fails = "fails",
        /// No majority of its samples completed.
        Excluded = "excluded",
        Quarantined = "quarantined",
        /// The recordings of its agent do not count.
        NoVerdict = "no verdict",
        /// It passes, and samples disagree.
        Flaky = "passes, flaky",
        Passes = "passes",
        /// A draft, which counts for nothing.
        Draft = "draft",
    }
}

impl CaseResult {
    fn of(agent: &AgentReport, case: &PairResult) -> Self {
        match case.exclusion {
            Exclusion::NoMajority => Self::Excluded,
            Exclusion::Quarantined => Self::Quarantined,
            Exclusion::Counted if agent.has_refused_recordings() => Self::NoVerdict,
            Exclusion::Counted if !case.passed.passes() => Self::Fails,
            Exclusion::Counted if case.flaky => Self::Flaky,
            Exclusion::Counted => Self::Passes,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Fails => "fail",
            Self::Excluded | Self::Quarantined | Self::NoVerdict | Self::Flaky | Self::Draft => {
                "inconclusive"
            }
            Self::Passes => "pass",
        }
    }
}

/// The columns, each sortable.
const COLUMNS: [&str; 5] = [
    "agent",
    "case",
    "result",
    "since the baseline",
    "samples that pass",
];

/// The table with its filter, which the script shows.
pub fn cases(report: &Report) -> Markup {
    let rows = rows(report);
    html! {
        @if !rows.is_empty() {
            section aria-labelledby="cases" {
                h2 id="cases" { (words::plural(rows.len(), "case", "cases")) } "\n"
                form.filter hidden {
                    label { "Name contains " input type="search" name="text" autocomplete="off"; } " "
                    label {
                        "Result "
                        select name="result" {
                            option value="" { "all" }
                            @for result in CaseResult::ALL { option { (result.as_str()) } }
                        }
                    } " "
                    output aria-live="polite" {}
                } "\n"
                div.wide role="region" tabindex="0" aria-label="Cases" {
                    table id="table" {
                        thead { tr { @for name in COLUMNS { th scope="col" { (name) } } } }
                        tbody {
                            "\n"
                            @for row in &rows { (case_row(row)) }
                        }
                    }
                }
            } "\n"
        }
    }
}

fn case_row(row: &ListedCase<'_>) -> Markup {
    let ListedCase {
        suite,
        agent,
        case,
        result,
    } = row;
    let trend = match case.trend {
        CaseTrend::Unknown => String::new(),
        CaseTrend::StillPassing | CaseTrend::StillFailing => "same".to_owned(),
        CaseTrend::NewlyFailing | CaseTrend::NewlyPassing | CaseTrend::New => {
            words::trend(case).to_owned()
        }
    };
    html! {
        tr {
            td { (agent_name(suite, agent)) }
            th scope="row" { (case.case) }
            td class=(result.class()) { (result.as_str()) }
            td { (trend) }
            td { @if let Some(passing) = case.passing { (passing) " of " (case.completed) } }
        } "\n"
    }
}
