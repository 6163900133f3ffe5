//! Random repositories: what is red or has no verdict by the rules of the base commit is so under whatever else the change edits.
//!
//! `GOLDGATE_RANDOM` is the number of repositories and `GOLDGATE_SEED` the first seed; without them a few fixed ones are tried.

use fastrand::Rng;
use libtest_mimic::Trial;
use serde_json::Value;

use super::random_edits::Generator;
use super::unstamped;
use crate::cases::copy;
use crate::golden_changes::{commit_all, recording};
use crate::repository::{Ran, Repository, root};
use crate::trial;

/// Repositories that are tried in each run of the tests.
const REPOSITORIES: u64 = 24;
/// Trials among which they are divided, so that they run beside each other.
const TRIALS: u64 = 3;
/// Fewer repositories than these say nothing about the generator.
const FEW: usize = 8;
/// Changes that are judged on each repository, and changes that are tried until so many were valid.
const CHANGES: usize = 4;
const TRIES: usize = 12;
/// Regressions that are tried until one of them is found.
const REGRESSIONS: usize = 4;

pub fn trials() -> Vec<Trial> {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse::<u64>().unwrap())
    };
    let (count, first) = (
        number("GOLDGATE_RANDOM").unwrap_or(REPOSITORIES),
        number("GOLDGATE_SEED").unwrap_or(1),
    );
    let part = |index: u64| -> Vec<u64> {
        (first..first + count)
            .filter(|seed| seed % TRIALS == index)
            .collect()
    };
    let trial = |index: u64| {
        let name = format!(
            "no random edit makes a regression green, part {}",
            index + 1
        );
        let seeds = part(index);
        trial(name, move || all(&seeds))
    };
    (0..TRIALS).map(trial).collect()
}

/// What came of the changes of one part.
#[derive(Default)]
struct Tally {
    repositories: usize,
    regressions: usize,
    judged: usize,
}

fn all(seeds: &[u64]) {
    let mut tally = Tally::default();
    seeds.iter().for_each(|seed| one(*seed, &mut tally));
    let Tally {
        repositories,
        regressions,
        judged,
    } = tally;
    // A generator whose changes are all refused, or whose regressions nobody sees, would prove nothing.
    if seeds.len() < FEW {
        return;
    }
    assert!(
        repositories == seeds.len() && regressions * 4 >= repositories * 3,
        "{regressions} of {repositories}"
    );
    assert!(
        judged >= regressions * CHANGES / 2,
        "{judged} changes judged"
    );
}

fn one(seed: u64, tally: &mut Tally) {
    let mut rng = Rng::with_seed(seed);
    let base = repository(&mut rng);
    base.stamp("goldgate.yaml");
    let ran = base.goldgate(&["run", "--update-baseline", "--quiet", "-v"]);
    assert_eq!(
        ran.code, 0,
        "seed {seed}, the base: {}{}",
        ran.stdout, ran.stderr
    );
    commit_all(&base);
    tally.repositories += 1;
    let generator = &mut Generator::new(rng);
    let Some((worse, regression)) = (0..REGRESSIONS).find_map(|_| regressed(&base, generator))
    else {
        return;
    };
    tally.regressions += 1;
    let mut judged = 0;
    for _ in 0..TRIES {
        let head = duplicate(&worse);
        let edits = generator.edits(&head);
        let ran = run(&head);
        let told = || {
            format!(
                "seed {seed}\nregression: {regression:#?}\nedits: {edits:#?}\n{}{}",
                ran.stdout, ran.stderr
            )
        };
        assert!(
            [1, 2, 3].contains(&ran.code),
            "exit {}: {}",
            ran.code,
            told()
        );
        // Most edits of a golden file leave one that is not valid.
        judged += usize::from(ran.code != 2);
        if judged == CHANGES {
            break;
        }
    }
    tally.judged += judged;
}

/// A copy of the base with worse recordings, where the program sees that they are worse.
fn regressed(base: &Repository, generator: &mut Generator) -> Option<(Repository, Vec<String>)> {
    let worse = duplicate(base);
    let regression = generator.regression(&worse);
    let ran = run(&worse);
    assert!(
        [0, 1, 2, 3].contains(&ran.code),
        "{regression:?}: {}{}",
        ran.stdout,
        ran.stderr
    );
    matches!(ran.code, 1 | 3).then_some((worse, regression))
}

fn run(repository: &Repository) -> Ran {
    unstamped(repository, &["run", "--base", "HEAD"].map(str::to_owned))
}

fn duplicate(of: &Repository) -> Repository {
    let other = Repository::empty();
    other.remove(".git");
    copy(&of.path(""), &other.path(""));
    other
}

/// A bundled suite, of which some cases are taken.
struct Bundled {
    folder: &'static str,
    golden: &'static str,
    /// The folder of the suite whose prompts its agent has.
    prompts: &'static str,
    agents: &'static [&'static str],
    settings: &'static str,
}

const BUNDLED: [Bundled; 6] = [
    Bundled {
        folder: "interview",
        golden: "scenarios",
        prompts: "interview",
        agents: &["interviewer"],
        settings: "    terms: { vague: fixtures/interview/terms/vague.txt }\n",
    },
    Bundled {
        folder: "reconciliation",
        golden: "fixtures",
        prompts: "reconciliation",
        agents: &["reconciler"],
        settings: "    gates: { scenario_pass_rate: { min: 0.5 } }\n",
    },
    Bundled {
        folder: "stochastic",
        golden: "scenarios",
        prompts: "interview",
        agents: &["interviewer"],
        settings: "",
    },
    Bundled {
        folder: "property",
        golden: "cases",
        prompts: "reconciliation",
        agents: &["reconciler"],
        settings: "",
    },
    Bundled {
        folder: "evidence",
        golden: "tasks",
        prompts: "evidence",
        agents: &["inspector"],
        settings: "",
    },
    Bundled {
        folder: "revision",
        golden: "cases",
        prompts: "revision",
        agents: &["reviser"],
        settings: "",
    },
];

/// One or two suites of different kinds, each with some of its cases.
fn repository(rng: &mut Rng) -> Repository {
    let repository = Repository::empty();
    repository.remove(".git");
    let mut config = "version: 1\nbaseline: baselines/latest.json\nsuites:\n".to_owned();
    let mut kinds: Vec<usize> = (0..BUNDLED.len() + 2).collect();
    rng.shuffle(&mut kinds);
    for kind in kinds.into_iter().take(rng.usize(1..=2)) {
        config += &match BUNDLED.get(kind) {
            Some(bundled) => some_of(&repository, bundled, rng),
            None if kind == BUNDLED.len() => contracts(&repository, rng),
            None => assistant(&repository, rng),
        };
    }
    repository.write("goldgate.yaml", config);
    repository
}

fn agents(names: &[&str], runs: &str, prompts: &str) -> String {
    let one = |name: &&str| {
        format!(
            "      {name}: {{ deterministic: {{ replay: {runs} }}, fingerprint: ['{prompts}/**'] }}\n"
        )
    };
    format!("    agents:\n{}", names.iter().map(one).collect::<String>())
}

fn names_in(repository: &Repository, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(repository.path(folder)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Removes all but a few of the cases with their recordings.
fn some_of(repository: &Repository, bundled: &Bundled, rng: &mut Rng) -> String {
    let Bundled {
        folder: id,
        golden,
        prompts,
        agents: names,
        settings,
    } = bundled;
    let folder = format!("fixtures/{id}");
    copy(&root().join(&folder), &repository.path(&folder));
    // A recording of a case with variants begins with the case's name; a task's repository lies beside all suites.
    if *id == "evidence" {
        copy(
            &root().join("fixtures/repos"),
            &repository.path("fixtures/repos"),
        );
    }
    let prompts = format!("fixtures/{prompts}/prompts");
    copy(&root().join(&prompts), &repository.path(&prompts));
    let mut cases = names_in(repository, &format!("{folder}/{golden}"));
    rng.shuffle(&mut cases);
    // A case in quarantine is more than a tenth of a few.
    cases.sort_by_key(|case| {
        repository
            .path(&format!("{folder}/{golden}/{case}"))
            .is_file()
            && repository
                .read(&format!("{folder}/{golden}/{case}"))
                .contains("\"quarantine\"")
    });
    let kept = if *id == "revision" {
        2
    } else {
        rng.usize(2..=5)
    };
    for case in cases.into_iter().skip(kept) {
        repository.remove(&format!("{folder}/{golden}/{case}"));
        let case = case.trim_end_matches(".json");
        for agent in names_in(repository, &format!("{folder}/runs")) {
            let runs = format!("{folder}/runs/{agent}");
            let of_case = |name: &&String| {
                let name = name.trim_end_matches(".json");
                name == case || name.starts_with(&format!("{case}--"))
            };
            let found: Vec<String> = names_in(repository, &runs)
                .iter()
                .filter(of_case)
                .cloned()
                .collect();
            found
                .iter()
                .for_each(|name| repository.remove(&format!("{runs}/{name}")));
        }
    }
    for agent in names_in(repository, &format!("{folder}/runs"))
        .iter()
        .filter(|name| !names.contains(&name.as_str()))
    {
        repository.remove(&format!("{folder}/runs/{agent}"));
    }
    format!(
        "  - id: {id}\n    kind: {id}\n    path: {folder}\n{settings}{}",
        agents(names, &format!("{folder}/runs"), &prompts)
    )
}

/// Leases with one or two agents.
fn contracts(repository: &Repository, rng: &mut Rng) -> String {
    let count = rng.usize(3..=8);
    (0..count).for_each(|case| crate::golden_changes::add_case(repository, case));
    repository.write("prompts/legal.md", "Report every change of control.\n");
    let mut names = vec!["legal"];
    if rng.bool() {
        names.push("second");
        copy(
            &repository.path("golden/expected/legal"),
            &repository.path("golden/expected/second"),
        );
        for case in 0..count {
            let run = repository
                .read(&recording(case))
                .replace("\"legal\"", "\"second\"");
            repository.write(&recording(case).replace("/legal/", "/second/"), run);
        }
    }
    let gates = [
        "    gates: { finding_precision: { min: 0.5 } }\n",
        "    gates: { gap_recall: { min: baseline, hard: true }, f1_score: { max_drop: 0.05 } }\n",
        "    categories: [change_of_control, termination]\n",
        "",
    ];
    let settings = gates[rng.usize(..gates.len())];
    let agents = agents(&names, "runs", "prompts");
    format!(
        "  - id: contracts\n    kind: findings\n    policy: seed\n    path: golden\n{settings}{agents}"
    )
}

/// Some of the calls of tools, all in one file.
fn assistant(repository: &Repository, rng: &mut Rng) -> String {
    let (from, folder) = (root().join("fixtures/tool_use"), "fixtures/tool_use");
    copy(&from, &repository.path(folder));
    let file = format!("{folder}/eval_cases.json");
    let mut cases: Value = serde_json::from_str(&repository.read(&file)).unwrap();
    let list = cases["cases"].as_array_mut().unwrap();
    // What has no id of its own is named by its place.
    list.retain(|case| case.get("id").is_some());
    rng.shuffle(list);
    list.truncate(rng.usize(3..=6));
    let kept: Vec<String> = list
        .iter()
        .map(|case| case["id"].as_str().unwrap().to_owned())
        .collect();
    repository.write(&file, cases.to_string());
    let runs = format!("{folder}/runs/assistant");
    names_in(repository, &runs)
        .iter()
        .filter(|name| !kept.contains(name))
        .for_each(|name| repository.remove(&format!("{runs}/{name}")));
    format!(
        "  - id: assistant\n    kind: tool_use\n    policy: seed\n    path: {file}\n    terms: {{ disclaimer: {folder}/terms/disclaimer.txt }}\n    \
         flags: {{ offers_next_step: {{ when: true, terms: {folder}/terms/next_step.txt }}, translates_to_french: {{ when: true, \
         terms: {folder}/terms/french.txt }} }}\n    tools: {folder}/tools.json\n{}",
        agents(
            &["assistant"],
            &format!("{folder}/runs"),
            &format!("{folder}/prompts")
        )
    )
}
