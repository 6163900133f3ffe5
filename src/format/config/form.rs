//! `goldgate.yaml` as people write it: the form that the schema is printed from.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use super::judges::JudgeForm;
use super::scoring::ScoringForm;
use crate::model::{Protocol, StatedLimit, Tier, Wire};

/// The whole file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "goldgate.yaml")]
pub struct ConfigFile {
    /// The version of this format: 1.
    pub(super) version: u32,
    /// The committed baseline, relative to this file.
    pub(super) baseline: Option<String>,
    /// Where history and caches go; ignored by git.
    pub(super) results: Option<String>,
    /// Samples per pair, where a suite does not say.
    pub(super) samples: Option<u32>,
    /// The suites.
    pub(super) suites: Vec<SuiteForm>,
    /// Live targets by name.
    #[serde(default)]
    pub(super) targets: BTreeMap<String, TargetForm>,
    /// What a run of the model tier may cost.
    #[serde(default)]
    pub(super) budget: BudgetForm,
    /// US dollars per million tokens, by model.
    #[serde(default)]
    pub(super) prices: BTreeMap<String, PriceForm>,
    /// Regular expressions of what must not be kept in recordings, beside the usual forms of keys.
    #[serde(default)]
    pub(super) redact: Vec<String>,
}

/// One suite.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SuiteForm {
    /// Its id, unique in this file.
    pub(super) id: String,
    /// What it is made of: `findings`, `triggers`, `cross_agent`.
    pub(super) kind: String,
    /// Its folder or file, relative to this file.
    pub(super) path: String,
    /// Where it runs; `[deterministic]` where absent.
    pub(super) tier: Option<Vec<TierForm>>,
    /// Samples per pair.
    pub(super) samples: Option<u32>,
    /// Who is graded on it.
    #[serde(default)]
    pub(super) agents: BTreeMap<String, AgentForm>,
    /// Gates that differ from the kind's defaults, by metric.
    #[serde(default)]
    pub(super) gates: BTreeMap<String, GateForms>,
    /// Whether a case that passed in the baseline and fails now fails the suite: the gate `newly_failing: { max: 0 }`.
    #[serde(default)]
    pub(super) no_newly_failing: bool,
    /// The categories that expectations may use; any word where absent.
    pub(super) categories: Option<Vec<String>>,
    /// The suite whose recorded runs are graded again (kind `cross_agent`).
    pub(super) runs_of: Option<String>,
    /// Lists of terms, one a line, that take the place of the shipped ones: `vague`, `edge_case`, `disclaimer`.
    #[serde(default)]
    pub(super) terms: BTreeMap<String, String>,
    /// A file of labels that people gave: scores of a rubric, tags of failures.
    pub(super) labels: Option<String>,
    /// Models that mark what no rule can score, by name; they inform, and never gate.
    #[serde(default)]
    pub(super) judges: BTreeMap<String, JudgeForm>,
    /// Flags that cases may state beside `can_diagnose` (kind `tool_use`).
    #[serde(default)]
    pub(super) flags: BTreeMap<String, FlagForm>,
    /// A file of the tools that a live agent may call, with canned results (kind `tool_use`).
    pub(super) tools: Option<String>,
    /// Weights and deductions that differ from the usual ones, with the reason (kind `revision`).
    pub(super) scoring: Option<ScoringForm>,
}

/// What a flag of a case asks for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FlagForm {
    /// The value at which it asks for something.
    pub(super) when: bool,
    /// A list of terms, one a line, of which one then has to be in the answer.
    pub(super) terms: String,
}

/// Where a suite runs.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum TierForm {
    /// On recordings; blocks.
    Deterministic,
    /// On live targets; informs.
    Model,
}

/// One agent.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentForm {
    /// Where its runs come from in the deterministic tier.
    pub(super) deterministic: Option<SourceForm>,
    /// Where its runs come from in the model tier.
    pub(super) model: Option<SourceForm>,
    /// Patterns of the files that make the agent what it is (its prompts, tools, sources), relative to this file: a recording is
    /// of their state. Where it is absent, the agent is its `prompt`. `{ none: "why" }` says that nobody can name the files.
    pub(super) fingerprint: Option<FingerprintForm>,
    /// What a recording is worth whose agent or input has changed since; `fail` where absent.
    pub(super) stale: Option<StaleForm>,
    /// What it does, on a suite of kind `revision`; `actor` where absent.
    pub(super) role: Option<RoleForm>,
}

/// The files of an agent, or why nobody can name them.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum FingerprintForm {
    Patterns(Vec<String>),
    None(NoFingerprintForm),
}

/// Why nobody can name an agent's files; every report shows it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoFingerprintForm {
    /// The reason.
    pub(super) none: String,
}

/// What a recording is worth that is older than its agent.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum StaleForm {
    /// No verdict can be given on it.
    Fail,
    /// It is graded, and the report says what it is.
    Warn,
}

/// What an agent does on a suite of kind `revision`.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum RoleForm {
    /// It revises documents.
    Actor,
    /// It judges revised documents.
    Critic,
}

/// Where runs come from: `replay` or `target`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceForm {
    /// A folder of recordings.
    pub(super) replay: Option<String>,
    /// The name of a live target.
    pub(super) target: Option<String>,
    /// The name of the live target that judges each attempt of `target`, on a suite of kind `revision`: a bounded loop of two.
    pub(super) critic: Option<String>,
    /// The prompt package, a file or a folder.
    pub(super) prompt: Option<String>,
    /// Whether live runs are written as the recordings of the deterministic tier.
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

/// A limit; only what differs from the metric's default.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GateForm {
    /// The floor: a number, or `baseline`.
    pub(super) min: Option<LimitForm>,
    /// The ceiling: a number, or `baseline`.
    pub(super) max: Option<LimitForm>,
    /// The threshold without a baseline: beside `min: baseline` or `max: baseline`, and of shares beside `max_drop`.
    pub(super) otherwise: Option<f64>,
    /// Up to this far beyond the threshold is inconclusive: 0 to 0.5, for points 0 to 6.
    pub(super) zone: Option<f64>,
    /// Whether a value beyond the threshold always fails, without such a zone.
    pub(super) hard: Option<bool>,
    /// How far the value may fall below the baseline.
    pub(super) max_drop: Option<f64>,
    /// How far the value may rise above the baseline.
    pub(super) max_rise: Option<f64>,
    /// Switches the metric's default gates off; needs `reason`.
    pub(super) off: Option<bool>,
    /// Why it is switched off.
    pub(super) reason: Option<String>,
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
    /// Another address than the vendor's.
    pub(super) base_url: Option<String>,
    /// The environment variable that holds the key; never the key itself.
    pub(super) api_key_env: Option<String>,
    /// The region, for `bedrock`.
    pub(super) region: Option<String>,
    /// The sampling temperature.
    pub(super) temperature: Option<f64>,
    /// The longest answer, in tokens.
    pub(super) max_tokens: Option<u32>,
    /// A process: program and arguments.
    pub(super) command: Option<Vec<String>>,
    /// How the process is spoken to.
    pub(super) protocol: Option<ProtocolForm>,
    /// The environment variables that the process sees beside PATH, HOME, LANG, TZ and TMPDIR.
    pub(super) env: Option<Vec<String>>,
    /// An address that takes the request as a POST.
    pub(super) http: Option<String>,
    /// How many calls at once.
    pub(super) concurrency: Option<u32>,
    /// How long one call may take, such as `60s` or `500ms`.
    pub(super) timeout: Option<String>,
    /// How long an answer that has begun may stop, such as `30s`; for `provider` and `http`.
    pub(super) stall: Option<String>,
}

/// A vendor's wire format.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum WireForm {
    Anthropic,
    Openai,
    Bedrock,
}

/// How a process is spoken to.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum ProtocolForm {
    Oneshot,
    Jsonl,
}

/// What a run may cost.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetForm {
    /// US dollars.
    pub(super) max_cost_usd: Option<f64>,
    /// Tokens, read and written.
    pub(super) max_tokens: Option<u64>,
    /// Minutes.
    pub(super) max_minutes: Option<f64>,
}

/// US dollars per million tokens.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceForm {
    /// Read.
    pub(super) input: f64,
    /// Written.
    pub(super) output: f64,
    /// Read from the vendor's cache.
    pub(super) cached_input: Option<f64>,
}

// Hand-written instead of untagged: an untagged enum loses the line and column of what is wrong inside.
impl<'de> Deserialize<'de> for GateForms {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = GateForms;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a gate such as { min: 0.8 }, or a list of gates")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GateForms, A::Error> {
                GateForm::deserialize(MapAccessDeserializer::new(map)).map(GateForms::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<GateForms, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(GateForms::Many)
            }
        }
        reader.deserialize_any(OneOrMany)
    }
}

impl<'de> Deserialize<'de> for FingerprintForm {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct PatternsOrNone;
        impl<'de> Visitor<'de> for PatternsOrNone {
            type Value = FingerprintForm;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of patterns such as [prompts/**], or { none: \"why\" }")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FingerprintForm, A::Error> {
                NoFingerprintForm::deserialize(MapAccessDeserializer::new(map)).map(FingerprintForm::None)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<FingerprintForm, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(FingerprintForm::Patterns)
            }
        }
        reader.deserialize_any(PatternsOrNone)
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
    /// The number, where it is none of the baseline.
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

impl From<ProtocolForm> for Protocol {
    fn from(form: ProtocolForm) -> Self {
        match form {
            ProtocolForm::Oneshot => Self::Oneshot,
            ProtocolForm::Jsonl => Self::Jsonl,
        }
    }
}
