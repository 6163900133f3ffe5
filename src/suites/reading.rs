//! Reading what a model said where its record has no structure (grading.md 11).

use serde::Deserialize;

use crate::format::lenient::{Lenient, Text};
use crate::model::Layer;
use crate::text::recover;
use crate::text::recover::Anchor;

/// What a text was recovered to.
pub struct RecoveredText<T> {
    /// The kind's outputs.
    pub outputs: T,
    /// How they were read.
    pub layer: Layer,
    /// Objects that could not be read.
    lost: usize,
}

impl<T> RecoveredText<T> {
    /// What was lost, as a flaw.
    pub fn loss(&self) -> Option<String> {
        (self.lost > 0).then(|| format!("{} objects of the text could not be read", self.lost))
    }
}

/// Reads a kind's outputs out of a text.
///
/// # Errors
/// The flaw: that there is no text, or nothing in it.
pub fn from_text<T>(text: &Lenient<Text<'_>>, anchor: &Anchor<'_>) -> Result<RecoveredText<T>, String>
where
    T: Deserialize<'static> + Default,
{
    let list = anchor.list;
    let Lenient::Given(text) = text else {
        return Err(format!("there is neither a list \"{list}\" nor a text to read it from"));
    };
    let found = recover::recover(text, anchor)
        .ok_or_else(|| format!("no JSON with a list \"{list}\" can be read from the text"))?;
    let outputs = T::deserialize(found.value).unwrap_or_default();
    Ok(RecoveredText { outputs, layer: layer(found.layer), lost: found.lost })
}

/// The layer of a recovery as a grade names it.
pub fn layer(layer: recover::RecoveryLayer) -> Layer {
    match layer {
        recover::RecoveryLayer::Strict => Layer::Strict,
        recover::RecoveryLayer::Repaired => Layer::Repaired,
        recover::RecoveryLayer::Salvaged => Layer::Salvaged,
    }
}
