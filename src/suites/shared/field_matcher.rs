//! Conditions on one value of a JSON: an argument of a tool call, or a part of an answer.

use std::collections::BTreeMap;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::calls::same;
use super::golden::step;
use crate::diag::{Code, Diagnostic};
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, Step};
use crate::model::EPSILON;
use crate::text::norm;

/// How many characters of a value are shown.
const VALUE_LENGTH: usize = 60;

/// One field: exactly one of `equals`, `one_of`, `any_of`, `fields`, `items`, `regex`, `near`, `length` and `type`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldForm {
    /// The exact value; may be `null`.
    #[serde(default, deserialize_with = "stated")]
    equals: Option<Value>,
    /// The value is one of these.
    one_of: Option<Vec<Value>>,
    /// The value meets one of these conditions.
    any_of: Option<Vec<FieldForm>>,
    /// The keys of an object, each with its condition; it may have no other keys.
    fields: Option<BTreeMap<String, FieldForm>>,
    /// The items of a list in their order, each with its condition; it may have no other items.
    items: Option<Vec<FieldForm>>,
    /// A regular expression that must match in the text.
    regex: Option<String>,
    /// A number with a tolerance.
    near: Option<NearForm>,
    /// The number of characters of a text, items of a list, or keys of an object.
    length: Option<RangeForm>,
    /// The type of the value.
    #[serde(rename = "type")]
    kind: Option<JsonType>,
    /// Whether the field may be absent.
    #[serde(default)]
    optional: bool,
    /// Whether `equals` and `one_of` ignore the case of letters in texts.
    #[serde(default)]
    ignore_case: bool,
}

/// Keeps a stated `null`.
fn stated<'a, D: Deserializer<'a>>(reader: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(reader).map(Some)
}

/// A number with a tolerance.
#[derive(Debug, Deserialize, JsonSchema, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub struct NearForm {
    value: f64,
    within: f64,
}

/// The lowest and the highest accepted number; at least one of the two.
#[derive(Debug, Deserialize, JsonSchema, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub struct RangeForm {
    /// The lowest.
    min: Option<usize>,
    /// The highest.
    max: Option<usize>,
}

impl RangeForm {
    /// The range, if a number can be in it and a number can be outside of it.
    ///
    /// # Errors
    /// Neither limit is stated, or the lowest is above the highest.
    pub fn checked(self, cursor: &JsonCursor<'_>, path: &[Step<'_>]) -> Result<Self, Diagnostic> {
        let (description, help) = match (self.min, self.max) {
            (None | Some(0), None) => (
                "the range has no limit".to_owned(),
                "state min, max or both",
            ),
            (Some(min), Some(max)) if min > max => (
                format!("min is {min} and max is {max}"),
                "write a min that is not above max",
            ),
            (Some(_) | None, Some(_)) | (Some(_), None) => return Ok(self),
        };
        Err(cursor.problem(path, Code::BAD_NUMBER, description, help))
    }

    pub fn has(self, number: usize) -> bool {
        self.min.is_none_or(|min| number >= min) && self.max.is_none_or(|max| number <= max)
    }

    pub fn words(self) -> String {
        match (self.min, self.max) {
            (Some(min), Some(max)) => format!("{min} to {max}"),
            (Some(min), None) => format!("at least {min}"),
            (None, Some(max)) => format!("at most {max}"),
            (None, None) => "any".to_owned(),
        }
    }
}

/// A type of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum JsonType {
    /// A text.
    String,
    /// A number.
    Number,
    /// A number without a fraction.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// An object.
    Object,
    /// A list.
    Array,
    /// `null`.
    Null,
}

impl JsonType {
    fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
            Self::Null => "null",
        }
    }

    fn is_of(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer => {
                value.is_i64()
                    || value.is_u64()
                    || value.as_f64().is_some_and(|number| number.fract() == 0.0)
            }
            Self::Boolean => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::Null => value.is_null(),
        }
    }
}

/// A condition on a field, prepared for comparison.
#[derive(Debug)]
pub struct FieldMatcher {
    condition: FieldCondition,
    presence: Presence,
}

#[derive(Debug)]
enum FieldCondition {
    OneOf(Vec<Value>, TextCase),
    AnyOf(Vec<FieldMatcher>),
    Fields(BTreeMap<String, FieldMatcher>),
    Items(Vec<FieldMatcher>),
    Pattern(Regex),
    Near(NearForm),
    Length(RangeForm),
    Type(JsonType),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Required,
    Optional,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextCase {
    Counts,
    Ignored,
}

impl FieldMatcher {
    /// Reads the condition on the field `name`; `at` is its path below the cursor.
    ///
    /// # Errors
    /// No or several conditions, or an invalid value.
    pub fn read(
        form: FieldForm,
        name: &str,
        cursor: &JsonCursor<'_>,
        at: &[Step<'_>],
    ) -> Result<Self, Diagnostic> {
        let presence = if form.optional {
            Presence::Optional
        } else {
            Presence::Required
        };
        let ignores_case = form.ignore_case;
        let reader = FieldConditionReader { name, cursor, at };
        let mut stated = reader.conditions(form)?;
        let (Some(condition), true) = (stated.pop(), stated.is_empty()) else {
            let description = format!("the field {name} must state exactly one condition");
            let help = "state equals, one_of, any_of, fields, items, regex, near, length or type";
            return Err(reader.refuse(description, help));
        };
        if ignores_case && !matches!(condition, FieldCondition::OneOf(..)) {
            let description = format!("ignore_case of the field {name} has no effect");
            let help = "use it with equals or one_of; in a regex, write (?i)";
            return Err(reader.refuse(description, help));
        }
        Ok(Self {
            condition,
            presence,
        })
    }

    /// Whether a value, or its absence, fits.
    pub fn matches(&self, value: Option<&Value>) -> bool {
        let Some(value) = value else {
            return self.presence == Presence::Optional;
        };
        match &self.condition {
            FieldCondition::OneOf(values, TextCase::Counts) => {
                values.iter().any(|allowed| same(value, allowed))
            }
            FieldCondition::OneOf(values, TextCase::Ignored) => values
                .iter()
                .any(|allowed| same(&folded(value), &folded(allowed))),
            FieldCondition::AnyOf(conditions) => conditions
                .iter()
                .any(|condition| condition.matches(Some(value))),
            FieldCondition::Fields(conditions) => value.as_object().is_some_and(|object| {
                object.keys().all(|key| conditions.contains_key(key))
                    && conditions
                        .iter()
                        .all(|(key, condition)| condition.matches(object.get(key)))
            }),
            FieldCondition::Items(conditions) => value.as_array().is_some_and(|list| {
                list.len() == conditions.len()
                    && conditions
                        .iter()
                        .zip(list)
                        .all(|(condition, item)| condition.matches(Some(item)))
            }),
            FieldCondition::Pattern(pattern) => {
                value.as_str().is_some_and(|text| pattern.is_match(text))
            }
            FieldCondition::Near(near) => value
                .as_f64()
                .is_some_and(|number| (number - near.value).abs() <= near.within + EPSILON),
            FieldCondition::Length(range) => length(value).is_some_and(|length| range.has(length)),
            FieldCondition::Type(kind) => kind.is_of(value),
        }
    }

    /// The condition in words.
    pub fn expectation(&self) -> String {
        let condition = match &self.condition {
            FieldCondition::OneOf(values, _) => {
                values.iter().map(written).collect::<Vec<_>>().join(" or ")
            }
            FieldCondition::AnyOf(conditions) => conditions
                .iter()
                .map(Self::expectation)
                .collect::<Vec<_>>()
                .join(" or "),
            FieldCondition::Fields(conditions) => {
                let fields = conditions
                    .iter()
                    .map(|(key, condition)| format!("{key}: {}", condition.expectation()));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
            FieldCondition::Items(conditions) => {
                format!(
                    "[{}]",
                    conditions
                        .iter()
                        .map(Self::expectation)
                        .collect::<Vec<_>>()
                        .join(", ")
                )
            }
            FieldCondition::Pattern(pattern) => format!("text matching /{}/", pattern.as_str()),
            FieldCondition::Near(near) => format!("{} ± {}", near.value, near.within),
            FieldCondition::Length(range) => format!("length {}", range.words()),
            FieldCondition::Type(kind) => format!("type {}", kind.as_str()),
        };
        match self.presence {
            Presence::Required => condition,
            Presence::Optional => format!("{condition}, or absent"),
        }
    }
}

struct FieldConditionReader<'a> {
    name: &'a str,
    cursor: &'a JsonCursor<'a>,
    at: &'a [Step<'a>],
}

impl FieldConditionReader<'_> {
    fn refuse(&self, description: String, help: &str) -> Diagnostic {
        self.cursor
            .problem_of_key(self.at, Code::BAD_FIELD, description, help)
    }

    fn conditions(&self, form: FieldForm) -> Result<Vec<FieldCondition>, Diagnostic> {
        let FieldForm {
            equals,
            one_of,
            any_of,
            fields,
            items,
            regex,
            near,
            length,
            kind,
            optional: _,
            ignore_case,
        } = form;
        let text_case = if ignore_case {
            TextCase::Ignored
        } else {
            TextCase::Counts
        };
        let mut stated = Vec::new();
        stated.extend(equals.map(|value| FieldCondition::OneOf(vec![value], text_case)));
        if let Some(values) = one_of {
            self.not_empty("one_of", values.is_empty(), "state at least one value")?;
            stated.push(FieldCondition::OneOf(values, text_case));
        }
        if let Some(conditions) = any_of {
            self.not_empty(
                "any_of",
                conditions.is_empty(),
                "state at least one condition",
            )?;
            stated.push(FieldCondition::AnyOf(self.each("any_of", conditions)?));
        }
        if let Some(fields) = fields {
            let mut conditions = BTreeMap::new();
            for (key, form) in fields {
                let at = step(&step(self.at, Key("fields")), Key(&key));
                let condition = FieldMatcher::read(form, &key, self.cursor, &at)?;
                conditions.insert(key, condition);
            }
            stated.push(FieldCondition::Fields(conditions));
        }
        if let Some(items) = items {
            stated.push(FieldCondition::Items(self.each("items", items)?));
        }
        if let Some(pattern) = regex {
            match Regex::new(&pattern) {
                Ok(pattern) => stated.push(FieldCondition::Pattern(pattern)),
                Err(error) => {
                    let reason = last_line(&error.to_string()).to_owned();
                    let description = format!("invalid regular expression \"{pattern}\": {reason}");
                    return Err(self.refuse(description, "fix the regular expression"));
                }
            }
        }
        if let Some(near) = near {
            if near.within < 0.0 || !near.value.is_finite() {
                return Err(self.refuse(format!("within is {}", near.within), "write 0 or more"));
            }
            stated.push(FieldCondition::Near(near));
        }
        if let Some(range) = length {
            stated.push(FieldCondition::Length(range.checked(self.cursor, self.at)?));
        }
        stated.extend(kind.map(FieldCondition::Type));
        Ok(stated)
    }

    fn not_empty(&self, key: &str, is_empty: bool, help: &str) -> Result<(), Diagnostic> {
        if is_empty {
            Err(self.refuse(format!("{key} is empty"), help))
        } else {
            Ok(())
        }
    }

    /// The conditions of a list; none of them can be absent.
    fn each(&self, key: &str, forms: Vec<FieldForm>) -> Result<Vec<FieldMatcher>, Diagnostic> {
        let mut matchers = Vec::new();
        for (index, form) in forms.into_iter().enumerate() {
            let at = step(&step(self.at, Key(key)), At(index));
            if form.optional {
                let description =
                    format!("optional has no effect in {key} of the field {}", self.name);
                return Err(self.cursor.problem_of_key(
                    &at,
                    Code::BAD_FIELD,
                    description,
                    "write it next to the list, or remove it",
                ));
            }
            matchers.push(FieldMatcher::read(form, self.name, self.cursor, &at)?);
        }
        Ok(matchers)
    }
}

/// A value as JSON, shortened if long.
pub fn written(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(VALUE_LENGTH) {
        Some((cut, _)) => format!("{} …", &text[..cut]),
        None => text,
    }
}

/// The value with every text in the normal form.
fn folded(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(norm(text)),
        Value::Array(list) => Value::Array(list.iter().map(folded).collect()),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(key, field)| (key.clone(), folded(field)))
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The number of characters, items or keys.
fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(list) => Some(list.len()),
        Value::Object(fields) => Some(fields.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The last line of an error of a regular expression, which has the reason.
pub fn last_line(text: &str) -> &str {
    text.lines()
        .last()
        .unwrap_or(text)
        .trim_start_matches("error: ")
}
