//! Agreement between two sets of marks: those of people, and those of a score or a judge.

use super::proportion::wilson;
use crate::model::{Agreement, Mark};

const MARKS: usize = Mark::ALL.len();

/// The agreement of pairs of marks, people's first; `None` without pairs.
///
/// Kappa is `(observed - chance) / (1 - chance)`, where chance is the agreement of two raters with the same counts of marks who do not look
/// (Cohen, "A coefficient of agreement for nominal scales", 1960). The interval treats chance as fixed, like Cohen's standard error, and
/// uses the score interval of the observed agreement (Wilson, 1927) instead of `±1.96` standard errors: so ten agreements out of ten do not
/// claim perfection. Fleiss, Cohen and Everitt (1969) show that a fixed chance makes the interval rather too wide, which is the safe side
/// for a floor. The weighted kappa has linear weights (Cohen, "Weighted kappa", 1968): fail to weak counts half as much as fail to pass.
pub fn agreement(marks: &[(Mark, Mark)]) -> Option<Agreement> {
    let mut table = [[0; MARKS]; MARKS];
    for (person, score) in marks {
        table[*person as usize][*score as usize] += 1;
    }
    let cases = marks.len();
    if cases == 0 {
        return None;
    }
    let people: [usize; MARKS] = table.map(|row| row.iter().sum());
    let scores: [usize; MARKS] =
        std::array::from_fn(|column| table.iter().map(|row| row[column]).sum());
    let count = cases as f64;
    let same: usize = (0..MARKS).map(|mark| table[mark][mark]).sum();
    let chance = (0..MARKS)
        .map(|mark| people[mark] as f64 * scores[mark] as f64)
        .sum::<f64>()
        / (count * count);
    let by_chance =
        (people.iter().all(|given| *given < cases) || people != scores).then_some(chance);
    let ends = wilson(same, cases)
        .and_then(|(low, high)| beyond(by_chance, low).zip(beyond(by_chance, high)));
    // Of two equally frequent marks the better one: the order of the cases must not matter.
    let most = Mark::ALL
        .into_iter()
        .max_by_key(|mark| people[*mark as usize])
        .unwrap_or(Mark::Pass);
    Some(Agreement {
        cases,
        table,
        observed: same as f64 / count,
        kappa: beyond(by_chance, same as f64 / count),
        interval: ends.map(|(low, high)| (low.max(-1.0), high.min(1.0))),
        weighted: weighted(&table, &people, &scores),
        base_rate: people[Mark::Pass as usize] as f64 / count,
        constant: most,
        constant_right: people[most as usize] as f64 / count,
    })
}

/// The part of what chance leaves open; `None` where everybody gave one mark.
fn beyond(chance: Option<f64>, share: f64) -> Option<f64> {
    chance.map(|chance| (share - chance) / (1.0 - chance))
}

fn weighted(
    table: &[[usize; MARKS]; MARKS],
    people: &[usize; MARKS],
    scores: &[usize; MARKS],
) -> Option<f64> {
    let (mut seen, mut expected) = (0.0, 0.0);
    let count: usize = people.iter().sum();
    for row in 0..MARKS {
        for column in 0..MARKS {
            let apart = row.abs_diff(column) as f64 / (MARKS - 1) as f64;
            seen += apart * table[row][column] as f64;
            expected += apart * people[row] as f64 * scores[column] as f64 / count as f64;
        }
    }
    (expected > 0.0).then(|| 1.0 - seen / expected)
}

#[cfg(test)]
mod tests {
    use super::{Agreement, agreement};
    use crate::model::Mark;

    /// Pairs with the given confusion matrix, rows and columns from worst to best.
    fn of(table: [[usize; 3]; 3]) -> Option<Agreement> {
        let mut marks = Vec::new();
        for (person, row) in Mark::ALL.into_iter().zip(table) {
            for (score, count) in Mark::ALL.into_iter().zip(row) {
                marks.extend(std::iter::repeat_n((person, score), count));
            }
        }
        agreement(&marks)
    }

    fn near(found: Option<f64>, expected: f64) {
        assert!(
            (found.unwrap() - expected).abs() < 1e-9,
            "{found:?}, not {expected}"
        );
    }

    /// Computed with 30 digits. The first is a textbook example: 20 and 15 of 50 agree, kappa 0.4.
    #[test]
    fn kappa_equals_worked_examples() {
        for (table, kappa, weighted, low, high) in [
            (
                [[20, 5, 0], [10, 15, 0], [0, 0, 0]],
                0.4,
                0.4,
                0.124_992_990_7,
                0.617_928_93,
            ),
            (
                [[10, 2, 0], [1, 5, 3], [0, 2, 17]],
                0.682_224_428_997,
                0.780_219_780_22,
                0.447_748_856_5,
                0.833_167_988_5,
            ),
            (
                [[5, 0, 0], [0, 5, 0], [0, 0, 5]],
                1.0,
                1.0,
                0.694_175_048_4,
                1.0,
            ),
        ] {
            let found = of(table).unwrap();
            near(found.kappa, kappa);
            near(found.weighted, weighted);
            near(found.interval.map(|(low, _)| low), low);
            near(found.interval.map(|(_, high)| high), high);
            assert_eq!(found.table, table);
        }
    }

    #[test]
    fn the_best_constant_mark_is_reported() {
        let found = of([[1, 0, 1], [0, 0, 0], [0, 0, 18]]).unwrap();
        assert_eq!(
            (found.cases, found.observed, found.base_rate),
            (20, 0.95, 0.9)
        );
        assert_eq!((found.constant, found.constant_right), (Mark::Pass, 0.9));
    }

    #[test]
    fn equal_marks_only_give_no_kappa() {
        let found = of([[0, 0, 0], [0, 0, 0], [0, 0, 9]]).unwrap();
        assert_eq!(
            (found.kappa, found.interval, found.weighted, found.observed),
            (None, None, None, 1.0)
        );
        assert_eq!(of([[0; 3]; 3]), None);
        // People always pass, the score always fails: no agreement, and none by chance.
        let found = of([[0, 0, 0], [0, 0, 0], [9, 0, 0]]).unwrap();
        assert_eq!((found.kappa, found.weighted), (Some(0.0), Some(0.0)));
    }

    /// All tables of up to four cases: bounds, symmetry, and kappa 1 only for full agreement.
    #[test]
    fn every_small_table_keeps_the_bounds() {
        let mut tables = vec![[[0; 3]; 3]];
        for _ in 0..4 {
            let mut more = Vec::new();
            for table in &tables {
                for cell in 0..9 {
                    let mut next: [[usize; 3]; 3] = *table;
                    next[cell / 3][cell % 3] += 1;
                    more.push(next);
                }
            }
            more.sort_unstable();
            more.dedup();
            for table in &more {
                bounded(table);
            }
            tables = more;
        }
        assert_eq!(tables.len(), 495);
    }

    fn bounded(table: &[[usize; 3]; 3]) {
        let found = of(*table).unwrap();
        let turned = of(std::array::from_fn(|row| {
            std::array::from_fn(|column| table[column][row])
        }))
        .unwrap();
        assert!(
            found.constant_right >= found.base_rate && found.constant_right * 3.0 >= 1.0,
            "{table:?}"
        );
        match (found.kappa, found.interval, turned.kappa) {
            (Some(kappa), Some((low, high)), Some(other)) => {
                assert!((kappa - other).abs() < 1e-12, "{table:?}");
                assert!(
                    -1.0 <= low && low <= kappa && kappa <= high && high <= 1.0,
                    "{table:?}"
                );
                assert_eq!(kappa == 1.0, found.observed == 1.0, "{table:?}");
            }
            (None, None, None) => assert_eq!(found.observed, 1.0, "{table:?}"),
            mixed => unreachable!("{table:?}: {mixed:?}"),
        }
    }

    /// Two raters who agree in 70 % of the cases and mark at random otherwise.
    #[test]
    fn the_kappa_interval_has_at_least_its_nominal_coverage() {
        let mut random = fastrand::Rng::with_seed(5);
        for count in [15, 40, 120] {
            let (mut held, mut known) = (0, 0);
            for _ in 0..2000 {
                let mut coin = || {
                    if random.f64() < 0.6 {
                        Mark::Pass
                    } else {
                        Mark::Fail
                    }
                };
                let drawn: Vec<(Mark, Mark)> = (0..count).map(|_| (coin(), coin())).collect();
                let marks: Vec<(Mark, Mark)> = drawn
                    .into_iter()
                    .map(|(one, other)| {
                        if random.f64() < 0.7 {
                            (one, one)
                        } else {
                            (one, other)
                        }
                    })
                    .collect();
                if let Some((low, high)) = agreement(&marks).and_then(|found| found.interval) {
                    known += 1;
                    held += usize::from(low <= 0.7 && 0.7 <= high);
                }
            }
            let coverage = held as f64 / f64::from(known);
            assert!(coverage > 0.93, "{count}: {coverage}");
        }
    }
}
