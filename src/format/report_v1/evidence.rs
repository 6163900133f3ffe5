//! Reads and writes the evidence for a metric that moved.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{CaseEvidence, CaseId, Difference, EvidenceLine, PairShortfall};

/// A case that moved a metric.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportEvidenceForm {
    /// Its id.
    pub case: String,
    /// The case's value of the metric.
    pub value: Option<f64>,
    /// Its value in the baseline.
    pub baseline: Option<f64>,
    /// Differences from the expectation.
    pub differences: Vec<DifferenceForm>,
}

/// What was expected and what was produced instead.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct DifferenceForm {
    /// What the golden set expects.
    pub expected: String,
    /// What the agent produced.
    pub produced: String,
    /// The line in the golden file, from 1.
    pub line: u32,
    /// Number of completed samples concerned; absent if it concerns all of them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// The metrics that it lowers; absent in the evidence of a single metric.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
}

/// Converts a case that moved a metric.
pub fn evidence_form(evidence: &CaseEvidence) -> ReportEvidenceForm {
    let CaseEvidence { case, value, baseline, differences } = evidence;
    let form_of = |line: &EvidenceLine| difference_form(&line.difference, line.samples, &[]);
    let differences = differences.iter().map(form_of).collect();
    ReportEvidenceForm { case: case.to_string(), value: *value, baseline: *baseline, differences }
}

/// Converts a shortfall of a pair.
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
/// An invalid case id.
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
