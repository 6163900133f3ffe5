//! An outermost object or array of a text.

use std::ops::Range;

use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RegionState {
    /// Complete, and accepted by a strict parser.
    Strict,
    /// Complete after repairs.
    Repaired,
    /// Truncated by the end of the text.
    Cut,
    /// Ended by an unexpected token.
    Broken,
}

/// An outermost object or array of a text, as far as possible.
pub(super) struct Region {
    /// Its byte range.
    pub(super) span: Range<usize>,
    /// The recovered value; `None` if no member was readable.
    pub(super) value: Option<Value>,
    /// How it was read.
    pub(super) state: RegionState,
    /// Whether it follows something broken and may be a piece of it.
    pub(super) fragment: bool,
    /// Whether it is inside something broken.
    pub(super) inside: bool,
    /// Its key, if it is a member of something broken.
    pub(super) member: Option<String>,
    /// Whether it is directly in the outermost object, or outside of all objects.
    pub(super) outer: bool,
    /// Number of open objects and arrays at its end.
    pub(super) depth: usize,
    /// If an object of the list at its end could not be read: the number of complete elements before it.
    pub(super) lost: Option<usize>,
}
