//! JUnit XML: a test suite for each agent of a suite, a test case for each gate and each case.

use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};

use super::plain::line;
use super::words;
use crate::model::{AgentReport, Exclusion, Report, Ruling, SuiteReport, Verdict, Weight, metric_value};

/// The report as JUnit XML. Failed gates are failures. Cases with failed checks are skipped tests with the evidence as
/// message: the gates decide, and the two must not disagree about the verdict.
pub fn junit(report: &Report) -> String {
    let mut junit = Junit::new("goldgate");
    for suite in &report.suites {
        for agent in &suite.agents {
            junit.add_test_suite(test_suite(suite, agent));
        }
    }
    if !report.golden_changes.is_empty() {
        junit.add_test_suite(golden_changes(report));
    }
    if !report.not_gateable.is_empty() {
        let mut suite = TestSuite::new("verdict");
        for why in &report.not_gateable {
            suite.add_test_case(TestCase::new("a verdict can be given", not_success(NonSuccessKind::Error, &why.0)));
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
            (Weight::NeedsApproval, None) if report.is_held_by_changes() => {
                not_success(NonSuccessKind::Failure, &format!("needs approval: {}", change.words))
            }
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
                Ruling::Judged(Verdict::Inconclusive) => skipped(&format!("inconclusive: {value}, needs {phrase}")),
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
        let pair = case;
        let failed: Vec<String> = pair
            .checks
            .iter()
            .filter(|check| !check.standing.passes())
            .filter_map(|check| Some(format!("{}: {}", check.name, check.failure.as_ref()?.detail)))
            .collect();
        let status = match (pair.exclusion, failed.is_empty()) {
            (Exclusion::NoMajority, _) => skipped("excluded: no majority of its samples completed"),
            (Exclusion::Quarantined, _) => skipped("in quarantine: reported, but not part of any gate"),
            (Exclusion::Counted, true) if case.verdict == Ruling::Judged(Verdict::Fail) => {
                skipped("no check fails in most samples (fail)")
            }
            (Exclusion::Counted, true) => TestCaseStatus::success(),
            (Exclusion::Counted, false) => skipped(&format!("{} ({})", failed.join("; "), case.verdict.as_str())),
        };
        let mut test = TestCase::new(pair.case.as_str(), status);
        test.set_classname(format!("{name}.cases"));
        tests.add_test_case(test);
    }
    tests
}
