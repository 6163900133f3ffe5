//! What an agent produced, read out of a run record: findings and gaps.

use serde_json::Map;
use serde_json::Value;

use super::finding::Finding;
use super::finding::Parts;
use super::finding::Severity;
use crate::model::Layer;
use crate::model::Run;
use crate::text::recover;
use crate::text::recover::Anchor;
use crate::text::same_category;

/// What one run produced.
#[derive(Debug, Clone, PartialEq)]
pub struct Produced {
    /// Its findings, in their order.
    pub findings: Vec<Finding>,
    /// Its gap types in the form in which they are compared.
    pub gaps: Vec<String>,
    /// How they were read.
    pub layer: Layer,
    /// What does not have the form that it should have; the sample's `schema` check fails on it.
    pub flaws: Vec<String>,
}

const ANCHOR: Anchor<'static> = Anchor { list: "findings", field: "category" };

/// Reads findings and gaps. An agent's text is data: nothing in it is an error, a wrong form is a flaw.
pub fn produced(run: &Run) -> Produced {
    let mut reader = Reader::default();
    let mut outputs: Map<String, Value> = serde_json::from_str(&run.outputs).unwrap_or_default();
    let (findings, recovered, layer) = match outputs.remove(ANCHOR.list) {
        Some(Value::Array(list)) => (list, None, Layer::Structured),
        Some(other) if !other.is_null() => {
            reader.flaw(format!("\"findings\" is {}, not a list", kind_of(&other)));
            (Vec::new(), None, Layer::Unreadable)
        }
        Some(_) | None => reader.read_text(outputs.get("text")),
    };
    let gaps = match outputs.remove("gaps") {
        Some(gaps) if !gaps.is_null() => Some(gaps),
        Some(_) | None => recovered.and_then(|mut value: Value| value.get_mut("gaps").map(Value::take)),
    };
    let findings = findings.iter().enumerate().map(|(place, value)| reader.finding(place, value)).collect();
    let gaps = reader.gaps(gaps.as_ref());
    Produced { findings, gaps, layer, flaws: reader.flaws }
}

#[derive(Default)]
struct Reader {
    flaws: Vec<String>,
}

impl Reader {
    fn flaw(&mut self, flaw: String) {
        self.flaws.push(flaw);
    }

    fn read_text(&mut self, text: Option<&Value>) -> (Vec<Value>, Option<Value>, Layer) {
        let Some(Value::String(text)) = text else {
            self.flaw("there is neither a list \"findings\" nor a text to read it from".to_owned());
            return (Vec::new(), None, Layer::Unreadable);
        };
        let Some(found) = recover::recover(text, &ANCHOR) else {
            self.flaw("no JSON with a list \"findings\" can be read from the text".to_owned());
            return (Vec::new(), None, Layer::Unreadable);
        };
        let layer = match found.layer {
            recover::Layer::Strict => Layer::Strict,
            recover::Layer::Repaired => Layer::Repaired,
            recover::Layer::Salvaged => Layer::Salvaged,
        };
        if found.lost > 0 {
            self.flaw(format!("{} objects of the text could not be read", found.lost));
        }
        let list = found.value.get(ANCHOR.list).and_then(Value::as_array).cloned().unwrap_or_default();
        (list, Some(found.value), layer)
    }

    fn finding(&mut self, place: usize, value: &Value) -> Finding {
        let Value::Object(fields) = value else {
            self.flaw(format!("findings[{place}] is {}, not an object", kind_of(value)));
            return Finding::default();
        };
        let mut text = |key: &str| match fields.get(key) {
            Some(Value::String(text)) => text.as_str(),
            None | Some(Value::Null) => "",
            Some(other) => {
                self.flaws.push(format!("findings[{place}].{key} is {}, not a text", kind_of(other)));
                ""
            }
        };
        let (category, severity) = (text("category"), text("severity"));
        let (title, description) = (text("title"), text("description"));
        if category.is_empty() {
            self.flaw(format!("findings[{place}] has no category"));
        }
        let citations = self.citations(place, fields.get("citations"));
        Finding::of(&Parts { category, severity: Severity::named(severity), title, description, citations })
    }

    fn citations<'a>(&mut self, place: usize, value: Option<&'a Value>) -> Vec<(&'a str, &'a str)> {
        let list = match value {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(list)) => list,
            Some(other) => {
                self.flaw(format!("findings[{place}].citations is {}, not a list", kind_of(other)));
                return Vec::new();
            }
        };
        let mut citations = Vec::with_capacity(list.len());
        for one in list {
            let text = |key| one.get(key).and_then(Value::as_str).unwrap_or_default();
            match one {
                Value::Object(_) => citations.push((text("file"), text("quote"))),
                other => {
                    self.flaw(format!("findings[{place}] has a citation that is {}, not an object", kind_of(other)))
                }
            }
        }
        citations
    }

    fn gaps(&mut self, value: Option<&Value>) -> Vec<String> {
        let list = match value {
            None => return Vec::new(),
            Some(Value::Array(list)) => list,
            Some(other) => {
                self.flaw(format!("\"gaps\" is {}, not a list", kind_of(other)));
                return Vec::new();
            }
        };
        let mut gaps = Vec::with_capacity(list.len());
        for one in list {
            match one.as_str().or_else(|| one.get("type").and_then(Value::as_str)) {
                Some(kind) => gaps.push(same_category(kind)),
                None => self.flaw("a gap is neither a text nor an object with a type".to_owned()),
            }
        }
        gaps
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::Produced;
    use super::produced;
    use crate::model::Layer;
    use crate::model::Provenance;
    use crate::model::Run;
    use crate::model::Status;
    use crate::model::Tokens;

    fn reading(outputs: &str) -> Produced {
        produced(&Run {
            status: Status::Completed,
            error: None,
            outputs: outputs.into(),
            intermediate: None,
            tokens: Tokens::default(),
            provenance: Provenance::default(),
        })
    }

    #[test]
    fn a_list_is_taken_as_it_is() {
        let read = reading(
            r#"{"findings": [{"category": "A-b", "severity": "P1", "title": "T", "citations": [{"file": "x/y.md", "quote": "Q q"}]}],
            "gaps": [{"type": "Missing_Doc"}, "Other"], "text": "{\"findings\": []}"}"#,
        );
        assert_eq!((read.layer, read.flaws.len(), read.findings.len()), (Layer::Structured, 0, 1));
        assert_eq!((&*read.findings[0].category_key, &*read.findings[0].text), ("a b", "t q q"));
        assert_eq!(read.gaps, ["missing doc", "other"]);
    }

    #[test]
    fn a_text_is_read_only_where_the_list_is_absent() {
        let read =
            reading(r#"{"findings": null, "text": "{\"findings\": [{\"category\": \"a\"}], \"gaps\": [\"g\"]}"}"#);
        assert_eq!((read.layer, read.findings.len(), read.gaps.len()), (Layer::Strict, 1, 1));
        let read = reading(r#"{"findings": {}, "text": "{\"findings\": [{\"category\": \"a\"}]}"}"#);
        assert_eq!((read.layer, read.findings.len(), read.flaws.len()), (Layer::Unreadable, 0, 1));
    }

    #[test]
    fn what_cannot_be_read_is_a_flaw_and_counts_as_produced() {
        let read = reading(
            r#"{"findings": ["a", {"category": 3, "citations": "x"}, {"category": "c", "citations": ["f"]}], "gaps": 1}"#,
        );
        assert_eq!(read.findings.len(), 3);
        assert_eq!(read.flaws.len(), 6, "{:?}", read.flaws);
        assert_eq!(reading("{}").layer, Layer::Unreadable);
    }
}
