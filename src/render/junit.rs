//! JUnit XML: a test suite for each agent of a suite, a test case for each gate and each case.

use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};

use super::plain::{line, put};
use super::words;
use crate::model::{
    AgentReport, Difference, Exclusion, PairCheck, PairResult, Report, Ruling, SuiteReport,
    Verdict, Weight, metric_value,
};

/// The report as JUnit XML. Failed gates and failed cases are failures, cases in quarantine and gates that are off are skipped, and
/// what has no result is an error. A failed case does not fail the run by itself: the exit code follows from the gates.
pub fn junit(report: &Report) -> String {
    let mut junit = Junit::new("goldgate");
    for (suite, agent) in report.suite_agents() {
        junit.add_test_suite(test_suite(suite, agent));
    }
    if !report.golden_changes.is_empty() {
        junit.add_test_suite(golden_changes(report));
    }
    if !report.not_gateable.is_empty() {
        let mut suite = TestSuite::new("verdict");
        for why in &report.not_gateable {
            suite.add_test_case(TestCase::new(
                "a verdict can be given",
                not_success(NonSuccessKind::Error, &why.0),
            ));
        }
        junit.add_test_suite(suite);
    }
    let mut text = junit.to_string().unwrap_or_default();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// One test case per change: a failure if it blocks the merge, skipped if it needs an approval that does not block.
fn golden_changes(report: &Report) -> TestSuite {
    let mut suite = TestSuite::new("golden changes");
    for change in &report.golden_changes {
        let status = match (change.weight, &report.approval) {
            (Weight::Listed, _) => TestCaseStatus::success(),
            (Weight::NeedsApproval, Some(approval)) => skipped(&words::approval(approval)),
            (Weight::NeedsApproval, None) if report.is_held_by_changes() => not_success(
                NonSuccessKind::Failure,
                &format!("needs approval: {}", change.words),
            ),
            (Weight::NeedsApproval, None) => skipped("needs approval, and this run does not block"),
        };
        let mut test = TestCase::new(line(&change.words, 400), status);
        test.set_classname("golden changes");
        suite.add_test_case(test);
    }
    suite
}

fn not_success(kind: NonSuccessKind, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(line(message, 400));
    status
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(line(message, 400));
    status
}

fn test_suite(suite: &SuiteReport, agent: &AgentReport) -> TestSuite {
    let name = format!("{}.{}.{}", suite.tier.as_str(), suite.id, agent.agent);
    let mut tests = TestSuite::new(name.clone());
    for metric in &agent.metrics {
        for gate in &metric.gates {
            let value = metric_value(metric.unit, metric.value);
            let phrase = words::gate(metric, gate);
            let status = match &gate.ruling {
                Ruling::Judged(Verdict::Pass) => TestCaseStatus::success(),
                Ruling::Judged(Verdict::Inconclusive) => not_success(
                    NonSuccessKind::Error,
                    &format!("inconclusive: {value}, needs {phrase}"),
                ),
                Ruling::Judged(Verdict::Fail) => {
                    not_success(NonSuccessKind::Failure, &format!("{value}, needs {phrase}"))
                }
                Ruling::Skipped(reason) | Ruling::Off(reason) => skipped(reason),
            };
            let mut test = TestCase::new(format!("{} {}", metric.name, gate.gate), status);
            test.set_classname(format!("{name}.gates"));
            tests.add_test_case(test);
        }
    }
    for case in &agent.cases {
        let mut test = TestCase::new(case.case.as_str(), case_status(case));
        test.set_classname(format!("{name}.cases"));
        tests.add_test_case(test);
    }
    for draft in &agent.drafts {
        let mut test = TestCase::new(
            draft.case.as_str(),
            skipped(&format!("a draft: it {}", words::draft(draft))),
        );
        test.set_classname(format!("{name}.drafts"));
        tests.add_test_case(test);
    }
    tests
}

/// A failed case is a failure, one in quarantine is skipped, and one that was not measured is an error.
fn case_status(case: &PairResult) -> TestCaseStatus {
    let failed: Vec<&PairCheck> = case.failed_checks().collect();
    let is_failed = !failed.is_empty() || case.verdict.fails();
    match case.exclusion {
        Exclusion::Quarantined => skipped(&words::quarantine(case)),
        Exclusion::NoMajority => not_success(NonSuccessKind::Error, &not_measured(case)),
        Exclusion::Counted if is_failed => failed_case(case, &failed),
        Exclusion::Counted => TestCaseStatus::success(),
    }
}

/// How many samples completed, and why the first other one did not.
fn not_measured(case: &PairResult) -> String {
    let why = case
        .lost
        .first()
        .map_or(String::new(), |lost| format!(": {}", lost.why.text()));
    format!(
        "not measured: {} of {} samples completed{why}",
        case.completed, case.planned
    )
}

/// The first failed check as message and type, all of them with expected and produced result as text.
fn failed_case(case: &PairResult, failed: &[&PairCheck]) -> TestCaseStatus {
    let mut text = String::new();
    let first = failed
        .iter()
        .find_map(|check| Some((check, check.failure.as_deref()?)));
    let (tag, message) = match (first, case.shortfalls.first()) {
        (Some((check, failure)), _) => (
            failure.tag.as_str(),
            format!("{}: {}", check.name, failure.detail),
        ),
        (None, Some(shortfall)) => (
            "values",
            format!(
                "{}: {}",
                shortfall.metrics.join(", "),
                shortfall.difference.produced
            ),
        ),
        (None, None) => (
            "values",
            format!("the case fails{}", words::samples_passed(case)),
        ),
    };
    for check in failed {
        let Some(failure) = check.failure.as_deref() else {
            continue;
        };
        put(
            &mut text,
            &format!("{} ({}:{})", check.name, case.golden, check.location.line),
        );
        put(
            &mut text,
            &format!(
                "  expected {}",
                line(check.expected.as_deref().unwrap_or_default(), 400)
            ),
        );
        put(
            &mut text,
            &format!("  got      {}", line(&failure.detail, 400)),
        );
        put(
            &mut text,
            &format!("  next: {}", line(&failure.next_action, 400)),
        );
    }
    for shortfall in &case.shortfalls {
        let Difference {
            expected,
            produced,
            line: at,
        } = &shortfall.difference;
        put(
            &mut text,
            &format!("{} ({}:{at})", shortfall.metrics.join(", "), case.golden),
        );
        put(&mut text, &format!("  expected {}", line(expected, 400)));
        put(&mut text, &format!("  got      {}", line(produced, 400)));
    }
    let mut status = not_success(NonSuccessKind::Failure, &message);
    status.set_type(tag);
    if !text.is_empty() {
        status.set_description(text);
    }
    status
}
