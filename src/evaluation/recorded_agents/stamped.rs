//! Today's digests of recordings, and how they are written into one: [`StampedSuite`], [`RecordingDigests`].

use std::collections::{BTreeMap, BTreeSet};

use super::inputs::SuiteInputs;
use super::sources::{called, listed, recordings_of};
use crate::diag::{Diagnostic, Diagnostics};
use crate::evaluation::agent_digest::AgentState;
use crate::evaluation::plan::Plan;
use crate::files::Files;
use crate::format::run_v1;
use crate::model::{
    Agent, AgentName, CaseId, Config, RecordingPlace, RepoPath, RunKey, SuiteId, Tier,
};
use crate::render::plural;
use crate::text::first_of;

/// A suite whose recordings get today's digests.
pub struct StampedSuite {
    id: SuiteId,
    cases: BTreeMap<AgentName, BTreeSet<CaseId>>,
}

/// A recording, and what it is to state.
pub struct RecordingToStamp {
    /// Its agent, as `suite/agent`.
    pub agent: String,
    pub file: RepoPath,
    pub digests: RecordingDigests,
}

/// Today's digests of a recording. `None` is not stated.
pub struct RecordingDigests {
    /// Of the agent's files.
    pub agent: Option<String>,
    /// Of what the case asks.
    pub input: Option<String>,
    /// Of what is called.
    pub target: Option<String>,
}

/// What happens to a recording that states another digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherDigests {
    /// It keeps all that it states.
    Kept,
    /// They are replaced.
    Replaced,
}

/// What becomes of a recording.
pub enum Stamped {
    /// Its new text.
    Written(String),
    /// It states all of today's digests.
    Current,
    /// It states another digest, and keeps it.
    Other,
}

impl RecordingDigests {
    /// Writes these digests, and that of the content, into the text of a recording: those that it lacks, and in place of others if they are
    /// replaced.
    pub fn stamped(&self, text: &str, over: OtherDigests) -> Stamped {
        let stated = run_v1::stated_origin(text);
        let content = run_v1::content_sha256(text);
        let today = [
            ("agent_sha256", &stated.agent_sha256, &self.agent),
            ("input_sha256", &stated.input_sha256, &self.input),
            ("target_sha256", &stated.target_sha256, &self.target),
            ("content_sha256", &stated.content_sha256, &content),
        ];
        let mut values: Vec<(&str, &str)> = Vec::new();
        for (key, stated, current) in today {
            let Some(current) = current else { continue };
            match (stated, over) {
                (Some(stated), _) if stated == current => {}
                (Some(_), OtherDigests::Kept) => return Stamped::Other,
                (Some(_), OtherDigests::Replaced) | (None, _) => values.push((key, current)),
            }
        }
        if values.is_empty() {
            return Stamped::Current;
        }
        values.push(("by", run_v1::STAMPED));
        Stamped::Written(run_v1::with_origin(text, &values))
    }
}

/// Says which recordings keep other digests.
pub fn with_other_digests(recordings: &BTreeSet<String>) -> String {
    let subject = plural(
        recordings.len(),
        "recording states digests of other files or inputs, or was edited",
        "recordings state digests of other files or inputs, or were edited",
    );
    let names: Vec<&String> = recordings.iter().collect();
    format!("{subject} ({})", first_of(&names))
}

impl StampedSuite {
    /// The suites of the chosen cases of a plan, drafts among them.
    pub fn all(plan: &Plan) -> Vec<Self> {
        let mut suites: BTreeMap<SuiteId, BTreeMap<AgentName, BTreeSet<CaseId>>> = BTreeMap::new();
        for loaded in &plan.suites {
            for key in loaded
                .chosen_to_run(&plan.wanted)
                .flat_map(|pair| &pair.runs)
            {
                let agents = suites.entry(key.suite.clone()).or_default();
                let cases = agents.entry(key.agent.clone()).or_default();
                cases.insert(key.case.clone());
            }
        }
        suites
            .into_iter()
            .map(|(id, cases)| Self { id, cases })
            .collect()
    }

    /// The recordings of the suite with today's digests.
    ///
    /// # Errors
    /// Files that cannot be read, and agents without files to digest.
    pub fn recordings(
        &self,
        plan: &Plan,
        files: &dyn Files,
    ) -> Result<Vec<RecordingToStamp>, Diagnostics> {
        let Some(suite) = plan.config.suite(&self.id) else {
            return Ok(Vec::new());
        };
        let inputs = SuiteInputs::open(plan, &self.id, files, None)?;
        let mut problems = Diagnostics::default();
        let mut recordings = Vec::new();
        for (name, cases) in &self.cases {
            let Some(agent) = suite.agents.get(name) else {
                continue;
            };
            let stamped = AgentToStamp {
                suite: &self.id,
                name,
                agent,
                cases,
                inputs: &inputs,
            };
            let of_agent = problems.keep(stamped.recordings(&plan.config, files));
            recordings.extend(of_agent.unwrap_or_default());
        }
        problems.or(recordings)
    }
}

struct AgentToStamp<'a> {
    suite: &'a SuiteId,
    name: &'a AgentName,
    agent: &'a Agent,
    cases: &'a BTreeSet<CaseId>,
    inputs: &'a SuiteInputs<'a>,
}

impl AgentToStamp<'_> {
    fn recordings(
        &self,
        config: &Config,
        files: &dyn Files,
    ) -> Result<Vec<RecordingToStamp>, Diagnostic> {
        let places: BTreeSet<RecordingPlace> = Tier::ALL
            .into_iter()
            .filter_map(|tier| recordings_of(self.agent, tier))
            .map(|(place, _)| place)
            .collect();
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let who = format!("{}/{}", self.suite, self.name);
        let state = AgentState::of_present_files(files, &config.file, &who, self.agent)?;
        let target = called(config, self.agent);
        let mut recordings = Vec::new();
        for place in places {
            for ((case, _), (_, file)) in listed(files, &place, self.name, self.cases)? {
                let case = CaseId::new(&case).ok();
                let Some(case) = case.filter(|case| self.cases.contains(case)) else {
                    continue;
                };
                let run = RunKey {
                    suite: self.suite.clone(),
                    agent: self.name.clone(),
                    case,
                };
                recordings.push(RecordingToStamp {
                    agent: who.clone(),
                    file,
                    digests: RecordingDigests {
                        agent: state.sha256().map(str::to_owned),
                        input: self.inputs.of(&run).now().map(str::to_owned),
                        target: target.clone(),
                    },
                });
            }
        }
        Ok(recordings)
    }
}
