//! An object or array that is still open.

use serde_json::{Map, Value};

use super::Anchor;
use super::fit::{carries, has_list};

/// The parsed part of an open object or array.
pub(super) enum Frame {
    /// An object, and the key whose value comes next.
    Object {
        members: Map<String, Value>,
        key: Option<String>,
    },
    Array(Vec<Value>),
}

impl Frame {
    pub(super) fn opened_by(bracket: u8) -> Self {
        if bracket == b'{' {
            Self::Object {
                members: Map::new(),
                key: None,
            }
        } else {
            Self::Array(Vec::new())
        }
    }

    pub(super) fn closed_by(&self, bracket: u8) -> bool {
        match self {
            Self::Object { .. } => bracket == b'}',
            Self::Array(_) => bracket == b']',
        }
    }

    /// Adds the value of the next member or element; `None` is a value that JSON cannot represent.
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

    pub(super) fn closed(self) -> Value {
        match self {
            Self::Object { members, key: _ } => Value::Object(members),
            Self::Array(elements) => Value::Array(elements),
        }
    }

    /// The value of an unterminated container; `None` if it has no complete element. A list that was cut after its bracket is not an
    /// empty list.
    pub(super) fn cut(self, anchor: Option<&Anchor<'_>>) -> Option<Value> {
        let lists = anchor.is_some_and(|anchor| self.is_at(anchor.list));
        match self {
            Self::Object { members, key: _ } => {
                (!members.is_empty() && !lists).then_some(Value::Object(members))
            }
            Self::Array(elements) => (!elements.is_empty()).then_some(Value::Array(elements)),
        }
    }

    /// Whether it is an object whose value for this key is being read.
    pub(super) fn is_at(&self, name: &str) -> bool {
        match self {
            Self::Object { members: _, key } => key.as_deref() == Some(name),
            Self::Array(_) => false,
        }
    }
}

/// If the open frames contain an object of the list that cannot be kept, because none of them has the anchor's field: the number
/// of complete elements of the list.
pub(super) fn loses(frames: &[Frame], anchor: &Anchor<'_>) -> Option<usize> {
    let below = frames
        .iter()
        .rposition(|frame| frame.is_at(anchor.list))
        .map_or(0, |index| index + 1);
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
