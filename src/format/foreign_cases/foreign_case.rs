//! A case of another tool.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::format::redact::redact_value;
use crate::text::Redactor;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForeignCase {
    pub id: String,
    /// What the user says, and what else the other tool states: `query` or `turns`, tools, and what a proposed case does not take over.
    #[serde(flatten)]
    said: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answer: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    draft: bool,
    /// What it also requires, but a case cannot say.
    #[serde(skip)]
    pub left_out: Vec<String>,
}

impl ForeignCase {
    /// A case that was decided in the other tool; it is a draft if nothing of what it requires can be said.
    pub fn decided(id: String, query: String, answer: Vec<Value>, left_out: Vec<String>) -> Self {
        let said = Map::from_iter([("query".to_owned(), json!(query))]);
        let draft = answer.is_empty();
        Self {
            answer,
            draft,
            ..Self::stated(id, said, left_out)
        }
    }

    /// A case with these fields.
    pub fn stated(id: String, said: Map<String, Value>, left_out: Vec<String>) -> Self {
        let notes =
            (!left_out.is_empty()).then(|| format!("Not imported: {}", left_out.join("; ")));
        Self {
            id,
            said,
            answer: Vec::new(),
            notes,
            draft: false,
            left_out,
        }
    }

    /// The same case without secrets.
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        self.id = redactor.text(&self.id).into_owned();
        for entry in self.answer.iter_mut().chain(self.said.values_mut()) {
            redact_value(entry, redactor);
        }
        for text in self.notes.iter_mut().chain(&mut self.left_out) {
            *text = redactor.text(text).into_owned();
        }
        self
    }

    /// What its answer must satisfy.
    pub fn answer(&self) -> &[Value] {
        &self.answer
    }

    /// The same case as a draft: its requirements are proposed.
    pub fn into_draft(self) -> Self {
        Self {
            draft: true,
            ..self
        }
    }
}
