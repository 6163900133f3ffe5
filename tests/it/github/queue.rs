//! A merge group's job: the approval of the pull request whose merge it tests counts for the same result.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::{BASELINE, Story, base_sha};
use super::{Job, RUN};
use crate::repository::{Ran, Repository};
use crate::trial;

const EXPECTED: &str = "golden/expected/legal/lease.json";

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a merge group takes the approval of its pull request for the same result",
            same_result,
        ),
        trial(
            "a merge group with the baseline that its pull request carries is green by its approval",
            carried,
        ),
        trial(
            "a merge group with another result than the approved one is red and says so",
            other_result,
        ),
        trial(
            "an approval of another pull request, or none, opens no merge queue",
            not_its_own,
        ),
        trial(
            "the numbers of a merge group before it excuse nothing",
            stacked,
        ),
        trial(
            "the trusted gate judges a merge group as data, with the approval of its pull request",
            trusted,
        ),
        trial(
            "a merge group that may not read pull requests says which permission is missing",
            unread,
        ),
    ]
}

/// The commit of the merge group.
fn group() -> String {
    super::payload("merge_group")["merge_group"]["head_sha"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The gate on the commit that the queue made of the pull request and the base branch.
fn queued(story: &Story, number: u64) -> Ran {
    let mut job = Job::new(&story.checkout, &story.github, "merge_group", "merge_group");
    let reference = format!(
        "refs/heads/gh-readonly-queue/main/pr-{number}-{}",
        base_sha()
    );
    job.event["merge_group"]["head_ref"] = json!(reference);
    job.event["merge_group"]["base_sha"] = json!(base_sha());
    job.run = 50;
    job.runs()
}

/// A pull request that edits an expectation, with its gate's report uploaded.
fn golden_change() -> Story {
    let story = Story::new();
    story.checkout.write(RUN, crate::repository::RUN);
    // The agent did not change, so its recording is not stale.
    story
        .checkout
        .write("prompts/legal.md", story.github.text("prompts/legal.md"));
    story
        .checkout
        .replace(EXPECTED, "\"expected_gaps\": [\"Missing_Doc\"],", "");
    assert_eq!(story.gate(7).code, 1, "the guard does not hold it");
    story
}

fn report(story: &Story) -> Value {
    serde_json::from_str(&story.report()).unwrap()
}

fn same_result() {
    for story in [golden_change(), Story::new()] {
        story.gate(7);
        assert_eq!(queued(&story, 2).code, 1, "nobody has approved it");
        story.labeled("alice");
        let ran = queued(&story, 2);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let report = report(&story);
        assert_eq!(
            (&report["commit"], &report["base"]),
            (&json!(group()), &json!(base_sha()))
        );
        assert_eq!(
            (&report["approval"]["by"], &report["approval"]["head"]),
            (&json!("alice"), &json!(super::head_sha()))
        );
        assert!(
            story
                .checkout
                .read(".runner/output")
                .contains("\napproved=true\n")
        );
    }
}

fn carried() {
    let story = Story::new();
    let base = Repository::small();
    base.write(BASELINE, story.github.text(BASELINE));
    story.github.commit(&base_sha(), &base);
    story.checkout.stamp_unless_kept();
    story.checkout.goldgate(&["run", "--update-baseline"]);
    for commit in [super::head_sha(), group()] {
        story.github.commit(&commit, &story.checkout);
    }
    assert_eq!(story.gate(7).code, 1);
    assert_eq!(queued(&story, 2).code, 1, "nobody has approved it");
    story.labeled("alice");
    let ran = queued(&story, 2);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(report(&story)["approval"]["head"], json!(super::head_sha()));
}

fn other_result() {
    let story = golden_change();
    story.labeled("alice");
    // Another pull request of the queue changed something else below it.
    story.checkout.replace(
        EXPECTED,
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    let ran = queued(&story, 2);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let wanted = "the approval of pull request 2 does not count, because it is for another result than this merge group's";
    assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
    assert_eq!(report(&story)["approval"], Value::Null);
}

fn not_its_own() {
    let story = golden_change();
    story.labeled("alice");
    // There is no such pull request, which looks like one that the token may not read.
    assert_eq!(queued(&story, 9).code, 1);
    let mut job = Job::new(&story.checkout, &story.github, "merge_group", "merge_group");
    job.event["merge_group"]["head_ref"] = json!("refs/heads/mine/pr-2-of-mine");
    assert_eq!(job.runs().code, 1, "any branch is taken for the queue's");
    story.unlabeled(7);
    assert_eq!(queued(&story, 2).code, 1, "a withdrawn approval counts");
}

/// A queue builds each group on the one before it, which can still fail: GitHub's webhook says that `base_sha` is "the SHA of the
/// merge group's parent commit". Where only the last group of several has to pass, the regression would be merged with it.
fn stacked() {
    let story = Story::new();
    let base = Repository::small();
    base.goldgate(&["run", "--update-baseline"]);
    let (tip, first) = (base_sha(), "1".repeat(40));
    story.github.commit(&tip, &base);
    story.github.commit(&first, &story.checkout);
    let mut job = Job::new(&story.checkout, &story.github, "merge_group", "merge_group");
    job.event["merge_group"]["base_sha"] = json!(first);
    story.github.branch("main", &tip);
    let ran = job.runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let workspace = Repository::empty();
    let group = group();
    story.github.commit(&group, &story.checkout);
    let mut as_data =
        Job::new(&workspace, &story.github, "merge_group", "merge_group").input("mode", "trusted");
    as_data.event = job.event.clone();
    assert_eq!(as_data.runs().code, 1);
    // What is merged already excuses it.
    story.github.branch("main", &first);
    story.github.merge_base(&group, &first);
    let ran = job.runs();
    assert_eq!(ran.code, 0, "the control: {}{}", ran.stdout, ran.stderr);
    let ran = as_data.runs();
    assert_eq!(ran.code, 0, "the control: {}{}", ran.stdout, ran.stderr);
    // So does another commit of the branch that shows it.
    let other = "2".repeat(40);
    story.github.commit(&other, &story.checkout);
    story.github.branch("main", &other);
    assert_eq!((job.runs().code, as_data.runs().code), (0, 0));
}

fn trusted() {
    let story = golden_change();
    let base = Repository::small();
    base.write(BASELINE, story.checkout.read(BASELINE));
    story
        .checkout
        .write("prompts/legal.md", base.read("prompts/legal.md"));
    story.github.commit(&base_sha(), &base);
    story
        .github
        .commit(super::standin::pulls::MERGE, &story.checkout);
    let group = group();
    story.github.commit(&group, &story.checkout);
    let workspace = Repository::empty();
    let mut job =
        Job::new(&workspace, &story.github, "merge_group", "merge_group").input("mode", "trusted");
    let reference = format!("refs/heads/gh-readonly-queue/main/pr-2-{}", base_sha());
    job.event["merge_group"]["head_ref"] = json!(reference);
    job.event["merge_group"]["base_sha"] = json!(base_sha());
    let ran = job.runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    story.gate(7);
    story.labeled("alice");
    let ran = job.runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report: Value =
        serde_json::from_str(&workspace.read(".goldgate/report/report.json")).unwrap();
    assert_eq!(
        (&report["commit"], &report["base"]),
        (&json!(group), &json!(base_sha()))
    );
    assert_eq!(report["approval"]["by"], json!("alice"));
    // A pull request without an approval opens nothing.
    job.event["merge_group"]["head_ref"] = json!(format!(
        "refs/heads/gh-readonly-queue/main/pr-9-{}",
        base_sha()
    ));
    assert_eq!(job.runs().code, 1);
}

fn unread() {
    let story = golden_change();
    story.labeled("alice");
    let ran = queued(&story, 9);
    assert!(
        ran.stdout
            .contains("the job needs the permission `pull-requests: read`"),
        "{}",
        ran.stdout
    );
    story.github.deny("statuses: read");
    let ran = queued(&story, 2);
    assert!(
        ran.code == 1 && ran.stdout.contains("the permission `statuses: read`"),
        "{}",
        ran.stdout
    );
}
