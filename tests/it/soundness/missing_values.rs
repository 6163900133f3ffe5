//! Own metrics that lose their values: a missing value is no good one, whatever the metric says of better and worse.

use libtest_mimic::Trial;

use super::goldgate;
use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a metric without a direction may not lose its values",
            no_direction,
        ),
        trial(
            "a metric without a direction has no worst case",
            no_worst_case,
        ),
        trial(
            "a metric that the baseline lacks may not lose its values in all cases",
            unmeasured,
        ),
        trial(
            "a metric may not lose the values of cases of which the baseline has none",
            unmeasured_in_some_cases,
        ),
    ]
}

const SUITE: &str = "\
version: 1
baseline: base.json
suites:
  - id: s
    kind: custom
    path: cases
    checks: [{ name: ok, expr: \"text.contains('total')\" }]
    agents: { h: { deterministic: { replay: runs }, fingerprint: [prompts/p.md] } }
";

/// A metric of the distance from the expected number, with a gate.
fn metric(better: &str) -> String {
    gated(better, "{ max: 1 }")
}

fn gated(better: &str, gate: &str) -> String {
    let expr = "has(output.total) ? math.abs(double(output.total) - double(expected.total)) : null";
    format!(
        "    metrics: [{{ name: away, expr: \"{expr}\", better: {better} }}]\n    gates: {{ away: {gate} }}\n"
    )
}

fn repository(config: &str) -> Repository {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", config);
    repository.write("prompts/p.md", "Answer {total}.");
    for case in 1..=4 {
        repository.write(
            &format!("cases/c{case}.json"),
            format!("{{\"input\": \"q{case}\", \"expected\": {{\"total\": 17}}}}"),
        );
    }
    answers(&repository, [r#"{"total": 17}"#; 4]);
    repository
}

fn answers(repository: &Repository, texts: [&str; 4]) {
    for (case, text) in (1..).zip(texts) {
        let run = serde_json::json!({ "status": "completed", "outputs": { "text": text } });
        repository.write(&format!("runs/h/c{case}.json"), run.to_string());
    }
}

const WRONG: &str = r#"{"total": 99}"#;
const LOST: &str = r#"{"the_total": 99}"#;

fn no_direction() {
    for better in ["lower", "neither"] {
        let repository = repository(&format!("{SUITE}{}", metric(better)));
        committed(&repository);
        repository.write("prompts/p.md", "Answer {the_total}.");
        answers(&repository, [WRONG; 4]);
        is(&judged(&repository), 1, "away 82, needs at most 1");
        answers(&repository, [LOST, LOST, LOST, r#"{"total": 17}"#]);
        is(&judged(&repository), 3, "away");
    }
}

fn no_worst_case() {
    let repository = repository(&format!("{SUITE}{}", metric("neither, aggregate: worst")));
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr
            .contains("no case is the worst where no direction is better"),
        "{}",
        ran.stderr
    );
}

fn unmeasured() {
    for gate in ["{ max: 1 }", "{ max: baseline }"] {
        let repository = repository(SUITE);
        committed(&repository);
        repository.write("goldgate.yaml", format!("{SUITE}{}", gated("lower", gate)));
        is(&judged(&repository), 0, "away");
        commit_all(&repository);
        repository.write("prompts/p.md", "Answer {the_total}.");
        answers(&repository, [LOST; 4]);
        is(&judged(&repository), 3, "away");
    }
}

/// The baseline has the value of one case, and the base branch has all.
fn unmeasured_in_some_cases() {
    let repository = repository(&format!("{SUITE}{}", metric("lower")));
    answers(&repository, [r#"{"total": 17}"#, LOST, LOST, LOST]);
    committed(&repository);
    repository.write("prompts/p.md", "Answer {total} always.");
    answers(&repository, [r#"{"total": 17, "in": "euros"}"#; 4]);
    is(&judged(&repository), 0, "");
    commit_all(&repository);
    repository.write("prompts/p.md", "Answer {the_total}.");
    let lost = r#"{"the_total": 99, "in": "EUR"}"#;
    answers(
        &repository,
        [r#"{"total": 17, "in": "EUR"}"#, lost, lost, lost],
    );
    is(&judged(&repository), 3, "away");
}

pub(super) fn committed(repository: &Repository) {
    let ran = goldgate(
        repository,
        &["run", "--update-baseline", "--quiet"].map(str::to_owned),
    );
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(repository);
}

fn judged(repository: &Repository) -> Ran {
    goldgate(repository, &["run", "--base", "HEAD"].map(str::to_owned))
}

fn is(ran: &Ran, code: i32, words: &str) {
    assert!(
        ran.code == code && ran.stdout.contains(words),
        "{words}: {}{}",
        ran.stdout,
        ran.stderr
    );
}
