//! `goldgate diff`: folders, files and commits, by metric and by case.

use libtest_mimic::Trial;

use crate::golden_changes::{commit_all, git};
use crate::repository::{EXPECTED, RUN, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "two folders of --out are compared by metric and by case",
            folders,
        ),
        trial(
            "two commits are compared by their recordings, where both can be graded, else by their baselines",
            commits,
        ),
        trial(
            "what is neither a file, a folder nor a commit is named, and so is a commit without a baseline",
            unknown,
        ),
    ]
}

const RECORDING: &str = "golden/runs/legal/lease.json";

fn diff(repository: &Repository, arguments: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    repository.goldgate_with(&[&["diff"], arguments].concat(), &[("PATH", &path)])
}

fn folders() {
    let repository = Repository::small();
    repository.goldgate(&["run", "-q", "--out", "before"]);
    repository.replace(RECORDING, "Needs prior approval.", "Needs nothing.");
    repository.write(
        "golden/contracts/deed.md",
        "# Deed\n\nOn a change of control the seller has to approve.\n",
    );
    repository.write(
        "golden/expected/legal/deed.json",
        EXPECTED.replace("lease.md", "deed.md"),
    );
    repository.write("golden/runs/legal/deed.json", RUN.replace("lease", "deed"));
    repository.goldgate(&["run", "-q", "--out", "after"]);
    let ran = diff(&repository, &["before", "after"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let row = ran
        .stdout
        .lines()
        .find(|line| line.contains(" finding_recall "))
        .unwrap();
    assert!(row.trim_end().ends_with("worse"), "{row}");
    assert!(
        ran.stdout
            .contains("\n1 case moved; those that pass less often come first\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("\n  contracts/legal/lease: samples that pass 100% → 0%\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("    expected_finding[0]: change_of_control: the nearest finding"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("\n1 case is only in the second: contracts/legal/deed\n"),
        "{}",
        ran.stdout
    );
    assert!(
        !ran.stdout.contains("coverage") && ran.stdout.contains("are equal; -v shows them"),
        "{}",
        ran.stdout
    );
    assert!(
        diff(&repository, &["before", "after", "-v"])
            .stdout
            .contains("coverage")
    );
    // A report and a baseline have the same cases.
    let mixed = diff(&repository, &["before", "after/proposed-baseline.json"]);
    assert!(
        mixed
            .stdout
            .contains("contracts/legal/lease: samples that pass 100% → 0%"),
        "{}",
        mixed.stdout
    );
    let same = diff(&repository, &["after", "after/proposed-baseline.json"]);
    assert!(
        !same.stdout.contains("moved") && !same.stdout.contains("only in"),
        "{}",
        same.stdout
    );
}

fn commits() {
    let repository = Repository::small();
    repository.remove(".git");
    repository.goldgate(&["run", "-q", "--update-baseline"]);
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    git(&repository.path(""), &["switch", "-q", "-c", "change"]);
    repository.replace(RECORDING, "Needs prior approval.", "Needs nothing.");
    repository.goldgate(&["run", "-q", "--update-baseline", "--all"]);
    commit_all(&repository);
    let ran = diff(&repository, &["main", "HEAD"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(
        ran.stdout
            .contains("  contracts/legal/lease: samples that pass 100% → 0%\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.starts_with("main (recordings of ")
            && ran.stdout.contains(", graded now) -> HEAD (recordings of "),
        "{}",
        ran.stdout
    );
    let back = diff(&repository, &["HEAD", "main"]);
    assert!(
        back.stdout.contains("samples that pass 0% → 100%") && !back.stdout.contains("worse"),
        "{}",
        back.stdout
    );
    let with_file = diff(&repository, &["main", "baselines/latest.json"]);
    assert!(
        with_file.stdout.starts_with("main (baseline committed in ")
            && with_file
                .stdout
                .contains(") -> baselines/latest.json (baseline)\n")
            && with_file.stdout.contains("samples that pass 100% → 0%"),
        "the baseline in the tree is the one of HEAD: {}",
        with_file.stdout
    );
    // A worse recording with the old baseline is another number.
    repository.replace(RECORDING, "Needs nothing.", "Needs prior approval.");
    repository.goldgate(&["run", "-q", "--update-baseline"]);
    commit_all(&repository);
    repository.replace(RECORDING, "Needs prior approval.", "Needs nothing.");
    commit_all(&repository);
    let graded = diff(&repository, &["HEAD~1", "HEAD"]);
    assert!(
        graded.stdout.contains("samples that pass 100% → 0%"),
        "{}",
        graded.stdout
    );
    // The control: the committed baselines are the same.
    repository.remove(RECORDING);
    commit_all(&repository);
    let committed = diff(&repository, &["HEAD~1", "HEAD"]);
    assert!(
        committed.stderr.starts_with(
            "the recordings of both commits cannot be graded, so committed baselines are compared: "
        ) && committed.stdout.contains("(baseline committed in ")
            && committed.stdout.contains("are equal"),
        "{}{}",
        committed.stdout,
        committed.stderr
    );
}

fn unknown() {
    let repository = Repository::small();
    repository.remove(".git");
    commit_all(&repository);
    let ran = diff(&repository, &["mainn", "HEAD"]);
    let what = "mainn: this is neither a file, a folder of --out nor a commit: mainn: git does not know this commit here";
    assert!(
        ran.code == 2 && ran.stderr.starts_with(what),
        "{}",
        ran.stderr
    );
    repository.remove(RECORDING);
    commit_all(&repository);
    let ran = diff(&repository, &["HEAD", "HEAD"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("has no baseline baselines/latest.json"),
        "{}",
        ran.stderr
    );
    let ran = diff(&repository, &["golden", "HEAD"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("report.json: the file does not exist"),
        "{}",
        ran.stderr
    );
}
