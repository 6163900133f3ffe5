//! Results of LLM judges: the consensus of votes, the comparison with the baseline, and whether a judge may recommend. No
//! gate uses any of it.

use std::collections::BTreeMap;

use crate::estimate::agreement;
use crate::model::{
    CaseId, JudgeComparison, JudgeConsensus, JudgeEntry, JudgeIdentity, JudgeStanding,
    JudgedSample, Mark, Trust, Vote, share,
};

/// Minimum number of labels: with fewer, kappa is a matter of luck.
pub const LEAST_LABELS: usize = 10;

/// The consensus of `asked` votes: their median, if missing votes could not change it.
///
/// The marks are ordered, so the median of an odd number of votes is the mark of the majority if there is one, and weak for one pass, one
/// weak and one fail. Missing votes count first as fails and then as passes: the result is settled only if both give the same mark. A
/// minority of votes never settles the result.
pub fn opinion(votes: &[Vote], asked: u32) -> JudgeConsensus {
    let given: Vec<Mark> = votes.iter().filter_map(Vote::mark).collect();
    let missing = (asked as usize).saturating_sub(given.len());
    match (
        median(&given, Mark::Fail, missing),
        median(&given, Mark::Pass, missing),
    ) {
        (Some(low), Some(high)) if low == high => JudgeConsensus::Settled(low),
        (Some(_) | None, Some(_) | None) => {
            let why = votes.iter().find_map(|vote| match vote {
                Vote::Missing(why) => Some(why.as_str()),
                Vote::Given { .. } => None,
            });
            let because = why.map_or(String::new(), |why| format!(": {why}"));
            JudgeConsensus::Unsettled(format!("{missing} of {asked} votes are missing{because}"))
        }
    }
}

/// The median of votes, with the missing ones as this mark.
fn median(given: &[Mark], missing_as: Mark, missing: usize) -> Option<Mark> {
    let mut all = given.to_vec();
    all.extend(std::iter::repeat_n(missing_as, missing));
    all.sort_unstable();
    all.get(all.len().saturating_sub(1) / 2).copied()
}

/// The consensus over the samples of a pair: the median of their marks, the worse of two middle ones. More than half of the `planned`
/// samples must be settled.
pub fn of_pair(samples: &[JudgedSample], planned: usize) -> JudgeConsensus {
    let mut marks: Vec<Mark> = samples
        .iter()
        .filter_map(|sample| sample.opinion.mark())
        .collect();
    marks.sort_unstable();
    let middle = marks.get(marks.len().saturating_sub(1) / 2).copied();
    match middle.filter(|_| 2 * marks.len() > planned) {
        Some(mark) => JudgeConsensus::Settled(mark),
        None => {
            let why = samples.iter().find_map(|sample| match &sample.opinion {
                JudgeConsensus::Unsettled(why) => Some(why.clone()),
                JudgeConsensus::Settled(_) => None,
            });
            JudgeConsensus::Unsettled(
                why.unwrap_or_else(|| "no majority of its samples completed".to_owned()),
            )
        }
    }
}

/// Compares the share of passing `cases` with the baseline's, on the cases that both have.
pub fn comparison(
    identity: &JudgeIdentity,
    cases: &BTreeMap<&CaseId, Mark>,
    entry: Option<&JudgeEntry>,
) -> JudgeComparison {
    let Some(entry) = entry.filter(|_| !cases.is_empty()) else {
        return JudgeComparison::Absent;
    };
    if let Some(difference) = difference(&entry.identity, identity) {
        return JudgeComparison::Incomparable(format!(
            "not comparable with the baseline: {difference}; write a new baseline with `goldgate run --update-baseline`"
        ));
    }
    let (mut both, mut baseline_passes, mut run_passes) = (0, 0, 0);
    for (case, baseline_mark) in &entry.cases {
        let Some(mark) = cases.get(case) else {
            continue;
        };
        both += 1;
        baseline_passes += usize::from(*baseline_mark == Mark::Pass);
        run_passes += usize::from(*mark == Mark::Pass);
    }
    match share(baseline_passes, both).zip(share(run_passes, both)) {
        Some((baseline, run)) => JudgeComparison::Known {
            baseline,
            delta: run - baseline,
        },
        None => JudgeComparison::Absent,
    }
}

/// The difference between two judges, if any.
fn difference(baseline: &JudgeIdentity, run: &JudgeIdentity) -> Option<String> {
    let JudgeIdentity {
        model,
        rubric_sha256,
        votes,
    } = baseline;
    if *rubric_sha256 != run.rubric_sha256 {
        let (old, new) = (start_of(rubric_sha256), start_of(&run.rubric_sha256));
        return Some(format!("its judge's rubric is {old}, this run's is {new}"));
    }
    if *model != run.model {
        return Some(format!(
            "its judge is {}, this run's is {}",
            model.as_deref().unwrap_or("none"),
            run.model.as_deref().unwrap_or("none")
        ));
    }
    if *votes != run.votes {
        return Some(format!(
            "its judge has {votes} votes, this run's has {}",
            run.votes
        ));
    }
    None
}

fn start_of(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

/// Whether the suite has human labels for a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelAvailability {
    Yes,
    No,
}

/// Whether a judge may recommend. `marks` are pairs of a person's mark and the judge's; `stale` counts labels on other outputs.
pub fn trust(marks: &[(Mark, Mark)], stale: u32, floor: f64, labelled: LabelAvailability) -> Trust {
    let agreement = agreement(marks);
    let kappa = agreement.as_ref().and_then(|agreement| agreement.kappa);
    let standing = match (labelled, kappa) {
        (LabelAvailability::No, _) => JudgeStanding::NoLabels,
        (LabelAvailability::Yes, _) if marks.len() < LEAST_LABELS => JudgeStanding::TooFewLabels,
        (LabelAvailability::Yes, None) => JudgeStanding::NothingToTell,
        (LabelAvailability::Yes, Some(kappa)) if kappa > floor => JudgeStanding::Recommends,
        (LabelAvailability::Yes, Some(_)) => JudgeStanding::BelowFloor,
    };
    Trust {
        agreement,
        stale,
        floor,
        standing,
    }
}

#[cfg(test)]
mod tests;
