//! Whether everything was measured, could be read, and what fails since the baseline: the metrics that every kind has.

use libtest_mimic::Trial;
use serde_json::Value;

use crate::repository::{EXPECTED, RUN, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a case that the baseline measured and this run did not gives no verdict and is named",
            lost_case,
        ),
        trial("lost cases never hide a failed gate", lost_and_failed),
        trial(
            "a fixed limit does not fail by a few measured cases if the others could still reach it",
            few_left,
        ),
        trial("a floor of coverage must be a number", coverage_floor),
        trial("a case in quarantine is not missing", quarantined),
        trial(
            "with a quarantine, at most a tenth of the cases may be lost",
            quarantined_and_lost,
        ),
        trial(
            "an unreadable answer on a document with nothing to find earns no perfect score",
            unreadable,
        ),
        trial(
            "readable samples decide if only a minority is unreadable",
            partly_unreadable,
        ),
        trial(
            "a case that fails since the baseline is counted, and fails the suite where the config says so",
            newly_failing,
        ),
        trial(
            "a disabled gate needs no new baseline",
            off_and_incomparable,
        ),
        trial(
            "a case missing in the baseline is gated by otherwise",
            added_scenario,
        ),
        trial("coverage alone is not a pass", nothing_else_judged),
        trial(
            "samples without an answer are compared with those of the baseline",
            infra,
        ),
    ]
}

const LOST: &str = r#"{"status": "timeout", "error": "no answer", "outputs": {}}"#;

/// A findings suite of ten contracts that all pass, with its baseline.
fn ten() -> Repository {
    let repository = Repository::small();
    for number in 1..10 {
        let document = repository.read("golden/contracts/lease.md");
        repository.write(&format!("golden/contracts/c{number}.md"), document);
        repository.write(
            &format!("golden/expected/legal/c{number}.json"),
            EXPECTED.replace("lease.md", &format!("c{number}.md")),
        );
        repository.write(&run_of(number), answer(number));
    }
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    repository
}

fn run_of(number: u32) -> String {
    format!("golden/runs/legal/c{number}.json")
}

fn answer(number: u32) -> String {
    RUN.replace("\"case\": \"lease\"", &format!("\"case\": \"c{number}\""))
        .replace("lease.md", &format!("c{number}.md"))
}

fn graded(repository: &Repository) -> (Ran, Value) {
    let ran = repository.goldgate(&["run", "--format", "json"]);
    let report = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    (ran, report)
}

fn agent(report: &Value) -> &Value {
    &report["suites"][0]["agents"][0]
}

fn metric<'a>(report: &'a Value, name: &str) -> &'a Value {
    &agent(report)["metrics"][name]
}

fn lost_case() {
    let repository = ten();
    assert_eq!(metric(&graded(&repository).1, "coverage")["value"], 1.0);
    for lost in [1, 9] {
        (1..=lost).for_each(|number| repository.write(&run_of(number), LOST));
        let (ran, report) = graded(&repository);
        assert_eq!(ran.code, 3, "{lost} lost: {}", ran.stdout);
        let coverage = metric(&report, "coverage");
        assert_eq!(coverage["verdict"], "inconclusive");
        assert_eq!(coverage["value"], f64::from(10 - lost) / 10.0);
        let why = report["not_gateable"][0].as_str().unwrap();
        let start = format!(
            "contracts/legal: {lost} of 10 cases not measured; measured in the baseline: c1"
        );
        assert!(
            why.starts_with(&start) && why.matches("(timeout: no answer)").count() == 1,
            "{why}"
        );
        assert_eq!(report["verdict"], "inconclusive");
    }
}

fn lost_and_failed() {
    let repository = ten();
    repository.write(&run_of(1), LOST);
    repository.write(
        &run_of(2),
        r#"{"status": "completed", "outputs": {"findings": [], "gaps": []}}"#,
    );
    assert_eq!(graded(&repository).0.code, 1);
}

/// Nine of ten cases might reach the limit, so two cases alone do not fail it. What fails for certain stays red.
fn few_left() {
    let code = |lost: u32, floor: f64| {
        let repository = ten();
        repository.remove("baselines/latest.json");
        let gates =
            format!("    gates: {{ case_pass_rate: {{ min: {floor}, hard: true }} }}\n    agents:");
        repository.replace("goldgate.yaml", "    agents:", &gates);
        (1..=lost).for_each(|number| repository.write(&run_of(number), LOST));
        let run = repository.read(&run_of(9));
        repository.write(
            &run_of(9),
            run.replace("\"gaps\": [\"missing doc\"]", "\"gaps\": []"),
        );
        let (ran, report) = graded(&repository);
        (
            ran.code,
            metric(&report, "case_pass_rate")["verdict"]
                .as_str()
                .unwrap()
                .to_owned(),
        )
    };
    let told = |code: i32, verdict: &str| (code, verdict.to_owned());
    assert_eq!(code(0, 0.8), told(0, "pass"));
    assert_eq!(code(8, 0.8), told(3, "inconclusive"));
    assert_eq!(
        code(8, 0.95),
        told(1, "fail"),
        "no result of the others reaches it"
    );
    assert_eq!(code(0, 0.95), told(1, "fail"));
}

fn coverage_floor() {
    let stated = |gate: &str| {
        let repository = ten();
        repository.replace(
            "goldgate.yaml",
            "    agents:",
            &format!("    gates: {{ coverage: {gate} }}\n    agents:"),
        );
        repository.write(&run_of(1), LOST);
        repository.goldgate(&["run"])
    };
    // The floor accepts the lost case; that it could fail a gate is another reason.
    for (gate, says) in [
        ("{ min: 0.9 }", "finding_recall lies between 0 and 1"),
        ("{ min: 0.95 }", "1 of 10 cases not measured"),
    ] {
        let ran = stated(gate);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(ran.code == 3 && said.contains(says), "{gate}: {said}");
    }
    for refused in [
        "{ hard: true }",
        "{ zone: 0.1 }",
        "{ max_drop: 0.1 }",
        "{ min: baseline }",
        "{ min: 0 }",
    ] {
        let ran = stated(refused);
        assert_eq!(ran.code, 2, "{refused}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("[bad-gate]"), "{}", ran.stderr);
    }
}

const QUARANTINE: &str = r#""quarantine": { "owner": "Subject A", "reason": "known", "expires": "2026-12-01" }, "expected_gaps""#;

fn quarantined() {
    let repository = ten();
    repository.replace(
        "golden/expected/legal/c1.json",
        "\"expected_gaps\"",
        QUARANTINE,
    );
    for outputs in [
        LOST,
        r#"{"status": "completed", "outputs": {"findings": [], "gaps": []}}"#,
    ] {
        repository.write(&run_of(1), outputs);
        let (ran, report) = graded(&repository);
        assert_eq!(
            (ran.code, &metric(&report, "coverage")["value"]),
            (0, &Value::from(1.0)),
            "{}",
            ran.stdout
        );
    }
}

fn quarantined_and_lost() {
    let repository = ten();
    repository.replace(
        "goldgate.yaml",
        "    agents:",
        "    gates: { coverage: { min: 0.5 } }\n    agents:",
    );
    repository.replace(
        "golden/expected/legal/c1.json",
        "\"expected_gaps\"",
        QUARANTINE,
    );
    repository.write(&run_of(2), LOST);
    let (ran, report) = graded(&repository);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    let why = "contracts: 1 case was not measured and 1 is in quarantine, more than a tenth of 10 together";
    let reasons = report["not_gateable"].as_array().unwrap();
    assert!(reasons.iter().any(|reason| reason == why), "{reasons:?}");
}

fn unreadable() {
    let repository = Repository::small();
    let golden = r#"{ "expected_findings": [], "max_expected_findings": 0 }"#;
    repository.write("golden/expected/legal/lease.json", golden);
    let empty = r#"{"status": "completed", "outputs": {"findings": [], "gaps": []}}"#;
    repository.write("golden/runs/legal/lease.json", empty);
    let (ran, report) = graded(&repository);
    assert_eq!(
        (ran.code, &metric(&report, "finding_recall")["value"]),
        (0, &Value::from(1.0))
    );
    repository.write(
        "golden/runs/legal/lease.json",
        r#"{"status": "completed", "outputs": {"text": "I am sorry."}}"#,
    );
    let (ran, report) = graded(&repository);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    for (name, worst) in [
        ("finding_recall", Value::from(0.0)),
        ("finding_precision", Value::from(0.0)),
        ("citation_accuracy", Value::from(0.0)),
        ("f1_score", Value::from(0.0)),
        ("count_in_range", Value::from(0.0)),
        ("false_positive_rate", Value::from(1.0)),
        ("finding_count", Value::Null),
    ] {
        assert_eq!(metric(&report, name)["value"], worst, "{name}");
    }
}

fn partly_unreadable() {
    let repository = ten();
    let text = r#"{"status": "completed", "outputs": {"text": "I am sorry."}}"#;
    for (bad, code) in [(1, 0), (2, 1)] {
        repository.remove(&if bad == 1 {
            run_of(1)
        } else {
            "golden/runs/legal/c1".to_owned()
        });
        for sample in 0..3 {
            let file = format!("golden/runs/legal/c1/{sample}.json");
            let read = answer(1).replace("\"sample\": 0", &format!("\"sample\": {sample}"));
            repository.write(&file, if sample < bad { text } else { &read });
        }
        assert_eq!(
            graded(&repository).0.code,
            code,
            "{bad} of 3 cannot be read"
        );
    }
}

fn newly_failing() {
    let repository = ten();
    // One gap of ten is not reported: no gate of the kind looks at gaps.
    repository.write(&run_of(1), answer(1).replace("missing doc", "another"));
    let (ran, report) = graded(&repository);
    assert_eq!(
        (ran.code, &metric(&report, "newly_failing")["value"]),
        (0, &Value::from(1.0)),
        "{}",
        ran.stdout
    );
    assert_eq!(
        agent(&report)["cases"][0]["baseline_state"],
        "newly_failing"
    );
    assert_eq!(agent(&report)["cases"][0]["verdict"], "fail");
    repository.replace(
        "goldgate.yaml",
        "    agents:",
        "    no_newly_failing: true\n    agents:",
    );
    let (ran, report) = graded(&repository);
    assert_eq!(
        (ran.code, &metric(&report, "newly_failing")["verdict"]),
        (1, &Value::from("fail")),
        "{}",
        ran.stdout
    );
    repository.write(&run_of(1), answer(1));
    assert_eq!(graded(&repository).0.code, 0);
    // A case that failed before and fails still is none.
    repository.write(&run_of(2), answer(2).replace("missing doc", "another"));
    repository.goldgate(&["run", "--update-baseline"]);
    let (ran, report) = graded(&repository);
    assert_eq!(
        (ran.code, &metric(&report, "newly_failing")["value"]),
        (0, &Value::from(0.0)),
        "{}",
        ran.stdout
    );
    let baseline: Value = serde_json::from_str(&repository.read("baselines/latest.json")).unwrap();
    let entry = &baseline["suites"]["contracts"]["agents"]["legal"];
    assert_eq!(
        (
            &entry["metrics"]["newly_failing"],
            &entry["cases"]["c2"]["passed"][0]
        ),
        (&Value::Null, &Value::from(0.0))
    );
}

fn off_and_incomparable() {
    let repository = ten();
    repository.replace("baselines/latest.json", "findings/1", "findings/0");
    assert_eq!(graded(&repository).0.code, 3);
    let needing = [
        "citation_accuracy",
        "severity_accuracy",
        "f1_score",
        "finding_precision",
        "gap_recall",
        "quote_grounding",
        "case_pass_rate",
    ];
    let gates = needing
        .map(|name| format!("{name}: {{ off: true, reason: moving }}"))
        .join(", ");
    repository.replace(
        "goldgate.yaml",
        "    agents:",
        &format!("    gates: {{ {gates} }}\n    agents:"),
    );
    let (ran, _) = graded(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn added_scenario() {
    let repository = Repository::bundled();
    let only = ["run", "--suite", "interview", "--format", "json"];
    let before = repository.goldgate(&only);
    assert_eq!(before.code, 0, "{}{}", before.stdout, before.stderr);
    let report: Value = serde_json::from_str(&before.stdout).unwrap();
    let known = agent(&report)["cases"][0]["case"]
        .as_str()
        .unwrap()
        .to_owned();
    let scenario = repository.read(&format!("fixtures/interview/scenarios/{known}.json"));
    repository.write(
        "fixtures/interview/scenarios/added.json",
        scenario.replace(&known, "added"),
    );
    repository.write(
        "fixtures/interview/runs/interviewer/added.json",
        r#"{"status": "completed", "outputs": {"atoms": [], "questions": [], "rounds": 1}}"#,
    );
    let ran = repository.goldgate(&only);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(metric(&report, "scenario_pass_rate")["verdict"], "fail");
    let notes = agent(&report)["notes"].to_string();
    assert!(
        notes.contains(
            "scenario_pass_rate of the cases that are not in the baseline (added) is 0; the limit for them is 1"
        ),
        "{notes}"
    );
    let shown = repository
        .goldgate(&["run", "--suite", "interview", "--format", "markdown"])
        .stdout;
    assert!(shown.contains("96.2% (100% of those compared)"), "{shown}");
}

fn nothing_else_judged() {
    let repository = Repository::small();
    let off = [
        "finding_recall",
        "false_positive_rate",
        "count_in_range",
        "case_pass_rate",
    ]
    .map(|name| format!("{name}: {{ off: true, reason: x }}"));
    repository.replace(
        "goldgate.yaml",
        "    agents:",
        &format!("    gates: {{ {} }}\n    agents:", off.join(", ")),
    );
    let (ran, report) = graded(&repository);
    assert_eq!(
        (ran.code, &metric(&report, "coverage")["verdict"]),
        (3, &Value::from("pass")),
        "{}",
        ran.stdout
    );
}

fn infra() {
    let repository = ten();
    (0..3).for_each(|sample| {
        let file = format!("golden/runs/legal/c1/{sample}.json");
        repository.write(
            &file,
            if sample == 0 {
                LOST.to_owned()
            } else {
                answer(1).replace("\"sample\": 0", &format!("\"sample\": {sample}"))
            },
        );
    });
    repository.remove(&run_of(1));
    let comment = repository.goldgate(&["run", "--format", "markdown"]).stdout;
    assert!(comment.contains("| 1 | +1 NEW |"), "{comment}");
    repository.goldgate(&["run", "--update-baseline"]);
    let comment = repository.goldgate(&["run", "--format", "markdown"]).stdout;
    assert!(comment.contains("| 1 | = |"), "{comment}");
}
