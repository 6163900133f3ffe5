//! `mode: trusted`: grades a pull request that is read as data, by the rules of the base branch and by its own.
//!
//! The workflow is the base branch's (`pull_request_target`), nothing is checked out, no link is followed, and the function that
//! grades is handed two sets of files in memory and no client.

use std::collections::BTreeSet;

use super::commit_files::{BaseView, CommitFiles};
use super::inputs::ActionInputs;
use super::recorded_approval::ApprovalQuery;
use super::{current_pull_request, event_of, github, publish_result, recorded_approval};
use crate::app::cli_error::CliError;
use crate::app::plan::Selection;
use crate::app::run::{GradedRun, RunOptions};
use crate::app::{baseline, live, run};
use crate::diag::{Diagnostic, Diagnostics, ReadFailure};
use crate::format::archive::ArchiveLimits;
use crate::format::{SourceText, archive, config};
use crate::golden_changes::BaseFiles;
use crate::model::{Config, RepoPath, RunSource, Tier};
use crate::publish::ConfigKey;
use crate::suites::{self, Files, FixtureFolder};
use crate::world::{Clock, GitHub, GitHubError, World};

/// Grades the event's pull request.
///
/// # Errors
/// Bad inputs or files, or an outside that failed before there was a verdict.
pub fn trusted(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let event = event_of(&world.env)?;
    let bad = |what: &str, help: &str| CliError::from(Diagnostic::of_file("action input", "bad-input", what, help));
    let Some(pull_request) = event.pull_request.clone() else {
        let help = "start the workflow on pull_request_target";
        return Err(bad("mode is \"trusted\" on an event without a pull request", help));
    };
    if inputs.tiers != [Tier::Deterministic] {
        return Err(bad("mode \"trusted\" replays recordings and calls nothing", "write tier: deterministic"));
    }
    if inputs.shard.is_some() {
        return Err(bad("mode \"trusted\" grades the whole in one job", "leave shard out"));
    }
    let Some(github) = github(&world.env)? else {
        return Err(bad("mode is \"trusted\", and no token is given", "set the input token"));
    };
    let file = inside("config", &inputs.config)?;
    let baseline = inputs.baseline.as_deref().map(|path| inside("baseline", path)).transpose()?;
    // The merge holds the change alone: a head that is behind its base has removed nothing.
    let merged = current_pull_request::test_merge(&github, &event, &pull_request)?;
    let ground = TrustedInputs::read(&github, &file, baseline.as_ref(), [&merged.base, &merged.merge])?;
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
    let done = governed(&github, &key, &job, &world.clock, &ground, baseline.as_ref())?;
    publish_result(world, inputs, &event, Some(&github), &job, &done)
}

/// A path of an input, inside the repository.
fn inside(input: &str, path: &str) -> Result<RepoPath, Diagnostic> {
    RepoPath::root().join(path).map_err(|bad| {
        let what = format!("{input} is {path:?}, which {bad}");
        Diagnostic::of_file("action input", "path-outside", what, "write a path inside the repository")
    })
}

/// The result, with the approval that counts for it.
fn governed(
    github: &GitHub,
    key: &ConfigKey,
    job: &RunOptions,
    clock: &Clock,
    ground: &TrustedInputs,
    named: Option<&RepoPath>,
) -> Result<GradedRun, CliError> {
    let TrustedInputs { base, head, .. } = ground;
    let standing = |side: &CommitFiles, configured: Option<&RepoPath>| {
        named.or(configured).map_or(Ok(None), |file| baseline::on(side, file))
    };
    let both = BaseView { base, head };
    let mut done = judged(job, clock, ground, Some(&both), &|configured| standing(base, configured))?;
    let Some(commit) = &job.commit else { return Ok(done) };
    let Some(approval) = recorded_approval::consent(github, key, ApprovalQuery::Commit(commit), &mut done)? else {
        return Ok(done);
    };
    // What would be merged has to be a baseline: an approval is of its numbers.
    let committed = standing(head, done.config.baseline.as_ref())?;
    recorded_approval::approved(done, approval, committed.as_ref(), |accepted| {
        // The golden changes are approved, so they are not looked for again.
        judged(job, clock, ground, None, &|_| Ok(Some(accepted.clone())))
    })
}

/// Grades: files in, a report out. The head's rules judge, and the base's where it is given.
fn judged(
    job: &RunOptions,
    clock: &Clock,
    ground: &TrustedInputs,
    base: Option<&BaseView<'_>>,
    baseline: run::BaselineProvider<'_>,
) -> Result<GradedRun, CliError> {
    let TrustedInputs { base: base_files, head, base_config, file } = ground;
    replays_alone(base_config, &base_files.text(file)?)?;
    let source = head.text(file)?;
    replays_alone(&config::read_config(&source)?, &source)?;
    let ground = run::GradeInputs {
        files: head,
        config: file,
        // Recordings alone: there is nothing here that could call anything.
        make: &|_, _| Ok(live::LiveRuns::default()),
        baseline,
        base: base.map(|base| base as &dyn BaseFiles),
    };
    run::graded_on(job, clock, &ground)
}

/// A live target would run with this job's token, on the word of a stranger's files.
fn replays_alone(config: &Config, source: &SourceText) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::default();
    for suite in config.suites.iter().filter(|suite| suite.tiers.contains(&Tier::Deterministic)) {
        for (name, agent) in &suite.agents {
            if let Some(RunSource::Live(live)) = &agent.deterministic {
                let what = format!(
                    "{}/{name} calls the live target \"{}\", and mode trusted calls none",
                    suite.id, live.target
                );
                problems.push(Diagnostic::of_file(
                    &source.file,
                    "live-target",
                    what,
                    "give the deterministic tier replay: FOLDER, or leave the suite out with suites:",
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
}

impl TrustedInputs {
    /// Reads the configs of both commits, then both commits as far as these lead.
    fn read(
        github: &GitHub,
        file: &RepoPath,
        baseline: Option<&RepoPath>,
        [base, head]: [&str; 2],
    ) -> Result<Self, CliError> {
        let what = "the base branch has no such config";
        let help = "merge one first: mode trusted judges by the base's config, too";
        let base_config = Self::config(github, file, base, [what, help])?.map_err(unreadable_base)?;
        let what = "the head commit has no such config";
        let help = "keep the config of the base branch, or leave the suites out of it";
        let head_config = Self::config(github, file, head, [what, help])??;
        let configs = [&base_config, &head_config];
        let places: BTreeSet<RepoPath> = configs.iter().flat_map(|config| places(config, baseline)).collect();
        let agents = || configs.iter().flat_map(|config| &config.suites).flat_map(|suite| suite.agents.values());
        let wanted = |path: &RepoPath| {
            let fits = || agents().flat_map(|agent| &agent.fingerprint).any(|glob| glob.fits(path));
            places.iter().any(|place| is_below(path, place)) || fits()
        };
        let (base, head) = (held(github, base, &wanted)?, held(github, head, &wanted)?);
        Ok(Self { base, head, base_config, file: file.clone() })
    }

    /// The config of a commit, or what is wrong in it.
    fn config(
        github: &GitHub,
        file: &RepoPath,
        commit: &str,
        [what, help]: [&'static str; 2],
    ) -> Result<Result<Config, Diagnostics>, CliError> {
        match github.file(file, commit) {
            Ok(Some(bytes)) => Ok(SourceText::new(file.clone(), bytes)
                .map_err(Diagnostics::from)
                .and_then(|source| config::read_config(&source))),
            Ok(None) => Err(Diagnostic::of_read(file, ReadFailure::MissingFile, what, help).into()),
            Err(refusal) => Err(failed(refusal)),
        }
    }
}

/// Without the base's config there is no judge, so there is no verdict on the pull request.
fn unreadable_base(problems: Diagnostics) -> CliError {
    let first = problems.sorted().first().map(ToString::to_string).unwrap_or_default();
    anyhow::anyhow!("this version cannot read the config of the base commit: {first}; correct it on the base branch")
        .into()
}

fn failed(refusal: GitHubError) -> CliError {
    match refusal {
        GitHubError::Forbidden | GitHubError::Missing => {
            anyhow::anyhow!("the files of a commit cannot be read: the job needs the permission `contents: read`")
                .into()
        }
        GitHubError::Failed(error) => error.into(),
    }
}

fn held(github: &GitHub, commit: &str, wanted: &dyn Fn(&RepoPath) -> bool) -> Result<CommitFiles, CliError> {
    let Some(tree) = github.tree(commit).map_err(failed)? else {
        return Err(anyhow::anyhow!(
            "commit {commit} has more files than GitHub lists in one answer, and mode trusted holds every file against that list"
        )
        .into());
    };
    let bytes = github.tarball(commit, ArchiveLimits::DOWNLOAD).map_err(failed)?;
    let unpacked = archive::tarball(&bytes, ArchiveLimits::REPOSITORY, wanted)
        .map_err(|refused| anyhow::anyhow!("the files of commit {commit} are refused: {refused}"))?;
    drop(bytes);
    Ok(CommitFiles::verified(tree, unpacked, wanted)?)
}

/// Every file and folder that a grading by this config may read.
fn places(config: &Config, baseline: Option<&RepoPath>) -> BTreeSet<RepoPath> {
    let lists = config.suites.iter().flat_map(|suite| {
        let rubrics = suite.judges.iter().map(|judge| &judge.rubric);
        suite.terms.values().chain(suite.flags.values().map(|flag| &flag.terms)).chain(rubrics)
    });
    let mut places: BTreeSet<RepoPath> = lists.chain([&config.file]).cloned().collect();
    places.extend(baseline.or(config.baseline.as_ref()).cloned());
    for suite in &config.suites {
        places.insert(suite.path.clone());
        let parent = suite.path.parent();
        let fixtures = suites::kind(&suite.kind).map(|kind| kind.fixtures);
        if fixtures == Some(FixtureFolder::BesideSuite) && parent != RepoPath::root() {
            places.insert(parent);
        }
        places.extend(suite.labels.iter().chain(&suite.tools).cloned());
        places.extend(suite.judges.iter().filter_map(|judge| judge.labels.clone()));
        // A suite that is a file has its snapshots beside it.
        places.insert(suite.path.parent().child("snapshots"));
        for agent in suite.agents.values() {
            places.extend(agent.prompt.clone());
            if let Some(RunSource::Replay(folder)) = &agent.deterministic {
                places.insert(folder.clone());
            }
        }
    }
    places
}

fn is_below(path: &RepoPath, place: &RepoPath) -> bool {
    let rest = path.as_str().strip_prefix(place.as_str());
    place.as_str().is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
