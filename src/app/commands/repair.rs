//! `goldgate repair`: extracts the JSON of a model's answer.

use recover::{Recovered, RecoveryLayer, recover, recover_any};

use crate::diag::{Code, Diagnostic};
use crate::render::{CliError, plural};
use crate::suites::KINDS;
use crate::world::World;

/// Reads standard input and prints the recovered JSON. Returns the exit code.
pub fn repair(world: &World) -> Result<u8, CliError> {
    let source = world.input()?;
    // The lists that the kinds read; a single object is recognized by a field of its list.
    let mut anchors = KINDS.iter().filter_map(|kind| kind.outputs.anchor);
    let recovered = recover_any(&source.text)
        .or_else(|| anchors.find_map(|anchor| recover(&source.text, &anchor)));
    let Some(Recovered { value, layer, lost }) = recovered else {
        let message = "this text contains no JSON object or array";
        let help = "ask the model for JSON, or check its answer";
        return Err(
            Diagnostic::of_file("standard input", Code::NOTHING_RECOVERED, message, help).into(),
        );
    };
    world.say(&format!("{value}\n"));
    let (number, word) = match layer {
        RecoveryLayer::Strict => (1, "strict"),
        RecoveryLayer::Repaired => (2, "repaired"),
        RecoveryLayer::Salvaged => (3, "salvaged"),
    };
    let lost = if lost > 0 {
        format!(", {} lost", plural(lost, "object", "objects"))
    } else {
        String::new()
    };
    world.tell(&format!("layer {number} ({word}{lost})"));
    Ok(0)
}
