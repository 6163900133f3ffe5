//! Reads and writes `goldgate.report/1`. The form of each field is stated once, in `model`; here is what follows from other fields.

use std::collections::BTreeMap;
use std::io;
use std::io::Write;

use schemars::JsonSchema;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde::{Deserialize, Serialize as SerializeForm};
use serde_json::json;
use serde_json::value::RawValue;

use super::json_cursor::JsonCursor;
use super::step::Step::Key;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::model::{
    AgentReport, Exclusion, FailureLine, GoldenLine, POLICY_METRICS, Report, Tag, one_or_all,
};

/// The value of `schema`.
const SCHEMA: &str = "goldgate.report/1";

/// The report file: the report, and what follows from it.
#[derive(JsonSchema)]
#[schemars(title = "goldgate report, version 1")]
pub struct ReportFile<'a> {
    #[schemars(flatten)]
    _report: Report,
    #[schemars(flatten)]
    _derived: DerivedFields<'a>,
}

/// What a report states although it follows from its other fields.
#[derive(JsonSchema)]
struct DerivedFields<'a> {
    /// `goldgate.report/1`.
    #[schemars(rename = "schema")]
    _schema: &'a str,
    /// The exit code of the run.
    #[schemars(rename = "exit_code")]
    _exit_code: u8,
    /// Every failed check.
    #[schemars(rename = "failures")]
    _failures: Vec<ReportFailure<'a>>,
    /// Failed checks by tag.
    #[schemars(rename = "taxonomy")]
    _taxonomy: BTreeMap<String, u32>,
    /// Samples without a result to grade.
    #[schemars(rename = "infra")]
    _infra: u64,
}

/// One failed check.
#[derive(SerializeForm, JsonSchema)]
struct ReportFailure<'a> {
    /// The suite.
    suite: &'a str,
    /// The agent.
    agent: &'a str,
    /// The case.
    case: &'a str,
    /// The check.
    check: String,
    /// The kind of failure.
    tag: Tag,
    /// The expected result.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'a str>,
    /// The evidence.
    detail: &'a str,
    /// How to fix this kind of failure.
    fix_strategy: &'a str,
    /// The next step for an engineer.
    next_action: &'a str,
    /// Its position in the golden file.
    location: Option<&'a GoldenLine>,
}

impl<'a> ReportFailure<'a> {
    fn of(line: FailureLine<'a>) -> Option<Self> {
        let failure = line.check.failure.as_deref()?;
        Some(Self {
            suite: line.suite.id.as_str(),
            agent: line.agent.agent.as_str(),
            case: line.case.case.as_str(),
            check: line.check.name.to_string(),
            tag: failure.tag,
            expected: line.check.expected.as_deref(),
            detail: &failure.detail,
            fix_strategy: failure.tag.fix_strategy(),
            next_action: &failure.next_action,
            location: Some(&line.check.location),
        })
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            tool,
            config,
            commit,
            base,
            base_branch,
            others,
            tiers,
            choice,
            samples,
            started_at,
            finished_at,
            verdict,
            authority,
            suites,
            golden_changes,
            approval,
            not_gateable,
            called_off,
            notes,
            usage,
            baseline_use: _,
        } = self;
        let failures: Vec<ReportFailure<'_>> =
            self.failures().filter_map(ReportFailure::of).collect();
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("schema", SCHEMA)?;
        out.serialize_entry("tool", tool)?;
        entry_if_any(&mut out, "config", config.as_ref())?;
        out.serialize_entry("commit", commit)?;
        out.serialize_entry("base", base)?;
        entry_if_any(&mut out, "base_branch", base_branch.as_ref())?;
        entry_if_any(
            &mut out,
            "other_pull_requests",
            (!others.is_empty()).then_some(others),
        )?;
        out.serialize_entry("tier", one_or_all::word(tiers))?;
        entry_if_any(
            &mut out,
            "graded_cases",
            (!choice.is_all()).then_some(choice),
        )?;
        out.serialize_entry("samples", samples)?;
        out.serialize_entry("started_at", started_at)?;
        out.serialize_entry("finished_at", finished_at)?;
        out.serialize_entry("verdict", verdict.as_str())?;
        out.serialize_entry("reason", &verdict.reason())?;
        out.serialize_entry("blocking", authority)?;
        out.serialize_entry("exit_code", &self.exit_code())?;
        out.serialize_entry("suites", suites)?;
        out.serialize_entry("failures", &failures)?;
        out.serialize_entry("taxonomy", &taxonomy(self))?;
        out.serialize_entry("infra", &self.lost_samples())?;
        out.serialize_entry("golden_changes", golden_changes)?;
        entry_if_any(&mut out, "approval", approval.as_ref())?;
        out.serialize_entry("not_gateable", not_gateable)?;
        entry_if_any(&mut out, "called_off", called_off.as_ref())?;
        out.serialize_entry("notes", notes)?;
        out.serialize_entry("usage", usage)?;
        out.end()
    }
}

/// The number of failures by tag.
fn taxonomy(report: &Report) -> BTreeMap<&'static str, u32> {
    let mut taxonomy: BTreeMap<Tag, u32> = BTreeMap::new();
    for (tag, count) in report.agents().flat_map(AgentReport::taxonomy) {
        *taxonomy.entry(tag).or_default() += count;
    }
    let stated = Tag::ALL.into_iter().map(|tag| (tag, taxonomy.get(&tag)));
    let stated = stated.map(|(tag, count)| (tag, count.copied().unwrap_or(0)));
    stated
        .filter(|(tag, count)| tag.is_stated(*count))
        .map(|(tag, count)| (tag.as_str(), count))
        .collect()
}

fn entry_if_any<M: SerializeMap>(
    out: &mut M,
    key: &str,
    value: Option<&impl Serialize>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| out.serialize_entry(key, value))
}

/// The report as indented JSON with a trailing newline.
pub fn written(report: &Report) -> String {
    let mut out = Vec::new();
    write_report(report, &mut out).expect("a list of bytes accepts every write");
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// Writes the report as JSON in one line with a line break, piece by piece.
pub fn write_report(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, report)?;
    out.write_all(b"\n")
}

/// The verdicts only.
pub fn summary(report: &Report) -> String {
    let suites = report.suites.iter().map(|suite| {
        let agents: BTreeMap<&str, &str> =
            suite.agents.iter().map(|agent| (agent.agent.as_str(), agent.verdict.as_str())).collect();
        json!({ "id": suite.id, "tier": suite.tier, "verdict": suite.verdict.as_str(), "agents": agents })
    });
    let value = json!({
        "schema": "goldgate.summary/1", "verdict": report.verdict.as_str(), "exit_code": report.exit_code(),
        "commit": report.commit, "suites": suites.collect::<Vec<_>>(), "not_gateable": report.not_gateable,
        "notes": report.notes,
    });
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

/// What a report states about itself.
#[derive(Deserialize)]
struct ReportHeader {
    schema: String,
    exit_code: u8,
}

/// Reads a stored report. What follows from other fields is not read but derived again.
pub fn read_report(source: &SourceText) -> Result<Report, Diagnostic> {
    read_report_at(source, JsonCursor::whole(source))
}

/// Reads a report that is a part of another file.
///
/// # Errors
/// Invalid content with its position in the whole file.
pub fn read_report_part(source: &SourceText, part: &RawValue) -> Result<Report, Diagnostic> {
    read_report_at(source, JsonCursor::part(source, part))
}

fn read_report_at(source: &SourceText, cursor: JsonCursor<'_>) -> Result<Report, Diagnostic> {
    let ReportHeader { schema, exit_code } = cursor.read()?;
    if schema != SCHEMA {
        let at = cursor.key(&[Key("schema")]);
        let description = format!("unknown schema \"{schema}\"");
        return Err(source.problem(
            at,
            Code::UNKNOWN_SCHEMA,
            description,
            format!("this version reads \"{SCHEMA}\""),
        ));
    }
    let report = completed(cursor.read()?)
        .map_err(|description| source.problem(0, Code::BAD_REPORT, description, UNEDITED))?;
    if report.exit_code() != exit_code {
        let at = cursor.key(&[Key("exit_code")]);
        let description = format!(
            "exit_code {exit_code} contradicts the verdict {}",
            report.verdict.as_str()
        );
        return Err(source.problem(at, Code::CONTRADICTION, description, UNEDITED));
    }
    Ok(report)
}

const UNEDITED: &str = "use the report as goldgate wrote it, unedited";

/// Puts metrics into their order, and repeats in each case what its agent states.
fn completed(mut report: Report) -> Result<Report, String> {
    for agent in report.suites.iter_mut().flat_map(|suite| &mut suite.agents) {
        let AgentReport {
            agent: name,
            metric_order,
            metrics,
            cases,
            drafts,
            ..
        } = agent;
        *metrics = in_order(metric_order, std::mem::take(metrics), |metric| &metric.name)
            .into_iter()
            .zip(metric_order.iter())
            .map(|(metric, name)| {
                metric.ok_or_else(|| format!("the metric \"{name}\" of metric_order has no values"))
            })
            .collect::<Result<_, _>>()?;
        // Cases have no values of the rules.
        let of_cases: Vec<String> = metric_order
            .iter()
            .filter(|name| !POLICY_METRICS.contains(&name.as_str()))
            .cloned()
            .collect();
        for case in cases {
            case.agent = name.clone();
            if case.quarantine.is_some() {
                case.exclusion = Exclusion::Quarantined;
            }
            for check in &mut case.checks {
                check.location.file = case.golden.clone();
            }
            let values = in_order(&of_cases, std::mem::take(&mut case.values), |value| {
                &value.name
            });
            case.values = values.into_iter().map(Option::unwrap_or_default).collect();
        }
        for draft in drafts {
            draft.agent = name.clone();
            for check in &mut draft.checks {
                check.location.file = draft.golden.clone();
            }
        }
        agent.complete();
    }
    Ok(report)
}

/// The values with these names, in their order.
fn in_order<T>(names: &[String], values: Vec<T>, name_of: impl Fn(&T) -> &str) -> Vec<Option<T>> {
    let mut by_name: BTreeMap<String, T> = values
        .into_iter()
        .map(|value| (name_of(&value).to_owned(), value))
        .collect();
    names.iter().map(|name| by_name.remove(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::{read_report, written};
    use crate::files::SourceText;
    use crate::model::{ChangeClass, Exclusion, Noise, RepoPath, Report, Ruling, Standing};

    /// A report with none of the keys that were added to version 1 later.
    const OLDEST: &str = r#"{
  "schema": "goldgate.report/1", "tool": { "name": "goldgate", "version": "0.1.0" }, "commit": null, "base": null,
  "tier": "all", "samples": 1, "started_at": "a", "finished_at": "b", "verdict": "pass", "reason": null,
  "blocking": true, "exit_code": 0,
  "suites": [ { "id": "contracts", "kind": "findings", "tier": "deterministic", "verdict": "pass", "reason": null,
    "agents": [ { "agent": "legal", "verdict": "pass", "reason": null,
      "identity": { "suite_digest": null, "scorer": null, "model": null, "agent_sha256": null, "judge": null, "samples": 1, "tier": null },
      "metric_order": [ "recall", "coverage" ],
      "metrics": {
        "coverage": { "value": 1.0, "baseline": null, "delta": null, "ci95": null, "aggregate": "coverage", "better": "higher",
          "unit": "share", "gates": [], "verdict": "skipped", "reason": "no gate is set" },
        "recall": { "value": 1.0, "baseline": 0.9, "delta": 0.1, "ci95": [-0.1, 0.3], "aggregate": "worst", "better": "higher",
          "unit": "share", "verdict": "pass", "reason": null, "gates": [ { "gate": "min", "threshold": 0.8,
          "from_baseline": false, "zone": 0.0, "hard": true, "verdict": "skipped", "reason": "switched off: later" } ] } },
      "cases": [ { "case": "lease", "verdict": "pass", "reason": null, "golden": "contracts/lease.json", "samples_planned": 1,
        "samples_completed": 1, "excluded": true, "inconclusive": [], "passed": "passes_flaky",
        "metrics": { "recall": { "value": 1.0, "samples": [1.0] } },
        "checks": [ { "name": "found[2]", "passed": true, "flaky": true, "tag": null, "detail": null, "next_action": null,
          "location": { "file": "contracts/lease.json", "line": 3 } } ],
        "read_layer": [ 1 ], "baseline_state": "new", "flaky": false } ],
      "retired": {}, "removed": [], "notes": [], "taxonomy_before": null } ] } ],
  "failures": [], "taxonomy": {}, "infra": 0,
  "golden_changes": [ { "what": "a floor", "needs_approval": false } ], "not_gateable": [],
  "usage": { "calls": 0, "retries": 0, "cached": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": null, "wall_ms": 1 }
}"#;

    fn source(text: &str) -> SourceText {
        SourceText::from_text(RepoPath::root().child("report.json"), text.to_owned())
    }

    fn oldest() -> Report {
        read_report(&source(OLDEST)).unwrap()
    }

    #[test]
    fn the_oldest_report_is_read_and_what_follows_from_it_is_derived() {
        let report = oldest();
        let agent = &report.suites[0].agents[0];
        let names: Vec<&str> = agent
            .metrics
            .iter()
            .map(|metric| metric.name.as_str())
            .collect();
        assert_eq!(
            (names.as_slice(), report.tiers.len()),
            (["recall", "coverage"].as_slice(), 2)
        );
        assert_eq!(agent.metrics[0].comparison.noise, Some(Noise::Within));
        assert_eq!(
            agent.metrics[0].gates[0].ruling,
            Ruling::Off("switched off: later".to_owned())
        );
        assert_eq!(agent.read_layers.len(), 1);
        let case = &agent.cases[0];
        assert_eq!(
            (case.agent.as_str(), case.exclusion, case.flaky),
            ("legal", Exclusion::NoMajority, true)
        );
        assert_eq!(
            (case.values[0].value, case.values[1].value),
            (Some(1.0), None)
        );
        assert_eq!(
            (case.checks[0].standing, case.checks[0].location.line),
            (Standing::PassesFlaky, 3)
        );
        assert_eq!(report.golden_changes[0].class, ChangeClass::Config);
    }

    #[test]
    fn a_report_is_written_as_it_was_read() {
        let text = written(&oldest());
        assert_eq!(written(&read_report(&source(&text)).unwrap()), text);
    }

    #[test]
    fn a_problem_names_its_position_and_the_words_that_would_do() {
        let table = [
            (
                "\"passes_flaky\"",
                "\"maybe\"",
                "report.json:16:87: unknown value \"maybe\"; known values: passes",
            ),
            (
                "\"id\": \"contracts\"",
                "\"id\": \"con tracts\"",
                "report.json:5:34: \"con tracts\" is not a valid id",
            ),
            (
                "contracts/lease.json\", \"samples",
                "../x\", \"samples",
                "report.json:15:87: the path \"../x\" leaves",
            ),
            (
                "\"tier\": \"all\"",
                "\"tier\": \"both\"",
                "report.json:3:16: unknown value \"both\"",
            ),
            (
                "\"blocking\": true, ",
                "",
                "report.json:25:1: the key \"blocking\" is missing",
            ),
            (
                "\"exit_code\": 0",
                "\"exit_code\": 1",
                "report.json:4:21: exit_code 1 contradicts the verdict pass",
            ),
            (
                "report/1",
                "report/2",
                "report.json:2:3: unknown schema \"goldgate.report/2\"",
            ),
            (
                "\"recall\", \"cov",
                "\"recal\", \"cov",
                "report.json:1:1: the metric \"recal\" of metric_order has no values",
            ),
        ];
        for (old, new, expected) in table {
            assert!(OLDEST.contains(old), "{old}");
            let problem = read_report(&source(&OLDEST.replacen(old, new, 1)))
                .unwrap_err()
                .to_string();
            assert!(problem.starts_with(expected), "{problem}");
        }
    }
}
