//! Reads a report from an untrusted job: it must have bounded size and the expected commit, and is marked as untrusted.

use std::fmt;

use serde_json::Value;

use crate::diag::Diagnostic;
use crate::files::SourceText;
use crate::format::{json, report_v1};
use crate::model::{Authority, Report};

/// Why an untrusted report is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejected {
    /// It is not a report.
    Unreadable(Box<Diagnostic>),
    /// Its commit is not that of its run.
    Commit,
    /// It has more of something than any real report (what, limit).
    Large(String, usize),
    /// It has a text or number that goldgate never writes.
    Odd(&'static str),
}

impl fmt::Display for Rejected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(problem) => problem.fmt(out),
            Self::Commit => out.write_str("the report is about another commit than its run"),
            Self::Large(what, limit) => write!(out, "the report has more than {limit} {what}"),
            Self::Odd(what) => write!(out, "the report has {what} that goldgate does not write"),
        }
    }
}

impl From<Diagnostic> for Rejected {
    fn from(problem: Diagnostic) -> Self {
        Self::Unreadable(Box::new(problem))
    }
}

/// The first note of such a report.
const NOTICE: &str = "Measured in the pull request's own job, which can change its workflow, its config and its program. This is what \
    that job reports, not a verdict of this repository's config.";

/// Levels of lists and objects; a report has 13.
const DEPTH: usize = 16;
/// Elements of a list, if its key is not in [`LISTS`].
const LIST: usize = 1_000;
/// The longest name, in bytes. Every text is a name, if its key is not in [`TEXTS`].
const NAME: usize = 200;
/// The longest text, in bytes.
const TEXT: usize = 100_000;
/// The largest number, either way.
const NUMBER: f64 = 1e12;
/// Pairs of agent and case.
const PAIRS: usize = 200_000;

/// The elements of other lists and objects, by key.
const LISTS: &[(&str, usize)] = &[
    ("cases", PAIRS),
    ("drafts", PAIRS),
    ("failures", PAIRS),
    ("removed", PAIRS),
    ("retired", PAIRS),
    ("checks", 10_000),
    ("differences", 10_000),
    ("evidence", 10_000),
    ("inconclusive", 10_000),
    ("read_layer", 10_000),
    ("samples", 10_000),
    ("shortfalls", 10_000),
    ("votes", 10_000),
    ("gates", 200),
    ("judged", 200),
    ("judges", 200),
    ("metric_order", 200),
    ("metrics", 200),
];

/// The keys of texts that may be long.
const TEXTS: &[&str] = &[
    "check",
    "config",
    "detail",
    "error",
    "expected",
    "file",
    "fix_strategy",
    "golden",
    "incomparable",
    "lasting_reasons",
    "lifted_reasons",
    "model",
    "name",
    "next_action",
    "not_gateable",
    "notes",
    "owner",
    "produced",
    // One digest for each agent of a suite.
    "agent_sha256",
    "reason",
    "retired",
    "what",
];

/// The object whose keys are names of cases, and whose texts are reasons.
const RETIRED: &str = "retired";

/// The report for the pull request with this head: advisory, with a note that says so.
///
/// # Errors
/// Returns why it is not shown.
pub fn admitted(source: &SourceText, head: &str) -> Result<Report, Rejected> {
    // The whole value is checked before any field has a meaning, so that no field can be forgotten.
    bounded(&json::golden::<Value>(source)?, "", 0)?;
    let report = report_v1::read_report(source)?;
    if report.commit.as_deref() != Some(head) {
        return Err(Rejected::Commit);
    }
    if !is_version(&report.tool.version) {
        return Err(Rejected::Odd("a version"));
    }
    if report.base.as_ref().is_some_and(|base| !is_commit(base)) {
        return Err(Rejected::Odd("a base commit"));
    }
    at_most(
        "pairs",
        PAIRS,
        report.agents().map(|agent| agent.shown().count()).sum(),
    )?;
    Ok(as_untrusted(report))
}

/// The form in which a report is shown that the pull request's own job measured.
pub fn as_untrusted(report: Report) -> Report {
    // An approval is read from GitHub, never from a file.
    let mut report = Report {
        authority: Authority::Advisory,
        approval: None,
        ..report
    };
    report.notes.insert(0, NOTICE.to_owned());
    report
}

/// Checks the value under a key with everything in it.
fn bounded(value: &Value, key: &str, depth: usize) -> Result<(), Rejected> {
    at_most("levels", DEPTH, depth)?;
    let listed = LISTS
        .iter()
        .find(|(known, _)| *known == key)
        .map_or(LIST, |(_, limit)| *limit);
    match value {
        Value::Null | Value::Bool(_) => Ok(()),
        Value::Number(number) => match number.as_f64() {
            Some(number) if number.abs() <= NUMBER => Ok(()),
            _ => Err(Rejected::Odd(if number.is_f64() {
                "a number"
            } else {
                "a count"
            })),
        },
        Value::String(text) if TEXTS.contains(&key) => {
            at_most("letters in a text", TEXT, text.len())
        }
        Value::String(text) => name(text),
        Value::Array(list) => {
            at_most(key, listed, list.len())?;
            list.iter().try_for_each(|one| bounded(one, key, depth + 1))
        }
        Value::Object(fields) => {
            at_most(key, listed, fields.len())?;
            fields.iter().try_for_each(|(field, one)| {
                name(field)?;
                bounded(one, if key == RETIRED { key } else { field }, depth + 1)
            })
        }
    }
}

fn at_most(what: &str, limit: usize, count: usize) -> Result<(), Rejected> {
    if count > limit {
        Err(Rejected::Large(what.to_owned(), limit))
    } else {
        Ok(())
    }
}

fn name(found: &str) -> Result<(), Rejected> {
    // Such a name is a valid id, but GitHub would turn it into a link.
    if found.to_ascii_lowercase().contains("www.") {
        return Err(Rejected::Odd("a name"));
    }
    at_most("letters in a name", NAME, found.len())
}

fn is_commit(found: &str) -> bool {
    matches!(found.len(), 40 | 64) && found.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_version(found: &str) -> bool {
    // Semantic versions begin with a digit; other text could become a link or a reference.
    (1..=40).contains(&found.len())
        && found.starts_with(|first: char| first.is_ascii_digit())
        && found
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+'))
}
