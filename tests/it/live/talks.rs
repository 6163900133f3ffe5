//! Conversations: the user's messages reach a live agent one after the other, and the recording keeps the turns.

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
            "a model behind OpenAI's wire format hears a conversation turn by turn, and replays to the same numbers",
            || {
                models("openai");
            },
        ),
        trial(
            "a model behind Anthropic's wire format hears a conversation turn by turn, and replays to the same numbers",
            || {
                models("anthropic");
            },
        ),
        trial(
            "a model that falls silent ends the conversation, and the check of its turns is red",
            silent,
        ),
        trial(
            "a program gets one request for each message, with the turns before, and replays to the same numbers",
            || {
                programs("oneshot");
            },
        ),
        trial(
            "a worker gets one request for each message, and answers by its id",
            || programs("jsonl"),
        ),
        trial(
            "a turn that fails ends the sample without a result, and the sample names it",
            failing_turn,
        ),
        trial("--asked shows every message of a conversation", asked),
    ]
}

const CASES: &str = r#"[{ "id": "cancel", "category": "multi_step", "turns": [
  { "user": "Where is order 17?", "tools": ["find_order"], "answer": { "all_of": ["Monday"] } },
  { "user": "Then cancel it.", "tools": [], "answer": { "all_of": ["too late"] } } ] }]"#;

const TOOLS: &str = r#"[{ "name": "find_order", "description": "Finds an order.", "parameters": { "type": "object" },
  "results": [{ "says": { "day": "Monday" } }] }]"#;

/// A repository with one conversation, and an agent with this target.
fn talk(target: &str) -> Repository {
    let repository = Repository::empty();
    repository.write("cases.json", CASES);
    repository.write("tools.json", TOOLS);
    repository.write("prompt.md", "Be brief.");
    repository.write(
        "goldgate.yaml",
        format!(
            "version: 1\nsuites:\n  - id: talks\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    tools: tools.json\n    \
             tier: [deterministic, model]\n    agents:\n      helper:\n        deterministic: {{ replay: runs, prompt: prompt.md }}\n        \
             model: {{ target: live, prompt: prompt.md }}\ntargets:\n  live: {target}\n"
        ),
    );
    repository
}

fn wire(wire: &str, endpoint: &Endpoint) -> Repository {
    let base = if wire == "openai" {
        format!("{}/v1", endpoint.address())
    } else {
        endpoint.address()
    };
    talk(&format!(
        "{{ provider: {wire}, model: model-1, base_url: \"{base}\", api_key_env: LIVE_KEY }}"
    ))
}

fn recording(repository: &Repository) -> Value {
    serde_json::from_str(&repository.read("runs/helper/cancel.json")).unwrap()
}

/// The model tier passes, and its recording has the same numbers.
fn recorded(repository: &Repository) -> Value {
    let ran = model(repository, &["--format", "json", "--record", "runs"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let lived = report(&ran);
    assert_eq!(lived["verdict"], "pass", "{}", ran.stdout);
    let ran = repository.goldgate(&["run", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(metrics(&report(&ran)), metrics(&lived));
    let record = recording(repository);
    assert_eq!(
        record["outputs"]["turns"],
        json!([
            { "user": "Where is order 17?", "text": "It arrives on Monday." },
            { "user": "Then cancel it.", "text": "It is too late." },
        ])
    );
    assert_eq!(record["outputs"]["text"], "It is too late.");
    let calls = record["intermediate"]["tool_calls"].as_array().unwrap();
    let calls: Vec<(&Value, &Value)> = calls
        .iter()
        .map(|call| (&call["name"], &call["turn"]))
        .collect();
    assert_eq!(calls, [(&json!("find_order"), &json!(0))]);
    record
}

fn models(name: &str) {
    let endpoint = Endpoint::new(Duration::ZERO, |number, _| match number {
        0 => Answer::Calls("find_order"),
        1 => Answer::Says("It arrives on Monday.".to_owned()),
        _ => Answer::Says("It is too late.".to_owned()),
    });
    let repository = wire(name, &endpoint);
    let record = recorded(&repository);
    assert_eq!(
        (endpoint.requests(), &record["metrics"]["input_tokens"]),
        (3, &json!(300))
    );
    let roles = |body: &Value| -> Vec<String> {
        let messages = body["messages"].as_array().unwrap().iter();
        messages
            .map(|message| message["role"].as_str().unwrap().to_owned())
            .collect()
    };
    let bodies = endpoint.bodies();
    let after_tools = if name == "openai" { "tool" } else { "user" };
    let first = ["user", "assistant", after_tools, "assistant", "user"];
    let last = roles(&bodies[2]);
    let last = if name == "openai" {
        &last[1..]
    } else {
        &last[..]
    };
    assert_eq!(last, first, "{}", bodies[2]);
    assert!(
        !bodies[1].to_string().contains("Then cancel it."),
        "no message is known before its turn"
    );
    assert!(
        bodies[2].to_string().contains("Then cancel it.")
            && bodies[2].to_string().contains("It arrives on Monday.")
    );
}

fn silent() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(String::new()));
    let repository = wire("openai", &endpoint);
    let ran = model(&repository, &["--format", "json", "--record", "runs"]);
    assert_eq!((ran.code, endpoint.requests()), (0, 1), "{}", ran.stderr);
    let checks = report(&ran)["suites"][0]["agents"][0]["cases"][0]["checks"].clone();
    let failed: Vec<&Value> = checks
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["passed"] == false)
        .collect();
    let named = failed
        .iter()
        .find(|check| check["name"] == "turns")
        .unwrap();
    assert_eq!(
        named["detail"],
        "answers: 1, needed: 2, the last one to \"Where is order 17?\""
    );
    assert_eq!(repository.goldgate(&["run"]).code, 1);
}

/// An agent that looks the first question up, and knows from the turns before that the second one follows.
const PROGRAM: &str = r#"
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    inputs, conversation = request["inputs"], request["conversation"]
    assert inputs["query"] == inputs["prompt"] and "turns" not in inputs and "Then" not in json.dumps(conversation)
    record = {"id": request["id"], "status": "completed", "metrics": {"input_tokens": 10, "output_tokens": 2}}
    if conversation["turn"] == 0:
        assert conversation == {"id": "talks/helper/cancel/0", "turn": 0, "before": []}, conversation
        record["outputs"] = {"text": "It arrives on Monday."}
        record["intermediate"] = {"tool_calls": [{"name": "find_order", "arguments": {"id": 17}, "result": "Monday"}]}
    else:
        before = conversation["before"]
        assert [turn["user"] for turn in before] == ["Where is order 17?"] and before[0]["text"] == "It arrives on Monday."
        assert before[0]["tool_calls"][0]["result"] == "Monday" and request["id"] == "talks/helper/cancel/0/1"
        record["outputs"] = {"text": "It is too late."}
    print(json.dumps(record), flush=True)
"#;

fn programs(protocol: &str) {
    let repository = talk(&format!(
        "{{ command: [python3, agent.py], protocol: {protocol} }}"
    ));
    repository.write("agent.py", PROGRAM);
    let record = recorded(&repository);
    assert_eq!(
        (
            &record["metrics"]["input_tokens"],
            &record["metrics"]["output_tokens"]
        ),
        (&json!(20), &json!(4))
    );
}

fn failing_turn() {
    let repository = talk("{ command: [python3, agent.py] }");
    let failing = PROGRAM.replace(
        "record[\"outputs\"] = {\"text\": \"It is too late.\"}",
        "record.update({\"status\": \"error\", \"error\": \"no such order\"})",
    );
    repository.write("agent.py", failing);
    let ran = model(&repository, &["--format", "json"]);
    assert!(
        ran.stdout.contains("turns.1: no such order"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let case = report(&ran)["suites"][0]["agents"][0]["cases"][0].clone();
    assert_eq!(case["samples_completed"], 0, "{case}");
}

fn asked() {
    let repository = talk("{ command: [python3, agent.py] }");
    repository.write(
        "runs/helper/cancel.json",
        json!({ "status": "completed", "outputs": {} }).to_string(),
    );
    let ran = repository.goldgate(&["explain", "cancel", "--asked"]);
    let said = "    Where is order 17?\n  then, after the answer:\n    Then cancel it.\n";
    assert!(ran.stdout.contains(said), "{}{}", ran.stdout, ran.stderr);
}
