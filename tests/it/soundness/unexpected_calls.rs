//! Calls of tools that a case does not expect: a new one is seen in its case, whatever the average over calls and cases does.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{bases, goldgate};
use crate::golden_changes::{commit_all, git};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = ROWS
        .iter()
        .map(|row| trial(row.name, move || one(row)))
        .collect();
    trials.extend([
        trial(
            "a baseline without the names of tools still shows where there was no unexpected call",
            earlier_baseline,
        ),
        trial(
            "main excuses the unexpected calls that it has, and no other",
            on_main,
        ),
        trial(
            "an unexpected call in another turn of a conversation is a new one",
            by_turn,
        ),
        trial(
            "a forbidden tool is forbidden under the name of an MCP server, too",
            forbidden,
        ),
    ]);
    trials
}

/// Three samples of each of twelve cases, which expect `find`. At the baseline, the first case also calls `browse`, and the second one does in
/// one of its samples.
struct Row {
    name: &'static str,
    gates: &'static str,
    /// The calls of a changed agent, by case and sample.
    calls: Calls,
    code: i32,
    says: &'static str,
}

type Calls = fn(usize, usize) -> &'static [&'static str];

const CASES: usize = 12;

fn baseline(case: usize, sample: usize) -> &'static [&'static str] {
    match (case, sample) {
        (0, _) | (1, 0) => &["find", "browse"],
        _ => &["find"],
    }
}

const SAME: Row = Row {
    name: "an agent with the unexpected calls of the baseline passes",
    gates: "",
    calls: baseline,
    code: 0,
    says: "All 7 gates pass",
};

const ROWS: &[Row] = &[
    SAME,
    Row {
        name: "an agent without the unexpected calls of the baseline passes",
        calls: |_, _| &["find"],
        ..SAME
    },
    Row {
        name: "an unexpected call of one sample at the baseline may become that of every sample, if another case lost its own",
        calls: |case, _| {
            if case == 1 {
                &["find", "browse"]
            } else {
                &["find"]
            }
        },
        ..SAME
    },
    Row {
        name: "a new unexpected call in one of three samples passes",
        calls: |case, sample| {
            if (case, sample) == (3, 1) {
                &["find", "delete_account"]
            } else {
                &["find"]
            }
        },
        ..SAME
    },
    Row {
        name: "a new unexpected call in two of three samples fails",
        calls: |case, sample| {
            if case == 3 && sample > 0 {
                &["find", "delete_account"]
            } else {
                &["find"]
            }
        },
        code: 1,
        says: "unexpected_tool_rate 4.2% (baseline 4.2%), new in c3: delete_account",
        ..SAME
    },
    Row {
        name: "a new unexpected call fails that comes in addition",
        calls: |case, sample| {
            if case == 0 {
                &["find", "browse", "delete_account"]
            } else {
                baseline(case, sample)
            }
        },
        code: 1,
        says: "unexpected_tool_rate 5.6% (baseline 4.2%), new in c0: delete_account",
        ..SAME
    },
    Row {
        name: "repeated expected calls do not hide a new unexpected call",
        calls: |case, sample| match case {
            0 => &["find", "find", "find", "browse", "delete_account"],
            _ => baseline(case, sample),
        },
        code: 1,
        says: "unexpected_tool_rate 3.3% (baseline 4.2%), new in c0: delete_account",
        ..SAME
    },
    Row {
        name: "a new unexpected call in the place of another one fails",
        calls: |case, sample| {
            if case == 0 {
                &["find", "delete_account"]
            } else {
                baseline(case, sample)
            }
        },
        code: 1,
        says: "unexpected_tool_rate 4.2% (baseline 4.2%), new in c0: delete_account",
        ..SAME
    },
    Row {
        name: "repeated expected calls do not hide that an unexpected call is repeated",
        calls: |case, sample| match case {
            0 => &["find", "find", "find", "find", "browse", "browse"],
            _ => baseline(case, sample),
        },
        code: 1,
        says: "unexpected_tool_rate 2.8% (baseline 4.2%), more in c0: browse (2, at the baseline 1)",
        ..SAME
    },
    Row {
        name: "a fixed limit on unexpected calls tolerates new ones below it",
        gates: "unexpected_tool_rate: { max: 0.05 }",
        calls: |case, sample| {
            if case == 0 {
                &["find", "delete_account"]
            } else {
                baseline(case, sample)
            }
        },
        ..SAME
    },
    Row {
        name: "a fixed limit on unexpected calls fails above it",
        gates: "unexpected_tool_rate: { max: 0.05 }",
        calls: |case, sample| {
            if case < 2 {
                &["find", "delete_account"]
            } else {
                baseline(case, sample)
            }
        },
        code: 1,
        says: "unexpected_tool_rate 8.3%, needs at most 5% (baseline 4.2%)",
    },
];

/// Cases that expect a call of `find`, and forbid these tools.
fn repository(gates: &str, forbidden: &[&str]) -> Repository {
    let repository = bases::base("answers");
    let off = "case_pass_rate: { off: true, reason: the answers have their own gate }";
    repository.replace("goldgate.yaml", off, gates);
    repository.remove("runs");
    let case = |case: usize| {
        json!({
            "id": format!("c{case}"), "category": "happy_path", "query": format!("Question {case}?"),
            "expected_tools": ["find"], "expected_output_contains": ["paris"],
            "trajectory": { "mode": "superset", "tools": [{ "name": "find" }], "forbidden_tools": forbidden },
        })
    };
    let golden: Vec<Value> = (0..CASES).map(case).collect();
    repository.write("golden/cases.json", json!(golden).to_string());
    record(&repository, "v1", baseline);
    let ran = repository.goldgate(&["run", "--update-baseline", "--quiet", "-v"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    repository
}

fn record(repository: &Repository, version: &str, calls: Calls) {
    repository.write("prompt.md", format!("Name the capital, {version}.\n"));
    for (case, sample) in (0..CASES).flat_map(|case| (0..3).map(move |sample| (case, sample))) {
        let call = |name: &&str| json!({ "name": name, "arguments": {}, "result": "{}" });
        let calls: Vec<Value> = calls(case, sample).iter().map(call).collect();
        let run = json!({
            "status": "completed", "outputs": { "text": format!("Paris, {version}.") },
            "intermediate": { "tool_calls": calls },
        });
        repository.write(
            &format!("runs/helper/c{case}/{sample}.json"),
            run.to_string(),
        );
    }
}

fn judged(repository: &Repository) -> Ran {
    goldgate(
        repository,
        &["run", "-v", "--base", "main"].map(str::to_owned),
    )
}

fn one(row: &Row) {
    let repository = repository(row.gates, &[]);
    record(&repository, "v2", row.calls);
    let ran = judged(&repository);
    assert_eq!(ran.code, row.code, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(row.says), "{}", ran.stdout);
}

/// Baselines of earlier versions have the rate of each case alone.
fn earlier_baseline() {
    let with: [Calls; 2] = [
        |case, sample| {
            if case == 3 {
                &["find", "delete_account"]
            } else {
                baseline(case, sample)
            }
        },
        |case, _| {
            if case == 3 {
                &["find", "delete_account"]
            } else {
                &["find"]
            }
        },
    ];
    for calls in with {
        let repository = repository("", &[]);
        let mut baseline: Value =
            serde_json::from_str(&repository.read("baselines/latest.json")).unwrap();
        let cases = baseline["suites"]["answers"]["agents"]["helper"]["cases"]
            .as_object_mut()
            .unwrap();
        let parts = |values: &Value| {
            values
                .as_object()
                .unwrap()
                .keys()
                .filter(|key| key.contains("browse"))
                .count()
        };
        assert_eq!(cases.values().map(parts).sum::<usize>(), 2, "{cases:?}");
        cases.values_mut().for_each(|values| {
            drop(
                values
                    .as_object_mut()
                    .unwrap()
                    .remove("unexpected_tool_rate[browse]"),
            )
        });
        repository.write("baselines/latest.json", baseline.to_string());
        commit_all(&repository);
        record(&repository, "v2", |case, _| {
            if case == 0 {
                &["find", "search"]
            } else {
                &["find"]
            }
        });
        assert_eq!(
            judged(&repository).code,
            0,
            "the control: which tool the first case called is unknown"
        );
        record(&repository, "v2", calls);
        let ran = judged(&repository);
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stdout.contains("new in c3: delete_account"),
            "{}",
            ran.stdout
        );
    }
}

/// An approved change made a case call another tool, and the baseline does not have it yet.
fn on_main() {
    let repository = repository("", &[]);
    let search: Calls = |case, _| {
        if case == 3 {
            &["find", "search"]
        } else {
            &["find"]
        }
    };
    record(&repository, "v2", search);
    commit_all(&repository);
    repository.write("README.md", "Capitals.\n");
    let ran = judged(&repository);
    assert!(
        ran.code == 0 && ran.stdout.contains("excused"),
        "the control: {}{}",
        ran.stdout,
        ran.stderr
    );
    let more: [(&str, Calls); 2] = [
        ("c4", |case, _| match case {
            3 => &["find", "search"],
            4 => &["find", "find", "find", "search"],
            _ => &["find"],
        }),
        ("c3", |case, _| {
            if case == 3 {
                &["find", "delete_account"]
            } else {
                &["find"]
            }
        }),
    ];
    for (case, calls) in more {
        record(&repository, "v3", calls);
        let ran = judged(&repository);
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stdout.contains(&format!("new in {case}: ")),
            "{}",
            ran.stdout
        );
    }
}

fn by_turn() {
    let repository = bases::base("answers");
    let off = "case_pass_rate: { off: true, reason: the answers have their own gate }";
    repository.replace("goldgate.yaml", off, "");
    repository.remove("runs");
    let turns = json!([{ "user": "Where is it?", "tools": ["find"] }, { "user": "Cancel it.", "tools": ["cancel"] }]);
    repository.write(
        "golden/cases.json",
        json!([{ "id": "order", "category": "multi_step", "turns": turns }]).to_string(),
    );
    let record = |version: &str, calls: [(&str, usize); 3]| {
        repository.write("prompt.md", version);
        let call = |(name, turn): (&str, usize)| json!({ "name": name, "arguments": {}, "result": "{}", "turn": turn });
        let said = |user: &str| json!({ "user": user, "text": format!("Done, {version}.") });
        let run = json!({
            "status": "completed", "outputs": { "turns": [said("Where is it?"), said("Cancel it.")] },
            "intermediate": { "tool_calls": calls.map(call) },
        });
        repository.write("runs/helper/order.json", run.to_string());
    };
    record("v1", [("find", 0), ("browse", 0), ("cancel", 1)]);
    let ran = repository.goldgate(&["run", "--update-baseline", "--quiet", "-v"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    record("v2", [("browse", 0), ("find", 0), ("cancel", 1)]);
    assert_eq!(judged(&repository).code, 0, "the control");
    record("v2", [("find", 0), ("cancel", 1), ("browse", 1)]);
    let ran = judged(&repository);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("new in order: turns.1: browse"),
        "{}",
        ran.stdout
    );
}

fn forbidden() {
    let off = "unexpected_tool_rate: { off: true, reason: a test }";
    let made: [(Calls, i32); 4] = [
        (
            |case, _| {
                if case == 1 {
                    &["find", "list_accounts"]
                } else {
                    &["find"]
                }
            },
            0,
        ),
        (
            |case, _| {
                if case == 1 {
                    &["find", "mcp__crm__list_accounts"]
                } else {
                    &["find"]
                }
            },
            0,
        ),
        (
            |case, _| {
                if case == 1 {
                    &["find", "delete_account"]
                } else {
                    &["find"]
                }
            },
            1,
        ),
        (
            |case, _| {
                if case == 1 {
                    &["find", "mcp__crm__delete_account"]
                } else {
                    &["find"]
                }
            },
            1,
        ),
    ];
    for (calls, code) in made {
        let repository = repository(off, &["delete_account"]);
        record(&repository, "v2", calls);
        let ran = judged(&repository);
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(
            ran.stdout
                .contains("called forbidden tools: delete_account"),
            code == 1,
            "{}",
            ran.stdout
        );
    }
}
