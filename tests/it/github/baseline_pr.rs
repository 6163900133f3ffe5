//! The baseline pull request of the default branch, played against the stand-in.

mod edited;
mod forks;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::{LABEL, REASON, base_sha};
use super::pushes::report;
use super::standin::Standin;
use super::story::merges::{Default, LATER, Pull, copied};
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
            "a renamed suite leaves its old name in no baseline pull request",
            renamed,
        ),
        trial(
            "a label on a green pull request approves no number that was worse before",
            unrelated,
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

    fn step(&self, mode: &'static str) -> Job<'_> {
        let mut job = Job::new(&self.repository, &self.github, "push", "push")
            .input("mode", mode)
            .input("blocking", "false");
        job.event["ref"] = json!("refs/heads/master");
        (job.event["before"], job.event["after"]) = (json!(base_sha()), json!(self.commit));
        job.variable("GITHUB_REF", "refs/heads/master")
            .variable("GITHUB_SHA", &self.commit)
    }

    /// The two steps of the job.
    fn job(&self) -> Ran {
        self.step("").runs();
        self.step("baseline-pr").runs()
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
    branch
        .repository
        .replace(RUN, "{\"category\": \"a\"}, ", "");
    let ran = branch.job();
    assert_eq!(ours(&branch.github), [3], "{}", ran.stdout);
    assert_ne!(branch.github.head(BRANCH).unwrap(), first);
    assert_eq!(
        branch.written()["suites"]["contracts"]["agents"]["legal"]["metrics"]["f1_score"],
        json!(0.666667)
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
    branch
        .repository
        .replace(RUN, "{\"category\": \"a\"}, ", "");
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
    branch.step("").runs();
    let job = branch.step("baseline-pr");
    let ran = job.variable("GITHUB_REF", "refs/heads/feature").runs();
    assert!(
        ran.code == 0 && ran.stdout.contains("this is not the default branch"),
        "{}",
        ran.stdout
    );
    assert!(ours(&branch.github).is_empty());
}

fn no_report() {
    let mut branch = Branch::new();
    let ran = branch.step("baseline-pr").runs();
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .starts_with(".goldgate/report/report.json: the report does not exist"),
        "{}",
        ran.stderr
    );
    branch.worse();
    branch.step("").runs();
    branch.commit = "6".repeat(40);
    let ran = branch.step("baseline-pr").runs();
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
    trunk: Default,
    own: Pull,
}

impl Merged {
    /// Alice approves pull request 2, it is merged, and the job on the default branch opens pull request 3.
    fn new() -> Self {
        Self::described("", |_| ())
    }

    /// The same of a pull request with this description. `before_push` happens before the job on the default branch.
    fn described(description: &str, before_push: impl FnOnce(&Default)) -> Self {
        let trunk = Default::new();
        let pull = trunk.pull(2, "legal", "");
        trunk.github.describe(2, description);
        trunk.is_approved(&pull);
        trunk.merge(&pull, &[RUN, "prompts/legal.md"]);
        before_push(&trunk);
        trunk.pushed();
        let own = Pull {
            number: 3,
            head: String::new(),
            run: 30,
            checkout: copied(&trunk.main),
        };
        let mut merged = Self { trunk, own };
        merged.check_out();
        merged
    }

    /// The head of pull request 3 is checked out.
    fn check_out(&mut self) {
        let github = &self.trunk.github;
        self.own.head = github.head(BRANCH).unwrap();
        let baseline = github.read_at(&self.own.head, BASELINE);
        self.own.checkout.write(BASELINE, baseline);
    }

    /// The job of the default branch runs again.
    fn pushed(&mut self) {
        self.trunk.pushed();
        self.check_out();
    }

    /// Somebody gives the reason in the description, and the job on the default branch writes it into the file.
    fn reason(&mut self) {
        let github = &self.trunk.github;
        github.describe(3, &format!("{}\n{REASON}\n", github.description(3)));
        self.pushed();
    }

    /// The baseline of the default branch says that it was measured then, on that commit.
    fn measured(&self, at: &str, commit: &str) {
        let trunk = &self.trunk;
        let mut baseline: Value = serde_json::from_str(&trunk.main.read(BASELINE)).unwrap();
        baseline["captured_at"] = json!(at);
        baseline["commit"] = json!(commit);
        trunk.main.write(BASELINE, baseline.to_string());
        let tip = trunk.github.head("master").unwrap();
        trunk.github.commit(&tip, &trunk.main);
    }

    fn gate(&self) -> Ran {
        self.trunk.gate(&self.own)
    }

    #[track_caller]
    fn is_green(&self) {
        let ran = self.gate();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let by = &report(&self.own.checkout)["approval"]["by"];
        assert_eq!(by, &json!("alice on pull request 2"));
    }

    fn accepted(&self) -> Value {
        let text = self.own.checkout.read(BASELINE);
        let committed: Value = serde_json::from_str(&text).unwrap();
        committed["accepted"].clone()
    }
}

fn approved() {
    let mut merged = Merged::new();
    merged.is_green();
    assert_eq!(merged.accepted(), json!([]));
    // It was merged before the run that made the present baseline ended, and the run did not measure it.
    merged.measured("2026-12-01T00:00:00Z", &base_sha());
    merged.is_green();
    // The file names who approved, and the reason that the description gives.
    merged.reason();
    let accepted = &merged.accepted()[0];
    assert_eq!(
        [&accepted["by"], &accepted["reason"]],
        [
            "alice on pull request 2",
            "the agent reports more on purpose"
        ]
    );
    merged.is_green();
    // Whoever writes the same numbers follows the same rule.
    merged.trunk.github.fork_of(3);
    merged.is_green();
}

fn renamed() {
    let trunk = Default::new();
    let id = "id: contracts";
    let renamed = "id: deals\n    was: contracts";
    trunk.main.replace("goldgate.yaml", id, renamed);
    let tip = "7".repeat(40);
    trunk.github.parents(&tip, &[&base_sha()]);
    trunk.github.commit(&tip, &trunk.main);
    trunk.github.branch("master", &tip);
    trunk.pushed();
    let own = baseline_pull(&trunk, 3);
    let written = own.checkout.read(BASELINE);
    assert!(
        written.contains("\"deals\"") && !written.contains("\"contracts\""),
        "{written}"
    );
    let body = trunk.github.description(3);
    assert!(body.contains("have other names"), "{body}");
    let ran = trunk.gate(&own);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// The baseline's pull request as it is checked out.
fn baseline_pull(trunk: &Default, number: u64) -> Pull {
    let head = trunk.github.head(BRANCH).unwrap();
    let checkout = copied(&trunk.main);
    checkout.write(BASELINE, trunk.github.read_at(&head, BASELINE));
    Pull {
        number,
        run: 10 * number,
        checkout,
        head,
    }
}

/// Somebody merges a red pull request without an approval. A label on a green one that comes after it is about something else.
fn unrelated() {
    let trunk = Default::new();
    let worse = trunk.pull(2, "legal", "");
    assert_eq!(trunk.gate(&worse).code, 1);
    trunk.merge(&worse, &[RUN, "prompts/legal.md"]);
    let other = trunk.opened(4, copied(&trunk.main));
    assert_eq!(trunk.gate(&other).code, 0);
    trunk.github.label_on(4, "alice", LABEL);
    trunk.merge(&other, &[]);
    trunk.pushed();
    let own = baseline_pull(&trunk, 5);
    let ran = trunk.gate(&own);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}

/// Most pull requests need no approval.
fn behind_others() {
    let merged = Merged::new();
    for number in 10..40 {
        let (branch, head) = (format!("changes-{number}"), format!("{number:e<40}"));
        merged.trunk.github.open_pull(number, &branch, &head);
        merged.trunk.github.merge(number);
    }
    merged.is_green();
}

fn after_the_merge() {
    let Merged { trunk, own } = Merged::new();
    let before = trunk.github.head("master").unwrap();
    trunk.merge(&own, &[BASELINE]);
    let after = trunk.github.head("master").unwrap();
    let run = || {
        let mut job = Job::new(&trunk.main, &trunk.github, "push", "push");
        job.event["ref"] = json!("refs/heads/master");
        (job.event["before"], job.event["after"]) = (json!(before), json!(after));
        job.run = 60;
        job.variable("SOURCE_DATE_EPOCH", LATER).runs()
    };
    let ran = run();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    trunk.github.unlabel_on(2, LABEL);
    assert_eq!(run().code, 1);
}

fn given() {
    let merged = Merged::described(REASON, |_| ());
    let reason = "the agent reports more on purpose (pull request 2)";
    assert_eq!(merged.accepted()[0]["reason"], json!(reason));
    let body = merged.trunk.github.description(3);
    assert!(
        body.contains(&format!("Goldgate-Reason: {reason}"))
            && !body.contains("a reason is needed"),
        "{body}"
    );
    merged.is_green();
    // Without an approval nobody has agreed to the reason.
    let merged = Merged::described(REASON, |trunk| trunk.github.unlabel_on(2, LABEL));
    let body = merged.trunk.github.description(3);
    assert!(body.contains("a reason is needed"), "{body}");
}

type Change = fn(&mut Merged);

fn not_approved() {
    let changes: [(&str, Change); 6] = [
        ("a number that was not measured", |merged| {
            let checkout = &merged.own.checkout;
            checkout.replace(BASELINE, "\"f1_score\": 0.5", "\"f1_score\": 0.4")
        }),
        ("another golden change", |merged| {
            let expected = "golden/expected/legal/lease.json";
            let [from, to] = [3, 9].map(|most| format!("\"max_expected_findings\": {most}"));
            merged.own.checkout.replace(expected, &from, &to)
        }),
        (
            "an agent that was changed and not recorded again",
            |merged| {
                let checkout = &merged.own.checkout;
                checkout.write("prompts/legal.md", "Report nothing.\n")
            },
        ),
        ("an approval that was withdrawn", |merged| {
            merged.trunk.github.unlabel_on(2, LABEL)
        }),
        (
            "a pull request that was approved and never merged",
            |merged| {
                merged.trunk.github.reopen(2);
                merged.trunk.github.close(2);
            },
        ),
        ("a baseline that was measured on that merge", |merged| {
            let tip = merged.trunk.github.head("master").unwrap();
            merged.measured("2026-11-21T00:00:00Z", &tip)
        }),
    ];
    for (name, change) in changes {
        let mut merged = Merged::new();
        change(&mut merged);
        let ran = merged.gate();
        assert_eq!(ran.code, 1, "{name}: {}{}", ran.stdout, ran.stderr);
    }
}
