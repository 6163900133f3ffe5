//! `eval_cases.json` in the format of the seed, with additions.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::trajectory::{Trajectory, TrajectoryForm};
use super::turns::{
    CaseTurn, SimulatedUserForm, TurnForm, UserMessages, distinct_tools, read_messages,
};
use crate::diag::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::files::{SourceText, sha256_hex};
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, Step, json};
use crate::model::{CannedTool, CaseId, CaseTag};
use crate::suites::shared::answer::form::AnswerChecksForm;
use crate::suites::shared::answer::reader::AnswerReader;
use crate::suites::shared::calls::contains;
use crate::suites::shared::case_files::CasesFile;
use crate::suites::shared::case_frame::{CaseForm, CaseFrame, Framed};
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::entries::CaseIdText;
use crate::suites::shared::folder::CaseEntry;
use crate::suites::shared::meaning::digested_case;
use crate::suites::shared::terms::TermList;
use crate::text::Keyword;

/// The seed's categories: each has a metric of its own, also without a case.
pub const CATEGORIES: [&str; 4] = ["happy_path", "edge_case", "adversarial", "multi_step"];

/// One case of `eval_cases.json`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tool-use case")]
pub struct ToolUseCaseForm {
    /// Its id; `{category}-{index in the file}` by default, `case-{index}` without a category.
    id: Option<CaseIdText>,
    /// Its category, if it has one: a word, such as `happy_path`, `edge_case`, `adversarial` or `multi_step`. Each category has a metric.
    category: Option<String>,
    /// The user's message; a case has either `query` or `turns`.
    query: Option<String>,
    /// The conversation: what the user says in each turn, and what the turn requires.
    turns: Option<Vec<TurnForm>>,
    /// A user that goes on after `query`, played by a model.
    user: Option<SimulatedUserForm>,
    /// Tools that must all be called; an empty list means that no tool may be called. Without it, calls are not checked.
    expected_tools: Option<Vec<String>>,
    /// Phrases; the answer must contain at least one of them. In a conversation, one of the answers.
    expected_output_contains: Option<Vec<String>>,
    /// Flags such as `can_diagnose`; the config defines what each requires.
    #[serde(default)]
    expected_flags: BTreeMap<String, bool>,
    /// The result that at least one call of a tool must return, by tool; nested objects match by subset.
    #[serde(default)]
    expected_tool_output: BTreeMap<String, Map<String, Value>>,
    /// The expected calls.
    trajectory: Option<TrajectoryForm>,
    /// The rule of the prompt package that this tests, by id or text.
    rule: Option<String>,
}

impl CaseForm for ToolUseCaseForm {}

impl ToolUseCaseForm {
    /// Refuses a case that requires nothing, unless it is a draft. What it does not state is not checked.
    fn refuse_unstated(
        &self,
        messages: &UserMessages,
        frame: &CaseFrame,
        answers_of_turns: &[Option<AnswerChecksForm>],
        cursor: &JsonCursor<'_>,
    ) -> Result<(), Diagnostic> {
        let turns = messages.turns();
        let of_turns = turns.iter().any(CaseTurn::requires_calls)
            || answers_of_turns.iter().any(Option::is_some);
        let of_case =
            self.expected_tools.is_some() || self.trajectory.is_some() || frame.answer.is_some();
        let phrases = self
            .expected_output_contains
            .as_ref()
            .is_some_and(|phrases| !phrases.is_empty());
        let results = !self.expected_flags.is_empty() || !self.expected_tool_output.is_empty();
        if !(of_turns || of_case || phrases || results || frame.is_draft()) {
            let conversation = "the conversation requires nothing";
            let (path, message, help) = match messages {
                UserMessages::Query(_) => (
                    vec![],
                    "the case requires nothing",
                    "state expected_tools, expected_output_contains, answer or trajectory",
                ),
                UserMessages::Turns(_) => (
                    vec![Key("turns")],
                    conversation,
                    "state tools, answer or trajectory of a turn, or an expectation of the case",
                ),
                UserMessages::Simulated(..) => (
                    vec![Key("user")],
                    conversation,
                    "state an expectation of the case, such as expected_tools or answer",
                ),
            };
            return Err(cursor.problem(&path, Code::ASKS_NOTHING, message, help));
        }
        let calling = turns
            .iter()
            .position(|turn| turn.tools.as_ref().is_some_and(|tools| !tools.is_empty()));
        match (&self.expected_tools, calling) {
            (Some(none), Some(turn)) if none.is_empty() => {
                let message =
                    format!("expected_tools allows no call, but turns.{turn} expects one");
                let help = "remove expected_tools, or list the tools of the turns";
                Err(cursor.problem_of_key(
                    &[Key("expected_tools")],
                    Code::CONTRADICTION,
                    message,
                    help,
                ))
            }
            (Some(_) | None, _) => Ok(()),
        }
    }
}

/// One case, prepared for grading.
pub struct ToolUseCase {
    pub category: Option<String>,
    /// What the user says.
    pub messages: UserMessages,
    /// The expected tools in the order of the file, without repetitions; `None` if only turns state theirs.
    pub tools: Option<Vec<String>>,
    pub phrases: Vec<Keyword>,
    /// The flags that require a term here.
    pub flags: Vec<(String, TermList)>,
    pub outputs: Vec<(String, Value)>,
    pub trajectory: Option<Trajectory>,
    pub rule: Option<String>,
    pub line: u32,
}

/// The flags by name; each requires one of its terms in the answer.
#[derive(Default)]
pub struct Flags {
    by_name: BTreeMap<String, (bool, TermList)>,
}

impl Flags {
    /// Adds a flag that requires one of the terms when it has the value `when`.
    pub fn add(&mut self, name: &str, when: bool, terms: TermList) {
        self.by_name.insert(name.to_owned(), (when, terms));
    }
}

/// The parts of a file of cases, by case id.
pub fn entries(file: &Value) -> BTreeMap<String, &Value> {
    let list = file.as_array().or_else(|| file.get("cases")?.as_array());
    let mut entries = BTreeMap::new();
    for (index, case) in list.into_iter().flatten().enumerate() {
        let id = match case.get("id").and_then(CaseIdText::of) {
            Some(CaseIdText(text)) => text,
            None => default_id(case.get("category").and_then(Value::as_str), index),
        };
        entries.insert(id, case);
    }
    entries
}

pub fn cases(
    source: &SourceText,
    flags: &Flags,
    answers: &AnswerReader<'_>,
) -> Result<Vec<CaseEntry<ToolUseCase>>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let CasesFile(raws) = json::golden(source)?;
    let (mut read, mut ids) = (Vec::new(), BTreeSet::new());
    for (at, raw) in raws.into_iter().enumerate() {
        let Some(case) = problems.keep(case(source, raw, at, flags, answers)) else {
            continue;
        };
        if !ids.insert(case.id.clone()) {
            let message = format!("duplicate id \"{}\"", case.id);
            let cursor = JsonCursor::part(source, raw);
            problems.push(cursor.problem(
                &[Key("id")],
                Code::DUPLICATE_ID,
                message,
                "give each case its own id",
            ));
        }
        read.push(case);
    }
    problems.or(read)
}

/// The id of a case that states none.
fn default_id(category: Option<&str>, index: usize) -> String {
    format!("{}-{index}", category.unwrap_or("case"))
}

fn case(
    source: &SourceText,
    raw: &RawValue,
    index: usize,
    flags: &Flags,
    answers: &AnswerReader<'_>,
) -> Result<CaseEntry<ToolUseCase>, Diagnostic> {
    let Framed { frame, mut form } = json::part::<Framed<ToolUseCaseForm>>(source, raw)?;
    let cursor = JsonCursor::part(source, raw);
    if let Some(Err(bad)) = form.category.as_deref().map(CaseTag::new) {
        return Err(cursor.problem(
            &[Key("category")],
            Code::BAD_ID,
            bad.to_string(),
            bad.help(),
        ));
    }
    let stated = form.id.clone().map(|CaseIdText(text)| text);
    let id = stated.unwrap_or_else(|| default_id(form.category.as_deref(), index));
    let id = CaseId::new(&id)
        .map_err(|bad| cursor.problem(&[Key("id")], Code::BAD_ID, bad.to_string(), bad.help()))?;
    let (messages, answers_of_turns) = read_messages(
        form.query.take(),
        form.turns.take(),
        form.user.take(),
        &cursor,
    )?;
    form.refuse_unstated(&messages, &frame, &answers_of_turns, &cursor)?;
    let mut digested = digested_case(raw.get(), DescriptionKeys::USUAL);
    let mut asked = Vec::new();
    for (name, value) in &form.expected_flags {
        let Some((when, terms)) = flags.by_name.get(name) else {
            let add = "add it to the suite's flags: { NAME: { when: true or false, terms: FILE } }";
            let help = did_you_mean(name, flags.by_name.keys(), add);
            let path = [Key("expected_flags"), Key(name)];
            return Err(cursor.problem_of_key(
                &path,
                Code::UNKNOWN_FLAG,
                format!("unknown flag \"{name}\""),
                help,
            ));
        };
        if value == when {
            digested.push_str(terms.text());
            asked.push((name.clone(), terms.clone()));
        }
    }
    let tools = form
        .expected_tools
        .map(|tools| distinct_tools(tools, "expected_tools", &cursor))
        .transpose()?;
    let trajectory = form
        .trajectory
        .map(|form| Trajectory::read(form, &cursor.inner(&[Key("trajectory")])))
        .transpose()?;
    let stated = frame.case(&cursor, ())?;
    let answer = answers.read_all(Vec::new(), stated.answer, answers_of_turns, &cursor)?;
    digested.push_str(
        answer
            .as_ref()
            .map_or("", |answer| answer.measured_with.as_str()),
    );
    let case = ToolUseCase {
        category: form.category,
        messages,
        tools,
        phrases: cursor.keywords(
            &[Key("expected_output_contains")],
            &form.expected_output_contains.unwrap_or_default(),
        )?,
        flags: asked,
        outputs: form
            .expected_tool_output
            .into_iter()
            .map(|(tool, pairs)| (tool, Value::Object(pairs)))
            .collect(),
        trajectory,
        rule: cursor.rule(form.rule)?,
        line: cursor.line(),
    };
    Ok(CaseEntry {
        golden: source.file.clone(),
        digest: sha256_hex(digested.as_bytes()),
        runs: vec![id.clone()],
        id,
        samples: None,
        marks: stated.marks,
        quarantine: stated.quarantine,
        answer,
        case,
    })
}

/// Expectations that the declared tools cannot satisfy: an undeclared tool, or a result that no tool returns.
pub fn unanswerable(source: &SourceText, declared: &[CannedTool]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let Ok(CasesFile(raws)) = json::golden(source) else {
        return problems;
    };
    for raw in raws {
        let Ok(Framed { form, .. }) = json::part::<Framed<ToolUseCaseForm>>(source, raw) else {
            continue;
        };
        let cursor = JsonCursor::part(source, raw);
        for (index, name) in form.expected_tools.iter().flatten().enumerate() {
            if declared_tool(declared, name).is_none() {
                let path = [Key("expected_tools"), At(index)];
                problems.push(undeclared(&cursor, &path, name, declared));
            }
        }
        for (turn, TurnForm { tools, .. }) in form.turns.iter().flatten().enumerate() {
            for (index, name) in tools.iter().flatten().enumerate() {
                if declared_tool(declared, name).is_none() {
                    let path = [Key("turns"), At(turn), Key("tools"), At(index)];
                    problems.push(undeclared(&cursor, &path, name, declared));
                }
            }
        }
        for (name, pairs) in &form.expected_tool_output {
            let (path, wanted) = (
                [Key("expected_tool_output"), Key(name)],
                Value::Object(pairs.clone()),
            );
            match declared_tool(declared, name) {
                None => problems.push(undeclared(&cursor, &path, name, declared)),
                Some(tool)
                    if tool
                        .results
                        .iter()
                        .any(|result| contains(&result.says, &wanted)) => {}
                Some(_) => {
                    let message = format!("no declared result of {name} contains {wanted}");
                    let help = "add a result to the tool, or fix the expectation";
                    problems.push(cursor.problem_of_key(&path, Code::UNSATISFIABLE, message, help));
                }
            }
        }
    }
    problems
}

fn declared_tool<'a>(declared: &'a [CannedTool], name: &str) -> Option<&'a CannedTool> {
    declared.iter().find(|tool| tool.spec.name == name)
}

fn undeclared(
    cursor: &JsonCursor<'_>,
    path: &[Step<'_>],
    name: &str,
    declared: &[CannedTool],
) -> Diagnostic {
    let known = declared.iter().map(|tool| &tool.spec.name);
    let help = did_you_mean(name, known, "add it to the file of the suite's tools");
    cursor.problem_of_key(
        path,
        Code::UNSATISFIABLE,
        format!("the tool \"{name}\" is not declared"),
        help,
    )
}
