//! What is wrong with the setup of the gate: pure decisions about workflows and branch rules.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, Diagnostics};
use crate::format::workflow::{TokenAccess, Workflow, WorkflowJob, WorkflowStep};
use crate::world::{BranchRules, QueueGrouping};

/// The id of the app "GitHub Actions", which reports the checks of workflows.
const ACTIONS_APP: u64 = 15_368;

/// The page that explains the setup.
pub const PROTECTION: &str = "see docs/branch-protection.md";

/// A step that runs goldgate.
pub struct GateStep<'a> {
    /// Its workflow.
    pub workflow: &'a Workflow,
    /// Its job.
    pub job: &'a WorkflowJob,
    /// The step.
    pub step: &'a WorkflowStep,
}

impl<'a> GateStep<'a> {
    /// All steps that run goldgate.
    pub fn all(workflows: &'a [Workflow]) -> Vec<Self> {
        let jobs = workflows.iter().flat_map(|workflow| workflow.jobs.iter().map(move |job| (workflow, job)));
        let steps = jobs.flat_map(|(workflow, job)| {
            job.steps.iter().map(move |step| GateStep { workflow, job, step }).filter(GateStep::is_gate)
        });
        steps.collect()
    }

    fn is_gate(&self) -> bool {
        let uses = self.step.uses.as_deref().unwrap_or_default();
        let (name, _) = action_of(uses);
        let own = uses == "./" || name == "goldgate" || name.ends_with("/goldgate");
        own || self.step.script.as_deref().is_some_and(|script| script.contains("goldgate action"))
    }

    /// The value of an input; empty if it is not set.
    pub fn input(&self, name: &str) -> &'a str {
        let variable = format!("INPUT_{}", name.to_ascii_uppercase());
        let given = self.step.inputs.get(name).or_else(|| self.step.inputs.get(&variable));
        given.map_or("", String::as_str)
    }

    fn mode(&self) -> &'a str {
        Some(self.input("mode")).filter(|mode| !mode.is_empty()).unwrap_or("run")
    }

    /// Whether the job gives a verdict that blocks a merge.
    fn decides(&self) -> bool {
        let is_verdict = matches!(self.mode(), "run" | "merge" | "trusted") && self.input("shard").is_empty();
        is_verdict && self.input("tier") != "model" && self.input("blocking") != "false"
    }

    fn problem(&self, code: &'static str, what: String, help: impl Into<String>) -> Diagnostic {
        Diagnostic::of_file(&self.workflow.file, code, what, help)
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

/// The permissions that a step needs, by its mode.
fn needed(gate: &GateStep<'_>) -> Vec<(&'static str, TokenAccess, &'static str)> {
    use_case(gate.mode())
        .iter()
        .copied()
        .filter(|(name, ..)| *name != "pull-requests" || gate.input("comment") != "false")
        .filter(|_| gate.input("shard").is_empty())
        .collect()
}

fn use_case(mode: &str) -> &'static [(&'static str, TokenAccess, &'static str)] {
    const READ: TokenAccess = TokenAccess::Read;
    const WRITE: TokenAccess = TokenAccess::Write;
    match mode {
        "run" | "merge" | "trusted" => {
            &[("contents", READ, "to read the base commit"), ("pull-requests", WRITE, "to write the comment")]
        }
        "publish" => {
            &[("actions", READ, "to read the run's artifact"), ("pull-requests", WRITE, "to write the comment")]
        }
        "approve" => &[
            ("actions", WRITE, "to read the result and to start its run again"),
            ("contents", READ, "to read the config"),
            ("pull-requests", WRITE, "to write the comment and to remove the label"),
            ("statuses", WRITE, "to store the approval"),
        ],
        "bump" => &[("contents", WRITE, "to commit the baseline")],
        "baseline-pr" => &[
            ("contents", WRITE, "to push the baseline's branch"),
            ("pull-requests", WRITE, "to open its pull request"),
        ],
        _ => &[],
    }
}

/// Problems of the workflows by themselves.
pub fn of_workflows(workflows: &[Workflow]) -> Diagnostics {
    let mut problems = Diagnostics::default();
    let gates = GateStep::all(workflows);
    if gates.iter().all(|gate| !gate.decides()) {
        problems.push(Diagnostic::of_file(
            ".github/workflows",
            "no-gate",
            "no workflow has a job that gives a blocking verdict",
            "copy docs/workflows/goldgate.yml of goldgate to .github/workflows",
        ));
        return problems;
    }
    if gates.iter().all(|gate| gate.mode() != "approve") {
        problems.push(Diagnostic::of_file(
            ".github/workflows",
            "no-approval",
            "no workflow has a step with mode: approve, so nobody can accept a change of golden files or baseline",
            "copy docs/workflows/goldgate-approval.yml of goldgate to .github/workflows",
        ));
    }
    for gate in &gates {
        permissions(gate, &mut problems);
        if gate.decides() {
            triggers(gate, &mut problems);
            skipping(gate, &mut problems);
        }
    }
    problems
}

fn permissions(gate: &GateStep<'_>, problems: &mut Diagnostics) {
    // Without any, the default of the repository applies, which only an administrator may read. A token of its own, such as an
    // app's, has its own permissions.
    let (Some(given), "") = (&gate.job.permissions, gate.input("token")) else { return };
    for (name, access, why) in needed(gate) {
        if given.access(name) < access {
            let word = if access == TokenAccess::Write { "write" } else { "read" };
            let what = format!("mode {} needs the permission {name}: {word}, {why}", gate.mode());
            problems.push(
                gate.problem("missing-permission", what, format!("add `{name}: {word}` to the job")).at(gate.job.at),
            );
        }
    }
}

fn triggers(gate: &GateStep<'_>, problems: &mut Diagnostics) {
    for name in ["pull_request", "pull_request_target"] {
        let Some(trigger) = gate.workflow.triggers.get(name) else { continue };
        let default = ["opened", "synchronize", "reopened"].map(str::to_owned).to_vec();
        let types = trigger.types.as_ref().unwrap_or(&default);
        for (kind, why) in [
            ("opened", "a new pull request gets no verdict"),
            ("synchronize", "a push gets no verdict"),
            ("reopened", "a reopened pull request gets no verdict"),
            ("edited", "a pull request whose base branch changes keeps the verdict of the old one"),
        ] {
            if !types.iter().any(|own| own == kind) {
                let help = "write types: [opened, synchronize, reopened, edited]";
                let what = format!("{name} does not listen to {kind}, so {why}");
                problems.push(gate.problem("missing-type", what, help).at(trigger.at));
            }
        }
        if let Some(filter @ ("paths" | "paths-ignore")) = trigger.filter {
            let what =
                format!("{name} has {filter}: on a pull request that it leaves out, a required check stays pending");
            problems.push(
                gate.problem("filtered", what, format!("remove {filter}; a run without changes takes seconds"))
                    .at(trigger.at),
            );
        }
    }
}

fn skipping(gate: &GateStep<'_>, problems: &mut Diagnostics) {
    let always = |condition: &str| condition.contains("always()") || condition.contains("!cancelled()");
    let condition = gate.job.condition.as_deref();
    let help = "write if: ${{ always() }} on the job, and pass the results of its needs to goldgate";
    match condition {
        Some(condition) if !always(condition) => {
            let what = "this job has a condition: a skipped job counts as passed when its check is required".to_owned();
            problems
                .push(gate.problem("skippable", what, "remove the if of the job; put it on its steps").at(gate.job.at));
        }
        None if !gate.job.needs.is_empty() => {
            let what = format!(
                "this job needs {}: if that fails, it is skipped, and a skipped job counts as passed when its check is required",
                gate.job.needs.join(", ")
            );
            problems.push(gate.problem("skippable", what, help).at(gate.job.at));
        }
        Some(_) | None => {}
    }
}

/// Problems of a branch's rules with these workflows.
pub fn of_rules(workflows: &[Workflow], branch: &str, rules: &BranchRules) -> Diagnostics {
    let mut problems = Diagnostics::default();
    let about = format!("rules of {branch}");
    let gates = GateStep::all(workflows);
    let deciding: Vec<&GateStep<'_>> = gates.iter().filter(|gate| gate.decides()).collect();
    let checks: BTreeSet<&str> = deciding.iter().filter_map(|gate| gate.job.check.as_deref()).collect();
    let required: BTreeSet<&str> = rules.required.iter().map(|check| check.name.as_str()).collect();
    let names =
        |names: &BTreeSet<&str>| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" or ");
    if checks.is_disjoint(&required) && !checks.is_empty() {
        let what = format!("no check of the gate is required, so a failing gate does not block a merge into {branch}");
        problems.push(Diagnostic::of_file(
            &about,
            "not-required",
            what,
            format!("require {}; {PROTECTION}", names(&checks)),
        ));
    }
    let all: BTreeSet<&str> =
        workflows.iter().flat_map(|workflow| &workflow.jobs).filter_map(|job| job.check.as_deref()).collect();
    for check in &rules.required {
        let near = all.iter().find(|name| name.eq_ignore_ascii_case(&check.name) && **name != check.name);
        if let Some(near) = near {
            let what = format!(
                "\"{}\" is required, but the job's check is \"{near}\"; a check that nobody reports stays pending",
                check.name
            );
            problems.push(Diagnostic::of_file(&about, "other-name", what, format!("require \"{near}\"")));
        }
        if checks.contains(check.name.as_str()) && check.app != Some(ACTIONS_APP) {
            let what =
                format!("any app and any token with statuses: write may report the required check \"{}\"", check.name);
            let help = "choose GitHub Actions as the source of the check";
            problems.push(Diagnostic::of_file(&about, "any-source", what, help));
        }
    }
    match rules.queue {
        None => {}
        Some(grouping) => {
            if grouping == QueueGrouping::OnlyLast {
                let what = "the merge queue merges a failing entry below a passing one".to_owned();
                let help = "turn on \"Require all queue entries to pass required checks\"";
                problems.push(Diagnostic::of_file(&about, "queue-grouping", what, help));
            }
            for gate in
                deciding.iter().filter(|gate| gate.job.check.as_deref().is_some_and(|name| required.contains(name)))
            {
                if !gate.workflow.triggers.contains_key("merge_group") {
                    let what = "the branch has a merge queue, but this workflow does not listen to merge_group: its required check stays \
                                pending in the queue";
                    problems.push(
                        gate.problem("no-merge-group", what.to_owned(), "add merge_group: to its triggers")
                            .at(gate.job.at),
                    );
                }
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests;
