//! The bundled recordings keep the digests of their agents and inputs, and are stale when one of them changes.

use std::collections::BTreeSet;
use std::fs;

use goldgate::files::{Files, files_below, sha256_hex};
use goldgate::model::{Agent, RepoPath, RunKey, RunSource};
use goldgate::suites::{input_digest, kind, read_config};
use goldgate::world::Disk;
use libtest_mimic::Trial;
use serde_json::Value;

use super::{refused, run};
use crate::repository::{Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial(
            "the bundled recordings keep the digests of their agents and inputs",
            digests,
        ),
        trial(
            "another form of the bundled golden files, or another expectation, makes no recording stale",
            expectations,
        ),
    ];
    for (suite, agent, file) in PROMPTS {
        trials.push(trial(
            format!("a changed prompt of {suite}/{agent} gives no verdict"),
            move || {
                changed(suite, agent, file, "files", |text| {
                    format!("{text}\n- Never report anything.\n")
                });
            },
        ));
    }
    for (suite, agent, file, from, to) in INPUTS {
        trials.push(trial(
            format!("a changed {file} gives no verdict on {suite}/{agent}"),
            move || {
                changed(suite, agent, file, "input", |text| {
                    assert!(text.contains(from), "{file} has no {from:?}");
                    text.replacen(from, to, 1)
                });
            },
        ));
    }
    trials
}

/// A file of each bundled agent.
const PROMPTS: [(&str, &str, &str); 13] = [
    (
        "contracts",
        "legal",
        "fixtures/contracts/prompts/policies/legal/policies-v1.md",
    ),
    (
        "contracts",
        "finance",
        "fixtures/contracts/prompts/policies/finance/policies-v1.md",
    ),
    (
        "contracts",
        "commercial",
        "fixtures/contracts/prompts/policies/commercial/policies-v1.md",
    ),
    (
        "contracts",
        "privacy",
        "fixtures/contracts/prompts/policies/privacy/policies-v1.md",
    ),
    (
        "assistant",
        "assistant",
        "fixtures/tool_use/prompts/policies-v1.md",
    ),
    (
        "interview",
        "interviewer",
        "fixtures/interview/prompts/policies-v1.md",
    ),
    (
        "variability",
        "interviewer",
        "fixtures/interview/prompts/policies-v1.md",
    ),
    (
        "reconciliation",
        "reconciler",
        "fixtures/reconciliation/prompts/policies-v1.md",
    ),
    (
        "stability",
        "reconciler",
        "fixtures/reconciliation/prompts/policies-v1.md",
    ),
    (
        "evidence",
        "inspector",
        "fixtures/evidence/prompts/policies-v1.md",
    ),
    (
        "revision",
        "critic",
        "fixtures/revision/prompts/contract-v3.md",
    ),
    (
        "revision",
        "loop",
        "fixtures/revision/prompts/contract-v3.md",
    ),
    (
        "revision",
        "reviser",
        "fixtures/revision/prompts/contract-v3.md",
    ),
];

/// A query, a document, a repository or another input of each bundled suite: file, text and what takes its place.
const INPUTS: [(&str, &str, &str, &str, &str); 10] = [
    (
        "contracts",
        "legal",
        "fixtures/contracts/contracts/supply-agreement.md",
        "#",
        "##",
    ),
    (
        "assistant",
        "assistant",
        "fixtures/tool_use/eval_cases.json",
        "\"query\": \"",
        "\"query\": \"Please. ",
    ),
    (
        "orders",
        "desk",
        "examples/order-desk/cases.json",
        "\"query\": \"",
        "\"query\": \"Please. ",
    ),
    (
        "interview",
        "interviewer",
        "fixtures/interview/scenarios/int-001.json",
        "\"context\": {",
        "\"context\": { \"also\": \"in green\",",
    ),
    (
        "variability",
        "interviewer",
        "fixtures/stochastic/scenarios/sto-001.json",
        "\"context\": {",
        "\"context\": { \"also\": \"in green\",",
    ),
    (
        "reconciliation",
        "reconciler",
        "fixtures/reconciliation/fixtures/rec-001.json",
        "\"files\": [",
        "\"files\": [\"more.rs\", ",
    ),
    (
        "stability",
        "reconciler",
        "fixtures/property/cases/prop-01.json",
        "\"files\": [",
        "\"files\": [\"more.rs\", ",
    ),
    (
        "evidence",
        "inspector",
        "fixtures/repos/buggy_calc/README.md",
        "\n",
        "\n\n",
    ),
    (
        "revision",
        "reviser",
        "fixtures/revision/cases/agency-tea/original.rtf",
        "the",
        "any",
    ),
    (
        "revision",
        "critic",
        "fixtures/revision/cases/agency-tea/revised.rtf",
        "the",
        "any",
    ),
];

fn changed(suite: &str, agent: &str, file: &str, what: &str, change: impl Fn(&str) -> String) {
    let repository = Repository::bundled();
    let text = String::from_utf8(fs::read(repository.path(file)).unwrap()).unwrap();
    repository.write(file, change(&text));
    let (code, why) = refused(&repository, &["--suite", suite]);
    assert!(
        code == 3 && why.contains(&format!("{suite}/{agent}: ")) && why.contains("stale"),
        "{code} {why}"
    );
    let says = if what == "input" {
        "what the case asks changed since "
    } else {
        "prompts/"
    };
    assert!(why.contains(says), "{why}");
    assert_eq!(repository.goldgate(&["check"]).code, 2);
}

fn expectations() {
    let repository = Repository::bundled();
    let file = "fixtures/tool_use/eval_cases.json";
    let mut cases: Value = serde_json::from_str(&repository.read(file)).unwrap();
    let list = cases["cases"].as_array_mut().unwrap();
    list[0]["expected_output_contains"] = serde_json::json!(["a word that nobody says"]);
    repository.write(file, serde_json::to_string_pretty(&cases).unwrap());
    for suite in ["assistant", "contracts"] {
        let ran = run(&repository, &["--suite", suite]);
        assert!(
            ran.code < 2 && !ran.stdout.contains("stale"),
            "{}",
            ran.stdout
        );
    }
}

/// The digest of an agent's files, as this program writes it: path and content of each.
fn agent_digest(disk: &Disk, agent: &Agent) -> String {
    let mut lines = String::new();
    let mut add = |file: &RepoPath, folder: &RepoPath| {
        let text = String::from_utf8(disk.bytes(file).unwrap()).unwrap();
        let trimmed: Vec<&str> = text.split('\n').map(str::trim_end).collect();
        let inner = file.as_str().strip_prefix(folder.as_str()).unwrap();
        let digest = sha256_hex(trimmed.join("\n").as_bytes());
        lines.push_str(&format!("{digest}  {}\n", inner.trim_start_matches('/')));
    };
    for glob in &agent.fingerprint {
        match glob.file() {
            Some(file) => add(&file, &file),
            None => {
                let below = files_below(disk, glob.folder()).unwrap();
                for file in below.values().filter(|file| glob.matches(file)) {
                    add(file, glob.folder());
                }
            }
        }
    }
    if let Some(prompt) = &agent.prompt {
        for file in files_below(disk, prompt).unwrap().values() {
            add(file, prompt);
        }
    }
    sha256_hex(lines.as_bytes())
}

/// The recordings of a run.
fn recordings(disk: &Disk, agent: &Agent, key: &RunKey) -> Vec<RepoPath> {
    let Some(RunSource::Replay(place)) = &agent.deterministic else {
        return Vec::new();
    };
    let folder = place.root().child(key.agent.as_str());
    let several = folder.child(key.case.as_str());
    match disk.list(&several) {
        Ok(entries) => entries
            .iter()
            .map(|entry| several.child(&entry.name))
            .collect(),
        Err(_) => vec![folder.child(&format!("{}.json", key.case))],
    }
}

fn digests() {
    let disk = Disk::open(root()).unwrap();
    let config =
        read_config(&disk.text(&RepoPath::root().child("goldgate.yaml")).unwrap()).unwrap();
    let mut checked = 0;
    for suite in &config.suites {
        let golden = (kind(&suite.kind).unwrap().open)(suite, &disk).unwrap();
        let mut seen: BTreeSet<&RunKey> = BTreeSet::new();
        for pair in golden.pairs() {
            for key in pair.runs.iter().filter(|key| key.suite == suite.id) {
                let Some(agent) = suite.agents.get(&key.agent).filter(|_| seen.insert(key)) else {
                    continue;
                };
                let ask = golden.ask(pair, key, &disk).unwrap().unwrap();
                let wanted = [
                    ("agent_sha256", agent_digest(&disk, agent)),
                    ("input_sha256", input_digest(&ask, &disk).unwrap()),
                ];
                for file in recordings(&disk, agent, key) {
                    digest(&disk, &file, &wanted);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 500, "{checked} recordings");
}

fn digest(disk: &Disk, file: &RepoPath, wanted: &[(&str, String)]) {
    let text = disk.text(file).unwrap().text;
    let record: Value = serde_json::from_str(&text).unwrap();
    for (key, sha256) in wanted {
        let stated = record["provenance"][*key].as_str();
        assert_eq!(
            stated,
            Some(sha256.as_str()),
            "{key} of {file}: goldgate stamp --stale"
        );
    }
}
