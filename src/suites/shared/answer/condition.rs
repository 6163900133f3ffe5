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
        let holds = match self {
            Self::Equals(phrase) => phrase.is_all_of(answer.normal(letter_case)),
            Self::OneOf(phrases) => phrases
                .iter()
                .any(|phrase| phrase.is_all_of(answer.normal(letter_case))),
            Self::AllOf(phrases) => return missing_phrases(phrases, answer, letter_case),
            Self::AnyOf(phrases) => phrases
                .iter()
                .any(|phrase| has(answer, letter_case, phrase)),
            Self::NoneOf(phrases) => return forbidden_phrases(phrases, answer, letter_case),
            Self::StartsWith(phrase) => phrase.is_start_of(answer.normal(letter_case)),
            Self::EndsWith(phrase) => {
                if phrase.is_end_of(answer.normal(letter_case)) {
                    return None;
                }
                return Some(AnswerMiss::Content(format!(
                    "the answer ends with \"{}\"",
                    line(&end(answer.written()), QUOTED)
                )));
            }
            Self::Regex(pattern) => answer.texts().any(|text| pattern.is_match(text)),
            Self::NotRegex(pattern) => return by_forbidden_pattern(pattern, answer),
            Self::JsonSchema(validator, place) => return by_schema(validator, *place, answer),
            Self::Json(fields, place) => return by_fields(fields, *place, answer),
            Self::Length(length) => return by_length(length, answer),
            Self::Similar(similar) => {
                let low = similar.shortfalls(answer.written());
                if low.is_empty() {
                    return None;
                }
                return Some(AnswerMiss::Content(format!(
                    "{}; {}",
                    low.join(", "),
                    shown(answer)
                )));
            }
            Self::Latency(most) => return above(*most, LATENCY, answer.used.latency_ms),
            Self::Cost(most) => return above(*most, COST, answer.used.cost_usd),
            Self::Not(conditions, inner) => {
                if let Some(unknown) = conditions
                    .iter()
                    .find_map(|condition| condition.unknown(answer))
                {
                    return Some(unknown);
                }
                !conditions
                    .iter()
                    .all(|condition| condition.may_hold(answer, *inner))
            }
            Self::Refuses(phrases) => refuses(answer, phrases),
            Self::DoesNotRefuse(phrases) => !refuses(answer, phrases),
        };
        if holds {
            None
        } else {
            Some(AnswerMiss::Content(shown(answer)))
        }
    }

    /// Whether it holds for the answer, or, for a condition on a whole text, for a text in the JSON of the answer. Within `not`.
    fn may_hold(&self, answer: &AnswerText, letter_case: LetterCase) -> bool {
        let of_a_part = match self {
            Self::Equals(phrase) => answer.is_somewhere(letter_case, |text| phrase.is_all_of(text)),
            Self::OneOf(phrases) => answer.is_somewhere(letter_case, |text| {
                phrases.iter().any(|phrase| phrase.is_all_of(text))
            }),
            Self::StartsWith(phrase) => {
                answer.is_somewhere(letter_case, |text| phrase.is_start_of(text))
            }
            Self::EndsWith(phrase) => {
                answer.is_somewhere(letter_case, |text| phrase.is_end_of(text))
            }
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
        let mut low = Vec::new();
        for (measure, minimum) in &self.measures {
            let value = measure.of(&answer, &self.to, *minimum);
            if !reaches(value, *minimum) {
                low.push(format!("{} {value:.2}, needs {minimum}", measure.as_str()));
            }
        }
        if let Some((to, most)) = &self.max_edits {
            let longer = to.chars().count().max(written.chars().count()) as f64;
            let most = f64::from(*most);
            let needed = (1.0 - levenshtein(written, to, 1.0 - most / longer.max(1.0))) * longer;
            if needed.round() > most {
                low.push(format!("more than {most} edits"));
            }
        }
        low
    }
}

fn shown(answer: &AnswerText) -> String {
    format!("the answer is \"{}\"", line(answer.written(), QUOTED))
}

/// Whether the answer has a phrase: it is looked for in the JSON of the answer, and in the decoded texts of that JSON.
fn has(answer: &AnswerText, letter_case: LetterCase, phrase: &AnswerPhrase) -> bool {
    answer.is_somewhere(letter_case, |text| phrase.is_in(text))
}

fn refuses(answer: &AnswerText, phrases: &TermList) -> bool {
    answer.is_somewhere(LetterCase::Ignored, |text| phrases.are_in(text))
}

fn missing_phrases(
    phrases: &[AnswerPhrase],
    answer: &AnswerText,
    letter_case: LetterCase,
) -> Option<AnswerMiss> {
    let mut missing = Vec::new();
    for phrase in phrases {
        if !has(answer, letter_case, phrase) {
            missing.push(quoted(phrase));
        }
    }
    if missing.is_empty() {
        return None;
    }
    Some(AnswerMiss::Content(format!(
        "not in the answer: {}; {}",
        missing.join(", "),
        shown(answer)
    )))
}

fn forbidden_phrases(
    phrases: &[AnswerPhrase],
    answer: &AnswerText,
    letter_case: LetterCase,
) -> Option<AnswerMiss> {
    let (mut present, mut hidden) = (Vec::new(), Vec::new());
    for phrase in phrases {
        if has(answer, letter_case, phrase) {
            present.push(quoted(phrase));
        }
        if may_have_had(answer.written(), phrase.stated()) {
            hidden.push(quoted(phrase));
        }
    }
    let detail = forbidden(&present, &hidden)?;
    Some(AnswerMiss::Content(format!("{detail}; {}", shown(answer))))
}

fn by_forbidden_pattern(pattern: &Regex, answer: &AnswerText) -> Option<AnswerMiss> {
    if let Some(matched) = answer.texts().find_map(|text| pattern.find(text)) {
        return Some(AnswerMiss::Content(format!(
            "it matches \"{}\" in the answer",
            line(matched.as_str(), QUOTED)
        )));
    }
    if !answer.texts().any(|text| may_match(pattern, text)) {
        return None;
    }
    Some(AnswerMiss::Content(format!(
        "it may match the part of the answer that was removed as a key; {}",
        shown(answer)
    )))
}

fn by_length(length: &LengthForm, answer: &AnswerText) -> Option<AnswerMiss> {
    let mut outside = Vec::new();
    for (unit, range, count) in counts(answer.written().trim(), length) {
        if !range.has(count) {
            outside.push(format!("{unit}: {count}"));
        }
    }
    if outside.is_empty() {
        return None;
    }
    Some(AnswerMiss::Content(format!(
        "the length of the answer in {}",
        outside.join(", ")
    )))
}

/// What to say of forbidden phrases that are in an answer, else of those that may have been where a key was removed.
fn forbidden(present: &[String], hidden: &[String]) -> Option<String> {
    match (present, hidden) {
        ([], []) => None,
        ([], hidden) => Some(format!(
            "where a key was removed, there may have been {}",
            hidden.join(", ")
        )),
        (present, _) => Some(format!("in the answer: {}", present.join(", "))),
    }
}

/// A limit needs a value: a recording without one does not keep it.
fn above(most: f64, measure: &str, value: Option<f64>) -> Option<AnswerMiss> {
    let Some(value) = value else {
        return unstated(measure, value);
    };
    (value > most).then(|| AnswerMiss::Content(format!("the {measure} is {value}")))
}

fn unstated(measure: &str, value: Option<f64>) -> Option<AnswerMiss> {
    value
        .is_none()
        .then(|| AnswerMiss::Content(format!("the recording does not state the {measure}")))
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
    let mut missed = Vec::new();
    for (name, path, matcher) in fields {
        let field = at(value, path);
        if matcher.matches(field) {
            continue;
        }
        let actual = field.map_or("missing".to_owned(), field_matcher::written);
        missed.push(format!(
            "{name} is {actual}, needs {}",
            matcher.expectation()
        ));
    }
    (!missed.is_empty())
        .then(|| AnswerMiss::Content(format!("{}{}", missed.join("; "), read_by(*layer))))
}
