//! What moved a metric: its forms, written and read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{CaseEvidence, CaseId, Difference, EvidenceLine, PairShortfall};

/// A case that moved a metric.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportEvidenceForm {
    /// Its id.
    pub case: String,
    /// The metric's value of the case.
    pub value: Option<f64>,
    /// The value in the baseline.
    pub baseline: Option<f64>,
    /// What differs from what is expected.
    pub differences: Vec<DifferenceForm>,
}

/// What was expected and what was produced instead.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct DifferenceForm {
    /// What the golden set expects.
    pub expected: String,
    /// What the agent produced.
    pub produced: String,
    /// The line of the golden file, from 1.
    pub line: u32,
    /// In how many completed samples; absent where it is about all of them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// The metrics that it costs; absent in the evidence of one metric.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
}

/// The form of a case that moved a metric.
pub fn evidence_form(evidence: &CaseEvidence) -> ReportEvidenceForm {
    let CaseEvidence { case, value, baseline, differences } = evidence;
    let shown = |line: &EvidenceLine| difference_form(&line.difference, line.samples, &[]);
    let differences = differences.iter().map(shown).collect();
    ReportEvidenceForm { case: case.to_string(), value: *value, baseline: *baseline, differences }
}

/// The form of a shortfall of a pair.
pub fn shortfall_form(one: &PairShortfall) -> DifferenceForm {
    difference_form(&one.difference, Some(one.samples), &one.metrics)
}

fn difference_form(difference: &Difference, samples: Option<u32>, metrics: &[String]) -> DifferenceForm {
    let Difference { line, expected, produced } = difference.clone();
    DifferenceForm { expected, produced, line, samples, metrics: metrics.to_vec() }
}

/// Reads a case that moved a metric.
///
/// # Errors
/// The id of no case.
pub fn evidence(form: ReportEvidenceForm) -> Result<CaseEvidence, String> {
    let ReportEvidenceForm { case, value, baseline, differences } = form;
    let case = CaseId::new(&case).map_err(|bad| bad.to_string())?;
    let line = |form: DifferenceForm| EvidenceLine { samples: form.samples, difference: difference(form) };
    Ok(CaseEvidence { case, value, baseline, differences: differences.into_iter().map(line).collect() })
}

/// Reads a shortfall of a pair.
pub fn shortfall(mut form: DifferenceForm) -> PairShortfall {
    let (metrics, samples) = (std::mem::take(&mut form.metrics), form.samples.unwrap_or(1));
    PairShortfall { metrics, samples, difference: difference(form) }
}

fn difference(form: DifferenceForm) -> Difference {
    let DifferenceForm { expected, produced, line, samples: _, metrics: _ } = form;
    Difference { line, expected, produced }
}
