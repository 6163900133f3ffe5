//! The largest matching between expected and produced elements.

use std::borrow::Cow;
use std::collections::VecDeque;

/// The number of edges of a maximum one-to-one matching; `edges[e]` lists the produced elements that expected `e` may be paired with.
pub fn maximum(edges: &[Vec<usize>], produced: usize) -> usize {
    let matched = matched(edges, produced, 1);
    matched.into_iter().filter(|matched| *matched).count()
}

/// Which expected elements a maximum matching pairs, if each produced element may be paired with `capacity` of them.
///
/// This is the algorithm of Hopcroft and Karp (1973): in each round it lengthens the matching along shortest augmenting paths.
/// It takes at most `sqrt(V)` rounds over all edges, so thousands of equal findings are matched in less than a second. A path is
/// kept in a list and not on the stack, because it may be as long as the file has elements.
pub fn matched(edges: &[Vec<usize>], produced: usize, capacity: usize) -> Vec<bool> {
    let capacity = capacity.clamp(1, edges.len().max(1));
    let edges = match capacity {
        1 => Cow::Borrowed(edges),
        _ => Cow::Owned(edges_of_places(edges, capacity)),
    };
    let mut matching = Matching {
        edges: &edges,
        is_matched: vec![false; edges.len()],
        partner: vec![None; produced * capacity],
    };
    while matching.grow() > 0 {}
    matching.is_matched
}

/// The edges to the places of the produced elements: each has `capacity` of them, and each place is an element of its own.
fn edges_of_places(edges: &[Vec<usize>], capacity: usize) -> Vec<Vec<usize>> {
    let places = |element: &usize| (element * capacity)..((element + 1) * capacity);
    edges
        .iter()
        .map(|edges| edges.iter().flat_map(places).collect())
        .collect()
}

struct Matching<'a> {
    edges: &'a [Vec<usize>],
    is_matched: Vec<bool>,
    /// The expected element that each produced one is paired with.
    partner: Vec<Option<usize>>,
}

impl Matching<'_> {
    /// One round: the number of paths along which the matching grew.
    fn grow(&mut self) -> usize {
        let mut layers = self.layers();
        let mut next_edge = vec![0; self.edges.len()];
        let free: Vec<usize> = (0..self.edges.len())
            .filter(|expected| !self.is_matched[*expected])
            .collect();
        free.into_iter()
            .filter(|expected| self.augment(*expected, &mut layers, &mut next_edge))
            .count()
    }

    /// The length of the shortest alternating path from an unmatched expected element to each other one.
    fn layers(&self) -> Vec<Option<usize>> {
        let mut layers: Vec<Option<usize>> = self
            .is_matched
            .iter()
            .map(|matched| (!matched).then_some(0))
            .collect();
        let mut queue: VecDeque<usize> = (0..layers.len())
            .filter(|expected| layers[*expected].is_some())
            .collect();
        while let Some(expected) = queue.pop_front() {
            for produced in &self.edges[expected] {
                if let Some(partner) =
                    self.partner[*produced].filter(|partner| layers[*partner].is_none())
                {
                    layers[partner] = layers[expected].map(|layer| layer + 1);
                    queue.push_back(partner);
                }
            }
        }
        layers
    }

    /// Looks for a path from an unmatched expected element to an unmatched produced one, and swaps the edges along it.
    fn augment(
        &mut self,
        start: usize,
        layers: &mut [Option<usize>],
        next_edge: &mut [usize],
    ) -> bool {
        let mut path = vec![start];
        while let Some(&expected) = path.last() {
            let Some(&produced) = self.edges[expected].get(next_edge[expected]) else {
                layers[expected] = None;
                path.pop();
                path.last()
                    .into_iter()
                    .for_each(|above| next_edge[*above] += 1);
                continue;
            };
            match self.partner[produced] {
                None => {
                    for expected in path {
                        self.partner[self.edges[expected][next_edge[expected]]] = Some(expected);
                    }
                    self.is_matched[start] = true;
                    return true;
                }
                Some(partner)
                    if layers[partner].is_some()
                        && layers[partner] == layers[expected].map(|layer| layer + 1) =>
                {
                    path.push(partner);
                }
                Some(_) => next_edge[expected] += 1,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::proptest;

    use super::{matched, maximum};

    /// The best result of all pairings in which each element is used at most `capacity` times.
    fn tried_all(edges: &[Vec<usize>], used: &mut Vec<usize>, capacity: usize) -> usize {
        let Some((first, rest)) = edges.split_first() else {
            return 0;
        };
        let mut best = tried_all(rest, used, capacity);
        for candidate in first {
            if used.iter().filter(|one| *one == candidate).count() < capacity {
                used.push(*candidate);
                best = best.max(1 + tried_all(rest, used, capacity));
                used.pop();
            }
        }
        best
    }

    proptest! {
        #[test]
        fn an_element_is_paired_as_often_as_its_capacity(edges in vec(vec(0_usize..4, 0..4), 0..7), capacity in 1_usize..4) {
            let found = matched(&edges, 4, capacity).into_iter().filter(|matched| *matched).count();
            assert_eq!(found, tried_all(&edges, &mut Vec::new(), capacity));
        }

        #[test]
        fn no_way_of_pairing_is_larger(edges in vec(vec(0_usize..6, 0..6), 0..8)) {
            assert_eq!(maximum(&edges, 6), tried_all(&edges, &mut Vec::new(), 1));
        }
    }

    #[test]
    fn thousands_of_equal_elements_are_matched() {
        let all: Vec<usize> = (0..3000).collect();
        assert_eq!(maximum(&vec![all; 3000], 3000), 3000);
        // Every path is as long as the list: element i fits i and i + 1, and the last one fits only the first.
        let mut chain: Vec<Vec<usize>> = (0..3000).map(|index| vec![index, index + 1]).collect();
        chain.push(vec![0]);
        assert_eq!(maximum(&chain, 3001), 3001);
    }

    #[test]
    fn greedy_would_be_smaller() {
        assert_eq!(maximum(&[vec![0, 1], vec![0]], 2), 2);
        assert_eq!(maximum(&[vec![0], vec![0]], 1), 1);
        assert_eq!(maximum(&[], 3), 0);
        // One element for three: the first two are paired.
        assert_eq!(
            matched(&[vec![0], vec![0], vec![0]], 1, 2),
            [true, true, false]
        );
    }
}
