//! A suite over several machines: the merged report is byte for byte that of one.

use std::collections::BTreeMap;
use std::path::Path;

use libtest_mimic::Trial;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::golden_changes::{add_case, commit_all, git, recording};
use crate::repository::{CONFIG, Repository, program, ran, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the bundled suites in one to five parts merge to the report of one machine",
            bundled,
        ),
        trial(
            "small repositories in parts merge to the report of one machine, in any order",
            small,
        ),
        trial(
            "a part judges nothing and exits with 0, and the merged parts fail",
            alone,
        ),
        trial("a new case moves no other case to another part", stable),
        trial("parts that do not belong together are refused", refused),
        trial("parts of another checkout are refused", other_checkout),
        trial("parts of another commit are refused", other_commit),
        trial(
            "parts of another commit are refused in a linked work tree",
            other_commit_of_a_work_tree,
        ),
        trial(
            "golden changes are judged when the parts are merged",
            guarded,
        ),
        trial(
            "parts of another base commit than the named one are refused",
            other_base,
        ),
        trial(
            "a part is not written without a folder, nor into the baseline",
            usage,
        ),
    ]
}

/// The files below a folder but for the parts' own.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(root, &path, found),
                false => {
                    let name = path
                        .strip_prefix(root)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned();
                    found.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found.remove("shard.json");
    found
}

fn alike(merged: &Path, whole: &Path) {
    let (merged, whole) = (files(merged), files(whole));
    assert_eq!(
        merged.keys().collect::<Vec<_>>(),
        whole.keys().collect::<Vec<_>>()
    );
    for (name, bytes) in &whole {
        assert!(
            merged[name] == *bytes,
            "{name} differs\n{}",
            first_difference(&merged[name], bytes)
        );
    }
}

fn first_difference(merged: &[u8], whole: &[u8]) -> String {
    let (merged, whole) = (
        String::from_utf8_lossy(merged),
        String::from_utf8_lossy(whole),
    );
    let lines = merged
        .lines()
        .zip(whole.lines())
        .find(|(one, other)| one != other);
    lines.map_or("one is longer".to_owned(), |(merged, whole)| {
        format!("merged {merged}\nwhole  {whole}")
    })
}

fn bundled() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let whole = ran(program(root()).args(["run", "--out", &at("whole")]));
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    for of in 1..=5 {
        let mut folders = Vec::new();
        for number in 1..=of {
            let (shard, out) = (format!("{number}/{of}"), at(&format!("{number}-{of}")));
            let part = ran(program(root()).args(["run", "--shard", &shard, "--out", &out]));
            assert_eq!(part.code, 0, "{}", part.stderr);
            folders.insert(0, out);
        }
        let out = at(&format!("merged-{of}"));
        let merged = ran(program(root())
            .arg("merge")
            .args(&folders)
            .args(["--out", &out]));
        assert_eq!((merged.code, merged.stderr.as_str()), (0, ""));
        assert!(merged.stdout == whole.stdout, "of {of}");
        alike(Path::new(&out), Path::new(&at("whole")));
    }
}

/// Grades in parts and merges, in an order that `turn` gives.
fn in_parts(
    repository: &Repository,
    of: usize,
    turn: usize,
    more: &[&str],
) -> crate::repository::Ran {
    let mut folders: Vec<String> = Vec::new();
    for number in 1..=of {
        let (shard, out) = (format!("{number}/{of}"), format!("parts/{number}"));
        let part =
            repository.goldgate(&[&["run", "--shard", &shard, "--out", &out], more].concat());
        assert_eq!(part.code, 0, "{}", part.stderr);
        folders.push(out);
    }
    folders.rotate_left(turn % of);
    let mut arguments: Vec<&str> = vec!["merge", "--out", "merged"];
    arguments.extend(folders.iter().map(String::as_str));
    repository.goldgate(&arguments)
}

fn small() {
    let cases = proptest::collection::vec((any::<bool>(), any::<bool>(), 0.0..1.0_f64), 1..9);
    let strategy = (cases, 1..6_usize, 0..5_usize, any::<bool>());
    let mut runner = TestRunner::new(Config {
        cases: 6,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&strategy, |(cases, of, turn, captured)| {
        let repository = Repository::empty();
        repository.write("goldgate.yaml", CONFIG.replace("golden/runs", "runs"));
        repository.write("prompts/legal.md", "Report every change of control.\n");
        for (case, (_, lost, zone)) in cases.iter().enumerate() {
            add_case(&repository, case);
            let band = format!("\"ambiguity_zone\": {}, \"max_expected", zone / 2.0);
            repository.replace(
                &crate::golden_changes::expected(case),
                "\"max_expected",
                &band,
            );
            if *lost {
                repository.replace(&recording(case), "\"completed\"", "\"timeout\"");
            }
        }
        if captured {
            repository.goldgate(&["run", "--update-baseline"]);
        }
        for (case, _) in cases.iter().enumerate().filter(|(_, (fails, ..))| *fails) {
            repository.replace(&recording(case), "Needs prior approval.", "Needs nothing.");
        }
        let whole = repository.goldgate(&["run", "--out", "whole"]);
        let merged = in_parts(&repository, of, turn, &[]);
        assert_eq!(
            (merged.code, &merged.stdout, &merged.stderr),
            (whole.code, &whole.stdout, &whole.stderr)
        );
        alike(&repository.path("merged"), &repository.path("whole"));
        Ok(())
    });
    outcome.unwrap();
}

fn dozen() -> Repository {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG.replace("golden/runs", "runs"));
    repository.write("prompts/legal.md", "Report every change of control.\n");
    (0..12).for_each(|case| add_case(&repository, case));
    repository
}

fn alone() {
    let repository = dozen();
    (0..12).for_each(|case| {
        repository.replace(&recording(case), "Needs prior approval.", "Needs nothing.")
    });
    let part = repository.goldgate(&["run", "--shard", "1/2", "--out", "one", "--format", "json"]);
    let report: Value = serde_json::from_str(&part.stdout).unwrap();
    assert_eq!(
        (part.code, &report["verdict"], &report["blocking"]),
        (0, &Value::from("skipped"), &Value::from(false))
    );
    assert!(
        report["suites"][0]["agents"][0]["cases"]
            .as_array()
            .unwrap()
            .len()
            < 12
    );
    assert!(
        part.stdout
            .contains("a shard of the suite: `goldgate merge` decides"),
        "{}",
        part.stdout
    );
    let shown = repository.goldgate(&["report", "one"]).stdout;
    assert!(
        shown.contains("No gate was evaluated. This is not a pass."),
        "{shown}"
    );
    let merged = in_parts(&repository, 3, 1, &[]);
    assert_eq!(merged.code, 1, "{}", merged.stdout);
    assert_eq!(in_parts(&repository, 3, 1, &["--non-blocking"]).code, 0);
}

fn cases_of(repository: &Repository, shard: &str) -> Vec<String> {
    let part = repository.goldgate(&["run", "--shard", shard, "--out", "some", "--format", "json"]);
    let report: Value = serde_json::from_str(&part.stdout).unwrap();
    let cases = report["suites"][0]["agents"][0]["cases"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    cases
        .iter()
        .map(|case| case["case"].as_str().unwrap().to_owned())
        .collect()
}

fn stable() {
    let repository = dozen();
    let of =
        |repository: &Repository| ["1/3", "2/3", "3/3"].map(|shard| cases_of(repository, shard));
    let before = of(&repository);
    assert!(before.iter().all(|cases| !cases.is_empty()), "{before:?}");
    add_case(&repository, 5000);
    let after = of(&repository).map(|cases| {
        cases
            .into_iter()
            .filter(|case| case != "lease-5000")
            .collect::<Vec<_>>()
    });
    assert_eq!(before, after);
}

fn refused() {
    let repository = dozen();
    for (shard, out) in [("1/2", "a"), ("2/2", "b"), ("1/3", "c")] {
        assert_eq!(
            repository
                .goldgate(&["run", "--shard", shard, "--out", out])
                .code,
            0
        );
    }
    repository.goldgate(&["run", "--shard", "2/2", "--out", "d", "--samples", "3"]);
    repository.goldgate(&["run", "--out", "whole"]);
    repository.write("broken/shard.json", "{");
    repository.write(
        "other/shard.json",
        repository
            .read("b/shard.json")
            .replace("\"0.5\"", "\"inf\"")
            .replace("goldgate.shard/1", "goldgate.shard/2"),
    );
    for (folders, says) in [
        (&["a"][..], "the shard 2/2 is missing"),
        (&["a", "b", "a"], "the shard 1/2 is given 2 times"),
        (&["a", "c"], "1/2 and 1/3 are shards of different runs"),
        (
            &["a", "d"],
            "the shards 1/2 and 2/2 differ in their selection of cases, samples, base or authority",
        ),
        (
            &["a", "whole"],
            "whole/shard.json: this folder has no shard",
        ),
        (
            &["a", "nowhere"],
            "nowhere/shard.json: this folder has no shard",
        ),
        (&["a", "broken"], "broken/shard.json:1:1: invalid JSON"),
        (
            &["a", "other"],
            "other/shard.json: unknown schema \"goldgate.shard/2\"",
        ),
    ] {
        let ran = repository.goldgate(&[&["merge"], folders].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{folders:?}");
        assert!(ran.stderr.contains(says), "{folders:?}: {}", ran.stderr);
    }
    assert_eq!(repository.goldgate(&["merge"]).code, 2);
}

fn other_checkout() {
    let repository = dozen();
    for shard in ["1/2", "2/2"] {
        repository.goldgate(&["run", "--shard", shard, "--out", &shard[..1]]);
    }
    assert_eq!(repository.goldgate(&["merge", "1", "2"]).code, 0);
    let merge = |says: &str| {
        let ran = repository.goldgate(&["merge", "1", "2"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    };
    let golden = repository.read(&crate::golden_changes::expected(3));
    repository.write(
        &crate::golden_changes::expected(3),
        golden.replace(": 3", ": 4"),
    );
    merge("has other golden files for contracts/legal than this checkout");
    repository.write(&crate::golden_changes::expected(3), golden);
    add_case(&repository, 20);
    merge("no shard has the result of contracts/legal/lease-20");
    [
        "golden/contracts/lease-20.md",
        &crate::golden_changes::expected(20),
        &recording(20),
    ]
    .iter()
    .for_each(|file| repository.remove(file));
    repository.replace("goldgate.yaml", "version: 1", "version: 1 # other");
    merge("the shards were graded with another config");
}

/// The golden files are the same, and the runs of the parts are of the agent as it was.
fn other_commit() {
    let repository = dozen();
    repository.remove(".git");
    commit_all(&repository);
    for shard in ["1/2", "2/2"] {
        repository.goldgate(&["run", "--shard", shard, "--out", &shard[..1]]);
    }
    assert_eq!(repository.goldgate(&["merge", "1", "2"]).code, 0);
    (0..12).for_each(|case| {
        repository.replace(&recording(case), "Needs prior approval.", "Needs nothing.")
    });
    commit_all(&repository);
    assert_eq!(repository.goldgate(&["run"]).code, 1);
    let ran = repository.goldgate(&["merge", "1", "2"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the shards are of the commit "),
        "{}",
        ran.stderr
    );
}

/// A linked work tree has a file for `.git`, so only git knows its commit.
fn other_commit_of_a_work_tree() {
    let repository = dozen();
    repository.remove(".git");
    commit_all(&repository);
    let linked = repository.path("linked");
    git(
        &repository.path(""),
        &["worktree", "add", "--quiet", "--detach", "linked"],
    );
    let path = std::env::var("PATH").unwrap();
    let goldgate = |arguments: &[&str]| ran(program(&linked).args(arguments).env("PATH", &path));
    for shard in ["1/2", "2/2"] {
        goldgate(&["run", "--shard", shard, "--out", &shard[..1]]);
    }
    assert_eq!(goldgate(&["merge", "1", "2"]).code, 0);
    let recorded = recording(0);
    let text = repository
        .read(&recorded)
        .replace("Needs prior approval.", "Needs nothing.");
    std::fs::write(linked.join(&recorded), text).unwrap();
    git(&linked, &["commit", "--quiet", "-am", "worse"]);
    let refused = goldgate(&["merge", "1", "2"]);
    assert_eq!(
        (refused.code, refused.stdout.as_str()),
        (2, ""),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("the shards are of the commit "),
        "{}",
        refused.stderr
    );
}

fn guarded() {
    let repository = dozen();
    repository.remove(".git");
    commit_all(&repository);
    repository.replace(
        &crate::golden_changes::expected(3),
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    let path = std::env::var("PATH").unwrap();
    let run = |arguments: &[&str]| repository.goldgate_with(arguments, &[("PATH", &path)]);
    let whole = run(&["run", "--base", "HEAD", "--out", "whole"]);
    for shard in ["1/2", "2/2"] {
        let part = run(&[
            "run",
            "--base",
            "HEAD",
            "--shard",
            shard,
            "--out",
            &shard[..1],
        ]);
        assert_eq!(part.code, 0, "{}", part.stderr);
    }
    let merged = run(&["merge", "2", "1", "--base", "HEAD", "--out", "merged"]);
    assert_eq!(
        (merged.code, &merged.stdout),
        (1, &whole.stdout),
        "{}",
        merged.stderr
    );
    assert!(
        merged.stdout.contains("max_expected_findings 3 -> 9"),
        "{}",
        merged.stdout
    );
    alike(&repository.path("merged"), &repository.path("whole"));
}

fn other_base() {
    let repository = dozen();
    repository.remove(".git");
    repository.write(".gitignore", "parts\n");
    assert_eq!(repository.stamp("goldgate.yaml").code, 0);
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    for text in ["Leases.\n", "Twelve leases.\n"] {
        git(&repository.path(""), &["checkout", "-q", "-B", "change"]);
        repository.write("README.md", text);
        commit_all(&repository);
    }
    let path = std::env::var("PATH").unwrap();
    let run = |arguments: &[&str]| repository.goldgate_with(arguments, &[("PATH", &path)]);
    for (base, named, code, says) in [
        (Some("main"), Some("main"), 0, ""),
        (Some("HEAD~2"), Some("main"), 0, ""),
        (Some("main"), None, 0, ""),
        (None, None, 0, ""),
        (
            Some("main"),
            Some("HEAD"),
            2,
            "the shards were graded against ",
        ),
        (
            Some("HEAD~1"),
            Some("main"),
            2,
            "the shards were graded against ",
        ),
        (
            None,
            Some("main"),
            2,
            "the shards were graded without a base commit, but --base main is ",
        ),
    ] {
        for shard in ["1/2", "2/2"] {
            let out = format!("parts/{}", &shard[..1]);
            let mut arguments = vec!["run", "--shard", shard, "--out", &out];
            arguments.extend(base.iter().flat_map(|base| ["--base", *base]));
            assert_eq!(run(&arguments).code, 0, "{base:?}");
        }
        let mut arguments = vec!["merge", "parts/1", "parts/2"];
        arguments.extend(named.iter().flat_map(|named| ["--base", *named]));
        let ran = run(&arguments);
        assert_eq!(
            ran.code, code,
            "{base:?} {named:?}: {}{}",
            ran.stdout, ran.stderr
        );
        assert!(
            ran.stderr.contains(says),
            "{base:?} {named:?}: {}",
            ran.stderr
        );
    }
}

fn usage() {
    let repository = dozen();
    for arguments in [
        &["run", "--shard", "1/2"][..],
        &["run", "--shard", "3/2", "--out", "a"],
        &["run", "--shard", "x", "--out", "a"],
        &["run", "--shard", "1/2", "--out", "a", "--update-baseline"],
        &["run", "--shard", "1/2", "--out", "a", "--update-snapshots"],
    ] {
        assert_eq!(repository.goldgate(arguments).code, 2, "{arguments:?}");
    }
}
