//! `goldgate action`: the container's entry point on GitHub.

mod approve;
mod baseline_pr;
mod bump;
mod check_run;
mod comment;
mod commit_files;
mod current_pull_request;
mod inputs;
mod job_output;
mod measured_run;
mod merged_shards;
mod publishing;
mod pull_request_context;
mod recorded_approval;
mod setup;
mod trusted;

use std::path::Path;

use self::comment::{CommentInput, CommentOutcome};
use self::inputs::{ActionInputs, ActionMode, inside};
use self::recorded_approval::ApprovalQuery;
pub use self::setup::check_setup;
use super::cli_error::CliError;
use super::commands::run::{BaseSource, GradedRun, RunOptions};
use super::commands::{merge, run};
use super::live;
use super::pipeline::baseline::{Need, load};
use super::pipeline::plan::Selection;
use super::pipeline::{baseline, show};
use crate::diag::Diagnostic;
use crate::files::SourceText;
use crate::format::event::Event;
use crate::format::{baseline_v1, event};
use crate::model::{Baseline, EPSILON, RepoPath, Report, Tier};
use crate::publish;
use crate::publish::ReportOrigin;
use crate::render::markdown::Links;
use crate::world::{Disk, Env, GitHub, GitHubError, Loudness, World, append};

/// Runs the mode that the input `mode` selects. Returns the exit code.
///
/// # Errors
/// Bad inputs or files, or a failed request.
pub fn action(world: &World) -> Result<u8, CliError> {
    let inputs = ActionInputs::read(&world.env)?;
    match inputs.mode {
        ActionMode::Run => run_mode(world, &inputs),
        ActionMode::Merge => merged_shards::merge_shards(world, &inputs),
        ActionMode::Trusted => trusted::trusted(world, &inputs),
        ActionMode::Publish => publishing::publish_report(world, &inputs),
        ActionMode::Approve => pull_request_context::warned(world, approve::approve(world, &inputs)),
        ActionMode::Bump => pull_request_context::warned(world, bump::bump(world, &inputs)),
        ActionMode::BaselinePr => pull_request_context::warned(world, baseline_pr::baseline_pr(world, &inputs)),
    }
}

/// The context of a job that grades a checkout.
struct JobContext<'a> {
    world: &'a World,
    inputs: &'a ActionInputs,
    workspace: String,
    github: Option<GitHub>,
    event: Event,
}

impl<'a> JobContext<'a> {
    fn open(world: &'a World, inputs: &'a ActionInputs) -> Result<Self, CliError> {
        let workspace = world.env.get("GITHUB_WORKSPACE").unwrap_or(".").to_owned();
        let github = github(&world.env)?;
        let event = current_pull_request::checked_out(&world.env, event_of(&world.env)?, github.as_ref())?;
        Ok(Self { world, inputs, workspace, github, event })
    }

    /// The graded commit, if the event or the runner names it.
    fn commit(&self) -> Option<String> {
        self.event.head.clone().or_else(|| self.world.env.get("GITHUB_SHA").map(str::to_owned))
    }
}

/// Grades the checkout and publishes the result.
fn run_mode(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let context = JobContext::open(world, inputs)?;
    let job = RunOptions {
        config: inside(&context.workspace, &inputs.config),
        wanted: Selection {
            tiers: inputs.tiers.clone(),
            suites: inputs.suites.clone(),
            samples: inputs.samples,
            shard: inputs.shard,
            target: world.env.get("GOLDGATE_TARGET").map(str::to_owned),
            ..Selection::default()
        },
        authority: inputs.authority,
        deciding: inputs.deciding,
        commit: context.commit(),
        base: context.event.base.clone(),
        live: live::LiveOptions {
            caching: live::Caching::Off,
            loudness: Loudness::Usual,
            max_cost_usd: inputs.max_cost_usd,
            sparing: if inputs.shard.is_some() { live::EarlyStopping::Off } else { live::EarlyStopping::Exact },
            ..live::LiveOptions::NONE
        },
        parts: None,
    };
    grade_and_publish(&context, &job, &|_| Ok(()))
}

/// Grades, judges, looks for an approval and publishes the result. `complete` adds what only the caller knows.
fn grade_and_publish(
    context: &JobContext<'_>,
    job: &RunOptions,
    complete: &dyn Fn(&mut GradedRun) -> Result<(), Diagnostic>,
) -> Result<u8, CliError> {
    let JobContext { world, inputs, workspace, github, event } = context;
    let guards = job.is_compared();
    let before = match (&event.base, github) {
        (Some(commit), Some(github)) if guards => BaseSource::Commit(github, commit),
        (Some(_), None) if guards => BaseSource::Unknown("the token is missing"),
        (Some(_), _) | (None, _) => BaseSource::None,
    };
    let job = &RunOptions {
        live: live::LiveOptions { keys: keys(job, event, github.as_ref())?, ..job.live.clone() },
        ..job.clone()
    };
    let mut done = run::grade_worktree(job, world, before, &|disk, _, configured| {
        baseline(inputs, workspace, event, github.as_ref(), disk, configured)
    })?;
    complete(&mut done)?;
    let done = match (github, &event.base, &event.head) {
        (Some(github), Some(_), Some(_)) => apply_approval(context, job, github, done)?,
        _ => done,
    };
    publish_result(world, inputs, event, github.as_ref(), job, &done)
}

/// Returns the hosts that may receive API keys: on a pull request only those in the base commit's config.
fn keys(job: &RunOptions, event: &Event, github: Option<&GitHub>) -> Result<live::KeyHosts, CliError> {
    if !job.wanted.tiers.contains(&Tier::Model) {
        return Ok(live::KeyHosts::Any);
    }
    let (disk, file) = Disk::of_config(&job.config)?;
    Ok(match (&event.base, github) {
        (None, _) => live::KeyHosts::Any,
        (Some(_), None) => live::named_by(None),
        (Some(commit), Some(github)) => live::keys_of_base(github, commit, &disk, &file),
    })
}

/// Publishes the result on GitHub and returns the exit code. A failed comment or check run never changes the verdict.
fn publish_result(
    world: &World,
    inputs: &ActionInputs,
    event: &Event,
    github: Option<&GitHub>,
    job: &RunOptions,
    done: &GradedRun,
) -> Result<u8, CliError> {
    let workspace = world.env.get("GITHUB_WORKSPACE").unwrap_or(".");
    let report = &done.report;
    let links = links(&world.env, inputs, report);
    let out = inside(workspace, &inputs.out);
    let folder = Disk::create(Path::new(&out))?;
    show::write_all(&folder, report, &done.proposed())?;
    merge::write_part(&folder, job, done)?;
    job_output::say(world, report);
    if let Some(file) = world.env.get("GITHUB_STEP_SUMMARY") {
        append(Path::new(file), &publish::summary(report, &links))?;
    }
    let outcome = match (&event.pull_request, inputs.comment) {
        (Some(_), true) if inputs.shard.is_some() => {
            world.say("::notice title=goldgate::this job grades one shard of the cases, so it writes no comment\n");
            None
        }
        (Some(pull_request), true) => {
            let input =
                CommentInput { report, links: &links, run: comment::this_run(world), witness: ReportOrigin::Own };
            Some(comment::comment(world, inputs, pull_request, github, &input))
        }
        (None, true) => {
            world.say("::notice title=goldgate::this event has no pull request, so no comment is written\n");
            None
        }
        (_, false) => None,
    };
    check_run::check_run(world, github, report, &links);
    job_output::outputs(world, inputs, report, outcome.as_ref().and_then(CommentOutcome::url))?;
    Ok(report.exit_code())
}

/// Returns the result with the approval that applies to it.
fn apply_approval(
    context: &JobContext<'_>,
    job: &RunOptions,
    github: &GitHub,
    mut done: GradedRun,
) -> Result<GradedRun, CliError> {
    let JobContext { world, inputs, workspace, github: _, event } = context;
    // Without a comparison there is nothing to approve, and the result of one shard cannot be approved.
    let decides = job.is_compared() && job.wanted.shard.is_none();
    let is_whole = done.report.called_off.is_none();
    let Some(head) = job.commit.as_deref().filter(|_| decides && is_whole) else { return Ok(done) };
    let of = event.queued.map_or(ApprovalQuery::Commit(head), ApprovalQuery::Queued);
    let Some(approval) = recorded_approval::find_approval(github, &inputs.key(&done.report), of, &mut done)? else {
        return Ok(done);
    };
    if !job.wanted.tiers.contains(&Tier::Deterministic) {
        return Ok(recorded_approval::approved_as_measured(done, approval));
    }
    let named = inputs.baseline.as_deref().map(|path| inside(workspace, path));
    let (disk, _) = Disk::of_config(&job.config)?;
    let committed = baseline::here(named.as_deref(), &disk, done.config.baseline.as_ref())?;
    // The models are not called a second time.
    let wanted = Selection { tiers: vec![Tier::Deterministic], ..job.wanted.clone() };
    let again = RunOptions { wanted, ..job.clone() };
    recorded_approval::apply_approval(done, approval, committed.as_ref(), |accepted| {
        // The golden changes are approved, so they are not computed again.
        run::grade_worktree(&again, world, BaseSource::None, &|_, _, _| Ok(Some(accepted.clone())))
    })
}

fn event_of(env: &Env) -> Result<Event, CliError> {
    match payload(env)? {
        Some(source) => Ok(event::read_event(&source)?),
        None => Ok(Event::NONE),
    }
}

fn payload(env: &Env) -> Result<Option<SourceText>, CliError> {
    let Some(path) = env.get("GITHUB_EVENT_PATH") else { return Ok(None) };
    let (folder, name) = Path::new(path)
        .parent()
        .zip(Path::new(path).file_name().and_then(|name| name.to_str()))
        .ok_or_else(|| anyhow::anyhow!("GITHUB_EVENT_PATH is {path:?}, which does not name a file"))?;
    let file = RepoPath::root().child(name);
    let bytes =
        Disk::open(folder)?.read(&file).map_err(|_| anyhow::anyhow!("the event payload {path} cannot be read"))?;
    Ok(Some(SourceText::new(file, bytes)?))
}

fn github(env: &Env) -> Result<Option<GitHub>, CliError> {
    let (Some(token), Some(repository)) =
        (env.secret("INPUT_TOKEN").or_else(|| env.secret("GITHUB_TOKEN")), env.get("GITHUB_REPOSITORY"))
    else {
        return Ok(None);
    };
    let api = env.get("GITHUB_API_URL").unwrap_or("https://api.github.com");
    let github = GitHub::open(api, repository, &token)?;
    Ok(Some(match env.get("GITHUB_GRAPHQL_URL") {
        Some(address) => github.with_graphql(address, &token)?,
        None => github,
    }))
}

/// Reads the baseline of the base commit or, without a base as on a push, of the checkout.
fn baseline(
    inputs: &ActionInputs,
    workspace: &str,
    event: &Event,
    github: Option<&GitHub>,
    disk: &Disk,
    configured: Option<&RepoPath>,
) -> Result<Option<Baseline>, CliError> {
    let Some(base) = &event.base else {
        let named = inputs.baseline.as_deref().map(|path| inside(workspace, path));
        return baseline::here(named.as_deref(), disk, configured);
    };
    let named = match &inputs.baseline {
        None => None,
        Some(path) => Some(RepoPath::root().join(path).map_err(|bad| {
            Diagnostic::of_file(
                "action input",
                "path-outside",
                format!("baseline is {path:?}, which {bad}"),
                "write a path inside the repository",
            )
        })?),
    };
    let Some(file) = named.as_ref().or(configured) else { return Ok(None) };
    let Some(github) = github else {
        // Without GitHub only the checkout is available: a local trial, never the job of a pull request.
        return load(disk, file, Need::Configured);
    };
    match github.file(file, base) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => Ok(Some(baseline_v1::read_baseline(&SourceText::new(file.clone(), bytes)?)?)),
        Err(GitHubError::Forbidden | GitHubError::Missing) => Err(anyhow::anyhow!(
            "the baseline {file} of the base commit cannot be read: the job needs the permission `contents: read`"
        )
        .into()),
        Err(GitHubError::Failed(error)) => Err(error.into()),
    }
}

fn links(env: &Env, inputs: &ActionInputs, report: &Report) -> Links {
    let (Some(server), Some(repository)) = (env.get("GITHUB_SERVER_URL"), env.get("GITHUB_REPOSITORY")) else {
        return Links::default();
    };
    Links {
        files: report.commit.as_ref().map(|commit| format!("{server}/{repository}/blob/{commit}")),
        run: env.get("GITHUB_RUN_ID").map(|run| format!("{server}/{repository}/actions/runs/{run}")),
        label: can_be_approved(report).then(|| inputs.approving.label.clone()),
    }
}

/// Whether an approval would change the result.
fn can_be_approved(report: &Report) -> bool {
    let metrics = report.suites.iter().flat_map(|suite| &suite.agents).flat_map(|agent| &agent.metrics);
    let moved = metrics.filter_map(|metric| metric.comparison.delta).any(|delta| delta.abs() > EPSILON);
    report.approval.is_none() && (moved || report.unapproved().next().is_some())
}
