//! `goldgate run`, through the door users use.

mod written_baselines;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::repository::{Ran, Repository, program, ran, root};
use crate::trial;

const RUN: &str = "golden/runs/legal/lease.json";

pub fn trials() -> Vec<Trial> {
    let mut trials = written_baselines::trials();
    trials.extend([
        trial(
            "the bundled suites pass and give the same report twice",
            bundled,
        ),
        trial(
            "a missed required finding fails with exit code 1",
            regression,
        ),
        trial(
            "the same regression with --non-blocking exits with 0",
            non_blocking,
        ),
        trial(
            "a captured baseline compares with itself without a difference",
            captured,
        ),
        trial(
            "a drop of f1 below the baseline fails though all floors hold",
            f1_drop,
        ),
        trial(
            "a baseline of another scorer is incomparable and gives no verdict",
            incomparable,
        ),
        trial(
            "a baseline without an identity is compared and said to be of unknown origin",
            unknown_origin,
        ),
        trial(
            "an agent without a majority of samples gives no verdict",
            all_excluded,
        ),
        trial(
            "an agent without a judged gate is skipped, a run without any gives no verdict",
            nothing_judged,
        ),
        trial(
            "with another set of cases the comparison is on those that both have",
            case_sets,
        ),
        trial("a band is inconclusive, logged, and exits with 0", band),
        trial(
            "a live target that gives nothing is named and is no pass",
            live,
        ),
        trial(
            "every file of --out is written and the stored report renders the same",
            out_folder,
        ),
        trial(
            "the layouts of the kinds' own systems are written, and no history is overwritten",
            layouts,
        ),
        trial(
            "answers that are read in another way than at the baseline are told",
            layers,
        ),
        trial("help and version exit with 0 and bad usage with 2", usage),
        trial(
            "the environment's number of samples counts where the command line has none",
            samples,
        ),
        trial("a colour never reaches a pipe", no_colour),
        trial("check finds nothing wrong in the bundled suites", check),
        trial("explain names the evidence and the next action", explain),
        trial(
            "a full disk or a folder without permission is told and exits with 3",
            no_permission,
        ),
    ]);
    trials
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
}

fn gate(report: &Value, metric: &str) -> Value {
    report["suites"][0]["agents"][0]["metrics"][metric]["gates"][0].clone()
}

fn bundled() {
    let once = ran(program(root()).args(["run", "-v", "--format", "json"]));
    let twice = ran(program(root()).args(["run", "-v", "--format", "json"]));
    assert_eq!((once.code, once.stderr.as_str()), (0, ""));
    assert!(once.stdout == twice.stdout);
    let report = report(&once);
    assert_eq!(report["verdict"], "pass");
    let suites: Vec<&str> = report["suites"]
        .as_array()
        .unwrap()
        .iter()
        .map(|suite| suite["id"].as_str().unwrap())
        .collect();
    let wanted = [
        "contracts",
        "triggers",
        "cross",
        "assistant",
        "orders",
        "interview",
        "variability",
        "reconciliation",
        "stability",
        "evidence",
        "revision",
        "invoices",
    ];
    assert_eq!(suites, wanted);
    for metric in report["suites"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|suite| suite["agents"].as_array().unwrap())
    {
        for (name, metric) in metric["metrics"].as_object().unwrap() {
            let same = metric["delta"]
                .as_f64()
                .is_none_or(|delta| delta.abs() < 1e-6);
            assert!(same, "{name} differs from the committed baseline: {metric}");
        }
    }
}

fn regression() {
    let repository = Repository::small();
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let report = report(&ran);
    assert_eq!(
        (&report["verdict"], &report["exit_code"]),
        (&Value::from("fail"), &Value::from(1))
    );
    let failure = &report["failures"][0];
    assert_eq!(
        (&failure["check"], &failure["tag"]),
        (&Value::from("expected_finding[0]"), &Value::from("prompt"))
    );
    assert_eq!(failure["location"]["line"], 3);
    assert_eq!(
        failure["location"]["file"],
        "golden/expected/legal/lease.json"
    );
    assert!(
        failure["detail"]
            .as_str()
            .unwrap()
            .contains("lacks \"consent\""),
        "{failure}"
    );
}

fn non_blocking() {
    let repository = Repository::small();
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    let ran = repository.goldgate(&["run", "-v", "--non-blocking"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.stdout.contains("This does not block the merge."),
        "{}",
        ran.stdout
    );
}

fn captured() {
    let repository = Repository::small();
    assert_eq!(
        repository
            .goldgate(&["run", "-v", "--update-baseline"])
            .code,
        0
    );
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    let report = report(&ran);
    assert_eq!(
        report["suites"][0]["agents"][0]["metrics"]["f1_score"]["delta"],
        0.0
    );
    assert_eq!(gate(&report, "f1_score")["verdict"], "pass");
    assert_eq!(
        report["suites"][0]["agents"][0]["cases"][0]["baseline_state"],
        "still_passing"
    );
    let left: Vec<String> = std::fs::read_dir(repository.path("baselines"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left, ["latest.json"], "no draft is left");
}

fn f1_drop() {
    let repository = Repository::small();
    repository.goldgate(&["run", "-v", "--update-baseline"]);
    repository.replace(
        RUN,
        "\"findings\": [",
        "\"findings\": [ {\"category\": \"a\"}, {\"category\": \"b\"},",
    );
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    let report = report(&ran);
    assert_eq!(ran.code, 1);
    assert_eq!(gate(&report, "finding_recall")["verdict"], "pass");
    // Precision is 1/3, so f1 is 1/2.
    assert_eq!(
        report["suites"][0]["agents"][0]["metrics"]["f1_score"]["delta"],
        -0.5
    );
    assert_eq!(gate(&report, "f1_score")["verdict"], "fail");
}

fn incomparable() {
    let repository = Repository::small();
    repository.goldgate(&["run", "-v", "--update-baseline"]);
    repository.replace("baselines/latest.json", "findings/1", "findings/0");
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    let report = report(&ran);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert_eq!(gate(&report, "f1_score")["verdict"], "skipped");
    assert!(report["suites"][0]["agents"][0]["metrics"]["f1_score"]["delta"].is_null());
    assert!(
        report["not_gateable"][0]
            .as_str()
            .unwrap()
            .contains("scorer revision is findings/0"),
        "{report}"
    );
}

fn unknown_origin() {
    let repository = Repository::small();
    let text = r#"{"schema": "goldgate.baseline/1", "suites": {"contracts": {"agents": {"legal": {"metrics": {"f1_score": 1.0}}}}}}"#;
    repository.write("baselines/latest.json", text);
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    let report = report(&ran);
    assert_eq!(ran.code, 0);
    assert_eq!(gate(&report, "f1_score")["verdict"], "pass");
    let notes = report["suites"][0]["agents"][0]["notes"].to_string();
    assert!(
        notes.contains("origin of the baseline is unknown"),
        "{notes}"
    );
}

fn all_excluded() {
    let repository = Repository::small();
    repository.replace(RUN, "\"status\": \"completed\"", "\"status\": \"stalled\"");
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    let report = report(&ran);
    assert_eq!(
        (ran.code, &report["verdict"]),
        (3, &Value::from("inconclusive"))
    );
    assert_eq!(report["infra"], 1);
    assert!(
        report["suites"][0]["agents"][0]["cases"][0]["excluded"]
            .as_bool()
            .unwrap()
    );
}

/// Switches every default gate of `findings` off.
fn switch_off(repository: &Repository, metrics: &[&str]) {
    let gates: Vec<String> = metrics
        .iter()
        .map(|name| format!("{name}: {{ off: true, reason: moving }}"))
        .collect();
    let stated = format!("    gates: {{ {} }}\n    agents:", gates.join(", "));
    repository.replace("goldgate.yaml", "    agents:", &stated);
}

fn nothing_judged() {
    let gates = [
        "finding_recall",
        "citation_accuracy",
        "severity_accuracy",
        "false_positive_rate",
        "f1_score",
        "case_pass_rate",
        "count_in_range",
    ];
    let repository = Repository::small();
    switch_off(&repository, &gates);
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    assert_eq!(
        (ran.code, &report(&ran)["verdict"]),
        (3, &Value::from("skipped"))
    );
    let why = "no gate could be judged: switched off: moving";
    assert_eq!(report(&ran)["not_gateable"], serde_json::json!([why]));

    // The second agent states no count, which is the one gate that is left.
    let repository = Repository::small();
    switch_off(&repository, &gates[..6]);
    repository.write("golden/expected/finance/lease.json", "{}");
    repository.write(
        "golden/runs/finance/lease.json",
        r#"{"status": "completed", "outputs": {"findings": []}}"#,
    );
    let second = "    agents:\n      finance: { deterministic: { replay: golden/runs }, fingerprint: { none: written by hand } }\n";
    repository.replace("goldgate.yaml", "    agents:\n", second);
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    let report = report(&ran);
    assert_eq!((ran.code, &report["verdict"]), (0, &Value::from("pass")));
    assert_eq!(report["suites"][0]["agents"][0]["verdict"], "skipped");
    assert_eq!(report["not_gateable"], serde_json::json!([]));
}

/// A second case, whose run finds nothing of what is required.
fn with_second_case(repository: &Repository) {
    repository.write("golden/contracts/rent.md", "# Rent");
    repository.write(
        "golden/expected/legal/rent.json",
        r#"{"expected_findings": [{"category": "rent"}]}"#,
    );
    repository.write(
        "golden/runs/legal/rent.json",
        r#"{"status": "completed", "outputs": {"findings": []}}"#,
    );
}

fn case_sets() {
    let repository = Repository::small();
    repository.goldgate(&["run", "-v", "--update-baseline"]);
    with_second_case(&repository);
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    let first = report(&ran);
    let agent = &first["suites"][0]["agents"][0];
    // The whole agent has f1 0, but on the case that the baseline knows nothing moved: the floor fails, the regression does not.
    assert_eq!(agent["metrics"]["f1_score"]["value"], 0.0);
    assert_eq!(agent["metrics"]["f1_score"]["delta"], 0.0);
    assert_eq!(gate(&first, "f1_score")["verdict"], "pass");
    assert_eq!(gate(&first, "finding_recall")["verdict"], "fail");
    assert_eq!(agent["cases"][1]["baseline_state"], "new");
    assert!(
        agent["notes"].to_string().contains(
            "the case sets differ (1 new, 0 removed); cases compared with the baseline: 1"
        ),
        "{agent}"
    );
    // The recall fails a hard gate.
    repository.goldgate(&["run", "-v", "--update-baseline", "--all"]);
    for file in [
        "golden/contracts/rent.md",
        "golden/expected/legal/rent.json",
        "golden/runs/legal/rent.json",
    ] {
        repository.remove(file);
    }
    let second = report(&repository.goldgate(&["run", "-v", "--format", "json"]));
    let agent = &second["suites"][0]["agents"][0];
    assert_eq!(agent["removed"], serde_json::json!(["rent"]));
    assert_eq!(agent["metrics"]["f1_score"]["delta"], 0.0);
}

fn band() {
    let repository = Repository::small();
    repository.goldgate(&["run", "-v", "--update-baseline"]);
    // The default gate has a band of 0.05 below the baseline.
    repository.replace(
        "baselines/latest.json",
        "\"severity_accuracy\": 1.0",
        "\"severity_accuracy\": 1.04",
    );
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(report(&ran)["verdict"], "inconclusive");
    assert!(
        repository
            .goldgate(&["run", "-v"])
            .stdout
            .contains("No gate fails, but 1 gate is inconclusive: ")
    );
}

fn live() {
    let repository = Repository::small();
    repository.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    tier: [deterministic, model]\n",
    );
    repository.replace(
        "goldgate.yaml",
        "deterministic: { replay: golden/runs }",
        "deterministic: { replay: golden/runs }, model: { target: own }",
    );
    repository.write(
        "goldgate.yaml",
        format!(
            "{}targets:\n  own: {{ command: [\"true\"] }}\n",
            repository.read("goldgate.yaml")
        ),
    );
    let ran = repository.goldgate(&["run", "-v", "--tier", "model"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    #[cfg(feature = "models")]
    assert!(
        ran.stdout
            .contains("1 of 1 cases not measured; not in the baseline: lease (error: "),
        "{}",
        ran.stdout
    );
    #[cfg(not(feature = "models"))]
    assert!(
        ran.stdout.contains("not run: contracts/legal: "),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("no verdict: "), "{}", ran.stdout);
    assert_eq!(
        repository
            .goldgate(&["run", "-v", "--tier", "model", "--blocking"])
            .code,
        3
    );
    assert_eq!(repository.goldgate(&["run", "-v", "--tier", "all"]).code, 0);
}

fn out_folder() {
    let repository = Repository::small();
    repository.replace(
        RUN,
        "Needs prior approval.",
        "Needs <b>nothing</b> & ::error::.",
    );
    let direct = repository.goldgate(&["run", "-v", "--out", "out/deep"]);
    for file in [
        "report.json",
        "summary.json",
        "junit.xml",
        "report.md",
        "report.html",
        "proposed-baseline.json",
    ] {
        assert!(
            !repository.read(&format!("out/deep/{file}")).is_empty(),
            "{file}"
        );
    }
    let again = repository.goldgate(&["report", "-v", "out/deep"]);
    assert_eq!((again.code, again.stdout), (0, direct.stdout));
    for (format, file) in [
        ("json", "report.json"),
        ("markdown", "report.md"),
        ("junit", "junit.xml"),
        ("sarif", "report.sarif"),
        ("html", "report.html"),
    ] {
        assert_eq!(
            repository
                .goldgate(&["report", "-v", "out/deep", "--format", format])
                .stdout,
            repository.read(&format!("out/deep/{file}")),
            "{format}"
        );
    }
}

fn layers() {
    let repository = Repository::small();
    repository.goldgate(&["run", "-v", "--update-baseline"]);
    assert!(
        repository
            .read("baselines/latest.json")
            .contains("\"read_layers\": {\n"),
        "one key a line"
    );
    let told = "output parsing changed since the baseline: 1 structured before, 1 strict now";
    assert!(
        !repository
            .goldgate(&["run", "-v"])
            .stdout
            .contains("another way")
    );
    let text = "{\"findings\": [{\"category\": \"change-of-control\", \"severity\": \"P1\", \"title\": \"Change of control: approval\", \"citations\": [{\"file\": \"docs/lease.md\", \"quote\": \"a change of control\"}]}], \"gaps\": [\"missing doc\"]}";
    let run = serde_json::json!({"status": "completed", "outputs": {"text": text}});
    repository.write(RUN, run.to_string());
    let ran = repository.goldgate(&["run", "-v"]);
    assert!(ran.code == 0 && ran.stdout.contains(told), "{}", ran.stdout);
}

fn layouts() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    for _ in 0..2 {
        assert_eq!(
            ran(program(root()).args(["run", "-v", "--out", out])).code,
            0
        );
    }
    let names = |inside: &str| {
        let entries = std::fs::read_dir(folder.path().join(inside)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("assistant"), ["history", "latest.json"]);
    assert_eq!(
        names("assistant/history"),
        ["eval_20261121T000000Z-2.json", "eval_20261121T000000Z.json"]
    );
    assert_eq!(names("golden").len(), 8, "four suites, twice");
    let top = names("");
    for name in [
        "evaluation-20261121T000000.json",
        "evaluation-20261121T000000-2.json",
        "summary-20261121T000000.json",
    ] {
        assert!(top.iter().any(|other| other == name), "{top:?}");
    }
    let latest = std::fs::read_to_string(folder.path().join("assistant/latest.json")).unwrap();
    let latest: Value = serde_json::from_str(&latest).unwrap();
    assert_eq!(latest["suites"].as_array().unwrap().len(), 1);
    assert_eq!(
        latest["suites"][0]["agents"][0]["cases"]
            .as_array()
            .unwrap()
            .len(),
        48
    );
}

fn usage() {
    let repository = Repository::small();
    for arguments in [&["--help"][..], &["run", "-v", "--help"], &["--version"]] {
        assert_eq!(repository.goldgate(arguments).code, 0, "{arguments:?}");
    }
    for arguments in [
        &[][..],
        &["walk"],
        &["run", "-v", "--samples", "0"],
        &["run", "-v", "--blocking", "--non-blocking"],
        &["run", "-v", "--tier", "gold"],
    ] {
        assert_eq!(repository.goldgate(arguments).code, 2, "{arguments:?}");
    }
}

fn samples() {
    let repository = Repository::small();
    let planned =
        |ran: &Ran| report(ran)["suites"][0]["agents"][0]["cases"][0]["samples_planned"].clone();
    let run = |arguments: &[&str]| {
        repository.goldgate_with(
            &[&["run", "-v", "--format", "json"], arguments].concat(),
            &[("GOLDGATE_SAMPLES", "2")],
        )
    };
    assert_eq!(planned(&run(&[])), 2);
    assert_eq!(planned(&run(&["--samples", "3"])), 3);
    assert_eq!(run(&[]).code, 3, "one of two is no majority");
    let set_to = |value| {
        repository.goldgate_with(
            &["run", "-v", "--format", "json"],
            &[("GOLDGATE_SAMPLES", value)],
        )
    };
    assert_eq!(
        planned(&set_to("")),
        1,
        "a variable that is set to nothing states nothing"
    );
    let refused = set_to("many");
    assert!(
        refused.code == 2 && refused.stderr.contains("or in GOLDGATE_SAMPLES"),
        "{}",
        refused.stderr
    );
    repository.replace("goldgate.yaml", "version: 1", "version: 1\nsamples: 4");
    assert_eq!(
        planned(&repository.goldgate(&["run", "-v", "--format", "json"])),
        4
    );
    repository.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    samples: 1\n",
    );
    assert_eq!(
        planned(&repository.goldgate(&["run", "-v", "--format", "json"])),
        1
    );
}

fn no_colour() {
    let repository = Repository::small();
    assert!(
        !repository
            .goldgate_with(&["run", "-v"], &[("TERM", "xterm-256color")])
            .stdout
            .contains('\u{1b}')
    );
}

fn check() {
    let ran = ran(program(root()).args(["check"]));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout
            .contains("baseline: read\ncontracts/commercial: policy seed\n")
            && ran
                .stdout
                .contains("\nretired: evidence/legacy_py2_repo (retired on 2026-10-01: ")
            && !ran.stdout.contains("note:"),
        "{}",
        ran.stdout
    );
}

fn explain() {
    let repository = Repository::small();
    repository.replace(RUN, "lease.md\", \"quote\"", "rent.md\", \"quote\"");
    let ran = repository.goldgate(&["explain", "lease"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.stdout
            .contains("FAILS  expected_finding[0]  golden/expected/legal/lease.json:3"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("citing \"rent.md\" instead of \"lease.md\""),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("next: \"rent.md\" is not a document of this suite"),
        "{}",
        ran.stdout
    );
    assert_eq!(repository.goldgate(&["explain", "rent"]).code, 2);
}

fn no_permission() {
    let repository = Repository::small();
    // A file stands where the folder would have to be made: this fails for every user.
    repository.write("out", "a file");
    let ran = repository.goldgate(&["run", "-v", "--out", "out"]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.stderr
            .starts_with("error: while creating the folder out: "),
        "{}",
        ran.stderr
    );
    repository.write("baselines", "a file");
    let ran = repository.goldgate(&["run", "-v", "--update-baseline"]);
    assert!(matches!(ran.code, 2 | 3), "{}", ran.stderr);
}
