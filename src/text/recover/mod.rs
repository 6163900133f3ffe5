//! Reading what a model said: JSON out of prose, fences and broken syntax (grading.md 11).
//!
//! Our own reader, because the kept crates keep cut strings and numbers, turn a cut list into an empty one
//! (`jsonrepair`, `jsonrepair-rs`, `llm_json`, `partial-json-fixer`), overflow the stack (`jsonrepair`,
//! `llm_json`) or repair too little (`json5`).

mod cursor;
mod fences;
mod fit;
mod frame;
mod gap;
mod reader;
mod regions;
mod salvage;
mod steps;

#[cfg(test)]
mod tests;

use std::iter::once;

use serde_json::Value;

use fit::{fitting, standing};
use regions::{RegionState, Regions};
use salvage::Salvage;

/// What the reader looks for: the kind's anchor.
#[derive(Debug, Clone, Copy)]
pub struct Anchor<'a> {
    /// The key of the list, such as `findings`.
    pub list: &'a str,
    /// A text that each of the list's objects has, such as `category`.
    pub field: &'a str,
}

/// Which way of reading succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryLayer {
    /// A strict parse.
    Strict,
    /// After repairs, among them closing what was cut off.
    Repaired,
    /// Single objects.
    Salvaged,
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    /// From [`recover`] an object that has the anchor's list; from [`recover_any`] an object or array.
    pub value: Value,
    /// How it was read.
    pub layer: RecoveryLayer,
    /// Objects that were seen in the salvage and could not be read; 0 in the other layers.
    pub lost: usize,
}

/// Reads the anchor's list out of a text, by the first layer that yields one.
///
/// Within a layer fenced blocks come before the whole text, and what is complete before what was cut off. An
/// array of objects, or the only object that carries the anchor's field, is wrapped as the list. Every text and
/// number of the result was written in the text; nothing that was cut in its middle is kept.
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
    let strict_single = single.as_ref().is_some_and(|found| found.layer == RecoveryLayer::Strict);
    if strict_single { single } else { best.repaired().or(single).or(salvaged) }
}

/// Reads the first object or array of a text: of its fenced blocks, then of the whole; strictly, else repaired.
///
/// An empty object or array counts only where it stands alone on its lines: in prose it is a check box or a
/// manner of speaking.
#[must_use]
pub fn recover_any(text: &str) -> Option<Recovered> {
    let mut best = Best::default();
    for part in fences::blocks(text).into_iter().chain(once(text)) {
        for region in Regions::new(part, None) {
            best.offer(region.state, || standing(&region, part));
            if best.strict.is_some() {
                return best.strict();
            }
        }
    }
    best.repaired()
}

/// The first value that fits, for each way of reading.
#[derive(Default)]
struct Best {
    strict: Option<Value>,
    repaired: Option<Value>,
    cut: Option<Value>,
}

impl Best {
    fn offer(&mut self, state: RegionState, value: impl FnOnce() -> Option<Value>) {
        let place = match state {
            RegionState::Strict => &mut self.strict,
            RegionState::Repaired => &mut self.repaired,
            RegionState::Cut => &mut self.cut,
            RegionState::Broken => return,
        };
        if place.is_none() {
            *place = value();
        }
    }

    fn strict(self) -> Option<Recovered> {
        self.strict.map(|value| Recovered { value, layer: RecoveryLayer::Strict, lost: 0 })
    }

    fn repaired(self) -> Option<Recovered> {
        self.repaired.or(self.cut).map(|value| Recovered { value, layer: RecoveryLayer::Repaired, lost: 0 })
    }
}
