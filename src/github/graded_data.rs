//! Grades a merge whose files are only read as data: nothing is checked out, and no symbolic link is followed. The grading function
//! only gets the files of both commits in memory, and no client.

use std::fmt;

use anyhow::Context;

use super::commit_files::{BaseView, CommitFiles};
use super::inputs::{ActionInputs, path_of_input};
use super::read_paths::wanted_by;
use super::recorder_evidence::ListedRecordings;
use super::resolve::TestMerge;
use super::three_trees;
use crate::diag::{Code, Diagnostic, Diagnostics, ReadFailure};
use crate::evaluation::graded_run::GradedRun;
use crate::evaluation::recorded_agents::NoMerge;
use crate::evaluation::run_options::{AgentScope, RunOptions, UncommittedFiles};
use crate::evaluation::selection::Selection;
use crate::files::{Files, SourceText};
use crate::format::archive;
use crate::format::archive::ArchiveLimits;
use crate::format::event::Event;
use crate::github::client::{GitHub, GitHubError, Tree};
use crate::live;
use crate::model::{Config, RepoPath, RunSource, Tier};
use crate::render::CliError;
use crate::suites::read_config;
use crate::workspace::baseline;
use crate::workspace::grade::{GradeInputs, grade_files};
use crate::world::World;

/// Grades a merge whose files are only read as data.
///
/// # Errors
/// Bad inputs or files, or a failed request.
pub fn grade_as_data(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    event: &Event,
    merged: &TestMerge,
) -> Result<(RunOptions, GradedRun), CliError> {
    let commits = [merged.base.as_str(), merged.merge.as_str()];
    grade_pair(
        world,
        inputs,
        github,
        event,
        (commits, HeadFiles::AsCommitted),
    )
}

/// Grades the merge of two commits that has no commit of its own.
///
/// # Errors
/// The merge is not known, bad inputs or files, or a failed request.
pub fn grade_merge_of(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    event: &Event,
    commits: [&str; 2],
) -> Result<GradedRun, CliError> {
    grade_pair(world, inputs, github, event, (commits, HeadFiles::Merged)).map(|(_, done)| done)
}

/// Which files the head of a pair of commits has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadFiles {
    /// Its own.
    AsCommitted,
    /// Those of its merge into the base.
    Merged,
}

fn grade_pair(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    event: &Event,
    (commits, head_files): ([&str; 2], HeadFiles),
) -> Result<(RunOptions, GradedRun), CliError> {
    let [base, _] = commits;
    let file = path_of_input("config", &inputs.config)?;
    let baseline = inputs
        .baseline
        .as_deref()
        .map(|path| path_of_input("baseline", path))
        .transpose()?;
    // The merge contains only the changes of the pull request; a head that is behind its base would seem to remove files.
    let commits = CommitPair::read(github, &file, baseline, (commits, head_files))?;
    let job = RunOptions {
        config: inputs.config.clone(),
        wanted: Selection {
            tiers: vec![Tier::Deterministic],
            suites: inputs.suites.clone(),
            samples: inputs.samples,
            ..Selection::default()
        },
        scope: AgentScope::All,
        authority: inputs.authority,
        deciding: inputs.deciding,
        commit: event.head.clone(),
        base: Some(base.to_owned()),
        base_branch: event.base_branch(),
        uncommitted: UncommittedFiles::Refused,
        live: live::LiveOptions::NONE,
        parts: None,
    };
    let evidence = ListedRecordings::of(&world.env, Some(github), event);
    let done = graded(&job, world, &commits, &evidence)?;
    Ok((job, done))
}

/// Grades the head by its own rules and by the base's.
fn graded(
    job: &RunOptions,
    world: &World,
    inputs: &CommitPair,
    evidence: &ListedRecordings<'_>,
) -> Result<GradedRun, CliError> {
    let CommitPair {
        base,
        head,
        base_config,
        file,
        baseline: named,
    } = inputs;
    require_replay(base_config, &base.text(file)?)?;
    let source = head.text(file)?;
    require_replay(&read_config(&source)?, &source)?;
    let both = BaseView::of(base, head);
    let inputs = GradeInputs {
        files: head,
        config: file,
        // Only recordings: no live runs.
        make: &|_, _| Ok(live::LiveRuns::default()),
        baseline: &|configured| {
            let file = named.as_ref().or(configured);
            file.map_or(Ok(None), |file| baseline::on(base, file))
        },
        base: Some(&both),
        branch: &NoMerge,
        evidence,
    };
    grade_files(job, world, &inputs)
}

/// Refuses live targets: untrusted files would decide what runs with this job's token.
fn require_replay(config: &Config, source: &SourceText) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::default();
    for suite in config
        .suites
        .iter()
        .filter(|suite| suite.tiers.contains(&Tier::Deterministic))
    {
        for (name, agent) in &suite.agents {
            if let Some(RunSource::Live(live)) = &agent.deterministic {
                let message = format!(
                    "{}/{name} uses the live target \"{}\", but only recordings are graded where files are read as data",
                    suite.id, live.target
                );
                problems.push(Diagnostic::of_file(
                    &source.file,
                    Code::LIVE_TARGET,
                    message,
                    "use replay: FOLDER in the deterministic tier, or leave the suite out with the input suites; a run that was started by hand can also \
                     check out refs/pull/NUMBER/merge",
                ));
            }
        }
    }
    problems.or(())
}

/// The files of both commits.
pub(super) struct CommitPair {
    pub(super) base: CommitFiles,
    pub(super) head: CommitFiles,
    /// The base commit's config.
    pub(super) base_config: Config,
    /// The path of the config.
    pub(super) file: RepoPath,
    /// The baseline file that the input names.
    baseline: Option<RepoPath>,
}

impl CommitPair {
    /// Reads the configs of both commits, then the files that these configs name.
    ///
    /// # Errors
    /// A config that is missing or cannot be read, or a failed request.
    pub(super) fn read(
        github: &GitHub,
        file: &RepoPath,
        baseline: Option<RepoPath>,
        ([base, head], head_files): ([&str; 2], HeadFiles),
    ) -> Result<Self, CliError> {
        let origin = match head_files {
            HeadFiles::AsCommitted => None,
            HeadFiles::Merged => Some(github.common_commit(base, head).map_err(failed)?),
        };
        let base = DownloadedCommit::read(github, base)?;
        let base_config = base
            .config(
                file,
                "the config does not exist on the base branch",
                "merge a config first: it also judges by the base branch's config",
            )?
            .map_err(unreadable_base)?;
        let head = DownloadedCommit::read(github, head)?;
        let head = match origin {
            None => head,
            Some(origin) => head.merged_into(&base, &origin)?,
        };
        let head_config = head.config(
            file,
            "the config does not exist on the head commit",
            "keep the config of the base branch, or remove its suites",
        )??;
        let configs = [&base_config, &head_config];
        let wanted = wanted_by(&configs, baseline.as_ref());
        let base = base.files(&wanted, None)?;
        let head = head.files(&wanted, Some(&base))?;
        drop(wanted);
        Ok(Self {
            base,
            head,
            base_config,
            file: file.clone(),
            baseline,
        })
    }
}

/// An unreadable base config gives no verdict: its rules are needed to judge the pull request.
fn unreadable_base(problems: Diagnostics) -> CliError {
    let first = problems.first_line();
    lasting(format!(
        "this version cannot read the config of the base commit: {first}; correct it on the base branch"
    ))
}

/// Why two commits can never be graded as data. Other failures may be over a moment later.
#[derive(Debug)]
struct LastingFailure(String);

impl fmt::Display for LastingFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for LastingFailure {}

fn lasting(why: String) -> CliError {
    anyhow::Error::new(LastingFailure(why)).into()
}

/// Returns what grading gave; `None` if these commits can never be graded.
///
/// # Errors
/// A failure that may be over when the job runs again.
pub fn gradable<T>(graded: Result<T, CliError>) -> Result<Option<T>, CliError> {
    match graded {
        Ok(done) => Ok(Some(done)),
        Err(CliError::Work(error)) if error.is::<LastingFailure>() => Ok(None),
        Err(CliError::Input(problems)) if !problems.has_read_failure(ReadFailure::Machine) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn failed(refusal: GitHubError) -> CliError {
    refusal
        .explained("the files of a commit cannot be read", "contents: read")
        .into()
}

/// A commit's list of files and its archive, of which only the wanted files are unpacked.
struct DownloadedCommit<'a> {
    github: &'a GitHub,
    commit: String,
    tree: Tree,
    archive: Vec<u8>,
}

impl<'a> DownloadedCommit<'a> {
    fn read(github: &'a GitHub, commit: &str) -> Result<Self, CliError> {
        let Some(tree) = github.tree(commit).map_err(failed)? else {
            return Err(lasting(format!(
                "commit {commit} has more files than GitHub lists in one response, and every file is checked against that list"
            )));
        };
        let archive = github
            .tarball(commit, ArchiveLimits::DOWNLOAD)
            .map_err(failed)?;
        Ok(Self {
            github,
            commit: commit.to_owned(),
            tree,
            archive,
        })
    }

    /// The same with the files of its merge into another commit. What its archive does not have is read by its id.
    fn merged_into(self, base: &Self, origin: &str) -> Result<Self, CliError> {
        let origin = self.github.tree(origin).map_err(failed)?;
        let tree = origin.and_then(|origin| three_trees::merged(&origin, &base.tree, &self.tree));
        match tree {
            Some(tree) => Ok(Self { tree, ..self }),
            None => Err(lasting(format!(
                "what a merge of {} has is not known: both sides changed a file",
                self.commit
            ))),
        }
    }

    /// The wanted files. What the archive does not have as committed is taken from the files of another commit, as far as it has them:
    /// each further file can be a request.
    fn files(
        &self,
        wanted: &dyn Fn(&RepoPath) -> bool,
        known: Option<&CommitFiles>,
    ) -> Result<CommitFiles, CliError> {
        let unpacked = archive::tarball(&self.archive, ArchiveLimits::REPOSITORY, wanted).map_err(
            |refused| {
                lasting(format!(
                    "the archive of commit {} is refused: {refused}",
                    self.commit
                ))
            },
        )?;
        let files = CommitFiles::verified(self.tree.clone(), unpacked, wanted, &|ids| {
            let mut files = known.map(|known| known.files_of(ids)).unwrap_or_default();
            let left: Vec<&str> = ids
                .iter()
                .copied()
                .filter(|id| !files.contains_key(*id))
                .collect();
            files.extend(self.github.files_by_id(&left)?);
            Ok(files)
        });
        Ok(files.with_context(|| format!("the files of commit {} cannot be read", self.commit))?)
    }

    /// Reads the config. The inner error has the problems of an invalid config.
    fn config(
        &self,
        file: &RepoPath,
        missing: &'static str,
        help: &'static str,
    ) -> Result<Result<Config, Diagnostics>, CliError> {
        if !self.tree.contains_key(file) {
            return Err(Diagnostic::of_read(file, ReadFailure::MissingFile, missing, help).into());
        }
        let files = self.files(&|path| path == file, None)?;
        Ok(files
            .text(file)
            .map_err(Diagnostics::from)
            .and_then(|source| read_config(&source)))
    }
}
