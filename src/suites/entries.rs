//! Where a case is in its golden file.

use std::collections::BTreeMap;

use serde_json::Value;

use super::tool_use;
use crate::model::CaseId;

/// The cases of one golden file, each by its own part of it.
pub struct GoldenEntries<'a> {
    whole: &'a Value,
    /// The parts by case; `None` where the whole file is one case.
    parts: Option<BTreeMap<String, &'a Value>>,
}

impl<'a> GoldenEntries<'a> {
    /// The cases of a golden file of this kind.
    pub fn of(kind: &str, file: &'a Value) -> Self {
        Self { whole: file, parts: (kind == tool_use::KIND.name).then(|| tool_use::entries(file)) }
    }

    /// A case's own part.
    pub fn case(&self, case: &CaseId) -> Option<&'a Value> {
        match &self.parts {
            None => Some(self.whole),
            Some(parts) => parts.get(case.as_str()).copied(),
        }
    }
}

/// The flags that ship with a kind: a suite's own flag of such a name takes its place.
pub fn shipped_flags(kind: &str) -> &'static [&'static str] {
    if kind == tool_use::KIND.name { tool_use::SHIPPED_FLAGS } else { &[] }
}
