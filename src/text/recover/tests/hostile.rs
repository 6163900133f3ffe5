//! Texts made to be slow, deep or both are read in linear time, counted in bytes that were looked at.

use std::iter::repeat_n;

use super::FINDINGS;
use super::VISITED;
use super::recover;
use super::recover_any;

/// Twice (the fences, then the whole), each byte is looked at when a bracket is searched, when it is read, when
/// it is read again behind a false start, and by the strict parser.
const VISITS: usize = 8;

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

fn visits(text: &str) -> usize {
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
        assert!(visits(&text) <= VISITS * text.len(), "{unit:?}: {} visits", visits(&text));
    }
}

#[test]
fn two_repeated_units_are_read_in_linear_time() {
    for first in UNITS {
        for second in UNITS {
            let text: String = repeat_n(first, 80).chain(repeat_n(second, 80)).collect();
            let mixed: String = repeat_n([first, second], 80).flatten().collect();
            assert!(visits(&text) <= VISITS * text.len(), "{first:?} {second:?}");
            assert!(visits(&mixed) <= VISITS * mixed.len(), "{first:?}{second:?}");
        }
    }
}

#[test]
fn a_megabyte_of_brackets_or_quotes_ends() {
    for unit in ["[", "{\"a\":", "\"", "\\", "{ prose ", "```\n", "{'", "[\"\\"] {
        let text = unit.repeat(1_000_000 / unit.len());
        assert_eq!(recover(&text, &FINDINGS), None, "{unit:?}");
    }
}
