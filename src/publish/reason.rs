//! The reason for a worse number, out of a pull request's description.

use crate::render::line;

/// How a line of the description starts that gives the reason.
const KEY: &str = "goldgate-reason:";
/// The longest reason that is kept, in characters.
const LONGEST: usize = 300;

/// The reason that a description gives: the first line `Goldgate-Reason: …` that says something. It is one line of at most 300
/// characters, without control characters and such as are not shown. A hint in an HTML comment, as templates have, is none.
pub fn reason(description: &str) -> Option<String> {
    let description = without_comments(description);
    description.lines().find_map(|text| {
        let text = text.trim_start();
        let key = text.get(..KEY.len()).filter(|key| key.eq_ignore_ascii_case(KEY))?;
        let reason = line(&text[key.len()..], LONGEST);
        (!reason.is_empty()).then_some(reason)
    })
}

/// The line that gives a reason, as it is asked for.
pub fn writes_reason() -> &'static str {
    "Goldgate-Reason: why the worse number is right"
}

/// The description as people see it; a comment that is never closed hides the rest, as on the page.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, hidden)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = hidden.split_once("-->").map_or("", |(_, after)| after);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_first_line_that_says_something_is_the_reason() {
        for (description, wanted) in [
            ("", None),
            ("Goldgate-Reason:", None),
            ("Goldgate-Reason:   \t", None),
            ("Goldgate-Reason: the cases are stricter", Some("the cases are stricter")),
            ("text\r\n  goldgate-reason:  two   words \r\nmore", Some("two words")),
            ("Goldgate-Reason:\nGoldgate-Reason: second", Some("second")),
            ("about Goldgate-Reason: no line of its own", None),
            ("<!-- Goldgate-Reason: why -->", None),
            ("<!--\nGoldgate-Reason: why\n", None),
            ("<!-- hint -->Goldgate-Reason: why", Some("why")),
            ("Goldgate-Reason: a\u{202e}b\u{0}c\u{200b}", Some("ab c")),
            ("Goldgäte-Reason: no", None),
        ] {
            assert_eq!(reason(description).as_deref(), wanted, "{description:?}");
        }
        let long = format!("Goldgate-Reason: {}", "x".repeat(70_000));
        assert_eq!(reason(&long).map(|reason| reason.chars().count()), Some(301));
    }
}
