//! An object or array that is still open while it is read.

use serde_json::{Map, Value};

use super::Anchor;
use super::fit::{carries, has_list};

/// What has been read of an open object or array.
pub(super) enum Frame {
    /// An object and the key whose value comes next.
    Object { members: Map<String, Value>, key: Option<String> },
    /// An array.
    Array(Vec<Value>),
}

impl Frame {
    /// Opened by this bracket.
    pub(super) fn opened_by(bracket: u8) -> Self {
        if bracket == b'{' { Self::Object { members: Map::new(), key: None } } else { Self::Array(Vec::new()) }
    }

    /// Whether this bracket closes it.
    pub(super) fn closed_by(&self, bracket: u8) -> bool {
        match self {
            Self::Object { .. } => bracket == b'}',
            Self::Array(_) => bracket == b']',
        }
    }

    /// Takes the value of the next member or element; none if it is no value that JSON has.
    pub(super) fn take(&mut self, value: Option<Value>) {
        match self {
            Self::Object { members, key } => {
                if let (Some(key), Some(value)) = (key.take(), value) {
                    members.insert(key, value);
                }
            }
            Self::Array(elements) => elements.extend(value),
        }
    }

    /// The value, closed where its bracket stands.
    pub(super) fn closed(self) -> Value {
        match self {
            Self::Object { members, key: _ } => Value::Object(members),
            Self::Array(elements) => Value::Array(elements),
        }
    }

    /// What is left of the value when its closing bracket is missing. One of which nothing was read is nothing:
    /// a list cut behind its bracket is not an empty list, and what would have held it is not a member of one.
    pub(super) fn cut(self, anchor: Option<&Anchor<'_>>) -> Option<Value> {
        let lists = anchor.is_some_and(|anchor| self.is_at(anchor.list));
        match self {
            Self::Object { members, key: _ } => (!members.is_empty() && !lists).then_some(Value::Object(members)),
            Self::Array(elements) => (!elements.is_empty()).then_some(Value::Array(elements)),
        }
    }

    /// Whether it is an object of which this key's value is being read.
    pub(super) fn is_at(&self, wanted: &str) -> bool {
        match self {
            Self::Object { members: _, key } => key.as_deref() == Some(wanted),
            Self::Array(_) => false,
        }
    }
}

/// Where the open frames hold an object of the list that cannot be kept, because none of those below the list carries
/// the anchor's field: how many elements of the list are complete.
pub(super) fn loses(frames: &[Frame], anchor: &Anchor<'_>) -> Option<usize> {
    let below = frames.iter().rposition(|frame| frame.is_at(anchor.list)).map_or(0, |index| index + 1);
    let mut objects = frames[below..].iter().filter_map(|frame| match frame {
        Frame::Object { members, key: _ } => Some(members),
        Frame::Array(_) => None,
    });
    let mut seen = false;
    let kept = objects.any(|members| {
        seen = true;
        carries(members, anchor) || has_list(members, anchor)
    });
    let complete = match frames.get(below) {
        Some(Frame::Array(elements)) => elements.len(),
        Some(Frame::Object { .. }) | None => 0,
    };
    (seen && !kept).then_some(complete)
}
