//! `goldgate check --github`: says what is missing before the first pull request finds out.

use libtest_mimic::Trial;
use serde_json::json;

use super::head_sha;
use super::standin::Standin;
use crate::repository::{Ran, Repository, root};
use crate::trial;

const GATE: &str = ".github/workflows/goldgate.yml";

/// The commit that the shipped workflows name in place of a release's.
const PINNED: &str = "0000000000000000000000000000000000000000";

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "check --github finds no problem in a complete setup",
            complete,
        ),
        trial("check --github says whom the gate stops", protected),
        trial(
            "check --github names a check that two branches require",
            shared_name,
        ),
        trial(
            "check --github names every missing part of a setup",
            incomplete,
        ),
        trial(
            "check --github names a required check that no job reports",
            misspelt,
        ),
        trial(
            "check finds the mistakes of workflows without GitHub",
            offline,
        ),
        trial(
            "check --github reports an image that needs a login",
            private_image,
        ),
        trial(
            "check --github finds a label and an environment that cannot record",
            recording,
        ),
        trial(
            "check --github says which settings its token may not read",
            unreadable,
        ),
        trial("check --github without a token says what to set", no_token),
        trial(
            "check --github finds a condition by which a gate is skipped",
            skipped,
        ),
    ]
}

fn repository() -> Repository {
    let repository = Repository::small();
    let text = std::fs::read_to_string(root().join("docs/workflows/goldgate.yml")).unwrap();
    repository.write(GATE, text.replace("OWNER/", "acme/"));
    repository
}

fn complete_github() -> Standin {
    let github = Standin::new(&head_sha());
    let image = format!(
        "docker://{}/acme/goldgate@sha256:{}",
        github.address().trim_start_matches("http://"),
        "a".repeat(64)
    );
    github.action_at(PINNED, &image);
    github.create_label("goldgate:accept-baseline");
    github.protect(json!({ "context": "goldgate", "app_id": 15368 }));
    github
}

fn check(repository: &Repository, github: &Standin) -> Ran {
    let address = github.address();
    let variables = [
        ("GITHUB_API_URL", address.as_str()),
        ("GITHUB_REPOSITORY", "acme/agents"),
        ("GITHUB_TOKEN", "a-token-of-the-test"),
    ];
    repository.goldgate_with(&["check", "--github"], &variables)
}

fn complete() {
    let ran = check(&repository(), &complete_github());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert_eq!(
        ran.stdout,
        format!(
            "1 workflow\nmain: requires \"goldgate\"\n{}no problem found\n",
            stopped("not stopped")
        )
    );
}

fn stopped(author: &str) -> String {
    format!(
        "a mistake: stopped, by the required check\nan author who edits the workflow in the pull request: {author}\n\
         a collaborator whose workflow has checks: write: not seen to be stopped; docs/branch-protection.md says what does\n"
    )
}

/// The rows of the table in docs/branch-protection.md.
fn protected() {
    let review = "stopped, by the review of code owners";
    for (owners, asked, author) in [
        ("/.github/ @acme/leads\n", true, review),
        ("* @acme/leads\n", true, review),
        ("* @acme/leads\n/.github/ # nobody\n", true, "not stopped"),
        ("/src/ @acme/leads\n", true, "not stopped"),
        ("/.github/ @acme/leads\n", false, "not stopped"),
    ] {
        let (repository, github) = (repository(), complete_github());
        repository.write(".github/CODEOWNERS", owners);
        github.rule(json!({
            "type": "pull_request",
            "parameters": { "require_code_owner_review": asked },
        }));
        let ran = check(&repository, &github);
        assert!(
            ran.stdout.contains(&stopped(author)),
            "{owners}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
    let (repository, github) = (Repository::small(), complete_github());
    let text = std::fs::read_to_string(root().join("docs/workflows/goldgate-trusted.yml")).unwrap();
    repository.write(GATE, text.replace("OWNER/", "acme/"));
    let ran = check(&repository, &github);
    let author = "stopped, by pull_request_target";
    assert!(
        ran.stdout.contains(&stopped(author)),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

/// A check that two branches require passes for both once it passes for one.
fn shared_name() {
    let github = complete_github();
    github.require("release-1", "goldgate");
    github.require("release-2", "goldgate (release-2)");
    github.branch("release-1", &"e".repeat(40));
    github.branch("release-2", &"e".repeat(40));
    let ran = check(&repository(), &github);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let notes: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("note: "))
        .collect();
    let [note] = notes.as_slice() else {
        panic!("{notes:?}")
    };
    assert!(
        note.starts_with("note: release-1 requires \"goldgate\" as main does"),
        "{note}"
    );
}

fn incomplete() {
    let (repository, github) = (repository(), Standin::new(&head_sha()));
    repository.replace(
        ".github/workflows/goldgate.yml",
        "edited, labeled, unlabeled]",
        "labeled, unlabeled]",
    );
    repository.replace(".github/workflows/goldgate.yml", "  merge_group:\n", "");
    repository.replace(
        ".github/workflows/goldgate.yml",
        "pull-requests: write # the comment and",
        "pull-requests: read #",
    );
    github
        .rule(json!({ "type": "merge_queue", "parameters": { "grouping_strategy": "HEADGREEN" } }));
    github.rule(json!({
        "type": "required_status_checks",
        "parameters": { "required_status_checks": [{ "context": "Goldgate" }, { "context": "goldgate" }] },
    }));
    github.action_at(PINNED, "Dockerfile");
    let ran = check(&repository, &github);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    for (at, code) in [
        (".github/workflows/goldgate.yml:", "missing-type"),
        (".github/workflows/goldgate.yml:", "missing-permission"),
        (".github/workflows/goldgate.yml:", "no-merge-group"),
        (".github/workflows/goldgate.yml:", "builds-from-source"),
        ("rules of main: ", "any-source"),
        ("rules of main: ", "other-name"),
        ("rules of main: ", "queue-grouping"),
    ] {
        let told = ran
            .stderr
            .lines()
            .filter(|line| line.contains(at) && line.ends_with(&format!("[{code}]")))
            .count();
        assert_eq!(told, 1, "{code}: {}", ran.stderr);
    }
}

/// A skipped job counts as passed, and a job passes whose gate is skipped.
fn skipped() {
    let gate = "      - name: Gate\n";
    for (place, condition) in [
        (
            "    runs-on: ubuntu-24.04\n    timeout-minutes: 15\n    permissions:\n      contents: read #",
            "    if: github.actor != 'a'\n",
        ),
        (gate, "        if: github.actor != 'a'\n"),
    ] {
        let repository = repository();
        let put = if place == gate {
            format!("{place}{condition}")
        } else {
            format!("{condition}{place}")
        };
        repository.replace(".github/workflows/goldgate.yml", place, &put);
        let ran = check(&repository, &complete_github());
        assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("[skippable]"), "{}", ran.stderr);
        let always = put.replace("github.actor != 'a'", "${{ !cancelled() }}");
        repository.replace(".github/workflows/goldgate.yml", &put, &always);
        assert_eq!(check(&repository, &complete_github()).code, 0, "{always}");
    }
}

fn misspelt() {
    let github = complete_github();
    github.protect(json!({ "context": "goldgtae", "app_id": 15368 }));
    github.protect(json!({ "context": "trusted gate", "app_id": 15368 }));
    github.protect(json!({ "context": "ci/other-system" }));
    let ran = check(&repository(), &github);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    for name in ["goldgtae", "trusted gate"] {
        assert!(
            ran.stderr.contains(&format!(
                "\"{name}\" of GitHub Actions is required, but no job"
            )),
            "{}",
            ran.stderr
        );
    }
    assert!(!ran.stderr.contains("ci/other-system"), "{}", ran.stderr);
}

/// What can be known without GitHub, `check` says by itself.
fn offline() {
    let repository = repository();
    let ran = repository.goldgate(&["check"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let note = format!("acme/goldgate@{PINNED} is a placeholder, so this workflow fails");
    assert!(ran.stdout.contains(&note), "{}", ran.stdout);
    let trusted =
        std::fs::read_to_string(root().join("docs/workflows/goldgate-trusted.yml")).unwrap();
    let checkout = "    steps:\n      - uses: actions/checkout@v4\n        with:\n          ref: ${{ github.event.pull_request.head.sha }}\n";
    for (file, from, to, code) in [
        (GATE, ", unlabeled]", "]", "missing-type"),
        (
            GATE,
            "run-name: goldgate ${{ github.sha }}",
            "run-name: goldgate",
            "no-run-name",
        ),
        (
            GATE,
            "permissions: {}\n",
            "permissions: {}\nconcurrency: gate\n",
            "grouped-gate",
        ),
        (
            ".github/workflows/trusted.yml",
            "    steps:\n",
            checkout,
            "checked-out-pull",
        ),
        (
            "goldgate.yaml",
            "deterministic: { replay: golden/runs }",
            "deterministic: { target: own }",
            "no-command",
        ),
    ] {
        let other = self::repository();
        if file.ends_with("trusted.yml") {
            other.write(file, trusted.replace("OWNER/", "acme/"));
        }
        if file == "goldgate.yaml" {
            let config = other.read(file);
            other.write(
                file,
                format!("{config}targets: {{ own: {{ command: [python3, agent.py] }} }}\n"),
            );
        }
        let text = other.read(file);
        assert!(text.contains(from), "{file}: {text}");
        other.write(file, text.replacen(from, to, 1));
        let ran = other.goldgate(&["check"]);
        assert_eq!(ran.code, 2, "{code}: {}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stderr.contains(&format!("[{code}]")),
            "{code}: {}",
            ran.stderr
        );
    }
}

fn private_image() {
    let github = complete_github();
    github.hide_image();
    let ran = check(&repository(), &github);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("cannot be pulled without a login (HTTP 403)"),
        "{}",
        ran.stderr
    );
}

fn unreadable() {
    let github = complete_github();
    github.deny("metadata: read");
    let ran = check(&repository(), &github);
    assert_eq!(ran.code, 3);
    assert!(
        ran.stderr.contains("the token needs access"),
        "{}",
        ran.stderr
    );
}

fn no_token() {
    let ran = repository().goldgate(&["check", "--github"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("set both; `gh auth token` prints a token"),
        "{}",
        ran.stderr
    );
}

/// A repository whose workflow records, and whose config counts only what it records.
fn recorded() -> Repository {
    let repository = repository();
    let text = std::fs::read_to_string(root().join("docs/workflows/goldgate-record.yml")).unwrap();
    repository.write(
        ".github/workflows/goldgate-record.yml",
        text.replace("OWNER/", "acme/"),
    );
    repository.replace(
        "goldgate.yaml",
        "suites:",
        "recordings: { trust: ci }\nsuites:",
    );
    repository
}

fn recording() {
    let restricted = json!({ "protected_branches": true, "custom_branch_policies": false });
    let github = complete_github();
    github.environment("goldgate-record", restricted.clone());
    let ran = check(&recorded(), &github);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let unnamed = recorded();
    let file = ".github/workflows/goldgate-record.yml";
    unnamed.replace(file, "run-name: ", "# ");
    let ran = check(&unnamed, &github);
    assert!(
        ran.code == 2 && ran.stderr.contains("[no-run-name]"),
        "{}",
        ran.stderr
    );
    let ran = check(&recorded(), &github);
    let note = "note: the label goldgate:record does not exist yet; goldgate creates it when it is needed\n";
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
    github.create_label("goldgate:record");
    assert!(!check(&recorded(), &github).stdout.contains("note:"));

    let found = |repository: &Repository, github: &Standin| {
        let ran = check(repository, github);
        let codes = ran
            .stderr
            .lines()
            .filter_map(|line| line.strip_suffix(']')?.rsplit_once(" ["))
            .map(|(_, code)| code);
        let codes: Vec<String> = codes.map(str::to_owned).collect();
        assert_eq!(
            ran.code,
            if codes.is_empty() { 0 } else { 2 },
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        codes
    };
    assert_eq!(
        found(&recorded(), &complete_github()),
        ["no-environment"],
        "it does not exist"
    );
    let open = complete_github();
    open.environment("goldgate-record", json!(null));
    assert_eq!(
        found(&recorded(), &open),
        ["no-environment"],
        "any branch may use it"
    );
    let without = recorded();
    without.replace(
        ".github/workflows/goldgate-record.yml",
        "environment: goldgate-record #",
        "#",
    );
    assert_eq!(
        found(&without, &github),
        ["no-environment"],
        "the job has none"
    );
    let nobody = recorded();
    nobody.remove(".github/workflows/goldgate-record.yml");
    assert_eq!(found(&nobody, &github), ["no-recorder"]);
}
