//! The part of a golden file that belongs to a case.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::CaseId;
use crate::suites::kind::GoldenForm;

/// The cases of one golden file, each with its own part.
pub struct GoldenEntries<'a> {
    whole: &'a Value,
    /// The parts by case; `None` if the whole file is one case.
    parts: Option<BTreeMap<String, &'a Value>>,
}

impl<'a> GoldenEntries<'a> {
    /// The cases of a golden file of this form.
    pub fn of(form: GoldenForm, file: &'a Value) -> Self {
        let parts = match form {
            GoldenForm::OneCase => None,
            GoldenForm::Entries(entries) => Some(entries(file)),
        };
        Self { whole: file, parts }
    }

    /// A case's own part.
    pub fn case(&self, case: &CaseId) -> Option<&'a Value> {
        match &self.parts {
            None => Some(self.whole),
            Some(parts) => parts.get(case.as_str()).copied(),
        }
    }
}
