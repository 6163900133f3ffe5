//! Finds the reason for a worse number in a pull request's description.

use crate::render::line;

/// The start of the line with the reason.
const KEY: &str = "goldgate-reason:";
/// Longer reasons are cut, in characters.
const LONGEST: usize = 300;

/// The reason in a description: the first line `Goldgate-Reason: …` that is not empty. It is cut to 300 characters, and control and
/// invisible characters are removed. HTML comments, such as hints in templates, do not count.
pub fn reason(description: &str) -> Option<String> {
    let description = without_comments(description);
    description.lines().find_map(|text| {
        let text = text.trim_start();
        let key = text
            .get(..KEY.len())
            .filter(|key| key.eq_ignore_ascii_case(KEY))?;
        let reason = line(&text[key.len()..], LONGEST);
        (!reason.is_empty()).then_some(reason)
    })
}

/// The example line in requests for a reason.
pub fn reason_example() -> &'static str {
    "Goldgate-Reason: why the worse number is right"
}

/// The description without HTML comments. A comment that is not closed hides the rest, as on GitHub.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((visible, hidden)) = rest.split_once("<!--") {
        out.push_str(visible);
        rest = hidden.split_once("-->").map_or("", |(_, after)| after);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_first_line_that_is_not_empty_is_the_reason() {
        for (description, expected) in [
            ("", None),
            ("Goldgate-Reason:", None),
            ("Goldgate-Reason:   \t", None),
            (
                "Goldgate-Reason: the cases are stricter",
                Some("the cases are stricter"),
            ),
            (
                "text\r\n  goldgate-reason:  two   words \r\nmore",
                Some("two words"),
            ),
            ("Goldgate-Reason:\nGoldgate-Reason: second", Some("second")),
            ("about Goldgate-Reason: no line of its own", None),
            ("<!-- Goldgate-Reason: why -->", None),
            ("<!--\nGoldgate-Reason: why\n", None),
            ("<!-- hint -->Goldgate-Reason: why", Some("why")),
            ("Goldgate-Reason: a\u{202e}b\u{0}c\u{200b}", Some("ab c")),
            ("Goldgäte-Reason: no", None),
        ] {
            assert_eq!(reason(description).as_deref(), expected, "{description:?}");
        }
        let long = format!("Goldgate-Reason: {}", "x".repeat(70_000));
        assert_eq!(
            reason(&long).map(|reason| reason.chars().count()),
            Some(301)
        );
    }
}
