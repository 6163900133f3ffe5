//! What a job may not do, and what it then says.

use super::*;

pub fn fork() {
    let story = Story::new();
    story.gate(7);
    story.github.fork();
    story.labeled("alice");
    assert_eq!(story.graded(8).code, 0, "the approval does not count");
    let ran = story.bump();
    assert!(story.github.commits().is_empty(), "{}", ran.stdout);
    let comment = story.comment();
    assert!(
        comment.contains("`goldgate run --update-baseline`")
            && comment.contains("`mode: baseline-pr`"),
        "{comment}"
    );
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
    let ran = story.bump();
    assert!(
        ran.stdout
            .contains("the head already has the approved numbers"),
        "{}",
        ran.stdout
    );
    assert!(story.github.commits().is_empty());
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
    let bump: Act = |story| {
        story.github.change_denied(false);
        story.labeled("alice");
        story.github.change_denied(true);
        story.bump()
    };
    for (permission, act, warned) in [
        ("statuses: write", label, "`statuses: write`"),
        ("statuses: read", label, "`statuses: write`"),
        ("actions: read", label, "`actions: read`"),
        ("pull-requests: write", read, "`pull-requests: write`"),
        ("contents: write", bump, "`contents: write`"),
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
        assert!(story.github.commits().is_empty());
        story.github.change_denied(false);
        assert_eq!(
            story.graded(9).code == 0,
            permission == "contents: write",
            "{permission}"
        );
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

pub fn by_hand() {
    for refuse in [Standin::refuse_dispatches as fn(&Standin), |github| {
        github.deny("actions: write")
    }] {
        let story = Story::new();
        story.gate(7);
        story.labeled("alice");
        refuse(&story.github);
        let ran = story.bump();
        assert_eq!(
            (ran.code, story.github.commits().len()),
            (0, 1),
            "{}",
            ran.stdout
        );
        let comment = story.comment();
        assert!(
            comment.contains("close and reopen this pull request"),
            "{comment}"
        );
        assert!(
            comment.contains("\"Run workflow\" of goldgate.yml"),
            "{comment}"
        );
    }
}

pub fn token() {
    let story = Story::new();
    let mut written = String::new();
    let mut keep = |ran: Ran| written.push_str(&format!("{}{}", ran.stdout, ran.stderr));
    keep(story.gate(7));
    keep(story.labeled("mallory"));
    keep(story.labeled("alice"));
    keep(story.bump());
    story.github.deny("statuses: read");
    keep(story.approve("alice"));
    keep(story.bump());
    written.push_str(&story.comment());
    written.push_str(&format!("{:?}", story.github.commits()));
    written.push_str(&story.elsewhere.read(".runner/output"));
    assert!(!written.contains("secret-token-of-the-test"));
    assert!(
        story
            .github
            .tokens()
            .iter()
            .all(|token| token == "Bearer secret-token-of-the-test")
    );
    assert!(story.github.leaks().is_empty());
}
