//! One case to review: what is expected, the baseline's output and this output, next to each other where the terminal is wide enough.

use comfy_table::{Cell, Table};

use super::exhibit;
use super::plain::{line, put};
use super::terminal::plain_style;
use crate::model::Sample;

pub struct ReviewedCase<'a> {
    /// Its number, from 1, and how many there are.
    pub number: (usize, usize),
    /// Its name: the suite, for a case that counts the agent, and the case.
    pub name: &'a str,
    /// Why it is shown.
    pub state: &'a str,
    /// The golden file with the line.
    pub place: &'a str,
    pub expected: &'a str,
    /// The outputs at the baseline; `None` without one.
    pub before: Option<&'a [Sample]>,
    pub now: &'a [Sample],
    /// The checks that fail, with what they got.
    pub failed: &'a [(String, String)],
}

/// The narrowest terminal with columns.
const COLUMNS: u16 = 100;
/// The most lines of each text.
const LINES: usize = 40;

/// The case as text for a terminal with this width.
pub fn reviewed_case(case: &ReviewedCase<'_>, columns: u16) -> String {
    let ReviewedCase {
        number: (number, of),
        name,
        state,
        place,
        expected,
        before,
        now,
        failed,
    } = case;
    let mut out = String::new();
    put(
        &mut out,
        &format!(
            "\n[{number} of {of}] {}: {}  ({})",
            line(name, 200),
            line(state, 200),
            line(place, 200)
        ),
    );
    let (before, now) = (before.map(exhibit::whole), exhibit::whole(now));
    let texts = [
        ("expected", Some(outdented(expected))),
        ("at the baseline", before),
        ("now", Some(now)),
    ];
    let texts: Vec<(&str, Vec<String>)> = texts
        .into_iter()
        .filter_map(|(title, text)| Some((title, lines(&text?))))
        .collect();
    if columns >= COLUMNS {
        let mut table = Table::new();
        plain_style(&mut table, columns);
        table.set_header(texts.iter().map(|(title, _)| Cell::new(title)));
        table.add_row(texts.iter().map(|(_, lines)| Cell::new(lines.join("\n"))));
        put(&mut out, &table.to_string());
    } else {
        for (title, lines) in &texts {
            put(&mut out, &format!("{title}:"));
            lines
                .iter()
                .for_each(|text| put(&mut out, &format!("  {text}")));
        }
    }
    for (check, got) in *failed {
        put(
            &mut out,
            &format!("FAILS {}: {}", line(check, 200), line(got, 400)),
        );
    }
    out
}

/// A part of a file without the margin that its lines share, except the first one.
fn outdented(text: &str) -> String {
    let margin = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let rest = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let shared = rest.map(margin).min().unwrap_or(0);
    let lines = text.lines().enumerate().map(|(number, line)| {
        if number == 0 {
            line
        } else {
            line.get(shared..).unwrap_or("")
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines of a text, without control characters.
fn lines(text: &str) -> Vec<String> {
    let all = text.lines().count();
    let mut shown: Vec<String> = text
        .lines()
        .take(LINES)
        .map(|one| exhibit::indented("", one, 400))
        .collect();
    if all > LINES {
        shown.push(format!("… and {} more lines", all - LINES));
    }
    shown
}
