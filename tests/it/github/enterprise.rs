//! GitHub Enterprise Server: REST below `/api/v3`, GraphQL at `/api/graphql`, links to the server's own address, and servers that lack what
//! is newer than they are.

use libtest_mimic::Trial;
use serde_json::json;

use super::approval::{BASELINE, LABEL, Story, base_sha};
use super::standin::Standin;
use super::{BOT, Job, head_sha};
use crate::repository::{FILES, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the story of an approval on an Enterprise Server, old or new",
            story,
        ),
        trial(
            "a pull request that is read as data on an Enterprise Server, old or new",
            trusted,
        ),
        trial(
            "the baseline pull request on an Enterprise Server, old or new",
            baseline,
        ),
        trial("a merge queue on an Enterprise Server", queue),
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
        let gate = |event: &str, run: u64| on_server(story.job(event, run), &addresses).runs();
        assert_eq!(gate("pull_request.opened", 7).code, 1);
        story.github.label_by("alice", LABEL);
        let ran = gate("pull_request.labeled", 8);
        is_green(&ran);
        story.is_approved(&ran, "alice");
        assert_eq!(story.github.reruns(), [7]);
        story.github.unlabel(LABEL);
        assert_eq!(gate("pull_request.unlabeled", 9).code, 1);
        asks_the_server_alone(&story.github);
        // Who pushed the head may not approve it, whether the server lists the activity or not.
        let story = Story::new();
        story.github.lack(lacking);
        story.github.pushed_by("alice", &head_sha());
        let of_alice = |event: &str, run: u64| {
            let mut job = story.job(event, run);
            job.event["sender"]["login"] = json!("alice");
            job.runs()
        };
        of_alice("pull_request.opened", 7);
        story.github.label_by("alice", LABEL);
        let ran = of_alice("pull_request.labeled", 8);
        story.is_refused(&ran, "alice pushed the newest commits");
    }
}

fn trusted() {
    for lacking in servers() {
        let (story, workspace) = (Story::new(), Repository::empty());
        story.github.lack(lacking);
        story.has_merge();
        let addresses = addresses(&story.github);
        let run = |event: &str, run: u64| {
            let mut job = Job::new(&workspace, &story.github, event, "pull_request_target");
            job.run = run;
            job.event["label"]["name"] = json!(LABEL);
            let base = base_sha();
            on_server(job.variable("GITHUB_SHA", &base), &addresses).runs()
        };
        let ran = run("pull_request.opened", 7);
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        story.github.label_by("alice", LABEL);
        is_green(&run("pull_request.labeled", 8));
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
        for mode in ["", "baseline-pr"] {
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
    story.has_merge();
    story.gate(7);
    story.labeled("alice", 8);
    let addresses = addresses(&story.github);
    let run = || {
        let mut job = Job::new(&story.checkout, &story.github, "merge_group", "merge_group");
        let reference = format!("refs/heads/gh-readonly-queue/master/pr-2-{}", base_sha());
        job.event["merge_group"]["head_ref"] = json!(reference);
        job.event["merge_group"]["base_ref"] = json!("refs/heads/master");
        job.event["merge_group"]["base_sha"] = json!(base_sha());
        job.run = 50;
        on_server(job, &addresses).runs()
    };
    is_green(&run());
    story.github.unlabel(LABEL);
    assert_eq!(run().code, 1);
}
