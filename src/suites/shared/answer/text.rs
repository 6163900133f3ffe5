//! The answer of a run, as a text and as JSON.

use std::cell::OnceCell;

use serde_json::Value;

use super::phrase::LetterCase;
use crate::format::lenient;
use crate::model::{Layer, Run, Tokens};
use crate::suites::shared::reading::layer;
use crate::suites::shared::turns::last_answer;
use crate::text::recover::recover_any;
use crate::text::{answer_of, norm, norm_cased, rtf};

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

/// The answer of one run.
pub struct AnswerText {
    text: String,
    /// The JSON, if the answer is not a text.
    structured: Option<Value>,
    folded: OnceCell<String>,
    cased: OnceCell<String>,
    json: OnceCell<Option<(Value, Layer)>>,
    /// What the run used.
    pub used: Tokens,
}

impl AnswerText {
    /// The answer; `None` if it is missing or blank.
    pub fn of(run: &Run, output: AnswerOutput) -> Option<Self> {
        let outputs = lenient::any(&run.outputs).ok()?;
        let under = |keys: &[&str]| keys.iter().filter_map(|key| outputs.get(key)).find(|value| !value.is_null());
        let found = match output {
            AnswerOutput::None => None,
            AnswerOutput::Under(keys) => match under(keys) {
                Some(value) => Some(value).filter(|value| value.is_string()),
                None => return Some(Self::of_text(last_answer(run)?, run.tokens)).filter(|answer| !answer.is_blank()),
            },
            AnswerOutput::UnderOrWhole(keys) => under(keys).or(Some(&outputs)),
            AnswerOutput::TextOrList(list) if under(&[list]).is_some() => Some(&outputs),
            AnswerOutput::TextOrList(_) => under(&["text"]).or(Some(&outputs)),
        }?;
        let (text, structured) = match found {
            Value::String(text) if text.trim_start().starts_with("{\\rtf") => (plain_text(text), None),
            Value::String(text) => (answer_of(text).to_owned(), None),
            Value::Object(fields) if fields.is_empty() => return None,
            other => (other.to_string(), Some(other.clone())),
        };
        Some(Self { structured, ..Self::of_text(text, run.tokens) }).filter(|answer| !answer.is_blank())
    }

    /// An answer that is a text, of a run that used so much.
    pub fn of_text(text: String, used: Tokens) -> Self {
        Self { text, structured: None, folded: OnceCell::new(), cased: OnceCell::new(), json: OnceCell::new(), used }
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The text as written.
    pub fn written(&self) -> &str {
        &self.text
    }

    /// The text in the normal form.
    pub fn normal(&self, letter_case: LetterCase) -> &str {
        match letter_case {
            LetterCase::Ignored => self.folded.get_or_init(|| norm(&self.text)),
            LetterCase::Counts => self.cased.get_or_init(|| norm_cased(&self.text)),
        }
    }

    /// The JSON of the answer, and how it was read; `None` without JSON.
    pub fn json(&self) -> Option<&(Value, Layer)> {
        let read = || match &self.structured {
            Some(value) => Some((value.clone(), Layer::Structured)),
            None => match lenient::any(&self.text) {
                Ok(value) => Some((value, Layer::Strict)),
                Err(_) => recover_any(&self.text).map(|found| (found.value, layer(found.layer))),
            },
        };
        self.json.get_or_init(read).as_ref()
    }
}

/// The text of an RTF document, one paragraph a line.
fn plain_text(document: &str) -> String {
    let paragraphs = rtf::read(document.as_bytes()).paragraphs;
    paragraphs.iter().map(|paragraph| paragraph.text.as_str()).collect::<Vec<_>>().join("\n")
}
