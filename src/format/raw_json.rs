//! Where a raw part of a JSON text is in it.

use serde_json::value::RawValue;

use crate::files::SourceText;

/// The byte offset of a raw part in its text.
pub fn offset_of(source: &SourceText, raw: &RawValue) -> usize {
    // A borrowed RawValue is a slice of its source text.
    (raw.get().as_ptr() as usize).saturating_sub(source.text.as_ptr() as usize)
}
