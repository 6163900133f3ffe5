//! A verdict names a commit, so the files that it was made on have to be those of the commit.

use libtest_mimic::Trial;

use crate::golden_changes::{add_case, commit_all, git, git_answer, recording};
use crate::repository::{Ran, Repository};
use crate::soundness::committed;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a prompt that differs from the commit gives no verdict, and is judged and named with --dirty",
            generated_prompt,
        ),
        trial(
            "a better prompt in the working tree does not hide the worse one of the commit",
            hidden_prompt,
        ),
        trial(
            "every file that is read has to be that of the commit",
            every_file,
        ),
        trial("recordings that no commit has give no verdict", untracked),
        trial(
            "line ends and files that nobody reads make no difference",
            harmless,
        ),
        trial(
            "without a base commit, uncommitted files are judged",
            without_base,
        ),
        trial("an option without --base is refused", without_effect),
    ]
}

fn on_commit(repository: &Repository, more: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    let arguments = [&["run", "--base", "HEAD"], more].concat();
    repository.goldgate_on_commit(&arguments, &[("PATH", &path)])
}

fn is(ran: &Ran, code: i32, says: &str) {
    assert!(
        ran.code == code && format!("{}{}", ran.stdout, ran.stderr).contains(says),
        "{code} {says}: {}{}",
        ran.stdout,
        ran.stderr
    );
}

/// What is said of files that are not those of the commit.
const NOT_COMMITTED: &str = "the files that were read are not those of the commit";

fn generated_prompt() {
    let repository = committed("contracts");
    is(&on_commit(&repository, &[]), 0, "");
    repository.write("prompts/legal.md", "Report every change of control!\n");
    let ran = on_commit(&repository, &[]);
    is(&ran, 3, NOT_COMMITTED);
    is(&ran, 3, "is checked out: prompts/legal.md; commit them");
    let ran = on_commit(&repository, &["--dirty"]);
    is(
        &ran,
        ran.code,
        "judged with uncommitted changes of prompts/legal.md",
    );
    assert!(!ran.stdout.contains(NOT_COMMITTED), "{}", ran.stdout);
}

/// The commit has the worse prompt and the recordings of before; an earlier step puts the old prompt back.
fn hidden_prompt() {
    let repository = committed("digests");
    let prompt = repository.read("prompts/legal.md");
    let base = git_answer(&repository.path(""), &["rev-parse", "HEAD"]);
    repository.write("prompts/legal.md", "Report nothing.\n");
    commit_all(&repository);
    let run = || {
        let path = std::env::var("PATH").unwrap();
        repository.goldgate_on_commit(&["run", "--base", &base], &[("PATH", &path)])
    };
    let ran = run();
    assert!(
        ran.code != 0 && !ran.stdout.contains(NOT_COMMITTED),
        "the control: {}{}",
        ran.stdout,
        ran.stderr
    );
    repository.write("prompts/legal.md", prompt);
    is(&run(), 3, NOT_COMMITTED);
    commit_all(&repository);
    is(&run(), 0, "");
}

fn every_file() {
    for file in [
        "goldgate.yaml",
        "golden/expected/legal/lease-3.json",
        "golden/contracts/lease-3.md",
        "prompts/legal.md",
        "runs/legal/lease-3.json",
    ] {
        let repository = committed("contracts");
        repository.write(file, format!("{}\n", repository.read(file)));
        let ran = on_commit(&repository, &[]);
        is(&ran, 3, &format!("is checked out: {file};"));
        let ran = on_commit(&repository, &["--dirty"]);
        is(
            &ran,
            ran.code,
            &format!("judged with uncommitted changes of {file}"),
        );
        assert!(!ran.stdout.contains(NOT_COMMITTED), "{}", ran.stdout);
        // The recordings of another prompt or document state it.
        assert_eq!(repository.stamp("goldgate.yaml").code, 0);
        commit_all(&repository);
        is(&on_commit(&repository, &[]), 0, "");
    }
    let repository = committed("contracts");
    repository.remove("baselines/latest.json");
    is(
        &on_commit(&repository, &[]),
        3,
        "is checked out: baselines/latest.json;",
    );
}

fn untracked() {
    for ignored in [false, true] {
        let repository = committed("contracts");
        add_case(&repository, 12);
        git(&repository.path(""), &["add", "golden"]);
        if ignored {
            repository.write(".gitignore", "runs/\n");
        }
        git(
            &repository.path(""),
            &["commit", "-q", "--no-verify", "-m", "a case"],
        );
        let ran = on_commit(&repository, &[]);
        is(&ran, 3, &format!("is checked out: {};", recording(12)));
        git(&repository.path(""), &["add", "--force", "runs"]);
        git(
            &repository.path(""),
            &["commit", "-q", "--no-verify", "-m", "its recording"],
        );
        is(&on_commit(&repository, &[]), 0, "");
    }
}

fn harmless() {
    let repository = committed("contracts");
    repository.write("README.md", "Nobody reads this.\n");
    repository.write("prompts/.DS_Store", b"\0\0\0\x01Bud1\0");
    for file in ["prompts/legal.md", "golden/expected/legal/lease-3.json"] {
        repository.write(file, repository.read(file).replace('\n', "\r\n"));
    }
    is(&on_commit(&repository, &[]), 0, "");
}

fn without_base() {
    let repository = committed("contracts");
    repository.replace("goldgate.yaml", "min: 0.5", "min: 0.4");
    let path = std::env::var("PATH").unwrap();
    let ran = repository.goldgate_on_commit(&["run"], &[("PATH", &path)]);
    assert!(
        ran.code == 0 && !ran.stdout.contains("uncommitted"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn without_effect() {
    let repository = committed("contracts");
    for option in ["--dirty", "--merge-base"] {
        let ran = repository.goldgate_on_commit(&["run", option], &[]);
        is(&ran, 2, "--base <REV>");
    }
}
