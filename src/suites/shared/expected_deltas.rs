//! The deltas that a golden file expects, compared with those of a run.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;

use super::deltas::DeltaKind;
use crate::diag::{Code, Diagnostic};
use crate::format::JsonCursor;
use crate::format::Step::{At, Key};
use crate::model::{Difference, Shortfall, Shortfalls};
use crate::text::line;
use std::fmt;

/// An item and its kind.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedDeltaForm {
    /// The item.
    item: String,
    /// The problem of the item, or `coupled`.
    kind: DeltaKind,
}

/// Expected items, each with its one kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExpectedDeltas(BTreeMap<String, &'static str>);

impl ExpectedDeltas {
    /// Reads the list `expected_deltas` of a golden file; `cursor` is the position of the file.
    ///
    /// # Errors
    /// An item without a name, or one that is listed twice.
    pub fn read(
        cursor: &JsonCursor<'_>,
        forms: Vec<ExpectedDeltaForm>,
    ) -> Result<Self, Diagnostic> {
        let mut expected = BTreeMap::new();
        for (at, ExpectedDeltaForm { item, kind }) in forms.into_iter().enumerate() {
            let path = [Key("expected_deltas"), At(at), Key("item")];
            cursor.filled(&path, "an expected item", &item)?;
            if expected.contains_key(&item) {
                let description = format!("{item:?} is expected twice");
                return Err(cursor.problem(
                    &path,
                    Code::DUPLICATE_ITEM,
                    description,
                    "an item has one kind: keep one entry",
                ));
            }
            expected.insert(item, kind.as_str());
        }
        Ok(Self(expected))
    }

    /// Adds an item, unless it is expected already.
    pub fn add(&mut self, item: &str, kind: DeltaKind) {
        self.0.entry(item.to_owned()).or_insert(kind.as_str());
    }

    /// Number of expected items.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of expected pairs of item and kind that were produced.
    pub fn hit(&self, kinds: &BTreeMap<&str, BTreeSet<&str>>) -> usize {
        self.0
            .iter()
            .filter(|(item, kind)| has(kinds, item, kind))
            .count()
    }

    /// The expected pairs that were not produced, as `item (kind)`.
    pub fn missing(&self, kinds: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<String> {
        let missing = self.0.iter().filter(|(item, kind)| !has(kinds, item, kind));
        missing
            .map(|(item, kind)| format!("{item} ({kind})"))
            .collect()
    }

    /// The expected items that were also reported with another kind, as `item reported as other, not kind`.
    pub fn wrong(&self, kinds: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<String> {
        let mut wrong = Vec::new();
        for (item, kind) in &self.0 {
            let Some(reported) = kinds.get(item.as_str()) else {
                continue;
            };
            let mut other_kinds: Vec<&str> = reported.iter().copied().collect();
            other_kinds.retain(|reported| reported != kind);
            if !other_kinds.is_empty() {
                let other_kinds = other_kinds.join(" and ");
                wrong.push(format!("{item} reported as {other_kinds}, not {kind}"));
            }
        }
        wrong
    }
}

impl ExpectedDeltas {
    /// The produced items that are not expected; they lower precision.
    pub fn surplus(&self, kinds: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<Shortfall> {
        let mut surplus = Shortfalls::default();
        for (item, kinds) in kinds
            .iter()
            .filter(|(item, _)| !self.0.contains_key(**item))
        {
            surplus.add(&["delta_precision"], || {
                let kinds: Vec<&str> = kinds.iter().copied().collect();
                Difference {
                    line: 1,
                    expected: "only items that the golden file expects".to_owned(),
                    produced: line(&format!("{item} ({})", kinds.join(" or ")), 200),
                }
            });
        }
        if kinds.is_empty() && !self.is_empty() {
            surplus.add(&["delta_precision"], || Difference {
                line: 1,
                expected: format!("items: {} in the golden file", self.len()),
                produced: "no item".to_owned(),
            });
        }
        surplus.into()
    }
}

/// The expected items with their kinds.
impl fmt::Display for ExpectedDeltas {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self
            .0
            .iter()
            .map(|(item, kind)| format!("{item} ({kind})"))
            .collect();
        out.write_str(&all.join(", "))
    }
}

fn has(kinds: &BTreeMap<&str, BTreeSet<&str>>, item: &str, kind: &str) -> bool {
    kinds.get(item).is_some_and(|kinds| kinds.contains(kind))
}
