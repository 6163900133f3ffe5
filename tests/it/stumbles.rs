//! What new users do by mistake, and what the program answers.

use libtest_mimic::Trial;
use serde_json::json;

use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "one command is not recorded as several agents",
            several_agents,
        ),
        trial(
            "suites that share an agent and its folder can be run alone",
            shared_folder,
        ),
        trial(
            "import knows the agents, and says where recordings are read",
            imported,
        ),
        trial(
            "a plain answer of a program is refused with the form to print",
            plain_answer,
        ),
        trial(
            "a case with checks of its answer needs no list of phrases",
            no_phrases,
        ),
        trial("init names the form of a transcript", other_form),
    ]
}

fn case(id: &str) -> serde_json::Value {
    json!({ "id": id, "category": "happy_path", "query": format!("What about {id}?"), "expected_tools": [], "answer": { "equals": id } })
}

/// Two suites with two agents; both suites read their recordings of `helper` from one folder.
fn two_suites() -> Repository {
    let repository = Repository::empty();
    let suite = |id: &str, agents: &str| {
        format!(
            "  - {{ id: {id}, kind: tool_use, policy: seed, path: {id}.json, agents: {{ {agents} }} }}\n"
        )
    };
    let agent = |name: &str| {
        format!(
            "{name}: {{ deterministic: {{ replay: runs, prompt: prompt.md }}, fingerprint: [prompt.md] }}"
        )
    };
    let suites = [
        suite("orders", &agent("helper")),
        suite("hours", &format!("{}, {}", agent("helper"), agent("clerk"))),
    ];
    repository.write(
        "goldgate.yaml",
        format!("version: 1\nsuites:\n{}", suites.concat()),
    );
    repository.write("prompt.md", "Help.\n");
    for id in ["orders", "hours"] {
        repository.write(&format!("{id}.json"), json!([case(id)]).to_string());
        for agent in ["helper", "clerk"] {
            let run = json!({ "status": "completed", "outputs": { "text": id } });
            if (id, agent) != ("orders", "clerk") {
                repository.write(&format!("runs/{agent}/{id}.json"), run.to_string());
            }
        }
    }
    repository
}

fn several_agents() {
    let repository = two_suites();
    let before = repository.read("runs/clerk/hours.json");
    let ran = repository.goldgate(&["record", "--", "cat"]);
    let says = "goldgate.yaml: the command would be recorded as 2 agents: clerk, helper; name the agent that it starts with --agent [no-agent]";
    assert!(
        ran.code == 2 && ran.stderr.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(repository.read("runs/clerk/hours.json"), before);
    let ran = repository.goldgate(&["record", "--quiet", "--agent", "clerk", "--", "cat"]);
    assert!(
        ran.stdout.contains("runs/clerk/hours.json"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_ne!(repository.read("runs/clerk/hours.json"), before);
}

fn shared_folder() {
    let repository = two_suites();
    for arguments in [
        &["run"][..],
        &["run", "--suite", "orders"],
        &["run", "--case", "hours"],
        &["explain", "orders"],
        &["run", "--suite", "hours", "--agent", "helper"],
    ] {
        let ran = repository.goldgate(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
    }
    repository.write("runs/helper/nobody.json", "{}");
    let ran = repository.goldgate(&["run"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("runs/helper/nobody.json"),
        "{}",
        ran.stderr
    );
}

fn imported() {
    let repository = two_suites();
    let messages = json!({ "messages": [{ "role": "user", "content": "What about hours?" }, { "role": "assistant", "content": "hours" }] });
    repository.write("chat.json", messages.to_string());
    let import = |agent: &str, out: &str| {
        repository.goldgate(&[
            "import",
            "chat.json",
            "--agent",
            agent,
            "--out",
            out,
            "--force",
        ])
    };
    let ran = import("clark", "runs");
    let says = "chat.json:1:1: no suite has an agent \"clark\"; did you mean \"clerk\"? [no-case]";
    assert!(ran.code == 2 && ran.stderr.contains(says), "{}", ran.stderr);
    let ran = import("clerk", "run");
    let says = "run: no agent of goldgate.yaml replays recordings from here; they replay runs";
    assert!(ran.code == 0 && ran.stderr.contains(says), "{}", ran.stderr);
    let ran = import("clerk", "runs");
    assert!(
        ran.code == 0 && !ran.stderr.contains("no agent"),
        "{}",
        ran.stderr
    );
}

fn plain_answer() {
    let repository = two_suites();
    let config = repository
        .read("goldgate.yaml")
        .replace("clerk: { ", "clerk: { model: { target: mine }, ")
        .replace("id: hours,", "id: hours, tier: [deterministic, model],");
    repository.write(
        "goldgate.yaml",
        format!("{config}targets:\n  mine: {{ command: [echo, \"We are open.\"] }}\n"),
    );
    let ran = repository.goldgate(&[
        "run", "--tier", "model", "--agent", "clerk", "--suite", "hours",
    ]);
    let says = "the answer is not a run record: expected value at line 1 column 1: We are open.; print {\"status\": \"completed\", \"outputs\": {\"text\": …}}; goldgate record takes a plain answer";
    assert!(ran.stdout.contains(says), "{}{}", ran.stdout, ran.stderr);
}

fn no_phrases() {
    let repository = two_suites();
    assert_eq!(repository.goldgate(&["check"]).code, 0);
    let bare = |keys: &[&str]| {
        let mut bare = case("orders");
        for key in keys {
            bare.as_object_mut().unwrap().remove(*key);
        }
        repository.write("orders.json", json!([bare]).to_string());
        repository.goldgate(&["check"])
    };
    // What a case does not state is not checked.
    for keys in [&["answer"][..], &["expected_tools"], &["category"]] {
        let ran = bare(keys);
        assert_eq!(ran.code, 0, "{keys:?}: {}", ran.stderr);
    }
    let ran = bare(&["answer", "expected_tools"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("the case requires nothing"),
        "{}",
        ran.stderr
    );
}

fn other_form() {
    let repository = Repository::empty();
    repository.write(
        "logs.jsonl",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"Where is it?\"}]}\n",
    );
    let ran = repository.goldgate(&["init", "--from", "logs.jsonl", "--yes"]);
    assert!(
        ran.code == 2
            && ran
                .stderr
                .contains("{\"messages\": [{\"role\": \"user\", \"content\": …}"),
        "{}",
        ran.stderr
    );
}
