//! Scores given by people: each counts only for the outputs that it was given on, and the report says so.

use super::labels::{Label, LabelContent, Labels};
use super::rubric::DIMENSIONS;
use crate::model::PairResult;

/// The remarks on every score that a person gave to one of these pairs.
pub fn score_remarks(labels: &Labels, pairs: &[PairResult]) -> Vec<String> {
    let mut remarks = Vec::new();
    for pair in pairs {
        for label in labels.of(&pair.agent, &pair.case) {
            let LabelContent::Score(dimension, score, outputs) = &label.content else {
                continue;
            };
            let outputs = outputs.as_deref();
            if is_replaced(labels, pair, *dimension, outputs) {
                continue;
            }
            remarks.push(scored(pair, label, DIMENSIONS[*dimension], *score, outputs));
        }
    }
    remarks
}

/// Whether a newer score, on the current outputs, replaces an outdated one.
fn is_replaced(
    labels: &Labels,
    pair: &PairResult,
    dimension: usize,
    outputs: Option<&str>,
) -> bool {
    let today = pair.outputs_sha256.as_deref();
    if outputs == today {
        return false;
    }
    labels
        .of(&pair.agent, &pair.case)
        .any(|label| match &label.content {
            LabelContent::Score(scored, _, Some(outputs)) => {
                *scored == dimension && today == Some(outputs.as_str())
            }
            LabelContent::Score(..) | LabelContent::Tag(..) | LabelContent::Verdict(..) => false,
        })
}

/// The remark on one score: it is used, or ignored.
fn scored(
    pair: &PairResult,
    label: &Label,
    dimension: &str,
    score: u8,
    outputs: Option<&str>,
) -> String {
    let Label {
        by, reason, date, ..
    } = label;
    let (case, today) = (
        &pair.case,
        pair.outputs_sha256.as_deref().unwrap_or("unknown"),
    );
    let date = date
        .as_ref()
        .map_or(String::new(), |date| format!(" on {date}"));
    match outputs {
        Some(outputs) if outputs == today => {
            format!(
                "{dimension} of {case} scores {score} of 2 by {by}{date}, instead of the automatic score: {reason}"
            )
        }
        Some(_) => format!(
            "{dimension} of {case}: the score by {by}{date} is ignored: it was given on older outputs; score the current outputs and state outputs_sha256 {today}"
        ),
        None => format!(
            "{dimension} of {case}: the score by {by}{date} is ignored: it does not state its outputs; state outputs_sha256 {today} if it is for the current outputs"
        ),
    }
}
