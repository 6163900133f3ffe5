//! Programs that take their model from the environment of whoever records them.

use libtest_mimic::Trial;
use serde_json::json;

use super::bases;
use super::recorded_again::{committed, edit, is, judged};
use crate::golden_changes::add_case;
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "new recordings of a model that no changed file names need an approval",
            unnamed,
        ),
        trial(
            "new recordings of a model that a changed file names are listed",
            named,
        ),
        trial(
            "a new case may be answered by a model that an unchanged file names",
            chosen,
        ),
    ]
}

/// A program with another prompt, whose recordings were made again with this model.
fn again(before: Option<&str>, now: &str) -> Repository {
    again_beside("", before, now)
}

/// The same beside a file of the agent that does not change.
fn again_beside(router: &str, before: Option<&str>, now: &str) -> Repository {
    let repository = bases::base("digests");
    repository.write("prompts/router.py", router);
    let made_with = |model: Option<&str>| {
        for case in 0..12 {
            edit(&repository, case, |run| {
                run["provenance"]["model"] = json!(model);
                run["provenance"]["fingerprint"] = json!(null);
            });
        }
    };
    made_with(before);
    committed(&repository);
    repository.write(
        "prompts/legal.md",
        "Report every change of control, and be brief.\n",
    );
    super::recorded_again::answer_again(&repository);
    made_with(Some(now));
    repository
}

fn unnamed() {
    let words = "12 recordings of `contracts/legal` made with the model m-big, which no recording of the base commit has and no changed file of \
                 the agent names";
    is(&judged(&again(Some("m-own-2026-01-01"), "m-big")), 1, words);
    // Requests name the model that the program asks for.
    let repository = again(Some("m-own"), "m-own");
    edit(&repository, 3, |run| {
        run["intermediate"]["exchanges"] = json!([{ "request": { "body": { "model": "m-big" } } }]);
    });
    is(
        &judged(&repository),
        1,
        "1 recording of `contracts/legal` made with the model m-big",
    );
    // One sample of another case on the base commit has it.
    let repository = again(Some("m-own"), "m-own");
    edit(&repository, 3, |run| {
        run["provenance"]["model"] = json!("m-big")
    });
    is(
        &judged(&repository),
        1,
        "1 recording of `contracts/legal` made with the model m-big",
    );
}

fn named() {
    is(
        &judged(&again(Some("m-own-2026-01-01"), "m-own-2026-03-01")),
        0,
        "the agent's files changed too",
    );
    is(
        &judged(&again(None, "m-big")),
        0,
        "the agent's files changed too",
    );
    let repository = again(Some("m-own"), "vendor/M-Big-2026-01-01");
    repository.write("prompts/agent.py", "MODEL = 'm-big'\n");
    is(&judged(&repository), 0, "the agent's files changed too");
}

/// A new case may depend on a model that the agent's code could choose before.
fn chosen() {
    let router = "MODELS = ['m-own', 'm-big']\n";
    let repository = again_beside(router, Some("m-own"), "m-big");
    is(
        &judged(&repository),
        1,
        "prompts/router.py names it, and did not change: if the agent chose it, an approval says so",
    );
    let repository = again_beside(router, Some("m-own"), "m-own");
    is(&judged(&repository), 0, "the agent's files changed too");
    add_case(&repository, 12);
    edit(&repository, 12, |run| {
        run["provenance"] = json!({ "model": "m-big" })
    });
    is(&judged(&repository), 0, "the agent's files changed too");
}
