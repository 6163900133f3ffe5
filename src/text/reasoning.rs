//! The reasoning that some models write into their answers.

use std::borrow::Cow;

const OPENING: &str = "<think>";
const CLOSING: &str = "</think>";

/// Where the answer begins after the reasoning of a text, in bytes; `None` if the reasoning has no end.
pub fn answer_start(text: &str) -> Option<usize> {
    if text.trim_start().starts_with(['{', '[']) {
        return Some(0);
    }
    let start = text.rfind(CLOSING).map_or(0, |start| start + CLOSING.len());
    (!text[start..].contains(OPENING)).then_some(start)
}

/// The text without its reasoning: what is between `<think>` and the next `</think>`, and what is before a `</think>` at the start that no
/// `<think>` opens, because a model's template can have opened it. Empty if the text begins with reasoning that has no end: it lacks
/// an answer. A text that begins as JSON has no reasoning.
pub fn without_reasoning(text: &str) -> Cow<'_, str> {
    if text.trim_start().starts_with(['{', '[']) || !text.contains("think>") {
        return Cow::Borrowed(text);
    }
    let first_opening = text.find(OPENING).unwrap_or(text.len());
    let unopened = text[..first_opening].rfind(CLOSING);
    let mut rest = &text[unopened.map_or(0, |start| start + CLOSING.len())..];
    let mut answer = String::new();
    while let Some((before, reasoning)) = rest.split_once(OPENING) {
        match reasoning.split_once(CLOSING) {
            Some((_, after)) => {
                // The line breaks before the first reasoning are not the answer's.
                if !(answer.is_empty() && before.trim().is_empty()) {
                    answer.push_str(before);
                }
                rest = after;
            }
            None if answer.is_empty() && before.trim().is_empty() => rest = "",
            None => break,
        }
    }
    answer.push_str(rest);
    Cow::Owned(answer)
}

#[cfg(test)]
mod tests {
    use super::without_reasoning;

    #[test]
    fn the_answer_is_all_outside_of_the_reasoning() {
        for (text, answer) in [
            ("<think>{\"a\": 1}</think>{\"a\": 2}", "{\"a\": 2}"),
            ("\n<think>x</think>\n<think>y</think> z", " z"),
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
            ("<think>write <think> first</think> hello", " hello"),
            // What is not certainly reasoning stays.
            (
                "<think>x <think>y</think> z</think> hello",
                " z</think> hello",
            ),
            ("hello <think>x</think> a</think> b", "hello  a</think> b"),
            ("<thinking>x</thinking> y", "<thinking>x</thinking> y"),
            ("<reasoning>x</reasoning> y", "<reasoning>x</reasoning> y"),
            ("a < b </ c", "a < b </ c"),
        ] {
            assert_eq!(without_reasoning(text), answer, "{text}");
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
            without_reasoning(&part.repeat(100_000));
        }
    }
}
