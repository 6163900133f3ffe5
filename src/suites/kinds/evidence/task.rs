//! The golden file of a task.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;

use super::repository::{files, find_root, no_root, tidied};
use crate::diag::{Code, Diagnostic};
use crate::files::{Files, SourceText};
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, Step, json};
use crate::model::RepoPath;
use crate::suites::shared::case_frame::{CaseForm, Framed};
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::folder::{GoldenCase, StatedName};
use crate::suites::shared::quarantine::is_day;
use crate::text::Keyword;

/// `tasks/{name}.json`: the fields of EvalTask (Appendix E), and additions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "evidence task")]
pub struct TaskForm {
    /// Its name.
    name: String,
    /// The fixture repository, relative to the suite's folder, else to the root of the repository.
    repo_path: String,
    /// The question to a live agent; by default, the cause of the problem described in `README.md`.
    question: Option<String>,
    /// The file that the agent should inspect, relative to the fixture repository.
    expected_file: String,
    /// The keyword that the result should contain.
    expected_keyword: String,
    /// The files that may be inspected; by default, all files of the fixture repository.
    allowed_files: Option<Vec<String>>,
    /// Why each expected file is expected.
    #[serde(default, rename = "why")]
    _why: BTreeMap<String, String>,
    /// Optional checks.
    #[serde(default)]
    checks: ChecksForm,
    /// The rule of the prompt package that this tests, by id or text.
    rule: Option<String>,
    /// Origin and owner of the task.
    #[serde(default)]
    lifecycle: LifecycleForm,
}

impl CaseForm for TaskForm {
    const DESCRIPTION: DescriptionKeys =
        DescriptionKeys(&["title", "description", "*Version", "lifecycle", "why"]);
}

/// Optional checks.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
struct ChecksForm {
    /// Maximum number of tokens of a run.
    context_budget_tokens: Option<u64>,
    /// Maximum number of violations by category.
    #[serde(default)]
    policy_violations: BTreeMap<String, usize>,
    /// Trace events that must occur in this order; other events may occur between them.
    #[serde(default)]
    required_events: Vec<String>,
    /// Maximum duration of a run, in milliseconds.
    max_latency_ms: Option<u64>,
    /// Texts that must appear neither in the result nor in a tool argument.
    #[serde(default)]
    forbidden_strings: Vec<String>,
}

/// Origin and owner of a task.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
struct LifecycleForm {
    /// A requirement, fixture, bug or incident.
    created_from: Option<String>,
    /// Who can explain a failure.
    owner: Option<String>,
    /// The date of the last review.
    reviewed: Option<String>,
    /// Why the task is retired.
    retired: Option<RetiredForm>,
}

/// Why a task is retired.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RetiredForm {
    /// The date of retirement.
    date: String,
    /// The reason.
    reason: String,
}

/// A task, ready to be graded.
pub struct EvidenceTask {
    /// The fixture repository, as the case states it.
    pub repo_path: String,
    /// The question to a live agent; `None` for the default one.
    pub question: Option<String>,
    /// The file that the agent should inspect.
    pub file: String,
    /// The keyword that the result should contain.
    pub keyword: Keyword,
    /// The files that may be inspected.
    pub allowed: BTreeSet<String>,
    /// Maximum number of tokens of a run.
    pub budget: Option<u64>,
    /// Maximum number of violations by category.
    pub violations: BTreeMap<String, usize>,
    /// Trace events that must occur in this order.
    pub events: Vec<String>,
    /// Maximum duration of a run, in milliseconds.
    pub latency: Option<u64>,
    /// Texts that must not appear.
    pub forbidden: Vec<Keyword>,
    /// The rule that the task tests.
    pub rule: Option<String>,
    /// Missing keys of its lifecycle.
    pub owed: Vec<&'static str>,
    /// Why no run can pass it.
    pub unsatisfiable: Option<Diagnostic>,
    /// The file of the task.
    pub golden: RepoPath,
}

/// Reads a task and checks that it can be satisfied.
pub fn read_task(
    source: &SourceText,
    suite: &RepoPath,
    disk: &dyn Files,
) -> Result<GoldenCase<EvidenceTask>, Diagnostic> {
    let Framed { frame, form } = json::golden::<Framed<TaskForm>>(source)?;
    let cursor = JsonCursor::whole(source);
    let allowed = match &form.allowed_files {
        Some(files) => {
            let mut allowed = BTreeSet::new();
            for (index, file) in files.iter().enumerate() {
                let path = [Key("allowed_files"), At(index)];
                allowed.insert(path_inside(&cursor, &path, file)?);
            }
            allowed
        }
        None => {
            let root = find_root(suite, &form.repo_path, disk)
                .ok_or_else(|| no_root(&cursor, &form.repo_path))?;
            files(&cursor, root, disk)?
        }
    };
    if let Some(question) = &form.question {
        cursor.filled(&[Key("question")], "the question", question)?;
    }
    let file = path_inside(&cursor, &[Key("expected_file")], &form.expected_file)?;
    let word = keyword(
        &cursor,
        &[Key("expected_keyword")],
        "expected_keyword",
        &form.expected_keyword,
    )?;
    form.checks.sound(&cursor)?;
    let mut forbidden = Vec::new();
    for (index, text) in form.checks.forbidden_strings.iter().enumerate() {
        let path = [Key("checks"), Key("forbidden_strings"), At(index)];
        forbidden.push(keyword(&cursor, &path, "forbidden_strings", text)?);
    }
    let retired = form.lifecycle.sound(&cursor)?;
    if form.allowed_files.as_ref().is_some_and(Vec::is_empty) {
        return Err(nothing_allowed(&cursor));
    }
    let unsatisfiable = (!allowed.contains(&file)).then(|| not_allowed(&cursor, &file));
    let task = EvidenceTask {
        repo_path: form.repo_path,
        question: form.question,
        file,
        keyword: word,
        allowed,
        budget: form.checks.context_budget_tokens,
        violations: form.checks.policy_violations,
        events: form.checks.required_events,
        latency: form.checks.max_latency_ms,
        forbidden,
        rule: cursor.rule(form.rule)?,
        owed: form.lifecycle.owed(),
        unsatisfiable,
        golden: source.file.clone(),
    };
    let id = Some(StatedName {
        text: form.name,
        at: cursor.value(&[Key("name")]),
    });
    Ok(GoldenCase {
        id,
        retired,
        ..frame.case(&cursor, task)?
    })
}

/// The problem of a task that allows no file.
fn nothing_allowed(cursor: &JsonCursor<'_>) -> Diagnostic {
    let help = "name the files, or remove allowed_files to allow all of the fixture repository";
    cursor.problem(
        &[Key("allowed_files")],
        Code::UNSATISFIABLE,
        "no file may be inspected",
        help,
    )
}

fn path_inside(
    cursor: &JsonCursor<'_>,
    path: &[Step<'_>],
    text: &str,
) -> Result<String, Diagnostic> {
    tidied(text).ok_or_else(|| {
        let message = format!("{text:?} leaves the fixture repository");
        let help = "write a path inside the repository";
        cursor.problem_of_key(path, Code::PATH_OUTSIDE, message, help)
    })
}

fn keyword(
    cursor: &JsonCursor<'_>,
    path: &[Step<'_>],
    name: &str,
    text: &str,
) -> Result<Keyword, Diagnostic> {
    Keyword::new(text).ok_or_else(|| {
        let message = format!("{name} has an empty text");
        let help = "write a word: an empty one would match everything";
        cursor.problem_of_key(path, Code::EMPTY_KEYWORD, message, help)
    })
}

/// The problem of a task whose expected file may not be inspected.
fn not_allowed(cursor: &JsonCursor<'_>, file: &str) -> Diagnostic {
    let message =
        format!("the expected file \"{file}\" is not among the allowed files, or does not exist");
    let help = "add it to allowed_files, or correct expected_file";
    cursor.problem(&[Key("expected_file")], Code::UNSATISFIABLE, message, help)
}

impl ChecksForm {
    /// Refuses a limit of 0, and empty names.
    fn sound(&self, cursor: &JsonCursor<'_>) -> Result<(), Diagnostic> {
        let bounds = [
            ("context_budget_tokens", self.context_budget_tokens),
            ("max_latency_ms", self.max_latency_ms),
        ];
        if let Some((key, _)) = bounds.into_iter().find(|(_, bound)| *bound == Some(0)) {
            let path = [Key("checks"), Key(key)];
            return Err(cursor.problem(
                &path,
                Code::UNSATISFIABLE,
                format!("{key} is 0"),
                "write 1 or more, or remove it",
            ));
        }
        if let Some(category) = self
            .policy_violations
            .keys()
            .find(|category| category.trim().is_empty())
        {
            let path = [
                Key("checks"),
                Key("policy_violations"),
                Key(category.as_str()),
            ];
            let message = "a category of policy violations has no name";
            return Err(cursor.problem_of_key(
                &path,
                Code::EMPTY_TEXT,
                message,
                "name it as the records do",
            ));
        }
        for (at, event) in self.required_events.iter().enumerate() {
            cursor.filled(
                &[Key("checks"), Key("required_events"), At(at)],
                "a required event",
                event,
            )?;
        }
        Ok(())
    }
}

impl LifecycleForm {
    /// The keys that are missing.
    fn owed(&self) -> Vec<&'static str> {
        let Self {
            created_from,
            owner,
            reviewed,
            retired: _,
        } = self;
        let stated = [
            ("created_from", created_from),
            ("owner", owner),
            ("reviewed", reviewed),
        ];
        stated
            .into_iter()
            .filter(|(_, value)| value.is_none())
            .map(|(key, _)| key)
            .collect()
    }

    /// The reason if the task is retired. Refuses invalid dates and empty texts.
    fn sound(&self, cursor: &JsonCursor<'_>) -> Result<Option<String>, Diagnostic> {
        let Self {
            created_from,
            owner,
            reviewed,
            retired,
        } = self;
        for (key, text) in [("created_from", created_from), ("owner", owner)] {
            if let Some(text) = text {
                cursor.filled(&[Key("lifecycle"), Key(key)], key, text)?;
            }
        }
        if let Some(text) = reviewed {
            check_day(cursor, &[Key("lifecycle"), Key("reviewed")], text)?;
        }
        let Some(RetiredForm { date, reason }) = retired else {
            return Ok(None);
        };
        let date_path = [Key("lifecycle"), Key("retired"), Key("date")];
        check_day(cursor, &date_path, date)?;
        cursor.filled(
            &[Key("lifecycle"), Key("retired"), Key("reason")],
            "the reason why a task is retired",
            reason,
        )?;
        Ok(Some(format!("retired on {date}: {reason}")))
    }
}

fn check_day(cursor: &JsonCursor<'_>, path: &[Step<'_>], text: &str) -> Result<(), Diagnostic> {
    if is_day(text) {
        return Ok(());
    }
    Err(cursor.problem(
        path,
        Code::BAD_DATE,
        format!("invalid date {text:?}"),
        "write it as YYYY-MM-DD",
    ))
}
