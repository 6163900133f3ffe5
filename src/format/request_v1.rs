//! The request to an agent's own program: `goldgate.request/1`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::model::{CannedResult, CannedTool, PastTurn, SampleRequest, ToolSpec, Toolbox};

const SCHEMA: &str = "goldgate.request/1";

/// One sample of a run to be made; the answer is a run record (`goldgate.run/1`).
#[derive(Serialize, JsonSchema)]
#[schemars(title = "goldgate request, version 1")]
pub struct RequestFile<'a> {
    /// `goldgate.request/1`.
    schema: &'static str,
    /// Id of the request; with `protocol: jsonl` the answer repeats it as its `id`.
    id: String,
    /// The agent.
    agent: &'a str,
    /// The suite.
    suite: &'a str,
    /// The case.
    case: &'a str,
    /// The sample, from 0.
    sample: u32,
    /// `prompt`: the case in words; `system`: the agent's prompt package, if any; and the inputs of the kind of suite.
    inputs: Map<String, Value>,
    /// The place in a conversation, if the case is one: each user message is a request of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<ConversationFile<'a>>,
    /// The format of the answer's `outputs`, if the kind defines one.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<AnswerFile<'a>>,
    /// The tools that the run may use, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<ToolsFile<'a>>,
}

/// The place in a conversation.
#[derive(Serialize, JsonSchema)]
struct ConversationFile<'a> {
    /// Id of the conversation, the same in all its turns.
    id: String,
    /// Index of the turn, from 0.
    turn: usize,
    /// The turns before, in order.
    before: Vec<PastTurnFile<'a>>,
}

/// A turn that was answered.
#[derive(Serialize, JsonSchema)]
struct PastTurnFile<'a> {
    /// What the user said.
    user: &'a str,
    /// `outputs.text` of the program's answer.
    text: &'a str,
    /// `intermediate.tool_calls` of the program's answer.
    tool_calls: &'a [Value],
}

/// The format of an answer.
#[derive(Serialize, JsonSchema)]
struct AnswerFile<'a> {
    /// Its name.
    name: &'a str,
    /// A JSON Schema.
    schema: &'a Value,
}

/// The tools of a run: declared tools, or a folder.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum ToolsFile<'a> {
    /// Tools with canned results.
    Declared {
        /// The tools.
        declared: Vec<ToolFile<'a>>,
    },
    /// Read-only tools that can access one folder.
    Folder {
        /// The folder, from the repository's root, in which programs start.
        folder: Cow<'a, str>,
        /// The expected maximum of calls.
        max_calls: u32,
    },
}

/// A declared tool.
#[derive(Serialize, JsonSchema)]
struct ToolFile<'a> {
    /// Its name.
    name: &'a str,
    /// What it does.
    description: &'a str,
    /// The JSON Schema of its arguments.
    parameters: &'a Value,
    /// Its results; the first one whose `when` is contained in the arguments applies.
    results: Vec<ResultFile<'a>>,
}

/// A result of a declared tool.
#[derive(Serialize, JsonSchema)]
struct ResultFile<'a> {
    /// Arguments that must be present, nested objects by subset; an empty object always matches.
    when: &'a Value,
    /// The tool's answer.
    says: &'a Value,
}

/// The id of a request, unique in a run of goldgate: that of its sample, and in a conversation the index of its turn.
pub fn id(request: &SampleRequest) -> String {
    match &request.conversation {
        Some(conversation) => format!("{}/{}", sample_id(request), conversation.before.len()),
        None => sample_id(request),
    }
}

/// The id of a sample, the same for all turns of a conversation.
pub fn sample_id(request: &SampleRequest) -> String {
    let key = &request.key;
    format!(
        "{}/{}/{}/{}",
        key.suite, key.agent, key.case, request.sample
    )
}

/// A request as one line of JSON, without a line end.
pub fn written(request: &SampleRequest) -> String {
    let form = RequestFile {
        schema: SCHEMA,
        id: id(request),
        agent: request.key.agent.as_str(),
        suite: request.key.suite.as_str(),
        case: request.key.case.as_str(),
        sample: request.sample,
        inputs: inputs(request),
        conversation: request
            .conversation
            .as_ref()
            .map(|conversation| ConversationFile {
                id: sample_id(request),
                turn: conversation.before.len(),
                before: conversation.before.iter().map(past_turn).collect(),
            }),
        answer: request.ask.answer.as_ref().map(|form| AnswerFile {
            name: form.name,
            schema: &form.schema,
        }),
        tools: tools(&request.ask.tools),
    };
    serde_json::to_string(&form).expect("texts and numbers are JSON")
}

/// The inputs of the kind, overridden by those that every kind has.
fn inputs(request: &SampleRequest) -> Map<String, Value> {
    let mut inputs = match &request.ask.inputs {
        Value::Object(given) => given.clone(),
        _ => Map::new(),
    };
    inputs.insert("prompt".to_owned(), request.ask.prompt.as_str().into());
    if !request.system.is_empty() {
        inputs.insert("system".to_owned(), request.system.as_str().into());
    }
    inputs
}

fn past_turn(PastTurn { user, text, calls }: &PastTurn) -> PastTurnFile<'_> {
    PastTurnFile {
        user,
        text,
        tool_calls: calls,
    }
}

fn tools(toolbox: &Toolbox) -> Option<ToolsFile<'_>> {
    match toolbox {
        Toolbox::Empty => None,
        Toolbox::Canned(tools) => Some(ToolsFile::Declared {
            declared: tools.iter().map(tool).collect(),
        }),
        Toolbox::Folder { root, max_calls } => Some(ToolsFile::Folder {
            folder: root.to_string().into(),
            max_calls: *max_calls,
        }),
    }
}

fn tool(tool: &CannedTool) -> ToolFile<'_> {
    let CannedTool {
        spec:
            ToolSpec {
                name,
                description,
                parameters,
            },
        results,
    } = tool;
    let results = results
        .iter()
        .map(|CannedResult { when, says }| ResultFile { when, says });
    ToolFile {
        name,
        description,
        parameters,
        results: results.collect(),
    }
}
