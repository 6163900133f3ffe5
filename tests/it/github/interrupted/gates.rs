//! Gates: red, without a verdict, or green by an approval.

use serde_json::json;

use super::{Play, at_each_request};
use crate::github::approval::{LABEL, Story, base_sha};
use crate::github::excuses::stricter_among_many;
use crate::github::parts::{PLACE, grade};
use crate::github::pushes::{pull, tip, trunk, with};
use crate::github::standin::Standin;
use crate::github::standin::pulls::test_merge;
use crate::github::story::merges::LATER;
use crate::github::{Job, RUN, head_sha, opened};
use crate::repository::{Ran, Repository};

/// A gate, its exit code when nothing fails, and the labels that the pull request has then.
struct Gate {
    github: Standin,
    code: i32,
    labels: Vec<String>,
    job: Box<dyn Fn() -> Ran + Sync>,
}

impl Play for Gate {
    fn github(&self) -> &Standin {
        &self.github
    }

    fn job(&self) -> Ran {
        (self.job)()
    }

    fn stopped(&self, ran: &Ran, cut: &str) {
        // 2 is a file of the user that cannot be read, such as a config that seems to be missing.
        let is_fine = if self.code == 0 { 0..=3 } else { 1..=3 };
        assert!(
            is_fine.contains(&ran.code),
            "{cut}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }

    fn finished(&self, ran: &Ran, cut: &str) {
        assert_eq!(ran.code, self.code, "{cut}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(self.github.labels(), self.labels, "{cut}");
    }
}

/// A gate that leaves the labels as they are.
fn gate(github: &Standin, code: i32, job: impl Fn() -> Ran + Sync + 'static) -> Gate {
    Gate {
        github: github.clone(),
        code,
        labels: github.labels(),
        job: Box::new(job),
    }
}

/// The comment does not belong to the verdict, and is written after it.
fn silent(job: Job<'_>) -> Ran {
    job.input("comment", "false").runs()
}

const EVENTS: [&str; 2] = ["pull_request", "pull_request_target"];

/// The pull request's own job after another one was red and this happened, from the checkout or as data.
fn of_pull(event: &'static str, code: i32, meanwhile: impl Fn(&Story)) -> Gate {
    let (story, workspace, tip) = (Story::new(), Repository::empty(), base_sha());
    story.has_merge();
    let github = story.github.clone();
    let run = move |story: &Story, run: u64| {
        let folder = match event {
            "pull_request" => &story.checkout,
            _ => &workspace,
        };
        let mut job = Job::new(folder, &story.github, "pull_request.opened", event);
        job.run = run;
        job = job.head(&story.github.head("changes").unwrap());
        silent(match event {
            "pull_request" => job,
            _ => job.variable("GITHUB_SHA", &tip),
        })
    };
    assert_eq!(run(&story, 7).code, 1);
    meanwhile(&story);
    gate(&github, code, move || run(&story, 8))
}

pub(super) fn red() {
    for event in EVENTS {
        at_each_request(|| of_pull(event, 1, |_| ()));
    }
    at_each_request(|| {
        let story = Story::new();
        grade(&story.checkout, &story.github);
        let github = story.github.clone();
        gate(&github, 1, move || {
            silent(opened(&story.checkout, &story.github).input("parts", PLACE))
        })
    });
    // A push of one approved pull request and one that nobody approved.
    at_each_request(|| pushed(&["legal", "rental"], 1));
    at_each_request(|| queued(&["legal", "rental"], 1));
}

/// The label of somebody who may not set it, and one that was taken away.
pub(super) fn refused() {
    at_each_request(|| Gate {
        labels: Vec::new(),
        ..of_pull("pull_request", 1, |story| {
            story.github.label_by("mallory", LABEL)
        })
    });
    at_each_request(|| {
        of_pull("pull_request", 1, |story| {
            story.github.label_by("alice", LABEL);
            story.github.unlabel(LABEL);
        })
    });
}

/// The push, or the group, of pull requests that make these agents worse, of which the first is approved.
fn merged(agents: &[&str], is_group: bool, code: i32) -> Gate {
    let trunk = trunk();
    let pulls: Vec<_> = agents
        .iter()
        .zip(2..)
        .map(|(agent, number)| pull(&trunk, number, agent))
        .collect();
    trunk.is_approved(&pulls[0]);
    let mut before = base_sha();
    let mut checkout = Repository::empty();
    for (index, one) in pulls.iter().enumerate() {
        let commit = tip(one.number);
        checkout = with(&trunk, &pulls.iter().take(index + 1).collect::<Vec<_>>());
        trunk.github.commit(&commit, &checkout);
        trunk.github.parents(&commit, &[&before]);
        match is_group {
            true => trunk.github.branch(
                &format!("gh-readonly-queue/master/pr-{}-{before}", one.number),
                &commit,
            ),
            false => trunk.github.merge_as(one.number, &commit),
        }
        before = commit;
    }
    let (number, after) = (pulls.len() + 1, before);
    let github = trunk.github.clone();
    gate(&github, code, move || {
        let name = if is_group { "merge_group" } else { "push" };
        let mut job = Job::new(&checkout, &trunk.github, name, name);
        if is_group {
            let below = if number == 2 {
                base_sha()
            } else {
                tip(number as u64 - 1)
            };
            job.event["merge_group"]["head_ref"] = json!(format!(
                "refs/heads/gh-readonly-queue/master/pr-{number}-{below}"
            ));
            job.event["merge_group"]["base_ref"] = json!("refs/heads/master");
            job.event["merge_group"]["base_sha"] = json!(below);
            job.event["merge_group"]["head_sha"] = json!(after);
        } else {
            trunk.github.branch("master", &after);
            job.event["ref"] = json!("refs/heads/master");
            (job.event["before"], job.event["after"]) = (json!(base_sha()), json!(after));
            job.event["repository"]["default_branch"] = json!("master");
        }
        job.run = 60;
        silent(
            job.variable("GITHUB_SHA", &after)
                .variable("SOURCE_DATE_EPOCH", LATER),
        )
    })
}

fn pushed(agents: &[&str], code: i32) -> Gate {
    merged(agents, false, code)
}

fn queued(agents: &[&str], code: i32) -> Gate {
    merged(agents, true, code)
}

/// Two, or too many, pull requests with the same head, one of which is red.
pub(super) fn several() {
    at_each_request(|| {
        let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
        github.files(&repository);
        github.branch("lax", &"e".repeat(40));
        github.second_pull(5, "lax");
        let worse = Repository::small();
        worse.replace(RUN, "Needs prior approval.", "Needs nothing.");
        github.commit(&"e".repeat(40), &repository);
        github.commit(&test_merge(5), &worse);
        github.commit(&base_sha(), &repository);
        let served = github.clone();
        gate(&served, 1, move || silent(opened(&repository, &github)))
    });
    at_each_request(|| {
        let (repository, github) = stricter_among_many();
        let served = github.clone();
        gate(&served, 1, move || silent(opened(&repository, &github)))
    });
}

/// What alice approved.
pub(super) fn approved() {
    for event in EVENTS {
        at_each_request(|| of_pull(event, 0, |story| story.github.label_by("alice", LABEL)));
    }
    // The result that was shown is computed again.
    at_each_request(|| {
        of_pull("pull_request", 0, |story| {
            story.github.label_by("alice", LABEL);
            story.checkout.write("src/main.py", "print()\n");
            story.push("Codertocat", 'd');
        })
    });
    at_each_request(|| pushed(&["legal"], 0));
    at_each_request(|| queued(&["legal"], 0));
}
