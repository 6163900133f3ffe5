//! Which files are imported, in which format, and for which case.

use serde_json::{Value, json};

use super::record;
use crate::repository::Repository;

fn chat(query: &str, answer: &str, more: &str) -> String {
    let messages =
        json!([{ "role": "user", "content": query }, { "role": "assistant", "content": answer }]);
    format!("{{\"messages\": {messages}{more}}}\n")
}

const OUT: [&str; 4] = ["--out", "runs", "--agent", "h"];

pub fn formats_are_found_out() {
    let repository = Repository::empty();
    repository.write("logs/chat.json", chat("q", "a", ", \"case\": \"chat\""));
    let parts = json!([{ "type": "thinking", "thinking": "…" }, { "type": "text", "text": "b" }]);
    let blocks =
        json!({ "case": "blocks", "messages": [{ "role": "assistant", "content": parts }] });
    repository.write("logs/deep/blocks.jsonl", blocks.to_string());
    repository.write("logs/deep/settings.json", "{\"compilerOptions\": {}}");
    repository.write("logs/deep/readme.md", "Not a transcript.");
    repository.write("logs/.hidden/chat.json", "[");
    let ran = repository.goldgate(&[&["import", "logs"], &OUT[..]].concat());
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "runs/h/blocks.json\nruns/h/chat.json\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        ran.stderr,
        "left out: 1 x \"thinking\"\nskipped logs/deep/settings.json: the format is not known\n"
    );
    assert_eq!(
        record(&repository, "runs/h/blocks.json", 0)["provenance"]["target"],
        "import anthropic"
    );
    assert_eq!(
        record(&repository, "runs/h/chat.json", 0)["provenance"]["target"],
        "import openai"
    );
    let ran = repository.goldgate(&["import", "logs/**/*.js*", "--out", "again", "--agent", "h"]);
    let told = "logs/deep/settings.json:1:1: the format of this file is not known";
    assert!(
        ran.code == 2 && ran.stderr.starts_with(told),
        "a file that a pattern names must be read: {}",
        ran.stderr
    );
    let ran = repository.goldgate(&[
        "import",
        "logs/*.json",
        "logs/deep/*.jsonl",
        "--out",
        "again",
        "--agent",
        "h",
    ]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "again/h/blocks.json\nagain/h/chat.json\n"),
        "{}",
        ran.stderr
    );
}

pub fn nothing_to_read_is_told() {
    let repository = Repository::empty();
    repository.write("empty/notes.txt", "Nothing here.");
    for (paths, what) in [
        (&["no/*.json"][..], "no/*.json: the folder does not exist"),
        (
            &["empty/*.json"][..],
            "empty/*.json: no file matches this pattern",
        ),
        (&["empty"][..], "empty: no file of a known format was found"),
        (
            &["../no-such-file-beside-a-repository.json"][..],
            "no-such-file-beside-a-repository.json: the file does not exist",
        ),
        (
            &["openai", "missing.json"][..],
            "missing.json: the file does not exist",
        ),
        (&["openai"][..], "openai: the file does not exist"),
    ] {
        let ran = repository.goldgate(&[&["import"], paths, &OUT[..]].concat());
        assert!(
            ran.code == 2 && ran.stderr.contains(what),
            "{paths:?}: {}",
            ran.stderr
        );
    }
}

pub fn equal_problems_are_one() {
    let repository = Repository::empty();
    let unanswered = "{\"messages\": [{\"role\": \"user\", \"content\": \"q\"}]}\n";
    let import = |count: usize| {
        repository.write("t.jsonl", unanswered.repeat(count));
        repository
            .goldgate(&[&["import", "openai", "t.jsonl", "--case", "c"], &OUT[..]].concat())
            .stderr
    };
    let (two, ten) = (import(2), import(10));
    assert_eq!(two.lines().count(), 3, "{two}");
    assert!(ten.starts_with(
        "t.jsonl:1:1: this transcript has no assistant message (and 9 more problems like this);"
    ));
    assert_eq!(ten.lines().count(), 2, "{ten}");
}

pub fn cases_by_a_key() {
    let repository = Repository::empty();
    let thread = |id: &str| format!(", \"metadata\": {{\"thread.of\": {{\"id\": {id}}}}}");
    repository.write(
        "t.jsonl",
        chat("q", "a", &thread("\"t-17\"")) + &chat("r", "b", &thread("18")),
    );
    let import = |key: &str| {
        repository.goldgate(&[&["import", "t.jsonl", "--case-key", key], &OUT[..]].concat())
    };
    let ran = import("metadata.thread.of.id");
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "runs/h/18.json\nruns/h/t-17.json\n"),
        "{}",
        ran.stderr
    );
    let ran = import("metadata.session");
    assert!(
        ran.code == 2
            && ran
                .stderr
                .starts_with("t.jsonl:1:1: this record has no text or number at"),
        "{}",
        ran.stderr
    );
    repository.write("t.jsonl", chat("q", "a", &thread("\"../up\"")));
    let ran = import("metadata.thread.of.id");
    assert!(
        ran.code == 2 && ran.stderr.contains("[bad-id]"),
        "{}",
        ran.stderr
    );
}

pub fn samples_answer_one_input() {
    let repository = Repository::empty();
    repository.write("a.json", chat("Where is my order 17?", "a", ""));
    repository.write("b.json", chat("Where  is my order 17?", "b", ""));
    repository.write("c.json", chat("Are you open?", "c", ""));
    let import = |files: &[&str]| {
        repository.goldgate(&[&["import"], files, &["--case", "order"], &OUT[..]].concat())
    };
    let ran = import(&["a.json", "c.json"]);
    let told = "c.json:1:1: this conversation asks \"Are you open?\", but the first one for the case \"order\" asks";
    assert!(
        ran.code == 2 && ran.stderr.starts_with(told),
        "{}",
        ran.stderr
    );
    let ran = import(&["a.json", "b.json"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "runs/h/order/0.json\nruns/h/order/1.json\n"),
        "{}",
        ran.stderr
    );
}

/// Two trials of one task: the simulated user words its messages differently.
pub fn trials_are_samples() {
    let repository = Repository::empty();
    let trial = |trial: u32, said: &str, answer: &str| {
        json!({ "task_id": 1, "trial": trial, "reward": 1.0, "info": {}, "traj": [{ "role": "user", "content": "Cancel my trip." },
            { "role": "assistant", "content": "Which one?" }, { "role": "user", "content": said }, { "role": "assistant", "content": answer }] })
    };
    let results = json!([
        trial(0, "The one to Oslo.", "Cancelled."),
        trial(1, "Oslo, please.", "The trip to Oslo is cancelled.")
    ]);
    repository.write("results.json", results.to_string());
    let import = |more: &[&str]| {
        repository.goldgate(&[&["import", "results.json"], more, &OUT[..]].concat())
    };
    let ran = import(&[]);
    assert!(
        ran.code == 2 && ran.stderr.contains("[different-inputs]"),
        "{}",
        ran.stderr
    );
    let files = "runs/h/task-1/0.json\nruns/h/task-1/1.json\n";
    let ran = import(&["--trials"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, files),
        "{}",
        ran.stderr
    );
    for (more, count) in [(&["--trials"][..], 1), (&[], 2)] {
        let repository = Repository::empty();
        repository.write("results.json", results.to_string());
        let ran = repository.goldgate(
            &[
                &[
                    "init",
                    "--from",
                    "results.json",
                    "--agent",
                    "h",
                    "--no-workflow",
                ],
                more,
            ]
            .concat(),
        );
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let cases: Value = serde_json::from_str(&repository.read("golden/cases.json")).unwrap();
        assert_eq!(cases["cases"].as_array().unwrap().len(), count);
        if count == 1 {
            assert!(repository.path("golden/runs/h/task-1/1.json").exists());
            let ran = repository.goldgate(&["review", "--accept", "*"]);
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            let ran = repository.goldgate(&["run"]);
            assert!(
                ran.stdout.contains("up to 2 samples per case"),
                "{}{}",
                ran.stdout,
                ran.stderr
            );
        }
    }
}
