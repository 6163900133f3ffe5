//! Secrets in texts that others wrote: they are printed nowhere, and goldgate writes them into no file.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::{RUN, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = FORMS
        .iter()
        .map(|form| {
            trial(format!("{} is in no output of a run", form.name), || {
                outputs(form)
            })
        })
        .collect();
    trials.extend([
        trial(
            "explain shows nothing of a key where it shortens a line",
            explained,
        ),
        trial(
            "import writes no common key, no pattern of the config and no value of a variable",
            imported,
        ),
        trial(
            "import finds the case of a message whose key it removes",
            matched,
        ),
        trial("a setup writes no key of a conversation", set_up),
        trial(
            "the patterns of a config that is not right are refused where they are",
            bad_patterns,
        ),
    ]);
    trials
}

/// A secret in an environment variable, and what a recording says of it.
struct SecretForm {
    name: &'static str,
    value: &'static str,
    /// The text in the recording.
    said: &'static str,
    /// What no output may have.
    parts: &'static [&'static str],
}

const FORMS: &[SecretForm] = &[
    SecretForm {
        name: "each line of a key with several lines",
        value: PEM,
        said: "MIIEvQIBADANBgkqhkiG9w0BAQ and then b3BlbnNzaC1rZXktdjEAAAAA",
        parts: &["MIIEvQIBADANBgkqhkiG9w0BAQ", "b3BlbnNzaC1rZXktdjEAAAAA"],
    },
    SecretForm {
        name: "a key whose lines are read as one",
        value: PEM,
        said: "MIIEvQIBADANBgkqhkiG9w0BAQ\n  b3BlbnNzaC1rZXktdjEAAAAA",
        parts: &["MIIEvQIBADANBgkqhkiG9w0BAQ", "b3BlbnNzaC1rZXktdjEAAAAA"],
    },
    SecretForm {
        name: "a value with a line break at its end",
        value: "abcd1234efgh5678ijkl\n",
        said: "it is abcd1234efgh5678ijkl, so",
        parts: &["abcd1234efgh5678ijkl"],
    },
    SecretForm {
        name: "a value with quotes",
        value: "abcd\"1234\\efgh",
        said: "it is abcd\"1234\\efgh, so",
        parts: &[
            "abcd\"1234",
            "abcd\\\"1234",
            "abcd&quot;1234",
            "1234\\efgh",
            "1234\\\\efgh",
        ],
    },
];

const PEM: &str = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END KEY-----\n";

const REPORTS: [&str; 6] = [
    "report.json",
    "report.md",
    "report.html",
    "junit.xml",
    "summary.json",
    "proposed-baseline.json",
];

/// All that a run and its explanation print and write, with these variables.
fn all_outputs(repository: &Repository, variables: &[(&str, &str)]) -> String {
    let mut all = String::new();
    for arguments in [
        &["run", "--out", "out"][..],
        &["run", "-v"],
        &["run", "--format", "json"],
        &["run", "--format", "sarif"],
        &["run", "--format", "junit"],
        &["run", "--format", "markdown"],
        &["explain", "lease"],
    ] {
        let ran = repository.goldgate_with(arguments, variables);
        assert!(ran.code < 2, "{arguments:?}: {}", ran.stderr);
        all.push_str(&ran.stdout);
        all.push_str(&ran.stderr);
    }
    for report in REPORTS {
        all.push_str(&repository.read(&format!("out/{report}")));
    }
    all
}

fn outputs(form: &SecretForm) {
    let repository = Repository::small();
    for key in ["category", "title"] {
        let mut run: Value = serde_json::from_str(RUN).unwrap();
        run["outputs"]["findings"][0][key] = json!(form.said);
        repository.write("golden/runs/legal/lease.json", run.to_string());
        let shown = all_outputs(&repository, &[]);
        assert!(
            form.parts.iter().any(|part| shown.contains(part)),
            "without the variable it is a text like others: {shown}"
        );
        let hidden = all_outputs(&repository, &[("DEPLOY_KEY", form.value)]);
        for part in form.parts {
            assert!(!hidden.contains(part), "{key}: {part}: {hidden}");
        }
        assert!(hidden.contains("[redacted]"), "{hidden}");
    }
}

fn explained() {
    let repository = Repository::small();
    let value = "abcd1234efgh5678ijkl9012mnop";
    // The line has its limit within the value.
    for before in [350, 360, 365] {
        let text = format!("{}{value}", "x".repeat(before));
        let mut run: Value = serde_json::from_str(RUN).unwrap();
        run["outputs"]["findings"][0]["description"] = json!(text);
        repository.write("golden/runs/legal/lease.json", run.to_string());
        let explain = |variables: &[(&str, &str)]| {
            let ran = repository.goldgate_with(&["explain", "lease"], variables);
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            ran.stdout
        };
        assert!(explain(&[]).contains("abcd1"));
        let shown = explain(&[("DEPLOY_KEY", value)]);
        assert!(!shown.contains("abcd1"), "{before}: {shown}");
    }
}

/// A conversation in which both sides say keys.
fn conversation() -> Value {
    let said = "Order 17 uses sk-live-0123456789abcdef0123, ACME-1234 and abcd1234efgh.";
    json!([
        { "role": "user", "content": said },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "1", "type": "function", "function": { "name": "find", "arguments": json!({ "key": said }).to_string() } }] },
        { "role": "tool", "tool_call_id": "1", "content": said },
        { "role": "assistant", "content": format!("Shipped on Monday: {said}") },
    ])
}

const REMOVED: [&str; 3] = ["sk-live-0123456789abcdef0123", "ACME-1234", "abcd1234efgh"];

const DESK: &str = "version: 1\nredact: ['ACME-\\d{4}']\nsuites:\n  - id: desk\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    agents:\n      helper: \
                    { deterministic: { replay: runs }, fingerprint: { none: a test } }\n";

fn imported() {
    for (config, left) in [
        (
            DESK.to_owned(),
            "sk-live-[redacted], [redacted] and [redacted].",
        ),
        (
            DESK.replace("redact: ['ACME-\\d{4}']\n", ""),
            "sk-live-[redacted], ACME-1234 and [redacted].",
        ),
    ] {
        let repository = Repository::empty();
        repository.write("goldgate.yaml", config);
        repository.write("cases.json", r#"{ "cases": [{ "id": "other", "category": "x", "query": "q", "expected_tools": [], "expected_output_contains": [] }] }"#);
        repository.write("talk.json", conversation().to_string());
        let ran = repository.goldgate_with(
            &[
                "import",
                "talk.json",
                "--agent",
                "helper",
                "--new-cases",
                "--out",
                "runs",
            ],
            &[("DEPLOY_KEY", "abcd1234efgh\n")],
        );
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let recording = repository.read(ran.stdout.trim());
        for text in [&recording, &repository.read("cases.json")] {
            assert!(text.contains(left), "{text}");
            for secret in [REMOVED[0], REMOVED[2]] {
                assert!(!text.contains(secret), "{secret}: {text}");
            }
        }
        assert_eq!(recording.matches(left).count(), 4, "{recording}");
    }
}

fn matched() {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", DESK);
    let message = &conversation()[0]["content"];
    let case = |query: &Value| json!({ "cases": [{ "id": "keys", "category": "x", "query": query, "expected_tools": ["find"], "expected_output_contains": [] }] });
    repository.write("talk.json", conversation().to_string());
    let arguments = ["import", "talk.json", "--agent", "helper", "--out", "runs"];
    repository.write("cases.json", case(&json!("another question")).to_string());
    assert_eq!(repository.goldgate(&arguments).code, 2);
    repository.write("cases.json", case(message).to_string());
    let ran = repository.goldgate(&arguments);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "runs/helper/keys.json\n"),
        "{}",
        ran.stderr
    );
    assert!(
        repository
            .read("runs/helper/keys.json")
            .contains("\"input_sha256\": \"")
    );
}

fn set_up() {
    let repository = Repository::empty();
    repository.write("talk.json", conversation().to_string());
    let ran = repository.goldgate_with(
        &["init", "--from", "talk.json", "--yes"],
        &[("DEPLOY_KEY", "abcd1234efgh")],
    );
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let written = [
        repository.read("golden/cases.json"),
        repository.read("golden/runs/agent/talk.json"),
    ];
    for text in &written {
        assert!(
            text.contains("sk-live-[redacted], ACME-1234 and [redacted]."),
            "no config names the pattern yet: {text}"
        );
        for secret in [REMOVED[0], REMOVED[2]] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
    assert_eq!(repository.goldgate(&["check"]).code, 0);
}

fn bad_patterns() {
    for (pattern, says) in [("(", "unclosed group"), ("x*", "it matches the empty text")] {
        let repository = Repository::small();
        repository.replace(
            "goldgate.yaml",
            "version: 1\n",
            &format!("version: 1\nredact: ['fine', '{pattern}']\n"),
        );
        let ran = repository.goldgate(&["check"]);
        assert_eq!(ran.code, 2, "{pattern}: {}", ran.stdout);
        let says = format!("goldgate.yaml:2:18: redact: {says}");
        assert!(ran.stderr.contains(&says), "{pattern}: {}", ran.stderr);
    }
}
