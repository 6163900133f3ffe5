//! Why a failed gate is not excused.

use crate::model::CaseId;

/// Why the branch does not excuse a gate that it fails as well.
pub enum NotExcused {
    /// These cases are worse than on the branch.
    Worse(Vec<CaseId>),
    /// The metric is worse than on the branch, over the same cases.
    WorseInTotal,
    /// These cases cannot be compared with the branch, and fail the gate on their own.
    OnTheirOwn(Vec<CaseId>),
}

/// Most cases that a message names.
const NAMED: usize = 5;

impl NotExcused {
    pub fn message(&self, branch: &str) -> String {
        match self {
            Self::Worse(cases) => format!("{} here", named(cases, ["is worse", "are worse"])),
            Self::WorseInTotal => "this change is worse over the same cases".to_owned(),
            Self::OnTheirOwn(cases) => named(
                cases,
                [
                    &format!("cannot be compared with {branch} and fails the gate"),
                    &format!("cannot be compared with {branch} and fail the gate"),
                ],
            ),
        }
    }
}

/// The first cases and their predicate: `lease-1, lease-2 and 3 more are worse`.
fn named(cases: &[CaseId], [one, many]: [&str; 2]) -> String {
    let first: Vec<&str> = cases.iter().take(NAMED).map(CaseId::as_str).collect();
    let more = match cases.len() - first.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{}{more} {}",
        first.join(", "),
        if cases.len() == 1 { one } else { many }
    )
}
