//! `was:` beside a suite's id and below an agent, and golden files at another place.

use std::fs;

use super::*;

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = ROWS
        .iter()
        .map(|row| trial(format!("renamed: {}", row.name), || one(row)))
        .collect();
    trials.extend([
        trial(
            "renamed: an agent of a suite whose cases are in one file",
            one_file,
        ),
        trial(
            "renamed: what an agent lost is compared with the baseline of its old name",
            lost,
        ),
        trial(
            "renamed: a suite with `was:` keeps its baseline",
            suite_baseline,
        ),
        trial(
            "renamed: an agent whose new name has recordings on the base commit takes over nothing",
            planted,
        ),
        trial(
            "renamed: once the base commit has the new name, `was:` has no effect, and `run` and `check` say so",
            idle,
        ),
    ]);
    trials
}

struct Row {
    name: &'static str,
    change: fn(&Repository),
    expect: Expect,
}

const ROWS: &[Row] = &[
    Row {
        name: "a suite, with `was:`",
        change: |repository| suite(repository, "deals\n    was: contracts"),
        expect: Listed("`deals` was `contracts`"),
    },
    Row {
        name: "a suite, without `was:`",
        change: |repository| suite(repository, "deals"),
        expect: Approval("1 suite removed: contracts"),
    },
    Row {
        name: "a suite with `was:` that lost a case",
        change: |repository| {
            suite(repository, "deals\n    was: contracts");
            repository.remove(&expected(0));
            repository.remove(&recording(0));
        },
        expect: Approval("1 case of `deals` removed: lease-0"),
    },
    Row {
        name: "an agent, with `was:`",
        change: |repository| agent(repository, "counsel: { was: legal,"),
        expect: Listed("`contracts/counsel` was `contracts/legal`"),
    },
    Row {
        name: "an agent, without `was:`",
        change: |repository| agent(repository, "counsel: {"),
        expect: Approval("1 agent of `contracts` removed: legal"),
    },
    Row {
        name: "an agent with `was:` and an edited recording",
        change: |repository| {
            agent(repository, "counsel: { was: legal,");
            edit_file(repository, "runs/counsel/lease-1.json", |run| {
                run["outputs"]["findings"][0]["description"] = json!("Needs an approval first.");
            });
            repository.stamp("goldgate.yaml");
        },
        expect: Approval("1 recording of `contracts/counsel` has other content"),
    },
    Row {
        name: "an agent with `was:` and an edited expectation",
        change: |repository| {
            agent(repository, "counsel: { was: legal,");
            repository.replace(
                "golden/expected/counsel/lease-1.json",
                "\"consent\": [\"approval\"]",
                "\"consent\": [\"approval\", \"lease\"]",
            );
        },
        expect: Approval("expectation of lease-1 of `contracts` edited"),
    },
    Row {
        name: "golden files at another place",
        change: move_golden,
        expect: Listed("golden files of `contracts`: golden -> tests/golden"),
    },
    Row {
        name: "golden files at another place, one of them edited",
        change: |repository| {
            move_golden(repository);
            repository.replace(
                "tests/golden/expected/legal/lease-1.json",
                "\"consent\": [\"approval\"]",
                "\"consent\": [\"approval\", \"lease\"]",
            );
        },
        expect: Approval("expectation of lease-1 of `contracts` edited"),
    },
    Row {
        name: "golden files at a place that the base commit has",
        change: |repository| repository.replace("goldgate.yaml", "path: golden", "path: other"),
        expect: Approval("golden files of `contracts`: golden -> other"),
    },
    Row {
        name: "suite, agent and golden files at once",
        change: |repository| {
            move_golden(repository);
            rename(
                repository,
                "tests/golden/expected/legal",
                "tests/golden/expected/counsel",
            );
            agent_name(repository, "counsel: { was: legal,");
            suite(repository, "deals\n    was: contracts");
        },
        expect: Listed("`deals/counsel` was `deals/legal`"),
    },
];

fn one(row: &Row) {
    let repository = with_another_place();
    (row.change)(&repository);
    is(&against(&repository), row.expect);
}

/// The base commit also has a copy of the golden files, which no suite names.
fn with_another_place() -> Repository {
    let repository = recorded(Trust::Author);
    crate::cases::copy(&repository.path("golden"), &repository.path("other"));
    commit_all(&repository);
    repository
}

fn suite(repository: &Repository, id: &str) {
    repository.replace("goldgate.yaml", "id: contracts", &format!("id: {id}"));
}

fn agent(repository: &Repository, line: &str) {
    rename(
        repository,
        "golden/expected/legal",
        "golden/expected/counsel",
    );
    agent_name(repository, line);
}

fn agent_name(repository: &Repository, line: &str) {
    repository.replace("goldgate.yaml", "legal: {", line);
    rename(repository, "runs/legal", "runs/counsel");
    for case in 0..CASES {
        let file = format!("runs/counsel/lease-{case}.json");
        if repository.path(&file).exists() {
            edit_file(repository, &file, |run| run["agent"] = json!("counsel"));
        }
    }
}

fn move_golden(repository: &Repository) {
    fs::create_dir(repository.path("tests")).unwrap();
    rename(repository, "golden", "tests/golden");
    repository.replace("goldgate.yaml", "path: golden", "path: tests/golden");
}

fn rename(repository: &Repository, from: &str, to: &str) {
    fs::rename(repository.path(from), repository.path(to)).unwrap();
}

fn lost() {
    let repository = recorded(Trust::Author);
    repository.replace(
        "goldgate.yaml",
        "path: golden\n",
        "path: golden\n    gates: { finding_recall: { min: 0.01, max_drop: 0.1 } }\n",
    );
    commit_all(&repository);
    agent(&repository, "counsel: { was: legal,");
    for case in 0..CASES {
        let file = format!("runs/counsel/lease-{case}.json");
        edit_file(&repository, &file, |run| {
            run["outputs"]["findings"] = json!([])
        });
    }
    repository.stamp("goldgate.yaml");
    let ran = against(&repository);
    assert_eq!(ran.code, 1, "{ran:?}");
    let recall = metric(&report(&ran), "finding_recall");
    assert_eq!(recall["baseline"], 1.0, "{recall}");
    assert_eq!(recall["gates"][0]["verdict"], "fail", "{recall}");
}

/// The base commit has a file where the expectations of an agent would have a folder.
fn one_file() {
    let repository = Repository::empty();
    let config = |agent: &str| {
        format!(
            "version: 1\nbaseline: latest.json\nsuites:\n  - id: s\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    agents:\n      {agent} \
             deterministic: {{ replay: runs }}, fingerprint: [prompt.md] }}\n"
        )
    };
    let case = json!([{ "id": "c", "query": "Where is it?", "category": "happy_path", "expected_tools": ["find"], "expected_output_contains": [] }]);
    let run = |agent: &str| json!({ "agent": agent, "status": "completed", "outputs": { "text": "There." }, "intermediate": { "tool_calls": [{ "name": "find", "arguments": {} }] } });
    repository.write("cases.json", case.to_string());
    repository.write("prompt.md", "Answer.");
    repository.write("goldgate.yaml", config("old: {"));
    repository.write("runs/old/c.json", run("old").to_string());
    repository.stamp("goldgate.yaml");
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    commit_all(&repository);
    rename(&repository, "runs/old", "runs/new");
    edit_file(&repository, "runs/new/c.json", |run| {
        run["agent"] = json!("new")
    });
    repository.write("goldgate.yaml", config("new: { was: old,"));
    let ran = against(&repository);
    assert_eq!(ran.code, 0, "{ran:?}");
    is(&ran, Listed("`s/new` was `s/old`"));
}

fn metric(report: &Value, name: &str) -> Value {
    report["suites"][0]["agents"][0]["metrics"][name].clone()
}

fn idle() {
    const IDLE: &str = "`deals`: `was: contracts` has no effect";
    let repository = recorded(Trust::Author);
    suite(&repository, "deals\n    was: contracts");
    commit_all(&repository);
    // The baseline still has the old name, so `was:` is needed to compare with it.
    let ran = against(&repository);
    is(&ran, Silent);
    let seen = report(&ran);
    assert_eq!(metric(&seen, "finding_recall")["baseline"], 1.0, "{seen}");
    let checked = repository.goldgate(&["check"]);
    assert!(!checked.stdout.contains(IDLE), "{checked:?}");

    let ran = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let baseline = repository.read("baselines/latest.json");
    assert!(!baseline.contains("\"contracts\""), "{baseline}");
    commit_all(&repository);
    let ran = against(&repository);
    is(&ran, Silent);
    assert!(report(&ran)["notes"].to_string().contains(IDLE), "{ran:?}");
    let checked = repository.goldgate(&["check"]);
    assert!(checked.stdout.contains(IDLE), "{checked:?}");
}

fn suite_baseline() {
    for (id, baseline) in [
        ("deals\n    was: contracts", json!(1.0)),
        ("deals", Value::Null),
    ] {
        let repository = with_another_place();
        suite(&repository, id);
        let seen = report(&against(&repository));
        assert_eq!(
            metric(&seen, "finding_precision")["baseline"],
            baseline,
            "{id}"
        );
    }
}

/// Recordings that were merged before nobody graded them would else stand for those of the old name.
fn planted() {
    for (place, expect) in [
        (
            "runs/counsel",
            Approval("1 agent of `contracts` removed: legal"),
        ),
        (
            "elsewhere",
            Listed("`contracts/counsel` was `contracts/legal`"),
        ),
    ] {
        let repository = recorded(Trust::Author);
        crate::cases::copy(&repository.path("runs/legal"), &repository.path(place));
        commit_all(&repository);
        fs::remove_dir_all(repository.path(place)).unwrap();
        agent(&repository, "counsel: { was: legal,");
        is(&against(&repository), expect);
    }
}
