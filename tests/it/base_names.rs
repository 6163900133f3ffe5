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
            "--base means the named commit everywhere, and --merge-base the one where the branch began",
            gone_on,
        ),
        trial(
            "the baseline is that of the commit that --base means",
            baseline_of_base,
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

/// The base branch got a stricter expectation after the branch began, and then a baseline and a case.
fn gone_on() {
    let repository = committed();
    git(&repository.path(""), &["branch", "change"]);
    repository.replace(
        EXPECTED,
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 0",
    );
    git(
        &repository.path(""),
        &["commit", "-q", "--no-verify", "-a", "-m", "main goes on"],
    );
    git(&repository.path(""), &["checkout", "-q", "change"]);
    let config = ["--config", "evals/goldgate.yaml"];
    let of_main = [&config[..], &["--base", "main"]].concat();
    let of_began = [&of_main[..], &["--merge-base"]].concat();
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
    let path = std::env::var("PATH").unwrap();
    // No variable of a build server makes a difference.
    for (name, value) in [
        ("HOME", "/"),
        ("CI", "true"),
        ("CI", "false"),
        ("TF_BUILD", "True"),
        ("BUILDKITE", "true"),
    ] {
        let judged = |arguments: &[&str]| {
            let arguments = [&["run"], arguments].concat();
            repository.goldgate_on_commit(&arguments, &[("PATH", &path), (name, value)])
        };
        let by_main = judged(&of_main);
        assert!(
            by_main.code == 1
                && by_main
                    .stdout
                    .contains(&format!("compared with {tip}, the commit of main"))
                && by_main.stdout.contains("max_expected_findings 0 -> 3"),
            "{name}: {}{}",
            by_main.stdout,
            by_main.stderr
        );
        let by_began = judged(&of_began);
        assert!(
            by_began.code == 0
                && by_began.stdout.contains(&format!(
                    "compared with {began}, where this branch left main"
                )),
            "{name}: {}{}",
            by_began.stdout,
            by_began.stderr
        );
    }
    // The command of the comment names the commit itself.
    let ran = run(&repository, &[&config[..], &["--base", &tip]].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    // Where the branch has all of main, both are the same commit.
    git(&repository.path(""), &["merge", "-q", "main"]);
    for arguments in [&of_main, &of_began] {
        let ran = run(&repository, arguments);
        assert!(
            ran.stdout
                .contains(&format!("compared with {tip}, the commit of main")),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

/// The baseline, too, is that of the commit that `--base` means.
fn baseline_of_base() {
    let repository = committed();
    repository.replace(
        "evals/goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    gates: { finding_count: { max: baseline, hard: true } }\n",
    );
    let config = ["--config", "evals/goldgate.yaml"];
    let update = [&config[..], &["--update-baseline", "--quiet"]].concat();
    assert_eq!(run(&repository, &update).code, 0);
    commit_all(&repository);
    git(&repository.path(""), &["branch", "change"]);
    let (before, rest) = RUN.split_once("      {").unwrap();
    let (_, after) = rest.split_once("    ],").unwrap();
    repository.write(
        "evals/golden/runs/legal/lease.json",
        format!("{before}    ],{after}"),
    );
    run(&repository, &[&update[..], &["--all"]].concat());
    assert!(
        repository
            .read("evals/baselines/latest.json")
            .contains("\"finding_count\": 0,")
    );
    git(
        &repository.path(""),
        &["commit", "-q", "--no-verify", "-a", "-m", "main got better"],
    );
    git(&repository.path(""), &["checkout", "-q", "change"]);
    let of_main = [&config[..], &["--base", "main"]].concat();
    let ran = run(&repository, &of_main);
    assert!(
        ran.code == 1 && ran.stdout.contains("≤ 0 baseline"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = run(&repository, &[&of_main[..], &["--merge-base"]].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
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
