//! A case beside what was produced on it: the golden file's part and the outputs of each sample.

use super::plain::{line, put};
use super::words;
use crate::format::SourceText;
use crate::model::{Run, Sample};

/// Lines of a text that are shown; the rest is counted.
const LINES: usize = 60;

/// The golden file from a case on; `start` is the line of the case, from 1.
pub fn golden(out: &mut String, golden: &SourceText, start: usize) {
    put(out, &format!("expected, {}:", golden.file));
    let whole = golden.text.lines().count() <= LINES;
    // Of a file with many cases the part at this one; a line before tells where one is.
    let skipped = if whole { 0 } else { start.saturating_sub(2) };
    text(out, golden.text.lines().skip(skipped));
}

/// What the samples put out.
pub fn samples(out: &mut String, samples: &[Sample]) {
    for (number, sample) in samples.iter().enumerate() {
        match sample {
            Sample::Inconclusive { why, .. } => {
                put(out, &format!("sample {number} gave nothing: {}", line(&why.text(), 200)));
            }
            Sample::Spared => put(out, &format!("sample {number} was not needed")),
            Sample::Completed(runs) if runs.is_empty() => put(out, "The case itself holds what is graded."),
            Sample::Completed(runs) => {
                put(out, &format!("produced, sample {number}:"));
                runs.iter().for_each(|run| produced(out, run));
            }
        }
    }
}

fn produced(out: &mut String, run: &Run) {
    let value: Result<serde_json::Value, _> = serde_json::from_str(&run.outputs);
    let shown =
        value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| run.outputs.to_string());
    // A line break inside of a text is easier to read as one.
    text(out, shown.replace("\\n", "\n").lines());
}

/// Lines of a text, indented; what is too long is counted.
pub fn text<'a>(out: &mut String, all: impl Iterator<Item = &'a str>) {
    let mut left = 0;
    for (number, one) in all.enumerate() {
        match number {
            ..LINES => put(out, &indented("  ", one, 400)),
            _ => left += 1,
        }
    }
    if left > 0 {
        put(out, &format!("  … and {}", words::plural(left, "more line", "more lines")));
    }
}

/// One line of a text behind a margin, with its own indentation.
pub fn indented(margin: &str, text: &str, limit: usize) -> String {
    let indent = text.len() - text.trim_start_matches(' ').len();
    format!("{margin}{:indent$}{}", "", line(text, limit)).trim_end().to_owned()
}
