//! Whether recordings match the current agent and the current input (verdict.md 5).

mod files;
mod inputs;
mod requests;
mod words;

use std::cell::OnceCell;
use std::collections::BTreeMap;

pub use self::files::{AgentFileDigests, CurrentAgents};
pub use self::inputs::InputsOfRuns;
use self::requests::{InputDigest, Requests};
pub use self::words::{FreshnessVerdict, freshness_verdict};
use super::fingerprint::{AgentState, KeptDigests};
use super::plan::{LoadedSuite, Plan, RulesSource, source_of};
use crate::diag::{Diagnostic, Diagnostics};
use crate::files::{Files, OtherCommit};
use crate::golden_changes::{is_listed, is_named};
use crate::model::{
    Agent, AgentName, Ask, Config, Freshness, Provenance, RecordingAge, RepoPath, Run, RunKey,
    RunSource, Sample, StalePolicy, SuiteConfig, SuiteId, Tier, Transport,
};
use crate::suites::{Pair, PromptPackage, has_other_messages, is_of_another_case};

/// The current state that the recordings of one suite are compared with.
pub struct FreshnessInputs<'a> {
    config: &'a Config,
    loaded: &'a LoadedSuite,
    files: &'a dyn Files,
    agents: BTreeMap<(SuiteId, AgentName), ReplayedAgent<'a>>,
    /// The suite whose runs this suite also grades.
    other: Option<Requests>,
    /// The base commit, if any.
    base: Option<&'a dyn OtherCommit>,
}

pub struct ReplayedAgent<'a> {
    pub agent: &'a Agent,
    /// Its current state; `None` if the config does not state its files.
    pub state: Option<AgentState>,
    pub prompt: Option<&'a PromptPackage>,
    /// A file that a target of the agent starts, and that is not among the agent's files.
    pub program: Option<RepoPath>,
    /// Another suite that names other files for the agent of the same recordings. A recording has the digest of one list.
    pub other_list: Option<SuiteId>,
}

impl<'a> FreshnessInputs<'a> {
    /// Reads the current state that the recordings of a suite are compared with in a tier.
    pub fn open(
        plan: &'a Plan,
        loaded: &'a LoadedSuite,
        tier: Tier,
        files: &'a dyn Files,
        base: Option<&'a dyn OtherCommit>,
    ) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::default();
        let mut inputs = Self {
            config: &plan.config,
            loaded,
            files,
            agents: BTreeMap::new(),
            other: None,
            base,
        };
        // Only the head's rules decide whether recordings are current.
        if plan.rules == RulesSource::Base {
            return Ok(inputs);
        }
        let is_graded =
            |id: &SuiteId| *id == loaded.config.id || loaded.config.runs_of.as_ref() == Some(id);
        for suite in plan
            .config
            .suites
            .iter()
            .filter(|suite| is_graded(&suite.id))
        {
            for (name, agent) in &suite.agents {
                if !matches!(source_of(agent, tier), Some(RunSource::Replay(_))) {
                    continue;
                }
                let state = problems.keep(AgentState::of(files, agent, loaded.prompts.get(name)));
                if let Some(state) = state {
                    let prompt = loaded.prompts.get(name);
                    let program = unlisted_program(&plan.config, agent, files);
                    let other_list = other_list(&plan.config, suite, name, agent);
                    let replayed = ReplayedAgent {
                        agent,
                        state,
                        prompt,
                        program,
                        other_list,
                    };
                    inputs
                        .agents
                        .insert((suite.id.clone(), name.clone()), replayed);
                }
            }
        }
        inputs.other = loaded
            .config
            .runs_of
            .as_ref()
            .and_then(|id| problems.keep_all(Requests::of_plan(plan, id, files))?);
        problems.or(inputs)
    }

    /// Returns the agents whose runs are recordings, by suite and name.
    pub fn agents(&self) -> &BTreeMap<(SuiteId, AgentName), ReplayedAgent<'a>> {
        &self.agents
    }

    /// Returns the files of an agent that differ from those of the base commit.
    fn changed_files(&self, agent: &ReplayedAgent<'_>) -> Vec<RepoPath> {
        let (Some(base), Some(AgentState::Digest(now))) = (self.base, &agent.state) else {
            return Vec::new();
        };
        let is_same = |file: &RepoPath| {
            self.files
                .bytes(file)
                .is_ok_and(|bytes| base.has_file(file, Some(&bytes)))
        };
        now.listed
            .iter()
            .filter(|file| !is_same(file))
            .cloned()
            .collect()
    }

    /// Returns the worst age of the completed samples of a pair of the suite.
    pub fn of_samples(&self, pair: &Pair, samples: &[Sample]) -> Freshness {
        let keys = &pair.runs;
        let inputs: Vec<CurrentInput> = keys.iter().map(|_| CurrentInput::default()).collect();
        let completed = samples.iter().filter_map(|sample| match sample {
            Sample::Completed(runs) => Some(runs),
            Sample::Inconclusive { .. } | Sample::Spared => None,
        });
        let runs = completed.flat_map(|runs| keys.iter().zip(&inputs).zip(runs));
        runs.fold(Freshness::default(), |worst, ((key, input), run)| {
            let Some(agent) = self.agents.get(&(key.suite.clone(), key.agent.clone())) else {
                return worst;
            };
            let ask = || input.ask.get_or_init(|| self.ask(pair, key)).as_ref();
            let digest = || {
                input
                    .digest
                    .get_or_init(|| InputDigest::of(ask(), self.files))
            };
            worst.and(Freshness {
                agent: agent.age(run),
                input: agent.noted(input_age(run, ask, digest)),
            })
        })
    }

    /// Returns the request of a run of a pair; `None` if it is unknown.
    fn ask(&self, pair: &Pair, key: &RunKey) -> Option<Ask> {
        match key.suite == self.loaded.config.id {
            true => self.loaded.suite.ask(pair, key, self.files).ok()?,
            false => self.other.as_ref()?.ask(key, self.files),
        }
    }
}

/// The current request of a case, computed when needed.
#[derive(Default)]
struct CurrentInput {
    ask: OnceCell<Option<Ask>>,
    digest: OnceCell<InputDigest>,
}

impl ReplayedAgent<'_> {
    /// Returns the agent's file if its list can name only this one.
    fn only_file(&self) -> Option<RepoPath> {
        match (
            self.agent.fingerprint.as_slice(),
            &self.agent.prompt,
            &self.state,
        ) {
            ([glob], None, _) => glob.file(),
            ([], Some(prompt), Some(AgentState::Digest(now))) => now.listed.get(prompt).cloned(),
            _ => None,
        }
    }

    /// Returns whether a recording was made by the current agent.
    fn age(&self, run: &Run) -> RecordingAge {
        let Some(state) = &self.state else {
            return RecordingAge::Unknown;
        };
        let Provenance {
            fingerprint,
            prompt_sha256,
            ..
        } = &run.provenance;
        let kept = KeptDigests {
            fingerprint: fingerprint.as_deref(),
            prompt_sha256: prompt_sha256.as_deref(),
        };
        self.noted(state.age(self.prompt, &kept))
    }

    /// With `stale: warn`, stale recordings only get a note.
    fn noted(&self, age: RecordingAge) -> RecordingAge {
        match (age, self.agent.stale) {
            (RecordingAge::Stale, StalePolicy::Warned) => RecordingAge::StaleNoted,
            (age, StalePolicy::Warned | StalePolicy::Refused) => age,
        }
    }
}

/// Returns another suite that names other files for an agent of the same name with the same recordings.
fn other_list(
    config: &Config,
    own: &SuiteConfig,
    name: &AgentName,
    agent: &Agent,
) -> Option<SuiteId> {
    let folder = agent.deterministic.as_ref()?.recordings()?;
    let others = config.suites.iter().filter(|suite| suite.id != own.id);
    let differs = |other: &Agent| {
        other.deterministic.as_ref().and_then(RunSource::recordings) == Some(folder)
            && other.files() != agent.files()
    };
    others
        .filter(|suite| suite.agents.get(name).is_some_and(differs))
        .map(|suite| suite.id.clone())
        .next()
}

/// Returns a file that a command target of the agent starts, if the agent's files are stated without it.
fn unlisted_program(config: &Config, agent: &Agent, files: &dyn Files) -> Option<RepoPath> {
    let Some(RunSource::Live(live)) = &agent.model else {
        return None;
    };
    if agent.fingerprint.is_empty() && agent.prompt.is_none() {
        return None;
    }
    let started = live
        .targets()
        .filter_map(|name| config.targets.get(name))
        .flat_map(|target| match &target.transport {
            Transport::Command { argv, .. } => argv.as_slice(),
            Transport::Model(_) | Transport::Http(_) => &[],
        });
    let mut programs = started.filter_map(|argument| RepoPath::root().join(argument).ok());
    programs.find(|file| {
        *file != RepoPath::root()
            && !is_named(agent, file)
            && is_listed(files, file).unwrap_or(false)
    })
}

/// Returns whether a recording answers the current request of its case. A missing case counts as another request.
fn input_age<'i>(
    run: &Run,
    ask: impl Fn() -> Option<&'i Ask>,
    digest: impl Fn() -> &'i InputDigest,
) -> RecordingAge {
    match (&run.provenance.input_sha256, &run.prompt) {
        // Whatever its digest says.
        (_, _) if has_turns(run) && ask().is_some_and(|ask| has_other_messages(ask, run)) => {
            RecordingAge::Stale
        }
        (Some(recorded), _) => match digest() {
            InputDigest::Known(now) if now.is(recorded) => RecordingAge::Fresh,
            InputDigest::Known(_) | InputDigest::Missing => RecordingAge::Stale,
            InputDigest::NotRead => RecordingAge::Unknown,
        },
        (None, Some(prompt)) if ask().is_some_and(|ask| is_of_another_case(ask, prompt)) => {
            RecordingAge::Stale
        }
        (None, Some(_) | None) => RecordingAge::Unknown,
    }
}

/// Whether a run may be a conversation. Most runs are none, and reading their outputs again takes time.
fn has_turns(run: &Run) -> bool {
    run.outputs.contains("\"turns\"")
}

/// The digests for a new recording of a case.
pub struct RecordingDigests {
    /// The digest of the agent's files.
    pub agent: Option<String>,
    pub ask: Option<Ask>,
}

/// Returns the agent's digest and the case's request for a new recording; `None` if no pair of the suite has this run.
pub fn recording_digests(
    loaded: &LoadedSuite,
    key: &RunKey,
    files: &dyn Files,
) -> Result<Option<RecordingDigests>, Diagnostic> {
    let pair = loaded
        .suite
        .pairs_to_run()
        .find(|pair| pair.runs.contains(key));
    let (Some(pair), Some(agent)) = (pair, loaded.config.agents.get(&key.agent)) else {
        return Ok(None);
    };
    let state = AgentState::of(files, agent, loaded.prompts.get(&key.agent))?;
    let ask = loaded.suite.ask(pair, key, files)?;
    Ok(Some(RecordingDigests {
        agent: state.and_then(|state| state.sha256().map(str::to_owned)),
        ask,
    }))
}
