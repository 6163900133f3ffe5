//! What `mode: record` needs: an environment that keeps the models' keys, and an account whose recordings count.

use super::gate_step::GateStep;
use crate::app::cli_error::CliError;
use crate::app::github::inputs::ActionMode;
use crate::diag::{Code, Diagnostic, Diagnostics, ReadFailure};
use crate::files::Files;
use crate::model::{DEFAULT_RECORDER, RecordingTrust, RepoPath};
use crate::suites::read_config;
use crate::world::{Disk, EnvironmentUse, GitHub, GitHubError};

/// The tokens of the workflow itself, without spaces.
const OWN_TOKENS: [&str; 3] = ["", "${{github.token}}", "${{secrets.GITHUB_TOKEN}}"];

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
        if let RecordingTrust::Ci(account) = &config.recordings {
            recorder(&file, account, &recording, problems);
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
    let mut problem = |what: String, help: &str| {
        problems.push(
            gate.problem(Code::NO_ENVIRONMENT, what, help)
                .at(gate.job.at),
        );
    };
    let Some(name) = gate.job.environment.as_deref() else {
        let what =
            "this job has no environment, so a workflow on any branch can read the models' keys"
                .to_owned();
        problem(
            what,
            "add `environment: goldgate-record`, and keep the keys in it",
        );
        return Ok(());
    };
    if name.contains("${{") {
        return Ok(());
    }
    match github.environment(name) {
        Ok(Some(EnvironmentUse::SomeBranches)) => {}
        Ok(Some(EnvironmentUse::AnyBranch)) => {
            let what = format!(
                "a workflow on any branch can use the environment {name} and read the models' keys"
            );
            problem(
                what,
                "restrict it to the default branch: Settings, Environments, Deployment branches and tags",
            );
        }
        Ok(None) => {
            let what = format!(
                "the environment {name} does not exist, and GitHub creates it without a restriction"
            );
            problem(
                what,
                "create it, keep the models' keys in it, and restrict it to the default branch",
            );
        }
        Err(error) if error.is_denied() => {
            notes.push(format!("the token may not read the environment {name}"))
        }
        Err(error) => return Err(unanswered(error)),
    }
    Ok(())
}

/// Checks that a workflow records a config as the account whose recordings count.
fn recorder(
    file: &RepoPath,
    account: &str,
    recording: &[&GateStep<'_>],
    problems: &mut Diagnostics,
) {
    let mut own = recording
        .iter()
        .filter(|gate| gate.config().is_none_or(|config| config == *file))
        .peekable();
    if own.peek().is_none() {
        let what = format!(
            "only recordings of {account} count, but no workflow has a step with mode: record for this config"
        );
        let help = "copy docs/workflows/goldgate-record.yml of goldgate to .github/workflows";
        problems.push(Diagnostic::of_file(file, Code::NO_RECORDER, what, help));
    }
    for gate in own {
        let token: String = gate.input("token").split_whitespace().collect();
        let is_own = OWN_TOKENS.contains(&token.as_str());
        if is_own == (account == DEFAULT_RECORDER) {
            continue;
        }
        let writer = if is_own {
            DEFAULT_RECORDER
        } else {
            "the account of its token"
        };
        let what = format!(
            "this step records as {writer}, but {file} counts only recordings of {account}"
        );
        let help = "write the account as recordings: { trust: ci, recorder: … }, or change the input token";
        problems.push(
            gate.problem(Code::OTHER_RECORDER, what, help)
                .at(gate.step.at),
        );
    }
}

/// A failed request, as the error of the command.
pub fn unanswered(refusal: GitHubError) -> CliError {
    match refusal.is_denied() {
        true => {
            anyhow::anyhow!("the repository cannot be read: the token needs access to it").into()
        }
        false => refusal
            .explained("the repository cannot be read", "metadata: read")
            .into(),
    }
}
