//! `goldgate import` reads run records: those of other replay folders, and those of recorders of one's own.

use serde_json::{Value, json};

use super::record;
use crate::repository::{RUN, Ran, Repository};

const TARGET: &str = "golden/runs/legal/lease.json";

/// A repository with one recording elsewhere and none in its replay folder.
fn made() -> Repository {
    let repository = Repository::small();
    repository.remove("golden/runs");
    repository.write("made/legal/lease.json", bare("Needs prior approval."));
    repository
}

/// What a recorder of one's own may write: it names neither agent nor case.
fn bare(description: &str) -> String {
    let run: Value = serde_json::from_str(RUN).unwrap();
    let mut outputs = run["outputs"].clone();
    outputs["findings"][0]["description"] = json!(description);
    format!("{{ \"status\": \"completed\",\n  \"outputs\": {outputs}, \"own\": 1.50 }}\n")
}

fn import(repository: &Repository, paths: &[&str], more: &[&str]) -> Ran {
    let out = ["--out", "golden/runs"];
    repository.goldgate(&[&["import"], paths, &out[..], more].concat())
}

/// A folder, a file, standard input and several samples; the rest of a record stays as it was.
pub fn where_they_belong() {
    let repository = made();
    let ran = import(&repository, &["made"], &[]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "golden/runs/legal/lease.json\n", "")
    );
    let text = repository.read(TARGET);
    let start = bare("Needs prior approval.").replace(" }\n", "");
    assert!(text.starts_with(&start), "{text}");
    let run: Value = serde_json::from_str(&text).unwrap();
    for digest in ["agent_sha256", "input_sha256", "content_sha256"] {
        assert!(run["provenance"][digest].is_string(), "{digest}: {run}");
    }
    let ran = repository.goldgate(&["stamp"]);
    assert!(ran.stdout.starts_with("nothing to do"), "{ran:?}");
    assert_eq!(repository.goldgate(&["run"]).code, 0);

    // The names that a record states go before its path, and those of the command line before both.
    let stated = |sample: u32| RUN.replace("\"sample\": 0", &format!("\"sample\": {sample}"));
    repository.write("loose/b.json", stated(0));
    repository.write("loose/a.json", stated(1).replace("Needs", "It needs"));
    let ran = import(&repository, &["loose/*.json"], &["--force"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (
            0,
            "golden/runs/legal/lease/0.json\ngolden/runs/legal/lease/1.json\n"
        ),
        "{}",
        ran.stderr
    );
    let run = record(&repository, "golden/runs/legal/lease/1.json", 1);
    let description = &run["outputs"]["findings"][0]["description"];
    assert_eq!(description, "It needs prior approval.");
    let named = ["--agent", "other", "--case", "one"];
    let ran = repository.goldgate(
        &[
            &["import", "loose/a.json", "--out", "elsewhere"],
            &named[..],
        ]
        .concat(),
    );
    assert_eq!(ran.stdout, "elsewhere/other/one.json\n", "{}", ran.stderr);
    let run = record(&repository, "elsewhere/other/one.json", 0);
    assert_eq!(
        (&run["agent"], &run["case"], &run["sample"]),
        (&json!("other"), &json!("one"), &json!(0))
    );
    assert!(
        run["provenance"].is_null()
            && ran
                .stderr
                .contains("no suite of goldgate.yaml has the case one for the agent other"),
        "{ran:?}"
    );
    let arguments = ["import", "-", "--out", "piped"];
    let ran = repository.goldgate_reading(&arguments, RUN.as_bytes());
    assert_eq!(ran.stdout, "piped/legal/lease.json\n", "{}", ran.stderr);
}

/// A record may have keys of a transcript, and a transcript those of a record.
pub fn told_apart() {
    let repository = Repository::empty();
    let messages =
        json!([{ "role": "user", "content": "q" }, { "role": "assistant", "content": "a" }]);
    let chain = json!({ "id": "1", "trace_id": "t", "run_type": "chain", "status": "success",
        "inputs": { "messages": [{ "type": "human", "content": "q" }] },
        "outputs": { "messages": [{ "type": "ai", "content": "a" }] },
        "start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:00:09" });
    let failed = json!({ "status": "error", "error": { "message": "timed out" }, "outputs": {} });
    let stated = json!({ "schema": "goldgate.run/1", "status": "error", "messages": messages });
    for (text, target) in [
        (chain, json!("import langsmith")),
        (
            json!({ "messages": messages, "status": "completed" }),
            json!("import openai"),
        ),
        (messages.clone(), json!("import openai")),
        (
            json!({ "error": { "message": "overloaded" } }),
            json!("import openai"),
        ),
        (failed, Value::Null),
        (stated, Value::Null),
    ] {
        repository.write("one.json", text.to_string());
        let names = ["--out", "runs", "--agent", "a", "--case", "c", "--force"];
        let ran = repository.goldgate(&[&["import", "one.json"], &names[..]].concat());
        assert_eq!(ran.code, 0, "{text}: {}", ran.stderr);
        let run: Value = serde_json::from_str(&repository.read("runs/a/c.json")).unwrap();
        assert_eq!(run["provenance"]["target"], target, "{text}: {run}");
    }
}

/// Neither digests nor blanks change, with --force or without, of a run record or a transcript.
pub fn same_content() {
    let repository = made();
    assert_eq!(import(&repository, &["made"], &[]).code, 0);
    repository.write("prompts/legal.md", "Another prompt.\n");
    let before = repository.read(TARGET);
    let left = "unchanged, digests too: 1 recording with the same content (golden/runs/legal/lease.json); if the agent ran again, write \
                when it did: created_at of a transcript, provenance.recorded_at of a run record; or say that it did: `goldgate \
                stamp --stale`\n";
    for force in [&[][..], &["--force"]] {
        let ran = import(&repository, &["made"], force);
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (0, "", left),
            "{force:?}"
        );
        assert_eq!(repository.read(TARGET), before, "{force:?}");
    }
    // A vote, the origin and the keys that repeat the path are not content.
    let more = r#"{ "agent": "legal", "judgements": {}, "provenance": { "model": "m" }, "#;
    repository.write(
        "made/legal/lease.json",
        bare("Needs prior approval.").replacen('{', more, 1),
    );
    assert_eq!(import(&repository, &["made"], &["--force"]).stderr, left);
    assert_eq!(repository.read(TARGET), before);

    repository.write("made/legal/lease.json", bare("Needs approval."));
    let ran = import(&repository, &["made"], &[]);
    assert!(
        ran.code == 2 && ran.stderr.contains("this recording already exists"),
        "{ran:?}"
    );
    assert_eq!(repository.read(TARGET), before);
    assert_eq!(import(&repository, &["made"], &["--force"]).code, 0);
    let after = repository.read(TARGET);
    assert!(after.contains("Needs approval."), "{after}");
    assert_eq!(repository.goldgate(&["run"]).code, 0, "today's digests");

    // Of several samples, those with other content are replaced.
    for (sample, description) in [(0, "Needs approval."), (1, "Needs prior approval.")] {
        let file = format!("made/legal/lease/{sample}.json");
        repository.write(&file, bare(description));
    }
    repository.remove("made/legal/lease.json");
    let ran = import(&repository, &["made"], &[]);
    assert!(
        ran.code == 2 && ran.stderr.contains("in the other layout"),
        "{ran:?}"
    );
    let ran = import(&repository, &["made"], &["--force"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "golden/runs/legal/lease/1.json\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(repository.read("golden/runs/legal/lease/0.json"), after);

    let chat = json!([{ "role": "user", "content": "q" }, { "role": "assistant", "content": "a" }]);
    repository.write("chat.json", chat.to_string());
    let arguments = [
        "import",
        "chat.json",
        "--out",
        "chats",
        "--agent",
        "a",
        "--case",
        "c",
    ];
    let ran = repository.goldgate(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mut kept: Value = serde_json::from_str(&repository.read("chats/a/c.json")).unwrap();
    kept["provenance"]["agent_sha256"] = json!("of another prompt");
    repository.write("chats/a/c.json", kept.to_string());
    let ran = repository.goldgate(&[&arguments[..], &["--force"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(repository.read("chats/a/c.json"), kept.to_string());
}

/// As with `stamp`: only a record that states no digests gets them.
pub fn other_digests() {
    let repository = made();
    assert_eq!(import(&repository, &["made"], &[]).code, 0);
    repository.write("kept/legal/lease.json", repository.read(TARGET));
    repository.remove("golden/runs");
    repository.write("prompts/legal.md", "Another prompt.\n");
    let ran = import(&repository, &["kept"], &[]);
    let says = "1 recording states digests of other files or inputs, or was edited (golden/runs/legal/lease.json)";
    assert!(ran.code == 0 && ran.stderr.contains(says), "{ran:?}");
    assert_eq!(
        repository.read(TARGET),
        repository.read("kept/legal/lease.json")
    );
    assert_eq!(repository.goldgate(&["run"]).code, 3);
}

/// Each is refused with its place, and nothing is written.
pub fn refused() {
    let repository = made();
    repository.write("one/legal/a.json", RUN.replace("\"lease\"", "\"a\""));
    repository.write("one/legal/b.json", RUN.replace("\"lease\"", "\"b\""));
    repository.write("broken/legal/lease.json", RUN.replace("[", "[,"));
    for (name, text) in [
        ("list", r#"{"status": "completed", "outputs": []}"#),
        ("status", r#"{"status": "done", "outputs": {}}"#),
        (
            "twice",
            r#"{"status": "error", "outputs": {"a": 1, "a": 2}}"#,
        ),
        (
            "other",
            r#"{"schema": "goldgate.run/9", "status": "error", "outputs": {}}"#,
        ),
    ] {
        repository.write(&format!("{name}/legal/lease.json"), text);
    }
    for (paths, more, says) in [
        (
            ["made/legal/lease.json"],
            &[][..],
            "lease.json:1:1: this run has no agent name",
        ),
        (
            ["made/legal/lease.json"],
            &["--agent", "legal"],
            "lease.json:1:1: this run has no case id",
        ),
        (
            ["one"],
            &["--case", "lease"],
            "b.json:1:1: this run has the case \"b\", but the first one has \"a\"",
        ),
        (
            ["list"],
            &[],
            "list/legal/lease.json:1:36: \"outputs\" is not an object",
        ),
        (["status"], &[], "unknown status \"done\""),
        (["twice"], &[], "duplicate key"),
        (["other"], &[], "unknown schema \"goldgate.run/9\""),
        (["broken"], &[], "broken/legal/lease.json:4:"),
    ] {
        let ran = import(&repository, &paths, more);
        assert!(
            ran.code == 2 && ran.stderr.contains(says),
            "{paths:?} {says}: {ran:?}"
        );
        assert!(!repository.path("golden/runs").exists(), "{paths:?}");
    }
}

/// A record that another machine wrote may have a key that this one knows.
pub fn without_secrets() {
    let repository = made();
    let key = "sk-0123456789abcdefgh";
    repository.write("made/legal/lease.json", bare(key));
    assert_eq!(import(&repository, &["made"], &[]).code, 0);
    let text = repository.read(TARGET);
    assert!(!text.contains(key) && text.contains("[redacted]"), "{text}");
    assert!(text.contains("content_sha256"), "{text}");
}
