//! Runs as they may have been before keys were removed from their recordings.

use crate::model::Run;
use crate::text::possible_originals;

/// What a run may have been before keys were removed from its outputs and calls; nothing if none was.
pub fn before_removal(run: &Run) -> Vec<Run> {
    let steps = run.intermediate.as_deref().unwrap_or_default();
    let outputs_before: Vec<String> = possible_originals(&run.outputs).into_iter().collect();
    let steps_before: Vec<String> = possible_originals(steps).into_iter().collect();
    let mut runs = Vec::new();
    for number in 0..outputs_before.len().max(steps_before.len()) {
        runs.push(Run {
            outputs: original(&outputs_before, &run.outputs, number).into(),
            intermediate: run
                .intermediate
                .as_deref()
                .map(|steps| original(&steps_before, steps, number).into()),
            ..run.clone()
        });
    }
    runs
}

/// One of the originals of a text, which are counted from the first again after the last; the text itself if it has none.
fn original<'a>(originals: &'a [String], text: &'a str, number: usize) -> &'a str {
    match originals.get(number % originals.len().max(1)) {
        None => text,
        Some(original) => original,
    }
}
