//! Recordings that were made a while ago and count from now on: of a draft, in a tier, in a suite. Without a digest they may be of the agent
//! before its prompt got worse.

use goldgate::files::sha256_hex;
use libtest_mimic::Trial;
use serde_json::json;

use super::recorded_again::{committed, is, judged};
use crate::golden_changes::commit_all;
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the old recording of a draft needs an approval when the draft becomes a case",
            draft,
        ),
        trial(
            "the old recordings of another tier need an approval when the tier begins to decide",
            tier,
        ),
        trial(
            "the old recordings that an added suite grades need an approval",
            suite,
        ),
        trial(
            "recordings that move with their suite need no approval",
            moved_suite,
        ),
    ]
}

const CONFIG: &str = "\
version: 1
baseline: base.json
suites:
  - id: s
    kind: custom
    path: cases
    checks: [{ name: ok, expr: \"text != ''\" }]
    agents: { h: { deterministic: { replay: runs }, fingerprint: [prompts/p.md] } }
  - id: t
    kind: custom
    path: more
    tier: [model]
    checks: [{ name: ok, expr: \"text.contains('17')\" }]
    agents: { h: { model: { replay: night }, fingerprint: [prompts/p.md] } }
";
const PROMPT: &str = "Answer with the number.\n";
const WORSE: &str = "Never say a number.\n";
const OLDER: &str = "counted nowhere on the base commit";

/// Two cases and their answers in a suite that decides, in the tier that does not decide, and a draft.
fn repository() -> Repository {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG);
    repository.write("prompts/p.md", PROMPT);
    for case in ["c1", "c2", "c3"] {
        let draft = if case == "c3" {
            ", \"draft\": true"
        } else {
            ""
        };
        repository.write(
            &format!("cases/{case}.json"),
            format!("{{\"input\": \"{case}\"{draft}}}"),
        );
        answer(&repository, "runs", case, "The price is 17 euros.");
    }
    for case in ["c1", "c2"] {
        repository.write(
            &format!("more/{case}.json"),
            format!("{{\"input\": \"{case}\"}}"),
        );
        answer(&repository, "night", case, "The price is about 17 euros.");
    }
    let ran = repository.goldgate(&[
        "run",
        "--tier",
        "deterministic",
        "--update-baseline",
        "--quiet",
    ]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    repository
}

fn answer(repository: &Repository, folder: &str, case: &str, text: &str) {
    let run = json!({ "status": "completed", "outputs": { "text": text } });
    repository.write(&format!("{folder}/h/{case}.json"), run.to_string());
}

/// The prompt gets worse, and what is graded is recorded again.
fn worse(repository: &Repository) {
    repository.write("prompts/p.md", WORSE);
    ["c1", "c2"]
        .iter()
        .for_each(|case| answer(repository, "runs", case, "I cannot say what it costs."));
}

fn draft() {
    let accept = |repository: &Repository| repository.write("cases/c3.json", "{\"input\": \"c3\"}");
    let repository = repository();
    worse(&repository);
    is(&judged(&repository), 0, "");
    accept(&repository);
    is(&judged(&repository), 1, OLDER);
    repository.write("cases/c3.json", "{\"input\": \"c3\", \"draft\": true}");
    commit_all(&repository);
    accept(&repository);
    is(&judged(&repository), 1, OLDER);
    repository.write(
        "runs/h/c3.json",
        format!("{}\n\n", repository.read("runs/h/c3.json")),
    );
    is(&judged(&repository), 1, OLDER);
    // Recorded again, it is a recording of an added case.
    answer(&repository, "runs", "c3", "I cannot say what that costs.");
    let ran = judged(&repository);
    assert!(
        ran.code == 0 && !ran.stdout.contains("[needs approval]"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // So is one that states the prompt.
    let digest =
        sha256_hex(format!("{}  prompts/p.md\n", sha256_hex(PROMPT.as_bytes())).as_bytes());
    let run = json!({
        "status": "completed",
        "outputs": { "text": "The price is 17 euros." },
        "provenance": { "fingerprint": digest }
    });
    for (prompt, code) in [(PROMPT, 0), (WORSE, 3)] {
        let repository = self::repository();
        repository.write("runs/h/c3.json", run.to_string());
        repository.write("prompts/p.md", prompt);
        commit_all(&repository);
        accept(&repository);
        let ran = judged(&repository);
        assert!(
            ran.code == code && !ran.stdout.contains(OLDER),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

fn begins_to_count(begin: impl Fn(&Repository)) {
    for is_own_change in [true, false] {
        let repository = repository();
        worse(&repository);
        if is_own_change {
            is(&judged(&repository), 0, "");
            commit_all(&repository);
        }
        begin(&repository);
        is(&judged(&repository), 1, OLDER);
        for case in ["c1", "c2"] {
            answer(&repository, "night", case, "I cannot say what it costs.");
        }
        let ran = judged(&repository);
        assert!(
            ran.code == 1 && !ran.stdout.contains(OLDER),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

fn tier() {
    begins_to_count(|repository| {
        repository.replace("goldgate.yaml", "    tier: [model]\n", "");
        repository.replace(
            "goldgate.yaml",
            "model: { replay: night }",
            "deterministic: { replay: night }",
        );
    });
}

fn suite() {
    begins_to_count(|repository| {
        let added = "  - { id: u, kind: custom, path: more, checks: [{ name: ok, expr: \"text.contains('17')\" }], \
                     agents: { h: { deterministic: { replay: night }, fingerprint: [prompts/p.md] } } }\n";
        repository.write("goldgate.yaml", format!("{CONFIG}{added}"));
    });
}

/// The suite has another name, and one of its cases is in a suite of its own.
fn moved_suite() {
    let repository = repository();
    let config = repository.read("goldgate.yaml");
    let of_s = config
        .split("  - id: t")
        .next()
        .unwrap()
        .split("suites:\n")
        .nth(1)
        .unwrap();
    repository.write("one/c2.json", "{\"input\": \"c2\"}");
    repository.remove("cases/c2.json");
    let other = of_s
        .replace("id: s", "id: v")
        .replace("path: cases", "path: one");
    repository.write("goldgate.yaml", format!("{config}{other}"));
    let ran = judged(&repository);
    assert!(!ran.stdout.contains(OLDER), "{}{}", ran.stdout, ran.stderr);
    committed(&repository);
    let config = repository.read("goldgate.yaml");
    repository.write("goldgate.yaml", config.replace("id: v", "id: w"));
    let ran = judged(&repository);
    assert!(!ran.stdout.contains(OLDER), "{}{}", ran.stdout, ran.stderr);
}
