//! What `mode: record` needs: an environment that keeps the models' keys, and a step that records.

use super::gate_step::GateStep;
use crate::diag::{Code, Diagnostic, Diagnostics, ReadFailure};
use crate::files::Files;
use crate::github::client::{EnvironmentUse, GitHub, GitHubError};
use crate::github::inputs::ActionMode;
use crate::model::{RecordingTrust, RepoPath};
use crate::render::CliError;
use crate::suites::read_config;
use crate::world::Disk;

/// Checks the environments of the jobs that record, and who may record for the configs that trust CI alone.
///
/// # Errors
/// A config that cannot be read, or a failed request.
pub fn check_recording(
    github: &GitHub,
    disk: &Disk,
    gates: &[GateStep<'_>],
    problems: &mut Diagnostics,
    notes: &mut Vec<String>,
) -> Result<(), CliError> {
    let recording: Vec<&GateStep<'_>> = gates
        .iter()
        .filter(|gate| gate.mode() == Some(ActionMode::Record))
        .collect();
    for gate in &recording {
        environment(github, gate, problems, notes)?;
    }
    let mut seen: Vec<RepoPath> = Vec::new();
    for gate in gates.iter().filter(|gate| gate.decides()) {
        let Some(file) = gate.config().filter(|file| !seen.contains(file)) else {
            continue;
        };
        let source = match disk.text(&file) {
            Ok(source) => source,
            Err(problem) if problem.is_read_failure(ReadFailure::MissingFile) => continue,
            Err(problem) => return Err(problem.into()),
        };
        let config = read_config(&source)?;
        if config.recordings == RecordingTrust::Ci {
            recorder(&file, &recording, problems);
        }
        seen.push(file);
    }
    Ok(())
}

/// Checks that only chosen branches may use the keys of a job.
fn environment(
    github: &GitHub,
    gate: &GateStep<'_>,
    problems: &mut Diagnostics,
    notes: &mut Vec<String>,
) -> Result<(), CliError> {
    let Some(name) = gate.job.environment.as_deref() else {
        let message =
            "this job has no environment, so a workflow on any branch can read the models' keys"
                .to_owned();
        problems.push(no_environment(
            gate,
            message,
            "add `environment: goldgate-record`, and keep the keys in it",
        ));
        return Ok(());
    };
    if name.contains("${{") {
        return Ok(());
    }
    match github.environment(name) {
        Ok(Some(EnvironmentUse::SomeBranches)) => {}
        Ok(Some(EnvironmentUse::AnyBranch)) => {
            let message = format!(
                "a workflow on any branch can use the environment {name} and read the models' keys"
            );
            problems.push(no_environment(gate, message, "restrict it to the default branch: Settings, Environments, Deployment branches and tags"));
        }
        Ok(None) => {
            let message = format!(
                "the environment {name} does not exist, and GitHub creates it without a restriction"
            );
            problems.push(no_environment(
                gate,
                message,
                "create it, keep the models' keys in it, and restrict it to the default branch",
            ));
        }
        Err(error) if error.is_denied() => {
            notes.push(format!("the token may not read the environment {name}"))
        }
        Err(error) => return Err(unanswered(error)),
    }
    Ok(())
}

fn no_environment(gate: &GateStep<'_>, message: String, help: &str) -> Diagnostic {
    gate.problem(Code::NO_ENVIRONMENT, message, help)
        .at(gate.job.at)
}

/// Checks that a workflow records a config of which only its recordings count.
fn recorder(file: &RepoPath, recording: &[&GateStep<'_>], problems: &mut Diagnostics) {
    let of_config: Vec<&&GateStep<'_>> = recording
        .iter()
        .filter(|gate| gate.config().is_none_or(|config| config == *file))
        .collect();
    const NUMBER: &str = "github.event.pull_request.number";
    for gate in of_config
        .iter()
        .filter(|gate| !gate.workflow.run_name.contains(NUMBER))
    {
        let message = "the name of its runs does not say which pull request they record, so the gate does not find what they recorded";
        let help = format!("write run-name: goldgate record #${{{{ {NUMBER} }}}}");
        problems.push(gate.problem(Code::NO_RUN_NAME, message.to_owned(), help));
    }
    if of_config.is_empty() {
        let message = "only recordings of the recording workflow count, but no workflow has a step with mode: record for this config";
        let help = "copy docs/workflows/goldgate-record.yml of goldgate to .github/workflows";
        problems.push(Diagnostic::of_file(file, Code::NO_RECORDER, message, help));
    }
}

/// A failed request, as the error of the command.
pub fn unanswered(refusal: GitHubError) -> CliError {
    if refusal.is_denied() {
        return anyhow::anyhow!("the repository cannot be read: the token needs access to it")
            .into();
    }
    refusal
        .explained("the repository cannot be read", "metadata: read")
        .into()
}
