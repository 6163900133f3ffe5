//! What a run judges, and what it compares with: a row for each event and each kind of checkout.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::base_sha;
use super::standin::Standin;
use super::standin::pulls::MERGE;
use super::{Job, head_sha};
use crate::repository::{FILES, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "each event with each kind of checkout is judged as the table says",
            table,
        ),
        trial(
            "a merge group of a queue that merges failed entries gives no verdict",
            only_last,
        ),
    ]
}

/// The tip of the base branch: the pull request was opened before it.
fn tip() -> String {
    "d".repeat(40)
}

/// The commit of the group, and the one that was pushed.
fn made() -> String {
    "7".repeat(40)
}

/// What is checked out.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Here {
    /// The commit that is judged.
    Judged,
    /// Another commit.
    Other,
    /// Nothing: the workflow has no checkout.
    Nothing,
}

/// The event with its payload.
fn event<'a>(name: &'a str, checkout: &'a Repository, github: &'a Standin) -> Job<'a> {
    let payload = match name {
        "pull_request" | "pull_request_target" => "pull_request.opened",
        "push to a branch" => "push",
        other => other,
    };
    let name = if name == "push to a branch" {
        "push"
    } else {
        name
    };
    let mut job = Job::new(checkout, github, payload, name);
    job.event["repository"]["default_branch"] = json!("master");
    match name {
        "merge_group" => {
            job.event["merge_group"]["base_sha"] = json!(tip());
            job.event["merge_group"]["head_sha"] = json!(made());
            job.event["merge_group"]["base_ref"] = json!("refs/heads/master");
            let queue = format!("refs/heads/gh-readonly-queue/master/pr-2-{}", tip());
            job.event["merge_group"]["head_ref"] = json!(queue);
        }
        "push" => {
            job.event["ref"] = json!("refs/heads/master");
            job.event["before"] = json!(tip());
            job.event["after"] = json!(made());
        }
        _ => {}
    }
    job
}

/// The outcome with the judged commit and its base, or the reason of a missing verdict.
fn outcome(checkout: &Repository, ran: &Ran) -> String {
    let path = checkout.path(".goldgate/report/report.json");
    match (ran.code, std::fs::read_to_string(path)) {
        (0 | 1, Ok(text)) => {
            let report: Value = serde_json::from_str(&text).unwrap();
            let short = |name: &str| report[name].as_str().unwrap_or("none")[..4].to_owned();
            format!("{} onto {}", short("commit"), short("base"))
        }
        _ => format!("{}{}", ran.stdout, ran.stderr),
    }
}

fn table() {
    use Here::{Judged, Nothing, Other};
    let (head, first, made, tip) = ("ec26", "f95f", "7777", "dddd");
    let pull = format!("{head} onto {tip}");
    let rows: [(&str, &[Here], String); 7] = [
        ("pull_request", &[Judged, Other, Nothing], pull.clone()),
        ("pull_request_target", &[Judged, Other, Nothing], pull),
        (
            "merge_group",
            &[Judged, Other, Nothing],
            format!("{made} onto {tip}"),
        ),
        (
            "push",
            &[Judged, Other, Nothing],
            format!("{made} onto {tip}"),
        ),
        (
            "push to a branch",
            &[Judged, Other, Nothing],
            format!("{made} onto {first}"),
        ),
        (
            "schedule",
            &[Judged, Nothing],
            format!("{tip} onto {first}"),
        ),
        (
            "workflow_dispatch",
            &[Judged, Nothing],
            format!("{tip} onto {first}"),
        ),
    ];
    for (name, places, expected) in rows {
        for place in places {
            let found = judged(name, *place);
            assert_eq!(found, expected, "{name}, {place:?}");
        }
    }
}

fn judged(name: &str, place: Here) -> String {
    let (files, github) = (Repository::small(), Standin::new(&head_sha()));
    files.stamp_unless_kept();
    for commit in [base_sha(), tip(), head_sha(), made(), MERGE.to_owned()] {
        github.commit(&commit, &files);
    }
    github.parents(&tip(), &[&base_sha()]);
    github.parents(&made(), &[&tip()]);
    github.branch("master", &tip());
    github.default_branch("master");
    github.merge_base(&made(), &base_sha());
    github.merge_base(&tip(), &tip());
    let checkout = Repository::empty();
    checkout.remove(".git");
    let mut job = event(name, &checkout, &github);
    if name == "push to a branch" {
        job.event["ref"] = json!("refs/heads/other");
    }
    let of_event = match name {
        "pull_request" => MERGE.to_owned(),
        "merge_group" | "push" | "push to a branch" => made(),
        _ => tip(),
    };
    let here = match place {
        Here::Judged => Some(match name {
            "pull_request_target" => MERGE.to_owned(),
            _ => of_event.clone(),
        }),
        Here::Other => Some("9".repeat(40)),
        Here::Nothing => None,
    };
    if let Some(here) = here {
        for file in FILES {
            checkout.write(file, files.read(file));
        }
        checkout.write(".git/HEAD", format!("{here}\n"));
        checkout.write(".git/objects/keep", "");
        checkout.write(".git/refs/keep", "");
    }
    let ran = job
        .keep_recordings()
        .variable("GITHUB_SHA", &of_event)
        .runs();
    outcome(&checkout, &ran)
}

fn only_last() {
    let queue = |strategy: &str| {
        let (files, github) = (Repository::small(), Standin::new(&head_sha()));
        files.stamp_unless_kept();
        for commit in [tip(), made()] {
            github.commit(&commit, &files);
        }
        github.branch("main", &tip());
        github.retarget("main");
        github.rule(
            json!({ "type": "merge_queue", "parameters": { "grouping_strategy": strategy } }),
        );
        github
    };
    let checkout = Repository::empty();
    checkout.remove(".git");
    fn group<'a>(checkout: &'a Repository, github: &'a Standin) -> Job<'a> {
        let mut job = event("merge_group", checkout, github);
        job.event["merge_group"]["base_ref"] = json!("refs/heads/main");
        job
    }
    for (strategy, code) in [("ALLGREEN", 0), ("HEADGREEN", 3)] {
        let github = queue(strategy);
        let ran = group(&checkout, &github).runs();
        assert_eq!(ran.code, code, "{strategy}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(code == 3, ran.stderr.contains(strategy), "{}", ran.stderr);
    }
    // Another pull request than an open one into this branch.
    let github = queue("ALLGREEN");
    let mut job = group(&checkout, &github);
    let other = format!("refs/heads/gh-readonly-queue/main/pr-9-{}", tip());
    job.event["merge_group"]["head_ref"] = json!(other);
    assert_eq!(job.runs().code, 3);
    github.retarget("other");
    assert_eq!(group(&checkout, &github).runs().code, 3);
}
