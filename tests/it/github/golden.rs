//! The guard on golden changes in a pull request's job: the base commit comes by the API.

use libtest_mimic::Trial;

use super::approval::BASELINE;
use super::standin::account::GraphQlAccess;
use super::standin::{Fault, Standin};
use super::{BOT, RUN, head_sha, opened};
use crate::repository::{FILES, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a gate that a pull request loosens fails its job and is named in the comment",
            loosened,
        ),
        trial(
            "of the base commit only the files that differ are fetched",
            few_requests,
        ),
        trial(
            "a base commit of which much differs is read at once",
            at_once,
        ),
        trial(
            "files that archives leave out are read a hundred at once",
            hidden,
        ),
        trial(
            "golden files are read before recordings where only so many can be",
            golden_first,
        ),
        trial(
            "a base commit whose tree is too large for one answer is read folder by folder",
            truncated,
        ),
        trial(
            "a link on the base commit counts as missing, and needs an approval",
            links,
        ),
        trial("a huge file on the base commit is not fetched", huge),
        trial(
            "a base commit that cannot be read gives no verdict",
            unreadable,
        ),
        trial("a job without a token has no verdict", no_token),
        trial(
            "file names with commands and markup are told as text",
            hostile_names,
        ),
    ]
}

/// The base commit is as the head is now.
fn at_base(repository: &Repository) -> Standin {
    let github = Standin::new(&head_sha());
    repository.stamp_unless_kept();
    FILES
        .iter()
        .for_each(|file| github.file(file, &repository.read(file)));
    github
}

fn loosen(repository: &Repository) {
    let config = repository.read("goldgate.yaml");
    repository.write(
        "goldgate.yaml",
        format!("{config}    gates: {{ finding_recall: {{ min: 0.7 }} }}\n"),
    );
}

const LOOSER: &str = "finding_recall floor of `contracts` 0.80 (hard) -> 0.70 (hard)";

fn loosened() {
    let repository = Repository::small();
    let github = at_base(&repository);
    let ran = opened(&repository, &github).runs();
    assert_eq!(
        (
            ran.code,
            repository
                .read(".goldgate/report/report.json")
                .contains("\"golden_changes\":[]")
        ),
        (0, true)
    );
    loosen(&repository);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let body = github.bodies(BOT).remove(0);
    assert!(
        body.starts_with("> [!CAUTION]\n> **Merge blocked: 1 golden change needs an approval.**"),
        "{body}"
    );
    assert!(
        body.contains("finding&#95;recall floor of <code>contracts</code> 0.80"),
        "{body}"
    );
    assert!(ran.stdout.contains(LOOSER), "{}", ran.stdout);
    assert!(
        ran.stdout.contains(
            "::error title=goldgate::golden change, needs approval: finding_recall floor"
        )
    );
    assert!(
        repository
            .read(".goldgate/report/junit.xml")
            .contains("<failure message=\"needs approval: finding_recall")
    );
    // For information only, it is shown and does not fail.
    let ran = opened(&repository, &github)
        .input("blocking", "false")
        .runs();
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(
        github
            .bodies(BOT)
            .remove(0)
            .contains("1 golden change without an approval")
    );
}

fn few_requests() {
    let repository = Repository::small();
    let github = at_base(&repository);
    repository.replace(
        "golden/expected/legal/lease.json",
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(
        ran.stdout
            .contains("expectation of lease of `contracts` edited: max_expected_findings 3 -> 9"),
        "{}",
        ran.stdout
    );
    let of = |part: &str| {
        github
            .requests()
            .iter()
            .filter(|request| request.contains(part))
            .count()
    };
    assert_eq!(
        (of("/git/trees/"), of("/git/blobs/")),
        (2, 1),
        "of the base and of the checked-out commit: {:?}",
        github.requests()
    );
}

/// A base commit with so many cases; the head has another prompt and made every recording again.
fn recorded_again(cases: usize) -> (Repository, Standin) {
    let repository = Repository::small();
    let base = at_base(&repository);
    let (lease, expected, run) = (
        repository.read(FILES[2]),
        repository.read(FILES[3]),
        repository.read(FILES[4]),
    );
    let prompt = "Report every change of control, and be brief.\n";
    for case in 0..cases {
        let named = |text: &str| {
            text.replace("lease.md", &format!("c{case}.md"))
                .replace("\"lease\"", &format!("\"c{case}\""))
        };
        for (path, text) in [
            (format!("golden/contracts/c{case}.md"), lease.clone()),
            (
                format!("golden/expected/legal/c{case}.json"),
                named(&expected),
            ),
            (format!("golden/runs/legal/c{case}.json"), named(&run)),
        ] {
            base.file(&path, &text);
            repository.write(
                &path,
                text.replace("Needs prior approval.", "Needs prior approval, always."),
            );
        }
    }
    repository.write(FILES[1], prompt);
    repository.replace(
        FILES[4],
        "Needs prior approval.",
        "Needs prior approval, always.",
    );
    (repository, base)
}

fn at_once() {
    let (repository, github) = recorded_again(30);
    repository.replace(
        FILES[3],
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("edited: max_expected_findings 3 -> 9"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("31 recordings of `contracts/legal` are of this change"),
        "{}",
        ran.stdout
    );
    let of = |part: &str| {
        github
            .requests()
            .iter()
            .filter(|request| request.contains(part))
            .count()
    };
    let (trees, archives, blobs) = (of("/git/trees/"), of("/tarball/"), of("/git/blobs/"));
    assert!(
        trees == 2 && archives == 1 && blobs <= 8,
        "{:?}",
        github.requests()
    );
}

fn hidden() {
    let (repository, github) = recorded_again(150);
    github.hide_from_archives("golden");
    repository.replace(
        FILES[3],
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("edited: max_expected_findings 3 -> 9"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("151 recordings of `contracts/legal` are of this change"),
        "{}",
        ran.stdout
    );
    let of = |part: &str| {
        github
            .requests()
            .iter()
            .filter(|request| request.contains(part))
            .count()
    };
    assert!(
        of("/git/blobs/") <= 8 && of("/graphql") <= 3,
        "{:?}",
        github.requests()
    );
}

fn golden_first() {
    let (repository, github) = recorded_again(410);
    // With a baseline the base commit's own recordings are not graded.
    repository.stamp_unless_kept();
    repository.goldgate(&["run", "--update-baseline"]);
    github.file(BASELINE, &repository.read(BASELINE));
    github.without_archive();
    github.graphql(GraphQlAccess::Blocked);
    repository.replace(
        FILES[3],
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("edited: max_expected_findings 3 -> 9"),
        "{}",
        ran.stdout
    );
    // That not every recording could be compared leaves no verdict, whatever else was found.
    let unknown = "no verdict: contracts/legal: 13 recordings cannot be compared";
    assert!(ran.stdout.contains(unknown), "{}", ran.stdout);
}

fn truncated() {
    let repository = Repository::small();
    let github = at_base(&repository);
    github.truncate();
    repository.replace(
        "golden/expected/legal/lease.json",
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    let ran = opened(&repository, &github).runs();
    assert!(
        ran.stdout.contains("edited: max_expected_findings 3 -> 9"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn links() {
    let repository = Repository::small();
    // Without the link the base commit still has a case.
    crate::golden_changes::add_case(&repository, 1);
    let recording = crate::golden_changes::recording(1);
    repository.write(&format!("golden/{recording}"), repository.read(&recording));
    let github = at_base(&repository);
    github.files(&repository);
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0, "the control: {}{}", ran.stdout, ran.stderr);
    // A link counts as missing on the base, whatever it leads to.
    for target in [
        "golden/expected/legal/other.json",
        "../../etc",
        "lease.json",
    ] {
        github.link("golden/expected/legal/lease.json", target);
        let ran = opened(&repository, &github).runs();
        let says = "golden/expected/legal/lease.json is a symbolic link or an unread submodule on the base commit";
        assert!(
            ran.code == 1 && ran.stdout.contains(says),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

fn huge() {
    let repository = Repository::small();
    let github = at_base(&repository);
    github.large("golden/contracts/lease.md", 5_000_000_000);
    let ran = opened(&repository, &github).runs();
    assert!(
        ran.stdout
            .contains("golden/contracts/lease.md of `contracts` cannot be compared"),
        "{}",
        ran.stdout
    );
    assert!(
        github
            .requests()
            .iter()
            .all(|request| !request.contains("/git/blobs/")),
        "{:?}",
        github.requests()
    );
}

fn unreadable() {
    let repository = Repository::small();
    for status in [403, 404, 500] {
        let github = at_base(&repository);
        github.fault("GET", Fault::Always(status));
        let ran = opened(&repository, &github).runs();
        assert_eq!(ran.code, 3, "{status}: {}", ran.stdout);
        if status != 500 {
            assert!(ran.stderr.contains("`contents: read`"), "{}", ran.stderr);
        }
    }
}

fn no_token() {
    let repository = Repository::small();
    let github = at_base(&repository);
    loosen(&repository);
    let ran = opened(&repository, &github)
        .variable("INPUT_TOKEN", "")
        .runs();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("no verdict: the token is missing or empty"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(github.requests().is_empty());
}

fn hostile_names() {
    let repository = Repository::small();
    let github = at_base(&repository);
    let name = "a\n::error::pwned @acme ![x](http:e) <img src=x>.md";
    // No case reads the file, so its name is told by whoever names it.
    repository.write(&format!("golden/contracts/{name}"), "new");
    let config = repository.read("goldgate.yaml");
    let named = "'@acme ![x](http:e) <img src=x>/**'";
    repository.write(
        "goldgate.yaml",
        config.replace(
            "[prompts/legal.md]",
            &format!("[golden/contracts/lease.md, {named}]"),
        ),
    );
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let body = github.bodies(BOT).remove(0);
    for bad in ["@acme", "![", "<img", "\n::"] {
        assert!(!body.contains(bad), "{bad}: {body}");
    }
    assert!(
        ran.stdout
            .lines()
            .all(|line| !line.starts_with("::error::pwned")),
        "{}",
        ran.stdout
    );
    // The run is as before, so nothing else is said.
    assert!(repository.read(RUN).contains("completed"));
}
