//! Values of expressions, from and to JSON.

use std::collections::HashMap;
use std::sync::Arc;

use cel::objects::{Key, Map};
use cel::{ExecutionError, Value};
use serde_json::{Map as JsonMap, Number, Value as Json};

use super::extent::Extent;

/// The variables of an expression with their values.
pub struct Variables(Vec<(&'static str, Value, Extent)>);

impl Variables {
    /// The variables with these values.
    pub fn new(values: impl IntoIterator<Item = (&'static str, Json)>) -> Self {
        let read = values
            .into_iter()
            .map(|(name, value)| (name, value_of(&value), Extent::of(&value)));
        Self(read.collect())
    }

    pub(super) fn values(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value, _)| (*name, value))
    }

    pub(super) fn extent(&self, name: &str) -> Option<Extent> {
        self.0
            .iter()
            .find(|(known, ..)| *known == name)
            .map(|(.., extent)| *extent)
    }
}

/// The value of JSON. Whole numbers are `int`, or `uint` above its range; all others are `double`.
fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::Int(whole),
            (None, Some(whole)) => Value::UInt(whole),
            (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::String(Arc::new(text.clone())),
        Json::Array(items) => Value::List(Arc::new(items.iter().map(value_of).collect())),
        Json::Object(fields) => {
            let fields: HashMap<Key, Value> = fields
                .iter()
                .map(|(key, value)| (Key::String(Arc::new(key.clone())), value_of(value)))
                .collect();
            Value::Map(Map {
                map: Arc::new(fields),
            })
        }
    }
}

/// The JSON of a value.
///
/// # Errors
/// The value is not JSON: a number that is not finite, bytes, a type.
pub fn json_of(value: &Value) -> Result<Json, String> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(number) => Json::Number((*number).into()),
        Value::UInt(number) => Json::Number((*number).into()),
        Value::Float(number) => match Number::from_f64(*number) {
            Some(number) => Json::Number(number),
            None => return Err("its value is not a finite number".to_owned()),
        },
        Value::String(text) => Json::String(text.as_str().to_owned()),
        Value::List(items) => Json::Array(items.iter().map(json_of).collect::<Result<_, _>>()?),
        Value::Map(map) => {
            let fields = map
                .map
                .iter()
                .map(|(key, value)| Ok((key.to_string(), json_of(value)?)));
            Json::Object(fields.collect::<Result<JsonMap<_, _>, String>>()?)
        }
        unknown => return Err(format!("its value is of type {}", unknown.type_of())),
    })
}

/// What a comprehension walks: the items of a list, or the keys of a map in their order.
pub fn in_order(walked: Value) -> Value {
    match walked {
        Value::Map(map) => {
            let mut keys: Vec<Key> = map.map.keys().cloned().collect();
            keys.sort_by(|left, right| rank(left).cmp(&rank(right)));
            Value::List(Arc::new(keys.into_iter().map(Value::from).collect()))
        }
        value => value,
    }
}

/// The rank of a key among those of a map: truth values, then numbers, then texts.
fn rank(key: &Key) -> (u8, i128, &str) {
    match key {
        Key::Bool(value) => (0, i128::from(*value), ""),
        Key::Int(number) => (1, i128::from(*number), ""),
        Key::Uint(number) => (1, i128::from(*number), ""),
        Key::String(text) => (2, 0, text.as_str()),
    }
}

/// The sum of a list of numbers: an `int` if all are, else a `double`.
///
/// # Errors
/// An item is not a number, or the sum is too large.
pub fn sum(items: Arc<Vec<Value>>) -> Result<Value, ExecutionError> {
    if items.iter().all(|item| matches!(item, Value::Int(_))) {
        let mut whole = items.iter().filter_map(|item| {
            if let Value::Int(number) = item {
                Some(*number)
            } else {
                None
            }
        });
        let total = whole.try_fold(0_i64, i64::checked_add);
        return total
            .map(Value::Int)
            .ok_or_else(|| ExecutionError::Overflow("sum", Value::Null, Value::Null));
    }
    items
        .iter()
        .map(number)
        .sum::<Result<f64, _>>()
        .map(Value::Float)
}

fn number(item: &Value) -> Result<f64, ExecutionError> {
    match item {
        Value::Int(number) => Ok(*number as f64),
        Value::UInt(number) => Ok(*number as f64),
        Value::Float(number) => Ok(*number),
        _ => Err(ExecutionError::function_error(
            "sum",
            "an item is not a number",
        )),
    }
}
