//! `mode: trusted`: grades a pull request whose files are only read as data, by the rules of the base branch and by its own.
//!
//! The workflow comes from the base branch (`pull_request_target`), nothing is checked out, and no symbolic link is followed. The
//! grading function only gets the files of both commits in memory, and no client.

use std::collections::BTreeSet;

use super::commit_files::{BaseView, CommitFiles};
use super::environment::{event_of, github};
use super::inputs::ActionInputs;
use super::published_run::{learn_identity, publish_result};
use super::recorded_approval::ApprovalQuery;
use super::{current_pull_request, recorded_approval};
use crate::app::cli_error::CliError;
use crate::app::live;
use crate::app::pipeline::baseline;
use crate::app::pipeline::grade::{BaselineProvider, GradeInputs, grade_files};
use crate::app::pipeline::graded_run::GradedRun;
use crate::app::pipeline::run_options::RunOptions;
use crate::app::pipeline::selection::Selection;
use crate::diag::{Diagnostic, Diagnostics, ReadFailure};
use crate::files::{BaseFiles, Files, SourceText};
use crate::format::archive;
use crate::format::archive::ArchiveLimits;
use crate::model::{Config, RepoPath, Report, RunSource, Tier};
use crate::publish::ConfigKey;
use crate::suites;
use crate::suites::{FixtureFolder, read_config, setting_files};
use crate::world::{Clock, GitHub, GitHubError, World};

/// Grades the event's pull request and publishes the result. Returns the exit code.
///
/// # Errors
/// Bad inputs or files, or a request that failed before the verdict.
pub fn trusted(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let event = event_of(&world.env)?;
    let bad = |what: &str, help: &str| CliError::from(Diagnostic::of_file("action input", "bad-input", what, help));
    let Some(pull_request) = event.pull_request.clone() else {
        let help = "start the workflow with on: pull_request_target";
        return Err(bad("mode \"trusted\" needs an event with a pull request", help));
    };
    if inputs.tiers != [Tier::Deterministic] {
        return Err(bad("mode \"trusted\" only grades recordings", "write tier: deterministic"));
    }
    if inputs.shard.is_some() {
        return Err(bad("mode \"trusted\" grades all cases in one job", "leave shard out"));
    }
    let Some(github) = github(&world.env)? else {
        return Err(bad("mode \"trusted\" needs a token", "set the input token"));
    };
    let file = inside("config", &inputs.config)?;
    let baseline = inputs.baseline.as_deref().map(|path| inside("baseline", path)).transpose()?;
    // The merge contains only the changes of the pull request; a head that is behind its base would seem to remove files.
    let merged = current_pull_request::test_merge(&github, &event, &pull_request)?;
    let commits = TrustedInputs::read(&github, &file, baseline, [&merged.base, &merged.merge])?;
    let job = RunOptions {
        config: inputs.config.clone(),
        wanted: Selection {
            tiers: inputs.tiers.clone(),
            suites: inputs.suites.clone(),
            samples: inputs.samples,
            ..Selection::default()
        },
        authority: inputs.authority,
        deciding: inputs.deciding,
        commit: Some(pull_request.head.clone()),
        base: Some(merged.base.clone()),
        live: live::LiveOptions::NONE,
        parts: None,
    };
    let key = inputs.key_of(&file);
    let learn = |report: &Report| learn_identity(world, inputs, &event, &github, report);
    let done = grade_with_approval(&github, &key, &job, &world.clock, &commits, &learn)?;
    publish_result(world, inputs, &event, Some(&github), &job, &done)
}

/// Parses the path of an input, which must be inside the repository.
fn inside(input: &str, path: &str) -> Result<RepoPath, Diagnostic> {
    RepoPath::root().join(path).map_err(|bad| {
        let what = format!("{input} is {path:?}, which {bad}");
        Diagnostic::of_file("action input", "path-outside", what, "write a path inside the repository")
    })
}

/// Grades the pull request and applies its approval.
fn grade_with_approval(
    github: &GitHub,
    key: &ConfigKey,
    job: &RunOptions,
    clock: &Clock,
    inputs: &TrustedInputs,
    learn: &dyn Fn(&Report),
) -> Result<GradedRun, CliError> {
    let TrustedInputs { base, head, baseline: named, .. } = inputs;
    let load_baseline = |side: &CommitFiles, configured: Option<&RepoPath>| {
        named.as_ref().or(configured).map_or(Ok(None), |file| baseline::on(side, file))
    };
    let both = BaseView { base, head };
    let mut done = grade_commits(job, clock, inputs, Some(&both), &|configured| load_baseline(base, configured))?;
    let Some(commit) = &job.commit else { return Ok(done) };
    learn(&done.report);
    let Some(approval) = recorded_approval::find_approval(github, key, ApprovalQuery::Commit(commit), &mut done)?
    else {
        return Ok(done);
    };
    // The committed file must be a valid baseline, because the approval covers its numbers.
    let committed = load_baseline(head, done.config.baseline.as_ref())?;
    recorded_approval::apply_approval(done, approval, committed.as_ref(), |accepted| {
        // The golden changes are approved, so they are not computed again.
        grade_commits(job, clock, inputs, None, &|_| Ok(Some(accepted.clone())))
    })
}

/// Grades the head by its own rules, and by the base's rules if `base` is given.
fn grade_commits(
    job: &RunOptions,
    clock: &Clock,
    inputs: &TrustedInputs,
    base: Option<&BaseView<'_>>,
    baseline: BaselineProvider<'_>,
) -> Result<GradedRun, CliError> {
    let TrustedInputs { base: base_files, head, base_config, file, baseline: _ } = inputs;
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
    };
    grade_files(job, clock, &inputs)
}

/// Refuses live targets: untrusted files would decide what runs with this job's token.
fn require_replay(config: &Config, source: &SourceText) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::default();
    for suite in config.suites.iter().filter(|suite| suite.tiers.contains(&Tier::Deterministic)) {
        for (name, agent) in &suite.agents {
            if let Some(RunSource::Live(live)) = &agent.deterministic {
                let what = format!(
                    "{}/{name} uses the live target \"{}\", but mode trusted only grades recordings",
                    suite.id, live.target
                );
                problems.push(Diagnostic::of_file(
                    &source.file,
                    "live-target",
                    what,
                    "use replay: FOLDER in the deterministic tier, or leave the suite out with the input suites",
                ));
            }
        }
    }
    problems.or(())
}

/// The files of both commits.
struct TrustedInputs {
    base: CommitFiles,
    head: CommitFiles,
    base_config: Config,
    file: RepoPath,
    /// The baseline file that the input names.
    baseline: Option<RepoPath>,
}

impl TrustedInputs {
    /// Reads the configs of both commits, then the files that these configs name.
    fn read(
        github: &GitHub,
        file: &RepoPath,
        baseline: Option<RepoPath>,
        [base, head]: [&str; 2],
    ) -> Result<Self, CliError> {
        let what = "the config does not exist on the base branch";
        let help = "merge a config first: mode trusted also judges by the base branch's config";
        let base_config = Self::config(github, file, base, [what, help])?.map_err(unreadable_base)?;
        let what = "the config does not exist on the head commit";
        let help = "keep the config of the base branch, or remove its suites";
        let head_config = Self::config(github, file, head, [what, help])??;
        let configs = [&base_config, &head_config];
        let paths: BTreeSet<RepoPath> = configs.iter().flat_map(|config| paths(config, baseline.as_ref())).collect();
        let agents = || configs.iter().flat_map(|config| &config.suites).flat_map(|suite| suite.agents.values());
        let wanted = |path: &RepoPath| {
            let fits = || agents().flat_map(|agent| &agent.fingerprint).any(|glob| glob.fits(path));
            paths.iter().any(|place| is_below(path, place)) || fits()
        };
        let (base, head) = (read_commit(github, base, &wanted)?, read_commit(github, head, &wanted)?);
        Ok(Self { base, head, base_config, file: file.clone(), baseline })
    }

    /// Reads the config of a commit. The inner error has the problems of an invalid config.
    fn config(
        github: &GitHub,
        file: &RepoPath,
        commit: &str,
        [what, help]: [&'static str; 2],
    ) -> Result<Result<Config, Diagnostics>, CliError> {
        match github.file(file, commit) {
            Ok(Some(bytes)) => Ok(SourceText::new(file.clone(), bytes)
                .map_err(Diagnostics::from)
                .and_then(|source| read_config(&source))),
            Ok(None) => Err(Diagnostic::of_read(file, ReadFailure::MissingFile, what, help).into()),
            Err(refusal) => Err(failed(refusal)),
        }
    }
}

/// An unreadable base config gives no verdict: its rules are needed to judge the pull request.
fn unreadable_base(problems: Diagnostics) -> CliError {
    let first = problems.sorted().first().map(ToString::to_string).unwrap_or_default();
    anyhow::anyhow!("this version cannot read the config of the base commit: {first}; correct it on the base branch")
        .into()
}

fn failed(refusal: GitHubError) -> CliError {
    refusal.explained("the files of a commit cannot be read", "contents: read").into()
}

fn read_commit(github: &GitHub, commit: &str, wanted: &dyn Fn(&RepoPath) -> bool) -> Result<CommitFiles, CliError> {
    let Some(tree) = github.tree(commit).map_err(failed)? else {
        return Err(anyhow::anyhow!(
            "commit {commit} has more files than GitHub lists in one response, and mode trusted checks every file against that list"
        )
        .into());
    };
    let bytes = github.tarball(commit, ArchiveLimits::DOWNLOAD).map_err(failed)?;
    let unpacked = archive::tarball(&bytes, ArchiveLimits::REPOSITORY, wanted)
        .map_err(|refused| anyhow::anyhow!("the archive of commit {commit} is refused: {refused}"))?;
    drop(bytes);
    Ok(CommitFiles::verified(tree, unpacked, wanted)?)
}

/// Returns every file and folder that grading with this config may read.
fn paths(config: &Config, baseline: Option<&RepoPath>) -> BTreeSet<RepoPath> {
    let judges = config.suites.iter().flat_map(|suite| {
        let rubrics = suite.judges.iter().map(|judge| &judge.rubric);
        rubrics.chain(suite.judges.iter().filter_map(|judge| judge.labels.as_ref()))
    });
    let mut paths: BTreeSet<RepoPath> = judges.chain([&config.file]).cloned().collect();
    paths.extend(baseline.or(config.baseline.as_ref()).cloned());
    for suite in &config.suites {
        paths.insert(suite.path.clone());
        let parent = suite.path.parent();
        let kind = suites::kind(&suite.kind);
        paths.extend(setting_files(kind.map(|kind| &kind.settings), suite).into_iter().map(|file| file.path));
        let fixtures = kind.map(|kind| kind.fixtures);
        if fixtures == Some(FixtureFolder::BesideSuite) && parent != RepoPath::root() {
            paths.insert(parent);
        }
        // The snapshots of a suite file are in the same folder.
        paths.insert(suite.path.parent().child("snapshots"));
        for agent in suite.agents.values() {
            paths.extend(agent.prompt.clone());
            if let Some(RunSource::Replay(folder)) = &agent.deterministic {
                paths.insert(folder.clone());
            }
        }
    }
    paths
}

fn is_below(path: &RepoPath, place: &RepoPath) -> bool {
    let rest = path.as_str().strip_prefix(place.as_str());
    place.as_str().is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
