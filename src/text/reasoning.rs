//! What a model thought before its answer.

/// The tags around the reasoning that some servers leave in the text.
const TAGS: [[&str; 2]; 3] = [["<think>", "</think>"], ["<thinking>", "</thinking>"], ["<reasoning>", "</reasoning>"]];

/// The answer of a text: what follows its reasoning. Empty if the reasoning has no end, because then the answer is missing.
///
/// A text has reasoning if it begins with one of the tags, or if it has an end tag and does not begin as JSON: a server may keep the
/// first tag for itself.
pub fn answer_of(text: &str) -> &str {
    let begun = text.trim_start();
    for [from, to] in TAGS {
        let is_open = begun.starts_with(from);
        if !is_open && begun.starts_with(['{', '[']) {
            continue;
        }
        match text.rfind(to) {
            Some(at) => return &text[at + to.len()..],
            None if is_open => return "",
            None => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::answer_of;

    #[test]
    fn an_answer_begins_after_its_reasoning() {
        for (text, answer) in [
            ("<think>{\"a\": 1}</think>{\"a\": 2}", "{\"a\": 2}"),
            ("\n<thinking>x</thinking>\n<thinking>y</thinking> z", " z"),
            ("maybe 1</think>2", "2"),
            ("<think>{\"a\": 1}", ""),
            ("{\"a\": \"</think>\"}", "{\"a\": \"</think>\"}"),
            ("no tags", "no tags"),
            ("a <think> in between", "a <think> in between"),
        ] {
            assert_eq!(answer_of(text), answer, "{text}");
        }
    }
}
