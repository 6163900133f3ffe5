//! Recordings that the base commit does not have, although it counts their cases: a job may have downloaded them, so nothing shows whether
//! they are new. Without a digest they give no verdict where the agent may have changed.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{bases, goldgate};
use crate::golden_changes::{commit_all, recording};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "recordings that the base commit lacks are listed, and need a digest when the agent changes",
            cases,
        ),
        trial(
            "recordings that the base commit lacks need a digest where the agent's files cannot be compared",
            submodule,
        ),
        trial(
            "recordings that the base commit lacks, of another model, need an approval",
            of_another_model,
        ),
    ]
}

fn committed(repository: &Repository) {
    let ran = goldgate(
        repository,
        &["run", "--update-baseline", "--quiet"].map(str::to_owned),
    );
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(repository);
}

fn judged(repository: &Repository) -> Ran {
    goldgate(repository, &["run", "--base", "HEAD"].map(str::to_owned))
}

fn is(ran: &Ran, code: i32, says: &str) {
    assert!(
        ran.code == code && ran.stdout.contains(says),
        "{says}: {}{}",
        ran.stdout,
        ran.stderr
    );
}

const NONE: &str = "recordings of `contracts/legal` that the base commit does not have";
const WITHOUT_DIGEST: &str =
    "recordings were made without a digest of them; the base commit has none to compare with";

/// An artifact that CI downloads. The change itself says what git ignores, so that decides nothing.
fn cases() {
    for (base, keeps_ignored) in [
        ("digests", true),
        ("contracts", true),
        ("digests", false),
        ("contracts", false),
    ] {
        let repository = bases::base(base);
        repository.write(".gitignore", "runs/\n");
        committed(&repository);
        if !keeps_ignored {
            repository.remove(".gitignore");
        }
        is(&judged(&repository), 0, &format!("12 {NONE}"));
        repository.write("prompts/legal.md", "Report nothing.\n");
        let ran = judged(&repository);
        assert_eq!(ran.code, 3, "{base}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(
            ran.stdout.contains(&format!("12 {WITHOUT_DIGEST}")),
            base == "contracts",
            "{}",
            ran.stdout
        );
    }
}

fn submodule() {
    let repository = bases::base("submodule");
    repository.write(".gitignore", "runs/\n");
    committed(&repository);
    is(&judged(&repository), 0, &format!("12 {NONE}"));
    repository.write("prompts/legal.md", "Report nothing.\n");
    repository.remove("prompts/.git");
    is(
        &judged(&repository),
        3,
        "12 recordings were made without a digest of them",
    );
}

fn of_another_model() {
    let repository = bases::base("contracts");
    let config = repository.read("goldgate.yaml").replace(
        "        deterministic: { replay: runs }\n",
        "        deterministic: { replay: runs }\n        model: { target: m }\n",
    );
    repository.write(
        "goldgate.yaml",
        config + "targets:\n  m: { provider: openai, model: big, api_key_env: KEY }\n",
    );
    let made_by = |model: &str| {
        for case in 0..12 {
            let mut run: Value = serde_json::from_str(&repository.read(&recording(case))).unwrap();
            run["provenance"] = json!({ "target": "m", "model": model });
            repository.write(&recording(case), run.to_string());
        }
    };
    made_by("big-2026-01-01");
    repository.write(".gitignore", "runs/\n");
    committed(&repository);
    is(&judged(&repository), 0, &format!("12 {NONE}"));
    repository.replace("goldgate.yaml", "model: big", "model: big-mini");
    is(
        &judged(&repository),
        1,
        "12 recordings of `contracts/legal` recorded with the target m",
    );
    made_by("big-mini-2026-01-01");
    is(&judged(&repository), 0, &format!("12 {NONE}"));
}
