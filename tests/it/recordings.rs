//! Which recordings count: each row of the table with a control, under both trusts.

mod lists;
mod renamed;
mod rows;
mod sides;

use libtest_mimic::Trial;
use serde_json::{Map, Value, json};

use self::Expect::{Approval, Listed, Noted, Refused, Silent};
use self::rows::{ROWS, Row};
use crate::golden_changes::{add_case, commit_all, expected, recording};
use crate::repository::{CONFIG, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for row in ROWS {
        for trust in [Trust::Author, Trust::Approval] {
            trials.push(trial(
                format!("{} ({})", row.name, trust.name()),
                move || one(row, trust),
            ));
        }
    }
    trials.extend(lists::trials());
    trials.extend(renamed::trials());
    trials.extend(sides::trials());
    trials
}

/// The result of a run, and the words that give its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// No verdict, exit 3.
    Refused(&'static str),
    /// A golden change that needs an approval, exit 1.
    Approval(&'static str),
    /// A golden change that is listed, exit 0.
    Listed(&'static str),
    /// A note of the agent and no change of its recordings, exit 0.
    Noted(&'static str),
    /// No note on digests and no change of recordings, exit 0.
    Silent,
}

/// Who is trusted to write recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    Author,
    Approval,
    Ci,
}

impl Trust {
    fn name(self) -> &'static str {
        match self {
            Self::Author => "author",
            Self::Approval => "approval",
            Self::Ci => "ci",
        }
    }

    /// The result under this trust, of a row with this one under `author`.
    fn result(self, by_author: Expect) -> Expect {
        match (self, by_author) {
            (Self::Approval, Listed(words)) => Approval(words),
            (Self::Author | Self::Approval | Self::Ci, result) => result,
        }
    }
}

const CASES: usize = 3;

/// A suite of three cases with a recording each that states today's digests, and a baseline.
fn recorded(trust: Trust) -> Repository {
    let repository = Repository::small();
    for other in [
        ".git",
        "golden/runs",
        "golden/contracts/lease.md",
        "golden/expected/legal/lease.json",
    ] {
        repository.remove(other);
    }
    let mut config = CONFIG.replace("golden/runs", "runs");
    // `author` is what a config without the key means.
    if trust != Trust::Author {
        config.push_str(&format!("recordings: {{ trust: {} }}\n", trust.name()));
    }
    repository.write("goldgate.yaml", config);
    for case in 0..CASES {
        add_case(&repository, case);
    }
    repository.stamp("goldgate.yaml");
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    repository
}

/// Runs in the working tree, compared with the last commit.
fn against(repository: &Repository) -> Ran {
    let path = std::env::var("PATH").unwrap();
    repository.goldgate_on_commit(
        &["run", "--base", "HEAD", "--dirty", "--format", "json"],
        &[("PATH", &path)],
    )
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
}

fn one(row: &Row, trust: Trust) {
    for (change, result) in [(row.change, row.expect), (row.control, row.control_expect)] {
        let repository = recorded(trust);
        (row.base)(&repository);
        commit_all(&repository);
        change(&repository);
        is(&against(&repository), trust.result(result));
    }
}

/// The exit code, its reason, and that there is no other reason.
fn is(ran: &Ran, result: Expect) {
    let report = report(ran);
    let refused = report["not_gateable"].to_string();
    let agents: Vec<&Value> = report["suites"][0]["agents"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    let notes: Vec<String> = agents
        .iter()
        .map(|agent| agent["notes"].to_string())
        .collect();
    let changes = report["golden_changes"].as_array().unwrap();
    let says = |words: &str, heavy: bool| {
        changes.iter().any(|one| {
            one["needs_approval"] == heavy && one["what"].as_str().unwrap().contains(words)
        })
    };
    let is_of_recordings = |one: &&Value| one["class"] == "recording";
    let seen = format!(
        "{result:?}: exit {}\n{refused}\n{changes:#?}\n{notes:?}",
        ran.code
    );
    let code = match result {
        Refused(words) => {
            assert!(refused.contains(words), "{seen}");
            3
        }
        Approval(words) => {
            assert!(says(words, true), "{seen}");
            1
        }
        Listed(words) => {
            assert!(says(words, false), "{seen}");
            0
        }
        Noted(words) => {
            assert!(notes.iter().any(|notes| notes.contains(words)), "{seen}");
            assert!(!changes.iter().any(|one| is_of_recordings(&one)), "{seen}");
            0
        }
        Silent => {
            assert!(
                !notes.iter().any(|notes| notes.contains("digest")),
                "{seen}"
            );
            assert!(!changes.iter().any(|one| is_of_recordings(&one)), "{seen}");
            0
        }
    };
    assert_eq!(ran.code, code, "{seen}");
    // An agent without verdict has no failed gate, and no gate fails beside an approval.
    let verdict = if code == 3 { "inconclusive" } else { "pass" };
    assert!(
        agents.iter().any(|agent| agent["verdict"] == verdict),
        "{seen}"
    );
    assert!(
        agents.iter().all(|agent| agent["verdict"] != "fail"),
        "{seen}"
    );
    if code != 3 {
        assert_eq!(refused, "[]", "{seen}");
    }
}

fn edit(repository: &Repository, case: usize, edit: impl FnOnce(&mut Value)) {
    edit_file(repository, &recording(case), edit);
}

fn edit_file(repository: &Repository, file: &str, edit: impl FnOnce(&mut Value)) {
    let mut run: Value = serde_json::from_str(&repository.read(file)).unwrap();
    edit(&mut run);
    repository.write(file, run.to_string());
}

fn edit_origin(repository: &Repository, case: usize, change: impl FnOnce(&mut Map<String, Value>)) {
    edit(repository, case, |run| {
        change(run["provenance"].as_object_mut().unwrap())
    });
}

/// Another answer, which passes as well.
fn answer(repository: &Repository, case: usize) {
    edit(repository, case, |run| {
        run["outputs"]["findings"][0]["description"] = json!("Needs an approval beforehand.");
    });
}

fn answer_all(repository: &Repository) {
    for case in 0..CASES {
        answer(repository, case);
    }
}

/// A recording that states nothing.
fn bare(repository: &Repository, case: usize) {
    edit(repository, case, |run| {
        drop(run.as_object_mut().unwrap().remove("provenance"))
    });
}

fn bare_all(repository: &Repository) {
    for case in 0..CASES {
        bare(repository, case);
    }
}

fn edit_prompt(repository: &Repository) {
    repository.write(
        "prompts/legal.md",
        "Report every change of control, briefly.\n",
    );
}

/// A second recording of a case, which states no digests.
fn add_sample(repository: &Repository, case: usize) {
    let text = repository.read(&recording(case));
    repository.remove(&recording(case));
    let folder = recording(case).replace(".json", "");
    repository.write(&format!("{folder}/0.json"), &text);
    repository.write(&format!("{folder}/1.json"), &text);
    edit_file(repository, &format!("{folder}/1.json"), |run| {
        run["sample"] = json!(1);
        run.as_object_mut().unwrap().remove("provenance");
    });
}

/// The agent has a model tier, and its recordings state the target.
fn with_target(repository: &Repository) {
    repository.replace(
        "goldgate.yaml",
        "replay: runs }",
        "replay: runs }, model: { target: bot }",
    );
    let config = repository.read("goldgate.yaml");
    repository.write(
        "goldgate.yaml",
        format!("{config}targets:\n  bot: {{ provider: anthropic, model: a-model-1 }}\n"),
    );
    repository.stamp("goldgate.yaml");
    assert!(repository.read(&recording(0)).contains("target_sha256"));
}

fn other_model(repository: &Repository) {
    repository.replace("goldgate.yaml", "a-model-1", "a-model-2");
}

/// An agent `second` with the recordings of `legal`, which state no digests.
fn second_agent(repository: &Repository) {
    let config = repository.read("goldgate.yaml");
    let line = config
        .lines()
        .find(|line| line.starts_with("      legal:"))
        .unwrap();
    let both = format!("{line}\n{}", line.replace("legal:", "second:"));
    repository.write("goldgate.yaml", config.replace(line, &both));
    for case in 0..CASES {
        repository.write(
            &expected(case).replace("/legal/", "/second/"),
            repository.read(&expected(case)),
        );
        let file = recording(case).replace("/legal/", "/second/");
        repository.write(&file, repository.read(&recording(case)));
        edit_file(repository, &file, |run| {
            run["agent"] = json!("second");
            run.as_object_mut().unwrap().remove("provenance");
        });
    }
}

/// Imported transcripts without a date: the prompt is one of the inputs.
fn transcripts(repository: &Repository, prompt: &str) {
    for case in 0..CASES {
        edit(repository, case, |run| {
            run["inputs"] = json!({ "prompt": prompt })
        });
    }
    repository.stamp("goldgate.yaml");
}
