//! Compares the configs value by value. A changed setting needs an approval unless the table says otherwise.

mod rules;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::found::{ChangeCollector, LimitMove};
use crate::model::Treatment::{Approval, Depends, Harmless, Listed};
use crate::model::{Config, RepoPath, SettingChange, SettingRule, SettingWeight, Tier, Treatment};
use crate::suites::kind;

const fn setting(path: &'static str, treatment: Treatment, why: &'static str) -> SettingRule {
    SettingRule {
        path,
        treatment,
        why,
    }
}

/// The settings whose change does not simply need an approval, or that have their own name in the report. A setting that is
/// neither here nor in the rules of its kind needs an approval.
pub const SETTINGS: &[SettingRule] = &[
    setting("file", Harmless, "the config's own path"),
    setting(
        "results",
        Harmless,
        "caches and history; they affect no verdict",
    ),
    setting(
        "early_stop",
        Harmless,
        "it skips only samples that cannot change a verdict",
    ),
    setting(
        "budget",
        Harmless,
        "a run that a budget ends has no verdict",
    ),
    setting(
        "prices.*",
        Depends(
            "a lower price, or none for a model that a target has, needs an approval, any other change is listed",
        ),
        "",
    ),
    setting("regression", Approval("chance of a false alarm:"), ""),
    setting(
        "recordings",
        Approval("which recordings of a pull request count:"),
        "",
    ),
    setting(
        "approval",
        Approval("who may approve, and with which labels:"),
        "",
    ),
    setting(
        "redact",
        Approval("text that is removed from runs before grading:"),
        "",
    ),
    setting(
        "baseline",
        Depends(
            "another file or other numbers need an approval; the first baseline is listed if it has the numbers that the change measures",
        ),
        "",
    ),
    setting(
        "samples",
        Depends(
            "fewer need an approval; more are listed, and so is setting it for the first time if all runs are recordings",
        ),
        "",
    ),
    setting(
        "suites.*",
        Depends("a removed suite needs an approval, an added one is listed"),
        "",
    ),
    setting(
        "suites.*.id",
        Harmless,
        "the name under which suites are compared",
    ),
    setting("suites.*.index", Harmless, "the order of suites"),
    setting(
        "suites.*.was",
        Harmless,
        "that the base commit's suite of this id is meant is listed",
    ),
    setting("suites.*.path", Approval("golden files of `{}`:"), ""),
    setting("suites.*.kind", Approval("kind of `{}`:"), ""),
    setting("suites.*.runs_of", Approval("runs that `{}` grades:"), ""),
    setting(
        "suites.*.runs_in",
        Harmless,
        "follows from the other suite's path",
    ),
    setting("suites.*.labels", Approval("labels file of `{}`:"), ""),
    setting("suites.*.terms.*", Approval("list of terms of `{}`:"), ""),
    setting(
        "suites.*.fields",
        Approval("what the agents of `{}` write:"),
        "",
    ),
    setting(
        "suites.*.samples",
        Depends(
            "fewer need an approval; more are listed, and so is setting it for the first time if all runs are recordings",
        ),
        "",
    ),
    setting(
        "suites.*.tiers",
        Depends("a removed tier needs an approval, an added one is listed"),
        "",
    ),
    setting(
        "suites.*.gates",
        Depends("a looser gate needs an approval, a tighter one is listed"),
        "",
    ),
    setting(
        "suites.*.no_newly_failing",
        Depends("switching it off needs an approval, switching it on is listed"),
        "",
    ),
    setting("suites.*.policy", Approval("what decides in `{}`:"), ""),
    setting(
        "suites.*.never",
        Approval("what agents of `{}` never do:"),
        "",
    ),
    setting("suites.*.floor", Approval("least pass rate of `{}`:"), ""),
    setting(
        "suites.*.reasoning",
        Approval("whether reasoning counts in answers of `{}`:"),
        "",
    ),
    setting(
        "suites.*.judges",
        Depends("listed: judges affect no gate"),
        "",
    ),
    setting(
        "suites.*.checks.*",
        Depends("an added check is listed, a changed or removed one needs an approval"),
        "",
    ),
    setting(
        "suites.*.metrics.*",
        Depends("an added metric is listed, a changed or removed one needs an approval"),
        "",
    ),
    setting(
        "suites.*.agents.*",
        Depends("a removed agent needs an approval, an added one is listed"),
        "",
    ),
    setting(
        "suites.*.agents.*.was",
        Harmless,
        "that the base commit's agent of this name is meant is listed",
    ),
    setting("suites.*.agents.*.role", Approval("role of `{}`:"), ""),
    setting(
        "suites.*.agents.*.deterministic",
        Depends(
            "another folder of recordings is listed; live runs instead of recordings, or another target, need an approval",
        ),
        "",
    ),
    setting(
        "suites.*.agents.*.model",
        Listed,
        "if the model tier blocks, a change to recordings, to another target or to no runs needs an approval",
    ),
    setting(
        "suites.*.agents.*.prompt",
        Depends(
            "listed if every recording has new content or no digest of it changes, else it needs an approval",
        ),
        "",
    ),
    setting(
        "suites.*.agents.*.fingerprint",
        Depends(
            "a longer list is listed, and one with the same digest; a pattern that leaves the list needs an approval",
        ),
        "",
    ),
    setting(
        "suites.*.agents.*.no_fingerprint",
        Depends("listed where files are named instead, else it needs an approval"),
        "",
    ),
    setting(
        "targets.*",
        Depends(
            "a target that an agent calls in a blocking tier needs an approval, unless only its limits change, and so does `record: trusted`; others are listed",
        ),
        "",
    ),
];

/// Compares two configs setting by setting; `deciding` are the tiers whose verdicts count.
pub fn compare(base: &Config, head: &Config, deciding: &[Tier], collector: &mut ChangeCollector) {
    rules::compare(base, head, deciding, collector);
    let kinds = of_kinds(base, head, collector);
    let mut walk = SettingWalk {
        file: &head.file,
        kinds,
        collector,
    };
    walk.node(&mut Vec::new(), Some(&tree(base)), Some(&tree(head)));
}

/// What a kind says of the settings that it adds to a suite.
struct KindRules {
    /// The rules; `None` if the suite is of another kind now. Then its kind needs the approval.
    rules: Option<&'static [SettingRule]>,
    /// The keys that the kind adds.
    keys: Vec<&'static str>,
    /// The paths whose change the kind judged.
    judged: BTreeSet<String>,
}

/// Adds the changes that kinds judge themselves; returns their rules for the other ones, by suite.
fn of_kinds(
    base: &Config,
    head: &Config,
    collector: &mut ChangeCollector,
) -> BTreeMap<String, KindRules> {
    let mut kinds = BTreeMap::new();
    for new in &head.suites {
        let Some(old) = base.suite(&new.id) else {
            continue;
        };
        let keys = [old, new].into_iter().filter_map(|suite| kind(&suite.kind));
        let keys = keys
            .flat_map(|kind| kind.settings.keys.names())
            .copied()
            .collect();
        let mut known = KindRules {
            rules: None,
            keys,
            judged: BTreeSet::new(),
        };
        if let Some(kind) = kind(&new.kind).filter(|_| old.kind == new.kind) {
            known.rules = Some(kind.settings.rules);
            for SettingChange {
                path,
                weight,
                words,
            } in kind.settings.changes(old, new)
            {
                known.judged.insert(path);
                match weight {
                    SettingWeight::Nothing => {}
                    SettingWeight::Listed => collector.lists(words, Some(&head.file)),
                    SettingWeight::NeedsApproval => collector.needs(words, Some(&head.file)),
                    SettingWeight::Looser => collector.moved(LimitMove::Looser, words, None),
                    SettingWeight::Tighter => collector.moved(LimitMove::Tighter, words, None),
                }
            }
        }
        kinds.insert(new.id.to_string(), known);
    }
    kinds
}

/// A config as one JSON value, with its suites by id.
pub fn tree(config: &Config) -> Value {
    // The types serialize themselves, so a new setting cannot be forgotten.
    let mut whole = serde_json::to_value(config).unwrap_or(Value::Null);
    if let Some(Value::Array(suites)) = whole.get_mut("suites").map(Value::take) {
        let named = suites
            .into_iter()
            .filter_map(|suite| Some((suite.get("id")?.as_str()?.to_owned(), suite)));
        whole["suites"] = Value::Object(named.collect());
    }
    whole
}

struct SettingWalk<'a> {
    file: &'a RepoPath,
    /// The rules of the kinds, by suite.
    kinds: BTreeMap<String, KindRules>,
    collector: &'a mut ChangeCollector,
}

impl SettingWalk<'_> {
    fn node(&mut self, path: &mut Vec<String>, base: Option<&Value>, head: Option<&Value>) {
        let (base, head) = (
            base.filter(|value| !value.is_null()),
            head.filter(|value| !value.is_null()),
        );
        if base == head {
            return;
        }
        let known = self.known(path);
        match (known, base, head) {
            // The rule for an added or removed name covers everything below it.
            (Some(Depends(_)), Some(Value::Object(_)), Some(Value::Object(_)))
                if has_inner(path) => {}
            (Some(Harmless | Depends(_)), ..) => return,
            (Some(Listed), ..) => {
                let words = format!("setting `{}` changed", path.join("."));
                return self.collector.lists(words, Some(self.file));
            }
            (Some(Approval(_)), ..) | (None, ..) => {}
        }
        match (base, head) {
            (Some(Value::Object(base_fields)), Some(Value::Object(head_fields))) => {
                let mut keys: Vec<&String> = base_fields.keys().chain(head_fields.keys()).collect();
                keys.sort();
                keys.dedup();
                for key in keys {
                    path.push(key.clone());
                    self.node(path, base_fields.get(key), head_fields.get(key));
                    path.pop();
                }
            }
            _ => {
                let words = format!(
                    "{} {} -> {}",
                    setting_name(path, known),
                    display_value(base),
                    display_value(head)
                );
                self.collector.needs(words, Some(self.file));
            }
        }
    }

    /// The treatment of a setting. A kind's own setting without a rule, or whose change its kind did not judge, has none.
    fn known(&self, path: &[String]) -> Option<Treatment> {
        if let ([suites, id, inner @ ..], Some(key)) = (path, path.get(2))
            && let Some(of_kind) = self
                .kinds
                .get(id)
                .filter(|of_kind| suites == "suites" && of_kind.keys.contains(&key.as_str()))
        {
            let Some(rules) = of_kind.rules else {
                return Some(Harmless);
            };
            if of_kind.judged.contains(&inner.join(".")) {
                return Some(Harmless);
            }
            let rule = rules
                .iter()
                .find(|rule| fits(rule, inner))
                .map(|rule| rule.treatment);
            return rule.filter(|treatment| !matches!(treatment, Depends(_)));
        }
        SETTINGS
            .iter()
            .find(|setting| fits(setting, path))
            .map(|setting| setting.treatment)
    }
}

/// Whether a setting of the table matches a path; a `*` is any name.
fn fits(setting: &SettingRule, path: &[String]) -> bool {
    let mut parts = setting.path.split('.');
    let all = path
        .iter()
        .all(|name| parts.next().is_some_and(|part| part == "*" || part == name));
    all && parts.next().is_none()
}

/// Whether the table has settings below a path, as for suites and agents.
fn has_inner(path: &[String]) -> bool {
    matches!(
        path.iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .as_slice(),
        ["suites", _] | ["suites", _, "agents", _]
    )
}

/// The name of a setting in the report.
fn setting_name(path: &[String], known: Option<Treatment>) -> String {
    let Some(Approval(phrase)) = known else {
        return format!("setting `{}`", path.join("."));
    };
    let names = match path {
        [_, suite, _, agent, ..] if path.get(2).is_some_and(|key| key == "agents") => {
            format!("{suite}/{agent}")
        }
        [_, suite, ..] => suite.clone(),
        [key] => key.clone(),
        [] => String::new(),
    };
    phrase.replace("{}", &names)
}

fn display_value(value: Option<&Value>) -> String {
    match value {
        None => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}
