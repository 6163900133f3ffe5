//! The program, on the recordings of simulated agents: it says what the function says.

use goldgate::chance::{Regression, Sample};
use serde_json::{Value, json};

use super::agents::{ALPHA, Cell, Change, Comparison, Dice, Kind, QUALITIES, Samples, draw};
use crate::regression::{judged, record, repository};

pub fn agrees() {
    let rounds = match std::env::var_os("GOLDGATE_RATES") {
        Some(_) => 150,
        None => 6,
    };
    for round in 0..rounds {
        let dice = &mut Dice(round * 7919 + 17);
        let (_, quality) = QUALITIES[round as usize % QUALITIES.len()];
        let cases = [5, 12, 20][round as usize % 3];
        let cell = Cell {
            samples: [[3, 3], [1, 1], [5, 3], [3, 5]][round as usize % 4],
            change: [Change::None, Change::Spread(0.1), Change::Lost(1)][round as usize / 2 % 3],
            ..Cell::of(Kind::ToolUse, quality, cases, 1)
        };
        let (before, after) = cell.rates(dice);
        let reference = draw(cell.kind, &before, cell.samples[0], dice);
        let run = draw(cell.kind, &after, cell.samples[1], dice);
        let expected = Comparison {
            kind: cell.kind,
            rates: &after,
            reference: &reference,
            run: &run,
            all_cases: cases,
        }
        .judged();
        same_as_the_program(
            &format!("round {round}, {cell:?}"),
            &expected,
            &reference,
            &run,
        );
    }
}

fn same_as_the_program(what: &str, expected: &Regression, reference: &Samples, run: &Samples) {
    let [before, now] = [reference, run].map(marks);
    let repository = repository(
        &["bot"],
        &before.iter().map(String::as_str).collect::<Vec<_>>(),
        "",
    );
    record(
        &repository,
        "bot",
        &now.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let (code, policies) = judged(&repository, &[]);
    let policy = &policies[0];
    let name = |place: &usize| format!("case-{place:02}");
    let lost: Vec<String> = expected.lost.iter().map(name).collect();
    let asked: Vec<Value> = expected
        .asked
        .iter()
        .map(|(place, more)| json!([name(place), more]))
        .collect();
    let asked_by_program: Vec<Value> = policy["asked"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|asked| json!([asked["case"], asked["more"]]))
        .collect();
    assert_eq!(policy["lost"], json!(lost), "{what}");
    assert_eq!(asked_by_program, asked, "{what}");
    let p = policy["p"].as_f64();
    let is_near = |p: f64, other: f64| (p - other).abs() < 1e-6;
    assert!(
        p.zip(expected.p).is_none_or(|(p, other)| is_near(p, other))
            && p.is_some() == expected.p.is_some(),
        "{what}: {p:?} {:?}",
        expected.p
    );
    let is_red = expected.p.is_some_and(|p| p <= ALPHA + 1e-12)
        || expected.has_collapsed()
        || !expected.lost.is_empty()
        || !expected.asked.is_empty();
    assert_eq!(code, i32::from(is_red), "{what}: {policy}");
}

/// The samples of each case as marks: `+` passes.
fn marks(samples: &Samples) -> Vec<String> {
    let mark = |sample: &Sample| if sample.passes { '+' } else { '-' };
    samples
        .iter()
        .map(|case| case.iter().map(mark).collect())
        .collect()
}
