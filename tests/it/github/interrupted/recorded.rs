//! New recordings by a label.

use super::{Play, at_each_request};
use crate::github::record::{LABEL, Recorded};
use crate::github::standin::Standin;
use crate::repository::Ran;

/// A pull request that changes the prompt, with the label.
struct Recording(Recorded);

impl Play for Recording {
    fn github(&self) -> &Standin {
        &self.0.github
    }

    fn job(&self) -> Ran {
        self.0.job().runs()
    }

    fn stopped(&self, ran: &Ran, cut: &str) {
        assert!(
            (0..=3).contains(&ran.code),
            "{cut}: {}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(self.0.github.commits().len() <= 1, "{cut}");
        // Whoever asked for it does not ask again, unless the comment says so.
        let is_over = ran.code == 0
            || self.0.note().contains("add it again")
            || self.0.note().contains("set the label");
        let is_set = self.0.github.labels().contains(&LABEL.to_owned());
        assert!(
            is_set || is_over,
            "{cut}: {}{}{}",
            ran.stdout,
            ran.stderr,
            self.0.note()
        );
    }

    fn finished(&self, ran: &Ran, cut: &str) {
        assert_eq!(ran.code, 0, "{cut}: {}{}", ran.stdout, ran.stderr);
        let github = &self.0.github;
        assert_eq!(
            (github.commits().len(), github.labels()),
            (1, Vec::new()),
            "{cut}: {}",
            ran.stdout
        );
        assert!(!self.0.workspace.path(".goldgate/record").exists(), "{cut}");
        let ran = self.0.gate(&github.head("changes").unwrap());
        assert_eq!(ran.code, 0, "{cut}: {}{}", ran.stdout, ran.stderr);
    }
}

pub(super) fn commits() {
    at_each_request(|| {
        let story = crate::github::record::Recorded::new();
        story.commit();
        story.github.label_by("alice", LABEL);
        Recording(story)
    });
}
