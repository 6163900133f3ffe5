//! `goldgate record`: starts an agent once for each case, and records its answers and its model calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::app::cli::RecordArgs;
use crate::diag::{Code, Diagnostic};
use crate::evaluation::plan::{Plan, plan};
use crate::evaluation::selection::Selection;
use crate::files::{Files, SourceText};
use crate::format::capture::recorded_exchanges;
use crate::format::recording_layout::{RecordingPaths, sample_name};
use crate::format::run_v1;
use crate::live;
use crate::live::{LiveOptions, LiveRuns};
use crate::model::{
    AgentName, CaptureSource, LiveSource, Loudness, Protocol, RECORDED_COMMAND, RecordPolicy,
    RepoPath, RunKey, RunSource, RunStatus, Target, Tier, Transport,
};
use crate::render::{CliError, plural};
use crate::world::{Disk, RecordingFiles, RecordingSet, World};

/// The exit code if a sample could not be recorded.
const NOT_RECORDED: u8 = 3;

/// Records the selected cases. Returns the exit code.
///
/// # Errors
/// Bad input, found before the agent is started, or files that cannot be written.
pub fn record(args: &RecordArgs, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let samples = args.samples.and_then(|stated| stated.0);
    let mut plan = plan(
        &disk,
        &file,
        Selection {
            samples,
            ..args.chosen.chosen()?
        },
        &world.clock.days(),
    )?;
    world.redact_by(&plan.config, &plan.config);
    let recorded = redirect(&mut plan, args)?;
    let keeps = args.missing || args.until_right;
    let options = LiveOptions {
        least: live::LeastSamples::AsRecorded,
        sparing: if args.until_right {
            live::EarlyStopping::FirstRight
        } else {
            live::EarlyStopping::Off
        },
        earlier: live::EarlierAnswers::None,
        loudness: if args.quiet {
            Loudness::Quiet
        } else {
            Loudness::Usual
        },
        max_cost_usd: args.max_cost_usd,
        upstream: args.upstream.clone(),
        current: if keeps {
            live::CurrentRecordings::Kept
        } else {
            live::CurrentRecordings::Replaced
        },
        ..LiveOptions::NONE
    };
    let made = live::make(&plan, Tier::Model, &disk, world, &options)?;
    for note in &made.notes {
        world.tell(note);
    }
    for run in &made.not_run {
        world.tell(&run.message);
    }
    if let Some(interruption) = made.called_off {
        world.tell("nothing was recorded: the recordings are unchanged");
        return Ok(interruption.exit_code());
    }
    let outcome = RecordedRuns::of(&made);
    let out = args
        .out
        .as_deref()
        .map(|out| Disk::create(Path::new(out)))
        .transpose()?;
    let into = out.as_ref().unwrap_or(&disk);
    let mut sets: Vec<RecordingSet<'_>> = outcome.sets(&|key| match &args.out {
        Some(_) => Some(RepoPath::root()),
        None => recorded
            .get(&(key.suite.to_string(), key.agent.clone()))
            .cloned(),
    });
    let is_missing_only = keeps && !sets.is_empty();
    if keeps {
        sets.retain(|set| !is_recorded(into, set));
    }
    into.swap(&sets)?;
    let files = sets.iter().map(|set| set.paths.single());
    if let Some(note) = into.ignored_note(files) {
        world.tell(&note);
    }
    if !sets.is_empty()
        && let Some(note) = disk.untracked_note(&made.agent_files)
    {
        world.tell(&note);
    }
    outcome.tell(args.out.as_deref(), &sets, world);
    let is_complete = outcome.failed.is_empty()
        && made.not_run.is_empty()
        && (!sets.is_empty() || is_missing_only);
    Ok(if is_complete { 0 } else { NOT_RECORDED })
}

/// Whether the files of a set are there already: with `--missing`, recordings that are kept.
fn is_recorded(disk: &Disk, set: &RecordingSet<'_>) -> bool {
    match &set.files {
        RecordingFiles::Single(text) => has_text(disk, &set.paths.single(), text),
        RecordingFiles::Several(texts) => texts.iter().all(|(sample, text)| {
            let file = set.paths.folder().child(&sample_name(*sample));
            has_text(disk, &file, text)
        }),
    }
}

fn has_text(disk: &Disk, file: &RepoPath, text: &[u8]) -> bool {
    disk.bytes(file).is_ok_and(|bytes| bytes == text)
}

type RecordingFolders = BTreeMap<(String, AgentName), RepoPath>;

/// Lets the selected agents be run by the program of the command line, or by their targets with `capture`.
fn redirect(plan: &mut Plan, args: &RecordArgs) -> Result<RecordingFolders, CliError> {
    if !args.command.is_empty() {
        refuse_several_agents(plan)?;
        plan.config
            .targets
            .insert(RECORDED_COMMAND.to_owned(), target(args));
    }
    let (mut folders, mut problem) = (RecordingFolders::new(), None);
    let targets = plan.config.targets.clone();
    for loaded in &mut plan.suites {
        let chosen: BTreeSet<AgentName> = loaded
            .chosen_to_run(&plan.wanted)
            .flat_map(|pair| &pair.runs)
            .map(|key| key.agent.clone())
            .collect();
        loaded.config.tiers = vec![Tier::Model];
        loaded.judges.clear();
        let suite = loaded.config.id.to_string();
        for (name, agent) in &mut loaded.config.agents {
            let of_tiers = [&agent.model, &agent.deterministic].into_iter().flatten();
            let captured_target = of_tiers.filter_map(captured(&targets)).next().cloned();
            let target = if args.command.is_empty() {
                captured_target
            } else {
                Some(RECORDED_COMMAND.to_owned())
            };
            agent.model = None;
            let Some(target) = target.filter(|_| chosen.contains(name)) else {
                continue;
            };
            let folder = agent.deterministic.as_ref().and_then(RunSource::recordings);
            match (folder, &args.out) {
                (Some(folder), _) => {
                    folders.insert((suite.clone(), name.clone()), folder.clone());
                }
                (None, Some(_)) => {}
                (None, None) => {
                    problem = problem.or(Some(Diagnostic::of_file(
                        &plan.config.file,
                        Code::NO_FOLDER,
                        format!("{suite}/{name} has no folder of recordings"),
                        "add deterministic: { replay: FOLDER }, or use --out DIR",
                    )));
                }
            }
            agent.model = Some(RunSource::Live(LiveSource {
                target,
                critic: None,
                record: false,
                exchanges: None,
            }));
        }
    }
    match problem {
        Some(problem) => Err(problem.into()),
        None if plan.suites.iter().all(|loaded| {
            loaded
                .config
                .agents
                .values()
                .all(|agent| agent.model.is_none())
        }) =>
        {
            let help = "write the agent's command after --, or add a target with capture to its model tier; `goldgate run --tier model --record DIR` \
                        records agents of other targets";
            Err(Diagnostic::of_file(
                &plan.config.file,
                Code::NOTHING_SELECTED,
                "no agent can be recorded",
                help,
            )
            .into())
        }
        None => Ok(folders),
    }
}

/// Refuses to let one command answer for several agents: it would replace the recordings of all of them.
fn refuse_several_agents(plan: &Plan) -> Result<(), Diagnostic> {
    let pairs = plan
        .suites
        .iter()
        .flat_map(|loaded| loaded.chosen_to_run(&plan.wanted));
    let agents: BTreeSet<&str> = pairs
        .flat_map(|pair| &pair.runs)
        .map(|key| key.agent.as_str())
        .collect();
    if agents.len() < 2 {
        return Ok(());
    }
    let agents: Vec<&str> = agents.into_iter().collect();
    let message = format!(
        "the command would be recorded as {} agents: {}",
        agents.len(),
        agents.join(", ")
    );
    let help = "name the agent that it starts with --agent";
    Err(Diagnostic::of_file(
        &plan.config.file,
        Code::NO_AGENT,
        message,
        help,
    ))
}

/// The target of a live source whose model calls are recorded.
fn captured(targets: &BTreeMap<String, Target>) -> impl Fn(&RunSource) -> Option<&String> {
    move |source| {
        let live = source.live()?;
        let transport = &targets.get(&live.target)?.transport;
        let is_captured = matches!(
            transport,
            Transport::Command {
                protocol: Protocol::Captured(_),
                ..
            }
        );
        is_captured.then_some(&live.target)
    }
}

/// The program of the command line as a target.
fn target(args: &RecordArgs) -> Target {
    Target {
        transport: Transport::Command {
            argv: args.command.clone(),
            protocol: Protocol::Captured(CaptureSource::Auto),
            env: args.env.clone(),
        },
        concurrency: Some(args.concurrency),
        timeout: Some(args.timeout),
        stall: None,
        record: RecordPolicy::Models,
    }
}

/// The runs that were made, by case.
struct RecordedRuns<'a> {
    /// The texts of the samples of each complete case.
    complete: BTreeMap<&'a RunKey, &'a BTreeMap<u32, String>>,
    /// Samples that did not complete, with the reason.
    failed: Vec<String>,
    /// Samples that made no call of a model through the endpoint.
    silent: usize,
}

impl<'a> RecordedRuns<'a> {
    fn of(made: &'a LiveRuns) -> Self {
        let mut runs = Self {
            complete: BTreeMap::new(),
            failed: Vec::new(),
            silent: 0,
        };
        for (key, samples) in &made.records {
            let failures = runs.failed.len();
            for (sample, text) in samples {
                runs.look_at(key, *sample, text);
            }
            if runs.failed.len() == failures {
                runs.complete.insert(key, samples);
            }
        }
        runs
    }

    fn look_at(&mut self, key: &RunKey, sample: u32, text: &str) {
        let source = SourceText::from_text(
            RepoPath::root().child(&sample_name(sample)),
            text.to_owned(),
        );
        let why = match run_v1::read_run(&source, key, sample) {
            Ok(run) if run.status == RunStatus::Completed => {
                let exchanges =
                    recorded_exchanges(text).map_or(0, |recorded| recorded.exchanges.len());
                self.silent += usize::from(exchanges == 0);
                return;
            }
            Ok(run) => run
                .error
                .unwrap_or_else(|| format!("it ended with {}", run.status.as_str())),
            Err(problem) => problem.to_string(),
        };
        self.failed.push(format!(
            "{}/{}/{} sample {sample}: {why}",
            key.suite, key.agent, key.case
        ));
    }

    /// The files to write: a case of which a sample failed keeps its recordings.
    fn sets(&self, folder: &dyn Fn(&RunKey) -> Option<RepoPath>) -> Vec<RecordingSet<'a>> {
        let mut sets = Vec::new();
        for (key, samples) in &self.complete {
            let Some(folder) = folder(key) else { continue };
            let mut texts = samples
                .iter()
                .map(|(sample, text)| (*sample, text.as_bytes()));
            let files = match (texts.next(), samples.len()) {
                (Some((_, text)), 1) => RecordingFiles::Single(text),
                (first, _) => RecordingFiles::Several(first.into_iter().chain(texts).collect()),
            };
            sets.push(RecordingSet {
                paths: RecordingPaths::new(&folder, &key.agent, &key.case),
                files,
            });
        }
        sets
    }

    fn tell(&self, out: Option<&str>, sets: &[RecordingSet<'_>], world: &World) {
        let below = out.map_or(String::new(), |out| {
            format!("{}/", out.trim_end_matches('/'))
        });
        for set in sets {
            let path = match set.files {
                RecordingFiles::Single(_) => set.paths.single().to_string(),
                RecordingFiles::Several(_) => format!("{}/", set.paths.folder()),
            };
            world.say(&format!("{below}{path}\n"));
        }
        self.failed
            .iter()
            .for_each(|failed| world.tell(&format!("not recorded: {failed}")));
        if self.silent > 0 {
            let samples = plural(self.silent, "sample", "samples");
            world.tell(&format!(
                "{samples} without a call of a model: if the agent calls one, let its client use OPENAI_BASE_URL or ANTHROPIC_BASE_URL"
            ));
        }
    }
}
