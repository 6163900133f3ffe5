//! A step of a workflow that runs goldgate, with what starts it.

use crate::diag::{Code, Diagnostic};
use crate::format::workflow::{Workflow, WorkflowJob, WorkflowStep, WorkflowTrigger};
use crate::github::inputs::ActionMode;
use crate::model::{RepoPath, Word};

/// A step that runs goldgate.
pub struct GateStep<'a> {
    /// Its workflow.
    pub workflow: &'a Workflow,
    /// Its job.
    pub job: &'a WorkflowJob,
    /// The step.
    pub step: &'a WorkflowStep,
    /// The jobs of other workflows that call its workflow.
    callers: Vec<(&'a Workflow, &'a WorkflowJob)>,
}

/// The event of a workflow that other ones call.
const CALL: &str = "workflow_call";

/// The events that start a workflow on a pull request.
const EVENTS: [&str; 2] = ["pull_request", "pull_request_target"];

impl<'a> GateStep<'a> {
    /// All steps that run goldgate.
    pub fn all(workflows: &'a [Workflow]) -> Vec<Self> {
        let mut jobs = Vec::new();
        for workflow in workflows {
            jobs.extend(workflow.jobs.iter().map(|job| (workflow, job)));
        }
        let mut gates = Vec::new();
        for (workflow, job) in &jobs {
            let address = format!("./{}", workflow.file);
            let mut callers = jobs.clone();
            callers.retain(|(_, job)| job.calls.as_ref().is_some_and(|call| call.uses == address));
            for step in &job.steps {
                let gate = GateStep {
                    workflow,
                    job,
                    step,
                    callers: callers.clone(),
                };
                if gate.is_gate() {
                    gates.push(gate);
                }
            }
        }
        gates
    }

    /// The jobs that have to run before the step does: its own one, and those that call its workflow.
    pub fn jobs(&self) -> impl Iterator<Item = (&'a Workflow, &'a WorkflowJob)> {
        self.callers
            .iter()
            .copied()
            .chain([(self.workflow, self.job)])
    }

    /// The workflows that an event starts for the step: its own one, unless others call it and nothing else starts it.
    pub fn started(&self) -> impl Iterator<Item = &'a Workflow> {
        let is_started =
            self.callers.is_empty() || self.workflow.triggers.keys().any(|event| event != CALL);
        let callers = self.callers.iter().map(|(workflow, _)| *workflow);
        callers.chain(is_started.then_some(self.workflow))
    }

    /// The triggers by pull requests of the workflows that start for the step, with their names.
    pub fn pull_request_triggers(
        &self,
    ) -> impl Iterator<Item = (&'a Workflow, &'static str, &'a WorkflowTrigger)> {
        self.started().flat_map(|workflow| {
            EVENTS
                .into_iter()
                .filter_map(move |name| Some((workflow, name, workflow.triggers.get(name)?)))
        })
    }

    /// The names of the checks that its job reports, as far as no expression or matrix makes them.
    pub fn checks(&self) -> Vec<String> {
        let Some(check) = &self.job.check else {
            return Vec::new();
        };
        let begun = self
            .callers
            .iter()
            .filter_map(|(_, job)| job.calls.as_ref()?.name.as_deref());
        let called = begun.map(|begin| format!("{begin} / {check}"));
        let is_started = self
            .started()
            .any(|workflow| workflow.file == self.workflow.file);
        called.chain(is_started.then(|| check.clone())).collect()
    }

    fn is_gate(&self) -> bool {
        let uses = self.step.uses.as_deref().unwrap_or_default();
        let (name, _) = action_of(uses);
        let is_goldgate = uses == "./" || name == "goldgate" || name.ends_with("/goldgate");
        is_goldgate
            || self
                .step
                .script
                .as_deref()
                .is_some_and(|script| script.contains("goldgate action"))
    }

    /// The value of an input; empty if it is not set.
    pub fn input(&self, name: &str) -> &'a str {
        let variable = format!("INPUT_{}", name.to_ascii_uppercase());
        let given = self
            .step
            .inputs
            .get(name)
            .or_else(|| self.step.inputs.get(&variable));
        given.map_or("", String::as_str)
    }

    /// The mode; `None` if it is an expression or no mode of this version.
    pub fn mode(&self) -> Option<ActionMode> {
        match self.input("mode") {
            "" => Some(ActionMode::Run),
            mode => ActionMode::of_word(mode),
        }
    }

    pub fn is_shard(&self) -> bool {
        !self.input("shard").is_empty()
    }

    /// The config; `None` if an expression or patterns name it.
    pub fn config(&self) -> Option<RepoPath> {
        let path = Some(self.input("config"))
            .filter(|path| !path.is_empty())
            .unwrap_or("goldgate.yaml");
        RepoPath::root()
            .join(path)
            .ok()
            .filter(|_| !path.contains("${{") && !path.contains(['*', '?']))
    }

    /// Whether the job gives a verdict that blocks a merge.
    pub fn decides(&self) -> bool {
        let is_verdict = match self.mode() {
            Some(ActionMode::Run) => !self.is_shard(),
            Some(ActionMode::BaselinePr | ActionMode::Record) | None => false,
        };
        is_verdict && self.input("tier") != "model" && self.input("blocking") != "false"
    }

    /// A problem in the file of the workflow.
    pub fn problem(&self, code: Code, message: String, help: impl Into<String>) -> Diagnostic {
        Diagnostic::of_file(&self.workflow.file, code, message, help)
    }

    /// A problem of the step itself.
    pub fn problem_at_step(
        &self,
        code: Code,
        message: String,
        help: impl Into<String>,
    ) -> Diagnostic {
        self.problem(code, message, help).at(self.step.at)
    }
}

/// Splits `owner/name@ref`, or `docker://host/owner/name@digest`.
pub fn action_of(uses: &str) -> (&str, Option<&str>) {
    let uses = uses.strip_prefix("docker://").unwrap_or(uses);
    match uses.split_once('@') {
        Some((name, reference)) => (name, Some(reference)),
        None => (uses, None),
    }
}
