//! How a model's text became a structure, in the words of a grade.

use crate::model::Layer;
use crate::text::recover;

/// The layer of a recovery as a grade names it.
pub fn layer(layer: recover::Layer) -> Layer {
    match layer {
        recover::Layer::Strict => Layer::Strict,
        recover::Layer::Repaired => Layer::Repaired,
        recover::Layer::Salvaged => Layer::Salvaged,
    }
}
