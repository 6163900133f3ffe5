//! Honest work is not punished: each of these changes is green without a label.

use libtest_mimic::Trial;
use serde_json::Value;

use super::edits::files;
use super::{committed, goldgate};
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
    ROWS.iter().map(|row| trial(format!("green without a label: {}", row.name), || one(row))).collect()
}

/// What each of these changes is called.
pub fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name)
}

fn one(row: &Row) {
    let repository = committed(row.base);
    (row.change)(&repository);
    let ran = goldgate(&repository, &["run", "--base", "HEAD"].map(str::to_owned));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("[needs approval]"), "{}", ran.stdout);
}

/// The agent was recorded again: other words, the same findings.
fn record_again(repository: &Repository) {
    (0..12).for_each(|case| repository.replace(&recording(case), "Needs prior approval.", "Needs approval first."));
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
    repository.write(&expected(case).replace(".json", ".yaml"), serde_yaml::to_string(&value).unwrap());
}

fn json(repository: &Repository, file: &str, change: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_str(&repository.read(file)).unwrap();
    change(&mut value);
    repository.write(file, value.to_string());
}

const ROWS: &[Row] = &[
    Row {
        name: "a change that touches nothing of it",
        base: "contracts",
        change: |it| it.write("src/main.py", "print()\n"),
    },
    Row { name: "a case is added", base: "contracts", change: |it| add_case(it, 77) },
    Row { name: "five cases are added", base: "contracts", change: |it| (70..75).for_each(|case| add_case(it, case)) },
    Row { name: "a case is written in YAML", base: "contracts", change: |it| into_yaml(it, 3) },
    Row {
        name: "a case that is written in YAML gets comments and another order",
        base: "contracts",
        change: |it| {
            into_yaml(it, 3);
            let file = expected(3).replace(".json", ".yaml");
            let text = it.read(&file);
            let (first, rest) = text.split_once("must_not_find:").unwrap();
            it.write(&file, format!("# Ours.\nmust_not_find:{}\n{first}", rest.trim_end()));
        },
    },
    Row {
        name: "a case is added to a file of many",
        base: "assistant",
        change: |it| {
            json(it, "fixtures/tool_use/eval_cases.json", |cases| {
                let list = if cases.is_array() { cases } else { &mut cases["cases"] };
                let mut copy = list[0].clone();
                copy["id"] = "a-new-case".into();
                list.as_array_mut().unwrap().insert(0, copy);
            });
            let first: Value = serde_json::from_str(&it.read("fixtures/tool_use/eval_cases.json")).unwrap();
            let list = if first.is_array() { &first } else { &first["cases"] };
            let id = list[1]["id"].as_str().unwrap().to_owned();
            let folder = "fixtures/tool_use/runs/assistant";
            if it.path(&format!("{folder}/{id}.json")).exists() {
                let run = it.read(&format!("{folder}/{id}.json")).replace(&format!("\"{id}\""), "\"a-new-case\"");
                it.write(&format!("{folder}/a-new-case.json"), run);
            } else {
                crate::cases::copy(&it.path(&format!("{folder}/{id}")), &it.path(&format!("{folder}/a-new-case")));
                for sample in 0..9 {
                    let file = format!("{folder}/a-new-case/{sample}.json");
                    if it.path(&file).exists() {
                        let run = it.read(&file).replace(&format!("\"{id}\""), "\"a-new-case\"");
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
            crate::cases::copy(&it.path("golden/expected/legal"), &it.path("golden/expected/second"));
            crate::cases::copy(&it.path("runs/legal"), &it.path("runs/second"));
            (0..12).for_each(|case| it.replace(&format!("runs/second/lease-{case}.json"), "\"legal\"", "\"second\""));
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
        change: |it| it.replace("goldgate.yaml", "    gates:\n", "    gates:\n      gap_recall: { min: 0.2 }\n"),
    },
    Row {
        name: "the prompts are in a submodule that stays as it is",
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
            it.write("prompts/legal.md", "Report every change of control, briefly.\n");
            record_again(it);
        },
    },
    Row {
        name: "a new version of the prompt package under a new name",
        base: "contracts",
        change: |it| {
            it.write("policies/v2/legal.md", "Report every change of control, briefly.\n");
            it.remove("prompts");
            it.replace("goldgate.yaml", "prompts/**", "policies/v2/**");
            record_again(it);
        },
    },
    Row {
        name: "a new version of the prompt package beside the old one",
        base: "contracts",
        change: |it| {
            it.write("policies/v2/legal.md", "Report every change of control, briefly.\n");
            it.replace("goldgate.yaml", "prompts/**", "policies/v2/**");
            record_again(it);
        },
    },
    Row {
        name: "more samples are stated and recorded",
        base: "contracts",
        change: |it| {
            it.write("prompts/legal.md", "Report every change of control, briefly.\n");
            for case in 0..12 {
                let run = it.read(&recording(case));
                it.remove(&recording(case));
                for sample in 0..3 {
                    let run = run.replace("\"sample\": 0", &format!("\"sample\": {sample}"));
                    let run = run.replace("Needs prior approval.", "Needs approval first.");
                    it.write(&format!("runs/legal/lease-{case}/{sample}.json"), run);
                }
            }
        },
    },
    Row {
        name: "the config is formatted and remarked on",
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
                "    kind: findings\n    path: golden\n",
                "    path: golden\n    kind: findings\n",
            );
        },
    },
    Row {
        name: "a default is spelled out",
        base: "contracts",
        change: |it| it.replace("goldgate.yaml", "    path: golden\n", "    path: golden\n    tier: [deterministic]\n"),
    },
    Row {
        name: "a value is written once and used twice",
        base: "contracts",
        change: |it| it.replace("goldgate.yaml", "{ min: 0.5 }", "&floor { min: 0.5 }"),
    },
    Row { name: "an expectation is formatted", base: "contracts", change: |it| json(it, &expected(3), |_| {}) },
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
                let list = if cases.is_array() { cases } else { &mut cases["cases"] };
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
            it.replace("goldgate.yaml", "    path: golden\n", "    path: golden\n    tier: [deterministic, model]\n");
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
            crate::cases::copy(&crate::repository::root().join("fixtures/triggers"), &it.path("triggers"));
            let config = it.read("goldgate.yaml");
            it.write(
                "goldgate.yaml",
                config.replace("suites:\n", "suites:\n  - { id: triggers, kind: triggers, path: triggers }\n"),
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
        name: "history goes elsewhere",
        base: "contracts",
        change: |it| it.replace("goldgate.yaml", "suites:\n", "results: .cache/goldgate\nsuites:\n"),
    },
    Row {
        name: "a README beside the golden files",
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
            it.write("fixtures/tool_use/terms/next_step.txt", lines.join("\n") + "\n");
        },
    },
    Row {
        name: "the agent got better and was recorded again",
        base: "contracts",
        change: |it| {
            it.write("prompts/legal.md", "Report every change of control, with its consequences.\n");
            record_again(it);
            it.replace(&recording(2), "\"P1\"", "\"P0\"");
        },
    },
    Row {
        name: "the prompt is checked out with other line ends",
        base: "digests",
        change: |it| it.replace("prompts/legal.md", "\n", "\r\n"),
    },
    Row {
        name: "the baseline is written again with the same numbers",
        base: "contracts",
        change: |it| {
            json(it, "baselines/latest.json", |baseline| baseline["captured_at"] = "2026-11-22T03:04:05Z".into());
        },
    },
    Row {
        name: "a fixture repository is checked out with other line ends",
        base: "evidence",
        change: |it| {
            for file in files(it, "fixtures/repos/buggy_calc") {
                it.write(&file, it.read(&file).replace('\n', "\r\n"));
            }
        },
    },
    Row {
        name: "all recordings are formatted",
        base: "contracts",
        change: |it| (0..12).for_each(|case| json(it, &recording(case), |_| {})),
    },
    Row {
        name: "each recording moves into a folder of its case",
        base: "contracts",
        change: |it| (0..12).for_each(|case| into_folder(it, case)),
    },
    Row {
        name: "more samples of the same agent are recorded",
        base: "contracts",
        change: |it| (0..12).for_each(|case| record_twice_more(it, case)),
    },
    Row {
        name: "a floor of the baseline becomes the highest number",
        base: "contracts",
        change: |it| {
            let gates = "    gates:\n      citation_accuracy: { min: 1.0, hard: true }\n";
            it.replace("goldgate.yaml", "    gates:\n", gates);
        },
    },
    Row {
        name: "a further pattern for files of the agent",
        base: "digests",
        change: |it| it.replace("goldgate.yaml", "['prompts/**']", "['prompts/**', 'tools/**']"),
    },
    Row {
        name: "the Finder opens the folder of the prompts",
        base: "digests",
        change: |it| it.write("prompts/.DS_Store", "\0\0\0\u{1}Bud1 is what it keeps of a folder\n"),
    },
    Row {
        name: "the samples that are recorded are stated",
        base: "contracts",
        change: |it| it.replace("goldgate.yaml", "    path: golden\n", "    path: golden\n    samples: 1\n"),
    },
    Row {
        name: "a default of an expectation is spelled out",
        base: "contracts",
        change: |it| {
            json(it, &expected(3), |case| {
                case["expected_findings"][0]["required"] = true.into();
                case["ambiguity_zone"] = Value::Null;
            });
        },
    },
    Row {
        name: "a README among the recordings",
        base: "contracts",
        change: |it| {
            it.write("runs/legal/README.md", "How these were made.\n");
            it.write("runs/legal/.gitkeep", "");
        },
    },
    Row {
        name: "a case is given notes",
        base: "contracts",
        change: |it| json(it, &expected(3), |case| case["notes"] = "From the review of May.".into()),
    },
    Row {
        name: "a case of a file of many is given notes",
        base: "assistant",
        change: |it| {
            json(it, "fixtures/tool_use/eval_cases.json", |cases| cases["cases"][0]["notes"] = "Asked often.".into());
        },
    },
    Row {
        name: "a default id of a case is left out",
        base: "assistant",
        change: |it| {
            json(it, "fixtures/tool_use/eval_cases.json", |cases| {
                for (index, case) in cases["cases"].as_array_mut().unwrap().iter_mut().enumerate() {
                    let default = format!("{}-{index}", case["category"].as_str().unwrap());
                    if case["id"] == default.as_str() {
                        case.as_object_mut().unwrap().remove("id");
                    }
                }
            });
        },
    },
    Row {
        name: "another person looks after a task",
        base: "evidence",
        change: |it| {
            let tasks = std::fs::read_dir(it.path("fixtures/evidence/tasks")).unwrap();
            let name = tasks.map(|task| task.unwrap().file_name().into_string().unwrap()).min().unwrap();
            json(it, &format!("fixtures/evidence/tasks/{name}"), |task| {
                task["lifecycle"]["owner"] = "Subject B".into();
                task["lifecycle"]["reviewed"] = "2026-05-01".into();
            });
        },
    },
    Row {
        name: "a file of the agent has a back slash in its name",
        base: "back_slash",
        change: |it| it.write("src/main.py", "print()\n"),
    },
    Row {
        name: "all runs but those of a draft are recorded again",
        base: "two_suites",
        change: |it| {
            it.replace("prompt.md", "Name", "State");
            it.replace("one/runs/helper/smoke-one.json", "Paris", "It is Paris");
            it.replace("two/runs/helper/smoke-two.json", "Paris", "It is Paris");
        },
    },
    Row {
        name: "all runs but those of a retired task are recorded again",
        base: "retired",
        change: |it| {
            it.replace("fixtures/evidence/prompts/policies-v1.md", "\n", "\n\n");
            let recorded = files(it, "fixtures/evidence/runs/inspector");
            for file in recorded.iter().filter(|file| !file.contains("buggy_calc")) {
                json(it, file, |run| run["provenance"] = serde_json::json!({ "model": "another" }));
            }
        },
    },
];
