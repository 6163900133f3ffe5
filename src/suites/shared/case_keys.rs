//! The keys of a case whose values are no expectations.

use serde_json::{Map, Value};

/// The key of the free notes of a case.
pub const NOTES: &str = "notes";

/// The key of the tags of a case: like origin and owner, they affect no grade.
pub const TAGS: &str = "tags";

/// The key that makes a case a draft. Whether a case counts is compared with the cases themselves.
pub const DRAFT: &str = "draft";

/// The key of why a case is excluded from gating for now.
pub const QUARANTINE: &str = "quarantine";

/// The keys of a case that change no grade, besides its id, its tags and its history.
pub const MARKS: [&str; 3] = [NOTES, DRAFT, QUARANTINE];

/// The keys of a case's id.
pub const IDS: [&str; 2] = ["id", "scenarioId"];

/// The keys of a case that describe it for people: they affect no grade, and their change needs no approval. One with a star is the end of
/// a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptionKeys(pub &'static [&'static str]);

impl DescriptionKeys {
    /// None: every other key is part of what is expected.
    pub const NONE: Self = Self(&[]);
    /// Those of most kinds.
    pub const USUAL: Self = Self(&["name", "title", "description", "*Version"]);

    /// Whether a key describes the case.
    pub fn has(self, key: &str) -> bool {
        self.0.iter().any(|known| match known.strip_prefix('*') {
            Some(end) => key.ends_with(end),
            None => key == *known,
        })
    }
}

/// Removes everything from a case that does not belong to its expectations.
pub fn leave_out_marks(case: &mut Map<String, Value>, description: DescriptionKeys) {
    let keys = MARKS.iter().chain(&IDS).chain([&TAGS]);
    keys.for_each(|key| drop(case.remove(*key)));
    case.retain(|key, _| !description.has(key));
}
