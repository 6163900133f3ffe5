//! Writes a changed gate into the text of a config.

use crate::files::SourceText;
use crate::format::yaml::Step::{self, At, Key};
use crate::format::yaml::edit::with_value;
use crate::model::{Gate, GateKind, Limit, StatedGate, Strictness, SuiteConfig};

/// Sets the keys in which two gates of a metric differ. `None` if the text has a form in which they cannot be set; whether the result means
/// the new gate is for the caller to check, by reading it.
pub fn with_gate(
    source: &SourceText,
    suite: &SuiteConfig,
    metric: &str,
    before: &Gate,
    gate: &Gate,
) -> Option<SourceText> {
    let stated = suite.gates.get(metric).map_or(&[][..], Vec::as_slice);
    let at = stated
        .iter()
        .position(|one| states(one, before.kind()))
        .unwrap_or(0);
    let base = [Key("suites"), At(suite.index), Key("gates"), Key(metric)];
    let mut edited = source.clone();
    for (key, value) in changed_keys(before, gate)? {
        let listed: Vec<Step<'_>> = base.iter().copied().chain([At(at), Key(key)]).collect();
        let single: Vec<Step<'_>> = base.iter().copied().chain([Key(key)]).collect();
        let text = with_value(&edited, &listed, &value)
            .or_else(|| with_value(&edited, &single, &value))?;
        edited = SourceText::from_text(source.file.clone(), text);
    }
    Some(edited)
}

fn states(stated: &StatedGate, kind: GateKind) -> bool {
    match kind {
        GateKind::Min => stated.min.is_some(),
        GateKind::Max => stated.max.is_some(),
        GateKind::MaxDrop => stated.max_drop.is_some(),
        GateKind::MaxRise => stated.max_rise.is_some(),
        GateKind::Test | GateKind::Lost | GateKind::Never | GateKind::Floor => false,
    }
}

/// The keys of a gate that differ, with their values; `None` if it is another kind of gate.
fn changed_keys(before: &Gate, gate: &Gate) -> Option<Vec<(&'static str, String)>> {
    match (*before, *gate) {
        (
            Gate::Change { direction: one, .. },
            Gate::Change {
                direction,
                tolerance,
                ..
            },
        ) if one == direction => Some(vec![(gate.kind().as_str(), tolerance.to_string())]),
        (
            Gate::Threshold {
                side: one,
                limit: old,
                strictness: was,
            },
            Gate::Threshold {
                side,
                limit,
                strictness,
            },
        ) if one == side => {
            let mut keys = Vec::new();
            if let (Limit::Number(number), true) = (limit, old != limit) {
                keys.push((gate.kind().as_str(), number.to_string()));
            }
            if let (Strictness::Band(zone), true) = (strictness, was != strictness) {
                keys.push(("zone", zone.to_string()));
                if was == Strictness::Hard {
                    keys.push(("hard", "false".to_owned()));
                }
            }
            Some(keys)
        }
        _ => None,
    }
}
