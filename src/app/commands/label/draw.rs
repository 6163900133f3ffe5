//! Draws the cases to label and their order.

use crate::model::{AgentName, CaseId, Mark, SuiteId};

/// A case that can be labeled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub suite: SuiteId,
    pub agent: AgentName,
    pub case: CaseId,
    /// The automatic mark: weak if its samples disagree.
    pub mark: Mark,
}

/// Draws at most `count` candidates, as evenly as possible from failing, flaky and passing ones, in an order that does not reveal
/// the mark. The same seed draws the same cases.
///
/// Each round draws one of each mark in random order, so the labels are balanced after any number of answers.
pub fn drawn<'a>(candidates: &[&'a Candidate], count: usize, seed: u64) -> Vec<&'a Candidate> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut kinds = Mark::ALL.map(|mark| {
        let mut kind: Vec<&Candidate> = candidates
            .iter()
            .copied()
            .filter(|candidate| candidate.mark == mark)
            .collect();
        random.shuffle(&mut kind);
        kind
    });
    let mut order = Vec::new();
    while order.len() < count {
        let mut round: Vec<&Candidate> = kinds.iter_mut().filter_map(Vec::pop).collect();
        if round.is_empty() {
            break;
        }
        random.shuffle(&mut round);
        order.extend(round);
    }
    order.truncate(count);
    order
}

#[cfg(test)]
mod tests {
    use super::{Candidate, drawn};
    use crate::model::{AgentName, CaseId, Mark, SuiteId};

    fn cases(fail: usize, weak: usize, pass: usize) -> Vec<Candidate> {
        let kinds = [(Mark::Fail, fail), (Mark::Weak, weak), (Mark::Pass, pass)];
        let all = kinds
            .into_iter()
            .flat_map(|(mark, count)| (0..count).map(move |number| (mark, number)));
        let case = |(mark, number): (Mark, usize)| Candidate {
            suite: SuiteId::new("s").unwrap(),
            agent: AgentName::new("a").unwrap(),
            case: CaseId::new(&format!("{}-{number}", mark.as_str())).unwrap(),
            mark,
        };
        all.map(case).collect()
    }

    fn marks(all: &[Candidate], count: usize, seed: u64) -> Vec<Mark> {
        drawn(&all.iter().collect::<Vec<_>>(), count, seed)
            .into_iter()
            .map(|one| one.mark)
            .collect()
    }

    #[test]
    fn every_mark_is_drawn_as_evenly_as_possible() {
        for seed in 0..20 {
            for (available, count, expected) in [
                ((9, 9, 9), 6, (2, 2, 2)),
                ((1, 0, 9), 6, (1, 0, 5)),
                ((0, 0, 2), 6, (0, 0, 2)),
                ((0, 0, 0), 6, (0, 0, 0)),
            ] {
                let drawn = marks(&cases(available.0, available.1, available.2), count, seed);
                let of = |mark| drawn.iter().filter(|one| **one == mark).count();
                assert_eq!(
                    (of(Mark::Fail), of(Mark::Weak), of(Mark::Pass)),
                    expected,
                    "{available:?} seed {seed}"
                );
            }
        }
    }

    #[test]
    fn a_seed_always_draws_the_same_and_the_order_does_not_reveal_the_mark() {
        let all = cases(20, 20, 20);
        let names = |seed| {
            let drawn = drawn(&all.iter().collect::<Vec<_>>(), 12, seed);
            drawn
                .into_iter()
                .map(|one| one.case.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(1), names(1));
        assert_ne!(names(1), names(2));
        let firsts: Vec<Mark> = (0..30).map(|seed| marks(&all, 1, seed)[0]).collect();
        assert!(
            Mark::ALL.iter().all(|mark| firsts.contains(mark)),
            "{firsts:?}"
        );
        let mut once = names(3);
        once.sort();
        once.dedup();
        assert_eq!(once.len(), 12);
    }
}
