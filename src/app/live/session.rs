//! One run of the engine: its jobs, what is kept of them, and what they came to.

mod earlier;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::Duration;

use anyhow::Context;
use futures_util::future::{Either, select};

use super::bounds::{left, limits, redactor, usage_of};
use super::curtail::Curtail;
use super::ground::{Agents, folders};
use super::lanes::Lanes;
use super::recording::Recording;
use super::store::{Address, State, Store};
use super::votes::{Booth, Polled};
use super::wanted::{Wanted, wanted};
use super::watch::Watch;
use super::{Caching, Made, NotRun, Options, Resume, recording, tracing, votes};
use crate::app::fingerprint;
use crate::app::plan::Plan;
use crate::app::trouble::Trouble;
use crate::diag::Diagnostic;
use crate::engine::{Engine, Finished, Job, Limits, Outcome, Patience, Prices, Refining, Spending, Timeline};
use crate::format::redact::Redactor;
use crate::model::{Interruption, Provenance, Recorded, RepoPath, Request, Tier, Toolbox, Transport};
use crate::render::plural;
use crate::suites::{Shelf, input_digest};
use crate::world::{Disk, Progress, World, export, head_commit, interrupted};

/// Makes the live samples of a tier.
///
/// # Errors
/// What cannot be asked or called, found before any call is made, and an outside that failed.
pub fn make(plan: &Plan, tier: Tier, disk: &Disk, world: &World, options: &Options) -> Result<Made, Trouble> {
    let wanted = wanted(plan, tier, disk)?;
    if wanted.is_empty() {
        return Ok(Made::default());
    }
    let recording = Recording::plan(plan, &wanted, options.record.as_deref())?;
    let lanes = Lanes::open(plan, &wanted, disk.place(), world, &options.keys)?;
    let mut made = Made::default();
    made.not_run.extend(closed(&lanes, &wanted).into_iter().map(|message| NotRun { tier, message }));
    let wanted: Vec<Wanted<'_>> =
        wanted.into_iter().filter(|one| one.live.targets().all(|name| lanes.places.contains_key(name))).collect();
    if wanted.is_empty() {
        return Ok(made);
    }
    for one in &wanted {
        let key = (one.request.key.suite.clone(), one.request.key.agent.clone());
        let folder = drawer_of(plan, &one.request);
        made.laid.folders.insert(key, folder);
    }
    let redactor = redactor(plan, world)?;
    if options.resume == Resume::No {
        unfinished(plan, disk).clear()?;
    }
    let mut session = Session::new(plan, disk, world, &wanted, &lanes)?;
    made.notes.extend(session.take_over(options.caching, options.earlier));
    let (limits, begun) = (limits(plan, options), world.clock.elapsed_ms());
    let engine = engine(plan, limits, lanes, &session.folders);
    let (started_at, epoch) = (world.clock.now(), world.clock.nanoseconds());
    let ended = session.run(&engine, &redactor, options, plan.config.budget.max_minutes)?;
    let traced = || tracing::traced(plan, &session.jobs, &ended, epoch, &redactor);
    made.notes.extend(export(&world.env, &started_at, traced));
    made.usage = usage_of(&ended, session.known.len());
    session.told(&ended, &mut made);
    let mut records = session.records(ended);
    if tier == Tier::Model && made.called_off.is_none() {
        let minutes = (world.clock.elapsed_ms() - begun) as f64 / 60_000.0;
        let booth = Booth {
            plan,
            disk,
            world,
            options,
            redactor: &redactor,
            left: left(limits, &made.usage),
            minutes: plan.config.budget.max_minutes.map(|most| (most - minutes).max(0.0)),
        };
        let polled = votes::into_records(&booth, &mut records, &|job| session.sample(job))?;
        session.lay(records, polled, &recording, &mut made)?;
    } else {
        session.lay(records, Polled::default(), &recording, &mut made)?;
    }
    Ok(made)
}

/// Where finished samples and votes are kept until their run is at its end.
pub fn unfinished<'a>(plan: &Plan, disk: &'a Disk) -> Store<'a> {
    Store::new(disk, plan.config.results.child("unfinished"))
}

/// The folder of the drawer that holds an agent's records.
fn drawer_of(plan: &Plan, request: &Request) -> RepoPath {
    plan.config.results.child("made").child(request.key.suite.as_str())
}

/// What has to be said of targets that could not be called: in one line, and never as if they had run.
fn closed(lanes: &Lanes, wanted: &[Wanted<'_>]) -> Vec<String> {
    let note = |(target, why): (&String, &String)| {
        let agents: BTreeSet<String> = wanted
            .iter()
            .filter(|one| one.live.targets().any(|name| name == target))
            .map(|one| format!("{}/{}", one.request.key.suite, one.request.key.agent))
            .collect();
        let agents: Vec<String> = agents.into_iter().collect();
        format!("not run: {}: the target \"{target}\" {why}", agents.join(", "))
    };
    lanes.closed.iter().map(note).collect()
}

/// The engine of a run that may spend so much.
pub(super) fn engine<'a>(
    plan: &Plan,
    limits: Limits,
    lanes: Lanes,
    folders: &'a BTreeMap<RepoPath, Box<dyn Shelf>>,
) -> Engine<'a> {
    Engine {
        lanes: lanes.lanes,
        patience: Patience::default(),
        limits,
        prices: Prices::new(plan.config.prices.clone()),
        folders,
    }
}

/// One run of the engine: its jobs, and what is kept of them.
pub(super) struct Session<'a> {
    wanted: &'a [Wanted<'a>],
    disk: &'a Disk,
    jobs: Vec<Job>,
    /// For each job the run that it is a sample of.
    runs: Vec<usize>,
    addresses: Vec<Address>,
    /// For each job whether its address holds all that its answer depends on.
    is_addressed: Vec<bool>,
    /// Records of jobs that need no call: from an unfinished run, or from the cache.
    pub(super) known: BTreeMap<usize, String>,
    pub(super) folders: BTreeMap<RepoPath, Box<dyn Shelf>>,
    unfinished: Store<'a>,
    cache: Store<'a>,
}

/// What a run of the engine came to.
pub(super) struct Ended {
    pub(super) finished: Vec<Finished>,
    /// The places of the jobs that were asked.
    pub(super) asked: Vec<usize>,
    records: BTreeMap<usize, String>,
    pub(super) timelines: Vec<Timeline>,
    /// What agents' own programs wrote to stderr, by the places of the jobs.
    complaints: BTreeMap<usize, String>,
    pub(super) spending: Spending,
    pub(super) spared: u64,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        disk: &'a Disk,
        world: &World,
        wanted: &'a [Wanted<'a>],
        lanes: &Lanes,
    ) -> Result<Self, Trouble> {
        let folders = folders(disk, wanted)?;
        let digests: BTreeMap<&RepoPath, String> = folders
            .iter()
            .map(|(path, shelf)| Ok((path, fingerprint::of_folder(&**shelf)?)))
            .collect::<Result<_, Diagnostic>>()?;
        let mut agents = Agents::default();
        let (recorded_at, commit) = (world.clock.now(), head_commit(disk));
        let (mut jobs, mut runs, mut addresses) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_addressed = Vec::new();
        for (run, one) in wanted.iter().enumerate() {
            let agent = one.opened.config.agents.get(&one.request.key.agent);
            let target = &plan.config.targets[&one.live.target];
            let folder = match &one.request.ask.tools {
                Toolbox::Folder { root, .. } => digests.get(root).cloned(),
                Toolbox::Empty | Toolbox::Canned(_) => None,
            };
            let input_sha256 = input_digest(&one.request.ask, disk)?.sha256;
            let state = State { agent: agents.of(disk, one)?, folder };
            let refinement = one.live.critic.as_ref().zip(one.refinement.as_ref());
            let critic = refinement.map(|(name, course)| (&plan.config.targets[name], course.identity()));
            let mut targets = one.live.targets().map(|name| &plan.config.targets[name].transport);
            let is_named = state.agent.is_some() || targets.all(|one| matches!(one, Transport::Model(_)));
            let majority = one.samples / 2 + 1;
            for sample in one.first..one.first + one.samples {
                let request = Request { sample, ..one.request.clone() };
                addresses.push(Address::of(&request, target, &state, critic.as_ref()));
                runs.push(run);
                is_addressed.push(is_named);
                let package = one.opened.prompts.get(&request.key.agent);
                jobs.push(Job {
                    lane: lanes.places[&one.live.target],
                    origin: Recorded {
                        target: Some(one.live.target.clone()),
                        provenance: Provenance {
                            prompt_package: agent.and_then(|agent| agent.prompt.as_ref()).map(ToString::to_string),
                            prompt_sha256: package.map(|package| package.sha256.clone()),
                            fingerprint: state.agent.clone(),
                            input_sha256: Some(input_sha256.clone()),
                            ..Provenance::default()
                        },
                        recorded_at: Some(recorded_at.clone()),
                        commit: commit.clone(),
                    },
                    // What a majority needs comes first; the rest may not be needed at all.
                    round: if sample < majority { 0 } else { sample },
                    refining: refinement.map(|(name, course)| Refining {
                        course: course.clone(),
                        critic: lanes.places[name],
                        target: name.clone(),
                    }),
                    request,
                });
            }
        }
        let results = &plan.config.results;
        let (unfinished, cache) = (unfinished(plan, disk), Store::new(disk, results.child("cache")));
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

    /// Keeps a finished job's record: until the run is at its end, and for later runs where answers are cached.
    ///
    /// # Errors
    /// Why it cannot be written.
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
            Caching::Usual => self.wanted[self.runs[job]].opened.kind.name != "stochastic",
        }
    }

    /// Asks whatever is not known yet, for this many minutes.
    ///
    /// # Errors
    /// Why what was finished is not safe on disk.
    pub(super) fn run(
        &self,
        engine: &Engine<'_>,
        redactor: &Redactor,
        options: &Options,
        minutes: Option<f64>,
    ) -> Result<Ended, Trouble> {
        let asked: Vec<usize> = (0..self.jobs.len()).filter(|job| !self.known.contains_key(job)).collect();
        let jobs: Vec<&Job> = asked.iter().map(|job| &self.jobs[*job]).collect();
        let curtail = Curtail::new(self.wanted, &self.runs, self.disk, options.sparing);
        self.known.iter().for_each(|(job, text)| curtail.graded(*job, text));
        let progress = Progress::of(asked.len(), options.loudness);
        let watch = Watch {
            session: self,
            asked: &asked,
            caching: options.caching,
            redactor,
            curtail: &curtail,
            progress: &progress,
            records: RefCell::default(),
            trouble: RefCell::default(),
            lost: Cell::new(0),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("while starting the live targets")?;
        let Outcome { finished, timelines, complaints, spending } = runtime.block_on(async {
            let outcome = engine.run(&jobs, &watch, stopped(minutes)).await;
            engine.close().await;
            outcome
        });
        let complaints = complaints.into_iter().map(|(job, text)| (asked[job], redactor.text(&text))).collect();
        progress.end();
        let Watch { records, trouble, .. } = watch;
        if let Some(error) = trouble.into_inner() {
            return Err(error.context("the samples are not safe on disk").into());
        }
        Ok(Ended {
            finished,
            asked,
            timelines,
            records: records.into_inner(),
            complaints,
            spending,
            spared: curtail.spared(),
        })
    }

    /// The wanted run that a job is a sample of, and which sample it is.
    fn sample(&self, job: usize) -> (&Wanted<'a>, u32) {
        (&self.wanted[self.runs[job]], self.jobs[job].request.sample)
    }

    /// Says what was spared, called off and written to stderr.
    fn told(&self, ended: &Ended, made: &mut Made) {
        for (job, text) in &ended.complaints {
            let request = &self.jobs[*job].request;
            made.laid.complaints.insert((request.key.clone(), request.sample), text.clone());
        }
        let mut off: BTreeMap<Interruption, usize> = BTreeMap::new();
        for (end, place) in ended.finished.iter().zip(&ended.asked) {
            let request = &self.jobs[*place].request;
            match end {
                Finished::Made(_) => {}
                Finished::Spared => {
                    made.laid.spared.insert((request.key.clone(), request.sample));
                }
                Finished::CalledOff { why, .. } => *off.entry(*why).or_insert(0) += 1,
            }
        }
        for (why, count) in &off {
            let samples = plural(*count, "sample was", "samples were");
            let why = why.message();
            made.notes.push(format!("{samples} not made: {why}; they count as inconclusive, never as failed"));
        }
        made.called_off = off.into_keys().max();
    }

    /// The record of every job, those that were known and those that were called off among them.
    pub(super) fn records(&mut self, ended: Ended) -> BTreeMap<usize, String> {
        let mut records = ended.records;
        records.append(&mut self.known);
        for (end, place) in ended.finished.iter().zip(&ended.asked) {
            if let Finished::CalledOff { why, outputs } = end {
                records.insert(*place, recording::called_off(&self.jobs[*place], why.message(), outputs.clone()));
            }
        }
        records
    }

    /// Lays the records out, and writes those that are recorded.
    fn lay(
        self,
        records: BTreeMap<usize, String>,
        polled: Polled,
        recording: &Recording,
        made: &mut Made,
    ) -> Result<(), Trouble> {
        let Polled { usage, notes, called_off, .. } = polled;
        made.called_off = made.called_off.max(called_off);
        made.usage = made.usage.and(usage);
        made.notes.extend(notes);
        if made.called_off.is_some() && !self.unfinished.is_empty() {
            made.notes.push("what was finished is kept: --resume goes on from there".to_owned());
        }
        recording.write(self.disk, &self.jobs, &records, made.called_off.is_none(), &mut made.notes)?;
        // Last: until here a run that is killed can be gone on with.
        if made.called_off.is_none() {
            self.unfinished.clear()?;
        }
        for (job, text) in records {
            let request = &self.jobs[job].request;
            let folder = made.laid.folders[&(request.key.suite.clone(), request.key.agent.clone())].clone();
            let folder = folder.child(request.key.agent.as_str()).child(request.key.case.as_str());
            made.files.push((folder.child(&format!("{}.json", request.sample)), text));
        }
        Ok(())
    }
}

/// Ends when the time is over, or when somebody calls the run off.
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
