//! Grades the files of the working tree: recordings, and live samples that are made now.

use std::path::Path;
use std::sync::OnceLock;

use anyhow::Context;

use super::baseline;
use super::grade::{GradeInputs, grade_files};
use super::past_baselines::add_past_baselines;
use crate::diag::{Code, Diagnostic};
use crate::evaluation::agent_digest::AgentState;
use crate::evaluation::graded_run::GradedRun;
use crate::evaluation::plan::config_text;
use crate::evaluation::recorded_agents::{BranchDigest, NoEvidence, NoMerge, RecorderEvidence};
use crate::evaluation::run_options::{AgentScope, DecidingTiers, RunOptions, UncommittedFiles};
use crate::evaluation::selection::Selection;
use crate::files::{BaseFiles, Files};
use crate::model::{Agent, Authority, Baseline, NotGateable, RepoPath, Report, Tier};
use crate::render::CliError;
use crate::suites::read_config;
use crate::text::{first_of, short_commit};
#[cfg(feature = "models")]
use crate::world::signal_so_far;
use crate::world::{BaseTree, Disk, Git, Objects, ReadOnce, World, head_commit, is_sparse};
use crate::{live, report};

/// Reads the baseline to compare with, given the disk, the files of the base commit (if known) and the config's baseline file.
pub type ReadBaseline<'a> = &'a dyn Fn(
    &Disk,
    Option<&BaseTree<'_>>,
    Option<&RepoPath>,
) -> Result<Option<Baseline>, CliError>;

/// The source of the base commit's files.
#[derive(Clone, Copy)]
pub enum BaseSource<'a> {
    None,
    Commit(&'a dyn Objects, &'a str),
}

/// Grades and judges the files of the working tree.
///
/// # Errors
/// Bad input, or a failed call. A failed gate is not an error.
pub fn grade_worktree(
    job: &RunOptions,
    world: &World,
    base_source: BaseSource<'_>,
    evidence: &dyn RecorderEvidence,
    read_baseline: ReadBaseline<'_>,
) -> Result<GradedRun, CliError> {
    let (disk, file) = Disk::of_config(&job.config)?;
    if !matches!(base_source, BaseSource::None) {
        own_history(&disk, &job.config)?;
    }
    let job = RunOptions {
        commit: job.commit.clone().or_else(|| head_commit(&disk)),
        ..job.clone()
    };
    let files = match base_source {
        BaseSource::None => ReadOnce::uncached(&disk),
        BaseSource::Commit(..) => ReadOnce::of(&disk),
    };
    if !matches!(base_source, BaseSource::None) {
        // Errors in the config are reported before any request.
        read_config(&config_text(&disk, &file)?)?;
    }
    let checkout = open_checkout(base_source, &disk, &files)?;
    let base = match base_source {
        BaseSource::Commit(objects, commit) => {
            Some(BaseTree::open(objects, commit, &files)?.with_checkout(checkout.as_ref()))
        }
        BaseSource::None => None,
    };
    let base = base.as_ref();
    #[cfg(feature = "models")]
    let (job, unaffected) = leave_out_unaffected(job, (&files, base), &file, world)?;
    // Golden changes are not computed for a shard: `merge` does that for all cases.
    let guards = job.is_compared() && job.wanted.shard.is_none();
    // A sample that cannot change a verdict by the head's rules might change one by the base's.
    let sparing = if base.is_some() {
        live::EarlyStopping::Off
    } else {
        job.live.sparing
    };
    let live = live::LiveOptions {
        sparing,
        keys: keys(&job, base_source, &disk, &file),
        ..job.live.clone()
    };
    let branch = match base_source {
        BaseSource::Commit(objects, _) => Some(MergedBranch::of(objects, &job, &disk, &files)),
        BaseSource::None => None,
    };
    let branch = branch.flatten();
    let inputs = GradeInputs {
        // Both judgements and the comparison read the same bytes.
        files: &files,
        config: &file,
        make: &|plan, tier| match &job.parts {
            None => {
                let earlier = job.earlier_answers(tier);
                live::make(
                    plan,
                    tier,
                    &disk,
                    world,
                    &live::LiveOptions {
                        earlier,
                        ..live.clone()
                    },
                )
            }
            // Runs that other machines graded are not made again.
            Some(parts) => Ok(live::LiveRuns {
                not_run: parts.not_run(tier),
                ..live::LiveRuns::default()
            }),
        },
        baseline: &|configured| read_baseline(&disk, base, configured),
        base: base.filter(|_| guards).map(|base| base as &dyn BaseFiles),
        branch: branch
            .as_ref()
            .map_or(&NoMerge, |branch| branch as &dyn BranchDigest),
        evidence,
    };
    let mut done = grade_files(&job, world, &inputs)?;
    #[cfg(feature = "models")]
    if let (None, Some(interruption)) = (done.report.called_off, signal_so_far()) {
        report::call_off(&mut done.report, interruption);
    }
    #[cfg(feature = "models")]
    done.report.notes.extend(
        unaffected
            .iter()
            .flat_map(|agents| agents.notes(done.against.as_ref())),
    );
    if base.is_some() && guards {
        let uncommitted = checkout
            .as_ref()
            .map_or_else(Vec::new, BaseTree::uncommitted);
        let uncommitted = without_recorded(&job, &disk, uncommitted);
        report_uncommitted(&mut done.report, &job, &uncommitted);
    }
    let trouble = base.and_then(BaseTree::trouble);
    if let Some(error) = trouble.or_else(|| checkout.as_ref()?.trouble()) {
        return Err(error
            .context("while comparing the golden set with the base commit")
            .into());
    }
    if let Some(shard) = job.wanted.shard {
        report::shard(&mut done.report, shard);
    }
    if done.report.exit_code() != 0 && is_sparse(&disk) {
        let note = "this is a sparse checkout: files outside of it count as missing; `git sparse-checkout disable` checks all of them out";
        done.report.notes.push(note.to_owned());
    }
    add_past_baselines(&mut done, &disk);
    Ok(done)
}

/// The branch of a merge that is checked out.
struct MergedBranch<'a> {
    objects: &'a dyn Objects,
    /// Its newest commit.
    commit: String,
    files: &'a ReadOnce<'a>,
    /// Opened when a digest is needed; `None` if it cannot be read.
    tree: OnceLock<Option<BaseTree<'a>>>,
}

impl<'a> MergedBranch<'a> {
    /// `None` if the graded commit itself is checked out.
    fn of(
        objects: &'a dyn Objects,
        job: &RunOptions,
        disk: &Disk,
        files: &'a ReadOnce<'a>,
    ) -> Option<Self> {
        let commit = job.commit.clone()?;
        let is_merge = head_commit(disk).is_some_and(|here| here != commit);
        is_merge.then(|| Self {
            objects,
            commit,
            files,
            tree: OnceLock::new(),
        })
    }
}

impl BranchDigest for MergedBranch<'_> {
    fn sha256(&self, agent: &Agent) -> Option<String> {
        let tree = self
            .tree
            .get_or_init(|| BaseTree::open(self.objects, &self.commit, self.files).ok())
            .as_ref()?;
        let state = AgentState::of(tree, agent).ok()?;
        state.sha256().map(str::to_owned)
    }
}

/// Opens the commit that is checked out, to compare the working tree with it; `None` without a base commit.
///
/// # Errors
/// No commit is checked out, or it cannot be read.
fn open_checkout<'a>(
    base_source: BaseSource<'a>,
    disk: &Disk,
    files: &'a ReadOnce<'a>,
) -> Result<Option<BaseTree<'a>>, CliError> {
    let BaseSource::Commit(objects, _) = base_source else {
        return Ok(None);
    };
    let Some(commit) = head_commit(disk) else {
        return Err(anyhow::anyhow!("no verdict: no commit is checked out, so it is not known what the files belong to: commit them").into());
    };
    let checkout = BaseTree::open(objects, &commit, files).with_context(|| {
        format!(
            "while reading the files of {}, which is checked out",
            short_commit(&commit)
        )
    })?;
    Ok(Some(checkout))
}

/// Leaves out the recordings that this run has made itself with `--record`: they are to be committed.
fn without_recorded(job: &RunOptions, disk: &Disk, files: Vec<RepoPath>) -> Vec<RepoPath> {
    let folder = job.live.record.as_deref().and_then(|folder| {
        let (around, inside) = Disk::around(Path::new(folder)).ok()?;
        let is_same = around.place() == disk.place().canonicalize().ok()?;
        is_same.then_some(inside)
    });
    match folder {
        Some(folder) => files
            .into_iter()
            .filter(|file| !file.is_within(&folder))
            .collect(),
        None => files,
    }
}

/// Reports the files that were judged and that the checked-out commit does not have as they are.
fn report_uncommitted(report: &mut Report, job: &RunOptions, files: &[RepoPath]) {
    if files.is_empty() {
        return;
    }
    let names: Vec<&str> = files.iter().map(RepoPath::as_str).collect();
    let named = first_of(&names);
    match job.uncommitted {
        UncommittedFiles::Judged => {
            let note = format!("judged with uncommitted changes of {named}");
            report.notes.push(note);
        }
        UncommittedFiles::Refused => {
            let commit = short_commit(job.commit.as_deref().unwrap_or_default());
            report::refuse(
                report,
                vec![NotGateable::new(format!(
                    "the files that were read are not those of the commit {commit}, which is checked out: {named}; commit them, or judge them \
                     as they are with `goldgate run --dirty`"
                ))],
            );
        }
    }
}

/// Leaves out the agents that the change since the base commit cannot affect, if the options ask for that.
#[cfg(feature = "models")]
fn leave_out_unaffected(
    mut job: RunOptions,
    (files, base): (&dyn Files, Option<&BaseTree<'_>>),
    config: &RepoPath,
    world: &World,
) -> Result<(RunOptions, Option<live::UnaffectedAgents>), CliError> {
    let Some(base) = base.filter(|_| job.scope == AgentScope::Affected) else {
        return Ok((job, None));
    };
    let agents =
        live::UnaffectedAgents::find(files, base, config, &job.wanted, &world.clock.days())?;
    job.wanted.left_out.clone_from(&agents.agents);
    Ok((job, Some(agents)))
}

/// Refuses to compare with a base commit if the config is in a submodule, because the commit would be searched in its history.
///
/// # Errors
/// The config is in a submodule.
pub fn own_history(disk: &Disk, config: &str) -> Result<(), Diagnostic> {
    let Some(outer) = disk.superproject() else {
        return Ok(());
    };
    let message = format!(
        "this config is in a submodule of {}, so the base commit cannot be read",
        outer.display()
    );
    let help =
        "move the config into the repository itself, or run goldgate in a clone of the submodule";
    Err(Diagnostic::of_file(
        config,
        Code::CONFIG_IN_SUBMODULE,
        message,
        help,
    ))
}

/// Returns the hosts that may receive API keys. With a base commit, its config decides.
pub(super) fn keys(
    job: &RunOptions,
    base_source: BaseSource<'_>,
    disk: &Disk,
    file: &RepoPath,
) -> live::KeyHosts {
    match base_source {
        BaseSource::Commit(objects, commit) if job.wanted.tiers.contains(&Tier::Model) => {
            live::keys_of_base(objects, commit, disk, file)
        }
        BaseSource::Commit(..) | BaseSource::None => job.live.keys.clone(),
    }
}

/// The options of a run that decides nothing.
fn showing(config: &str, wanted: Selection) -> RunOptions {
    RunOptions {
        config: config.to_owned(),
        wanted,
        scope: AgentScope::All,
        authority: Authority::Advisory,
        deciding: DecidingTiers::Deterministic,
        commit: None,
        base: None,
        base_branch: None,
        uncommitted: UncommittedFiles::Refused,
        live: live::LiveOptions::NONE,
        parts: None,
    }
}

/// Grades recordings against the baseline of the working tree, for commands that only show results. Returns the report, and the runs
/// of agents that replay no finished recordings.
pub fn shown_recordings(
    config: &str,
    wanted: Selection,
    world: &World,
) -> Result<(Report, live::LiveRuns), CliError> {
    let GradedRun {
        report,
        suites,
        live,
        ..
    } = graded_recordings(config, wanted, world)?;
    world.keep(suites);
    Ok((report, live))
}

/// The same, with the suites.
pub fn graded_recordings(
    config: &str,
    wanted: Selection,
    world: &World,
) -> Result<GradedRun, CliError> {
    let job = showing(config, wanted);
    let graded = grade_worktree(
        &job,
        world,
        BaseSource::None,
        &NoEvidence,
        &|disk, _, configured| baseline::here(None, disk, configured),
    )?;
    match graded.report.called_off {
        None => Ok(graded),
        Some(interruption) => Err(CliError::CalledOff(interruption)),
    }
}

/// Grades on this machine. A base commit and its baseline are read from git.
///
/// # Errors
/// See [`grade_worktree`].
pub fn locally(
    job: &RunOptions,
    git: &Git,
    baseline: Option<&str>,
    world: &World,
) -> Result<GradedRun, CliError> {
    let base_source = job
        .base
        .as_deref()
        .map_or(BaseSource::None, |commit| BaseSource::Commit(git, commit));
    grade_worktree(
        job,
        world,
        base_source,
        &NoEvidence,
        &|disk, base, configured| match (base, baseline, configured) {
            (Some(base), None, Some(file)) => baseline::of_commit(base, file),
            _ => baseline::here(baseline, disk, configured),
        },
    )
}
