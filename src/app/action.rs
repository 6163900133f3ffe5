//! `goldgate action`: the container's entry point on GitHub.

use std::path::Path;

use super::baseline::Need;
use super::baseline::load;
use super::cli::FormatArg;
use super::plan::Wanted;
use super::run;
use super::run::Job;
use super::show;
use super::trouble::Trouble;
use crate::diag::Diagnostic;
use crate::format::SourceText;
use crate::format::baseline_v1;
use crate::format::event;
use crate::format::event::Event;
use crate::model::Authority;
use crate::model::Baseline;
use crate::model::Origin;
use crate::model::PullRequest;
use crate::model::RepoPath;
use crate::model::Report;
use crate::model::RunNumber;
use crate::model::Tag;
use crate::model::Tier;
use crate::publish;
use crate::publish::Plan;
use crate::publish::Request;
use crate::publish::Stale;
use crate::render::annotations;
use crate::render::markdown::Links;
use crate::suites::sha256_hex;
use crate::world::Disk;
use crate::world::Env;
use crate::world::GitHub;
use crate::world::Refusal;
use crate::world::World;
use crate::world::append;

/// What the workflow's author wrote under `with:`.
struct Inputs {
    tiers: Vec<Tier>,
    authority: Authority,
    config: String,
    suites: Vec<String>,
    samples: Option<u32>,
    comment: bool,
    comment_key: String,
    baseline: Option<String>,
    out: String,
}

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
            ..Wanted::default()
        },
        authority: inputs.authority,
        commit: event.head.clone().or_else(|| world.env.get("GITHUB_SHA").map(str::to_owned)),
        base: event.base.clone(),
    };
    let done = run::done(&job, world, &|disk, configured| {
        baseline(&inputs, &workspace, &event, github.as_ref(), disk, configured)
    })?;
    let report = &done.report;
    let links = links(&world.env, report);
    let out = inside(&workspace, &inputs.out);
    show::write_all(&Disk::create(Path::new(&out))?, report, &done.proposed())?;
    say(world, report);
    if let Some(file) = world.env.get("GITHUB_STEP_SUMMARY") {
        append(Path::new(file), &publish::summary(report, &links))?;
    }
    let url = match (&event.pull_request, inputs.comment) {
        (Some(pull_request), true) => comment(world, &inputs, pull_request, github.as_ref(), report, &links),
        (None, true) => {
            world.say("::notice title=goldgate::this event has no pull request, so there is no comment\n");
            None
        }
        (_, false) => None,
    };
    outputs(world, &inputs, report, url.as_deref())?;
    Ok(report.exit_code())
}

impl Inputs {
    fn read(env: &Env) -> Result<Self, Trouble> {
        let get = |name: &str| {
            env.get(&format!("INPUT_{}", name.to_ascii_uppercase())).map(str::trim).filter(|text| !text.is_empty())
        };
        let refuse = |name: &str, found: &str, help: &str| {
            Diagnostic::of_file("action input", "bad-input", format!("{name} is {found:?}"), help)
        };
        let truth = |name: &str, default: bool| match get(name) {
            None => Ok(default),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => Err(refuse(name, other, "write true or false")),
        };
        if let Some(mode) = get("mode").filter(|mode| *mode != "run") {
            return Err(refuse("mode", mode, "this version knows the mode run").into());
        }
        let tiers = match get("tier").unwrap_or("deterministic") {
            "deterministic" => vec![Tier::Deterministic],
            "model" => vec![Tier::Model],
            "all" => vec![Tier::Deterministic, Tier::Model],
            other => return Err(refuse("tier", other, "write deterministic, model or all").into()),
        };
        let blocking = truth("blocking", tiers.contains(&Tier::Deterministic))?;
        let samples = match get("samples").or_else(|| env.get("GOLDGATE_SAMPLES")) {
            None => None,
            Some(text) => match text.parse() {
                Ok(samples @ 1..=1000) => Some(samples),
                Ok(_) | Err(_) => return Err(refuse("samples", text, "write a number from 1 to 1000").into()),
            },
        };
        Ok(Self {
            tiers,
            authority: if blocking { Authority::Blocking } else { Authority::Advisory },
            config: get("config").unwrap_or("goldgate.yaml").to_owned(),
            suites: get("suites")
                .unwrap_or_default()
                .split([',', '\n', ' '])
                .filter(|id| !id.is_empty())
                .map(str::to_owned)
                .collect(),
            samples,
            comment: truth("comment", true)?,
            comment_key: get("comment-key").unwrap_or("default").to_owned(),
            baseline: get("baseline").map(str::to_owned),
            out: get("out").unwrap_or(".goldgate/report").to_owned(),
        })
    }
}

fn inside(workspace: &str, path: &str) -> String {
    Path::new(workspace).join(path).to_string_lossy().into_owned()
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

/// The table and the annotations. Between the stop and start commands the runner takes no line for a command, whatever an agent
/// wrote into it.
fn say(world: &World, report: &Report) {
    let table = show::shown(report, FormatArg::Table, world);
    let token = sha256_hex(format!("{table}{}{}", std::process::id(), world.clock.now()).as_bytes());
    world.say(&format!("::group::goldgate\n::stop-commands::{token}\n{table}::{token}::\n::endgroup::\n"));
    world.say(&annotations::annotations(report));
}

fn comment(
    world: &World,
    inputs: &Inputs,
    pull_request: &PullRequest,
    github: Option<&GitHub>,
    report: &Report,
    links: &Links,
) -> Option<String> {
    let warn = |text: &str| {
        world.say(&format!("::warning title=goldgate::{text}\n"));
        None
    };
    let Some(github) = github else { return warn("no token is given, so there is no comment: set the input token") };
    match upsert(world, inputs, pull_request, github, report, links) {
        Ok(url) => url,
        Err(Refusal::Forbidden | Refusal::Missing) => match pull_request.origin {
            Origin::Fork => warn(
                "the comment could not be written: a pull request from a fork has a read-only token; the verdict stands, and the summary has everything",
            ),
            Origin::Same => warn(
                "the comment could not be written: the job needs the permission `pull-requests: write`; the verdict stands",
            ),
        },
        Err(Refusal::Failed(error)) => {
            let text = format!("the comment could not be written: {error:#}; the verdict stands");
            warn(&text.replace(['\r', '\n'], " "))
        }
    }
}

/// Rounds of read, plan, act, read back.
const ROUNDS: usize = 5;

fn upsert(
    world: &World,
    inputs: &Inputs,
    pull_request: &PullRequest,
    github: &GitHub,
    report: &Report,
    links: &Links,
) -> Result<Option<String>, Refusal> {
    let number = |name| world.env.get(name).and_then(|text| text.parse().ok()).unwrap_or_default();
    let author = github.author()?;
    let mut last = None;
    for _ in 0..ROUNDS {
        let current_head = github.head_of(pull_request.number)?;
        let request = Request {
            report,
            links,
            key: &inputs.comment_key,
            head: &pull_request.head,
            current_head: &current_head,
            run: RunNumber { run: number("GITHUB_RUN_ID"), attempt: number("GITHUB_RUN_ATTEMPT") },
            author: &author,
        };
        let written = match publish::plan(&request, &github.comments(pull_request.number)?) {
            Plan::Nothing(why) => {
                let why = match why {
                    Stale::NewerHead => "a run on a newer commit has written the comment already",
                    Stale::LaterRun => "a later run has written the comment already",
                };
                world.say(&format!("::notice title=goldgate::{why}; it is left as it is\n"));
                return Ok(None);
            }
            Plan::Create(body) => github.create_comment(pull_request.number, &body),
            Plan::Update { id, body, remove } => {
                let updated = github.update_comment(id, &body);
                if updated.is_ok() {
                    remove.into_iter().try_for_each(|other| github.remove_comment(other))?;
                }
                updated
            }
        };
        match written {
            // Another writer may have come between reading and writing: what stands there now decides.
            Ok(comment) if publish::is_written(&request, &github.comment(comment.id)?.body) => {
                return Ok(Some(comment.url));
            }
            Ok(_) => {}
            Err(Refusal::Failed(error)) => last = Some(error),
            Err(refused) => return Err(refused),
        }
    }
    Err(Refusal::Failed(last.unwrap_or_else(|| anyhow::anyhow!("other writers came between {ROUNDS} times"))))
}

fn outputs(world: &World, inputs: &Inputs, report: &Report, url: Option<&str>) -> Result<(), Trouble> {
    let Some(file) = world.env.get("GITHUB_OUTPUT") else { return Ok(()) };
    let counts = report.suites.iter().flat_map(|suite| &suite.agents).fold(
        std::collections::BTreeMap::new(),
        |mut counts, agent| {
            agent.taxonomy().into_iter().for_each(|(tag, count)| *counts.entry(tag).or_insert(0) += count);
            counts
        },
    );
    let taxonomy: Vec<String> = Tag::ALL
        .into_iter()
        .map(|tag| format!("\"{}\":{}", tag.word(), counts.get(&tag).copied().unwrap_or(0)))
        .collect();
    let regressions = publish::regressions(report);
    let lines = [
        ("verdict", report.verdict.word().to_owned()),
        ("exit-code", report.exit_code().to_string()),
        ("report", format!("{}/report.json", inputs.out)),
        ("proposed-baseline", format!("{}/proposed-baseline.json", inputs.out)),
        ("regressions", regressions.to_string()),
        ("taxonomy", format!("{{{}}}", taxonomy.join(","))),
        ("comment-url", url.unwrap_or_default().to_owned()),
    ];
    // Every value is one line, so the plain form cannot be broken out of.
    let text: String =
        lines.iter().map(|(name, value)| format!("{name}={}\n", value.replace(['\r', '\n'], " "))).collect();
    append(Path::new(file), &text)?;
    Ok(())
}
