//! What a reconciliation agent produced: deltas with their evidence, and recommendations.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::MapAccess;

use super::reading::layer;
use crate::format::loose;
use crate::format::loose::Loose;
use crate::format::loose::Shape;
use crate::format::loose::Text;
use crate::model::Layer;
use crate::model::Run;
use crate::text::recover;
use crate::text::recover::Anchor;

/// What one run produced.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Produced {
    /// Its deltas, in their order.
    pub deltas: Vec<Delta>,
    /// The success condition of each recommendation; empty where there is none.
    pub conditions: Vec<String>,
    /// What does not have the form that it should have.
    pub flaws: Vec<String>,
}

/// One claim: an item is of a kind, and here is why.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Delta {
    /// The item, compared exactly.
    pub item: String,
    /// Its kind, compared exactly.
    pub kind: String,
    /// The paths that it cites.
    pub paths: Vec<String>,
    /// The tests that it cites.
    pub tests: Vec<String>,
    /// The coverage ranges that it cites.
    pub ranges: Vec<String>,
}

const ANCHOR: Anchor<'static> = Anchor { list: "deltas", field: "item" };

#[derive(Deserialize, Default)]
struct Outputs<'a> {
    #[serde(borrow, default)]
    deltas: Loose<Vec<Loose<DeltaForm<'a>>>>,
    #[serde(borrow, default)]
    recommendations: Loose<Vec<Loose<StepForm<'a>>>>,
    #[serde(borrow, default)]
    text: Loose<Text<'a>>,
}

#[derive(Deserialize)]
struct DeltaForm<'a> {
    #[serde(borrow, default)]
    item: Loose<Text<'a>>,
    #[serde(borrow, default)]
    kind: Loose<Text<'a>>,
    #[serde(borrow, default)]
    evidence: Loose<EvidenceForm<'a>>,
}

impl<'de: 'a, 'a> Shape<'de> for DeltaForm<'a> {
    fn of_object<A: MapAccess<'de>>(object: A) -> Result<Loose<Self>, A::Error> {
        loose::fields(object)
    }
}

#[derive(Deserialize)]
struct EvidenceForm<'a> {
    #[serde(borrow, default)]
    file_paths: Loose<Vec<Loose<Text<'a>>>>,
    #[serde(borrow, default, rename = "filePaths")]
    file_paths_seed: Loose<Vec<Loose<Text<'a>>>>,
    #[serde(borrow, default)]
    test_names: Loose<Vec<Loose<Text<'a>>>>,
    #[serde(borrow, default, rename = "testNames")]
    test_names_seed: Loose<Vec<Loose<Text<'a>>>>,
    #[serde(borrow, default)]
    coverage_refs: Loose<Vec<Loose<Text<'a>>>>,
    #[serde(borrow, default, rename = "coverageRefs")]
    coverage_refs_seed: Loose<Vec<Loose<Text<'a>>>>,
}

impl<'de: 'a, 'a> Shape<'de> for EvidenceForm<'a> {
    fn of_object<A: MapAccess<'de>>(object: A) -> Result<Loose<Self>, A::Error> {
        loose::fields(object)
    }
}

#[derive(Deserialize)]
struct StepForm<'a> {
    #[serde(borrow, default)]
    success_condition: Loose<Text<'a>>,
    #[serde(borrow, default, rename = "successCondition")]
    success_condition_seed: Loose<Text<'a>>,
}

impl<'de: 'a, 'a> Shape<'de> for StepForm<'a> {
    fn of_object<A: MapAccess<'de>>(object: A) -> Result<Loose<Self>, A::Error> {
        loose::fields(object)
    }
}

/// Reads deltas and recommendations, and how they were read.
pub fn produced(run: &Run) -> (Produced, Layer) {
    let Outputs { deltas, recommendations, text } = loose::object(&run.outputs);
    let mut out = Produced::default();
    let (deltas, recovered, layer) = match deltas {
        Loose::Given(list) => (list, Loose::Absent, Layer::Structured),
        Loose::Other(form) => {
            out.flaws.push(format!("\"deltas\" is {form}, not a list"));
            (Vec::new(), Loose::Absent, Layer::Unreadable)
        }
        Loose::Absent => from_text(&text, &mut out.flaws),
    };
    let recommendations = match recommendations {
        Loose::Absent => recovered,
        Loose::Given(_) | Loose::Other(_) => recommendations,
    };
    out.deltas = deltas.iter().enumerate().filter_map(|(place, form)| delta(place, form, &mut out.flaws)).collect();
    match &recommendations {
        Loose::Absent => {}
        Loose::Given(list) => out.conditions = list.iter().map(condition).collect(),
        Loose::Other(form) => out.flaws.push(format!("\"recommendations\" is {form}, not a list")),
    }
    (out, layer)
}

type Read = (Vec<Loose<DeltaForm<'static>>>, Loose<Vec<Loose<StepForm<'static>>>>, Layer);

fn from_text(text: &Loose<Text<'_>>, flaws: &mut Vec<String>) -> Read {
    let nothing = (Vec::new(), Loose::Absent, Layer::Unreadable);
    let Loose::Given(text) = text else {
        flaws.push("there is neither a list \"deltas\" nor a text to read it from".to_owned());
        return nothing;
    };
    let Some(found) = recover::recover(text, &ANCHOR) else {
        flaws.push("no JSON with a list \"deltas\" can be read from the text".to_owned());
        return nothing;
    };
    if found.lost > 0 {
        flaws.push(format!("{} objects of the text could not be read", found.lost));
    }
    let layer = layer(found.layer);
    let Outputs { deltas, recommendations, .. } = Outputs::deserialize(found.value).unwrap_or_default();
    match deltas {
        Loose::Given(list) => (list, recommendations, layer),
        Loose::Absent | Loose::Other(_) => (Vec::new(), recommendations, layer),
    }
}

fn delta(place: usize, form: &Loose<DeltaForm<'_>>, flaws: &mut Vec<String>) -> Option<Delta> {
    let Loose::Given(DeltaForm { item, kind, evidence }) = form else {
        flaws.push(format!("deltas[{place}] is no object"));
        return None;
    };
    if item.text().is_empty() || kind.text().is_empty() {
        flaws.push(format!("deltas[{place}] has no item or no kind"));
    }
    let mut cited =
        |key: &str, one: &Loose<Vec<Loose<Text<'_>>>>, seed: &Loose<Vec<Loose<Text<'_>>>>| match one.or(seed) {
            Loose::Given(list) => list.iter().map(|one| one.text().to_owned()).collect(),
            Loose::Absent => Vec::new(),
            Loose::Other(form) => {
                flaws.push(format!("deltas[{place}].evidence.{key} is {form}, not a list"));
                Vec::new()
            }
        };
    let (paths, tests, ranges) = match evidence {
        Loose::Given(one) => (
            cited("file_paths", &one.file_paths, &one.file_paths_seed),
            cited("test_names", &one.test_names, &one.test_names_seed),
            cited("coverage_refs", &one.coverage_refs, &one.coverage_refs_seed),
        ),
        Loose::Absent | Loose::Other(_) => (Vec::new(), Vec::new(), Vec::new()),
    };
    Some(Delta { item: item.text().to_owned(), kind: kind.text().to_owned(), paths, tests, ranges })
}

fn condition(form: &Loose<StepForm<'_>>) -> String {
    match form {
        Loose::Given(one) => one.success_condition.or(&one.success_condition_seed).text().trim().to_owned(),
        Loose::Absent | Loose::Other(_) => String::new(),
    }
}

/// The kinds of each item: what two runs have to agree on.
pub fn kinds_by_item(deltas: &[Delta]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut kinds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for delta in deltas {
        kinds.entry(&delta.item).or_default().insert(&delta.kind);
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::Produced;
    use super::kinds_by_item;
    use super::produced;
    use crate::model::Layer;
    use crate::model::Provenance;
    use crate::model::Run;
    use crate::model::Status;
    use crate::model::Tokens;

    fn reading(outputs: serde_json::Value) -> (Produced, Layer) {
        produced(&Run {
            status: Status::Completed,
            error: None,
            outputs: outputs.to_string().into(),
            intermediate: None,
            tokens: Tokens::default(),
            provenance: Provenance::default(),
        })
    }

    #[test]
    fn deltas_and_conditions_are_taken_as_they_are() {
        let (read, layer) = reading(serde_json::json!({
            "deltas": [{"item": "a", "kind": "coupled", "evidence": {"filePaths": ["p"], "test_names": ["t"], "coverage_refs": ["p:1-2"]}},
                       {"item": "a", "kind": "ghost_code"}],
            "recommendations": [{"action": "x", "success_condition": " done "}, {"successCondition": "also"}, {}, 3]}));
        assert_eq!((layer, read.flaws.len()), (Layer::Structured, 0));
        assert_eq!((read.deltas[0].paths.len(), read.deltas[0].tests.len(), read.deltas[0].ranges.len()), (1, 1, 1));
        assert_eq!(read.conditions, ["done", "also", "", ""]);
        assert_eq!(kinds_by_item(&read.deltas)["a"].len(), 2);
    }

    #[test]
    fn what_has_another_form_is_a_flaw() {
        let flaws = |outputs| reading(outputs).0.flaws;
        assert_eq!(flaws(serde_json::json!({"deltas": 1, "recommendations": "x"})).len(), 2);
        assert_eq!(flaws(serde_json::json!({"deltas": [1]})), ["deltas[0] is no object"]);
        for part in [serde_json::json!({"item": "a"}), serde_json::json!({"kind": "coupled"})] {
            assert_eq!(flaws(serde_json::json!({"deltas": [part]})), ["deltas[0] has no item or no kind"]);
        }
        assert_eq!(flaws(serde_json::json!({})), ["there is neither a list \"deltas\" nor a text to read it from"]);
        assert_eq!(
            flaws(serde_json::json!({"text": "no"})),
            ["no JSON with a list \"deltas\" can be read from the text"]
        );
    }

    #[test]
    fn both_spellings_at_once_lose_nothing() {
        let evidence =
            serde_json::json!({"file_paths": ["p"], "filePaths": ["q"], "testNames": ["t"], "coverage_refs": "c"});
        let (read, _) =
            reading(serde_json::json!({"deltas": [{"item": "a", "kind": "coupled", "evidence": evidence}]}));
        assert_eq!((&*read.deltas[0].paths, &*read.deltas[0].tests), (&["p".to_owned()][..], &["t".to_owned()][..]));
        assert_eq!(read.flaws, ["deltas[0].evidence.coverage_refs is a text, not a list"]);
    }

    #[test]
    fn a_text_is_read_and_what_is_lost_is_told() {
        let whole =
            r#"{"deltas": [{"item": "a", "kind": "coupled"}], "recommendations": [{"success_condition": "x"}]}"#;
        let (read, layer) = reading(serde_json::json!({ "text": whole }));
        assert_eq!((layer, read.deltas.len(), read.conditions.len(), read.flaws.len()), (Layer::Strict, 1, 1, 0));
        let broken = r#"{"deltas": [{"item": "a "b"", "kind": "coupled"}, {"item": "c", "kind": "coupled"}]}"#;
        let (read, layer) = reading(serde_json::json!({ "text": broken }));
        assert_eq!((layer, read.deltas.len()), (Layer::Salvaged, 1));
        assert_eq!(read.flaws, ["1 objects of the text could not be read"]);
    }
}
