//! Reads what an agent writes under its own names: each part is put where the kind reads it, before anything is graded.

use std::sync::atomic::{AtomicBool, Ordering};

use aho_corasick::AhoCorasick;
use recover::{Anchor, recover, recover_any};
use serde_json::{Map, Value};

use super::lenient;
use crate::model::{Layer, OutputField, RecordPart, StatedFields};
use crate::text::answer_start;

/// Where the outputs of a suite's agents are.
#[derive(Default)]
pub struct OutputFields {
    stated: StatedFields,
    rows: Vec<FieldRow>,
    /// The last keys of all paths: a record without any of them needs no further look.
    keys: Option<AhoCorasick>,
}

struct FieldRow {
    name: String,
    part: RecordPart,
    /// The path under which the kind reads it.
    place: Vec<String>,
    /// The paths that the suite states.
    stated: Vec<Vec<String>>,
    /// The paths of other systems.
    aliases: Vec<Vec<String>>,
    found: FoundPaths,
}

/// What the records that were read have of a row's stated paths.
#[derive(Default)]
struct FoundPaths {
    /// A record has one of them.
    somewhere: AtomicBool,
    /// A record has none of them, though it has the object that would hold it.
    missed: AtomicBool,
}

/// The parts of a record that are graded.
pub struct GradedParts {
    /// The outputs, a JSON object.
    pub outputs: String,
    /// The steps, a JSON object.
    pub intermediate: Option<String>,
    /// How the JSON in the text of the outputs was read, if the parts are in it.
    pub text_layer: Option<Layer>,
}

/// The object in the text of outputs that have nothing else of the kind.
struct TextObject {
    object: Map<String, Value>,
    /// How it was read from where the answer begins, in bytes; `None` if it is the whole text.
    around: Option<(Layer, usize)>,
}

impl OutputFields {
    /// The fields of a kind, with the paths that a suite states.
    pub fn new(of_kind: &[OutputField], stated: &StatedFields) -> Self {
        let mut rows = Vec::new();
        for field in of_kind {
            let stated = stated.get(field.name).map_or(&[][..], Vec::as_slice);
            rows.push(FieldRow {
                name: field.name.to_owned(),
                part: field.part,
                place: path(field.place),
                stated: stated.iter().map(|text| path(text)).collect(),
                aliases: field.aliases.iter().map(|text| path(text)).collect(),
                found: FoundPaths::default(),
            });
        }
        for (name, stated) in stated {
            if of_kind.iter().any(|field| field.name == *name) {
                continue;
            }
            rows.push(FieldRow {
                name: name.clone(),
                part: RecordPart::Outputs,
                place: path(name),
                stated: stated.iter().map(|text| path(text)).collect(),
                aliases: Vec::new(),
                found: FoundPaths::default(),
            });
        }
        // A list is in its place before the keys of its elements are looked for.
        rows.sort_by_key(|row| row.place.len());
        let keys = rows
            .iter()
            .flat_map(|row| row.stated.iter().chain(&row.aliases))
            .filter_map(|path| path.last())
            .map(|key| format!("\"{key}\""));
        // Too many keys to search at once do not exist in a config.
        let keys = AhoCorasick::new(keys).ok();
        Self {
            stated: stated.clone(),
            rows,
            keys,
        }
    }

    /// The paths that the suite states.
    pub fn stated(&self) -> &StatedFields {
        &self.stated
    }

    /// The outputs that a text without status and outputs consists of; `None` if it has nothing of the kind.
    pub fn bare_outputs(&self, record: &str) -> Option<String> {
        let mut record = object(record).filter(|record| self.are_outputs(record))?;
        record.retain(|key, _| !OF_RECORDS.contains(&key.as_str()));
        Some(Value::Object(record).to_string())
    }

    /// Whether the top level of a record without status and outputs is outputs: it has a key of the kind.
    fn are_outputs(&self, record: &Map<String, Value>) -> bool {
        let mut rows = self.rows.iter().filter(|row| row.is_top_level_output());
        rows.any(|row| {
            let mut others = row.stated.iter().chain(&row.aliases);
            has(record, &row.place) || others.any(|path| has(record, path))
        })
    }

    /// The outputs and the steps of a record with each field in its place; `None` if they are there already.
    pub fn in_place(
        &self,
        record: &str,
        outputs: &str,
        intermediate: Option<&str>,
    ) -> Option<GradedParts> {
        let may_have = self.keys.as_ref().is_some_and(|keys| keys.is_match(record));
        if !may_have && self.rows.iter().all(|row| row.stated.is_empty()) {
            return None;
        }
        let whole = object(record)?;
        let mut outputs = object(outputs)?;
        let has_stated_steps = intermediate.is_some();
        let mut intermediate = match intermediate {
            Some(text) => object(text)?,
            None => Map::new(),
        };
        let mut in_text = self.object_in_text(&outputs);
        let mut changed = false;
        for row in &self.rows {
            let object = in_text.as_mut().map(|text_object| &mut text_object.object);
            changed |= row.apply(object.unwrap_or(&mut outputs), &mut intermediate, &whole);
        }
        let around = in_text.as_ref().and_then(|text_object| text_object.around);
        if let Some(TextObject { object, .. }) = in_text {
            let object = Value::Object(object).to_string();
            let text = match (around, outputs.get(TEXT)) {
                // The kind reads the first object that fits, and checks of the answer need the other words.
                (Some((_, start)), Some(Value::String(text))) => {
                    let (reasoning, answer) = text.split_at(start);
                    format!("{reasoning}{object}\n{answer}")
                }
                (Some(_) | None, _) => object,
            };
            outputs.insert(TEXT.to_owned(), Value::from(text));
        }
        let has_steps = has_stated_steps || !intermediate.is_empty();
        changed.then(|| GradedParts {
            outputs: Value::Object(outputs).to_string(),
            intermediate: has_steps.then(|| Value::Object(intermediate).to_string()),
            text_layer: around.map(|(layer, _)| layer),
        })
    }

    /// The object that the text of the outputs consists of or contains, if the outputs have nothing else of the kind.
    fn object_in_text(&self, outputs: &Map<String, Value>) -> Option<TextObject> {
        let whole = outputs.get(TEXT)?.as_str()?;
        let text = whole.trim();
        let fenced = text
            .strip_prefix("```json")
            .or_else(|| text.strip_prefix("```"))
            .and_then(|text| text.strip_suffix("```"));
        let mut others = outputs.clone();
        others.remove(TEXT);
        if self.are_outputs(&others) {
            return None;
        }
        match object(fenced.unwrap_or(text)) {
            Some(object) => Some(TextObject {
                object,
                around: None,
            }),
            None => self.recovered_object(whole),
        }
    }

    /// The first object of a text that has a key of the kind, also a damaged one.
    fn recovered_object(&self, text: &str) -> Option<TextObject> {
        let start = answer_start(text)?;
        let answer = &text[start..];
        let keys = self.rows.iter().filter(|row| row.is_top_level_output());
        let keys = keys.flat_map(|row| row.stated.iter().chain(&row.aliases));
        let by_key = keys.filter_map(|path| match path.as_slice() {
            [key] => recover(
                answer,
                &Anchor {
                    list: key,
                    field: "",
                },
            ),
            _ => None,
        });
        for recovered in recover_any(answer).into_iter().chain(by_key) {
            let layer = Layer::from(recovered.layer);
            if let Value::Object(object) = recovered.value
                && layer < Layer::Salvaged
                && self.are_outputs(&object)
            {
                return Some(TextObject {
                    object,
                    around: Some((layer, start)),
                });
            }
        }
        None
    }

    /// The stated fields that no record has, though one has the object that would hold it, with their paths.
    pub fn in_no_record(&self) -> impl Iterator<Item = (&str, String)> {
        let missing = self.rows.iter().filter(|row| row.is_in_no_record());
        missing.map(|row| {
            let paths: Vec<String> = row.stated.iter().map(|path| path.join(".")).collect();
            (&*row.name, paths.join(" or "))
        })
    }
}

/// The keys of records that are no outputs.
const OF_RECORDS: [&str; 8] = [
    "schema",
    "agent",
    "case",
    "sample",
    "inputs",
    "metrics",
    "judgements",
    "provenance",
];

/// The key of the answer's text.
const TEXT: &str = "text";

impl FieldRow {
    fn is_in_no_record(&self) -> bool {
        self.found.missed.load(Ordering::Relaxed) && !self.found.somewhere.load(Ordering::Relaxed)
    }

    /// Whether it is a key of the outputs themselves.
    fn is_top_level_output(&self) -> bool {
        self.part == RecordPart::Outputs && self.place.len() == 1
    }

    /// Puts the field in its place, and says whether something changed.
    fn apply(
        &self,
        outputs: &mut Map<String, Value>,
        intermediate: &mut Map<String, Value>,
        whole: &Map<String, Value>,
    ) -> bool {
        let (first, inner) = self.place.split_at(1);
        if inner.is_empty() {
            let target = match self.part {
                RecordPart::Outputs => &*outputs,
                RecordPart::Intermediate => &*intermediate,
            };
            let content = self.find(&[outputs, whole], target, first);
            let target = match self.part {
                RecordPart::Outputs => outputs,
                RecordPart::Intermediate => intermediate,
            };
            let Some(content) = content else {
                return false;
            };
            put(target, first, content);
            return true;
        }
        let target = match self.part {
            RecordPart::Outputs => outputs,
            RecordPart::Intermediate => intermediate,
        };
        let mut changed = false;
        for element in target.get_mut(&first[0]).map_or(Vec::new(), elements) {
            if let Some(content) = self.find(&[element], element, inner) {
                put(element, inner, content);
                changed = true;
            }
        }
        changed
    }

    /// The values of the first path that is there, unless they are in their place: the stated paths come before the kind's own, and those
    /// of other systems after it.
    fn find(
        &self,
        sources: &[&Map<String, Value>],
        target: &Map<String, Value>,
        place: &[String],
    ) -> Option<FoundValues> {
        if !self.stated.is_empty() {
            let content = first_values(sources, &self.stated);
            let note = if content.is_some() {
                &self.found.somewhere
            } else {
                &self.found.missed
            };
            note.store(true, Ordering::Relaxed);
            if content.is_some() {
                return content;
            }
        }
        if has(target, place) {
            return None;
        }
        first_values(sources, &self.aliases)
    }
}

/// The values of the first path that is in one of the sources.
fn first_values(sources: &[&Map<String, Value>], paths: &[Vec<String>]) -> Option<FoundValues> {
    for path in paths {
        for source in sources {
            if let Some(content) = values(source, path) {
                return Some(content);
            }
        }
    }
    None
}

/// What a path leads to.
enum FoundValues {
    One(Value),
    /// One for each element of the list that the path goes through.
    Each(Vec<Option<Value>>),
}

/// The value at a path that is not null; a path through a list leads to a value of each element.
fn values(object: &Map<String, Value>, path: &[String]) -> Option<FoundValues> {
    let (key, rest) = path.split_first()?;
    let value = object.get(key).filter(|value| !value.is_null())?;
    match value {
        value if rest.is_empty() => Some(FoundValues::One(value.clone())),
        Value::Object(inner) => values(inner, rest),
        Value::Array(list) => {
            let of_each: Vec<Option<Value>> = list
                .iter()
                .map(|element| match values(element.as_object()?, rest)? {
                    FoundValues::One(value) => Some(value),
                    FoundValues::Each(values) => {
                        Some(Value::from_iter(values.into_iter().flatten()))
                    }
                })
                .collect();
            let has_any = of_each.iter().any(Option::is_some);
            has_any.then_some(FoundValues::Each(of_each))
        }
        _ => None,
    }
}

/// Whether there is a value at a path that is not null.
fn has(object: &Map<String, Value>, path: &[String]) -> bool {
    let Some((key, rest)) = path.split_first() else {
        return false;
    };
    match object.get(key) {
        None | Some(Value::Null) => false,
        Some(_) if rest.is_empty() => true,
        Some(Value::Object(inner)) => has(inner, rest),
        Some(Value::Array(list)) => {
            let mut objects = list.iter().filter_map(Value::as_object);
            objects.any(|element| has(element, rest))
        }
        Some(_) => false,
    }
}

/// Puts values at a path below an object: `citations.file` is the key `file` of each element of the list `citations`.
fn put(object: &mut Map<String, Value>, place: &[String], content: FoundValues) {
    match (place, content) {
        ([key], FoundValues::One(value)) => {
            object.insert(key.clone(), value);
        }
        ([key], FoundValues::Each(values)) => {
            object.insert(key.clone(), Value::from_iter(values.into_iter().flatten()));
        }
        ([list, key], content) => {
            let of_each = match content {
                FoundValues::One(value) => vec![Some(value)],
                FoundValues::Each(values) => values,
            };
            let held = object
                .entry(list.clone())
                .or_insert_with(|| Value::Array(Vec::new()));
            if !held.is_array() {
                *held = Value::Array(Vec::new());
            }
            let Value::Array(held) = held else { return };
            while held.len() < of_each.len() {
                held.push(Value::Object(Map::new()));
            }
            for (element, value) in held.iter_mut().zip(of_each) {
                if let (Value::Object(element), Some(value)) = (element, value) {
                    element.insert(key.clone(), value);
                }
            }
        }
        _ => {}
    }
}

/// The objects of a list, or the object itself.
fn elements(value: &mut Value) -> Vec<&mut Map<String, Value>> {
    match value {
        Value::Object(object) => vec![object],
        Value::Array(list) => list.iter_mut().filter_map(Value::as_object_mut).collect(),
        _ => Vec::new(),
    }
}

/// The keys of a path such as `output.items`.
fn path(text: &str) -> Vec<String> {
    text.split('.').map(str::to_owned).collect()
}

fn object(text: &str) -> Option<Map<String, Value>> {
    match lenient::any(text) {
        Ok(Value::Object(object)) => Some(object),
        Ok(_) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::OutputFields;
    use crate::model::{Layer, OutputField, RecordPart, StatedFields};

    const FIELDS: &[OutputField] = &[
        OutputField::named("findings", &["found"]),
        OutputField::placed(
            "findings.file",
            "findings.citations.file",
            &["citations.path"],
        ),
        OutputField::named("gaps.type", &["gap_type"]),
        OutputField {
            part: RecordPart::Intermediate,
            ..OutputField::named("tool_calls", &[])
        },
    ];

    fn stated(fields: &Value) -> StatedFields {
        serde_json::from_value(fields.clone()).unwrap()
    }

    /// The outputs of a record that has nothing else, with these fields.
    fn outputs(fields: &Value, outputs: &Value) -> Value {
        let record = json!({ "outputs": outputs }).to_string();
        let fields = OutputFields::new(FIELDS, &stated(fields));
        let parts = fields.in_place(&record, &outputs.to_string(), None);
        parts.map_or(outputs.clone(), |parts| {
            serde_json::from_str(&parts.outputs).unwrap()
        })
    }

    #[test]
    fn what_an_agent_writes_is_read_under_its_own_names() {
        let table = [
            // A path of the suite, one of another system, and the kind's own name.
            (
                json!({ "findings": ["a.b"] }),
                json!({ "a": { "b": [1] } }),
                json!([1]),
            ),
            (json!({}), json!({ "found": [1] }), json!([1])),
            (
                json!({}),
                json!({ "found": [1], "findings": [2] }),
                json!([2]),
            ),
            // The suite's path comes first; of several the first that is there.
            (
                json!({ "findings": ["x", "y"] }),
                json!({ "y": [1], "findings": [2] }),
                json!([1]),
            ),
            (
                json!({ "findings": ["x"] }),
                json!({ "x": null, "findings": [2] }),
                json!([2]),
            ),
            // The key of an element, deeper in the element or next to it.
            (
                json!({ "findings.file": ["source"] }),
                json!({ "findings": [{ "source": "a.md" }] }),
                json!([{ "source": "a.md", "citations": [{ "file": "a.md" }] }]),
            ),
            (
                json!({ "findings.file": ["refs.at"] }),
                json!({ "findings": [{ "refs": [{ "at": "a" }, {}, { "at": "c" }] }] }),
                json!([{ "refs": [{ "at": "a" }, {}, { "at": "c" }], "citations": [{ "file": "a" }, {}, { "file": "c" }] }]),
            ),
            (
                json!({}),
                json!({ "findings": [{ "citations": [{ "path": "a" }, { "path": "b" }] }] }),
                json!([{ "citations": [{ "path": "a", "file": "a" }, { "path": "b", "file": "b" }] }]),
            ),
            // The list and the keys of its elements.
            (
                json!({ "findings": ["items"], "findings.category": ["kind.name"] }),
                json!({ "items": [{ "kind": { "name": "x" } }] }),
                json!([{ "kind": { "name": "x" }, "category": "x" }]),
            ),
        ];
        for (fields, given, expected) in table {
            assert_eq!(
                outputs(&fields, &given)["findings"],
                expected,
                "{fields} {given}"
            );
        }
    }

    #[test]
    fn a_text_that_is_json_is_read_under_its_own_names() {
        let read = |text: &str| {
            let fields = json!({ "findings": ["items"] });
            outputs(&fields, &json!({ "text": text }))["text"].clone()
        };
        let mapped = r#"{"findings":[1],"items":[1]}"#;
        for text in [r#" {"items": [1]}"#, "```json\n{\"items\": [1]}\n```"] {
            let read: Value = serde_json::from_str(read(text).as_str().unwrap()).unwrap();
            assert_eq!(read, serde_json::from_str::<Value>(mapped).unwrap());
        }
        for text in [
            r#"Here: {"items": [1]}"#,
            r#"See {"note": 2}, then {"items": [1]}, that is all"#,
            r#"Here: {items: [1,]}"#,
        ] {
            let read = read(text);
            let read = read.as_str().unwrap();
            assert!(read.starts_with(r#"{"findings":[1],"items":[1]"#), "{read}");
            assert!(read.ends_with(text), "{read}");
        }
        let thought = read(r#"<think>{"items": [0]}</think> {items: [1]}"#);
        let thought = thought.as_str().unwrap();
        assert!(
            thought.starts_with(r#"<think>{"items": [0]}</think>{"findings":[1]"#),
            "{thought}"
        );
        let endless = r#"<think> {items: [1]}"#;
        assert_eq!(read(endless), endless);
        let other = r#"Here: {"note": [1]}"#;
        assert_eq!(read(other), other);
    }

    #[test]
    fn what_was_repaired_is_not_read_strictly() {
        let layer = |text: &str| {
            let fields = OutputFields::new(FIELDS, &stated(&json!({ "findings": ["items"] })));
            let outputs = json!({ "text": text }).to_string();
            let record = json!({ "outputs": { "text": text } }).to_string();
            let parts = fields.in_place(&record, &outputs, None);
            parts.and_then(|parts| parts.text_layer)
        };
        assert_eq!(layer(r#"{"items": [1]}"#), None);
        assert_eq!(layer(r#"So: {"items": [1]}"#), Some(Layer::Strict));
        assert_eq!(layer(r#"So: {items: [1,]}"#), Some(Layer::Repaired));
    }

    #[test]
    fn calls_are_among_the_steps() {
        let fields = OutputFields::new(FIELDS, &stated(&json!({ "tool_calls": ["steps"] })));
        let record = r#"{"outputs": {"text": "x"}, "steps": [{"name": "find"}]}"#;
        let parts = fields.in_place(record, r#"{"text": "x"}"#, None).unwrap();
        assert_eq!(
            parts.intermediate.as_deref(),
            Some(r#"{"tool_calls":[{"name":"find"}]}"#)
        );
    }

    #[test]
    fn only_what_has_a_key_of_the_kind_is_nothing_but_outputs() {
        let fields = OutputFields::new(FIELDS, &stated(&json!({ "findings": ["output.items"] })));
        for (record, expected) in [
            (
                r#"{"findings": [], "agent": "a"}"#,
                Some(r#"{"findings":[]}"#),
            ),
            (r#"{"found": []}"#, Some(r#"{"found":[]}"#)),
            (
                r#"{"output": {"items": []}}"#,
                Some(r#"{"output":{"items":[]}}"#),
            ),
            (r#"{"findings": null}"#, None),
            (r#"{"tool_calls": []}"#, None),
            ("[]", None),
        ] {
            assert_eq!(fields.bare_outputs(record).as_deref(), expected, "{record}");
        }
    }

    #[test]
    fn a_path_that_no_record_has_is_known() {
        let missing = |records: &[Value]| {
            let stated = stated(&json!({ "findings": ["items"], "findings.file": ["at"] }));
            let fields = OutputFields::new(FIELDS, &stated);
            for record in records {
                fields.in_place(&record.to_string(), &record.to_string(), None);
            }
            let missing = fields.in_no_record().map(|(name, _)| name.to_owned());
            missing.collect::<Vec<_>>()
        };
        let (none, empty) = (json!({ "findings": [{}] }), json!({ "items": [] }));
        let both = json!({ "items": [{ "at": "a" }] });
        assert_eq!(
            missing(std::slice::from_ref(&none)),
            ["findings", "findings.file"]
        );
        assert_eq!(missing(&[empty]), [""; 0]);
        assert_eq!(missing(&[none, both]), [""; 0]);
        assert_eq!(missing(&[]), [""; 0]);
    }
}
