//! Labels: approvals and withdrawals.

use super::{Play, at_each_request};
use crate::github::approval::{LABEL, Story};
use crate::github::head_sha;
use crate::github::standin::Standin;
use crate::repository::Ran;

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
    story
        .github
        .statuses(&head_sha())
        .last()
        .is_some_and(|last| last.starts_with("success approved by"))
}

impl Play for Approval {
    fn github(&self) -> &Standin {
        &self.story.github
    }

    fn job(&self) -> Ran {
        self.story.approve(self.by)
    }

    fn stopped(&self, ran: &Ran, cut: &str) {
        assert!(
            [0, 3].contains(&ran.code),
            "{cut}: {}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(self.by == "alice" || !is_approved(&self.story), "{cut}");
    }

    fn finished(&self, ran: &Ran, cut: &str) {
        let (story, is_right) = (&self.story, self.by == "alice");
        assert_eq!(ran.code, 0, "{cut}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(is_approved(story), is_right, "{cut}: {}", ran.stdout);
        assert_eq!(
            story.github.labels().is_empty(),
            !is_right,
            "{cut}: {}",
            ran.stdout
        );
        assert_eq!(
            story.github.reruns().len(),
            usize::from(is_right),
            "{cut}: {}",
            ran.stdout
        );
    }
}

pub(super) fn approvals() {
    for by in ["alice", "mallory"] {
        at_each_request(|| Approval::new(by));
    }
}

/// An approval whose label somebody takes away, after the gate passed by it.
struct Withdrawal(Story);

impl Play for Withdrawal {
    fn github(&self) -> &Standin {
        &self.0.github
    }

    fn job(&self) -> Ran {
        self.0
            .job("pull_request.unlabeled", "trudy", 21)
            .input("mode", "approve")
            .runs()
    }

    fn stopped(&self, ran: &Ran, cut: &str) {
        assert!(
            [0, 3].contains(&ran.code),
            "{cut}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }

    fn finished(&self, ran: &Ran, cut: &str) {
        assert_eq!(ran.code, 0, "{cut}: {}{}", ran.stdout, ran.stderr);
        assert!(!is_approved(&self.0), "{cut}");
        let reruns = self.0.github.reruns();
        assert!(
            reruns.len() == 2 && reruns[1].what == "rerun",
            "{cut}: {reruns:?} {}",
            ran.stdout
        );
    }
}

pub(super) fn withdrawals() {
    at_each_request(|| {
        let Approval { story, .. } = Approval::new("alice");
        story.approve("alice");
        story.github.concluded(7, "success");
        story.github.unlabel(LABEL);
        Withdrawal(story)
    });
}
