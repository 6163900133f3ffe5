//! What a case of every kind can say about itself. These keys are cut off once; the kind's own form has the others.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::CowStrDeserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_json::{Map, Value, json};

use super::answer::form::AnswerChecksForm;
use super::case_keys::{DRAFT, DescriptionKeys, NOTES, QUARANTINE, TAGS};
use super::case_marks::{CaseMarks, CaseStage};
use super::folder::GoldenCase;
use super::quarantine::QuarantineForm;
use crate::diag::Diagnostic;
use crate::format::JsonCursor;

/// What a case says about itself.
#[derive(Debug, Default)]
pub struct CaseFrame {
    marks: MarksForm,
    /// What the case requires of the answer's text.
    pub answer: Option<AnswerChecksForm>,
    /// The keys that describe it.
    description: Option<DescriptionKeys>,
}

/// The keys that cases of all kinds have.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct MarksForm {
    /// A note for people; grading ignores it.
    #[serde(rename = "notes")]
    _notes: Option<String>,
    /// Why the case is excluded from gating for now.
    quarantine: Option<QuarantineForm>,
    /// Whether the case is a draft: it runs and is shown, and counts for nothing until `draft` is removed.
    draft: CaseStage,
    /// Words that select the case: `run --tag`.
    tags: Vec<String>,
}

/// The key of cases whose runs have an answer.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the key is read by its name: this is its schema")]
struct AnswerForm {
    /// What the case requires of the answer's text.
    answer: Option<AnswerChecksForm>,
}

/// The keys of cases that have a usual description.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the keys are left out: this is their schema")]
struct DescriptionForm {
    /// A name, for people.
    name: Option<String>,
    /// A title, for people.
    title: Option<String>,
    /// A description, for people.
    description: Option<String>,
}

/// The key of [`AnswerForm`].
const ANSWER: &str = "answer";

/// The keys of [`CaseFrame`].
pub const FRAME: [&str; 5] = [NOTES, ANSWER, QUARANTINE, DRAFT, TAGS];

/// The kind's own form of a case.
pub trait CaseForm {
    /// The keys of the frame that cases of this kind have.
    const FRAME: &'static [&'static str] = &FRAME;
    /// The keys that describe a case of this kind, apart from those of its own form.
    const DESCRIPTION: DescriptionKeys = DescriptionKeys::USUAL;
}

/// The frame of a kind whose runs have no answer.
pub const FRAME_WITHOUT_ANSWER: &[&str] = &[NOTES, QUARANTINE, DRAFT, TAGS];

/// A case: its frame, and the kind's own form.
pub struct Framed<F> {
    pub frame: CaseFrame,
    pub form: F,
}

impl CaseFrame {
    /// The case with what its frame says.
    ///
    /// # Errors
    /// An invalid tag, or one that is stated twice.
    pub fn case<T>(self, cursor: &JsonCursor<'_>, case: T) -> Result<GoldenCase<T>, Diagnostic> {
        let Self {
            marks,
            answer,
            description,
        } = self;
        Ok(GoldenCase {
            marks: CaseMarks::read(marks.draft, &marks.tags, cursor)?,
            quarantine: marks.quarantine.map(|form| form.stated(cursor)),
            answer,
            description: description.unwrap_or(DescriptionKeys::NONE),
            ..GoldenCase::plain(case)
        })
    }

    /// Whether the case is a draft.
    pub fn is_draft(&self) -> bool {
        self.marks.draft == CaseStage::Draft
    }

    /// Reads the value of one of its keys.
    fn read<'de, M: MapAccess<'de>>(&mut self, key: &str, map: &mut M) -> Result<(), M::Error> {
        match key {
            NOTES => self.marks._notes = map.next_value()?,
            ANSWER => self.answer = map.next_value()?,
            QUARANTINE => self.marks.quarantine = map.next_value()?,
            DRAFT => self.marks.draft = map.next_value()?,
            _ => self.marks.tags = map.next_value()?,
        }
        Ok(())
    }
}

impl<'de, F: CaseForm + Deserialize<'de>> Deserialize<'de> for Framed<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FrameVisitor(PhantomData))
    }
}

struct FrameVisitor<F>(PhantomData<F>);

impl<'de, F: CaseForm + Deserialize<'de>> Visitor<'de> for FrameVisitor<F> {
    type Value = Framed<F>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a map")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Framed<F>, M::Error> {
        let mut frame = CaseFrame {
            description: Some(F::DESCRIPTION),
            ..CaseFrame::default()
        };
        let form = F::deserialize(OtherKeys {
            map,
            frame: &mut frame,
            of_frame: F::FRAME,
            description: F::DESCRIPTION,
            of_form: None,
            seen: BTreeSet::new(),
        })?;
        Ok(Framed { frame, form })
    }
}

/// The keys of an object that are not those of its frame, which reads the others.
struct OtherKeys<'f, M> {
    map: M,
    frame: &'f mut CaseFrame,
    of_frame: &'static [&'static str],
    description: DescriptionKeys,
    /// The keys of the kind's own form; `None` if it has any.
    of_form: Option<&'static [&'static str]>,
    seen: BTreeSet<&'static str>,
}

impl<'de, M: MapAccess<'de>> Deserializer<'de> for OtherKeys<'_, M> {
    type Error = M::Error;

    /// A form that keeps the keys that it does not know.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, M::Error> {
        visitor.visit_map(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, M::Error> {
        self.of_form = Some(fields);
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map enum identifier ignored_any
    }
}

/// A key, borrowed if it has no escapes.
#[derive(Deserialize)]
struct KeyText<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de, M: MapAccess<'de>> MapAccess<'de> for OtherKeys<'_, M> {
    type Error = M::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, M::Error> {
        while let Some(KeyText(key)) = self.map.next_key()? {
            let known = self.of_frame.iter().find(|known| **known == key);
            let Some(known) = known else {
                if self.is_description(&key) {
                    self.map.next_value::<IgnoredAny>()?;
                    continue;
                }
                self.refuse_unknown(&key)?;
                let key = CowStrDeserializer::new(key);
                return seed.deserialize(key).map(Some);
            };
            if !self.seen.insert(known) {
                return Err(M::Error::duplicate_field(known));
            }
            self.frame.read(known, &mut self.map)?;
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, M::Error> {
        self.map.next_value_seed(seed)
    }
}

impl<'de, M: MapAccess<'de>> OtherKeys<'_, M> {
    /// Whether a key only describes the case: one of the kind's own form is read there.
    fn is_description(&self, key: &str) -> bool {
        let is_of_form = self.of_form.is_none_or(|of_form| of_form.contains(&key));
        !is_of_form && self.description.has(key)
    }

    /// Refuses a key of neither, and names the keys of both.
    fn refuse_unknown(&self, key: &str) -> Result<(), M::Error> {
        let Some(of_form) = self.of_form.filter(|of_form| !of_form.contains(&key)) else {
            return Ok(());
        };
        let known = of_form
            .iter()
            .chain(self.of_frame)
            .chain(self.description.0);
        let known: Vec<String> = known.map(|key| format!("`{key}`")).collect();
        Err(M::Error::custom(format!(
            "unknown field `{key}`, expected one of {}",
            known.join(", ")
        )))
    }
}

impl<F: CaseForm + JsonSchema> JsonSchema for Framed<F> {
    fn schema_name() -> Cow<'static, str> {
        F::schema_name()
    }

    /// The schema of the kind's own form with the properties of the frame.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut whole = F::json_schema(generator);
        let mut of_frame = properties(&MarksForm::json_schema(generator));
        if F::FRAME.contains(&ANSWER) {
            of_frame.extend(properties(&AnswerForm::json_schema(generator)));
        }
        if F::DESCRIPTION != DescriptionKeys::NONE {
            of_frame.extend(properties(&DescriptionForm::json_schema(generator)));
            let version = json!({ "description": "A version, for people." });
            whole.insert(
                "patternProperties".to_owned(),
                json!({ "Version$": version }),
            );
        }
        let mut all = of_frame;
        all.extend(properties(&whole));
        whole.insert("properties".to_owned(), Value::Object(all));
        whole
    }
}

fn properties(schema: &Schema) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.cloned().unwrap_or_default()
}
