//! The keys of `answer` in a golden file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::format::list_or_object;
use crate::suites::shared::field_matcher::{FieldForm, RangeForm};

/// What a case requires of the answer: one entry, or several that must all hold.
#[derive(Debug, Clone)]
pub enum AnswerChecksForm {
    One(Box<AnswerEntryForm>),
    Many(Vec<AnswerEntryForm>),
}

/// Conditions on the answer; all must hold. Texts are compared without regard to letter case, kinds of quotes and dashes, and
/// runs of whitespace.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerEntryForm {
    /// The whole answer.
    pub equals: Option<String>,
    /// The answer is one of these texts.
    pub one_of: Option<Vec<String>>,
    /// Texts that are all in the answer.
    pub all_of: Option<Vec<String>>,
    /// Texts of which at least one is in the answer.
    pub any_of: Option<Vec<String>>,
    /// Texts that are not in the answer.
    pub none_of: Option<Vec<String>>,
    /// The start of the answer.
    pub starts_with: Option<String>,
    /// The end of the answer.
    pub ends_with: Option<String>,
    /// A regular expression that matches somewhere in the answer as written; it takes linear time.
    pub regex: Option<String>,
    /// A regular expression that matches nowhere in the answer as written.
    pub not_regex: Option<String>,
    /// A JSON Schema, or the path of a file with one, relative to the golden file. The JSON of the answer is valid; JSON in prose or in
    /// a fenced block is found, and repaired if it is broken.
    pub json_schema: Option<Value>,
    /// Conditions on values of the answer's JSON by path, such as `order.id` or `items.0`.
    pub json: Option<BTreeMap<String, FieldForm>>,
    /// The length of the answer.
    pub length: Option<LengthForm>,
    /// A text that the answer is similar to.
    pub similar: Option<SimilarForm>,
    /// Whether the answer refuses the task, by the list of terms `refusal`.
    pub refusal: Option<bool>,
    /// An expression in CEL that is true if the run is right, such as `output.total == expected.total`.
    pub expr: Option<String>,
    /// Conditions that do not all hold.
    pub not: Option<Box<AnswerEntryForm>>,
    /// The longest time of the run in milliseconds.
    pub max_latency_ms: Option<f64>,
    /// The highest cost of the run in US dollars.
    pub max_cost_usd: Option<f64>,
    /// Whether the answer must be JSON as a whole for `json_schema` and `json`: prose, fenced blocks and broken JSON fail.
    #[serde(default)]
    pub whole_json: bool,
    /// Whether letter case counts in the texts of this entry.
    #[serde(default)]
    pub case_sensitive: bool,
    /// Whether `all_of`, `any_of`, `none_of`, `starts_with` and `ends_with` compare whole words only.
    #[serde(default)]
    pub whole_words: bool,
    /// The rule of the prompt package that this tests, by id or text.
    pub rule: Option<String>,
    /// Entries of which the weighted share that holds must reach `min_score`. An entry with `checks` has no conditions of its own.
    pub checks: Option<Vec<AnswerEntryForm>>,
    /// The lowest share of the weights of `checks` that must hold, above 0 and up to 1.
    pub min_score: Option<f64>,
    /// The weight of the entry in the score; 1 by default.
    pub weight: Option<f64>,
}

/// A check that a case names itself.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseCheckForm {
    /// Its name: `check[NAME]` in reports.
    pub name: String,
    /// An expression in CEL that is true if the check passes, such as `output.total == expected.total`.
    pub expr: String,
    /// The rule of the prompt package that it tests, by id or text.
    pub rule: Option<String>,
}

/// The length of an answer, without whitespace around it.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LengthForm {
    /// In characters.
    pub chars: Option<RangeForm>,
    /// In words, separated by whitespace.
    pub words: Option<RangeForm>,
    /// In lines.
    pub lines: Option<RangeForm>,
}

/// A text, and how similar the answer must be: each stated measure reaches its minimum, above 0 and up to 1.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimilarForm {
    /// The text.
    pub to: String,
    /// ROUGE-L: by the longest common subsequence of words.
    pub rouge_l: Option<f64>,
    /// By the words in any order.
    pub token_f1: Option<f64>,
    /// By edits of characters: 1 - edits / length of the longer text.
    pub levenshtein: Option<f64>,
    /// The most characters that are inserted, removed or replaced, in the answer as written.
    pub max_edits: Option<u32>,
}

impl<'de> Deserialize<'de> for AnswerChecksForm {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let expected = "an object of checks of the answer, or a list of them";
        list_or_object(reader, expected, Self::Many, |entry| {
            Self::One(Box::new(entry))
        })
    }
}

impl JsonSchema for AnswerChecksForm {
    fn schema_name() -> Cow<'static, str> {
        "AnswerChecksForm".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let entry = generator.subschema_for::<AnswerEntryForm>();
        json_schema!({
            "description": "What a case requires of the answer: one entry, or several that must all hold.",
            "anyOf": [entry, { "type": "array", "items": entry, "minItems": 1 }],
        })
    }
}
