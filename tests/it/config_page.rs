//! The reference of the config and of the action's inputs, made from the schema and from action.yml.

use std::collections::BTreeMap;
use std::fs;

use libtest_mimic::Trial;
use serde_json::{Map, Value};

use crate::repository::{Repository, root};
use crate::trial;

const FILE: &str = "docs/config.md";

const HEAD: &str = "# Config and inputs

All keys of `goldgate.yaml`, then all inputs of the action. Both tables are the program's own: the schema is
[config.json](schemas/config.json), and an editor that knows it completes and checks the keys while you type. A key that goldgate does not know is
an error. `NAME` stands for a name of yours. [How it decides](decides.md) explains `regression`, `policy`, `never` and `floor`.

The file is read as [cases in YAML](kinds/cases.md) are, with the same errors, but may use anchors and aliases. Put quotes around a text that looks
like a number.
";

pub fn trials() -> Vec<Trial> {
    vec![trial(
        "the reference of the config and of the action is the program's own",
        reference,
    )]
}

fn reference() {
    let printed = Repository::empty().goldgate(&["schema", "config"]).stdout;
    let schema: Value = serde_json::from_str(&printed).unwrap();
    let page = Page::of(&schema);
    let text = format!(
        "{HEAD}{}\n## Inputs of the action\n\n{}",
        page.sections(),
        inputs()
    );
    if std::env::var_os("BLESS").is_some() {
        fs::write(root().join(FILE), &text).unwrap();
    }
    assert!(
        fs::read_to_string(root().join(FILE)).unwrap_or_default() == text,
        "BLESS=1 rewrites {FILE}"
    );
}

/// The objects of the schema in the order in which they are reached, each with its path in the config.
struct Page<'a> {
    objects: Vec<(String, &'a Value)>,
    paths: BTreeMap<&'a str, String>,
    schema: &'a Value,
}

impl<'a> Page<'a> {
    fn of(schema: &'a Value) -> Self {
        let mut page = Self {
            objects: vec![("goldgate.yaml".to_owned(), schema)],
            paths: BTreeMap::new(),
            schema,
        };
        let mut next = 0;
        while let Some((path, object)) = page.objects.get(next).cloned() {
            let start = if next == 0 {
                String::new()
            } else {
                format!("{path}.")
            };
            for (key, value) in object["properties"].as_object().into_iter().flatten() {
                page.reach(&format!("{start}{key}"), value);
            }
            next += 1;
        }
        page
    }

    /// Notes the objects that a value refers to.
    fn reach(&mut self, path: &str, value: &'a Value) {
        if let Some(name) = value["$ref"]
            .as_str()
            .and_then(|name| name.rsplit('/').next())
        {
            let object = &self.schema["$defs"][name];
            if object["properties"].is_object() {
                if !self.paths.contains_key(name) {
                    self.paths.insert(name, path.to_owned());
                    self.objects.push((path.to_owned(), object));
                }
            } else {
                self.reach(path, object);
            }
        }
        for one in choices(value) {
            self.reach(path, one);
        }
        if value["items"].is_object() {
            self.reach(&format!("{path}[]"), &value["items"]);
        }
        if value["additionalProperties"].is_object() {
            self.reach(&format!("{path}.NAME"), &value["additionalProperties"]);
        }
    }

    fn sections(&self) -> String {
        self.objects
            .iter()
            .map(|(path, object)| self.section(path, object))
            .collect()
    }

    fn section(&self, path: &str, object: &Value) -> String {
        let mut out = format!(
            "\n## `{path}`\n\n{}\n\n| key | value | meaning |\n|---|---|---|\n",
            text_of(object)
        );
        let needed: Vec<&str> = object["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for (key, value) in object["properties"].as_object().into_iter().flatten() {
            let need = if needed.contains(&key.as_str()) {
                ", needed"
            } else {
                ""
            };
            let default = match &value["default"] {
                Value::Null => String::new(),
                Value::Array(all) if all.is_empty() => String::new(),
                Value::Object(all) if all.is_empty() => String::new(),
                other => format!(", default `{other}`"),
            };
            out.push_str(&format!(
                "| `{key}` | {}{need}{default} | {} |\n",
                self.kind(value),
                text_of(value)
            ));
        }
        out
    }

    /// What a value may be, in words.
    fn kind(&self, value: &Value) -> String {
        if let Some(name) = value["$ref"]
            .as_str()
            .and_then(|name| name.rsplit('/').next())
        {
            return match self.paths.get(name) {
                Some(path) => format!("[`{path}`](#{})", anchor(path)),
                None => self.kind(&self.schema["$defs"][name]),
            };
        }
        if let Some(words) = value["enum"].as_array() {
            return or(words
                .iter()
                .filter(|word| !word.is_null())
                .map(|word| format!("`{}`", plain(word))));
        }
        if !value["const"].is_null() {
            return format!("`{}`", plain(&value["const"]));
        }
        let several: Vec<&Value> = choices(value).filter(|one| one["type"] != "null").collect();
        if !several.is_empty() {
            return or(several.into_iter().map(|one| self.kind(one)));
        }
        let types = match &value["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect::<Vec<_>>(),
        };
        or(types
            .into_iter()
            .filter(|one| *one != "null")
            .map(|one| match one {
                "array" if value["items"].is_object() => {
                    format!("list of {}", self.kind(&value["items"]))
                }
                "array" => "list".to_owned(),
                "object" if value["additionalProperties"].is_object() => {
                    format!("by name: {}", self.kind(&value["additionalProperties"]))
                }
                "object" => "object".to_owned(),
                "boolean" => "`true` or `false`".to_owned(),
                "integer" => "whole number".to_owned(),
                other => other.to_owned(),
            }))
    }
}

fn choices(value: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"]
        .into_iter()
        .flat_map(move |key| value[key].as_array().into_iter().flatten())
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn or(all: impl Iterator<Item = String>) -> String {
    let mut found: Vec<String> = Vec::new();
    all.filter(|one| !one.is_empty()).for_each(|one| {
        if !found.contains(&one) {
            found.push(one);
        }
    });
    found.join(" or ")
}

/// The description, on one line of a table.
fn text_of(value: &Value) -> String {
    let text = value["description"].as_str().unwrap_or_default();
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(path: &str) -> String {
    let kept = path.to_lowercase();
    kept.chars()
        .filter(|char| char.is_alphanumeric() || matches!(char, '_' | '-'))
        .collect()
}

/// The inputs of action.yml: names, descriptions and defaults, one key a line.
fn inputs() -> String {
    let text = fs::read_to_string(root().join("action.yml")).unwrap();
    let part = text.split("\ninputs:\n").nth(1).unwrap();
    let part = part
        .split("\noutputs:")
        .next()
        .unwrap()
        .split("\nruns:")
        .next()
        .unwrap();
    let mut all: Vec<(String, Map<String, Value>)> = Vec::new();
    let mut last = String::new();
    for line in part
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    {
        let indent = line.len() - line.trim_start().len();
        match (indent, line.trim().split_once(':')) {
            (2, Some((name, _))) => all.push((name.to_owned(), Map::new())),
            (4, Some((key, value))) => {
                last = key.to_owned();
                let value = value.trim().trim_start_matches(">-").trim_matches('\'');
                all.last_mut()
                    .unwrap()
                    .1
                    .insert(last.clone(), Value::from(value));
            }
            _ => {
                let fields = &mut all.last_mut().unwrap().1;
                let before = fields[&last].as_str().unwrap().to_owned();
                fields.insert(
                    last.clone(),
                    Value::from(format!("{before} {}", line.trim()).trim()),
                );
            }
        }
    }
    let rows = all.iter().map(|(name, fields)| {
        let field = |key: &str| {
            fields
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .replace('|', "\\|")
        };
        let default = match field("default").as_str() {
            "" => String::new(),
            text => format!("`{text}`"),
        };
        format!("| `{name}` | {default} | {} |\n", field("description"))
    });
    format!(
        "| input | default | meaning |\n|---|---|---|\n{}",
        rows.collect::<String>()
    )
}
