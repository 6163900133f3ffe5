//! Removes keys and tokens from a record before it is saved: recordings are committed.

use regex::Regex;
use serde_json::Value;

use super::lenient;
use super::secret_values::SecretValues;
use crate::model::{Json, REDACTED, RunRecord, Steps, ToolCall};
use crate::text::without_keys;

/// Removes secrets from texts and records.
#[derive(Debug, Default)]
pub struct Redactor {
    patterns: Vec<Regex>,
    secrets: SecretValues,
}

impl Redactor {
    /// Removes the common key formats, the configured patterns and the given values.
    ///
    /// # Errors
    /// The first invalid pattern and what is wrong with it.
    pub fn new<'a>(
        stated: &[String],
        values: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, (usize, String)> {
        let mut patterns: Vec<Regex> = Vec::new();
        for (index, pattern) in stated.iter().enumerate() {
            patterns.push(pattern_of(pattern).map_err(|why| (index, why))?);
        }
        Ok(Self {
            patterns,
            secrets: SecretValues::new(values),
        })
    }

    /// The text without secrets.
    pub fn text(&self, text: &str) -> String {
        let plain = self.secrets.replaced(text);
        let plain = without_keys(&plain).into_owned();
        self.patterns.iter().fold(plain, |text, pattern| {
            pattern.replace_all(&text, REDACTED).into_owned()
        })
    }

    /// The record without secrets; a record without any is unchanged to the byte.
    pub fn redacted(&self, record: &RunRecord) -> RunRecord {
        let mut record = record.clone();
        record.inputs.prompt = record
            .inputs
            .prompt
            .as_deref()
            .map(|prompt| self.text(prompt));
        record.inputs.options = self.json(&record.inputs.options);
        record.error = record.error.as_deref().map(|error| self.text(error));
        record.outputs = self.json(&record.outputs);
        record.intermediate = match &record.intermediate {
            Steps::Own(json) => Steps::Own(self.json(json)),
            Steps::Seen {
                node_transitions,
                tool_calls,
                events,
            } => Steps::Seen {
                node_transitions: node_transitions.iter().map(|one| self.json(one)).collect(),
                tool_calls: tool_calls.iter().map(|call| self.call(call)).collect(),
                events: events.iter().map(|one| self.json(one)).collect(),
            },
        };
        record
    }

    fn call(&self, call: &ToolCall) -> ToolCall {
        ToolCall {
            name: self.text(&call.name),
            arguments: self.json(&call.arguments),
            result: self.json(&call.result),
            error: call.error.as_deref().map(|error| self.text(error)),
            latency_ms: call.latency_ms,
            turn: call.turn,
            step: call.step,
            server: call.server.as_deref().map(|server| self.text(server)),
        }
    }

    fn json(&self, json: &Json) -> Json {
        let Ok(mut value) = lenient::any(json.text()) else {
            return Json::from(self.text(json.text()));
        };
        match self.take_out(&mut value) {
            true => Json::from(value.to_string()),
            false => json.clone(),
        }
    }

    /// Removes secrets from a value; returns whether it had any.
    fn take_out(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let plain = self.text(text);
                let found = plain != *text;
                *text = plain;
                found
            }
            Value::Array(list) => {
                list.iter_mut()
                    .filter_map(|one| self.take_out(one).then_some(()))
                    .count()
                    > 0
            }
            Value::Object(fields) => {
                let mut found = fields
                    .values_mut()
                    .filter_map(|one| self.take_out(one).then_some(()))
                    .count()
                    > 0;
                let spoken: Vec<String> = fields
                    .keys()
                    .filter(|key| self.text(key) != **key)
                    .cloned()
                    .collect();
                for key in spoken {
                    found = true;
                    if let Some(one) = fields.remove(&key) {
                        fields.insert(self.text(&key), one);
                    }
                }
                found
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

/// Compiles a pattern of the config.
pub fn pattern_of(text: &str) -> Result<Regex, String> {
    let pattern = Regex::new(text).map_err(|error| {
        let message = error.to_string();
        message
            .lines()
            .last()
            .unwrap_or("it cannot be read")
            .trim()
            .to_owned()
    })?;
    match pattern.is_match("") {
        true => Err("it matches the empty text, so it would match everywhere".to_owned()),
        false => Ok(pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::Redactor;
    use crate::model::Json;

    fn redactor() -> Redactor {
        Redactor::new(&[r"ACME-\d{4}".to_owned()], ["hunter2hunter2", "short"])
            .expect("the patterns are right")
    }

    #[test]
    fn keys_patterns_and_secrets_are_removed() {
        for (secret, left) in [
            ("sk-ant-api03-abcdefghijklmnop", "sk-ant-[redacted]"),
            ("hunter2hunter2", "[redacted]"),
            ("ACME-1234", "[redacted]"),
        ] {
            assert_eq!(
                redactor().text(&format!("it is {secret}, keep it")),
                format!("it is {left}, keep it")
            );
        }
    }

    #[test]
    fn a_key_after_an_escape_is_removed_and_clean_json_is_unchanged() {
        let json = |text: &str| redactor().json(&Json::from(text)).text().to_owned();
        assert_eq!(
            json(r#"{"a": "x\nsk-0123456789abcdefgh", "b": [1.50]}"#),
            r#"{"a":"x\nsk-[redacted]","b":[1.5]}"#
        );
        assert_eq!(json(r#"{ "a" : 1.50 }"#), r#"{ "a" : 1.50 }"#);
        assert_eq!(json(r#"{"hunter2hunter2": 1}"#), r#"{"[redacted]":1}"#);
    }

    #[test]
    fn a_pattern_that_would_match_everywhere_is_refused() {
        assert!(Redactor::new(&["x*".to_owned()], []).is_err());
        assert!(Redactor::new(&["(".to_owned()], []).is_err());
    }
}
