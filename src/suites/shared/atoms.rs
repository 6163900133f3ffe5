//! The output of an interviewing agent: atoms of intent, and its questions.

use std::collections::BTreeSet;

use recover::Anchor;
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{MapAccess, SeqAccess};
use serde_json::Value;

use super::asking::{list, object, one_of, text, whole};
use super::reading::{RecoveredText, from_text};
use crate::format::lenient;
use crate::format::lenient::{Lenient, Object, Shape, Text};
use crate::model::{AnswerForm, Layer, OutputField, Run};
use crate::suites::kind::{OptionalParts, OutputLists};
use crate::text::{norm, same_category, visible};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct AtomsOutput {
    /// The atoms, in their order.
    pub atoms: Vec<Atom>,
    /// The questions, in the normal form.
    pub questions: Vec<String>,
    /// Rounds of questions; 0 if the output does not state them.
    pub rounds: u64,
    /// The optional parts that the output has, empty or not.
    pub parts: BTreeSet<&'static str>,
    /// Parts with the wrong format.
    pub flaws: Vec<String>,
}

/// One behaviour that a system should have.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Atom {
    /// The description as written, for people.
    pub title: String,
    /// The description in the normal form.
    pub description: String,
    /// Description and outcomes in the normal form.
    pub text: String,
    /// The category, normalized for comparison.
    pub category: String,
    /// Number of observable outcomes.
    pub outcomes: usize,
    /// How sure the agent says that it is; `None` if it does not say it.
    pub confidence: Option<f64>,
    pub has_evidence: bool,
    /// How the atom can be checked.
    pub validator: Validator,
}

/// The best way to check an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Validator {
    /// No way.
    #[default]
    None,
    /// By a person or a model.
    Judged,
    /// By a program.
    Executable,
}

/// The lists of such an output.
pub const ATOMS: OutputLists = OutputLists {
    anchor: Some(ANCHOR),
    unordered: &["atoms", "questions"],
    optional: OptionalParts {
        names: &[VALIDATORS, QUESTIONS, ROUNDS],
        of_run: |run| produced(run).0.parts,
    },
};

/// The names of such an output.
pub const ATOMS_FIELDS: &[OutputField] = &[
    OutputField::named("atoms", &["atomCandidates"]),
    OutputField::named("questions", &["allQuestions"]),
    OutputField::named("rounds", &["roundsCompleted"]),
    OutputField::named("atoms.description", &[]),
    OutputField::named("atoms.category", &[]),
    OutputField::named("atoms.observableOutcomes", &[]),
    OutputField::named("atoms.confidence", &[]),
    OutputField::named("atoms.evidence", &["sourceEvidence"]),
    OutputField::named("atoms.validators", &[]),
    OutputField::named("questions.question", &[]),
];

/// The optional parts of the output.
pub const VALIDATORS: &str = "atoms.validators";
pub const QUESTIONS: &str = "questions";
pub const ROUNDS: &str = "rounds";

const ANCHOR: Anchor<'static> = Anchor {
    list: "atoms",
    field: "description",
};

#[derive(Deserialize, Default)]
#[serde(default)]
struct AtomsForm<'a> {
    #[serde(borrow)]
    atoms: Lenient<Vec<Lenient<Object<AtomForm<'a>>>>>,
    questions: Lenient<Vec<Lenient<QuestionForm<'a>>>>,
    rounds: Option<serde_json::Value>,
    text: Lenient<Text<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct AtomForm<'a> {
    #[serde(borrow)]
    description: Lenient<Text<'a>>,
    category: Lenient<Text<'a>>,
    #[serde(rename = "type")]
    kind: Lenient<Text<'a>>,
    #[serde(rename = "observableOutcomes")]
    outcomes: Lenient<Pieces>,
    #[serde(rename = "observable_outcomes")]
    outcomes_snake: Lenient<Pieces>,
    confidence: Option<Value>,
    evidence: Lenient<Pieces>,
    validators: Lenient<Vec<Lenient<Object<ValidatorForm<'a>>>>>,
}

/// A list, or one text with `;` between its parts.
struct Pieces(Vec<Value>);

impl<'de> Shape<'de> for Pieces {
    fn of_text(text: Text<'de>) -> Lenient<Self> {
        Lenient::Given(Self(text.split(';').map(Value::from).collect()))
    }

    fn of_list<A: SeqAccess<'de>>(list: A) -> Result<Lenient<Self>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list))
            .map(|pieces| Lenient::Given(Self(pieces)))
    }
}

impl Lenient<Pieces> {
    fn pieces(&self) -> &[Value] {
        match self {
            Self::Given(Pieces(pieces)) => pieces,
            Self::Absent | Self::Other(_) => &[],
        }
    }
}

#[derive(Deserialize)]
struct ValidatorForm<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Lenient<Text<'a>>,
}

/// A question is a text, or an object with a text.
#[derive(Deserialize)]
struct QuestionForm<'a> {
    #[serde(borrow, default)]
    question: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    text: Lenient<Text<'a>>,
}

impl<'de: 'a, 'a> Shape<'de> for QuestionForm<'a> {
    fn of_text(text: Text<'de>) -> Lenient<Self> {
        Lenient::Given(Self {
            question: Lenient::Given(text),
            text: Lenient::Absent,
        })
    }

    fn of_object<A: MapAccess<'de>>(object: A) -> Result<Lenient<Self>, A::Error> {
        lenient::fields(object)
    }
}

/// The format of a live agent's answer.
pub fn form() -> AnswerForm {
    let validator = object([("type", one_of(["executable", "manual", "semantic"]))]);
    let atom = object([
        ("description", text()),
        ("category", text()),
        ("observableOutcomes", list(&text())),
        ("evidence", list(&text())),
        ("validators", list(&validator)),
    ]);
    let schema = object([
        ("atoms", list(&atom)),
        ("questions", list(&text())),
        ("rounds", whole()),
    ]);
    AnswerForm {
        name: "atoms",
        schema,
    }
}

/// Reads atoms, questions and rounds; the layer says how the answer was parsed.
pub fn produced(run: &Run) -> (AtomsOutput, Layer) {
    let mut outputs: AtomsForm<'_> = lenient::object(&run.outputs);
    let mut out = AtomsOutput::default();
    let mut layer = Layer::Structured;
    if outputs.atoms.is_absent() {
        match from_text::<AtomsForm<'_>>(&outputs.text, &ANCHOR) {
            Ok(whole) => {
                out.flaws.extend(whole.loss());
                let RecoveredText {
                    outputs: recovered,
                    layer: text_layer,
                    ..
                } = whole;
                layer = text_layer;
                outputs.atoms = recovered.atoms;
                if outputs.questions.is_absent() {
                    outputs.questions = recovered.questions;
                }
                outputs.rounds = outputs.rounds.or(recovered.rounds);
            }
            Err(flaw) => {
                layer = Layer::Unreadable;
                out.flaws.push(flaw);
            }
        }
    }
    if let Lenient::Other(form) = &outputs.atoms {
        out.flaws.push(format!("\"atoms\" is {form}, not a list"));
        layer = Layer::Unreadable;
    }
    let atoms = outputs.atoms.list().iter().enumerate();
    out.atoms = atoms
        .filter_map(|(place, form)| atom(place, form, layer, &mut out.flaws))
        .collect();
    out.questions = outputs.questions.list().iter().map(question).collect();
    let rounds = outputs.rounds.and_then(|rounds| rounds.as_u64());
    out.rounds = rounds.unwrap_or(0);
    let has_validators = outputs.atoms.list().iter().any(|atom| {
        atom.fields()
            .is_ok_and(|fields| !fields.validators.is_absent())
    });
    if has_validators {
        out.parts.insert(VALIDATORS);
    }
    if !outputs.questions.is_absent() {
        out.parts.insert(QUESTIONS);
    }
    if rounds.is_some() {
        out.parts.insert(ROUNDS);
    }
    (out, layer)
}

fn question(form: &Lenient<QuestionForm<'_>>) -> String {
    match form {
        Lenient::Given(QuestionForm { question, text }) => norm(question.or(text).text()),
        Lenient::Absent | Lenient::Other(_) => String::new(),
    }
}

/// Entries that are not objects are reported as flaws.
fn atom(
    index: usize,
    form: &Lenient<Object<AtomForm<'_>>>,
    layer: Layer,
    flaws: &mut Vec<String>,
) -> Option<Atom> {
    let fields = match form.fields() {
        Ok(fields) => fields,
        Err(form) => {
            flaws.push(format!("atoms[{index}] is {form}, not an object"));
            return None;
        }
    };
    let AtomForm {
        description,
        category,
        kind,
        outcomes,
        outcomes_snake,
        confidence,
        evidence,
        validators,
    } = fields;
    // Salvaging finds every object with a description; the validators of a broken atom have descriptions, too.
    if layer == Layer::Salvaged && category.text().is_empty() && !kind.text().is_empty() {
        return None;
    }
    let outcomes = outcomes.or(outcomes_snake).pieces();
    let outcomes: Vec<&str> = outcomes
        .iter()
        .filter_map(Value::as_str)
        .filter(|text| !text.trim().is_empty())
        .collect();
    let title = description.text();
    Some(Atom {
        title: title.to_owned(),
        description: norm(title),
        text: norm(
            &std::iter::once(title)
                .chain(outcomes.iter().copied())
                .collect::<Vec<_>>()
                .join("\n"),
        ),
        category: same_category(category.text()),
        outcomes: outcomes.len(),
        confidence: confidence.as_ref().and_then(Value::as_f64),
        has_evidence: evidence.pieces().iter().any(|piece| !is_blank(piece)),
        validator: validators
            .list()
            .iter()
            .map(validator)
            .max()
            .unwrap_or_default(),
    })
}

/// Whether a piece of evidence says nothing: an object or a list of blanks does not either.
fn is_blank(evidence: &Value) -> bool {
    match evidence {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => visible(text).as_deref().unwrap_or(text).trim().is_empty(),
        Value::Array(parts) => parts.iter().all(is_blank),
        Value::Object(parts) => parts.values().all(is_blank),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

fn validator(form: &Lenient<Object<ValidatorForm<'_>>>) -> Validator {
    match form {
        Lenient::Given(Object(ValidatorForm { kind })) => match norm(kind.text()).as_str() {
            "executable" => Validator::Executable,
            "manual" | "semantic" => Validator::Judged,
            _ => Validator::None,
        },
        Lenient::Absent | Lenient::Other(_) => Validator::None,
    }
}

#[cfg(test)]
mod tests {
    use super::{AtomsOutput, Validator, produced};
    use crate::model::{Layer, Run};

    fn reading(outputs: &str) -> (AtomsOutput, Layer) {
        produced(&Run::of(outputs))
    }

    #[test]
    fn atoms_questions_and_rounds_are_read() {
        let (read, layer) = reading(
            r#"{"rounds": 2, "questions": ["Why?", {"question": "What IF?", "text": "no"}, {"text": "When"}],
            "atoms": [{"description": "A  Thing", "category": "Data-Store", "observableOutcomes": ["one", " "], "observable_outcomes": ["no"], "evidence": [{"quote": "We lose track."}],
                       "validators": [{"type": "manual"}, {"type": "Executable"}]}, {"description": "B", "type": "x"}]}"#,
        );
        assert_eq!(
            (layer, read.rounds, read.flaws.len()),
            (Layer::Structured, 2, 0)
        );
        assert_eq!(read.questions, ["why?", "what if?", "when"]);
        let (first, second) = (&read.atoms[0], &read.atoms[1]);
        assert_eq!(
            (
                first.description.as_str(),
                first.text.as_str(),
                first.category.as_str()
            ),
            ("a thing", "a thing one", "data store")
        );
        assert_eq!(
            (first.outcomes, first.has_evidence, first.validator),
            (1, true, Validator::Executable)
        );
        assert_eq!(
            (second.outcomes, second.has_evidence, second.validator),
            (0, false, Validator::None)
        );
    }

    #[test]
    fn one_text_has_its_parts_between_semicolons() {
        let atom = |fields: &str| {
            reading(&format!(r#"{{"atoms": [{{{fields}}}]}}"#))
                .0
                .atoms
                .remove(0)
        };
        for (outcomes, count) in [
            (r#""the count falls; a line in the log;""#, 2),
            (r#""the count falls""#, 1),
            (r#"" ; ""#, 0),
            (r#"["a; b"]"#, 1),
            ("3", 0),
        ] {
            assert_eq!(
                atom(&format!(r#""observableOutcomes": {outcomes}"#)).outcomes,
                count,
                "{outcomes}"
            );
        }
        assert!(atom(r#""evidence": "client: yes""#).has_evidence);
        assert!(!atom(r#""evidence": ";  ;""#).has_evidence);
    }

    #[test]
    fn a_confidence_is_a_number() {
        let confidence = |stated: &str| {
            reading(&format!(r#"{{"atoms": [{{"confidence": {stated}}}]}}"#))
                .0
                .atoms[0]
                .confidence
        };
        assert_eq!(
            (confidence("90"), confidence("0.5")),
            (Some(90.0), Some(0.5))
        );
        assert_eq!((confidence("null"), confidence("\"high\"")), (None, None));
    }

    #[test]
    fn blank_evidence_is_none() {
        let has_evidence = |evidence: &str| {
            let outputs =
                format!(r#"{{"atoms": [{{"description": "a", "evidence": {evidence}}}]}}"#);
            reading(&outputs).0.atoms[0].has_evidence
        };
        for blank in [
            "[]",
            "null",
            "[null]",
            r#"[""]"#,
            r#"[" "]"#,
            "[{}]",
            "[[]]",
            r#"[{"quote": " "}, [null]]"#,
        ] {
            assert!(!has_evidence(blank), "{blank}");
        }
        for stated in [
            r#"["client: no"]"#,
            r#"["", "client: no"]"#,
            r#"[{"quote": "no"}]"#,
            r#"[["no"]]"#,
            "[3]",
        ] {
            assert!(has_evidence(stated), "{stated}");
        }
    }

    #[test]
    fn a_text_is_read_if_the_list_is_absent() {
        let text = r#"{"text": "```json\n{\"atoms\": [{\"description\": \"a\"}], \"questions\": [\"b?\"], \"rounds\": 3}\n```"}"#;
        let (read, layer) = reading(text);
        assert_eq!(
            (layer, read.atoms.len(), read.questions.len(), read.rounds),
            (Layer::Strict, 1, 1, 3)
        );
        let (read, layer) = reading(r#"{"atoms": 3, "text": "[]", "questions": 1}"#);
        assert_eq!(
            (layer, read.atoms.len(), read.flaws.len()),
            (Layer::Unreadable, 0, 1)
        );
        let (read, layer) = reading(r#"{"text": "nothing here"}"#);
        assert_eq!((layer, read.flaws.len()), (Layer::Unreadable, 1));
        let (read, _) = reading(r#"{"atoms": [{"description": "a"}], "questions": {}}"#);
        assert_eq!((read.atoms.len(), read.flaws.len()), (1, 0));
    }

    #[test]
    fn an_entry_that_is_not_an_atom_is_reported() {
        let (read, layer) = reading(r#"{"atoms": [1, {"description": "a"}, null, "b"]}"#);
        assert_eq!((layer, read.atoms.len()), (Layer::Structured, 1));
        let expected = [
            "atoms[0] is a number",
            "atoms[2] is null",
            "atoms[3] is a text",
        ];
        assert_eq!(
            read.flaws,
            expected.map(|what| format!("{what}, not an object"))
        );
        let text = r#"{"atoms": ["x", {"title": "say "no""}, {"description": "kept"}], "rounds": 2, "questions": ["y"]}"#;
        let (read, layer) = reading(&serde_json::json!({ "text": text }).to_string());
        assert_eq!(
            (layer, read.atoms.len(), read.questions.len(), read.rounds),
            (Layer::Salvaged, 1, 1, 2)
        );
        assert_eq!(
            read.flaws,
            ["objects of the text that could not be read: 2"]
        );
    }

    #[test]
    fn a_salvaged_validator_is_not_an_atom() {
        let text = r#"{"atoms": [{"description": "say "no"", "category": "ux", "validators": [{"type": "manual", "description": "look"}]},
            {"description": "kept", "category": "ux"}, {"description": "kept too"}, {"description": "typed", "type": "x", "category": "ux"}]}"#;
        let (read, layer) = reading(&serde_json::json!({ "text": text }).to_string());
        let names: Vec<&str> = read.atoms.iter().map(|atom| atom.title.as_str()).collect();
        assert_eq!(
            (layer, names),
            (Layer::Salvaged, vec!["kept", "kept too", "typed"])
        );
    }
}
