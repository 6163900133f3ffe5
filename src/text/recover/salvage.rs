//! Collects single objects that carry the anchor's field, and counts those that were lost.

use serde_json::{Map, Value};

use super::fit::{carries, has_list, wrapped};
use super::regions::{Region, RegionState};
use super::{Anchor, Recovered, RecoveryLayer};

/// The objects found so far.
pub(super) struct Salvage<'a> {
    anchor: Anchor<'a>,
    pieces: Vec<SalvagedValue>,
    lost: usize,
    /// Outermost objects that broke: lost objects of the list, unless the list turns out to be a member of them.
    doubtful: usize,
    /// How the last object was read that stood by itself, outside of every other value.
    bare: Option<RecoveryLayer>,
}

/// A value of the text that may hold objects of the list.
struct SalvagedValue {
    value: Value,
    /// Its key right in the outermost object, which is broken.
    beside: Option<String>,
    /// An object of the list that was open at its end, behind this many others, is lost.
    lost: Option<usize>,
}

impl<'a> Salvage<'a> {
    /// Nothing found yet.
    pub(super) fn new(anchor: Anchor<'a>) -> Self {
        Self { anchor, pieces: Vec::new(), lost: 0, doubtful: 0, bare: None }
    }

    /// Takes what may hold carrying objects out of one region.
    pub(super) fn gather(&mut self, region: Region) {
        let value = region.value.unwrap_or_default();
        let carrying = value.as_object().is_some_and(|members| keeps(members, &self.anchor));
        if !region.fragment && !region.inside && carrying {
            self.bare = match region.state {
                RegionState::Strict => Some(RecoveryLayer::Strict),
                RegionState::Repaired | RegionState::Cut => Some(RecoveryLayer::Repaired),
                RegionState::Broken => None,
            };
        }
        let lost = region.lost;
        match (value, region.member) {
            (Value::Array(elements), Some(key)) if key == self.anchor.list => {
                self.doubtful = self.doubtful.saturating_sub(usize::from(region.outer));
                self.pieces.push(SalvagedValue { value: wrapped(&self.anchor, elements), beside: None, lost });
            }
            (value, Some(key)) => {
                let around = region.outer && holds_list(&value, &self.anchor);
                self.doubtful = self.doubtful.saturating_sub(usize::from(around));
                let beside = region.outer.then_some(key);
                self.pieces.push(SalvagedValue { value, beside, lost });
            }
            // The outermost object itself: what was read of it before it broke.
            (Value::Object(members), None)
                if region.state == RegionState::Broken && !carrying && !has_list(&members, &self.anchor) =>
            {
                let outermost = region.outer && !region.fragment;
                self.count(lost.is_some(), outermost && region.depth == 1);
                let pieces = members.into_iter().map(|(key, value)| {
                    let beside = outermost.then_some(key);
                    SalvagedValue { value, beside, lost: None }
                });
                self.pieces.extend(pieces);
            }
            (Value::Null, None) => self.count(lost.is_some(), region.depth == 1 && !region.fragment),
            (value, None) => self.pieces.push(SalvagedValue { value, beside: None, lost }),
        }
    }

    fn count(&mut self, lost: bool, outermost: bool) {
        let place = if outermost { &mut self.doubtful } else { &mut self.lost };
        *place += usize::from(lost);
    }

    /// The only object of the text if it stood by itself, else all that was found, with the members beside the list.
    pub(super) fn split(self, members: Vec<(String, Value)>) -> (Option<Recovered>, Option<Recovered>) {
        let Self { anchor, pieces, lost, doubtful, bare } = self;
        let listed = pieces.iter().any(|piece| holds_list(&piece.value, &anchor));
        let mut sorted = Sorted { anchor, kept: Vec::new(), beside: Map::new(), lost: lost + doubtful };
        for SalvagedValue { value, beside, lost } in pieces {
            match beside {
                // Without the list nobody knows what a member is, and whatever carries the field may be meant.
                Some(key) if listed && !holds_list(&value, &anchor) => sorted.stands_beside(key, value),
                Some(_) | None => {
                    sorted.lost += usize::from(lost.is_some());
                    sorted.take(value, lost);
                }
            }
        }
        if listed {
            members.into_iter().for_each(|(key, value)| sorted.stands_beside(key, value));
        }
        let Sorted { kept, beside, lost, .. } = sorted;
        if kept.is_empty() {
            return (None, None);
        }
        let single = kept.len() == 1 && lost == 0;
        let mut value = wrapped(&anchor, kept);
        match bare.filter(|_| single) {
            Some(layer) => (Some(Recovered { value, layer, lost: 0 }), None),
            None => {
                if let Value::Object(members) = &mut value {
                    members.extend(beside);
                }
                (None, Some(Recovered { value, layer: RecoveryLayer::Salvaged, lost }))
            }
        }
    }
}

/// What was salvaged: objects of the list, what stands beside the list, and how much was lost.
struct Sorted<'a> {
    anchor: Anchor<'a>,
    kept: Vec<Value>,
    beside: Map<String, Value>,
    lost: usize,
}

impl Sorted<'_> {
    /// Keeps a carrying object whole and looks into everything else. The depth is bounded by the reader's.
    fn take(&mut self, value: Value, counted: Option<usize>) {
        match value {
            Value::Object(members) if has_list(&members, &self.anchor) => {
                for (key, member) in members {
                    match member {
                        Value::Array(elements) if key == self.anchor.list => self.elements(elements, counted),
                        member => self.stands_beside(key, member),
                    }
                }
            }
            Value::Object(members) if keeps(&members, &self.anchor) => self.kept.push(Value::Object(members)),
            Value::Object(members) => members.into_iter().for_each(|(_, member)| self.take(member, counted)),
            Value::Array(elements) => elements.into_iter().for_each(|element| self.take(element, counted)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Takes the list's elements, and counts those of which nothing is kept.
    fn elements(&mut self, elements: Vec<Value>, counted: Option<usize>) {
        let last = elements.len().saturating_sub(1);
        for (index, element) in elements.into_iter().enumerate() {
            let before = self.kept.len();
            self.take(element, counted);
            // What is left of the open one stands behind the complete ones, if anything is.
            let open = index == last && counted.is_some_and(|complete| index >= complete);
            self.lost += usize::from(self.kept.len() == before && !open);
        }
    }

    /// The first of a key holds. One that is named as the field belongs to an object of the list.
    fn stands_beside(&mut self, key: String, value: Value) {
        if !value.is_null() && key != self.anchor.list && key != self.anchor.field {
            self.beside.entry(key).or_insert(value);
        }
    }
}

/// An object that has the list as well is the list's wrapper, whatever else it carries.
fn keeps(members: &Map<String, Value>, anchor: &Anchor<'_>) -> bool {
    carries(members, anchor) && !has_list(members, anchor)
}

/// Whether the list is somewhere in a value. The depth is bounded by the reader's.
fn holds_list(value: &Value, anchor: &Anchor<'_>) -> bool {
    match value {
        Value::Object(members) => {
            has_list(members, anchor) || members.values().any(|member| holds_list(member, anchor))
        }
        Value::Array(elements) => elements.iter().any(|element| holds_list(element, anchor)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
