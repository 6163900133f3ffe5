//! Workflow runs, and starting them again.

use serde_json::{Value, json};

use super::{Answer, Request, Standin, State, forbidden, missing, ok, status};

/// The runs as GitHub tells them, and which were started again.
#[derive(Default)]
pub struct Runs {
    all: Vec<Value>,
    again: Vec<Rerun>,
    /// A run in progress ends after it was looked at so often.
    looks: Option<(u64, u32)>,
    /// A run that was created more than 30 days ago.
    old: Option<u64>,
}

/// A request to start a run again that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rerun {
    pub run: u64,
    /// `rerun` or `rerun-failed-jobs`.
    pub what: String,
    /// The contexts of the statuses that existed then, the oldest first.
    pub statuses: Vec<String>,
}

impl Standin {
    /// A run, as GitHub tells it.
    pub fn run(&self, mut run: Value) {
        self.change(|state| {
            let at = json!(state.tick());
            let before = state.runs.all.iter().find(|other| other["id"] == run["id"]);
            // REST, "Get a workflow run": `run_started_at` is "the start time of the latest run" and "resets on re-run".
            run["created_at"] = before.map_or(&at, |before| &before["created_at"]).clone();
            run["run_started_at"] = at;
            state.runs.all.retain(|other| other["id"] != run["id"]);
            state.runs.all.push(run);
        });
    }

    /// A run is still in progress: `conclusion` is null (REST, "Get a workflow run").
    pub fn in_progress(&self, run: u64) {
        self.end(run, "in_progress", Value::Null);
    }

    /// A run in progress fails after it was looked at so often.
    pub fn ends_after(&self, run: u64, looks: u32) {
        self.in_progress(run);
        self.change(|state| state.runs.looks = Some((run, looks)));
    }

    /// A run was created more than 30 days ago.
    pub fn grow_old(&self, run: u64) {
        self.change(|state| state.runs.old = Some(run));
    }

    /// Somebody starts a run again.
    pub fn restarted(&self, run: u64) {
        self.change(|state| {
            let at = state.tick();
            let found = state
                .runs
                .all
                .iter_mut()
                .find(|one| one["id"] == json!(run))
                .unwrap();
            found["run_started_at"] = json!(at);
        });
    }

    /// A run ends.
    pub fn concluded(&self, run: u64, conclusion: &str) {
        self.end(run, "completed", json!(conclusion));
    }

    fn end(&self, run: u64, now: &str, conclusion: Value) {
        self.change(|state| state.runs.end(run, now, conclusion));
    }

    /// The runs that were started again.
    pub fn reruns(&self) -> Vec<Rerun> {
        self.change(|state| state.runs.again.clone())
    }
}

impl Runs {
    /// The commit of a run.
    pub fn head_of(&self, run: u64) -> Value {
        self.all
            .iter()
            .find(|one| one["id"] == json!(run))
            .map_or(Value::Null, |one| one["head_sha"].clone())
    }

    fn end(&mut self, run: u64, now: &str, conclusion: Value) {
        let found = self
            .all
            .iter_mut()
            .find(|one| one["id"] == json!(run))
            .unwrap();
        found["status"] = json!(now);
        found["conclusion"] = conclusion;
    }

    fn look(&mut self, run: u64) {
        match self.looks {
            Some((of, 0)) if of == run => {
                self.looks = None;
                self.end(run, "completed", json!("failure"));
            }
            Some((of, looks)) if of == run => self.looks = Some((of, looks - 1)),
            Some(_) | None => {}
        }
    }
}

/// `actions/runs`, `actions/runs/ID`, `actions/runs/ID/rerun`, `actions/runs/ID/rerun-failed-jobs`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let of = |id: &str, state: &State| {
        state
            .runs
            .all
            .iter()
            .position(|run| run["id"].as_u64() == id.parse().ok())
    };
    Some(match (request.method.as_str(), segments) {
        ("GET", ["actions", "runs", ..]) if !state.allows("actions: read") => {
            forbidden("actions=read")
        }
        ("GET", ["actions", "runs"]) => {
            let asked = |name: &str, run: &Value| {
                request
                    .asked(name)
                    .is_none_or(|wanted| run[name] == json!(wanted))
            };
            let fits = |run: &&Value| {
                asked("head_sha", run) && asked("event", run) && asked("status", run)
            };
            let found: Vec<&Value> = state.runs.all.iter().filter(fits).collect();
            ok(
                json!({ "total_count": found.len(), "workflow_runs": request.slice(&found, |run| (*run).clone()) }),
            )
        }
        ("GET", ["actions", "runs", id]) => {
            state.runs.look(id.parse().unwrap_or_default());
            of(id, state).map_or_else(missing, |found| ok(state.runs.all[found].clone()))
        }
        ("POST", ["actions", "runs", _, "rerun" | "rerun-failed-jobs"])
            if !state.allows("actions: write") =>
        {
            forbidden("actions=write")
        }
        (
            "POST",
            [
                "actions",
                "runs",
                id,
                what @ ("rerun" | "rerun-failed-jobs"),
            ],
        ) => {
            let Some(found) = of(id, state) else {
                return Some(missing());
            };
            let run = &state.runs.all[found];
            let refused = |text: &str| status(403, json!({ "message": text }));
            if run["id"].as_u64() == state.runs.old {
                // cli/cli#9989.
                return Some(refused(
                    "Unable to retry this workflow run because it was created over a month ago",
                ));
            }
            if run["status"] != json!("completed") {
                // apache/tvm#12847, cli/cli#9221.
                return Some(refused("This workflow is already running"));
            }
            if *what == "rerun-failed-jobs" && run["conclusion"] == json!("success") {
                // metabase/metabase#28400, metabase/metabase#70916.
                return Some(refused("This workflow run cannot be retried"));
            }
            let (at, statuses) = (state.tick(), state.approval.all_contexts());
            let run = &mut state.runs.all[found];
            // REST, "Get a workflow run": a re-run is a further attempt of the same run.
            run["run_attempt"] = json!(run["run_attempt"].as_u64().unwrap_or(1) + 1);
            run["run_started_at"] = json!(at);
            (run["status"], run["conclusion"]) = (json!("queued"), Value::Null);
            let run = run["id"].as_u64().unwrap();
            state.runs.again.push(Rerun {
                run,
                what: (*what).to_owned(),
                statuses,
            });
            status(201, json!({}))
        }
        _ => return None,
    })
}
