//! A kind of suite owns everything about itself: its folder, its line in the table, and its page.

use std::fs;

use goldgate::model::SettingRule;
use goldgate::suites::{KINDS, SuiteKind};
use libtest_mimic::Trial;
use serde_json::Value;

use crate::docs::change;
use crate::repository::root;
use crate::tidy::sources;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let pages = KINDS
        .iter()
        .filter(|kind| !kind.settings.keys.names().is_empty())
        .map(|kind| {
            trial(
                format!(
                    "the settings on the page of kind {} are the program's own",
                    kind.name
                ),
                || settings(kind),
            )
        });
    let mut trials = vec![trial("only its folder and two lines name a kind", names)];
    trials.extend(pages);
    trials
}

/// Names of kinds in other files: how many, and why.
const ELSEWHERE: &[(&str, &str, usize, &str)] = &[
    ("src/app/cli.rs", "interview", 1, "an example in the help"),
    (
        "src/workspace/case_queries.rs",
        "tool_use",
        4,
        "the kind of drafts from transcripts",
    ),
    (
        "src/workspace/proposed_case.rs",
        "tool_use",
        1,
        "the kind of the first suite",
    ),
    (
        "src/format/config/form.rs",
        "cross_agent",
        1,
        "descriptions of common keys",
    ),
    (
        "src/format/config/form.rs",
        "revision",
        3,
        "descriptions of common keys",
    ),
    ("src/format/run_v1.rs", "evidence", 1, "a key of recordings"),
    ("src/model/evidence.rs", "evidence", 1, "a key of reports"),
    (
        "src/suites/kinds/property/mod.rs",
        "reconciliation",
        1,
        "advice to use it first",
    ),
    (
        "src/suites/shared/atoms.rs",
        "evidence",
        1,
        "a key of outputs",
    ),
    (
        "src/suites/shared/deltas.rs",
        "evidence",
        1,
        "a key of outputs",
    ),
    (
        "src/suites/shared/labels.rs",
        "interview",
        1,
        "the description of a key",
    ),
    (
        "src/suites/shared/produced.rs",
        "findings",
        3,
        "a key of outputs",
    ),
];

/// Folders that read the formats of vendors, and names of kinds that are these vendors' words too.
const VENDORS: (&[&str], &[&str]) = (
    &["src/format/transcript/", "src/live/wire/"],
    &["custom", "tool_use"],
);

/// A name that is also an English word counts only in quotes, in a path, or after the word kind.
fn names() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let path = path.display().to_string();
        if path.ends_with("/tests.rs") || path.contains("/tests/") {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for name in KINDS.iter().map(|kind| kind.name) {
            let forms = [
                format!("\"{name}\""),
                format!("`{name}`"),
                format!("kind {name}"),
                format!("kinds::{name}"),
                format!("pub mod {name};"),
            ];
            let count: usize = forms
                .iter()
                .map(|form| code.matches(form.as_str()).count())
                .sum();
            let (folders, words) = VENDORS;
            let of_vendor =
                words.contains(&name) && folders.iter().any(|folder| path.starts_with(folder));
            if count > 0 && !of_vendor && !path.starts_with(&format!("src/suites/kinds/{name}/")) {
                found.push((path.clone(), name, count));
            }
        }
    }
    let two_lines = KINDS.iter().flat_map(|kind| {
        [
            ("src/suites/kinds/mod.rs", kind.name, 1),
            ("src/suites/mod.rs", kind.name, 1),
        ]
        .into_iter()
    });
    let elsewhere = ELSEWHERE
        .iter()
        .map(|(path, name, count, _)| (*path, *name, *count));
    let mut expected: Vec<(String, &str, usize)> = two_lines
        .chain(elsewhere)
        .map(|(path, name, count)| (path.to_owned(), name, count))
        .collect();
    expected.sort();
    found.sort();
    assert_eq!(
        found, expected,
        "a kind is named outside of its folder: let the kind state what the file needs to know"
    );
}

/// The table on the page of a kind, from the form of its keys, its defaults and its rules.
fn settings(kind: &SuiteKind) {
    let file = root().join("docs/kinds").join(format!("{}.md", kind.name));
    let page = fs::read_to_string(&file).unwrap();
    let schema = kind.settings.keys.schema();
    let defaults = serde_json::to_value((kind.settings.defaults)()).unwrap();
    let table = SettingTable {
        root: schema.as_value(),
        rules: kind.settings.rules,
    };
    let mut rows = String::new();
    table.add(schema.as_value(), ("", ""), Some(&defaults), &mut rows);
    let (before, rest) = page.split_once("<!-- settings: ").unwrap();
    let (note, rest) = rest.split_once("-->\n").unwrap();
    let (_, after) = rest.split_once("<!-- settings end -->").unwrap();
    let head = "| setting | what it is | default | a change |\n|---|---|---|---|\n";
    let text =
        format!("{before}<!-- settings: {note}-->\n\n{head}{rows}\n<!-- settings end -->{after}");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap() == text,
        "{} is not current; BLESS=1 rewrites it",
        file.display()
    );
}

/// Whether a key may be left out.
fn is_optional(property: &Value) -> bool {
    let null = Value::from("null");
    let is_null = |choice: &Value| choice["type"] == null;
    let types = property["type"].as_array().into_iter().flatten();
    let choices = property["anyOf"].as_array().into_iter().flatten();
    types.into_iter().any(|one| *one == null) || choices.into_iter().any(is_null)
}

struct SettingTable<'a> {
    root: &'a Value,
    rules: &'static [SettingRule],
}

impl SettingTable<'_> {
    /// Adds a row for each setting below a schema; what is above it has this path and description.
    fn add(
        &self,
        schema: &Value,
        (path, about): (&str, &str),
        defaults: Option<&Value>,
        rows: &mut String,
    ) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            let default = defaults.and_then(|defaults| defaults.get(key));
            // A key of a form that another kind reads: this one has no value for it.
            if defaults.is_some() && default.is_none() && is_optional(property) {
                continue;
            }
            let inner = self.resolved(property);
            let meaning = property["description"]
                .as_str()
                .or_else(|| inner["description"].as_str())
                .unwrap_or(about);
            if inner["properties"].is_object() {
                self.add(inner, (&path, meaning), default, rows);
                continue;
            }
            let shown = match default {
                Some(Value::Null) => "none".to_owned(),
                Some(Value::Object(fields)) if fields.is_empty() => "none".to_owned(),
                Some(Value::String(word)) => format!("`{word}`"),
                Some(value) => format!("`{value}`"),
                None => "required".to_owned(),
            };
            rows.push_str(&format!(
                "| `{path}` | {meaning} | {shown} | {} |\n",
                self.change(&path)
            ));
            if inner["additionalProperties"].is_object() {
                let names = format!("{path}.*");
                self.add(
                    self.resolved(&inner["additionalProperties"]),
                    (&names, meaning),
                    None,
                    rows,
                );
            }
        }
    }

    /// The schema of a value, without references and without the case of no value.
    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let inner = schema.get("anyOf").map_or(schema, |one_of| &one_of[0]);
        match inner["$ref"].as_str() {
            Some(path) => self.root.pointer(path.trim_start_matches('#')).unwrap(),
            None => inner,
        }
    }

    /// What a change needs: the rule of the setting itself, of its names, or of what it is a part of.
    fn change(&self, path: &str) -> String {
        let covers = |rule: &&SettingRule| {
            let rule = rule.path.trim_end_matches(".*");
            path == rule
                || path
                    .strip_prefix(rule)
                    .is_some_and(|rest| rest.starts_with('.'))
        };
        let rule = self
            .rules
            .iter()
            .filter(covers)
            .max_by_key(|rule| rule.path.len());
        rule.map_or("needs an approval".to_owned(), change)
    }
}
