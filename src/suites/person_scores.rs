//! Scores that people gave: each counts on the outputs that it is on, and the report says so.

use super::labels::{Label, LabelContent, Labels};
use super::rubric::DIMENSIONS;
use crate::model::PairResult;

/// What the report says of every score that a person gave to one of these pairs.
pub fn score_remarks(labels: &Labels, pairs: &[PairResult]) -> Vec<String> {
    let given = pairs.iter().flat_map(|pair| labels.of(&pair.agent, &pair.case).map(move |label| (pair, label)));
    // One that was given again on the outputs of today says nothing any more.
    let is_replaced = |pair: &PairResult, index: &usize, outputs: &Option<String>| {
        let today = pair.outputs_sha256.as_deref();
        let mut others = labels.of(&pair.agent, &pair.case);
        outputs.as_deref() != today
            && others.any(|label| {
                matches!(&label.says, LabelContent::Score(other, _, Some(own)) if other == index && today == Some(own.as_str()))
            })
    };
    let scored = given.filter_map(|(pair, label)| match &label.says {
        LabelContent::Score(dimension, _, outputs) if is_replaced(pair, dimension, outputs) => None,
        LabelContent::Score(dimension, score, outputs) => {
            Some(scored(pair, label, DIMENSIONS[*dimension], *score, outputs.as_deref()))
        }
        LabelContent::Tag(..) | LabelContent::Verdict(..) => None,
    });
    scored.collect()
}

/// What a person's score counts for: it is on these outputs, or ignored.
fn scored(pair: &PairResult, label: &Label, dimension: &str, score: u8, outputs: Option<&str>) -> String {
    let Label { by, reason, date, .. } = label;
    let (case, today) = (&pair.case, pair.outputs_sha256.as_deref().unwrap_or("unknown"));
    let date = date.as_ref().map_or(String::new(), |date| format!(" on {date}"));
    match outputs {
        Some(outputs) if outputs == today => {
            format!("{dimension} of {case} has {score} points by {by}{date}, not by the automatic score: {reason}")
        }
        Some(_) => format!(
            "{dimension} of {case}: the score by {by}{date} is outdated and ignored, because it is on other outputs; score those of today again and state outputs_sha256 {today}"
        ),
        None => format!(
            "{dimension} of {case}: the score by {by}{date} is ignored, because it does not say on which outputs it is; state outputs_sha256 {today} if it is on those of today"
        ),
    }
}
