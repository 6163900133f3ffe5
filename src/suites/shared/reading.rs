//! Recovers structured outputs from a model's text.

use recover::Anchor;
use serde::Deserialize;

use crate::format::lenient::{Lenient, Text};
use crate::model::Layer;

pub struct RecoveredText<T> {
    /// The kind's outputs.
    pub outputs: T,
    /// How they were parsed.
    pub layer: Layer,
    /// Number of unreadable objects.
    lost: usize,
}

impl<T> RecoveredText<T> {
    /// The flaw if objects were lost.
    pub fn loss(&self) -> Option<String> {
        (self.lost > 0)
            .then(|| format!("objects of the text that could not be read: {}", self.lost))
    }
}

/// Recovers a kind's outputs from a text.
///
/// # Errors
/// The flaw: the text is missing, or contains no such JSON.
pub fn from_text<T>(
    text: &Lenient<Text<'_>>,
    anchor: &Anchor<'_>,
) -> Result<RecoveredText<T>, String>
where
    T: Deserialize<'static> + Default,
{
    let list = anchor.list;
    let Lenient::Given(text) = text else {
        return Err(format!(
            "the list \"{list}\" is missing, and there is no text to read it from"
        ));
    };
    let recovered = recover::recover(text, anchor)
        .ok_or_else(|| format!("the text contains no readable JSON with a list \"{list}\""))?;
    let outputs = T::deserialize(recovered.value).unwrap_or_default();
    Ok(RecoveredText {
        outputs,
        layer: Layer::from(recovered.layer),
        lost: recovered.lost,
    })
}
