//! The result of a run on a commit, read from the run's artifact. The artifact is untrusted data.

use crate::files::SourceText;
use crate::format::archive::ArchiveLimits;
use crate::format::{archive, report_v1};
use crate::model::{Authority, InputLimit, RepoPath, Report, Tier};
use crate::publish::ConfigKey;
use crate::publish::approval::NoResult;
use crate::report::result_digest;
use crate::world::{Artifact, GitHub, GitHubError, WorkflowRun};

/// The artifact name in the documented workflows.
const ARTIFACT: &str = "goldgate-report";
/// The events whose runs are listed under a pull request's head.
const EVENTS: [&str; 2] = [OF_PULL_REQUEST, BY_HAND];
const OF_PULL_REQUEST: &str = "pull_request";
const BY_HAND: &str = "workflow_dispatch";
/// Maximum number of runs whose results are read for one search by name.
const RUNS: usize = 20;
/// The largest archive to download, in bytes.
const ARCHIVE: u64 = InputLimit::ARCHIVE.most;
/// Limits for reading the archive: a report, a baseline, and the other files of `--out`.
const LIMITS: ArchiveLimits = ArchiveLimits {
    entries: 10_000,
    file: InputLimit::REPORT.most,
    kept: InputLimit::REPORT.most + InputLimit::BASELINE.most,
    inflated: 2 * InputLimit::REPORT.most,
};

/// Which run to find.
#[derive(Debug, Clone, Copy)]
pub struct RunQuery<'a> {
    /// The pull request: another one with the same head has a result of its own.
    pub number: Option<u64>,
    /// The graded commit.
    pub commit: &'a str,
    /// The config of the grading.
    pub config: &'a RepoPath,
    /// The comment key of the config.
    pub key: &'a ConfigKey,
    /// Only artifacts uploaded before this time, in GitHub's format.
    pub before: Option<&'a str>,
    /// Only this result; `None` for the newest one.
    pub result: Option<ResultDigest<'a>>,
}

/// The digest of a result, as an approval names it.
#[derive(Debug, Clone, Copy)]
pub struct ResultDigest<'a> {
    /// The digest.
    pub digest: &'a str,
    /// The baseline file of the config, whose own changes the digest leaves out.
    pub baseline: Option<&'a RepoPath>,
}

/// The artifact of a run.
pub struct MeasuredRun {
    /// Its report, for the requested commit and config.
    pub report: Report,
    /// The run.
    pub run: WorkflowRun,
    /// The upload time, in GitHub's format.
    pub at: Option<String>,
    /// The name of the artifact.
    pub artifact: String,
}

/// The events whose workflow comes from the default branch: a pull request cannot write the artifacts of their runs.
const TRUSTED: [&str; 2] = ["pull_request_target", "workflow_run"];

type FoundRun = Result<MeasuredRun, NoResult>;

/// Finds the result for a commit: of the trusted gate, else of the newest run that has uploaded one. Its
/// other jobs may still be in progress. Reports of other configs are skipped: a
/// repository may have several configs, and their jobs may belong to one run. A result is missed only if the repository has uploaded
/// 100 newer ones, and the head has 100 newer runs of the same event.
///
/// # Errors
/// A failed request to GitHub.
pub fn evidence(github: &GitHub, query: &RunQuery<'_>) -> Result<FoundRun, GitHubError> {
    let mut passed_over = None;
    if let Some(found) = of_trusted(github, query, &mut passed_over)? {
        return Ok(found);
    }
    if let Some(found) = of_newest(github, query, &EVENTS, &mut passed_over)? {
        return of_required_check(github, query, found);
    }
    let mut runs: Vec<WorkflowRun> = Vec::new();
    for event in EVENTS {
        // A server that does not know the filter returns runs of all events.
        let on_commit = github.runs_on(query.commit, event)?.into_iter();
        runs.extend(on_commit.filter(|run| run.head == query.commit && run.event == event));
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.id));
    for run in runs {
        for name in names(&query.key.artifact(), ARTIFACT) {
            let left = github.artifacts(run.id, &name)?;
            let Some(artifact) = query.taken(&left, &mut passed_over).into_iter().next() else {
                continue;
            };
            match fetched(github, artifact, query, run.clone())? {
                Err(NoResult::OtherConfig(of)) => {
                    passed_over = passed_over.or(Some(NoResult::OtherConfig(of)))
                }
                Ok(other) if query.passes_over(&other.report) => {}
                found => return Ok(found),
            }
        }
    }
    Ok(Err(passed_over.unwrap_or(NoResult::Missing)))
}

/// Returns the same result of a run of the pull request instead of one that was started by hand, if there is one: GitHub does not count
/// the checks of the other for the pull request, so that one has to run again after an approval.
fn of_required_check(
    github: &GitHub,
    query: &RunQuery<'_>,
    found: FoundRun,
) -> Result<FoundRun, GitHubError> {
    let Ok(measured) = &found else {
        return Ok(found);
    };
    if measured.run.event != BY_HAND {
        return Ok(found);
    }
    let same = |other: &MeasuredRun| {
        result_digest(&other.report, None) == result_digest(&measured.report, None)
    };
    match of_newest(github, query, &[OF_PULL_REQUEST], &mut None)? {
        Some(Ok(other)) if same(&other) => Ok(Ok(other)),
        Some(_) | None => Ok(found),
    }
}

/// Finds the newest result that the pull request's own run uploaded, where the trusted gate has one for the same commit: a repository may
/// require the checks of both.
///
/// # Errors
/// A failed request to GitHub.
pub fn next_to_trusted(
    github: &GitHub,
    query: &RunQuery<'_>,
    trusted: &WorkflowRun,
) -> Result<Option<MeasuredRun>, GitHubError> {
    if !TRUSTED.contains(&trusted.event.as_str()) {
        return Ok(None);
    }
    let found = of_newest(github, query, &[OF_PULL_REQUEST], &mut None)?;
    Ok(found
        .and_then(Result::ok)
        .filter(|other| other.run.id != trusted.id))
}

/// Returns the artifact name of a config, and the name used in the documented workflows.
fn names(own: &str, shipped: &str) -> Vec<String> {
    let mut names = vec![own.to_owned()];
    names.extend((own != shipped).then(|| shipped.to_owned()));
    names
}

impl RunQuery<'_> {
    /// The artifacts of the time in question that can still be read. GitHub writes every time in one format in UTC, so times compare as
    /// texts.
    fn taken<'b>(
        &self,
        artifacts: &'b [Artifact],
        passed_over: &mut Option<NoResult>,
    ) -> Vec<&'b Artifact> {
        let in_time = |artifact: &&Artifact| {
            self.before
                .is_none_or(|before| artifact.at.as_deref().is_some_and(|at| at < before))
        };
        let (expired, left): (Vec<_>, Vec<_>) = artifacts
            .iter()
            .filter(in_time)
            .partition(|artifact| artifact.expired);
        if !expired.is_empty() {
            passed_over.get_or_insert(NoResult::Expired);
        }
        left
    }

    /// Whether a report is to be passed over: it is that of another pull request, which then names this one among those with the same
    /// head, or it is another result, or a result of the models alone that blocks nothing: nobody approves that.
    fn passes_over(&self, report: &Report) -> bool {
        let is_of_another = self
            .number
            .is_some_and(|number| report.others.iter().any(|other| other.number == number));
        let is_other_result =
            |wanted: ResultDigest<'_>| result_digest(report, wanted.baseline) != wanted.digest;
        let is_for_information =
            report.authority == Authority::Advisory && report.tiers == [Tier::Model];
        is_of_another || is_for_information || self.result.is_some_and(is_other_result)
    }
}

/// Finds the result of the trusted gate. GitHub lists its runs under the base branch's commit, so the artifact's name
/// contains the head commit. A fork's run can use that name, but not that event.
fn of_trusted(
    github: &GitHub,
    query: &RunQuery<'_>,
    passed_over: &mut Option<NoResult>,
) -> Result<Option<FoundRun>, GitHubError> {
    for name in names(
        &query.key.artifact_of_head(query.commit),
        &format!("{ARTIFACT}-{}", query.commit),
    ) {
        // The runs of the trusted gate are listed under a commit of the base branch. Anybody's own runs may upload many artifacts of this name.
        let mut named = github.artifacts_called(&name)?;
        // They are listed under the head itself only where that is the tip of the default branch.
        named.sort_by_key(|artifact| artifact.head.as_deref() == Some(query.commit));
        let found = first_of(
            github,
            query,
            &named,
            &|run| TRUSTED.contains(&run.event.as_str()),
            passed_over,
        )?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Finds the result among the newest artifacts of the repository. A head may have a hundred runs of other workflows, so this is one
/// request instead of one for each run.
fn of_newest(
    github: &GitHub,
    query: &RunQuery<'_>,
    events: &[&str],
    passed_over: &mut Option<NoResult>,
) -> Result<Option<FoundRun>, GitHubError> {
    let mut on_head = Vec::new();
    for name in names(&query.key.artifact(), ARTIFACT) {
        let named = github.artifacts_called(&name)?.into_iter();
        on_head.extend(named.filter(|artifact| artifact.head.as_deref() == Some(query.commit)));
    }
    on_head.sort_by_key(|artifact| std::cmp::Reverse(artifact.run));
    let is_gate =
        |run: &WorkflowRun| run.head == query.commit && events.contains(&run.event.as_str());
    first_of(github, query, &on_head, &is_gate, passed_over)
}

/// Returns the first artifact that is the result, of runs that `is_right` accepts.
fn first_of(
    github: &GitHub,
    query: &RunQuery<'_>,
    artifacts: &[Artifact],
    is_right: &dyn Fn(&WorkflowRun) -> bool,
    passed_over: &mut Option<NoResult>,
) -> Result<Option<FoundRun>, GitHubError> {
    let mut right = 0;
    for artifact in query.taken(artifacts, passed_over) {
        let Some(id) = artifact.run else { continue };
        if right == RUNS {
            break;
        }
        let run = match github.workflow_run(id) {
            Ok(run) if is_right(&run) => run,
            Ok(_) | Err(GitHubError::Missing) => continue,
            Err(other) => return Err(other),
        };
        right += 1;
        match fetched(github, artifact, query, run)? {
            Err(NoResult::OtherConfig(of)) => *passed_over = Some(NoResult::OtherConfig(of)),
            Ok(other) if query.passes_over(&other.report) => {}
            found => return Ok(Some(found)),
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
        Ok(bytes) => Ok(read_measured_run(&bytes, query).map(|report| MeasuredRun {
            report,
            run,
            at: artifact.at.clone(),
            artifact: artifact.name.clone(),
        })),
        Err(GitHubError::Unusable(error)) => Ok(Err(NoResult::Unusable(format!("{error:#}")))),
        Err(other) => Err(other),
    }
}

/// A result of another config in the same run.
pub struct SiblingResult {
    /// The key of the config.
    pub key: ConfigKey,
    /// The id of the artifact.
    artifact: u64,
}

/// Returns the results of the other configs that the same run has uploaded, one for each key.
///
/// # Errors
/// A failed request to GitHub.
pub fn siblings(
    github: &GitHub,
    run: u64,
    own: [&str; 2],
    commit: &str,
) -> Result<Vec<SiblingResult>, GitHubError> {
    let [key, artifact] = own;
    let mut found: Vec<SiblingResult> = Vec::new();
    for other in github
        .all_artifacts(run)?
        .into_iter()
        .filter(|other| !other.expired && other.name != artifact)
    {
        let Some(of) = ConfigKey::of_artifact(&other.name, commit) else {
            continue;
        };
        if of.as_str() != key && found.iter().all(|known| known.key != of) {
            found.push(SiblingResult {
                key: of,
                artifact: other.id,
            });
        }
    }
    Ok(found)
}

impl SiblingResult {
    /// Returns the report, if it can be read and is for this commit.
    ///
    /// # Errors
    /// A failed request to GitHub.
    pub fn report(&self, github: &GitHub, commit: &str) -> Result<Option<Report>, GitHubError> {
        let bytes = match github.artifact(self.artifact, ARCHIVE) {
            Ok(bytes) => bytes,
            Err(GitHubError::Failed(_) | GitHubError::Unusable(_)) => return Ok(None),
            Err(other) => return Err(other),
        };
        let file = RepoPath::root().child("report.json");
        let unpacked = archive::zip(&bytes, LIMITS, &|path| *path == file).ok();
        let bytes = unpacked.and_then(|mut unpacked| unpacked.files.remove(&file));
        let report = bytes.and_then(|bytes| SourceText::new(file, bytes).ok());
        let report = report.and_then(|source| report_v1::read_report(&source).ok());
        Ok(report.filter(|report| report.commit.as_deref() == Some(commit)))
    }
}

fn read_measured_run(bytes: &[u8], query: &RunQuery<'_>) -> Result<Report, NoResult> {
    let unusable = |why: &dyn ToString| NoResult::Unusable(why.to_string());
    let file = RepoPath::root().child("report.json");
    let mut unpacked =
        archive::zip(bytes, LIMITS, &|path| *path == file).map_err(|why| unusable(&why))?;
    let Some(bytes) = unpacked.files.remove(&file) else {
        return Err(NoResult::Unusable(format!("it has no {file}")));
    };
    let source = SourceText::new(file, bytes).map_err(|problem| unusable(&problem))?;
    let report = report_v1::read_report(&source).map_err(|problem| unusable(&problem))?;
    // A report of another config is skipped, whatever commit it is for.
    if report.config.as_ref() != Some(query.config) {
        return Err(NoResult::OtherConfig(
            report.config.map(|config| config.to_string()),
        ));
    }
    match report.commit.as_deref() == Some(query.commit) {
        true => Ok(report),
        false => Err(NoResult::OtherCommit),
    }
}
