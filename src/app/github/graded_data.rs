//! Grades a merge whose files are only read as data: nothing is checked out, and no symbolic link is followed. The grading function
//! only gets the files of both commits in memory, and no client.

use anyhow::Context;

use super::approval_query::ApprovalQuery;
use super::commit_files::{BaseView, CommitFiles};
use super::current_pull_request::TestMerge;
use super::inputs::{ActionInputs, path_of_input};
use super::read_paths::wanted_by;
use super::recorded_approval;
use crate::app::cli_error::CliError;
use crate::app::live;
use crate::app::pipeline::baseline;
use crate::app::pipeline::grade::{BaselineProvider, GradeInputs, grade_files};
use crate::app::pipeline::graded_run::GradedRun;
use crate::app::pipeline::recorded_agents::NoMerge;
use crate::app::pipeline::run_options::{AgentScope, RunOptions, UncommittedFiles};
use crate::app::pipeline::selection::Selection;
use crate::diag::{Code, Diagnostic, Diagnostics, ReadFailure};
use crate::files::{BaseFiles, Files, SourceText};
use crate::format::archive;
use crate::format::archive::ArchiveLimits;
use crate::format::event::Event;
use crate::model::{Config, RepoPath, Report, RunSource, Tier};
use crate::publish::ConfigKey;
use crate::suites::read_config;
use crate::world::{GitHub, GitHubError, Tree, World};

/// Grades a merge whose files are only read as data, and applies its approval.
///
/// # Errors
/// Bad inputs or files, or a failed request.
pub fn grade_as_data(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    event: &Event,
    merged: &TestMerge,
    learn: &dyn Fn(&Report),
) -> Result<(RunOptions, GradedRun), CliError> {
    let file = path_of_input("config", &inputs.config)?;
    let baseline = inputs
        .baseline
        .as_deref()
        .map(|path| path_of_input("baseline", path))
        .transpose()?;
    // The merge contains only the changes of the pull request; a head that is behind its base would seem to remove files.
    let commits = CommitPair::read(github, &file, baseline, [&merged.base, &merged.merge])?;
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
        base: Some(merged.base.clone()),
        base_branch: event.base_branch(),
        uncommitted: UncommittedFiles::Refused,
        live: live::LiveOptions::NONE,
        parts: None,
    };
    let key = inputs.key_of(&file);
    let done = grade_with_approval(github, (&key, event), &job, world, &commits, learn)?;
    Ok((job, done))
}

/// Grades the pull request and applies its approval.
fn grade_with_approval(
    github: &GitHub,
    (key, event): (&ConfigKey, &Event),
    job: &RunOptions,
    world: &World,
    inputs: &CommitPair,
    learn: &dyn Fn(&Report),
) -> Result<GradedRun, CliError> {
    let CommitPair {
        base,
        head,
        baseline: named,
        ..
    } = inputs;
    let load_baseline = |side: &CommitFiles, configured: Option<&RepoPath>| {
        named
            .as_ref()
            .or(configured)
            .map_or(Ok(None), |file| baseline::on(side, file))
    };
    let _commit = job.base.as_deref().unwrap_or_default();
    let both = BaseView::of(base, head);
    let mut done = grade_commits(job, world, inputs, Some(&both), &|configured| {
        load_baseline(base, configured)
    })?;
    let Some(graded) = &job.commit else {
        return Ok(done);
    };
    let committed = done
        .config
        .baseline
        .as_ref()
        .and_then(|file| head.baseline_bytes(file).ok());
    let query = ApprovalQuery {
        key,
        event,
        commit: graded,
        committed: committed.as_deref(),
        learn,
    };
    let approval = recorded_approval::find_approval(github, &query, &mut done)?;
    let Some(approval) = approval else {
        return Ok(done);
    };
    // The committed file must be a valid baseline, because the approval covers its numbers.
    let committed = load_baseline(head, done.config.baseline.as_ref())?;
    recorded_approval::apply_approval(done, approval, committed.as_ref(), |accepted| {
        // The golden changes are approved, so they are not computed again.
        grade_commits(job, world, inputs, None, &|_| Ok(Some(accepted.clone())))
    })
}

/// Grades the head by its own rules, and by the base's rules if `base` is given.
fn grade_commits(
    job: &RunOptions,
    world: &World,
    inputs: &CommitPair,
    base: Option<&BaseView<'_>>,
    baseline: BaselineProvider<'_>,
) -> Result<GradedRun, CliError> {
    let CommitPair {
        base: base_files,
        head,
        base_config,
        file,
        ..
    } = inputs;
    require_replay(base_config, &base_files.text(file)?)?;
    let source = head.text(file)?;
    require_replay(&read_config(&source)?, &source)?;
    let inputs = GradeInputs {
        files: head,
        config: file,
        // Only recordings: no live runs.
        make: &|_, _| Ok(live::LiveRuns::default()),
        baseline,
        base: base.map(|base| base as &dyn BaseFiles),
        branch: &NoMerge,
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
                let what = format!(
                    "{}/{name} uses the live target \"{}\", but only recordings are graded where files are read as data",
                    suite.id, live.target
                );
                problems.push(Diagnostic::of_file(
                    &source.file,
                    Code::LIVE_TARGET,
                    what,
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
        [base, head]: [&str; 2],
    ) -> Result<Self, CliError> {
        let base = DownloadedCommit::read(github, base)?;
        let what = "the config does not exist on the base branch";
        let help = "merge a config first: mode trusted also judges by the base branch's config";
        let base_config = base.config(file, [what, help])?.map_err(unreadable_base)?;
        let head = DownloadedCommit::read(github, head)?;
        let what = "the config does not exist on the head commit";
        let help = "keep the config of the base branch, or remove its suites";
        let head_config = head.config(file, [what, help])??;
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
    anyhow::anyhow!("this version cannot read the config of the base commit: {first}; correct it on the base branch")
        .into()
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
            return Err(anyhow::anyhow!(
                "commit {commit} has more files than GitHub lists in one response, and mode trusted checks every file against that list"
            )
            .into());
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

    /// The wanted files. What the archive does not have as committed is taken from the files of another commit, as far as it has them:
    /// each further file can be a request.
    fn files(
        &self,
        wanted: &dyn Fn(&RepoPath) -> bool,
        other: Option<&CommitFiles>,
    ) -> Result<CommitFiles, CliError> {
        let unpacked = archive::tarball(&self.archive, ArchiveLimits::REPOSITORY, wanted).map_err(
            |refused| {
                anyhow::anyhow!(
                    "the archive of commit {} is refused: {refused}",
                    self.commit
                )
            },
        )?;
        let by_id = |ids: &[&str]| {
            let mut found = other.map(|other| other.files_of(ids)).unwrap_or_default();
            let left: Vec<&str> = ids
                .iter()
                .copied()
                .filter(|id| !found.contains_key(*id))
                .collect();
            found.extend(self.github.files_by_id(&left)?);
            Ok(found)
        };
        let files = CommitFiles::verified(self.tree.clone(), unpacked, wanted, &by_id);
        Ok(files.with_context(|| format!("the files of commit {} cannot be read", self.commit))?)
    }

    /// Reads the config. The inner error has the problems of an invalid config.
    fn config(
        &self,
        file: &RepoPath,
        [what, help]: [&'static str; 2],
    ) -> Result<Result<Config, Diagnostics>, CliError> {
        if !self.tree.contains_key(file) {
            return Err(Diagnostic::of_read(file, ReadFailure::MissingFile, what, help).into());
        }
        let files = self.files(&|path| path == file, None)?;
        Ok(files
            .text(file)
            .map_err(Diagnostics::from)
            .and_then(|source| read_config(&source)))
    }
}
