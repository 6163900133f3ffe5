//! The check run of a tier that does not block.

use libtest_mimic::Trial;
use serde_json::json;

use super::standin::pulls::MERGE;
use super::standin::{Fault, Standin};
use super::{BOT, Job, RUN, head_sha, opened, payload};
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
        trial(
            "the trusted gate writes its verdict as a check run where the workflow asks for it",
            verdict,
        ),
        trial(
            "the trusted gate's check run blocks without a verdict, and while its job works",
            no_verdict,
        ),
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

/// A fork's pull request that the trusted gate judges.
struct Judged {
    head: Repository,
    workspace: Repository,
    github: Standin,
}

impl Judged {
    fn new() -> Self {
        Self {
            head: Repository::small(),
            workspace: Repository::empty(),
            github: Standin::new(&head_sha()),
        }
    }

    fn runs(&self) -> crate::repository::Ran {
        let base = payload("pull_request.opened")["pull_request"]["base"]["sha"]
            .as_str()
            .unwrap()
            .to_owned();
        self.github.commit(&base, &Repository::small());
        self.github.commit(&head_sha(), &self.head);
        self.github.commit(MERGE, &self.head);
        let job = Job::new(
            &self.workspace,
            &self.github,
            "pull_request.opened",
            "pull_request_target",
        );
        job.input("mode", "trusted")
            .input("check-run", "true")
            .runs()
    }

    /// The newest check run, which is the one that counts.
    #[track_caller]
    fn says(&self, count: usize, conclusion: &serde_json::Value, title: &str) {
        let runs = self.github.check_runs();
        let newest = runs.last().unwrap();
        assert_eq!(
            (runs.len(), &newest["name"], &newest["head_sha"]),
            (count, &json!("goldgate (trusted)"), &json!(head_sha()))
        );
        assert_eq!(&newest["conclusion"], conclusion, "{newest}");
        let found = newest["output"]["title"].as_str().unwrap_or_default();
        assert!(found.starts_with(title), "{newest}");
    }
}

fn verdict() {
    let judged = Judged::new();
    assert_eq!(judged.runs().code, 0);
    judged.says(1, &json!("success"), "First run: all ");
    judged
        .head
        .replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(judged.runs().code, 1);
    judged.says(
        2,
        &json!("failure"),
        "First run: 6 gates pass, 4 are below their limits: legal ",
    );
    let summary = judged.github.check_runs()[1]["output"]["summary"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(summary.starts_with("> [!CAUTION]"), "{summary}");
    judged.github.deny("checks: write");
    let ran = judged.runs();
    assert!(
        ran.code == 3 && ran.stderr.contains("`checks: write`"),
        "{} {}",
        ran.code,
        ran.stderr
    );
}

fn no_verdict() {
    let judged = Judged::new();
    judged.runs();
    // The pull request conflicts now, and the older verdict of the same commit does not count any more.
    judged.github.mergeable(json!(false));
    assert_eq!(judged.runs().code, 3);
    judged.says(2, &json!("failure"), "No verdict");
    assert!(
        judged.github.check_runs()[1]["output"]["summary"]
            .as_str()
            .unwrap()
            .contains("conflicts with")
    );
    judged.github.mergeable(json!(true));
    judged.github.fault("PATCH", Fault::Always(403));
    assert_eq!(judged.runs().code, 3);
    let newest = judged.github.check_runs().pop().unwrap();
    assert_eq!(
        (&newest["status"], newest.get("conclusion")),
        (&json!("in_progress"), None)
    );
}
