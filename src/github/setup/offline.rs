//! What `goldgate check` finds in the workflows of the checkout, without GitHub.

use std::collections::BTreeSet;

use super::gate_step::{GateStep, action_of};
use super::{rules, workflows};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::Files;
use crate::format::workflow::Workflow;
use crate::model::{Config, RepoPath, RunSource, Tier, Transport};
use crate::render::CliError;
use crate::suites::read_config;
use crate::world::Disk;

/// Returns the problems of the workflows that run goldgate, and notes on what is not filled in yet.
///
/// # Errors
/// A workflow that cannot be read.
pub fn check_workflows(disk: &Disk) -> Result<(Diagnostics, Vec<Diagnostic>), CliError> {
    let mut problems = Diagnostics::default();
    let workflows = workflows(disk, &mut problems)?;
    let gates = GateStep::all(&workflows);
    if gates.iter().any(GateStep::decides) {
        problems.extend(rules::of_workflows(&gates));
    }
    problems.extend(rules::of_setup(&workflows));
    problems.extend(checked_out_pull_requests(&workflows, &gates));
    problems.extend(missing_commands(disk, &gates));
    let mut open = placeholders(&gates);
    open.extend(no_gate(disk, &gates));
    Ok((problems, open))
}

/// Says that no workflow calls the action, so that no pull request gets a verdict. A repository without GitHub's folder may be elsewhere.
fn no_gate(disk: &Disk, gates: &[GateStep<'_>]) -> Option<Diagnostic> {
    let folder = RepoPath::root().child(".github");
    let is_on_github = disk.list_all(&folder).is_ok_and(|all| !all.is_empty());
    let message = "no workflow runs goldgate, so no pull request gets a verdict";
    let help = "copy docs/workflows/goldgate.yml of goldgate to .github/workflows";
    (is_on_github && gates.is_empty())
        .then(|| Diagnostic::of_file(".github/workflows", Code::NO_GATE, message, help))
}

/// Actions whose owner or commit is still that of the template.
fn placeholders(gates: &[GateStep<'_>]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for gate in gates {
        let Some(uses) = gate.step.uses.as_deref() else {
            continue;
        };
        let (name, reference) = action_of(uses);
        let is_zeros =
            reference.is_some_and(|reference| reference.bytes().all(|byte| byte == b'0'));
        if name.starts_with("OWNER/") || is_zeros {
            let message = format!("{uses} is a placeholder, so this workflow fails");
            let help = "write the owner and the commit of a release";
            problems.push(gate.problem_at_step(Code::PLACEHOLDER, message, help));
        }
    }
    problems
}

/// Steps on `pull_request_target` that check out the pull request in a workflow of the gate: its code would run with a token that may
/// write.
fn checked_out_pull_requests(workflows: &[Workflow], gates: &[GateStep<'_>]) -> Diagnostics {
    let mut problems = Diagnostics::default();
    let gate_files: BTreeSet<&str> = gates
        .iter()
        .map(|gate| gate.workflow.file.as_str())
        .collect();
    let privileged = workflows.iter().filter(|workflow| {
        gate_files.contains(workflow.file.as_str())
            && workflow.triggers.contains_key("pull_request_target")
    });
    for workflow in privileged {
        for step in workflow.jobs.iter().flat_map(|job| &job.steps) {
            let uses = step.uses.as_deref().unwrap_or_default();
            let reference = step.inputs.get("ref").map_or("", String::as_str);
            let is_of_pull = ["github.event.pull_request", "github.head_ref", "refs/pull/"]
                .iter()
                .any(|part| reference.contains(part));
            if uses.contains("/checkout@") && is_of_pull {
                let message = "this checks out the pull request on pull_request_target, where the token may write and secrets are readable";
                let help = "remove the step: goldgate reads the pull request as data";
                problems.push(
                    Diagnostic::of_file(&workflow.file, Code::CHECKED_OUT_PULL, message, help)
                        .at(step.at),
                );
            }
        }
    }
    problems
}

/// Commands of the config that the action's container does not have: it has goldgate and nothing else.
fn missing_commands(disk: &Disk, gates: &[GateStep<'_>]) -> Diagnostics {
    let mut problems = Diagnostics::default();
    for gate in gates.iter().filter(|gate| gate.step.uses.is_some()) {
        let config = gate.config().and_then(|file| disk.text(&file).ok());
        let Some(config) = config.and_then(|source| read_config(&source).ok()) else {
            continue;
        };
        let tiers: &[Tier] = match gate.input("tier") {
            "model" => &[Tier::Model],
            "all" => &[Tier::Deterministic, Tier::Model],
            _ => &[Tier::Deterministic],
        };
        if let Some(program) = started_program(&config, tiers) {
            let message =
                format!("the container of the action has no {program:?}, which the config starts");
            let help = "install goldgate with its action setup, and write `run: goldgate action`";
            problems.push(gate.problem_at_step(Code::NO_COMMAND, message, help));
        }
    }
    problems
}

/// The first program that the agents of these tiers start.
fn started_program<'a>(config: &'a Config, tiers: &[Tier]) -> Option<&'a str> {
    let suites = config
        .suites
        .iter()
        .flat_map(|suite| suite.tiers.iter().map(move |tier| (suite, tier)))
        .filter(|(_, tier)| tiers.contains(tier));
    let sources = suites.flat_map(|(suite, tier)| {
        suite
            .agents
            .values()
            .filter_map(|agent| agent.source(*tier).and_then(RunSource::live))
    });
    let mut targets = sources.flat_map(|live| live.targets());
    targets.find_map(|name| match &config.targets.get(name)?.transport {
        Transport::Command { argv, .. } => argv.first().map(String::as_str),
        Transport::Model(_) | Transport::Http(_) => None,
    })
}
