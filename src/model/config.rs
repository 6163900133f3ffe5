//! What `goldgate.yaml` says, checked.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::ids::{AgentName, SuiteId};
use super::judge::Judge;
use super::path::{PathGlob, RepoPath};
use super::scoring::Scoring;

/// A whole config.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Config {
    /// The config's own file.
    pub file: RepoPath,
    /// The committed baseline.
    pub baseline: Option<RepoPath>,
    /// Where history and caches go.
    pub results: RepoPath,
    /// Samples per pair, where a suite does not say.
    pub samples: Option<u32>,
    /// The suites, in the order of the file.
    pub suites: Vec<SuiteConfig>,
    /// Live targets by name.
    pub targets: BTreeMap<String, Target>,
    /// What a run may cost.
    pub budget: Budget,
    /// US dollars per million tokens, by model.
    pub prices: BTreeMap<String, Price>,
    /// Regular expressions of what must not be kept in recordings.
    pub redact: Vec<String>,
}

/// One suite of the config.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuiteConfig {
    /// Its place in the file's list, from 0; it locates problems.
    pub index: usize,
    /// Its id.
    pub id: SuiteId,
    /// The name of its kind, as written; the table of kinds knows which exist.
    pub kind: String,
    /// Its folder or file.
    pub path: RepoPath,
    /// Where it runs.
    pub tiers: Vec<Tier>,
    /// Samples per pair.
    pub samples: Option<u32>,
    /// Who is graded on it.
    pub agents: BTreeMap<AgentName, Agent>,
    /// The gates that differ from the kind's defaults, by metric.
    pub gates: BTreeMap<String, Vec<StatedGate>>,
    /// Whether a case that passed in the baseline and fails now fails the suite.
    pub no_newly_failing: bool,
    /// The categories that findings may have; any word where absent.
    pub categories: Option<Vec<String>>,
    /// The suite whose runs are graded again.
    pub runs_of: Option<SuiteId>,
    /// The folder of that suite, where there is one.
    pub runs_in: Option<RepoPath>,
    /// Lists of terms that take the place of the shipped ones, by name.
    pub terms: BTreeMap<String, RepoPath>,
    /// What people said about its cases.
    pub labels: Option<RepoPath>,
    /// Flags that cases may state, by name, beside the shipped ones.
    pub flags: BTreeMap<String, Flag>,
    /// The tools that a live agent may call, with canned results.
    pub tools: Option<RepoPath>,
    /// Models that mark what no rule can score, by name.
    pub judges: Vec<Judge>,
    /// How revisions are scored, where the config says.
    pub scoring: Option<Scoring>,
}

impl SuiteConfig {
    /// What its golden files are read with. Gates, judges, tiers and who made the runs are no part of it, so that nothing that is
    /// read can depend on them.
    pub fn for_reading(&self) -> Self {
        let as_cast = |agent: &Agent| Agent { role: agent.role, ..Agent::default() };
        Self {
            index: 0,
            id: self.id.clone(),
            kind: self.kind.clone(),
            path: self.path.clone(),
            tiers: Vec::new(),
            samples: None,
            agents: self.agents.iter().map(|(name, agent)| (name.clone(), as_cast(agent))).collect(),
            gates: BTreeMap::new(),
            no_newly_failing: false,
            categories: self.categories.clone(),
            runs_of: self.runs_of.clone(),
            runs_in: self.runs_in.clone(),
            terms: self.terms.clone(),
            labels: self.labels.clone(),
            flags: self.flags.clone(),
            tools: self.tools.clone(),
            judges: Vec::new(),
            scoring: self.scoring.clone(),
        }
    }
}

/// A flag that cases may state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flag {
    /// The value at which it asks for something.
    pub when: bool,
    /// The list of terms of which one then has to be in the answer.
    pub terms: RepoPath,
}

/// One agent: where its runs come from in each tier.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Agent {
    /// The source of the deterministic tier.
    pub deterministic: Option<RunSource>,
    /// The source of the model tier.
    pub model: Option<RunSource>,
    /// The prompt package, a file or a folder.
    pub prompt: Option<RepoPath>,
    /// The files that make the agent what it is: its prompts, tools, sources. A recording is of their state.
    pub fingerprint: Vec<PathGlob>,
    /// Why nobody can name these files, where the config says so.
    pub no_fingerprint: Option<String>,
    /// What a recording of another state of these files is.
    pub stale: StalePolicy,
    /// What it does, where a kind knows several parts.
    pub role: Role,
}

/// What an agent is made of, as far as its config says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AgentFiles<'a> {
    /// The files that fit these patterns.
    Patterns(&'a [PathGlob]),
    /// Its prompt package.
    Prompt(&'a RepoPath),
    /// Nobody can name them, for this reason.
    Nameless(&'a str),
    /// The config does not say.
    Unstated,
}

impl Agent {
    /// Where its runs come from in a tier.
    pub fn source(&self, tier: Tier) -> Option<&RunSource> {
        match tier {
            Tier::Deterministic => self.deterministic.as_ref(),
            Tier::Model => self.model.as_ref(),
        }
    }

    /// What it is made of: `fingerprint` where it is stated, else its prompt package.
    pub fn files(&self) -> AgentFiles<'_> {
        match (self.fingerprint.as_slice(), &self.no_fingerprint, &self.prompt) {
            ([], Some(why), _) => AgentFiles::Nameless(why),
            ([], None, Some(prompt)) => AgentFiles::Prompt(prompt),
            ([], None, None) => AgentFiles::Unstated,
            (patterns, ..) => AgentFiles::Patterns(patterns),
        }
    }
}

/// What a recording is worth whose agent has changed since (grading.md 14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum StalePolicy {
    /// It proves nothing: no verdict can be given on it.
    #[default]
    Refused,
    /// It is graded, and what it is is said.
    Told,
}

/// What an agent does on a suite of kind `revision`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Role {
    /// It revises documents.
    #[default]
    Actor,
    /// It judges revised documents.
    Critic,
}

/// Where runs come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum RunSource {
    /// Recordings in this folder.
    Replay(RepoPath),
    /// Live calls.
    Live(LiveSource),
}

/// Live calls of one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveSource {
    /// The target's name under `targets:`.
    pub target: String,
    /// The target that judges each attempt; with it the runs are bounded loops of an actor and a critic.
    pub critic: Option<String>,
    /// Whether its runs are written as the recordings of the deterministic tier.
    pub record: bool,
}

/// Which of the two tiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Tier {
    /// Recordings, or a command that is itself deterministic; it blocks.
    Deterministic,
    /// Live targets; it informs.
    Model,
}

impl Tier {
    /// The word used in configs and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deterministic => "deterministic",
            Self::Model => "model",
        }
    }
}

/// A gate as a person wrote it: only what differs from the default.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StatedGate {
    /// A floor: a number, or the baseline's.
    pub min: Option<StatedLimit>,
    /// A ceiling.
    pub max: Option<StatedLimit>,
    /// The threshold without a baseline.
    pub otherwise: Option<f64>,
    /// The width of the inconclusive band.
    pub zone: Option<f64>,
    /// Whether there is no band at all.
    pub hard: Option<bool>,
    /// How far it may fall below the baseline.
    pub max_drop: Option<f64>,
    /// How far it may rise above the baseline.
    pub max_rise: Option<f64>,
    /// Why the default gates of the metric are switched off.
    pub off: Option<String>,
}

/// A limit as a person wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum StatedLimit {
    /// A number.
    Number(f64),
    /// The word `baseline`.
    Baseline,
}

/// A live target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Target {
    /// How it is reached.
    pub transport: Transport,
    /// How many calls at once.
    pub concurrency: Option<u32>,
    /// How long one call may take.
    pub timeout: Option<Duration>,
    /// How long an answer that has begun may stop.
    pub stall: Option<Duration>,
}

/// How a target is reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Transport {
    /// A model's own wire format.
    Model(Provider),
    /// A process.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
        /// How requests are told apart.
        protocol: Protocol,
        /// The environment variables that it sees beside the usual ones.
        env: Vec<String>,
    },
    /// A POST to this address.
    Http(String),
}

/// A model behind a vendor's wire format.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Provider {
    /// `anthropic`, `openai` or `bedrock`.
    pub wire: Wire,
    /// The model's name.
    pub model: String,
    /// Another address than the vendor's.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// The region, for `bedrock`.
    pub region: Option<String>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The longest answer, in tokens.
    pub max_tokens: Option<u32>,
}

/// A vendor's wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Wire {
    /// Messages.
    Anthropic,
    /// Chat completions.
    OpenAi,
    /// Converse.
    Bedrock,
}

/// How a process is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Protocol {
    /// One process a sample.
    Oneshot,
    /// One line in, one line out, by a pool of workers.
    Jsonl,
}

/// What a run may cost; what is left out is inconclusive, never failed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Budget {
    /// US dollars.
    pub max_cost_usd: Option<f64>,
    /// Tokens, read and written.
    pub max_tokens: Option<u64>,
    /// Minutes.
    pub max_minutes: Option<f64>,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Price {
    /// Read.
    pub input: f64,
    /// Written.
    pub output: f64,
    /// Read from the vendor's cache.
    pub cached_input: Option<f64>,
}

impl LiveSource {
    /// Every target that is called: who acts, then who judges.
    pub fn targets(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.target).chain(&self.critic)
    }
}
