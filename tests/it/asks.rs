//! What a live agent is asked: enough to answer, and nothing of what is expected.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use goldgate::diag::Diagnostic;
use goldgate::files::{Entry, Files};
use goldgate::model::{Ask, CheckOutcome, Layer, RepoPath, Run, RunKey, SuiteConfig, Toolbox};
use goldgate::suites::{GradeContext, KINDS, Pair, Suite, in_words, kind, read_config};
use goldgate::world::Disk;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::{Repository, root};
use crate::trial;

/// Kinds whose agents are never asked: rules, and a second look at another suite's runs.
const SILENT: [&str; 2] = ["triggers", "cross_agent"];

/// A sentence that holds of every suite, and its test.
type OfASuite = (&'static str, fn(&SuiteConfig));

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial(
            "the bundled tools return the results of the recorded calls",
            recorded_calls,
        ),
        trial("the bundled suites are of every kind", every_kind),
        trial("a case without a prompt needs a program", without_words),
        trial("a bare document is a reviser's revision", bare_document),
    ];
    let of_a_suite: [OfASuite; 4] = [
        (
            "every case has a request, unless its kind asks no agent",
            can_be_asked,
        ),
        ("no request reveals an expectation", no_leak),
        ("the answer forms are strict", strict_forms),
        (
            "an answer in the requested format is read without a flaw",
            answers_are_read,
        ),
    ];
    for suite in suites() {
        for (sentence, test) in of_a_suite {
            let config = suite.clone();
            trials.push(trial(format!("{}: {sentence}", suite.id), move || {
                test(&config)
            }));
        }
    }
    trials
}

/// The bundled suites of kinds with live agents.
fn suites() -> Vec<SuiteConfig> {
    let disk = Disk::open(root()).unwrap();
    let read = read_config(&disk.text(&RepoPath::root().child("goldgate.yaml")).unwrap()).unwrap();
    read.suites
}

/// The repository, with other golden files in the place of its own.
struct Planted {
    disk: Disk,
    files: BTreeMap<RepoPath, String>,
}

impl Files for Planted {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        self.disk.list(folder)
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        match self.files.get(file) {
            Some(text) => Ok(text.clone().into_bytes()),
            None => self.disk.bytes(file),
        }
    }
}

fn opened(config: &SuiteConfig, files: &dyn Files) -> Box<dyn Suite> {
    match (kind(&config.kind).unwrap().open)(config, files) {
        Ok(suite) => suite,
        Err(problems) => panic!("{:?}", problems.sorted()),
    }
}

/// What every run of every pair is asked, by pair and run.
fn asks<'s>(suite: &'s dyn Suite, files: &dyn Files) -> Vec<(&'s Pair, &'s RunKey, Option<Ask>)> {
    let runs = suite
        .pairs()
        .iter()
        .flat_map(|pair| pair.runs.iter().map(move |run| (pair, run)));
    runs.map(|(pair, run)| (pair, run, suite.ask(pair, run, files).unwrap()))
        .collect()
}

fn every_kind() {
    let there: BTreeSet<String> = suites().into_iter().map(|suite| suite.kind).collect();
    for kind in KINDS {
        assert!(
            there.contains(kind.name),
            "no bundled suite is of kind {}: nothing proves what it asks",
            kind.name
        );
    }
}

fn without_words() {
    let repository = Repository::empty();
    let case = r#"{"variants": [{"name": "comments", "transform": "comments added"}]}"#;
    repository.write("g/cases/x.json", case);
    repository.write("goldgate.yaml", CONFIG.replace("KIND", "property"));
    let disk = Disk::open(&repository.path("")).unwrap();
    let read = read_config(&disk.text(&RepoPath::root().child("goldgate.yaml")).unwrap()).unwrap();
    let suite = opened(&read.suites[0], &disk);
    let asked: Vec<Ask> = asks(suite.as_ref(), &disk)
        .into_iter()
        .filter_map(|(_, _, ask)| ask)
        .collect();
    assert_eq!(
        asked[0].inputs,
        json!({"case": "x", "variant": null, "transform": null})
    );
    assert_eq!(
        asked[1].inputs,
        json!({"case": "x", "variant": "comments", "transform": "comments added"})
    );
    for ask in &asked {
        let refused = in_words(ask, &suite.pairs()[0]).unwrap_err().to_string();
        assert!(
            refused.starts_with("g/cases/x.json: the case \"x\" has no prompt for a model; add"),
            "{refused}"
        );
    }
}

const CONFIG: &str = "\
version: 1
suites:
  - { id: s, kind: KIND, path: g, agents: { a: { deterministic: { replay: runs }, fingerprint: { none: written by hand } } } }
";

fn bare_document() {
    let disk = Disk::open(root()).unwrap();
    let config = suites()
        .into_iter()
        .find(|suite| suite.kind == "revision")
        .unwrap();
    let suite = opened(&config, &disk);
    let pair = suite
        .pairs()
        .iter()
        .find(|pair| pair.agent.as_str() == "reviser")
        .unwrap();
    let document = disk
        .text(&pair.golden.parent().child("revised.rtf"))
        .unwrap()
        .text;
    let prompts = BTreeMap::new();
    let grade = |outputs: &Value| {
        suite
            .grade(
                pair,
                &[completed(outputs)],
                &GradeContext::new(&disk, &prompts),
            )
            .unwrap()
    };
    let wanted = grade(&json!({"document": document}));
    for said in [document.clone(), json!({"document": document}).to_string()] {
        let grade = grade(&json!({"text": said}));
        assert_eq!(
            (grade.layer, &grade.values),
            (Layer::Strict, &wanted.values)
        );
    }
}

fn can_be_asked(config: &SuiteConfig) {
    let disk = Disk::open(root()).unwrap();
    let suite = opened(config, &disk);
    for (pair, run, ask) in asks(suite.as_ref(), &disk) {
        let name = format!("{} run {}", pair.case, run.case);
        assert_eq!(
            ask.is_none(),
            SILENT.contains(&config.kind.as_str()),
            "{name}"
        );
        let Some(ask) = ask else { continue };
        assert_eq!(in_words(&ask, pair), Ok(()), "{name}");
        assert!(
            ask.inputs
                .as_object()
                .is_some_and(|fields| !fields.is_empty()),
            "{name}: {}",
            ask.inputs
        );
        let text = format!("{}{}", ask.prompt, ask.inputs);
        assert!(
            !text.contains(&*root().to_string_lossy()),
            "{name} names a path of this machine"
        );
        assert_eq!(
            suite.ask(pair, run, &disk),
            Ok(Some(ask)),
            "{name} is asked the same twice"
        );
    }
}

fn no_leak(config: &SuiteConfig) {
    let disk = Disk::open(root()).unwrap();
    let suite = opened(config, &disk);
    let goldens: BTreeSet<RepoPath> = suite
        .pairs()
        .iter()
        .map(|pair| pair.golden.clone())
        .collect();
    let mut files = BTreeMap::new();
    for golden in goldens {
        let mut value: Value = serde_json::from_str(&disk.text(&golden).unwrap().text).unwrap();
        let before = value.clone();
        plant(&config.kind, &mut value);
        plant_answer(&config.kind, &mut value);
        assert!(
            value != before || SILENT.contains(&config.kind.as_str()),
            "nothing of {golden} was changed"
        );
        files.insert(golden, value.to_string());
    }
    let planted = Planted { disk, files };
    let other = opened(config, &planted);
    let (before, after) = (
        asks(suite.as_ref(), &planted.disk),
        asks(other.as_ref(), &planted),
    );
    assert_eq!(before.len(), after.len());
    for ((pair, run, before), (_, same_run, after)) in before.iter().zip(&after) {
        assert_eq!((run, before), (same_run, after), "{}", pair.golden);
    }
}

/// Puts checks of the answer into a golden file.
fn plant_answer(kind: &str, golden: &mut Value) {
    let answer = json!([{"all_of": ["planted"], "rule": "planted"}, {"similar": {"to": "planted", "rouge_l": 1}}]);
    match kind {
        "tool_use" => golden["cases"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(|case| case["answer"] = answer.clone()),
        other if SILENT.contains(&other) => {}
        _ => golden["answer"] = answer,
    }
}

/// Puts other expectations in the place of those of a golden file.
fn plant(kind: &str, golden: &mut Value) {
    let mut put = |fields: Value| {
        for (key, value) in fields.as_object().unwrap() {
            golden[key] = value.clone();
        }
    };
    match kind {
        "findings" => put(json!({
            "expected_findings": [{"category": "warranty", "min_severity": "info", "max_severity": "info",
                "must_contain_keywords": ["planted"], "citation_must_reference": "dpa.md", "rule": "planted"}],
            "expected_gaps": ["planted"], "must_not_find": [{"category": "rent_escalation", "reason": "planted"}],
            "min_expected_findings": 1, "max_expected_findings": 77, "ambiguity_zone": 0.25
        })),
        "tool_use" => {
            for case in golden["cases"].as_array_mut().unwrap() {
                let fields = case.as_object_mut().unwrap();
                fields.remove("trajectory");
                fields.insert("expected_tools".to_owned(), json!(["planted"]));
                fields.insert("expected_output_contains".to_owned(), json!(["planted"]));
                fields.insert("expected_flags".to_owned(), json!({"can_diagnose": false}));
                fields.insert(
                    "expected_tool_output".to_owned(),
                    json!({"planted": {"planted": 1}}),
                );
                fields.insert("rule".to_owned(), json!("planted"));
            }
        }
        "custom" => put(json!({
            "expected": {"planted": 1},
            "checks": [{"name": "planted", "expr": "text == 'planted'", "rule": "planted"}]
        })),
        "evidence" => put(json!({
            "expected_file": "planted.py", "expected_keyword": "planted", "allowed_files": ["planted.py"],
            "why": {"planted.py": "planted"}, "rule": "planted",
            "checks": {"context_budget_tokens": 7, "required_events": ["planted"], "forbidden_strings": ["planted"]}
        })),
        "interview" => put(json!({
            "expectedAtoms": [{"descriptionContainsAny": ["planted"], "rule": "planted"}],
            "invariants": ["planted words"], "minimumRubricScore": 1, "expectedClarifications": 77
        })),
        "stochastic" => {
            for set in golden["groundTruth"]["keywordSets"].as_array_mut().unwrap() {
                *set = json!(["planted"]);
            }
            golden["thresholds"] = json!({"precision": 0.125, "recall": 0.125});
            golden["rule"] = json!("planted");
        }
        "reconciliation" => put(json!({
            "expected_deltas": [{"item": "planted", "kind": "coupled"}], "rule": "planted",
            "quarantine": {"owner": "planted", "reason": "planted", "expires": "2026-12-01"}
        })),
        "property" => {
            for variant in golden["variants"].as_array_mut().unwrap() {
                variant["transform"] = json!("planted");
            }
        }
        "revision" => put(json!({
            "allowed_changes": ["1"], "rule": "planted",
            "quarantine": {"owner": "planted", "reason": "planted", "expires": "2026-12-01"}
        })),
        other => assert!(
            SILENT.contains(&other),
            "nothing is known of what {other} expects"
        ),
    }
}

fn strict_forms(config: &SuiteConfig) {
    let disk = Disk::open(root()).unwrap();
    let suite = opened(config, &disk);
    for form in asks(suite.as_ref(), &disk)
        .into_iter()
        .filter_map(|(_, _, ask)| ask?.answer)
    {
        let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
        assert!(
            (1..=64).contains(&form.name.len()) && form.name.chars().all(fits),
            "{}",
            form.name
        );
        assert_eq!(
            form.schema["type"], "object",
            "the whole answer is an object"
        );
        strict(&form.schema, 1);
    }
}

/// What every vendor's strict mode takes: every property required, none beside them, no other keyword.
fn strict(schema: &Value, depth: usize) {
    let fields = schema.as_object().unwrap();
    let keys = |wanted: &[&str]| {
        for key in fields.keys() {
            assert!(
                wanted.contains(&key.as_str()),
                "the keyword {key} in {schema}"
            );
        }
    };
    assert!(depth <= 5, "strict modes take five levels");
    match schema["type"].as_str().unwrap() {
        "object" => {
            keys(&["type", "properties", "required", "additionalProperties"]);
            let properties = schema["properties"].as_object().unwrap();
            let required: BTreeSet<&str> = schema["required"]
                .as_array()
                .unwrap()
                .iter()
                .map(|key| key.as_str().unwrap())
                .collect();
            assert_eq!(
                required,
                properties.keys().map(String::as_str).collect(),
                "every property is required"
            );
            assert_eq!(schema["additionalProperties"], false);
            properties.values().for_each(|one| strict(one, depth + 1));
        }
        "array" => {
            keys(&["type", "items"]);
            strict(&schema["items"], depth);
        }
        "string" => {
            keys(&["type", "enum"]);
            if let Some(words) = schema.get("enum") {
                let words = words.as_array().unwrap();
                let once: BTreeSet<&str> =
                    words.iter().map(|word| word.as_str().unwrap()).collect();
                assert!(
                    !words.is_empty() && once.len() == words.len(),
                    "each word once: {schema}"
                );
            }
        }
        "integer" | "number" | "boolean" => keys(&["type"]),
        other => panic!("the type {other}"),
    }
}

/// The smallest answer that a schema takes, with one of everything that there may be several of.
fn answer(schema: &Value) -> Value {
    match schema["type"].as_str().unwrap() {
        "object" => {
            let properties = schema["properties"].as_object().unwrap().iter();
            Value::Object(
                properties
                    .map(|(key, of)| (key.clone(), answer(of)))
                    .collect(),
            )
        }
        "array" => json!([answer(&schema["items"])]),
        "string" => schema
            .get("enum")
            .map_or(json!("words"), |words| words[0].clone()),
        "integer" | "number" => json!(1),
        _ => json!(false),
    }
}

fn answers_are_read(config: &SuiteConfig) {
    let disk = Disk::open(root()).unwrap();
    let suite = opened(config, &disk);
    let prompts = BTreeMap::new();
    let mut answered: Vec<(&Pair, Vec<Run>)> = suite
        .pairs()
        .iter()
        .map(|pair| (pair, Vec::new()))
        .collect();
    for (pair, _, ask) in asks(suite.as_ref(), &disk) {
        let Some(form) = ask.and_then(|ask| ask.answer) else {
            continue;
        };
        let mut outputs = json!({"text": answer(&form.schema).to_string()});
        if config.kind == "evidence" {
            // Who serves the tools knows which files were opened, and writes them beside the result.
            outputs = answer(&form.schema);
            outputs["files_inspected"] = json!(["README.md"]);
        }
        let (_, runs) = answered
            .iter_mut()
            .find(|(other, _)| std::ptr::eq(*other, pair))
            .unwrap();
        runs.push(completed(&outputs));
    }
    for (pair, runs) in answered.into_iter().filter(|(_, runs)| !runs.is_empty()) {
        let grade = suite
            .grade(pair, &runs, &GradeContext::new(&disk, &prompts))
            .unwrap();
        let name = &pair.case;
        assert!(
            matches!(grade.layer, Layer::Structured | Layer::Strict),
            "{name}: {:?}",
            grade.layer
        );
        let schema = grade
            .checks
            .iter()
            .find(|check| check.name.word.starts_with("schema"))
            .unwrap();
        assert_eq!(schema.outcome, CheckOutcome::Passed, "{name}");
    }
}

fn completed(outputs: &Value) -> Run {
    Run::of(outputs.to_string())
}

/// Whether a value has everything that a part has: objects by subset at every depth.
fn has(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|found| has(found, value))),
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => whole == part,
    }
}

fn recorded_calls() {
    let disk = Disk::open(root()).unwrap();
    let config = suites()
        .into_iter()
        .find(|suite| suite.kind == "tool_use")
        .unwrap();
    let suite = opened(&config, &disk);
    let golden: Value = serde_json::from_str(&disk.text(&config.path).unwrap().text).unwrap();
    for pair in suite.pairs() {
        let Some(Ask {
            tools: Toolbox::Canned(tools),
            ..
        }) = suite.ask(pair, &pair.runs[0], &disk).unwrap()
        else {
            panic!("{} has no tools", pair.case)
        };
        let case = golden["cases"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
            .find(|(at, case)| {
                let own = format!("{}-{at}", case["category"].as_str().unwrap());
                case["id"].as_str().unwrap_or(&own) == pair.case.as_str()
            });
        let (_, case) = case.unwrap();
        let mut said: Vec<(String, Value)> = Vec::new();
        for call in calls(pair.case.as_str()) {
            let Some(tool) = tools.iter().find(|tool| call["name"] == *tool.spec.name) else {
                continue;
            };
            let given = tool
                .results
                .iter()
                .find(|result| has(&call["arguments"], &result.when));
            let given = given.unwrap_or_else(|| panic!("{}: no result for {call}", pair.case));
            said.push((tool.spec.name.clone(), given.says.clone()));
        }
        for (tool, wanted) in case["expected_tool_output"]
            .as_object()
            .into_iter()
            .flatten()
        {
            assert!(
                said.iter()
                    .any(|(name, says)| name == tool && has(says, wanted)),
                "{}: {tool}: {wanted}",
                pair.case
            );
        }
    }
}

/// The calls that were recorded on a case and came to a result.
fn calls(case: &str) -> Vec<Value> {
    let mut calls = Vec::new();
    for sample in fs::read_dir(root().join("fixtures/tool_use/runs/assistant").join(case)).unwrap()
    {
        let record: Value =
            serde_json::from_str(&fs::read_to_string(sample.unwrap().path()).unwrap()).unwrap();
        let made = record["intermediate"]["tool_calls"]
            .as_array()
            .unwrap()
            .iter();
        calls.extend(made.filter(|call| call["error"].is_null()).cloned());
    }
    calls
}
