//! Lost cases: right in every sample of the reference, wrong in every sample of the run.

/// The probability that chance calls any case of a run lost, whatever their true rates are.
const CHANCE: f64 = 0.05;
/// The fewest samples of a run that make a case lost.
const FEWEST: usize = 5;
/// The most samples that are asked for, where the reference has one or two and where it has more.
const MOST: [usize; 2] = [10, 20];

/// The number of samples of the run, all wrong, that make a case lost: a case that is right with probability `q` does this with
/// `q^m (1 - q)^w`, which is at most `(m / (m + w))^m (w / (m + w))^w`, and any of the run's cases with at most `cases` times as much.
///
/// `reference` is the number of the case's samples in the reference, all right; at least 1.
pub fn samples_to_lose(reference: usize, cases: usize) -> usize {
    let most = MOST[usize::from(reference > 2)];
    (FEWEST..most)
        .find(|samples| cases as f64 * chance(reference, *samples) <= CHANCE)
        .unwrap_or(most)
}

/// The most that the probability of these numbers of right and then wrong samples can be.
fn chance(right: usize, wrong: usize) -> f64 {
    let (right, wrong) = (right as f64, wrong as f64);
    let all = right + wrong;
    (right / all).powf(right) * (wrong / all).powf(wrong)
}

#[cfg(test)]
mod tests {
    use super::samples_to_lose;

    #[test]
    fn more_cases_need_more_samples() {
        for (reference, cases, expected) in [
            (3, 12, 6),
            (3, 40, 9),
            (5, 1, 5),
            (5, 51, 5),
            (5, 52, 6),
            (10, 700, 5),
            (1, 1, 7),
            (1, 2, 10),
            (2, 200, 10),
            (3, 1_000_000, 20),
        ] {
            assert_eq!(
                samples_to_lose(reference, cases),
                expected,
                "{reference} {cases}"
            );
        }
    }
}
