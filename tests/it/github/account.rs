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
            "an Enterprise Server is asked below its own addresses alone",
            enterprise,
        ),
        trial("the account is asked once a run, by GraphQL", once),
        trial(
            "without GraphQL the account is that of the first comment that was written",
            without_graphql,
        ),
        trial(
            "without GraphQL a comment of another account is left alone",
            foreign,
        ),
    ]
}

const APP: &str = "acme-gate[bot]";

/// A label, its approval, and its withdrawal, with one comment of this account.
fn approved(story: &Story, account: &str) {
    assert_eq!(story.gate(7).code, 1);
    let ran = story.labeled("alice", 8);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(story.unlabeled(9).code, 1);
    for one in [APP, BOT] {
        let count = story.github.bodies(one).len();
        assert_eq!(count, usize::from(one == account), "{one}");
    }
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
    approved(&story, APP);
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
    approved(&story, BOT);
}

fn foreign() {
    let story = Story::new();
    story.gate(7);
    let body = story.github.bodies(BOT).remove(0);
    let forged = Story::new();
    forged.github.graphql(GraphQlAccess::Blocked);
    forged.github.comment("mallory", &body);
    assert_eq!(forged.gate(8).code, 1);
    assert_eq!(forged.github.bodies("mallory"), [body]);
    assert_eq!(forged.github.bodies(BOT).len(), 1);
}
