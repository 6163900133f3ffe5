//! Recovers JSON from model answers: out of prose, fences and broken syntax.
//!
//! An own reader, because existing crates keep truncated strings and numbers, turn a truncated list into an empty one
//! (`jsonrepair`, `jsonrepair-rs`, `llm_json`, `partial-json-fixer`), overflow the stack (`jsonrepair`,
//! `llm_json`) or repair too little (`json5`).

mod anchor;
mod cursor;
mod fences;
mod fit;
mod frame;
mod gap;
mod reader;
mod recovered;
mod region;
mod regions;
mod salvage;
mod steps;

#[cfg(test)]
mod tests;

use std::iter::once;

use serde_json::Value;

pub use self::anchor::Anchor;
use self::fit::{acceptable, fitting};
pub use self::reader::MAX_DEPTH;
pub use self::recovered::{Recovered, RecoveryLayer};
use self::region::RegionState;
use self::regions::Regions;
use self::salvage::Salvage;

/// Recovers the anchor's list from a text, with the first layer that finds one.
///
/// Within a layer, fenced blocks come before the whole text, and complete values before truncated ones. An array of objects, or a
/// single object with the anchor's field, is wrapped as the list. Every text and number of the result is in the answer; a truncated
/// one is never kept.
#[must_use]
pub fn recover(text: &str, anchor: &Anchor<'_>) -> Option<Recovered> {
    let mut best = Best::default();
    for block in fences::blocks(text) {
        for region in Regions::new(block, Some(*anchor)) {
            best.offer(region.state, || fitting(&region, block, anchor));
            if best.strict.is_some() {
                return best.strict();
            }
        }
    }
    let mut salvage = Salvage::new(*anchor);
    let mut regions = Regions::new(text, Some(*anchor));
    for region in regions.by_ref() {
        best.offer(region.state, || fitting(&region, text, anchor));
        if best.strict.is_some() {
            return best.strict();
        }
        salvage.gather(region);
    }
    let (single, salvaged) = salvage.split(regions.members());
    let strict_single = single
        .as_ref()
        .is_some_and(|recovered| recovered.layer == RecoveryLayer::Strict);
    if strict_single {
        single
    } else {
        best.repaired().or(single).or(salvaged)
    }
}

/// Recovers the first object or array of a text: from its fenced blocks, then from the whole text; strictly, otherwise repaired.
///
/// An empty object or array counts only if it is alone on its lines: in prose it is a check box or punctuation.
#[must_use]
pub fn recover_any(text: &str) -> Option<Recovered> {
    let mut best = Best::default();
    for part in fences::blocks(text).into_iter().chain(once(text)) {
        for region in Regions::new(part, None) {
            best.offer(region.state, || acceptable(&region, part));
            if best.strict.is_some() {
                return best.strict();
            }
        }
    }
    best.repaired()
}

/// The first fitting value per layer.
#[derive(Default)]
struct Best {
    strict: Option<Value>,
    repaired: Option<Value>,
    cut: Option<Value>,
}

impl Best {
    fn offer(&mut self, state: RegionState, value: impl FnOnce() -> Option<Value>) {
        let slot = match state {
            RegionState::Strict => &mut self.strict,
            RegionState::Repaired => &mut self.repaired,
            RegionState::Cut => &mut self.cut,
            RegionState::Broken => return,
        };
        if slot.is_none() {
            *slot = value();
        }
    }

    fn strict(self) -> Option<Recovered> {
        self.strict.map(|value| Recovered {
            value,
            layer: RecoveryLayer::Strict,
            lost: 0,
        })
    }

    fn repaired(self) -> Option<Recovered> {
        self.repaired.or(self.cut).map(|value| Recovered {
            value,
            layer: RecoveryLayer::Repaired,
            lost: 0,
        })
    }
}
