//! The output of a findings agent in a run record: findings and gaps.

use std::sync::Arc;

use recover::Anchor;
use serde::Deserialize;
use serde::de::MapAccess;

use super::finding::{CitationParts, Finding, FindingParts, Severity};
use super::reading::from_text;
use crate::format::lenient;
use crate::format::lenient::{Lenient, Object, Shape, Text};
use crate::model::{Layer, OutputField, Run};
use crate::suites::kind::OutputLists;
use crate::text::same_category;

#[derive(Debug, Clone, PartialEq)]
pub struct FindingsOutput {
    /// The findings, in their order.
    pub findings: Vec<Finding>,
    /// The number of quotes that are not texts, which no document contains.
    pub unreadable_quotes: usize,
    /// The gap types, normalized for comparison.
    pub gaps: Vec<String>,
    /// How the answer was parsed.
    pub layer: Layer,
    /// Parts with the wrong format; the sample's `schema` check fails on them.
    pub flaws: Vec<String>,
}

/// The lists of such an output.
pub const FINDINGS: OutputLists = OutputLists {
    anchor: Some(ANCHOR),
    unordered: &["findings", "gaps"],
    ..OutputLists::NONE
};

/// The names of such an output.
pub const FINDINGS_FIELDS: &[OutputField] = &[
    OutputField::named("findings", &[]),
    OutputField::named("gaps", &[]),
    OutputField::named("findings.category", &[]),
    OutputField::named("findings.severity", &[]),
    OutputField::named("findings.title", &[]),
    OutputField::named("findings.description", &[]),
    OutputField::named("findings.citations", &[]),
    OutputField::placed(
        "findings.file",
        "findings.citations.file",
        &["citations.source_path"],
    ),
    OutputField::placed(
        "findings.section",
        "findings.citations.section",
        &["citations.location"],
    ),
    OutputField::placed(
        "findings.quote",
        "findings.citations.quote",
        &["citations.exact_quote"],
    ),
    OutputField::named("gaps.type", &["gap_type"]),
];

const ANCHOR: Anchor<'static> = Anchor {
    list: "findings",
    field: "category",
};

/// The fields of a record's outputs.
#[derive(Deserialize, Default)]
#[serde(default)]
struct FindingsForm<'a> {
    #[serde(borrow)]
    findings: Lenient<Vec<Lenient<Object<FindingForm<'a>>>>>,
    gaps: Lenient<Vec<Lenient<GapForm<'a>>>>,
    text: Lenient<Text<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FindingForm<'a> {
    #[serde(borrow)]
    category: Lenient<Text<'a>>,
    severity: Lenient<Text<'a>>,
    title: Lenient<Text<'a>>,
    description: Lenient<Text<'a>>,
    citations: Lenient<Vec<Lenient<Object<CitationForm<'a>>>>>,
}

#[derive(Deserialize)]
struct CitationForm<'a> {
    #[serde(borrow, default)]
    file: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    section: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    quote: Lenient<Text<'a>>,
}

/// A gap is its type, or an object with a type.
#[derive(Deserialize)]
struct GapForm<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Lenient<Text<'a>>,
}

impl<'de: 'a, 'a> Shape<'de> for GapForm<'a> {
    fn of_text(text: Text<'de>) -> Lenient<Self> {
        Lenient::Given(Self {
            kind: Lenient::Given(text),
        })
    }

    fn of_object<A: MapAccess<'de>>(object: A) -> Result<Lenient<Self>, A::Error> {
        lenient::fields(object)
    }
}

/// Reads findings and gaps, once for both judgements. An agent's text never causes an error; a wrong format is a flaw.
pub fn produced(run: &Run) -> Arc<FindingsOutput> {
    run.outputs.read_once(findings_output)
}

fn findings_output(outputs: &str) -> FindingsOutput {
    let mut reader = FindingsReader::default();
    let FindingsForm {
        findings,
        gaps,
        text,
    } = lenient::object(outputs);
    let (findings, recovered, layer) = match findings {
        Lenient::Given(list) => (list, Lenient::Absent, Layer::Structured),
        Lenient::Other(form) => {
            reader.flaw(format!("\"findings\" is {form}, not a list"));
            (Vec::new(), Lenient::Absent, Layer::Unreadable)
        }
        Lenient::Absent => reader.read_text(&text),
    };
    let gaps = if gaps.is_absent() { recovered } else { gaps };
    let findings = findings
        .iter()
        .enumerate()
        .map(|(index, form)| reader.finding(index, form))
        .collect();
    let gaps = reader.gaps(&gaps);
    FindingsOutput {
        findings,
        unreadable_quotes: reader.unreadable_quotes,
        gaps,
        layer,
        flaws: reader.flaws,
    }
}

#[derive(Default)]
struct FindingsReader {
    flaws: Vec<String>,
    unreadable_quotes: usize,
}

type FindingsLists<'a> = (
    Vec<Lenient<Object<FindingForm<'a>>>>,
    Lenient<Vec<Lenient<GapForm<'a>>>>,
    Layer,
);

impl FindingsReader {
    fn flaw(&mut self, flaw: String) {
        self.flaws.push(flaw);
    }

    fn read_text(&mut self, text: &Lenient<Text<'_>>) -> FindingsLists<'static> {
        match from_text::<FindingsForm<'_>>(text, &ANCHOR) {
            Ok(recovered) => {
                self.flaws.extend(recovered.loss());
                (
                    recovered.outputs.findings.into_list(),
                    recovered.outputs.gaps,
                    recovered.layer,
                )
            }
            Err(flaw) => {
                self.flaw(flaw);
                (Vec::new(), Lenient::Absent, Layer::Unreadable)
            }
        }
    }

    fn finding(&mut self, index: usize, form: &Lenient<Object<FindingForm<'_>>>) -> Finding {
        let FindingForm {
            category,
            severity,
            title,
            description,
            citations,
        } = match form.fields() {
            Ok(fields) => fields,
            Err(form) => {
                self.flaw(format!("findings[{index}] is {form}, not an object"));
                return Finding::default();
            }
        };
        let texts = [
            ("category", category),
            ("severity", severity),
            ("title", title),
            ("description", description),
        ];
        for (key, text) in texts {
            if let Lenient::Other(form) = text {
                self.flaw(format!("findings[{index}].{key} is {form}, not a string"));
            }
        }
        if category.text().is_empty() {
            self.flaw(format!("findings[{index}] has no category"));
        }
        Finding::of(&FindingParts {
            category: category.text(),
            severity: Severity::named(severity.text()),
            title: title.text(),
            description: description.text(),
            citations: self.citations(index, citations),
        })
    }

    fn citations<'a>(
        &mut self,
        index: usize,
        list: &'a Lenient<Vec<Lenient<Object<CitationForm<'_>>>>>,
    ) -> Vec<CitationParts<'a>> {
        if let Lenient::Other(form) = list {
            self.flaw(format!("findings[{index}].citations is {form}, not a list"));
        }
        let mut citations = Vec::with_capacity(list.list().len());
        for citation in list.list() {
            match citation.fields() {
                Ok(CitationForm {
                    file,
                    section,
                    quote,
                }) => {
                    for (key, text) in [("file", file), ("quote", quote)] {
                        if let Lenient::Other(form) = text {
                            self.flaw(format!("the {key} of a citation of findings[{index}] is {form}, not a string"));
                        }
                    }
                    self.unreadable_quotes += usize::from(matches!(quote, Lenient::Other(_)));
                    citations.push(CitationParts {
                        file: file.text(),
                        section: section.text(),
                        quote: quote.text(),
                    });
                }
                Err(form) => self.flaw(format!(
                    "findings[{index}] has a citation that is {form}, not an object"
                )),
            }
        }
        citations
    }

    fn gaps(&mut self, list: &Lenient<Vec<Lenient<GapForm<'_>>>>) -> Vec<String> {
        if let Lenient::Other(form) = list {
            self.flaw(format!("\"gaps\" is {form}, not a list"));
        }
        let mut gaps = Vec::with_capacity(list.list().len());
        for gap in list.list() {
            match gap {
                Lenient::Given(GapForm {
                    kind: Lenient::Given(kind),
                }) => gaps.push(same_category(kind)),
                Lenient::Given(_) | Lenient::Absent | Lenient::Other(_) => {
                    self.flaw("a gap is neither a text nor an object with a type".to_owned());
                }
            }
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::{FindingsOutput, findings_output};
    use crate::model::Layer;

    fn reading(outputs: &str) -> FindingsOutput {
        findings_output(outputs)
    }

    #[test]
    fn a_list_is_read() {
        let read = reading(
            r#"{"findings": [{"category": "A-b", "severity": "P1", "title": "T", "citations": [{"file": "x/y.md", "quote": "Q q"}]}],
            "gaps": [{"type": "Missing_Doc"}, "Other"], "text": "{\"findings\": []}"}"#,
        );
        assert_eq!(
            (read.layer, read.flaws.len(), read.findings.len()),
            (Layer::Structured, 0, 1)
        );
        assert_eq!(
            (
                read.findings[0].category_key.as_str(),
                &*read.findings[0].text
            ),
            ("a b", "t q q")
        );
        assert_eq!(read.gaps, ["missing doc", "other"]);
    }

    #[test]
    fn a_text_is_read_only_if_the_list_is_absent() {
        let read = reading(
            r#"{"findings": null, "text": "{\"findings\": [{\"category\": \"a\"}], \"gaps\": [\"g\"]}"}"#,
        );
        assert_eq!(
            (read.layer, read.findings.len(), read.gaps.len()),
            (Layer::Strict, 1, 1)
        );
        assert_eq!(read.flaws, [""; 0]);
        let read =
            reading(r#"{"findings": {}, "text": "{\"findings\": [{\"category\": \"a\"}]}"}"#);
        assert_eq!(
            (read.layer, read.findings.len(), read.flaws.len()),
            (Layer::Unreadable, 0, 1)
        );
    }

    #[test]
    fn objects_that_were_lost_in_the_salvage_are_a_flaw() {
        let text = r#"first {"category": "a"} then {"category": ] and {"category": "c"}"#;
        let read = reading(&format!("{{\"text\": {}}}", serde_json::Value::from(text)));
        assert_eq!((read.layer, read.findings.len()), (Layer::Salvaged, 2));
        assert_eq!(
            read.flaws,
            ["objects of the text that could not be read: 1"]
        );
    }

    #[test]
    fn an_unreadable_part_is_a_flaw_and_counts_as_produced() {
        let read = reading(
            r#"{"findings": ["a", {"category": 3, "citations": "x"}, {"category": "c", "citations": ["f"]}], "gaps": 1}"#,
        );
        assert_eq!(read.findings.len(), 3);
        assert_eq!(read.flaws.len(), 6, "{:?}", read.flaws);
        assert_eq!(reading("{}").layer, Layer::Unreadable);
    }

    #[test]
    fn a_quote_that_is_not_a_text_is_a_flaw() {
        let citations = r#"[{"file": "c.md", "quote": "x"}, {"file": "c.md", "quote": ["x"]}, {"file": "c.md", "quote": {"text": "x"}},
            {"file": ["c.md"], "quote": "x"}, {"file": "c.md", "quote": null}, {"file": "c.md"}]"#;
        let read = reading(&format!(
            r#"{{"findings": [{{"category": "a", "citations": {citations}}}]}}"#
        ));
        assert_eq!(
            (
                read.findings[0].citations.len(),
                read.unreadable_quotes,
                read.flaws.len()
            ),
            (6, 2, 3)
        );
    }
}
