//! Instructions, originals, configs and records of revisions that cannot be: each is told with its place and its mend.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let refused = INSTRUCTIONS.iter().map(|(text, said)| {
        trial(format!("a revision refuses {text}"), move || {
            refused(text, said)
        })
    });
    let unfounded = UNFOUNDED.iter().map(|(text, said)| {
        trial(
            format!("check finds that nobody can follow {text}"),
            move || unfounded(text, said),
        )
    });
    let founded = FOUNDED.iter().map(|text| {
        trial(
            format!("check finds that {text} can be followed"),
            move || founded(text),
        )
    });
    let configs = CONFIGS.iter().map(|(from, to, said)| {
        trial(format!("a config of revisions refuses {to}"), move || {
            misconfigured(from, to, said)
        })
    });
    let loops: [(&str, fn()); 7] = [
        ("an original that is missing, or none, is told", originals),
        ("attempts beyond the most do not count", too_many_attempts),
        ("a loop with holes is told of each", holes),
        ("an evaluation of wrong types is told of each", wrong_types),
        (
            "an evaluation that cannot be read is an attempt's without a valid one",
            unread,
        ),
        (
            "each attempt of a loop is kept, and why the last one may not pass",
            kept,
        ),
        ("hostile documents and evaluations end soon", hostile),
    ];
    let loops = loops.into_iter().map(|(name, test)| trial(name, test));
    refused
        .chain(unfounded)
        .chain(founded)
        .chain(configs)
        .chain(loops)
        .collect()
}

const CONFIG: &str = "\
version: 1
suites:
  - id: s
    kind: revision
    path: g
    agents:
      a: { deterministic: { replay: runs }, fingerprint: { none: written by hand } }
";
const CASE: &str = "g/cases/c/instructions.json";
const ORIGINAL: &str = "{\\rtf1\\ansi\n1. Price. Acme pays monthly.\\par\n2. Term. It lasts a year.\\par\n2.1 Notice is given.\\par\n}";

fn repository(instructions: &str) -> Repository {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG);
    repository.write(CASE, instructions);
    repository.write("g/cases/c/original.rtf", ORIGINAL);
    repository
}

fn refused(text: &str, said: &str) {
    let ran = repository(text).goldgate(&["run"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with(&format!("{CASE}{said}")),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.lines().next().unwrap().contains("; "),
        "there is a mend: {}",
        ran.stderr
    );
}

/// What instructions say, and how the line on them begins after the file.
const INSTRUCTIONS: &[(&str, &str)] = &[
    (
        r#"{"entitys": []}"#,
        ":1:10: unknown key \"entitys\"; did you mean \"entities\"?",
    ),
    (
        r#"{"entities": {"from": "a"}}"#,
        ":1:14: invalid type: an object; expected a list",
    ),
    (
        r#"{"entities": [{"from": "Acme"}]}"#,
        ":1:30: the key \"to\" is missing",
    ),
    (
        r#"{"entities": [{"from": " ", "to": "B"}]}"#,
        ":1:24: the keyword \" \" is empty; write a word",
    ),
    (
        r#"{"entities": [{"from": "Acme", "to": "ACME "}]}"#,
        ":1:38: \"Acme\" would become itself; correct from or to",
    ),
    (
        r#"{"entities": [{"from": "Acme", "to": "B", "defined_as": ["The Firm"], "becomes": ["the firm"]}]}"#,
        ":1:83: \"the firm\" is both an old name and a new name; remove the entry of a name that stays",
    ),
    (
        r#"{"entities": [{"from": "Acme", "to": "B"}, {"from": "B", "to": "Acme"}]}"#,
        ":1:38: \"B\" is both an old name and a new name",
    ),
    (
        r#"{"entities": [{"from": "Acme", "to": "B"}, {"from": "acme", "to": "C"}]}"#,
        ":1:53: \"acme\" would become two names; keep one of the entries",
    ),
    (
        r#"{"jurisdiction": {"from": "N", "to": "W", "phrases": [{"from": "court", "to": "Court"}]}}"#,
        ":1:79: \"court\" would become itself",
    ),
    (
        r#"{"liability": {"indemnifier": "Acme", "indemnitee": "acme"}}"#,
        ":1:53: \"Acme\" would indemnify itself; name the two parties",
    ),
    (
        r#"{"clauses": [{"operation": "move", "section": "1"}]}"#,
        ":1:33: unknown value \"move\"; known values: add, delete, replace, edit",
    ),
    (
        r#"{"clauses": [{"operation": "delete", "section": "4.2(a)"}]}"#,
        ":1:49: \"4.2(a)\" is not a section number; write it as in the original, such as \"4.2\"",
    ),
    (
        r#"{"clauses": [{"operation": "delete", "section": "1", "must_contain": ["x"]}]}"#,
        ":1:54: must_contain has no effect on the operation delete of section 1; remove must_contain",
    ),
    (
        r#"{"clauses": [{"operation": "edit", "section": "1", "after": "2"}]}"#,
        ":1:52: after has no effect on the operation edit of section 1",
    ),
    (
        r#"{"clauses": [{"operation": "add", "section": "3", "after": "2"}]}"#,
        ":1:14: an added section 3 cannot be recognized; add heading or must_contain",
    ),
    (
        r#"{"clauses": [{"operation": "edit", "section": "1", "must_contain": ["x"], "must_not_contain": ["x"]}]}"#,
        ":1:95: section 1 both must and must not contain \"x\"; keep one of them",
    ),
    (
        r#"{"clauses": [{"operation": "edit", "section": "2.1"}, {"operation": "delete", "section": "2"}]}"#,
        ":1:47: edit of section 2.1 conflicts with delete of section 2; keep one of them",
    ),
    (
        r#"{"clauses": [{"operation": "add", "section": "3", "heading": "A"}, {"operation": "add", "section": "3", "heading": "B"}]}"#,
        ":1:100: add of section 3 conflicts with add of section 3; keep one of them",
    ),
    (
        r#"{"clauses": [{"operation": "delete", "section": "1"}, {"operation": "delete", "section": "1"}]}"#,
        ":1:90: delete of section 1 conflicts with delete of section 1; keep one of them",
    ),
    (
        r#"{"clauses": [{"operation": "delete", "section": "2.1"}, {"operation": "delete", "section": "2"}]}"#,
        ":1:49: delete of section 2.1 conflicts with delete of section 2; keep one of them",
    ),
    (
        r#"{"clauses": [{"operation": "edit", "section": "1"}, {"operation": "delete", "section": "1"}]}"#,
        ":1:47: edit of section 1 conflicts with delete of section 1; keep one of them",
    ),
    (
        r#"{"clauses": [{"operation": "delete", "section": "1"}, {"operation": "replace", "section": "1"}]}"#,
        ":1:91: replace of section 1 conflicts with delete of section 1; keep one of them",
    ),
    (
        r#"{"entities": [{"from": "Acme", "to": "B", "defined_as": ["Corin", " "]}]}"#,
        ":1:67: the keyword \" \" is empty; write a word",
    ),
    (
        r#"{"clauses": [{"operation": "edit", "section": "1", "must_contain": [""]}]}"#,
        ":1:69: the keyword \"\" is empty; write a word",
    ),
    (
        r#"{"clauses": [{"operation": "delete", "section": "1", "text": "pays"}]}"#,
        ":1:38: section has no effect on the operation delete of a text; remove section",
    ),
    (
        r#"{"clauses": [{"operation": "edit", "text": "pays"}]}"#,
        ":1:14: edit of a text cannot be checked without new_text; add new_text",
    ),
    (
        r#"{"clauses": [{"operation": "edit", "text": "pays", "new_text": "Pays"}]}"#,
        ":1:64: \"pays\" would become itself; correct text or new_text",
    ),
    (
        r#"{"clauses": [{"operation": "add", "text": "pays"}]}"#,
        ": the original contains \"pays\" already, so adding it cannot fail",
    ),
    (
        r#"{"clauses": [{"operation": "add", "text": "Notices", "after": "9"}]}"#,
        ": \"Notices\" is to follow section 9, but the original has no such section",
    ),
    (
        r#"{"clause_add": [{"insert_after_section": "Law", "rtf_text": "Notices"}]}"#,
        ":1:42: \"Law\" is not a section number",
    ),
    (
        r#"{"domicile_shift": {"governing_law": "Syldavia"}}"#,
        ":1:38: the config does not say what governing_law replaces",
    ),
    (
        r#"{"clauses": [{"operation": "edit", "section": "1", "new_text": "Pays"}]}"#,
        ":1:52: new_text has no effect on the operation edit of section 1",
    ),
    (
        r#"{"acceptance_criteria": {"criteria": {"entity": {"weight": 0.5}, "style": {"weight": 0.5}}}}"#,
        ":1:66: \"style\" has no word of a criterion; write entity, jurisdiction, liability, clause or coherence",
    ),
    (
        r#"{"acceptance_criteria": {"criteria": {"entity": {"weight": 0.5}}}}"#,
        ":1:38: the weights sum to 0.5; write weights from 0 to 1 that sum to 1",
    ),
    (
        r#"{"acceptance_criteria": {"thresholds": {"overall_score_min": 85}}}"#,
        ":1:62: overall_score_min is 85; write a number from 0 to 1",
    ),
    (
        r#"{"allowed_changes": [{"text": " "}]}"#,
        ":1:31: the keyword \" \" is empty; write a word",
    ),
    (
        r#"{"allowed_changes": ["all"]}"#,
        ":1:22: \"all\" is not a section number",
    ),
    (
        r#"{"quarantine": {"owner": "o", "reason": "r", "expires": "2026-12-22"}}"#,
        ":1:57: the quarantine of \"c\" needs an owner, a reason and an end date up to 2026-12-21; write expires",
    ),
];

fn unfounded(text: &str, said: &str) {
    for command in ["check", "run"] {
        let ran = repository(text).goldgate(&[command]);
        assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}

/// What instructions ask of an original that does not have it, and what is said of it.
const UNFOUNDED: &[(&str, &str)] = &[
    (
        r#"{"entities": [{"from": "Corin", "to": "D"}]}"#,
        "\"Corin\" does not appear in the original",
    ),
    (
        r#"{"jurisdiction": {"from": "Northmark", "to": "W"}}"#,
        "\"Northmark\" does not appear in the original",
    ),
    (
        r#"{"clauses": [{"operation": "delete", "section": "7"}]}"#,
        "the original has no section 7, which the instructions delete",
    ),
    (
        r#"{"clauses": [{"operation": "add", "section": "8", "after": "7", "heading": "A"}]}"#,
        "section 8 is to follow section 7, but the original has no such section",
    ),
    (
        r#"{"clauses": [{"operation": "delete", "section": "1", "heading": "Term"}]}"#,
        "in the original, \"term\" is the heading of section 2, not of section 1",
    ),
    (
        r#"{"clauses": [{"operation": "edit", "section": "1", "must_contain": ["monthly"]}]}"#,
        "section 1 of the original already has the requested words, so edit cannot fail",
    ),
    (
        r#"{"clauses": [{"operation": "edit", "section": "1", "must_not_contain": ["weekly"]}]}"#,
        "section 1 of the original already has the requested words, so edit cannot fail",
    ),
    (
        r#"{"liability": {"indemnifier": "Acme", "indemnitee": "Corin"}, "clauses": [{"operation": "delete", "section": "1"}]}"#,
        "no sentence of the original makes \"Acme\" or \"Corin\" indemnify anybody",
    ),
    (
        r#"{"liability": {"indemnifier": "Acme", "indemnitee": "Corin"}}"#,
        "no sentence of the original makes \"Acme\" or \"Corin\" indemnify anybody",
    ),
    (
        r#"{"clauses": [{"operation": "delete", "text": "each full moon"}]}"#,
        "no paragraph of the original contains \"each full moon\", which the instructions delete",
    ),
    (
        r#"{"allowed_changes": ["9"]}"#,
        "allowed_changes lists section 9, but the original has no such section",
    ),
];

/// What instructions ask of an original that can be done, and is not done yet.
const FOUNDED: &[&str] = &[
    r#"{"entities": [{"from": "Acme", "to": "B"}]}"#,
    r#"{"clauses": [{"operation": "edit", "section": "1", "must_contain": ["weekly"]}]}"#,
    r#"{"clauses": [{"operation": "edit", "section": "1", "must_not_contain": ["monthly"]}]}"#,
    r#"{"clauses": [{"operation": "edit", "section": "1", "must_contain": ["monthly", "weekly"], "must_not_contain": ["daily"]}]}"#,
    r#"{"clauses": [{"operation": "replace", "section": "1", "must_contain": ["monthly"], "must_not_contain": ["pays"]}]}"#,
    r#"{"clauses": [{"operation": "replace", "section": "1"}, {"operation": "edit", "section": "2", "heading": "Term"}]}"#,
    // The new clause may be the one that indemnifies.
    r#"{"liability": {"indemnifier": "Acme", "indemnitee": "Corin"},
        "clauses": [{"operation": "add", "section": "3", "after": "2", "heading": "Indemnity"}]}"#,
    r#"{"allowed_changes": ["2.1"]}"#,
    r#"{"clauses": [{"operation": "delete", "section": "1"}, {"operation": "add", "section": "1", "heading": "Fees"}]}"#,
];

fn founded(text: &str) {
    let ran = repository(text).goldgate(&["check"]);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!said.contains("instructions.json"), "{said}");
    // What is told of the recordings shows that all of it was looked at.
    assert!(said.contains("runs"), "{said}");
}

fn misconfigured(from: &str, to: &str, said: &str) {
    let repository = repository("{}");
    repository.replace("goldgate.yaml", from, to);
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    let said = format!("goldgate.yaml:{said}");
    let line = ran.stderr.lines().find(|line| line.starts_with(&said));
    assert!(
        line.is_some_and(|line| line.contains("; ")),
        "{}",
        ran.stderr
    );
}

/// What of the config is replaced, by what, and how the line on it goes on.
const CONFIGS: &[(&str, &str, &str)] = &[
    (
        "    path: g\n",
        "    path: g\n    scoring: { rationale: r, weights: { entity_substitution: 0.5, jurisdiction_transformation: 0.2, liability_reallocation: 0.2, clause_operations: 0.2, legal_coherence: 0.2 } }\n",
        "6:30: the weights sum to 1.3; write five",
    ),
    (
        "    path: g\n",
        "    path: g\n    scoring: { quality_gate: 0.5 }\n",
        "6:5: the scoring differs from the default without a rationale",
    ),
    (
        "kind: revision\n    path: g\n",
        "kind: findings\n    path: g\n    scoring: { rationale: r, quality_gate: 0.5 }\n",
        "6:5: scoring has no effect on kind findings; remove scoring",
    ),
    (
        "kind: revision\n    path: g\n    agents:\n      a: {",
        "kind: findings\n    path: g\n    agents:\n      a: { role: critic,",
        "7:12: role has no effect on kind findings; remove role",
    ),
];

fn originals() {
    let repository = repository("{}");
    repository.write("g/cases/c/original.rtf", "1. Price. Acme pays.");
    let ran = repository.goldgate(&["run"]);
    let said = "g/cases/c/original.rtf: not an RTF document with text; save the contract as RTF";
    assert!(
        ran.code == 2 && ran.stderr.starts_with(said),
        "{}",
        ran.stderr
    );
    repository.remove("g/cases/c/original.rtf");
    let ran = repository.goldgate(&["run"]);
    assert!(
        ran.code == 2 && ran.stderr.starts_with("g/cases/c/original.rtf: "),
        "{}",
        ran.stderr
    );
}

/// What a run with these outputs is told: the case of the report.
fn told(instructions: &str, outputs: &Value) -> Value {
    let repository = repository(instructions);
    repository.write(
        "runs/a/c.json",
        json!({"status": "completed", "outputs": outputs}).to_string(),
    );
    let Ran { stdout, stderr, .. } = repository.goldgate(&["run", "--format", "json"]);
    let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stderr}"));
    report["suites"][0]["agents"][0]["cases"][0].clone()
}

fn detail<'a>(case: &'a Value, check: &str) -> &'a str {
    let checks = case["checks"].as_array().unwrap();
    checks.iter().find(|one| one["name"] == check).unwrap()["detail"]
        .as_str()
        .unwrap_or_default()
}

const RENAME: &str = r#"{"entities": [{"from": "Acme", "to": "Borealis"}]}"#;

fn too_many_attempts() {
    let (bad, good) = (ORIGINAL.to_owned(), ORIGINAL.replace("Acme", "Borealis"));
    let documents = [&bad, &bad, &bad, &good].map(|document| json!({ "document": document }));
    let case = told(RENAME, &json!({"attempts": documents, "document": good}));
    assert_eq!(
        detail(&case, "schema"),
        "4 attempts, but at most 3 are allowed; the last of these counts"
    );
    assert_eq!(case["metrics"]["attempts"]["value"], 4.0);
    assert_eq!(case["metrics"]["satisfied"]["value"], 0.0);
    assert!(
        detail(&case, "quality_gate").contains("attempt 3: overall 0.8125"),
        "{case}"
    );
}

fn holes() {
    let attempts = json!([{"document": ORIGINAL}, {"evaluation": {}}, 7]);
    let case = told(
        "{}",
        &json!({"attempts": attempts, "document": "{\\rtf1 other}"}),
    );
    let said = detail(&case, "schema");
    assert_eq!(said, "attempts[1] has no document (and 2 more)");
    let case = told("{}", &json!({"attempts": [], "document": ORIGINAL}));
    assert_eq!(detail(&case, "schema"), "\"attempts\" is empty");
    assert_eq!(case["metrics"]["satisfied"]["value"], 0.0);
    let case = told("{}", &json!({"attempts": "three", "document": ORIGINAL}));
    assert_eq!(detail(&case, "schema"), "\"attempts\" is not a list");
}

fn kept() {
    let repository = repository(RENAME);
    let evaluation = json!({"overall_score": 1, "satisfied": true});
    let attempts = json!([{"document": "{\\rtf1 1. Price}", "evaluation": evaluation}, {"document": ORIGINAL}]);
    repository.write(
        "runs/a/c.json",
        json!({"status": "completed", "outputs": {"attempts": attempts}}).to_string(),
    );
    repository.goldgate(&["run", "--out", "out"]);
    let text = repository.read("out/s/attempts/a-c-0.json");
    assert!(
        !text.contains(repository.path("").to_str().unwrap()),
        "{text}"
    );
    let kept: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(kept["attempts"][0]["evaluation"], evaluation);
    let last = &kept["attempts"][1];
    assert_eq!(
        (&last["satisfied"], &last["overall_score"]),
        (&json!(false), &json!(0.8125))
    );
    assert_eq!(
        last["penalties"],
        json!([{"amount": 0.15, "times": 1, "why": "missing entity update"}])
    );
    assert_eq!(last["criteria_scores"]["entity_substitution"], 0.85);
    assert_eq!(
        kept["failure"]["unmet"][0]["criterion"],
        "entity_substitution"
    );
    assert_eq!(
        kept["failure"]["unmet"][0]["faults"][0],
        last["faults"][0]["detail"]
    );
    assert_eq!(
        (&kept["satisfied"], &kept["attempts_made"]),
        (&json!(false), &json!(2))
    );
}

fn wrong_types() {
    let evaluation = json!({
        "overall_score": "NaN", "criteria_scores": {"entity_substitution": "0.9", "jurisdiction": 1, "legal_coherence": 7},
        "satisfied": "yes", "unmet_criteria": "none", "feedback": 3, "revision_suggestions": [4, {"action": "burn"}]
    });
    let case = told(
        "{}",
        &json!({"attempts": [{"document": ORIGINAL, "evaluation": evaluation}], "document": ORIGINAL}),
    );
    let said = detail(&case, "consistent");
    assert!(
        said.starts_with("criteria_scores.entity_substitution is not a number; "),
        "{said}"
    );
    assert!(said.contains("and ") && said.ends_with("more"), "{said}");
    assert_eq!(case["metrics"]["critic_valid"]["value"], 0.0);
    // A critic that says nothing is no critic: its attempt has no evaluation, and nothing of one holds or fails.
    let case = told(
        "{}",
        &json!({"attempts": [{"document": ORIGINAL, "evaluation": null}], "document": ORIGINAL}),
    );
    assert_eq!(case["metrics"]["satisfied"]["value"], 1.0);
    assert_eq!(case["metrics"]["critic_valid"]["value"], Value::Null);
}

fn unread() {
    let scores = json!({"entity_substitution": 1, "jurisdiction_transformation": 1, "liability_reallocation": 1,
        "clause_operations": 1, "legal_coherence": 1});
    let right = json!({"overall_score": 1, "criteria_scores": scores, "satisfied": true, "unmet_criteria": [], "feedback": "",
        "attempt_number": 1, "revision_suggestions": [], "red_flags": []});
    for (evaluations, valid) in [
        (vec![json!("good")], json!(0.0)),
        (vec![json!("good"), right.clone()], json!(0.5)),
        (
            vec![right.clone(), json!("good"), json!(7)],
            json!(1.0 / 3.0),
        ),
        (vec![right.clone(), Value::Null], json!(1.0)),
        (vec![Value::Null], Value::Null),
    ] {
        let attempt = |evaluation: &Value| json!({"document": ORIGINAL, "evaluation": evaluation});
        let case = told(
            "{}",
            &json!({"attempts": evaluations.iter().map(attempt).collect::<Vec<_>>()}),
        );
        assert_eq!(
            case["metrics"]["critic_valid"]["value"], valid,
            "{evaluations:?}"
        );
    }
}

fn hostile() {
    let braces = format!(
        "{{\\rtf1 {}x{}",
        "{".repeat(2_500_000),
        "}".repeat(2_500_000)
    );
    let case = told(RENAME, &json!({ "document": braces }));
    assert_eq!(case["metrics"]["satisfied"]["value"], 0.0);
    let one = json!({"reason": "r", "target_section": "section 77", "action": "edit", "instruction": "i"});
    let evaluation = json!({
        "overall_score": 1, "criteria_scores": {"entity_substitution": 1, "jurisdiction_transformation": 1,
        "liability_reallocation": 1, "clause_operations": 1, "legal_coherence": 1}, "satisfied": true,
        "revision_suggestions": vec![one; 10_000]
    });
    let case = told(
        "{}",
        &json!({"attempts": [{"document": ORIGINAL, "evaluation": evaluation}], "document": ORIGINAL}),
    );
    let said = detail(&case, "suggestions_placed");
    assert!(said.ends_with("and 9997 more"), "{said}");
    // Paragraphs that are all new, many sections, many references: nothing of this is looked through for each of the others.
    let mut lines = String::new();
    for place in 0..20_000 {
        lines += &format!(
            "{}. Item {place} as Section {place} says\\par\n",
            place % 900 + 1
        );
    }
    let document = format!("{{\\rtf1\n{lines}}}");
    let case = told(RENAME, &json!({ "document": document }));
    assert_eq!(case["metrics"]["satisfied"]["value"], 0.0);
}
