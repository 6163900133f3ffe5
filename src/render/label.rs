//! A case for a person to mark, and the agreement of people with scores or judges.

use super::plain::put;
use super::{exhibit, words};
use crate::files::SourceText;
use crate::model::{Agreement, Mark, Sample, Unit, fixed_places, metric_value};
use crate::text::Redactor;

/// A case with its expectation and outputs. The scores are left out, so that they do not bias whoever marks it.
pub struct ShownCase<'a> {
    /// Its number among the drawn cases, from 1.
    pub number: usize,
    /// The number of drawn cases.
    pub of: usize,
    /// Suite, agent and case.
    pub who: String,
    pub golden: &'a SourceText,
    /// The line of the golden file at or near the start of the case, from 1.
    pub line: usize,
    /// The agent's outputs.
    pub samples: &'a [Sample],
    /// Removes secrets from the golden file. The outputs have none.
    pub redactor: &'a Redactor,
}

pub fn render_case(case: &ShownCase<'_>) -> String {
    let ShownCase {
        number,
        of: total,
        who,
        golden,
        line: start,
        samples,
        redactor,
    } = case;
    let mut out = String::new();
    put(&mut out, &format!("[{number} of {total}] {who}"));
    exhibit::golden(&mut out, golden, *start, redactor);
    exhibit::samples(&mut out, samples);
    out
}

/// The rubric for a person, the same as the judge's.
pub fn rubric(text: &str) -> String {
    let mut out = "Mark by this rubric:\n".to_owned();
    exhibit::text(&mut out, text.lines());
    out.push('\n');
    out
}

/// The agreement of people with the scores, or with a judge. `stale` counts labels on outputs that have changed since.
pub fn agreement(agreement: Option<&Agreement>, stale: usize, judge: Option<&str>) -> String {
    let mut out = String::new();
    if stale > 0 {
        let labels = words::plural(stale, "label", "labels");
        put(
            &mut out,
            &format!("{labels} not counted, because the outputs have changed."),
        );
    }
    let Some(agreement) = agreement else {
        let missing = match judge {
            None => "No selected case has a human label for its current outputs.".to_owned(),
            Some(judge) => format!(
                "No selected case has both a human label and a vote of the judge {judge} for its current outputs; `goldgate judge` makes the votes."
            ),
        };
        put(&mut out, &missing);
        return out;
    };
    let counterpart = judge.map_or("the automatic scores".to_owned(), |judge| {
        format!("the judge {judge}")
    });
    put(
        &mut out,
        &format!(
            "People and {counterpart}, {}:",
            words::plural(agreement.cases, "label", "labels")
        ),
    );
    let head: String = Mark::ALL
        .iter()
        .map(|mark| format!("{:>8}", mark.as_str()))
        .collect();
    put(
        &mut out,
        &format!(
            "  {:<14}{head}   {}",
            "",
            if judge.is_some() {
                "judge"
            } else {
                "automatic"
            }
        ),
    );
    for (mark, row) in Mark::ALL.iter().zip(agreement.table) {
        let counts: String = row.iter().map(|count| format!("{count:>8}")).collect();
        put(
            &mut out,
            &format!("  {:<14}{counts}", format!("people {}", mark.as_str())),
        );
    }
    fact(&mut out, "same mark", share_text(agreement.observed));
    match (agreement.kappa, agreement.interval) {
        (Some(kappa), Some((low, high))) => {
            let [kappa, low, high] = [kappa, low, high].map(|value| fixed_places(value, 2));
            fact(
                &mut out,
                "kappa",
                format!("{kappa}, 95% interval {low} to {high}"),
            );
        }
        _ => fact(
            &mut out,
            "kappa",
            "none: both used only one mark".to_owned(),
        ),
    }
    if let Some(weighted) = agreement.weighted {
        fact(
            &mut out,
            "weighted kappa",
            format!(
                "{}, with weak halfway between pass and fail",
                fixed_places(weighted, 2)
            ),
        );
    }
    fact(
        &mut out,
        "base rate",
        format!("{} of the labels say pass", share_text(agreement.base_rate)),
    );
    let (mark, right) = (agreement.constant, agreement.constant_right);
    fact(
        &mut out,
        "constant",
        format!(
            "always \"{}\" would be right in {}",
            mark.as_str(),
            share_text(right)
        ),
    );
    put(
        &mut out,
        "Cases are drawn evenly from failing, flaky and passing ones, so these shares describe the labels, not the suite.",
    );
    out
}

fn share_text(share: f64) -> String {
    metric_value(Unit::Share, Some(share))
}

fn fact(out: &mut String, name: &str, text: String) {
    put(out, &format!("  {name:<16}{text}"));
}
