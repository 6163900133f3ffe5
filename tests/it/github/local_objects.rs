//! A job on a runner with git reads the base commit's files in its own checkout, if they are there and match their ids.

use libtest_mimic::Trial;

use super::standin::Standin;
use super::standin::pulls::MERGE;
use super::{RUN, head_sha, opened};
use crate::golden_changes::{commit_all, git_answer};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the base commit's files are read in the checkout where it has them",
            local,
        ),
        trial(
            "an object of the checkout that does not match its id is read on GitHub",
            forged,
        ),
        trial(
            "a base commit that the checkout does not have is read on GitHub",
            shallow,
        ),
        trial(
            "a recording of the branch's own files asks to merge the base branch, which changed the agent",
            overtaken,
        ),
    ]
}

const EXPECTED: &str = "golden/expected/legal/lease.json";

const MEDIUM: &str = "\"min_severity\": \"medium\"";

const LOW: &str = "\"min_severity\": \"low\"";

/// A pull request that loosens the expectation of a worse agent, on a checkout that has the base commit. `break_checkout` gets the
/// folder of the checkout.
fn loosened(break_checkout: &dyn Fn(&Repository)) -> (Ran, Vec<String>) {
    let (repository, github) = checkout();
    break_checkout(&repository);
    repository.replace(EXPECTED, MEDIUM, LOW);
    repository.replace(RUN, "\"P1\"", "\"P4\"");
    // More files than are read one by one.
    repository.write("prompts/legal.md", "Report every change.\n");
    repository.replace("golden/contracts/lease.md", "# Lease", "# The lease");
    (runs(&repository, &github), github.requests())
}

/// A checkout that has the base commit.
fn checkout() -> (Repository, Standin) {
    let repository = Repository::small();
    repository.stamp_unless_kept();
    commit_all(&repository);
    let base = git_answer(&repository.path(""), &["rev-parse", "HEAD"]);
    let github = Standin::new(&head_sha());
    github.commit(&base, &repository);
    github.branch("master", &base);
    (repository, github)
}

/// The job on a runner with git. What is checked out is GitHub's test merge.
fn runs(repository: &Repository, github: &Standin) -> Ran {
    repository.write(".git/HEAD", format!("{MERGE}\n"));
    opened(repository, github)
        .variable("PATH", &std::env::var("PATH").unwrap())
        .runs()
}

fn is_red(ran: &Ran) {
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let change = "expectation of lease of `contracts` edited: expected_findings[0].min_severity \"medium\" -> \"low\"";
    assert!(ran.stdout.contains(change), "{}", ran.stdout);
}

/// Whether GitHub is asked for files of another commit than the checked-out one, which these checkouts lack.
fn asks_github(requests: &[String]) -> bool {
    requests.iter().any(|request| {
        let is_of_files = ["/git/trees/", "/git/blobs/", "/tarball/"]
            .iter()
            .any(|part| request.contains(part));
        is_of_files && !request.contains(MERGE)
    })
}

fn local() {
    let (ran, requests) = loosened(&|_| {});
    is_red(&ran);
    assert!(!asks_github(&requests), "{requests:?}");
}

/// A step that ran before writes the loosened expectation under the id of the base commit's.
fn forged() {
    let (ran, requests) = loosened(&|repository| {
        let folder = repository.path("");
        let id = git_answer(&folder, &["rev-parse", &format!("HEAD:{EXPECTED}")]);
        let text = repository.read(EXPECTED).replace(MEDIUM, LOW);
        repository.write("forged.json", text);
        let other = git_answer(&folder, &["hash-object", "-w", "forged.json"]);
        let object = |id: &str| repository.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
        std::fs::remove_file(object(&id)).unwrap();
        std::fs::copy(object(&other), object(&id)).unwrap();
        repository.remove("forged.json");
    });
    is_red(&ran);
    assert!(asks_github(&requests), "{requests:?}");
}

fn shallow() {
    let (ran, requests) = loosened(&|repository| {
        std::fs::remove_dir_all(repository.path(".git/objects")).unwrap();
        std::fs::create_dir(repository.path(".git/objects")).unwrap();
    });
    is_red(&ran);
    assert!(asks_github(&requests), "{requests:?}");
}

/// The prompt changes on the base branch while a branch records the old one again.
fn overtaken() {
    const MERGE_FIRST: &str = "`master` changed the agent since: merge `master`, then do this";
    let prompt = "prompts/legal.md";
    let repository = Repository::small();
    let answer = |text: &str| repository.replace(RUN, "Needs prior approval.", text);
    let stamp = || assert_eq!(repository.stamp("goldgate.yaml").code, 0);
    // What the branch has.
    stamp();
    let recorded = repository.read(RUN);
    answer("Needs approval before.");
    stamp();
    let (of_branch, old_prompt) = (repository.read(RUN), repository.read(prompt));
    // What the base branch has.
    repository.write(RUN, recorded);
    repository.write(prompt, "Report every change of control, briefly.\n");
    answer("Needs approval first.");
    stamp();
    commit_all(&repository);
    let base = git_answer(&repository.path(""), &["rev-parse", "HEAD"]);
    let github = Standin::new(&head_sha());
    github.commit_as_is(&base, &repository);
    github.branch("master", &base);
    let on_merge = |head_prompt: &str| {
        repository.write(RUN, &of_branch);
        let new_prompt = repository.read(prompt);
        repository.write(prompt, head_prompt);
        github.commit_as_is(&head_sha(), &repository);
        repository.write(prompt, new_prompt);
        github.commit_as_is(MERGE, &repository);
        repository.write(".git/HEAD", format!("{MERGE}\n"));
        opened(&repository, &github)
            .keep_recordings()
            .variable("PATH", &std::env::var("PATH").unwrap())
            .runs()
    };
    let ran = on_merge(&old_prompt);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(MERGE_FIRST), "{}", ran.stdout);
    // The control: the recording is not of the branch's files either.
    let ran = on_merge("Report nothing.\n");
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains(MERGE_FIRST), "{}", ran.stdout);
}
