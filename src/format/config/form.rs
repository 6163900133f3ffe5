//! The syntax of `goldgate.yaml`; the JSON schema is generated from it.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error, IgnoredAny, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::approval::ApprovalForm;
use super::capture::CaptureForm;
use super::expressions::{OwnCheckForm, OwnMetricForm};
use super::judges::JudgeForm;
use super::recordings::RecordingsForm;
use crate::format::list_or_object;
use crate::model::{NeverClass, Policy, Reasoning, StatedLimit, Tier, Wire};

/// The config file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "goldgate.yaml")]
pub struct ConfigFile {
    /// The version of this format: 1.
    pub(super) version: u32,
    /// The committed baseline, relative to this file.
    pub(super) baseline: Option<String>,
    /// Folder for history and caches; git should ignore it.
    pub(super) results: Option<String>,
    /// Samples per pair of agent and case; suites can override it.
    pub(super) samples: Option<u32>,
    /// The chance that a run of unchanged agents is red by the test of the policy `regression`, 0.1% to 20%; default `5%`.
    #[serde(default, deserialize_with = "as_written")]
    pub(super) regression: Option<String>,
    /// Whether live runs skip samples that cannot change a verdict, with the policy `seed`; default `true`.
    pub(super) early_stop: Option<bool>,
    /// The suites.
    pub(super) suites: Vec<SuiteForm>,
    /// Live targets by name.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) targets: BTreeMap<String, TargetForm>,
    /// Limits for a run of the model tier.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) budget: BudgetForm,
    /// Prices in US dollars per million tokens, by model.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) prices: BTreeMap<String, PriceForm>,
    /// Regular expressions for text that is neither printed nor written, in addition to values of key variables and common key formats.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) redact: Vec<String>,
    /// Which recordings of a pull request count.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) recordings: RecordingsForm,
    /// Who may approve a pull request, and with which labels.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) approval: ApprovalForm,
}

/// One suite.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct SuiteForm {
    /// Its id, unique in this file.
    pub(super) id: String,
    /// The id that it had: baseline entries, cases and recordings of this id count for it.
    pub(super) was: Option<String>,
    /// The kind of suite.
    pub(super) kind: String,
    /// Its folder or file, relative to this file.
    pub(super) path: String,
    /// The tiers in which it runs; default `[deterministic]`.
    pub(super) tier: Option<Vec<TierForm>>,
    /// Samples per pair of agent and case.
    pub(super) samples: Option<u32>,
    /// The agents that are graded on it.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) agents: BTreeMap<String, AgentForm>,
    /// What decides: `regression` (default), four rules whose error is known, or `seed`, the gates that the documents of the kind state.
    #[serde(default)]
    pub(super) policy: Policy,
    /// What its agents never do, with the policy `regression`; by default the guards of the kind.
    pub(super) never: Option<Vec<NeverClass>>,
    /// The least pass rate, 0 to 1, with the policy `regression`; by default a third of the baseline's.
    pub(super) floor: Option<f64>,
    /// Gates by metric. A stated part replaces that part of the kind's default gate; the other parts stay.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) gates: BTreeMap<String, GateForms>,
    /// Adds the gate `newly_failing: { max: 0 }`: the suite fails if a case passed in the baseline and fails now, or if a case that failed fails
    /// a further check.
    #[serde(default)]
    pub(super) no_newly_failing: bool,
    /// `hidden`: an answer lacks what a model wrote into `<think>` tags. Default `shown`: an answer is all that the agent wrote.
    #[serde(default)]
    pub(super) reasoning: Reasoning,
    /// The suite whose recorded runs are graded again (kind `cross_agent`).
    pub(super) runs_of: Option<String>,
    /// Files with one term a line that replace built-in lists: `vague`, `edge_case`, `disclaimer`, `refusal`.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) terms: BTreeMap<String, TermsForm>,
    /// Where the agents write what the kind reads: a path such as `output.items` by the kind's name; of several paths the first that is there.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) fields: BTreeMap<String, FieldPaths>,
    /// File of human labels: rubric scores and failure tags.
    pub(super) labels: Option<String>,
    /// LLM judges by name, for what rules cannot score; advisory, never a gate.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) judges: BTreeMap<String, JudgeForm>,
    /// Checks of every case, as expressions over its run.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) checks: Vec<OwnCheckForm>,
    /// Metrics of the suite, as expressions over a run.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) metrics: Vec<OwnMetricForm>,
    /// The keys of its kind, which are read later.
    #[serde(flatten)]
    #[schemars(skip)]
    pub(super) of_kind: BTreeMap<String, IgnoredAny>,
}

impl SuiteForm {
    /// The keys of every kind.
    pub(super) const KEYS: [&str; 20] = [
        "id",
        "was",
        "kind",
        "path",
        "tier",
        "samples",
        "agents",
        "policy",
        "never",
        "floor",
        "gates",
        "no_newly_failing",
        "reasoning",
        "runs_of",
        "terms",
        "fields",
        "labels",
        "judges",
        "checks",
        "metrics",
    ];
}

/// A path, or several of which the first that is there counts.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum FieldPaths {
    /// One path.
    One(String),
    /// Paths in their order.
    Several(Vec<String>),
}

/// A tier.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum TierForm {
    /// Grades recordings; can block.
    Deterministic,
    /// Grades live targets; advisory.
    Model,
}

/// A file with one term a line, and how its terms match.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum TermsForm {
    File(String),
    Stated(TermFileForm),
}

/// A file of terms that may match parts of words.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TermFileForm {
    /// The file with one term a line.
    pub(super) file: String,
    /// Whether terms match whole words alone; default `true`.
    pub(super) whole_words: Option<bool>,
}

/// One agent.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentForm {
    /// The name that it had: baseline entries, cases and recordings of this name count for it.
    pub(super) was: Option<String>,
    /// Source of its runs in the deterministic tier.
    pub(super) deterministic: Option<SourceForm>,
    /// Source of its runs in the model tier.
    pub(super) model: Option<SourceForm>,
    /// Patterns of the files that define the agent (prompts, tools, sources), relative to this file. A recording is stale once they change.
    /// Default: the agent's `prompt`. `{ none: "why" }` states that the files are unknown.
    pub(super) fingerprint: Option<FingerprintForm>,
    /// Role of the agent in a suite of kind `revision`; default `actor`.
    pub(super) role: Option<RoleForm>,
}

/// The files of an agent, or the reason why they are unknown.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum FingerprintForm {
    Patterns(Vec<String>),
    None(NoFingerprintForm),
}

/// Why an agent's files are unknown; every report shows it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoFingerprintForm {
    /// The reason.
    pub(super) none: String,
}

/// Role of an agent in a suite of kind `revision`.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum RoleForm {
    /// Revises documents.
    Actor,
    /// Judges revised documents.
    Critic,
}

/// Source of runs: `replay`, `target`, or `replay: exchanges` with both `target` and `recordings`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceForm {
    /// A folder of recordings, or a pattern of their paths such as `out/run-{sample}/{agent}/{case}.json`. With `target`, the word `exchanges`: the target's code runs, and the recordings answer its model calls.
    pub(super) replay: Option<String>,
    /// The names of the folders of attempts that each recording of a pattern consists of, such as `attempt_*`: a file for each part of an attempt.
    pub(super) attempts: Option<String>,
    /// The name of a live target.
    pub(super) target: Option<String>,
    /// The folder of recordings whose exchanges are replayed, with `replay: exchanges`.
    pub(super) recordings: Option<String>,
    /// Name of the live target that judges each attempt of `target`, in a loop of limited length (kind `revision`).
    pub(super) critic: Option<String>,
    /// The prompt package, a file or a folder.
    pub(super) prompt: Option<String>,
    /// Whether live runs are written as recordings of the deterministic tier.
    #[serde(default)]
    pub(super) record: bool,
}

/// One gate, or a list of gates.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum GateForms {
    One(GateForm),
    Many(Vec<GateForm>),
}

/// A gate; omitted keys keep the metric's default.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GateForm {
    /// Lower limit: a number, or `baseline`.
    pub(super) min: Option<LimitForm>,
    /// Upper limit: a number, or `baseline`.
    pub(super) max: Option<LimitForm>,
    /// Threshold without a baseline: with `min: baseline` or `max: baseline`.
    pub(super) otherwise: Option<f64>,
    /// Width of the inconclusive band beyond the threshold: 0 to 0.5, for points 0 to 6, for counts and amounts any.
    pub(super) zone: Option<f64>,
    /// What decides in the band: the change from the baseline. Without it, and without a baseline, the band is inconclusive.
    pub(super) in_zone: Option<BandForm>,
    /// Whether every value beyond the threshold fails, without an inconclusive band.
    pub(super) hard: Option<bool>,
    /// Largest allowed drop below the baseline.
    pub(super) max_drop: Option<f64>,
    /// Largest allowed rise above the baseline.
    pub(super) max_rise: Option<f64>,
    /// Disables the metric's default gates; requires `reason`.
    pub(super) off: Option<bool>,
    /// Why it is disabled.
    pub(super) reason: Option<String>,
}

/// The change from the baseline that decides in a band.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(super) struct BandForm {
    /// Largest allowed drop below the baseline, with `min`.
    pub(super) max_drop: Option<f64>,
    /// Largest allowed rise above the baseline, with `max`.
    pub(super) max_rise: Option<f64>,
}

/// A number, or the word `baseline`.
#[derive(JsonSchema, Clone, Copy)]
#[schemars(untagged)]
pub(super) enum LimitForm {
    Number(f64),
    Word(BaselineWord),
}

/// The word `baseline`.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum BaselineWord {
    Baseline,
}

/// One live target: `provider`, `command` or `http`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TargetForm {
    /// A vendor's wire format.
    pub(super) provider: Option<WireForm>,
    /// The model's name, with `provider`.
    pub(super) model: Option<String>,
    /// Base URL that replaces the vendor's.
    pub(super) base_url: Option<String>,
    /// Name of the environment variable with the key; never the key itself.
    pub(super) api_key_env: Option<String>,
    /// The region, for `bedrock`.
    pub(super) region: Option<String>,
    /// The sampling temperature.
    pub(super) temperature: Option<f64>,
    /// Maximum length of an answer, in tokens.
    pub(super) max_tokens: Option<u32>,
    /// Process to start: program and arguments.
    pub(super) command: Option<Vec<String>>,
    /// Records the model calls of the process, which gets the query on standard input or as `{query}`: what its run record is made from.
    pub(super) capture: Option<CaptureForm>,
    /// Protocol of the process.
    pub(super) protocol: Option<ProtocolForm>,
    /// Environment variables passed to the process in addition to PATH, HOME, LANG, TZ and TMPDIR.
    pub(super) env: Option<Vec<String>>,
    /// URL that receives the request as a POST.
    pub(super) http: Option<String>,
    /// Maximum number of concurrent calls.
    pub(super) concurrency: Option<u32>,
    /// Time limit of one call, such as `60s` or `500ms`.
    #[serde(default, deserialize_with = "as_written")]
    pub(super) timeout: Option<String>,
    /// Longest pause within an answer, such as `30s`; for `provider` and `http`.
    #[serde(default, deserialize_with = "as_written")]
    pub(super) stall: Option<String>,
    /// `trusted` lets `mode: record` call this `command` or `http` target with the texts of a pull request. Models need no permission.
    pub(super) record: Option<RecordPolicyForm>,
}

/// Whether `mode: record` may call a target that is not a model.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum RecordPolicyForm {
    Trusted,
}

/// A vendor's wire format.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum WireForm {
    Anthropic,
    Openai,
    Bedrock,
}

/// Protocol of a process.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum ProtocolForm {
    Oneshot,
    Jsonl,
}

/// Limits for a run.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetForm {
    /// US dollars.
    pub(super) max_cost_usd: Option<f64>,
    /// Input and output tokens.
    pub(super) max_tokens: Option<u64>,
    /// Minutes.
    pub(super) max_minutes: Option<f64>,
}

/// Prices in US dollars per million tokens.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceForm {
    /// Input tokens.
    pub(super) input: f64,
    /// Output tokens.
    pub(super) output: f64,
    /// Input tokens served from the vendor's cache.
    pub(super) cached_input: Option<f64>,
}

/// Reads a key whose value may have been removed, such as `targets:` above lines that are comments now.
fn or_default<'de, D, T>(reader: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(reader)?.unwrap_or_default())
}

/// Reads a text that needs a unit. A number without one is refused later, with the help of its key.
fn as_written<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    Ok(
        Option::<Value>::deserialize(reader)?.map(|value| match value {
            Value::String(text) => text,
            value @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => value.to_string(),
        }),
    )
}

impl<'de> Deserialize<'de> for GateForms {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        list_or_object(
            reader,
            "a gate such as { min: 0.8 }, or a list of gates",
            Self::Many,
            Self::One,
        )
    }
}

impl<'de> Deserialize<'de> for FingerprintForm {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let expected = "a list of patterns such as [prompts/**], or { none: \"why\" }";
        list_or_object(reader, expected, Self::Patterns, Self::None)
    }
}

impl<'de> Deserialize<'de> for LimitForm {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct NumberOrWord;
        impl Visitor<'_> for NumberOrWord {
            type Value = LimitForm;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a number or the word baseline")
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<LimitForm, E> {
                Ok(LimitForm::Number(number))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<LimitForm, E> {
                Ok(LimitForm::Number(number as f64))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<LimitForm, E> {
                Ok(LimitForm::Number(number as f64))
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<LimitForm, E> {
                match word {
                    "baseline" => Ok(LimitForm::Word(BaselineWord::Baseline)),
                    _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
                }
            }
        }
        reader.deserialize_any(NumberOrWord)
    }
}

impl LimitForm {
    /// The number; `None` for `baseline`.
    pub(super) fn number(self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Word(BaselineWord::Baseline) => None,
        }
    }
}

impl From<LimitForm> for StatedLimit {
    fn from(form: LimitForm) -> Self {
        form.number().map_or(Self::Baseline, Self::Number)
    }
}

impl From<TierForm> for Tier {
    fn from(form: TierForm) -> Self {
        match form {
            TierForm::Deterministic => Self::Deterministic,
            TierForm::Model => Self::Model,
        }
    }
}

impl From<WireForm> for Wire {
    fn from(form: WireForm) -> Self {
        match form {
            WireForm::Anthropic => Self::Anthropic,
            WireForm::Openai => Self::OpenAi,
            WireForm::Bedrock => Self::Bedrock,
        }
    }
}
