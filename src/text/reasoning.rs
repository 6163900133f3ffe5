//! What a model thought before and between the parts of its answer.

use std::borrow::Cow;

/// The tags around the reasoning that some servers leave in the text.
const TAGS: [[&str; 2]; 3] = [
    ["<think>", "</think>"],
    ["<thinking>", "</thinking>"],
    ["<reasoning>", "</reasoning>"],
];

/// The answer of a text: everything outside of its reasoning. Empty if the text begins with reasoning that has no end, because then the
/// answer is missing.
///
/// A text that begins as JSON has no reasoning. In any other, all before an end tag is reasoning if no opening tag comes before it: a
/// server may keep the first tag for itself.
pub fn answer_of(text: &str) -> Cow<'_, str> {
    if text.trim_start().starts_with(['{', '[']) {
        return Cow::Borrowed(text);
    }
    let tags = ReasoningTag::all(text);
    let opening = tags
        .iter()
        .position(|tag| tag.is_opening)
        .unwrap_or(tags.len());
    let (mut parts, mut begin) = (
        Vec::new(),
        opening.checked_sub(1).map_or(0, |last| tags[last].end),
    );
    for tag in &tags[opening..] {
        // An end tag without an opening one, or a tag within reasoning.
        if !tag.is_opening || tag.start < begin {
            continue;
        }
        let before = &text[begin..tag.start];
        let is_first = parts.is_empty() && before.trim().is_empty();
        match tag.block_end {
            Some(end) => {
                parts.extend((!is_first).then_some(before));
                begin = end;
            }
            None if is_first => return Cow::Borrowed(""),
            None => break,
        }
    }
    let last = &text[begin..];
    if parts.is_empty() {
        Cow::Borrowed(last)
    } else {
        Cow::Owned(parts.concat() + last)
    }
}

/// One tag in a text, with its range in bytes.
struct ReasoningTag {
    start: usize,
    end: usize,
    is_opening: bool,
    /// Where the reasoning ends that an opening tag begins: behind its own end tag, else behind the next one.
    block_end: Option<usize>,
}

impl ReasoningTag {
    /// The tags of a text, in order.
    fn all(text: &str) -> Vec<Self> {
        let (mut tags, mut kinds) = (Vec::new(), Vec::new());
        for (start, _) in text.match_indices('<') {
            let found = TAGS.iter().enumerate().find_map(|(kind, both)| {
                let which = both.iter().position(|tag| text[start..].starts_with(tag))?;
                Some((kind, which == 0, start + both[which].len()))
            });
            if let Some((kind, is_opening, end)) = found {
                tags.push(Self {
                    start,
                    end,
                    is_opening,
                    block_end: None,
                });
                kinds.push(kind);
            }
        }
        let mut open: [Vec<usize>; TAGS.len()] = Default::default();
        for at in 0..tags.len() {
            let open = &mut open[kinds[at]];
            if tags[at].is_opening {
                open.push(at);
            } else if let Some(opening) = open.pop() {
                tags[opening].block_end = Some(tags[at].end);
            }
        }
        let mut next_end = [None; TAGS.len()];
        for at in (0..tags.len()).rev() {
            let next = &mut next_end[kinds[at]];
            match tags[at].is_opening {
                true => tags[at].block_end = tags[at].block_end.or(*next),
                false => *next = Some(tags[at].end),
            }
        }
        tags
    }
}

#[cfg(test)]
mod tests {
    use super::answer_of;

    #[test]
    fn the_answer_is_all_outside_of_the_reasoning() {
        for (text, answer) in [
            ("<think>{\"a\": 1}</think>{\"a\": 2}", "{\"a\": 2}"),
            ("\n<thinking>x</thinking>\n<thinking>y</thinking> z", " z"),
            ("<think>a</think><reasoning>b</reasoning>c", "c"),
            ("maybe 1</think>2", "2"),
            ("maybe 1</think>2</think>3", "3"),
            ("maybe 1</think>2<think>x</think>3", "23"),
            ("<think>{\"a\": 1}", ""),
            ("<think>x</think> <think>y", ""),
            ("{\"a\": \"</think>\"}", "{\"a\": \"</think>\"}"),
            ("no tags", "no tags"),
            ("a <think> in between", "a <think> in between"),
            ("a refund. <think>x</think> hello", "a refund.  hello"),
            (
                "<think>x</think> a refund. <think>y</think> hello",
                " a refund.  hello",
            ),
            ("<think>x</think> a refund. <think>y", " a refund. <think>y"),
            ("<think>x <think>y</think> z</think> hello", " hello"),
            ("<think>write <think> first</think> hello", " hello"),
            (
                "<think>x <think>y</think> a refund. <think>z</think> hello",
                " a refund.  hello",
            ),
            ("<think>a <reasoning> tag</think> hello", " hello"),
            ("a < b </ c", "a < b </ c"),
        ] {
            assert_eq!(answer_of(text), answer, "{text}");
        }
    }

    #[test]
    fn many_tags_take_little_time() {
        for part in [
            "<think>",
            "</think>",
            "a<think>",
            "<think></think>a",
            "<think><think></think>",
        ] {
            answer_of(&part.repeat(100_000));
        }
    }
}
