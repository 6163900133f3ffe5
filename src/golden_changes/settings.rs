//! Compares the configs value by value. A changed setting needs an approval unless the table says otherwise.

mod rules;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::found::ChangeCollector;
use crate::model::{Config, RepoPath, Tier};

/// What a change of a setting needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// Nothing: the setting cannot change a verdict.
    Harmless,
    /// The change is listed.
    Listed,
    /// An approval. The text names the setting in the report; `{}` is the suite and agent.
    Approval(&'static str),
    /// It depends on the change, as the text explains.
    Depends(&'static str),
}

/// A setting, and what a change of it needs.
pub struct SettingRule {
    /// Its path in the config; `*` is any name.
    pub path: &'static str,
    /// What a change needs.
    pub treatment: Treatment,
    /// The reason; may be empty.
    pub why: &'static str,
}

const fn setting(path: &'static str, treatment: Treatment, why: &'static str) -> SettingRule {
    SettingRule { path, treatment, why }
}

use Treatment::{Approval, Depends, Harmless, Listed};

/// The settings whose change does not simply need an approval, or that have their own name in the report. A setting that is not in
/// the table needs an approval.
pub const SETTINGS: &[SettingRule] = &[
    setting("file", Harmless, "the config's own path"),
    setting("results", Harmless, "caches and history; they affect no verdict"),
    setting("budget", Harmless, "a run that a budget ends has no verdict"),
    setting("prices", Harmless, "costs affect no gate"),
    setting("redact", Approval("text that is removed from runs before grading:"), ""),
    setting("baseline", Depends("another file or other numbers need an approval; the first baseline is listed"), ""),
    setting(
        "samples",
        Depends("fewer need an approval; more are listed, and so is a first number where all runs are recordings"),
        "",
    ),
    setting("suites.*", Depends("a removed suite needs an approval, an added one is listed"), ""),
    setting("suites.*.id", Harmless, "the name under which suites are compared"),
    setting("suites.*.index", Harmless, "the order of suites"),
    setting("suites.*.path", Approval("golden files of `{}`:"), ""),
    setting("suites.*.kind", Approval("kind of `{}`:"), ""),
    setting("suites.*.runs_of", Approval("runs that `{}` grades:"), ""),
    setting("suites.*.runs_in", Harmless, "follows from the other suite's path"),
    setting("suites.*.labels", Approval("labels file of `{}`:"), ""),
    setting("suites.*.tools", Approval("tools file of `{}`:"), ""),
    setting("suites.*.terms.*", Approval("list of terms of `{}`:"), ""),
    setting("suites.*.flags.*", Depends("a new flag is listed, unless it replaces a built-in one"), ""),
    setting(
        "suites.*.samples",
        Depends("fewer need an approval; more are listed, and so is a first number where all runs are recordings"),
        "",
    ),
    setting("suites.*.tiers", Depends("a removed tier needs an approval, an added one is listed"), ""),
    setting("suites.*.categories", Depends("a removed category needs an approval, an added one is listed"), ""),
    setting("suites.*.gates", Depends("a looser gate needs an approval, a tighter one is listed"), ""),
    setting("suites.*.scoring", Depends("a looser score needs an approval, a stricter one is listed"), ""),
    setting("suites.*.no_newly_failing", Depends("switching it off needs an approval, switching it on is listed"), ""),
    setting("suites.*.judges", Depends("listed: judges affect no gate"), ""),
    setting("suites.*.agents.*", Depends("a removed agent needs an approval, an added one is listed"), ""),
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
        "but if the model tier decides, recordings instead of live runs, or no runs, need an approval",
    ),
    setting(
        "suites.*.agents.*.prompt",
        Depends("listed if every recording was made again, else it needs an approval"),
        "",
    ),
    setting(
        "suites.*.agents.*.fingerprint",
        Depends("listed if every recording was made again and no changed file is left out, else it needs an approval"),
        "",
    ),
    setting("suites.*.agents.*.stale", Depends("`warn` needs an approval, `fail` is listed"), ""),
    setting(
        "targets.*",
        Depends(
            "a target that a deterministic agent calls needs an approval, unless only its limits change; others are listed",
        ),
        "",
    ),
];

/// Compares two configs setting by setting; `deciding` are the tiers whose verdicts count.
pub fn compare(before: &Config, after: &Config, deciding: &[Tier], found: &mut ChangeCollector) {
    rules::compare(before, after, deciding, found);
    let mut walk = SettingWalk { file: &after.file, found };
    walk.node(&mut Vec::new(), Some(&tree(before)), Some(&tree(after)));
}

/// A config as one JSON value, with its suites by id.
pub fn tree(config: &Config) -> Value {
    // The types serialize themselves, so a new setting cannot be forgotten.
    let mut whole = serde_json::to_value(config).unwrap_or(Value::Null);
    if let Some(Value::Array(suites)) = whole.get_mut("suites").map(Value::take) {
        let named = suites.into_iter().filter_map(|suite| Some((suite.get("id")?.as_str()?.to_owned(), suite)));
        whole["suites"] = Value::Object(named.collect());
    }
    whole
}

struct SettingWalk<'a> {
    file: &'a RepoPath,
    found: &'a mut ChangeCollector,
}

impl SettingWalk<'_> {
    fn node(&mut self, path: &mut Vec<String>, before: Option<&Value>, after: Option<&Value>) {
        let (before, after) = (before.filter(|value| !value.is_null()), after.filter(|value| !value.is_null()));
        if before == after {
            return;
        }
        let known = known(path);
        match (known, before, after) {
            // The rule for an added or removed name covers everything below it.
            (Some(Depends(_)), Some(Value::Object(_)), Some(Value::Object(_))) if has_inner(path) => {}
            (Some(Harmless | Depends(_)), ..) => return,
            (Some(Listed), ..) => {
                let words = format!("setting `{}` changed", path.join("."));
                return self.found.lists(words, Some(self.file));
            }
            (Some(Approval(_)), ..) | (None, ..) => {}
        }
        match (before, after) {
            (Some(Value::Object(one)), Some(Value::Object(other))) => {
                let mut keys: Vec<&String> = one.keys().chain(other.keys()).collect();
                keys.sort();
                keys.dedup();
                for key in keys {
                    path.push(key.clone());
                    self.node(path, one.get(key), other.get(key));
                    path.pop();
                }
            }
            _ => {
                let words =
                    format!("{} {} -> {}", setting_name(path, known), display_value(before), display_value(after));
                self.found.needs(words, Some(self.file));
            }
        }
    }
}

/// Whether a setting of the table matches a path; a `*` is any name.
fn fits(setting: &SettingRule, path: &[String]) -> bool {
    let mut parts = setting.path.split('.');
    let all = path.iter().all(|name| parts.next().is_some_and(|part| part == "*" || part == name));
    all && parts.next().is_none()
}

fn known(path: &[String]) -> Option<Treatment> {
    SETTINGS.iter().find(|setting| fits(setting, path)).map(|setting| setting.treatment)
}

/// Whether the table has settings below a path, as for suites and agents.
fn has_inner(path: &[String]) -> bool {
    matches!(path.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), ["suites", _] | ["suites", _, "agents", _])
}

/// The name of a setting in the report.
fn setting_name(path: &[String], known: Option<Treatment>) -> String {
    let names = || match path {
        [_, suite, _, agent, ..] if path.get(2).is_some_and(|key| key == "agents") => format!("{suite}/{agent}"),
        [_, suite, ..] => suite.clone(),
        [one] => one.clone(),
        [] => String::new(),
    };
    match known {
        Some(Approval(phrase)) => phrase.replace("{}", &names()),
        _ => format!("setting `{}`", path.join(".")),
    }
}

fn display_value(value: Option<&Value>) -> String {
    match value {
        None => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}
