//! What the base commit's own runs excuse: a gate that they do not pass either asks for a value that is no worse.

use libtest_mimic::Trial;

use super::base_values::{against_main, behind, readme, record_changed_agent, spoil};
use super::goldgate;
use crate::cases::copy;
use crate::golden_changes::{commit_all, git, git_answer, recording};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a commit of a merged branch whose content the base branch never had excuses nothing",
            never_had,
        ),
        trial(
            "every revision that is named as the base excuses what it shows",
            every_revision,
        ),
        trial(
            "a broken recording of another suite does not matter for an excuse",
            other_suite,
        ),
        trial("a baseline that claims to be older needs a label", older),
        trial(
            "the same cases in shards are excused like in one run",
            in_shards,
        ),
    ]
}

const HARD: &str = "severity_accuracy: { min: baseline, hard: true }";

fn is_red(ran: &Ran, says: &str) {
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        !ran.stdout.contains("excused") && ran.stdout.contains(says),
        "{}",
        ran.stdout
    );
}

fn is_excused(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("excused because the base branch fails"),
        "{}",
        ran.stdout
    );
}

/// A build server compares with the named commit itself.
fn goldgate_in_ci(repository: &Repository, base: &str) -> Ran {
    let path = std::env::var("PATH").unwrap();
    let variables = [("PATH", path.as_str()), ("CI", "true")];
    repository.goldgate_with(&["run", "-v", "--base", base], &variables)
}

fn run(repository: &Repository, base: &str) -> Ran {
    goldgate(
        repository,
        &["run", "-v", "--base", base].map(str::to_owned),
    )
}

/// `merge -s ours` makes a commit an ancestor, and takes nothing of it.
fn never_had() {
    let repository = behind("contracts", HARD, 0..0);
    let folder = repository.path("");
    git(&folder, &["checkout", "-q", "-b", "bad"]);
    record_changed_agent(&repository);
    (0..4).for_each(|case| spoil(&repository, case));
    commit_all(&repository);
    git(&folder, &["checkout", "-q", "main"]);
    readme(&repository);
    commit_all(&repository);
    git(
        &folder,
        &["merge", "-v", "-q", "-s", "ours", "-m", "merge", "bad"],
    );
    git(&folder, &["checkout", "-q", "bad"]);
    repository.write("README.md", "Leases of a branch.\n");
    commit_all(&repository);
    let main = git_answer(&folder, &["rev-parse", "main"]);
    let ran = goldgate_in_ci(&repository, main.trim());
    is_red(&ran, "severity_accuracy");
    assert!(!ran.stdout.contains("already at"), "{}", ran.stdout);
}

fn every_revision() {
    let repository = behind("contracts", HARD, 0..4);
    let folder = repository.path("");
    git(&folder, &["tag", "v1"]);
    git(
        &folder,
        &["update-ref", "refs/remotes/origin/release", "main"],
    );
    readme(&repository);
    for base in ["main", "origin/release", "HEAD", "v1", "main~0"] {
        is_excused(&run(&repository, base));
    }
}

const OTHER: &str = "  - id: other
    kind: findings
    policy: seed
    path: golden
    categories: [change_of_control, termination]
    agents:
      legal:
        fingerprint: ['prompts/**']
        deterministic: { replay: runs2 }
";

fn other_suite() {
    let repository = behind("contracts", HARD, 0..4);
    copy(&repository.path("runs"), &repository.path("runs2"));
    repository.write("goldgate.yaml", repository.read("goldgate.yaml") + OTHER);
    let broken = recording(3).replace("runs", "runs2");
    let good = repository.read(&broken);
    repository.write(&broken, "{ broken");
    commit_all(&repository);
    repository.write(&broken, good);
    for more in [&["--suite", "contracts"][..], &[]] {
        let ran = against_main(&repository, more);
        // The recording that is mended is at most listed.
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("main is already at"), "{}", ran.stdout);
    }
}

fn in_shards() {
    let repository = behind("contracts", HARD, 0..4);
    let merged = |repository: &Repository| {
        for shard in ["1/2", "2/2"] {
            let out = format!("out{}", &shard[..1]);
            let ran = against_main(repository, &["--shard", shard, "--out", &out]);
            assert!(ran.code < 2, "{}{}", ran.stdout, ran.stderr);
        }
        goldgate(
            repository,
            &["merge", "-v", "out1", "out2", "--base", "main"].map(str::to_owned),
        )
    };
    repository.write(".gitignore", "out1\nout2\n");
    is_excused(&merged(&repository));
    record_changed_agent(&repository);
    spoil(&repository, 8);
    is_red(&merged(&repository), "severity_accuracy 58.3%");
}

/// Approvals since the time of the baseline count for the baseline pull request.
fn older() {
    let repository = behind("contracts", HARD, 0..0);
    let good = repository.read("baselines/latest.json");
    repository.write(
        "baselines/latest.json",
        good.replace("\"captured_at\": \"2026", "\"captured_at\": \"2027"),
    );
    let ran = against_main(&repository, &[]);
    assert_eq!(ran.code, 0, "the control: {}{}", ran.stdout, ran.stderr);
    repository.write(
        "baselines/latest.json",
        good.replace("\"captured_at\": \"2026", "\"captured_at\": \"1970"),
    );
    is_red(
        &against_main(&repository, &[]),
        "[needs approval] the time of the baseline moved back",
    );
}
