//! Which tests hold each of the nine rules of what a green check claims. Each was seen to fail while its rule was switched off by
//! hand, in the way that stands beside it.

use libtest_mimic::Trial;
use serde_json::Value;

use super::{committed, goldgate};
use crate::golden_changes::{expected, recording};
use crate::trial;

/// A rule, how it was switched off, and what failed then.
struct Rule {
    rule: &'static str,
    switched_off: &'static str,
    tests: &'static [&'static str],
}

const RULES: [Rule; 9] = [
    Rule {
        rule: "1. the judge comes from the base commit",
        switched_off: "the base's rules judge no runs",
        tests: &[
            "no green: a new agent excuses edited expectations",
            "no green: results is the whole repository",
            "no green: results is the golden folder",
        ],
    },
    Rule {
        rule: "2. what is read is what is compared",
        switched_off: "no read is noted as different",
        tests: &[
            "no green: one expectation is made optional",
            "no green: all expectations are emptied",
        ],
    },
    Rule {
        rule: "3. what is not known to be harmless needs an approval",
        switched_off: "the settings of both commits are not compared",
        tests: &["no green: the suite gets another id"],
    },
    Rule {
        rule: "4. every pair is measured",
        switched_off: "coverage below its floor gives a verdict",
        tests: &[
            "a case that the baseline measured and this run did not gives no verdict and is named",
        ],
    },
    Rule {
        rule: "5. the runs are of this agent and of these inputs",
        switched_off: "stale recordings carry a verdict",
        tests: &["no green: a worse prompt with the old recordings"],
    },
    Rule {
        rule: "6. a gate can fail",
        switched_off: "any limit is taken",
        tests: &["no green: a share is stated in percent"],
    },
    Rule {
        rule: "7. red is explained",
        switched_off: "failures by the base's rules name no case, and golden changes are not ordered",
        tests: &[
            "red by the base's rules names its cases, and golden changes are ordered by danger",
        ],
    },
    Rule {
        rule: "8. text of others is data",
        switched_off: "a message is written as it is",
        tests: &["text of others begins no line of the log and no command of the runner"],
    },
    Rule {
        rule: "9. secrets stay",
        switched_off: "a key goes to every address",
        tests: &["a pull request sends a key to no address of its own"],
    },
];

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "red by the base's rules names its cases, and golden changes are ordered by danger",
            explained,
        ),
        trial(
            "a case that loses the tag of a run needs an approval",
            untagged,
        ),
    ]
}

fn untagged() {
    let repository = committed("two_suites");
    let file = "two/cases.json";
    let mut cases: Value = serde_json::from_str(&repository.read(file)).unwrap();
    cases[0]["tags"] = Value::Array(Vec::new());
    repository.write(file, cases.to_string());
    let run = |more: &[&str]| {
        let arguments = [&["run", "--base", "HEAD"], more].concat();
        goldgate(
            &repository,
            &arguments.into_iter().map(str::to_owned).collect::<Vec<_>>(),
        )
    };
    let ran = run(&["--tag", "smoke"]);
    let says = "[needs approval] 1 case of `two` no longer chosen by --tag smoke: ";
    assert!(
        ran.code == 1 && ran.stdout.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // A run of all cases still measures it.
    let ran = run(&[]);
    assert!(
        ran.code == 0 && !ran.stdout.contains("needs approval"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn explained() {
    let repository = committed("contracts");
    repository.replace("prompts/legal.md", "every", "each");
    for case in 3..8 {
        repository.replace(&recording(case), "Needs prior approval.", "Needs nothing.");
        repository.replace(
            &expected(case),
            "[\"approval\"]",
            "[\"approval\", \"nothing\"]",
        );
    }
    repository.replace("goldgate.yaml", "min: 0.5 }", "min: 0.4 }");
    let ran = goldgate(
        &repository,
        &["run", "--base", "HEAD", "--format", "json"].map(str::to_owned),
    );
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let changes = report["golden_changes"].as_array().unwrap();
    let place = |part: &str| {
        let found = changes
            .iter()
            .position(|change| change["what"].as_str().unwrap().contains(part));
        found.unwrap_or_else(|| panic!("{part}: {changes:#?}"))
    };
    let failing = &changes[place("fails by the rules of the base commit: finding_recall")];
    let cases = "; cases lease-3, lease-4, lease-5, lease-6, lease-7";
    assert!(
        failing["what"].as_str().unwrap().ends_with(cases),
        "{failing}"
    );
    let places = [
        "by the rules of the base commit",
        "finding_precision floor",
        "expectation of lease-3",
        "recordings",
    ]
    .map(place);
    assert!(places.is_sorted(), "{places:?}: {changes:#?}");
}

/// Every test that is named here is there.
pub fn trial_of(trials: &[Trial]) -> Trial {
    let names: Vec<String> = trials.iter().map(|trial| trial.name().to_owned()).collect();
    trial(
        "each rule of a green check is held by tests that failed without it",
        move || {
            for Rule {
                rule,
                switched_off,
                tests,
            } in RULES
            {
                assert!(!tests.is_empty() && !switched_off.is_empty(), "{rule}");
                for test in tests {
                    // Without the client there is no test of it.
                    let is_there =
                        names.iter().any(|name| name == test) || cfg!(not(feature = "github"));
                    assert!(is_there, "{rule}: there is no test {test:?}");
                }
            }
        },
    )
}
