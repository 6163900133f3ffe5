//! The checked content of `goldgate.yaml`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;

use super::governance::ApprovalPolicy;
use super::ids::{AgentName, SuiteId};
use super::judge::Judge;
use super::output_field::StatedFields;
use super::own_expressions::OwnExpressions;
use super::path::{PathGlob, RepoPath};
use super::policy::{Alpha, NeverClass, Policy};
use super::recorded_call::CaptureSource;
use super::recording_place::RecordingPlace;
use super::redact_pattern::RedactPattern;
use super::run_source::RunSource;
use super::setting::KindSettings;
use super::words::words;

/// The whole config.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Config {
    /// The path of the config file.
    pub file: RepoPath,
    /// The committed baseline.
    pub baseline: Option<RepoPath>,
    /// Folder for history and caches.
    pub results: RepoPath,
    /// Samples per pair of agent and case; suites can override it.
    pub samples: Option<u32>,
    /// The chance of a false alarm of the policy `regression`, over all agents of a run.
    pub regression: Alpha,
    /// Whether live runs skip samples that cannot change a verdict.
    pub early_stop: bool,
    /// The suites, in the order of the file.
    pub suites: Vec<SuiteConfig>,
    /// Live targets by name.
    pub targets: BTreeMap<String, Target>,
    /// Limits of a run.
    pub budget: Budget,
    /// Prices in US dollars per million tokens, by model.
    pub prices: BTreeMap<String, Price>,
    /// Regular expressions for text that is neither printed nor written.
    pub redact: Vec<RedactPattern>,
    /// Which recordings of a pull request count.
    pub recordings: RecordingTrust,
    /// Who may approve a pull request, and with which labels.
    pub approval: ApprovalPolicy,
}

words! {
    /// Whether the reasoning that a model writes into its answer is a part of it.
    #[derive(Default)]
    pub enum Reasoning {
        /// The answer is what the agent wrote.
        #[default]
        Shown = "shown",
        /// The answer lacks what is in `<think>` tags.
        Hidden = "hidden",
    }
}

/// Which recordings of a pull request count. The base commit's config decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordingTrust {
    /// What authors record and stamp counts, and is listed.
    #[default]
    Author,
    /// Another person approves it.
    Approval,
    /// Only what a run of the recording workflow left.
    Ci,
}

/// One suite of the config.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuiteConfig {
    /// Its index in the file, from 0, for error positions.
    pub index: usize,
    /// Its id.
    pub id: SuiteId,
    /// The id that it had.
    pub was: Option<SuiteId>,
    /// The name of its kind, as written; checked against the table of kinds later.
    pub kind: String,
    /// Its folder or file.
    pub path: RepoPath,
    /// The tiers in which it runs.
    pub tiers: Vec<Tier>,
    /// Samples per pair.
    pub samples: Option<u32>,
    /// The agents that are graded on it.
    pub agents: BTreeMap<AgentName, Agent>,
    /// What decides.
    pub policy: Policy,
    /// What its agents never do; `None` for the classes of the kind.
    pub never: Option<Vec<NeverClass>>,
    /// The least pass rate.
    pub floor: Option<f64>,
    /// Gates by metric. A stated part replaces that part of the kind's default gate; the other parts stay.
    pub gates: BTreeMap<String, Vec<StatedGate>>,
    /// Whether the suite fails if a case passed in the baseline and fails now.
    pub no_newly_failing: bool,
    /// Whether the reasoning in an answer counts.
    pub reasoning: Reasoning,
    /// The suite whose runs are graded again.
    pub runs_of: Option<SuiteId>,
    /// The folder of that suite, if any.
    pub runs_in: Option<RepoPath>,
    /// Term lists that replace built-in ones, by name.
    pub terms: BTreeMap<String, TermFile>,
    /// The names under which its agents write what the kind reads.
    pub fields: StatedFields,
    /// The file of human labels.
    pub labels: Option<RepoPath>,
    /// LLM judges for what rules cannot score.
    pub judges: Vec<Judge>,
    /// Its own checks and metrics.
    #[serde(flatten)]
    pub expressions: OwnExpressions,
    /// The settings that its kind adds.
    #[serde(flatten)]
    pub settings: KindSettings,
    /// The stated keys that only other kinds have.
    #[serde(skip)]
    pub without_effect: Vec<String>,
}

impl SuiteConfig {
    /// The folders with the recordings of each agent, in both tiers.
    pub fn recording_folders(&self) -> Vec<RepoPath> {
        let mut folders = Vec::new();
        for (name, agent) in &self.agents {
            folders.extend(agent.recordings().map(|folder| folder.child(name.as_str())));
        }
        folders
    }

    /// The settings that affect how golden files are parsed. Gates, judges, tiers and run sources are removed, so that no parser can depend
    /// on them.
    pub fn for_reading(&self) -> Self {
        let mut agents = BTreeMap::new();
        for (name, agent) in &self.agents {
            let with_role = Agent {
                role: agent.role,
                ..Agent::default()
            };
            agents.insert(name.clone(), with_role);
        }
        Self {
            index: 0,
            id: self.id.clone(),
            was: None,
            kind: self.kind.clone(),
            path: self.path.clone(),
            tiers: Vec::new(),
            samples: None,
            agents,
            policy: Policy::default(),
            never: None,
            floor: None,
            gates: BTreeMap::new(),
            no_newly_failing: false,
            reasoning: Reasoning::Shown,
            runs_of: self.runs_of.clone(),
            runs_in: self.runs_in.clone(),
            terms: self.terms.clone(),
            fields: StatedFields::new(),
            labels: self.labels.clone(),
            judges: Vec::new(),
            expressions: self.expressions.clone(),
            settings: self.settings.clone(),
            without_effect: Vec::new(),
        }
    }
}

/// One agent: the source of its runs in each tier.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Agent {
    /// The name that it had.
    pub was: Option<AgentName>,
    /// The source of the deterministic tier.
    pub deterministic: Option<RunSource>,
    /// The source of the model tier.
    pub model: Option<RunSource>,
    /// The prompt package, a file or a folder.
    pub prompt: Option<RepoPath>,
    /// The files that define the agent: prompts, tools, sources. A recording is stale once they change.
    pub fingerprint: Vec<PathGlob>,
    /// Why these files are unknown, if the config says so.
    pub no_fingerprint: Option<String>,
    /// Its role, if the kind distinguishes roles.
    pub role: Role,
    /// Where the recordings of the agents are that replay the same places as this agent.
    #[serde(skip)]
    pub recorded: BTreeSet<(RecordingPlace, AgentName)>,
}

/// The files that define an agent, according to the config.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AgentFiles<'a> {
    /// The files that match these patterns.
    Patterns(&'a [PathGlob]),
    /// Its prompt package.
    Prompt(&'a RepoPath),
    /// Unknown, for this reason.
    Nameless(&'a str),
    /// Not configured.
    Unstated,
}

impl Config {
    /// The suite with this id.
    pub fn suite(&self, id: &SuiteId) -> Option<&SuiteConfig> {
        self.suites.iter().find(|suite| suite.id == *id)
    }
}

impl Agent {
    /// The source of its runs in a tier.
    pub fn source(&self, tier: Tier) -> Option<&RunSource> {
        match tier {
            Tier::Deterministic => self.deterministic.as_ref(),
            Tier::Model => self.model.as_ref(),
        }
    }

    /// The folders of its recordings, in both tiers.
    pub fn recordings(&self) -> impl Iterator<Item = &RepoPath> {
        [Tier::Deterministic, Tier::Model]
            .into_iter()
            .filter_map(|tier| self.source(tier)?.recordings())
    }

    /// The places of its recordings, in both tiers.
    pub fn recording_places(&self) -> impl Iterator<Item = RecordingPlace> {
        let sources = [Tier::Deterministic, Tier::Model].into_iter();
        sources.filter_map(|tier| self.source(tier)?.place())
    }

    /// The files that define it: `fingerprint` if configured, else its prompt package.
    pub fn files(&self) -> AgentFiles<'_> {
        match (
            self.fingerprint.as_slice(),
            &self.no_fingerprint,
            &self.prompt,
        ) {
            ([], Some(why), _) => AgentFiles::Nameless(why),
            ([], None, Some(prompt)) => AgentFiles::Prompt(prompt),
            ([], None, None) => AgentFiles::Unstated,
            (patterns, ..) => AgentFiles::Patterns(patterns),
        }
    }
}

/// The role of an agent, in kinds that have actors and critics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Role {
    /// Revises documents.
    #[default]
    Actor,
    /// Judges revised documents.
    Critic,
}

words! {
    /// A tier.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Tier {
        /// Recordings, or a deterministic command; can block.
        Deterministic = "deterministic",
        /// Live targets; advisory.
        Model = "model",
    }
}

/// A gate as written in the config: only what differs from the default.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StatedGate {
    /// Lower limit: a number, or the baseline's value.
    pub min: Option<StatedLimit>,
    /// Upper limit.
    pub max: Option<StatedLimit>,
    /// Threshold without a baseline.
    pub otherwise: Option<f64>,
    /// The width of the inconclusive band.
    pub zone: Option<f64>,
    /// What decides in the band, in place of no verdict.
    pub in_zone: Option<StatedBand>,
    /// Whether the gate has no inconclusive band.
    pub hard: Option<bool>,
    /// Largest allowed drop below the baseline.
    pub max_drop: Option<f64>,
    /// Largest allowed rise above the baseline.
    pub max_rise: Option<f64>,
    /// Why the default gates of the metric are disabled.
    pub off: Option<String>,
}

/// How a value in the band may differ from the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct StatedBand {
    /// Largest allowed drop below the baseline.
    pub max_drop: Option<f64>,
    /// Largest allowed rise above the baseline.
    pub max_rise: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum StatedLimit {
    Number(f64),
    /// The word `baseline`.
    Baseline,
}

/// A live target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Target {
    /// The connection to it.
    pub transport: Transport,
    /// Maximum number of concurrent calls.
    pub concurrency: Option<u32>,
    /// Time limit of one call.
    pub timeout: Option<Duration>,
    /// Longest pause within an answer.
    pub stall: Option<Duration>,
    /// Whether `mode: record` may ask it about a pull request.
    pub record: RecordPolicy,
}

/// Whether `mode: record` may ask a target about a pull request. The base commit's config decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum RecordPolicy {
    /// Only if it is a model.
    #[default]
    Models,
    /// Also if it is a command or an HTTP address.
    Trusted,
}

/// The connection to a target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Transport {
    /// A model, by its vendor's wire format.
    Model(Provider),
    /// A process.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
        /// The protocol of the process.
        protocol: Protocol,
        /// Environment variables passed to it in addition to the default ones.
        env: Vec<String>,
    },
    /// A POST to this URL.
    Http(String),
}

/// A model served by a vendor's wire format.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Provider {
    /// `anthropic`, `openai` or `bedrock`.
    pub wire: Wire,
    /// The model's name.
    pub model: String,
    /// Base URL that replaces the vendor's.
    pub base_url: Option<String>,
    /// Name of the environment variable with the key.
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
    /// The messages API.
    Anthropic,
    /// Chat completions.
    OpenAi,
    /// The Converse API.
    Bedrock,
}

/// The protocol of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Protocol {
    /// One process per sample.
    Oneshot,
    /// One line in, one line out, with a pool of workers.
    Jsonl,
    /// One process per sample: the query in, the answer as text out. Its model calls are recorded on the way.
    Captured(CaptureSource),
}

/// Limits of a run; samples beyond them are inconclusive, never failed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Budget {
    pub max_cost_usd: Option<f64>,
    /// Input and output tokens.
    pub max_tokens: Option<u64>,
    pub max_minutes: Option<f64>,
}

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Output tokens.
    pub output: f64,
    /// Input tokens served from the vendor's cache.
    pub cached_input: Option<f64>,
}

impl Price {
    /// Whether some tokens cost less than at the other price.
    pub fn is_lower(&self, other: &Self) -> bool {
        self.input < other.input
            || self.output < other.output
            || self.of_cached_input() < other.of_cached_input()
    }

    fn of_cached_input(&self) -> f64 {
        self.cached_input.unwrap_or(self.input)
    }
}

/// A file with one term a line, in place of a built-in list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct TermFile {
    /// The file.
    pub file: RepoPath,
    /// Whether its terms match whole words alone.
    pub whole_words: bool,
}

impl From<TermFile> for String {
    fn from(TermFile { file, whole_words }: TermFile) -> Self {
        if whole_words {
            file.to_string()
        } else {
            format!("{file}, also parts of words")
        }
    }
}
