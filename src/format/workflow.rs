//! Reads GitHub Actions workflows, as far as the setup of the gate depends on them.
//!
//! Source: GitHub's "Workflow syntax for GitHub Actions". Expressions are kept as text; nothing is evaluated.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::step::Step;
use super::yaml::{YamlDialect, yaml_as_json};
use super::{JsonIndex, json};
use crate::diag::{Diagnostic, Point};
use crate::files::SourceText;
use crate::model::RepoPath;

/// A workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// Its file.
    pub file: RepoPath,
    /// Its `run-name`; empty if it has none.
    pub run_name: String,
    /// The events that start it, by name.
    pub triggers: BTreeMap<String, WorkflowTrigger>,
    /// Its jobs, by id.
    pub jobs: Vec<WorkflowJob>,
}

/// An event that starts a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowTrigger {
    /// Its position.
    pub at: Point,
    /// The activity types; `None` for GitHub's default types.
    pub types: Option<Vec<String>>,
    /// The first key that leaves out some pull requests, such as `paths`.
    pub filter: Option<&'static str>,
    /// The patterns of `branches`.
    pub branches: Vec<String>,
    /// The patterns of `branches-ignore`.
    pub ignored_branches: Vec<String>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowJob {
    /// Its position.
    pub at: Point,
    /// The name of its check; `None` if an expression or a matrix makes it, or the workflow that it calls.
    pub check: Option<String>,
    /// The workflow that it calls in place of steps.
    pub calls: Option<CalledWorkflow>,
    /// How the name of its check begins: up to the first expression, or what a matrix or a called workflow adds.
    pub check_start: String,
    /// The condition, as written.
    pub condition: Option<String>,
    /// Whether its failure fails the workflow run.
    pub on_failure: OnFailure,
    /// Whether it waits for others.
    pub concurrency: Concurrency,
    /// The environment that holds its secrets.
    pub environment: Option<String>,
    /// The jobs that it needs.
    pub needs: Vec<String>,
    /// Its permissions, else those of the workflow; `None` if neither states any.
    pub permissions: Option<TokenPermissions>,
    /// Its steps.
    pub steps: Vec<WorkflowStep>,
}

impl WorkflowJob {
    /// Whether a check may be that of this job.
    pub fn may_report(&self, check: &str) -> bool {
        match &self.check {
            Some(name) => name == check,
            None => check.starts_with(&self.check_start),
        }
    }
}

/// A workflow that a job calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalledWorkflow {
    /// Where it is, such as `./.github/workflows/gate.yml`.
    pub uses: String,
    /// How the names of its checks begin, before ` / `; `None` if an expression or a matrix makes it.
    pub name: Option<String>,
}

/// Whether a job waits for others, by `concurrency` of its own or of its workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// It runs at any time.
    Free,
    /// It is in a group: an older pending run of the group is cancelled.
    Grouped,
}

impl Concurrency {
    fn of(part: &Value) -> Self {
        if part["concurrency"].is_null() {
            Self::Free
        } else {
            Self::Grouped
        }
    }
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowStep {
    /// Its position.
    pub at: Point,
    /// The action, such as `owner/name@ref`; `None` for a script.
    pub uses: Option<String>,
    /// The script.
    pub script: Option<String>,
    /// The inputs of an action, or the environment of a script.
    pub inputs: BTreeMap<String, String>,
    /// The condition, as written.
    pub condition: Option<String>,
    /// Whether its failure fails the job.
    pub on_failure: OnFailure,
}

/// What a failure leads to, by `continue-on-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// What it is part of fails as well.
    Fail,
    /// It is ignored, always or where an expression says so.
    Ignore,
}

impl OnFailure {
    fn of(part: &Value) -> Self {
        match scalar(&part["continue-on-error"]).as_deref() {
            None | Some("false") => Self::Fail,
            Some(_) => Self::Ignore,
        }
    }
}

/// What a job's token may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenPermissions {
    /// Every permission at this level.
    Every(TokenAccess),
    /// These, and no other.
    Named(BTreeMap<String, TokenAccess>),
}

/// The level of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenAccess {
    /// None.
    None,
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

impl TokenPermissions {
    /// The level of one permission.
    pub fn access(&self, name: &str) -> TokenAccess {
        match self {
            Self::Every(access) => *access,
            Self::Named(named) => named.get(name).copied().unwrap_or(TokenAccess::None),
        }
    }
}

impl TokenAccess {
    fn of(word: &str) -> Self {
        match word {
            "write" | "write-all" => Self::Write,
            "read" | "read-all" => Self::Read,
            _ => Self::None,
        }
    }
}

/// Keys of a trigger that leave out some pull requests. A required check of a workflow that does not start stays pending.
const FILTERS: [&str; 4] = ["paths", "paths-ignore", "branches", "branches-ignore"];

/// Reads a workflow.
///
/// # Errors
/// The text is not YAML.
pub fn read_workflow(source: &SourceText) -> Result<Workflow, Diagnostic> {
    let json = yaml_as_json(source.clone(), YamlDialect::Foreign)?;
    let root: Value = json::with_unique_keys(&json)?;
    let locations = JsonIndex::of(&json);
    let default = permissions(&root["permissions"]);
    let jobs = object(&root["jobs"]).map(|(id, job)| {
        let job = read_job(id, job, default.as_ref(), &locations);
        match Concurrency::of(&root) {
            Concurrency::Free => job,
            Concurrency::Grouped => WorkflowJob {
                concurrency: Concurrency::Grouped,
                ..job
            },
        }
    });
    let jobs = jobs.collect();
    Ok(Workflow {
        file: source.file.clone(),
        run_name: scalar(&root["run-name"]).unwrap_or_default(),
        triggers: triggers(&root["on"], &locations),
        jobs,
    })
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

/// The texts of a list, or a single text.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(one) => vec![one.clone()],
        Value::Array(list) => list
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

fn triggers(on: &Value, locations: &JsonIndex<'_>) -> BTreeMap<String, WorkflowTrigger> {
    let whole = locations.point(&[Step::Key("on")]);
    let plain = texts(on)
        .into_iter()
        .map(|name| (name, trigger(whole, &Value::Null)));
    let detailed = object(on).map(|(name, detail)| {
        (
            name.clone(),
            trigger(locations.point(&[Step::Key("on"), Step::Key(name)]), detail),
        )
    });
    plain.chain(detailed).collect()
}

fn trigger(at: Point, detail: &Value) -> WorkflowTrigger {
    WorkflowTrigger {
        at,
        types: detail.get("types").map(texts),
        filter: FILTERS.into_iter().find(|key| detail.get(key).is_some()),
        branches: texts(&detail["branches"]),
        ignored_branches: texts(&detail["branches-ignore"]),
    }
}

fn read_job(
    id: &str,
    job: &Value,
    default: Option<&TokenPermissions>,
    locations: &JsonIndex<'_>,
) -> WorkflowJob {
    let name = job["name"].as_str().unwrap_or(id);
    let fixed =
        (job["strategy"]["matrix"].is_null() && !name.contains("${{")).then(|| name.to_owned());
    let called = scalar(&job["uses"]);
    let steps = job["steps"].as_array().into_iter().flatten().enumerate();
    WorkflowJob {
        at: locations.point(&[Step::Key("jobs"), Step::Key(id)]),
        check: fixed.clone().filter(|_| called.is_none()),
        calls: called.map(|uses| CalledWorkflow { uses, name: fixed }),
        check_start: name.split("${{").next().unwrap_or_default().to_owned(),
        condition: scalar(&job["if"]),
        on_failure: OnFailure::of(job),
        concurrency: Concurrency::of(job),
        environment: scalar(&job["environment"]).or_else(|| scalar(&job["environment"]["name"])),
        needs: texts(&job["needs"]),
        permissions: permissions(&job["permissions"]).or_else(|| default.cloned()),
        steps: steps
            .map(|(index, step)| {
                let uses = step["uses"].as_str().map(str::to_owned);
                let given = if uses.is_some() {
                    &step["with"]
                } else {
                    &step["env"]
                };
                WorkflowStep {
                    at: locations.point(&[
                        Step::Key("jobs"),
                        Step::Key(id),
                        Step::Key("steps"),
                        Step::At(index),
                        Step::Key(if uses.is_some() { "uses" } else { "run" }),
                    ]),
                    uses,
                    script: step["run"].as_str().map(str::to_owned),
                    inputs: object(given)
                        .filter_map(|(name, value)| Some((name.clone(), scalar(value)?)))
                        .collect(),
                    condition: scalar(&step["if"]),
                    on_failure: OnFailure::of(step),
                }
            })
            .collect(),
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn permissions(value: &Value) -> Option<TokenPermissions> {
    match value {
        Value::String(word) => Some(TokenPermissions::Every(TokenAccess::of(word))),
        Value::Object(named) => {
            let level = |access: &Value| TokenAccess::of(access.as_str().unwrap_or_default());
            Some(TokenPermissions::Named(
                named
                    .iter()
                    .map(|(name, access)| (name.clone(), level(access)))
                    .collect(),
            ))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenAccess, Workflow, read_workflow};
    use crate::diag::Point;
    use crate::files::SourceText;
    use crate::model::RepoPath;

    fn read(text: &str) -> Workflow {
        let file = RepoPath::root().child("gate.yml");
        read_workflow(&SourceText::new(file, text.as_bytes().to_vec()).unwrap()).unwrap()
    }

    #[test]
    fn every_form_of_a_trigger_is_read() {
        assert_eq!(read("on: push\n").triggers.len(), 1);
        assert_eq!(read("on: [push, merge_group]\n").triggers.len(), 2);
        let detailed =
            read("on:\n  merge_group:\n  pull_request:\n    types: [opened]\n    paths: [a]\n")
                .triggers;
        assert_eq!(detailed["merge_group"].types, None);
        let pulls = &detailed["pull_request"];
        assert_eq!(
            (pulls.types.clone(), pulls.filter),
            (Some(vec!["opened".to_owned()]), Some("paths"))
        );
        assert_eq!(pulls.at, Point { line: 3, column: 3 });
    }

    #[test]
    fn a_job_has_its_own_permissions_or_those_of_the_workflow() {
        let text = "permissions: read-all\njobs:\n  a: {steps: []}\n  b:\n    permissions: {contents: write}\n";
        let jobs = read(text).jobs;
        let access = |job: usize, name| jobs[job].permissions.as_ref().unwrap().access(name);
        assert_eq!(
            (access(0, "contents"), access(0, "statuses")),
            (TokenAccess::Read, TokenAccess::Read)
        );
        assert_eq!(
            (access(1, "contents"), access(1, "statuses")),
            (TokenAccess::Write, TokenAccess::None)
        );
    }

    #[test]
    fn aliases_and_odd_numbers_are_read() {
        let text =
            "jobs:\n  a: &a {name: Gate, steps: [{run: x, env: {MODE: 0644, 1: .inf}}]}\n  b: *a\n";
        let jobs = read(text).jobs;
        assert_eq!((jobs[0].at.line, jobs[1].at.line), (2, 3));
        assert_eq!(
            (&jobs[1].check, &jobs[1].steps),
            (&jobs[0].check, &jobs[0].steps)
        );
        assert_eq!(jobs[1].steps[0].inputs["MODE"], "0644");
    }

    #[test]
    fn an_environment_is_a_name_or_has_one() {
        let text =
            "jobs:\n  a: {environment: keys}\n  b: {environment: {name: keys, url: x}}\n  c: {}\n";
        let found: Vec<_> = read(text)
            .jobs
            .into_iter()
            .map(|job| job.environment)
            .collect();
        assert_eq!(
            found,
            [Some("keys".to_owned()), Some("keys".to_owned()), None]
        );
    }

    #[test]
    fn the_name_of_a_check_is_only_known_without_an_expression() {
        let text = "jobs:\n  a: {name: Gate}\n  b: {name: \"on ${{ x }}\"}\n  c: {strategy: {matrix: {x: [1]}}}\n  d: {}\n";
        let names: Vec<_> = read(text).jobs.into_iter().map(|job| job.check).collect();
        assert_eq!(
            names,
            [Some("Gate".to_owned()), None, None, Some("d".to_owned())]
        );
    }

    #[test]
    fn a_step_has_its_action_and_inputs() {
        let text = "jobs:\n  a:\n    steps:\n      - uses: x/goldgate@v0\n        with: {mode: merge, samples: 3}\n";
        let step = read(text).jobs[0].steps[0].clone();
        assert_eq!(step.uses.as_deref(), Some("x/goldgate@v0"));
        assert_eq!(
            (
                step.inputs["mode"].as_str(),
                step.inputs["samples"].as_str()
            ),
            ("merge", "3")
        );
        assert_eq!(step.at.line, 4);
    }
}
