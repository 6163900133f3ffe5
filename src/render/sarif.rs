//! SARIF 2.1.0: what failed, at the line of the golden file. GitHub code scanning and editors read it.

use serde_json::{Value, json};

use super::evidence::{case_value, failed_gate, failed_metrics};
use super::plain::line;
use super::words::{headline, plural};
use crate::files::sha256_hex;
use crate::model::{AgentReport, CaseTrend, Exclusion, PairResult, Report, SuiteReport, Tag};
use crate::text::encoded_path;

/// The most results in a file: code scanning shows no more of them.
const MOST: usize = 5_000;

/// The rule of a case that moved a failed gate without a failed check.
const GATE: &str = "gate";

/// The rule of a case that was not measured.
const NOT_MEASURED: &str = "not-measured";

/// What a result says, and how bad it is.
struct SarifResult<'a> {
    suite: &'a SuiteReport,
    agent: &'a AgentReport,
    case: &'a PairResult,
    rule: &'static str,
    /// What distinguishes it from other results of the case, in every run.
    subject: String,
    text: String,
    /// The line of the golden file.
    at: u32,
}

/// The report as SARIF. New failures are errors, known ones are warnings, and what does not gate is a note.
pub fn sarif(report: &Report) -> String {
    let mut results = failed_checks(report);
    results.extend(moved_gates(report, &results));
    results.extend(not_measured(report));
    results.sort_by_key(|result| rank(result));
    let more = results.len().saturating_sub(MOST);
    results.truncate(MOST);
    let mut notes = vec![notification(report, "note", &headline(report))];
    notes.extend(
        report
            .not_gateable
            .iter()
            .map(|why| notification(report, "error", &why.0)),
    );
    if more > 0 {
        let text = format!(
            "{} not in this file; report.json has all",
            plural(more, "result is", "results are")
        );
        notes.push(notification(report, "warning", &text));
    }
    let value = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": report.tool.name, "semanticVersion": report.tool.version, "rules": rules(),
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": report.called_off.is_none(), "exitCode": report.exit_code(),
                "toolExecutionNotifications": notes,
            }],
            "results": results.iter().map(written).collect::<Vec<Value>>(),
        }],
    });
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

fn notification(report: &Report, level: &str, text: &str) -> Value {
    let subject = report
        .config
        .as_ref()
        .map_or(String::new(), |config| format!("{config}: "));
    json!({ "level": level, "message": message(&format!("{subject}{text}"), 1_000) })
}

/// A message with a limit on its characters. SARIF has links of the form `[text](address)` in plain messages; texts of others become none.
fn message(text: &str, most: usize) -> Value {
    json!({ "text": line(text, most).replace("](", "] (") })
}

/// One rule for each tag of a failed check, and those without a check.
fn rules() -> Vec<Value> {
    let tags = Tag::ALL
        .into_iter()
        .map(|tag| rule(tag.as_str(), tag.meaning(), tag.fix_strategy()));
    let moved = rule(
        GATE,
        "a case lowers a number below its gate",
        "compare the expected with the produced result",
    );
    let lost = rule(
        NOT_MEASURED,
        "too few samples of a case completed",
        "read why the samples are missing, and record them",
    );
    tags.chain([moved, lost]).collect()
}

fn rule(id: &str, description: &str, help: &str) -> Value {
    json!({ "id": id, "shortDescription": { "text": description }, "help": { "text": help } })
}

fn failed_checks(report: &Report) -> Vec<SarifResult<'_>> {
    let mut results = Vec::new();
    for (suite, agent, case) in report.suite_cases() {
        for check in case.failed_checks() {
            let Some(failure) = check.failure.as_deref() else {
                continue;
            };
            let expected = check.expected.as_deref().unwrap_or_default();
            results.push(SarifResult {
                suite,
                agent,
                case,
                rule: failure.tag.as_str(),
                subject: check.name.to_string(),
                text: format!(
                    "{}: expected {}; got {}. Next: {}",
                    check.name,
                    line(expected, 400),
                    line(&failure.detail, 400),
                    line(&failure.next_action, 400)
                ),
                at: check.location.line,
            });
        }
    }
    results
}

/// The differences that moved a failed gate, of cases without a failed check.
fn moved_gates<'a>(report: &'a Report, checks: &[SarifResult<'a>]) -> Vec<SarifResult<'a>> {
    let mut results = Vec::new();
    for failed in failed_metrics(report) {
        for evidence in &failed.metric.evidence.cases {
            let Some(case) = failed
                .agent
                .cases
                .iter()
                .find(|case| case.case == evidence.case)
            else {
                continue;
            };
            if checks.iter().any(|check| std::ptr::eq(check.case, case)) {
                continue;
            }
            for difference in &evidence.differences {
                let value = case_value(failed.metric, evidence);
                results.push(SarifResult {
                    suite: failed.suite,
                    agent: failed.agent,
                    case,
                    rule: GATE,
                    subject: format!("{} {}", failed.metric.name, difference.difference.expected),
                    text: format!(
                        "{}. This case has {value}: expected {}; got {}",
                        failed_gate(failed.metric, failed.gate),
                        line(&difference.difference.expected, 400),
                        line(&difference.difference.produced, 400)
                    ),
                    at: difference.difference.line,
                });
            }
        }
    }
    results
}

fn not_measured(report: &Report) -> impl Iterator<Item = SarifResult<'_>> {
    let lost = report
        .suite_cases()
        .filter(|(_, _, case)| case.exclusion == Exclusion::NoMajority);
    lost.map(|(suite, agent, case)| {
        let why = case.lost.first().map_or(String::new(), |lost| {
            format!(": {}", line(&lost.why.text(), 400))
        });
        SarifResult {
            suite,
            agent,
            case,
            rule: NOT_MEASURED,
            subject: String::new(),
            text: format!(
                "{} of {} samples completed{why}",
                case.completed, case.planned
            ),
            at: 1,
        }
    })
}

/// New failures first, then known ones, then what does not gate.
fn rank(result: &SarifResult<'_>) -> usize {
    let level = level(result);
    LEVELS
        .iter()
        .position(|known| *known == level)
        .unwrap_or_default()
}

/// The levels of SARIF, worst first.
const LEVELS: [&str; 3] = ["error", "warning", "note"];

fn level(result: &SarifResult<'_>) -> &'static str {
    match (result.case.exclusion, result.case.trend) {
        (Exclusion::Quarantined, _) => LEVELS[2],
        (Exclusion::Counted | Exclusion::NoMajority, CaseTrend::StillFailing) => LEVELS[1],
        (
            Exclusion::Counted | Exclusion::NoMajority,
            CaseTrend::NewlyFailing
            | CaseTrend::NewlyPassing
            | CaseTrend::StillPassing
            | CaseTrend::New
            | CaseTrend::Unknown,
        ) => LEVELS[0],
    }
}

fn written(result: &SarifResult<'_>) -> Value {
    let SarifResult {
        suite,
        agent,
        case,
        rule,
        subject,
        text,
        at,
    } = result;
    let name = format!("{}/{}/{}", suite.id, agent.agent, case.case);
    let identity = format!("{} {name} {rule} {subject}", suite.tier.as_str());
    json!({
        "ruleId": rule,
        "level": level(result),
        "message": message(&format!("{name}: {text}"), 2_000),
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": encoded_path(case.golden.as_str()), "uriBaseId": "%SRCROOT%" },
                "region": { "startLine": (*at).max(1) },
            },
            "logicalLocations": [{ "fullyQualifiedName": name }],
        }],
        "partialFingerprints": { "goldgate/v1": sha256_hex(identity.as_bytes()) },
    })
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn a_message_has_no_link() {
        assert_eq!(
            message("got [a](https://example.org)", 99)["text"],
            "got [a] (https://example.org)"
        );
        assert_eq!(
            message("got [a](https://example.org)", 7)["text"],
            "got [a]…"
        );
    }
}
