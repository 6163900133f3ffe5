//! The baseline pull request of the default branch, played against the stand-in.

mod edited;
mod forks;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::{Story, base_sha};
use super::standin::Standin;
use super::standin::pulls::test_merge;
use super::{BOT, Job, RUN, head_sha};
use crate::repository::{Ran, Repository};
use crate::trial;

const BASELINE: &str = "baselines/latest.json";
const BRANCH: &str = "goldgate/baseline";

pub fn trials() -> Vec<Trial> {
    [edited::trials(), forks::trials(), own()]
        .into_iter()
        .flatten()
        .collect()
}

fn own() -> Vec<Trial> {
    vec![
        trial(
            "a moved number opens one pull request, which is updated and never doubled",
            one,
        ),
        trial(
            "a worse number asks for a reason, which goes into the file",
            reason,
        ),
        trial(
            "a number that no longer moves closes the pull request",
            closed,
        ),
        trial(
            "a pull request that somebody closed is opened again only with other numbers",
            declined,
        ),
        trial("nothing moved is nothing done", nothing),
        trial(
            "a branch that is not the default one moves no baseline",
            other_branch,
        ),
        trial("a report on another commit, or none, is refused", no_report),
        trial(
            "a missing permission for the baseline pull request is one warning",
            permissions,
        ),
        trial(
            "the baseline pull request is green where a merged pull request was approved for its numbers",
            approved,
        ),
        trial(
            "an approved pull request is found behind 30 merged ones without an approval",
            behind_others,
        ),
        trial(
            "the check of the default branch is green after the merge of the baseline pull request",
            after_the_merge,
        ),
        trial(
            "the reason of an approved pull request goes into the baseline without being asked for again",
            given,
        ),
        trial(
            "a baseline pull request that is not what was approved needs the label",
            not_approved,
        ),
    ]
}

struct Branch {
    repository: Repository,
    github: Standin,
    commit: String,
}

impl Branch {
    fn new() -> Self {
        let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
        repository.stamp_unless_kept();
        repository.goldgate(&["run", "--update-baseline"]);
        let branch = Self {
            repository,
            github,
            commit: "5".repeat(40),
        };
        branch.at(&"5".repeat(40));
        branch
    }

    fn at(&self, commit: &str) {
        for file in [BASELINE, "goldgate.yaml"] {
            self.github
                .file_at(commit, file, &self.repository.read(file));
        }
    }

    fn runs(&self, mode: &str) -> Ran {
        let mut job = Job::new(&self.repository, &self.github, "push", "push").input("mode", mode);
        job.event["repository"]["default_branch"] = json!("master");
        job.variable("GITHUB_REF", "refs/heads/master")
            .variable("GITHUB_SHA", &self.commit)
            .runs()
    }

    /// The two steps of the job.
    fn job(&self) -> Ran {
        self.runs("run");
        self.runs("baseline-pr")
    }

    fn worse(&self) {
        self.repository.replace(
            RUN,
            "\"findings\": [",
            "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
        );
    }

    fn written(&self) -> Value {
        let head = self.github.head(BRANCH).unwrap();
        serde_json::from_slice(&self.github.read_at(&head, BASELINE)).unwrap()
    }
}

/// The pull requests beside the one of the payloads.
fn ours(github: &Standin) -> Vec<u64> {
    github
        .open_pulls()
        .into_iter()
        .filter(|number| *number != 2)
        .collect()
}

fn one() {
    let branch = Branch::new();
    branch.worse();
    let ran = branch.job();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ours(&branch.github), [3]);
    let first = branch.github.head(BRANCH).unwrap();
    let body = branch.github.description(3);
    assert!(
        body.contains("| contracts | legal | f1&#95;score | 100% | 50% | −50 pp ▼ worse |"),
        "{body}"
    );
    // Again: nothing is written a second time.
    branch.job();
    assert_eq!(
        (ours(&branch.github), branch.github.head(BRANCH).unwrap()),
        (vec![3], first.clone())
    );
    // Another number: the same pull request.
    branch.repository.replace(
        RUN,
        "{\"category\": \"a\"},",
        "{\"category\": \"a\"}, {\"category\": \"c\"},",
    );
    let ran = branch.job();
    assert_eq!(ours(&branch.github), [3], "{}", ran.stdout);
    assert_ne!(branch.github.head(BRANCH).unwrap(), first);
    assert_eq!(
        branch.written()["suites"]["contracts"]["agents"]["legal"]["metrics"]["f1_score"],
        json!(0.4)
    );
    assert!(branch.github.bodies(BOT).is_empty());
}

fn reason() {
    let branch = Branch::new();
    branch.worse();
    branch.job();
    assert_eq!(branch.written()["accepted"], json!([]));
    let body = branch.github.description(3);
    assert!(body.contains("a reason is needed"), "{body}");
    branch.github.describe(
        3,
        &format!("{body}\nGoldgate-Reason: it reports more on purpose\n"),
    );
    let ran = branch.job();
    let entry = &branch.written()["accepted"][0];
    assert_eq!(
        entry["reason"], "it reports more on purpose",
        "{}",
        ran.stdout
    );
    assert_eq!(
        (
            &entry["pull_request"],
            entry["previous_sha256"].as_str().unwrap().len()
        ),
        (&json!(3), 64)
    );
    let (head, body) = (branch.github.head(BRANCH), branch.github.description(3));
    assert!(
        body.contains("Goldgate-Reason: it reports more on purpose"),
        "{body}"
    );
    branch.job();
    assert_eq!(
        (branch.github.head(BRANCH), branch.github.description(3)),
        (head, body)
    );
}

fn closed() {
    let branch = Branch::new();
    branch.worse();
    branch.job();
    branch.repository.write(
        BASELINE,
        branch
            .repository
            .read(".goldgate/report/proposed-baseline.json"),
    );
    branch.at(&branch.commit);
    let ran = branch.job();
    assert!(
        ran.stdout
            .contains("the numbers equal the baseline again, so pull request 3 is closed"),
        "{}",
        ran.stdout
    );
    assert!(ours(&branch.github).is_empty());
    // goldgate closed it, so nobody declined these numbers.
    let branch = Branch::new();
    let baseline = branch.repository.read(BASELINE);
    branch.worse();
    branch.job();
    let worse = branch.repository.read(RUN);
    branch
        .repository
        .replace(RUN, "{\"category\": \"a\"}, {\"category\": \"b\"},", "");
    branch.job();
    assert!(ours(&branch.github).is_empty());
    branch.repository.write(RUN, worse);
    branch.repository.write(BASELINE, baseline);
    branch.job();
    assert_eq!(ours(&branch.github), [4]);
}

fn declined() {
    let branch = Branch::new();
    branch.worse();
    branch.job();
    branch.github.close(3);
    let ran = branch.job();
    let says =
        "pull request 3 with these numbers was closed, so none is opened; reopen it to take them";
    assert!(
        ran.code == 0 && ran.stdout.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(ours(&branch.github).is_empty());
    branch.repository.replace(
        RUN,
        "{\"category\": \"a\"},",
        "{\"category\": \"a\"}, {\"category\": \"c\"},",
    );
    branch.job();
    assert_eq!(ours(&branch.github), [4]);
}

fn nothing() {
    let branch = Branch::new();
    let ran = branch.job();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ours(&branch.github).is_empty() && branch.github.head(BRANCH).is_none());
    let written = branch.github.requests().into_iter().find(|request| {
        // Asking for the account is a POST, too.
        !request.starts_with("GET") && !request.ends_with("/graphql")
    });
    assert_eq!(written, None);
}

fn other_branch() {
    let branch = Branch::new();
    branch.worse();
    branch.runs("run");
    let mut job =
        Job::new(&branch.repository, &branch.github, "push", "push").input("mode", "baseline-pr");
    job.event["repository"]["default_branch"] = json!("master");
    let ran = job
        .variable("GITHUB_REF", "refs/heads/feature")
        .variable("GITHUB_SHA", &branch.commit)
        .runs();
    assert!(
        ran.code == 0 && ran.stdout.contains("this is not the default branch"),
        "{}",
        ran.stdout
    );
    assert!(ours(&branch.github).is_empty());
}

fn no_report() {
    let mut branch = Branch::new();
    let ran = branch.runs("baseline-pr");
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .starts_with(".goldgate/report/report.json: the report does not exist"),
        "{}",
        ran.stderr
    );
    branch.worse();
    branch.runs("run");
    branch.commit = "6".repeat(40);
    let ran = branch.runs("baseline-pr");
    assert!(
        ran.code == 2
            && ran
                .stderr
                .contains("the report is for another commit than this job"),
        "{}",
        ran.stderr
    );
    assert!(ours(&branch.github).is_empty());
}

fn permissions() {
    for permission in ["contents: write", "pull-requests: write"] {
        let branch = Branch::new();
        branch.worse();
        branch.github.deny(permission);
        let ran = branch.job();
        assert_eq!(ran.code, 3, "{permission}: {}", ran.stdout);
        let warnings: Vec<&str> = ran
            .stdout
            .lines()
            .filter(|line| line.starts_with("::warning"))
            .collect();
        assert!(
            warnings.len() == 1 && warnings[0].contains(permission),
            "{}",
            ran.stdout
        );
        assert!(ours(&branch.github).is_empty());
    }
}

/// Pull request 2 moves numbers, and the baseline's pull request 3 writes them.
struct Merged {
    story: Story,
    /// What is checked out for pull request 3.
    checkout: Repository,
}

impl Merged {
    /// Alice approves pull request 2, it is merged, and the job on the default branch opens pull request 3.
    fn new() -> Self {
        Self::described("", |_| ())
    }

    /// The same of a pull request with this description. `before_push` happens before the job on the default branch.
    fn described(description: &str, before_push: impl FnOnce(&Story)) -> Self {
        let story = Story::new();
        story.github.describe(2, description);
        assert_eq!(story.gate(7).code, 1);
        story.labeled("alice");
        story.github.merge(2);
        before_push(&story);
        let (main, tip) = (&story.checkout, base_sha());
        story.github.files(main);
        for mode in ["run", "baseline-pr"] {
            let mut job = Job::new(main, &story.github, "push", "push")
                .input("mode", mode)
                .input("blocking", "false");
            job.event["repository"]["default_branch"] = json!("master");
            let job = job
                .variable("GITHUB_REF", "refs/heads/master")
                .variable("GITHUB_SHA", &tip);
            let ran = job.variable("SOURCE_DATE_EPOCH", LATER).runs();
            assert_eq!(ran.code, 0, "{mode}: {}{}", ran.stdout, ran.stderr);
        }
        let checkout = Repository::small();
        for file in crate::repository::FILES {
            checkout.write(file, main.read(file));
        }
        let merged = Self { story, checkout };
        merged.check_out();
        merged
    }

    /// The head of pull request 3 is checked out.
    fn check_out(&self) {
        self.checkout
            .write(BASELINE, self.story.github.read_at(&self.head(), BASELINE));
    }

    /// Somebody gives the reason in the description, and the job on the default branch writes it into the file.
    fn reason(&self, reason: &str) {
        let body = self.story.github.description(3);
        self.story
            .github
            .describe(3, &format!("{body}\nGoldgate-Reason: {reason}\n"));
        let mut job = Job::new(&self.story.checkout, &self.story.github, "push", "push")
            .input("mode", "baseline-pr");
        job.event["repository"]["default_branch"] = json!("master");
        let tip = base_sha();
        let job = job
            .variable("GITHUB_REF", "refs/heads/master")
            .variable("GITHUB_SHA", &tip);
        let ran = job.variable("SOURCE_DATE_EPOCH", LATER).runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        self.check_out();
    }

    fn head(&self) -> String {
        self.story.github.head(BRANCH).unwrap()
    }

    fn gate(&self) -> Ran {
        let (head, merge) = (self.head(), test_merge(3));
        let mut job = Job::new(
            &self.checkout,
            &self.story.github,
            "pull_request.opened",
            "pull_request",
        );
        job.event["pull_request"]["number"] = json!(3);
        job.event["number"] = json!(3);
        job = job.head(&head);
        job.variable("GITHUB_SHA", &merge)
            .variable("SOURCE_DATE_EPOCH", LATER)
            .runs()
    }
}

/// An hour after the pull request was merged.
const LATER: &str = "1795222800";

fn approved() {
    let merged = Merged::new();
    let ran = merged.gate();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report: Value =
        serde_json::from_str(&merged.checkout.read(".goldgate/report/report.json")).unwrap();
    assert_eq!(report["approval"]["by"], json!("alice on pull request 2"));
    assert_eq!(report["golden_changes"].as_array().unwrap().len(), 1);
    // The reason that the description gives is in the file as well.
    merged.reason("it reports more on purpose");
    let committed: Value = serde_json::from_str(&merged.checkout.read(BASELINE)).unwrap();
    assert_eq!(
        committed["accepted"][0]["reason"],
        json!("it reports more on purpose")
    );
    let ran = merged.gate();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// Most pull requests need no approval.
fn behind_others() {
    let merged = Merged::new();
    for number in 10..40 {
        merged.story.github.open_pull(
            number,
            &format!("changes-{number}"),
            &format!("{number:e<40}"),
        );
        merged.story.github.merge(number);
    }
    let ran = merged.gate();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn after_the_merge() {
    let Merged { story, checkout } = Merged::new();
    let (github, after) = (&story.github, "9".repeat(40));
    let base = Repository::small();
    for file in [RUN, "prompts/legal.md", BASELINE] {
        base.write(file, github.text(file));
    }
    github.commit(&base_sha(), &base);
    github.commit(&after, &checkout);
    github.parents(&after, &[&base_sha()]);
    let run = || {
        let mut job = Job::new(&checkout, github, "push", "push");
        job.event["ref"] = json!("refs/heads/master");
        (job.event["before"], job.event["after"]) = (json!(base_sha()), json!(after));
        job.event["repository"]["default_branch"] = json!("master");
        job.variable("GITHUB_SHA", &after)
            .variable("SOURCE_DATE_EPOCH", LATER)
            .runs()
    };
    assert_eq!(run().code, 1, "nobody merged it");
    github.merge_as(3, &after);
    let ran = run();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn given() {
    let merged = Merged::described(super::approval::REASON, |_| ());
    let committed: Value = serde_json::from_str(&merged.checkout.read(BASELINE)).unwrap();
    let reason = "the agent reports more on purpose (pull request 2)";
    assert_eq!(committed["accepted"][0]["reason"], json!(reason));
    let body = merged.story.github.description(3);
    assert!(
        body.contains(&format!("Goldgate-Reason: {reason}"))
            && !body.contains("a reason is needed"),
        "{body}"
    );
    let ran = merged.gate();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // Without an approval, or without the right to read it, nobody has agreed to the reason.
    type Change = fn(&Story);
    let changes: [Change; 3] = [
        |story| story.github.deny("statuses: read"),
        |story| {
            story.github.status(
                BOT,
                &head_sha(),
                "failure",
                "withdrawn: trudy removed the label",
            )
        },
        |story| story.github.reopen(2),
    ];
    for change in changes {
        let merged = Merged::described(super::approval::REASON, change);
        let body = merged.story.github.description(3);
        assert!(body.contains("a reason is needed"), "{body}");
    }
}

/// An entry in the form of the file.
const FORGED: &str = "\"accepted\": [
    {
      \"at\": \"2026-11-21T01:00:00Z\",
      \"by\": \"chief-of-safety\",
      \"previous_sha256\": null,
      \"pull_request\": 1,
      \"reason\": \"agreed to everything\"
    }
  ]";

type Change = fn(&Merged);

#[allow(clippy::too_many_lines, reason = "one scenario, told in its order")]
fn not_approved() {
    let changes: [(&str, Change); 15] = [
        ("a number that was not measured", |merged| {
            merged
                .checkout
                .replace(BASELINE, "\"f1_score\": 0.5", "\"f1_score\": 0.4")
        }),
        ("another form of the same numbers", |merged| {
            merged
                .checkout
                .write(BASELINE, merged.checkout.read(BASELINE) + " ")
        }),
        ("a time in the future", |merged| {
            merged
                .checkout
                .replace(BASELINE, "2026-11-21T", "2099-11-21T")
        }),
        ("a time before the merge of what it measured", |merged| {
            merged.checkout.replace(
                BASELINE,
                "\"captured_at\": \"2026-11-21T01:00:00Z\"",
                "\"captured_at\": \"2026-11-21T00:00:00Z\"",
            );
        }),
        ("another version of goldgate", |merged| {
            merged
                .checkout
                .replace(BASELINE, "\"tool_version\": \"", "\"tool_version\": \"9");
        }),
        ("a commit that the base branch does not have", |merged| {
            let other = "a".repeat(40);
            merged.checkout.replace(BASELINE, &base_sha(), &other);
        }),
        ("an acceptance that nobody wrote", |merged| {
            merged
                .checkout
                .replace(BASELINE, "\"accepted\": []", FORGED)
        }),
        ("an acceptance with a reason that nobody gave", |merged| {
            merged.reason("it reports more on purpose");
            merged.checkout.replace(
                BASELINE,
                "it reports more on purpose",
                "agreed to everything",
            );
        }),
        ("an acceptance by somebody else", |merged| {
            merged.reason("it reports more on purpose");
            merged.checkout.replace(
                BASELINE,
                &format!("\"by\": \"{BOT}\""),
                "\"by\": \"chief-of-safety\"",
            );
        }),
        ("an acceptance of another baseline", |merged| {
            merged.reason("it reports more on purpose");
            let committed: Value = serde_json::from_str(&merged.checkout.read(BASELINE)).unwrap();
            let previous = committed["accepted"][0]["previous_sha256"]
                .as_str()
                .unwrap()
                .to_owned();
            merged
                .checkout
                .replace(BASELINE, &previous, &"0".repeat(64));
        }),
        ("another golden change", |merged| {
            merged.checkout.replace(
                "golden/expected/legal/lease.json",
                "\"max_expected_findings\": 3",
                "\"max_expected_findings\": 9",
            );
        }),
        (
            "an agent that was changed and not recorded again",
            |merged| {
                merged
                    .checkout
                    .write("prompts/legal.md", "Report nothing.\n");
            },
        ),
        ("a branch that is not the baseline's", |merged| {
            let head = merged.head();
            merged.story.github.branch("mine", &head);
            merged.story.github.move_pull(3, "mine");
        }),
        ("an approval that was withdrawn", |merged| {
            merged.story.github.reopen(2);
            merged.story.github.unlabel(super::approval::LABEL);
            merged
                .story
                .job("pull_request.unlabeled", "alice", 21)
                .input("mode", "approve")
                .runs();
            merged.story.github.merge(2);
        }),
        (
            "a pull request that was approved and never merged",
            |merged| {
                merged.story.github.reopen(2);
                merged.story.github.close(2);
            },
        ),
    ];
    for (name, change) in changes {
        let merged = Merged::new();
        change(&merged);
        let ran = merged.gate();
        assert_eq!(ran.code, 1, "{name}: {}{}", ran.stdout, ran.stderr);
    }
}
