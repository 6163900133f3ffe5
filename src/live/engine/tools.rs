//! The tools of a bare model: canned results, or a folder to read. Both are read-only.

use serde_json::{Map, Value, json};

use crate::files::{EntryKind, Files};
use crate::model::{AskedCall, CannedTool, RepoPath, ToolSpec, Toolbox, words};

/// Maximum size of the text that one `read_file` returns, in bytes.
const MOST_TEXT: usize = 64 * 1024;
/// Maximum number of lines that a listing or a search returns.
const MOST_LINES: usize = 400;
/// Maximum number of files that a listing or a search visits.
const MOST_FILES: usize = 20_000;

/// The tools of one run, and a log of their use.
pub struct Tools<'a> {
    toolbox: &'a Toolbox,
    /// The folder that may be read. Its own `Files`, so that not even a link leads out of it.
    folder: &'a dyn Files,
    calls: u32,
    /// Paths of the files read, in the order of their first reading.
    pub read: Vec<String>,
    /// Events for the record's `events`.
    pub events: Vec<Value>,
    /// Number of calls that violate the policy.
    pub violations: u32,
}

words! {
    /// How a call violates the policy.
    enum Violation {
        UnknownTool = "unknown_tool",
        BadArguments = "bad_arguments",
        PathOutside = "path_outside",
        TooManyCalls = "too_many_calls",
    }
}

/// Why a call has no result.
enum ToolCallError {
    /// The call violates the policy.
    Policy(Violation, String),
    /// The call is allowed, but there is no such file, folder or result.
    Nothing(String),
}

impl<'a> Tools<'a> {
    /// The tools of a run before its first call.
    pub fn new(toolbox: &'a Toolbox, folder: &'a dyn Files) -> Self {
        let mut tools = Self {
            toolbox,
            folder,
            calls: 0,
            read: Vec::new(),
            events: Vec::new(),
            violations: 0,
        };
        if matches!(toolbox, Toolbox::Folder { .. }) {
            tools.event("task_started");
        }
        tools
    }

    pub fn specs(&self) -> Vec<ToolSpec> {
        match self.toolbox {
            Toolbox::Empty => Vec::new(),
            Toolbox::Canned(tools) => tools.iter().map(|tool| tool.spec.clone()).collect(),
            Toolbox::Folder { .. } => reading_tools(),
        }
    }

    /// Runs a call; returns its result, or the error message for the model.
    pub fn answer(&mut self, call: &AskedCall) -> Result<Value, String> {
        self.calls += 1;
        let toolbox = self.toolbox;
        let answer = match toolbox {
            Toolbox::Empty => Err(unknown(call, &[])),
            Toolbox::Canned(tools) => canned(tools, call),
            Toolbox::Folder { max_calls, .. } if self.calls > *max_calls => {
                let message = format!(
                    "no more than {max_calls} calls are allowed; answer with what you have"
                );
                Err(ToolCallError::Policy(Violation::TooManyCalls, message))
            }
            Toolbox::Folder { .. } => self.look(call),
        };
        match answer {
            Ok(result) => Ok(result),
            Err(ToolCallError::Nothing(message)) => Err(message),
            Err(ToolCallError::Policy(violation, message)) => {
                self.violations += 1;
                self.events
                    .push(json!({ "name": "policy_violation", "category": violation.as_str(), "tool": call.name }));
                Err(message)
            }
        }
    }

    pub fn event(&mut self, name: &str) {
        self.events.push(json!({ "name": name }));
    }

    fn look(&mut self, call: &AskedCall) -> Result<Value, ToolCallError> {
        let arguments = call
            .arguments
            .as_object()
            .ok_or_else(|| bad("the arguments have to be an object"))?;
        match call.name.as_str() {
            "list_files" => {
                let files = self.files(arguments)?;
                self.event("files_listed");
                let names: Vec<&str> = files
                    .iter()
                    .take(MOST_LINES)
                    .map(RepoPath::as_str)
                    .collect();
                Ok(json!({ "files": names }))
            }
            "read_file" => self.read_file(arguments),
            "search" => self.search(arguments),
            _ => Err(unknown(call, &["list_files", "read_file", "search"])),
        }
    }

    fn read_file(&mut self, arguments: &Map<String, Value>) -> Result<Value, ToolCallError> {
        let asked = text(arguments, "path")?;
        let path = confined(asked)?;
        let inside = path.as_str().to_owned();
        let bytes = self
            .folder
            .bytes(&path)
            .map_err(|_| ToolCallError::Nothing(format!("there is no file {inside:?}")))?;
        let mut content = String::from_utf8_lossy(&bytes).into_owned();
        let whole = content.len();
        if whole > MOST_TEXT {
            content.truncate(content.floor_char_boundary(MOST_TEXT));
        }
        if !self.read.contains(&inside) {
            self.read.push(inside.clone());
        }
        self.event("evidence_read");
        if whole > MOST_TEXT {
            Ok(json!({ "path": inside, "content": content, "cut": true }))
        } else {
            Ok(json!({ "path": inside, "content": content }))
        }
    }

    fn search(&mut self, arguments: &Map<String, Value>) -> Result<Value, ToolCallError> {
        let query = text(arguments, "query")?.to_lowercase();
        let mut matches = Vec::new();
        for file in self.files(arguments)? {
            // A binary file cannot be searched.
            let Ok(source) = self.folder.text(&file) else {
                continue;
            };
            let file = file.as_str();
            let lines = (1_u32..)
                .zip(source.text.lines())
                .filter(|(_, line)| line.to_lowercase().contains(&query));
            matches.extend(lines.map(|(number, line)| {
                json!({ "path": file, "line": number, "text": line.trim().chars().take(300).collect::<String>() })
            }));
            if matches.len() >= MOST_LINES {
                matches.truncate(MOST_LINES);
                break;
            }
        }
        self.event("searched");
        Ok(json!({ "matches": matches }))
    }

    /// The files below the folder in the arguments, sorted by path.
    fn files(&self, arguments: &Map<String, Value>) -> Result<Vec<RepoPath>, ToolCallError> {
        let asked = match arguments.get("path") {
            None | Some(Value::Null) => "",
            Some(Value::String(path)) => path.as_str(),
            Some(_) => return Err(bad("\"path\" has to be a text")),
        };
        let mut files = Vec::new();
        let mut open = vec![confined(asked)?];
        while let Some(folder) = open.pop() {
            let entries = self.folder.list(&folder).map_err(|_| {
                ToolCallError::Nothing(format!("there is no folder {:?}", folder.as_str()))
            })?;
            for entry in entries {
                let path = folder.child(&entry.name);
                if self.folder.is_ignored(&path) {
                    continue;
                }
                match entry.kind {
                    EntryKind::File | EntryKind::Link(_) => files.push(path),
                    EntryKind::Folder => open.push(path),
                }
            }
            if files.len() + open.len() > MOST_FILES {
                break;
            }
        }
        files.sort();
        Ok(files)
    }
}

/// A path relative to the folder, which it must not leave.
fn confined(asked: &str) -> Result<RepoPath, ToolCallError> {
    RepoPath::root().join(asked).map_err(|_| {
        ToolCallError::Policy(
            Violation::PathOutside,
            format!("{asked:?} is outside of what may be looked at"),
        )
    })
}

fn text<'a>(arguments: &'a Map<String, Value>, key: &str) -> Result<&'a str, ToolCallError> {
    let argument = arguments
        .get(key)
        .and_then(Value::as_str)
        .filter(|text| !text.trim().is_empty());
    argument.ok_or_else(|| bad(&format!("\"{key}\" has to be a text")))
}

fn bad(message: &str) -> ToolCallError {
    ToolCallError::Policy(Violation::BadArguments, message.to_owned())
}

fn unknown(call: &AskedCall, known: &[&str]) -> ToolCallError {
    let message = match known {
        [] => "there are no tools".to_owned(),
        known => format!(
            "there is no tool {:?}; there are {}",
            call.name,
            known.join(", ")
        ),
    };
    ToolCallError::Policy(Violation::UnknownTool, message)
}

fn canned(tools: &[CannedTool], call: &AskedCall) -> Result<Value, ToolCallError> {
    let Some(tool) = tools.iter().find(|tool| tool.spec.name == call.name) else {
        let known: Vec<&str> = tools.iter().map(|tool| tool.spec.name.as_str()).collect();
        return Err(unknown(call, &known));
    };
    if !call.arguments.is_object() {
        return Err(bad("the arguments have to be an object"));
    }
    let fitting = tool
        .results
        .iter()
        .find(|result| is_part_of(&result.when, &call.arguments));
    fitting
        .map(|result| result.says.clone())
        .ok_or_else(|| ToolCallError::Nothing("nothing is known of that".to_owned()))
}

/// Whether a value is contained in another: objects key by key, everything else by equality.
fn is_part_of(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part.iter().all(|(key, value)| {
            whole
                .get(key)
                .is_some_and(|counterpart| is_part_of(value, counterpart))
        }),
        (Value::String(part), Value::String(whole)) => {
            part.trim().to_lowercase() == whole.trim().to_lowercase()
        }
        (part, whole) => part == whole,
    }
}

fn reading_tools() -> Vec<ToolSpec> {
    vec![
        tool_spec(
            "list_files",
            "The files of the repository, or of one of its folders.",
            object_schema(
                json!({ "path": text_schema("A folder; the whole repository where it is left out.") }),
                &[],
            ),
        ),
        tool_spec(
            "read_file",
            "The content of one file.",
            object_schema(
                json!({ "path": text_schema("The file, as list_files names it.") }),
                &["path"],
            ),
        ),
        tool_spec(
            "search",
            "The lines that contain a text, in any case, with their files and numbers.",
            object_schema(
                json!({ "query": text_schema("The text."), "path": text_schema("A folder; the whole repository where it is left out.") }),
                &["query"],
            ),
        ),
    ]
}

fn tool_spec(name: &str, description: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
    }
}

fn object_schema(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn text_schema(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}
