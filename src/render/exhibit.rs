//! A case with its outputs: an excerpt of the golden file, then the output of each sample.

use super::plain::{line, put};
use super::words;
use crate::files::SourceText;
use crate::model::{Run, Sample};
use crate::suites::{ObservedCall, calls};
use crate::text::{Redactor, line_with_end};

/// The number of lines of a text that are shown.
const LINES: usize = 60;

/// Writes the golden file from the line of a case, without secrets; `start` counts from 1.
pub fn golden(out: &mut String, golden: &SourceText, start: usize, redactor: &Redactor) {
    put(out, &format!("expected, {}:", golden.file));
    if let Some(entry) = entry(golden, start) {
        return text(out, redactor.text(entry).lines());
    }
    let whole = golden.text.lines().count() <= LINES;
    // A long file starts one line above the case, for context.
    let skipped = if whole { 0 } else { start.saturating_sub(2) };
    let lines: Vec<&str> = golden.text.lines().skip(skipped).collect();
    text(out, redactor.text(&lines.join("\n")).lines());
}

/// The entry of a case in a file with several, with the margin of its first line; `None` if no entry begins in this line, or if it is
/// the whole file.
fn entry(golden: &SourceText, start: usize) -> Option<&str> {
    let offset: usize = golden
        .text
        .split_inclusive('\n')
        .take(start.saturating_sub(1))
        .map(str::len)
        .sum();
    let rest = golden.text.get(offset..)?;
    if rest.trim_start_matches(' ').starts_with("- ") {
        return Some(yaml_element(rest));
    }
    let rest = Some(rest).filter(|rest| offset > 0 && rest.trim_start().starts_with('{'))?;
    let mut entries = serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
    entries.next()?.ok()?;
    rest.get(..entries.byte_offset())
}

/// The first element of a list in YAML: its first line, and those that are indented more.
fn yaml_element(rest: &str) -> &str {
    let mut inside = 0;
    for (index, line) in rest.split_inclusive('\n').enumerate() {
        let is_outside = !line.trim().is_empty() && margin(line) <= margin(rest);
        if index > 0 && is_outside {
            break;
        }
        inside += line.len();
    }
    rest[..inside].trim_end()
}

/// The number of blanks at the start of a text.
pub fn margin(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

pub fn samples(out: &mut String, samples: &[Sample]) {
    for (number, sample) in samples.iter().enumerate() {
        match sample {
            Sample::Inconclusive { why, .. } => {
                put(
                    out,
                    &format!(
                        "sample {number} has no output: {}",
                        line_with_end(&why.text(), 240)
                    ),
                );
            }
            Sample::Spared => put(out, &format!("sample {number} was not needed")),
            Sample::Completed(runs) if runs.is_empty() => {
                put(out, "The golden file contains what is graded.")
            }
            Sample::Completed(runs) => {
                put(out, &format!("produced, sample {number}:"));
                runs.iter().for_each(|run| produced(out, run));
            }
        }
    }
}

/// The number of calls that are shown of a sample.
const CALLS: usize = 40;

/// Writes the tool calls of each sample in their order.
pub fn calls_in_order(out: &mut String, samples: &[Sample]) {
    for (number, sample) in samples.iter().enumerate() {
        let runs: &[Run] = match sample {
            Sample::Completed(runs) => runs,
            Sample::Inconclusive { .. } | Sample::Spared => &[],
        };
        let made: Vec<ObservedCall> = runs.iter().flat_map(|run| calls(run).0).collect();
        if made.is_empty() {
            continue;
        }
        put(out, &format!("calls, sample {number}:"));
        for (index, call) in made.iter().take(CALLS).enumerate() {
            let ObservedCall {
                name,
                arguments,
                result,
                failed,
                ..
            } = call;
            let result = match result {
                _ if *failed => "failed".to_owned(),
                Some(result) => line(&result.to_string(), 160),
                None => "not recorded".to_owned(),
            };
            let (name, arguments) = (line(name, 80), line(&arguments.to_string(), 200));
            put(
                out,
                &format!("  {:>2} {name}({arguments}) → {result}", index + 1),
            );
        }
        if made.len() > CALLS {
            put(
                out,
                &format!(
                    "  … and {}",
                    words::plural(made.len() - CALLS, "more call", "more calls")
                ),
            );
        }
    }
}

/// The outputs and the calls of all samples as one text, to compare it with another one.
pub fn whole(samples: &[Sample]) -> String {
    let mut out = String::new();
    for (number, sample) in samples.iter().enumerate() {
        match sample {
            Sample::Inconclusive { why, .. } => put(
                &mut out,
                &format!("sample {number} has no output: {}", why.text()),
            ),
            Sample::Spared => {}
            Sample::Completed(runs) => {
                put(&mut out, &format!("sample {number}:"));
                runs.iter().for_each(|run| put(&mut out, &output_text(run)));
                for ObservedCall {
                    name, arguments, ..
                } in runs.iter().flat_map(|run| calls(run).0)
                {
                    put(&mut out, &format!("calls {name}({arguments})"));
                }
            }
        }
    }
    out
}

/// The answer of each sample: its text, else its outputs.
pub fn answers(samples: &[Sample]) -> Vec<String> {
    let runs = samples.iter().flat_map(|sample| match sample {
        Sample::Completed(runs) => runs.as_slice(),
        Sample::Inconclusive { .. } | Sample::Spared => &[],
    });
    runs.map(|run| {
        let outputs: Option<serde_json::Value> = serde_json::from_str(&run.outputs).ok();
        let text = outputs
            .as_ref()
            .and_then(|outputs| outputs.get("text")?.as_str());
        text.map_or_else(|| run.outputs.to_string(), str::to_owned)
    })
    .collect()
}

fn produced(out: &mut String, run: &Run) {
    text(out, output_text(run).lines());
}

/// The output of a run as indented JSON.
fn output_text(run: &Run) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(&run.outputs);
    let text_of_run = value
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| run.outputs.to_string());
    // A line break inside of a text is easier to read as one.
    text_of_run.replace("\\n", "\n")
}

/// Writes the lines of a text, indented. Lines beyond the limit are counted.
pub fn text<'a>(out: &mut String, lines: impl Iterator<Item = &'a str>) {
    let mut left = 0;
    for (number, line_text) in lines.enumerate() {
        match number {
            ..LINES => put(out, &indented("  ", line_text, 400)),
            _ => left += 1,
        }
    }
    if left > 0 {
        put(
            out,
            &format!("  … and {}", words::plural(left, "more line", "more lines")),
        );
    }
}

/// One line of a text with a margin; its own indentation stays.
pub fn indented(margin: &str, text: &str, limit: usize) -> String {
    let indent = text.len() - text.trim_start_matches(' ').len();
    format!("{margin}{:indent$}{}", "", line(text, limit))
        .trim_end()
        .to_owned()
}
