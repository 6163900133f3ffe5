//! A repository that was renamed after the job began: GitHub redirects its old name.

use libtest_mimic::Trial;

use super::Job;
use super::approval::Story;
use crate::repository::Repository;
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
    assert_eq!(story.gate(7).code, 1);
    // A second run changes the comment, takes the label away, and starts the first run again.
    story.is_refused(
        &story.labeled("Codertocat", 8),
        "Codertocat has the permission read",
    );
    let ran = story.labeled("alice", 9);
    story.is_approved(&ran, "alice");
    assert!(!ran.stdout.contains("::warning"), "{}", ran.stdout);
    assert_eq!(story.github.reruns(), [8, 7]);
    let workspace = Repository::empty();
    let event = "pull_request_target";
    let job = Job::new(&workspace, &story.github, "pull_request.opened", event);
    let ran = job.runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    // The storage behind the downloads still gets no token.
    assert_eq!(story.github.leaks(), Vec::<String>::new());
}

fn other_host() {
    let story = Story::new();
    story.github.rename("localhost");
    let ran = story.gate(7);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let asked = story.github.requests();
    assert!(
        asked
            .iter()
            .all(|request| !request.contains("/repositories/")),
        "{asked:?}"
    );
}
