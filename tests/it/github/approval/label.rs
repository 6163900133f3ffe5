//! The label itself, and the reason that a worse number needs.

use super::*;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a run whose result can be approved creates the label, once and with a description",
            by_run,
        ),
        trial(
            "the approval's job creates the label before anybody needs it",
            by_approval,
        ),
        trial(
            "a label that cannot be created is a notice, and the verdict stays",
            denied,
        ),
        trial(
            "a label on a commit without a result stays, and has to be set again",
            early,
        ),
        trial(
            "a worse number is asked for its reason, with a line to copy",
            reason,
        ),
        trial(
            "what the approval's job decides is logged in plain English",
            logged,
        ),
    ]
}

/// A fresh repository does not have the label (findings: nobody creates it, and a triager cannot).
fn by_run() {
    let story = Story::new();
    for run in [7, 8] {
        assert_eq!(story.gate(run).code, 1);
    }
    let created = story.github.created_labels();
    assert_eq!(
        (created.len(), &created[0]["name"]),
        (1, &json!(LABEL)),
        "{created:?}"
    );
    assert!(
        created[0]["description"]
            .as_str()
            .unwrap()
            .starts_with("goldgate: accept"),
        "{created:?}"
    );
    // Nothing to approve, nothing to create.
    let story = Story::new();
    story.checkout.write(RUN, crate::repository::RUN);
    story
        .checkout
        .write("prompts/legal.md", story.github.text("prompts/legal.md"));
    assert_eq!(story.gate(7).code, 0);
    assert_eq!(story.github.created_labels(), Vec::<Value>::new());
}

fn by_approval() {
    let story = Story::new();
    for _ in 0..2 {
        let ran = story
            .job("pull_request.opened", "alice", 20)
            .input("mode", "approve")
            .runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
    assert_eq!(story.github.created_labels().len(), 1);
    // Somebody created it by hand, in other letters.
    let story = Story::new();
    story.github.label_by("alice", "Goldgate:Accept-Baseline");
    story.github.unlabel("Goldgate:Accept-Baseline");
    story
        .job("pull_request.opened", "alice", 20)
        .input("mode", "approve")
        .runs();
    assert_eq!(story.github.created_labels(), Vec::<Value>::new());
}

fn denied() {
    let story = Story::new();
    story.github.deny("pull-requests: write");
    let ran = story.graded(7);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let wanted = "::notice title=goldgate::the label goldgate:accept-baseline cannot be created; create it by hand: \
                  the job needs the permission `pull-requests: write`";
    assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
}

/// The label comes first, then the result: nobody can have seen it (contract, "Approval by label", 2).
fn early() {
    let story = Story::new();
    story.labeled("alice");
    story.has_no_result();
    story.gate(7);
    let ran = story.approve("alice");
    story.is_refused(&ran, "is newer than the label");
    story.labeled("alice");
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
}

fn reason() {
    let line = "\n    Goldgate-Reason: why the worse number is right\n";
    let story = Story::new();
    story.github.describe(2, "");
    story.gate(7);
    assert!(story.comment().contains(line), "{}", story.comment());
    story.labeled("alice");
    assert_eq!(
        story.comment().matches(line).count(),
        2,
        "{}",
        story.comment()
    );
    // With a reason the approval asks for nothing.
    let story = Story::new();
    story.gate(7);
    story.labeled("alice");
    assert_eq!(
        story.comment().matches(line).count(),
        1,
        "{}",
        story.comment()
    );
}

fn logged() {
    let story = Story::new();
    story.gate(7);
    let ran = story.labeled("mallory");
    assert!(
        ran.stdout
            .contains("goldgate: do not approve: mallory has the permission read here"),
        "{}",
        ran.stdout
    );
    let ran = story.labeled("alice");
    assert!(
        ran.stdout
            .contains("goldgate: approve ec26c3e: approved by alice; result "),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("goldgate: run 7: started again"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains('{'), "{}", ran.stdout);
    let summary = story
        .elsewhere
        .read(".runner/summary")
        .replace("&#8288;", "")
        .replace("&#58;", ":");
    assert!(
        summary.contains("- approve ec26c3e: approved by alice")
            && summary.contains("- run 7: started again"),
        "{summary}"
    );
}
