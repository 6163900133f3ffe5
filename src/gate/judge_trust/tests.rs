//! Tests all small votes, and who may recommend.

use std::collections::BTreeMap;

use super::{LabelAvailability, comparison, of_pair, opinion, trust};
use crate::model::Mark::{Fail, Pass, Weak};
use crate::model::{
    CaseId, JudgeComparison, JudgeConsensus, JudgeEntry, JudgeIdentity, JudgeStanding,
    JudgedSample, Mark, Vote,
};

fn votes(marks: &[Option<Mark>]) -> Vec<Vote> {
    let vote = |mark: &Option<Mark>| match mark {
        Some(mark) => Vote::Given {
            mark: *mark,
            reason: "so".to_owned(),
        },
        None => Vote::Missing("unreadable".to_owned()),
    };
    marks.iter().map(vote).collect()
}

#[test]
fn votes_are_combined_by_their_median() {
    for (given, asked, expected) in [
        (&[Some(Pass), Some(Fail), Some(Pass)][..], 3, Some(Pass)),
        (&[Some(Fail), Some(Fail), Some(Pass)], 3, Some(Fail)),
        (&[Some(Pass), Some(Weak), Some(Fail)], 3, Some(Weak)),
        (&[Some(Pass), None, Some(Pass)], 3, Some(Pass)),
        (&[Some(Pass), None, Some(Fail)], 3, None),
        (&[None, None, Some(Pass)], 3, None),
        (&[None, None, None], 3, None),
        (&[Some(Weak)], 1, Some(Weak)),
        (&[], 3, None),
    ] {
        assert_eq!(opinion(&votes(given), asked).mark(), expected, "{given:?}");
    }
    let JudgeConsensus::Unsettled(why) = opinion(&votes(&[None, Some(Pass), None]), 3) else {
        unreachable!()
    };
    assert_eq!(why, "2 of 3 votes are missing: unreadable");
}

/// All lists of up to five votes: missing votes cannot change a settled result, a minority settles nothing, and the order of votes is
/// irrelevant.
#[test]
fn missing_votes_cannot_change_a_settled_result() {
    let kinds = [None, Some(Fail), Some(Weak), Some(Pass)];
    for asked in [1_u32, 3, 5] {
        let mut lists: Vec<Vec<Option<Mark>>> = vec![Vec::new()];
        for _ in 0..asked {
            lists = lists
                .iter()
                .flat_map(|list| kinds.map(|kind| [&list[..], &[kind]].concat()))
                .collect();
        }
        for list in lists {
            let settled = opinion(&votes(&list), asked).mark();
            let given = list.iter().flatten().count();
            assert!(settled.is_none() || 2 * given > asked as usize, "{list:?}");
            if let Some(mark) = settled {
                for with in Mark::ALL {
                    let full: Vec<Option<Mark>> =
                        list.iter().map(|vote| vote.or(Some(with))).collect();
                    assert_eq!(opinion(&votes(&full), asked).mark(), Some(mark), "{list:?}");
                }
            }
            let mut turned = list.clone();
            turned.reverse();
            assert_eq!(opinion(&votes(&turned), asked).mark(), settled, "{list:?}");
        }
    }
}

fn sample(mark: Option<Mark>) -> JudgedSample {
    let opinion = mark.map_or(
        JudgeConsensus::Unsettled("gone".to_owned()),
        JudgeConsensus::Settled,
    );
    JudgedSample {
        opinion,
        votes: Vec::new(),
    }
}

#[test]
fn a_case_is_the_median_of_its_samples_and_needs_a_majority() {
    for (marks, planned, expected) in [
        (vec![Some(Pass), Some(Pass), Some(Fail)], 3, Some(Pass)),
        (vec![Some(Pass), Some(Fail)], 2, Some(Fail)),
        (vec![Some(Pass), Some(Weak), None], 3, Some(Weak)),
        (vec![Some(Pass), None, None], 3, None),
        (vec![Some(Pass)], 3, None),
        (Vec::new(), 1, None),
    ] {
        let samples: Vec<JudgedSample> = marks.iter().copied().map(sample).collect();
        assert_eq!(of_pair(&samples, planned).mark(), expected, "{marks:?}");
    }
}

fn identity(rubric: &str, model: &str, votes: u32) -> JudgeIdentity {
    JudgeIdentity {
        model: Some(model.to_owned()),
        rubric_sha256: rubric.repeat(8),
        votes,
    }
}

#[test]
fn a_different_judge_is_incomparable_and_shared_cases_are_compared() {
    let ids = ["a", "b", "c"].map(|id| CaseId::new(id).unwrap());
    let cases = BTreeMap::from([(ids[0].clone(), Pass), (ids[1].clone(), Pass)]);
    let before = JudgeEntry {
        identity: identity("ab", "m", 3),
        cases,
    };
    let now = BTreeMap::from([(&ids[0], Fail), (&ids[1], Pass), (&ids[2], Fail)]);
    let same = comparison(&identity("ab", "m", 3), &now, Some(&before));
    assert_eq!(
        same,
        JudgeComparison::Known {
            baseline: 1.0,
            delta: -0.5
        }
    );
    assert_eq!(
        comparison(&identity("ab", "m", 3), &now, None),
        JudgeComparison::Absent
    );
    assert_eq!(
        comparison(&identity("cd", "m", 3), &BTreeMap::new(), Some(&before)),
        JudgeComparison::Absent
    );
    for (other, expected) in [
        (
            identity("cd", "m", 3),
            "its judge's rubric is abababababab, this run's is cdcdcdcdcdcd",
        ),
        (identity("ab", "n", 3), "its judge is m, this run's is n"),
        (
            identity("ab", "m", 5),
            "its judge has 3 votes, this run's has 5",
        ),
    ] {
        let JudgeComparison::Incomparable(why) = comparison(&other, &now, Some(&before)) else {
            unreachable!()
        };
        assert_eq!(
            why,
            format!(
                "not comparable with the baseline: {expected}; write a new baseline with `goldgate run --update-baseline`"
            )
        );
    }
}

#[test]
fn a_judge_recommends_only_above_its_floor() {
    let good = [vec![(Pass, Pass); 8], vec![(Fail, Fail); 4]].concat();
    let bad = [
        vec![(Pass, Pass); 6],
        vec![(Pass, Fail); 3],
        vec![(Fail, Pass); 3],
    ]
    .concat();
    for (marks, floor, labelled, expected) in [
        (
            &good[..],
            0.6,
            LabelAvailability::Yes,
            JudgeStanding::Recommends,
        ),
        (
            &good[..],
            1.0,
            LabelAvailability::Yes,
            JudgeStanding::BelowFloor,
        ),
        (
            &good[..],
            0.6,
            LabelAvailability::No,
            JudgeStanding::NoLabels,
        ),
        (
            &good[4..12],
            0.6,
            LabelAvailability::Yes,
            JudgeStanding::TooFewLabels,
        ),
        (
            &[],
            0.6,
            LabelAvailability::Yes,
            JudgeStanding::TooFewLabels,
        ),
        (
            &bad[..],
            0.6,
            LabelAvailability::Yes,
            JudgeStanding::BelowFloor,
        ),
        (
            &[(Pass, Pass); 12][..],
            0.0,
            LabelAvailability::Yes,
            JudgeStanding::NothingToTell,
        ),
    ] {
        assert_eq!(
            trust(marks, 0, floor, labelled).standing,
            expected,
            "{marks:?} {floor}"
        );
    }
}
