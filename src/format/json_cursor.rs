//! Finds the position of keys and values in a JSON text by path, and refuses duplicate keys.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::json;
use super::json_keys::decode_key;
use super::step::Step;
use crate::diag::{Code, Diagnostic, Point};
use crate::files::SourceText;

/// A position in a JSON text: the whole text or a part of it.
#[derive(Debug, Clone, Copy)]
pub struct JsonCursor<'a> {
    pub source: &'a SourceText,
    start: usize,
    text: &'a str,
}

impl<'a> JsonCursor<'a> {
    pub fn whole(source: &'a SourceText) -> Self {
        Self {
            source,
            start: 0,
            text: &source.text,
        }
    }

    /// The cursor of a part that was kept raw.
    pub fn part(source: &'a SourceText, raw: &'a RawValue) -> Self {
        Self {
            source,
            start: json::offset_of(source, raw),
            text: raw.get(),
        }
    }

    /// The part at `path`, or its nearest existing ancestor.
    pub fn inner(&self, path: &[Step<'_>]) -> Self {
        let JsonMember { value, text, .. } = self.found(path);
        Self {
            source: self.source,
            start: value,
            text,
        }
    }

    /// Reads the part.
    ///
    /// # Errors
    /// The position at which the part does not match the type.
    pub fn read<T: Deserialize<'a>>(&self) -> Result<T, Diagnostic> {
        json::read_json_part(self.source, self.start, self.text)
    }

    /// The line at which the part starts, from 1.
    pub fn line(&self) -> u32 {
        self.source.line(self.start)
    }

    /// The byte offset, in the file, of the value at `path` or of its nearest existing ancestor.
    pub fn value(&self, path: &[Step<'_>]) -> usize {
        self.found(path).value
    }

    /// The byte offset, in the file, of the key of the value at `path`; of the value if it has no key.
    pub fn key(&self, path: &[Step<'_>]) -> usize {
        let member = self.found(path);
        member.key.unwrap_or(member.value)
    }

    /// A problem at the value of `path`.
    pub fn problem(
        &self,
        path: &[Step<'_>],
        code: Code,
        description: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        self.source
            .problem(self.value(path), code, description, help)
    }

    /// A problem at the key of `path`.
    pub fn problem_of_key(
        &self,
        path: &[Step<'_>],
        code: Code,
        description: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        self.source.problem(self.key(path), code, description, help)
    }

    fn found(&self, path: &[Step<'_>]) -> JsonMember<'a> {
        // Problems are rare: nothing is kept for the next one.
        JsonIndex::of_part(self).found(path)
    }
}

/// The positions in a text that may have many problems: each level is parsed once.
pub struct JsonIndex<'a> {
    source: &'a SourceText,
    root: IndexNode<'a>,
}

struct IndexNode<'a> {
    member: JsonMember<'a>,
    /// Parsed when a path first leads into the value.
    inside: OnceCell<IndexMembers<'a>>,
}

/// The byte offsets, in the file, of a key and its value, and the value's text.
#[derive(Clone, Copy)]
struct JsonMember<'a> {
    key: Option<usize>,
    value: usize,
    text: &'a str,
}

enum IndexMembers<'a> {
    List(Vec<IndexNode<'a>>),
    Object(HashMap<Cow<'a, str>, IndexNode<'a>>),
}

impl<'a> JsonIndex<'a> {
    pub fn of(source: &'a SourceText) -> Self {
        Self::of_part(&JsonCursor::whole(source))
    }

    fn of_part(cursor: &JsonCursor<'a>) -> Self {
        let text = cursor.text.trim_start();
        let value = cursor.start + cursor.text.len() - text.len();
        Self {
            source: cursor.source,
            root: IndexNode::new(None, value, text),
        }
    }

    /// The position of the key of the value at `path`, of the value if it has no key, or that of its nearest existing ancestor.
    pub fn point(&self, path: &[Step<'_>]) -> Point {
        let JsonMember { key, value, .. } = self.found(path);
        self.source.point(key.unwrap_or(value))
    }

    /// A problem at the position of `path`.
    pub fn problem(
        &self,
        path: &[Step<'_>],
        code: Code,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::of_file(&self.source.file, code, what, help).at(self.point(path))
    }

    fn found(&self, path: &[Step<'_>]) -> JsonMember<'a> {
        let mut node = &self.root;
        for step in path {
            let Some(inner) = node.inside(self.source, *step) else {
                break;
            };
            node = inner;
        }
        node.member
    }
}

impl<'a> IndexNode<'a> {
    fn new(key: Option<usize>, value: usize, text: &'a str) -> Self {
        Self {
            member: JsonMember { key, value, text },
            inside: OnceCell::new(),
        }
    }

    fn of_raw(source: &SourceText, key: Option<&RawValue>, value: &'a RawValue) -> Self {
        let key = key.map(|key| json::offset_of(source, key));
        Self::new(key, json::offset_of(source, value), value.get())
    }

    fn inside(&self, source: &SourceText, step: Step<'_>) -> Option<&Self> {
        let members = self
            .inside
            .get_or_init(|| IndexMembers::of(source, self.member.text));
        match (step, members) {
            (Step::Key(name), IndexMembers::Object(fields)) => fields.get(name),
            (Step::At(index), IndexMembers::List(list)) => list.get(index),
            (Step::Key(_), IndexMembers::List(_)) | (Step::At(_), IndexMembers::Object(_)) => None,
        }
    }
}

impl<'a> IndexMembers<'a> {
    fn of(source: &SourceText, text: &'a str) -> Self {
        if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(text) {
            let elements = list.into_iter();
            return Self::List(
                elements
                    .map(|value| IndexNode::of_raw(source, None, value))
                    .collect(),
            );
        }
        let Fields(fields) = serde_json::from_str(text).unwrap_or(Fields(Vec::new()));
        let mut members = HashMap::new();
        for (key, value) in fields {
            if let Some(name) = decode_key(key) {
                members.insert(name, IndexNode::of_raw(source, Some(key), value));
            }
        }
        Self::Object(members)
    }
}

/// The keys and values of an object, as raw text.
pub(super) struct Fields<'a>(pub Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Kept;
        impl<'de> Visitor<'de> for Kept {
            type Value = Fields<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = object.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        reader.deserialize_map(Kept)
    }
}

/// An object's text without one member; the rest is unchanged.
pub fn without_member<'t>(text: &'t str, name: &str) -> Cow<'t, str> {
    match member_range(text, name) {
        None => Cow::Borrowed(text),
        Some(Range { start, end }) => Cow::Owned([&text[..start], &text[end..]].concat()),
    }
}

/// An object's text with blanks in place of one member, so that every other byte stays where it is.
pub fn blanked(text: String, name: &str) -> String {
    let Some(Range { start, end }) = member_range(&text, name) else {
        return text;
    };
    [&text[..start], &" ".repeat(end - start), &text[end..]].concat()
}

/// A member of an object with the comma that separates it from another one.
fn member_range(text: &str, name: &str) -> Option<Range<usize>> {
    // Fast path: nearly all texts lack the member and need no parsing.
    if !text.contains(name) {
        return None;
    }
    let Fields(fields) = serde_json::from_str(text).ok()?;
    let index = fields
        .iter()
        .position(|(key, _)| decode_key(key).is_some_and(|word| word == name))?;
    let previous = index
        .checked_sub(1)
        .and_then(|previous| fields.get(previous));
    let (key, value) = fields[index];
    Some(match (previous, fields.get(index + 1)) {
        (_, Some((next, _))) => range_in(text, key).start..range_in(text, next).start,
        (Some((_, previous)), None) => range_in(text, previous).end..range_in(text, value).end,
        (None, None) => range_in(text, key).start..range_in(text, value).end,
    })
}

/// The byte range of a value that was parsed from this text.
fn range_in(text: &str, raw: &RawValue) -> Range<usize> {
    let start = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + raw.get().len()
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{JsonCursor, JsonIndex};
    use crate::diag::{Code, Point};
    use crate::files::SourceText;
    use crate::format::step::Step::{At, Key};
    use crate::format::unique_keys::every_key_once;
    use crate::format::yaml::{YamlDialect, yaml_as_json};
    use crate::model::RepoPath;

    fn source(text: &str) -> SourceText {
        SourceText::from_text(RepoPath::root().child("a.json"), text.to_owned())
    }

    #[test]
    fn a_path_leads_to_its_value_and_its_key() {
        let source = source(" {\"b\": \"a\", \"a\" : [ 1, {\"a\\u0062\": {} }] }\n");
        let cursor = JsonCursor::whole(&source);
        assert_eq!((cursor.value(&[]), cursor.key(&[])), (1, 1));
        assert_eq!(
            (cursor.key(&[Key("a")]), cursor.value(&[Key("a")])),
            (12, 18),
            "not the text that reads the same"
        );
        assert_eq!(
            (
                cursor.key(&[Key("a"), At(0)]),
                cursor.value(&[Key("a"), At(0)])
            ),
            (20, 20)
        );
        let inner = [Key("a"), At(1), Key("ab")];
        assert_eq!(
            (cursor.key(&inner), cursor.value(&inner)),
            (24, 35),
            "its escapes are read"
        );
        assert_eq!(
            cursor.value(&[Key("a"), At(7), Key("x")]),
            18,
            "the nearest ancestor"
        );
        assert_eq!(cursor.value(&[Key("b"), At(0)]), 7, "a text has no parts");
    }

    #[test]
    fn offsets_of_a_part_count_from_the_start_of_the_file() {
        let source = source("[\n  {\"x\": 1},\n  {\"x\": 2}\n]");
        let raws: Vec<&RawValue> = serde_json::from_str(&source.text).unwrap();
        let cursor = JsonCursor::part(&source, raws[1]);
        assert_eq!(cursor.line(), 3);
        assert_eq!(
            cursor
                .problem(&[Key("x")], Code::BAD_VALUE, "what", "help")
                .to_string(),
            "a.json:3:9: what; help [bad-value]"
        );
        assert_eq!(
            cursor
                .problem_of_key(&[Key("x")], Code::BAD_VALUE, "what", "help")
                .to_string(),
            "a.json:3:4: what; help [bad-value]"
        );
    }

    #[test]
    fn invalid_json_is_located_at_its_start() {
        assert_eq!(JsonCursor::whole(&source("  {")).value(&[Key("a")]), 2);
    }

    #[test]
    fn duplicate_keys_in_an_object_are_refused() {
        let problem = every_key_once(&source(
            "{\"a\": 1.5, \"b\": [{\"a\": true}, {\"c\": null, \"\\u0063\": -1}]}",
        ));
        assert_eq!(
            problem.unwrap_err().to_string(),
            "a.json:1:43: duplicate key \"\\u0063\"; keep one of them [duplicate-key]"
        );
        assert_eq!(
            every_key_once(&source("[{\"a\": \"a\"}, {\"a\": 18446744073709551615}]")),
            Ok(())
        );
    }

    fn of_yaml(text: &str) -> SourceText {
        let source = SourceText::from_text(RepoPath::root().child("a.yaml"), text.to_owned());
        yaml_as_json(source, YamlDialect::Config).unwrap()
    }

    #[test]
    fn the_index_of_a_text_leads_to_keys_and_elements() {
        let json = of_yaml(
            "version: 1\nsuites:\n  - id: a\n    gates: { f1: { min: 1 } }\n  - id: b\n    gates:\n      f1: [1, 2]\n",
        );
        let index = JsonIndex::of(&json);
        let gates = |suite, inner: &[_]| {
            let path = [&[Key("suites"), At(suite), Key("gates")], inner].concat();
            let Point { line, column } = index.point(&path);
            (line, column)
        };
        assert_eq!(gates(0, &[Key("f1"), Key("min")]), (4, 20));
        assert_eq!(gates(1, &[]), (6, 5));
        assert_eq!(gates(1, &[Key("f1"), At(1)]), (7, 15));
        assert_eq!(
            gates(1, &[Key("f1"), Key("min")]),
            (7, 7),
            "the nearest ancestor"
        );
        assert_eq!(gates(2, &[]), (2, 1));
    }

    #[test]
    fn many_positions_need_one_reading() {
        let text: String = (0..4000)
            .map(|number| format!("- id: a{number}\n  kind: x\n"))
            .collect();
        let json = of_yaml(&text);
        let index = JsonIndex::of(&json);
        for number in 0..4000 {
            let line = u32::try_from(2 * number + 2).unwrap();
            assert_eq!(
                index.point(&[At(number), Key("kind")]),
                Point { line, column: 3 }
            );
        }
    }
}
