//! What an approval does not lift: stale and unproven recordings, and fixed limits. And the result stays the same after an approval.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{LABEL, Story};
use crate::github::{RUN, head_sha};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an approval does not lift stale recordings, and is refused with the command that records again",
            stale,
        ),
        trial(
            "an approval does not lift recordings that no run of the record mode left",
            unproven,
        ),
        trial(
            "a result keeps its digest when it is approved, also where a case newly fails",
            same_digest,
        ),
        trial(
            "the invitation to the label names the fixed limits that it does not lift",
            fixed,
        ),
        trial(
            "the headline keeps paths and commands as they are",
            headline,
        ),
    ]
}

/// A story whose agent changed without new recordings.
fn stale_story() -> Story {
    let story = Story::new();
    story.checkout.write(RUN, story.github.text(RUN));
    story.checkout.keep_digests();
    story
}

fn report(story: &Story) -> Value {
    serde_json::from_str(&story.report()).unwrap()
}

/// The approval is refused; and one that was given, such as by an older version, does not lift the reason.
fn is_not_lifted(story: &Story, why: &str) {
    let ran = story.gate(7);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        !story.comment().contains("the label"),
        "{}",
        story.comment()
    );
    assert!(
        report(story)["lasting_reasons"][0]
            .as_str()
            .unwrap()
            .contains(why),
        "{}",
        report(story)
    );
    let ran = story.labeled("alice");
    story.is_refused(&ran, "an approval cannot change that");
    assert!(story.comment().contains(why), "{}", story.comment());
    let mut older = report(story);
    older.as_object_mut().unwrap().remove("lasting_reasons");
    story.upload(7, &head_sha(), &older.to_string());
    let ran = story.labeled("alice");
    let statuses = story.github.statuses(&head_sha());
    assert!(
        statuses
            .iter()
            .any(|status| status.starts_with("success approved by alice")),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = story.gate(8);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(report(story)["approval"]["by"], json!("alice"));
}

fn stale() {
    is_not_lifted(
        &stale_story(),
        "goldgate import PATH… --agent legal --out golden/runs --force",
    );
}

fn unproven() {
    let story = Story::new();
    story.checkout.replace(
        "goldgate.yaml",
        "suites:\n",
        "recordings: { trust: ci }\nsuites:\n",
    );
    story
        .github
        .file("goldgate.yaml", &story.checkout.read("goldgate.yaml"));
    let ran = story.gate(7);
    assert!(
        ran.stdout
            .contains("only the recording workflow may write recordings here"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let lasting = &report(&story)["lasting_reasons"][0];
    assert!(
        lasting
            .as_str()
            .unwrap()
            .contains("only the recording workflow may write recordings here"),
        "{lasting}"
    );
    let ran = story.labeled("alice");
    story.is_refused(&ran, "an approval cannot change that");
}

fn same_digest() {
    let story = Story::new();
    let off = "    path: golden\n    gates: { finding_recall: { off: true, reason: none } }\n";
    story
        .checkout
        .replace("goldgate.yaml", "    path: golden\n", off);
    story
        .github
        .file("goldgate.yaml", &story.checkout.read("goldgate.yaml"));
    story
        .checkout
        .replace(RUN, "Needs prior approval.", "Needs nothing.");
    let newly = |story: &Story| {
        report(story)["suites"][0]["agents"][0]["metrics"]["newly_failing"]["value"].clone()
    };
    assert_eq!(story.gate(7).code, 1);
    assert_eq!(newly(&story), json!(1.0), "{}", report(&story));
    story.labeled("alice");
    let ran = story.gate(7);
    assert_eq!(
        (ran.code, newly(&story)),
        (0, json!(1.0)),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // The artifact of the approved run is the approved result, so the approval stands.
    let ran = story.approve("alice");
    assert!(
        story.github.labels().contains(&LABEL.to_owned()),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        !story.comment().contains("**Not approved**"),
        "{}",
        story.comment()
    );
    assert_eq!(story.github.statuses(&head_sha()).len(), 1);
}

fn fixed() {
    let story = Story::new();
    assert_eq!(story.gate(7).code, 1);
    assert!(
        !story.comment().contains("no approval lifts"),
        "{}",
        story.comment()
    );
    let story = Story::new();
    story
        .checkout
        .replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(story.gate(7).code, 1);
    let wanted = "The check stays red all the same, because no approval lifts a fixed limit: legal finding&#95;recall 0%";
    assert!(story.comment().contains(wanted), "{}", story.comment());
}

fn headline() {
    let story = stale_story();
    story.gate(7);
    let has_headline = || {
        let comment = story.comment();
        let first = comment.lines().nth(1).unwrap();
        let what = "no verdict is possible: contracts/legal: 1 recording is stale.**";
        assert!(first.ends_with(what), "{first}");
        let command = "<code>goldgate import PATH… --agent legal --out golden/runs --force</code>";
        let whole = comment
            .lines()
            .find(|line| line.starts_with("- **No verdict:** "));
        assert!(
            whole.is_some_and(|line| line.contains(command)),
            "{comment}"
        );
    };
    has_headline();
    // A note writes the comment again, from the state that the comment has.
    story.labeled("alice");
    has_headline();
}
