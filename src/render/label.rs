//! A case as a person sees it who has to mark it, and how far people and scores agree.

use std::fmt::Write;

use super::number;
use super::plain::line;
use super::words;
use crate::format::SourceText;
use crate::model::Agreement;
use crate::model::Mark;
use crate::model::Run;
use crate::model::Sample;
use crate::model::Unit;

/// A case, with what was expected and produced, and without what the scores say of it: who marks has not been told.
pub struct Shown<'a> {
    /// Which of the drawn cases, from 1.
    pub number: usize,
    /// How many are drawn.
    pub of: usize,
    /// Suite, agent and case.
    pub who: String,
    /// What was expected.
    pub golden: &'a SourceText,
    /// The line of it that the case starts at, or near.
    pub line: usize,
    /// What was produced.
    pub samples: &'a [Sample],
}

/// Lines of a text that are shown; the rest is counted.
const LINES: usize = 60;

/// The case.
pub fn shown(case: &Shown<'_>) -> String {
    let Shown { number, of, who, golden, line: start, samples } = case;
    let mut out = String::new();
    put(&mut out, &format!("[{number} of {of}] {who}"));
    put(&mut out, &format!("expected, {}:", golden.file));
    let whole = golden.text.lines().count() <= LINES;
    // Of a file with many cases the part at this one; a line before tells where one is.
    let skipped = if whole { 0 } else { start.saturating_sub(2) };
    lines(&mut out, golden.text.lines().skip(skipped));
    for (number, sample) in samples.iter().enumerate() {
        match sample {
            Sample::Inconclusive { why, .. } => {
                put(&mut out, &format!("sample {number} gave nothing: {}", line(&why.text(), 200)))
            }
            Sample::Spared => put(&mut out, &format!("sample {number} was not needed")),
            Sample::Completed(runs) if runs.is_empty() => put(&mut out, "The case itself holds what is graded."),
            Sample::Completed(runs) => {
                put(&mut out, &format!("produced, sample {number}:"));
                runs.iter().for_each(|run| produced(&mut out, run));
            }
        }
    }
    out
}

fn put(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("a string accepts every write");
}

fn produced(out: &mut String, run: &Run) {
    let value: Result<serde_json::Value, _> = serde_json::from_str(&run.outputs);
    let text = value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| run.outputs.to_string());
    // A line break inside of a text is easier to read as one.
    lines(out, text.replace("\\n", "\n").lines());
}

fn lines<'a>(out: &mut String, all: impl Iterator<Item = &'a str>) {
    let mut left = 0;
    for (number, text) in all.enumerate() {
        match number {
            ..LINES => {
                let indent = text.len() - text.trim_start_matches(' ').len();
                put(out, format!("  {:indent$}{}", "", line(text, 400)).trim_end());
            }
            _ => left += 1,
        }
    }
    if left > 0 {
        put(out, &format!("  … and {}", words::plural(left, "more line", "more lines")));
    }
}

/// The rubric that a person marks by, the same as the judge's.
pub fn rubric(text: &str) -> String {
    let mut out = "Mark by this rubric:\n".to_owned();
    lines(&mut out, text.lines());
    out.push('\n');
    out
}

/// How far people and scores, or people and a judge, agree; `stale` labels are on outputs that have changed since.
pub fn agreement(agreement: Option<&Agreement>, stale: usize, judge: Option<&str>) -> String {
    let mut out = String::new();
    if stale > 0 {
        let labels = words::plural(stale, "label is on outputs that have", "labels are on outputs that have");
        put(&mut out, &format!("{labels} changed since; not counted."));
    }
    let Some(found) = agreement else {
        put(&mut out, "No case that is asked for has a verdict of a person on its outputs of today.");
        return out;
    };
    let other = judge.map_or("the automatic scores".to_owned(), |judge| format!("the judge {judge}"));
    put(&mut out, &format!("People and {other}, {}:", words::plural(found.cases, "label", "labels")));
    let head: String = Mark::ALL.iter().map(|mark| format!("{:>8}", mark.word())).collect();
    put(&mut out, &format!("  {:<14}{head}   {}", "", if judge.is_some() { "judge" } else { "automatic" }));
    for (mark, row) in Mark::ALL.iter().zip(found.table) {
        let counts: String = row.iter().map(|count| format!("{count:>8}")).collect();
        put(&mut out, &format!("  {:<14}{counts}", format!("people {}", mark.word())));
    }
    let share = |value| number::value(Unit::Share, Some(value));
    let mut fact = |name: &str, text: String| put(&mut out, &format!("  {name:<16}{text}"));
    fact("same mark", share(found.observed));
    match (found.kappa, found.interval) {
        (Some(kappa), Some((low, high))) => {
            let [kappa, low, high] = [kappa, low, high].map(|value| number::digits(value, 2));
            fact("kappa", format!("{kappa}, 95 % interval {low} to {high}"));
        }
        _ => fact("kappa", "none: both gave one and the same mark throughout".to_owned()),
    }
    if let Some(weighted) = found.weighted {
        fact("weighted kappa", format!("{}, where weak is half of the way", number::digits(weighted, 2)));
    }
    fact("base rate", format!("{} of the labels say pass", share(found.base_rate)));
    let (mark, right) = found.constant;
    fact("constant", format!("always \"{}\" would be right in {}", mark.word(), share(right)));
    put(
        &mut out,
        "Cases are drawn evenly from failing, flaky and passing ones: these shares are the labels', not the suite's.",
    );
    out
}
