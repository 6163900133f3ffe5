//! A case in quarantine: it runs and shows, does not gate, and comes back.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a case in quarantine is left out of the numbers and shown",
            active,
        ),
        trial(
            "a case in quarantine is skipped in JUnit and a note in SARIF",
            exported,
        ),
        trial("a case whose quarantine has ended gates again", ended),
        trial(
            "a case in quarantine does not turn a suite of which everything was lost green",
            hidden,
        ),
        trial(
            "a case in quarantine that was lost neither passes nor fails",
            lost,
        ),
        trial(
            "the baseline keeps the values that a case had before its quarantine",
            kept,
        ),
        trial(
            "a quarantine that is too long, or one of too many, is refused",
            refused,
        ),
    ]
}

/// Ten fixtures, of which the first fails; the clock of the tests stands at 2026-11-21.
fn repository(quarantined: usize, expires: &str) -> Repository {
    let repository = Repository::empty();
    repository.write(
        "goldgate.yaml",
        "version: 1\nsuites:\n  - id: rec\n    kind: reconciliation\n    policy: seed\n    path: g\n    agents: { r: { deterministic: { replay: g/runs }, fingerprint: { none: written by hand } } }\n",
    );
    for place in 0..10 {
        let expected = json!([{"item": "src/a.rs", "kind": if place == 0 { "ghost_code" } else { "coupled" }}]);
        let mut fixture = json!({"snapshot": {"files": ["src/a.rs"]}, "expected_deltas": expected, "max_recommendations": 1});
        if place < quarantined {
            fixture["quarantine"] = json!({"owner": "team", "reason": "known", "expires": expires});
        }
        repository.write(&format!("g/fixtures/rec-{place}.json"), fixture.to_string());
        let delta = json!({"item": "src/a.rs", "kind": "coupled", "evidence": {"file_paths": ["src/a.rs"]}});
        let run = json!({"status": "completed", "outputs": {"deltas": [delta]}});
        repository.write(&format!("g/runs/r/rec-{place}.json"), run.to_string());
    }
    repository
}

fn rate(repository: &Repository) -> (i32, Value, Value) {
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let agent = &report["suites"][0]["agents"][0];
    (
        ran.code,
        agent["metrics"]["scenario_pass_rate"]["value"].clone(),
        agent["cases"][0].clone(),
    )
}

fn active() {
    let repository = repository(1, "2026-11-21");
    let (code, value, case) = rate(&repository);
    assert_eq!(
        (code, value),
        (0, json!(1.0)),
        "its last day is the one that is named"
    );
    assert_eq!(
        (
            &case["excluded"],
            &case["quarantine"]["owner"],
            &case["passed"]
        ),
        (&json!(true), &json!("team"), &json!("fails"))
    );
    let shown = repository.goldgate(&["run", "-v"]).stdout;
    assert!(
        shown.contains(
            "rec/r/rec-0: in quarantine until 2026-11-21, owned by team; it fails now: known"
        ),
        "{shown}"
    );
}

/// What other programs read says the same.
fn exported() {
    let repository = repository(1, "2026-11-21");
    let junit = repository.goldgate(&["run", "--format", "junit"]).stdout;
    assert!(
        junit.contains("<skipped message=\"in quarantine until 2026-11-21, owned by team; it fails now: known\"/>"),
        "{junit}"
    );
    assert!(!junit.contains("<failure"), "{junit}");
    let sarif: Value =
        serde_json::from_str(&repository.goldgate(&["run", "--format", "sarif"]).stdout).unwrap();
    let levels: Vec<&Value> = sarif["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["level"])
        .collect();
    assert!(
        !levels.is_empty() && levels.iter().all(|level| *level == "note"),
        "{levels:?}"
    );
}

fn ended() {
    let (code, value, case) = rate(&repository(1, "2026-11-20"));
    assert_eq!((code, value), (1, json!(0.9)));
    assert_eq!(case["quarantine"], Value::Null);
    let shown = repository(1, "2026-11-20").goldgate(&["run", "-v"]).stdout;
    assert!(
        shown.contains("rec/r: the quarantine of rec-0 ended on 2026-11-20: the case counts again"),
        "{shown}"
    );
}

const LOST: &str = r#"{"status": "timeout", "error": "no answer within 60 s", "outputs": {}}"#;

fn hidden() {
    let repository = repository(1, "2026-11-30");
    // A second suite that passes: with it nothing else than the lost one keeps the run from being green.
    let config = std::fs::read_to_string(repository.path("goldgate.yaml")).unwrap();
    let second = config
        .replace("version: 1\nsuites:\n", "")
        .replace("id: rec", "id: other");
    repository.write(
        "goldgate.yaml",
        format!("{config}{second}").replacen("g/runs", "runs", 1),
    );
    for place in 0..10 {
        repository.write(&format!("runs/r/rec-{place}.json"), LOST);
    }
    for completed in [false, true] {
        if completed {
            std::fs::copy(
                repository.path("g/runs/r/rec-0.json"),
                repository.path("runs/r/rec-0.json"),
            )
            .unwrap();
        }
        let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(
            (ran.code, &report["verdict"]),
            (3, &json!("inconclusive")),
            "{completed}"
        );
        let said = "rec/r: every case is excluded, because no majority of its samples completed";
        let why = report["not_gateable"].as_array().unwrap();
        let named = why[0].as_str().unwrap();
        assert!(
            named.contains(" cases not measured") && named.contains("; not in the baseline: rec-"),
            "{named}"
        );
        assert_eq!(why[1..], [json!(said)], "{completed}");
        assert_eq!(
            report["suites"][0]["agents"][0]["verdict"],
            json!("inconclusive"),
            "{completed}"
        );
        assert_eq!(
            report["suites"][1]["agents"][0]["verdict"],
            json!("pass"),
            "{completed}"
        );
    }
}

fn lost() {
    let repository = repository(1, "2026-11-30");
    repository.write("g/runs/r/rec-0.json", LOST);
    let shown = repository.goldgate(&["run", "-v"]).stdout;
    assert!(
        shown.contains("owned by team; it is inconclusive now: known"),
        "{shown}"
    );
}

/// A baseline that is written during the quarantine must not forget how good the case was.
fn kept() {
    let values = |repository: &Repository, key: &str| {
        let baseline: Value = serde_json::from_str(&repository.read("b.json")).unwrap();
        baseline["suites"]["rec"]["agents"]["r"][key]["rec-5"]["passed"].clone()
    };
    let repository = repository(0, "2026-11-30");
    let config = repository.read("goldgate.yaml")
        + "    gates: { newly_failing: { max: 0 }, scenario_pass_rate: { min: 0.5 } }\n";
    repository.write(
        "goldgate.yaml",
        config.replacen("version: 1\n", "version: 1\nbaseline: b.json\n", 1),
    );
    let fixture = repository.read("g/fixtures/rec-5.json");
    let mut quarantined: Value = serde_json::from_str(&fixture).unwrap();
    quarantined["quarantine"] =
        json!({"owner": "team", "reason": "known", "expires": "2026-11-30"});
    // Twice in quarantine: what a baseline keeps has to survive the next one, too.
    for (expected, cases, earlier) in [
        (fixture.clone(), json!([1.0]), Value::Null),
        (quarantined.to_string(), Value::Null, json!([1.0])),
        (quarantined.to_string(), Value::Null, json!([1.0])),
    ] {
        repository.write("g/fixtures/rec-5.json", expected);
        let ran = repository.goldgate(&["run", "--update-baseline"]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(
            (values(&repository, "cases"), values(&repository, "earlier")),
            (cases, earlier)
        );
    }
    repository.write(
        "g/runs/r/rec-5.json",
        r#"{"status": "completed", "outputs": {"deltas": []}}"#,
    );
    assert_eq!(repository.goldgate(&["run"]).code, 0, "it is in quarantine");
    repository.write("g/fixtures/rec-5.json", fixture);
    let ran = repository.goldgate(&["run", "-v"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let note =
        "compared with older values, because the baseline has none: rec-5; cases compared: 10";
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
    // Once it counts, the baseline has it like any other.
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 1);
    assert_eq!(
        (values(&repository, "cases"), values(&repository, "earlier")),
        (json!([0.0]), Value::Null)
    );
}

fn refused() {
    assert_eq!(
        rate(&repository(1, "2026-12-21")).0,
        0,
        "the last day there may be"
    );
    for (quarantined, expires, said) in [
        (
            1,
            "2026-12-22",
            "needs an owner, a reason and an end date up to 2026-12-21",
        ),
        (
            1,
            "soon",
            "needs an owner, a reason and an end date up to 2026-12-21",
        ),
        (
            2,
            "2026-12-01",
            "2 of 10 cases of \"rec\" are in quarantine: rec-0, rec-1",
        ),
    ] {
        let ran = repository(quarantined, expires).goldgate(&["run", "-v"]);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}
