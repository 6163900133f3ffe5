//! One condition on an answer: whether it holds, and what to say and do if not.

use regex::Regex;
use serde_json::Value;

use super::form::LengthForm;
use super::phrase::{AnswerPhrase, LetterCase};
use super::text::AnswerText;
use crate::format::{JsonSchemaValidator, lenient};
use crate::model::{Layer, REDACTED, reaches, words};
use crate::suites::shared::field_matcher::{self, FieldMatcher, RangeForm};
use crate::suites::shared::field_path::{FieldPath, at};
use crate::suites::shared::terms::TermList;
use crate::text::{levenshtein, line, may_have_had, may_match, norm, rouge_l, token_f1};

/// The longest quotation of an answer, in characters.
const QUOTED: usize = 120;

pub const WORDS: &[&str] = &[
    "answer_equals",
    "answer_one_of",
    "answer_all_of",
    "answer_any_of",
    "answer_none_of",
    "answer_starts_with",
    "answer_ends_with",
    "answer_regex",
    "answer_not_regex",
    "answer_json_schema",
    "answer_json",
    "answer_length",
    "answer_similar",
    "answer_refusal",
    "answer_max_latency_ms",
    "answer_max_cost_usd",
    "answer_not",
    MIN_SCORE,
    ANSWER_EXPRESSION,
    OWN_CHECK,
    OWN_METRIC,
];

/// The word of the check of a minimum score.
pub const MIN_SCORE: &str = "answer_min_score";

/// The word of the check of an expression in `answer`.
pub const ANSWER_EXPRESSION: &str = "answer_expr";

/// The word of the checks that a suite or a case names itself.
pub const OWN_CHECK: &str = "check";

/// The word of the check that a metric of the suite has a value.
pub const OWN_METRIC: &str = "metric";

#[derive(Debug)]
pub enum AnswerCondition {
    /// The whole answer.
    Equals(AnswerPhrase),
    /// One of these is the whole answer.
    OneOf(Vec<AnswerPhrase>),
    /// All are in the answer.
    AllOf(Vec<AnswerPhrase>),
    /// At least one is in the answer.
    AnyOf(Vec<AnswerPhrase>),
    /// None is in the answer.
    NoneOf(Vec<AnswerPhrase>),
    /// The start of the answer.
    StartsWith(AnswerPhrase),
    /// The end of the answer.
    EndsWith(AnswerPhrase),
    /// Matches in the answer.
    Regex(Regex),
    /// Does not match in the answer.
    NotRegex(Regex),
    /// The answer's JSON is valid.
    JsonSchema(JsonSchemaValidator, JsonPlace),
    /// Conditions on the answer's JSON, by path.
    Json(Vec<(String, FieldPath, FieldMatcher)>, JsonPlace),
    /// The length of the answer.
    Length(LengthForm),
    /// How similar the answer is to a text in the normal form.
    Similar(SimilarText),
    /// The answer refuses by this list.
    Refuses(TermList),
    /// The answer does not refuse by this list.
    DoesNotRefuse(TermList),
    /// The longest time of the run in milliseconds.
    Latency(f64),
    /// The highest cost of the run in US dollars.
    Cost(f64),
    /// These do not all hold.
    Not(Vec<AnswerCondition>, LetterCase),
}

/// Where the JSON of an answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonPlace {
    /// Anywhere in the answer, also repaired.
    Anywhere,
    /// It is the whole answer, as written.
    Whole,
}

/// A text, and how similar the answer must be.
#[derive(Debug)]
pub struct SimilarText {
    /// The text in the normal form.
    pub to: String,
    /// Each measure with its minimum.
    pub measures: Vec<(SimilarityMeasure, f64)>,
    /// The text as written, with the most edits from the answer.
    pub max_edits: Option<(String, u32)>,
}

words! {
    /// A measure of similarity.
    pub enum SimilarityMeasure {
        /// By the longest common subsequence of words.
        RougeL = "rouge_l",
        /// By the words in any order.
        TokenF1 = "token_f1",
        /// By edits of characters.
        Levenshtein = "levenshtein",
    }
}

impl SimilarityMeasure {
    fn of(self, answer: &str, to: &str, minimum: f64) -> f64 {
        match self {
            Self::RougeL => rouge_l(answer, to, minimum),
            Self::TokenF1 => token_f1(answer, to),
            Self::Levenshtein => levenshtein(answer, to, minimum),
        }
    }
}

/// What a condition is in checks and advice.
struct ConditionRow {
    word: &'static str,
    says: ConditionSays,
    next: &'static str,
}

/// Whether a condition may forbid a text.
#[derive(PartialEq, Eq)]
enum ConditionSays {
    Requires,
    MayForbid,
}

const ASK_FOR_CONTENT: &str = "make the prompt ask for this content or wording; only if the answer is right, correct the case";
const RULE_OUT: &str =
    "make the prompt rule this wording out; only if the answer is right, correct the case";

/// Why a condition does not hold.
#[derive(Debug, PartialEq, Eq)]
pub enum AnswerMiss {
    Content(String),
    /// The format of the answer: no JSON, or not a valid one.
    Format(String),
}

impl AnswerCondition {
    /// The word of its check; one of [`WORDS`].
    pub fn word(&self) -> &'static str {
        self.row().word
    }

    /// The expectation in one line.
    pub fn expectation(&self) -> String {
        match self {
            Self::Equals(phrase) => format!("the answer {}", quoted(phrase)),
            Self::OneOf(phrases) => format!("the answer {}", joined(phrases, " or ")),
            Self::AllOf(phrases) => format!("an answer with {}", joined(phrases, " and ")),
            Self::AnyOf(phrases) => format!("an answer with {}", joined(phrases, " or ")),
            Self::NoneOf(phrases) => {
                format!("an answer without {}", joined(phrases, " and without "))
            }
            Self::StartsWith(phrase) => format!("an answer that starts with {}", quoted(phrase)),
            Self::EndsWith(phrase) => format!("an answer that ends with {}", quoted(phrase)),
            Self::Regex(pattern) => format!("an answer that /{pattern}/ matches"),
            Self::NotRegex(pattern) => format!("an answer that /{pattern}/ does not match"),
            Self::JsonSchema(_, JsonPlace::Anywhere) => {
                "JSON that is valid by the schema".to_owned()
            }
            Self::JsonSchema(_, JsonPlace::Whole) => {
                "an answer that is JSON as a whole, valid by the schema".to_owned()
            }
            Self::Json(fields, _) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(path, _, matcher)| format!("{path}: {}", matcher.expectation()))
                    .collect();
                format!("JSON with {}", fields.join("; "))
            }
            Self::Length(length) => {
                let parts: Vec<String> = counts("", length)
                    .into_iter()
                    .map(|(unit, range, _)| format!("{}: {}", unit, range.words()))
                    .collect();
                format!("an answer with {}", parts.join(", "))
            }
            Self::Similar(SimilarText {
                to,
                measures,
                max_edits,
            }) => {
                let parts: Vec<String> = measures
                    .iter()
                    .map(|(measure, minimum)| format!("{} at least {minimum}", measure.as_str()))
                    .chain(
                        max_edits
                            .iter()
                            .map(|(_, most)| format!("at most {most} edits")),
                    )
                    .collect();
                format!(
                    "an answer like \"{}\": {}",
                    line(to, QUOTED),
                    parts.join(", ")
                )
            }
            Self::Refuses(_) => "an answer that refuses the task".to_owned(),
            Self::DoesNotRefuse(_) => "an answer that does not refuse the task".to_owned(),
            Self::Latency(most) => format!("a latency of at most {most} ms"),
            Self::Cost(most) => format!("a cost of at most {most} USD"),
            Self::Not(conditions, _) => {
                let inner: Vec<String> = conditions.iter().map(Self::expectation).collect();
                format!("not: {}", inner.join("; "))
            }
        }
    }

    /// Whether it may forbid a text, so that it must also hold for what the answer may have been before its keys were removed. A condition
    /// that quotes the removed part is about the answer as it was recorded.
    pub fn forbids(&self) -> bool {
        self.row().says == ConditionSays::MayForbid && !self.expectation().contains(REDACTED)
    }

    /// The next step if it does not hold.
    pub fn next_action(&self) -> &'static str {
        self.row().next
    }

    fn row(&self) -> ConditionRow {
        let (word, says, next) = match self {
            Self::Equals(_) => ("answer_equals", ConditionSays::Requires, ASK_FOR_CONTENT),
            Self::OneOf(_) => ("answer_one_of", ConditionSays::Requires, ASK_FOR_CONTENT),
            Self::AllOf(_) => ("answer_all_of", ConditionSays::Requires, ASK_FOR_CONTENT),
            Self::AnyOf(_) => ("answer_any_of", ConditionSays::Requires, ASK_FOR_CONTENT),
            Self::NoneOf(_) => ("answer_none_of", ConditionSays::Requires, RULE_OUT),
            Self::StartsWith(_) => (
                "answer_starts_with",
                ConditionSays::Requires,
                ASK_FOR_CONTENT,
            ),
            Self::EndsWith(_) => ("answer_ends_with", ConditionSays::Requires, ASK_FOR_CONTENT),
            Self::Regex(_) => ("answer_regex", ConditionSays::Requires, ASK_FOR_CONTENT),
            Self::NotRegex(_) => ("answer_not_regex", ConditionSays::MayForbid, RULE_OUT),
            Self::JsonSchema(..) => (
                "answer_json_schema",
                ConditionSays::MayForbid,
                "make the prompt's output instructions agree with the schema; only if the answer is right, correct the schema",
            ),
            Self::Json(..) => (
                "answer_json",
                ConditionSays::MayForbid,
                "make the prompt ask for these values; only if the answer is right, correct the case",
            ),
            Self::Length(_) => (
                "answer_length",
                ConditionSays::Requires,
                "make the prompt state the length; only if the length is right, correct the limits of the case",
            ),
            Self::Similar(_) => ("answer_similar", ConditionSays::Requires, ASK_FOR_CONTENT),
            Self::Refuses(_) => (
                "answer_refusal",
                ConditionSays::Requires,
                "make the prompt say when to refuse; only if the answer does refuse, add its wording to the list of terms `refusal`",
            ),
            Self::DoesNotRefuse(_) => (
                "answer_refusal",
                ConditionSays::MayForbid,
                "make the prompt say that the agent may do this task",
            ),
            Self::Latency(_) => (
                "answer_max_latency_ms",
                ConditionSays::Requires,
                "make the agent faster; only if the time is right, correct the limit of the case",
            ),
            Self::Cost(_) => (
                "answer_max_cost_usd",
                ConditionSays::Requires,
                "use a smaller model or fewer tokens; only if the cost is right, correct the limit of the case",
            ),
            Self::Not(..) => ("answer_not", ConditionSays::MayForbid, RULE_OUT),
        };
        ConditionRow { word, says, next }
    }

    /// Why it does not hold for an answer; `None` if it holds.
    pub fn miss(&self, answer: &AnswerText, letter_case: LetterCase) -> Option<AnswerMiss> {
        let normal = || answer.normal(letter_case);
        // A text within the answer is looked for in its JSON, and in the decoded texts of that JSON.
        let has =
            |phrase: &AnswerPhrase| answer.is_somewhere(letter_case, |text| phrase.is_in(text));
        let refuses = |phrases: &TermList| {
            answer.is_somewhere(LetterCase::Ignored, |text| phrases.are_in(text))
        };
        let shown = || format!("the answer is \"{}\"", line(answer.written(), QUOTED));
        let content = |is_missed: bool, detail: &dyn Fn() -> String| {
            is_missed.then(|| AnswerMiss::Content(detail()))
        };
        match self {
            Self::Equals(phrase) => content(!phrase.is_all_of(normal()), &shown),
            Self::OneOf(phrases) => content(
                !phrases.iter().any(|phrase| phrase.is_all_of(normal())),
                &shown,
            ),
            Self::AllOf(phrases) => {
                let missing: Vec<String> = phrases
                    .iter()
                    .filter(|phrase| !has(phrase))
                    .map(quoted)
                    .collect();
                content(!missing.is_empty(), &|| {
                    format!("not in the answer: {}; {}", missing.join(", "), shown())
                })
            }
            Self::AnyOf(phrases) => content(!phrases.iter().any(has), &shown),
            Self::NoneOf(phrases) => {
                let of = |is_meant: &dyn Fn(&AnswerPhrase) -> bool| -> Vec<String> {
                    phrases
                        .iter()
                        .filter(|phrase| is_meant(phrase))
                        .map(quoted)
                        .collect()
                };
                let hidden = of(&|phrase| may_have_had(answer.written(), phrase.stated()));
                forbidden(&of(&has), &hidden)
                    .map(|detail| AnswerMiss::Content(format!("{detail}; {}", shown())))
            }
            Self::StartsWith(phrase) => content(!phrase.is_start_of(normal()), &shown),
            Self::EndsWith(phrase) => content(!phrase.is_end_of(normal()), &|| {
                format!(
                    "the answer ends with \"{}\"",
                    line(&end(answer.written()), QUOTED)
                )
            }),
            Self::Regex(pattern) => {
                content(!answer.texts().any(|text| pattern.is_match(text)), &shown)
            }
            Self::NotRegex(pattern) => match answer.texts().find_map(|text| pattern.find(text)) {
                Some(found) => Some(AnswerMiss::Content(format!(
                    "it matches \"{}\" in the answer",
                    line(found.as_str(), QUOTED)
                ))),
                None => content(answer.texts().any(|text| may_match(pattern, text)), &|| {
                    format!(
                        "it may match the part of the answer that was removed as a key; {}",
                        shown()
                    )
                }),
            },
            Self::JsonSchema(validator, place) => by_schema(validator, *place, answer),
            Self::Json(fields, place) => by_fields(fields, *place, answer),
            Self::Length(length) => {
                let outside: Vec<String> = counts(answer.written().trim(), length)
                    .into_iter()
                    .filter(|(_, range, count)| !range.has(*count))
                    .map(|(unit, _, count)| format!("{unit}: {count}"))
                    .collect();
                content(!outside.is_empty(), &|| {
                    format!("the length of the answer in {}", outside.join(", "))
                })
            }
            Self::Similar(similar) => {
                let low = similar.shortfalls(answer.written());
                content(!low.is_empty(), &|| {
                    format!("{}; {}", low.join(", "), shown())
                })
            }
            Self::Latency(most) => above(*most, LATENCY, answer.used.latency_ms),
            Self::Cost(most) => above(*most, COST, answer.used.cost_usd),
            Self::Not(conditions, inner) => conditions
                .iter()
                .find_map(|one| one.unknown(answer))
                .or_else(|| {
                    content(
                        conditions
                            .iter()
                            .all(|condition| condition.may_hold(answer, *inner)),
                        &shown,
                    )
                }),
            Self::Refuses(phrases) => content(!refuses(phrases), &shown),
            Self::DoesNotRefuse(phrases) => content(refuses(phrases), &shown),
        }
    }

    /// Whether it holds for the answer, or, for a condition on a whole text, for a text in the JSON of the answer. Within `not`.
    fn may_hold(&self, answer: &AnswerText, letter_case: LetterCase) -> bool {
        let any = |holds: &dyn Fn(&str) -> bool| answer.is_somewhere(letter_case, holds);
        let of_a_part = match self {
            Self::Equals(phrase) => any(&|text| phrase.is_all_of(text)),
            Self::OneOf(phrases) => {
                any(&|text| phrases.iter().any(|phrase| phrase.is_all_of(text)))
            }
            Self::StartsWith(phrase) => any(&|text| phrase.is_start_of(text)),
            Self::EndsWith(phrase) => any(&|text| phrase.is_end_of(text)),
            Self::Similar(similar) => answer
                .texts()
                .any(|text| similar.shortfalls(text).is_empty()),
            _ => false,
        };
        of_a_part || self.miss(answer, letter_case).is_none()
    }

    /// Why the recording does not tell whether it holds; then its opposite does not hold either. Whether an answer is valid by a schema
    /// is always known.
    fn unknown(&self, answer: &AnswerText) -> Option<AnswerMiss> {
        match self {
            Self::Json(_, place) => json_at(*place, answer).is_none().then(|| no_json(answer)),
            Self::Latency(_) => unstated(LATENCY, answer.used.latency_ms),
            Self::Cost(_) => unstated(COST, answer.used.cost_usd),
            Self::Not(conditions, _) => conditions
                .iter()
                .find_map(|condition| condition.unknown(answer)),
            _ => None,
        }
    }
}

const LATENCY: &str = "latency in ms";
const COST: &str = "cost in USD";

impl SimilarText {
    /// What an answer falls short of.
    fn shortfalls(&self, written: &str) -> Vec<String> {
        let answer = norm(written);
        let low = self
            .measures
            .iter()
            .map(|(measure, minimum)| (measure, minimum, measure.of(&answer, &self.to, *minimum)));
        let low = low
            .filter(|(_, minimum, value)| !reaches(*value, **minimum))
            .map(|(measure, minimum, value)| {
                format!("{} {value:.2}, needs {minimum}", measure.as_str())
            });
        let edits = self.max_edits.iter().filter_map(|(to, most)| {
            let (longer, most) = (
                to.chars().count().max(written.chars().count()) as f64,
                f64::from(*most),
            );
            let needed = (1.0 - levenshtein(written, to, 1.0 - most / longer.max(1.0))) * longer;
            (needed.round() > most).then(|| format!("more than {most} edits"))
        });
        low.chain(edits).collect()
    }
}

/// What to say of forbidden phrases that are in an answer, else of those that may have been where a key was removed.
fn forbidden(found: &[String], hidden: &[String]) -> Option<String> {
    match (found, hidden) {
        ([], []) => None,
        ([], hidden) => Some(format!(
            "where a key was removed, there may have been {}",
            hidden.join(", ")
        )),
        (found, _) => Some(format!("in the answer: {}", found.join(", "))),
    }
}

/// A limit needs a value: a recording without one does not keep it.
fn above(most: f64, what: &str, value: Option<f64>) -> Option<AnswerMiss> {
    let is_above = |value: &f64| *value > most;
    let exceeds = |value: f64| AnswerMiss::Content(format!("the {what} is {value}"));
    unstated(what, value).or_else(|| value.filter(is_above).map(exceeds))
}

fn unstated(what: &str, value: Option<f64>) -> Option<AnswerMiss> {
    value
        .is_none()
        .then(|| AnswerMiss::Content(format!("the recording does not state the {what}")))
}

/// The last characters of a text that are quoted.
fn end(text: &str) -> String {
    let text = text.trim_end();
    let from = text
        .char_indices()
        .rev()
        .take(QUOTED)
        .last()
        .map_or(0, |(at, _)| at);
    text[from..].to_owned()
}

fn quoted(phrase: &AnswerPhrase) -> String {
    format!("\"{}\"", line(phrase.stated(), QUOTED))
}

fn joined(phrases: &[AnswerPhrase], by: &str) -> String {
    phrases.iter().map(quoted).collect::<Vec<_>>().join(by)
}

/// The units with a range, each with the number of them in a text.
fn counts(text: &str, length: &LengthForm) -> Vec<(&'static str, RangeForm, usize)> {
    let LengthForm {
        chars,
        words,
        lines,
    } = *length;
    let units = [
        ("chars", chars, text.chars().count()),
        ("words", words, text.split_whitespace().count()),
        ("lines", lines, text.lines().count()),
    ];
    units
        .into_iter()
        .filter_map(|(unit, range, count)| Some((unit, range?, count)))
        .collect()
}

fn no_json(answer: &AnswerText) -> AnswerMiss {
    AnswerMiss::Format(format!(
        "the answer has no JSON: \"{}\"",
        line(answer.written(), QUOTED)
    ))
}

/// A note on how the JSON was read, if it was not valid as written.
fn read_by(layer: Layer) -> String {
    match layer {
        Layer::Structured | Layer::Strict => String::new(),
        Layer::Repaired | Layer::Salvaged | Layer::Unreadable => {
            format!(" (the JSON was {})", layer.as_str())
        }
    }
}

fn json_at(place: JsonPlace, answer: &AnswerText) -> Option<&(Value, Layer)> {
    answer.json().filter(|_| match place {
        JsonPlace::Anywhere => true,
        JsonPlace::Whole => lenient::any(answer.written()).is_ok(),
    })
}

fn by_schema(
    validator: &JsonSchemaValidator,
    place: JsonPlace,
    answer: &AnswerText,
) -> Option<AnswerMiss> {
    let Some((value, layer)) = json_at(place, answer) else {
        return Some(no_json(answer));
    };
    let reasons = validator.reasons(value);
    let first = reasons.first()?;
    let more = if reasons.len() > 1 {
        format!(" (and {} more)", reasons.len() - 1)
    } else {
        String::new()
    };
    Some(AnswerMiss::Format(format!(
        "{first}{more}{}",
        read_by(*layer)
    )))
}

fn by_fields(
    fields: &[(String, FieldPath, FieldMatcher)],
    place: JsonPlace,
    answer: &AnswerText,
) -> Option<AnswerMiss> {
    let Some((value, layer)) = json_at(place, answer) else {
        return Some(no_json(answer));
    };
    let missed = fields.iter().filter_map(|(name, path, matcher)| {
        let found = at(value, path);
        let shown = || found.map_or("missing".to_owned(), field_matcher::written);
        (!matcher.matches(found))
            .then(|| format!("{name} is {}, needs {}", shown(), matcher.expectation()))
    });
    let missed: Vec<String> = missed.collect();
    (!missed.is_empty())
        .then(|| AnswerMiss::Content(format!("{}{}", missed.join("; "), read_by(*layer))))
}
