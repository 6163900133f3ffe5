//! Walks over a text from one object or array to the next, each byte a bounded number of times.

use std::ops::Range;

use serde_json::Value;

use super::Anchor;
use super::gap::Gap;
use super::reader::{Ending, ReadRegion, read_container};
use super::steps::visit;

/// How a region was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RegionState {
    /// Complete, and a strict parser reads it.
    Strict,
    /// Complete after repairs.
    Repaired,
    /// The text ended in its middle.
    Cut,
    /// Something stands in its middle that has no place there.
    Broken,
}

/// An outermost object or array of a text, as far as it can be read.
pub(super) struct Region {
    /// Where it stands.
    pub(super) span: Range<usize>,
    /// What was read; nothing if no member of it could be.
    pub(super) value: Option<Value>,
    /// How it was read.
    pub(super) state: RegionState,
    /// It follows something broken and may be a piece of it.
    pub(super) fragment: bool,
    /// It stands inside of something broken.
    pub(super) inside: bool,
    /// Its key, where it is a member of something broken.
    pub(super) member: Option<String>,
    /// It stands right in the outermost object, or outside of every one.
    pub(super) outer: bool,
    /// How many objects and arrays were open at its end.
    pub(super) depth: usize,
    /// An object of the list was seen at its end, behind this many others, that could not be read.
    pub(super) lost: Option<usize>,
}

/// All outermost objects and arrays, first to last.
pub(super) struct Regions<'a> {
    text: &'a str,
    anchor: Option<Anchor<'a>>,
    at: usize,
    /// After something broken what follows may be a piece of it.
    fragments: bool,
    /// What is open around this place.
    gap: Gap,
    /// How many bytes may still be read a second time.
    spare: usize,
}

impl<'a> Regions<'a> {
    /// The regions of a text; the anchor only tells what counts as lost.
    pub(super) fn new(text: &'a str, anchor: Option<Anchor<'a>>) -> Self {
        Self { text, anchor, at: 0, fragments: false, gap: Gap::default(), spare: text.len() }
    }

    /// Numbers and truth values that stood with their keys between the regions, in the outermost object.
    pub(super) fn members(self) -> Vec<(String, Value)> {
        self.gap.members
    }

    /// Where to look on after a bracket that opened nothing. Right behind it, so that a quote in prose does not
    /// swallow the answer; but only while the second readings together are no longer than the text.
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
            self.at = if false_start { self.behind_false_start(start, reading.end) } else { reading.end };
            let open = reading.open;
            let broken = reading.ending == Ending::Broken;
            let region = (!false_start || self.fragments).then(|| self.region(start, reading));
            // What is read again behind a bracket that opened nothing opens itself again.
            match false_start && self.at == start + 1 {
                true => self.gap.false_start(self.text, start),
                false => self.gap.open += open,
            }
            self.fragments |= broken && !false_start;
            if region.is_some() {
                return region;
            }
        }
    }
}
