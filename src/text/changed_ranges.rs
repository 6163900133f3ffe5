//! The parts of two lists that differ.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// A part of the first list and the part of the second that replaces it; one of them may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedRange {
    /// The indexes in the first list.
    pub before: Range<usize>,
    /// The indexes in the second list.
    pub after: Range<usize>,
}

/// Returns the parts that differ, in order.
pub fn changed_ranges(before: &[&str], after: &[&str]) -> Vec<ChangedRange> {
    let mut input = InternedInput::default();
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    let diff = Diff::compute(Algorithm::Histogram, &input);
    diff.hunks()
        .map(|hunk| ChangedRange {
            before: indexes(hunk.before),
            after: indexes(hunk.after),
        })
        .collect()
}

fn indexes(range: Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}
