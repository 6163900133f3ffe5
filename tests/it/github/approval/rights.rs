//! What a job may not do, and what it then says.

use super::*;

pub fn fork() {
    let story = Story::new();
    story.gate(7);
    story.github.fork();
    story.labeled("alice");
    assert_eq!(story.graded(8).code, 0, "the approval does not count");
}

pub fn carried() {
    let story = Story::new();
    story.checkout.stamp_unless_kept();
    story.checkout.goldgate(&["run", "--update-baseline"]);
    story
        .github
        .file_at(&head_sha(), BASELINE, &story.checkout.read(BASELINE));
    assert_eq!(
        story.gate(7).code,
        1,
        "the pull request's own baseline was believed"
    );
    story.github.describe(2, "");
    story.labeled("alice");
    assert_eq!(story.graded(8).code, 0);
    // An approved baseline that says more than was measured is held against the result.
    let story = Story::new();
    let higher = story.checkout.read(BASELINE);
    let higher = higher.replace("\"finding_precision\": 1.0", "\"finding_precision\": 0.9");
    story.checkout.write(BASELINE, &higher);
    story.github.file_at(&head_sha(), BASELINE, &higher);
    story.gate(7);
    story.labeled("alice");
    assert_eq!(story.graded(8).code, 1);
}

pub fn permissions() {
    type Act = fn(&Story) -> Ran;
    let label: Act = |story| story.labeled("alice");
    let read: Act = |story| story.labeled("mallory");
    for (permission, act, warned) in [
        ("statuses: write", label, "`statuses: write`"),
        ("statuses: read", label, "`statuses: write`"),
        ("actions: read", label, "`actions: read`"),
        ("pull-requests: write", read, "`pull-requests: write`"),
    ] {
        let story = Story::new();
        story.gate(7);
        story.github.deny(permission);
        let ran = act(&story);
        let warnings: Vec<&str> = ran
            .stdout
            .lines()
            .filter(|line| line.starts_with("::warning"))
            .collect();
        assert!(
            !warnings.is_empty() && warnings.iter().all(|line| line.contains(warned)),
            "{permission}: {}",
            ran.stdout
        );
        assert_eq!(ran.code, 3, "{permission}");
        story.github.change_denied(false);
        assert_eq!(story.graded(9).code, 1, "{permission}");
    }
}

pub fn unread_statuses() {
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    story.github.deny("statuses: read");
    let ran = story.graded(8);
    assert_eq!(ran.code, 1);
    assert!(
        story
            .report()
            .contains("the job needs the permission `statuses: read`"),
        "{}",
        story.report()
    );
}

pub fn token() {
    let story = Story::new();
    let mut written = String::new();
    let mut keep = |ran: Ran| written.push_str(&format!("{}{}", ran.stdout, ran.stderr));
    keep(story.gate(7));
    keep(story.labeled("mallory"));
    keep(story.labeled("alice"));
    story.github.break_storage(true);
    keep(story.approve("alice"));
    story.github.deny("statuses: read");
    keep(story.approve("alice"));
    written.push_str(&story.comment());
    for file in [".runner/output", ".runner/summary"] {
        written.push_str(&story.elsewhere.read(file));
    }
    for secret in ["secret-token-of-the-test", "of-the-storage"] {
        assert!(!written.contains(secret), "{secret}: {written}");
    }
    assert!(
        story
            .github
            .tokens()
            .iter()
            .all(|token| token == "Bearer secret-token-of-the-test")
    );
    assert!(story.github.leaks().is_empty());
}
