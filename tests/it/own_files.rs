//! Files that goldgate writes and reads again: whatever it writes, it can read.

use libtest_mimic::Trial;

use crate::golden_changes::{commit_all, git};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a baseline that is larger than other files is read in the tree and in the base commit",
            large_baseline,
        ),
        trial(
            "a report and a baseline that are larger than other files are rendered and compared",
            large_report,
        ),
    ]
}

/// Bytes above the limit of files that people write.
const LARGE: usize = 33 << 20;

/// Makes a file large by blanks, which are quick to read.
fn grow(repository: &Repository, file: &str) {
    let text = repository.read(file);
    repository.write(file, format!("{}{text}", " ".repeat(LARGE)));
}

fn large_baseline() {
    let repository = Repository::small();
    repository.remove(".git");
    git(&repository.path(""), &["init", "--quiet"]);
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    grow(&repository, "baselines/latest.json");
    commit_all(&repository);
    for arguments in [
        &["run", "--quiet", "-v"][..],
        &["run", "--quiet", "-v", "--base", "HEAD"],
    ] {
        let ran = repository.goldgate(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
    }
    // A change of it is seen as well.
    repository.replace(
        "baselines/latest.json",
        "\"f1_score\": 1.0",
        "\"f1_score\": 0.5",
    );
    let changed = repository.goldgate(&["run", "--base", "HEAD"]);
    assert!(
        changed.stdout.contains("the baseline edited"),
        "{}{}",
        changed.stdout,
        changed.stderr
    );
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    assert_eq!(repository.goldgate(&["run", "--quiet", "-v"]).code, 0);
    // The limit of other files is unchanged.
    repository.write("golden/contracts/lease.md", " ".repeat(LARGE));
    let ran = repository.goldgate(&["run"]);
    assert!(
        ran.stderr.contains("the file is larger than 32 MiB"),
        "{}",
        ran.stderr
    );
}

fn large_report() {
    let repository = Repository::small();
    assert_eq!(
        repository
            .goldgate(&["run", "--out", "out", "--update-baseline"])
            .code,
        0
    );
    grow(&repository, "out/report.json");
    grow(&repository, "baselines/latest.json");
    let ran = repository.goldgate(&["report", "out"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let ran = repository.goldgate(&["diff", "out/report.json", "baselines/latest.json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}
