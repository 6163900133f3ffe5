//! One run of the engine: its jobs, their saved records and their results.

mod earlier;
mod kept_recordings;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use anyhow::Context;
use futures_util::future::{Either, select};

use super::agent_digests::{AgentDigests, folders};
use super::early_stop::EarlyStop;
use super::event_sink::EventSink;
use super::planned_run::PlannedRun;
use super::recorded_samples::recorded_user;
use super::saved_answers::SavedAnswers;
use super::session_outcome::SessionOutcome;
use super::store::{AnswerInputs, OtherParties, SampleAddress};
use super::target_queues::TargetQueues;
use super::{LiveOptions, recording};
use crate::diag::{Code, Diagnostic};
use crate::evaluation::agent_digest;
use crate::evaluation::plan::Plan;
use crate::files::Files;
use crate::format::called_target::target_digest;
use crate::live::engine::{
    Engine, EngineOutcome, JobOutcome, Prices, RefinementSetup, RetryPolicy, SampleJob,
    SpendingLimits,
};
use crate::model::{
    Interruption, Provenance, RECORDED_COMMAND, RepoPath, RunProvenance, SampleRequest, Target,
    Toolbox, Transport, UserMessage, UserTurns,
};
use crate::render::CliError;
use crate::suites::{RunCaching, input_digest};
use crate::text::Redactor;
use crate::world::{Disk, Progress, World, head_commit, interrupted, start_runtime};

/// Builds the engine with the given spending limits.
pub(super) fn engine<'a>(
    plan: &Plan,
    limits: SpendingLimits,
    queues: TargetQueues,
    folders: &'a BTreeMap<RepoPath, Box<dyn Files>>,
) -> Result<Engine<'a>, Diagnostic> {
    if limits.cost_usd.is_some() && limits.tokens.is_none() {
        // Its calls would cost nothing, and the run would never reach the limit.
        for model in queues
            .queues
            .iter()
            .filter_map(|queue| queue.model.as_ref())
        {
            if !plan.config.prices.contains_key(model) {
                return Err(Diagnostic::of_file(
                    &plan.config.file,
                    Code::NO_PRICE,
                    format!(
                        "the budget in US dollars cannot be kept, because {model} has no price"
                    ),
                    "add it under prices, or budget: { max_tokens: … }",
                ));
            }
        }
    }
    Ok(Engine {
        queues: queues.queues,
        indices: queues.indices,
        retry: RetryPolicy::default(),
        limits,
        prices: Prices::new(plan.config.prices.clone()),
        folders,
    })
}

/// One run of the engine: its jobs and their saved records.
pub(super) struct LiveSession<'a> {
    pub(super) wanted: &'a [PlannedRun<'a>],
    pub(super) disk: &'a Disk,
    pub(super) jobs: Vec<SampleJob>,
    /// The index of the run of each job.
    pub(super) runs: Vec<usize>,
    pub(super) saved: SavedAnswers<'a>,
    /// For each job, whether its address covers everything that its answer depends on.
    is_addressed: Vec<bool>,
    /// Records of jobs that need no call, from an unfinished run or from the cache.
    pub(super) known: BTreeMap<usize, String>,
    /// The jobs whose recording is kept.
    pub(super) kept: BTreeSet<usize>,
    pub(super) folders: BTreeMap<RepoPath, Box<dyn Files>>,
    /// The files of the agents.
    pub(super) agent_files: BTreeSet<RepoPath>,
}

impl<'a> LiveSession<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        disk: &'a Disk,
        world: &World,
        (wanted, queues): (&'a [PlannedRun<'a>], &TargetQueues),
        options: &LiveOptions,
    ) -> Result<Self, CliError> {
        let folders = folders(disk, wanted)?;
        let digests: BTreeMap<&RepoPath, String> = folders
            .iter()
            .map(|(path, files)| Ok((path, agent_digest::of_folder(&**files)?)))
            .collect::<Result<_, Diagnostic>>()?;
        let mut agents = AgentDigests::default();
        let stamp = RunProvenance {
            recorded_at: Some(world.clock.now()),
            commit: match &options.recorder {
                Some(recorder) => Some(recorder.commit.clone()),
                None => head_commit(disk),
            },
            run: options
                .recorder
                .as_ref()
                .map(|recorder| recorder.run.clone()),
            ..RunProvenance::default()
        };
        let mut saved = SavedAnswers::new(plan, disk);
        let (mut jobs, mut runs, mut is_addressed) = (Vec::new(), Vec::new(), Vec::new());
        for (run, planned) in wanted.iter().enumerate() {
            let target = &plan.config.targets[&planned.live.target];
            let folder = match &planned.request.ask.tools {
                Toolbox::Folder { root, .. } => digests.get(root).cloned(),
                Toolbox::Empty | Toolbox::Canned(_) => None,
            };
            let input_sha256 = input_digest(&planned.request.ask, disk)?;
            let state = AnswerInputs {
                agent: agents.of(disk, planned)?,
                folder,
            };
            let refinement = planned
                .live
                .critic
                .as_ref()
                .zip(planned.refinement.as_ref());
            let others = OtherParties {
                critic: refinement
                    .map(|(name, course)| (&plan.config.targets[name], course.identity())),
                user: planned
                    .simulated_user()
                    .map(|user| &plan.config.targets[&user.target]),
            };
            let mut targets = planned
                .targets()
                .map(|name| &plan.config.targets[name].transport);
            let is_named = state.agent.is_some()
                || targets.all(|transport| matches!(transport, Transport::Model(_)));
            let origin = origin(planned, target, (&state, input_sha256), &stamp);
            for sample in planned.first..planned.first + planned.samples {
                let request = SampleRequest {
                    sample,
                    ..planned.request.clone()
                };
                let request = with_recorded_user(disk, planned, request);
                saved
                    .addresses
                    .push(SampleAddress::of(&request, target, &state, &others));
                saved
                    .measures_variance
                    .push(planned.loaded.kind.caching != RunCaching::Usual);
                runs.push(run);
                is_addressed.push(is_named);
                jobs.push(sample_job(planned, request, origin.clone(), queues));
            }
        }
        Ok(Self {
            wanted,
            disk,
            jobs,
            runs,
            saved,
            is_addressed,
            known: BTreeMap::new(),
            kept: BTreeSet::new(),
            folders,
            agent_files: agents.files,
        })
    }

    /// Runs the jobs without a known record, with a time limit in minutes.
    ///
    /// # Errors
    /// Finished samples that could not be saved.
    pub(super) fn run(
        &self,
        engine: &Engine<'_>,
        redactor: &Redactor,
        options: &LiveOptions,
        minutes: Option<f64>,
    ) -> Result<SessionOutcome, CliError> {
        let called: Vec<usize> = (0..self.jobs.len())
            .filter(|job| !self.known.contains_key(job))
            .collect();
        let jobs: Vec<&SampleJob> = called.iter().map(|job| &self.jobs[*job]).collect();
        let early_stop = EarlyStop::new(self.wanted, &self.runs, self.disk, options.sparing);
        self.known
            .iter()
            .for_each(|(job, text)| early_stop.grade(*job, text));
        let agents: Vec<String> = jobs
            .iter()
            .map(|job| format!("{}/{}", job.request.key.suite, job.request.key.agent))
            .collect();
        let progress = Progress::of(&agents, options.loudness);
        let events = EventSink {
            saved: &self.saved,
            called: &called,
            caching: options.caching,
            redactor,
            early_stop: &early_stop,
            progress: &progress,
            records: RefCell::default(),
            error: RefCell::default(),
            lost: Cell::new(0),
        };
        let runtime = start_runtime().context("while starting the live targets")?;
        let EngineOutcome {
            finished,
            timelines,
            complaints,
            spending,
        } = runtime.block_on(async {
            let outcome = engine.run(&jobs, &events, stopped(minutes)).await;
            engine.close().await;
            outcome
        });
        let complaints = complaints
            .into_iter()
            .map(|(job, text)| (called[job], redactor.text(&text).into_owned()))
            .collect();
        progress.end();
        let EventSink { records, error, .. } = events;
        if let Some(error) = error.into_inner() {
            return Err(error.context("the samples could not be saved").into());
        }
        Ok(SessionOutcome {
            finished,
            called,
            timelines,
            records: records.into_inner(),
            complaints,
            spending,
            spared: early_stop.spared(),
        })
    }

    /// Returns the records of all jobs, including known and interrupted ones.
    pub(super) fn records(
        &mut self,
        ended: SessionOutcome,
        redactor: &Redactor,
    ) -> BTreeMap<usize, String> {
        let mut records = ended.records;
        records.append(&mut self.known);
        for (end, index) in ended.finished.iter().zip(&ended.called) {
            if let JobOutcome::CalledOff { why, outputs } = end {
                records.insert(
                    *index,
                    recording::called_off(
                        &self.jobs[*index],
                        why.message(),
                        outputs.clone(),
                        redactor,
                    ),
                );
            }
        }
        records
    }
}

/// Ends at the time limit or at an interruption, and returns which of them.
async fn stopped(minutes: Option<f64>) -> Interruption {
    let over = async {
        match minutes {
            Some(minutes) => {
                tokio::time::sleep(Duration::from_secs_f64((minutes * 60.0).clamp(0.0, 1e9))).await
            }
            None => std::future::pending().await,
        }
    };
    match select(pin!(interrupted()), pin!(over)).await {
        Either::Left((why, _)) => why,
        Either::Right(_) => Interruption::Time,
    }
}

/// The provenance of the samples of one run.
fn origin(
    run: &PlannedRun<'_>,
    target: &Target,
    (state, input_sha256): (&AnswerInputs, String),
    stamp: &RunProvenance,
) -> RunProvenance {
    let agent = run.loaded.config.agents.get(&run.request.key.agent);
    RunProvenance {
        target: Some(run.live.target.clone()),
        arguments: recorded_command(&run.live.target, target),
        provenance: Provenance {
            prompt_package: agent
                .and_then(|agent| agent.prompt.as_ref())
                .map(ToString::to_string),
            agent_sha256: state.agent.clone(),
            input_sha256: Some(input_sha256),
            // A command of the command line is written otherwise on every machine.
            target_sha256: (run.live.target != RECORDED_COMMAND).then(|| target_digest(target)),
            ..Provenance::default()
        },
        ..stamp.clone()
    }
}

/// The command of the command line, for a message that says how to record again. A command with a path of this machine is left out.
fn recorded_command(name: &str, target: &Target) -> Vec<String> {
    match &target.transport {
        Transport::Command { argv, .. }
            if name == RECORDED_COMMAND
                && !argv.iter().any(|word| Path::new(word).is_absolute()) =>
        {
            argv.clone()
        }
        Transport::Command { .. } | Transport::Model(_) | Transport::Http(_) => Vec::new(),
    }
}

/// The request with what the user said in the recording, if the recording answers the agent's calls and a model played the user.
fn with_recorded_user(
    disk: &Disk,
    run: &PlannedRun<'_>,
    mut request: SampleRequest,
) -> SampleRequest {
    if let (Some(folder), UserTurns::Simulated(_)) = (&run.live.exchanges, &request.ask.turns) {
        let SampleRequest { key, sample, .. } = &request;
        let mut said = recorded_user(disk, folder, key, *sample);
        if said.is_empty() {
            // The agent is started, so that its missing recording is seen.
            said.push(UserMessage::query(&request.ask.prompt));
        }
        request.ask.turns = UserTurns::Scripted(said);
    }
    request
}

fn sample_job(
    run: &PlannedRun<'_>,
    request: SampleRequest,
    origin: RunProvenance,
    queues: &TargetQueues,
) -> SampleJob {
    let refinement = run.live.critic.as_ref().zip(run.refinement.as_ref());
    let majority = run.samples / 2 + 1;
    SampleJob {
        queue: queues.indices[&run.live.target],
        origin,
        // The samples that a majority needs come first; the rest may not be needed.
        round: if request.sample < majority {
            0
        } else {
            request.sample
        },
        refining: refinement.map(|(name, course)| RefinementSetup {
            course: course.clone(),
            critic: queues.indices[name],
            target: name.clone(),
        }),
        request,
    }
}
