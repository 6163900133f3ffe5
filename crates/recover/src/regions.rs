//! Iterates over the outermost objects and arrays of a text; visits each byte a bounded number of times.

use serde_json::Value;

use super::Anchor;
use super::gap::Gap;
use super::reader::{Ending, ReadRegion, read_container};
use super::region::{Region, RegionState};
use super::steps::visit;

/// All outermost objects and arrays, in order.
pub(super) struct Regions<'a> {
    text: &'a str,
    anchor: Option<Anchor<'a>>,
    at: usize,
    /// Whether something broken was seen, so that later regions may be pieces of it.
    fragments: bool,
    /// The open containers around the current position.
    gap: Gap,
    /// Number of bytes that may still be read a second time.
    spare: usize,
}

impl<'a> Regions<'a> {
    /// The regions of a text; the anchor only determines which objects count as lost.
    pub(super) fn new(text: &'a str, anchor: Option<Anchor<'a>>) -> Self {
        Self {
            text,
            anchor,
            at: 0,
            fragments: false,
            gap: Gap::default(),
            spare: text.len(),
        }
    }

    /// Numbers and booleans between the regions that are direct members of the outermost object.
    pub(super) fn members(self) -> Vec<(String, Value)> {
        self.gap.members
    }

    /// Where to continue after a bracket that opened nothing: right after it, so that a quote in prose does not swallow the
    /// answer, but only while the total length of repeated reading is below the text's length.
    fn behind_false_start(&mut self, start: usize, end: usize) -> usize {
        match self.spare.checked_sub(end - start) {
            Some(spare) => {
                self.spare = spare;
                start + 1
            }
            None => end,
        }
    }

    fn region(&self, start: usize, reading: ReadRegion) -> Region {
        let span = start..reading.end;
        let (value, state) = match reading.ending {
            Ending::Whole => {
                visit(span.len());
                match serde_json::from_str(&self.text[span.clone()]) {
                    Ok(strict) => (Some(strict), RegionState::Strict),
                    Err(_) => (reading.value, RegionState::Repaired),
                }
            }
            Ending::Cut => (reading.value, RegionState::Cut),
            Ending::Broken => (reading.value, RegionState::Broken),
        };
        let (member, outer) = (self.gap.key(self.text, start), self.gap.open <= 1);
        let inside = member.is_some() || self.gap.encloses(self.text, start, self.fragments);
        Region {
            span,
            value,
            state,
            fragment: self.fragments,
            inside,
            member,
            outer,
            depth: reading.open,
            lost: reading.lost,
        }
    }
}

impl Iterator for Regions<'_> {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        loop {
            let rest = &self.text[self.at..];
            let ahead = rest.find(['{', '[']);
            let gap = ahead.unwrap_or(rest.len());
            visit(gap);
            self.gap.walk(self.text, self.at, self.at + gap);
            let start = self.at + ahead?;
            let reading = read_container(self.text, start, self.anchor);
            let false_start = reading.ending != Ending::Whole && !reading.begun;
            self.at = if false_start {
                self.behind_false_start(start, reading.end)
            } else {
                reading.end
            };
            let open = reading.open;
            let broken = reading.ending == Ending::Broken;
            let region = (!false_start || self.fragments).then(|| self.region(start, reading));
            // A region that is read again will open its containers again.
            if false_start && self.at == start + 1 {
                self.gap.false_start(self.text, start);
            } else {
                self.gap.open += open;
            }
            self.fragments |= broken && !false_start;
            if region.is_some() {
                return region;
            }
        }
    }
}
