//! `goldgate check --github`: compares the workflows and the repository's settings on GitHub with what the gate needs.

mod gate_step;
mod offline;
mod protection;
mod recording;
mod rules;

use std::collections::BTreeSet;

use self::gate_step::{GateStep, action_of};
pub use self::offline::check_workflows;
use self::recording::{check_recording, unanswered};
use super::environment::github;
use super::inputs::ActionMode;
use crate::diag::{Code, Diagnostic, Diagnostics, ReadFailure};
use crate::files::{EntryKind, Files};
use crate::format::workflow::{Workflow, read_workflow};
use crate::github::client::{BranchRules, GitHub, GitHubError, GitHubRefusal, ImageState};
use crate::model::{ApprovalPolicy, RepoPath};
use crate::render::{CliError, plural};
use crate::suites::read_config;
use crate::text::is_commit;
use crate::world::{Disk, World};

/// Reads workflows and settings, and prints what is right, what cannot be read, and what is wrong. Returns the exit code.
///
/// # Errors
/// Every problem of the setup.
pub fn check_setup(config: &str, world: &World) -> Result<u8, CliError> {
    let (disk, _) = Disk::of_config(config)?;
    let Some(github) = github(&world.env)? else {
        return Err(Diagnostic::of_file(
            "environment",
            Code::NO_TOKEN,
            "check --github needs GITHUB_REPOSITORY (owner/name) and GITHUB_TOKEN",
            "set both; `gh auth token` prints a token",
        )
        .into());
    };
    let mut problems = Diagnostics::default();
    let workflows = workflows(&disk, &mut problems)?;
    let gates = GateStep::all(&workflows);
    problems.extend(rules::of_workflows(&gates));
    problems.extend(rules::of_setup(&workflows));
    let mut checked = vec![plural(workflows.len(), "workflow", "workflows")];
    let mut notes = Vec::new();
    let branch = github.default_branch().map_err(unanswered)?;
    match github.branch_rules(&branch) {
        Ok(branch_rules) => {
            problems.extend(rules::of_rules(&workflows, &gates, &branch, &branch_rules));
            checked.push(describe(&branch, &branch_rules));
            checked.extend(protection::stopped(&disk, &gates, &branch_rules));
            shared_checks(&github, &gates, (&branch, &branch_rules), &mut notes)?;
        }
        // Another token does not help, such as where the plan has no rules for private repositories.
        Err(error @ GitHubError::Refused(GitHubRefusal::Other(_))) => {
            let message = format!(
                "the rules of {branch} cannot be read: {}",
                error.reason("administration: read")
            );
            let help = format!(
                "nobody knows whether a merge needs the gate; {}",
                rules::PROTECTION
            );
            problems.push(Diagnostic::of_file(
                "GitHub",
                Code::NOT_REQUIRED,
                message,
                help,
            ));
        }
        Err(error) if error.is_denied() => {
            notes.push(format!(
                "the token may not read the rules of {branch}; {}",
                rules::PROTECTION
            ));
        }
        Err(error) => return Err(unanswered(error)),
    }
    labels(&github, &disk, &gates, &mut notes)?;
    check_recording(&github, &disk, &gates, &mut problems, &mut notes)?;
    images(&github, &gates, &mut problems, &mut notes)?;
    if !problems.is_empty() {
        for note in &notes {
            world.tell(&format!("note: {note}"));
        }
    }
    problems.or(())?;
    let noted: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
    world.say(&format!(
        "{}\n{noted}no problem found\n",
        checked.join("\n")
    ));
    Ok(0)
}

/// Reads the workflows of the checkout.
fn workflows(disk: &Disk, problems: &mut Diagnostics) -> Result<Vec<Workflow>, CliError> {
    let folder = RepoPath::root().child(".github").child("workflows");
    let entries = match disk.list(&folder) {
        Ok(entries) => entries,
        Err(problem) if problem.is_read_failure(ReadFailure::MissingFolder) => {
            return Ok(Vec::new());
        }
        Err(problem) => return Err(problem.into()),
    };
    let files = entries.iter().filter(|entry| entry.kind == EntryKind::File);
    let named = files.filter(|entry| entry.name.ends_with(".yml") || entry.name.ends_with(".yaml"));
    let mut workflows = Vec::new();
    for entry in named {
        let source = disk.text(&folder.child(&entry.name))?;
        workflows.extend(problems.keep(read_workflow(&source)));
    }
    Ok(workflows)
}

fn describe(branch: &str, rules: &BranchRules) -> String {
    let names: Vec<String> = rules
        .required
        .iter()
        .map(|check| format!("\"{}\"", check.name))
        .collect();
    match names.as_slice() {
        [] => format!("{branch}: no required checks"),
        _ => format!("{branch}: requires {}", names.join(", ")),
    }
}

/// Most protected branches whose rules are read.
const MOST_BRANCHES: usize = 20;

/// Notes the checks of the gate that another branch requires as well.
fn shared_checks(
    github: &GitHub,
    gates: &[GateStep<'_>],
    (default, of_default): (&str, &BranchRules),
    notes: &mut Vec<String>,
) -> Result<(), CliError> {
    let branches = match github.protected_branches() {
        Ok(branches) => branches,
        Err(error) if error.is_denied() => {
            notes.push("the token may not read the protected branches".to_owned());
            return Ok(());
        }
        Err(error) => return Err(unanswered(error)),
    };
    let others: Vec<&String> = branches
        .iter()
        .filter(|branch| *branch != default)
        .collect();
    for branch in others.iter().take(MOST_BRANCHES) {
        let branch_rules = match github.branch_rules(branch) {
            Ok(branch_rules) => branch_rules,
            // It was removed a moment ago.
            Err(GitHubError::Missing) => continue,
            Err(error) => return Err(unanswered(error)),
        };
        for check in rules::shared(gates, &branch_rules, of_default) {
            notes.push(format!(
                "{branch} requires \"{check}\" as {default} does, and a check belongs to the commit: what passes for one branch passes for \
                 both; give each branch a check of its own name, {}",
                rules::PROTECTION
            ));
        }
    }
    if others.len() > MOST_BRANCHES {
        notes.push(format!(
            "of {} protected branches, the first {MOST_BRANCHES} were compared with {default}",
            others.len()
        ));
    }
    Ok(())
}

/// Notes a label that does not exist yet.
fn labels(
    github: &GitHub,
    disk: &Disk,
    gates: &[GateStep<'_>],
    notes: &mut Vec<String>,
) -> Result<(), CliError> {
    let records = gates
        .iter()
        .any(|gate| gate.mode() == Some(ActionMode::Record));
    let mut labels: BTreeSet<String> = BTreeSet::new();
    for gate in gates {
        let config = gate.config().and_then(|file| disk.text(&file).ok());
        let policy = config
            .and_then(|source| read_config(&source).ok())
            .map_or_else(ApprovalPolicy::default, |config| config.approval);
        labels.insert(policy.label);
        labels.extend(records.then_some(policy.record_label));
    }
    for label in labels {
        match github.has_label(&label) {
            Ok(true) => {}
            Ok(false) => notes.push(format!(
                "the label {label} does not exist yet; goldgate creates it when it is needed"
            )),
            Err(error) if error.is_denied() => {
                notes.push("the token may not read the labels".to_owned())
            }
            Err(error) => return Err(unanswered(error)),
        }
    }
    Ok(())
}

/// Checks that every action and image of a gate can be used, and quickly.
fn images(
    github: &GitHub,
    gates: &[GateStep<'_>],
    problems: &mut Diagnostics,
    notes: &mut Vec<String>,
) -> Result<(), CliError> {
    let mut seen = BTreeSet::new();
    for gate in gates {
        let uses = gate.step.uses.as_deref().unwrap_or_default();
        // A local action is what the checkout has, and setup downloads a binary.
        if uses.is_empty() || uses.starts_with('.') || !seen.insert(uses) {
            continue;
        }
        let (name, reference) = action_of(uses);
        let image = match uses.strip_prefix("docker://") {
            Some(image) => Some(image.to_owned()),
            None => {
                let reference = reference.unwrap_or_default();
                if !is_commit(reference) {
                    problems.push(rules::not_pinned(gate.workflow, gate.step, uses));
                }
                match github.action_file(name, reference) {
                    Ok(Some(text)) => image_of(&text, uses, gate, problems),
                    Ok(None) => {
                        let message =
                            format!("{uses} does not exist, or the token may not read it");
                        let help = "write the commit of a release after the @";
                        problems.push(gate.problem_at_step(Code::NO_ACTION, message, help));
                        None
                    }
                    Err(error) if !error.is_denied() => return Err(unanswered(error)),
                    Err(_) => {
                        notes.push(format!("the token may not read {name}"));
                        None
                    }
                }
            }
        };
        let Some(image) = image else { continue };
        if let ImageState::Refused(status) = github.image_state(&image)? {
            let message = format!("{image} cannot be pulled without a login (HTTP {status})");
            let help = "ask the owner to make the package public";
            problems.push(gate.problem_at_step(Code::IMAGE_REFUSED, message, help));
        }
    }
    Ok(())
}

/// The image of an action; `None` if it has none, with a problem if every job would build it.
fn image_of(
    text: &str,
    uses: &str,
    gate: &GateStep<'_>,
    problems: &mut Diagnostics,
) -> Option<String> {
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("image:"))?;
    let image = line.trim().trim_matches(['\'', '"']);
    if image == "Dockerfile" {
        let message =
            format!("{uses} builds goldgate from source in every job, which takes minutes");
        let help = "write the commit of a release after the @";
        problems.push(gate.problem_at_step(Code::BUILDS_FROM_SOURCE, message, help));
    }
    image.strip_prefix("docker://").map(str::to_owned)
}
