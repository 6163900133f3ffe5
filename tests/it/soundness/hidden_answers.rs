//! Answers that a recording hides behind others: a text beside the findings, and what a model thought before its answer.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::goldgate;
use crate::golden_changes::{commit_all, expected, recording};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a text beside the findings hides none of them from the checks on the answer",
            beside,
        ),
        trial(
            "what a model thought is not its answer where the suite hides it",
            thought,
        ),
        trial(
            "items that a property's agent invents in every run are counted",
            invented_items,
        ),
        trial(
            "more samples of one agent of several, and a note in an instruction, need no label",
            honest,
        ),
    ]
}

/// Changes the prompt, and the outputs of every recording.
fn recorded(repository: &Repository, change: impl Fn(&mut Value)) -> Ran {
    repository.write(
        "prompts/legal.md",
        "Report every change of control, briefly.\n",
    );
    for case in 0..12 {
        let mut run: Value = serde_json::from_str(&repository.read(&recording(case))).unwrap();
        change(&mut run["outputs"]);
        repository.write(&recording(case), run.to_string());
    }
    goldgate(repository, &["run", "--base", "HEAD"].map(str::to_owned))
}

fn beside() {
    let with_check = || {
        let repository = super::bases::base("contracts");
        for case in 0..12 {
            let mut golden: Value =
                serde_json::from_str(&repository.read(&expected(case))).unwrap();
            golden["answer"] = json!({ "none_of": ["we guarantee"] });
            repository.write(&expected(case), golden.to_string());
        }
        repository.replace(
            "goldgate.yaml",
            "    gates:\n",
            "    gates:\n      answer_pass_rate: { min: 1.0 }\n",
        );
        assert_eq!(
            repository
                .goldgate(&["run", "--update-baseline", "--quiet"])
                .code,
            0
        );
        commit_all(&repository);
        repository
    };
    let guarantee = "Needs prior approval, we guarantee.";
    let unseen = "Needs prior approval, we gua\u{ad}ran\u{200b}tee.";
    for (text, described) in [
        (None, guarantee),
        (Some("Done."), guarantee),
        (None, unseen),
        (Some("Done."), unseen),
    ] {
        let ran = recorded(&with_check(), |outputs| {
            outputs["findings"][0]["description"] = described.into();
            if let Some(text) = text {
                outputs["text"] = text.into();
            }
        });
        assert_eq!(
            ran.code, 1,
            "{text:?} {described}: {}{}",
            ran.stdout, ran.stderr
        );
        assert!(
            ran.stdout.contains("answer_pass_rate"),
            "{text:?}: {}",
            ran.stdout
        );
    }
}

fn thought() {
    for (reasoning, [before, after], code) in [
        ("hidden", ["", ""], 1),
        ("hidden", ["<think>", "</think>"], 1),
        ("hidden", ["Perhaps ", "? No.</think>"], 1),
        // All that was written is the answer, and its first object counts.
        ("shown", ["<think>", "</think>"], 0),
    ] {
        let repository = super::bases::base("contracts");
        let kind = "kind: findings\n";
        let stated = format!("{kind}    reasoning: {reasoning}\n");
        repository.replace("goldgate.yaml", kind, &stated);
        super::missing_values::committed(&repository);
        let ran = recorded(&repository, |outputs| {
            let draft = if before.is_empty() {
                String::new()
            } else {
                outputs.to_string()
            };
            *outputs = json!({ "text": format!("{before}{draft}{after}{{\"findings\": []}}") });
        });
        assert_eq!(ran.code, code, "{before}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(
            ran.stdout.contains("finding_recall 0%"),
            code == 1,
            "{before}: {}",
            ran.stdout
        );
    }
}

/// Eight cases with one variant each, whose runs report the expected item and these invented ones.
fn properties(invented: usize) -> Ran {
    let repository = Repository::empty();
    repository.remove(".git");
    let suite = "{ id: p, kind: property, policy: seed, path: golden, gates: { delta_precision: { max_drop: 0.15 } }, agents: { who: { deterministic: { replay: runs }, fingerprint: [prompt.md] } } }";
    repository.write(
        "goldgate.yaml",
        format!("version: 1\nbaseline: baselines/latest.json\nsuites:\n  - {suite}\n"),
    );
    let write = |prompt: &str, invented: usize| {
        repository.write("prompt.md", prompt);
        let delta = |item: String| json!({ "item": item, "kind": "ghost_code", "evidence": { "file_paths": ["a.py"] } });
        let items = std::iter::once("a.py".to_owned())
            .chain((0..invented).map(|number| format!("b{number}.py")));
        let deltas: Vec<Value> = items.map(delta).collect();
        let run = json!({ "status": "completed", "outputs": { "deltas": deltas, "recommendations": [], "note": prompt } });
        for file in
            (0..8).flat_map(|case| [format!("case-{case}"), format!("case-{case}--comments")])
        {
            repository.write(&format!("runs/who/{file}.json"), run.to_string());
        }
    };
    let golden = json!({
        "expected_deltas": [{ "item": "a.py", "kind": "ghost_code" }],
        "variants": [{ "name": "comments", "transform": "comments added" }],
    });
    (0..8).for_each(|case| {
        repository.write(
            &format!("golden/cases/case-{case}.json"),
            golden.to_string(),
        )
    });
    write("Classify.", 1);
    assert_eq!(
        repository
            .goldgate(&["run", "--update-baseline", "--quiet", "-v"])
            .code,
        0
    );
    commit_all(&repository);
    write("Classify all.", invented);
    goldgate(&repository, &["run", "--base", "HEAD"].map(str::to_owned))
}

/// They are stable, and the expected item is there.
fn invented_items() {
    for invented in [0, 1] {
        let ran = properties(invented);
        assert_eq!(
            ran.code, 0,
            "the control, {invented}: {}{}",
            ran.stdout, ran.stderr
        );
    }
    let ran = properties(30);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("who delta_precision 3.2%, may drop by 15 pp (baseline 50%)"),
        "{}",
        ran.stdout
    );
}

fn honest() {
    let repository = Repository::bundled();
    commit_all(&repository);
    let runs = repository.path("fixtures/contracts/runs/legal");
    for case in std::fs::read_dir(runs)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
    {
        let file = |sample: u32| format!("fixtures/contracts/runs/legal/{case}/{sample}.json");
        for sample in 0..3 {
            let mut run: Value = serde_json::from_str(&repository.read(&file(sample))).unwrap();
            run["sample"] = (sample + 3).into();
            repository.write(&file(sample + 3), run.to_string());
        }
    }
    let instructions = "fixtures/revision/cases/hire-crane/instructions.json";
    let mut asked: Value = serde_json::from_str(&repository.read(instructions)).unwrap();
    asked["notes"] = "From the review of May.".into();
    repository.write(instructions, asked.to_string());
    let ran = goldgate(&repository, &["run", "--base", "HEAD"].map(str::to_owned));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("[needs approval]"), "{}", ran.stdout);
}
