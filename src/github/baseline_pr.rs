//! `mode: baseline-pr`: maintains one pull request with the moved baseline of the default branch, after a run in the same job.

use std::path::Path;

use super::approval::approvals_of_worse_numbers;
use super::base_branch::known_default;
use super::configs::configs;
use super::inputs::{ActionInputs, inside, path_of_input};
use super::job_output::log;
use super::requests::{needs, open};
use crate::diag::{Code, Diagnostic};
use crate::files::{Files, SourceText, sha256_hex};
use crate::format::{baseline_v1, report_v1};
use crate::github::client::{ClosedPull, FileCommit, GitHub, NotCommitted};
use crate::model::{ApprovalPolicy, Baseline, Config, PullRequestDetails, RepoPath, Report};
use crate::publish;
use crate::publish::baseline_pr;
use crate::publish::baseline_pr::{
    AcceptedNumbers, BaselinePrInput, BaselinePrPlan, CLOSED, DeclinedBaselinePr, OpenBaselinePr,
    TITLE,
};
use crate::render::CliError;
use crate::suites::read_config;
use crate::workspace::baseline;
use crate::workspace::baseline::Replaced;
use crate::world::{Disk, World};

const PULLS: &str = "pull-requests: write";
const CONTENTS: &str = "contents: write";

/// The branches, commit and file that the mode works on.
struct BaselineBranch<'a> {
    world: &'a World,
    inputs: &'a ActionInputs,
    github: &'a GitHub,
    /// The default branch.
    into: String,
    /// The measured commit of the default branch.
    commit: &'a str,
    /// Its config.
    config: Option<Config>,
    /// The baseline file.
    file: RepoPath,
    /// The branch of the pull request.
    branch: String,
}

/// Reads the report and the baseline, plans and acts. Returns the exit code.
///
/// # Errors
/// Bad input, or a failed request.
pub fn baseline_pr(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let commit = world.env.get("GITHUB_SHA").unwrap_or_default();
    let github = open(&world.env)?;
    let Some(into) = default_branch(world, &github)? else {
        return Ok(0);
    };
    for inputs in configs(inputs, None, Some(&github), &[commit])? {
        maintain(world, &inputs, &github, &into, commit)?;
    }
    Ok(0)
}

/// Maintains the pull request of one config.
fn maintain(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    into: &str,
    commit: &str,
) -> Result<(), CliError> {
    let report = measured(world, inputs, commit)?;
    let config = config_at(inputs, github, commit)?;
    let file = match &inputs.baseline {
        Some(path) => Some(path_of_input("baseline", path)?),
        None => config.as_ref().and_then(|config| config.baseline.clone()),
    };
    let file = file.ok_or_else(|| no_baseline(inputs))?;
    let target = BaselineBranch {
        world,
        inputs,
        github,
        into: into.to_owned(),
        commit,
        config,
        file,
        branch: inputs.key(&report).branch(),
    };
    maintain_pull_request(&target, &report)
}

fn no_baseline(inputs: &ActionInputs) -> Diagnostic {
    let help = "add baseline: baselines/latest.json, or correct the input config";
    Diagnostic::of_file(
        &inputs.config,
        Code::NO_BASELINE,
        "the config of this commit names no baseline",
        help,
    )
}

/// Returns the default branch if the job runs on it. Numbers of other branches do not become a baseline.
fn default_branch(world: &World, github: &GitHub) -> Result<Option<String>, CliError> {
    let default = known_default(github)?;
    let here = world
        .env
        .get("GITHUB_REF")
        .and_then(|name| name.strip_prefix("refs/heads/"));
    if here == Some(default.as_str()) {
        return Ok(Some(default));
    }
    log(
        world,
        "this is not the default branch, so the baseline is not updated",
    );
    Ok(None)
}

/// Reads the report that the previous step wrote.
fn measured(world: &World, inputs: &ActionInputs, commit: &str) -> Result<Report, CliError> {
    let workspace = world.env.get("GITHUB_WORKSPACE").unwrap_or(".");
    let out = inside(workspace, &inputs.out);
    let shown = format!("{}/report.json", inputs.out);
    let Ok(disk) = Disk::open(Path::new(&out)) else {
        return Err(no_report(
            &shown,
            "the report does not exist",
            "add a step with mode: run and the same input out before this one",
        ));
    };
    let report = report_v1::read_report(&disk.text(&RepoPath::root().child("report.json"))?)?;
    let config = inputs.config_file()?;
    if report.config.as_ref() != Some(&config) {
        let report_config = report
            .config
            .as_ref()
            .map_or("an unnamed config".to_owned(), ToString::to_string);
        let message = format!("the report is for {report_config}, but this step is for {config}");
        return Err(no_report(
            &shown,
            &message,
            "give both steps the same input config",
        ));
    }
    if report.commit.as_deref() != Some(commit) {
        return Err(no_report(
            &shown,
            "the report is for another commit than this job",
            "grade the commit in the same job",
        ));
    }
    Ok(report)
}

fn no_report(shown: &str, message: &str, help: &str) -> CliError {
    Diagnostic::of_file(shown, Code::NO_REPORT, message, help).into()
}

fn maintain_pull_request(target: &BaselineBranch<'_>, report: &Report) -> Result<(), CliError> {
    let BaselineBranch {
        world,
        inputs,
        github,
        into,
        commit,
        config,
        file,
        branch: from,
    } = target;
    let unread = needs("the baseline cannot be read", CONTENTS);
    let bytes = github.file(file, commit).map_err(&unread)?;
    let committed = baseline_of(file, bytes.as_ref())?;
    // Under the names of today: what a suite or an agent was does not stay in the file.
    let current = committed.clone().map(|committed| match config {
        Some(config) => committed.renamed(config),
        None => committed,
    });
    let head = github
        .branch(from)
        .map_err(needs("the baseline's branch cannot be read", CONTENTS))?;
    let branch = match &head {
        Some(head) => {
            let bytes = github.file(file, head).map_err(&unread)?;
            baseline_of(file, bytes.as_ref()).ok().flatten()
        }
        None => None,
    };
    if is_newer(target, branch.as_ref())? {
        log(
            world,
            &format!("{from} has the numbers of a newer commit already; it is left alone"),
        );
        return Ok(());
    }
    let pulls = github
        .own_open_pulls(from)
        .map_err(needs("the pull requests cannot be read", PULLS))?;
    // Somebody may have opened one of the same branch into another one.
    let pull = match pulls
        .iter()
        .filter(|pull| pull.into == *into)
        .map(|pull| pull.number)
        .min()
    {
        Some(number) => Some(
            github
                .pull(number)
                .map_err(needs("the pull request cannot be read", PULLS))?,
        ),
        None => None,
    };
    let declined = match &pull {
        Some(_) => None,
        None => declined(target)?,
    };
    let by = github.identity().unwrap_or("goldgate");
    let mut moves = publish::moves(current.as_ref(), report);
    let accepted = if moves.iter().any(publish::is_worse) {
        let policy = match config {
            Some(config) => config.approval.clone(),
            None => ApprovalPolicy::default(),
        };
        approvals_of_worse_numbers(
            world,
            inputs,
            github,
            &policy,
            into,
            (current.as_ref(), report),
        )?
    } else {
        Vec::new()
    };
    // Nobody approved worse samples: those of the baseline stay.
    let replaced = if accepted.is_empty() {
        let worse = baseline::kept_because_worse(current.as_ref(), report);
        for (who, why) in &worse {
            log(
                world,
                &format!("{who} {why} and nobody approved that, so its entry stays"),
            );
        }
        moves.retain(|moved| {
            let who = format!("{}/{}", moved.suite, moved.agent);
            worse.iter().all(|(worse, _)| *worse != who)
        });
        Replaced::Better
    } else {
        Replaced::BetterAndWorse
    };
    let proposed: Baseline = baseline::proposed(current.as_ref(), report, replaced);
    let plan = baseline_pr::plan(&BaselinePrInput {
        before: committed.as_ref(),
        before_sha256: bytes.as_ref().map(|bytes| sha256_hex(bytes)),
        proposed: &proposed,
        moves: &moves,
        accepted: accepted
            .into_iter()
            .map(|merge| AcceptedNumbers {
                by: merge.approval.by,
                reason: merge.approval.reason,
                number: merge.number,
            })
            .collect(),
        branch: branch.as_ref(),
        open: pull.as_ref().map(|pull| OpenBaselinePr {
            number: pull.number,
            description: &pull.description,
        }),
        declined: declined
            .as_ref()
            .map(|(number, baseline)| DeclinedBaselinePr {
                number: *number,
                baseline,
            }),
        by,
        at: &world.clock.now(),
    });
    carry_out(target, pull.as_ref(), plan)
}

/// The config of the measured commit.
fn config_at(
    inputs: &ActionInputs,
    github: &GitHub,
    commit: &str,
) -> Result<Option<Config>, CliError> {
    let file = inputs.config_file()?;
    let bytes = github
        .file(&file, commit)
        .map_err(needs("the config cannot be read", CONTENTS))?;
    let Some(bytes) = bytes else { return Ok(None) };
    Ok(Some(read_config(&SourceText::new(file, bytes)?)?))
}

/// Acts.
fn carry_out(
    target: &BaselineBranch<'_>,
    pull: Option<&PullRequestDetails>,
    plan: BaselinePrPlan,
) -> Result<(), CliError> {
    let BaselineBranch { world, github, .. } = target;
    match plan {
        BaselinePrPlan::Nothing => {
            log(world, "no number changed");
            Ok(())
        }
        BaselinePrPlan::Close(number) => {
            log(
                world,
                &format!(
                    "the numbers equal the baseline again, so pull request {number} is closed"
                ),
            );
            let description = pull
                .map(|pull| pull.description.trim_end())
                .unwrap_or_default();
            github
                .close_pull(number, &format!("{description}\n\n{CLOSED}\n"))
                .map_err(needs("the pull request cannot be closed", PULLS))?;
            Ok(())
        }
        BaselinePrPlan::Declined(number) => {
            let message = format!(
                "pull request {number} with these numbers was closed, so none is opened; reopen it to take them"
            );
            log(world, &message);
            Ok(())
        }
        BaselinePrPlan::Keep {
            commit: baseline,
            number,
            description,
        } => {
            let head = pull.map(|pull| pull.head.as_str());
            if let Some(baseline) = baseline {
                commit_baseline(target, head, &baseline)?;
            }
            match number {
                Some(number) => {
                    let stated = pull.map(|pull| pull.description.trim());
                    if stated != Some(description.trim()) {
                        let described = github.describe_pull(number, TITLE, &description);
                        described.map_err(needs("the pull request cannot be updated", PULLS))?;
                    }
                    log(
                        world,
                        &format!("pull request {number} has the moved numbers"),
                    );
                }
                None => open_pull_request(target, &description)?,
            }
            Ok(())
        }
    }
}

/// Returns the newest pull request from the branch with the baseline at its head, if somebody closed it without a merge. One that goldgate
/// closed says so in its description.
fn declined(target: &BaselineBranch<'_>) -> Result<Option<(u64, Baseline)>, CliError> {
    let BaselineBranch {
        github,
        file,
        branch,
        into,
        ..
    } = target;
    let closed = github
        .newest_closed_pull(branch, into)
        .map_err(needs("the pull requests cannot be read", PULLS))?;
    let Some(ClosedPull {
        number,
        head,
        description,
        is_merged: false,
    }) = closed
    else {
        return Ok(None);
    };
    if description.trim_end().ends_with(CLOSED) {
        return Ok(None);
    }
    let bytes = github
        .file(file, &head)
        .map_err(needs("the baseline cannot be read", CONTENTS))?;
    Ok(baseline_of(file, bytes.as_ref())
        .ok()
        .flatten()
        .map(|baseline| (number, baseline)))
}

/// Whether the branch has the baseline of a commit on top of this one: the job of an older push was started again.
fn is_newer(target: &BaselineBranch<'_>, branch: Option<&Baseline>) -> Result<bool, CliError> {
    let measured = branch.and_then(|branch| branch.commit.as_deref());
    let Some(measured) = measured.filter(|measured| *measured != target.commit) else {
        return Ok(false);
    };
    match target.github.has_commit(measured, target.commit) {
        Err(error) if error.is_denied() => Ok(false),
        known => known.map_err(needs("the commits cannot be compared", CONTENTS)),
    }
}

fn open_pull_request(target: &BaselineBranch<'_>, description: &str) -> Result<(), CliError> {
    let opened = target
        .github
        .open_pull(&target.branch, &target.into, TITLE, description);
    let message = "the pull request cannot be opened (the repository's settings must also allow workflows to do so)";
    let opened = opened.map_err(needs(message, PULLS))?;
    log(target.world, &format!("opened pull request {opened}"));
    Ok(())
}

/// Replaces the branch by one commit on top of the measured one. Where somebody committed other files to the open pull request, nothing is
/// replaced: the commit goes on top of its head.
fn commit_baseline(
    target: &BaselineBranch<'_>,
    head: Option<&str>,
    baseline: &Baseline,
) -> Result<String, CliError> {
    let BaselineBranch {
        github,
        branch,
        commit,
        file,
        ..
    } = target;
    let text = baseline_v1::written(baseline);
    let file_commit = FileCommit {
        file,
        text: &text,
        headline: TITLE,
    };
    let unwritten = needs("the baseline's branch cannot be written", CONTENTS);
    let edited = match head {
        Some(head) => has_other_files(target, head)?.then_some(head),
        None => None,
    };
    let Some(head) = edited else {
        return github
            .put_on(branch, commit, &file_commit)
            .map_err(unwritten);
    };
    github
        .commit_on(branch, head, &file_commit)
        .map_err(|error| match error {
            NotCommitted::Refused(why) => unwritten(why),
            NotCommitted::Moved => anyhow::anyhow!(
                "somebody pushed to {branch} while this job ran; start the job again"
            )
            .into(),
        })
}

/// Whether a commit changes other files than the baseline since it left the measured commit.
fn has_other_files(target: &BaselineBranch<'_>, head: &str) -> Result<bool, CliError> {
    let compared = target.github.compare(target.commit, head);
    let compared = compared.map_err(needs("the baseline's branch cannot be compared", CONTENTS))?;
    Ok(compared
        .files
        .is_none_or(|files| files.iter().any(|changed| changed != target.file.as_str())))
}

/// Parses a baseline from a file's content; `None` without content.
///
/// # Errors
/// An invalid baseline.
fn baseline_of(file: &RepoPath, bytes: Option<&Vec<u8>>) -> Result<Option<Baseline>, CliError> {
    let Some(bytes) = bytes else { return Ok(None) };
    Ok(Some(baseline_v1::read_baseline(&SourceText::new(
        file.clone(),
        bytes.clone(),
    )?)?))
}
