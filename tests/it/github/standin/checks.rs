//! Check runs.

use serde_json::{Value, json};

use super::{Answer, Request, Standin, State, forbidden, invalid, missing, ok, status};

/// Check runs, in the order in which they were made.
#[derive(Default)]
pub struct Checks(Vec<Value>);

impl Standin {
    pub fn check_runs(&self) -> Vec<Value> {
        self.change(|state| state.checks.0.clone())
    }

    /// A check run that another app made.
    pub fn foreign_check_run(&self, run: Value) {
        self.change(|state| state.checks.0.push(run));
    }
}

/// `commits/SHA/check-runs`, `check-runs`, `check-runs/N`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    if !segments.contains(&"check-runs") {
        return None;
    }
    if !state.allows("checks: write") {
        return Some(forbidden("checks=write"));
    }
    let runs = &mut state.checks.0;
    Some(match (request.method.as_str(), segments) {
        ("GET", ["commits", head, "check-runs"]) => {
            let named = request.asked("check_name");
            let found: Vec<&Value> = runs
                .iter()
                .filter(|run| {
                    run["head_sha"] == *head
                        && named
                            .as_ref()
                            .is_none_or(|name| run["name"] == name.as_str())
                })
                .collect();
            ok(
                json!({ "total_count": found.len(), "check_runs": request.slice(&found, |run| (*run).clone()) }),
            )
        }
        ("POST", ["check-runs"])
            if request.body["head_sha"].is_string() && is_whole(&request.body) =>
        {
            let mut run = request.body.clone();
            run["id"] = json!(900 + runs.len());
            runs.push(run.clone());
            status(201, run)
        }
        ("PATCH", ["check-runs", id]) if is_whole(&request.body) => {
            match runs
                .iter_mut()
                .find(|run| run["id"].as_u64() == id.parse().ok())
            {
                Some(run) => {
                    for (key, value) in request.body.as_object().unwrap() {
                        run[key] = value.clone();
                    }
                    ok(run.clone())
                }
                None => missing(),
            }
        }
        _ => invalid(),
    })
}

/// GitHub takes a conclusion with an output of title and summary, which is not longer than 65,535 letters.
fn is_whole(body: &Value) -> bool {
    let summary = body["output"]["summary"]
        .as_str()
        .is_some_and(|summary| summary.chars().count() <= 65_535);
    summary
        && body["output"]["title"].is_string()
        && body["conclusion"].is_string()
        && body["name"].is_string()
}
