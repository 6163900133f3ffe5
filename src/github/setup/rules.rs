//! What is wrong with the setup of the gate: pure decisions about workflows and branch rules.

use std::collections::BTreeSet;

use super::gate_step::{GateStep, action_of};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::format::workflow::{
    Concurrency, OnFailure, TokenAccess, Workflow, WorkflowJob, WorkflowStep,
};
use crate::github::client::{BranchRules, QueueGrouping, RequiredCheck};
use crate::github::inputs::ActionMode;
use crate::text::is_commit;

/// The id of the app "GitHub Actions", which reports the checks of workflows.
const ACTIONS_APP: u64 = 15_368;

/// The page that explains the setup.
pub const PROTECTION: &str = "see docs/branch-protection.md";

/// A permission, its level, and what it is for.
type NeededPermission = (&'static str, TokenAccess, &'static str);

/// The permissions that a mode needs with its default inputs.
fn permissions_of(mode: ActionMode) -> &'static [NeededPermission] {
    const READ: TokenAccess = TokenAccess::Read;
    const WRITE: TokenAccess = TokenAccess::Write;
    match mode {
        ActionMode::Run => &[
            ("actions", READ, "to find what was shown before a label"),
            ("contents", READ, "to read the base commit"),
            ("pull-requests", WRITE, "to write the comment"),
        ],
        ActionMode::Record => &[
            ("contents", READ, "to read the files of both commits"),
            (
                "pull-requests",
                WRITE,
                "to write the comment and to remove the label",
            ),
        ],
        ActionMode::BaselinePr => &[
            ("contents", WRITE, "to push the baseline's branch"),
            ("pull-requests", WRITE, "to open its pull request"),
            ("actions", READ, "to find who approved the numbers"),
        ],
    }
}

/// Problems of the workflows by themselves.
pub fn of_workflows(gates: &[GateStep<'_>]) -> Diagnostics {
    let mut problems = Diagnostics::default();
    if gates.iter().all(|gate| !gate.decides()) {
        problems.push(Diagnostic::of_file(
            ".github/workflows",
            Code::NO_GATE,
            "no workflow has a job that gives a blocking verdict",
            "copy docs/workflows/goldgate.yml of goldgate to .github/workflows",
        ));
        return problems;
    }
    for gate in gates {
        permissions(gate, &mut problems);
        if gate.decides() {
            triggers(gate, &mut problems);
            grouped(gate, &mut problems);
            named(gate, &mut problems);
            skipping(gate, &mut problems);
            ignoring(gate, &mut problems);
        }
    }
    problems
}

fn permissions(gate: &GateStep<'_>, problems: &mut Diagnostics) {
    // Without any, the default of the repository applies, which only an administrator may read. A token of its own, such as an
    // app's, has its own permissions.
    let (Some(given), Some(mode), "") = (&gate.job.permissions, gate.mode(), gate.input("token"))
    else {
        return;
    };
    // A shard writes its part into the workspace and asks GitHub for nothing.
    if gate.is_shard() {
        return;
    }
    let needed = permissions_of(mode);
    let needed = needed
        .iter()
        .filter(|(name, ..)| *name != "pull-requests" || gate.input("comment") != "false")
        .filter(|(name, ..)| *name != "actions" || mode != ActionMode::Run || gate.decides());
    for &(name, access, why) in needed {
        if given.access(name) < access {
            let word = if access == TokenAccess::Write {
                "write"
            } else {
                "read"
            };
            let message = format!(
                "mode {} needs the permission {name}: {word}, {why}",
                mode.as_str()
            );
            problems.push(
                gate.problem(
                    Code::MISSING_PERMISSION,
                    message,
                    format!("add `{name}: {word}` to the job"),
                )
                .at(gate.job.at),
            );
        }
    }
}

/// The types of events that a verdict needs, and what happens without each.
const VERDICT_TYPES: [(&str, &str); 6] = [
    ("opened", "a new pull request gets no verdict"),
    ("synchronize", "a push gets no verdict"),
    ("reopened", "a reopened pull request gets no verdict"),
    (
        "edited",
        "a pull request whose base branch changes keeps the verdict of the old one",
    ),
    ("labeled", "a label approves nothing before the next event"),
    (
        "unlabeled",
        "the check stays green when the label is taken away",
    ),
];

fn types(gate: &GateStep<'_>, needed: &[(&str, &str)], problems: &mut Diagnostics) {
    for (workflow, name, trigger) in gate.pull_request_triggers() {
        let default = ["opened", "synchronize", "reopened"]
            .map(str::to_owned)
            .to_vec();
        let types = trigger.types.as_ref().unwrap_or(&default);
        for (kind, why) in needed
            .iter()
            .filter(|(kind, _)| !types.iter().any(|listed| listed == kind))
        {
            let message = format!("{name} does not listen to {kind}, so {why}");
            let help = format!("add {kind} to its types");
            problems.push(
                Diagnostic::of_file(&workflow.file, Code::MISSING_TYPE, message, help)
                    .at(trigger.at),
            );
        }
    }
}

/// A group cancels its older pending run, whose required check is then missing with everything green.
fn grouped(gate: &GateStep<'_>, problems: &mut Diagnostics) {
    for (workflow, job) in gate.jobs() {
        if job.concurrency == Concurrency::Grouped {
            let message = "this job is in a concurrency group, which cancels older pending runs: a cancelled check counts as a failed one";
            let help = "remove concurrency; two runs at once do no harm";
            problems.push(
                Diagnostic::of_file(&workflow.file, Code::GROUPED_GATE, message, help).at(job.at),
            );
        }
    }
}

/// An approval is about what a run showed, and its name says which commits that was.
fn named(gate: &GateStep<'_>, problems: &mut Diagnostics) {
    for (workflow, event, trigger) in gate.pull_request_triggers() {
        let needed: &[&str] = match event {
            "pull_request_target" => &["github.event.pull_request.head.sha", "github.sha"],
            _ => &["github.sha"],
        };
        if needed
            .iter()
            .all(|variable| workflow.run_name.contains(variable))
        {
            continue;
        }
        let named: Vec<String> = needed
            .iter()
            .map(|variable| format!("${{{{ {variable} }}}}"))
            .collect();
        let message = "the name of its runs does not say which commits they judge, so no label approves a result";
        let help = format!("write run-name: goldgate {}", named.join(" "));
        problems.push(
            Diagnostic::of_file(&workflow.file, Code::NO_RUN_NAME, message, help).at(trigger.at),
        );
    }
}

fn triggers(gate: &GateStep<'_>, problems: &mut Diagnostics) {
    types(gate, &VERDICT_TYPES, problems);
    for (workflow, name, trigger) in gate.pull_request_triggers() {
        if let Some(filter @ ("paths" | "paths-ignore")) = trigger.filter {
            let message = format!(
                "{name} has {filter}: on a pull request that it leaves out, a required check stays pending"
            );
            let help = format!("remove {filter}; a run without changes takes seconds");
            problems.push(
                Diagnostic::of_file(&workflow.file, Code::FILTERED, message, help).at(trigger.at),
            );
        }
    }
}

/// Required checks whose workflow does not start on pull requests into the branch.
fn left_out(gate: &GateStep<'_>, branch: &str, check: &str) -> Diagnostics {
    let mut problems = Diagnostics::default();
    for (workflow, name, trigger) in gate.pull_request_triggers() {
        // GitHub's patterns: a text without these characters is the branch itself.
        let may_fit = trigger
            .branches
            .iter()
            .any(|pattern| pattern == branch || pattern.contains(['*', '?', '+', '[', '!']));
        let filter = if !trigger.branches.is_empty() && !may_fit {
            "branches"
        } else if trigger
            .ignored_branches
            .iter()
            .any(|pattern| pattern == branch)
        {
            "branches-ignore"
        } else {
            continue;
        };
        let message = format!(
            "{name} leaves out {branch} by {filter}: on a pull request into {branch}, the required check \"{check}\" stays pending"
        );
        let help = format!("change {filter} so that {branch} is not left out, or remove it");
        problems.push(
            Diagnostic::of_file(&workflow.file, Code::FILTERED, message, help).at(trigger.at),
        );
    }
    problems
}

fn skipping(gate: &GateStep<'_>, problems: &mut Diagnostics) {
    for (workflow, job) in gate.jobs() {
        if let Some((message, help)) = skippable(job) {
            problems.push(
                Diagnostic::of_file(&workflow.file, Code::SKIPPABLE, message, help).at(job.at),
            );
        }
    }
    if let Some(condition) = &gate.step.condition
        && !is_always(condition)
    {
        let message =
            "this step has a condition: where that is false, the job passes without a verdict"
                .to_owned();
        problems.push(gate.problem_at_step(Code::SKIPPABLE, message, "remove the if of the step"));
    }
}

/// Whether a condition skips nothing that a gate has to judge. Anything more can be false.
fn is_always(condition: &str) -> bool {
    let plain = condition
        .trim()
        .trim_start_matches("${{")
        .trim_end_matches("}}")
        .trim();
    ["always()", "!cancelled()", "success()"].contains(&plain)
}

/// Why a job can be skipped, and what to do; `None` if it always runs.
fn skippable(job: &WorkflowJob) -> Option<(String, &'static str)> {
    match job.condition.as_deref() {
        // A job with success() is skipped like one without a condition if a job that it needs fails.
        Some(condition)
            if !is_always(condition)
                || (!job.needs.is_empty() && condition.contains("success()")) =>
        {
            let message = "this job has a condition: a skipped job counts as passed when its check is required".to_owned();
            Some((message, "remove the if of the job"))
        }
        None if !job.needs.is_empty() => {
            let message = format!(
                "this job needs {}: if that fails, it is skipped, and a skipped job counts as passed when its check is required",
                job.needs.join(", ")
            );
            Some((message, "write if: ${{ always() }} on the job"))
        }
        Some(_) | None => None,
    }
}

fn ignoring(gate: &GateStep<'_>, problems: &mut Diagnostics) {
    let help = "remove continue-on-error";
    if gate.step.on_failure == OnFailure::Ignore {
        let message = "this step has continue-on-error: a failing gate leaves the job, and so the check, green";
        problems.push(gate.problem_at_step(Code::IGNORED_FAILURE, message.to_owned(), help));
    }
    if gate.job.on_failure == OnFailure::Ignore {
        let message =
            "this job has continue-on-error: a failing gate does not fail the workflow run";
        problems.push(
            gate.problem(Code::IGNORED_FAILURE, message.to_owned(), help)
                .at(gate.job.at),
        );
    }
}

/// Steps of the setup action that are not pinned: it installs the program that judges.
pub fn of_setup(workflows: &[Workflow]) -> Diagnostics {
    let mut problems = Diagnostics::default();
    for workflow in workflows {
        for step in workflow.jobs.iter().flat_map(|job| &job.steps) {
            let uses = step.uses.as_deref().unwrap_or_default();
            let (name, reference) = action_of(uses);
            if name.ends_with("/goldgate/setup") && !reference.is_some_and(is_commit) {
                problems.push(not_pinned(workflow, step, uses));
            }
        }
    }
    problems
}

/// The problem of a step whose action is not pinned to a commit.
pub fn not_pinned(workflow: &Workflow, step: &WorkflowStep, uses: &str) -> Diagnostic {
    let message = format!(
        "{uses} is not pinned to a commit, so its owner can change what judges your merges"
    );
    let help = "write the commit of a release after the @";
    Diagnostic::of_file(&workflow.file, Code::NOT_PINNED, message, help).at(step.at)
}

/// The checks that give a verdict: of jobs, and check runs.
fn checks_of(gates: &[GateStep<'_>]) -> BTreeSet<String> {
    let deciding = gates.iter().filter(|gate| gate.decides());
    deciding.flat_map(GateStep::checks).collect()
}

fn names_of(rules: &BranchRules) -> BTreeSet<&str> {
    rules
        .required
        .iter()
        .map(|check| check.name.as_str())
        .collect()
}

/// The checks of the gate that both branches require.
pub fn shared(gates: &[GateStep<'_>], left: &BranchRules, right: &BranchRules) -> Vec<String> {
    let (left, right) = (names_of(left), names_of(right));
    checks_of(gates)
        .into_iter()
        .filter(|check| {
            [&left, &right]
                .iter()
                .all(|names| names.contains(check.as_str()))
        })
        .collect()
}

/// Problems of a branch's rules with these workflows and their gates.
pub fn of_rules(
    workflows: &[Workflow],
    gates: &[GateStep<'_>],
    branch: &str,
    rules: &BranchRules,
) -> Diagnostics {
    let mut problems = Diagnostics::default();
    let about = format!("rules of {branch}");
    let deciding: Vec<&GateStep<'_>> = gates.iter().filter(|gate| gate.decides()).collect();
    let checks = checks_of(gates);
    let checks: BTreeSet<&str> = checks.iter().map(String::as_str).collect();
    let required = names_of(rules);
    if checks.is_disjoint(&required) && !checks.is_empty() {
        let names: Vec<String> = checks.iter().map(|name| format!("\"{name}\"")).collect();
        let message = format!(
            "no check of the gate is required, so a failing gate does not block a merge into {branch}"
        );
        problems.push(Diagnostic::of_file(
            &about,
            Code::NOT_REQUIRED,
            message,
            format!("require {}; {PROTECTION}", names.join(" or ")),
        ));
    }
    for check in &rules.required {
        if let Some((message, help)) = unreported(workflows, check) {
            problems.push(Diagnostic::of_file(&about, Code::OTHER_NAME, message, help));
        }
        if checks.contains(check.name.as_str()) && check.app != Some(ACTIONS_APP) {
            let message = format!(
                "any app and any token with statuses: write may report the required check \"{}\"",
                check.name
            );
            let help = "choose GitHub Actions as the source of the check";
            problems.push(Diagnostic::of_file(&about, Code::ANY_SOURCE, message, help));
        }
    }
    for gate in &deciding {
        let needed = gate
            .checks()
            .into_iter()
            .find(|check| required.contains(check.as_str()));
        problems.extend(
            needed
                .map(|check| left_out(gate, branch, &check))
                .unwrap_or_default(),
        );
    }
    match rules.queue {
        None => {}
        Some(grouping) => {
            if grouping == QueueGrouping::OnlyLast {
                let message =
                    "the merge queue merges a failing entry if a later entry passes".to_owned();
                let help = "turn on \"Require all queue entries to pass required checks\"";
                problems.push(Diagnostic::of_file(
                    &about,
                    Code::QUEUE_GROUPING,
                    message,
                    help,
                ));
            }
            for gate in deciding.iter().filter(|gate| {
                gate.checks()
                    .iter()
                    .any(|name| required.contains(name.as_str()))
            }) {
                if let Some(problem) = unqueued(gate) {
                    problems.push(problem);
                }
            }
        }
    }
    problems
}

/// The problem of a required check that does not run in a merge queue.
fn unqueued(gate: &GateStep<'_>) -> Option<Diagnostic> {
    if gate
        .started()
        .any(|workflow| workflow.triggers.contains_key("merge_group"))
    {
        return None;
    }
    let message = "the branch has a merge queue, but this workflow does not listen to merge_group: its required check stays pending in the \
                queue";
    let workflow = gate.started().next().unwrap_or(gate.workflow);
    let problem = Diagnostic::of_file(
        &workflow.file,
        Code::NO_MERGE_GROUP,
        message,
        "add merge_group: to its triggers",
    );
    // The place of a job is one in its own file.
    Some(if workflow.file == gate.workflow.file {
        problem.at(gate.job.at)
    } else {
        problem
    })
}

/// What is wrong with a required check that no job reports, and what to do; `None` if a job may report it.
fn unreported(workflows: &[Workflow], check: &RequiredCheck) -> Option<(String, String)> {
    let name = &check.name;
    let mut jobs = workflows.iter().flat_map(|workflow| &workflow.jobs);
    let mut near = jobs
        .clone()
        .filter_map(|job| job.check.as_deref())
        .filter(|check| check.eq_ignore_ascii_case(name));
    if let Some(near) = near.find(|near| near != name) {
        let message = format!(
            "\"{name}\" is required, but the job's check is \"{near}\"; a check that nobody reports stays pending"
        );
        return Some((message, format!("require \"{near}\"")));
    }
    // Other systems report checks, too.
    if check.app != Some(ACTIONS_APP) || jobs.any(|job| job.may_report(name)) {
        return None;
    }
    let message = format!(
        "\"{name}\" of GitHub Actions is required, but no job of the workflows here reports it; a check that nobody reports stays \
         pending"
    );
    let help =
        "require the exact name of a job's check, unless GitHub runs it without a workflow file";
    Some((message, help.to_owned()))
}

#[cfg(test)]
mod tests;
