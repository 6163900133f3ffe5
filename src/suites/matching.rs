//! The largest one-to-one matching between what was produced and what was expected.

/// The number of edges of a maximum matching; `edges[e]` lists the produced that expected `e` may be paired with.
///
/// Augmenting paths start at the expected side, which a person wrote and which is therefore short.
pub fn maximum(edges: &[Vec<usize>], produced: usize) -> usize {
    let mut partner: Vec<Option<usize>> = vec![None; produced];
    let mut tried = vec![usize::MAX; produced];
    (0..edges.len()).filter(|expected| augment(*expected, *expected, edges, &mut partner, &mut tried)).count()
}

fn augment(
    expected: usize,
    round: usize,
    edges: &[Vec<usize>],
    partner: &mut [Option<usize>],
    tried: &mut [usize],
) -> bool {
    for &candidate in &edges[expected] {
        if tried[candidate] == round {
            continue;
        }
        tried[candidate] = round;
        let free = match partner[candidate] {
            None => true,
            Some(other) => augment(other, round, edges, partner, tried),
        };
        if free {
            partner[candidate] = Some(expected);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::proptest;

    use super::maximum;

    /// Every way of pairing, tried.
    fn tried_all(edges: &[Vec<usize>], used: &mut Vec<usize>) -> usize {
        let Some((first, rest)) = edges.split_first() else { return 0 };
        let mut best = tried_all(rest, used);
        for candidate in first {
            if !used.contains(candidate) {
                used.push(*candidate);
                best = best.max(1 + tried_all(rest, used));
                used.pop();
            }
        }
        best
    }

    proptest! {
        #[test]
        fn no_way_of_pairing_is_larger(edges in vec(vec(0_usize..5, 0..5), 0..6)) {
            assert_eq!(maximum(&edges, 5), tried_all(&edges, &mut Vec::new()));
        }
    }

    #[test]
    fn greedy_would_be_smaller() {
        assert_eq!(maximum(&[vec![0, 1], vec![0]], 2), 2);
        assert_eq!(maximum(&[vec![0], vec![0]], 1), 1);
        assert_eq!(maximum(&[], 3), 0);
    }
}
