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
            "with stale: warn an old recording is graded and named",
            told,
        ),
        trial(
            "recordings without a digest are graded, and the report says that nobody knows their age",
            unknown,
        ),
        trial(
            "an answer of another state of the agent is not taken from the cache",
            cache,
        ),
        trial("stale without a fingerprint is refused", no_effect),
        trial(
            "with a base commit, the files that changed are named",
            named_files,
        ),
        trial(
            "digests are written again where no content changed",
            digests,
        ),
    ]
}

const RULES: &str = "prompts/legal/rules.md";

fn endpoint() -> Endpoint {
    Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()))
}

fn recorded(endpoint: &Endpoint, stale: &str) -> Repository {
    let repository = live(endpoint, "openai", "");
    repository.write(RULES, "Report every change of control.\n");
    repository.write("prompts/legal/notes.txt", "not a part of it\n");
    let fingerprint = format!("        fingerprint: ['prompts/**/*.md']\n{stale}");
    repository.replace(
        "goldgate.yaml",
        "        fingerprint: [prompts/legal.md]\n",
        &fingerprint,
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

const OLD: &str = "1 case's recordings are stale (lease): one of the agent's files (prompts/**/*.md) changed since they were recorded; record again: \
                   `goldgate run --tier model --suite contracts --agent legal --record golden/runs`";

fn refused() {
    let endpoint = endpoint();
    let repository = recorded(&endpoint, "");
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

fn told() {
    let endpoint = endpoint();
    let repository = recorded(&endpoint, "        stale: warn\n");
    repository.write(RULES, "Report everything.\n");
    let (code, report) = graded(&repository);
    let notes = report["suites"][0]["agents"][0]["notes"]
        .as_array()
        .unwrap();
    assert!(code == 0 && notes.contains(&json!(OLD)), "{notes:?}");
    let check = repository.goldgate(&["check"]);
    assert!(check.code == 0 && check.stdout.contains(OLD), "{check:?}");
}

fn unknown() {
    let endpoint = endpoint();
    let repository = recorded(&endpoint, "");
    let file = "golden/runs/legal/lease.json";
    let mut record: Value = serde_json::from_str(&repository.read(file)).unwrap();
    record["provenance"]
        .as_object_mut()
        .unwrap()
        .remove("fingerprint");
    repository.write(file, record.to_string());
    let (code, report) = graded(&repository);
    let notes = report["suites"][0]["agents"][0]["notes"].to_string();
    assert!(
        code == 0 && notes.contains("1 of 1 case's recordings have no digest of prompts/**/*.md"),
        "{notes}"
    );
}

fn cache() {
    let endpoint = endpoint();
    let repository = recorded(&endpoint, "");
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
    let repository = recorded(&endpoint, "");
    commit_all(&repository);
    repository.write(RULES, "Report everything.\n");
    repository.write("prompts/legal/more.md", "And more.\n");
    let ran = repository.goldgate(&["run", "--base", "HEAD"]);
    let says = "(lease): prompts/legal/more.md, prompts/legal/rules.md changed since they were recorded; record again:";
    assert!(
        ran.code == 3 && ran.stdout.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

/// A longer list of files, and moved files.
fn digests() {
    let endpoint = endpoint();
    let repository = recorded(&endpoint, "");
    repository.write("tools.json", "[]\n");
    commit_all(&repository);
    let judged = || repository.goldgate(&["run", "--base", "HEAD"]);
    let renewed = || repository.goldgate(&["digests"]);
    let said = |ran: &Ran, code: i32, says: &str| {
        assert!(
            ran.code == code && ran.stdout.contains(says),
            "{says}: {}{}",
            ran.stdout,
            ran.stderr
        );
    };
    said(
        &renewed(),
        0,
        "nothing to do: no recording has outdated digests",
    );
    repository.replace(
        "goldgate.yaml",
        "['prompts/**/*.md']",
        "['prompts/**/*.md', tools.json]",
    );
    said(
        &judged(),
        3,
        "no pattern was dropped; no content changed: `goldgate digests --base ",
    );
    said(
        &renewed(),
        0,
        "contracts/legal: 1 recording has the current digests now; commit it",
    );
    said(
        &judged(),
        0,
        "[listed] 1 recording of `contracts/legal` changed only in their digests",
    );
    commit_all(&repository);
    // A file that is new in a longer list is another agent, whoever writes the digests.
    let before = repository.read("golden/runs/legal/lease.json");
    repository.write("more/rule.md", "Report nothing.\n");
    commit_all(&repository);
    repository.replace("goldgate.yaml", "tools.json]", "tools.json, 'more/**']");
    said(&renewed(), 0, "1 recording has the current digests now");
    let ran = repository.goldgate(&["run", "--base", "HEAD~1"]);
    said(
        &ran,
        1,
        "[needs approval] 1 recording of `contracts/legal` changed only in their digests or numbers",
    );
    repository.replace("goldgate.yaml", "tools.json, 'more/**']", "tools.json]");
    repository.write("golden/runs/legal/lease.json", before);
    // The control: a prompt that changed is another agent.
    repository.write(RULES, "Report everything.\n");
    let before = repository.read("golden/runs/legal/lease.json");
    said(
        &renewed(),
        3,
        "contracts/legal: prompts/legal/rules.md changed since ",
    );
    assert_eq!(repository.read("golden/runs/legal/lease.json"), before);
    repository.write(RULES, "Report every change of control.\n");
    std::fs::rename(
        repository.path("prompts/legal"),
        repository.path("prompts/contracts"),
    )
    .unwrap();
    said(&judged(), 3, "recordings are stale");
    said(&renewed(), 0, "1 recording has the current digests now");
    said(&judged(), 1, "[needs approval]");
    assert_eq!(repository.goldgate(&["run"]).code, 0);
    // Two files that change places are not the same files.
    repository.write("prompts/contracts/other.md", "Report nothing.\n");
    assert_eq!(record(&repository).code, 0);
    commit_all(&repository);
    repository.write(
        "prompts/contracts/other.md",
        "Report every change of control.\n",
    );
    repository.write("prompts/contracts/rules.md", "Report nothing.\n");
    said(&renewed(), 3, "changed since ");
}

fn no_effect() {
    let repository = Repository::small();
    repository.replace(
        "goldgate.yaml",
        ", fingerprint: [prompts/legal.md]",
        ", stale: warn",
    );
    let ran = repository.goldgate(&["run", "-v"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("[no-effect]") && ran.stderr.contains("stale"),
        "{}",
        ran.stderr
    );
}
