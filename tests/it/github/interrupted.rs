//! The requests of the hour are used up at any request of a job (docs, "Rate limits for the REST API": 1,000 an hour for a repository
//! and `GITHUB_TOKEN`). Nothing gets green by it, and the next run of the same job does what is left.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use libtest_mimic::Trial;
use serde_json::json;

use super::approval::{BASELINE, LABEL, Story, base_sha};
use super::{BOT, Job, head_sha};
use crate::repository::{FILES, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a rate limit at any request makes no gate green", gates),
        trial("a rate limit at any request loses no approval and makes none", approvals),
        trial("a rate limit at any request loses no withdrawal", withdrawals),
        trial("a rate limit at any request leaves one commit of a baseline, with its approval", bumps),
        trial("a rate limit at any request leaves one baseline pull request and one published comment", one_of_each),
    ]
}

/// A job that is stopped by the limit, and then started again.
trait Play: Sync {
    fn github(&self) -> &super::Standin;
    /// The job.
    fn job(&self) -> Ran;
    /// What is true after the job was stopped.
    fn stopped(&self, ran: &Ran, cut: usize);
    /// What is true after it was started again.
    fn finished(&self, ran: &Ran, cut: usize);
}

/// Plays a job with the limit at each of its requests.
fn at_each_request<P: Play>(new: impl Fn() -> P + Sync) {
    let whole = new();
    let before = whole.github().requests().len();
    let ran = whole.job();
    whole.finished(&ran, usize::MAX);
    let count = whole.github().requests().len() - before;
    assert!(count > 3, "{count} requests");
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let cut = next.fetch_add(1, Ordering::Relaxed);
                    if cut >= count {
                        return;
                    }
                    let play = new();
                    play.github().use_up_after(cut);
                    let ran = play.job();
                    play.stopped(&ran, cut);
                    play.github().change(super::standin::State::heal);
                    let ran = play.job();
                    play.finished(&ran, cut);
                }
            });
        }
    });
}

/// A gate of a pull request that is red.
struct Gate {
    story: Story,
    mode: &'static str,
}

impl Play for Gate {
    fn github(&self) -> &super::Standin {
        &self.story.github
    }

    fn job(&self) -> Ran {
        let Story { checkout, elsewhere, github } = &self.story;
        let (folder, event) = match self.mode {
            "run" => (checkout, "pull_request"),
            _ => (elsewhere, "pull_request_target"),
        };
        let job = Job::new(folder, github, "pull_request.opened", event).input("mode", self.mode);
        // The comment is no part of the verdict, and it is written after it.
        job.input("comment", "false").runs()
    }

    fn stopped(&self, ran: &Ran, cut: usize) {
        assert!([1, 3].contains(&ran.code), "{} {cut}: {}{}", self.mode, ran.stdout, ran.stderr);
    }

    fn finished(&self, ran: &Ran, cut: usize) {
        assert_eq!(ran.code, 1, "{} {cut}: {}{}", self.mode, ran.stdout, ran.stderr);
    }
}

fn gates() {
    for mode in ["run", "trusted"] {
        at_each_request(|| {
            let story = Story::new();
            story.has_merge();
            Gate { story, mode }
        });
    }
}

/// A label by somebody.
struct Approval {
    story: Story,
    by: &'static str,
}

impl Approval {
    fn new(by: &'static str) -> Self {
        let story = Story::new();
        story.gate(7);
        story.github.label_by(by, LABEL);
        Self { story, by }
    }
}

fn is_approved(story: &Story) -> bool {
    story.github.statuses(&head_sha()).last().is_some_and(|last| last.starts_with("success approved by"))
}

impl Play for Approval {
    fn github(&self) -> &super::Standin {
        &self.story.github
    }

    fn job(&self) -> Ran {
        self.story.approve(self.by)
    }

    fn stopped(&self, ran: &Ran, cut: usize) {
        assert!([0, 3].contains(&ran.code), "{cut}: {}{}", ran.stdout, ran.stderr);
        assert!(self.by == "alice" || !is_approved(&self.story), "{cut}");
    }

    fn finished(&self, ran: &Ran, cut: usize) {
        let (story, is_right) = (&self.story, self.by == "alice");
        assert_eq!(ran.code, 0, "{cut}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(is_approved(story), is_right, "{cut}: {}", ran.stdout);
        assert_eq!(story.github.labels().is_empty(), !is_right, "{cut}: {}", ran.stdout);
        assert_eq!(story.github.reruns().len(), usize::from(is_right), "{cut}: {}", ran.stdout);
    }
}

fn approvals() {
    for by in ["alice", "mallory"] {
        at_each_request(|| Approval::new(by));
    }
}

/// An approval whose label somebody takes away, after the gate passed by it.
struct Withdrawal(Story);

impl Play for Withdrawal {
    fn github(&self) -> &super::Standin {
        &self.0.github
    }

    fn job(&self) -> Ran {
        self.0.job("pull_request.unlabeled", "trudy", 21).input("mode", "approve").runs()
    }

    fn stopped(&self, ran: &Ran, cut: usize) {
        assert!([0, 3].contains(&ran.code), "{cut}: {}{}", ran.stdout, ran.stderr);
    }

    fn finished(&self, ran: &Ran, cut: usize) {
        assert_eq!(ran.code, 0, "{cut}: {}{}", ran.stdout, ran.stderr);
        assert!(!is_approved(&self.0), "{cut}");
        let reruns = self.0.github.reruns();
        assert!(reruns.len() == 2 && reruns[1].what == "rerun", "{cut}: {reruns:?} {}", ran.stdout);
    }
}

fn withdrawals() {
    at_each_request(|| {
        let Approval { story, .. } = Approval::new("alice");
        story.approve("alice");
        story.github.concluded(7, "success");
        story.github.unlabel(LABEL);
        Withdrawal(story)
    });
}

/// The commit of an approved baseline.
struct Bump(Story);

impl Play for Bump {
    fn github(&self) -> &super::Standin {
        &self.0.github
    }

    fn job(&self) -> Ran {
        // On the event of the commit, the label is checked first.
        let head = self.0.github.head("changes").unwrap();
        for mode in ["approve", "bump"] {
            let job = self.0.job("pull_request.synchronize", "alice", 22).head(&head).input("mode", mode);
            let ran = job.input("rerun", "false").runs();
            if ran.code != 0 || mode == "bump" {
                return ran;
            }
        }
        unreachable!()
    }

    fn stopped(&self, ran: &Ran, cut: usize) {
        assert!([0, 3].contains(&ran.code), "{cut}: {}{}", ran.stdout, ran.stderr);
        assert!(self.0.github.commits().len() <= 1, "{cut}");
    }

    fn finished(&self, ran: &Ran, cut: usize) {
        assert_eq!((ran.code, self.0.github.commits().len()), (0, 1), "{cut}: {}{}", ran.stdout, ran.stderr);
        let head = self.0.github.head("changes").unwrap();
        let statuses = self.0.github.statuses(&head);
        assert!(
            statuses.last().is_some_and(|last| last.starts_with("success approved by alice")),
            "{cut}: {statuses:?}"
        );
        assert_eq!(self.0.github.labels(), [LABEL], "{cut}: {}", ran.stdout);
    }
}

fn bumps() {
    at_each_request(|| {
        let Approval { story, .. } = Approval::new("alice");
        story.github.commit(&head_sha(), &story.checkout);
        let job = story.job("pull_request.labeled", "alice", 20).input("mode", "approve");
        assert_eq!(job.input("rerun", "false").runs().code, 0);
        Bump(story)
    });
}

/// The pull request with the moved baseline of the default branch.
struct BaselinePull {
    repository: Repository,
    github: super::Standin,
}

impl Play for BaselinePull {
    fn github(&self) -> &super::Standin {
        &self.github
    }

    fn job(&self) -> Ran {
        let mut job = Job::new(&self.repository, &self.github, "push", "push").input("mode", "baseline-pr");
        job.event["repository"]["default_branch"] = json!("master");
        let commit = base_sha();
        job.variable("GITHUB_REF", "refs/heads/master").variable("GITHUB_SHA", &commit).runs()
    }

    fn stopped(&self, ran: &Ran, cut: usize) {
        assert!([0, 3].contains(&ran.code), "{cut}: {}{}", ran.stdout, ran.stderr);
        assert!(self.github.open_pulls().len() <= 2, "{cut}");
    }

    fn finished(&self, ran: &Ran, cut: usize) {
        assert_eq!(ran.code, 0, "{cut}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(self.github.open_pulls(), [2, 3], "{cut}: {}", ran.stdout);
        let head = self.github.head("goldgate/baseline").unwrap();
        let written = String::from_utf8(self.github.read_at(&head, BASELINE)).unwrap();
        assert!(written.contains("\"f1_score\": 0.5"), "{cut}: {written}");
    }
}

fn one_of_each() {
    at_each_request(|| {
        let Story { checkout, github, .. } = Story::new();
        for file in FILES.iter().chain(&[BASELINE]) {
            github.file(file, &github.text(file));
        }
        let mut job = Job::new(&checkout, &github, "push", "push").input("blocking", "false");
        job.event["repository"]["default_branch"] = json!("master");
        let commit = base_sha();
        let ran = job.variable("GITHUB_REF", "refs/heads/master").variable("GITHUB_SHA", &commit).runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        BaselinePull { repository: checkout, github }
    });
    at_each_request(|| {
        let fork = super::publish::Fork::new(true);
        fork.uploads(Some(fork.artifact()));
        Published(fork)
    });
}

/// The comment on a fork's run.
struct Published(super::publish::Fork);

impl Play for Published {
    fn github(&self) -> &super::Standin {
        &self.0.github
    }

    fn job(&self) -> Ran {
        self.0.job().runs()
    }

    fn stopped(&self, ran: &Ran, cut: usize) {
        assert!([0, 3].contains(&ran.code), "{cut}: {}{}", ran.stdout, ran.stderr);
    }

    fn finished(&self, ran: &Ran, cut: usize) {
        assert_eq!(ran.code, 0, "{cut}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(self.0.github.bodies(BOT).len(), 1, "{cut}");
    }
}
