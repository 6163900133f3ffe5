//! Finds the fenced code blocks of a text.

use super::steps::visit;

/// The contents of all fenced blocks, in order; an unclosed block extends to the end.
///
/// A fence is a line that begins with three backticks. Fences inside a line are handled when the whole text is read, which
/// skips backticks anyway.
pub(super) fn blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut opened = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        visit(line.len());
        let next = at + line.len();
        if line.trim_start().starts_with("```") {
            opened = match opened {
                Some(from) => {
                    blocks.push(&text[from..at]);
                    None
                }
                None => Some(next),
            };
        }
        at = next;
    }
    if let Some(from) = opened {
        blocks.push(&text[from..]);
    }
    blocks
}
