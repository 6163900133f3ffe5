//! `goldgate review`: decisions on drafts change one case and nothing else, on the command line and on a terminal.

use std::process::Command;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository, binary, ran, root};
use crate::tags::tagged;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a review lists drafts with the command for each decision",
            listed,
        ),
        trial(
            "an accepted draft loses its mark, and the rest of the file stays",
            accepted,
        ),
        trial("a rejected draft is removed with its recordings", rejected),
        trial(
            "a recording that a case of another suite reads stays when a draft is rejected",
            shared,
        ),
        trial(
            "a draft in a file of its own is accepted or removed",
            own_file,
        ),
        trial(
            "a decision on no draft, or two on one, changes nothing",
            refused,
        ),
        trial("a review lists newly failing and moved cases", moved),
        trial("on a terminal each case is shown and asked about", terminal),
        trial("a setup on a terminal asks four questions", questions),
    ]
}

/// Three cases in an unusual format, of which two are drafts.
const CASES: &str = r#"{ "cases":
[ {"id":"a", "category":"happy_path","query":"About a?",
     "draft": true, "expected_tools":[],   "expected_output_contains":["yes"]},
  {"id":"b", "category":"happy_path","query":"About b?", "expected_tools":[], "expected_output_contains":["yes"]},

  {"id":"c","category":"happy_path","query":"About c?","expected_tools":[],"expected_output_contains":["no"], "draft":true}
] }
"#;

fn drafted() -> Repository {
    let repository = tagged();
    repository.write("cases.json", CASES);
    repository
}

fn listed() {
    let ran = drafted().goldgate(&["review"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for says in [
        "chat/a: draft, helper passes (cases.json)\n  asked \"About a?\"\n  calls no tool\n  answer has yes\n  answer was \"yes\"\n  goldgate review \
         --accept chat/a\n  goldgate review --reject chat/a\n",
        "chat/c: draft, helper fails ",
        "2 drafts wait for a decision; `goldgate review --accept '*'` accepts all\n",
    ] {
        assert!(ran.stdout.contains(says), "{says}: {}", ran.stdout);
    }
    let repository = drafted();
    assert_eq!(repository.goldgate(&["review", "--accept", "*"]).code, 0);
    repository.replace("cases.json", "\"no\"", "\"yes\"");
    let ran = repository.goldgate(&["review"]);
    assert_eq!(
        (ran.code, ran.stdout.starts_with("Nothing to review")),
        (0, true),
        "{}",
        ran.stdout
    );
}

fn accepted() {
    for (name, from, to) in [
        (
            "chat/a",
            "\n     \"draft\": true, \"expected_tools\":[],   ",
            "\n     \"expected_tools\":[],   ",
        ),
        ("c", "[\"no\"], \"draft\":true}", "[\"no\"]}"),
        ("chat/helper/c", "[\"no\"], \"draft\":true}", "[\"no\"]}"),
    ] {
        let repository = drafted();
        let ran = repository.goldgate(&["review", "--accept", name]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(
            ran.stdout
                .contains("1 case counts from now on. Next: goldgate run"),
            "{}",
            ran.stdout
        );
        assert_eq!(repository.read("cases.json"), CASES.replacen(from, to, 1));
    }
    let repository = drafted();
    let ran = repository.goldgate(&["review", "--accept", "chat/*"]);
    assert_eq!(
        (ran.code, repository.read("cases.json").contains("draft")),
        (0, false),
        "{}",
        ran.stdout
    );
    assert_eq!(repository.goldgate(&["run"]).code, 1, "the case c fails");
}

fn rejected() {
    let repository = drafted();
    let ran = repository.goldgate(&["review", "--reject", "c", "--accept", "a"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let cases: Value = serde_json::from_str(&repository.read("cases.json")).unwrap();
    assert_eq!(cases["cases"].as_array().unwrap().len(), 2);
    assert!(
        !repository.path("runs/helper/c.json").exists()
            && repository.path("runs/helper/a.json").exists()
    );
    assert_eq!(repository.goldgate(&["check"]).code, 0);
    assert_eq!(repository.goldgate(&["run"]).code, 0);
}

fn shared() {
    let repository = drafted();
    let config = repository.read("goldgate.yaml");
    let (head, suite) = config.split_once("suites:\n").unwrap();
    let other = suite
        .replace("id: chat", "id: other")
        .replace("cases.json", "other.json");
    repository.write("goldgate.yaml", format!("{head}suites:\n{suite}{other}"));
    repository.write(
        "other.json",
        CASES
            .replace("\"draft\": true,", "")
            .replace(", \"draft\":true", ""),
    );
    for suites in [&["--suite", "chat"][..], &[]] {
        let ran = repository.goldgate(&[&["review", "--reject", "chat/c"], suites].concat());
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(repository.path("runs/helper/c.json").exists(), "{suites:?}");
        repository.write("cases.json", CASES);
    }
}

fn own_file() {
    let repository = Repository::small();
    let before = repository.read("golden/expected/legal/lease.json");
    repository.replace(
        "golden/expected/legal/lease.json",
        "{\n  \"expected_findings\"",
        "{\n  \"draft\": true,\n  \"expected_findings\"",
    );
    assert_eq!(repository.goldgate(&["run"]).code, 3);
    let drafted = repository.read("golden/expected/legal/lease.json");
    assert_eq!(
        repository.goldgate(&["review", "--accept", "lease"]).code,
        0
    );
    assert_eq!(repository.read("golden/expected/legal/lease.json"), before);
    repository.write("golden/expected/legal/lease.json", drafted);
    assert_eq!(
        repository
            .goldgate(&["review", "--reject", "contracts/lease"])
            .code,
        0
    );
    assert!(!repository.path("golden/expected/legal/lease.json").exists());
    assert!(!repository.path("golden/runs/legal/lease.json").exists());
}

fn refused() {
    let repository = drafted();
    for (arguments, said) in [
        (
            &["--accept", "chat/d"][..],
            "no draft is called \"chat/d\"; did you mean \"chat/",
        ),
        (
            &["--accept", "a", "--reject", "b"],
            "no draft is called \"b\"; ",
        ),
        (
            &["--accept", "*", "--reject", "c"],
            "chat/c is both accepted and rejected; name it once",
        ),
        (&["--accept", "["], "error"),
    ] {
        let ran = repository.goldgate(&[&["review"], arguments].concat());
        assert_eq!(ran.code, 2, "{}", ran.stdout);
        assert!(
            ran.stderr.contains(said) || said == "error",
            "{}",
            ran.stderr
        );
        assert_eq!(repository.read("cases.json"), CASES);
    }
}

fn moved() {
    let repository = tagged();
    repository.replace("cases.json", "\"no\"", "\"yes\"");
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    repository.replace("runs/helper/b.json", "yes", "maybe");
    let ran = repository.goldgate(&["review"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let says = "chat/helper/b: newly failing (cases.json)\n  goldgate explain chat/helper/b\n";
    assert!(ran.stdout.contains(says), "{}", ran.stdout);
    assert!(
        ran.stdout.contains(
            "1 case failed or moved. If that is intended, run `goldgate run --update-baseline`"
        ),
        "{}",
        ran.stdout
    );
}

/// Runs the program on a terminal of this width; `None` without Python, as on a machine for releases.
#[allow(clippy::print_stderr)]
fn on_terminal(
    repository: &Repository,
    columns: &str,
    answers: &str,
    arguments: &[&str],
) -> Option<Ran> {
    let path = std::env::var("PATH").unwrap();
    let has_python = Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !has_python {
        eprintln!("skipped: there is no python3");
        return None;
    }
    let mut command = Command::new("python3");
    command
        .arg(root().join("tests/review/terminal.py"))
        .args([columns, answers])
        .arg(binary())
        .args(arguments)
        .current_dir(repository.path(""))
        .env_clear()
        .envs([
            ("PATH", path.as_str()),
            ("SOURCE_DATE_EPOCH", "1795219200"),
            ("TERM", "xterm"),
            ("NO_COLOR", "1"),
        ])
        .env("EDITOR", "sed -i s/\"no\"/\"yes\"/");
    if let Ok(home) = std::env::var("HOME") {
        command.env("HOME", home);
    }
    Some(ran(&mut command))
}

fn terminal() {
    let repository = tagged();
    repository.replace("cases.json", "\"no\"", "\"yes\"");
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    commit_all(&repository);
    let mut run: Value = serde_json::from_str(
        &repository
            .read("runs/helper/b.json")
            .replace("yes", "maybe"),
    )
    .unwrap();
    run["intermediate"]["tool_calls"] =
        json!([{ "name": "find_order", "arguments": { "order": 17 } }]);
    repository.write("runs/helper/b.json", run.to_string());
    repository.replace(
        "cases.json",
        "\"id\": \"a\"",
        "\"draft\": true, \"id\": \"a\"",
    );
    repository.replace(
        "cases.json",
        "\"id\": \"c\"",
        "\"draft\": true, \"id\": \"c\"",
    );
    let Some(ran) = on_terminal(&repository, "120", "x,a,r,s", &["review"]) else {
        return;
    };
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    for says in [
        "[1 of 3] chat/a: draft, helper passes  (cases.json:2)",
        "[3 of 3] chat/helper/b: newly failing  (cases.json:",
        "a accept, r reject, e edit, s skip, q quit > ",
        "e edit the case, s skip, q quit > ",
        "1 accepted, 1 rejected, 1 skipped.",
        "1 case counts from now on.",
    ] {
        assert!(ran.stdout.contains(says), "{says}: {}", ran.stdout);
    }
    // The baseline's output and this one, next to each other.
    let both = |line: &str| line.contains("\"yes\"") && line.contains("\"maybe\"");
    assert!(ran.stdout.lines().any(both), "{}", ran.stdout);
    assert_eq!(
        ran.stdout
            .matches("calls find_order({\"order\":17})")
            .count(),
        1,
        "{}",
        ran.stdout
    );
    let cases = repository.read("cases.json");
    assert!(
        !cases.contains("draft") && !cases.contains("\"c\""),
        "{cases}"
    );
    // The end of input ends the review, and nothing is decided.
    repository.replace(
        "cases.json",
        "\"id\": \"a\"",
        "\"draft\": true, \"id\": \"a\"",
    );
    let Some(ran) = on_terminal(&repository, "80", "e,q", &["review"]) else {
        return;
    };
    assert!(
        ran.stdout.contains("0 accepted, 0 rejected, 0 skipped."),
        "{}",
        ran.stdout
    );
    assert!(repository.read("cases.json").contains("draft"));
}

fn questions() {
    let repository = Repository::empty();
    repository.write(
        "chats/one.json",
        r#"[{"role": "user", "content": "Which invoices are overdue?"}, {"role": "assistant", "content": "Only A-17 is overdue."}]"#,
    );
    let Some(ran) = on_terminal(&repository, "120", "chats,helper,,n", &["init"]) else {
        return;
    };
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(ran.stdout.matches(" > ").count(), 4, "{}", ran.stdout);
    assert!(repository.read("goldgate.yaml").contains("      helper:\n"));
    assert!(!repository.path(".github").exists());
    let silent = Repository::empty();
    let Some(ran) = on_terminal(&silent, "120", "", &["init", "--yes"]) else {
        return;
    };
    assert_eq!(
        (ran.code, ran.stdout.matches(" > ").count()),
        (0, 0),
        "{}",
        ran.stdout
    );
}
