//! `run --affected`: only the agents that a change can affect are called.

use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::Value;

use super::endpoint::{Answer, Endpoint};
use super::{GOOD, KEY};
use crate::golden_changes::commit_all;
use crate::repository::{EXPECTED, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "only the agents that a change can affect are called",
            affected,
        ),
        trial(
            "a change that affects no agent passes nothing, and says so",
            nothing,
        ),
        trial(
            "an agent whose files nobody knows is always called",
            unknown_files,
        ),
        trial(
            "an agent that answers from recordings is always graded",
            recorded,
        ),
        trial(
            "an affected agent without its key is not told as none",
            no_key,
        ),
        trial(
            "what did not run is carried over from the baseline",
            carried_over,
        ),
        trial(
            "--affected is for the model tier, with a base, and decides nothing",
            options,
        ),
    ]
}

/// Two agents with a prompt and an expectation each, on one contract.
struct TwoAgents {
    repository: Repository,
    model: Endpoint,
}

impl TwoAgents {
    fn new() -> Self {
        let model = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()));
        let repository = Repository::small();
        let agent = |name: &str| {
            format!(
                "      {name}: {{ model: {{ target: {name}, prompt: prompts/{name}.md }}, fingerprint: [\"prompts/{name}.md\"] }}\n"
            )
        };
        let target = |name: &str| {
            let base = format!("{}/v1", model.address());
            format!(
                "  {name}: {{ provider: openai, model: model-1, base_url: \"{base}\", api_key_env: LIVE_KEY }}\n"
            )
        };
        let head = "version: 1\nbaseline: baselines/latest.json\nsuites:\n  - id: contracts\n    kind: findings\n    policy: seed\n    path: golden\n    \
                    tier: [model]\n    agents:\n";
        let agents = ["finance", "legal"];
        let config = [
            head.to_owned(),
            agents.map(agent).concat(),
            "targets:\n".to_owned(),
            agents.map(target).concat(),
        ];
        repository.write("goldgate.yaml", config.concat());
        repository.write("golden/expected/finance/lease.json", EXPECTED);
        repository.write("prompts/finance.md", "Report every payment.\n");
        repository.remove(".git");
        commit_all(&repository);
        Self { repository, model }
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let path = std::env::var("PATH").unwrap();
        let arguments = [&["run", "--tier", "model"], arguments].concat();
        self.repository
            .goldgate_with(&arguments, &[("LIVE_KEY", KEY), ("PATH", &path)])
    }

    /// The agents in the report of a run of what changed since the commit.
    fn ran(&self) -> Vec<String> {
        let ran = self.run(&["--base", "HEAD", "--affected", "--format", "json"]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let suites = report["suites"].as_array().unwrap().iter();
        let agents = suites.flat_map(|suite| suite["agents"].as_array().unwrap());
        agents
            .map(|agent| agent["agent"].as_str().unwrap().to_owned())
            .collect()
    }
}

fn affected() {
    let one = &["legal"][..];
    let both = &["finance", "legal"][..];
    let rows: &[(&str, &str, &str, &[&str])] = &[
        ("README.md", "", "Read me.\n", &[]),
        ("prompts/legal.md", "", "Be brief.\n", one),
        ("golden/expected/legal/lease.json", "", EXPECTED, &[]),
        (
            "golden/expected/legal/lease.json",
            "\"medium\"",
            "\"high\"",
            one,
        ),
        ("golden/contracts/lease.md", "landlord", "lessor", both),
        (
            "goldgate.yaml",
            "  legal: { provider: openai, model: model-1",
            "  legal: { provider: openai, model: model-2",
            one,
        ),
        (
            "goldgate.yaml",
            "legal: { model: { target: legal,",
            "legal: { model: { target: finance,",
            one,
        ),
        (
            "goldgate.yaml",
            "    path: golden\n",
            "    path: golden\n    samples: 2\n",
            both,
        ),
    ];
    for (file, from, to, expected) in rows {
        let story = TwoAgents::new();
        match from.is_empty() {
            true => story.repository.write(file, to),
            false => story.repository.replace(file, from, to),
        }
        assert_eq!(story.ran(), *expected, "{file}: {from} -> {to}");
        let samples = if to.contains("samples") { 2 } else { 1 };
        assert_eq!(
            story.model.requests(),
            samples * expected.len(),
            "{file}: {from} -> {to}"
        );
    }
}

fn nothing() {
    let story = TwoAgents::new();
    story.repository.write("README.md", "Read me.\n");
    let ran = story.run(&["--base", "HEAD", "--affected"]);
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        ran.stdout
            .contains("this change affects no selected agent, so none ran"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("gates pass"), "{}", ran.stdout);
    for agent in ["finance", "legal"] {
        let says = format!("contracts/{agent}: not affected by this change, so it did not run");
        assert!(ran.stdout.contains(&says), "{}", ran.stdout);
    }
}

/// Without its key an affected agent cannot run: that is not the same as none being affected.
fn no_key() {
    let story = TwoAgents::new();
    story.repository.write("prompts/legal.md", "Be brief.\n");
    let ran =
        story
            .repository
            .goldgate(&["run", "--tier", "model", "--base", "HEAD", "--affected"]);
    assert!(
        ran.stdout
            .contains("the agents that this change affects did not run"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        !ran.stdout.contains("affects no selected agent"),
        "{}",
        ran.stdout
    );
}

fn unknown_files() {
    let story = TwoAgents::new();
    let named = ", prompt: prompts/legal.md }, fingerprint: [\"prompts/legal.md\"]";
    story.repository.replace(
        "goldgate.yaml",
        named,
        " }, fingerprint: { none: a service of another team }",
    );
    commit_all(&story.repository);
    assert_eq!(story.ran(), ["legal"]);
}

/// Its recordings are not compared, so that a worse one is never carried over as unchanged.
fn recorded() {
    let story = TwoAgents::new();
    let live = "model: { target: legal, prompt: prompts/legal.md }";
    story
        .repository
        .replace("goldgate.yaml", live, "model: { replay: golden/runs }");
    commit_all(&story.repository);
    assert_eq!(story.ran(), ["legal"]);
}

fn carried_over() {
    let story = TwoAgents::new();
    let ran = story.run(&["--update-baseline"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&story.repository);
    story.repository.write("prompts/legal.md", "Be brief.\n");
    let ran = story.run(&["--base", "HEAD", "--affected"]);
    let says = "contracts/finance: not affected by this change, so it did not run; carried over from the baseline: finding_recall 100%";
    assert!(ran.stdout.contains(says), "{}{}", ran.stdout, ran.stderr);
    assert!(
        !ran.stdout.contains("contracts/legal: not affected"),
        "{}",
        ran.stdout
    );
}

fn options() {
    let story = TwoAgents::new();
    for (arguments, says) in [
        (&["run", "--affected"][..], "--base <REV>"),
        (
            &["run", "--affected", "--base", "HEAD"],
            "--affected is for the model tier",
        ),
        (
            &["run", "--affected", "--base", "HEAD", "--tier", "all"],
            "--affected is for the model tier",
        ),
        (
            &[
                "run",
                "--affected",
                "--base",
                "HEAD",
                "--tier",
                "model",
                "--blocking",
            ],
            "cannot be used with",
        ),
        (
            &[
                "run",
                "--affected",
                "--base",
                "HEAD",
                "--tier",
                "model",
                "--update-baseline",
            ],
            "cannot be used with",
        ),
    ] {
        let ran = story.repository.goldgate(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stdout);
        assert!(ran.stderr.contains(says), "{arguments:?}: {}", ran.stderr);
    }
}
