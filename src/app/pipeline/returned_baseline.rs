//! A baseline that returns to an earlier content, as a revert does.

use super::baseline;
use crate::files::{BaseFiles, Files, SourceText};
use crate::format::baseline_v1;
use crate::model::{Baseline, GoldenChange, RepoPath, Report, Weight};
use crate::publish::bump::is_same;
use crate::publish::{is_worse, moves};

/// Lists a changed baseline without asking for an approval, if all of this holds: an ancestor of the base commit had the same
/// bytes, its numbers are those that this change measures, and none of them is worse than the base commit's baseline. Entries that
/// this run does not measure equal those of the base commit's baseline, because nobody has judged the older ones here. So no gate
/// of a later change gets weaker: a return to an older, worse baseline needs an approval like any other.
pub fn list_returned(
    changes: Vec<GoldenChange>,
    file: Option<&RepoPath>,
    (base, head): (Option<&dyn BaseFiles>, &dyn Files),
    against: Option<&Baseline>,
    report: &Report,
) -> Vec<GoldenChange> {
    let (Some(file), Some(base)) = (file, base) else { return changes };
    let is_edit = |change: &GoldenChange| change.weight == Weight::NeedsApproval && change.file.as_ref() == Some(file);
    if !changes.iter().any(is_edit) || !is_return(file, base, head, against, report) {
        return changes;
    }
    let listed = |change: GoldenChange| match is_edit(&change) {
        true => GoldenChange {
            words: format!("{}; it returns to an earlier baseline", change.words),
            weight: Weight::Listed,
            ..change
        },
        false => change,
    };
    changes.into_iter().map(listed).collect()
}

fn is_return(
    file: &RepoPath,
    base: &dyn BaseFiles,
    head: &dyn Files,
    against: Option<&Baseline>,
    report: &Report,
) -> bool {
    let (Some(against), Ok(bytes)) = (against, head.baseline_bytes(file)) else { return false };
    let own = SourceText::new(file.clone(), bytes.clone()).and_then(|source| baseline_v1::read_baseline(&source));
    let Ok(own) = own else { return false };
    let is_measured = is_same(&own, &baseline::proposed(Some(against), report));
    let is_worse = moves(Some(against), report).iter().any(is_worse);
    // A revert takes the newest entries back, and adds none.
    let is_shorter = against.accepted.starts_with(&own.accepted);
    is_measured && !is_worse && is_shorter && base.had(file, &bytes)
}
