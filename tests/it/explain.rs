//! `goldgate explain`: every printed id, and the output at an earlier commit.

use libtest_mimic::Trial;

use crate::golden_changes::{commit_all, git};
use crate::repository::{EXPECTED, RUN, Ran, Repository};
use crate::tags::tagged;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "explain of a suite or an agent lists its cases, and those that fail come first",
            lists,
        ),
        trial(
            "explain compares the output with the one at the last committed baseline",
            compared,
        ),
        trial(
            "explain compares the calls, also where the text is the same",
            calls_compared,
        ),
        trial(
            "explain --base compares the output with the one at any commit",
            with_base,
        ),
        trial(
            "explain shows the calls in order, the values against their gates, the history and the next step",
            sections,
        ),
        trial(
            "explain says that the earlier commit does not have the case, the agent or the suite yet",
            newer,
        ),
        trial(
            "explain of recordings that an earlier commit cannot read shows the rest",
            unreadable,
        ),
        trial(
            "explain shows no control character of a check's name",
            control_characters,
        ),
    ]
}

const RECORDING: &str = "golden/runs/legal/lease.json";

fn explain(repository: &Repository, arguments: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    repository.goldgate_with(&[&["explain"], arguments].concat(), &[("PATH", &path)])
}

fn lists() {
    let repository = Repository::small();
    repository.write(
        "golden/contracts/acme.md",
        "# Acme\n\nOn a change of control the seller has to approve.\n",
    );
    repository.write(
        "golden/expected/legal/acme.json",
        EXPECTED.replace("lease.md", "acme.md"),
    );
    repository.write("golden/runs/legal/acme.json", RUN.replace("lease", "acme"));
    repository.replace(RECORDING, "Needs prior approval.", "Needs nothing.");
    for id in ["contracts", "legal", "contracts/legal", "contracts/legal:"] {
        let ran = explain(&repository, &[id]);
        let expected =
            "contracts/legal/lease: fail  expected_finding[0]\ncontracts/legal/acme: pass\n";
        assert!(
            ran.code == 0 && ran.stdout.starts_with(expected),
            "{id}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
    // The line of a failed check is an id as well.
    for id in [
        "contracts/legal/lease expected_finding[0]",
        "contracts/legal/lease:",
    ] {
        let ran = explain(&repository, &[id]);
        assert!(
            ran.stdout.starts_with("contracts/legal/lease: fail\n"),
            "{id}: {}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(
            ran.stdout.contains("produced, sample 0:"),
            "{id}: {}",
            ran.stdout
        );
    }
    // A case comes before an agent of the same name.
    for (file, text) in [
        (
            "golden/contracts/legal.md",
            "# Legal\n\nOn a change of control the seller has to approve.\n".to_owned(),
        ),
        (
            "golden/expected/legal/legal.json",
            EXPECTED.replace("lease.md", "legal.md"),
        ),
        (
            "golden/runs/legal/legal.json",
            RUN.replace("\"lease\"", "\"legal\"")
                .replace("lease.md", "legal.md"),
        ),
    ] {
        repository.write(file, text);
    }
    let ran = explain(&repository, &["legal"]);
    assert!(
        ran.stdout.starts_with("contracts/legal/legal: pass\n"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

/// A repository whose baseline is committed.
fn committed() -> Repository {
    let repository = Repository::small();
    repository.remove(".git");
    repository.goldgate(&["run", "-q", "--update-baseline"]);
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    repository
}

fn compared() {
    let repository = committed();
    let same = explain(&repository, &["lease"]);
    assert_eq!((same.code, same.stderr.as_str()), (0, ""));
    assert!(
        same.stdout.contains("the output is the same as at commit "),
        "{}",
        same.stdout
    );
    repository.replace(RECORDING, "Needs prior approval.", "Needs nothing.");
    // A commit that leaves the baseline as it was is not the one to compare with.
    commit_all(&repository);
    let ran = explain(&repository, &["lease"]);
    let (_, changes) = ran.stdout.split_once("output at commit ").unwrap();
    let mut lines = changes.lines();
    assert!(
        lines.next().unwrap().ends_with(" (-) and now (+):"),
        "{changes}"
    );
    let changed: Vec<&str> = lines
        .map(str::trim)
        .filter(|line| line.starts_with(['-', '+']))
        .collect();
    assert_eq!(
        changed,
        [
            "-       \"description\": \"Needs prior approval.\",",
            "+       \"description\": \"Needs nothing.\","
        ],
        "{changes}"
    );
}

/// A call that is missing is a change, also where the text is the same.
fn calls_compared() {
    let repository = Repository::empty();
    repository.remove(".git");
    let agent =
        "helper: { deterministic: { replay: runs, prompt: prompt.md }, fingerprint: [prompt.md] }";
    let suite = format!(
        "{{ id: desk, kind: tool_use, policy: seed, path: cases.json, agents: {{ {agent} }} }}"
    );
    repository.write(
        "goldgate.yaml",
        format!("version: 1\nbaseline: baseline.json\nsuites:\n  - {suite}\n"),
    );
    repository.write("prompt.md", "Help.\n");
    let case = r#"[{ "id": "refund", "category": "x", "query": "q", "expected_tools": ["find", "refund"], "answer": { "equals": "Done." } }]"#;
    repository.write("cases.json", case);
    let run = |calls: &str| {
        format!(
            r#"{{ "status": "completed", "outputs": {{ "text": "Done." }}, "intermediate": {{ "tool_calls": [{calls}] }} }}"#
        )
    };
    let find = r#"{ "name": "find", "arguments": { "id": 17 } }"#;
    repository.write(
        "runs/helper/refund.json",
        run(&format!(r#"{find}, {{ "name": "refund" }}"#)),
    );
    repository.goldgate(&["run", "-q", "--update-baseline"]);
    commit_all(&repository);
    repository.write("runs/helper/refund.json", run(r#"{ "name": "refund" }"#));
    let ran = explain(&repository, &["refund"]);
    assert!(
        ran.stdout
            .contains("(-) and now (+):\n  - calls find({\"id\":17})\n"),
        "{}",
        ran.stdout
    );
}

fn with_base() {
    let repository = committed();
    repository.replace(RECORDING, "Needs prior approval.", "Needs nothing.");
    repository.goldgate(&["run", "-q", "--update-baseline", "--all"]);
    commit_all(&repository);
    assert!(
        explain(&repository, &["lease"])
            .stdout
            .contains("the output is the same as at commit ")
    );
    let ran = explain(&repository, &["lease", "--base", "HEAD~1"]);
    assert!(
        ran.stdout.contains("- ") && ran.stdout.contains("Needs prior approval."),
        "{}",
        ran.stdout
    );
    let ran = explain(&repository, &["lease", "--base", "nowhere"]);
    let what = "error: --base nowhere: git does not know this commit here";
    assert!(
        ran.code == 3 && ran.stderr.starts_with(what),
        "{}",
        ran.stderr
    );
}

fn sections() {
    let repository = committed();
    repository.replace(
        "baselines/latest.json",
        "\"passed\": [1.0]",
        "\"passed\": [0.0]",
    );
    commit_all(&repository);
    repository.replace(
        RECORDING,
        "\"sample\": 0,",
        "\"sample\": 0, \"intermediate\": { \"tool_calls\": [
           { \"name\": \"search\", \"arguments\": { \"text\": \"rent\" }, \"error\": \"503\" },
           { \"name\": \"search\", \"arguments\": { \"text\": \"rent\" }, \"result\": [1] } ] },",
    );
    repository.replace(RECORDING, "change-of-control", "rent");
    let ran = explain(&repository, &["lease"]);
    let parts = [
        "contracts/legal/lease: fail\n",
        "gate of the agent: ≥ 80%: fail\n",
        "    FAILS  expected_finding[0]",
        "asked:\n",
        "expected, golden/expected/legal/lease.json:\n",
        "produced, sample 0:\n",
        "calls, sample 0:\n   1 search({\"text\":\"rent\"}) → failed\n   2 search({\"text\":\"rent\"}) → [1]\n",
        "output at commit ",
        "history: share of passing samples by committed baseline: █▁ (latest: 0%)\n",
        "\nnext: sharpen the category rules of the prompt",
        "run again: goldgate run --suite contracts --agent legal --case lease\n",
    ];
    let places: Vec<usize> = parts
        .iter()
        .map(|part| {
            ran.stdout
                .find(part)
                .unwrap_or_else(|| panic!("{part}: {}", ran.stdout))
        })
        .collect();
    assert!(
        places[0] < places[1] && places.iter().skip(3).is_sorted(),
        "{places:?}: {}",
        ran.stdout
    );
}

fn newer() {
    let repository = committed();
    let said = " does not have this case yet";
    for (file, text) in [
        (
            "golden/contracts/office.md",
            "# Office\n\nOn a change of control the seller has to approve.\n".to_owned(),
        ),
        (
            "golden/expected/legal/office.json",
            EXPECTED.replace("lease.md", "office.md"),
        ),
        (
            "golden/runs/legal/office.json",
            RUN.replace("\"lease\"", "\"office\"")
                .replace("lease.md", "office.md"),
        ),
    ] {
        repository.write(file, text);
    }
    let case = explain(&repository, &["office"]);
    assert!(
        case.code == 0 && case.stdout.contains(said) && case.stderr.is_empty(),
        "{}{}",
        case.stdout,
        case.stderr
    );
    repository.replace("goldgate.yaml", "id: contracts", "id: leases");
    let suite = explain(&repository, &["leases/legal/lease"]);
    assert!(
        suite.code == 0 && suite.stdout.contains(said),
        "{}{}",
        suite.stdout,
        suite.stderr
    );
    assert_eq!(suite.stderr, "");
}

fn unreadable() {
    let repository = committed();
    let golden = "golden/expected/legal/lease.json";
    let whole = repository.read(golden);
    repository.write(golden, "{");
    repository.replace("baselines/latest.json", "\"samples\": 1", "\"samples\": 2");
    commit_all(&repository);
    repository.write(golden, whole);
    let ran = explain(&repository, &["lease"]);
    assert!(
        ran.code == 0 && ran.stdout.contains("produced, sample 0:"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        ran.stderr.starts_with(
            "the output at the baseline is not shown: while reading the recordings of commit "
        ),
        "{}",
        ran.stderr
    );
}

fn control_characters() {
    let repository = tagged();
    repository.replace(
        "cases.json",
        r#""expected_tools": []"#,
        r#""expected_tools": ["a\u001b[31m\nb"]"#,
    );
    for id in ["a", "chat"] {
        let ran = explain(&repository, &[id]);
        let shown =
            ran.stdout.contains("expected_tool[a [31m b]") && !ran.stdout.contains('\u{1b}');
        assert!(ran.code == 0 && shown, "{id}: {}{}", ran.stdout, ran.stderr);
    }
}
