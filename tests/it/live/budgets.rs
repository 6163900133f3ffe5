//! The budget of live calls: tokens and dollars, reported or estimated.

use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::json;

use super::endpoint::{Answer, Endpoint};
use super::{GOOD, cases, live, metrics, model, named, report};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "beyond the budget samples are inconclusive, never failed",
            budget,
        ),
        trial(
            "before the first answer a budget allows no more calls than fit",
            first_calls,
        ),
        trial(
            "a budget ends where the server reports no usage, by an estimate that is said",
            unmetered,
        ),
        trial(
            "an answer of no use counts in the budget, because the model worked on it",
            charged,
        ),
        trial(
            "a budget in dollars is refused where a model has no price",
            unpriced,
        ),
    ]
}

fn budget() {
    let endpoint = Endpoint::new(Duration::from_millis(5), |_, prompt| {
        Answer::Says(named(prompt))
    });
    // 100 and 20 tokens a call at these prices are a tenth of a dollar each.
    let more = "budget: { max_cost_usd: 1.0 }\nprices: { model-1: { input: 500, output: 2500 } }\n";
    let repository = live(&endpoint, "openai", more);
    cases(&repository, 30);
    repository.replace("goldgate.yaml", "concurrency: 32", "concurrency: 2");
    let ran = model(&repository, &["--format", "json"]);
    let report = report(&ran);
    assert_eq!(
        (ran.code, &report["called_off"]),
        (3, &json!("max_cost_usd")),
        "{}",
        ran.stderr
    );
    let cost = report["usage"]["cost_usd"].as_f64().unwrap();
    assert!(
        endpoint.requests() == 10 && (cost - 1.0).abs() < 1e-9,
        "{cost} for {}",
        endpoint.requests()
    );
    let cases = report["suites"][0]["agents"][0]["cases"]
        .as_array()
        .unwrap()
        .clone();
    let excluded = cases
        .iter()
        .filter(|case| case["excluded"] == json!(true))
        .count();
    assert_eq!((excluded, &report["failures"]), (20, &json!([])));
    assert_eq!(
        metrics(&report)["finding_recall"],
        json!(1.0),
        "what was left out is no zero"
    );
    assert!(
        report["notes"]
            .to_string()
            .contains("20 samples were not made: the cost budget is used up"),
        "{report}"
    );
    let more = model(
        &repository,
        &["--format", "json", "--resume", "--max-cost-usd", "50"],
    );
    assert_eq!(
        (more.code, endpoint.requests()),
        (0, 30),
        "what was finished is taken over"
    );
}

fn first_calls() {
    let endpoint = Endpoint::new(Duration::from_millis(50), |_, prompt| {
        Answer::Says(named(prompt))
    });
    // A call costs a tenth of a dollar. All cases may be asked at once.
    let more =
        "budget: { max_cost_usd: 0.35 }\nprices: { model-1: { input: 500, output: 2500 } }\n";
    let repository = live(&endpoint, "openai", more);
    cases(&repository, 30);
    let report = report(&model(&repository, &["--format", "json"]));
    assert_eq!(
        (endpoint.requests(), &report["called_off"]),
        (3, &json!("max_cost_usd"))
    );
}

fn unmetered() {
    for (budget, reason) in [
        ("max_tokens: 6000", "max_tokens"),
        ("max_cost_usd: 0.02", "max_cost_usd"),
    ] {
        let endpoint = Endpoint::new(Duration::from_millis(5), |_, prompt| {
            Answer::Unmetered(named(prompt))
        });
        let more =
            format!("budget: {{ {budget} }}\nprices: {{ model-1: {{ input: 3, output: 3 }} }}\n");
        let repository = live(&endpoint, "openai", &more);
        cases(&repository, 60);
        let ran = model(&repository, &["--format", "json"]);
        let report = report(&ran);
        assert_eq!(
            (ran.code, &report["called_off"]),
            (3, &json!(reason)),
            "{}",
            ran.stderr
        );
        let asked = endpoint.requests();
        assert!((2..60).contains(&asked), "{asked} calls");
        let note = format!("{asked} calls reported no tokens; the budget counts about ");
        assert!(
            report["notes"].to_string().contains(&note),
            "{}",
            report["notes"]
        );
        // What nobody measured is no number.
        let usage = &report["usage"];
        assert_eq!(
            (&usage["cost_usd"], &usage["input_tokens"]),
            (&json!(null), &json!(0))
        );
    }
}

fn charged() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Page);
    let repository = live(&endpoint, "openai", "budget: { max_tokens: 1 }\n");
    let ran = model(&repository, &["--format", "json"]);
    let report = report(&ran);
    assert_eq!(
        (ran.code, &report["called_off"]),
        (3, &json!("max_tokens")),
        "{}",
        ran.stderr
    );
    assert_eq!(
        endpoint.requests(),
        1,
        "the answer was of no use, but the model worked on it"
    );
    assert!(
        report["notes"]
            .to_string()
            .contains("1 call reported no tokens; the budget counts about "),
        "{report}"
    );
}

fn unpriced() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()));
    let repository = live(&endpoint, "openai", "");
    let ran = model(&repository, &["--max-cost-usd", "1"]);
    let what = "goldgate.yaml: the budget in US dollars cannot be kept, because model-1 has no price; add it under prices";
    assert!(ran.code == 2 && ran.stderr.contains(what), "{ran:?}");
    assert_eq!(endpoint.requests(), 0);
}
