//! A repository that was renamed after the job began: GitHub redirects its old name.

use libtest_mimic::Trial;

use super::approval::Story;
use super::{Job, head_sha};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the redirects of a renamed repository are followed",
            followed,
        ),
        trial("no redirect sends the token to another host", other_host),
    ]
}

const API: &str = "127.0.0.1";

fn followed() {
    let story = Story::new();
    story.has_merge();
    story.github.rename(API);
    let ran = story.gate(7);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    // A second run changes the comment.
    let ran = story.gate(8);
    assert!(
        ran.code == 1 && !ran.stdout.contains("::warning"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(story.github.statuses(&head_sha())[0].starts_with("success approved by alice"));
    assert_eq!(story.github.reruns().len(), 1);
    let job = Job::new(
        &story.elsewhere,
        &story.github,
        "pull_request.opened",
        "pull_request_target",
    );
    let ran = job.input("mode", "trusted").runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // The storage behind the downloads still gets no token.
    assert_eq!(story.github.leaks(), Vec::<String>::new());
}

fn other_host() {
    let story = Story::new();
    story.github.rename("localhost");
    let ran = story.graded(7);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let asked = story.github.requests();
    assert!(
        asked
            .iter()
            .all(|request| !request.contains("/repositories/")),
        "{asked:?}"
    );
}
