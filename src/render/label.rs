//! A case as a person sees it who has to mark it, and how far people and scores agree.

use super::plain::put;
use super::{exhibit, words};
use crate::format::SourceText;
use crate::model::{Agreement, Mark, Sample, Unit, fixed_places, metric_value};

/// A case, with what was expected and produced, and without what the scores say of it: who marks has not been told.
pub struct ShownCase<'a> {
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

/// The case.
pub fn render_case(case: &ShownCase<'_>) -> String {
    let ShownCase { number, of, who, golden, line: start, samples } = case;
    let mut out = String::new();
    put(&mut out, &format!("[{number} of {of}] {who}"));
    exhibit::golden(&mut out, golden, *start);
    exhibit::samples(&mut out, samples);
    out
}

/// The rubric that a person marks by, the same as the judge's.
pub fn rubric(text: &str) -> String {
    let mut out = "Mark by this rubric:\n".to_owned();
    exhibit::text(&mut out, text.lines());
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
    let head: String = Mark::ALL.iter().map(|mark| format!("{:>8}", mark.as_str())).collect();
    put(&mut out, &format!("  {:<14}{head}   {}", "", if judge.is_some() { "judge" } else { "automatic" }));
    for (mark, row) in Mark::ALL.iter().zip(found.table) {
        let counts: String = row.iter().map(|count| format!("{count:>8}")).collect();
        put(&mut out, &format!("  {:<14}{counts}", format!("people {}", mark.as_str())));
    }
    let share = |value| metric_value(Unit::Share, Some(value));
    let mut fact = |name: &str, text: String| put(&mut out, &format!("  {name:<16}{text}"));
    fact("same mark", share(found.observed));
    match (found.kappa, found.interval) {
        (Some(kappa), Some((low, high))) => {
            let [kappa, low, high] = [kappa, low, high].map(|value| fixed_places(value, 2));
            fact("kappa", format!("{kappa}, 95% interval {low} to {high}"));
        }
        _ => fact("kappa", "none: both gave one and the same mark throughout".to_owned()),
    }
    if let Some(weighted) = found.weighted {
        fact("weighted kappa", format!("{}, where weak is half of the way", fixed_places(weighted, 2)));
    }
    fact("base rate", format!("{} of the labels say pass", share(found.base_rate)));
    let (mark, right) = found.constant;
    fact("constant", format!("always \"{}\" would be right in {}", mark.as_str(), share(right)));
    put(
        &mut out,
        "Cases are drawn evenly from failing, flaky and passing ones: these shares are the labels', not the suite's.",
    );
    out
}
