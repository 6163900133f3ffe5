//! Which repository is asked for the base commit, and what a name in it means.

use std::process::Command;

use libtest_mimic::Trial;

use crate::golden_changes::{commit_all, git};
use crate::repository::{RUN, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a bare repository beside the config does not answer for the base commit",
            bare,
        ),
        trial(
            "a base that a branch and a tag are called is refused",
            ambiguous,
        ),
        trial("a worktree is asked like its repository", worktree),
        trial(
            "a branch is compared with the commit where it began, and in CI with the named one",
            gone_on,
        ),
        trial(
            "a branch that is behind the better baseline of its base branch is to be merged with it",
            behind,
        ),
        trial(
            "a branch that kept the old recordings of a repaired agent is to be merged with its base branch",
            repaired,
        ),
        trial(
            "a branch is judged by the newest config and baseline of its base branch",
            newest_rules,
        ),
    ]
}

fn run(repository: &Repository, arguments: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    repository.goldgate_with(&[&["run"], arguments].concat(), &[("PATH", &path)])
}

/// A committed repository on the branch `main` whose suite is in `evals`.
fn committed() -> Repository {
    let repository = Repository::small();
    repository.remove(".git");
    std::fs::create_dir(repository.path("evals")).unwrap();
    for name in ["goldgate.yaml", "golden", "prompts"] {
        std::fs::rename(
            repository.path(name),
            repository.path(&format!("evals/{name}")),
        )
        .unwrap();
    }
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    repository
}

/// The agent and its baseline improved on main after the branch began.
fn behind() {
    let repository = Repository::small();
    repository.remove(".git");
    let recording = "golden/runs/legal/lease.json";
    repository.replace(recording, "\"P1\"", "\"info\"");
    assert_eq!(run(&repository, &["--update-baseline", "--quiet"]).code, 0);
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    git(&repository.path(""), &["checkout", "-q", "-b", "change"]);
    repository.write("README.md", "A lease.\n");
    commit_all(&repository);
    git(&repository.path(""), &["checkout", "-q", "main"]);
    repository.replace("prompts/legal.md", "every", "each");
    repository.replace(recording, "\"info\"", "\"P1\"");
    assert_eq!(run(&repository, &["--update-baseline", "--quiet"]).code, 0);
    commit_all(&repository);
    git(&repository.path(""), &["checkout", "-q", "change"]);
    let remedy = "main got better after this branch began: merge main into this branch.";
    let ran = run(&repository, &["--base", "main", "--out", "out"]);
    assert!(
        ran.code == 1 && ran.stdout.contains(remedy),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let shown = repository.goldgate(&["report", "out"]);
    assert!(shown.stdout.contains(remedy), "{}", shown.stdout);
    repository.remove("out");
    git(
        &repository.path(""),
        &["merge", "-q", "-m", "merge", "main"],
    );
    assert_eq!(run(&repository, &["--base", "main"]).code, 0);
    // A branch that has the newest baseline and is worse is not behind.
    repository.replace("prompts/legal.md", "each", "some");
    repository.replace(recording, "\"P1\"", "\"info\"");
    let ran = run(&repository, &["--base", "main"]);
    assert!(
        ran.code == 1 && !ran.stdout.contains(remedy),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

/// Main was worse where the branch began, and was repaired since without a new baseline. The branch did not touch the agent.
fn repaired() {
    let repository = Repository::small();
    repository.remove(".git");
    let recording = "golden/runs/legal/lease.json";
    assert_eq!(run(&repository, &["--update-baseline", "--quiet"]).code, 0);
    repository.replace(recording, "\"P1\"", "\"info\"");
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    git(&repository.path(""), &["checkout", "-q", "-b", "change"]);
    repository.write("README.md", "A lease.\n");
    commit_all(&repository);
    let remedy = "merge main into this branch";
    let ran = run(&repository, &["--base", "main"]);
    assert!(
        ran.code == 0 && !ran.stdout.contains(remedy),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    git(&repository.path(""), &["checkout", "-q", "main"]);
    repository.replace(recording, "\"info\"", "\"P1\"");
    commit_all(&repository);
    git(&repository.path(""), &["checkout", "-q", "change"]);
    let ran = run(&repository, &["--base", "main"]);
    assert!(
        ran.code == 1 && ran.stdout.contains(remedy),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // Whoever made the agent worse is not behind.
    git(
        &repository.path(""),
        &["merge", "-q", "-m", "merge", "main"],
    );
    assert_eq!(run(&repository, &["--base", "main"]).code, 0);
    repository.replace(recording, "\"P1\"", "\"info\"");
    let ran = run(&repository, &["--base", "main"]);
    assert!(
        ran.code == 1 && !ran.stdout.contains(remedy),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

/// The base branch got a stricter expectation after the branch began.
fn gone_on() {
    let repository = committed();
    git(&repository.path(""), &["branch", "change"]);
    repository.replace(
        EXPECTED,
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 2",
    );
    git(
        &repository.path(""),
        &["commit", "-q", "--no-verify", "-a", "-m", "main goes on"],
    );
    git(&repository.path(""), &["checkout", "-q", "change"]);
    let arguments = ["--config", "evals/goldgate.yaml", "--base", "main"];
    let ran = run(&repository, &arguments);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let commit = |name: &str| {
        let read = Command::new("git")
            .arg("-C")
            .arg(repository.path(""))
            .args(["rev-parse", name])
            .output()
            .unwrap();
        String::from_utf8(read.stdout).unwrap()[..8].to_owned()
    };
    let (began, tip) = (commit("change"), commit("main"));
    let note = format!(
        "compared with {began}, where this branch began; main is now at {tip}, whose config and baseline count"
    );
    assert!(ran.stdout.contains(&note), "{}", ran.stdout);
    let path = std::env::var("PATH").unwrap();
    for (name, value, code) in [
        ("CI", "true", 1),
        ("TF_BUILD", "True", 1),
        ("JENKINS_URL", "https://a.example", 1),
        ("CI", "false", 0),
    ] {
        let in_ci = repository.goldgate_with(
            &[&["run"], &arguments[..]].concat(),
            &[("PATH", &path), (name, value)],
        );
        assert_eq!(in_ci.code, code, "{name}: {}{}", in_ci.stdout, in_ci.stderr);
        let took = in_ci
            .stdout
            .contains(&format!("compared with {tip}, the commit of main"));
        assert_eq!(took, code == 1, "{name}: {}", in_ci.stdout);
    }
    git(&repository.path(""), &["merge", "-q", "main"]);
    let ran = run(&repository, &arguments);
    let took = ran
        .stdout
        .contains(&format!("compared with {tip}, the commit of main"));
    assert!(ran.code == 0 && took, "{}{}", ran.stdout, ran.stderr);
}

/// The base branch got a case, and then stricter rules, after the branch began.
fn newest_rules() {
    let arguments = ["--config", "evals/goldgate.yaml", "--base", "main"];
    let gates = |repository: &Repository, gates: &str| {
        let stated = format!("    path: golden\n    gates: {{ finding_count: {{ {gates} }} }}\n");
        repository.replace("evals/goldgate.yaml", "    path: golden\n", &stated);
    };
    let judged = |moved: &dyn Fn(&Repository)| {
        let repository = committed();
        git(&repository.path(""), &["branch", "change"]);
        moved(&repository);
        git(&repository.path(""), &["add", "--all"]);
        git(
            &repository.path(""),
            &["commit", "-q", "--no-verify", "-m", "main goes on"],
        );
        git(&repository.path(""), &["checkout", "-q", "change"]);
        run(&repository, &arguments)
    };
    let with_case = |repository: &Repository| {
        let other = |path: &str| path.replace("lease", "other");
        for path in [
            "evals/golden/contracts/lease.md",
            EXPECTED,
            "evals/golden/runs/legal/lease.json",
        ] {
            repository.write(&other(path), other(&repository.read(path)));
        }
    };
    let ran = judged(&with_case);
    assert_eq!(
        ran.code, 0,
        "what the base gained is not missing: {}{}",
        ran.stdout, ran.stderr
    );
    let ran = judged(&|repository| {
        with_case(repository);
        gates(repository, "max: 0, hard: true");
    });
    let wanted = "fails by the rules of the base commit: finding_count";
    assert!(
        ran.code == 1 && ran.stdout.contains(wanted),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(!ran.stdout.contains("removed"), "{}", ran.stdout);
    // A looser config of the base branch is no change of this branch either.
    let ran = judged(&|repository| gates(repository, "max: 9"));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // The agent of the base branch reports nothing by now, and the baseline says so.
    let ran = judged(&|repository| {
        let (before, rest) = RUN.split_once("      {").unwrap();
        let (_, after) = rest.split_once("    ],").unwrap();
        repository.write(
            "evals/golden/runs/legal/lease.json",
            format!("{before}    ],{after}"),
        );
        gates(repository, "max: baseline, hard: true");
        repository.goldgate(&[
            "run",
            "--config",
            "evals/goldgate.yaml",
            "--update-baseline",
        ]);
        assert!(
            repository
                .read("evals/baselines/latest.json")
                .contains("\"finding_count\": 0,")
        );
    });
    assert!(
        ran.code == 1 && ran.stdout.contains("finding_count"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

const EXPECTED: &str = "evals/golden/expected/legal/lease.json";

fn bare() {
    let arguments = ["--config", "evals/goldgate.yaml", "--base", "main"];
    let repository = committed();
    assert_eq!(run(&repository, &arguments).code, 0);
    repository.replace(
        EXPECTED,
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    let told = run(&repository, &arguments);
    assert_eq!(
        told.code, 1,
        "the control is red: {}{}",
        told.stdout, told.stderr
    );
    // A repository of its own, in which `main` is the change: as if nothing had changed.
    let forged = committed();
    forged.replace(
        EXPECTED,
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    git(
        &forged.path(""),
        &["commit", "-q", "--no-verify", "-a", "-m", "forged"],
    );
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .args(
            ["HEAD", "config", "objects", "refs"].map(|name| forged.path(&format!(".git/{name}"))),
        )
        .arg(repository.path("evals"))
        .status();
    assert!(copied.unwrap().success());
    repository.replace("evals/config", "bare = false", "bare = true");
    let ran = run(&repository, &arguments);
    assert_eq!((ran.code, ran.stdout), (1, told.stdout), "{}", ran.stderr);
}

fn ambiguous() {
    let repository = committed();
    let base = |name: &str| {
        run(
            &repository,
            &["--config", "evals/goldgate.yaml", "--base", name],
        )
    };
    git(
        &repository.path(""),
        &["update-ref", "refs/remotes/origin/main", "main"],
    );
    assert_eq!((base("main").code, base("origin/main").code), (0, 0));
    git(&repository.path(""), &["tag", "main"]);
    git(&repository.path(""), &["tag", "origin/main"]);
    for (name, says) in [
        ("main", "refs/heads/main, refs/tags/main"),
        ("main~0", "refs/heads/main, refs/tags/main"),
        (
            "origin/main",
            "refs/remotes/origin/main, refs/tags/origin/main",
        ),
    ] {
        let ran = base(name);
        assert_eq!(ran.code, 3, "{name}: {}", ran.stderr);
        assert!(
            ran.stderr
                .contains("the name is ambiguous; use one of the full names: "),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
    for name in ["refs/heads/main", "refs/tags/main", "HEAD", "heads/main"] {
        assert_eq!(base(name).code, 0, "{name}: {}", base(name).stderr);
    }
}

fn worktree() {
    let repository = committed();
    git(
        &repository.path(""),
        &["worktree", "add", "-q", "-b", "other", "tree"],
    );
    let arguments = ["--config", "tree/evals/goldgate.yaml", "--base", "main"];
    assert_eq!(
        run(&repository, &arguments).code,
        0,
        "{}",
        run(&repository, &arguments).stderr
    );
    repository.replace(
        &format!("tree/{EXPECTED}"),
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    let ran = run(&repository, &arguments);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}
