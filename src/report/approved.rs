//! The report of an approved result.

use super::has_failed_gate;
use crate::model::{Approval, Report, Ruling, Verdict};

/// Whether a result asks for an approval: a gate fails, or a golden change needs one. A run without a verdict asks for none, because no
/// approval gives it one.
pub fn asks_for_approval(report: &Report) -> bool {
    let has_verdict = report.not_gateable.is_empty() && report.called_off.is_none();
    let is_open = report.approval.is_none();
    has_verdict && is_open && (has_failed_gate(report) || report.unapproved().next().is_some())
}

/// Adds an approval: it lifts the failed gates and the golden changes that ask for one. The rulings of the gates stay as they are, so that
/// an approval hides nothing.
pub fn approve(report: &mut Report, approval: Approval) {
    report.notes.push(format!(
        "{} approved the failed gates and golden changes of this result",
        approval.by
    ));
    report.verdict = Ruling::Judged(Verdict::Pass);
    report.approval = Some(approval);
}
