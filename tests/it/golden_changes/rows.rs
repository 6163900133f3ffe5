//! Single changes, and what is said of each.

use super::Row;
use super::*;

pub const ROWS: &[Row] = &[
    Row {
        name: "an edited baseline needs an approval",
        change: |it| {
            it.replace(
                "baselines/latest.json",
                "\"f1_score\": 1.0",
                "\"f1_score\": 0.9",
            )
        },
        says: "the baseline edited: f1_score of `contracts/legal` 1 -> 0.9",
        code: 1,
    },
    Row {
        name: "a removed baseline needs an approval",
        change: |it| it.remove("baselines/latest.json"),
        says: "the baseline baselines/latest.json removed",
        code: 1,
    },
    Row {
        name: "another baseline needs an approval",
        change: |it| {
            it.replace(
                "goldgate.yaml",
                "baselines/latest.json",
                "baselines/older.json",
            )
        },
        says: "the config names another baseline: baselines/latest.json -> baselines/older.json",
        code: 1,
    },
    Row {
        name: "a loosened gate needs an approval",
        change: |it| it.replace("goldgate.yaml", "min: 0.5 }", "min: 0.4 }"),
        says: "finding_precision floor of `contracts` 0.50 -> 0.40",
        code: 1,
    },
    Row {
        name: "a wider band needs an approval",
        change: |it| it.replace("goldgate.yaml", "min: 0.5 }", "min: 0.5, zone: 0.1 }"),
        says: "finding_precision floor of `contracts` 0.50 -> 0.50 (band 0.10)",
        code: 1,
    },
    Row {
        name: "a removed gate needs an approval",
        change: |it| {
            it.replace(
                "goldgate.yaml",
                "    gates:\n      finding_precision: { min: 0.5 }\n",
                "",
            )
        },
        says: "finding_precision floor of `contracts` removed: 0.50",
        code: 1,
    },
    Row {
        name: "a default gate that is not hard any more needs an approval",
        change: |it| {
            it.replace(
                "goldgate.yaml",
                "    gates:\n",
                "    gates:\n      finding_recall: { hard: false }\n",
            )
        },
        says: "finding_recall floor of `contracts` 0.80 (hard) -> 0.80",
        code: 1,
    },
    Row {
        name: "a gate that is switched off needs an approval",
        change: |it| {
            it.replace(
                "goldgate.yaml",
                "    gates:\n",
                "    gates:\n      f1_score: { off: true, reason: redefined }\n",
            );
        },
        says: "f1_score largest drop of `contracts` switched off: redefined",
        code: 1,
    },
    Row {
        name: "a tightened gate is listed and passes",
        change: |it| it.replace("goldgate.yaml", "min: 0.5 }", "min: 0.6, hard: true }"),
        says: "finding_precision floor of `contracts` 0.50 -> 0.60 (hard)",
        code: 0,
    },
    Row {
        name: "a deleted expectation needs an approval",
        change: |it| {
            [expected(3), recording(3)]
                .iter()
                .for_each(|file| it.remove(file))
        },
        says: "1 case of `contracts` removed: lease-3",
        code: 1,
    },
    Row {
        name: "an edited expectation needs an approval, with what was edited",
        change: |it| {
            it.replace(
                &expected(3),
                "\"change of control\", \"consent\"",
                "\"consent\"",
            )
        },
        says: "expectation of lease-3 of `contracts` edited: expected_findings[0].must_contain_keywords[0] removed: \"change of control\"",
        code: 1,
    },
    Row {
        name: "a synonym more needs an approval",
        change: |it| it.replace(&expected(3), "[\"approval\"]", "[\"approval\", \"a\"]"),
        says: "keyword_synonyms.consent[1] added: \"a\"",
        code: 1,
    },
    Row {
        name: "an edited document needs an approval",
        change: |it| it.replace("golden/contracts/lease-3.md", "approve", "agree"),
        says: "golden/contracts/lease-3.md of `contracts` edited, used by lease-3: 1 line removed, 1 line added",
        code: 1,
    },
    Row {
        name: "an added case is listed and passes",
        change: |it| add_case(it, 77),
        says: "1 case of `contracts` added: lease-77",
        code: 0,
    },
    Row {
        name: "a quarantine needs an approval",
        change: |it| {
            it.replace(
                &expected(3),
                "\"max_expected_findings\": 3",
                "\"max_expected_findings\": 3,\n  \"quarantine\": { \"owner\": \"Subject A\", \"reason\": \"flaky\", \"expires\": \"2026-11-25\" }",
            );
        },
        says: "case lease-3 of `contracts` put into quarantine until 2026-11-25 by Subject A: flaky",
        code: 1,
    },
    Row {
        name: "golden files that lie elsewhere are listed",
        change: |it| {
            std::fs::rename(it.path("golden"), it.path("easy")).unwrap();
            it.replace("goldgate.yaml", "path: golden", "path: easy");
        },
        says: "golden files of `contracts`: golden -> easy",
        code: 0,
    },
    Row {
        name: "recordings that are edited alone need an approval",
        change: |it| {
            it.replace(
                &recording(3),
                "Needs prior approval.",
                "Needs prior approval, always.",
            )
        },
        says: "1 recording of `contracts/legal` has other content, and others do not, though nothing that they were made with changed: edited, or a part recorded again; lease-3.json",
        code: 1,
    },
    Row {
        name: "recordings of an agent that changed are listed and pass",
        change: |it| {
            record_again(it);
            it.write(
                "prompts/legal.md",
                "Report every change of control, always.\n",
            );
        },
        says: "12 recordings of `contracts/legal` are of this change: lease-0.json, lease-1.json",
        code: 0,
    },
    Row {
        name: "a further pattern for the agent's files is listed and passes",
        change: |it| {
            record_again(it);
            it.replace(
                "goldgate.yaml",
                "['prompts/**']",
                "['prompts/**', 'golden/contracts/*.md']",
            );
        },
        says: "files of `contracts/legal`: prompts/** -> prompts/**, golden/contracts/*.md",
        code: 0,
    },
    Row {
        name: "a pattern of the agent's files in another folder with the same files is listed and passes",
        change: |it| {
            std::fs::rename(it.path("prompts"), it.path("agent")).unwrap();
            it.replace("goldgate.yaml", "prompts/**", "agent/**");
        },
        says: "files of `contracts/legal`: prompts/** -> agent/**",
        code: 0,
    },
    Row {
        name: "a narrower pattern for the same files needs an approval",
        change: |it| {
            record_again(it);
            it.replace("goldgate.yaml", "prompts/**", "prompts/legal.md");
        },
        says: "files of `contracts/legal`: prompts/** -> prompts/legal.md; no longer in the list: prompts/**",
        code: 1,
    },
    Row {
        name: "a pattern that leaves the agent's files needs an approval, whatever joins them",
        change: |it| {
            it.write("lib/legal.md", it.read("prompts/legal.md"));
            record_again(it);
            it.replace(
                "goldgate.yaml",
                "prompts/**",
                "lib/**', 'golden/contracts/*.md",
            );
        },
        says: "; no longer in the list: prompts/**",
        code: 1,
    },
    Row {
        name: "fewer samples need an approval",
        change: |it| it.replace("goldgate.yaml", "samples: 1\n", ""),
        says: "samples of `contracts` 1 -> all that are recorded",
        code: 1,
    },
    Row {
        name: "a category more is listed and passes",
        change: |it| {
            it.replace(
                "goldgate.yaml",
                "categories: [change_of_control, termination]",
                "categories: [change_of_control, termination, x]",
            )
        },
        says: "1 category of `contracts` added: x",
        code: 0,
    },
    Row {
        name: "a renamed suite needs an approval",
        change: |it| it.replace("goldgate.yaml", "- id: contracts", "- id: papers"),
        says: "1 suite removed: contracts",
        code: 1,
    },
    Row {
        name: "recordings that moved are listed and pass",
        change: |it| {
            std::fs::rename(it.path("runs"), it.path("best")).unwrap();
            it.replace("goldgate.yaml", "replay: runs", "replay: best");
        },
        says: "recordings of `contracts/legal`: runs -> best",
        code: 0,
    },
];
