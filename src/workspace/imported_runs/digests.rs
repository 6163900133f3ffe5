//! The digests of an imported recording: of the current agent, and of its case's input.

use std::collections::BTreeSet;
use std::path::absolute;

use import::Transcript;

use super::place::{ExistingRecordings, ImportedRun, RecordingsPlace, SHOWN, SamplesOfCase};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::evaluation::plan::{LoadedSuite, Plan, plan};
use crate::evaluation::recorded_agents::{OtherDigests, RecordingInput, Stamped, recording_input};
use crate::evaluation::selection::Selection;
use crate::files::Files;
use crate::format::redact::redacted_ask;
use crate::model::{
    AgentName, Ask, CaseId, RecordingPlace, RunKey, RunRecord, RunSource, SuiteConfig, UserTurns,
};
use crate::render::CliError;
use crate::suites::{
    are_same_texts, fits_said, has_rounds, input_digest, is_of_another_case, is_shown_in,
    user_messages,
};
use crate::text::{Redactor, line};
use crate::world::{Disk, ReadOnce, World};

/// The config's suites, if a config exists.
pub struct Digests {
    known: Option<(Disk, Plan)>,
    /// The folder of `--out`.
    out: String,
    redactor: Redactor,
}

/// A run record with its digests.
pub struct StampedRecord {
    pub text: String,
    pub states: StatedDigests,
    /// Why it has none of today's.
    pub note: Option<String>,
}

impl StampedRecord {
    /// A text with today's digests, as far as they are known.
    pub fn current(text: String) -> Self {
        Self {
            text,
            states: StatedDigests::Current,
            note: None,
        }
    }
}

/// What a run record states after it was stamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatedDigests {
    /// Today's digests, as far as they are known.
    Current,
    /// Other digests, which it keeps.
    Other,
}

/// Which messages of the user the samples of a case share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedMessages {
    All,
    /// The first one: a model plays the user after it.
    First,
}

impl ComparedMessages {
    /// Those among the messages of a run.
    pub fn of<'r, 's>(self, said: &'r [&'s str]) -> &'r [&'s str] {
        match self {
            Self::All => said,
            Self::First => said.get(..1).unwrap_or_default(),
        }
    }
}

impl Digests {
    /// Reads the config.
    ///
    /// # Errors
    /// A config that cannot be read, or that was named but does not exist.
    pub fn open(place: &RecordingsPlace<'_>, world: &World) -> Result<Self, CliError> {
        let (out, redactor) = (place.out.to_owned(), world.redactor());
        let Some((disk, file)) = Disk::of_config_if_any(place.config)? else {
            return Ok(Self {
                known: None,
                out,
                redactor,
            });
        };
        let plan = plan(&disk, &file, Selection::default(), &world.clock.days())?;
        Ok(Self {
            known: Some((disk, plan)),
            out,
            redactor,
        })
    }

    /// Which messages of the user the samples of a case share.
    pub fn compared_messages(&self, agent: &AgentName, case: &CaseId) -> ComparedMessages {
        let suites = self.known.iter().flat_map(|(_, plan)| &plan.suites);
        for loaded in suites {
            let suite = &loaded.suite;
            for pair in suite.pairs_to_run() {
                let is_it = pair.agent == *agent && pair.case == *case;
                if is_it && suite.simulated_user(pair).is_some() {
                    return ComparedMessages::First;
                }
            }
        }
        ComparedMessages::All
    }

    /// Adds the digests to a record; returns a note if one of them is missing. Without a config no digest is known, and the
    /// report will say so.
    ///
    /// # Errors
    /// A run whose input differs from its case's, unless they are imported with an unknown input.
    pub fn add(
        &self,
        record: &mut RunRecord,
        imported: &ImportedRun<'_>,
        place: &RecordingsPlace<'_>,
    ) -> Result<Option<String>, Diagnostics> {
        let ImportedRun {
            run,
            source,
            form: _,
        } = *imported;
        let Some((disk, plan)) = &self.known else {
            return Ok(None);
        };
        let (agent, case) = (&record.agent, &record.case);
        let Some((loaded, digests)) = self.digests(disk, plan, agent, case)? else {
            return Ok(Some(without_suite(plan, agent, case)));
        };
        let provenance = &mut record.provenance.provenance;
        provenance.agent_sha256 = digests.agent;
        let prompt = loaded
            .config
            .agents
            .get(agent)
            .and_then(|agent| agent.prompt.as_ref());
        provenance.prompt_package = prompt.map(ToString::to_string);
        let Some(ask) = digests.ask else {
            return Ok(None);
        };
        match another_input(&redacted_ask(&ask, &self.redactor), run) {
            InputMatch::Same => {
                record.provenance.provenance.input_sha256 = Some(input_digest(&ask, disk)?);
                Ok(None)
            }
            InputMatch::Unknown(why) => Ok(Some(format!("{case}: {why}: its input is unknown"))),
            InputMatch::Another(_) if place.samples == SamplesOfCase::Trials => Ok(None),
            InputMatch::Another(why) if place.existing == ExistingRecordings::Replaced => Ok(Some(
                format!("{case}: imported with an unknown input: {why}"),
            )),
            InputMatch::Another(why) => {
                let message = format!("this run does not belong to the case \"{case}\": {why}");
                let help =
                    "name its case with --case ID, or import it with an unknown input with --force";
                Err(source
                    .problem(run.at, Code::ANOTHER_INPUT, message, help)
                    .into())
            }
        }
    }

    /// The text of a run record with the digests that it lacks. Without a config no digest is known.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn stamp(
        &self,
        text: String,
        agent: &AgentName,
        case: &CaseId,
    ) -> Result<StampedRecord, Diagnostic> {
        let Some((disk, plan)) = &self.known else {
            return Ok(StampedRecord::current(text));
        };
        let Some((_, input)) = self.digests(disk, plan, agent, case)? else {
            return Ok(StampedRecord {
                note: Some(without_suite(plan, agent, case)),
                ..StampedRecord::current(text)
            });
        };
        let digests = input.digests(disk)?;
        Ok(match digests.stamped(&text, OtherDigests::Kept) {
            Stamped::Written(text) => StampedRecord::current(text),
            Stamped::Current => StampedRecord::current(text),
            Stamped::Other => StampedRecord {
                states: StatedDigests::Other,
                ..StampedRecord::current(text)
            },
        })
    }

    /// Returns the suite that replays the recording, and the digests. A suite that replays from `--out` comes first.
    fn digests<'p>(
        &self,
        disk: &Disk,
        plan: &'p Plan,
        agent: &AgentName,
        case: &CaseId,
    ) -> Result<Option<(&'p LoadedSuite, RecordingInput)>, Diagnostic> {
        let mut suites: Vec<&LoadedSuite> = plan
            .suites
            .iter()
            .filter(|loaded| loaded.config.agents.contains_key(agent))
            .collect();
        suites.sort_by_key(|loaded| !self.is_replayed_from_out(loaded, agent));
        let files: &dyn Files = &ReadOnce::of(disk);
        for loaded in suites {
            let key = RunKey {
                suite: loaded.config.id.clone(),
                agent: agent.clone(),
                case: case.clone(),
            };
            if let Some(digests) = recording_input(&plan.config, loaded, &key, files)? {
                return Ok(Some((loaded, digests)));
            }
        }
        Ok(None)
    }

    /// Says it if no suite replays the recordings of any of these agents from the folder of `--out`.
    pub fn tell_unread<'n>(&self, agents: impl Iterator<Item = &'n AgentName>, world: &World) {
        let agents: BTreeSet<&AgentName> = agents.collect();
        let Some((_, plan)) = &self.known else { return };
        let is_read = agents.iter().any(|agent| {
            plan.suites
                .iter()
                .any(|loaded| self.is_replayed_from_out(loaded, agent))
        });
        if !agents.is_empty() && !is_read {
            let folders: BTreeSet<String> = plan
                .config
                .suites
                .iter()
                .flat_map(SuiteConfig::recording_folders)
                .map(|folder| folder.parent().to_string())
                .collect();
            let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
            let file = &plan.config.file;
            world.tell(&format!(
                "{}: no agent of {file} replays recordings from here; they replay {}",
                self.out,
                folders.join(", ")
            ));
        }
    }

    /// Whether an agent of a suite replays the folder of `--out`.
    fn is_replayed_from_out(&self, loaded: &LoadedSuite, agent: &AgentName) -> bool {
        let Some((disk, _)) = &self.known else {
            return false;
        };
        let Ok((out, inside)) = Disk::of_file(&format!("{}/0.json", self.out)) else {
            return false;
        };
        let agent = loaded.config.agents.get(agent);
        match agent.and_then(|agent| agent.deterministic.as_ref()) {
            Some(RunSource::Replay(RecordingPlace::Folder(folder))) => {
                let of_out = absolute(out.place().join(inside.parent().as_str()));
                absolute(disk.place().join(folder.as_str())).ok() == of_out.ok()
            }
            Some(RunSource::Replay(RecordingPlace::Pattern(_)) | RunSource::Live(_)) | None => {
                false
            }
        }
    }
}

fn without_suite(plan: &Plan, agent: &AgentName, case: &CaseId) -> String {
    format!(
        "no suite of {} has the case {case} for the agent {agent}: the recording gets no digests",
        plan.config.file
    )
}

/// Whether a run has the input of its case.
enum InputMatch {
    Same,
    /// Unknown, for this reason.
    Unknown(&'static str),
    /// It has another input, described here.
    Another(String),
}

fn another_input(ask: &Ask, run: &Transcript) -> InputMatch {
    if ask.turns != UserTurns::Single {
        return another_conversation(ask, run);
    }
    let prompt = run.prompt.as_deref().unwrap_or_default();
    if let Some(more) = &run.interjected {
        if has_rounds(ask) {
            return InputMatch::Unknown("the case does not define the messages of later rounds");
        }
        return InputMatch::Another(format!(
            "it has another user or system message {:?} before the last answer, but the case does not",
            line(more, SHOWN)
        ));
    }
    match (user_messages(ask).first(), &run.query) {
        (Some(expected), Some(query)) if are_same_texts(&[expected], &[query]) => InputMatch::Same,
        (Some(expected), Some(query)) => InputMatch::Another(format!(
            "its query is {:?}, but the case's is {:?}",
            line(query, SHOWN),
            line(expected, SHOWN)
        )),
        (Some(_), None) => InputMatch::Unknown("the transcript has no user message"),
        (None, _) if is_shown_in(ask, prompt) => InputMatch::Same,
        (None, _) if is_of_another_case(ask, prompt) => {
            InputMatch::Another("its prompt contains another document".to_owned())
        }
        (None, _) => {
            InputMatch::Unknown("the transcript's prompt does not contain the case's input")
        }
    }
}

/// Compares every message of the user that was answered with those of the case.
fn another_conversation(ask: &Ask, run: &Transcript) -> InputMatch {
    if let Some(more) = &run.instructed {
        return InputMatch::Another(format!(
            "it has the system message {:?} after the first user message, but the case does not",
            line(more, SHOWN)
        ));
    }
    let (expected, messages) = (user_messages(ask), run.messages());
    if messages.is_empty() {
        return InputMatch::Unknown("the transcript has no user message");
    }
    if messages.len() == 1 && run.interjected.is_some() && run.turns.is_empty() {
        return InputMatch::Unknown("the transcript does not tell its turns");
    }
    for (index, (message, expected)) in messages.iter().zip(&expected).enumerate() {
        if !are_same_texts(&[message], &[expected]) {
            return InputMatch::Another(format!(
                "the user's message turns.{index} is {:?}, but the case's is {:?}",
                line(message, SHOWN),
                line(expected, SHOWN)
            ));
        }
    }
    let stated = match &ask.turns {
        UserTurns::Single | UserTurns::Scripted(_) => format!("has {}", expected.len()),
        UserTurns::Simulated(user) => format!("allows {}", user.max_turns),
    };
    if fits_said(ask, &messages) {
        return InputMatch::Same;
    }
    InputMatch::Another(format!(
        "answered user messages: {}, but the case {stated}",
        messages.len()
    ))
}
