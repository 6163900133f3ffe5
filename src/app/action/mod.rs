//! `goldgate action`: the container's entry point on GitHub.

mod comment;
mod inputs;
mod told;

use std::path::Path;

use self::inputs::Inputs;
use self::inputs::inside;
use super::baseline::Need;
use super::baseline::load;
use super::live;
use super::merge;
use super::plan::Wanted;
use super::run;
use super::run::Before;
use super::run::Job;
use super::show;
use super::trouble::Trouble;
use crate::diag::Diagnostic;
use crate::format::SourceText;
use crate::format::baseline_v1;
use crate::format::event;
use crate::format::event::Event;
use crate::model::Baseline;
use crate::model::RepoPath;
use crate::model::Report;
use crate::model::Tier;
use crate::publish;
use crate::render::markdown::Links;
use crate::world::Disk;
use crate::world::Env;
use crate::world::GitHub;
use crate::world::Loudness;
use crate::world::Refusal;
use crate::world::World;
use crate::world::append;

/// Grades, then says so on GitHub. A failure to say so never changes the verdict.
///
/// # Errors
/// Bad inputs or files, or an outside that failed before there was a verdict.
pub fn action(world: &World) -> Result<u8, Trouble> {
    let inputs = Inputs::read(&world.env)?;
    let workspace = world.env.get("GITHUB_WORKSPACE").unwrap_or(".").to_owned();
    let event = event_of(&world.env)?;
    let github = github(&world.env)?;
    let job = Job {
        config: inside(&workspace, &inputs.config),
        wanted: Wanted {
            tiers: inputs.tiers.clone(),
            suites: inputs.suites.clone(),
            samples: inputs.samples,
            shard: inputs.shard,
            ..Wanted::default()
        },
        authority: inputs.authority,
        commit: event.head.clone().or_else(|| world.env.get("GITHUB_SHA").map(str::to_owned)),
        base: event.base.clone(),
        live: live::Options {
            caching: live::Caching::Off,
            loudness: Loudness::Usual,
            max_cost_usd: inputs.max_cost_usd,
            sparing: if inputs.shard.is_some() { live::Sparing::Off } else { live::Sparing::Exact },
            ..live::Options::NONE
        },
        parts: None,
    };
    let guards = inputs.tiers.contains(&Tier::Deterministic);
    let before = match (&event.base, &github) {
        (Some(commit), Some(github)) if guards => Before::Commit(github, commit),
        (Some(_), None) if guards => Before::Unknown("no token is given"),
        (Some(_), _) | (None, _) => Before::None,
    };
    let done = run::done(&job, world, before, &|disk, _, configured| {
        baseline(&inputs, &workspace, &event, github.as_ref(), disk, configured)
    })?;
    let report = &done.report;
    let links = links(&world.env, report);
    let out = inside(&workspace, &inputs.out);
    let folder = Disk::create(Path::new(&out))?;
    show::write_all(&folder, report, &done.proposed())?;
    merge::write_part(&folder, &job, &done)?;
    told::say(world, report);
    if let Some(file) = world.env.get("GITHUB_STEP_SUMMARY") {
        append(Path::new(file), &publish::summary(report, &links))?;
    }
    let url = match (&event.pull_request, inputs.comment) {
        (Some(_), true) if inputs.shard.is_some() => {
            world.say("::notice title=goldgate::this job grades a part of the cases, so there is no comment\n");
            None
        }
        (Some(pull_request), true) => comment::comment(world, &inputs, pull_request, github.as_ref(), report, &links),
        (None, true) => {
            world.say("::notice title=goldgate::this event has no pull request, so there is no comment\n");
            None
        }
        (_, false) => None,
    };
    told::outputs(world, &inputs, report, url.as_deref())?;
    Ok(report.exit_code())
}

fn event_of(env: &Env) -> Result<Event, Trouble> {
    let Some(path) = env.get("GITHUB_EVENT_PATH") else {
        return Ok(Event { pull_request: None, base: None, head: None });
    };
    let (folder, name) = Path::new(path)
        .parent()
        .zip(Path::new(path).file_name().and_then(|name| name.to_str()))
        .ok_or_else(|| anyhow::anyhow!("GITHUB_EVENT_PATH is {path:?}, which names no file"))?;
    let file = RepoPath::root().child(name);
    let bytes =
        Disk::open(folder)?.read(&file).map_err(|_| anyhow::anyhow!("the event's payload {path} cannot be read"))?;
    Ok(event::read(&SourceText::new(file, bytes)?)?)
}

fn github(env: &Env) -> Result<Option<GitHub>, Trouble> {
    let (Some(token), Some(repository)) =
        (env.secret("INPUT_TOKEN").or_else(|| env.secret("GITHUB_TOKEN")), env.get("GITHUB_REPOSITORY"))
    else {
        return Ok(None);
    };
    let api = env.get("GITHUB_API_URL").unwrap_or("https://api.github.com");
    Ok(Some(GitHub::open(api, repository, &token)?))
}

/// The baseline on the base commit; without a base, as on a push, the one that is committed here.
fn baseline(
    inputs: &Inputs,
    workspace: &str,
    event: &Event,
    github: Option<&GitHub>,
    disk: &Disk,
    configured: Option<&RepoPath>,
) -> Result<Option<Baseline>, Trouble> {
    let Some(base) = &event.base else {
        let named = inputs.baseline.as_deref().map(|path| inside(workspace, path));
        return run::baseline_here(named.as_deref(), disk, configured);
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
        // Without GitHub there is only this tree; that is the case of a local trial, never of a pull request's job.
        return load(disk, file, Need::Configured);
    };
    match github.file(file, base) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => Ok(Some(baseline_v1::read(&SourceText::new(file.clone(), bytes)?)?)),
        Err(Refusal::Forbidden | Refusal::Missing) => Err(anyhow::anyhow!(
            "the baseline {file} of the base commit cannot be read: the job needs the permission `contents: read`"
        )
        .into()),
        Err(Refusal::Failed(error)) => Err(error.into()),
    }
}

fn links(env: &Env, report: &Report) -> Links {
    let (Some(server), Some(repository)) = (env.get("GITHUB_SERVER_URL"), env.get("GITHUB_REPOSITORY")) else {
        return Links::default();
    };
    Links {
        files: report.commit.as_ref().map(|commit| format!("{server}/{repository}/blob/{commit}")),
        run: env.get("GITHUB_RUN_ID").map(|run| format!("{server}/{repository}/actions/runs/{run}")),
        label: None,
    }
}
