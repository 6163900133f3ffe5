//! The names of what agents put out, and where an agent writes it under a name of its own.

use std::collections::BTreeMap;

/// A part of the outputs that a kind reads, and where other systems write it.
#[derive(Debug, Clone, Copy)]
pub struct OutputField {
    /// Its name in `fields:` of a suite: a key of the outputs, or a list and a key of its elements.
    pub name: &'static str,
    /// The path under which the kind reads it: the name, or a longer path if the key is deeper in the element.
    pub place: &'static str,
    /// The paths under which other systems write it, from the outputs or from the element. The first one that is there counts.
    pub aliases: &'static [&'static str],
    /// The part of the record that holds it.
    pub part: RecordPart,
}

/// The part of a record that holds a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordPart {
    /// What the agent put out.
    Outputs,
    /// Its steps.
    Intermediate,
}

impl OutputField {
    /// A key that is read under its own name.
    pub const fn named(name: &'static str, aliases: &'static [&'static str]) -> Self {
        Self::placed(name, name, aliases)
    }

    /// A key of an element that is read deeper in the element.
    pub const fn placed(
        name: &'static str,
        place: &'static str,
        aliases: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            place,
            aliases,
            part: RecordPart::Outputs,
        }
    }
}

/// The `fields:` of a suite: the paths under which its agents write something, by the name of the kind.
pub type StatedFields = BTreeMap<String, Vec<String>>;
