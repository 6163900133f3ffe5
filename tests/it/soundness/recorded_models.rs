//! Programs that take their model from the environment of whoever records them.

use libtest_mimic::Trial;
use serde_json::json;

use super::bases;
use super::recorded_again::{committed, edit, is, judged};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("new recordings of a model that no changed file names need an approval", unnamed),
        trial("new recordings of a model that a changed file names are listed", named),
    ]
}

/// A program with another prompt, whose recordings were made again with this model.
fn again(before: Option<&str>, now: &str) -> Repository {
    let repository = bases::base("digests");
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
    repository.write("prompts/legal.md", "Report every change of control, and be brief.\n");
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
    is(&judged(&repository), 1, "1 recording of `contracts/legal` made with the model m-big");
    // One sample of another case on the base commit has it.
    let repository = again(Some("m-own"), "m-own");
    edit(&repository, 3, |run| run["provenance"]["model"] = json!("m-big"));
    is(&judged(&repository), 1, "1 recording of `contracts/legal` made with the model m-big");
}

fn named() {
    is(&judged(&again(Some("m-own-2026-01-01"), "m-own-2026-03-01")), 0, "the agent's files changed too");
    is(&judged(&again(None, "m-big")), 0, "the agent's files changed too");
    let repository = again(Some("m-own"), "vendor/M-Big-2026-01-01");
    repository.write("prompts/agent.py", "MODEL = 'm-big'\n");
    is(&judged(&repository), 0, "the agent's files changed too");
}
