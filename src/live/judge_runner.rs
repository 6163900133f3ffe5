//! Runs LLM judges on agents' outputs: each different output once, with the number of votes that the judge's config states.
//!
//! A judge gets the task, the output and the rubric, but not the agent: the names in the request are neutral.

use std::collections::{BTreeMap, BTreeSet};

use super::bounds::{unreported_notes, usage_of};
use super::planned_run::PlannedRun;
use super::session::{LiveSession, engine};
use super::session_outcome::SessionOutcome;
use super::target_queues::TargetQueues;
use super::{CurrentRecordings, EarlierAnswers, LiveOptions};
use crate::diag::{Diagnostic, Diagnostics};
use crate::evaluation::judged::first_request;
use crate::evaluation::plan::{LoadedJudge, LoadedSuite, Plan};
use crate::files::{Files, SourceText};
use crate::format::run_v1;
use crate::live::engine::{JobOutcome, SpendingLimits};
use crate::model::{
    AgentName, BadId, Ballot, CaseId, Interruption, JudgeName, RepoPath, Run, RunKey, RunStatus,
    RunUsage, SampleRequest, SuiteId, UngradedReason, Vote,
};
use crate::render::{CliError, plural};
use crate::suites::{Exhibit, Pair, vote};
use crate::text::Redactor;
use crate::world::{Disk, World};

pub struct JudgeRunner<'a> {
    pub plan: &'a Plan,
    /// The files, also for unfinished votes.
    pub disk: &'a Disk,
    /// Environment, log and clock.
    pub world: &'a World,
    pub options: &'a LiveOptions,
    /// Removes secrets from the records.
    pub redactor: &'a Redactor,
    /// The remaining budget.
    pub left: SpendingLimits,
    /// The time limit in minutes.
    pub minutes: Option<f64>,
}

/// The key of a request: suite, judge and the digest of the exhibit.
type JudgeRequest = (SuiteId, JudgeName, String);

#[derive(Default)]
pub struct JudgeRequests<'a>(BTreeMap<JudgeRequest, (&'a LoadedSuite, &'a LoadedJudge, Exhibit)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteReuse {
    /// Complete votes on this output by this rubric.
    WhereNeeded,
    /// No votes: all judges are asked again.
    Never,
}

impl<'a> JudgeRequests<'a> {
    /// Adds the requests to the suite's judges about a run.
    pub fn add(
        &mut self,
        loaded: &'a LoadedSuite,
        pair: &Pair,
        run: &Run,
        again: VoteReuse,
        files: &dyn Files,
    ) -> Result<(), Diagnostic> {
        let Some(ask) =
            first_request(loaded, pair, files)?.filter(|_| run.status == RunStatus::Completed)
        else {
            return Ok(());
        };
        for judge in &loaded.judges {
            let exhibit = loaded.exhibit(&ask, run);
            let known = run
                .ballots
                .iter()
                .find(|ballot| ballot.judge == judge.config.name);
            if again == VoteReuse::Never
                || !known.is_some_and(|ballot| is_whole(ballot, judge, &exhibit))
            {
                let key = (
                    loaded.config.id.clone(),
                    judge.config.name.clone(),
                    exhibit.sha256.clone(),
                );
                self.0.insert(key, (loaded, judge, exhibit));
            }
        }
        Ok(())
    }

    /// Returns the number of requests.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

fn is_whole(ballot: &Ballot, judge: &LoadedJudge, exhibit: &Exhibit) -> bool {
    ballot.rubric_sha256 == judge.rubric_sha256
        && ballot.judged_sha256 == exhibit.sha256
        && ballot.votes.len() == judge.config.votes as usize
        && ballot.votes.iter().all(|vote| vote.mark().is_some())
}

#[derive(Default)]
pub struct JudgeOutcome {
    ballots: BTreeMap<JudgeRequest, Ballot>,
    pub usage: RunUsage,
    pub notes: Vec<String>,
    /// Why votes were interrupted, if they were.
    pub called_off: Option<Interruption>,
}

impl JudgeOutcome {
    /// Returns the votes on a run's output.
    pub fn of(
        &self,
        loaded: &LoadedSuite,
        pair: &Pair,
        run: &Run,
        files: &dyn Files,
    ) -> Result<Vec<Ballot>, Diagnostic> {
        let Some(ask) = first_request(loaded, pair, files)? else {
            return Ok(Vec::new());
        };
        let sha256 = loaded.exhibit(&ask, run).sha256;
        let mut ballots = Vec::new();
        for judge in &loaded.judges {
            let key = (
                loaded.config.id.clone(),
                judge.config.name.clone(),
                sha256.clone(),
            );
            ballots.extend(self.ballots.get(&key).cloned());
        }
        Ok(ballots)
    }
}

/// Asks for all votes. Votes that are not finished within the budget are reported as missing.
///
/// # Errors
/// Targets that can never be called, or a failure of the engine.
pub fn poll(
    runner: &JudgeRunner<'_>,
    requests: &JudgeRequests<'_>,
) -> Result<JudgeOutcome, CliError> {
    let JudgeRunner {
        plan,
        disk,
        world,
        options,
        redactor,
        left,
        minutes,
    } = runner;
    let mut outcome = JudgeOutcome::default();
    let wanted = planned_votes(requests)
        .map_err(|bad| anyhow::anyhow!("a neutral name is not valid: {bad}"))?;
    let queues = TargetQueues::open(
        plan,
        &wanted,
        (options.programs(disk.place()), disk),
        world,
        options,
    )?;
    outcome.notes.extend(closed(&queues, requests));
    let (wanted, request_keys): (Vec<PlannedRun<'_>>, Vec<&JudgeRequest>) = wanted
        .into_iter()
        .zip(of_votes(requests))
        .filter(|(run, _)| queues.indices.contains_key(&run.live.target))
        .unzip();
    if wanted.is_empty() {
        return Ok(outcome);
    }
    let mut session = LiveSession::new(plan, disk, world, (&wanted, &queues), options)?;
    // All earlier answers may be reused, because votes do not affect gates.
    outcome
        .notes
        .extend(session.reuse_answers(options.caching, EarlierAnswers::All));
    let engine = engine(plan, *left, queues, &session.folders)?;
    let ended = session.run(&engine, redactor, options, *minutes)?;
    outcome.usage = usage_of(&ended, session.known.len());
    outcome
        .notes
        .extend(unreported_notes(*left, ended.spending.unreported));
    report_interruptions(&ended, &mut outcome);
    let records = session.records(ended, redactor);
    for (index, (vote, request_key)) in wanted.iter().zip(request_keys).enumerate() {
        let (cast, model) = read_vote(records.get(&index).map(String::as_str), vote);
        let (_, judge, exhibit) = &requests.0[request_key];
        let ballot = outcome
            .ballots
            .entry(request_key.clone())
            .or_insert_with(|| Ballot {
                judge: judge.config.name.clone(),
                rubric_sha256: judge.rubric_sha256.clone(),
                judged_sha256: exhibit.sha256.clone(),
                target: Some(judge.config.source.target.clone()),
                model: None,
                votes: Vec::new(),
            });
        ballot.votes.push(cast);
        let models: BTreeSet<&str> = ballot
            .model
            .iter()
            .flat_map(|names| names.split('+'))
            .chain(model.as_deref())
            .collect();
        let joined = models.into_iter().collect::<Vec<_>>().join("+");
        ballot.model = Some(joined).filter(|names| !names.is_empty());
    }
    Ok(outcome)
}

/// Returns the request of each vote, in the order of [`planned_votes`].
fn of_votes<'q>(requests: &'q JudgeRequests<'_>) -> impl Iterator<Item = &'q JudgeRequest> {
    requests
        .0
        .iter()
        .flat_map(|(key, (_, judge, _))| (0..judge.config.votes).map(move |_| key))
}

/// Returns one planned run per vote, with neutral names so that the judge cannot know the agent.
fn planned_votes<'a>(requests: &JudgeRequests<'a>) -> Result<Vec<PlannedRun<'a>>, BadId> {
    let mut wanted = Vec::new();
    for (loaded, judge, exhibit) in requests.0.values() {
        let key = RunKey {
            suite: SuiteId::new("judged")?,
            agent: AgentName::new("judge")?,
            case: CaseId::new(&exhibit.sha256)?,
        };
        for vote in 0..judge.config.votes {
            let (system, ask) = exhibit.judge_prompt(&judge.rubric, vote);
            let request = SampleRequest {
                key: key.clone(),
                sample: vote,
                system,
                ask,
                conversation: None,
            };
            wanted.push(PlannedRun {
                refinement: None,
                loaded,
                pair: None,
                live: &judge.config.source,
                request,
                first: vote,
                samples: 1,
                alone: false,
            });
        }
    }
    Ok(wanted)
}

/// Returns the notes about judges whose targets cannot be called.
fn closed(queues: &TargetQueues, requests: &JudgeRequests<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for (target, why) in &queues.closed {
        let judges: BTreeSet<String> = requests
            .0
            .iter()
            .filter(|(_, (_, judge, _))| judge.config.source.target == *target)
            .map(|((suite, name, _), _)| format!("{name} of {suite}"))
            .collect();
        let judges: Vec<String> = judges.into_iter().collect();
        notes.push(format!(
            "judges not asked: {}: the target \"{target}\" {why}",
            judges.join(", ")
        ));
    }
    notes
}

/// Adds the notes about interrupted votes.
fn report_interruptions(ended: &SessionOutcome, outcome: &mut JudgeOutcome) {
    let mut off: BTreeMap<Interruption, usize> = BTreeMap::new();
    for end in &ended.finished {
        if let JobOutcome::CalledOff { why, .. } = end {
            *off.entry(*why).or_insert(0) += 1;
        }
    }
    outcome.called_off = off.keys().max().copied();
    outcome.notes.extend(off.into_iter().map(|(why, count)| {
        let votes = plural(count, "vote of a judge was", "votes of judges were");
        let why = why.message();
        format!("{votes} not made: {why}; missing votes do not count against the agent")
    }));
}

/// Reads the vote of a record, and the model that gave it.
fn read_vote(record: Option<&str>, wanted: &PlannedRun<'_>) -> (Vote, Option<String>) {
    let Some(record) = record else {
        return (Vote::Missing("it was interrupted".to_owned()), None);
    };
    let source = SourceText::from_text(RepoPath::root().child("vote"), record.to_owned());
    match run_v1::read_run(&source, &wanted.request.key, wanted.first) {
        Err(problem) => (Vote::Missing(problem.to_string()), None),
        Ok(run) if run.status != RunStatus::Completed => (
            Vote::Missing(
                UngradedReason::Ended {
                    status: run.status,
                    error: run.error,
                }
                .text(),
            ),
            None,
        ),
        Ok(run) => match vote(&run.outputs) {
            Ok((mark, reason)) => (Vote::Given { mark, reason }, run.provenance.model),
            Err(why) => (Vote::Missing(why), None),
        },
    }
}

/// Runs the judges on live samples and adds the votes to the records. `of` returns the run and sample number of a job.
pub fn into_records<'s>(
    runner: &JudgeRunner<'_>,
    records: &mut BTreeMap<usize, String>,
    planned: &dyn Fn(usize) -> (&'s PlannedRun<'s>, u32),
) -> Result<JudgeOutcome, CliError> {
    let mut problems = Diagnostics::default();
    let mut runs: Vec<(usize, Run)> = Vec::new();
    for (job, text) in &*records {
        let (wanted, sample) = planned(*job);
        if !wanted.loaded.judges.is_empty() {
            let source = SourceText::from_text(RepoPath::root().child("record"), text.clone());
            let fields = wanted.loaded.kind.output_fields(&wanted.loaded.config);
            // The error of an unreadable record is reported when it is graded.
            runs.extend(
                run_v1::read_run_with(&source, &wanted.request.key, sample, &fields)
                    .ok()
                    .map(|run| (*job, run)),
            );
        }
    }
    // A kept recording has its votes.
    let again = match runner.options.current {
        CurrentRecordings::Kept => VoteReuse::WhereNeeded,
        CurrentRecordings::Replaced => VoteReuse::Never,
    };
    let mut requests = JudgeRequests::default();
    for (job, run) in &runs {
        let (wanted, _) = planned(*job);
        let Some(pair) = wanted.pair else { continue };
        problems.keep(requests.add(wanted.loaded, pair, run, again, runner.disk));
    }
    problems.or(())?;
    if requests.count() == 0 {
        return Ok(JudgeOutcome::default());
    }
    let outcome = poll(runner, &requests)?;
    for (job, run) in runs
        .iter()
        .filter(|(_, run)| run.status == RunStatus::Completed)
    {
        let (wanted, _) = planned(*job);
        let Some(pair) = wanted.pair else { continue };
        let ballots = outcome.of(wanted.loaded, pair, run, runner.disk)?;
        if let Some(text) = records.get_mut(job) {
            *text = run_v1::with_ballots(text, &ballots);
        }
    }
    Ok(outcome)
}
