//! The text between two objects or arrays: closing brackets of something broken, keys, single words.

use serde_json::Value;

use super::cursor::{BareWord, Cursor};
use super::steps::visit;

const QUOTES: [char; 7] = ['"', '\'', '`', '“', '”', '‘', '’'];

/// Position inside an unparsable region.
#[derive(Default)]
pub(super) struct Gap {
    /// Number of open objects and arrays that could not be read completely.
    pub(super) open: usize,
    /// The value of `open` when a container was opened that is certainly JSON, until it is closed.
    json: Option<usize>,
    /// Whether such a container was closed: a value after a comma is then its sibling.
    closed_json: bool,
    /// Numbers and booleans that are direct members of the outermost one, with their keys.
    pub(super) members: Vec<(String, Value)>,
}

impl Gap {
    /// Processes the bytes between two objects or arrays.
    pub(super) fn walk(&mut self, text: &str, from: usize, to: usize) {
        visit(to - from);
        for (index, byte) in text.as_bytes()[from..to].iter().enumerate() {
            match byte {
                b'}' | b']' => {
                    self.open = self.open.saturating_sub(1);
                    let closed = self.json.take_if(|open| *open >= self.open);
                    self.closed_json |= closed.is_some();
                }
                b':' if self.open == 1 => self.members.extend(member(text, from + index)),
                _ => {}
            }
        }
    }

    /// Records a bracket that did not open a readable container.
    pub(super) fn false_start(&mut self, text: &str, start: usize) {
        if self.json.is_none() && opens_json(text, start) {
            self.json = Some(self.open);
        }
        self.open += 1;
    }

    /// Whether the value at this byte is a piece of something broken. After a break `open` may be too low, because a text with
    /// missing quotes swallows brackets.
    pub(super) fn encloses(&self, text: &str, start: usize, behind_break: bool) -> bool {
        let text_before = text[..start].trim_end();
        let in_a_word = text_before.len() == start && text_before.ends_with(char::is_alphanumeric);
        let goes_on = text_before.ends_with([':', ',', '[']) || text_before.ends_with(QUOTES);
        self.json.is_some()
            || (self.closed_json && text_before.ends_with(','))
            || ((self.open > 0 || behind_break) && (in_a_word || goes_on))
    }

    /// The key of the value at this byte, if the value is a member of a broken object: inside an open bracket, or with a quoted key. In
    /// prose, a word with a colon only introduces an answer.
    pub(super) fn key(&self, text: &str, start: usize) -> Option<String> {
        let text_before = text[..start].trim_end();
        visit(start - text_before.len());
        match text_before.strip_suffix(':') {
            Some(text_of_key) => {
                key_at_end(text_of_key).filter(|key| self.open > 0 || key.quotes == 2)
            }
            None => key_at_end(text_before).filter(|key| self.open > 0 && key.quotes > 0),
        }
        .map(|key| key.name.to_owned())
    }
}

/// Whether a bracket is followed by one quoted word, as a JSON key or element.
fn opens_json(text: &str, bracket: usize) -> bool {
    let inside = text[bracket + 1..].trim_start();
    let Some(behind) = inside.strip_prefix(['"', '\'']) else {
        return false;
    };
    let after = behind.trim_start_matches(is_key_char);
    visit(text.len() - bracket - after.len());
    after.len() < behind.len() && after.starts_with(['"', '\''])
}

fn is_key_char(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '$' | '-')
}

struct Key<'a> {
    name: &'a str,
    /// Number of its quotes: 0, 1 or 2.
    quotes: usize,
}

/// The key at the end of a text; its quotes may be missing or typographic.
fn key_at_end(whole: &str) -> Option<Key<'_>> {
    let text = whole.trim_end();
    let inside = text.strip_suffix(QUOTES);
    let closed = inside.is_some();
    let inside = inside.unwrap_or(text);
    let text_before = inside.trim_end_matches(is_key_char);
    visit(whole.len() - text_before.len());
    let name = &inside[text_before.len()..];
    let quotes = usize::from(closed) + usize::from(closed && text_before.ends_with(QUOTES));
    (!name.is_empty()).then_some(Key { name, quotes })
}

/// The number or boolean after a colon, with its quoted key.
fn member(text: &str, colon: usize) -> Option<(String, Value)> {
    let key = key_at_end(&text[..colon]).filter(|key| key.quotes > 0)?;
    let blank = text[colon + 1..].len() - text[colon + 1..].trim_start().len();
    visit(blank);
    let mut cursor = Cursor::new(text, colon + 1 + blank);
    let BareWord::Value(value @ (Value::Number(_) | Value::Bool(_))) = cursor.word() else {
        return None;
    };
    let behind = text[cursor.at()..].trim_start();
    visit(text.len() - behind.len() - cursor.at());
    behind
        .starts_with([',', '}'])
        .then(|| (key.name.to_owned(), value))
}
