//! The most steps that the calls of a run follow in order.

/// The length of the longest sequence of steps that the calls follow in order. The steps of one group may come in any order. `fits` has
/// a row for each step, group after group, and a column for each call; `sizes` are the numbers of steps of the groups.
///
/// Linear in the number of calls; a group of n steps takes 2ⁿ values per call.
pub fn longest_in_order(fits: &[Vec<bool>], sizes: &[usize], made: usize) -> usize {
    // The most steps of the groups so far that the first n calls follow.
    let mut best = vec![0_usize; made + 1];
    let mut rows = fits;
    for size in sizes {
        let (group, rest) = rows.split_at(*size);
        rows = rest;
        best = with_group(group, &best);
    }
    best.last().copied().unwrap_or(0)
}

/// The same with one more group. For each set of its steps, the most steps that are followed if exactly this set is: each call either
/// adds one step that it fits, or none.
fn with_group(group: &[Vec<bool>], lengths: &[usize]) -> Vec<usize> {
    let mut followed: Vec<Option<usize>> = vec![None; 1 << group.len()];
    let mut best = Vec::with_capacity(lengths.len());
    for (call, without) in lengths.iter().enumerate() {
        // The group begins after any number of calls.
        followed[0] = followed[0].max(Some(*without));
        best.push(followed.iter().flatten().copied().max().unwrap_or(0));
        if call + 1 == lengths.len() {
            break;
        }
        // From the full set down, so that a call adds at most one step.
        for set in (1..followed.len()).rev() {
            let steps =
                (0..group.len()).filter(|step| set & (1 << step) != 0 && group[*step][call]);
            let added = steps
                .filter_map(|step| followed[set ^ (1 << step)])
                .max()
                .map(|most| most + 1);
            followed[set] = followed[set].max(added);
        }
    }
    best
}
