//! GitHub Enterprise Server: REST below `/api/v3`, GraphQL at `/api/graphql`, links to the server's own address, and servers that lack what
//! is newer than they are.

use libtest_mimic::Trial;
use serde_json::json;

use super::approval::{BASELINE, LABEL, Story, base_sha};
use super::standin::Standin;
use super::{BOT, Job, head_sha, opened};
use crate::repository::{FILES, Ran};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the story of an approval on an Enterprise Server, old or new",
            story,
        ),
        trial(
            "the trusted gate on an Enterprise Server, old or new",
            trusted,
        ),
        trial(
            "the baseline pull request on an Enterprise Server, old or new",
            baseline,
        ),
        trial("a merge queue on an Enterprise Server, old or new", queue),
    ]
}

/// What servers lack: rulesets came with 3.11, the activity of a repository with 3.11, the pull requests of a commit with 3.0 (docs, REST,
/// by version of the server). A server answers 404 to a path that it does not know.
const OLD: [&str; 3] = ["/rules/", "/activity", "/pulls?"];

/// Servers that have everything, that lack rules and activity, and that do not list a commit's pull requests either.
fn servers() -> [&'static [&'static str]; 2] {
    [&[], &OLD[..2]]
}

const SERVER: &str = "https://git.acme.example";

/// Each job asks the server's own addresses.
fn on_server<'a>(job: Job<'a>, addresses: &'a [String; 2]) -> Job<'a> {
    let job = job
        .variable("GITHUB_API_URL", &addresses[0])
        .variable("GITHUB_GRAPHQL_URL", &addresses[1]);
    job.variable("GITHUB_SERVER_URL", SERVER)
}

fn addresses(github: &Standin) -> [String; 2] {
    ["/api/v3", "/api/graphql"].map(|path| format!("{}{path}", github.address()))
}

#[track_caller]
fn is_green(ran: &Ran) {
    assert!(
        ran.code == 0 && !ran.stdout.contains("::warning"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

#[track_caller]
fn asks_the_server_alone(github: &Standin) {
    let is_below = |request: &String| {
        ["/api/v3/repos/acme/agents", "/api/graphql", "/_stored/"]
            .iter()
            .any(|path| request.contains(&format!(" {path}")))
    };
    let others: Vec<String> = github
        .requests()
        .into_iter()
        .filter(|request| !is_below(request))
        .collect();
    assert_eq!(others, Vec::<String>::new());
    for comment in github.bodies(BOT) {
        assert!(
            !comment.contains("github.com") && !comment.contains("github.example"),
            "{comment}"
        );
        assert!(comment.contains(SERVER), "{comment}");
    }
}

fn story() {
    for lacking in servers() {
        let story = Story::new();
        story.github.lack(lacking);
        let addresses = addresses(&story.github);
        let gate = |run: u64| {
            let mut job = Job::new(
                &story.checkout,
                &story.github,
                "pull_request.opened",
                "pull_request",
            );
            job.run = run;
            on_server(job, &addresses).runs()
        };
        assert_eq!(gate(7).code, 1);
        story.upload(7, &head_sha(), &story.report());
        story.github.label_by("alice", LABEL);
        let job = |event: &'static str, by: &'static str| {
            story.job(event, by, 20).input("mode", "approve")
        };
        is_green(&on_server(job("pull_request.labeled", "alice"), &addresses).runs());
        assert!(story.github.statuses(&head_sha())[0].starts_with("success approved by alice"));
        assert_eq!(story.github.reruns().len(), 1);
        let ran = gate(8);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        story.github.concluded(7, "success");
        story.github.unlabel(LABEL);
        is_green(&on_server(job("pull_request.unlabeled", "trudy"), &addresses).runs());
        assert_eq!(gate(9).code, 1);
        // Who pushed the head may not approve it, whether the server lists the activity or not.
        story.github.pushed_by("alice", &head_sha());
        let run = |id: u64, actor: &str| {
            json!({
                "id": id, "run_attempt": 1, "head_sha": head_sha(), "head_branch": "changes", "event": "pull_request",
                "status": "completed", "conclusion": "failure", "path": ".github/workflows/other.yml",
                "head_repository": { "id": 186_853_002, "owner": { "login": "acme" } }, "actor": { "login": actor },
            })
        };
        story.github.run(run(5, "alice"));
        story.github.label_by("alice", LABEL);
        on_server(job("pull_request.labeled", "alice"), &addresses).runs();
        assert!(
            story.github.labels().is_empty(),
            "{lacking:?}: {}",
            story.comment()
        );
        asks_the_server_alone(&story.github);
    }
}

fn trusted() {
    for lacking in servers() {
        let story = Story::new();
        story.github.lack(lacking);
        story.has_merge();
        let addresses = addresses(&story.github);
        let job = Job::new(
            &story.elsewhere,
            &story.github,
            "pull_request.opened",
            "pull_request_target",
        );
        let ran = on_server(job.input("mode", "trusted"), &addresses).runs();
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(story.github.leaks(), Vec::<String>::new());
        asks_the_server_alone(&story.github);
    }
}

fn baseline() {
    for lacking in servers() {
        let Story {
            checkout, github, ..
        } = Story::new();
        for file in FILES.iter().chain(&[BASELINE]) {
            github.file(file, &github.text(file));
        }
        github.lack(lacking);
        let (addresses, commit) = (addresses(&github), base_sha());
        for mode in ["run", "baseline-pr"] {
            let mut job = Job::new(&checkout, &github, "push", "push")
                .input("mode", mode)
                .input("blocking", "false");
            job.event["repository"]["default_branch"] = json!("master");
            let job = job
                .variable("GITHUB_REF", "refs/heads/master")
                .variable("GITHUB_SHA", &commit);
            let ran = on_server(job, &addresses).runs();
            assert_eq!(ran.code, 0, "{mode}: {}{}", ran.stdout, ran.stderr);
        }
        assert_eq!(github.open_pulls(), [2, 3]);
        asks_the_server_alone(&github);
    }
}

/// Merge queues came with 3.12 (docs, "Managing a merge queue").
fn queue() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    let addresses = addresses(&story.github);
    let run = || {
        let mut job = Job::new(&story.checkout, &story.github, "merge_group", "merge_group");
        let reference = format!("refs/heads/gh-readonly-queue/main/pr-2-{}", base_sha());
        job.event["merge_group"]["head_ref"] = json!(reference);
        job.event["merge_group"]["base_sha"] = json!(base_sha());
        on_server(job, &addresses).runs()
    };
    let ran = run();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    story.unlabeled(7);
    assert_eq!(run().code, 1);
    // Nobody asks the server for a file of another repository.
    let ran = on_server(opened(&story.checkout, &story.github), &addresses).runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}
