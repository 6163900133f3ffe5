//! The key `match` of a suite: when something that an agent produced is what a case means, for the kinds that have a choice there.

use schemars::JsonSchema;
use serde::Deserialize;

use super::match_rules::{CategoryMatch, CitationMatch};
use crate::diag::Code;
use crate::format::Step::Key;
use crate::format::config::SuiteKeyReader;

/// When a produced finding matches an expected one, or an atom has a fact.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchForm {
    /// Whether categories fit by their words, or have to be equal; default `words`, of findings.
    pub category: Option<CategoryMatch>,
    /// Files with words that mean the same, of findings.
    pub synonyms: Option<SynonymsForm>,
    /// Whether keywords are also looked for in quotes; default true, of findings.
    pub quotes: Option<bool>,
    /// Whether the cited file has the expected name, or its path contains it; default `name`, of findings.
    pub citation: Option<CitationMatch>,
    /// What an equal category adds to the score of a fact and an atom, 0 to 1; default 0.3. The keywords give the rest, of facts.
    pub category_weight: Option<f64>,
    /// The least score of a match, above 0; default 0.4, of facts.
    pub threshold: Option<f64>,
    /// Whether an atom matches one fact at most; default true, of facts.
    pub one_to_one: Option<bool>,
}

/// Files with words that mean the same: a group a line, commas between.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SynonymsForm {
    /// File of categories that mean the same.
    pub categories: Option<String>,
    /// File of keywords that mean the same.
    pub keywords: Option<String>,
}

impl MatchForm {
    /// Refuses the keys that another kind reads.
    pub fn refuse_for_facts(&self, reader: &mut SuiteKeyReader<'_, '_>) {
        let of_findings = [
            ("category", self.category.is_some()),
            ("synonyms", self.synonyms.is_some()),
            ("quotes", self.quotes.is_some()),
            ("citation", self.citation.is_some()),
        ];
        refuse(reader, &of_findings, "an expected finding");
    }

    /// The same for findings.
    pub fn refuse_for_findings(&self, reader: &mut SuiteKeyReader<'_, '_>) {
        let of_facts = [
            ("category_weight", self.category_weight.is_some()),
            ("threshold", self.threshold.is_some()),
            ("one_to_one", self.one_to_one.is_some()),
        ];
        refuse(reader, &of_facts, "a fact of the client");
    }
}

fn refuse(reader: &mut SuiteKeyReader<'_, '_>, keys: &[(&str, bool)], about: &str) {
    for (key, _) in keys.iter().filter(|(_, is_stated)| *is_stated) {
        let description = format!("{key} has no effect here: it is about the match with {about}");
        reader.refuse(
            &[Key("match"), Key(key)],
            Code::NO_EFFECT,
            description,
            "remove it",
        );
    }
}
