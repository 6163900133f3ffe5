//! Collects single objects that have the anchor's field, and counts lost ones.

use serde_json::{Map, Value};

use super::fit::{carries, has_list, wrapped};
use super::region::{Region, RegionState};
use super::{Anchor, Recovered, RecoveryLayer};

/// The objects found so far.
pub(super) struct Salvage<'a> {
    anchor: Anchor<'a>,
    pieces: Vec<SalvagedValue>,
    lost: usize,
    /// Broken outermost objects: lost objects of the list, unless the list turns out to be their member.
    doubtful: usize,
    /// How the last standalone object was read.
    bare: Option<RecoveryLayer>,
}

/// A value that may contain objects of the list.
struct SalvagedValue {
    value: Value,
    /// Its key, if it is a direct member of the broken outermost object.
    sibling: Option<String>,
    /// If an object of the list was lost at its end: the number of complete elements before it.
    lost: Option<usize>,
}

impl<'a> Salvage<'a> {
    pub(super) fn new(anchor: Anchor<'a>) -> Self {
        Self {
            anchor,
            pieces: Vec::new(),
            lost: 0,
            doubtful: 0,
            bare: None,
        }
    }

    /// Takes the values of one region that may contain objects of the list.
    pub(super) fn gather(&mut self, region: Region) {
        let value = region.value.unwrap_or_default();
        let carrying = value
            .as_object()
            .is_some_and(|members| keeps(members, &self.anchor));
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
                self.pieces.push(SalvagedValue {
                    value: wrapped(&self.anchor, elements),
                    sibling: None,
                    lost,
                });
            }
            (value, Some(key)) => {
                let around = region.outer && contains_list(&value, &self.anchor);
                self.doubtful = self.doubtful.saturating_sub(usize::from(around));
                let sibling = region.outer.then_some(key);
                self.pieces.push(SalvagedValue {
                    value,
                    sibling,
                    lost,
                });
            }
            // The outermost object itself: the part that was read before it broke.
            (Value::Object(members), None)
                if region.state == RegionState::Broken
                    && !carrying
                    && !has_list(&members, &self.anchor) =>
            {
                let outermost = region.outer && !region.fragment;
                if lost.is_some() {
                    self.count_lost(outermost && region.depth == 1);
                }
                let pieces = members.into_iter().map(|(key, value)| {
                    let sibling = outermost.then_some(key);
                    SalvagedValue {
                        value,
                        sibling,
                        lost: None,
                    }
                });
                self.pieces.extend(pieces);
            }
            (Value::Null, None) if lost.is_some() => {
                self.count_lost(region.depth == 1 && !region.fragment)
            }
            (Value::Null, None) => {}
            (value, None) => self.pieces.push(SalvagedValue {
                value,
                sibling: None,
                lost,
            }),
        }
    }

    fn count_lost(&mut self, is_outermost: bool) {
        if is_outermost {
            self.doubtful += 1;
        } else {
            self.lost += 1;
        }
    }

    /// The only object of the text if it is standalone; otherwise all found objects, with the siblings of the list.
    pub(super) fn split(
        self,
        members: Vec<(String, Value)>,
    ) -> (Option<Recovered>, Option<Recovered>) {
        let Self {
            anchor,
            pieces,
            lost,
            doubtful,
            bare,
        } = self;
        let listed = pieces
            .iter()
            .any(|piece| contains_list(&piece.value, &anchor));
        let mut sorted = Sorted {
            anchor,
            kept: Vec::new(),
            sibling: Map::new(),
            lost: lost + doubtful,
        };
        for SalvagedValue {
            value,
            sibling,
            lost,
        } in pieces
        {
            match sibling {
                // Without the list the role of a member is unknown, so every object with the field may be meant.
                Some(key) if listed && !contains_list(&value, &anchor) => {
                    sorted.add_sibling(key, value)
                }
                Some(_) | None => {
                    sorted.lost += usize::from(lost.is_some());
                    sorted.take(value, lost);
                }
            }
        }
        if listed {
            members
                .into_iter()
                .for_each(|(key, value)| sorted.add_sibling(key, value));
        }
        let Sorted {
            kept,
            sibling,
            lost,
            ..
        } = sorted;
        if kept.is_empty() {
            return (None, None);
        }
        let single = kept.len() == 1 && lost == 0;
        let mut value = wrapped(&anchor, kept);
        match bare.filter(|_| single) {
            Some(layer) => (
                Some(Recovered {
                    value,
                    layer,
                    lost: 0,
                }),
                None,
            ),
            None => {
                if let Value::Object(members) = &mut value {
                    members.extend(sibling);
                }
                (
                    None,
                    Some(Recovered {
                        value,
                        layer: RecoveryLayer::Salvaged,
                        lost,
                    }),
                )
            }
        }
    }
}

/// The salvaged objects of the list, the siblings of the list, and the number of lost objects.
struct Sorted<'a> {
    anchor: Anchor<'a>,
    kept: Vec<Value>,
    sibling: Map<String, Value>,
    lost: usize,
}

impl Sorted<'_> {
    /// Keeps an object of the list as a whole and searches all other values. The reader bounds the depth.
    fn take(&mut self, value: Value, counted: Option<usize>) {
        match value {
            Value::Object(members) if has_list(&members, &self.anchor) => {
                for (key, member) in members {
                    match member {
                        Value::Array(elements) if key == self.anchor.list => {
                            self.elements(elements, counted)
                        }
                        member => self.add_sibling(key, member),
                    }
                }
            }
            Value::Object(members) if keeps(&members, &self.anchor) => {
                self.kept.push(Value::Object(members))
            }
            Value::Object(members) => members
                .into_iter()
                .for_each(|(_, member)| self.take(member, counted)),
            Value::Array(elements) => elements
                .into_iter()
                .for_each(|element| self.take(element, counted)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Takes the list's elements, and counts those of which nothing is kept.
    fn elements(&mut self, elements: Vec<Value>, counted: Option<usize>) {
        let last = elements.len().saturating_sub(1);
        for (index, element) in elements.into_iter().enumerate() {
            let count = self.kept.len();
            self.take(element, counted);
            // The open element comes after the complete ones, if any of it is left.
            let open = index == last && counted.is_some_and(|complete| index >= complete);
            self.lost += usize::from(self.kept.len() == count && !open);
        }
    }

    /// Adds a sibling of the list; the first value of a key wins. A key equal to the field belongs to an object of the list.
    fn add_sibling(&mut self, key: String, value: Value) {
        if !value.is_null() && key != self.anchor.list && key != self.anchor.field {
            self.sibling.entry(key).or_insert(value);
        }
    }
}

/// Whether an object is an element of the list. One that has the list itself is its wrapper.
fn keeps(members: &Map<String, Value>, anchor: &Anchor<'_>) -> bool {
    carries(members, anchor) && !has_list(members, anchor)
}

/// Whether a value contains the list at any depth. The reader bounds the depth.
fn contains_list(value: &Value, anchor: &Anchor<'_>) -> bool {
    match value {
        Value::Object(members) => {
            has_list(members, anchor)
                || members.values().any(|member| contains_list(member, anchor))
        }
        Value::Array(elements) => elements
            .iter()
            .any(|element| contains_list(element, anchor)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
