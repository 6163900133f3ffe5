//! The lines that differ between two texts.

use imara_diff::{Algorithm, Diff, InternedInput};

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
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut changes = Vec::new();
    for hunk in Diff::compute(Algorithm::Histogram, &input).hunks() {
        let removed = old.get(hunk.before.start as usize..hunk.before.end as usize).unwrap_or_default();
        let added = new.get(hunk.after.start as usize..hunk.after.end as usize).unwrap_or_default();
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
        let expected =
            [ChangedLine::Removed("b"), ChangedLine::Added("x"), ChangedLine::Added("y"), ChangedLine::Added("d")];
        assert_eq!(changes, expected);
        assert!(changed_lines("a\r\nb", "a\nb\n").is_empty());
    }
}
