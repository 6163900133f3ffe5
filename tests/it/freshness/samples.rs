//! How many samples of a pair are planned: recordings that go missing are inconclusive samples, and said.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{answer, noted, report, run, talk};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "recordings that are missing at the end of a pair are inconclusive samples, and said",
            missing,
        ),
        trial(
            "--samples on the command line alone grades fewer recordings than there are",
            fewer,
        ),
        trial(
            "a baseline of the other tier plans no recordings",
            other_tier,
        ),
    ]
}

fn several() -> Repository {
    let repository = talk();
    repository.remove("runs");
    for sample in 0..5 {
        answer(
            &repository,
            &format!("runs/helper/order-status/{sample}.json"),
            json!({}),
        );
    }
    repository.replace(
        "goldgate.yaml",
        "version: 1\n",
        "version: 1\nbaseline: latest.json\n",
    );
    assert_eq!(run(&repository, &["--update-baseline"]).code, 0);
    repository
}

fn counts(repository: &Repository, more: &[&str]) -> (Value, Value) {
    let report = report(&run(repository, more));
    let case = &report["suites"][0]["agents"][0]["cases"][0];
    (
        case["samples_planned"].clone(),
        case["samples_completed"].clone(),
    )
}

fn missing() {
    let repository = several();
    assert_eq!(counts(&repository, &[]), (json!(5), json!(5)));
    repository.remove("runs/helper/order-status/4.json");
    let (code, notes) = noted(&repository);
    assert_eq!((code, counts(&repository, &[])), (0, (json!(5), json!(4))));
    assert!(
        notes.contains("1 case has fewer recordings than planned: order-status (4 of 5)"),
        "{notes}"
    );
    for sample in [1, 2, 3] {
        repository.remove(&format!("runs/helper/order-status/{sample}.json"));
    }
    // Without a majority nothing can be said of the only case.
    assert_eq!(run(&repository, &[]).code, 3);
    // Who wants one sample says so.
    assert_eq!(
        run(&repository, &["--samples", "1", "--update-baseline"]).code,
        0
    );
    assert_eq!(run(&repository, &[]).code, 0);
}

fn fewer() {
    let repository = several();
    repository.replace("goldgate.yaml", "version: 1\n", "version: 1\nsamples: 1\n");
    let (code, notes) = noted(&repository);
    assert_eq!((code, counts(&repository, &[])), (0, (json!(5), json!(5))));
    assert!(
        notes.contains("5 samples of order-status are graded, although the config says samples: 1"),
        "{notes}"
    );
    assert_eq!(
        counts(&repository, &["--samples", "2"]),
        (json!(2), json!(2))
    );
}

fn other_tier() {
    let repository = several();
    repository.replace(
        "latest.json",
        "\"tier\": \"deterministic\"",
        "\"tier\": \"model\"",
    );
    for sample in [1, 2, 3, 4] {
        repository.remove(&format!("runs/helper/order-status/{sample}.json"));
    }
    assert_eq!(counts(&repository, &[]), (json!(1), json!(1)));
}
