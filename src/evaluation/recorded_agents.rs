//! What the recordings of the graded agents mean for the verdict: [`RecordedAgents`].
//!
//! It reads each graded recording of both commits with the state of its agent, and asks the table
//! ([`crate::golden_changes::AgentRecordings`]). Without a base commit only the digests that recordings state are looked at.

mod agent_notes;
mod digests;
mod inputs;
mod sources;
mod stamped;

use std::collections::{BTreeMap, BTreeSet};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::Value;

use self::agent_notes::{files_change, list_notes};
use self::digests::{CurrentDigests, base_proof, proof};
pub use self::digests::{RecordingInput, recording_input};
pub use self::inputs::{BranchDigest, NoEvidence, NoMerge, RecorderEvidence, RecordingsBase};
use self::inputs::{InputMotion, SuiteInputs};
use self::sources::{RecordingUse, Recordings, called, listed, live_target, recordings_of};
pub use self::stamped::{OtherDigests, Stamped, StampedSuite, with_other_digests};
use super::agent_digest::{AgentState, CORRECT_PATTERNS};
use super::plan::Plan;
use crate::diag::{Diagnostic, Diagnostics, ReadFailure};
use crate::files::{FileMatch, Files};
use crate::format::recorded_attempts::recording_text;
use crate::format::recorded_v1::RecordedDigests;
use crate::format::{lenient, run_v1};
use crate::golden_changes::{
    AgentRecordings, Answers, BaseProof, Content, Digest, FileListChange, FilesDigests,
    GoldenChanges, GoneRecording, GradedRecording, Maker, Motion, NamedRecording, Origin, Proof,
    RecordedAgain, RecordingReport, same_suite,
};
use crate::model::{
    Agent, AgentName, CALL_LISTS, CaseId, Effect, GoldenChange, RecordingPlace, RecordingRow,
    RecordingTrust, RepoPath, Row, RunKey, SuiteId, Tier,
};

/// What the recordings of the graded agents mean for the verdict.
#[derive(Default)]
pub struct RecordedAgents {
    reports: BTreeMap<(SuiteId, AgentName), RecordingReport>,
    /// What is listed of them, or needs an approval.
    pub changes: Vec<GoldenChange>,
}

impl RecordedAgents {
    /// Reads the recordings that are graded in these tiers.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn read(
        plan: &Plan,
        files: &dyn Files,
        tiers: &[Tier],
        base: Option<&RecordingsBase<'_>>,
    ) -> Result<Self, Diagnostics> {
        let reader = RecordingReader { plan, files, base };
        let mut problems = Diagnostics::default();
        let mut changes = GoldenChanges::default();
        let mut reports = BTreeMap::new();
        for (suite, agents) in graded_runs(plan, tiers) {
            let opened = SuiteInputs::open(plan, &suite, files, base);
            let Some(inputs) = problems.keep_all(opened) else {
                continue;
            };
            for (agent, cases) in agents {
                let key = AgentKey {
                    suite: &suite,
                    name: &agent,
                };
                let read = reader.agent(key, &cases, tiers, &inputs, &mut changes);
                if let Some(Some(report)) = problems.keep(read) {
                    reports.insert((suite.clone(), agent), report);
                }
            }
        }
        problems.or(())?;
        Ok(Self {
            reports,
            changes: changes.all().0,
        })
    }

    /// What the recordings of an agent of a suite mean; of the agents of another suite whose runs it grades, together.
    pub fn of(
        &self,
        suite: &SuiteId,
        runs_of: Option<&SuiteId>,
        agent: &AgentName,
    ) -> RecordingReport {
        let Some(read_suite) = runs_of else {
            let report = self.reports.get(&(suite.clone(), agent.clone()));
            return report.cloned().unwrap_or_default();
        };
        let mut together = RecordingReport::default();
        let mut reasons = Vec::new();
        for ((report_suite, name), report) in &self.reports {
            if report_suite == read_suite {
                reasons.extend(
                    report
                        .refused
                        .as_ref()
                        .map(|why| format!("{read_suite}/{name}: {why}")),
                );
                together.notes.extend(report.notes.iter().cloned());
            }
        }
        together.refused = (!reasons.is_empty()).then(|| reasons.join("; "));
        together
    }

    /// Whether the recordings of a case give no verdict.
    pub fn refuses(&self, suite: &SuiteId, agent: &AgentName, case: &str) -> bool {
        let report = self.reports.get(&(suite.clone(), agent.clone()));
        report.is_some_and(|report| report.refused_cases.contains(case))
    }

    /// All reports, by suite and agent.
    pub fn reports(&self) -> impl Iterator<Item = (&SuiteId, &AgentName, &RecordingReport)> {
        self.reports
            .iter()
            .map(|((suite, agent), report)| (suite, agent, report))
    }
}

/// The runs of the chosen pairs in these tiers: cases by suite and agent. Drafts and cases that are gone are not among them.
fn graded_runs(
    plan: &Plan,
    tiers: &[Tier],
) -> BTreeMap<SuiteId, BTreeMap<AgentName, BTreeSet<CaseId>>> {
    let mut runs: BTreeMap<SuiteId, BTreeMap<AgentName, BTreeSet<CaseId>>> = BTreeMap::new();
    for loaded in &plan.suites {
        if !loaded.config.tiers.iter().any(|tier| tiers.contains(tier)) {
            continue;
        }
        for key in loaded.chosen(&plan.wanted).flat_map(|pair| &pair.runs) {
            let agents = runs.entry(key.suite.clone()).or_default();
            let cases = agents.entry(key.agent.clone()).or_default();
            cases.insert(key.case.clone());
        }
    }
    runs
}

struct RecordingReader<'a> {
    plan: &'a Plan,
    files: &'a dyn Files,
    base: Option<&'a RecordingsBase<'a>>,
}

/// What the base commit knows of an agent.
struct AgentOnBase<'a> {
    agent: &'a Agent,
    state: AgentState,
    target: Option<String>,
    recordings: Recordings,
    /// The cases of these recordings.
    cases: BTreeSet<String>,
}

impl RecordingReader<'_> {
    /// What the recordings of one agent mean; `None` if it has none.
    fn agent(
        &self,
        key: AgentKey<'_>,
        cases: &BTreeSet<CaseId>,
        tiers: &[Tier],
        inputs: &SuiteInputs<'_>,
        changes: &mut GoldenChanges,
    ) -> Result<Option<RecordingReport>, Diagnostic> {
        let AgentKey { suite, name } = key;
        let config = &self.plan.config;
        let Some(agent) = config.suite(suite).and_then(|suite| suite.agents.get(name)) else {
            return Ok(None);
        };
        let mut places: BTreeSet<(RecordingPlace, RecordingUse)> = tiers
            .iter()
            .filter_map(|tier| recordings_of(agent, *tier))
            .collect();
        // The files of an agent that is only measured have to be those of the commit, too.
        let state = AgentState::of(self.files, agent)?;
        if places.is_empty() {
            return Ok(None);
        }
        let mut report = RecordingReport::default();
        let mut reasons = Vec::new();
        let base_agent = match self.agent_on_base(key, cases, tiers) {
            Err(problem) if could_not_be_read(&problem) => {
                reasons.push(format!("{}: {}", problem.file, problem.what));
                places.clear();
                None
            }
            base_agent => base_agent?,
        };
        for (place, used) in places {
            let recorded = listed(self.files, &place, name, cases)?;
            let graded = AgentToGrade {
                key,
                state: &state,
                target: called(config, agent),
                used,
                base_agent: base_agent.as_ref(),
                recorded: &recorded,
            };
            let recordings = self.named_recordings(&graded, cases, inputs);
            let base = self.base.filter(|_| {
                recordings
                    .iter()
                    .any(|recording| recording.graded.proof == Proof::Stale(Digest::Agent))
            });
            let gone = gone(&graded, cases);
            let is_recorded_again = is_recorded_again(&recordings);
            let agent_recordings = AgentRecordings {
                suite,
                agent: name,
                config,
                place: &place,
                trust: self
                    .base
                    .map_or(RecordingTrust::Author, |base| base.config.recordings),
                recordings,
                gone,
                files_change: files_change(
                    &state,
                    base_agent.as_ref().map(|base_agent| &base_agent.state),
                    self.base.map(|base| &base.sides),
                ),
                target: live_target(agent).map(str::to_owned),
                base_sha256: base_agent
                    .as_ref()
                    .and_then(|base_agent| base_agent.state.sha256().map(str::to_owned)),
                branch_sha256: base.and_then(|base| base.branch.sha256(agent)),
                pointer: state.pointer().cloned(),
                base: self.base.map(|base| base.name.clone()),
            };
            let RecordingReport {
                refused,
                refused_cases,
                notes,
                rows,
                makers,
            } = changes.recordings(&agent_recordings);
            report.makers.extend(makers);
            reasons.extend(refused);
            report.refused_cases.extend(refused_cases);
            report.notes.extend(notes);
            report.rows.extend(rows);
            if let Some(base_agent) = &base_agent {
                changes.file_list(&FileListChange {
                    who: &format!("{suite}/{name}"),
                    config: &config.file,
                    base: base_agent.agent,
                    head: agent,
                    digests: files_digests(&base_agent.state, &state),
                    recorded: is_recorded_again,
                });
            }
        }
        report
            .notes
            .splice(..0, list_notes(config, agent, &state, self.files));
        // Where a pattern is wrong, its files did not change.
        if let Some(message) = state.no_file() {
            reasons = vec![format!("{message}: {CORRECT_PATTERNS}")];
            let count = report.rows.iter().map(|row| row.count).sum();
            report.rows = vec![RecordingRow {
                row: Row::Unproven,
                effect: Effect::NoVerdict,
                count,
            }];
        }
        report.refused = (!reasons.is_empty()).then(|| reasons.join("; "));
        Ok(Some(report))
    }

    fn agent_on_base(
        &self,
        key: AgentKey<'_>,
        cases: &BTreeSet<CaseId>,
        tiers: &[Tier],
    ) -> Result<Option<AgentOnBase<'_>>, Diagnostic> {
        let Some(base) = self.base else {
            return Ok(None);
        };
        let AgentKey { suite, name } = key;
        let head_suite = self.plan.config.suite(suite);
        let base_suite = head_suite.and_then(|suite| same_suite(base.config, suite));
        let Some(agent) = base_suite.and_then(|suite| suite.agents.get(name)) else {
            return Ok(None);
        };
        let mut recordings = Recordings::new();
        for (place, _) in tiers.iter().filter_map(|tier| recordings_of(agent, *tier)) {
            recordings.extend(listed(base.sides.base, &place, name, cases)?);
        }
        Ok(Some(AgentOnBase {
            agent,
            state: AgentState::of(base.sides.base, agent)?,
            target: called(base.config, agent),
            cases: recordings.keys().map(|(case, _)| case.clone()).collect(),
            recordings,
        }))
    }

    fn named_recordings(
        &self,
        graded: &AgentToGrade<'_>,
        cases: &BTreeSet<CaseId>,
        inputs: &SuiteInputs<'_>,
    ) -> Vec<NamedRecording> {
        let wanted: BTreeSet<&str> = cases.iter().map(CaseId::as_str).collect();
        graded
            .recorded
            .par_iter()
            .filter(|((case, _), _)| wanted.contains(case.as_str()))
            .filter_map(|(key, (name, file))| self.named_recording(graded, key, name, file, inputs))
            .collect()
    }

    fn named_recording(
        &self,
        graded: &AgentToGrade<'_>,
        key: &(String, u32),
        name: &str,
        file: &RepoPath,
        inputs: &SuiteInputs<'_>,
    ) -> Option<NamedRecording> {
        let (case, _) = key;
        // Grading reports a recording that cannot be read.
        let text = recording_text(self.files, file).ok()?.text;
        let stated = run_v1::stated_origin(&text);
        let AgentKey { suite, name: agent } = graded.key;
        let run = CaseId::new(case).ok().map(|case| RunKey {
            suite: suite.clone(),
            agent: agent.clone(),
            case,
        });
        let input = run.map_or(InputMotion::Unknown, |run| inputs.of(&run));
        let head_digests = CurrentDigests {
            agent: graded.compared_agent(graded.state),
            input: input.now(),
            target: graded.target.as_deref(),
        };
        let compared = match (self.base, graded.base_agent) {
            (None, _) => ComparedRecording::of(Content::Same(BaseProof::Current)),
            (Some(_), None) => ComparedRecording::of(Content::OfNewCase),
            (Some(base), Some(base_agent)) => match base_agent.recordings.get(key) {
                Some((_, old)) => {
                    let base_digests = CurrentDigests {
                        agent: graded.compared_agent(&base_agent.state),
                        input: input.before(),
                        target: base_agent.target.as_deref(),
                    };
                    compared(base, (old, &base_digests), (file, &text))
                }
                None if base_agent.cases.contains(case) => {
                    ComparedRecording::of(Content::OfNewSample)
                }
                None => ComparedRecording::of(Content::OfNewCase),
            },
        };
        let ComparedRecording {
            content,
            answers,
            unread,
        } = compared;
        let is_new = !matches!(content, Content::Same(_));
        let own_content = (is_new || self.base.is_none()).then_some(text.as_str());
        let target = graded.target_motion();
        let motion = if input.is_moved() || graded.files_moved() || target == Motion::Moved {
            Motion::Moved
        } else {
            Motion::Still
        };
        let proof = proof(&stated, &head_digests, own_content, target);
        let by_stamp = stated.by.as_deref() == Some(run_v1::STAMPED);
        Some(NamedRecording {
            case: case.clone(),
            name: name.to_owned(),
            file: file.clone(),
            graded: GradedRecording {
                proof,
                content,
                motion,
            },
            answers,
            agent_sha256: stated.agent_sha256,
            origin: if by_stamp {
                Origin::Stamp
            } else {
                Origin::Recorder
            },
            made_by: if is_new {
                made_by(&text)
            } else {
                String::new()
            },
            maker: Maker::stated_in(&text),
            unread,
            not_shown: self.not_shown(file, &text),
        })
    }

    /// Why it is not shown that the recording workflow wrote a recording, where only its recordings count.
    fn not_shown(&self, file: &RepoPath, text: &str) -> Option<String> {
        let base = self
            .base
            .filter(|base| base.config.recordings == RecordingTrust::Ci)?;
        base.evidence.shows(file, &RecordedDigests::of(text)).err()
    }
}

/// Whether the file may be as it should be, and only could not be read here.
fn could_not_be_read(problem: &Diagnostic) -> bool {
    [
        ReadFailure::Unreadable,
        ReadFailure::NotFetched,
        ReadFailure::Machine,
    ]
    .iter()
    .any(|failure| problem.is_read_failure(*failure))
}

/// An agent of a suite.
#[derive(Clone, Copy)]
struct AgentKey<'a> {
    suite: &'a SuiteId,
    name: &'a AgentName,
}

/// An agent whose recordings are graded.
struct AgentToGrade<'a> {
    key: AgentKey<'a>,
    state: &'a AgentState,
    target: Option<String>,
    used: RecordingUse,
    base_agent: Option<&'a AgentOnBase<'a>>,
    recorded: &'a Recordings,
}

impl AgentToGrade<'_> {
    /// The digest of the agent's files, where recordings are compared with it.
    fn compared_agent<'s>(&self, state: &'s AgentState) -> Option<&'s str> {
        match self.used {
            RecordingUse::Graded => state.sha256(),
            RecordingUse::AnswersCalls => None,
        }
    }

    /// Whether the agent's files differ between the commits, where recordings are compared with them.
    fn files_moved(&self) -> bool {
        let head = self.compared_agent(self.state);
        let base = self
            .base_agent
            .and_then(|base_agent| self.compared_agent(&base_agent.state));
        head.zip(base).is_some_and(|(head, base)| head != base)
    }

    /// Whether both commits name what the agent calls, and name something else.
    fn target_motion(&self) -> Motion {
        let base = self
            .base_agent
            .and_then(|base_agent| base_agent.target.as_ref());
        match self.target.as_ref().zip(base) {
            Some((head, base)) if head != base => Motion::Moved,
            Some(_) | None => Motion::Still,
        }
    }
}

/// How a recording differs from the base commit's.
struct ComparedRecording {
    content: Content,
    answers: Answers,
    /// Why the base commit's recording cannot be read here.
    unread: Option<String>,
}

impl ComparedRecording {
    /// A recording with nothing to compare it with.
    fn of(content: Content) -> Self {
        Self {
            content,
            answers: Answers::Same,
            unread: None,
        }
    }
}

/// Compares a recording with the base commit's of the same case and sample.
fn compared(
    base: &RecordingsBase<'_>,
    (old, then): (&RepoPath, &CurrentDigests<'_>),
    (file, text): (&RepoPath, &str),
) -> ComparedRecording {
    let read = recording_text(base.sides.base, old).map(|source| source.text);
    let is_same_file = base.sides.base.likeness(old, file) == FileMatch::Same;
    let unread = match &read {
        Err(problem) if !is_same_file && could_not_be_read(problem) => Some(problem.what.clone()),
        Ok(_) | Err(_) => None,
    };
    let old_text = read.unwrap_or_default();
    let proof = base_proof(&run_v1::stated_origin(&old_text), then);
    let is_same = is_same_file
        || run_v1::content(&old_text).is_some_and(|old| Some(old) == run_v1::content(text));
    let (content, answers) = if is_same {
        (Content::Same(proof), Answers::Same)
    } else {
        (Content::Changed(proof), compared_answers(&old_text, text))
    };
    ComparedRecording {
        content,
        answers,
        unread,
    }
}

/// The recordings that only the base commit has, of graded cases that keep others.
fn gone(graded: &AgentToGrade<'_>, cases: &BTreeSet<CaseId>) -> Vec<GoneRecording> {
    let Some(base_agent) = graded.base_agent else {
        return Vec::new();
    };
    let wanted: BTreeSet<&str> = cases.iter().map(CaseId::as_str).collect();
    let kept: BTreeSet<&str> = graded
        .recorded
        .keys()
        .map(|(case, _)| case.as_str())
        .filter(|case| wanted.contains(case))
        .collect();
    base_agent
        .recordings
        .iter()
        .filter(|(key, _)| kept.contains(key.0.as_str()) && !graded.recorded.contains_key(*key))
        .map(|(_, (name, file))| GoneRecording {
            name: name.clone(),
            file: file.clone(),
        })
        .collect()
}

fn files_digests(base: &AgentState, head: &AgentState) -> FilesDigests {
    let is_same = base
        .sha256()
        .zip(head.sha256())
        .is_some_and(|(base, head)| base == head);
    if is_same {
        FilesDigests::Same
    } else {
        FilesDigests::Other
    }
}

fn is_recorded_again(recordings: &[NamedRecording]) -> RecordedAgain {
    let mut of_base = recordings
        .iter()
        .filter(|recording| {
            matches!(
                recording.graded.content,
                Content::Same(_) | Content::Changed(_)
            )
        })
        .peekable();
    let has_some = of_base.peek().is_some();
    if has_some && of_base.all(|recording| matches!(recording.graded.content, Content::Changed(_)))
    {
        RecordedAgain::All
    } else {
        RecordedAgain::NotAll
    }
}

/// Whether two recordings differ in an answer or in a call, and not only in measures or in the results of tools.
fn compared_answers(base: &str, head: &str) -> Answers {
    if answers_and_calls(base) == answers_and_calls(head) {
        Answers::Same
    } else {
        Answers::Other
    }
}

/// The outputs of a recording, then names and arguments of its calls; `None` of a text that cannot be read. What an agent writes in a form of
/// its own is an output as a whole.
fn answers_and_calls(text: &str) -> Option<Vec<Value>> {
    let mut run = lenient::whole(text)?;
    if run["outputs"].is_null()
        && let Some(keys) = run.as_object_mut()
    {
        keys.remove("provenance");
        return Some(vec![run]);
    }
    let mut parts = vec![run["outputs"].clone()];
    for list in CALL_LISTS {
        for call in run["intermediate"][list].as_array().into_iter().flatten() {
            parts.push(call["name"].clone());
            parts.push(call["arguments"].clone());
        }
    }
    Some(parts)
}

/// The target and the model that a recording states.
fn made_by(text: &str) -> String {
    let Some(run) = lenient::whole(text) else {
        return String::new();
    };
    let stated = ["target", "model"].map(|key| run["provenance"][key].as_str());
    stated.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
