//! Checks the quarantines of a suite.

use std::collections::BTreeSet;

use super::LoadedSuite;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::{CaseId, RunDays};

/// Checks that each quarantine ends within [`RunDays::QUARANTINE`] days and that at most 10 % of the cases are in quarantine.
pub fn quarantines(loaded: &LoadedSuite, days: &RunDays, problems: &mut Diagnostics) {
    let RunDays { today, last } = days;
    let mut active: BTreeSet<&CaseId> = BTreeSet::new();
    for (pair, stated) in loaded
        .suite
        .pairs()
        .iter()
        .filter_map(|pair| Some((pair, pair.quarantine.as_deref()?)))
    {
        if let Some(at) = stated.wrong(last) {
            let what = format!(
                "the quarantine of \"{}\" needs an owner, a reason and an end date up to {last}",
                pair.case
            );
            let help = format!("write expires: \"{last}\" or earlier");
            problems
                .push(Diagnostic::of_file(&pair.golden, Code::BAD_QUARANTINE, what, help).at(at));
        } else if stated.terms.expires >= *today {
            active.insert(&pair.case);
        }
    }
    if active.is_empty() {
        return;
    }
    let cases: BTreeSet<&CaseId> = loaded.suite.pairs().iter().map(|pair| &pair.case).collect();
    if active.len() * 10 > cases.len() {
        let named: Vec<&str> = active.iter().map(|case| case.as_str()).collect();
        let what = format!(
            "{} of {} cases of \"{}\" are in quarantine: {}",
            active.len(),
            cases.len(),
            loaded.config.id,
            named.join(", ")
        );
        let help = "fix cases until at most one in ten is in quarantine; a suite of fewer than ten cases can have none";
        problems.push(Diagnostic::of_file(
            &loaded.config.path,
            Code::TOO_MANY_QUARANTINED,
            what,
            help,
        ));
    }
}
