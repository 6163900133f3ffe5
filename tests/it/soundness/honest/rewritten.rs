//! Honest changes of recordings and files: recorded again, formatted, moved, and written in other words.

use serde_json::Value;

use super::{Row, into_folder, json, record_again, record_twice_more, stamped};
use crate::golden_changes::{expected, recording};
use crate::soundness::edits::files;

pub const ROWS: &[Row] = &[
    Row {
        name: "the agent got better and was recorded again",
        base: "contracts",
        change: |it| {
            it.write(
                "prompts/legal.md",
                "Report every change of control, with its consequences.\n",
            );
            record_again(it);
            it.replace(&recording(2), "\"P1\"", "\"P0\"");
            stamped(it);
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
            json(it, "baselines/latest.json", |baseline| {
                baseline["captured_at"] = "2026-11-22T03:04:05Z".into()
            });
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
        name: "a gate with `min: baseline` gets `min: 1.0` and `hard: true`",
        base: "contracts",
        change: |it| {
            let gates = "    gates:\n      citation_accuracy: { min: 1.0, hard: true }\n";
            it.replace("goldgate.yaml", "    gates:\n", gates);
        },
    },
    Row {
        name: "a further pattern for files of the agent",
        base: "digests",
        change: |it| {
            it.replace(
                "goldgate.yaml",
                "['prompts/**']",
                "['prompts/**', 'tools/**']",
            )
        },
    },
    Row {
        name: "macOS adds `.DS_Store` to the folder of the prompts",
        base: "digests",
        change: |it| {
            it.write(
                "prompts/.DS_Store",
                "\0\0\0\u{1}Bud1 is what it keeps of a folder\n",
            )
        },
    },
    Row {
        name: "the samples that are recorded are stated",
        base: "contracts",
        change: |it| {
            it.replace(
                "goldgate.yaml",
                "    path: golden\n",
                "    path: golden\n    samples: 1\n",
            )
        },
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
        change: |it| {
            json(it, &expected(3), |case| {
                case["notes"] = "From the review of May.".into()
            })
        },
    },
    Row {
        name: "a file with a JSON Schema is formatted",
        base: "answers",
        change: |it| {
            it.write(
                "golden/schema.json",
                "{\n  \"required\": [\"city\"],\n  \"type\": \"object\"\n}\n",
            )
        },
    },
    Row {
        name: "a case of a file of many is given notes",
        base: "assistant",
        change: |it| {
            json(it, "fixtures/tool_use/eval_cases.json", |cases| {
                cases["cases"][0]["notes"] = "Asked often.".into()
            });
        },
    },
    Row {
        name: "a default id of a case is left out",
        base: "assistant",
        change: |it| {
            json(it, "fixtures/tool_use/eval_cases.json", |cases| {
                for (index, case) in cases["cases"]
                    .as_array_mut()
                    .unwrap()
                    .iter_mut()
                    .enumerate()
                {
                    let default = format!("{}-{index}", case["category"].as_str().unwrap());
                    if case["id"] == default.as_str() {
                        case.as_object_mut().unwrap().remove("id");
                    }
                }
            });
        },
    },
    Row {
        name: "a task gets another owner",
        base: "evidence",
        change: |it| {
            let tasks = std::fs::read_dir(it.path("fixtures/evidence/tasks")).unwrap();
            let name = tasks
                .map(|task| task.unwrap().file_name().into_string().unwrap())
                .min()
                .unwrap();
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
            stamped(it);
        },
    },
    Row {
        name: "all runs but those of a retired task are recorded again",
        base: "retired",
        change: |it| {
            it.replace("fixtures/evidence/prompts/policies-v1.md", "\n", "\n\n");
            let recorded = files(it, "fixtures/evidence/runs/inspector");
            for file in recorded.iter().filter(|file| !file.contains("buggy_calc")) {
                json(it, file, |run| {
                    run["metrics"]["total_latency_ms"] = 7.into();
                });
            }
            stamped(it);
        },
    },
];
