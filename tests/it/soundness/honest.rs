//! Honest work is not punished: each of these changes is green without a label.

mod rewritten;

use libtest_mimic::Trial;
use serde_json::Value;

use super::{committed, unstamped};
use crate::golden_changes::{add_case, expected, recording};
use crate::repository::Repository;
use crate::trial;

/// One honest change, and whether it passes.
struct Row {
    name: &'static str,
    base: &'static str,
    change: fn(&Repository),
}

pub fn trials() -> Vec<Trial> {
    rows()
        .map(|row| trial(format!("green without a label: {}", row.name), || one(row)))
        .collect()
}

fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().chain(rewritten::ROWS)
}

fn one(row: &Row) {
    let repository = committed(row.base);
    (row.change)(&repository);
    let ran = unstamped(&repository, &["run", "--base", "HEAD"].map(str::to_owned));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("[needs approval]"), "{}", ran.stdout);
}

/// The agent was recorded again: other words, the same findings.
fn record_again(repository: &Repository) {
    (0..12).for_each(|case| {
        repository.replace(
            &recording(case),
            "Needs prior approval.",
            "Needs approval first.",
        )
    });
    stamped(repository);
}

/// What a recorder writes into recordings that it makes.
fn stamped(repository: &Repository) {
    let ran = repository.stamp("goldgate.yaml");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// The recording of a case in a folder of its own, which may have more samples.
pub fn into_folder(repository: &Repository, case: usize) {
    let run = repository.read(&recording(case));
    repository.remove(&recording(case));
    repository.write(&format!("runs/legal/lease-{case}/0.json"), run);
}

/// Two more samples like the first one, which keeps its bytes.
pub fn record_twice_more(repository: &Repository, case: usize) {
    into_folder(repository, case);
    let run = repository.read(&format!("runs/legal/lease-{case}/0.json"));
    for sample in 1..3 {
        let run = run.replace("\"sample\": 0", &format!("\"sample\": {sample}"));
        repository.write(&format!("runs/legal/lease-{case}/{sample}.json"), run);
    }
}

/// Writes a case in YAML.
fn into_yaml(repository: &Repository, case: usize) {
    let value: Value = serde_json::from_str(&repository.read(&expected(case))).unwrap();
    repository.remove(&expected(case));
    repository.write(
        &expected(case).replace(".json", ".yaml"),
        serde_yaml::to_string(&value).unwrap(),
    );
}

fn json(repository: &Repository, file: &str, change: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_str(&repository.read(file)).unwrap();
    change(&mut value);
    repository.write(file, value.to_string());
}

const ROWS: &[Row] = &[
    Row {
        name: "nothing of the golden set changes",
        base: "contracts",
        change: |it| it.write("src/main.py", "print()\n"),
    },
    Row {
        name: "a case is added",
        base: "contracts",
        change: |it| {
            add_case(it, 77);
            stamped(it);
        },
    },
    Row {
        name: "five cases are added",
        base: "contracts",
        change: |it| {
            (70..75).for_each(|case| add_case(it, case));
            stamped(it);
        },
    },
    Row {
        name: "a case is written in YAML",
        base: "contracts",
        change: |it| into_yaml(it, 3),
    },
    Row {
        name: "a case that is written in YAML gets comments and another order",
        base: "contracts",
        change: |it| {
            into_yaml(it, 3);
            let file = expected(3).replace(".json", ".yaml");
            let text = it.read(&file);
            let (first, rest) = text.split_once("must_not_find:").unwrap();
            it.write(
                &file,
                format!("# Ours.\nmust_not_find:{}\n{first}", rest.trim_end()),
            );
        },
    },
    Row {
        name: "a case is added to a file of many",
        base: "assistant",
        change: |it| {
            json(it, "fixtures/tool_use/eval_cases.json", |cases| {
                let list = if cases.is_array() {
                    cases
                } else {
                    &mut cases["cases"]
                };
                let mut copy = list[0].clone();
                copy["id"] = "a-new-case".into();
                list.as_array_mut().unwrap().insert(0, copy);
            });
            let first: Value =
                serde_json::from_str(&it.read("fixtures/tool_use/eval_cases.json")).unwrap();
            let list = if first.is_array() {
                &first
            } else {
                &first["cases"]
            };
            let id = list[1]["id"].as_str().unwrap().to_owned();
            let folder = "fixtures/tool_use/runs/assistant";
            if it.path(&format!("{folder}/{id}.json")).exists() {
                let run = it
                    .read(&format!("{folder}/{id}.json"))
                    .replace(&format!("\"{id}\""), "\"a-new-case\"");
                it.write(&format!("{folder}/a-new-case.json"), run);
            } else {
                crate::cases::copy(
                    &it.path(&format!("{folder}/{id}")),
                    &it.path(&format!("{folder}/a-new-case")),
                );
                for sample in 0..9 {
                    let file = format!("{folder}/a-new-case/{sample}.json");
                    if it.path(&file).exists() {
                        let run = it
                            .read(&file)
                            .replace(&format!("\"{id}\""), "\"a-new-case\"");
                        it.write(&file, run);
                    }
                }
            }
        },
    },
    Row {
        name: "an agent is added with its cases",
        base: "contracts",
        change: |it| {
            it.replace("goldgate.yaml", "    gates:\n", "      second:\n        fingerprint: ['prompts/**']\n        deterministic: { replay: runs }\n    gates:\n");
            crate::cases::copy(
                &it.path("golden/expected/legal"),
                &it.path("golden/expected/second"),
            );
            crate::cases::copy(&it.path("runs/legal"), &it.path("runs/second"));
            (0..12).for_each(|case| {
                it.replace(
                    &format!("runs/second/lease-{case}.json"),
                    "\"legal\"",
                    "\"second\"",
                )
            });
        },
    },
    Row {
        name: "a gate is tightened",
        base: "contracts",
        change: |it| it.replace("goldgate.yaml", "min: 0.5 }", "min: 0.6 }"),
    },
    Row {
        name: "a gate is made hard",
        base: "contracts",
        change: |it| it.replace("goldgate.yaml", "min: 0.5 }", "min: 0.5, hard: true }"),
    },
    Row {
        name: "a gate is added",
        base: "contracts",
        change: |it| {
            it.replace(
                "goldgate.yaml",
                "    gates:\n",
                "    gates:\n      gap_recall: { min: 0.2 }\n",
            )
        },
    },
    Row {
        name: "the prompts are in an unchanged submodule",
        base: "submodule",
        change: |it| it.write("src/main.py", "print()\n"),
    },
    Row {
        name: "an empty folder was created for further prompts",
        base: "contracts",
        change: |it| std::fs::create_dir_all(it.path("prompts/next")).unwrap(),
    },
    Row {
        name: "the prompts of a submodule change and every run is recorded again",
        base: "submodule",
        change: |it| {
            it.replace("prompts/legal.md", "every", "each");
            record_again(it);
        },
    },
    Row {
        name: "a fixture repository has a hidden file",
        base: "hidden",
        change: |it| it.write("src/main.py", "print()\n"),
    },
    Row {
        name: "the prompt changes and every run is recorded again",
        base: "contracts",
        change: |it| {
            it.write(
                "prompts/legal.md",
                "Report every change of control, briefly.\n",
            );
            record_again(it);
        },
    },
    Row {
        name: "more samples are stated and recorded",
        base: "contracts",
        change: |it| {
            it.write(
                "prompts/legal.md",
                "Report every change of control, briefly.\n",
            );
            for case in 0..12 {
                let run = it.read(&recording(case));
                it.remove(&recording(case));
                for sample in 0..3 {
                    let run = run.replace("\"sample\": 0", &format!("\"sample\": {sample}"));
                    let run = run.replace("Needs prior approval.", "Needs approval first.");
                    it.write(&format!("runs/legal/lease-{case}/{sample}.json"), run);
                }
            }
            stamped(it);
        },
    },
    Row {
        name: "the config is formatted and commented",
        base: "contracts",
        change: |it| {
            let config = it.read("goldgate.yaml");
            it.write(
                "goldgate.yaml",
                format!(
                    "# A remark.\n{}",
                    config
                        .replace("min: 0.5", "min: 0.50")
                        .replace("    kind:", "\n    # Which kind it is.\n    kind:")
                ),
            );
        },
    },
    Row {
        name: "the config's keys change their order",
        base: "contracts",
        change: |it| {
            it.replace(
                "goldgate.yaml",
                "    kind: findings\n    policy: seed\n    path: golden\n",
                "    path: golden\n    kind: findings\n    policy: seed\n",
            );
        },
    },
    Row {
        name: "a default is spelled out",
        base: "contracts",
        change: |it| {
            it.replace(
                "goldgate.yaml",
                "    path: golden\n",
                "    path: golden\n    tier: [deterministic]\n",
            )
        },
    },
    Row {
        name: "a value is written once and used twice",
        base: "contracts",
        change: |it| it.replace("goldgate.yaml", "{ min: 0.5 }", "&floor { min: 0.5 }"),
    },
    Row {
        name: "an expectation is formatted",
        base: "contracts",
        change: |it| json(it, &expected(3), |_| {}),
    },
    Row {
        name: "all expectations are formatted",
        base: "contracts",
        change: |it| (0..12).for_each(|case| json(it, &expected(case), |_| {})),
    },
    Row {
        name: "a file of cases is formatted",
        base: "assistant",
        change: |it| json(it, "fixtures/tool_use/eval_cases.json", |_| {}),
    },
    Row {
        name: "cases change their order in their file",
        base: "assistant",
        change: |it| {
            json(it, "fixtures/tool_use/eval_cases.json", |cases| {
                let list = if cases.is_array() {
                    cases
                } else {
                    &mut cases["cases"]
                };
                list.as_array_mut().unwrap().reverse();
            });
        },
    },
    Row {
        name: "recordings move to another folder",
        base: "contracts",
        change: |it| {
            std::fs::rename(it.path("runs"), it.path("recorded")).unwrap();
            it.replace("goldgate.yaml", "replay: runs", "replay: recorded");
        },
    },
    Row {
        name: "a model tier is added",
        base: "contracts",
        change: |it| {
            it.replace(
                "goldgate.yaml",
                "    path: golden\n",
                "    path: golden\n    tier: [deterministic, model]\n",
            );
            it.replace(
                "goldgate.yaml",
                "deterministic: { replay: runs }",
                "deterministic: { replay: runs }\n        model: { target: m }",
            );
            let config = it.read("goldgate.yaml");
            it.write(
                "goldgate.yaml",
                format!("{config}targets:\n  m: {{ provider: openai, model: m, api_key_env: MODEL_KEY }}\n"),
            );
        },
    },
    Row {
        name: "a suite is added",
        base: "contracts",
        change: |it| {
            crate::cases::copy(
                &crate::repository::root().join("fixtures/triggers"),
                &it.path("triggers"),
            );
            let config = it.read("goldgate.yaml");
            it.write(
                "goldgate.yaml",
                config.replace(
                    "suites:\n",
                    "suites:\n  - { id: triggers, kind: triggers, policy: seed, path: triggers }\n",
                ),
            );
        },
    },
    Row {
        name: "a budget and prices are stated",
        base: "contracts",
        change: |it| {
            let config = it.read("goldgate.yaml");
            it.write(
                "goldgate.yaml",
                format!("{config}budget: {{ max_minutes: 5 }}\nprices: {{ m: {{ input: 1, output: 2 }} }}\n"),
            );
        },
    },
    Row {
        name: "`results` names another folder",
        base: "contracts",
        change: |it| {
            it.replace(
                "goldgate.yaml",
                "suites:\n",
                "results: .cache/goldgate\nsuites:\n",
            )
        },
    },
    Row {
        name: "a README next to the golden files",
        base: "contracts",
        change: |it| {
            it.write("golden/README.md", "What the cases are for.\n");
            it.write("golden/contracts/README.md", "The documents.\n");
        },
    },
    Row {
        name: "a document that no case is about",
        base: "contracts",
        change: |it| it.write("golden/contracts/draft.md", "# Draft\n"),
    },
    Row {
        name: "a list of terms in another order",
        base: "assistant",
        change: |it| {
            let text = it.read("fixtures/tool_use/terms/next_step.txt");
            let mut lines: Vec<&str> = text.lines().collect();
            lines.reverse();
            it.write(
                "fixtures/tool_use/terms/next_step.txt",
                lines.join("\n") + "\n",
            );
        },
    },
];
