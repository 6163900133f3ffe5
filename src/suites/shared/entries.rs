//! The part of a golden file that belongs to a case.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::{AgentName, CaseId};
use crate::suites::kind::GoldenForm;

/// The keys of an entry of a file of many that may state its case, the first one first. `id` is only in such files; in some kinds a case
/// has one of the others in a file of its own, too.
pub const ENTRY_IDS: [&str; 3] = ["id", "scenarioId", "name"];

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
        let text = |case: &'a Value, key: &str| case.get(key).and_then(Value::as_str);
        let parts = match form {
            GoldenForm::Entries(entries) => Some(
                entries(file)
                    .into_iter()
                    .map(|(id, case)| ((id, None), case))
                    .collect(),
            ),
            GoldenForm::OneCase | GoldenForm::OneCaseOfAgent => listed_cases(file).map(|list| {
                let named = list.iter().filter_map(|case| {
                    let id = ENTRY_IDS.iter().find_map(|key| text(case, key))?;
                    let agent = text(case, ENTRY_AGENT).filter(|_| form.is_of_agent());
                    Some(((id.to_owned(), agent), case))
                });
                named.collect()
            }),
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

/// The list of a file of many: the file, or what it has under `cases` and nothing else. `None` for a file of one case.
pub fn listed_cases(file: &Value) -> Option<&Vec<Value>> {
    let of_key = || {
        file.as_object()
            .filter(|fields| fields.len() == 1)?
            .get("cases")?
            .as_array()
    };
    file.as_array().or_else(of_key)
}
