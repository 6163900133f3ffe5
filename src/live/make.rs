//! Makes the live samples of a tier, and lets the judges vote on them.

use std::collections::{BTreeMap, BTreeSet};

use super::bounds::{left, limits, unreported_notes, usage_of};
use super::judge_runner::{JudgeOutcome, JudgeRunner};
use super::planned_run::{PlannedRun, planned_runs};
use super::recorded_samples::recorded_samples_of;
use super::recording::{RecordingWriter, SamplesToRecord};
use super::saved_answers::unfinished;
use super::session::{LiveSession, engine};
use super::session_outcome::SessionOutcome;
use super::target_queues::TargetQueues;
use super::{
    CurrentRecordings, EarlyStopping, LeastSamples, LiveOptions, LiveRuns, NotRun, Resume,
    judge_runner, tracing,
};
use crate::evaluation::plan::Plan;
use crate::live::engine::JobOutcome;
use crate::model::{Interruption, RepoPath, SampleRequest, Tier};
use crate::render::{CliError, plural};
use crate::world::{Disk, World, export};

/// The least number of samples of a run.
fn least_samples(plan: &Plan, run: &PlannedRun<'_>, disk: &Disk, options: &LiveOptions) -> u32 {
    let key = &run.request.key;
    let of_recorder = options
        .recorder
        .as_ref()
        .map_or(1, |recorder| recorder.least_samples(key));
    if options.least == LeastSamples::AsStated || plan.wanted.samples.is_some() {
        return of_recorder;
    }
    let agent = run.loaded.config.agents.get(&key.agent);
    let folder = agent.and_then(|agent| agent.deterministic.as_ref()?.recordings());
    of_recorder.max(folder.map_or(0, |folder| {
        recorded_samples_of(disk, folder, &key.agent, &key.case)
    }))
}

/// Makes the live samples of a tier.
///
/// # Errors
/// Requests or targets that are not valid, found before any call, or a failure of the engine.
pub fn make(
    plan: &Plan,
    tier: Tier,
    disk: &Disk,
    world: &World,
    options: &LiveOptions,
) -> Result<LiveRuns, CliError> {
    let sparing = match options.sparing {
        EarlyStopping::Exact if !plan.config.early_stop => EarlyStopping::Off,
        sparing => sparing,
    };
    let options = &LiveOptions {
        sparing,
        ..options.clone()
    };
    let mut wanted = planned_runs(plan, tier, disk)?;
    for run in &mut wanted {
        run.samples = run.samples.max(least_samples(plan, run, disk, options));
    }
    if wanted.is_empty() {
        return Ok(LiveRuns::default());
    }
    let recording = RecordingWriter::plan(plan, &wanted, options.record.as_deref())?;
    let queues = TargetQueues::open(
        plan,
        &wanted,
        (options.programs(disk.place()), disk),
        world,
        options,
    )?;
    let mut made = LiveRuns::default();
    made.not_run.extend(
        closed(&queues, &wanted)
            .into_iter()
            .map(|message| NotRun { tier, message }),
    );
    let wanted: Vec<PlannedRun<'_>> = wanted
        .into_iter()
        .filter(|run| run.targets().all(|name| queues.indices.contains_key(name)))
        .collect();
    if wanted.is_empty() {
        return Ok(made);
    }
    for run in &wanted {
        let key = (run.request.key.suite.clone(), run.request.key.agent.clone());
        let folder = overlay_folder(plan, &run.request);
        made.layout.folders.insert(key, folder);
    }
    let redactor = world.redactor_by(&plan.config, &plan.config);
    if options.resume == Resume::No {
        unfinished(plan, disk).clear()?;
    }
    let mut session = LiveSession::new(plan, disk, world, (&wanted, &queues), options)?;
    made.notes
        .extend(session.reuse_answers(options.caching, options.earlier));
    if options.current == CurrentRecordings::Kept {
        made.notes.extend(session.keep_recordings(plan));
    }
    let (limits, begun) = (limits(plan, options), world.clock.elapsed_ms());
    let engine = engine(plan, limits, queues, &session.folders)?;
    let (started_at, epoch) = (world.clock.now(), world.clock.nanoseconds());
    let ended = session.run(&engine, &redactor, options, plan.config.budget.max_minutes)?;
    made.notes.extend(export(&world.env, &started_at, || {
        tracing::traced(plan, &session.jobs, &ended, epoch, &redactor)
    }));
    made.usage = usage_of(&ended, session.known.len());
    let unreported = ended.spending.unreported;
    made.notes.extend(unreported_notes(limits, unreported));
    session.report_outcome(&ended, &mut made);
    let mut records = session.records(ended, &redactor);
    if tier == Tier::Model && made.called_off.is_none() {
        let minutes = (world.clock.elapsed_ms() - begun) as f64 / 60_000.0;
        let runner = JudgeRunner {
            plan,
            disk,
            world,
            options,
            redactor: &redactor,
            left: left(limits, &made.usage, unreported),
            minutes: plan
                .config
                .budget
                .max_minutes
                .map(|most| (most - minutes).max(0.0)),
        };
        let outcome =
            judge_runner::into_records(&runner, &mut records, &|job| session.sample(job))?;
        session.finish(records, outcome, &recording, &mut made)?;
    } else {
        session.finish(records, JudgeOutcome::default(), &recording, &mut made)?;
    }
    Ok(made)
}

/// Returns the overlay folder of an agent's records.
pub(super) fn overlay_folder(plan: &Plan, request: &SampleRequest) -> RepoPath {
    plan.config
        .results
        .child("made")
        .child(request.key.suite.as_str())
}

/// Returns one note for each target that could not be called.
pub(super) fn closed(queues: &TargetQueues, wanted: &[PlannedRun<'_>]) -> Vec<String> {
    let mut notes = Vec::new();
    for (target, why) in &queues.closed {
        let agents: BTreeSet<String> = wanted
            .iter()
            .filter(|run| run.targets().any(|name| name == target))
            .map(|run| format!("{}/{}", run.request.key.suite, run.request.key.agent))
            .collect();
        let agents: Vec<String> = agents.into_iter().collect();
        notes.push(format!(
            "not run: {}: the target \"{target}\" {why}",
            agents.join(", ")
        ));
    }
    notes
}

impl<'a> LiveSession<'a> {
    /// Returns the run and the sample number of a job.
    fn sample(&self, job: usize) -> (&PlannedRun<'a>, u32) {
        (&self.wanted[self.runs[job]], self.jobs[job].request.sample)
    }

    /// Adds the skipped and interrupted samples and the stderr output to the results.
    fn report_outcome(&self, ended: &SessionOutcome, made: &mut LiveRuns) {
        for (job, text) in &ended.complaints {
            let request = &self.jobs[*job].request;
            made.layout
                .complaints
                .insert((request.key.clone(), request.sample), text.clone());
        }
        let mut off: BTreeMap<Interruption, usize> = BTreeMap::new();
        for (end, index) in ended.finished.iter().zip(&ended.called) {
            let request = &self.jobs[*index].request;
            match end {
                JobOutcome::Made(_) => {}
                JobOutcome::Spared => {
                    made.layout
                        .spared
                        .insert((request.key.clone(), request.sample));
                }
                JobOutcome::CalledOff { why, .. } => *off.entry(*why).or_insert(0) += 1,
            }
        }
        for (why, count) in &off {
            let samples = plural(*count, "sample was", "samples were");
            let why = why.message();
            made.notes.push(format!(
                "{samples} not made: {why}; they count as inconclusive, not as failed"
            ));
        }
        made.called_off = off.into_keys().max();
    }

    /// Adds the records to the results and writes recordings.
    fn finish(
        self,
        records: BTreeMap<usize, String>,
        outcome: JudgeOutcome,
        recording: &RecordingWriter,
        made: &mut LiveRuns,
    ) -> Result<(), CliError> {
        let JudgeOutcome {
            usage,
            notes,
            called_off,
            ..
        } = outcome;
        made.called_off = made.called_off.max(called_off);
        made.usage = made.usage.and(usage);
        made.notes.extend(notes);
        if made.called_off.is_some() && !self.saved.unfinished.is_empty() {
            made.notes
                .push("the finished samples are saved: use --resume to continue".to_owned());
        }
        let samples = SamplesToRecord {
            jobs: &self.jobs,
            records: &records,
            kept: &self.kept,
            agent_files: &self.agent_files,
        };
        recording.write(
            self.disk,
            &samples,
            made.called_off.is_none(),
            &mut made.notes,
        )?;
        // Cleared last, so that a run that is killed before can be resumed.
        if made.called_off.is_none() {
            self.saved.unfinished.clear()?;
        }
        made.agent_files = self.agent_files;
        for (job, text) in records {
            let request = &self.jobs[job].request;
            made.records
                .entry(request.key.clone())
                .or_default()
                .insert(request.sample, text);
        }
        Ok(())
    }
}
