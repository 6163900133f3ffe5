//! The settings of kind `findings`: the allowed categories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::config::{FromKeys, SuiteKeyReader};
#[cfg(test)]
use crate::model::Weight::{Listed, NeedsApproval};
use crate::model::{SettingChange, SettingFile, SettingRule, SettingWeight, SuiteId, Treatment};
#[cfg(test)]
use crate::suites::SettingEdits;
use crate::suites::settings::OwnSettings;
use crate::text::counted;

#[derive(Debug, Clone, Default, Serialize)]
pub struct FindingsSettings {
    /// The categories that expectations may use; `None` allows any word.
    pub categories: Option<Vec<String>>,
}

/// The keys.
#[derive(Default, Deserialize, JsonSchema)]
pub struct FindingsKeys {
    /// Categories that expectations may use; default: any word.
    categories: Option<Vec<String>>,
}

impl FromKeys for FindingsSettings {
    type Form = FindingsKeys;

    fn check(form: FindingsKeys, _reader: &mut SuiteKeyReader<'_, '_>) -> Self {
        Self {
            categories: form.categories,
        }
    }
}

impl OwnSettings for FindingsSettings {
    const RULES: &'static [SettingRule] = &[SettingRule::of(
        "categories",
        Treatment::Depends("a removed category needs an approval, an added one is listed"),
    )];
    #[cfg(test)]
    const EDITS: SettingEdits = SettingEdits {
        suite: "    categories: [a, b]\n",
        edits: &[
            ("SuiteForm.categories", "[a, b]", "[a]", Some(NeedsApproval)),
            ("SuiteForm.categories", "[a, b]", "[a, b, c]", Some(Listed)),
            ("SuiteForm.categories", "[a, b]", "[b, a]", None),
            (
                "SuiteForm.categories",
                "    categories: [a, b]\n",
                "",
                Some(NeedsApproval),
            ),
        ],
    };

    fn changes(old: &Self, new: &Self, suite: &SuiteId) -> Vec<SettingChange> {
        let change = |weight, words| SettingChange {
            path: "categories".to_owned(),
            weight,
            words,
        };
        let (old, new) = match (&old.categories, &new.categories) {
            (old, new) if old == new => return Vec::new(),
            (None, _) => {
                return vec![change(
                    SettingWeight::Listed,
                    format!("`{suite}` lists its categories"),
                )];
            }
            (Some(_), None) => {
                let words = format!("`{suite}` no longer lists categories: any word is valid");
                return vec![change(SettingWeight::NeedsApproval, words)];
            }
            (Some(old), Some(new)) => (old, new),
        };
        let alone = |some: &[String], others: &[String]| -> Vec<String> {
            some.iter()
                .filter(|one| !others.contains(one))
                .cloned()
                .collect()
        };
        let moved = [
            (alone(old, new), SettingWeight::NeedsApproval, "removed"),
            (alone(new, old), SettingWeight::Listed, "added"),
        ];
        let mut changes: Vec<SettingChange> = moved
            .into_iter()
            .filter(|(names, ..)| !names.is_empty())
            .map(|(names, weight, verb)| {
                let words = counted(
                    &names,
                    "category",
                    "categories",
                    &format!("of `{suite}` {verb}"),
                );
                change(weight, words)
            })
            .collect();
        if changes.is_empty() {
            // Another order.
            changes.push(change(SettingWeight::Nothing, String::new()));
        }
        changes
    }

    fn files(&self) -> Vec<SettingFile> {
        Vec::new()
    }
}
