//! The lines that differ between two texts.

use super::changed_ranges::{ChangedRange, changed_ranges};

/// A line that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedLine<'a> {
    /// Only the first text has it.
    Removed(&'a str),
    /// Only the second text has it.
    Added(&'a str),
}

/// Returns the lines that differ, in order; of each change the removed lines come first.
pub fn changed_lines<'a>(before: &'a str, after: &'a str) -> Vec<ChangedLine<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut changes = Vec::new();
    for ChangedRange { before, after } in changed_ranges(&old, &new) {
        let removed = old.get(before).unwrap_or_default();
        let added = new.get(after).unwrap_or_default();
        changes.extend(removed.iter().copied().map(ChangedLine::Removed));
        changes.extend(added.iter().copied().map(ChangedLine::Added));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::{ChangedLine, changed_lines};

    #[test]
    fn only_the_lines_that_differ_are_returned() {
        let changes = changed_lines("a\nb\nc\n", "a\nx\ny\nc\nd\n");
        let expected = [
            ChangedLine::Removed("b"),
            ChangedLine::Added("x"),
            ChangedLine::Added("y"),
            ChangedLine::Added("d"),
        ];
        assert_eq!(changes, expected);
        assert!(changed_lines("a\r\nb", "a\nb\n").is_empty());
    }
}
