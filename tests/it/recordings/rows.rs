//! The rows of the table, each with a control: the same repository without the one thing that makes the row hold.

use super::*;

/// A row of the table, in a repository where it holds.
pub struct Row {
    pub name: &'static str,
    /// What the base commit has besides [`recorded`].
    pub base: fn(&Repository),
    /// The change after which the row holds, and the result.
    pub change: fn(&Repository),
    pub expect: Expect,
    /// The same without the one thing that makes the row hold, and its result.
    pub control: fn(&Repository),
    pub control_expect: Expect,
}

pub const ROWS: &[Row] = &[
    Row {
        name: "a recording of another prompt gives no verdict",
        base: nothing,
        change: edit_prompt,
        expect: Refused(
            "3 recordings are stale: prompts/legal.md changed since they were made (lease-0.json, lease-1.json, lease-2.json)",
        ),
        control: |repository| {
            edit_prompt(repository);
            answer_all(repository);
            repository.stamp("goldgate.yaml");
        },
        control_expect: Listed("3 recordings of `contracts/legal` are of this change: "),
    },
    Row {
        name: "a recording of another model gives no verdict",
        base: with_target,
        change: other_model,
        expect: Refused(
            "3 recordings are stale: what the agent calls (bot) changed since they were made (lease-0.json, lease-1.json, lease-2.json)",
        ),
        control: |repository| {
            other_model(repository);
            answer_all(repository);
            repository.stamp("goldgate.yaml");
        },
        control_expect: Listed("3 recordings of `contracts/legal` are of this change: "),
    },
    Row {
        name: "a recording that was edited after it was made gives no verdict",
        base: nothing,
        change: |repository| answer(repository, 1),
        expect: Refused("1 recording is stale: it was edited after it was made (lease-1.json)"),
        control: |repository| {
            answer(repository, 1);
            let ran = repository.goldgate(&["stamp", "--stale"]);
            assert_eq!(ran.code, 0, "{ran:?}");
        },
        control_expect: Approval(PART),
    },
    Row {
        name: "a new recording without digests gives no verdict",
        base: nothing,
        change: |repository| add_case(repository, 3),
        expect: Refused(
            "1 recording that is new, or whose agent, input or target changed, states no digest of the agent's files (lease-3.json); \
             `goldgate stamp --suite contracts --agent legal --case lease-3` if made with the present files, else run the program that writes runs again",
        ),
        control: |repository| {
            add_case(repository, 3);
            repository.stamp("goldgate.yaml");
        },
        control_expect: Listed(
            "1 recording of `contracts/legal` is of a new case, or replaces one that was not current: lease-3.json; 1 stamped by hand",
        ),
    },
    Row {
        name: "a changed recording without digests gives no verdict",
        base: |repository| bare(repository, 0),
        change: |repository| answer(repository, 0),
        expect: Refused("no digest of the agent's files (lease-0.json)"),
        control: nothing,
        control_expect: Noted("1 recording states no digests (lease-0.json)"),
    },
    Row {
        name: "recordings without digests give no verdict after a change of the agent",
        base: bare_all,
        change: edit_prompt,
        expect: Refused(
            "state no digest of the agent's files (lease-0.json, lease-1.json, lease-2.json); \
             `goldgate stamp --suite contracts --agent legal` if made with the present files",
        ),
        control: |repository| {
            edit_prompt(repository);
            answer_all(repository);
            repository.stamp("goldgate.yaml");
        },
        control_expect: Listed("3 recordings of `contracts/legal` are of this change: "),
    },
    Row {
        name: "a recording without the digest of its target gives no verdict once the target moves",
        base: |repository| {
            with_target(repository);
            for case in 0..CASES {
                edit_origin(repository, case, |origin| {
                    drop(origin.remove("target_sha256"))
                });
            }
        },
        change: other_model,
        expect: Refused(
            "no digest of what the agent calls (lease-0.json, lease-1.json, lease-2.json)",
        ),
        control: nothing,
        control_expect: Silent,
    },
    Row {
        name: "unchanged recordings without digests count, and a note asks to stamp them",
        base: bare_all,
        change: nothing,
        expect: Noted(
            "3 recordings state no digests (lease-0.json, lease-1.json, lease-2.json): once the agent changes, they count no longer; \
             if made with the present files: `goldgate stamp --suite contracts --agent legal`",
        ),
        control: |repository| drop(repository.stamp("goldgate.yaml")),
        control_expect: Silent,
    },
    Row {
        name: "recordings of a change count if one of them has new content",
        base: nothing,
        change: |repository| {
            edit_prompt(repository);
            answer(repository, 2);
            repository.stamp("goldgate.yaml");
        },
        expect: Listed(
            "3 recordings of `contracts/legal` are of this change; 2 of them with the content of before: lease-0.json, lease-1.json, \
             lease-2.json; other answers or calls in 1 of 3 cases: lease-2; 3 stamped by hand",
        ),
        control: |repository| {
            edit_prompt(repository);
            repository.stamp("goldgate.yaml");
        },
        control_expect: Approval(
            "3 recordings of `contracts/legal` are stamped, not recorded: they have the digests of this change and the content of before",
        ),
    },
    Row {
        name: "recordings of a change with the same answers count if a measure is new",
        base: nothing,
        change: |repository| {
            edit_prompt(repository);
            edit(repository, 2, |run| {
                run["metrics"] = json!({ "latency_ms": 1200 })
            });
            repository.stamp("goldgate.yaml");
        },
        expect: Listed(
            "are of this change; 2 of them with the content of before: lease-0.json, lease-1.json, lease-2.json; \
             the answers and calls are the same",
        ),
        control: |repository| {
            edit_prompt(repository);
            // The keys that repeat the path and the origin are no content.
            edit(repository, 2, |run| {
                run.as_object_mut().unwrap().remove("sample");
                run["provenance"]["tool"] = json!("goldgate 9.0.0");
            });
            repository.stamp("goldgate.yaml");
        },
        control_expect: Approval(
            "are stamped, not recorded: they have the digests of this change and the content of before",
        ),
    },
    Row {
        name: "recordings that were stamped for a change and not recorded need an approval",
        base: nothing,
        change: |repository| {
            edit_prompt(repository);
            repository.stamp("goldgate.yaml");
        },
        expect: Approval(
            "3 recordings of `contracts/legal` are stamped, not recorded: they have the digests of this change and the content of before; \
             lease-0.json, lease-1.json, lease-2.json; 3 stamped by hand; run the program that writes runs again; \
             a program of your own writes `provenance.recorded_at`, by which equal answers are new, and `goldgate stamp` the digests",
        ),
        control: |repository| {
            edit_prompt(repository);
            for case in 0..CASES {
                edit(repository, case, |run| {
                    run["provenance"]["recorded_at"] = json!("2026-11-29T08:00:00Z")
                });
            }
            repository.stamp("goldgate.yaml");
        },
        control_expect: Listed("3 recordings of `contracts/legal` are of this change: "),
    },
    Row {
        name: "recordings that got their first digests with a change of the agent need an approval",
        base: bare_all,
        change: |repository| {
            edit_prompt(repository);
            let ran = repository.goldgate(&["stamp"]);
            assert_eq!(ran.code, 0, "{ran:?}");
        },
        expect: Approval(
            "are stamped, not recorded: they have the digests of this change and the content of before",
        ),
        control: |repository| {
            let ran = repository.goldgate(&["stamp"]);
            assert_eq!(ran.code, 0, "{ran:?}");
        },
        control_expect: Silent,
    },
    Row {
        name: "a recording of a draft is not looked at",
        base: |repository| {
            edit_file(repository, &expected(2), |case| case["draft"] = json!(true));
        },
        change: |repository| answer(repository, 2),
        expect: Silent,
        control: |repository| answer(repository, 1),
        control_expect: Refused(
            "1 recording is stale: it was edited after it was made (lease-1.json)",
        ),
    },
    Row {
        name: "recordings that only look otherwise count without a word",
        base: nothing,
        change: |repository| {
            for case in 0..CASES {
                let run: Value = serde_json::from_str(&repository.read(&recording(case))).unwrap();
                repository.write(
                    &recording(case),
                    serde_json::to_string_pretty(&run).unwrap(),
                );
            }
        },
        expect: Silent,
        control: |repository| {
            answer(repository, 0);
            repository.stamp("goldgate.yaml");
        },
        control_expect: Approval(PART),
    },
    Row {
        name: "blanks at line ends and the kind of line end are no change of the agent",
        base: nothing,
        change: |repository| {
            repository.write("prompts/legal.md", "Report every change of control. \t\r\n")
        },
        expect: Silent,
        control: |repository| {
            repository.write("prompts/legal.md", "Report every  change of control.\n")
        },
        control_expect: Refused("prompts/legal.md changed since they were made"),
    },
    Row {
        name: "recordings of a new case are listed",
        base: nothing,
        change: |repository| {
            add_case(repository, 3);
            add_case(repository, 4);
            repository.stamp("goldgate.yaml");
        },
        expect: Listed(
            "2 recordings of `contracts/legal` are of new cases, or replace some that were not current: lease-3.json, lease-4.json",
        ),
        control: |repository| {
            add_case(repository, 3);
            add_case(repository, 4);
        },
        control_expect: Refused("no digest of the agent's files (lease-3.json, lease-4.json)"),
    },
    Row {
        name: "recordings of a new agent are listed",
        base: nothing,
        change: |repository| {
            second_agent(repository);
            repository.stamp("goldgate.yaml");
        },
        expect: Listed(
            "3 recordings of `contracts/second` are of new cases, or replace some that were not current",
        ),
        control: second_agent,
        control_expect: Refused(
            "no digest of the agent's files (lease-0.json, lease-1.json, lease-2.json)",
        ),
    },
    Row {
        name: "a new recording in place of one without digests is listed",
        base: |repository| bare(repository, 0),
        change: |repository| {
            answer(repository, 0);
            repository.stamp("goldgate.yaml");
        },
        expect: Listed(
            "1 recording of `contracts/legal` is of a new case, or replaces one that was not current: lease-0.json",
        ),
        // The base commit's recording states its digests.
        control: |repository| {
            repository.stamp("goldgate.yaml");
            commit_all(repository);
            answer(repository, 0);
            repository.stamp("goldgate.yaml");
        },
        control_expect: Approval(PART),
    },
    Row {
        name: "recordings that were all made again without a change are listed",
        base: nothing,
        change: |repository| {
            answer_all(repository);
            repository.stamp("goldgate.yaml");
        },
        expect: Listed(
            "3 recordings of `contracts/legal` were recorded again, and the files that they depend on did not change: lease-0.json, lease-1.json, lease-2.json; \
             other answers or calls in 3 of 3 cases: lease-0, lease-1, lease-2",
        ),
        control: |repository| {
            answer(repository, 0);
            answer(repository, 1);
            repository.stamp("goldgate.yaml");
        },
        control_expect: Approval(
            "2 recordings of `contracts/legal` have other content, and others do not",
        ),
    },
    Row {
        name: "a part of the recordings with new content needs an approval",
        base: nothing,
        change: |repository| {
            answer(repository, 1);
            repository.stamp("goldgate.yaml");
        },
        expect: Approval(
            "1 recording of `contracts/legal` has other content, and others do not, though nothing that they were made with changed: \
             edited, or a part recorded again; lease-1.json; other answers or calls in 1 of 1 case: lease-1",
        ),
        control: |repository| {
            answer_all(repository);
            repository.stamp("goldgate.yaml");
        },
        control_expect: Listed(
            "were recorded again, and the files that they depend on did not change",
        ),
    },
    Row {
        name: "a case that gets more samples is listed",
        base: nothing,
        change: |repository| {
            add_sample(repository, 0);
            repository.stamp("goldgate.yaml");
        },
        expect: Listed(
            "1 recording of `contracts/legal` was added to a case that has others: lease-0/1.json",
        ),
        control: |repository| add_sample(repository, 0),
        control_expect: Refused("no digest of the agent's files (lease-0/1.json)"),
    },
    Row {
        name: "a sample that is gone from a case with others needs an approval",
        base: |repository| {
            add_sample(repository, 0);
            repository.stamp("goldgate.yaml");
        },
        change: |repository| repository.remove("runs/legal/lease-0/1.json"),
        expect: Approval(
            "1 recording of `contracts/legal` was removed from a case that keeps others: lease-0/1.json; `git restore --source ",
        ),
        control: nothing,
        control_expect: Silent,
    },
    Row {
        name: "the gravest row decides: no verdict before an approval",
        base: nothing,
        change: |repository| {
            answer(repository, 0);
            repository.stamp("goldgate.yaml");
            add_case(repository, 3);
        },
        expect: Refused("no digest of the agent's files (lease-3.json)"),
        control: |repository| {
            answer(repository, 0);
            add_case(repository, 3);
            repository.stamp("goldgate.yaml");
        },
        control_expect: Approval(PART),
    },
    Row {
        name: "a recording that loses its digests and gets another number gives no verdict",
        base: nothing,
        change: |repository| {
            bare(repository, 0);
            edit(repository, 0, |run| {
                run["metrics"] = json!({ "latency_ms": 1201 })
            });
        },
        expect: Refused("no digest of the agent's files (lease-0.json)"),
        control: |repository| bare(repository, 0),
        control_expect: Noted("1 recording states no digests (lease-0.json)"),
    },
    Row {
        name: "recordings that lose the agent's digest give no verdict after a change of the agent",
        base: |repository| {
            for case in 0..CASES {
                edit_origin(repository, case, |origin| {
                    drop(origin.remove("agent_sha256"))
                });
            }
        },
        change: edit_prompt,
        expect: Refused(
            "no digest of the agent's files (lease-0.json, lease-1.json, lease-2.json)",
        ),
        control: nothing,
        control_expect: Noted("3 recordings state no digests"),
    },
    Row {
        name: "recordings whose prompt is another one count where the answers stay the same",
        base: |repository| transcripts(repository, "Be kind."),
        change: |repository| {
            edit_prompt(repository);
            transcripts(repository, "Be very kind.");
        },
        expect: Listed(
            "3 recordings of `contracts/legal` are of this change: lease-0.json, lease-1.json, lease-2.json; the answers and calls are the same",
        ),
        control: |repository| {
            edit_prompt(repository);
            transcripts(repository, "Be kind.");
        },
        control_expect: Approval(
            "are stamped, not recorded: they have the digests of this change and the content of before",
        ),
    },
    Row {
        name: "a new case for which a recorder makes all recordings again is listed",
        base: nothing,
        change: |repository| {
            add_case(repository, 3);
            answer_all(repository);
            repository.stamp("goldgate.yaml");
        },
        expect: Listed(
            "3 recordings of `contracts/legal` were recorded again, and the files that they depend on did not change",
        ),
        control: |repository| {
            add_case(repository, 3);
            answer(repository, 0);
            repository.stamp("goldgate.yaml");
        },
        control_expect: Approval(PART),
    },
    Row {
        name: "old recordings that lose the agent's digest and get another number give no verdict",
        base: nothing,
        change: without_digest,
        expect: Refused(
            "state no digest of the agent's files (lease-0.json, lease-1.json, lease-2.json)",
        ),
        // The lie that is not promised: listed under `author`, an approval under `approval`.
        control: |repository| {
            without_digest(repository);
            repository.stamp("goldgate.yaml");
        },
        control_expect: Listed(
            "3 recordings of `contracts/legal` are of this change: lease-0.json, lease-1.json, lease-2.json; the answers and calls are the same",
        ),
    },
];

/// What is said of recordings of which only a part has new content.
const PART: &str = "1 recording of `contracts/legal` has other content, and others do not";

fn nothing(_: &Repository) {}

fn without_digest(repository: &Repository) {
    edit_prompt(repository);
    for case in 0..CASES {
        edit(repository, case, |run| {
            run["metrics"] = json!({ "latency_ms": 1201 })
        });
        edit_origin(repository, case, |origin| {
            origin.retain(|key, _| !["agent_sha256", "content_sha256"].contains(&key.as_str()));
        });
    }
}
