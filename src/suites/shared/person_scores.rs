//! Scores given by people: each counts only for the outputs that it was given on, and the report says so.

use super::labels::{Label, LabelContent, Labels};
use super::rubric::DIMENSIONS;
use crate::model::PairResult;

/// The remarks on every score that a person gave to one of these pairs.
pub fn score_remarks(labels: &Labels, pairs: &[PairResult]) -> Vec<String> {
    let given = pairs.iter().flat_map(|pair| {
        labels
            .of(&pair.agent, &pair.case)
            .map(move |label| (pair, label))
    });
    // A newer score on the current outputs replaces an outdated one.
    let is_replaced = |pair: &PairResult, index: &usize, outputs: &Option<String>| {
        let today = pair.outputs_sha256.as_deref();
        let mut others = labels.of(&pair.agent, &pair.case);
        outputs.as_deref() != today
            && others.any(|label| {
                matches!(&label.content, LabelContent::Score(other, _, Some(own)) if other == index && today == Some(own.as_str()))
            })
    };
    let scored = given.filter_map(|(pair, label)| match &label.content {
        LabelContent::Score(dimension, _, outputs) if is_replaced(pair, dimension, outputs) => None,
        LabelContent::Score(dimension, score, outputs) => Some(scored(
            pair,
            label,
            DIMENSIONS[*dimension],
            *score,
            outputs.as_deref(),
        )),
        LabelContent::Tag(..) | LabelContent::Verdict(..) => None,
    });
    scored.collect()
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
