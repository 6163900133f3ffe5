//! A draft case: it runs and is shown, and no metric, gate or baseline knows it.

use goldgate::suites::KINDS;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::soundness;
use crate::tags::tagged;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a draft in a suite of any kind is graded apart from its cases",
            every_kind,
        ),
        trial("a failing draft is shown, and fails no gate", shown),
        trial(
            "a draft changes no number, and the baseline does not know it",
            no_number,
        ),
        trial(
            "a suite of drafts alone has no verdict, and no baseline",
            drafts_alone,
        ),
        trial(
            "a suite of drafts beside another suite neither passes nor fails",
            beside,
        ),
        trial(
            "a case that becomes a draft needs an approval",
            made_a_draft,
        ),
        trial("a draft that becomes a case is an added case", accepted),
        trial("an edited draft is no golden change", edited),
        trial("a draft has to be true or false", bad),
        trial("a shard and a merge leave drafts out", sharded),
        trial(
            "a draft that was not recorded costs no verdict",
            not_recorded,
        ),
    ]
}

/// The three cases of [`tagged`], with these as drafts.
fn drafted(ids: &[&str]) -> Repository {
    let repository = tagged();
    let mut cases: Value = serde_json::from_str(&repository.read("cases.json")).unwrap();
    for case in cases
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .filter(|case| ids.contains(&case["id"].as_str().unwrap()))
    {
        case["draft"] = json!(true);
    }
    repository.write("cases.json", serde_json::to_string_pretty(&cases).unwrap());
    repository
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr))
}

fn names(list: &Value) -> Vec<String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .map(|case| case["case"].as_str().unwrap().to_owned())
        .collect()
}

fn every_kind() {
    let repository = Repository::bundled();
    let before = report(&repository.goldgate(&["run", "--format", "json"]));
    let mut drafted: Vec<(String, String, String)> = Vec::new();
    for suite in before["suites"].as_array().unwrap() {
        let (kind, case) = (
            suite["kind"].as_str().unwrap(),
            &suite["agents"][0]["cases"][0],
        );
        let (golden, id) = (
            case["golden"].as_str().unwrap(),
            case["case"].as_str().unwrap(),
        );
        if drafted.iter().any(|(_, known, _)| known == golden) {
            continue;
        }
        let mut file: Value = serde_json::from_str(&repository.read(golden)).unwrap();
        let list = if file.is_array() {
            Some(&mut file)
        } else {
            file.get_mut("cases")
        };
        let entry = match list.and_then(Value::as_array_mut) {
            Some(list) => list.iter_mut().enumerate().find_map(|(index, one)| {
                let default = format!("{}-{index}", one["category"].as_str().unwrap_or_default());
                (one["id"].as_str().map_or(default == id, |own| own == id)).then_some(one)
            }),
            None => Some(&mut file),
        };
        entry.unwrap()["draft"] = json!(true);
        repository.write(golden, serde_json::to_string_pretty(&file).unwrap());
        drafted.push((
            suite["id"].as_str().unwrap().to_owned(),
            golden.to_owned(),
            kind.to_owned(),
        ));
    }
    let ran = repository.goldgate(&["run", "--format", "json"]);
    let after = report(&ran);
    let mut kinds: Vec<&str> = drafted.iter().map(|(.., kind)| kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), KINDS.len(), "{kinds:?}");
    for (suite, golden, kind) in &drafted {
        let found = after["suites"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["id"] == suite.as_str())
            .unwrap();
        let of = |key: &str| -> Vec<Value> {
            let agents = found["agents"].as_array().unwrap().iter();
            let lists = agents.filter_map(|agent| agent[key].as_array()).flatten();
            lists
                .filter(|case| case["golden"] == golden.as_str())
                .cloned()
                .collect()
        };
        assert!(!of("drafts").is_empty(), "{kind}: {golden}");
        assert!(
            of("drafts")
                .iter()
                .all(|draft| draft["verdict"] == "skipped" && draft["samples_completed"] != 0)
        );
        assert!(
            kind == "tool_use" || of("cases").is_empty(),
            "{kind}: {golden}"
        );
    }
}

fn shown() {
    assert_eq!(tagged().goldgate(&["run"]).code, 1, "the control");
    let repository = drafted(&["c"]);
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let says = "chat/helper: 1 draft counts for nothing until `goldgate review` accepts: c fails ";
    assert!(ran.stdout.contains(says), "{}", ran.stdout);
    let markdown = repository.goldgate(&["run", "--format", "markdown"]).stdout;
    assert!(
        markdown.contains("**Drafts**, which count for nothing (1): chat/helper/c (fails "),
        "{markdown}"
    );
    let junit = repository.goldgate(&["run", "--format", "junit"]).stdout;
    assert!(
        junit.contains("<skipped message=\"a draft: it fails ") && !junit.contains("<failure"),
        "{junit}"
    );
    let html = repository.goldgate(&["run", "--format", "html"]).stdout;
    assert!(html.contains(">draft</td>"), "{html}");
    let sarif = repository.goldgate(&["run", "--format", "sarif"]).stdout;
    assert!(!sarif.contains("/c"), "{sarif}");
    let explained = repository.goldgate(&["explain", "chat/helper/c"]).stdout;
    assert!(
        explained.contains("  draft       it counts for nothing"),
        "{explained}"
    );
    assert!(
        explained.contains("About c?") && explained.contains("FAILS"),
        "{explained}"
    );
    let checked = repository.goldgate(&["check"]).stdout;
    assert!(
        checked.contains("2 pairs of agent and case, 1 draft waits for `goldgate review`"),
        "{checked}"
    );
}

fn no_number() {
    let (without, with) = (tagged(), drafted(&["c"]));
    // The draft states what no other case does.
    let mut cases: Value = serde_json::from_str(&with.read("cases.json")).unwrap();
    cases[2]["answer"] = json!({ "equals": "no" });
    with.write("cases.json", serde_json::to_string_pretty(&cases).unwrap());
    let mut cases: Value = serde_json::from_str(&without.read("cases.json")).unwrap();
    cases.as_array_mut().unwrap().pop();
    without.write("cases.json", serde_json::to_string_pretty(&cases).unwrap());
    without.remove("runs/helper/c.json");
    let metrics = |repository: &Repository| {
        let ran = repository.goldgate(&["run", "--format", "json", "--update-baseline"]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let agent = report(&ran)["suites"][0]["agents"][0].clone();
        (
            agent["metrics"].clone(),
            agent["identity"].clone(),
            agent["reliability"].clone(),
        )
    };
    assert_eq!(metrics(&without), metrics(&with));
    let baseline: Value = serde_json::from_str(&with.read("baselines/latest.json")).unwrap();
    let other: Value = serde_json::from_str(&without.read("baselines/latest.json")).unwrap();
    assert_eq!(baseline["suites"], other["suites"]);
    assert!(!with.read("baselines/latest.json").contains("\"c\""));
}

fn drafts_alone() {
    let repository = drafted(&["a", "b", "c"]);
    let ran = repository.goldgate(&["run", "--format", "json"]);
    let whole = report(&ran);
    assert_eq!(
        (ran.code, names(&whole["suites"][0]["agents"][0]["drafts"])),
        (3, vec!["a".into(), "b".into(), "c".into()])
    );
    assert_eq!(whole["suites"][0]["agents"][0]["verdict"], "skipped");
    let why = "no gate could be judged: every case is a draft; `goldgate review` decides on them";
    assert_eq!(whole["not_gateable"], json!([why]));
    assert_eq!(repository.goldgate(&["check"]).code, 0);
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("every case is a draft, so the baseline cannot be updated"),
        "{}",
        ran.stderr
    );
    assert!(!repository.path("baselines").exists());
}

fn beside() {
    let repository = drafted(&["c"]);
    repository.write(
        "drafts.json",
        repository
            .read("cases.json")
            .replace("\"draft\": true,", "")
            .replace("\"tags\"", "\"draft\": true, \"tags\""),
    );
    let config = repository.read("goldgate.yaml");
    let second = "  - id: more\n    kind: tool_use\n    policy: seed\n    path: drafts.json\n    agents: { helper: { deterministic: { replay: runs }, fingerprint: { none: written by hand } } }\n";
    repository.write("goldgate.yaml", format!("{config}{second}"));
    let ran = repository.goldgate(&["run", "--format", "json", "--update-baseline"]);
    let whole = report(&ran);
    assert_eq!(
        (ran.code, &whole["verdict"], &whole["suites"][1]["verdict"]),
        (0, &json!("pass"), &json!("skipped"))
    );
    assert!(!repository.read("baselines/latest.json").contains("more"));
}

/// The repository at HEAD as a base with a baseline of its own.
fn committed(ids: &[&str]) -> Repository {
    let repository = drafted(ids);
    repository.replace("cases.json", "\"no\"", "\"yes\"");
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    repository
}

fn against_base(repository: &Repository) -> Ran {
    soundness::goldgate(
        repository,
        &["run", "--base", "HEAD", "-v"].map(str::to_owned),
    )
}

fn made_a_draft() {
    let repository = committed(&[]);
    repository.replace(
        "cases.json",
        "\"id\": \"b\"",
        "\"draft\": true, \"id\": \"b\"",
    );
    let ran = against_base(&repository);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("of `chat` made a draft, which counts for nothing"),
        "{}",
        ran.stdout
    );
    // The rules of the base commit still judge it.
    assert!(
        !ran.stdout.contains("fails by the rules of the base commit"),
        "{}",
        ran.stdout
    );
    repository.replace("runs/helper/b.json", "yes", "maybe");
    let ran = against_base(&repository);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("fails by the rules of the base commit"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("; case b"), "{}", ran.stdout);
}

fn accepted() {
    let repository = committed(&["b"]);
    repository.replace("cases.json", "\"draft\": true,", "");
    let ran = against_base(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("case b of `chat` added")
            || ran.stdout.contains("1 case of `chat` added: b"),
        "{}",
        ran.stdout
    );
    // Written out, the default has the same meaning.
    let repository = committed(&[]);
    repository.replace(
        "cases.json",
        "\"id\": \"b\"",
        "\"draft\": false, \"id\": \"b\"",
    );
    let ran = against_base(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("edited"), "{}", ran.stdout);
}

fn edited() {
    let repository = committed(&["b"]);
    repository.replace("cases.json", "About b?", "About something else?");
    let ran = against_base(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("golden change"), "{}", ran.stdout);
}

fn bad() {
    let repository = tagged();
    repository.replace(
        "cases.json",
        "\"id\": \"c\"",
        "\"draft\": \"yes\", \"id\": \"c\"",
    );
    let ran = repository.goldgate(&["check"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("cases.json:") && ran.stderr.contains("boolean"),
        "{}",
        ran.stderr
    );
}

fn sharded() {
    let repository = drafted(&["c"]);
    for shard in ["1/2", "2/2"] {
        let out = format!("out-{}", &shard[..1]);
        let ran = repository.goldgate(&["run", "--shard", shard, "--out", &out]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(
            !repository
                .read(&format!("{out}/report.json"))
                .contains("\"drafts\"")
        );
    }
    let ran = repository.goldgate(&["merge", "out-1", "out-2"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn not_recorded() {
    let repository = drafted(&["c"]);
    repository.remove("runs/helper/c.json");
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("c is inconclusive"), "{}", ran.stdout);
}
