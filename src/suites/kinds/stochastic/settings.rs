//! The settings of kind `stochastic`: when an atom is a fact.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::PairRule;
use crate::diag::Code;
use crate::format::Step::Key;
use crate::format::config::{FromKeys, SuiteKeyReader};
#[cfg(test)]
use crate::model::Weight::NeedsApproval;
use crate::model::{SettingChange, SettingFile, SettingRule, SuiteId};
#[cfg(test)]
use crate::suites::SettingEdits;
use crate::suites::settings::OwnSettings;
use crate::suites::shared::match_form::MatchForm;

#[derive(Debug, Clone, Default, Serialize)]
pub struct StochasticSettings {
    /// How facts of a list of facts are paired with atoms.
    #[serde(rename = "match")]
    pub rule: PairRule,
}

/// The keys.
#[derive(Default, Deserialize, JsonSchema)]
pub struct StochasticKeys {
    /// When a produced finding matches an expected one, or an atom has a fact.
    #[serde(rename = "match")]
    matching: Option<MatchForm>,
}

impl FromKeys for StochasticSettings {
    type Form = StochasticKeys;

    fn check(form: StochasticKeys, reader: &mut SuiteKeyReader<'_, '_>) -> Self {
        let usual = PairRule::default();
        let Some(form) = form.matching else {
            return Self { rule: usual };
        };
        form.refuse_for_facts(reader);
        let rule = PairRule {
            category_weight: form.category_weight.unwrap_or(usual.category_weight),
            threshold: form.threshold.unwrap_or(usual.threshold),
            one_to_one: form.one_to_one.unwrap_or(usual.one_to_one),
        };
        if !(0.0..=1.0).contains(&rule.category_weight) {
            let path = [Key("match"), Key("category_weight")];
            let message = format!("the weight of the category is {}", rule.category_weight);
            let help = "write a number from 0 to 1";
            reader.refuse(&path, Code::BAD_NUMBER, message, help);
        }
        if !(rule.threshold > 0.0 && rule.threshold <= 1.0) {
            let path = [Key("match"), Key("threshold")];
            let message = format!("the threshold of a match is {}", rule.threshold);
            let help = "write a number above 0, up to 1";
            reader.refuse(&path, Code::BAD_NUMBER, message, help);
        }
        Self { rule }
    }
}

impl OwnSettings for StochasticSettings {
    const RULES: &'static [SettingRule] = &[];
    #[cfg(test)]
    const EDITS: SettingEdits = SettingEdits {
        suite: "    match: { category_weight: 0.2, threshold: 0.4, one_to_one: true }\n",
        edits: &[
            (
                "MatchForm.category_weight",
                "category_weight: 0.2",
                "category_weight: 0.3",
                Some(NeedsApproval),
            ),
            (
                "MatchForm.threshold",
                "threshold: 0.4",
                "threshold: 0.3",
                Some(NeedsApproval),
            ),
            (
                "MatchForm.one_to_one",
                "one_to_one: true",
                "one_to_one: false",
                Some(NeedsApproval),
            ),
            (
                "SuiteForm.match",
                "    match: { category_weight: 0.2, threshold: 0.4, one_to_one: true }\n",
                "",
                Some(NeedsApproval),
            ),
        ],
    };

    fn changes(_old: &Self, _new: &Self, _suite: &SuiteId) -> Vec<SettingChange> {
        Vec::new()
    }

    fn files(&self) -> Vec<SettingFile> {
        Vec::new()
    }
}
