//! Links in what is compared: the gate follows none, because another reader may follow it to another file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use libtest_mimic::Trial;

use crate::golden_changes::{commit_all, git};
use crate::repository::{Ran, Repository};
use crate::soundness::{bases, committed};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = PLACES
        .into_iter()
        .map(|place| {
            trial(format!("a link is refused: {place}"), move || {
                refused(place);
            })
        })
        .collect();
    trials.extend(TARGETS.into_iter().map(|(name, target)| {
        trial(
            format!("a link that only the base commit has needs an approval: {name}"),
            move || removed(target),
        )
    }));
    trials.push(trial(
        "links on the base commit hide no baseline, prompt or folder",
        removed_places,
    ));
    trials.push(trial(
        "links outside of what is compared are of no concern",
        unrelated,
    ));
    trials.push(trial(
        "a folder that is a link is refused where a pattern may lead through it",
        on_the_way,
    ));
    trials
}

/// Files and folders that a judgement of the base `contracts` reads.
const PLACES: [&str; 10] = [
    "golden",
    "golden/contracts",
    "golden/contracts/lease-3.md",
    "golden/expected/legal",
    "golden/expected/legal/lease-3.json",
    "runs",
    "runs/legal/lease-3.json",
    "prompts",
    "prompts/legal.md",
    "baselines/latest.json",
];

const CASE: &str = "golden/expected/legal/lease-3.json";

/// Links to another file than the kernel finds, if somebody resolves `..` in the text or reads the target as UTF-8.
const TARGETS: [(&str, &[u8]); 3] = [
    ("a plain link", b"../../../store/lease-3.json"),
    ("`..` behind a link", b"../../../way/../store/lease-3.json"),
    ("a target that is not UTF-8", b"../../../store/\xff.json"),
];

fn goldgate(repository: &Repository, arguments: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    repository.goldgate_with(arguments, &[("PATH", &path)])
}

fn is(ran: &Ran, code: i32, says: &str) {
    assert!(
        ran.code == code && format!("{}{}", ran.stdout, ran.stderr).contains(says),
        "{code} {says}: {}{}",
        ran.stdout,
        ran.stderr
    );
}

/// Replaces a file or folder by a link to it.
fn link_to_store(repository: &Repository, place: &str) {
    let store = format!("store/{}", place.rsplit('/').next().unwrap());
    std::fs::create_dir_all(repository.path("store")).unwrap();
    std::fs::rename(repository.path(place), repository.path(&store)).unwrap();
    let up = "../".repeat(place.matches('/').count());
    symlink(format!("{up}{store}"), repository.path(place)).unwrap();
}

fn refused(place: &str) {
    let repository = committed("contracts");
    is(&goldgate(&repository, &["run", "--base", "HEAD"]), 0, "");
    link_to_store(&repository, place);
    let says = format!("{place}: this is a symbolic link, which the gate does not follow");
    let commands: [&[&str]; 2] = [&["run"], &["run", "--base", "HEAD"]];
    for arguments in commands {
        is(&goldgate(&repository, arguments), 2, &says);
    }
    if !place.starts_with("baselines") {
        is(&goldgate(&repository, &["check"]), 2, &says);
    }
    // Nothing that goldgate cannot read is judged in the next pull request either.
    commit_all(&repository);
    is(&goldgate(&repository, &["run", "--base", "HEAD"]), 2, &says);
}

/// A repository whose base commit has links, as before goldgate refused them.
fn base_with(link: impl FnOnce(&Repository)) -> Repository {
    let repository = committed("contracts");
    link(&repository);
    commit_all(&repository);
    repository
}

fn removed(target: &[u8]) {
    let repository = base_with(|repository| {
        repository.write("store/lease-3.json", repository.read(CASE));
        std::fs::create_dir_all(repository.path("a/b")).unwrap();
        repository.write("a/b/keep", "");
        repository.write("a/store/lease-3.json", repository.read(CASE));
        symlink("a/b", repository.path("way")).unwrap();
        repository.remove(CASE);
        symlink(OsStr::from_bytes(target), repository.path(CASE)).unwrap();
    });
    let easier = |repository: &Repository| {
        repository.write(
            CASE,
            r#"{ "expected_findings": [], "max_expected_findings": 99 }"#,
        );
    };
    std::fs::remove_file(repository.path(CASE)).unwrap();
    easier(&repository);
    let says = format!("{CASE} is a symbolic link or an unread submodule on the base commit");
    is(&goldgate(&repository, &["run", "--base", "HEAD"]), 1, &says);
    // Once the base commit has the file itself, nothing is said of the link.
    commit_all(&repository);
    let ran = goldgate(&repository, &["run", "--base", "HEAD"]);
    is(&ran, 0, "");
    assert!(!ran.stdout.contains("symbolic link"), "{}", ran.stdout);
}

fn removed_places() {
    for place in [
        "baselines/latest.json",
        "prompts/legal.md",
        "golden",
        "runs",
    ] {
        let repository = base_with(|repository| link_to_store(repository, place));
        let store = format!("store/{}", place.rsplit('/').next().unwrap());
        std::fs::remove_file(repository.path(place)).unwrap();
        std::fs::rename(repository.path(&store), repository.path(place)).unwrap();
        let says = format!("{place} is a symbolic link or an unread submodule on the base commit");
        let ran = goldgate(&repository, &["run", "--base", "HEAD"]);
        if place == "golden" {
            // There are no cases by which the base commit could judge.
            is(
                &ran,
                3,
                "the runs cannot be judged by the base commit's rules",
            );
            assert!(ran.stdout.contains(&says), "{}", ran.stdout);
        } else {
            is(&ran, 1, &says);
        }
    }
}

fn unrelated() {
    let repository = bases::base("contracts");
    repository.write("docs/v1/page.md", "A page.\n");
    repository.write("AGENTS.md", "Read this.\n");
    symlink("v1", repository.path("docs/latest")).unwrap();
    symlink("AGENTS.md", repository.path("CLAUDE.md")).unwrap();
    symlink("/nowhere", repository.path("result")).unwrap();
    repository.replace(
        "goldgate.yaml",
        "['prompts/**']",
        "['prompts/**', agent.py]",
    );
    repository.write("agent.py", "print()\n");
    is(
        &goldgate(&repository, &["run", "--update-baseline", "--quiet"]),
        0,
        "",
    );
    commit_all(&repository);
    is(&goldgate(&repository, &["run", "--base", "HEAD"]), 0, "");
    for link in ["docs/latest", "CLAUDE.md", "result"] {
        std::fs::remove_file(repository.path(link)).unwrap();
    }
    is(&goldgate(&repository, &["run", "--base", "HEAD"]), 0, "");
}

fn on_the_way() {
    let repository = bases::base("contracts");
    repository.replace("goldgate.yaml", "['prompts/**']", "['**/*.py']");
    repository.write("agent/main.py", "print()\n");
    repository.write("AGENTS.md", "Read this.\n");
    // A file that no pattern names.
    symlink("AGENTS.md", repository.path("CLAUDE.md")).unwrap();
    is(&goldgate(&repository, &["run"]), 0, "");
    symlink("agent", repository.path("again")).unwrap();
    is(
        &goldgate(&repository, &["run"]),
        2,
        "again: this is a symbolic link",
    );
    // Git ignores it, so it is in no commit.
    repository.write(".gitignore", "again\n");
    git(&repository.path(""), &["init", "-q", "."]);
    is(&goldgate(&repository, &["run"]), 0, "");
}
