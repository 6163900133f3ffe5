//! `goldgate init`: from transcripts to the first verdict, and to a red one after the agent got worse.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::{Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a new repository is set up with an example, and passes",
            example,
        ),
        trial(
            "transcripts of several formats become cases, and a worse agent is blocked",
            transcripts,
        ),
        trial("a setup replaces nothing", nothing_replaced),
        trial(
            "a setup advises three samples, and gates every newly failing case of a steady agent",
            advice,
        ),
        trial("the workflow names the action that the user states", action),
        trial(
            "a file that is not a transcript is refused before anything is written",
            no_transcript,
        ),
        trial(
            "a conversation of several turns becomes a case with turns",
            several_turns,
        ),
        trial(
            "conversations with the same query in files that name no case are samples of one",
            unnamed_files,
        ),
        trial(
            "messages of a user without an answer between them are one turn",
            two_messages,
        ),
        trial(
            "a conversation with a message of the system between answers is left out of a setup, and named",
            instructed,
        ),
        trial("a setup that fails leaves nothing behind", nothing_left),
        trial(
            "a promptfoo config without results is set up as its cases",
            promptfoo_config,
        ),
        trial(
            "a draft forbids tools that change something and that only other transcripts call",
            forbidden_tools,
        ),
        trial(
            "a correct answer in other words passes an accepted draft, and another fact fails it",
            reworded,
        ),
        trial(
            "no key is written, and personal data are named and replaced on request",
            personal,
        ),
        trial(
            "a conversation without an answer leaves the others of its file",
            unanswered_line,
        ),
        trial(
            "results of promptfoo are set up with their assertions",
            promptfoo,
        ),
    ]
}

fn example() {
    let repository = Repository::empty();
    let ran = repository.goldgate(&["init"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(repository.goldgate(&["check"]).code, 0);
    assert_eq!(repository.goldgate(&["run"]).code, 0);
    let documented = std::fs::read_to_string(root().join("docs/workflows/goldgate.yml")).unwrap();
    assert_eq!(
        repository.read(".github/workflows/goldgate.yml"),
        documented,
        "copy it to src/app/commands/init"
    );
    let schema = repository.goldgate(&["schema", "config"]).stdout;
    assert_eq!(repository.read(".goldgate/schemas/config.json"), schema);
}

fn chat(query: &str, tool: &str, answer: &str) -> Value {
    json!({ "messages": [
        { "role": "user", "content": query },
        { "role": "assistant", "tool_calls": [
            { "id": "1", "type": "function", "function": { "name": tool, "arguments": "{\"customer\": \"Acme\"}" } }] },
        { "role": "tool", "tool_call_id": "1", "content": "{}" },
        { "role": "assistant", "content": answer }] })
}

fn blocks(query: &str, tool: &str, answer: &str) -> Value {
    json!({ "messages": [
        { "role": "user", "content": query },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "1", "name": tool, "input": { "customer": "Acme" } }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "1", "content": "{}" }] },
        { "role": "assistant", "content": [{ "type": "text", "text": answer }] }] })
}

/// A repository with five transcripts of three cases.
fn transcribed() -> Repository {
    let repository = Repository::empty();
    let late = |answer| chat("Which invoices are overdue?", "find_invoices", answer);
    repository.write(
        "transcripts/overdue.jsonl",
        format!(
            "{}\n{}\n",
            late("Only A-17 is overdue."),
            late("A-17 is overdue since March.")
        ),
    );
    repository.write(
        "transcripts/refund.json",
        blocks(
            "Refund order 9.",
            "issue_refund",
            "Order 9 was refunded with 12.50 euros.",
        )
        .to_string(),
    );
    repository.write(
        "transcripts/again.json",
        chat("Refund order 9.", "find_order", "Order 9 does not exist.").to_string(),
    );
    repository.write(
        "transcripts/silent.json",
        json!([{ "role": "user", "content": "Hello?" }]).to_string(),
    );
    repository.write("transcripts/notes.txt", "not read");
    repository.write("prompts/agent.md", "Answer briefly.");
    repository
}

fn transcripts() {
    let repository = transcribed();
    let arguments = [
        "init",
        "--from",
        "transcripts",
        "--agent",
        "helper",
        "--files",
        "prompts/**",
        "--no-workflow",
    ];
    let ran = repository.goldgate(&arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("left out: 1 conversation "),
        "{}",
        ran.stdout
    );
    let closing: Vec<&str> = ran.stdout.lines().rev().take(3).collect();
    assert_eq!(
        closing[2],
        "Wrote golden/cases.json (3 drafts), .goldgate/.gitignore, .goldgate/schemas/config.json, goldgate.yaml, golden/runs (4 recordings)."
    );
    assert!(
        closing[1].starts_with("Open: review 3 drafts, and add what the answer must have to the 3 that check calls alone; record 3 samples"),
        "{}",
        closing[1]
    );
    assert_eq!(closing[0], "Next: goldgate review");
    assert!(!repository.path(".github").exists());
    let cases: Value = serde_json::from_str(&repository.read("golden/cases.json")).unwrap();
    let ids: Vec<&str> = cases["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        ["again", "overdue", "refund"],
        "a file with one query names its case"
    );
    assert_eq!(cases["cases"][2]["expected_tools"], json!(["issue_refund"]));
    assert!(
        repository
            .path("golden/runs/helper/overdue/1.json")
            .exists()
    );
    assert_eq!(repository.goldgate(&["check"]).code, 0);
    // Nothing counts before somebody has decided.
    assert!(
        cases["cases"]
            .as_array()
            .unwrap()
            .iter()
            .all(|case| case["draft"] == true)
    );
    assert_eq!(repository.goldgate(&["run"]).code, 3);
    assert_eq!(repository.goldgate(&["review", "--accept", "*"]).code, 0);
    let first = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(first.code, 0, "{}{}", first.stdout, first.stderr);
    // The agent no longer calls the tool.
    repository.write(
        "worse.json",
        json!([{ "role": "user", "content": "Refund order 9." }, { "role": "assistant", "content": "I cannot do that." }])
            .to_string(),
    );
    let import = [
        "import",
        "openai",
        "worse.json",
        "--out",
        "golden/runs",
        "--agent",
        "helper",
        "--force",
    ];
    let ran = repository.goldgate(&import);
    assert_eq!(ran.code, 2, "two cases have the query: {}", ran.stderr);
    std::fs::rename(
        repository.path("worse.json"),
        repository.path("refund.json"),
    )
    .unwrap();
    let import = import.map(|word| {
        if word == "worse.json" {
            "refund.json"
        } else {
            word
        }
    });
    let ran = repository.goldgate(&import);
    assert_eq!(ran.code, 0, "the file names the case: {}", ran.stderr);
    let worse = repository.goldgate(&["run"]);
    assert_eq!(worse.code, 1, "{}", worse.stdout);
    assert!(
        worse
            .stdout
            .contains("answers/helper: 1 broken case\n  refund: "),
        "{}",
        worse.stdout
    );
    // The agent's files changed, and its recordings did not.
    repository.write("prompts/agent.md", "Answer at length.");
    assert_eq!(repository.goldgate(&["check"]).code, 2);
}

/// Six transcripts of three samples; with one that differs, or all equal.
fn sampled(odd: u32) -> Repository {
    let repository = Repository::empty();
    for case in 0..6 {
        let sample = |sample: u32| {
            let tool = if sample == odd {
                "find_customer"
            } else {
                "find_invoices"
            };
            chat(
                &format!("Question {case}?"),
                tool,
                &format!("The answer {case} to the customer."),
            )
            .to_string()
        };
        let lines: Vec<String> = (0..3).map(sample).collect();
        repository.write(&format!("transcripts/{case}.jsonl"), lines.join("\n"));
    }
    repository.write("prompts/agent.md", "Answer briefly.");
    repository
}

fn advice() {
    let arguments = [
        "init",
        "--from",
        "transcripts",
        "--agent",
        "helper",
        "--files",
        "prompts/**",
        "--no-workflow",
    ];
    let set_up = |repository: &Repository| {
        let ran = repository.goldgate(&arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
        (
            ran.stdout.contains("record 3 samples of each case"),
            repository.read("goldgate.yaml"),
        )
    };
    let (is_advised, config) = set_up(&transcribed());
    assert!(
        is_advised && config.contains("    policy: regression\n"),
        "{config}"
    );
    // Samples that differ: chance decides.
    let (is_advised, config) = set_up(&sampled(1));
    assert!(
        !is_advised && !config.contains("no_newly_failing"),
        "{config}"
    );
    // Samples that are always the same: every newly failing case is a change.
    let (_, config) = set_up(&sampled(9));
    assert!(config.contains("    no_newly_failing: true\n"), "{config}");
}

fn action() {
    let repository = Repository::empty();
    let action = "acme/goldgate@0123456789012345678901234567890123456789";
    let ran = repository.goldgate(&["init", "--action", action]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let workflow = repository.read(".github/workflows/goldgate.yml");
    assert!(
        workflow.contains(&format!("uses: {action} #")) && !workflow.contains("OWNER"),
        "{workflow}"
    );
    assert!(!ran.stdout.contains("OWNER"), "{}", ran.stdout);
    for bad in [
        "acme/goldgate@v1",
        "goldgate@0123456789012345678901234567890123456789",
        "acme/goldgate",
        "a: b/c@d",
    ] {
        let ran = Repository::empty().goldgate(&["init", "--action", bad]);
        assert_eq!(
            (ran.code, ran.stderr.contains("write OWNER/goldgate@COMMIT")),
            (2, true),
            "{bad}: {}",
            ran.stderr
        );
    }
}

/// Two tests with one prompt, of which only the first one can be said by a check.
fn promptfoo() {
    let repository = Repository::empty();
    let result = |index: u64, name: &str, assertion: Value| {
        json!({
            "testIdx": index, "promptIdx": 0, "success": true, "provider": { "id": "exec:./agent" },
            "prompt": { "raw": "Where is order 17?" }, "response": { "output": "It arrives on 2026-03-04." },
            "testCase": { "description": name, "vars": {}, "assert": [assertion] } })
    };
    let stated = json!({ "type": "contains", "value": "2026-03-04" });
    let unsaid = json!({ "type": "llm-rubric", "value": "It is polite." });
    let results = [
        result(0, "names the day", stated),
        result(1, "is polite", unsaid),
    ];
    repository.write(
        "results.json",
        json!({ "evalId": "eval-1", "results": { "version": 3, "results": results } }).to_string(),
    );
    let ran = repository.goldgate(&["init", "--from", "results.json", "--no-workflow"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let cases: Value = serde_json::from_str(&repository.read("golden/cases.json")).unwrap();
    let [named, polite] = [&cases["cases"][0], &cases["cases"][1]];
    assert_eq!(
        (&named["id"], &polite["id"]),
        (&json!("names-the-day"), &json!("is-polite"))
    );
    assert_eq!(
        (&named["answer"], &named["expected_tools"]),
        (
            &json!([{ "all_of": ["2026-03-04"], "case_sensitive": true }]),
            &Value::Null
        )
    );
    // No result of a call and no instruction has the day: it may be one that the model invented.
    assert_eq!(
        (&polite["answer"], &polite["expected_tools"]),
        (&Value::Null, &json!([]))
    );
    assert!(
        polite["notes"]
            .as_str()
            .unwrap()
            .contains("Not imported: llm-rubric"),
        "{polite}"
    );
    assert_eq!(repository.goldgate(&["check"]).code, 0);
    assert_eq!(repository.goldgate(&["review", "--accept", "*"]).code, 0);
    assert_eq!(repository.goldgate(&["run"]).code, 0);
}

fn nothing_replaced() {
    let repository = transcribed();
    repository.write(".github/workflows/goldgate.yml", "mine");
    assert!(
        repository
            .goldgate(&["init", "--from", "transcripts"])
            .stdout
            .starts_with("kept .github/workflows/goldgate.yml\n")
    );
    assert_eq!(repository.read(".github/workflows/goldgate.yml"), "mine");
    repository.write("golden/cases.json", "mine");
    let ran = repository.goldgate(&["init", "--from", "transcripts/refund.json"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("golden/cases.json: this already exists (and 2 more problems like this); "),
        "{}",
        ran.stderr
    );
    assert_eq!(repository.read("golden/cases.json"), "mine");
}

fn no_transcript() {
    let repository = transcribed();
    repository.write("transcripts/broken.json", "{\"messages\": [");
    let ran = repository.goldgate(&["init", "--from", "transcripts"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("broken.json:1:14: invalid JSON"),
        "{}",
        ran.stderr
    );
    let silent = repository.goldgate(&["init", "--from", "transcripts/silent.json"]);
    assert_eq!(silent.code, 2);
    assert!(
        silent
            .stderr
            .contains("no transcript has a user's message and an answer"),
        "{}",
        silent.stderr
    );
    let missing = repository.goldgate(&["init", "--from", "nowhere"]);
    assert_eq!(missing.code, 2, "{}", missing.stderr);
    assert_eq!(repository.goldgate(&["init", "--agent", "a b"]).code, 2);
    assert!(!repository.path("goldgate.yaml").exists() && !repository.path("golden").exists());
}

fn files(repository: &Repository) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![repository.path("")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            match entry.is_dir() {
                // Where files are before they are whole; git ignores it.
                true if entry.ends_with("drafts") => {}
                true => folders.push(entry),
                false => files.push(entry.display().to_string()),
            }
        }
    }
    files.sort();
    files
}

/// Else no import could tell their cases apart.
fn unnamed_files() {
    let repository = Repository::empty();
    let write = |file: &str, answer: &str| {
        let said = [("user", "Where is order 12?"), ("assistant", answer)];
        let messages = said.map(|(role, content)| json!({ "role": role, "content": content }));
        repository.write(
            &format!("transcripts/{file}.json"),
            json!({ "messages": messages }).to_string(),
        );
    };
    for (file, answer) in [
        ("t0", "On Friday."),
        ("late-order", "On Friday, late."),
        ("t1", "It comes on Friday."),
    ] {
        write(file, answer);
    }
    let ran = repository.goldgate(&["init", "--from", "transcripts", "--yes", "--no-workflow"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let cases: Value = serde_json::from_str(&repository.read("golden/cases.json")).unwrap();
    let ids: Vec<&Value> = cases["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| &case["id"])
        .collect();
    assert_eq!(ids, ["late-order", "t0"]);
    repository.read("golden/runs/agent/t0/1.json");
    repository.remove("transcripts/late-order.json");
    repository.remove("golden/cases.json");
    repository.remove("golden/runs");
    repository.remove("goldgate.yaml");
    let ran = repository.goldgate(&["init", "--from", "transcripts", "--yes", "--no-workflow"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let import = [
        "import",
        "transcripts",
        "--out",
        "golden/runs",
        "--agent",
        "agent",
        "--force",
    ];
    let ran = repository.goldgate(&import);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

fn several_turns() {
    let repository = transcribed();
    let turns = json!({ "messages": [
        { "role": "user", "content": "Cancel my order." },
        { "role": "assistant", "content": "Which one?" },
        { "role": "user", "content": "Number 17." },
        { "role": "assistant", "tool_calls": [
            { "id": "1", "type": "function", "function": { "name": "cancel", "arguments": "{\"id\": 17}" } }] },
        { "role": "tool", "tool_call_id": "1", "content": "done" },
        { "role": "assistant", "content": "Order 17 was cancelled." }] });
    repository.write("transcripts/cancel.json", turns.to_string());
    let ran = repository.goldgate(&["init", "--from", "transcripts"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stdout.contains("or whose turns are"), "{}", ran.stdout);
    let cases: Value = serde_json::from_str(&repository.read("golden/cases.json")).unwrap();
    let case = cases["cases"]
        .as_array()
        .unwrap()
        .iter()
        .find(|case| case["id"] == "cancel")
        .unwrap();
    assert_eq!(
        case["turns"],
        json!([
            { "user": "Cancel my order.", "tools": [] },
            { "user": "Number 17.", "tools": ["cancel"],
              "trajectory": { "mode": "in_order", "forbidden_tools": ["issue_refund"], "tools": [{ "name": "cancel", "args": { "match": "superset", "values": { "id": 17 } } }] } },
        ])
    );
    assert_eq!(
        (case.get("query"), case.get("expected_tools")),
        (None, None)
    );
    let record: Value =
        serde_json::from_str(&repository.read("golden/runs/agent/cancel.json")).unwrap();
    assert_eq!(
        record["outputs"]["turns"][1],
        json!({ "user": "Number 17.", "text": "Order 17 was cancelled." })
    );
    assert_eq!(record["intermediate"]["tool_calls"][0]["turn"], 1);
    assert_eq!(repository.goldgate(&["review", "--accept", "*"]).code, 0);
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn two_messages() {
    let repository = transcribed();
    let turns = json!({ "messages": [
        { "role": "user", "content": "Cancel my order." },
        { "role": "user", "content": "It is number 17." },
        { "role": "assistant", "content": "Order 17 was cancelled." }] });
    repository.write("transcripts/cancel.json", turns.to_string());
    let ran = repository.goldgate(&["init", "--from", "transcripts"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let cases: Value = serde_json::from_str(&repository.read("golden/cases.json")).unwrap();
    let case = cases["cases"]
        .as_array()
        .unwrap()
        .iter()
        .find(|case| case["id"] == "cancel")
        .unwrap();
    assert_eq!(
        case["turns"][0]["user"],
        "Cancel my order.\n\nIt is number 17."
    );
    assert_eq!(repository.goldgate(&["review", "--accept", "*"]).code, 0);
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
}

fn instructed() {
    let repository = transcribed();
    let turns = json!({ "messages": [
        { "role": "user", "content": "Cancel my order." },
        { "role": "assistant", "content": "Which one?" },
        { "role": "system", "content": "The user is angry." },
        { "role": "user", "content": "Number 17." },
        { "role": "assistant", "content": "Order 17 was cancelled." }] });
    repository.write("transcripts/cancel.json", turns.to_string());
    let ran = repository.goldgate(&["init", "--from", "transcripts"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let said = "left out: 1 conversation with a system message after the first user message: transcripts/cancel.json:1\n";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
    assert!(
        !repository
            .read("golden/cases.json")
            .contains("Cancel my order.")
    );
}

fn nothing_left() {
    let repository = transcribed();
    // The schema cannot be written after the cases were.
    repository.write(".goldgate/schemas", "mine");
    let before = files(&repository);
    let ran = repository.goldgate(&["init", "--from", "transcripts"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(files(&repository), before);
    repository.remove(".goldgate/schemas");
    let ran = repository.goldgate(&["init", "--from", "transcripts", "--files", "promts/**"]);
    let said =
        "command line: --files \"promts/**\" matches no file; correct it, or leave --files out";
    assert!(ran.code == 2 && ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(
        repository.goldgate(&["init", "--from", "transcripts"]).code,
        0
    );
}

/// A conversation with a call and its result.
fn called(answer: &str, ticket: &str) -> Value {
    json!({ "messages": [
        { "role": "user", "content": "Order 12 broke, write to jane@example.com or 0800 555 0142." },
        { "role": "assistant", "tool_calls": [
            { "id": "1", "type": "function", "function": { "name": "get_order", "arguments": "{\"order\": 12}" } }] },
        { "role": "tool", "tool_call_id": "1", "content": "{\"due\": \"2026-03-14\", \"total\": 1200.5}" },
        { "role": "assistant", "tool_calls": [
            { "id": "2", "type": "function", "function": { "name": "open_ticket", "arguments": "{\"order\": 12, \"summary\": \"broken\"}" } }] },
        { "role": "tool", "tool_call_id": "2", "content": format!("{{\"ticket\": \"{ticket}\"}}") },
        { "role": "assistant", "content": answer }] })
}

const FIRST: &str = "Your order over 1,200.50 EUR arrives on 14 March. I opened ticket T-91.";

fn promptfoo_config() {
    let repository = Repository::empty();
    repository.write("prompts/ask.txt", "Answer {{q}}\n");
    repository.write(
        "promptfooconfig.yaml",
        "prompts: [file://prompts/ask.txt]\ntests:\n  - vars: { q: Capital of France? }\n    assert: [{ type: icontains, value: paris }]\n",
    );
    let init = ["init", "--from", "promptfooconfig.yaml", "--no-workflow"];
    let ran = repository.goldgate(&init);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("golden/cases.json (1 case)")
            && ran.stdout.ends_with("Next: goldgate record -- COMMAND\n"),
        "{}",
        ran.stdout
    );
    let cases: Value = serde_json::from_str(&repository.read("golden/cases.json")).unwrap();
    assert_eq!(
        cases["cases"][0]["answer"],
        json!([{ "all_of": ["paris"] }])
    );
    assert_eq!(cases["cases"][0].get("draft"), None, "it was decided there");
}

fn forbidden_tools() {
    let repository = Repository::empty();
    let refund = chat("Refund order 9.", "issue_refund", "Done.");
    let status = chat("Where is order 9?", "get_order", "On its way.");
    repository.write("chats/a.jsonl", format!("{refund}\n{status}\n"));
    let ran = repository.goldgate(&["init", "--from", "chats", "--no-workflow"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let cases: Value = serde_json::from_str(&repository.read("golden/cases.json")).unwrap();
    let forbidden = |index: usize| cases["cases"][index]["trajectory"]["forbidden_tools"].clone();
    assert_eq!(
        (forbidden(0), forbidden(1)),
        (Value::Null, json!(["issue_refund"])),
        "{cases}"
    );
}

fn reworded() {
    let repository = Repository::empty();
    repository.write("chats/orders.jsonl", format!("{}\n", called(FIRST, "T-91")));
    let ran = repository.goldgate(&["init", "--from", "chats", "--no-workflow"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(repository.goldgate(&["review", "--accept", "*"]).code, 0);
    for (answer, ticket, code) in [
        (FIRST, "T-91", 0),
        (
            "Ticket T-92 is open. Expect it March 14th; it was \u{20ac}1200.5.",
            "T-92",
            0,
        ),
        (
            "Your order over 1,200.50 EUR arrives on 16 March. I opened ticket T-91.",
            "T-91",
            1,
        ),
        (
            "Your order over 1,300.50 EUR arrives on 14 March. I opened ticket T-91.",
            "T-91",
            1,
        ),
        (
            "Your order over 1,200.50 EUR arrives on 14 March. I opened ticket T-19.",
            "T-91",
            1,
        ),
    ] {
        repository.write(
            "chats/orders.jsonl",
            format!("{}\n", called(answer, ticket)),
        );
        let import = [
            "import",
            "chats",
            "--out",
            "golden/runs",
            "--agent",
            "agent",
            "--force",
        ];
        assert_eq!(repository.goldgate(&import).code, 0);
        let ran = repository.goldgate(&["run"]);
        assert_eq!(ran.code, code, "{answer}: {}", ran.stdout);
    }
}

fn personal() {
    let key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let text = format!("{FIRST} The key is {key}.");
    let written = |arguments: &[&str]| {
        let repository = Repository::empty();
        repository.write("chats/orders.jsonl", format!("{}\n", called(&text, "T-91")));
        let ran = repository.goldgate(&[&["init", "--from", "chats"], arguments].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let files = format!(
            "{}{}",
            repository.read("golden/cases.json"),
            repository.read("golden/runs/agent/orders.json")
        );
        assert!(!files.contains(key), "{files}");
        (repository, ran.stdout, files)
    };
    let note = "1 e-mail address and 1 telephone number in 1 conversation: --redact-personal replaces them";
    let (_, said, files) = written(&[]);
    assert!(
        said.contains(note) && files.contains("jane@example.com"),
        "{said}"
    );
    let (repository, said, files) = written(&["--redact-personal"]);
    assert!(!said.contains("e-mail"), "{said}");
    assert!(
        !files.contains("jane") && !files.contains("0142"),
        "{files}"
    );
    assert!(
        files.contains("write to [email-") && files.contains("or [telephone-"),
        "{files}"
    );
    let import = [
        "import",
        "chats",
        "--out",
        "golden/runs",
        "--agent",
        "agent",
        "--force",
    ];
    let ran = repository.goldgate(&[&import[..], &["--redact-personal"]].concat());
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, ""),
        "the same recording: {}",
        ran.stderr
    );
    let ran = repository.goldgate(&[&import[..], &["--case", "orders"]].concat());
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
}

fn unanswered_line() {
    let repository = Repository::empty();
    let silent = json!({ "messages": [{ "role": "user", "content": "Hello?" }] });
    let other = chat("Refund order 9.", "find_order", "It does not exist.");
    let lines = format!("{}\n{silent}\n{other}\n", called(FIRST, "T-91"));
    repository.write("chats/all.jsonl", lines);
    let ran = repository.goldgate(&["init", "--from", "chats", "--no-workflow"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let said = "left out: 1 conversation without an answer: chats/all.jsonl:2\n";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
    let cases: Value = serde_json::from_str(&repository.read("golden/cases.json")).unwrap();
    let ids = [0, 1].map(|index| cases["cases"][index]["id"].clone());
    assert_eq!(ids, [json!("all-1"), json!("all-3")]);
    let import = [
        "import",
        "chats",
        "--out",
        "golden/runs",
        "--agent",
        "agent",
        "--force",
    ];
    let ran = repository.goldgate(&import);
    assert!(
        ran.code == 0 && ran.stderr.contains("without an answer: chats/all.jsonl:2"),
        "{}",
        ran.stderr
    );
}
