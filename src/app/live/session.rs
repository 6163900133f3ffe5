//! One run of the engine: its jobs, their saved records and their results.

mod earlier;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::Duration;

use anyhow::Context;
use futures_util::future::{Either, select};

use super::agent_digests::{AgentDigests, folders};
use super::bounds::{left, limits, redactor, usage_of};
use super::early_stop::EarlyStop;
use super::event_sink::EventSink;
use super::judge_runner::{JudgeOutcome, JudgeRunner};
use super::planned_run::{PlannedRun, planned_runs};
use super::recording::RecordingWriter;
use super::store::{AnswerInputs, SampleAddress, SampleStore};
use super::target_queues::TargetQueues;
use super::{Caching, LiveOptions, LiveRuns, NotRun, Resume, judge_runner, recording, tracing};
use crate::app::cli_error::CliError;
use crate::app::pipeline::fingerprint;
use crate::app::pipeline::plan::Plan;
use crate::diag::Diagnostic;
use crate::engine::{
    Engine, EngineOutcome, JobOutcome, Prices, RefinementSetup, RetryPolicy, SampleJob, Spending, SpendingLimits,
    Timeline,
};
use crate::files::Files;
use crate::format::redact::Redactor;
use crate::model::{Interruption, Provenance, RepoPath, RunProvenance, SampleRequest, Tier, Toolbox, Transport};
use crate::render::plural;
use crate::suites::{RunCaching, input_digest};
use crate::world::{Disk, Progress, World, export, head_commit, interrupted};

/// Makes the live samples of a tier.
///
/// # Errors
/// Requests or targets that are not valid, found before any call, or a failure of the engine.
pub fn make(plan: &Plan, tier: Tier, disk: &Disk, world: &World, options: &LiveOptions) -> Result<LiveRuns, CliError> {
    let wanted = planned_runs(plan, tier, disk)?;
    if wanted.is_empty() {
        return Ok(LiveRuns::default());
    }
    let recording = RecordingWriter::plan(plan, &wanted, options.record.as_deref())?;
    let queues = TargetQueues::open(plan, &wanted, disk.place(), world, &options.keys)?;
    let mut made = LiveRuns::default();
    made.not_run.extend(closed(&queues, &wanted).into_iter().map(|message| NotRun { tier, message }));
    let wanted: Vec<PlannedRun<'_>> =
        wanted.into_iter().filter(|one| one.live.targets().all(|name| queues.indices.contains_key(name))).collect();
    if wanted.is_empty() {
        return Ok(made);
    }
    for one in &wanted {
        let key = (one.request.key.suite.clone(), one.request.key.agent.clone());
        let folder = overlay_folder(plan, &one.request);
        made.layout.folders.insert(key, folder);
    }
    let redactor = redactor(plan, world)?;
    if options.resume == Resume::No {
        unfinished(plan, disk).clear()?;
    }
    let mut session = LiveSession::new(plan, disk, world, &wanted, &queues)?;
    made.notes.extend(session.reuse_answers(options.caching, options.earlier));
    let (limits, begun) = (limits(plan, options), world.clock.elapsed_ms());
    let engine = engine(plan, limits, queues, &session.folders);
    let (started_at, epoch) = (world.clock.now(), world.clock.nanoseconds());
    let ended = session.run(&engine, &redactor, options, plan.config.budget.max_minutes)?;
    let traced = || tracing::traced(plan, &session.jobs, &ended, epoch, &redactor);
    made.notes.extend(export(&world.env, &started_at, traced));
    made.usage = usage_of(&ended, session.known.len());
    session.report_outcome(&ended, &mut made);
    let mut records = session.records(ended);
    if tier == Tier::Model && made.called_off.is_none() {
        let minutes = (world.clock.elapsed_ms() - begun) as f64 / 60_000.0;
        let runner = JudgeRunner {
            plan,
            disk,
            world,
            options,
            redactor: &redactor,
            left: left(limits, &made.usage),
            minutes: plan.config.budget.max_minutes.map(|most| (most - minutes).max(0.0)),
        };
        let outcome = judge_runner::into_records(&runner, &mut records, &|job| session.sample(job))?;
        session.finish(records, outcome, &recording, &mut made)?;
    } else {
        session.finish(records, JudgeOutcome::default(), &recording, &mut made)?;
    }
    Ok(made)
}

/// Returns the store of finished samples and votes of a run that has not ended.
pub fn unfinished<'a>(plan: &Plan, disk: &'a Disk) -> SampleStore<'a> {
    SampleStore::new(disk, plan.config.results.child("unfinished"))
}

/// Returns the overlay folder of an agent's records.
fn overlay_folder(plan: &Plan, request: &SampleRequest) -> RepoPath {
    plan.config.results.child("made").child(request.key.suite.as_str())
}

/// Returns one note for each target that could not be called.
fn closed(queues: &TargetQueues, wanted: &[PlannedRun<'_>]) -> Vec<String> {
    let note = |(target, why): (&String, &String)| {
        let agents: BTreeSet<String> = wanted
            .iter()
            .filter(|one| one.live.targets().any(|name| name == target))
            .map(|one| format!("{}/{}", one.request.key.suite, one.request.key.agent))
            .collect();
        let agents: Vec<String> = agents.into_iter().collect();
        format!("not run: {}: the target \"{target}\" {why}", agents.join(", "))
    };
    queues.closed.iter().map(note).collect()
}

/// Builds the engine with the given spending limits.
pub(super) fn engine<'a>(
    plan: &Plan,
    limits: SpendingLimits,
    queues: TargetQueues,
    folders: &'a BTreeMap<RepoPath, Box<dyn Files>>,
) -> Engine<'a> {
    Engine {
        queues: queues.queues,
        retry: RetryPolicy::default(),
        limits,
        prices: Prices::new(plan.config.prices.clone()),
        folders,
    }
}

/// One run of the engine: its jobs and their saved records.
pub(super) struct LiveSession<'a> {
    wanted: &'a [PlannedRun<'a>],
    disk: &'a Disk,
    jobs: Vec<SampleJob>,
    /// The index of the run of each job.
    runs: Vec<usize>,
    addresses: Vec<SampleAddress>,
    /// For each job, whether its address covers everything that its answer depends on.
    is_addressed: Vec<bool>,
    /// Records of jobs that need no call, from an unfinished run or from the cache.
    pub(super) known: BTreeMap<usize, String>,
    pub(super) folders: BTreeMap<RepoPath, Box<dyn Files>>,
    unfinished: SampleStore<'a>,
    cache: SampleStore<'a>,
}

/// The results of a run of the engine.
pub(super) struct SessionOutcome {
    pub(super) finished: Vec<JobOutcome>,
    /// The indices of the called jobs.
    pub(super) called: Vec<usize>,
    records: BTreeMap<usize, String>,
    pub(super) timelines: Vec<Timeline>,
    /// What agents' programs wrote to stderr, by the index of the job.
    complaints: BTreeMap<usize, String>,
    pub(super) spending: Spending,
    pub(super) spared: u64,
}

impl<'a> LiveSession<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        disk: &'a Disk,
        world: &World,
        wanted: &'a [PlannedRun<'a>],
        queues: &TargetQueues,
    ) -> Result<Self, CliError> {
        let folders = folders(disk, wanted)?;
        let digests: BTreeMap<&RepoPath, String> = folders
            .iter()
            .map(|(path, files)| Ok((path, fingerprint::of_folder(&**files)?)))
            .collect::<Result<_, Diagnostic>>()?;
        let mut agents = AgentDigests::default();
        let (recorded_at, commit) = (world.clock.now(), head_commit(disk));
        let (mut jobs, mut runs, mut addresses) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_addressed = Vec::new();
        for (run, one) in wanted.iter().enumerate() {
            let agent = one.loaded.config.agents.get(&one.request.key.agent);
            let target = &plan.config.targets[&one.live.target];
            let folder = match &one.request.ask.tools {
                Toolbox::Folder { root, .. } => digests.get(root).cloned(),
                Toolbox::Empty | Toolbox::Canned(_) => None,
            };
            let input_sha256 = input_digest(&one.request.ask, disk)?.sha256;
            let state = AnswerInputs { agent: agents.of(disk, one)?, folder };
            let refinement = one.live.critic.as_ref().zip(one.refinement.as_ref());
            let critic = refinement.map(|(name, course)| (&plan.config.targets[name], course.identity()));
            let mut targets = one.live.targets().map(|name| &plan.config.targets[name].transport);
            let is_named = state.agent.is_some() || targets.all(|one| matches!(one, Transport::Model(_)));
            let majority = one.samples / 2 + 1;
            for sample in one.first..one.first + one.samples {
                let request = SampleRequest { sample, ..one.request.clone() };
                addresses.push(SampleAddress::of(&request, target, &state, critic.as_ref()));
                runs.push(run);
                is_addressed.push(is_named);
                let package = one.loaded.prompts.get(&request.key.agent);
                jobs.push(SampleJob {
                    queue: queues.indices[&one.live.target],
                    origin: RunProvenance {
                        target: Some(one.live.target.clone()),
                        provenance: Provenance {
                            prompt_package: agent.and_then(|agent| agent.prompt.as_ref()).map(ToString::to_string),
                            prompt_sha256: package.map(|package| package.digest.sha256.clone()),
                            fingerprint: state.agent.clone(),
                            input_sha256: Some(input_sha256.clone()),
                            ..Provenance::default()
                        },
                        recorded_at: Some(recorded_at.clone()),
                        commit: commit.clone(),
                    },
                    // The samples that a majority needs come first; the rest may not be needed.
                    round: if sample < majority { 0 } else { sample },
                    refining: refinement.map(|(name, course)| RefinementSetup {
                        course: course.clone(),
                        critic: queues.indices[name],
                        target: name.clone(),
                    }),
                    request,
                });
            }
        }
        let results = &plan.config.results;
        let (unfinished, cache) = (unfinished(plan, disk), SampleStore::new(disk, results.child("cache")));
        Ok(Self {
            wanted,
            disk,
            jobs,
            runs,
            addresses,
            is_addressed,
            known: BTreeMap::new(),
            folders,
            unfinished,
            cache,
        })
    }

    /// Saves a finished job's record for `--resume`, and in the cache if enabled.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn keep(&self, job: usize, record: &str, caching: Caching) -> anyhow::Result<()> {
        self.unfinished.keep(&self.addresses[job], record)?;
        match self.is_cached(job, caching) {
            true => self.cache.keep(&self.addresses[job], record),
            false => Ok(()),
        }
    }

    fn is_cached(&self, job: usize, caching: Caching) -> bool {
        match caching {
            Caching::Off => false,
            Caching::All => true,
            Caching::Usual => self.wanted[self.runs[job]].loaded.kind.caching == RunCaching::Usual,
        }
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
        let called: Vec<usize> = (0..self.jobs.len()).filter(|job| !self.known.contains_key(job)).collect();
        let jobs: Vec<&SampleJob> = called.iter().map(|job| &self.jobs[*job]).collect();
        let early_stop = EarlyStop::new(self.wanted, &self.runs, self.disk, options.sparing);
        self.known.iter().for_each(|(job, text)| early_stop.grade(*job, text));
        let progress = Progress::of(called.len(), options.loudness);
        let events = EventSink {
            session: self,
            called: &called,
            caching: options.caching,
            redactor,
            early_stop: &early_stop,
            progress: &progress,
            records: RefCell::default(),
            error: RefCell::default(),
            lost: Cell::new(0),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("while starting the live targets")?;
        let EngineOutcome { finished, timelines, complaints, spending } = runtime.block_on(async {
            let outcome = engine.run(&jobs, &events, stopped(minutes)).await;
            engine.close().await;
            outcome
        });
        let complaints = complaints.into_iter().map(|(job, text)| (called[job], redactor.text(&text))).collect();
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

    /// Returns the run and the sample number of a job.
    fn sample(&self, job: usize) -> (&PlannedRun<'a>, u32) {
        (&self.wanted[self.runs[job]], self.jobs[job].request.sample)
    }

    /// Adds the skipped and interrupted samples and the stderr output to the results.
    fn report_outcome(&self, ended: &SessionOutcome, made: &mut LiveRuns) {
        for (job, text) in &ended.complaints {
            let request = &self.jobs[*job].request;
            made.layout.complaints.insert((request.key.clone(), request.sample), text.clone());
        }
        let mut off: BTreeMap<Interruption, usize> = BTreeMap::new();
        for (end, index) in ended.finished.iter().zip(&ended.called) {
            let request = &self.jobs[*index].request;
            match end {
                JobOutcome::Made(_) => {}
                JobOutcome::Spared => {
                    made.layout.spared.insert((request.key.clone(), request.sample));
                }
                JobOutcome::CalledOff { why, .. } => *off.entry(*why).or_insert(0) += 1,
            }
        }
        for (why, count) in &off {
            let samples = plural(*count, "sample was", "samples were");
            let why = why.message();
            made.notes.push(format!("{samples} not made: {why}; they count as inconclusive, not as failed"));
        }
        made.called_off = off.into_keys().max();
    }

    /// Returns the records of all jobs, including known and interrupted ones.
    pub(super) fn records(&mut self, ended: SessionOutcome) -> BTreeMap<usize, String> {
        let mut records = ended.records;
        records.append(&mut self.known);
        for (end, index) in ended.finished.iter().zip(&ended.called) {
            if let JobOutcome::CalledOff { why, outputs } = end {
                records.insert(*index, recording::called_off(&self.jobs[*index], why.message(), outputs.clone()));
            }
        }
        records
    }

    /// Adds the records to the results and writes recordings.
    fn finish(
        self,
        records: BTreeMap<usize, String>,
        outcome: JudgeOutcome,
        recording: &RecordingWriter,
        made: &mut LiveRuns,
    ) -> Result<(), CliError> {
        let JudgeOutcome { usage, notes, called_off, .. } = outcome;
        made.called_off = made.called_off.max(called_off);
        made.usage = made.usage.and(usage);
        made.notes.extend(notes);
        if made.called_off.is_some() && !self.unfinished.is_empty() {
            made.notes.push("the finished samples are saved: use --resume to continue".to_owned());
        }
        recording.write(self.disk, &self.jobs, &records, made.called_off.is_none(), &mut made.notes)?;
        // Cleared last, so that a run that is killed before can be resumed.
        if made.called_off.is_none() {
            self.unfinished.clear()?;
        }
        for (job, text) in records {
            let request = &self.jobs[job].request;
            let folder = made.layout.folders[&(request.key.suite.clone(), request.key.agent.clone())].clone();
            let folder = folder.child(request.key.agent.as_str()).child(request.key.case.as_str());
            made.files.push((folder.child(&format!("{}.json", request.sample)), text));
        }
        Ok(())
    }
}

/// Ends at the time limit or at an interruption, and returns which of them.
async fn stopped(minutes: Option<f64>) -> Interruption {
    let over = async {
        match minutes {
            Some(minutes) => tokio::time::sleep(Duration::from_secs_f64((minutes * 60.0).clamp(0.0, 1e9))).await,
            None => std::future::pending().await,
        }
    };
    match select(pin!(interrupted()), pin!(over)).await {
        Either::Left((why, _)) => why,
        Either::Right(_) => Interruption::Time,
    }
}
