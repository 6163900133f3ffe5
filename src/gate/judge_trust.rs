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
    let median = |with: Mark| {
        let mut all = given.clone();
        all.extend(std::iter::repeat_n(with, missing));
        all.sort_unstable();
        all.get(all.len().saturating_sub(1) / 2).copied()
    };
    match (median(Mark::Fail), median(Mark::Pass)) {
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
    before: Option<&JudgeEntry>,
) -> JudgeComparison {
    let Some(before) = before.filter(|_| !cases.is_empty()) else {
        return JudgeComparison::Absent;
    };
    if let Some(differs) = differs(&before.identity, identity) {
        return JudgeComparison::Incomparable(format!(
            "not comparable with the baseline: {differs}; write a new baseline with `goldgate run --update-baseline`"
        ));
    }
    let both: Vec<(Mark, Mark)> = before
        .cases
        .iter()
        .filter_map(|(case, then)| Some((*then, *cases.get(case)?)))
        .collect();
    let passes = |mark: fn(&(Mark, Mark)) -> Mark| {
        let passed = both.iter().filter(|pair| mark(pair) == Mark::Pass).count();
        share(passed, both.len())
    };
    match passes(|pair| pair.0).zip(passes(|pair| pair.1)) {
        Some((baseline, now)) => JudgeComparison::Known {
            baseline,
            delta: now - baseline,
        },
        None => JudgeComparison::Absent,
    }
}

/// The difference between two judges, if any.
fn differs(before: &JudgeIdentity, now: &JudgeIdentity) -> Option<String> {
    let JudgeIdentity {
        model,
        rubric_sha256,
        votes,
    } = before;
    let short = |digest: &str| digest.get(..12).unwrap_or(digest).to_owned();
    let or_none = |model: &Option<String>| model.clone().unwrap_or_else(|| "none".to_owned());
    if *rubric_sha256 != now.rubric_sha256 {
        let (old, new) = (short(rubric_sha256), short(&now.rubric_sha256));
        return Some(format!("its judge's rubric is {old}, this run's is {new}"));
    }
    if *model != now.model {
        return Some(format!(
            "its judge is {}, this run's is {}",
            or_none(model),
            or_none(&now.model)
        ));
    }
    (*votes != now.votes)
        .then(|| format!("its judge has {votes} votes, this run's has {}", now.votes))
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
    let kappa = agreement.as_ref().and_then(|found| found.kappa);
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
