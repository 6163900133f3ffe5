//! Turns live samples into recordings that the deterministic tier replays.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::planned_run::PlannedRun;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::evaluation::plan::Plan;
use crate::files::{Files, SourceText};
use crate::format::recording_layout::RecordingPaths;
use crate::format::redact::redacted_record;
use crate::format::run_v1;
use crate::live::engine::SampleJob;
use crate::model::{
    AgentName, Json, Measures, RepoPath, RunEvidence, RunInputs, RunKey, RunRecord, RunStatus,
    Steps, SuiteId,
};
use crate::render::{CliError, plural};
use crate::text::Redactor;
use crate::world::{Disk, RecordingFiles, RecordingSet};

/// The samples to record.
pub struct SamplesToRecord<'a> {
    pub jobs: &'a [SampleJob],
    /// The record of each job, by its index.
    pub records: &'a BTreeMap<usize, String>,
    /// The jobs whose recording was kept, because it is up to date.
    pub kept: &'a BTreeSet<usize>,
    /// The files that the digests in the records cover.
    pub agent_files: &'a BTreeSet<RepoPath>,
}

pub struct RecordingWriter {
    /// The folder of `--record`.
    named: Option<String>,
    /// The folders of agents that record by their config.
    own: BTreeMap<(SuiteId, AgentName), RepoPath>,
}

impl RecordingWriter {
    /// Plans where the runs are recorded.
    ///
    /// # Errors
    /// Runs that would be written to the same file, or agents that record without a folder.
    pub fn plan(
        plan: &Plan,
        wanted: &[PlannedRun<'_>],
        named: Option<&str>,
    ) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::default();
        let mut folders = BTreeMap::new();
        let mut places: BTreeMap<(&AgentName, &str), &SuiteId> = BTreeMap::new();
        for run in wanted {
            let key = &run.request.key;
            let agent = run.loaded.config.agents.get(&key.agent);
            if named.is_some() {
                let suite = places.insert((&key.agent, key.case.as_str()), &key.suite);
                if let Some(suite) = suite.filter(|suite| **suite != key.suite) {
                    let message = format!(
                        "--record: the suites \"{suite}\" and \"{}\" both have runs of {} on {}",
                        key.suite, key.agent, key.case
                    );
                    problems.push(Diagnostic::of_command_line(
                        Code::CONTRADICTION,
                        message,
                        "record one --suite at a time",
                    ));
                }
            } else if run.live.record {
                match agent.and_then(|agent| agent.deterministic.as_ref()?.recordings()) {
                    Some(folder) => {
                        folders.insert((key.suite.clone(), key.agent.clone()), folder.clone());
                    }
                    None => {
                        let message = format!(
                            "{}/{} records, but has no folder to replay from",
                            key.suite, key.agent
                        );
                        let help = "add deterministic: { replay: FOLDER }, or use --record DIR";
                        problems.push(Diagnostic::of_file(
                            &plan.config.file,
                            Code::NO_FOLDER,
                            message,
                            help,
                        ));
                        break;
                    }
                }
            }
        }
        problems.or(Self {
            named: named.map(str::to_owned),
            own: folders,
        })
    }

    /// Writes the recordings. If samples or votes are missing, nothing is written and a note is added.
    pub fn write(
        &self,
        disk: &Disk,
        samples: &SamplesToRecord<'_>,
        complete: bool,
        notes: &mut Vec<String>,
    ) -> Result<(), CliError> {
        let SamplesToRecord {
            jobs,
            records,
            kept,
            agent_files,
        } = samples;
        let (named, mut written, mut unchanged) = (self.named.as_deref(), 0, 0);
        if named.is_none() && self.own.is_empty() {
            return Ok(());
        }
        if !complete {
            notes.push(
                "nothing was recorded, because samples or votes are missing; the recordings are unchanged".to_owned(),
            );
            return Ok(());
        }
        let elsewhere = named
            .map(|folder| Disk::create(Path::new(folder)))
            .transpose()?;
        let mut by_run: BTreeMap<&RunKey, Vec<usize>> = BTreeMap::new();
        jobs.iter()
            .enumerate()
            .for_each(|(at, job)| by_run.entry(&job.request.key).or_default().push(at));
        let mut agents: BTreeSet<&AgentName> = BTreeSet::new();
        let (mut sets, mut failed) = (Vec::new(), 0);
        for (key, jobs_of_run) in by_run {
            let folder = match (
                &elsewhere,
                self.own.get(&(key.suite.clone(), key.agent.clone())),
            ) {
                (Some(_), _) => RepoPath::root(),
                (None, Some(folder)) => folder.clone(),
                (None, None) => continue,
            };
            let texts: Vec<(u32, &[u8])> = jobs_of_run
                .iter()
                .filter_map(|index| {
                    let text = records.get(index)?;
                    Some((jobs[*index].request.sample, text.as_bytes()))
                })
                .collect();
            let files = match texts.as_slice() {
                [(_, text)] if jobs_of_run.len() == 1 => RecordingFiles::Single(text),
                _ => RecordingFiles::Several(texts),
            };
            written += files.count();
            let kept = jobs_of_run
                .iter()
                .filter(|index| kept.contains(index))
                .count();
            unchanged += kept;
            if kept < jobs_of_run.len() {
                agents.insert(&key.agent);
            }
            failed += jobs_of_run
                .iter()
                .filter(|index| has_failed(&jobs[**index], records.get(index)))
                .count();
            sets.push(RecordingSet {
                paths: RecordingPaths::new(&folder, &key.agent, &key.case),
                files,
            });
        }
        let folder = elsewhere.as_ref().unwrap_or(disk);
        if failed == written && sets.iter().any(|set| is_recorded(folder, &set.paths)) {
            let why =
                "no sample has an answer, so nothing was recorded and the recordings are unchanged";
            notes.push(format!(
                "{why}: correct the agent or its target, and record again"
            ));
            return Ok(());
        }
        folder.swap(&sets)?;
        notes.extend(folder.ignored_note(sets.iter().map(|set| set.paths.single())));
        notes.extend(disk.untracked_note(*agent_files));
        let (made, agents) = (written - unchanged, plural(agents.len(), "agent", "agents"));
        if made > 0 {
            let samples = plural(made, "sample", "samples");
            notes.push(format!(
                "recorded {samples} of {agents}; {}",
                next_step(made, failed)
            ));
        }
        Ok(())
    }
}

fn is_recorded(disk: &Disk, paths: &RecordingPaths) -> bool {
    disk.bytes(&paths.single()).is_ok() || disk.list(&paths.folder()).is_ok()
}

/// Whether a sample gave no answer.
fn has_failed(job: &SampleJob, record: Option<&String>) -> bool {
    record.is_some_and(|text| {
        let source = SourceText::from_text(RepoPath::root(), text.clone());
        run_v1::read_run(&source, &job.request.key, job.request.sample)
            .is_ok_and(|run| run.status != RunStatus::Completed)
    })
}

/// What to do with the recordings, of which some may have no answer.
fn next_step(written: usize, failed: usize) -> String {
    match failed {
        0 => "commit them to use them in the deterministic tier".to_owned(),
        _ if failed == written => {
            "none of them has an answer: correct the agent or its target and record again before you commit".to_owned()
        }
        _ => {
            let have = plural(failed, "of them has no answer and is", "of them have no answer and are");
            format!("{have} inconclusive: record again, or commit them as they are")
        }
    }
}

/// Returns the record of an interrupted sample, with its output so far.
pub fn called_off(job: &SampleJob, why: &str, outputs: Json, redactor: &Redactor) -> String {
    let record = RunRecord {
        agent: job.request.key.agent.clone(),
        case: job.request.key.case.clone(),
        sample: job.request.sample,
        status: RunStatus::Cancelled,
        error: Some(why.to_owned()),
        inputs: RunInputs::default(),
        outputs,
        intermediate: Steps::default(),
        evidence: RunEvidence::default(),
        metrics: Measures::default(),
        provenance: job.origin.clone(),
    };
    run_v1::written(&redacted_record(record, redactor))
}
