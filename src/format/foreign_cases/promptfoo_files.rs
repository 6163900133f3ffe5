//! What a promptfoo config keeps in other files: its tests, its first prompt, and what variables and assertions name. Code is not run, and a file
//! outside of the config's folder is not read; either is refused by name.

use serde_json::{Map, Value, json};

use super::promptfoo_rows::test_of_row;
use crate::diag::{Code, Diagnostic};
use crate::files::{Files, SourceText, files_below};
use crate::format::csv::csv_objects;
use crate::format::{json, yaml};
use crate::model::{PathGlob, RepoPath};

/// What is read for a config.
pub struct ConfigFiles<'a> {
    config: &'a SourceText,
    /// `None` if the config has no folder, as on standard input.
    files: Option<&'a dyn Files>,
}

const READABLE: &str = "keep it in YAML, JSON, JSONL, CSV or text below the folder of the config, or import the output of promptfoo eval -o out.json";

/// The ends of files with code.
const CODE: [&str; 14] = [
    ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb", ".go", ".sh", ".bash", ".ps1",
    ".exe", ".pl",
];

/// The ends of files with prompts.
const OF_PROMPTS: [&str; 8] = [
    ".txt", ".md", ".j2", ".json", ".jsonl", ".yaml", ".yml", ".csv",
];

impl<'a> ConfigFiles<'a> {
    pub fn of(config: &'a SourceText, files: Option<&'a dyn Files>) -> Self {
        Self { config, files }
    }

    /// A problem of the config.
    pub fn refused(&self, what: &str) -> Diagnostic {
        self.config.problem(0, Code::NO_RUN, what, READABLE)
    }

    fn folder(&self) -> RepoPath {
        self.config.file.parent()
    }

    /// The files that a text names: itself, or those that match a pattern. `key` is where the text is.
    fn named(
        &self,
        key: &str,
        text: &str,
        folder: &RepoPath,
    ) -> Result<Vec<SourceText>, Diagnostic> {
        let refuse = |why: &str| self.refused(&format!("{key}: {text:?} {why}"));
        let path = text.strip_prefix("file://").unwrap_or(text);
        if is_code(path) {
            return Err(refuse("is code, which is not run"));
        }
        if is_workbook(path) {
            return Err(refuse("is a workbook, which is not read: save it as CSV"));
        }
        if path.contains("://") {
            return Err(refuse("is not a file"));
        }
        let Some(files) = self.files else {
            return Err(refuse("is a file, but the config is not in one"));
        };
        let is_inside = |path: &RepoPath| path.is_within(&self.folder());
        let glob = PathGlob::new(folder, path).map_err(|why| refuse(&why))?;
        let found: Vec<RepoPath> = match glob.file() {
            Some(file) => vec![file],
            None if is_inside(glob.folder()) => files_below(files, glob.folder())?
                .into_values()
                .filter(|file| glob.matches(file))
                .collect(),
            None => vec![glob.folder().clone()],
        };
        if !found.iter().all(is_inside) {
            return Err(refuse("is not below the folder of the config"));
        }
        if found.is_empty() {
            return Err(refuse("matches no file"));
        }
        found.iter().map(|file| files.text(file)).collect()
    }

    /// The tests of a config.
    pub fn tests(&self, tests: &Value) -> Result<Vec<Value>, Diagnostic> {
        let mut all = Vec::new();
        let entries = match tests {
            Value::Array(list) => list.as_slice(),
            alone => std::slice::from_ref(alone),
        };
        for entry in entries {
            let path = entry.as_str().or_else(|| entry.get("path")?.as_str());
            match path {
                Some(path) => {
                    for file in self.named("tests", path, &self.folder())? {
                        all.extend(self.tests_in(&file, tests.is_array())?);
                    }
                }
                None => all.push(self.test(entry, &self.folder())?),
            }
        }
        Ok(all)
    }

    /// The tests in a file. Without a list around it, promptfoo names those that have no description by their rows.
    fn tests_in(&self, file: &SourceText, is_listed: bool) -> Result<Vec<Value>, Diagnostic> {
        let name = file.file.name();
        let is_table = name.ends_with(".csv");
        let tests: Vec<Value> = if is_table {
            csv_objects(file)?.into_iter().map(test_of_row).collect()
        } else {
            match value_in(file)? {
                Value::Array(list) => list,
                alone => vec![alone],
            }
        };
        let mut all = Vec::new();
        for (index, test) in tests.iter().enumerate() {
            if !test.is_object() {
                let what = format!("entry {} of {name} is not a test", index + 1);
                return Err(self.refused(&what));
            }
            let mut test = self.test(test, &file.file.parent())?;
            let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
            let is_named = test["description"]
                .as_str()
                .is_some_and(|text| !text.is_empty());
            if (is_table || !is_listed && !is_yaml) && !is_named {
                test["description"] = json!(format!("Row #{}", index + 1));
            }
            all.push(test);
        }
        Ok(all)
    }

    /// A test, or what all tests share, with what it keeps in files.
    pub fn test(&self, test: &Value, folder: &RepoPath) -> Result<Value, Diagnostic> {
        let mut test = match test.as_str() {
            Some(path) => self.only("defaultTest", path)?,
            None => test.clone(),
        };
        let Some(fields) = test.as_object_mut() else {
            return Err(self.refused("a test is not an object"));
        };
        if fields.contains_key("$ref") {
            return Err(self.refused("a test is a reference, which is not read"));
        }
        if let Some(vars) = fields.get_mut("vars") {
            *vars = Value::Object(self.vars(vars, folder)?);
        }
        if let Some(asserted) = fields.get_mut("assert") {
            *asserted = Value::Array(self.assertions(asserted)?);
        }
        Ok(test)
    }

    /// The variables of a test; in files of their own they are merged.
    fn vars(&self, vars: &Value, folder: &RepoPath) -> Result<Map<String, Value>, Diagnostic> {
        let paths = match vars {
            Value::Object(fields) => {
                let mut read = Map::new();
                for (name, value) in fields {
                    read.insert(name.clone(), self.variable(name, value)?);
                }
                return Ok(read);
            }
            Value::Array(paths) => paths.as_slice(),
            alone => std::slice::from_ref(alone),
        };
        let mut merged = Map::new();
        for path in paths.iter().filter_map(Value::as_str) {
            for file in self.named("vars", path, folder)? {
                match value_in(&file)? {
                    fields @ Value::Object(_) => merged.extend(self.vars(&fields, folder)?),
                    _ => return Err(self.refused(&format!("{}: it is not an object", file.file))),
                }
            }
        }
        Ok(merged)
    }

    /// A variable. Each file that it names is a value, as is each entry of a list.
    fn variable(&self, name: &str, value: &Value) -> Result<Value, Diagnostic> {
        let key = format!("vars.{name}");
        let text_of = |path: &str| -> Result<Vec<Value>, Diagnostic> {
            let files = self.named(&key, path, &self.folder())?;
            files.iter().map(text_in).collect()
        };
        match value {
            Value::String(path) if path.starts_with("file://") => {
                let mut texts = text_of(path)?;
                Ok(match texts.len() {
                    1 => texts.remove(0),
                    _ => Value::Array(texts),
                })
            }
            Value::Array(list) => {
                let mut values = Vec::new();
                for value in list {
                    match value.as_str().filter(|path| path.starts_with("file://")) {
                        Some(path) => values.extend(text_of(path)?),
                        None => values.push(value.clone()),
                    }
                }
                Ok(Value::Array(values))
            }
            other => Ok(other.clone()),
        }
    }

    /// The assertions of a test, without references and with what they compare with. A single one needs no list.
    fn assertions(&self, asserted: &Value) -> Result<Vec<Value>, Diagnostic> {
        let list = match asserted {
            Value::Null => return Ok(Vec::new()),
            Value::Array(list) => list.clone(),
            Value::String(path) => match self.only("assert", path)? {
                Value::Array(list) => list,
                alone => vec![alone],
            },
            alone => vec![alone.clone()],
        };
        let mut all = Vec::new();
        for assertion in list {
            let mut assertion = self.dereferenced(assertion)?;
            if let Some(inner) = assertion.get("assert").cloned() {
                assertion["assert"] = Value::Array(self.assertions(&inner)?);
            }
            let path = assertion.get("value").and_then(Value::as_str);
            let path = path.filter(|path| path.starts_with("file://") && !is_code(path));
            if let Some(path) = path {
                assertion["value"] = self.only("assert", path)?;
            }
            all.push(assertion);
        }
        Ok(all)
    }

    /// An assertion; if it refers to one of the config, that one.
    fn dereferenced(&self, assertion: Value) -> Result<Value, Diagnostic> {
        let Some(reference) = assertion.get("$ref").and_then(Value::as_str) else {
            return if assertion.is_object() {
                Ok(assertion)
            } else {
                Err(self.refused("an assertion is not an object"))
            };
        };
        let config: Value = json::whole(self.config)?;
        let target = reference
            .strip_prefix('#')
            .and_then(|path| config.pointer(path));
        let target = target.filter(|target| target.is_object() && target.get("$ref").is_none());
        target.cloned().ok_or_else(|| {
            self.refused(&format!(
                "the reference {reference:?} of an assertion is not to an object of the config"
            ))
        })
    }

    /// The value in the only file that a text names.
    fn only(&self, key: &str, path: &str) -> Result<Value, Diagnostic> {
        let files = self.named(key, path, &self.folder())?;
        match files.as_slice() {
            [file] => value_in(file),
            _ => Err(self.refused(&format!("{key}: {path:?} matches several files"))),
        }
    }

    /// The first prompt of a config; without one promptfoo takes the variable `prompt`.
    pub fn prompt(&self, prompts: Option<&Value>) -> Result<String, Diagnostic> {
        let first = match prompts {
            None | Some(Value::Null) => return Ok("{{prompt}}".to_owned()),
            Some(Value::Array(list)) => list.first().cloned().unwrap_or_default(),
            // Older configs have the prompts with their names.
            Some(Value::Object(named)) => named.keys().next().cloned().into(),
            Some(alone) => alone.clone(),
        };
        let text = first
            .as_str()
            .or_else(|| first.get("raw").or_else(|| first.get("id"))?.as_str());
        let text = text.unwrap_or_default();
        if text.starts_with("exec:") {
            return Err(self.refused(&format!("prompts: {text:?} is code, which is not run")));
        }
        let is_path = !text.contains(char::is_whitespace) && !text.contains('{');
        let is_of_prompts = || OF_PROMPTS.iter().any(|end| text.ends_with(end)) || is_code(text);
        let is_file = text.starts_with("file://") || (is_path && is_of_prompts());
        if !is_file {
            return Ok(text.to_owned());
        }
        let files = self.named("prompts", text, &self.folder())?;
        let prompt = files.first().map(prompt_in).transpose()?.flatten();
        prompt.ok_or_else(|| self.refused(&format!("prompts: {text:?} has no prompt")))
    }
}

/// Whether a path is one of code, with or without the name of a function.
fn is_code(path: &str) -> bool {
    let file = match path.rsplit_once(':') {
        Some((file, function)) if !function.starts_with("//") => file,
        _ => path,
    };
    CODE.iter().any(|end| file.ends_with(end))
}

/// Whether a path is one of a workbook, with or without the name of a sheet.
fn is_workbook(path: &str) -> bool {
    let file = path.split('#').next().unwrap_or_default();
    [".xlsx", ".xls"].iter().any(|end| file.ends_with(end))
}

/// The value in a file: of YAML, JSON, JSONL, or a text.
fn value_in(file: &SourceText) -> Result<Value, Diagnostic> {
    let name = file.file.name();
    if name.ends_with(".yaml") || name.ends_with(".yml") {
        return yaml::merged(file);
    }
    if name.ends_with(".json") {
        return json::whole(file);
    }
    if !name.ends_with(".jsonl") {
        return Ok(json!(file.text.trim()));
    }
    let mut lines = Vec::new();
    let mut at = 0;
    for line in file.text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            lines.push(json::read_json_part(file, at, line)?);
        }
        at += line.len();
    }
    Ok(Value::Array(lines))
}

/// The text of a variable in a file.
fn text_in(file: &SourceText) -> Result<Value, Diagnostic> {
    let name = file.file.name();
    if name.ends_with(".yaml") || name.ends_with(".yml") {
        return Ok(json!(yaml::merged(file)?.to_string()));
    }
    Ok(json!(file.text.trim()))
}

/// The first prompt in a file; a text has several between lines of `---`.
fn prompt_in(file: &SourceText) -> Result<Option<String>, Diagnostic> {
    let name = file.file.name();
    if name.ends_with(".csv") {
        let rows = csv_objects(file)?;
        let mut prompts = rows.iter().filter_map(|row| row.get("prompt")?.as_str());
        return Ok(prompts.next().map(str::to_owned));
    }
    if name.ends_with(".txt") {
        let lines: Vec<&str> = file.text.lines().collect();
        let mut prompts = lines
            .split(|line| line.trim() == "---")
            .map(|lines| lines.join("\n"));
        let first = prompts.find(|prompt| !prompt.trim().is_empty());
        return Ok(first.map(|prompt| prompt.trim().to_owned()));
    }
    Ok(Some(match value_in(file)? {
        Value::String(text) => text,
        Value::Array(lines) if name.ends_with(".jsonl") => {
            lines.first().map_or_else(String::new, Value::to_string)
        }
        value => value.to_string(),
    }))
}
