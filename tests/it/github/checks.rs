//! The check run of a tier that does not block.

use libtest_mimic::Trial;
use serde_json::json;

use super::standin::Standin;
use super::{BOT, RUN, head_sha, opened};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a regression that does not block is a neutral check run, written once and taken back",
            neutral,
        ),
        trial(
            "without the permission for check runs there is a note and no failure",
            denied,
        ),
        trial(
            "a check run of another app with our name is left alone",
            foreign,
        ),
        trial("a check run of one config says nothing of another", configs),
    ]
}

fn neutral() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let run = || {
        opened(&repository, &github)
            .input("blocking", "false")
            .runs()
    };
    assert_eq!(run().code, 0);
    assert_eq!(github.check_runs(), Vec::<serde_json::Value>::new());
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    for _ in 0..2 {
        let ran = run();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let runs = github.check_runs();
        let [found] = runs.as_slice() else {
            panic!("{runs:?}")
        };
        for (key, value) in [
            ("name", json!("goldgate (deterministic)")),
            ("head_sha", json!(head_sha())),
            ("status", json!("completed")),
            ("conclusion", json!("neutral")),
        ] {
            assert_eq!(found[key], value, "{found}");
        }
        let title = found["output"]["title"].as_str().unwrap();
        assert!(
            title.contains(": legal finding_recall 0%, needs 80%"),
            "{title}"
        );
        assert!(
            title.ends_with(". This does not block the merge."),
            "{title}"
        );
        assert!(
            found["output"]["summary"]
                .as_str()
                .unwrap()
                .starts_with("> [!WARNING]"),
            "{found}"
        );
    }
    repository.replace(RUN, "Needs nothing.", "Needs prior approval.");
    run();
    assert_eq!(
        (
            github.check_runs().len(),
            &github.check_runs()[0]["conclusion"]
        ),
        (1, &json!("success"))
    );
    // A run that blocks has the job itself.
    let github = Standin::new(&head_sha());
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(opened(&repository, &github).runs().code, 1);
    assert_eq!(github.check_runs().len(), 0);
    assert_eq!(github.bodies(BOT).len(), 1);
}

fn denied() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.deny("checks: write");
    let run = || {
        opened(&repository, &github)
            .input("blocking", "false")
            .runs()
    };
    let said = "::notice title=goldgate::the regression is not shown as a check run: the job needs the permission `checks: write`";
    let fine = run();
    assert!(
        fine.code == 0 && !fine.stdout.contains("checks: write"),
        "{}",
        fine.stdout
    );
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    let ran = run();
    assert_eq!(
        (ran.code, ran.stdout.matches(said).count()),
        (0, 1),
        "{}",
        ran.stdout
    );
    assert_eq!(github.bodies(BOT).len(), 1);
}

fn foreign() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let other = json!({ "id": 1, "name": "goldgate (deterministic)", "head_sha": head_sha(), "external_id": "", "conclusion": "failure" });
    github.foreign_check_run(other.clone());
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    opened(&repository, &github)
        .input("blocking", "false")
        .runs();
    let runs = github.check_runs();
    assert_eq!(
        (runs.len(), &runs[0], &runs[1]["conclusion"]),
        (2, &other, &json!("neutral"))
    );
}

fn configs() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    for file in crate::repository::FILES {
        repository.write(&format!("other/{file}"), repository.read(file));
    }
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    for config in ["goldgate.yaml", "other/goldgate.yaml", "goldgate.yaml"] {
        let ran = opened(&repository, &github)
            .input("blocking", "false")
            .input("config", config)
            .runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
    let found = |github: &Standin| {
        let runs = github.check_runs();
        runs.iter()
            .map(|run| (run["name"].clone(), run["conclusion"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found(&github),
        [(json!("goldgate (deterministic)"), json!("neutral"))]
    );
    repository.replace(
        &format!("other/{RUN}"),
        "Needs prior approval.",
        "Needs nothing.",
    );
    opened(&repository, &github)
        .input("blocking", "false")
        .input("config", "other/goldgate.yaml")
        .runs();
    assert_eq!(
        found(&github)[1],
        (json!("goldgate/other (deterministic)"), json!("neutral"))
    );
}
