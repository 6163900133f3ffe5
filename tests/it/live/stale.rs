//! A recording keeps what its agent was made of; one of another state proves nothing.

use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{Answer, Endpoint, GOOD, live, model};
use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a recording whose agent has changed since carries no verdict, and recording anew mends it",
            refused,
        ),
        trial(
            "recordings without a digest are graded, and a note asks to stamp them",
            unknown,
        ),
        trial(
            "an answer of another state of the agent is not taken from the cache",
            cache,
        ),
        trial(
            "with a base commit, the files that changed are named",
            named_files,
        ),
        trial(
            "stamp writes digests that are missing, and replaces others only with --stale",
            stamped,
        ),
    ]
}

const RULES: &str = "prompts/legal/rules.md";

fn endpoint() -> Endpoint {
    Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()))
}

fn recorded(endpoint: &Endpoint) -> Repository {
    let repository = live(endpoint, "openai", "");
    repository.write(RULES, "Report every change of control.\n");
    repository.write("prompts/legal/notes.txt", "not a part of it\n");
    repository.replace(
        "goldgate.yaml",
        "fingerprint: [prompts/legal.md]",
        "fingerprint: ['prompts/**/*.md']",
    );
    repository.remove("golden/runs");
    assert_eq!(record(&repository).code, 0);
    repository
}

fn record(repository: &Repository) -> Ran {
    model(repository, &["--samples", "1", "--record", "golden/runs"])
}

fn graded(repository: &Repository) -> (i32, Value) {
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    (
        ran.code,
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr)),
    )
}

const RECORDING: &str = "golden/runs/legal/lease.json";

const OLD: &str = "1 recording is stale: the agent's files (prompts/**/*.md) changed since it was made (lease.json); record again: \
                   `goldgate run --tier model --suite contracts --agent legal --record golden/runs`; if the change cannot alter an answer: \
                   `goldgate stamp --suite contracts --agent legal --stale`";

fn refused() {
    let endpoint = endpoint();
    let repository = recorded(&endpoint);
    assert_eq!(graded(&repository).0, 0);
    // What is no part of the agent, changes nothing.
    repository.write("prompts/legal/notes.txt", "still none\n");
    repository.write(
        "prompts/legal/.DS_Store",
        "\0\0\0\u{1}Bud1 is what the Finder keeps\n",
    );
    repository.write("golden/expected/legal/.lease.json", "no case\n");
    std::os::unix::fs::symlink(
        "user@host.1:2",
        repository.path("golden/expected/legal/.#lease.json"),
    )
    .unwrap();
    assert_eq!(
        (graded(&repository).0, repository.goldgate(&["check"]).code),
        (0, 0)
    );
    for change in [
        |it: &Repository| it.write(RULES, "Report everything.\n"),
        |it: &Repository| it.write("prompts/legal/more.md", "And more.\n"),
        |it: &Repository| it.write("prompts/legal/.more.md", "And more.\n"),
        |it: &Repository| it.remove(RULES),
    ] {
        let before = repository.read(RULES);
        change(&repository);
        let (code, report) = graded(&repository);
        assert_eq!(
            (code, &report["not_gateable"]),
            (3, &json!([format!("contracts/legal: {OLD}")]))
        );
        // The numbers are shown all the same.
        assert_eq!(
            report["suites"][0]["agents"][0]["metrics"]["finding_recall"]["value"],
            json!(1.0)
        );
        let check = repository.goldgate(&["check"]);
        assert!(
            check.code == 2
                && check.stderr.contains(OLD)
                && check.stderr.contains("[stale-recording]"),
            "{check:?}"
        );
        repository.write(RULES, before);
        for more in ["prompts/legal/more.md", "prompts/legal/.more.md"] {
            if repository.path(more).exists() {
                repository.remove(more);
            }
        }
        assert_eq!(graded(&repository).0, 0);
    }
    // The command that the message names mends it.
    repository.write(RULES, "Report everything.\n");
    assert_eq!(record(&repository).code, 0);
    assert_eq!(graded(&repository).0, 0);
}

fn unknown() {
    let endpoint = endpoint();
    let repository = recorded(&endpoint);
    without(&repository, "agent_sha256");
    let (code, report) = graded(&repository);
    let notes = report["suites"][0]["agents"][0]["notes"].to_string();
    assert!(
        code == 0 && notes.contains("1 recording states no digests (lease.json)"),
        "{notes}"
    );
}

/// Takes a key from what the recording states of its origin.
fn without(repository: &Repository, key: &str) {
    let mut record: Value = serde_json::from_str(&repository.read(RECORDING)).unwrap();
    let origin = record["provenance"].as_object_mut().unwrap();
    assert!(origin.remove(key).is_some(), "{key}: {record}");
    repository.write(RECORDING, record.to_string());
}

fn stamped() {
    let endpoint = endpoint();
    let repository = recorded(&endpoint);
    let stated = || -> Value {
        serde_json::from_str::<Value>(&repository.read(RECORDING)).unwrap()["provenance"].clone()
    };
    let said = |more: &[&str], code: i32, says: &str| {
        let ran = repository.goldgate(&[&["stamp"], more].concat());
        assert!(
            ran.code == code && ran.stdout.contains(says),
            "{says}: {}{}",
            ran.stdout,
            ran.stderr
        );
    };
    let nothing = "nothing to do: every recording states today's digests";
    let written = "contracts/legal: 1 recording has today's digests now; commit it";
    said(&[], 0, nothing);
    let before = stated();
    for key in [
        "agent_sha256",
        "input_sha256",
        "target_sha256",
        "content_sha256",
    ] {
        without(&repository, key);
        said(&[], 0, written);
        assert_eq!(stated()[key], before[key]);
    }
    // Another prompt, another case or another content.
    let changes: [(&str, &dyn Fn()); 3] = [
        ("agent_sha256", &|| {
            repository.write(RULES, "Report everything.\n");
        }),
        ("input_sha256", &|| {
            repository.write("golden/contracts/lease.md", "# Another lease\n");
        }),
        ("content_sha256", &|| {
            let mut record: Value = serde_json::from_str(&repository.read(RECORDING)).unwrap();
            record["outputs"]["also"] = json!("edited");
            repository.write(RECORDING, record.to_string());
        }),
    ];
    for (key, change) in changes {
        change();
        let before = repository.read(RECORDING);
        let refused = "digests of other files or inputs, or was edited (golden/runs/legal/lease.json): record again, or add --stale";
        said(&[], 3, refused);
        assert_eq!(repository.read(RECORDING), before, "{key}");
        let then = stated();
        said(&["--stale"], 0, written);
        assert_ne!(stated()[key], then[key]);
        said(&[], 0, nothing);
    }
}

fn cache() {
    let endpoint = endpoint();
    let repository = recorded(&endpoint);
    let calls = |repository: &Repository| {
        let ran = model(
            repository,
            &["--samples", "1", "--format", "json", "--cache"],
        );
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        report["usage"]["calls"].as_u64().unwrap()
    };
    assert_eq!((calls(&repository), calls(&repository)), (1, 0));
    repository.write(RULES, "Report everything.\n");
    assert_eq!((calls(&repository), calls(&repository)), (1, 0));
}

fn named_files() {
    let endpoint = endpoint();
    let repository = recorded(&endpoint);
    commit_all(&repository);
    repository.write(RULES, "Report everything.\n");
    repository.write("prompts/legal/more.md", "And more.\n");
    let ran = repository.goldgate_on_commit(&["run", "--base", "HEAD", "--dirty"], &[]);
    let says = "1 recording is stale: prompts/legal/more.md, prompts/legal/rules.md changed since it was made (lease.json); record again:";
    assert!(
        ran.code == 3 && ran.stdout.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}
