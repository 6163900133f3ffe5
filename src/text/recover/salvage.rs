//! Collects single objects that carry the anchor's field, and counts those that were lost.

use serde_json::Map;
use serde_json::Value;

use super::Anchor;
use super::Layer;
use super::Recovered;
use super::fit::carries;
use super::fit::has_list;
use super::fit::wrapped;
use super::regions::Region;
use super::regions::State;

/// The objects found so far.
pub(super) struct Salvage<'a> {
    anchor: Anchor<'a>,
    kept: Vec<Value>,
    lost: usize,
    /// How the last object was read that stood by itself, outside of every other value.
    bare: Option<Layer>,
}

impl<'a> Salvage<'a> {
    /// Nothing found yet.
    pub(super) fn new(anchor: Anchor<'a>) -> Self {
        Self { anchor, kept: Vec::new(), lost: 0, bare: None }
    }

    /// Takes the carrying objects out of one region.
    pub(super) fn gather(&mut self, region: Region) {
        self.lost += usize::from(region.lost);
        let Some(value) = region.value else {
            return;
        };
        if !region.fragment && value.as_object().is_some_and(|members| self.keeps(members)) {
            self.bare = match region.state {
                State::Strict => Some(Layer::Strict),
                State::Repaired | State::Cut => Some(Layer::Repaired),
                State::Broken => None,
            };
        }
        self.take(value);
    }

    /// The only object of the text if it stood by itself, else all that was found.
    pub(super) fn split(self) -> (Option<Recovered>, Option<Recovered>) {
        if self.kept.is_empty() {
            return (None, None);
        }
        let single = self.kept.len() == 1 && self.lost == 0;
        let value = wrapped(&self.anchor, self.kept);
        match self.bare.filter(|_| single) {
            Some(layer) => (Some(Recovered { value, layer, lost: 0 }), None),
            None => (None, Some(Recovered { value, layer: Layer::Salvaged, lost: self.lost })),
        }
    }

    /// Keeps a carrying object whole and looks into everything else. The depth is bounded by the reader's.
    fn take(&mut self, value: Value) {
        match value {
            Value::Object(members) if self.keeps(&members) => self.kept.push(Value::Object(members)),
            Value::Object(members) => members.into_iter().for_each(|(_, member)| self.take(member)),
            Value::Array(elements) => elements.into_iter().for_each(|element| self.take(element)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// An object that has the list as well is the list's wrapper, whatever else it carries.
    fn keeps(&self, members: &Map<String, Value>) -> bool {
        carries(members, &self.anchor) && !has_list(members, &self.anchor)
    }
}
