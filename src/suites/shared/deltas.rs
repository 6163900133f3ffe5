//! The output of a reconciliation agent: deltas with their evidence, and recommendations.

use std::collections::{BTreeMap, BTreeSet};

use recover::Anchor;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::asking::{list, object, one_of, text};
use super::reading::from_text;
use crate::format::lenient;
use crate::format::lenient::{Lenient, Object, Text};
use crate::model::{AnswerForm, Layer, OutputField, Run};
use crate::suites::kind::OutputLists;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeltasOutput {
    /// Its deltas, in their order.
    pub deltas: Vec<Delta>,
    /// The success condition of each recommendation; empty if it has none.
    pub conditions: Vec<String>,
    /// The errors that the agent reports.
    pub errors: Vec<String>,
    /// Whether every delta could be read. If not, the items and kinds of the lost ones are unknown.
    pub whole: bool,
    /// Parts with the wrong format.
    pub flaws: Vec<String>,
}

/// One claim: an item is of a kind, with the evidence.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Delta {
    /// The item, compared exactly.
    pub item: String,
    /// Its kind, compared exactly.
    pub kind: String,
    pub paths: Vec<String>,
    pub tests: Vec<String>,
    /// The coverage ranges that it cites.
    pub ranges: Vec<String>,
}

/// How an item relates to code, tests and intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeltaKind {
    OrphanTest,
    GhostCode,
    DecoupledAtom,
    UndefinedTest,
    ZeroCoverage,
    Coupled,
}

impl DeltaKind {
    pub const ALL: [Self; 6] = [
        Self::OrphanTest,
        Self::GhostCode,
        Self::DecoupledAtom,
        Self::UndefinedTest,
        Self::ZeroCoverage,
        Self::Coupled,
    ];

    /// The word used in fixtures and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OrphanTest => "orphan_test",
            Self::GhostCode => "ghost_code",
            Self::DecoupledAtom => "decoupled_atom",
            Self::UndefinedTest => "undefined_test",
            Self::ZeroCoverage => "zero_coverage",
            Self::Coupled => "coupled",
        }
    }
}

pub const DELTAS: OutputLists = OutputLists {
    anchor: Some(ANCHOR),
    unordered: &["deltas", "recommendations"],
    ..OutputLists::NONE
};

/// The names of such an output.
pub const DELTAS_FIELDS: &[OutputField] = &[
    OutputField::named("deltas", &["inferredAtoms"]),
    OutputField::named("errors", &[]),
    OutputField::named("recommendations", &[]),
    OutputField::named("deltas.item", &[]),
    OutputField::named("deltas.kind", &[]),
    OutputField::named("deltas.evidence", &[]),
];

const ANCHOR: Anchor<'static> = Anchor {
    list: "deltas",
    field: "item",
};

#[derive(Deserialize, Default)]
#[serde(default)]
struct DeltasForm<'a> {
    #[serde(borrow)]
    deltas: Lenient<Vec<Lenient<Object<DeltaForm<'a>>>>>,
    recommendations: Lenient<Vec<Lenient<Object<DeltaStepForm<'a>>>>>,
    errors: Lenient<Vec<Value>>,
    text: Lenient<Text<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct DeltaForm<'a> {
    #[serde(borrow)]
    item: Lenient<Text<'a>>,
    kind: Lenient<Text<'a>>,
    evidence: Lenient<Object<DeltaEvidenceForm<'a>>>,
    #[serde(rename = "sourceTest")]
    source_test: Lenient<Object<SourceTestForm<'a>>>,
}

/// The test of a requirement that the agent proposes: the test has none yet.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct SourceTestForm<'a> {
    #[serde(borrow)]
    file_path: Lenient<Text<'a>>,
    test_name: Lenient<Text<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct DeltaEvidenceForm<'a> {
    #[serde(borrow)]
    file_paths: Lenient<Vec<Lenient<Text<'a>>>>,
    #[serde(rename = "filePaths")]
    file_paths_seed: Lenient<Vec<Lenient<Text<'a>>>>,
    test_names: Lenient<Vec<Lenient<Text<'a>>>>,
    #[serde(rename = "testNames")]
    test_names_seed: Lenient<Vec<Lenient<Text<'a>>>>,
    coverage_refs: Lenient<Vec<Lenient<Text<'a>>>>,
    #[serde(rename = "coverageRefs")]
    coverage_refs_seed: Lenient<Vec<Lenient<Text<'a>>>>,
}

#[derive(Deserialize)]
struct DeltaStepForm<'a> {
    #[serde(borrow, default)]
    success_condition: Lenient<Text<'a>>,
    #[serde(borrow, default, rename = "successCondition")]
    success_condition_seed: Lenient<Text<'a>>,
}

/// The format of a live agent's answer.
pub fn form() -> AnswerForm {
    let evidence = object([
        ("file_paths", list(&text())),
        ("test_names", list(&text())),
        ("coverage_refs", list(&text())),
    ]);
    let kinds = one_of(DeltaKind::ALL.map(DeltaKind::as_str));
    let delta = object([("item", text()), ("kind", kinds), ("evidence", evidence)]);
    let step = object([("action", text()), ("success_condition", text())]);
    AnswerForm {
        name: "deltas",
        schema: object([("deltas", list(&delta)), ("recommendations", list(&step))]),
    }
}

/// Reads deltas and recommendations; the layer says how the answer was parsed.
pub fn produced(run: &Run) -> (DeltasOutput, Layer) {
    let DeltasForm {
        deltas,
        recommendations,
        errors,
        text,
    } = lenient::object(&run.outputs);
    let errors = errors.list().iter().map(|error| match error {
        Value::String(text) => text.clone(),
        error => error.to_string(),
    });
    let mut out = DeltasOutput {
        errors: errors.collect(),
        whole: true,
        ..DeltasOutput::default()
    };
    let (deltas, recovered, layer) = match deltas {
        Lenient::Given(list) => (list, Lenient::Absent, Layer::Structured),
        Lenient::Other(form) => {
            out.flaws.push(format!("\"deltas\" is {form}, not a list"));
            (Vec::new(), Lenient::Absent, Layer::Unreadable)
        }
        Lenient::Absent => match from_text::<DeltasForm<'_>>(&text, &ANCHOR) {
            Ok(recovered) => {
                out.whole = recovered.loss().is_none();
                out.flaws.extend(recovered.loss());
                (
                    recovered.outputs.deltas.into_list(),
                    recovered.outputs.recommendations,
                    recovered.layer,
                )
            }
            Err(flaw) => {
                out.flaws.push(flaw);
                (Vec::new(), Lenient::Absent, Layer::Unreadable)
            }
        },
    };
    out.deltas = deltas
        .iter()
        .enumerate()
        .filter_map(|(index, form)| delta(index, form, &mut out.flaws))
        .collect();
    let named = out
        .deltas
        .iter()
        .all(|delta| !delta.item.is_empty() && !delta.kind.is_empty());
    out.whole &= layer != Layer::Unreadable && out.deltas.len() == deltas.len() && named;
    for list in [&recommendations, &recovered] {
        match list {
            Lenient::Absent => {}
            Lenient::Given(list) => {
                let conditions: Vec<String> = list.iter().map(condition).collect();
                // A recorder may state those of the text once more.
                if conditions != out.conditions {
                    out.conditions.extend(conditions);
                }
            }
            Lenient::Other(form) => out
                .flaws
                .push(format!("\"recommendations\" is {form}, not a list")),
        }
    }
    (out, layer)
}

fn delta(
    index: usize,
    form: &Lenient<Object<DeltaForm<'_>>>,
    flaws: &mut Vec<String>,
) -> Option<Delta> {
    let Lenient::Given(Object(DeltaForm {
        item,
        kind,
        evidence,
        source_test,
    })) = form
    else {
        flaws.push(format!("deltas[{index}] is not an object"));
        return None;
    };
    if let (Lenient::Given(Object(test)), true) =
        (source_test, item.is_absent() && kind.is_absent())
    {
        if test.test_name.text().is_empty() {
            flaws.push(format!("deltas[{index}] has no item or no kind"));
        }
        return Some(orphan_test(test));
    }
    if item.text().is_empty() || kind.text().is_empty() {
        flaws.push(format!("deltas[{index}] has no item or no kind"));
    }
    let (paths, tests, ranges) = match evidence {
        Lenient::Given(Object(evidence)) => (
            cited(
                index,
                "file_paths",
                [&evidence.file_paths, &evidence.file_paths_seed],
                flaws,
            ),
            cited(
                index,
                "test_names",
                [&evidence.test_names, &evidence.test_names_seed],
                flaws,
            ),
            cited(
                index,
                "coverage_refs",
                [&evidence.coverage_refs, &evidence.coverage_refs_seed],
                flaws,
            ),
        ),
        Lenient::Absent | Lenient::Other(_) => (Vec::new(), Vec::new(), Vec::new()),
    };
    Some(Delta {
        item: item.text().to_owned(),
        kind: kind.text().to_owned(),
        paths,
        tests,
        ranges,
    })
}

fn orphan_test(test: &SourceTestForm<'_>) -> Delta {
    let (path, name) = (test.file_path.text(), test.test_name.text());
    Delta {
        item: name.to_owned(),
        kind: DeltaKind::OrphanTest.as_str().to_owned(),
        paths: not_empty(path),
        tests: not_empty(name),
        ranges: Vec::new(),
    }
}

/// A list of the text; an empty one for an empty text.
fn not_empty(text: &str) -> Vec<String> {
    if text.is_empty() {
        Vec::new()
    } else {
        vec![text.to_owned()]
    }
}

/// The citations under two spellings of a key of an evidence.
fn cited(
    index: usize,
    key: &str,
    spellings: [&Lenient<Vec<Lenient<Text<'_>>>>; 2],
    flaws: &mut Vec<String>,
) -> Vec<String> {
    let mut citations = Vec::new();
    for list in spellings {
        if let Lenient::Other(form) = list {
            flaws.push(format!(
                "deltas[{index}].evidence.{key} is {form}, not a list"
            ));
        }
        for item in list.list() {
            citations.push(item.text().to_owned());
        }
    }
    citations
}

fn condition(form: &Lenient<Object<DeltaStepForm<'_>>>) -> String {
    match form {
        Lenient::Given(Object(step)) => step
            .success_condition
            .or(&step.success_condition_seed)
            .text()
            .trim()
            .to_owned(),
        Lenient::Absent | Lenient::Other(_) => String::new(),
    }
}

/// The kinds of each item: two runs have to agree on them.
pub fn kinds_by_item(deltas: &[Delta]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut kinds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for delta in deltas {
        kinds.entry(&delta.item).or_default().insert(&delta.kind);
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::{DeltasOutput, kinds_by_item, produced};
    use crate::model::{Layer, Run};

    fn reading(outputs: serde_json::Value) -> (DeltasOutput, Layer) {
        produced(&Run::of(outputs.to_string()))
    }

    #[test]
    fn deltas_and_conditions_are_read() {
        let (read, layer) = reading(serde_json::json!({
            "deltas": [{"item": "a", "kind": "coupled", "evidence": {"filePaths": ["p"], "test_names": ["t"], "coverage_refs": ["p:1-2"]}},
                       {"item": "a", "kind": "ghost_code"}],
            "recommendations": [{"action": "x", "success_condition": " done "}, {"successCondition": "also"}, {}, 3]}));
        assert_eq!(
            (layer, read.flaws.len(), read.whole),
            (Layer::Structured, 0, true)
        );
        assert_eq!(
            (
                read.deltas[0].paths.len(),
                read.deltas[0].tests.len(),
                read.deltas[0].ranges.len()
            ),
            (1, 1, 1)
        );
        assert_eq!(read.conditions, ["done", "also", "", ""]);
        assert_eq!(kinds_by_item(&read.deltas)["a"].len(), 2);
    }

    #[test]
    fn a_requirement_of_a_test_says_that_the_test_has_none() {
        let (read, _) = reading(serde_json::json!({
            "deltas": [{"description": "x", "sourceTest": {"filePath": "a.ts", "testName": "t"}}, {"sourceTest": {}}],
            "errors": ["late", {"code": 1}]}));
        let first = &read.deltas[0];
        assert_eq!(
            (
                first.item.as_str(),
                first.kind.as_str(),
                &*first.paths,
                &*first.tests
            ),
            (
                "t",
                "orphan_test",
                &["a.ts".to_owned()][..],
                &["t".to_owned()][..]
            )
        );
        assert_eq!(read.errors, ["late", r#"{"code":1}"#]);
        assert!(!read.whole, "the second one has no name");
    }

    #[test]
    fn a_wrong_format_is_a_flaw() {
        let flaws = |outputs| reading(outputs).0.flaws;
        assert_eq!(
            flaws(serde_json::json!({"deltas": 1, "recommendations": "x"})).len(),
            2
        );
        assert_eq!(
            flaws(serde_json::json!({"deltas": [1]})),
            ["deltas[0] is not an object"]
        );
        let (read, _) =
            reading(serde_json::json!({"deltas": ["x", null, {"item": "a", "kind": "coupled"}]}));
        assert_eq!(
            (read.deltas.len(), read.whole, read.flaws.len()),
            (1, false, 2)
        );
        for part in [
            serde_json::json!({"item": "a"}),
            serde_json::json!({"kind": "coupled"}),
        ] {
            let (read, _) = reading(serde_json::json!({"deltas": [part]}));
            assert_eq!(
                (read.flaws, read.whole),
                (vec!["deltas[0] has no item or no kind".to_owned()], false)
            );
        }
        assert_eq!(
            flaws(serde_json::json!({})),
            ["the list \"deltas\" is missing, and there is no text to read it from"]
        );
        assert_eq!(
            flaws(serde_json::json!({"text": "no"})),
            ["the text contains no readable JSON with a list \"deltas\""]
        );
    }

    #[test]
    fn both_spellings_at_once_lose_nothing() {
        let evidence = serde_json::json!({"file_paths": ["p"], "filePaths": ["q"], "testNames": ["t"], "coverage_refs": "c"});
        let (read, _) = reading(
            serde_json::json!({"deltas": [{"item": "a", "kind": "coupled", "evidence": evidence}]}),
        );
        assert_eq!(
            (&*read.deltas[0].paths, &*read.deltas[0].tests),
            (&["p".to_owned(), "q".to_owned()][..], &["t".to_owned()][..])
        );
        assert_eq!(
            read.flaws,
            ["deltas[0].evidence.coverage_refs is a text, not a list"]
        );
    }

    #[test]
    fn recommendations_of_a_broken_text_are_kept() {
        let text = r#"{"deltas": [{"item": "a", "kind": "coupled"}] "recommendations": [{"success_condition": "x"}]}"#;
        let (read, layer) = reading(serde_json::json!({ "text": text }));
        assert_eq!(
            (layer, read.deltas.len(), read.conditions),
            (Layer::Salvaged, 1, vec!["x".to_owned()])
        );
        assert_eq!((read.flaws, read.whole), (Vec::new(), true));
    }

    #[test]
    fn a_list_does_not_hide_the_recommendations_of_a_text() {
        let text = r#"{"deltas": [], "recommendations": [{"success_condition": "x"}, {}]}"#;
        for (stated, conditions) in [
            (serde_json::json!([]), &["x", ""][..]),
            (
                serde_json::json!([{ "success_condition": "y" }]),
                &["y", "x", ""],
            ),
            (
                serde_json::json!([{ "success_condition": "x" }, {}]),
                &["x", ""],
            ),
            (serde_json::Value::Null, &["x", ""]),
        ] {
            let (read, _) = reading(serde_json::json!({ "text": text, "recommendations": stated }));
            assert_eq!(read.conditions, conditions, "{stated}");
        }
        let (read, _) = reading(serde_json::json!({ "text": text, "deltas": [] }));
        assert_eq!(
            read.conditions, [""; 0],
            "the deltas are not read from the text"
        );
    }

    #[test]
    fn a_text_is_read_and_lost_parts_are_reported() {
        let whole = r#"{"deltas": [{"item": "a", "kind": "coupled"}], "recommendations": [{"success_condition": "x"}]}"#;
        let (read, layer) = reading(serde_json::json!({ "text": whole }));
        assert_eq!(
            (
                layer,
                read.deltas.len(),
                read.conditions.len(),
                read.flaws.len()
            ),
            (Layer::Strict, 1, 1, 0)
        );
        let broken = r#"{"deltas": [{"item": "a "b"", "kind": "coupled"}, {"item": "c", "kind": "coupled"}]}"#;
        let (read, layer) = reading(serde_json::json!({ "text": broken }));
        assert_eq!(
            (layer, read.deltas.len(), read.whole),
            (Layer::Salvaged, 1, false)
        );
        assert_eq!(
            read.flaws,
            ["objects of the text that could not be read: 1"]
        );
    }
}
