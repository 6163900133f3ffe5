//! The limits of inputs: the page and the code state the same ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use goldgate::model::InputLimit;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::{Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("the table of the page on limits is the program's own", page),
        trial("every limit of the table is used by the program, and stands in the table once", used),
        trial("a list of a case has at most 500 expectations in every kind", expectations),
        trial("agents are compared by at most 500 findings of each", compared),
        trial("a judge has at most 15 votes", votes),
        trial("a stored report has at most 1024 MiB", stored_report),
    ]
}

fn page() {
    let file = root().join("docs/limits.md");
    let text = fs::read_to_string(&file).unwrap();
    let head = "| input | limit | below it |\n|---|---|---|\n";
    let (before, rest) = text.split_once(head).unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    let rows: Vec<String> =
        InputLimit::ALL.iter().map(|limit| format!("| {} | {limit} | {} |", limit.input, limit.help)).collect();
    let current = format!("{before}{head}{}\n\n{after}", rows.join("\n"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &current).unwrap();
    } else {
        assert!(current == text, "docs/limits.md is not current; BLESS=1 rewrites it\n{}", rows.join("\n"));
    }
}

fn sources(folder: &Path, texts: &mut String) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, texts);
        } else if !entry.ends_with("input_limit.rs") {
            texts.push_str(&fs::read_to_string(entry).unwrap());
        }
    }
}

fn used() {
    let table = fs::read_to_string(root().join("src/model/input_limit.rs")).unwrap();
    let names: Vec<&str> = table
        .split("pub const ")
        .skip(1)
        .filter_map(|part| part.split_once(": Self ="))
        .map(|(name, _)| name)
        .collect();
    let mut texts = String::new();
    sources(&root().join("src"), &mut texts);
    for name in &names {
        assert!(texts.contains(&format!("InputLimit::{name}")), "no code uses the limit {name}");
        assert_eq!(table.matches(&format!("&Self::{name},")).count(), 1, "{name}");
    }
    let inputs: BTreeSet<&str> = InputLimit::ALL.iter().map(|limit| limit.input).collect();
    assert_eq!((inputs.len(), names.len()), (InputLimit::ALL.len(), InputLimit::ALL.len()));
}

fn edit(repository: &Repository, file: &str, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_str(&repository.read(file)).unwrap();
    change(&mut value);
    repository.write(file, serde_json::to_string_pretty(&value).unwrap());
}

/// A golden file, its list, and an entry of it.
fn lists() -> [(&'static str, &'static str, Value); 4] {
    let finding = || json!({ "category": "liability", "must_contain_keywords": ["cap"] });
    [
        ("fixtures/contracts/expected/legal/change-of-control.json", "expected_findings", finding()),
        ("fixtures/contracts/expected/legal/sla.json", "must_not_find", json!({ "category": "liability" })),
        ("fixtures/cross/cases/licence-lapses-on-merger.json", "shared_findings", finding()),
        ("fixtures/interview/scenarios/int-001.json", "expectedAtoms", json!({ "minOutcomes": 1 })),
    ]
}

fn expectations() {
    let repository = Repository::bundled();
    let limit = InputLimit::EXPECTATIONS.count();
    let said = |count: usize| {
        for (file, list, entry) in lists() {
            edit(&repository, file, |case| case[list] = vec![entry; count].into());
        }
        repository.goldgate(&["check"]).stderr
    };
    let at_limit = said(limit);
    assert!(!at_limit.contains("[too-many]"), "{at_limit}");
    let above = said(limit + 1);
    for (file, list, _) in lists() {
        let words = format!("501 entries in `{list}`; the limit is 500; {} [too-many]", InputLimit::EXPECTATIONS.help);
        let line = above.lines().find(|line| line.starts_with(&format!("{file}:"))).unwrap_or_default();
        assert!(line.ends_with(&words), "{file}: {above}");
    }
}

fn compared() {
    let repository = Repository::bundled();
    let case: Value = serde_json::from_str(&repository.read("fixtures/cross/cases/sale-exit-charge.json")).unwrap();
    let (agent, contract) = (case["agents"][0].as_str().unwrap(), case["contract"].as_str().unwrap());
    let recording = format!("fixtures/contracts/runs/{agent}/{contract}/0.json");
    let schema = |count: usize| {
        edit(&repository, &recording, |run| {
            let finding = run["outputs"]["findings"][0].clone();
            run["outputs"]["findings"] = vec![finding; count].into();
        });
        let ran = repository.goldgate(&["run", "--suite", "cross", "--format", "json"]);
        ran.stdout.contains(&format!("{count} findings; the agents of a case are compared by at most 500 each"))
    };
    assert!(!schema(500));
    assert!(schema(501));
}

fn votes() {
    let repository = Repository::bundled();
    let config = repository.read("goldgate.yaml");
    let said = |votes: u32| {
        repository.write("goldgate.yaml", config.replacen("votes: 3", &format!("votes: {votes}"), 1));
        repository.goldgate(&["check"])
    };
    let at_limit = said(15);
    assert!(!at_limit.stderr.contains("[bad-votes]"), "{}", at_limit.stderr);
    let above = said(17);
    assert!(
        above.code == 2 && above.stderr.contains("votes is 17; write an odd number from 1 to 15"),
        "{}",
        above.stderr
    );
}

fn stored_report() {
    let repository = Repository::bundled();
    repository.write("out/report.json", "");
    let said = |bytes: u64| {
        let file = fs::File::options().write(true).open(repository.path("out/report.json")).unwrap();
        file.set_len(bytes).unwrap();
        repository.goldgate(&["report", "out", "--format", "markdown"])
    };
    // A file without blocks on the disk, which is no JSON.
    let below = said(64 * 1024 * 1024);
    assert!(below.code == 2 && !below.stderr.contains("[too-large]"), "{}", below.stderr);
    let above = said(InputLimit::REPORT.most + 1);
    assert!(above.code == 2 && above.stderr.contains("the file is larger than 1024 MiB"), "{}", above.stderr);
}
