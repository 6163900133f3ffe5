//! `mode: publish`: writes the comment for a run that had no right to write it, from the run's report.
//!
//! The report is untrusted. The pull request and the commit come from the event and from GitHub, the comment is rendered from the
//! report's values, and nothing of the pull request is checked out or executed.

use std::path::Path;

use super::comment;
use super::comment::{CommentInput, CommentOutcome};
use super::environment::{github, payload};
use super::inputs::{ActionInputs, bad_input};
use super::job_output::add_to_summary;
use super::links::addresses;
use crate::app::cli_error::CliError;
use crate::files::SourceText;
use crate::format::archive::ArchiveLimits;
use crate::format::finished_run::FinishedRun;
use crate::format::{archive, finished_run};
use crate::model::{BranchOrigin, InputLimit, PullRequest, RepoPath, Report, RunNumber};
use crate::publish::ReportOrigin;
use crate::render::line;
use crate::world::{GitHub, GitHubError, OpenPull, WorkflowRun, World, append};
use crate::{publish, report};

/// The artifact name that the documented workflow uploads.
const ARTIFACT: &str = "goldgate-report";
/// The largest artifact to download, in bytes.
const DOWNLOAD: u64 = InputLimit::ARTIFACT.most;
/// Limits for reading the archive: one file.
const LIMITS: ArchiveLimits = ArchiveLimits {
    entries: InputLimit::ARCHIVE_ENTRIES.count(),
    file: InputLimit::PUBLISHED.most,
    kept: InputLimit::PUBLISHED.most,
    inflated: InputLimit::PUBLISHED.most + 1,
};

/// Why nothing is published.
enum Unpublished {
    /// Nothing to publish, or no longer: exit code 0.
    Idle(String),
    /// The run's report is not acceptable: exit code 3.
    Refused(String),
    /// A request failed.
    Failed(anyhow::Error),
}

impl Unpublished {
    fn of(refusal: GitHubError, permission: &str) -> Self {
        match refusal {
            GitHubError::Failed(error) | GitHubError::Unusable(error) => Self::Failed(error),
            GitHubError::Refused(_) | GitHubError::Missing => {
                Self::Failed(refusal.explained("GitHub refused the request", permission))
            }
        }
    }
}

/// Publishes the report of the run that the event names. Returns the exit code.
///
/// # Errors
/// Bad inputs, or a failed request.
pub fn publish_report(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let finished = payload(&world.env)?
        .map(|source| finished_run::read_finished_run(&source))
        .transpose()?
        .flatten();
    let Some(finished) = finished else {
        return Err(bad_input(
            "mode \"publish\" needs the event workflow_run",
            "start the workflow with on: workflow_run",
        )
        .into());
    };
    let Some(github) = github(&world.env)? else {
        return Err(bad_input("mode \"publish\" needs a token", "set the input token").into());
    };
    match write_comment(world, inputs, &github, &finished) {
        Ok(CommentOutcome::Written(url)) => print_sentence(
            world,
            "notice",
            &format!("published the report of run {}: {url}", finished.id),
            0,
            &url,
        ),
        Ok(CommentOutcome::Left) => {
            print_sentence(world, "notice", "the comment is left unchanged", 0, "")
        }
        // A warning has already given the cause. Writing the comment is the only task of this mode, so this is an error.
        Ok(CommentOutcome::Failed) => {
            print_sentence(world, "error", "the report is not published", 3, "")
        }
        Err(Unpublished::Idle(why)) => print_sentence(
            world,
            "notice",
            &format!("nothing is published: {why}"),
            0,
            "",
        ),
        Err(Unpublished::Refused(why)) => print_sentence(
            world,
            "error",
            &format!("the report is refused: {why}"),
            3,
            "",
        ),
        Err(Unpublished::Failed(error)) => Err(error.into()),
    }
}

/// Writes a sentence to the log and the summary, and the output `comment-url`. Returns the exit code.
fn print_sentence(
    world: &World,
    level: &str,
    sentence: &str,
    code: u8,
    url: &str,
) -> Result<u8, CliError> {
    let sentence = line(sentence, 500);
    world.command(&format!(
        "::{level} title=goldgate::{}\n",
        sentence.replace('%', "%25")
    ));
    add_to_summary(
        world,
        &format!("{}\n", crate::render::inline(&sentence, 500)),
    )?;
    if let Some(file) = world.env.get("GITHUB_OUTPUT") {
        append(Path::new(file), &format!("comment-url={url}\n"))?;
    }
    Ok(code)
}

fn write_comment(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    finished: &FinishedRun,
) -> Result<CommentOutcome, Unpublished> {
    let run = github
        .workflow_run(finished.id)
        .map_err(|refusal| Unpublished::of(refusal, "actions: read"))?;
    if run.head != finished.head {
        return Err(Unpublished::Refused(
            "the commit in the event is not the commit of the run".to_owned(),
        ));
    }
    if run.event != "pull_request" {
        let what = format!(
            "run {} was started by {}; only runs of pull_request are published",
            run.id, run.event
        );
        return Err(Unpublished::Idle(what));
    }
    let pull = pull_of(github, &run)?;
    let mut report = report_of(github, inputs, &run)?;
    // The job that wrote it did not know the secrets of this one.
    report::redact(&mut report, &world.redactor());
    let pull_request = PullRequest {
        number: pull.number,
        head: run.head.clone(),
        base: pull.base,
        origin: BranchOrigin::Fork,
    };
    let links = addresses(&world.env, &report, Some(&run.id.to_string()));
    let number = RunNumber {
        run: run.id,
        attempt: run.attempt,
    };
    let input = CommentInput {
        report: &report,
        links: &links,
        run: number,
        origin: ReportOrigin::Untrusted,
        current_head: None,
    };
    Ok(comment::comment(
        world,
        inputs,
        &pull_request,
        Some(github),
        &input,
    ))
}

/// Finds the pull request of a run. For a fork the event does not name it, and the report is not trusted for it.
fn pull_of(github: &GitHub, run: &WorkflowRun) -> Result<OpenPull, Unpublished> {
    let (Some(owner), Some(branch), Some(from)) =
        (&run.head_owner, &run.branch, run.head_repository)
    else {
        return Err(Unpublished::Idle(
            "the repository of the run's commit does not exist any more".to_owned(),
        ));
    };
    let open = github
        .open_pulls(owner, branch)
        .map_err(|refusal| Unpublished::of(refusal, "pull-requests: write"))?;
    let of_run = open
        .into_iter()
        .filter(|pull| pull.head_repository == Some(from));
    let (mut at_head, moved): (Vec<OpenPull>, Vec<OpenPull>) =
        of_run.partition(|pull| pull.head == run.head);
    match (at_head.len(), moved.first()) {
        (1, _) => Ok(at_head.remove(0)),
        (0, Some(pull)) => Err(Unpublished::Idle(format!(
            "the head of pull request {} is newer than the run's commit",
            pull.number
        ))),
        (0, None) => Err(Unpublished::Idle(
            "no open pull request has the run's commit as head".to_owned(),
        )),
        // Each pull request has a run on this commit, and only the untrusted report could say which run belongs to which.
        (count, _) => Err(Unpublished::Idle(format!(
            "{count} open pull requests have the run's commit as head"
        ))),
    }
}

/// Downloads and validates the report of a run.
fn report_of(
    github: &GitHub,
    inputs: &ActionInputs,
    run: &WorkflowRun,
) -> Result<Report, Unpublished> {
    let needs = |refusal| Unpublished::of(refusal, "actions: read");
    let config = inputs
        .config_file()
        .map_err(|problem| Unpublished::Refused(problem.to_string()))?;
    let mut found = github
        .artifacts(run.id, &inputs.key_of(&config).artifact())
        .map_err(needs)?;
    if found.is_empty() {
        found = github.artifacts(run.id, ARTIFACT).map_err(needs)?;
    }
    // An attempt before this one has uploaded another result. All these times are in one format in UTC, so they compare as texts.
    found.retain(|artifact| {
        artifact
            .at
            .as_ref()
            .zip(run.started_at.as_ref())
            .is_none_or(|(at, started)| at >= started)
    });
    let Some(artifact) = found.first() else {
        return Err(Unpublished::Idle(format!(
            "run {} has no artifact {ARTIFACT}",
            run.id
        )));
    };
    if artifact.expired {
        return Err(Unpublished::Idle(format!(
            "the artifact {ARTIFACT} of run {} has expired",
            run.id
        )));
    }
    let bytes = github.artifact(artifact.id, DOWNLOAD).map_err(needs)?;
    let file = RepoPath::root().child("report.json");
    let mut unpacked = archive::zip(&bytes, LIMITS, &|path| *path == file)
        .map_err(|refused| Unpublished::Refused(refused.to_string()))?;
    let Some(bytes) = unpacked.files.remove(&file) else {
        return Err(Unpublished::Refused(format!(
            "the artifact {ARTIFACT} has no {file}"
        )));
    };
    let source = SourceText::new(file, bytes)
        .map_err(|problem| Unpublished::Refused(problem.to_string()))?;
    let report = publish::admitted(&source, &run.head)
        .map_err(|rejected| Unpublished::Refused(rejected.to_string()))?;
    if report.config.as_ref() != Some(&config) {
        let found = report
            .config
            .as_ref()
            .map_or("an unnamed config".to_owned(), ToString::to_string);
        return Err(Unpublished::Refused(format!(
            "it is for {found}, but this job publishes {config}"
        )));
    }
    Ok(report)
}
