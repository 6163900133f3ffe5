//! A key in a text that somebody else wrote: a recording or an error message. It leaves the program nowhere.

use libtest_mimic::Trial;

use super::standin::Standin;
use super::{BOT, RUN, head_sha, opened};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the value of a key in a recording is in no report, comment or log",
            recording,
        ),
        trial(
            "the value of a key in a message about a file is in no log, summary or comment",
            message,
        ),
    ]
}

/// No character of it is escaped in any format, and it has no form of a vendor.
const VALUE: &str = "abcd1234efgh5678ijkl9012mnop";

/// A target names the first variable; the second one is named like a key.
const VARIABLES: [&str; 2] = ["MODEL_ACCESS", "MODEL_KEY"];

/// A recording that fails, with a text in one place.
fn leaking(from: &str, to: &str) -> Repository {
    let repository = Repository::small();
    let targets = "targets: { live: { provider: openai, model: m, api_key_env: MODEL_ACCESS } }\n";
    repository.write(
        "goldgate.yaml",
        format!("{}{targets}", repository.read("goldgate.yaml")),
    );
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    repository.replace(RUN, from, to);
    repository
}

#[track_caller]
fn is_masked(repository: &Repository, ran: &Ran, github: &Standin, begin: &str) {
    let mut texts = vec![
        ran.stdout.clone(),
        ran.stderr.clone(),
        repository.read(".runner/summary"),
    ];
    texts.push(repository.read(".runner/output"));
    texts.extend(github.bodies(BOT));
    let folder = repository.path(".goldgate/report");
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        texts.push(std::fs::read_to_string(entry.unwrap().path()).unwrap_or_default());
    }
    let found: Vec<&String> = texts.iter().filter(|text| text.contains(begin)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

fn recording() {
    let long = format!("{}{VALUE}", "wide ".repeat(30));
    for (from, to) in [
        (
            "\"title\": \"Change of control\"",
            format!("\"title\": \"it is {VALUE}.\""),
        ),
        (
            "\"title\": \"Change of control\"",
            format!("\"title\": \"{long}\""),
        ),
        ("\"P1\"", format!("\"{VALUE}\"")),
        ("docs/lease.md", format!("docs/{VALUE}.md")),
        ("a change of control", VALUE.to_owned()),
        ("missing doc", VALUE.to_owned()),
    ] {
        let graded = |variables: &[&'static str]| {
            let (repository, github) = (leaking(from, &to), Standin::new(&head_sha()));
            let job = variables
                .iter()
                .fold(opened(&repository, &github), |job, name| {
                    job.variable(name, VALUE)
                });
            let ran = job.runs();
            assert_eq!(ran.code, 1, "{to}: {}{}", ran.stdout, ran.stderr);
            (ran, github, repository)
        };
        for name in VARIABLES {
            let (ran, github, repository) = graded(&[name]);
            is_masked(&repository, &ran, &github, &VALUE[..12]);
        }
        // Without the variable it is a text like others.
        let (_, _, repository) = graded(&[]);
        assert!(
            repository
                .read(".goldgate/report/report.json")
                .contains(&VALUE[..4]),
            "{to}"
        );
    }
}

fn message() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    assert_eq!(opened(&repository, &github).runs().code, 0);
    repository.replace(RUN, "\"completed\"", &format!("\"{VALUE}\""));
    let job = || {
        opened(&repository, &github)
            .variable("MODEL_KEY", VALUE)
            .runs()
    };
    let ran = job();
    assert_ne!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("redacted"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    is_masked(&repository, &ran, &github, VALUE);
}
