//! The model tier against a base commit: where it blocks, the base's rules judge its runs, too.

use std::time::Duration;

use libtest_mimic::Trial;

use super::{Answer, BAD, Endpoint, GOOD, KEY, live};
use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a blocking model tier is judged by the base commit's rules, too",
            blocking,
        ),
        trial(
            "a model tier that decides nothing needs no approval by the base's rules",
            advisory,
        ),
        trial(
            "recordings that the run itself makes need not be committed before it",
            recorded,
        ),
    ]
}

/// An agent that misses what the base commit expects, beside expectations that were edited to fit it.
fn eased(endpoint: &Endpoint) -> Repository {
    let repository = live(endpoint, "openai", "");
    repository.remove(".git");
    commit_all(&repository);
    repository.write(
        "golden/expected/legal/lease.json",
        r#"{ "expected_findings": [ { "category": "termination" } ] }"#,
    );
    repository
}

fn run(repository: &Repository, arguments: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    let arguments = [
        &["run", "-v", "--quiet", "--samples", "1", "--base", "HEAD"],
        arguments,
    ]
    .concat();
    repository.goldgate_with(&arguments, &[("LIVE_KEY", KEY), ("PATH", &path)])
}

fn endpoint() -> Endpoint {
    Endpoint::new(Duration::ZERO, |_, _| Answer::Says(BAD.to_owned()))
}

fn blocking() {
    let endpoint = endpoint();
    let repository = eased(&endpoint);
    let ran = run(&repository, &["--tier", "model", "--blocking"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("expectation of lease of `contracts` edited"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("fails by the rules of the base commit: finding_recall"),
        "{}",
        ran.stdout
    );
    let ran = run(&repository, &["--tier", "model"]);
    assert_eq!(
        ran.code, 0,
        "for information only: {}{}",
        ran.stdout, ran.stderr
    );
}

fn advisory() {
    let endpoint = endpoint();
    let repository = eased(&endpoint);
    // The recordings still are what the base expects; the live answers are not, and decide nothing.
    let ran = run(&repository, &["--tier", "all"]);
    assert!(
        ran.stdout
            .contains("expectation of lease of `contracts` edited"),
        "{}",
        ran.stdout
    );
    assert!(
        !ran.stdout.contains("fails by the rules of the base commit"),
        "{}",
        ran.stdout
    );
}

fn recorded() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()));
    let repository = live(&endpoint, "openai", "");
    repository.remove(".git");
    commit_all(&repository);
    let run = |more: &[&str]| {
        let path = std::env::var("PATH").unwrap();
        let arguments = [&["run", "--quiet", "--base", "HEAD"], more].concat();
        repository.goldgate_on_commit(&arguments, &[("LIVE_KEY", KEY), ("PATH", &path)])
    };
    let not_committed = "the files that were read are not those of the commit";
    let record = [
        "--tier",
        "model",
        "--blocking",
        "--samples",
        "1",
        "--record",
        "golden/runs",
    ];
    let ran = run(&record);
    assert!(
        !ran.stdout.contains(not_committed),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        repository
            .read("golden/runs/legal/lease.json")
            .contains("model-1")
    );
    // The control: another run finds recordings that no commit has.
    assert!(run(&[]).stdout.contains(not_committed));
    // What it does not record itself has to be committed.
    repository.write("prompts/legal.md", "Report each change of control.\n");
    assert!(run(&record).stdout.contains("prompts/legal.md; commit"));
}
