//! The settings of kind `findings`: the allowed categories, what counts as equal, and how often one finding counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diag::Code;
use crate::format::Step::Key;
use crate::format::config::{FromKeys, SuiteKeyReader};
fn categories_change(weight: SettingWeight, words: String) -> SettingChange {
    SettingChange {
        path: "categories".to_owned(),
        weight,
        words,
    }
}

/// The names that `present` has and `absent` lacks.
fn names_missing_in(absent: &[String], present: &[String]) -> Vec<String> {
    present
        .iter()
        .filter(|name| !absent.contains(name))
        .cloned()
        .collect()
}

#[cfg(test)]
use crate::model::Weight::{Listed, NeedsApproval};
use crate::model::{
    RepoPath, SettingChange, SettingFile, SettingRule, SettingWeight, SuiteId, Treatment,
};
#[cfg(test)]
use crate::suites::SettingEdits;
use crate::suites::settings::{OwnSettings, PathMove};
use crate::suites::shared::match_form::{MatchForm, SynonymsForm};
use crate::suites::shared::match_rules::MatchMode;
use crate::text::counted;

#[derive(Debug, Clone, Default, Serialize)]
pub struct FindingsSettings {
    /// The categories that expectations may use; `None` allows any word.
    pub categories: Option<Vec<String>>,
    #[serde(rename = "match")]
    pub matching: MatchSettings,
    pub recall: RecallSettings,
}

/// When a produced finding matches an expected one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MatchSettings {
    #[serde(flatten)]
    pub mode: MatchMode,
    pub synonyms: SynonymFiles,
}

/// Files with groups of words that mean the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SynonymFiles {
    pub categories: Option<RepoPath>,
    pub keywords: Option<RepoPath>,
}

/// How recall counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecallSettings {
    /// How many expected findings one produced finding counts for at most.
    pub per_finding: usize,
}

impl FindingsSettings {
    /// What a case is measured with, for its digest; empty for the defaults.
    pub fn measured_with(&self) -> String {
        let usual = Self::default();
        if self.matching.mode == usual.matching.mode && self.recall == usual.recall {
            return String::new();
        }
        format!("{:?}{:?}", self.matching.mode, self.recall)
    }
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self { per_finding: 2 }
    }
}

/// The greatest number of expected findings that one produced finding may count for.
const MOST_PER_FINDING: usize = 10;

/// The keys.
#[derive(Default, Deserialize, JsonSchema)]
pub struct FindingsKeys {
    /// Categories that expectations may use; default: any word.
    categories: Option<Vec<String>>,
    /// When a produced finding matches an expected one, or an atom has a fact.
    #[serde(rename = "match")]
    matching: Option<MatchForm>,
    /// How recall counts (kind `findings`).
    recall: Option<RecallForm>,
}

/// How recall counts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecallForm {
    /// How many expected findings one produced finding counts for at most, 1 to 10; default 2.
    per_finding: usize,
}

impl FromKeys for FindingsSettings {
    type Form = FindingsKeys;

    fn check(form: FindingsKeys, reader: &mut SuiteKeyReader<'_, '_>) -> Self {
        let FindingsKeys {
            categories,
            matching,
            recall,
        } = form;
        Self {
            categories,
            matching: matching.map_or_else(MatchSettings::default, |form| {
                MatchSettings::of(form, reader)
            }),
            recall: recall.map_or_else(RecallSettings::default, |form| form.check(reader)),
        }
    }
}

impl MatchSettings {
    fn of(form: MatchForm, reader: &mut SuiteKeyReader<'_, '_>) -> Self {
        form.refuse_for_findings(reader);
        let usual = MatchMode::default();
        let mode = MatchMode {
            category: form.category.unwrap_or(usual.category),
            quotes: form.quotes.unwrap_or(usual.quotes),
            citation: form.citation.unwrap_or(usual.citation),
        };
        let mut synonyms = SynonymFiles::default();
        if let Some(SynonymsForm {
            categories,
            keywords,
        }) = form.synonyms
        {
            let path = [Key("match"), Key("synonyms")];
            let [of_categories, of_keywords] =
                ["categories", "keywords"].map(|key| [path[0], path[1], Key(key)]);
            synonyms.categories = categories.map(|file| reader.file(&of_categories, &file));
            synonyms.keywords = keywords.map(|file| reader.file(&of_keywords, &file));
        }
        Self { mode, synonyms }
    }
}

impl RecallForm {
    fn check(self, reader: &mut SuiteKeyReader<'_, '_>) -> RecallSettings {
        let Self { per_finding } = self;
        if !(1..=MOST_PER_FINDING).contains(&per_finding) {
            reader.refuse(
                &[Key("recall"), Key("per_finding")],
                Code::BAD_NUMBER,
                format!("per_finding is {per_finding}"),
                format!("write a whole number from 1 to {MOST_PER_FINDING}"),
            );
        }
        RecallSettings { per_finding }
    }
}

impl OwnSettings for FindingsSettings {
    const RULES: &'static [SettingRule] = &[SettingRule::of(
        "categories",
        Treatment::Depends("a removed category needs an approval, an added one is listed"),
    )];
    #[cfg(test)]
    const EDITS: SettingEdits = SettingEdits {
        suite: "    categories: [a, b]
    match: { category: words, quotes: false, citation: name, synonyms: { categories: c.txt, keywords: k.txt } }
    recall: { per_finding: 2 }
",
        edits: &[
            ("SuiteForm.match", "    match: {", "    # match: {", Some(NeedsApproval)),
            ("MatchForm.category", "category: words", "category: equal", Some(NeedsApproval)),
            ("MatchForm.quotes", "quotes: false", "quotes: true", Some(NeedsApproval)),
            ("MatchForm.citation", "citation: name", "citation: contains", Some(NeedsApproval)),
            ("MatchForm.synonyms", ", synonyms: { categories: c.txt, keywords: k.txt }", "", Some(NeedsApproval)),
            ("SynonymsForm.categories", "c.txt", "d.txt", Some(NeedsApproval)),
            ("SynonymsForm.keywords", "k.txt", "d.txt", Some(NeedsApproval)),
            ("SuiteForm.recall", "    recall: { per_finding: 2 }\n", "", None),
            ("RecallForm.per_finding", "per_finding: 2", "per_finding: 3", Some(NeedsApproval)),
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
        let (old, new) = match (&old.categories, &new.categories) {
            (old, new) if old == new => return Vec::new(),
            (None, _) => {
                return vec![categories_change(
                    SettingWeight::Listed,
                    format!("`{suite}` lists its categories"),
                )];
            }
            (Some(_), None) => {
                let words = format!("`{suite}` no longer lists categories: any word is valid");
                return vec![categories_change(SettingWeight::NeedsApproval, words)];
            }
            (Some(old), Some(new)) => (old, new),
        };
        let removed = names_missing_in(new, old);
        let added = names_missing_in(old, new);
        let mut changes = Vec::new();
        for (names, weight, verb) in [
            (removed, SettingWeight::NeedsApproval, "removed"),
            (added, SettingWeight::Listed, "added"),
        ] {
            if !names.is_empty() {
                let verb = format!("of `{suite}` {verb}");
                let words = counted(&names, "category", "categories", &verb);
                changes.push(categories_change(weight, words));
            }
        }
        if changes.is_empty() {
            // Another order.
            changes.push(categories_change(SettingWeight::Nothing, String::new()));
        }
        changes
    }

    fn files(&self) -> Vec<SettingFile> {
        let SynonymFiles {
            categories,
            keywords,
        } = &self.matching.synonyms;
        let named = [
            ("synonyms of categories", categories),
            ("synonyms of keywords", keywords),
        ];
        let mut files = Vec::new();
        for (name, path) in named {
            if let Some(path) = path {
                files.push(SettingFile {
                    name: name.to_owned(),
                    path: path.clone(),
                });
            }
        }
        files
    }

    fn with_paths(&self, moved: PathMove<'_>) -> Option<Self> {
        let mut settings = self.clone();
        let SynonymFiles {
            categories,
            keywords,
        } = &mut settings.matching.synonyms;
        for path in [categories, keywords].into_iter().flatten() {
            *path = moved(path);
        }
        Some(settings)
    }
}
