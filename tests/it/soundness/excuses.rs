//! What the branch that a change is merged into may excuse: only its tip counts, case by case, and no case that is or was in quarantine.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::base_values::{
    against_main, behind, mend, no_finding, readme, record_changed_agent, spoil,
};
use super::goldgate;
use crate::cases::copy;
use crate::golden_changes::{commit_all, expected, git, recording};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a metric of the worst case does not hide the other cases",
            worst_case,
        ),
        trial(
            "a new call is not excused by one in another case",
            other_call,
        ),
        trial(
            "a case whose quarantine ended is not excused by the base branch",
            after_quarantine,
        ),
        trial(
            "the commit where a branch began excuses nothing that the tip does not show",
            merge_base,
        ),
        trial(
            "a commit of a merged branch whose content the base branch never had excuses nothing",
            never_had,
        ),
        trial(
            "only a branch excuses a gate, and no other revision",
            only_branches,
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
        trial(
            "a change that a failed gate has nothing to do with says that the base commit fails as well",
            red_base,
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

fn run(repository: &Repository, base: &str) -> Ran {
    goldgate(
        repository,
        &["run", "-v", "--base", base].map(str::to_owned),
    )
}

fn worst_case() {
    let repository = behind(
        "contracts",
        "finding_recall: { min: baseline, hard: true }",
        0..0,
    );
    no_finding(&repository, 0);
    commit_all(&repository);
    readme(&repository);
    is_excused(&against_main(&repository, &[]));
    (1..12).for_each(|case| no_finding(&repository, case));
    is_red(
        &against_main(&repository, &[]),
        "but lease-1, lease-10, lease-11, lease-2, lease-3 and 6 more are worse here",
    );
}

fn other_call() {
    let repository = super::committed("assistant");
    let folder = "fixtures/tool_use/runs/assistant";
    let all = std::fs::read_dir(repository.path(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let mut cases: Vec<String> = all.map(|name| name.into_string().unwrap()).collect();
    cases.sort();
    let calls = |case: &str, edit: &dyn Fn(&mut Vec<Value>)| {
        for sample in std::fs::read_dir(repository.path(&format!("{folder}/{case}"))).unwrap() {
            let file = format!(
                "{folder}/{case}/{}",
                sample.unwrap().file_name().to_str().unwrap()
            );
            let mut run: Value = serde_json::from_str(&repository.read(&file)).unwrap();
            edit(run["intermediate"]["tool_calls"].as_array_mut().unwrap());
            repository.write(&file, run.to_string());
        }
    };
    let tools: Value =
        serde_json::from_str(&repository.read("fixtures/tool_use/tools.json")).unwrap();
    let call = |tool: usize| json!({ "name": tools[tool]["name"], "arguments": {}, "result": "{}", "error": null, "latency_ms": 1 });
    calls(&cases[0], &|calls| calls.push(call(0)));
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    readme(&repository);
    is_excused(&run(&repository, "main"));
    calls(&cases[0], &|calls| drop(calls.pop()));
    calls(&cases[10], &|calls| calls.push(call(9)));
    let ran = run(&repository, "main");
    is_red(&ran, &format!("{} is worse here", cases[10]));
}

fn quarantined(repository: &Repository, case: usize, expires: &str) {
    let mut golden: Value = serde_json::from_str(&repository.read(&expected(case))).unwrap();
    golden["quarantine"] = json!({ "owner": "Subject A", "reason": "known", "expires": expires });
    repository.write(&expected(case), golden.to_string());
}

/// An approved quarantine, a regression of its case that nobody had to approve, and the end of the quarantine.
fn after_quarantine() {
    let repository = behind("contracts", HARD, 0..0);
    spoil(&repository, 3);
    commit_all(&repository);
    readme(&repository);
    is_excused(&against_main(&repository, &[]));
    // On the day after the end; the clock of these tests stands still.
    quarantined(&repository, 3, "2026-11-20");
    commit_all(&repository);
    repository.write("README.md", "Two leases.\n");
    is_red(
        &against_main(&repository, &[]),
        "the quarantine of lease-3 ended on 2026-11-20: the case counts again",
    );
    // Without the entry the case was still in quarantine on the base branch.
    let mut golden: Value = serde_json::from_str(&repository.read(&expected(3))).unwrap();
    golden.as_object_mut().unwrap().remove("quarantine");
    repository.write(&expected(3), golden.to_string());
    assert_eq!(against_main(&repository, &[]).code, 1);
    mend(&repository, 3);
    record_changed_agent(&repository);
    assert_eq!(against_main(&repository, &[]).code, 0);
}

/// A branch with two commits is merged: the first one is bad, and nobody judged it, because the second one mends it.
fn merge_base() {
    let repository = behind("contracts", HARD, 0..0);
    let folder = repository.path("");
    git(&folder, &["checkout", "-q", "-b", "x"]);
    record_changed_agent(&repository);
    (0..4).for_each(|case| spoil(&repository, case));
    commit_all(&repository);
    git(&folder, &["branch", "y"]);
    (0..4).for_each(|case| mend(&repository, case));
    commit_all(&repository);
    git(&folder, &["checkout", "-q", "main"]);
    git(
        &folder,
        &["merge", "-v", "-q", "--no-ff", "-m", "merge", "x"],
    );
    git(&folder, &["checkout", "-q", "y"]);
    let ran = run(&repository, "main");
    is_red(&ran, "note: compared with");
    assert!(
        !ran.stdout.contains("already at"),
        "main is at 100%: {}",
        ran.stdout
    );
    // The same cases, where the tip shows them.
    git(&folder, &["checkout", "-q", "main"]);
    git(&folder, &["merge", "-v", "-q", "-m", "merge", "y"]);
    (0..4).for_each(|case| spoil(&repository, case));
    commit_all(&repository);
    readme(&repository);
    is_excused(&run(&repository, "main"));
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
    let ran = run(&repository, "main");
    is_red(&ran, "note: compared with");
    assert!(!ran.stdout.contains("already at"), "{}", ran.stdout);
}

fn only_branches() {
    let repository = behind("contracts", HARD, 0..4);
    let folder = repository.path("");
    git(&folder, &["tag", "v1"]);
    git(
        &folder,
        &["update-ref", "refs/remotes/origin/release", "main"],
    );
    readme(&repository);
    for branch in [
        "main",
        "refs/heads/main",
        "origin/release",
        "refs/remotes/origin/release",
    ] {
        is_excused(&run(&repository, branch));
    }
    for revision in ["HEAD", "v1", "refs/tags/v1", "main^0", "main~0", "main@{0}"] {
        is_red(
            &run(&repository, revision),
            "severity_accuracy 66.7%, needs 100%",
        );
    }
}

const OTHER: &str = "  - id: other
    kind: findings
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
        // The recording that is mended needs an approval, and nothing else is red.
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        let headline = "Merge blocked: 1 golden change needs an approval.";
        assert!(
            ran.stdout.contains("main is already at") && ran.stdout.contains(headline),
            "{}",
            ran.stdout
        );
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
    is_red(&merged(&repository), "but lease-8 is worse here");
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

fn red_base() {
    let repository = behind(
        "contracts",
        "severity_accuracy: { min: 0.9, hard: true }",
        0..4,
    );
    let says = "nothing that was graded differs from the base commit, which fails as well";
    let blames = |ran: &Ran| ran.stdout.contains(says);
    readme(&repository);
    let ran = run(&repository, "main");
    assert!(
        ran.code == 1 && blames(&ran),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    repository.replace("prompts/legal.md", "Report", "Do report");
    let ran = run(&repository, "main");
    assert!(
        ran.code != 0 && !blames(&ran),
        "the control: {}{}",
        ran.stdout,
        ran.stderr
    );
}
