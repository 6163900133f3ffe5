//! Runs as they may have been before keys were removed from their recordings.

use crate::model::Run;
use crate::text::possible_originals;

/// What a run may have been before keys were removed from its outputs and calls; nothing if none was.
pub fn before_removal(run: &Run) -> Vec<Run> {
    let originals = |text: &str| -> Vec<String> { possible_originals(text).into_iter().collect() };
    let steps = run.intermediate.as_deref().unwrap_or_default();
    let (outputs_before, steps_before) = (originals(&run.outputs), originals(steps));
    let one = |originals: &[String], text: &str, number: usize| -> Box<str> {
        originals
            .get(number % originals.len().max(1))
            .map_or(text, String::as_str)
            .into()
    };
    let of = |number| Run {
        outputs: one(&outputs_before, &run.outputs, number).into(),
        intermediate: run
            .intermediate
            .as_deref()
            .map(|steps| one(&steps_before, steps, number)),
        ..run.clone()
    };
    (0..outputs_before.len().max(steps_before.len()))
        .map(of)
        .collect()
}
