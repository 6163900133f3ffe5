//! The part of a golden file that belongs to a case.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::model::{AgentName, CaseId};
use crate::suites::kind::GoldenForm;

/// The keys of an entry of a file of many that may state its case, the first one first. `id` is only in such files; in some kinds a case
/// has one of the others in a file of its own, too.
pub const ENTRY_IDS: [&str; 3] = ["id", "scenarioId", "name"];

/// An id that a case states: a text, or a whole number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseIdText(pub String);

impl CaseIdText {
    /// The id in a value; `None` if it is neither.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self(text.clone())),
            Value::Number(number) => Some(Self(number.as_u64()?.to_string())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for CaseIdText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CaseIdVisitor)
    }
}

struct CaseIdVisitor;

impl Visitor<'_> for CaseIdVisitor {
    type Value = CaseIdText;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string or a whole number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<CaseIdText, E> {
        Ok(CaseIdText(text.to_owned()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<CaseIdText, E> {
        Ok(CaseIdText(number.to_string()))
    }
}

impl JsonSchema for CaseIdText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "CaseIdText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}

/// The key of an entry that states its agent, where the cases of a kind are of one agent each.
pub const ENTRY_AGENT: &str = "agent";

/// The cases of one golden file, each with its own part.
pub struct GoldenEntries<'a> {
    whole: &'a Value,
    /// The parts by case and agent; `None` if the whole file is one case.
    parts: Option<BTreeMap<(String, Option<&'a str>), &'a Value>>,
    form: GoldenForm,
}

impl<'a> GoldenEntries<'a> {
    /// The cases of a golden file of this form.
    pub fn of(form: GoldenForm, file: &'a Value) -> Self {
        let parts = match form {
            GoldenForm::Entries(entries) => Some(
                entries(file)
                    .into_iter()
                    .map(|(id, case)| ((id, None), case))
                    .collect(),
            ),
            GoldenForm::OneCase | GoldenForm::OneCaseOfAgent => {
                listed_cases(file).map(|list| parts_of_list(list, form))
            }
        };
        Self {
            whole: file,
            parts,
            form,
        }
    }

    /// A case's own part.
    pub fn case(&self, case: &CaseId, agent: &AgentName) -> Option<&'a Value> {
        let Some(parts) = &self.parts else {
            return Some(self.whole);
        };
        let agent = self.form.is_of_agent().then_some(agent.as_str());
        parts.get(&(case.as_str().to_owned(), agent)).copied()
    }
}

fn parts_of_list(list: &[Value], form: GoldenForm) -> BTreeMap<(String, Option<&str>), &Value> {
    let mut parts = BTreeMap::new();
    for case in list {
        let Some(id) = ENTRY_IDS.iter().find_map(|key| case.get(*key)) else {
            continue;
        };
        let Some(CaseIdText(id)) = CaseIdText::of(id) else {
            continue;
        };
        let agent = if form.is_of_agent() {
            case.get(ENTRY_AGENT).and_then(Value::as_str)
        } else {
            None
        };
        parts.insert((id, agent), case);
    }
    parts
}

/// The list of a file of many: the file, or what it has under `cases` and nothing else. `None` for a file of one case.
pub fn listed_cases(file: &Value) -> Option<&Vec<Value>> {
    match file {
        Value::Array(list) => Some(list),
        Value::Object(fields) if fields.len() == 1 => fields.get("cases")?.as_array(),
        _ => None,
    }
}
