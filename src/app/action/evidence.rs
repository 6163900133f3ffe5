//! The result of a run on a commit, out of the artifact that the run left behind. It is data that a stranger may have written.

use crate::format::MAX_FILE_BYTES;
use crate::format::SourceText;
use crate::format::archive;
use crate::format::archive::Limits;
use crate::format::baseline_v1;
use crate::format::report_v1;
use crate::model::Baseline;
use crate::model::RepoPath;
use crate::model::Report;
use crate::publish::approval::NoResult;
use crate::world::Artifact;
use crate::world::GitHub;
use crate::world::Refusal;
use crate::world::WorkflowRun;

/// The artifact that a run uploads.
const ARTIFACT: &str = "goldgate-report";
/// The events whose runs are on a pull request's head.
const EVENTS: [&str; 2] = ["pull_request", "workflow_dispatch"];
/// Runs of one event that are looked through for the artifact.
const RUNS: usize = 20;
/// The largest archive that is fetched, in bytes.
const ARCHIVE: u64 = 256 * 1024 * 1024;
/// How much of it is read.
const LIMITS: Limits =
    Limits { entries: 10_000, file: MAX_FILE_BYTES, kept: 2 * MAX_FILE_BYTES, inflated: 4 * MAX_FILE_BYTES };

/// What a run left behind.
pub struct Evidence {
    /// Its report, on the commit that was asked for.
    pub report: Report,
    /// The baseline that it proposes.
    pub written: Baseline,
    /// The file of its workflow.
    pub workflow: String,
}

/// The event whose workflow is the base branch's: a pull request cannot have written what its runs left behind.
const TRUSTED: &str = "pull_request_target";

/// What was left behind on a commit: by the trusted gate, else by the newest finished run.
///
/// # Errors
/// Why GitHub did not answer.
pub fn evidence(github: &GitHub, commit: &str) -> Result<Result<Evidence, NoResult>, Refusal> {
    if let Some(found) = of_trusted(github, commit)? {
        return Ok(found);
    }
    let mut runs: Vec<WorkflowRun> = Vec::new();
    for event in EVENTS {
        // A server that does not know the filter gives them all.
        let on_commit = github.runs_on(commit, event)?.into_iter();
        runs.extend(on_commit.filter(|run| run.head == commit && run.event == event).take(RUNS));
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.id));
    for run in runs {
        let left = github.artifacts(run.id, ARTIFACT)?;
        if let Some(artifact) = left.iter().find(|artifact| !artifact.expired) {
            return fetched(github, artifact, commit, run);
        }
    }
    Ok(Err(NoResult::Missing))
}

/// What the trusted gate left behind. GitHub keeps its runs under the base branch's commit, so its artifact says in its name
/// which head it is about; a fork's own run may use that name as well, but not that event.
fn of_trusted(github: &GitHub, commit: &str) -> Result<Option<Result<Evidence, NoResult>>, Refusal> {
    let mut left = github.artifacts_called(&format!("{ARTIFACT}-{commit}"))?;
    left.retain(|artifact| !artifact.expired);
    for artifact in left.iter().take(RUNS) {
        let Some(id) = artifact.run else { continue };
        let run = match github.workflow_run(id) {
            Ok(run) if run.event == TRUSTED && run.conclusion.is_some() => run,
            Ok(_) | Err(Refusal::Missing) => continue,
            Err(other) => return Err(other),
        };
        return fetched(github, artifact, commit, run).map(Some);
    }
    Ok(None)
}

fn fetched(
    github: &GitHub,
    artifact: &Artifact,
    commit: &str,
    run: WorkflowRun,
) -> Result<Result<Evidence, NoResult>, Refusal> {
    match github.artifact(artifact.id, ARCHIVE) {
        Ok(bytes) => Ok(read(&bytes, commit, run)),
        Err(Refusal::Failed(error)) => Ok(Err(NoResult::Unusable(format!("{error:#}")))),
        Err(other) => Err(other),
    }
}

fn read(bytes: &[u8], commit: &str, run: WorkflowRun) -> Result<Evidence, NoResult> {
    let unusable = |why: &dyn ToString| NoResult::Unusable(why.to_string());
    let (report, proposed) = (RepoPath::root().child("report.json"), RepoPath::root().child("proposed-baseline.json"));
    let wanted = |file: &RepoPath| *file == report || *file == proposed;
    let mut unpacked = archive::zip(bytes, LIMITS, &wanted).map_err(|why| unusable(&why))?;
    let mut text = |file: &RepoPath| {
        let bytes = unpacked.files.remove(file).ok_or_else(|| unusable(&format!("it has no {file}")))?;
        SourceText::new(file.clone(), bytes).map_err(|problem| unusable(&problem))
    };
    let written = baseline_v1::read(&text(&proposed)?).map_err(|problem| unusable(&problem))?;
    let report = report_v1::read(&text(&report)?).map_err(|problem| unusable(&problem))?;
    match report.commit.as_deref() == Some(commit) {
        true => Ok(Evidence { report, written, workflow: run.workflow }),
        false => Err(NoResult::OtherCommit),
    }
}
