//! Small things of the numbers that once were otherwise: each row is a behaviour that pages and program agree on.

use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases::copy;
use crate::repository::{EXPECTED, RUN, Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "every question that is not empty counts, in any script",
            questions,
        ),
        trial(
            "a metric that is null on the cases in common with the baseline says so",
            null_in_common,
        ),
        trial(
            "a baseline of one half does not lower the gate of revised contracts",
            half_revised,
        ),
        trial(
            "a label without effect is refused with the known names",
            labels,
        ),
    ]
}

fn of(folder: &str) -> Repository {
    let repository = Repository::empty();
    copy(
        &root().join("tests/cases").join(folder).join("files"),
        &repository.path(""),
    );
    repository
}

fn report(repository: &Repository) -> Value {
    let ran = repository.goldgate(&["run", "--format", "json"]);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr))
}

fn questions() {
    let asked = "[\"What happens if two orders take the last item at the same time?\", \"Who may correct a count?\"]";
    for (questions, points) in [
        (r#"[]"#, 0.0),
        (r#"["", "  "]"#, 0.0),
        (r#"["Which currency? (EUR or USD)"]"#, 1.0),
        (r#"["Σε ποιο νόμισμα;", "ما هي العملة؟"]"#, 2.0),
        (r#"["どの通貨ですか？", "Tell me the currency."]"#, 2.0),
    ] {
        let repository = of("labels/a_score_of_other_outputs_is_outdated");
        repository.replace("runs/reviewer/stock.json", asked, questions);
        let found = report(&repository)["suites"][0]["agents"][0]["metrics"]["ambiguity_discipline"]["value"].clone();
        assert_eq!(found, points, "{questions}");
    }
}

fn null_in_common() {
    let repository = Repository::small();
    repository.replace(
        "goldgate.yaml",
        "    agents:",
        "    gates: { gap_recall: { max_drop: 0.15 } }\n    agents:",
    );
    let without_gaps = |text: &str| text.replace("\"expected_gaps\": [\"Missing_Doc\"],", "");
    repository.write("golden/expected/legal/lease.json", without_gaps(EXPECTED));
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    repository.write(
        "golden/contracts/loan.md",
        repository.read("golden/contracts/lease.md"),
    );
    repository.write(
        "golden/expected/legal/loan.json",
        EXPECTED.replace("lease.md", "loan.md"),
    );
    repository.write(
        "golden/runs/legal/loan.json",
        RUN.replace("\"lease\"", "\"loan\"")
            .replace("lease.md", "loan.md"),
    );
    let gap_recall =
        report(&repository)["suites"][0]["agents"][0]["metrics"]["gap_recall"].to_string();
    assert!(
        gap_recall.contains("null on the 1 case in common with the baseline"),
        "{gap_recall}"
    );
}

fn half_revised() {
    let repository = of("revision/every_way_to_revise_wrongly_is_told_apart");
    repository.replace(
        "goldgate.yaml",
        "version: 1\n",
        "version: 1\nbaseline: baselines/latest.json\n",
    );
    let failing = |report: &Value| -> Vec<String> {
        let suites = report["suites"].as_array().unwrap().iter();
        let metrics =
            suites.flat_map(|suite| suite["agents"][0]["metrics"].as_object().unwrap().clone());
        metrics
            .filter(|(_, metric)| metric["verdict"] == "fail")
            .map(|(name, _)| name)
            .collect()
    };
    let before = report(&repository);
    assert!(
        failing(&before).iter().any(|name| name == "satisfied"),
        "{:?}",
        failing(&before)
    );
    repository.goldgate(&["run", "--update-baseline", "--all"]);
    assert!(repository.path("baselines/latest.json").exists());
    // What the baseline says changes nothing: a contract that is not revised is not satisfied.
    let after = report(&repository);
    let satisfied =
        |report: &Value| report["suites"][0]["agents"][0]["metrics"]["satisfied"].clone();
    assert_eq!(satisfied(&after)["baseline"], satisfied(&before)["value"]);
    assert!(
        failing(&after).iter().any(|name| name == "satisfied"),
        "{:?}",
        failing(&after)
    );
}

fn labels() {
    let repository = of("labels/a_score_of_other_outputs_is_outdated");
    let told = |repository: &Repository, label: &str| {
        repository.write("labels.json", format!("[ {label} ]"));
        let ran = repository.goldgate(&["run"]);
        assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
        ran.stderr
    };
    let by = r#""by": "Subject A", "reason": "r""#;
    let check = told(
        &repository,
        &format!(r#"{{ "case": "stock", "check": "expected_atom[7]", "tag": "model", {by} }}"#),
    );
    assert!(
        check.contains("\"expected_atom[7]\" is not a check of the case \"stock\"; did you mean \"expected_atom[0]\"?"),
        "{check}"
    );
    let dimension = told(
        &repository,
        &format!(r#"{{ "case": "stock", "dimension": "atom_clarty", "score": 1, {by} }}"#),
    );
    assert!(
        dimension.contains("unknown dimension \"atom_clarty\"; did you mean \"atom_clarity\"?"),
        "{dimension}"
    );
    // Only one kind has a rubric.
    let repository = Repository::small();
    repository.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    labels: labels.json\n",
    );
    let other = told(
        &repository,
        &format!(r#"{{ "case": "lease", "dimension": "compression", "score": 1, {by} }}"#),
    );
    assert!(
        other.contains(
            "the dimension \"compression\" has no effect here: kind findings has no rubric"
        ),
        "{other}"
    );
}
