//! Without a base commit, on a base commit that has no config or is stale itself, and with other trusts.

use super::*;
use crate::golden_changes::{git, lfs_pointer};

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "without a base commit, stale recordings give no verdict and those without digests are noted",
            alone,
        ),
        trial(
            "without a base commit, an edited recording gives no verdict",
            edited_alone,
        ),
        trial(
            "on a base commit without a config, only the digests of recordings are looked at",
            adoption,
        ),
        trial(
            "recordings that are stale on the base commit as well are said to be",
            stale_base,
        ),
        trial(
            "`trust: ci` gives no verdict on new recordings without GitHub, and says so",
            by_ci,
        ),
        trial("who is trusted is read from the base commit", base_trust),
        trial("a case whose recordings are all gone is refused", all_gone),
        trial(
            "an edited document makes its recording stale, and the approval of the edit does not help",
            document,
        ),
        trial(
            "stamp writes over other digests only if it is told to",
            stamp_stale,
        ),
        trial(
            "stamp writes no digest of files that are not there",
            stamp_without_files,
        ),
        trial(
            "a recording that was made before another prompt was merged is stale",
            merged,
        ),
        trial(
            "where more samples are stated than recorded, what the missing ones could make of a value decides",
            more_samples_stated,
        ),
        trial(
            "a change that cannot alter an answer costs the printed command and one approval",
            no_answer_altered,
        ),
        trial(
            "a new case does not move what the others are compared with",
            new_case,
        ),
    ]
}

fn alone() {
    let repository = recorded(Trust::Author);
    let run = || repository.goldgate(&["run", "--format", "json"]);
    is(&run(), Silent);
    bare(&repository, 1);
    is(
        &run(),
        Noted("1 recording states no digests (lease-1.json)"),
    );
    edit_prompt(&repository);
    // The note asks for digests; the others are of another prompt.
    is(
        &run(),
        Refused(
            "2 recordings are stale: the agent's files (prompts/legal.md) changed since they were made (lease-0.json, lease-2.json)",
        ),
    );
    bare_all(&repository);
    is(&run(), Noted("3 recordings state no digests"));
}

fn edited_alone() {
    let repository = recorded(Trust::Author);
    let run = || repository.goldgate(&["run", "--format", "json"]);
    answer(&repository, 1);
    is(
        &run(),
        Refused("1 recording is stale: it was edited after it was made (lease-1.json)"),
    );
    repository.stamp("goldgate.yaml");
    is(&run(), Silent);
}

fn adoption() {
    let adopted = || {
        let repository = recorded(Trust::Author);
        let config = repository.read("goldgate.yaml");
        repository.remove("goldgate.yaml");
        commit_all(&repository);
        repository.write("goldgate.yaml", config);
        repository
    };
    let repository = adopted();
    is(&against(&repository), Silent);
    bare_all(&repository);
    is(
        &against(&repository),
        Noted("3 recordings state no digests"),
    );
    let repository = adopted();
    edit_prompt(&repository);
    is(&against(&repository), Refused("3 recordings are stale: "));
    repository.stamp("goldgate.yaml");
    is(&against(&repository), Silent);
}

fn stale_base() {
    const WORDS: &str = "the base commit itself is stale";
    let repository = recorded(Trust::Author);
    edit_prompt(&repository);
    commit_all(&repository);
    is(&against(&repository), Refused(WORDS));
    // The control: the base commit's are current.
    let repository = recorded(Trust::Author);
    commit_all(&repository);
    edit_prompt(&repository);
    let ran = against(&repository);
    is(&ran, Refused("3 recordings are stale"));
    assert!(!ran.stdout.contains(WORDS), "{}", ran.stdout);
}

fn by_ci() {
    const WORDS: &str = "and only the recording workflow may write recordings here (`recordings: { trust: ci }`): it cannot be shown that it did";
    let changes: [fn(&Repository); 6] = [
        |repository| add_case(repository, 3),
        answer_all,
        |repository| answer(repository, 0),
        edit_prompt,
        |repository| {
            edit_prompt(repository);
            answer_all(repository);
        },
        |repository| add_sample(repository, 0),
    ];
    for change in changes {
        let repository = recorded(Trust::Ci);
        commit_all(&repository);
        is(&against(&repository), Silent);
        change(&repository);
        repository.stamp("goldgate.yaml");
        is(&against(&repository), Refused(WORDS));
    }
    // New digests alone are not of the workflow either.
    let repository = recorded(Trust::Ci);
    bare_all(&repository);
    commit_all(&repository);
    repository.stamp("goldgate.yaml");
    is(&against(&repository), Refused(WORDS));
}

fn base_trust() {
    let repository = recorded(Trust::Approval);
    commit_all(&repository);
    repository.replace("goldgate.yaml", "trust: approval", "trust: author");
    add_case(&repository, 3);
    repository.stamp("goldgate.yaml");
    is(
        &against(&repository),
        Approval("1 recording of `contracts/legal` is of a new case"),
    );
    let repository = recorded(Trust::Author);
    commit_all(&repository);
    let config = repository.read("goldgate.yaml");
    repository.write(
        "goldgate.yaml",
        format!("{config}recordings: {{ trust: approval }}\n"),
    );
    add_case(&repository, 3);
    repository.stamp("goldgate.yaml");
    let ran = against(&repository);
    is(
        &ran,
        Approval("which recordings of a pull request count: author -> approval"),
    );
    let changes = report(&ran)["golden_changes"].clone();
    let mut of_recordings = changes
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["class"] == "recording");
    assert!(
        of_recordings.all(|one| one["needs_approval"] == false),
        "{changes:#}"
    );
}

fn all_gone() {
    let repository = recorded(Trust::Author);
    commit_all(&repository);
    repository.remove(&recording(1));
    let ran = against(&repository);
    assert!(ran.code == 2 && ran.stderr.contains("lease-1"), "{ran:?}");
}

fn document() {
    let repository = recorded(Trust::Author);
    commit_all(&repository);
    repository.write(
        "golden/contracts/lease-1.md",
        "# Lease\n\nOn a change of control the landlord has to approve within a month.\n",
    );
    let ran = against(&repository);
    is(
        &ran,
        Refused(
            "1 recording is stale: what the case asks changed since it was made (lease-1.json)",
        ),
    );
    assert!(
        report(&ran)["not_gateable"]
            .to_string()
            .contains("`goldgate stamp --suite contracts --agent legal --case lease-1 --stale`"),
        "{}",
        ran.stdout
    );
    answer(&repository, 1);
    repository.stamp("goldgate.yaml");
    let ran = against(&repository);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let changes = report(&ran)["golden_changes"].clone();
    let of_recordings: Vec<&Value> = changes
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["class"] == "recording")
        .collect();
    assert!(
        of_recordings.len() == 1
            && of_recordings[0]["needs_approval"] == false
            && of_recordings[0]["what"]
                .as_str()
                .unwrap()
                .contains("1 recording of `contracts/legal` is of this change: lease-1.json"),
        "{changes:#}"
    );
}

fn stamp_stale() {
    let repository = recorded(Trust::Author);
    commit_all(&repository);
    edit_prompt(&repository);
    let before = repository.read(&recording(0));
    let broken = before.replacen('{', "{,", 1);
    repository.write(&recording(0), &broken);
    let ran = repository.goldgate(&["stamp", "--stale"]);
    assert!(
        ran.code == 2
            && ran.stderr.contains("[broken-json]")
            && repository.read(&recording(0)) == broken,
        "{ran:?}"
    );
    repository.write(&recording(0), &before);
    let ran = repository.goldgate(&["stamp"]);
    assert!(
        ran.code == 3
            && ran
                .stdout
                .contains("3 recordings state digests of other files or inputs"),
        "{ran:?}"
    );
    assert_eq!(repository.read(&recording(0)), before);
    let ran = repository.goldgate(&["stamp", "--stale", "--case", "lease-0"]);
    assert!(
        ran.code == 0 && repository.read(&recording(0)) != before,
        "{ran:?}"
    );
    is(
        &against(&repository),
        Refused(
            "2 recordings are stale: prompts/legal.md changed since they were made (lease-1.json, lease-2.json)",
        ),
    );
}

/// Every agent is named, and the others are not stamped either.
fn stamp_without_files() {
    let repository = recorded(Trust::Author);
    second_agent(&repository);
    bare_all(&repository);
    let prompt = repository.read("prompts/legal.md");
    let before = repository.read(&recording(0));
    let pointer = lfs_pointer(&prompt);
    for (text, says) in [
        (
            None,
            "goldgate.yaml: files of `contracts/legal`: no file matches prompts/legal.md; correct the patterns [missing-file]",
        ),
        (
            Some(&pointer),
            "prompts/legal.md: files of `contracts/legal`: this is a Git LFS pointer, not the file itself; get it with",
        ),
    ] {
        repository.remove("prompts/legal.md");
        if let Some(text) = text {
            repository.write("prompts/legal.md", text);
        }
        for more in [&[][..], &["--stale"]] {
            let ran = repository.goldgate(&[&["stamp"], more].concat());
            for agent in ["legal", "second"] {
                let says = says.replace("/legal`", &format!("/{agent}`"));
                assert!(
                    ran.code == 2 && ran.stderr.contains(&says),
                    "{says} {ran:?}"
                );
            }
            assert_eq!(repository.read(&recording(0)), before, "{says}");
        }
        repository.write("prompts/legal.md", &prompt);
    }
    assert_eq!(repository.goldgate(&["stamp"]).code, 0, "the control");
    assert_ne!(repository.read(&recording(0)), before, "the control");
}

/// A case was recorded on a branch, and then another prompt was merged into the base branch, and that into the branch.
fn merged() {
    let repository = recorded(Trust::Author);
    edit_prompt(&repository);
    answer_all(&repository);
    repository.stamp("goldgate.yaml");
    commit_all(&repository);
    let prompt = repository.read("prompts/legal.md");
    add_case(&repository, 3);
    repository.write("prompts/legal.md", "Report every change of control.\n");
    repository.stamp("goldgate.yaml");
    for case in 0..CASES {
        git(
            &repository.path(""),
            &["checkout", "-q", "--", &recording(case)],
        );
    }
    repository.write("prompts/legal.md", prompt);
    is(
        &against(&repository),
        Refused(
            "1 recording is stale: the agent's files (prompts/legal.md) changed since it was made (lease-3.json)",
        ),
    );
    let ran = repository.goldgate(&["stamp", "--stale", "--case", "lease-3"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    is(
        &against(&repository),
        Listed("1 recording of `contracts/legal` is of a new case"),
    );
}

fn more_samples_stated() {
    const OPEN: &str = "more samples are planned than are recorded of lease-0, lease-1, lease-2: finding_recall lies between 0 and 1, so its gate could fail";
    let samples = |repository: &Repository, range: std::ops::Range<usize>| {
        for case in 0..CASES {
            let folder = recording(case).replace(".json", "");
            let text = repository.read(&format!("{folder}/0.json"));
            for sample in range.clone() {
                let file = format!("{folder}/{sample}.json");
                repository.write(&file, &text);
                edit_file(repository, &file, |run| run["sample"] = json!(sample));
            }
        }
        repository.stamp("goldgate.yaml");
    };
    // Three good samples are a majority of five; two good ones are none.
    for (category, expect) in [
        ("change-of-control", Listed("samples of `contracts` 3 -> 5")),
        ("termination", Refused(OPEN)),
    ] {
        let repository = recorded(Trust::Author);
        repository.replace("goldgate.yaml", "suites:", "samples: 3\nsuites:");
        for case in 0..CASES {
            let text = repository.read(&recording(case));
            repository.remove(&recording(case));
            repository.write(&recording(case).replace(".json", "/0.json"), text);
        }
        samples(&repository, 1..3);
        edit_file(&repository, "runs/legal/lease-0/2.json", |run| {
            run["outputs"]["findings"][0]["category"] = json!(category);
        });
        repository.stamp("goldgate.yaml");
        let ran = repository.goldgate(&["run", "--update-baseline"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        commit_all(&repository);
        repository.replace("goldgate.yaml", "samples: 3", "samples: 5");
        let ran = against(&repository);
        is(&ran, expect);
        assert!(
            !ran.stdout.contains("which an approval accepts"),
            "{}",
            ran.stdout
        );
        samples(&repository, 3..5);
        is(
            &against(&repository),
            Listed("6 recordings of `contracts/legal` were added to cases that have others"),
        );
    }
}

fn no_answer_altered() {
    const STAMP: &str = "`goldgate stamp --suite contracts --agent legal --stale`; that command alone if the change cannot alter an answer";
    for prompt in [
        "Report every change of control.\n\n",
        "<!-- The agent. -->\nReport every change of control.\n",
    ] {
        let repository = recorded(Trust::Author);
        commit_all(&repository);
        repository.write("prompts/legal.md", prompt);
        is(&against(&repository), Refused(STAMP));
        let command = [
            "stamp",
            "--suite",
            "contracts",
            "--agent",
            "legal",
            "--stale",
        ];
        let ran = repository.goldgate(&command);
        assert_eq!(ran.code, 0, "{ran:?}");
        let ran = against(&repository);
        is(&ran, Approval("stamped, not recorded"));
        let changes = report(&ran)["golden_changes"].clone();
        assert_eq!(
            changes.as_array().map(Vec::len),
            Some(1),
            "one label: {changes:#}"
        );
    }
}

fn new_case() {
    let repository = recorded(Trust::Author);
    commit_all(&repository);
    add_case(&repository, CASES);
    repository.stamp("goldgate.yaml");
    let ran = against(&repository);
    is(&ran, Listed("is of a new case"));
    let seen = report(&ran).to_string();
    assert!(!seen.contains("\"base_commit\":{"), "{seen}");
}
