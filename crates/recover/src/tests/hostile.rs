//! Slow or deep inputs are read in linear time, measured in visited bytes.

use std::iter::repeat_n;

use super::{FINDINGS, VISITED, recover, recover_any};

/// Upper bound of visits per byte. Twice (fences, then the whole text) each byte is visited by the bracket search, by the search
/// for brackets and keys before it, by the reader, by all of these again after a false start, and by the strict parser.
pub(super) const VISITS: usize = 20;

const UNITS: [&str; 30] = [
    "[",
    "]",
    "{",
    "}",
    "[{",
    "[}",
    "{]",
    "{\"a\":",
    "{\"findings\":[",
    "\"",
    "{\"",
    "{'",
    "\\",
    "{\"\\",
    "```",
    "```\n",
    "```\n[",
    "{ some prose ",
    "{a:",
    "{/*",
    "[//",
    "[#",
    "[\n#\n",
    "[1,",
    "[]",
    "{\"category\":\"a\"} ",
    "{\"category\":\"a\" x ",
    "{\"a\" \"",
    "{\"x\ny'",
    "[1 ",
];

pub(super) fn visits(text: &str) -> usize {
    VISITED.with(|visited| visited.set(0));
    let _ = recover(text, &FINDINGS);
    let anchored = VISITED.with(|visited| visited.replace(0));
    let _ = recover_any(text);
    VISITED.with(|visited| visited.replace(0)).max(anchored)
}

#[test]
fn a_repeated_unit_is_read_in_linear_time() {
    for unit in UNITS {
        let text = unit.repeat(30_000 / unit.len());
        assert!(
            visits(&text) <= VISITS * text.len(),
            "{unit:?}: {} visits",
            visits(&text)
        );
    }
}

#[test]
fn two_repeated_units_are_read_in_linear_time() {
    for first in UNITS {
        for second in UNITS {
            let text: String = repeat_n(first, 80).chain(repeat_n(second, 80)).collect();
            let mixed: String = repeat_n([first, second], 80).flatten().collect();
            assert!(visits(&text) <= VISITS * text.len(), "{first:?} {second:?}");
            assert!(
                visits(&mixed) <= VISITS * mixed.len(),
                "{first:?}{second:?}"
            );
        }
    }
}

/// Texts of about this many bytes, one per hostile shape.
fn shapes(bytes: usize) -> Vec<(&'static str, String)> {
    let of = |unit: &str| unit.repeat(bytes / unit.len());
    let half = |unit: &str| unit.repeat(bytes / unit.len() / 2);
    vec![
        ("open braces", of("{")),
        ("open objects", of("{\"a\":")),
        ("open lists behind keys", of("\"findings\": [")),
        ("quotes", of("\"")),
        ("both quotes", of("\"'")),
        ("quotes that never close", of("{\"a\": \"b")),
        ("fences", of("```\n{\n```json\n[\n")),
        ("fences that never close", of("```\n{\"a\": [")),
        ("backslashes", of("\\")),
        ("backslashes in a text", format!("{{\"a\": \"{}", of("\\"))),
        ("deep and closed", half("[") + &half("]")),
        ("deep and closed wrongly", half("[{\"a\":") + &half("]")),
        ("anchors", of("{\"category\": \"a\"} ")),
        ("anchors in broken objects", of("{\"category\": \"a\" x ")),
        (
            "anchors behind one break",
            format!(
                "{{\"x\" y {}",
                of("\"findings\": [{\"category\": \"a\"}], ")
            ),
        ),
        (
            "numbers next to the list",
            format!("{{\"x\": y {}", of("\"a\": 1, ")),
        ),
        ("colons", format!("{{\"x\": y {}", of(":"))),
        ("colons and blanks", format!("{{\"x\": y {}", of("a\" :  "))),
        ("one long key", format!("{{x y {}: [", of("k"))),
        ("comments that never close", of("[/*")),
        ("comments to the end of the line", of("{//")),
        (
            "false starts before a quote",
            half("{ prose ") + &half("\""),
        ),
        ("blanks", of("{    ")),
        ("closers", of("}]")),
    ]
}

#[test]
fn four_times_the_text_takes_four_times_the_steps() {
    for ((name, short), (_, long)) in shapes(6_000).into_iter().zip(shapes(24_000)) {
        let (few, many) = (visits(&short), visits(&long));
        assert!(
            few >= short.len() / 2,
            "{name}: the steps are counted, {few}"
        );
        // A quadratic reader would need sixteen times as many.
        assert!(many <= 5 * few, "{name}: {few} steps became {many}");
    }
}

#[test]
fn a_megabyte_of_brackets_or_quotes_ends() {
    for unit in [
        "[", "{\"a\":", "\"", "\\", "{ prose ", "```\n", "{'", "[\"\\",
    ] {
        let text = unit.repeat(1_000_000 / unit.len());
        assert_eq!(recover(&text, &FINDINGS), None, "{unit:?}");
    }
}
