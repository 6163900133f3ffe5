//! The answer of a run, as a text and as JSON.

use std::cell::OnceCell;

use recover::recover_any;
use serde_json::Value;

use super::phrase::LetterCase;
use crate::format::lenient;
use crate::model::{Layer, Run, Tokens};
use crate::suites::shared::turns::last_answer;
use crate::text::{norm, norm_cased, visible};

/// Where the outputs of a kind hold the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerOutput {
    /// Nowhere: its cases cannot state `answer`.
    None,
    /// Under the first of these keys that is there; without one, the answer of the last turn of a conversation.
    Under(&'static [&'static str]),
    /// Under the first of these keys that is there; without one, the answer is the JSON of all outputs.
    UnderOrWhole(&'static [&'static str]),
    /// Under `text`, from which the kind reads its list; where this list is there itself, the answer is the JSON of all outputs.
    TextOrList(&'static str),
}

pub struct AnswerText {
    text: String,
    /// The JSON, if the answer is not a text.
    structured: Option<Value>,
    folded: OnceCell<String>,
    cased: OnceCell<String>,
    /// The texts and keys in the JSON of the answer, decoded.
    parts: OnceCell<Vec<String>>,
    folded_parts: OnceCell<Vec<String>>,
    cased_parts: OnceCell<Vec<String>>,
    json: OnceCell<Option<(Value, Layer)>>,
    pub used: Tokens,
}

impl AnswerText {
    /// The answer; `None` if it is missing or blank.
    pub fn of(run: &Run, output: AnswerOutput) -> Option<Self> {
        let outputs = lenient::any(&run.outputs).ok()?;
        let stated = match output {
            AnswerOutput::None => None,
            AnswerOutput::Under(keys) => match value_under(&outputs, keys) {
                Some(value) => Some(value).filter(|value| value.is_string()),
                None => {
                    return Some(Self::of_text(last_answer(run)?, run.tokens))
                        .filter(|answer| !answer.is_blank());
                }
            },
            AnswerOutput::UnderOrWhole(keys) => value_under(&outputs, keys).or(Some(&outputs)),
            AnswerOutput::TextOrList(list) if value_under(&outputs, &[list]).is_some() => {
                Some(&outputs)
            }
            AnswerOutput::TextOrList(_) => value_under(&outputs, &["text"]).or(Some(&outputs)),
        }?;
        let (text, structured) = match stated {
            Value::String(text) if text.trim_start().starts_with("{\\rtf") => {
                (plain_text(text), None)
            }
            Value::String(text) => (text.clone(), None),
            Value::Object(fields) if fields.is_empty() => return None,
            value => (value.to_string(), Some(value.clone())),
        };
        Some(Self {
            structured,
            ..Self::of_text(text, run.tokens)
        })
        .filter(|answer| !answer.is_blank())
    }

    /// An answer that is a text, of a run that used so much.
    pub fn of_text(text: String, used: Tokens) -> Self {
        Self {
            text,
            structured: None,
            folded: OnceCell::new(),
            cased: OnceCell::new(),
            parts: OnceCell::new(),
            folded_parts: OnceCell::new(),
            cased_parts: OnceCell::new(),
            json: OnceCell::new(),
            used,
        }
    }

    fn is_blank(&self) -> bool {
        visible(&self.text)
            .as_deref()
            .unwrap_or(&self.text)
            .trim()
            .is_empty()
    }

    pub fn written(&self) -> &str {
        &self.text
    }

    pub fn normal(&self, letter_case: LetterCase) -> &str {
        match letter_case {
            LetterCase::Ignored => self.folded.get_or_init(|| norm(&self.text)),
            LetterCase::Counts => self.cased.get_or_init(|| norm_cased(&self.text)),
        }
    }

    /// The texts and keys in the JSON of the answer: in the JSON itself a line break is `\n`, and a phrase across it is not found. A text
    /// with invisible characters is there as a reader sees it, too: a soft hyphen hides no word.
    fn parts(&self) -> &[String] {
        self.parts.get_or_init(|| {
            let mut parts = Vec::new();
            if let Some((value @ (Value::Object(_) | Value::Array(_)), _)) = self.json() {
                add_texts(value, &mut parts);
            }
            let seen: Vec<String> = parts
                .iter()
                .map(String::as_str)
                .chain([self.written()])
                .filter_map(visible)
                .collect();
            parts.extend(seen);
            parts
        })
    }

    /// The text as written, then its parts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.written()).chain(self.parts().iter().map(String::as_str))
    }

    /// Whether a test holds for the text or for one of its parts, in the normal form.
    pub fn is_somewhere(&self, letter_case: LetterCase, holds: impl Fn(&str) -> bool) -> bool {
        let parts = match letter_case {
            LetterCase::Ignored => self
                .folded_parts
                .get_or_init(|| self.parts().iter().map(|part| norm(part)).collect()),
            LetterCase::Counts => self
                .cased_parts
                .get_or_init(|| self.parts().iter().map(|part| norm_cased(part)).collect()),
        };
        holds(self.normal(letter_case)) || parts.iter().any(|part| holds(part))
    }

    /// The text for an expression: as written, and below the JSON of an answer that is not a text, each part that JSON escapes, decoded.
    pub fn for_expression(&self) -> String {
        let Some(structured) = &self.structured else {
            return self.text.clone();
        };
        let mut escaped = Vec::new();
        add_texts(structured, &mut escaped);
        escaped.retain(|part| Value::from(part.as_str()).to_string().len() != part.len() + 2);
        std::iter::once(&self.text)
            .chain(&escaped)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The JSON of the answer, and how it was read; `None` without JSON.
    pub fn json(&self) -> Option<&(Value, Layer)> {
        self.json.get_or_init(|| self.read_json()).as_ref()
    }

    fn read_json(&self) -> Option<(Value, Layer)> {
        if let Some(value) = &self.structured {
            return Some((value.clone(), Layer::Structured));
        }
        if let Ok(value) = lenient::any(&self.text) {
            return Some((value, Layer::Strict));
        }
        let recovered = recover_any(&self.text)?;
        Some((recovered.value, Layer::from(recovered.layer)))
    }
}

/// The first value under these keys that is not null.
fn value_under<'v>(outputs: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter()
        .filter_map(|key| outputs.get(key))
        .find(|value| !value.is_null())
}

fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(list) => {
            for item in list {
                add_texts(item, texts);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                texts.push(key.clone());
                add_texts(value, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text of an RTF document, one paragraph a line.
fn plain_text(document: &str) -> String {
    let paragraphs = rtf::read(document.as_bytes()).paragraphs;
    paragraphs
        .iter()
        .map(|paragraph| paragraph.text.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::{AnswerOutput, AnswerText};
    use crate::model::Run;

    #[test]
    fn an_expression_sees_the_texts_that_json_escapes() {
        for (outputs, expected) in [
            (r#"{"a": "plain", "b": 1}"#, r#"{"a":"plain","b":1}"#),
            (
                r#"{"a": "two\nlines", "b": ["\"x\""]}"#,
                "{\"a\":\"two\\nlines\",\"b\":[\"\\\"x\\\"\"]}\ntwo\nlines\n\"x\"",
            ),
            (
                r#"{"text": "{\"a\": \"two\\nlines\"}"}"#,
                r#"{"a": "two\nlines"}"#,
            ),
        ] {
            let run = Run::of(outputs);
            let answer = AnswerText::of(&run, AnswerOutput::UnderOrWhole(&["text"])).unwrap();
            assert_eq!(answer.for_expression(), expected);
        }
    }
}
