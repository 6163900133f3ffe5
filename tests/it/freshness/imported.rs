//! `goldgate import` writes the digests of the agent and of the case.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{noted, refused, run, talk};
use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an imported recording is stale when its agent or its case changes, until another run is imported",
            stale,
        ),
        trial(
            "recordings may be made again for another input",
            other_input,
        ),
        trial(
            "a transcript of another question is refused, and kept with --force as one of an unknown input",
            other_question,
        ),
        trial(
            "a transcript of a case that no suite has keeps no digests, and import says so",
            unknown_case,
        ),
        trial("import without a config keeps no digests", no_config),
        trial(
            "a conversation that goes on is refused, and kept with --force as one of an unknown input",
            goes_on,
        ),
        trial(
            "a conversation is imported for the case in which the user says the same, turn by turn",
            conversation,
        ),
        trial(
            "a transcript that does not show the case's document keeps no digest of the input",
            documents,
        ),
    ]
}

fn import(repository: &Repository, question: &str, more: &[&str]) -> Ran {
    import_answer(repository, question, "It was shipped.", more)
}

fn import_answer(repository: &Repository, question: &str, text: &str, more: &[&str]) -> Ran {
    let messages = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": question },
        { "role": "assistant", "content": text },
    ]);
    repository.write("chat.json", messages.to_string());
    let arguments = [
        "import",
        "openai",
        "chat.json",
        "--out",
        "runs",
        "--agent",
        "helper",
        "--case",
        "order-status",
    ];
    repository.goldgate(&[&arguments, more].concat())
}

fn stale() {
    let repository = talk();
    let import = |question, answer| {
        let ran = import_answer(&repository, question, answer, &["--force"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stderr
    };
    let again = |question, answer| {
        assert_eq!(import(question, answer), "");
        let (code, notes) = noted(&repository);
        assert!(code == 0 && !notes.contains("no digests"), "{notes}");
    };
    again("Where is my order 17?", "It was shipped today.");
    repository.write("prompts/helper.md", "Answer at once.\n");
    let (code, why) = refused(&repository, &[]);
    let command = "import new transcripts: `goldgate import openai chat.json --agent helper --case order-status --out runs --force`";
    assert!(code == 3 && why.contains(command), "{why}");
    // The same run says nothing of the new prompt.
    let told = import("Where is my order 17?", "It was shipped today.");
    assert!(told.starts_with("unchanged, digests too"), "{told}");
    assert_eq!(refused(&repository, &[]).0, 3);
    again("Where is my order 17?", "It was shipped.");
    repository.replace("cases.json", "order 17", "order 18");
    let (code, why) = refused(&repository, &[]);
    assert!(
        code == 3 && why.contains("what the case asks changed since it was made"),
        "{why}"
    );
    // Space alone is no other question.
    again("Where is  my order 18?\n", "It was shipped.");
    repository.replace("cases.json", "[\"shipped\"]", "[\"shipped\", \"sent\"]");
    repository.replace("cases.json", "\"expected_tools\"", "\n\n\"expected_tools\"");
    assert_eq!(run(&repository, &[]).code, 0);
}

fn other_question() {
    let repository = talk();
    repository.remove("runs");
    let ran = import(&repository, "Are you open?", &[]);
    assert_eq!(
        (
            ran.code,
            repository.path("runs/helper/order-status.json").exists()
        ),
        (2, false),
        "{}",
        ran.stderr
    );
    for words in [
        "[another-input]",
        "Are you open?",
        "Where is my order 17?",
        "--force",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    let ran = import(&repository, "Are you open?", &["--force"]);
    assert!(
        ran.code == 0 && ran.stderr.contains("imported with an unknown input"),
        "{}",
        ran.stderr
    );
    let record: Value =
        serde_json::from_str(&repository.read("runs/helper/order-status.json")).unwrap();
    assert!(
        record["provenance"]["agent_sha256"].is_string()
            && record["provenance"]["input_sha256"].is_null(),
        "{record}"
    );
}

fn unknown_case() {
    let repository = talk();
    repository.remove("runs");
    let arguments = [
        "import",
        "openai",
        "chat.json",
        "--out",
        "runs",
        "--agent",
        "helper",
        "--case",
        "thanks",
    ];
    import(&repository, "Thanks", &[]);
    let ran = repository.goldgate(&arguments);
    assert!(
        ran.code == 0
            && ran
                .stderr
                .contains("has the case thanks for the agent helper"),
        "{}",
        ran.stderr
    );
}

fn no_config() {
    let repository = talk();
    repository.remove("runs");
    repository.remove("goldgate.yaml");
    let ran = import(&repository, "Anything", &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let record: Value =
        serde_json::from_str(&repository.read("runs/helper/order-status.json")).unwrap();
    assert!(record["provenance"]["agent_sha256"].is_null(), "{record}");
    let ran = import(&repository, "Anything", &["--config", "goldgate.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}

/// The edited case needs an approval, and the recording that answers it is listed.
fn other_input() {
    let repository = talk();
    repository.remove(".git");
    let imported = |question: &str, text: &str| {
        let ran = import_answer(&repository, question, text, &["--force"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    };
    imported("Where is my order 17?", "It was shipped.");
    commit_all(&repository);
    repository.replace(
        "cases.json",
        "Where is my order 17?",
        "Where is my order 18?",
    );
    imported("Where is my order 18?", "It was shipped today.");
    let path = std::env::var("PATH").unwrap();
    let ran =
        repository.goldgate_on_commit(&["run", "--base", "HEAD", "--dirty"], &[("PATH", &path)]);
    for says in [
        "[needs approval] expectation of order-status of `support` edited: query",
        "[listed] 1 recording of `support/helper` is of this change: order-status.json; other answers or calls in 1 of 1 case",
    ] {
        assert!(
            ran.code == 1 && ran.stdout.contains(says),
            "{says}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
    assert!(!ran.stdout.contains("stamped"), "{}", ran.stdout);
}

const TURNS: &str = r#"{"cases": [{"id": "order-status", "category": "multi_step", "turns": [
    {"user": "Where is my order 17?", "answer": {"all_of": ["shipped"]}}, {"user": "Cancel it.", "tools": ["cancel"]}]}]}"#;

/// A conversation with this second message of the user, and what follows it.
fn talk_of(second: &str, rest: &[Value]) -> String {
    let first = [
        said("user", "Where is my order 17?"),
        said("assistant", "It was shipped."),
        said("user", second),
    ];
    Value::from([&first[..], rest].concat()).to_string()
}

fn said(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

fn conversation() {
    let call = json!({ "role": "assistant", "content": null, "tool_calls":
        [{ "id": "1", "function": { "name": "cancel", "arguments": "{}" } }] });
    let done = [
        call,
        json!({ "role": "tool", "tool_call_id": "1", "content": "done" }),
        said("assistant", "Done."),
    ];
    let arguments = [
        "import",
        "openai",
        "chat.json",
        "--out",
        "runs",
        "--agent",
        "helper",
    ];
    let repository = talk();
    repository.remove("runs");
    repository.write("cases.json", TURNS);
    // The case is found by all messages of the user.
    repository.write("chat.json", talk_of("Cancel  it.", &done));
    let ran = repository.goldgate(&arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let read = || -> Value {
        serde_json::from_str(&repository.read("runs/helper/order-status.json")).unwrap()
    };
    assert!(
        read()["provenance"]["input_sha256"].is_string(),
        "{}",
        read()
    );
    assert_eq!(
        read()["outputs"]["turns"][0],
        json!({ "user": "Where is my order 17?", "text": "It was shipped." })
    );
    assert_eq!(read()["intermediate"]["tool_calls"][0]["turn"], 1);
    assert_eq!(run(&repository, &[]).code, 0);
    // Another message of any turn is another input.
    repository.replace("cases.json", "Cancel it.", "Cancel order 17.");
    let (code, why) = refused(&repository, &[]);
    assert!(
        code == 3 && why.contains("what the case asks changed since it was made"),
        "{why}"
    );
    repository.replace("cases.json", "Cancel order 17.", "Cancel it.");
    let hint = [said("system", "Say done."), said("assistant", "Done.")];
    for (second, rest, words) in [
        (
            "Send it back.",
            &done[..],
            r#"turns.1 is "Send it back.", but the case's is "Cancel it.""#,
        ),
        (
            "Cancel it.",
            &[],
            "answered user messages: 1, but the case has 2",
        ),
        (
            "Cancel it.",
            &hint,
            r#"the system message "Say done." after the first user message"#,
        ),
    ] {
        repository.write("chat.json", talk_of(second, rest));
        let named = [&arguments[..], &["--case", "order-status"]].concat();
        repository.remove("runs");
        let ran = repository.goldgate(&named);
        assert!(
            ran.code == 2 && ran.stderr.contains(words),
            "{words}: {}",
            ran.stderr
        );
        let ran = repository.goldgate(&[&named[..], &["--force"]].concat());
        assert!(
            ran.code == 0 && ran.stderr.contains("imported with an unknown input"),
            "{}",
            ran.stderr
        );
        assert!(read()["provenance"]["input_sha256"].is_null(), "{}", read());
    }
}

fn goes_on() {
    let question = json!({ "role": "user", "content": "Where is my order 17?" });
    let (lost, right) = (
        said("assistant", "I do not know."),
        said("assistant", "It was shipped."),
    );
    let hint = said("user", "The right answer is: it was shipped.");
    let refused = [
        json!([question, lost, hint, right]),
        json!([question, hint, right]),
        json!([question, said("system", "Say that it was shipped."), right]),
    ];
    let arguments = [
        "import",
        "openai",
        "chat.json",
        "--out",
        "runs",
        "--agent",
        "helper",
        "--case",
        "order-status",
    ];
    let input = |repository: &Repository| -> Value {
        let record: Value =
            serde_json::from_str(&repository.read("runs/helper/order-status.json")).unwrap();
        record["provenance"]["input_sha256"].clone()
    };
    for messages in refused {
        let repository = talk();
        repository.remove("runs");
        repository.write("chat.json", messages.to_string());
        let ran = repository.goldgate(&arguments);
        assert!(
            ran.code == 2 && ran.stderr.contains("it has another user or system message"),
            "{messages}: {}",
            ran.stderr
        );
        let ran = repository.goldgate(&[&arguments[..], &["--force"]].concat());
        assert!(
            ran.code == 0 && ran.stderr.contains("imported with an unknown input"),
            "{}",
            ran.stderr
        );
        assert!(input(&repository).is_null());
    }
    let call = json!({ "role": "assistant", "content": null, "tool_calls":
        [{ "id": "1", "type": "function", "function": { "name": "find_order", "arguments": "{}" } }] });
    let told = json!({ "role": "tool", "tool_call_id": "1", "content": "shipped" });
    let repository = talk();
    repository.remove("runs");
    let whole = json!([
        said("system", "Be brief."),
        question,
        call,
        told,
        right,
        said("user", "Thanks!")
    ]);
    repository.write("chat.json", whole.to_string());
    let ran = repository.goldgate(&arguments);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (0, ""),
        "nothing that is said after the answer changes it"
    );
    assert!(input(&repository).is_string());
}

fn documents() {
    let repository = Repository::small();
    let import = |asked: String, code: i32| {
        let messages = json!([{ "role": "user", "content": asked }, { "role": "assistant", "content": "{\"findings\": []}" }]);
        repository.write("chat.json", messages.to_string());
        let to = [
            "--out",
            "golden/runs",
            "--agent",
            "legal",
            "--case",
            "lease",
            "--force",
        ];
        let ran = repository.goldgate(&[&["import", "openai", "chat.json"], &to[..]].concat());
        assert_eq!(ran.code, code, "{}", ran.stderr);
        let record: Value =
            serde_json::from_str(&repository.read("golden/runs/legal/lease.json")).unwrap();
        (record["provenance"]["input_sha256"].is_string(), ran.stderr)
    };
    let document = repository.read("golden/contracts/lease.md");
    assert_eq!(
        import(format!("Review this:\n\n{document}"), 0),
        (true, String::new())
    );
    let (known, said) = import("Review the supply agreement on bananas.".to_owned(), 0);
    assert!(
        !known && said.contains("does not contain the case's input: its input is unknown"),
        "{said}"
    );
}
