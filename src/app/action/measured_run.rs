//! The result of a run on a commit, out of the artifact that the run left behind. It is data that a stranger may have written.

use crate::format::archive::ArchiveLimits;
use crate::format::{MAX_FILE_BYTES, SourceText, archive, baseline_v1, report_v1};
use crate::model::{Baseline, RepoPath, Report};
use crate::publish::ConfigKey;
use crate::publish::approval::NoResult;
use crate::world::{Artifact, GitHub, GitHubError, WorkflowRun};

/// The artifact that the shipped workflows upload.
const ARTIFACT: &str = "goldgate-report";
/// The events whose runs are on a pull request's head.
const EVENTS: [&str; 2] = ["pull_request", "workflow_dispatch"];
/// Runs of one event that are looked through for the artifact.
const RUNS: usize = 20;
/// The largest archive that is fetched, in bytes.
const ARCHIVE: u64 = 256 * 1024 * 1024;
/// How much of it is read.
const LIMITS: ArchiveLimits =
    ArchiveLimits { entries: 10_000, file: MAX_FILE_BYTES, kept: 2 * MAX_FILE_BYTES, inflated: 4 * MAX_FILE_BYTES };

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct RunQuery<'a> {
    /// The commit that was graded.
    pub commit: &'a str,
    /// The config that it was graded with.
    pub config: &'a RepoPath,
    /// The key of the config.
    pub key: &'a ConfigKey,
    /// Only what was uploaded before this time, as GitHub tells it.
    pub before: Option<&'a str>,
}

/// What a run left behind.
pub struct MeasuredRun {
    /// Its report, on the commit and of the config that was asked for.
    pub report: Report,
    /// The baseline that it proposes.
    pub written: Baseline,
    /// The run.
    pub run: WorkflowRun,
    /// When it was uploaded, as GitHub tells it.
    pub at: Option<String>,
}

/// The event whose workflow is the base branch's: a pull request cannot have written what its runs left behind.
const TRUSTED: &str = "pull_request_target";

type FoundRun = Result<MeasuredRun, NoResult>;

/// What was left behind on a commit: by the trusted gate, else by the newest finished run. Reports of other configs are passed by: a
/// repository may have several, and their jobs may be of one run.
///
/// # Errors
/// Why GitHub did not answer.
pub fn evidence(github: &GitHub, query: &RunQuery<'_>) -> Result<FoundRun, GitHubError> {
    let mut foreign = None;
    if let Some(found) = of_trusted(github, query, &mut foreign)? {
        return Ok(found);
    }
    let mut runs: Vec<WorkflowRun> = Vec::new();
    for event in EVENTS {
        // A server that does not know the filter gives them all.
        let on_commit = github.runs_on(query.commit, event)?.into_iter();
        runs.extend(on_commit.filter(|run| run.head == query.commit && run.event == event).take(RUNS));
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.id));
    for run in runs {
        for name in names(&query.key.artifact(), ARTIFACT) {
            let left = github.artifacts(run.id, &name)?;
            let Some(artifact) = left.iter().find(|artifact| query.takes(artifact)) else { continue };
            match fetched(github, artifact, query, run.clone())? {
                Err(NoResult::OtherConfig(of)) => foreign = foreign.or(Some(NoResult::OtherConfig(of))),
                found => return Ok(found),
            }
        }
    }
    Ok(Err(foreign.unwrap_or(NoResult::Missing)))
}

/// The name of a config's own artifact, and the one that stands in every workflow that is shipped.
fn names(own: &str, shipped: &str) -> Vec<String> {
    let mut names = vec![own.to_owned()];
    names.extend((own != shipped).then(|| shipped.to_owned()));
    names
}

impl RunQuery<'_> {
    /// Whether an artifact may be the one. GitHub writes every time in one form, in UTC, so that texts compare as times do.
    fn takes(&self, artifact: &Artifact) -> bool {
        let in_time = self.before.is_none_or(|before| artifact.at.as_deref().is_some_and(|at| at < before));
        !artifact.expired && in_time
    }
}

/// What the trusted gate left behind. GitHub keeps its runs under the base branch's commit, so its artifact says in its name
/// which head it is about; a fork's own run may use that name as well, but not that event.
fn of_trusted(
    github: &GitHub,
    query: &RunQuery<'_>,
    foreign: &mut Option<NoResult>,
) -> Result<Option<FoundRun>, GitHubError> {
    for name in names(&query.key.artifact_of_head(query.commit), &format!("{ARTIFACT}-{}", query.commit)) {
        let left = github.artifacts_called(&name)?;
        for artifact in left.iter().filter(|artifact| query.takes(artifact)).take(RUNS) {
            let Some(id) = artifact.run else { continue };
            let run = match github.workflow_run(id) {
                Ok(run) if run.event == TRUSTED && run.conclusion.is_some() => run,
                Ok(_) | Err(GitHubError::Missing) => continue,
                Err(other) => return Err(other),
            };
            match fetched(github, artifact, query, run)? {
                Err(NoResult::OtherConfig(of)) => *foreign = Some(NoResult::OtherConfig(of)),
                found => return Ok(Some(found)),
            }
        }
    }
    Ok(None)
}

fn fetched(
    github: &GitHub,
    artifact: &Artifact,
    query: &RunQuery<'_>,
    run: WorkflowRun,
) -> Result<FoundRun, GitHubError> {
    match github.artifact(artifact.id, ARCHIVE) {
        Ok(bytes) => Ok(read_measured_run(&bytes, query).map(|(report, written)| MeasuredRun {
            report,
            written,
            run,
            at: artifact.at.clone(),
        })),
        Err(GitHubError::Failed(error)) => Ok(Err(NoResult::Unusable(format!("{error:#}")))),
        Err(other) => Err(other),
    }
}

fn read_measured_run(bytes: &[u8], query: &RunQuery<'_>) -> Result<(Report, Baseline), NoResult> {
    let unusable = |why: &dyn ToString| NoResult::Unusable(why.to_string());
    let (report, proposed) = (RepoPath::root().child("report.json"), RepoPath::root().child("proposed-baseline.json"));
    let wanted = |file: &RepoPath| *file == report || *file == proposed;
    let mut unpacked = archive::zip(bytes, LIMITS, &wanted).map_err(|why| unusable(&why))?;
    let mut text = |file: &RepoPath| {
        let bytes = unpacked.files.remove(file).ok_or_else(|| unusable(&format!("it has no {file}")))?;
        SourceText::new(file.clone(), bytes).map_err(|problem| unusable(&problem))
    };
    let written = baseline_v1::read_baseline(&text(&proposed)?).map_err(|problem| unusable(&problem))?;
    let report = report_v1::read_report(&text(&report)?).map_err(|problem| unusable(&problem))?;
    // Another service's report is another service's affair, whatever commit it is about.
    if report.config.as_ref() != Some(query.config) {
        return Err(NoResult::OtherConfig(report.config.map(|config| config.to_string())));
    }
    match report.commit.as_deref() == Some(query.commit) {
        true => Ok((report, written)),
        false => Err(NoResult::OtherCommit),
    }
}
