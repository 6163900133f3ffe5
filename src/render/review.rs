//! One case to review: what it asks and expects in sentences, and the answer; of a case that was in the baseline, the baseline's output and
//! this one, next to each other where the terminal is wide enough.

use comfy_table::{Cell, Table};

use super::case_sentence::sentences;
use super::exhibit;
use super::plain::{line, put};
use super::terminal::plain_style;
use super::words::plural;
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
    /// Its part of the golden file.
    pub expected: &'a str,
    /// The file with the recorded answer, if there is one.
    pub recording: Option<&'a str>,
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
        number: (number, total),
        name,
        state,
        place,
        expected,
        recording,
        before: baseline,
        now: current,
        failed,
    } = case;
    let mut out = String::new();
    put(
        &mut out,
        &format!(
            "\n[{number} of {total}] {}: {}  ({})",
            line(name, 200),
            line(state, 200),
            line(place, 200)
        ),
    );
    for text in expectation_lines(expected) {
        put(&mut out, &text);
    }
    let Some(baseline) = baseline else {
        for text in answer_lines(current, *recording) {
            put(&mut out, &text);
        }
        put_failed(&mut out, failed);
        return out;
    };
    let texts = [
        ("at the baseline", exhibit::whole(baseline)),
        ("now", exhibit::whole(current)),
    ];
    let texts: Vec<(&str, Vec<String>)> = texts
        .into_iter()
        .map(|(title, text)| (title, lines(&text)))
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
            for text in lines {
                put(&mut out, &format!("  {text}"));
            }
        }
    }
    put_failed(&mut out, failed);
    out
}

/// A draft in a list: what it asks and expects, and the answer, with a margin.
pub fn drafted_case(expected: &str, current: &[Sample], recording: Option<&str>) -> String {
    let lines = expectation_lines(expected).into_iter();
    lines
        .chain(answer_lines(current, recording))
        .map(|text| format!("  {text}\n"))
        .collect()
}

/// What a case asks and expects; of a case that asks nothing itself, its part of the golden file.
fn expectation_lines(expected: &str) -> Vec<String> {
    let case = serde_json::from_str(expected).ok();
    case.as_ref().and_then(sentences).unwrap_or_else(|| {
        let text = outdented(expected);
        let lines = text
            .lines()
            .map(|part| exhibit::indented("", part, part.len()));
        lines.collect()
    })
}

/// The longest answer that is shown whole, in characters.
const WHOLE_ANSWER: usize = 600;

/// The answer of each sample: whole, or its beginning with its length and its file.
fn answer_lines(samples: &[Sample], recording: Option<&str>) -> Vec<String> {
    let answers = exhibit::answers(samples);
    let several = answers.len() > 1;
    answers
        .iter()
        .enumerate()
        .map(|(number, answer)| {
            let sample = if several {
                format!(" of sample {number}")
            } else {
                String::new()
            };
            let length = answer.chars().count();
            if length <= WHOLE_ANSWER {
                return format!("answer{sample} was \"{}\"", line(answer, answer.len()));
            }
            let beginning: String = answer.chars().take(WHOLE_ANSWER).collect();
            let all = match recording {
                Some(file) => format!("; all of it is in {}", line(file, file.len())),
                None => String::new(),
            };
            format!(
                "answer{sample} was \"{}…\" ({}{all})",
                line(&beginning, beginning.len()),
                plural(length, "character", "characters")
            )
        })
        .collect()
}

fn put_failed(out: &mut String, failed: &[(String, String)]) {
    for (check, got) in failed {
        put(
            out,
            &format!("FAILS {}: {}", line(check, 200), line(got, 400)),
        );
    }
}

/// A part of a file without the margin that its lines share, except the first one.
fn outdented(text: &str) -> String {
    let rest = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let shared = rest.map(exhibit::margin).min().unwrap_or(0);
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
        .map(|part| exhibit::indented("", part, 400))
        .collect();
    if all > LINES {
        shown.push(format!("… and {} more lines", all - LINES));
    }
    shown
}
