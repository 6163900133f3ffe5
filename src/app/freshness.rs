//! Whether recordings are of the agent and of the input that there are now (verdict.md 5).

mod files;
mod words;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub use self::files::CurrentAgents;
pub use self::words::{FreshnessVerdict, freshness_verdict};
use super::fingerprint::{AgentState, KeptDigests};
use super::plan::{LoadedSuite, Plan, RulesSource, source_of};
use crate::diag::{Diagnostic, Diagnostics, ReadFailure};
use crate::model::{
    Agent, AgentName, Ask, Freshness, Provenance, RecordingAge, Run, RunKey, RunSource, Sample, StalePolicy, SuiteId,
    Tier,
};
use crate::suites::{Files, InputDigest, PromptPackage, Suite, input_digest, is_of_another_case, kind};

/// What the recordings of one suite are compared with.
pub struct FreshnessInputs<'a> {
    opened: &'a LoadedSuite,
    files: &'a dyn Files,
    agents: BTreeMap<(SuiteId, AgentName), ReplayedAgent<'a>>,
    /// The suite whose runs this one grades again.
    other: Option<SuiteOfRuns>,
}

/// A suite, with the pair and the run of each key.
type SuiteOfRuns = (Arc<dyn Suite>, HashMap<RunKey, (usize, usize)>);

/// An agent whose runs are recordings.
pub struct ReplayedAgent<'a> {
    /// What the config says of it.
    pub agent: &'a Agent,
    /// What it is made of now; `None` where the config does not say.
    pub state: Option<AgentState>,
    /// Its prompt package, where it has one.
    pub prompt: Option<&'a PromptPackage>,
}

impl<'a> FreshnessInputs<'a> {
    /// Reads what the recordings of a suite are compared with in a tier.
    ///
    /// # Errors
    /// A file or folder that cannot be read.
    pub fn open(
        plan: &'a Plan,
        opened: &'a LoadedSuite,
        tier: Tier,
        files: &'a dyn Files,
    ) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::default();
        let mut agents = BTreeMap::new();
        // What the agents are made of now, and whose runs these are, is judged by the head's rules alone.
        if plan.rules == RulesSource::Base {
            return Ok(Self { opened, files, agents, other: None });
        }
        let asked = |id: &SuiteId| *id == opened.config.id || opened.config.runs_of.as_ref() == Some(id);
        for suite in plan.config.suites.iter().filter(|suite| asked(&suite.id)) {
            for (name, agent) in &suite.agents {
                if !matches!(source_of(agent, tier), Some(RunSource::Replay(_))) {
                    continue;
                }
                let state = problems.keep(AgentState::of(files, agent, opened.prompts.get(name)));
                if let Some(state) = state {
                    let prompt = opened.prompts.get(name);
                    agents.insert((suite.id.clone(), name.clone()), ReplayedAgent { agent, state, prompt });
                }
            }
        }
        let other = opened.config.runs_of.as_ref().and_then(|id| problems.keep_all(other(plan, id, files))?);
        problems.or(Self { opened, files, agents, other })
    }

    /// The agents whose runs are recordings, by suite and name.
    pub fn agents(&self) -> &BTreeMap<(SuiteId, AgentName), ReplayedAgent<'a>> {
        &self.agents
    }

    /// The age of the completed samples of a pair, by its index in the suite: the worst of them.
    pub fn of_samples(&self, index: usize, samples: &[Sample]) -> Freshness {
        let keys = &self.opened.suite.pairs()[index].runs;
        let inputs: Vec<CurrentInput> = keys.iter().map(|_| CurrentInput::default()).collect();
        let completed = samples.iter().filter_map(|sample| match sample {
            Sample::Completed(runs) => Some(runs),
            Sample::Inconclusive { .. } | Sample::Spared => None,
        });
        let runs = completed.flat_map(|runs| keys.iter().zip(&inputs).enumerate().zip(runs));
        runs.fold(Freshness::default(), |worst, ((run_index, (key, input)), run)| {
            let Some(agent) = self.agents.get(&(key.suite.clone(), key.agent.clone())) else { return worst };
            let ask = || input.ask.get_or_init(|| self.ask(index, run_index, key)).as_ref();
            let digest = || input.digest.get_or_init(|| self.input_now(ask()));
            worst.and(Freshness { agent: agent.age(run), input: agent.noted(input_age(run, ask, digest)) })
        })
    }

    /// What a run of a pair is asked; `None` where that cannot be said.
    fn ask(&self, index: usize, run_index: usize, key: &RunKey) -> Option<Ask> {
        let ask = if key.suite == self.opened.config.id {
            self.opened.suite.ask(index, run_index, self.files)
        } else {
            let (suite, places) = self.other.as_ref()?;
            let (index, run_index) = places.get(key)?;
            suite.ask(*index, *run_index, self.files)
        };
        ask.ok()?
    }

    fn input_now(&self, ask: Option<&Ask>) -> InputNow {
        match ask.map(|ask| input_digest(ask, self.files)) {
            Some(Ok(digest)) => InputNow::Known(digest),
            Some(Err(problem)) if problem.is_read_failure(ReadFailure::NotFetched) => InputNow::NotRead,
            Some(Err(_)) | None => InputNow::Missing,
        }
    }
}

/// What a case asks today, where somebody wants to know.
#[derive(Default)]
struct CurrentInput {
    ask: OnceCell<Option<Ask>>,
    digest: OnceCell<InputNow>,
}

/// The digest of what a case asks today.
enum InputNow {
    /// It is this one.
    Known(InputDigest),
    /// Not every file that belongs to it may be read: the trusted gate reads what the base's config leads to.
    NotRead,
    /// The case cannot be asked any more.
    Missing,
}

/// A suite whose runs another one grades again; it may not be among those that are asked for.
fn other(plan: &Plan, id: &SuiteId, files: &dyn Files) -> Result<Option<SuiteOfRuns>, Diagnostics> {
    let opened = plan.suites.iter().find(|opened| opened.config.id == *id).map(|opened| opened.suite.clone());
    let suite: Arc<dyn Suite> = match (opened, plan.config.suites.iter().find(|suite| suite.id == *id)) {
        (Some(suite), _) => suite,
        (None, Some(config)) => match kind(&config.kind) {
            Some(kind) => Arc::from((kind.open)(config, files)?),
            None => return Ok(None),
        },
        (None, None) => return Ok(None),
    };
    let mut places = HashMap::new();
    for (index, pair) in suite.pairs().iter().enumerate() {
        for (run_index, key) in pair.runs.iter().enumerate() {
            places.entry(key.clone()).or_insert((index, run_index));
        }
    }
    Ok(Some((suite, places)))
}

impl ReplayedAgent<'_> {
    /// Whether a recording is of the agent as it is now.
    fn age(&self, run: &Run) -> RecordingAge {
        let Some(state) = &self.state else { return RecordingAge::Unknown };
        let Provenance { fingerprint, prompt_sha256, .. } = &run.provenance;
        let kept = KeptDigests { fingerprint: fingerprint.as_deref(), prompt_sha256: prompt_sha256.as_deref() };
        self.noted(state.age(self.prompt, &kept))
    }

    /// `stale: warn` makes a stale recording one that is only noted.
    fn noted(&self, age: RecordingAge) -> RecordingAge {
        match (age, self.agent.stale) {
            (RecordingAge::Stale, StalePolicy::Warned) => RecordingAge::StaleNoted,
            (age, StalePolicy::Warned | StalePolicy::Refused) => age,
        }
    }
}

/// Whether a recording answers what the case asks now. What cannot be asked any more is another input, too.
fn input_age<'i>(run: &Run, ask: impl Fn() -> Option<&'i Ask>, digest: impl Fn() -> &'i InputNow) -> RecordingAge {
    match (&run.provenance.input_sha256, &run.prompt) {
        (Some(recorded), _) => match digest() {
            InputNow::Known(now) if now.is_of(recorded) => RecordingAge::Fresh,
            InputNow::Known(_) | InputNow::Missing => RecordingAge::Stale,
            InputNow::NotRead => RecordingAge::Unknown,
        },
        (None, Some(prompt)) if ask().is_some_and(|ask| is_of_another_case(ask, prompt)) => RecordingAge::Stale,
        (None, Some(_) | None) => RecordingAge::Unknown,
    }
}

/// What a new recording of a case keeps.
pub struct RecordingDigests {
    /// The digest of the agent's files.
    pub agent: Option<String>,
    /// What the case asks.
    pub ask: Option<Ask>,
}

/// The digests of a run that is recorded now: the agent's, and what the case asks. `None` where no pair of the suite has it.
///
/// # Errors
/// A file or folder that cannot be read.
pub fn recording_digests(
    opened: &LoadedSuite,
    key: &RunKey,
    files: &dyn Files,
) -> Result<Option<RecordingDigests>, Diagnostic> {
    let pairs = opened.suite.pairs().iter().enumerate();
    let mut found = pairs.filter_map(|(index, pair)| Some((index, pair.runs.iter().position(|run| run == key)?)));
    let (Some((index, run_index)), Some(agent)) = (found.next(), opened.config.agents.get(&key.agent)) else {
        return Ok(None);
    };
    let state = AgentState::of(files, agent, opened.prompts.get(&key.agent))?;
    let ask = opened.suite.ask(index, run_index, files)?;
    Ok(Some(RecordingDigests { agent: state.and_then(|state| state.sha256().map(str::to_owned)), ask }))
}
