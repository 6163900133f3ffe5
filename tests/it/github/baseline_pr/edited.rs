//! The baseline's pull request after somebody touched it by hand: its branch, its description, its state.

use libtest_mimic::Trial;

use super::{BASELINE, BRANCH, Merged};
use crate::github::RUN;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a baseline pull request whose branch is updated with the default branch stays green by itself",
            updated,
        ),
        trial(
            "a number that somebody edits in the baseline pull request is replaced by the next run",
            replaced,
        ),
        trial(
            "other changes in the baseline pull request are judged like those of any pull request",
            other_changes,
        ),
        trial(
            "a label on an edited baseline pull request is of what was shown",
            labeled,
        ),
        trial(
            "other files that somebody commits to the baseline pull request stay in it",
            other_files,
        ),
    ]
}

impl Merged {
    /// Somebody pushes a commit to its branch, with this baseline.
    fn edited(&mut self, from: &str, to: &str) {
        let (before, after) = (self.own.head.clone(), "c".repeat(40));
        let text = self.own.checkout.read(BASELINE);
        assert!(text.contains(from), "{text}");
        let github = &self.trunk.github;
        github.parents(&after, &[&before]);
        github.branch(BRANCH, &after);
        github.file_at(&after, BASELINE, &text.replace(from, to));
        self.check_out();
    }
}

/// The button "Update branch" merges the default branch into it.
fn updated() {
    let mut merged = Merged::new();
    let (tip, after) = ("d".repeat(40), "c".repeat(40));
    let (trunk, own) = (&merged.trunk, &merged.own);
    let github = &trunk.github;
    trunk.main.write("README.md", "# Agents\n");
    own.checkout.write("README.md", "# Agents\n");
    github.commit(&tip, &trunk.main);
    github.parents(&tip, &[&github.head("master").unwrap()]);
    github.branch("master", &tip);
    github.parents(&after, &[&own.head, &tip]);
    github.branch(BRANCH, &after);
    github.file_at(&after, BASELINE, &own.checkout.read(BASELINE));
    merged.check_out();
    merged.is_green();
    // With other numbers on the default branch it is not what is measured there.
    for checkout in [&merged.trunk.main, &merged.own.checkout] {
        let more = "{\"category\": \"a\"}, {\"category\": \"z\"},";
        checkout.replace(RUN, "{\"category\": \"a\"},", more);
    }
    merged.trunk.github.commit(&tip, &merged.trunk.main);
    assert_eq!(merged.gate().code, 1);
    merged.pushed();
    // They fail a hard gate, and nobody approved that, so they are not written.
    assert_eq!(merged.own.head, after);
}

fn replaced() {
    let mut merged = Merged::new();
    let first = merged.own.checkout.read(BASELINE);
    merged.edited("\"f1_score\": 0.5", "\"f1_score\": 0.1");
    assert_eq!(merged.gate().code, 1);
    merged.pushed();
    assert_eq!(merged.own.checkout.read(BASELINE), first);
    merged.is_green();
    assert_eq!(merged.trunk.github.open_pulls(), [3]);
}

fn other_files() {
    let mut merged = Merged::new();
    merged.edited("\"f1_score\": 0.5", "\"f1_score\": 0.1");
    let edited = merged.own.head.clone();
    let github = &merged.trunk.github;
    github.file_at(&edited, "README.md", "# Agents\n");
    github.describe(3, &format!("See #12.\n\n{}", github.description(3)));
    merged.pushed();
    let (github, head) = (&merged.trunk.github, &merged.own.head);
    assert_ne!(*head, edited);
    assert_eq!(github.read_at(head, "README.md"), b"# Agents\n");
    let written = merged.own.checkout.read(BASELINE);
    assert!(written.contains("\"f1_score\": 0.5"), "{written}");
    let body = github.description(3);
    assert!(body.starts_with("See #12.\n\n<!--"), "{body}");
}

/// What the gate does not read is not its business; what it reads is.
fn other_changes() {
    let merged = Merged::new();
    merged.own.checkout.write("README.md", "# Agents\n");
    merged.is_green();
    let changes: [(&str, &str, &str); 3] = [
        (
            "goldgate.yaml",
            "    path: golden\n",
            "    path: golden\n    gates: { f1_score: { off: true, reason: none } }\n",
        ),
        (
            "golden/expected/legal/lease.json",
            "\"max_expected_findings\": 3",
            "\"max_expected_findings\": 9",
        ),
        (
            RUN,
            "{\"category\": \"a\"},",
            "{\"category\": \"a\"}, {\"category\": \"z\"},",
        ),
    ];
    for (file, from, to) in changes {
        let merged = Merged::new();
        merged.own.checkout.replace(file, from, to);
        let ran = merged.gate();
        assert_eq!(ran.code, 1, "{file}: {}{}", ran.stdout, ran.stderr);
    }
}

/// Somebody edits it, alice approves what is shown, and somebody edits it again.
fn labeled() {
    let mut merged = Merged::new();
    merged.edited("\"finding_count\": 3", "\"finding_count\": 7");
    merged.trunk.is_approved(&merged.own);
    let body = merged.trunk.github.bodies_on(3).remove(0);
    assert!(body.contains("baseline edited"), "{body}");
    let checkout = &merged.own.checkout;
    checkout.replace(BASELINE, "\"finding_count\": 7", "\"finding_count\": 30");
    merged.own.head = "7".repeat(40);
    merged.trunk.github.branch(BRANCH, &merged.own.head);
    assert_eq!(merged.gate().code, 1);
}
