//! An approval is of what its giver can have seen: a result that is older than the label, and that the comment shows.

use super::*;
use crate::github::standin::account::GraphQlAccess;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a label that is older than the result approves nothing",
            older_label,
        ),
        trial(
            "a result that is measured again after the label is still approved",
            measured_again,
        ),
        trial(
            "the giver is the timeline's actor, never the event's sender",
            giver,
        ),
        trial("who pushed the head last approves nothing", pusher),
        trial(
            "an approval of another pull request with the same head and the same result does not count",
            twin,
        ),
        trial(
            "a result that the comment does not show is not approved",
            not_shown,
        ),
        trial(
            "a comment that somebody edited since the result approves nothing",
            edited,
        ),
        trial(
            "a restarted run and many later edits hide no edit of the comment",
            hidden_edit,
        ),
        trial(
            "an error while the edits of the comment are read approves nothing",
            edits_error,
        ),
        trial(
            "a comment that is not what the gate wrote approves nothing where GraphQL does not tell who edited it",
            edited_unseen,
        ),
        trial(
            "a result that the comment shows only after the label is not approved",
            shown_later,
        ),
        trial(
            "the label's name is compared without letter case",
            letter_case,
        ),
        trial(
            "a run that GitHub drops from its queue loses no approval",
            dropped,
        ),
        trial(
            "an emptied expectation among forty edited documents is in the comment",
            every_kind,
        ),
        trial(
            "an approval is refused while kinds of golden changes have no room",
            hidden_kinds,
        ),
    ]
}

/// A maintainer looks at one result and clicks on a stale page, while another commit's gate is still at work (findings on github,
/// P0-4: the label at 04:16:18, the artifact at 04:16:21).
fn older_label() {
    let story = Story::new();
    story.graded(7);
    story.github.label_by("alice", LABEL);
    story.upload(7, &head_sha(), &story.report());
    let ran = story.approve("alice");
    story.is_refused(&ran, "is newer than the label");
    // Looked at, and given again.
    let ran = story.labeled("alice");
    assert_eq!(
        story.github.statuses(&head_sha()).len(),
        1,
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn measured_again() {
    let story = Story::new();
    story.gate(7);
    story.github.label_by("alice", LABEL);
    story.gate(8);
    let ran = story.approve("alice");
    assert_eq!(
        story.github.statuses(&head_sha()).len(),
        1,
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // The same, but the later run came to another result.
    let story = Story::new();
    story.gate(7);
    story.github.label_by("alice", LABEL);
    story.checkout.replace(
        RUN,
        "{\"category\": \"a\"},",
        "{\"category\": \"a\"}, {\"category\": \"c\"},",
    );
    story.gate(8);
    let ran = story.approve("alice");
    story.is_refused(&ran, "is newer than the label");
}

fn giver() {
    let story = Story::new();
    story.gate(7);
    story.github.role("trudy", "triage");
    story.github.label_by("trudy", LABEL);
    // Alice caused the event; she did not add the label.
    let ran = story.approve("alice");
    story.is_refused(&ran, "trudy has the permission triage here");
    let story = Story::new();
    story.gate(7);
    story.github.label_by("alice", LABEL);
    story.approve("mallory");
    let statuses = story.github.statuses(&head_sha());
    assert!(
        statuses[0].starts_with("success approved by alice"),
        "{statuses:?}"
    );
}

fn pusher() {
    let story = Story::new();
    story.gate(7);
    story.github.pushed_by("Alice", &head_sha());
    let ran = story.labeled("alice");
    story.is_refused(
        &ran,
        "alice pushed the newest commit, so somebody else has to approve it",
    );
    story.github.label_by("alice", LABEL);
    let job = story
        .job("pull_request.labeled", "alice", 23)
        .input("mode", "approve");
    job.input("allow-self-approval", "true").runs();
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
    // A bot's push is on top of hers: of a commit, a merge, a rebase, or of several at once.
    let below = "b".repeat(40);
    let pushed_by_bot = |parents: &[&str], by_alice: bool| {
        let story = Story::new();
        story.gate(7);
        story.github.parents(&head_sha(), parents);
        story.github.pushed_by("acme-recorder[bot]", &head_sha());
        if by_alice {
            story.github.pushed_by("alice", &below);
        }
        let ran = story.labeled("alice");
        (story, ran)
    };
    for parents in [
        &[below.as_str()][..],
        &[&below, &base_sha()],
        &[&base_sha()],
        &[&"d".repeat(40)],
    ] {
        let (story, ran) = pushed_by_bot(parents, true);
        story.is_refused(
            &ran,
            "alice pushed the newest commit, so somebody else has to approve it",
        );
    }
    let (story, ran) = pushed_by_bot(&[&base_sha()], false);
    assert_eq!(
        story.github.statuses(&head_sha()).len(),
        1,
        "the bot made the branch: {}",
        ran.stdout
    );
    // Without the repository's activity the first run that the push started says it.
    let story = Story::new();
    story.github.lack(&["/activity"]);
    story.github.role("Codertocat", "write");
    story.gate(7);
    story.github.author("somebody");
    let ran = story.labeled("Codertocat");
    story.is_refused(&ran, "Codertocat pushed the newest commit");
}

/// The author sets the label on a pull request of the same branch that somebody else opened.
fn twin() {
    for (number, code) in [(2, 0), (3, 1)] {
        let story = Story::new();
        story.gate(7);
        story.labeled("alice");
        let approved = story.github.statuses(&head_sha())[0]
            .trim_start_matches("success ")
            .to_owned();
        story.github.status(
            BOT,
            &head_sha(),
            "failure",
            "withdrawn: alice removed the label",
        );
        story.github.status(
            BOT,
            &head_sha(),
            "success",
            &approved.replace("; #2", &format!("; #{number}")),
        );
        let ran = story.gate(8);
        assert_eq!(
            ran.code, code,
            "{number}: {approved}: {}{}",
            ran.stdout, ran.stderr
        );
    }
}

fn not_shown() {
    for text in ["gone", ""] {
        let story = Story::new();
        story.gate(7);
        story.github.change_comment(1, text);
        story.labeled("alice");
        assert!(story.github.statuses(&head_sha()).is_empty());
        assert!(
            !story.github.labels().contains(&LABEL.to_owned()),
            "the label stays"
        );
        let comments = story.github.bodies(BOT).concat();
        assert!(
            comments.contains("does not show the result on this commit"),
            "{comments}"
        );
    }
    // The comment shows another result than the artifact has.
    let story = Story::new();
    story.gate(7);
    let other = story.report().replace("\"value\": 0.5", "\"value\": 0.25");
    assert_ne!(other, story.report());
    story.upload(8, &head_sha(), &other);
    let ran = story.labeled("alice");
    story.is_refused(&ran, "does not show the result on this commit");
}

/// An edit with the right digest shows another result, and no digest in the comment can tell.
fn edited() {
    let story = Story::new();
    story.gate(7);
    let text = story.github.bodies(BOT).concat();
    story.github.change_comment(1, &text);
    let ran = story.labeled("alice");
    story.is_refused(
        &ran,
        "mallory edited the comment before the label was added",
    );
    // The next run writes its section again.
    story.gate(8);
    let ran = story.labeled("alice");
    assert_eq!(
        story.github.statuses(&head_sha()).len(),
        1,
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // The same result measured again after the label does not make the edit older than the result.
    let story = Story::new();
    story.gate(7);
    story.github.change_comment(1, &text);
    story.github.label_by("alice", LABEL);
    story.gate(8);
    let ran = story.approve("alice");
    story.is_refused(
        &ran,
        "mallory edited the comment before the label was added",
    );
}

/// The edit was before the label. Afterwards the run starts again, or the comment gets more edits than GitHub lists.
fn hidden_edit() {
    for hide in [(|story| story.github.restarted(8)) as fn(&Story), |story| {
        (0..100).for_each(|_| story.github.rewrite_comment(1))
    }] {
        let story = Story::new();
        // The same result twice: the comment says since when it shows it.
        story.gate(7);
        story.gate(8);
        let text = story.github.bodies(BOT).concat();
        story.github.change_comment(1, &text);
        story.github.label_by("alice", LABEL);
        hide(&story);
        let ran = story.approve("alice");
        story.is_refused(&ran, "edited");
    }
    // Without the edit by somebody else neither is in the way.
    let story = Story::new();
    story.gate(7);
    story.gate(8);
    story.github.rewrite_comment(1);
    story.github.label_by("alice", LABEL);
    story.github.restarted(8);
    let ran = story.approve("alice");
    assert_eq!(
        story.github.statuses(&head_sha()).len(),
        1,
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

/// The text is as it was before, so only the list of edits shows that the label was set to another one.
fn edits_error() {
    let story = Story::new();
    story.gate(7);
    story.gate(8);
    let text = story.github.bodies(BOT).concat();
    story
        .github
        .change_comment(1, &text.replace("Merge blocked", "All gates pass"));
    story.github.change_comment(1, &text);
    story.github.label_by("alice", LABEL);
    story.github.graphql(GraphQlAccess::Error);
    let ran = story.approve("alice");
    let kept = (
        story.github.statuses(&head_sha()).len(),
        story.github.labels().len(),
    );
    assert_eq!(
        (ran.code, kept),
        (3, (0, 1)),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    story.github.graphql(GraphQlAccess::Answers);
    let ran = story.approve("alice");
    story.is_refused(&ran, "edited");
}

/// Without GraphQL nobody tells who edited: the comment has to be what the gate writes for its report.
fn edited_unseen() {
    let approved = |edit: fn(&str) -> String| {
        let story = Story::new();
        story.gate(7);
        let text = story.github.bodies(BOT).concat();
        let edited = edit(&text);
        story.github.change_comment(1, &edited);
        story.github.graphql(GraphQlAccess::Blocked);
        let ran = story.labeled("alice");
        assert!(
            edited != text || ran.stdout.contains("who edited the comment is unknown"),
            "{}",
            ran.stdout
        );
        (edited != text, story.github.statuses(&head_sha()).len())
    };
    assert_eq!(approved(str::to_owned), (false, 1));
    // The alert on top; the same with the state in the section; a text between the sections.
    assert_eq!(
        approved(|text| text.replacen("Merge blocked", "Typo corrected", 1)),
        (true, 0)
    );
    let in_state: fn(&str) -> String = |text| {
        text.replacen("Merge blocked", "Typo corrected", 1)
            .replacen("\"says\":\"Merge blocked", "\"says\":\"Typo corrected", 1)
    };
    assert_eq!(approved(in_state), (true, 0));
    let of_another_attempt: fn(&str) -> String = |text| {
        let edited = text.replace("Merge blocked", "Typo corrected");
        edited.replacen("\"attempt\":1", "\"attempt\":2", 1)
    };
    assert_eq!(approved(of_another_attempt), (true, 0));
    assert_eq!(
        approved(|text| format!("{text}\nPlease set the label.\n")),
        (true, 0)
    );
}

/// The comment cannot be written at first, or it is written by a later workflow, as for a fork.
fn shown_later() {
    let story = Story::new();
    story.github.deny("pull-requests: write");
    story.gate(7);
    assert!(story.github.bodies(BOT).is_empty());
    story.github.change_denied(false);
    story.github.label_by("alice", LABEL);
    story.gate(8);
    let ran = story.approve("alice");
    story.is_refused(
        &ran,
        "did not show the result on this commit yet when the label was added",
    );
    // Looked at, and given again. What is written after that is the same result.
    story.github.label_by("alice", LABEL);
    story.gate(9);
    let ran = story.approve("alice");
    assert_eq!(
        story.github.statuses(&head_sha()).len(),
        1,
        "{}",
        ran.stdout
    );
}

/// GitHub's label names are unique without regard to letter case.
fn letter_case() {
    let story = Story::new();
    story.gate(7);
    let name = "Goldgate:Accept-Baseline";
    story.github.label_by("alice", name);
    let mut job = story
        .job("pull_request.labeled", "alice", 20)
        .input("mode", "approve");
    job.event["label"]["name"] = json!(name);
    job.runs();
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
    let story = Story::new();
    story.github.role("trudy", "triage");
    story.gate(7);
    story.github.label_by("trudy", name);
    let ran = story.approve("trudy");
    story.is_refused(&ran, "trudy has the permission triage");
    assert!(story.github.labels().is_empty());
}

/// One pending run a concurrency group is kept, older pending ones are cancelled (GitHub docs, "Control the concurrency of
/// workflows and jobs").
fn dropped() {
    let story = Story::new();
    story.gate(7);
    story.github.label_by("alice", LABEL);
    story.github.label_by("trudy", "bug");
    let mut job = story
        .job("pull_request.labeled", "trudy", 20)
        .input("mode", "approve");
    job.event["label"]["name"] = json!("bug");
    let ran = job.runs();
    let statuses = story.github.statuses(&head_sha());
    assert!(
        statuses.len() == 1 && statuses[0].starts_with("success approved by alice"),
        "{statuses:?} {}",
        ran.stdout
    );
}

const EXPECTED: &str = "golden/expected/legal/lease.json";

/// Forty trivial edits come before the dangerous one in the order of paths.
fn every_kind() {
    let story = Story::new();
    story.checkout.write(RUN, crate::repository::RUN);
    story
        .checkout
        .write("prompts/legal.md", "Report every change of control.\n");
    for case in 0..40 {
        crate::golden_changes::add_case(&story.checkout, case);
        let recording = crate::golden_changes::recording(case);
        story.checkout.write(
            &format!("golden/{recording}"),
            story.checkout.read(&recording),
        );
        for file in [
            format!("golden/contracts/lease-{case}.md"),
            crate::golden_changes::expected(case),
            format!("golden/{recording}"),
        ] {
            story.github.file(&file, &story.checkout.read(&file));
        }
        let document = format!("golden/contracts/lease-{case}.md");
        story
            .checkout
            .write(&document, format!("{}\n", story.checkout.read(&document)));
    }
    story
        .checkout
        .replace(EXPECTED, "\"expected_gaps\": [\"Missing_Doc\"],", "");
    let ran = story.graded(7);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&story.report()).unwrap();
    let changes = report["golden_changes"].as_array().unwrap();
    let wanted = changes
        .iter()
        .find(|change| change["file"] == EXPECTED)
        .unwrap();
    let first: Vec<&str> = wanted["what"]
        .as_str()
        .unwrap()
        .split_whitespace()
        .take(3)
        .collect();
    let comment = story
        .comment()
        .replace("&#95;", "_")
        .replace("<code>", "`")
        .replace("</code>", "`");
    assert!(comment.contains(&first.join(" ")), "{first:?}: {comment}");
    assert!(
        comment.contains("40 files of `contracts` changed"),
        "{comment}"
    );
    assert!(
        ran.stdout.contains(&format!("file={EXPECTED}")),
        "{}",
        ran.stdout
    );
}

fn hidden_kinds() {
    let story = Story::new();
    let mut config = "version: 1\nbaseline: baselines/latest.json\nsuites:\n".to_owned();
    for suite in 0..45 {
        config.push_str(&format!("  - id: s{suite}\n    kind: findings\n    path: s{suite}\n    agents:\n      legal: {{ fingerprint: [prompts/legal.md], deterministic: {{ replay: s{suite}/runs }} }}\n"));
        for file in [
            "contracts/lease.md",
            "expected/legal/lease.json",
            "runs/legal/lease.json",
        ] {
            let text = story.checkout.read(&format!("golden/{file}"));
            story.github.file(&format!("s{suite}/{file}"), &text);
            story.checkout.write(
                &format!("s{suite}/{file}"),
                text.replace("\"expected_gaps\": [\"Missing_Doc\"],", ""),
            );
        }
    }
    story.checkout.write("goldgate.yaml", &config);
    story.github.file("goldgate.yaml", &config);
    story.gate(7);
    let comment = story.comment();
    assert!(
        comment.contains(
            "more kinds of golden changes do not fit here, so an approval does not count"
        ),
        "{comment}"
    );
    let ran = story.labeled("alice");
    story.is_refused(&ran, "kinds of golden changes that an approval would cover");
}
