//! Trigger rules: which finding of one agent calls which other agent.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::finding::{Finding, Severity};
use crate::diag::{Code, Diagnostics, did_you_mean};
use crate::files::SourceText;
use crate::format::Step::{At, Key};
use crate::format::yaml::{YamlDialect, yaml_as_json};
use crate::format::{JsonIndex, json, list_or_object};
use crate::model::AgentName;
use crate::text::{Keyword, same_category};

/// `rules.yaml`: a list of rules, by itself or under the key `rules`.
#[derive(JsonSchema)]
#[schemars(untagged, title = "trigger rules")]
pub enum RulesFile {
    /// The list under a key.
    Named(RulesForm),
    /// The list by itself.
    Plain(Vec<RuleForm>),
}

/// The list under a key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesForm {
    /// The rules.
    rules: Vec<RuleForm>,
}

/// One rule.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleForm {
    /// Its id, unique in the file.
    id: String,
    /// Conditions that one finding must satisfy together.
    when: WhenForm,
    /// What happens then.
    trigger: TriggerForm,
}

/// Conditions; every stated one must be satisfied.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WhenForm {
    /// The agent that made the finding.
    agent: Option<String>,
    /// The finding's category.
    category: Option<String>,
    /// The lowest severity.
    min_severity: Option<Severity>,
    /// At least one must be in the finding's text.
    any_keywords: Option<Vec<String>>,
}

/// The agent that is called.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TriggerForm {
    /// Its name.
    agent: String,
    /// The reason for calling it.
    #[serde(rename = "reason")]
    _reason: String,
}

impl<'de> Deserialize<'de> for RulesFile {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        list_or_object(reader, "a list of rules", Self::Plain, Self::Named)
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rules {
    by_id: BTreeMap<String, Rule>,
}

#[derive(Debug, Clone, PartialEq)]
struct Rule {
    agent: Option<String>,
    category: Option<String>,
    min_severity: Option<Severity>,
    keywords: Option<Vec<Keyword>>,
    calls: String,
}

impl Rules {
    /// The ids of all rules, sorted.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.by_id.keys().map(String::as_str)
    }

    pub fn read(source: &SourceText) -> Result<Self, Diagnostics> {
        let json = yaml_as_json(source.clone(), YamlDialect::Config)?;
        let (forms, prefix) = match json::with_unique_keys(&json)? {
            RulesFile::Named(form) => (form.rules, Some(Key("rules"))),
            RulesFile::Plain(forms) => (forms, None),
        };
        let (mut problems, locations) = (Diagnostics::default(), JsonIndex::of(&json));
        let mut by_id = BTreeMap::new();
        for (index, form) in forms.into_iter().enumerate() {
            let mut refuse = |key: &str, code, what: String, help: &str| {
                let path: Vec<_> = prefix.into_iter().chain([At(index), Key(key)]).collect();
                problems.push(locations.problem(&path, code, what, help));
            };
            if form.id.trim().is_empty() || by_id.contains_key(&form.id) {
                refuse(
                    "id",
                    Code::DUPLICATE_ID,
                    format!("the rule id {:?} is empty or a duplicate", form.id),
                    "give each rule its own id",
                );
            }
            for agent in form.when.agent.iter().chain([&form.trigger.agent]) {
                if let Err(bad) = AgentName::new(agent) {
                    refuse("when", Code::BAD_ID, bad.to_string(), bad.help());
                }
            }
            let words = form.when.any_keywords.as_deref();
            if words.is_some_and(|words| {
                words.is_empty() || words.iter().any(|word| Keyword::new(word).is_none())
            }) {
                refuse(
                    "when",
                    Code::EMPTY_KEYWORD,
                    "any_keywords is empty or has an empty keyword".to_owned(),
                    "write words, or remove any_keywords",
                );
            }
            by_id.insert(
                form.id,
                Rule {
                    agent: form.when.agent,
                    category: form.when.category.as_deref().map(same_category),
                    min_severity: form.when.min_severity,
                    keywords: form
                        .when
                        .any_keywords
                        .map(|words| words.iter().filter_map(|word| Keyword::new(word)).collect()),
                    calls: form.trigger.agent,
                },
            );
        }
        problems.or(Self { by_id })
    }

    /// The ids of the rules that an agent's findings fire.
    pub fn fired(&self, agent: &str, findings: &[Finding]) -> BTreeSet<&str> {
        let fires = |rule: &Rule| findings.iter().any(|finding| rule.fires(agent, finding));
        self.by_id
            .iter()
            .filter(|(_, rule)| fires(rule))
            .map(|(id, _)| id.as_str())
            .collect()
    }

    /// Checks that a rule with this id exists.
    ///
    /// # Errors
    /// The help line for an unknown id.
    pub fn known(&self, id: &str) -> Result<(), String> {
        if self.by_id.contains_key(id) {
            return Ok(());
        }
        let ids: Vec<&str> = self.ids().collect();
        Err(did_you_mean(
            id,
            &ids,
            format!("the rules are {}", ids.join(", ")),
        ))
    }

    /// Whether a rule reads this agent's findings.
    pub fn looks_at(&self, id: &str, agent: &str) -> bool {
        self.by_id
            .get(id)
            .is_some_and(|rule| rule.agent.as_deref().is_none_or(|of| of == agent))
    }

    pub fn calls(&self, id: &str) -> &str {
        self.by_id.get(id).map_or("", |rule| &rule.calls)
    }
}

impl Rule {
    fn fires(&self, agent: &str, finding: &Finding) -> bool {
        let Self {
            agent: of,
            category,
            min_severity,
            keywords,
            calls: _,
        } = self;
        of.as_deref().is_none_or(|of| of == agent)
            && category
                .as_ref()
                .is_none_or(|category| category == finding.category_key.as_str())
            && min_severity
                .is_none_or(|least| finding.severity.is_some_and(|severity| severity >= least))
            && keywords
                .as_ref()
                .is_none_or(|words| words.iter().any(|word| word.is_in(&finding.text)))
    }
}
