//! Users that a model plays: their messages answer the agent's, are recorded, and are not asked for again in a replay.

use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::endpoint::{Answer, Endpoint};
use super::{metrics, model, report};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a model plays the user of a model, and the recording replays to the same numbers",
            model_and_model,
        ),
        trial("a model plays the user of a program", program),
        trial(
            "what the agent says to the user that a model plays is data in one message",
            fenced,
        ),
        trial(
            "a user that is played by no target, or by a program, is refused at its case",
            no_model,
        ),
        trial(
            "without the key of the model that plays the user, nothing runs",
            no_key,
        ),
        trial(
            "the deterministic tier calls no model that plays a user",
            deterministic,
        ),
        trial(
            "samples of a simulated user differ after the first message, and are imported for their case",
            imported,
        ),
        trial(
            "a recording with another first message, or for another goal, is stale",
            stale,
        ),
        trial("--asked shows the goal of a simulated user", asked),
    ]
}

const CASES: &str = r#"[{ "id": "cancel", "category": "multi_step", "query": "Hello, it is about my order.",
  "user": { "model": "customer", "goal": "Cancel order 17.", "max_turns": 3 },
  "expected_output_contains": ["too late"] }]"#;

/// A repository with one case, an agent with this target, and this model as the user.
fn talk(target: &str, customer: &str) -> Repository {
    let repository = Repository::empty();
    repository.write("cases.json", CASES);
    repository.write("prompt.md", "Be brief.");
    repository.write(
        "goldgate.yaml",
        format!(
            "version: 1\nsuites:\n  - id: talks\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    tier: [deterministic, model]\n    agents:\n      \
             helper:\n        deterministic: {{ replay: runs, prompt: prompt.md }}\n        model: {{ target: live, prompt: prompt.md }}\n\
             targets:\n  live: {target}\n  customer: {customer}\n"
        ),
    );
    repository
}

fn openai(endpoint: &Endpoint, name: &str, key: &str) -> String {
    let address = endpoint.address();
    format!("{{ provider: openai, model: {name}, base_url: \"{address}/v1\", api_key_env: {key} }}")
}

/// Answers as the user, whose prompt shows the conversation, and as the agent.
fn both_sides() -> Endpoint {
    Endpoint::new(Duration::ZERO, |_, prompt| {
        let is_user = prompt.starts_with("The conversation so far:");
        let text = match (is_user, prompt.contains("It is too late.")) {
            (true, false) => "Cancel order 17, please.",
            (true, true) => "[DONE]",
            (false, _) if prompt.contains("again") => "Again?",
            (false, _) => "It is too late.",
        };
        Answer::Says(text.to_owned())
    })
}

fn turns(repository: &Repository) -> Value {
    let record: Value = serde_json::from_str(&repository.read("runs/helper/cancel.json")).unwrap();
    record["outputs"].clone()
}

/// The model tier passes, and its recording has the same numbers without a call.
fn recorded(repository: &Repository, endpoint: &Endpoint) -> Value {
    let ran = model(repository, &["--format", "json", "--record", "runs"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let lived = report(&ran);
    assert_eq!(lived["verdict"], "pass", "{}", ran.stdout);
    let requests = endpoint.requests();
    let ran = repository.goldgate(&["run", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(
        (metrics(&report(&ran)), endpoint.requests()),
        (metrics(&lived), requests)
    );
    turns(repository)
}

fn model_and_model() {
    let endpoint = Endpoint::new(Duration::ZERO, |number, _| {
        Answer::Says(
            [
                "Which order?",
                "Order 17. Cancel it.",
                "It is too late.",
                "A pity. [DONE]",
            ][number]
                .to_owned(),
        )
    });
    let repository = talk(
        &openai(&endpoint, "agent-1", "LIVE_KEY"),
        &openai(&endpoint, "user-1", "LIVE_KEY"),
    );
    let outputs = recorded(&repository, &endpoint);
    assert_eq!(
        outputs,
        json!({
            "text": "It is too late.",
            "turns": [
                { "user": "Hello, it is about my order.", "text": "Which order?" },
                { "user": "Order 17. Cancel it.", "text": "It is too late." },
            ],
            "user": { "model": "user-1", "done": true },
        })
    );
    let models: Vec<Value> = endpoint
        .bodies()
        .iter()
        .map(|body| body["model"].clone())
        .collect();
    assert_eq!(models, ["agent-1", "user-1", "agent-1", "user-1"]);
    let agents: Vec<Value> = endpoint
        .bodies()
        .into_iter()
        .filter(|body| body["model"] == "agent-1")
        .collect();
    assert!(
        !agents
            .iter()
            .any(|body| body.to_string().contains("You play")),
        "the agent does not see the goal"
    );
    let record: Value = serde_json::from_str(&repository.read("runs/helper/cancel.json")).unwrap();
    assert_eq!(
        record["metrics"]["input_tokens"], 200,
        "the user's tokens are not the agent's"
    );
    assert_eq!(record["provenance"]["model"], "agent-1");
}

/// An agent that must not learn what the user wants before the user says it.
const PROGRAM: &str = r#"
import json, sys
request = json.loads(sys.stdin.readline())
inputs, conversation = request["inputs"], request["conversation"]
assert set(inputs) == {"prompt", "query", "system"}, inputs
assert (conversation["turn"] == 0) == (inputs["query"] == "Hello, it is about my order."), request
texts = ["Which order?", "It is too late."]
print(json.dumps({"status": "completed", "outputs": {"text": texts[conversation["turn"]]}}))
"#;

fn program() {
    let endpoint = both_sides();
    let repository = talk(
        "{ command: [python3, agent.py] }",
        &openai(&endpoint, "user-1", "LIVE_KEY"),
    );
    repository.write("agent.py", PROGRAM);
    let outputs = recorded(&repository, &endpoint);
    assert_eq!(
        (
            outputs["turns"].as_array().unwrap().len(),
            &outputs["user"]["done"]
        ),
        (2, &json!(true))
    );
    assert_eq!(endpoint.requests(), 2);
}

fn fenced() {
    let endpoint = both_sides();
    let repository = talk(
        &openai(&endpoint, "agent-1", "LIVE_KEY"),
        &openai(&endpoint, "user-1", "LIVE_KEY"),
    );
    model(&repository, &["--record", "runs"]);
    let of_user = endpoint
        .bodies()
        .into_iter()
        .find(|body| body["model"] == "user-1")
        .unwrap();
    let messages = of_user["messages"].as_array().unwrap();
    assert_eq!(
        (messages.len(), &messages[0]["role"], &messages[1]["role"]),
        (2, &json!("system"), &json!("user"))
    );
    let (goal, said) = (
        messages[0]["content"].as_str().unwrap(),
        messages[1]["content"].as_str().unwrap(),
    );
    assert!(
        goal.contains("Cancel order 17.") && !said.contains("Cancel order 17."),
        "{of_user}"
    );
    assert!(
        said.contains("You: Hello, it is about my order.\n\nAssistant: It is too late."),
        "{said}"
    );
}

fn no_model() {
    let endpoint = both_sides();
    let repository = talk(
        "{ command: [python3, agent.py] }",
        &openai(&endpoint, "user-1", "LIVE_KEY"),
    );
    repository.write("cases.json", CASES.replace("\"customer\"", "\"custumer\""));
    let ran = repository.goldgate(&["check"]);
    let says = "cases.json:1:1: no target is called \"custumer\"; did you mean \"customer\"? [unknown-target]";
    assert!(ran.code == 2 && ran.stderr.contains(says), "{}", ran.stderr);
    repository.write("cases.json", CASES.replace("\"customer\"", "\"live\""));
    let ran = repository.goldgate(&["run"]);
    let says = "cases.json:1:1: the target \"live\" cannot play the user, because it is not a model; name a target with a provider";
    assert!(ran.code == 2 && ran.stderr.contains(says), "{}", ran.stderr);
}

fn no_key() {
    let endpoint = both_sides();
    let repository = talk(
        &openai(&endpoint, "agent-1", "LIVE_KEY"),
        &openai(&endpoint, "user-1", "OTHER_KEY"),
    );
    let ran = model(&repository, &[]);
    let says = "not run: talks/helper: the target \"customer\" has no key; set the environment variable OTHER_KEY";
    assert!(ran.stdout.contains(says), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(endpoint.requests(), 0);
}

fn deterministic() {
    let endpoint = both_sides();
    let repository = talk(
        "{ command: [python3, agent.py] }",
        &openai(&endpoint, "user-1", "LIVE_KEY"),
    );
    let config = repository
        .read("goldgate.yaml")
        .replace("{ replay: runs, prompt", "{ target: live, prompt");
    repository.write("goldgate.yaml", config);
    repository.write("agent.py", PROGRAM);
    let ran = repository.goldgate(&["run"]);
    let says = "the deterministic tier must not call the target \"customer\"";
    assert!(ran.code == 2 && ran.stderr.contains(says), "{}", ran.stderr);
    assert_eq!(endpoint.requests(), 0);
}

/// A transcript with these messages, the user's first.
fn transcript(messages: &[&str]) -> String {
    let role = |index: usize| {
        if index.is_multiple_of(2) {
            "user"
        } else {
            "assistant"
        }
    };
    let messages: Vec<Value> = messages
        .iter()
        .enumerate()
        .map(|(at, text)| json!({ "role": role(at), "content": text }))
        .collect();
    json!({ "messages": messages }).to_string()
}

fn imported() {
    let endpoint = both_sides();
    let repository = talk(
        "{ command: [python3, agent.py] }",
        &openai(&endpoint, "user-1", "LIVE_KEY"),
    );
    let query = "Hello, it is about my order.";
    let lines = [
        transcript(&[query, "Which?", "Number 17.", "It is too late."]),
        transcript(&[query, "It is too late."]),
    ];
    repository.write("t.jsonl", lines.join("\n"));
    let import =
        |file: &str| repository.goldgate(&["import", file, "--out", "runs", "--agent", "helper"]);
    let ran = import("t.jsonl");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    for (messages, says) in [
        (&["Hello.", "It is too late."][..], "Hello."),
        (
            &[query, "a", "b", "a", "b", "a", "b", "It is too late."],
            "answered user messages: 4, but the case allows 3",
        ),
    ] {
        repository.write("other.json", transcript(messages));
        let args = [
            "import",
            "other.json",
            "--out",
            "more",
            "--agent",
            "helper",
            "--case",
            "cancel",
        ];
        let ran = repository.goldgate(&args);
        assert!(
            ran.code == 2 && ran.stderr.contains(says),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

fn stale() {
    let endpoint = both_sides();
    let repository = talk(
        &openai(&endpoint, "agent-1", "LIVE_KEY"),
        &openai(&endpoint, "user-1", "LIVE_KEY"),
    );
    recorded(&repository, &endpoint);
    for (from, to) in [
        ("Hello, it", "Hi, it"),
        ("Cancel order 17.", "Cancel nothing."),
        ("3 }", "2 }"),
    ] {
        repository.write("cases.json", CASES.replace(from, to));
        let ran = repository.goldgate(&["run"]);
        assert!(
            ran.code == 3 && ran.stdout.contains("cancel"),
            "{from}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
    repository.write("cases.json", CASES);
    // Without a digest the first message tells.
    let mut record: Value =
        serde_json::from_str(&repository.read("runs/helper/cancel.json")).unwrap();
    record["provenance"]
        .as_object_mut()
        .unwrap()
        .remove("input_sha256");
    record["outputs"]["turns"][0]["user"] = json!("Good morning.");
    repository.write("runs/helper/cancel.json", record.to_string());
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
}

fn asked() {
    let endpoint = both_sides();
    let repository = talk(
        "{ command: [python3, agent.py] }",
        &openai(&endpoint, "user-1", "LIVE_KEY"),
    );
    repository.write(
        "runs/helper/cancel.json",
        json!({ "status": "completed", "outputs": {} }).to_string(),
    );
    let ran = repository.goldgate(&["explain", "cancel", "--asked"]);
    let said = "    Hello, it is about my order.\n  then, as a user that customer plays, in at most 3 turns:\n    Cancel order 17.\n";
    assert!(ran.stdout.contains(said), "{}{}", ran.stdout, ran.stderr);
}
