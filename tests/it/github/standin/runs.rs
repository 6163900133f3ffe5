//! Workflow runs: GitHub lists those of a workflow, names the jobs of an attempt, and starts a run again.

use serde_json::{Value, json};

use super::{Answer, Request, Standin, State, forbidden, missing, ok, status};

/// The runs as GitHub tells them, and which were started again.
#[derive(Default)]
pub struct Runs {
    all: Vec<Value>,
    /// When the job of the first attempt of a run ended, and how.
    ended: Vec<(u64, String, String)>,
    again: Vec<u64>,
    /// A run that was created more than 30 days ago.
    old: Option<u64>,
    /// How many of the next lists have the newest run not yet.
    late: u32,
}

/// A run that starts.
pub struct StartedRun<'a> {
    pub id: u64,
    pub event: &'a str,
    /// The pull request that it is about.
    pub number: u64,
    /// The commit that GitHub lists it under.
    pub head: &'a str,
    /// Its `run-name`.
    pub title: &'a str,
    pub actor: &'a str,
}

impl Runs {
    /// A further run like the newest one.
    pub fn begin_again(&mut self, id: u64) {
        let mut run = self.all.last().unwrap().clone();
        run["id"] = json!(id);
        self.all.push(run);
    }
}

impl Standin {
    /// A run starts, or starts again: then it is a further attempt of the same run, which keeps when it was created (REST, "Get a
    /// workflow run").
    pub fn start_run(&self, run: &StartedRun<'_>) {
        self.change(|state| {
            let at = state.tick();
            let from = state.pulls.origin_of(run.number);
            let known = state.runs.all.iter_mut().find(|one| one["id"] == json!(run.id));
            if let Some(known) = known {
                known["run_attempt"] = json!(known["run_attempt"].as_u64().unwrap_or(1) + 1);
                (known["status"], known["conclusion"]) = (json!("in_progress"), Value::Null);
                return;
            }
            state.runs.all.push(json!({
                "id": run.id, "run_attempt": 1, "head_sha": run.head, "head_branch": from.0, "event": run.event,
                "display_title": run.title, "status": "in_progress", "conclusion": null, "created_at": at,
                "path": ".github/workflows/goldgate.yml", "head_repository": { "id": 1, "full_name": from.1 },
                "actor": { "login": run.actor },
            }));
        });
    }

    /// A run and its job end.
    pub fn end_run(&self, id: u64, conclusion: &str) {
        self.change(|state| {
            let at = state.tick();
            let run = state.runs.all.iter_mut().find(|one| one["id"] == json!(id));
            let run = run.unwrap();
            (run["status"], run["conclusion"]) = (json!("completed"), json!(conclusion));
            if run["run_attempt"] == json!(1) {
                state.runs.ended.push((id, at, conclusion.to_owned()));
            }
        });
    }

    /// Somebody had cancelled a run.
    pub fn cancel_run(&self, id: u64) {
        self.change_run(id, |run| run["conclusion"] = json!("cancelled"));
        self.change(|state| {
            let ended = state.runs.ended.iter_mut().find(|(run, _, _)| *run == id);
            ended.unwrap().2 = "cancelled".to_owned();
        });
    }

    /// Changes what is told of a run.
    pub fn change_run(&self, id: u64, what: impl FnOnce(&mut Value)) {
        self.change(|state| {
            what(
                state
                    .runs
                    .all
                    .iter_mut()
                    .find(|one| one["id"] == json!(id))
                    .unwrap(),
            )
        });
    }

    /// Somebody deletes a run, and its jobs with it.
    pub fn delete_run(&self, id: u64) {
        self.change(|state| state.runs.all.retain(|one| one["id"] != json!(id)));
    }

    /// A run was created more than 30 days ago.
    pub fn grow_old(&self, run: u64) {
        self.change(|state| state.runs.old = Some(run));
    }

    /// The next lists of runs, this many, do not have the newest one yet.
    pub fn lists_runs_late(&self, lists: u32) {
        self.change(|state| state.runs.late = lists);
    }

    /// The runs that were started again.
    pub fn reruns(&self) -> Vec<u64> {
        self.change(|state| state.runs.again.clone())
    }
}

/// `actions/runs/ID`, `actions/workflows/FILE/runs`, `actions/runs/ID/attempts/1/jobs`, `actions/runs/ID/rerun-failed-jobs`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let of = |id: &str, state: &State| {
        state
            .runs
            .all
            .iter()
            .position(|run| run["id"].as_u64() == id.parse().ok())
    };
    Some(match (request.method.as_str(), segments) {
        ("GET", ["actions", ..]) if !state.allows("actions: read") => forbidden("actions=read"),
        ("GET", ["actions", "workflows", file, "runs"]) => {
            let asked = |name: &str, value: &Value| {
                request
                    .asked(name)
                    .is_none_or(|wanted| *value == json!(wanted))
            };
            let path = format!(".github/workflows/{file}");
            let fits = |run: &&Value| {
                run["path"] == json!(path)
                    && asked("event", &run["event"])
                    && asked("branch", &run["head_branch"])
            };
            let mut found: Vec<&Value> = state.runs.all.iter().filter(fits).collect();
            found.reverse();
            if state.runs.late > 0 {
                found.remove(0);
            }
            let listed = ok(
                json!({ "total_count": found.len(), "workflow_runs": request.slice(&found, |run| (*run).clone()) }),
            );
            state.runs.late = state.runs.late.saturating_sub(1);
            state.meanwhile();
            listed
        }
        ("GET", ["actions", "runs", id]) => {
            of(id, state).map_or_else(missing, |found| ok(state.runs.all[found].clone()))
        }
        ("GET", ["actions", "runs", id, "attempts", "1", "jobs"]) => {
            if of(id, state).is_none() {
                return Some(missing());
            }
            let ended = state
                .runs
                .ended
                .iter()
                .find(|(run, _, _)| id.parse() == Ok(*run));
            let (ended, how) = ended.map(|(_, at, how)| (at.clone(), how.clone())).unzip();
            // Another job of the run, such as the one of the baseline, is skipped on pull requests.
            let jobs = json!([
                { "name": "goldgate", "completed_at": ended, "conclusion": how },
                { "name": "baseline", "completed_at": "2026-11-21T00:00:00Z", "conclusion": "skipped" },
            ]);
            ok(json!({ "total_count": 2, "jobs": jobs }))
        }
        ("POST", ["actions", "runs", _, "rerun-failed-jobs"])
            if !state.allows("actions: write") =>
        {
            forbidden("actions=write")
        }
        ("POST", ["actions", "runs", id, "rerun-failed-jobs"]) => {
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
            if run["conclusion"] == json!("success") {
                // metabase/metabase#28400, metabase/metabase#70916.
                return Some(refused("This workflow run cannot be retried"));
            }
            state.runs.again.push(id.parse().unwrap());
            status(201, json!({}))
        }
        _ => return None,
    })
}
