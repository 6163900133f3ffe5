//! Random edits: of recordings, so that an agent is worse, and of everything that it is judged by.

use fastrand::Rng;
use serde_json::{Value, json};

use super::edits::Edit;
use crate::repository::Repository;

const CONFIG: &str = "goldgate.yaml";

/// Where recordings and prompts are; whatever else a repository has, it is judged by.
const OF_THE_AGENT: [&str; 2] = ["runs/", "prompts/"];

/// Draws edits.
pub struct Generator(Rng);

impl Generator {
    pub fn new(rng: Rng) -> Self {
        Self(rng)
    }

    /// Makes recordings worse, and sometimes the prompt, and gives what was done.
    pub fn regression(&mut self, repository: &Repository) -> Vec<String> {
        let files = files(repository);
        let of = |part: &str| -> Vec<String> {
            files
                .iter()
                .filter(|file| in_folder(file, part))
                .cloned()
                .collect()
        };
        let (runs, prompts) = (of("runs/"), of("prompts/"));
        if self.0.u8(..6) == 0 {
            // A worse prompt with the recordings of the old one.
            let prompt = self.one_of(&prompts);
            repository.write(
                &prompt,
                repository.read(&prompt) + "Report nothing at all.\n",
            );
            return vec![format!("{prompt} changed")];
        }
        let share = [1.0, 0.7, 0.4][self.0.usize(..3)];
        let how = self.0.u8(..6);
        let chosen: Vec<String> = runs.into_iter().filter(|_| self.0.f64() < share).collect();
        for file in &chosen {
            let mut run: Value = serde_json::from_str(&repository.read(file)).unwrap();
            match how {
                0 => (run["status"], run["error"]) = (json!("error"), json!("the agent broke off")),
                1 => run["outputs"] = json!({}),
                _ => (0..self.0.usize(2..12)).for_each(|_| self.spoil(&mut run["outputs"])),
            }
            repository.write(file, run.to_string());
        }
        if self.0.bool() {
            let prompt = self.one_of(&prompts);
            repository.write(&prompt, repository.read(&prompt) + "Be brief.\n");
        }
        vec![format!("way {how} in {chosen:?}")]
    }

    /// Edits config and golden files, and gives what was done.
    pub fn edits(&mut self, repository: &Repository) -> Vec<Edit> {
        (0..self.0.usize(1..=4))
            .flat_map(|_| self.step(repository))
            .collect()
    }

    fn step(&mut self, repository: &Repository) -> Vec<Edit> {
        let edits = if self.0.u8(..3) == 0 {
            vec![self.of_config(repository)]
        } else {
            self.of_golden(repository)
        };
        edits.iter().for_each(|edit| edit.apply(repository));
        edits
    }

    fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.0.usize(..list.len())].clone()
    }

    /// Changes one value somewhere inside.
    fn spoil(&mut self, value: &mut Value) {
        let pointers = pointers(value);
        let at = self.one_of(&pointers);
        let Some(found) = value.pointer_mut(&at) else {
            return;
        };
        *found = match &*found {
            Value::Array(items) if items.len() > 1 && self.0.bool() => {
                items[..items.len() / 2].to_vec().into()
            }
            Value::Array(_) => json!([]),
            Value::Object(_) => json!({}),
            Value::String(_) => json!("something else"),
            Value::Number(_) => json!(self.one_of(&[0, 1, 1_000_000])),
            Value::Bool(is) => json!(!is),
            Value::Null => json!("something"),
        };
    }

    fn of_config(&mut self, repository: &Repository) -> Edit {
        let text = repository.read(CONFIG);
        let Ok(mut config) = serde_yaml::from_str::<Value>(&text) else {
            return Edit::Write {
                file: CONFIG.to_owned(),
                text,
            };
        };
        let suites = config["suites"].as_array().map_or(0, Vec::len);
        let at = format!("/suites/{}", self.0.usize(..suites.max(1)));
        let agent = config
            .pointer(&format!("{at}/agents"))
            .and_then(Value::as_object);
        let agent = agent
            .and_then(|agents| agents.keys().next().cloned())
            .unwrap_or_default();
        let own = format!("{at}/agents/{agent}");
        let folder = self.folder(repository);
        let metric = self.one_of(&METRICS);
        let gate = self.one_of(&GATES);
        let gate: Value = serde_json::from_str(gate).unwrap();
        let (pointer, value) = match self.0.u8(..16) {
            0..=3 => (format!("{at}/gates/{metric}"), gate),
            4 => (format!("{at}/path"), json!(folder)),
            5 => (format!("{at}/id"), json!("renamed")),
            6 => (
                format!("{own}/fingerprint"),
                json!({ "none": "too many files" }),
            ),
            7 => (
                format!("{own}/fingerprint"),
                json!([format!("{folder}/**")]),
            ),
            8 => (format!("{own}/stale"), json!("warn")),
            9 => (format!("{own}/deterministic/replay"), json!(folder)),
            10 => (
                "/results".to_owned(),
                json!(self.one_of(&[".", "golden", &folder])),
            ),
            11 => (
                "/baseline".to_owned(),
                self.one_of(&[Value::Null, json!("baselines/other.json")]),
            ),
            12 => ("/samples".to_owned(), json!(self.0.u8(1..6))),
            13 => (
                format!("{at}/agents"),
                renamed(config.pointer(&format!("{at}/agents"))),
            ),
            14 => (format!("{own}/model"), json!({ "replay": folder })),
            _ => (
                format!(
                    "{at}/{}",
                    self.one_of(&["terms", "tools", "categories", "gates"])
                ),
                Value::Null,
            ),
        };
        set(&mut config, &pointer, value);
        Edit::Write {
            file: CONFIG.to_owned(),
            text: serde_yaml::to_string(&config).unwrap(),
        }
    }

    fn of_golden(&mut self, repository: &Repository) -> Vec<Edit> {
        let files: Vec<String> = golden(repository);
        let file = self.one_of(&files);
        let folder = file
            .rsplit_once('/')
            .map_or(String::new(), |(folder, _)| folder.to_owned());
        let ending = |name: &str| name.rsplit_once('.').map(|(_, ending)| ending.to_owned());
        let alike: Vec<String> = files
            .iter()
            .filter(|other| ending(other) == ending(&file))
            .cloned()
            .collect();
        let other = self.one_of(&alike);
        match self.0.u8(..24) {
            0 => vec![Edit::Remove { path: file }],
            1 if other != file => vec![Edit::Copy {
                from: other,
                to: file,
            }],
            2 => vec![Edit::Move {
                to: format!("{folder}/renamed-{}", file.rsplit('/').next().unwrap()),
                from: file,
            }],
            3 => vec![Edit::Copy {
                to: format!("{folder}/added-{}", file.rsplit('/').next().unwrap()),
                from: file,
            }],
            4 if !folder.is_empty() => {
                vec![Edit::Copy {
                    to: self.one_of(&["golden", "fixtures", "copied"]).to_owned(),
                    from: folder,
                }]
            }
            5 if !file.ends_with(".json") => {
                vec![Edit::Write {
                    text: repository.read(&file) + "something else\n",
                    file,
                }]
            }
            6 if alike.len() > 1 && other != file => {
                let up = "../".repeat(file.matches('/').count());
                vec![
                    Edit::Remove { path: file.clone() },
                    Edit::Link {
                        path: file,
                        to: format!("{up}{other}"),
                    },
                ]
            }
            _ if file.ends_with(".json") => self.of_json(repository, &file, &alike),
            _ => vec![Edit::Write {
                file,
                text: String::new(),
            }],
        }
    }

    /// The same change of one golden file, or of all files beside it.
    fn of_json(&mut self, repository: &Repository, file: &str, alike: &[String]) -> Vec<Edit> {
        let Ok(golden) = serde_json::from_str::<Value>(&repository.read(file)) else {
            return Vec::new();
        };
        if file.starts_with("baselines/") {
            let text = repository
                .read(file)
                .replace(": 1.0", ": 0.0")
                .replace(": 1,", ": 0,");
            return vec![Edit::Write {
                file: file.to_owned(),
                text,
            }];
        }
        let quarantine =
            json!({ "owner": "Subject A", "reason": "flaky", "expires": "2026-11-25" });
        if self.0.u8(..3) == 0 {
            let folder = |file: &str| file.rsplit_once('/').map(|it| it.0.to_owned());
            let beside = alike.iter().filter(|other| folder(other) == folder(file));
            return beside
                .filter_map(|file| asks_for_nothing(repository, file))
                .collect();
        }
        // Whole objects are rarely optional; their parts are.
        let parts: Vec<String> = pointers(&golden)
            .into_iter()
            .filter(|at| !at.is_empty() && !golden.pointer(at).is_some_and(Value::is_object))
            .collect();
        if parts.is_empty() {
            return Vec::new();
        }
        let at = self.one_of(&parts);
        let (at, value) = match self.0.u8(..10) {
            0 => ("/quarantine".to_owned(), quarantine),
            1 => (
                "/lifecycle".to_owned(),
                json!({ "retired": { "date": "2026-11-20", "reason": "gone" } }),
            ),
            2..=4 => (at, Value::Null),
            _ => {
                let mut value = golden.pointer(&at).cloned().unwrap_or_default();
                self.spoil(&mut value);
                (at, value)
            }
        };
        let is_beside = |other: &&String| {
            other.rsplit_once('/').map(|it| it.0) == file.rsplit_once('/').map(|it| it.0)
        };
        let all = self.0.bool();
        let chosen = alike
            .iter()
            .filter(|other| other.as_str() == file || (all && is_beside(other)));
        let edit = |file: &String| {
            let mut golden: Value = serde_json::from_str(&repository.read(file)).ok()?;
            set(&mut golden, &at, value.clone());
            Some(Edit::Write {
                file: file.clone(),
                text: golden.to_string(),
            })
        };
        chosen.filter_map(edit).collect()
    }

    /// A folder of the repository.
    fn folder(&mut self, repository: &Repository) -> String {
        let folders: Vec<String> = files(repository)
            .iter()
            .filter_map(|file| Some(file.rsplit_once('/')?.0.to_owned()))
            .collect();
        self.one_of(&folders)
    }
}

const METRICS: [&str; 13] = [
    "finding_recall",
    "finding_precision",
    "f1_score",
    "case_pass_rate",
    "coverage",
    "gap_recall",
    "scenario_pass_rate",
    "tool_accuracy",
    "safety_passed",
    "atom_recall",
    "satisfied",
    "identical_runs",
    "success_rate",
];

const GATES: [&str; 6] = [
    r#"{ "min": 0.01 }"#,
    r#"{ "off": true, "reason": "noisy" }"#,
    r#"{ "max_drop": 0.99 }"#,
    r#"{ "zone": 0.9, "hard": false }"#,
    r#"{ "min": "baseline", "zone": 0.9 }"#,
    r#"{ "hard": false }"#,
];

/// A golden file that every answer fits: no lists of what is expected, and room for everything.
fn asks_for_nothing(repository: &Repository, file: &str) -> Option<Edit> {
    let mut golden: Value = serde_json::from_str(&repository.read(file)).ok()?;
    for (key, value) in golden.as_object_mut()? {
        match value {
            Value::Array(items) => items.clear(),
            Value::Number(_) if key.starts_with("max") => *value = json!(99),
            Value::Number(_) if key.starts_with("min") => *value = json!(0),
            _ => {}
        }
    }
    Some(Edit::Write {
        file: file.to_owned(),
        text: golden.to_string(),
    })
}

/// The agents, each under another name.
fn renamed(agents: Option<&Value>) -> Value {
    let agents = agents.and_then(Value::as_object).into_iter().flatten();
    Value::Object(
        agents
            .map(|(name, agent)| (format!("{name}-2"), agent.clone()))
            .collect(),
    )
}

/// Sets what is at the pointer, where its parent is there; `null` removes it. Gates may be new.
fn set(whole: &mut Value, at: &str, value: Value) {
    let Some((parent, key)) = at.rsplit_once('/') else {
        return;
    };
    if parent.ends_with("/gates") && whole.pointer(parent).is_none() {
        set(whole, parent, json!({}));
    }
    match whole.pointer_mut(parent) {
        Some(Value::Object(fields)) if value.is_null() => drop(fields.remove(key)),
        Some(Value::Object(fields)) => drop(fields.insert(key.to_owned(), value)),
        Some(Value::Array(items)) => {
            let Some(index) = key
                .parse::<usize>()
                .ok()
                .filter(|index| *index < items.len())
            else {
                return;
            };
            if value.is_null() {
                drop(items.remove(index))
            } else {
                items[index] = value
            }
        }
        _ => {}
    }
}

/// Everything inside a value, by its pointer, the value itself first.
fn pointers(value: &Value) -> Vec<String> {
    fn walk(value: &Value, at: &str, found: &mut Vec<String>) {
        found.push(at.to_owned());
        match value {
            Value::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, item)| walk(item, &format!("{at}/{index}"), found));
            }
            Value::Object(fields) => {
                let name = |key: &str| key.replace('~', "~0").replace('/', "~1");
                fields
                    .iter()
                    .for_each(|(key, item)| walk(item, &format!("{at}/{}", name(key)), found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(value, "", &mut found);
    found
}

fn in_folder(file: &str, folder: &str) -> bool {
    file.starts_with(folder) || file.contains(&format!("/{folder}"))
}

/// What the agent is judged by, without the config.
fn golden(repository: &Repository) -> Vec<String> {
    let is_golden =
        |file: &String| !OF_THE_AGENT.iter().any(|part| in_folder(file, part)) && file != CONFIG;
    files(repository).into_iter().filter(is_golden).collect()
}

/// Every file of the repository that is text.
fn files(repository: &Repository) -> Vec<String> {
    fn walk(repository: &Repository, folder: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(repository.path(folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = if folder.is_empty() {
                name.clone()
            } else {
                format!("{folder}/{name}")
            };
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && !matches!(name.as_str(), ".git" | ".goldgate") {
                walk(repository, &path, found);
            } else if kind.is_file() && std::fs::read_to_string(entry.path()).is_ok() {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(repository, "", &mut found);
    found.sort();
    found
}
