//! Which account the token writes as: a workflow's own token, an app's, and where GraphQL cannot be reached.

use libtest_mimic::Trial;

use super::approval::Story;
use super::standin::Standin;
use super::standin::account::GraphQlAccess;
use super::{BOT, RUN, head_sha, opened};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an app's token writes one comment, and its approvals count",
            app,
        ),
        trial(
            "an approval by another account than the gate's names both accounts",
            two_accounts,
        ),
        trial(
            "an Enterprise Server is asked below its own addresses alone",
            enterprise,
        ),
        trial("the account is asked once a run, by GraphQL", once),
        trial(
            "without GraphQL the account is that of the first comment that was written",
            without_graphql,
        ),
        trial(
            "without GraphQL a comment and a status of another account prove nothing",
            foreign,
        ),
    ]
}

const APP: &str = "acme-gate[bot]";

/// A label, its approval, and its withdrawal.
fn approved(story: &Story) {
    assert_eq!(story.gate(7).code, 1);
    let ran = story.labeled("alice");
    let statuses = story.github.statuses(&head_sha());
    assert!(
        statuses[0].starts_with("success approved by alice"),
        "{statuses:?} {}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = story.graded(8);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let ran = story.unlabeled(7);
    let statuses = story.github.statuses(&head_sha());
    assert_eq!(
        statuses[1], "failure withdrawn: trudy removed the label; #2",
        "{}{}",
        ran.stdout, ran.stderr
    );
    assert_eq!(story.graded(9).code, 1);
}

fn app() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.app(APP);
    for _ in 0..2 {
        let ran = opened(&repository, &github).runs();
        assert!(
            ran.code == 0 && !ran.stdout.contains("::warning"),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
    assert_eq!((github.bodies(APP).len(), github.bodies(BOT).len()), (1, 0));
    let story = Story::new();
    story.github.app(APP);
    approved(&story);
    assert_eq!(
        (
            story.github.bodies(APP).len(),
            story.github.bodies(BOT).len()
        ),
        (1, 0)
    );
}

fn two_accounts() {
    let story = Story::new();
    assert_eq!(story.gate(7).code, 1);
    story.github.app(APP);
    let ran = story.labeled("alice");
    let says = format!(
        "the comment was written by the account {BOT}, but this job writes as {APP}; give the gate and the approval the same token"
    );
    assert!(ran.stdout.contains(&says), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(story.github.statuses(&head_sha()), Vec::<String>::new());
}

fn enterprise() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let (rest, graphql) = (
        format!("{}/api/v3", github.address()),
        format!("{}/api/graphql", github.address()),
    );
    let run = || {
        let job = opened(&repository, &github).variable("GITHUB_API_URL", &rest);
        job.variable("GITHUB_GRAPHQL_URL", &graphql).runs()
    };
    let ran = run();
    assert!(
        ran.code == 0 && !ran.stdout.contains("::warning"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(run().code, 1);
    assert_eq!(github.bodies(BOT).len(), 1);
    let asked = github.requests();
    let is_below = |request: &String| {
        ["/api/v3/repos/acme/agents/", "/api/graphql"]
            .iter()
            .any(|path| request.contains(&format!(" {path}")))
    };
    assert!(
        asked.iter().any(|request| request == "POST /api/graphql"),
        "{asked:?}"
    );
    assert!(asked.iter().all(is_below), "{asked:?}");
}

fn once() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let count = |path: &str| {
        github
            .requests()
            .iter()
            .filter(|request| request.ends_with(path))
            .count()
    };
    // The first comment tells the account. Later runs ask whether it is theirs.
    for asked in [0, 1, 2] {
        opened(&repository, &github).runs();
        assert_eq!(
            (count("/graphql"), count("/user")),
            (asked, 0),
            "{:?}",
            github.requests()
        );
    }
}

fn without_graphql() {
    for access in [GraphQlAccess::Blocked, GraphQlAccess::Error] {
        let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
        github.graphql(access);
        github.app(APP);
        for _ in 0..2 {
            let ran = opened(&repository, &github).runs();
            assert!(
                ran.code == 0 && !ran.stdout.contains("::warning"),
                "{}{}",
                ran.stdout,
                ran.stderr
            );
        }
        assert_eq!(github.bodies(APP).len(), 1, "{access:?}");
    }
    let story = Story::new();
    story.github.graphql(GraphQlAccess::Blocked);
    approved(&story);
    assert_eq!(story.github.bodies(BOT).len(), 1);
}

fn foreign() {
    let story = Story::new();
    story.github.graphql(GraphQlAccess::Blocked);
    story.gate(7);
    let body = story.github.bodies(BOT).remove(0);
    story.labeled("alice");
    let line = story.github.statuses(&head_sha())[0]
        .trim_start_matches("success ")
        .to_owned();
    let forged = Story::new();
    forged.github.graphql(GraphQlAccess::Blocked);
    forged.gate(7);
    forged.github.comment("mallory", &body);
    forged
        .github
        .status("mallory", &head_sha(), "success", &line);
    assert_eq!(forged.graded(8).code, 1);
    assert_eq!(
        (
            forged.github.bodies("mallory").len(),
            forged.github.bodies(BOT).len()
        ),
        (1, 1)
    );
}
