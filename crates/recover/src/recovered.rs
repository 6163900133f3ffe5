//! A recovered value.

use serde_json::Value;

/// The layer that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryLayer {
    /// A strict parse.
    Strict,
    /// After repairs, including closing a truncated value.
    Repaired,
    /// From single objects.
    Salvaged,
}

/// A value that was found in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    /// From [`recover`](super::recover): an object with the anchor's list. From [`recover_any`](super::recover_any): an object
    /// or array.
    pub value: Value,
    /// The layer that succeeded.
    pub layer: RecoveryLayer,
    /// Number of objects that salvage found but could not read; 0 in the other layers.
    pub lost: usize,
}
