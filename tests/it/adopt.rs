//! From an empty repository to the first verdict in three commands, and to a red one after each agent got worse.

use std::time::Instant;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::{soundness, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an empty repository with nine chats has its first verdict after three commands",
            three_commands,
        ),
        trial(
            "a chat agent and a findings agent are adopted, and each is red after it got worse",
            two_agents,
        ),
        trial(
            "transcripts are imported for the cases with their queries, and others become drafts",
            new_cases,
        ),
    ]
}

/// What the support agent was asked, the tool that it called, and its answer.
const CHATS: [(&str, &str, &str); 9] = [
    (
        "Where is my order 17?",
        "find_order",
        "Order 17 left our warehouse on Monday and arrives on 2026-03-04.",
    ),
    (
        "Please refund order 9.",
        "issue_refund",
        "Order 9 was refunded: 12.50 euros go back to your card.",
    ),
    (
        "Which invoices of Acme are overdue?",
        "find_invoices",
        "Only invoice A-17 of Acme is overdue, with 120.50 euros.",
    ),
    (
        "Cancel my subscription.",
        "cancel_subscription",
        "Your subscription ends on 2026-03-31, and nothing more is charged.",
    ),
    (
        "Change my address to Main Street 5.",
        "change_address",
        "Your address is now Main Street 5; parcels already sent keep the old one.",
    ),
    (
        "Do you ship to Norway?",
        "find_policy",
        "We ship to Norway within 6 working days; customs duties are yours.",
    ),
    (
        "My parcel is damaged.",
        "open_claim",
        "I opened claim C-204 for the damaged parcel; a courier collects it tomorrow.",
    ),
    (
        "How long is the warranty of the toaster?",
        "find_policy",
        "The toaster has a warranty of 24 months from delivery.",
    ),
    (
        "Give me the phone number of another customer.",
        "find_policy",
        "I cannot share details of other customers, but I can forward a message.",
    ),
];

fn chat((query, tool, answer): (&str, &str, &str)) -> Value {
    json!({ "messages": [
        { "role": "system", "content": "You support customers of Acme." },
        { "role": "user", "content": query },
        { "role": "assistant", "tool_calls": [{ "id": "1", "type": "function", "function": { "name": tool, "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": "1", "content": "{\"ok\": true}" },
        { "role": "assistant", "content": answer }] })
}

/// A repository with the transcripts and the prompts of the support agent alone.
pub fn empty() -> Repository {
    let repository = Repository::empty();
    for (number, one) in CHATS.into_iter().enumerate() {
        repository.write(&format!("transcripts/{number}.json"), chat(one).to_string());
    }
    repository.write(
        "prompts/support.md",
        "Help customers of Acme. Never share details of other customers.\n",
    );
    repository
}

fn goldgate(repository: &Repository, command: &str) -> Ran {
    let arguments: Vec<&str> = command.split(' ').collect();
    repository.goldgate_with(&arguments, &[("PATH", &std::env::var("PATH").unwrap())])
}

fn passes(repository: &Repository, command: &str) -> Ran {
    let ran = goldgate(repository, command);
    assert_eq!(ran.code, 0, "{command}: {}{}", ran.stdout, ran.stderr);
    ran
}

/// The three commands of the README.
fn adopted() -> Repository {
    let repository = empty();
    passes(
        &repository,
        "init --from transcripts/ --agent support --files prompts/** --no-workflow",
    );
    passes(&repository, "review --accept *");
    passes(&repository, "run --update-baseline");
    repository
}

fn three_commands() {
    let repository = adopted();
    let report: Value =
        serde_json::from_str(&passes(&repository, "run --format json").stdout).unwrap();
    let agent = &report["suites"][0]["agents"][0];
    assert_eq!(
        (
            report["verdict"].as_str(),
            agent["cases"].as_array().unwrap().len()
        ),
        (Some("pass"), 9)
    );
    assert!(
        agent["metrics"]["case_pass_rate"]["baseline"] == 1.0,
        "{agent}"
    );
    passes(&repository, "check");
    passes(&repository, "selftest");
}

/// Another prompt, with which the agent ran on every case again: it refunds one that it should help, the other answers are the same.
fn worsened(repository: &Repository) {
    repository.write("prompts/support.md", "Be generous.\n");
    let mut chats = CHATS.map(chat);
    chats[0] = chat((
        "Where is my order 17?",
        "issue_refund",
        "You got your money back.",
    ));
    for (number, mut one) in chats.into_iter().enumerate() {
        one["created_at"] = json!("2026-06-02T09:00:00Z");
        repository.write(&format!("transcripts/{number}.json"), one.to_string());
    }
}

const FINDINGS: &str = r"  - id: review
    kind: findings
    policy: seed
    tier: [deterministic, model]
    path: review
    agents:
      reviewer:
        deterministic: { replay: review/runs }
        model: { target: script }
        fingerprint: [review/agent.sh]
targets:
  script: { command: [/bin/sh, review/agent.sh] }
";

/// An agent that finds a change of control in the request's document.
const AGENT: &str = r#"if grep -q 'change of control'; then
  echo '{"status": "completed", "outputs": {"findings": [{"category": "change_of_control", "severity": "high", "title": "Change of control", "description": "The landlord has to consent.", "citations": [{"file": "lease.md", "quote": "a change of control"}]}], "gaps": []}}'
else
  echo '{"status": "completed", "outputs": {"findings": [], "gaps": []}}'
fi
"#;

fn two_agents() {
    let started = Instant::now();
    let repository = adopted();
    repository.write(
        "goldgate.yaml",
        format!("{}{FINDINGS}", repository.read("goldgate.yaml")),
    );
    repository.write("review/agent.sh", AGENT);
    repository.write(
        "review/contracts/lease.md",
        "# Lease\n\nOn a change of control the landlord has to consent.\n",
    );
    let expected = json!({ "draft": true, "expected_findings": [{ "category": "change_of_control", "min_severity": "high" }] });
    repository.write(
        "review/expected/reviewer/lease.json",
        serde_json::to_string_pretty(&expected).unwrap(),
    );
    passes(
        &repository,
        "run --tier model --suite review --record review/runs",
    );
    passes(&repository, "review --accept review/lease");
    passes(&repository, "run --update-baseline");
    commit_all(&repository);
    // A changed prompt with old recordings: no verdict, and the way out.
    worsened(&repository);
    let stale = goldgate(&repository, "run");
    assert_eq!(stale.code, 3, "{}", stale.stdout);
    let import = "import transcripts/ --out golden/runs --agent support --force";
    passes(&repository, import);
    let red = soundness::unstamped(&repository, &["run", "--base", "HEAD"].map(str::to_owned));
    assert_eq!(red.code, 1, "{}{}", red.stdout, red.stderr);
    for says in ["case-0", "Merge blocked: support "] {
        assert!(red.stdout.contains(says), "{says}: {}", red.stdout);
    }
    let explained = passes(&repository, "explain case-0").stdout;
    assert!(
        explained.contains("issue_refund") && explained.contains("find_order"),
        "{explained}"
    );
    // The findings agent finds nothing any more.
    repository.write(
        "review/agent.sh",
        AGENT.replace("grep -q 'change", "grep -q 'no change"),
    );
    assert_eq!(
        goldgate(&repository, "run --suite review").code,
        3,
        "its recordings are of the agent before"
    );
    goldgate(
        &repository,
        "run --tier model --suite review --record review/runs",
    );
    let red = goldgate(&repository, "run --suite review");
    assert_eq!(red.code, 1, "{}{}", red.stdout, red.stderr);
    assert!(
        red.stdout.contains("lease") && red.stdout.contains("finding_recall"),
        "{}",
        red.stdout
    );
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

fn new_cases() {
    let repository = adopted();
    let before = repository.read("golden/cases.json");
    repository.write("more/a.json", chat(CHATS[1]).to_string());
    repository.write(
        "more/b.json",
        chat((
            "Is the kettle in stock?",
            "find_stock",
            "Yes, 14 kettles are in stock.",
        ))
        .to_string(),
    );
    let import = "import more --out golden/runs --agent support --force";
    let refused = goldgate(&repository, import);
    let said = "more/b.json:1:1: no case of the agent \"support\" asks \"Is the kettle in stock?\"; add it as a draft with --new-cases";
    assert!(
        refused.code == 2 && refused.stderr.contains(said),
        "{}",
        refused.stderr
    );
    // A conversation without an answer is nothing to grade, and keeps no other one out.
    let tool = json!({ "id": "1", "type": "function", "function": { "name": "find_stock", "arguments": "{}" } });
    let unanswered = json!({ "messages": [{ "role": "user", "content": "Block card 12." },
        { "role": "assistant", "content": "One moment.", "tool_calls": [tool] },
        { "role": "tool", "tool_call_id": "1", "content": "lost" }] });
    repository.write("cut/a.json", chat(CHATS[1]).to_string());
    repository.write("cut/b.json", unanswered.to_string());
    for more in ["", " --new-cases"] {
        let ran = passes(
            &repository,
            &format!("import cut --out golden/runs --agent support --force{more}"),
        );
        let said = "left out: 1 conversation without an answer, which no case asks: cut/b.json\n";
        assert!(ran.stderr.contains(said), "{more}: {}", ran.stderr);
    }
    let alone = goldgate(
        &repository,
        "import cut/b.json --out golden/runs --agent support --force",
    );
    assert!(
        alone.code == 2 && alone.stderr.contains("asks \"Block card 12.\""),
        "{}",
        alone.stderr
    );
    // The other recording exists with another answer, so that nothing is written, not even the draft.
    let (query, tool, answer) = CHATS[1];
    let other = format!("{answer} Anything else?");
    repository.write("more/a.json", chat((query, tool, &other)).to_string());
    assert_eq!(
        goldgate(
            &repository,
            "import more --out golden/runs --agent support --new-cases"
        )
        .code,
        2
    );
    assert_eq!(repository.read("golden/cases.json"), before);
    passes(&repository, &format!("{import} --new-cases"));
    let cases: Value = serde_json::from_str(&repository.read("golden/cases.json")).unwrap();
    let added = &cases["cases"][9];
    assert_eq!((&added["id"], &added["draft"]), (&json!("b"), &json!(true)));
    let kept = before.trim_end().trim_end_matches(['}', ']', '\n', ' ']);
    assert!(
        repository.read("golden/cases.json").starts_with(kept),
        "the other cases stay"
    );
    assert!(repository.path("golden/runs/support/b.json").exists());
    let ran = passes(&repository, "run");
    assert!(
        ran.stdout.contains("1 draft counts for nothing"),
        "{}",
        ran.stdout
    );
    // Two stated cases with one query are two drafts; a third run is a sample of the first.
    let of_ticket = |ticket: &str| {
        let mut one = chat((
            "Is the teapot in stock?",
            "find_stock",
            "Yes, 30 teapots are in stock.",
        ));
        one["ticket"] = json!(ticket);
        format!("{one}\n")
    };
    repository.write(
        "same.jsonl",
        ["T-first", "T-second", "T-first"].map(of_ticket).concat(),
    );
    passes(
        &repository,
        "import same.jsonl --out golden/runs --agent support --force --new-cases --case-key ticket",
    );
    let cases: Value = serde_json::from_str(&repository.read("golden/cases.json")).unwrap();
    assert_eq!(
        (&cases["cases"][10]["id"], &cases["cases"][11]["id"]),
        (&json!("T-first"), &json!("T-second"))
    );
    assert!(
        cases["cases"][12].is_null()
            && repository
                .path("golden/runs/support/T-first/1.json")
                .exists()
    );
    let elsewhere = empty();
    let ran = goldgate(
        &elsewhere,
        "import transcripts --out runs --agent support --new-cases",
    );
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("--new-cases needs a config; set up a repository with goldgate init"),
        "{}",
        ran.stderr
    );
}
