//! Every workflow that uses goldgate asks for what the action has: inputs, modes, events, artifacts, and no more rights than it needs.

mod releases;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::repository::{Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial(
            "every input and mode that a workflow writes is one that the action knows",
            inputs,
        ),
        trial(
            "every input of the action is read by the program, and every default is its own",
            read_by_the_program,
        ),
        trial(
            "each mode runs on the events that it is made for, and privileged ones check out nothing foreign",
            events,
        ),
        trial(
            "no job of a workflow has more rights than its modes need, nor fewer",
            rights,
        ),
        trial(
            "no path skips a job that a workflow says to require, and it runs on every event that needs it",
            required,
        ),
        trial(
            "a check of a required job finds the ways in which one can be skipped",
            skippable,
        ),
        trial("every shipped workflow is shown by a page", pages),
    ];
    trials.extend(rules::trials());
    trials.extend(releases::trials());
    trials
}

/// A workflow by its path.
struct Workflow {
    path: String,
    is_shipped: bool,
    text: String,
    form: Value,
}

/// A step that uses goldgate, with its job.
struct Step<'a> {
    workflow: &'a Workflow,
    job: &'a Value,
    with: BTreeMap<String, String>,
}

impl Step<'_> {
    fn mode(&self) -> &str {
        self.with.get("mode").map_or("run", String::as_str)
    }

    fn says(&self, input: &str, value: &str) -> bool {
        self.with.get(input).is_some_and(|stated| stated == value)
    }
}

fn yaml(path: &str) -> (String, Value) {
    let text = fs::read_to_string(root().join(path)).unwrap();
    let form = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    (text, form)
}

fn workflows() -> Vec<Workflow> {
    let mut found = Vec::new();
    for (folder, is_shipped) in [("docs/workflows", true), (".github/workflows", false)] {
        let mut names: Vec<_> = fs::read_dir(root().join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        for name in names {
            let path = format!("{folder}/{}", name.to_str().unwrap());
            let (text, form) = yaml(&path);
            found.push(Workflow {
                path,
                is_shipped,
                text,
                form,
            });
        }
    }
    assert_eq!(found.len(), 8, "four ship");
    found
}

fn jobs(workflow: &Workflow) -> impl Iterator<Item = &Value> {
    workflow.form["jobs"].as_object().unwrap().values()
}

fn steps(job: &Value) -> impl Iterator<Item = &Value> {
    job["steps"].as_array().unwrap().iter()
}

fn uses(step: &Value, action: &str) -> bool {
    let used = step["uses"].as_str().unwrap_or_default();
    used == action || used.starts_with(&format!("{action}@"))
}

fn with(step: &Value) -> BTreeMap<String, String> {
    let stated = step["with"].as_object().cloned().unwrap_or_default();
    let shown = |value: Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    stated
        .into_iter()
        .map(|(name, value)| (name, shown(value)))
        .collect()
}

fn gates(workflow: &Workflow) -> Vec<Step<'_>> {
    let own = |job: &&Value| {
        steps(job)
            .filter(|step| uses(step, "OWNER/goldgate") || uses(step, "./"))
            .map(with)
            .collect()
    };
    let all = jobs(workflow).map(|job| (job, own(&job)));
    let flat = all.flat_map(|(job, found): (&Value, Vec<_>)| {
        found.into_iter().map(move |with| Step {
            workflow,
            job,
            with,
        })
    });
    flat.collect()
}

fn inputs() {
    let (_, action) = yaml("action.yml");
    let known = action["inputs"].as_object().unwrap();
    let all = workflows();
    let mut modes = BTreeSet::new();
    for step in all.iter().flat_map(gates) {
        for name in step.with.keys() {
            assert!(
                known.contains_key(name),
                "{}: action.yml has no input {name}",
                step.workflow.path
            );
        }
        modes.insert(step.mode().to_owned());
    }
    let repository = Repository::empty();
    let told = repository
        .goldgate_with(&["action"], &[("INPUT_MODE", "none")])
        .stderr;
    let known: BTreeSet<String> = told
        .split("write one of ")
        .nth(1)
        .unwrap()
        .split([',', ' ', '['])
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .take_while(|word| !word.starts_with("bad"))
        .map(str::to_owned)
        .collect();
    assert_eq!(
        modes, known,
        "a mode that no workflow shows, or that no program knows"
    );
    let described = action["inputs"]["mode"]["description"].as_str().unwrap();
    for mode in &known {
        assert!(
            described.contains(&format!("`{mode}`")),
            "action.yml does not describe mode {mode}"
        );
    }
}

fn read_by_the_program() {
    let (_, action) = yaml("action.yml");
    let source = fs::read_to_string(root().join("src/github/inputs.rs")).unwrap();
    for (name, input) in action["inputs"].as_object().unwrap() {
        if name == "token" {
            continue;
        }
        let read = [format!("get(\"{name}\")"), format!("truth(\"{name}\"")];
        assert!(
            read.iter().any(|call| source.contains(call)),
            "nothing reads the input {name}"
        );
        let default = input["default"].as_str().unwrap();
        let shown = default.is_empty()
            || source.contains(&format!("\"{default}\""))
            || source.contains(&format!("\"{name}\", {default}"));
        assert!(
            shown || name == "mode",
            "the program has another default for {name} than {default:?}"
        );
    }
}

fn events() {
    for workflow in workflows() {
        let on = workflow.form["on"].as_object().unwrap();
        let path = &workflow.path;
        assert_eq!(
            workflow.form["permissions"],
            serde_json::json!({}),
            "{path}"
        );
        // The workflows of this repository that do not use goldgate have rules of their own.
        if gates(&workflow).is_empty() {
            continue;
        }
        let is_gate = !required_checks(&workflow.text).is_empty();
        // A group cancels its older pending run, whose required check would stay missing.
        assert_eq!(workflow.form["concurrency"].is_null(), is_gate, "{path}");
        for step in gates(&workflow) {
            let mut fit = match step.mode() {
                "run" if is_gate => vec![
                    "pull_request",
                    "pull_request_target",
                    "merge_group",
                    "push",
                    "schedule",
                ],
                "run" => vec!["pull_request", "push", "schedule", "workflow_dispatch"],
                "record" => vec!["pull_request_target"],
                "baseline-pr" => vec!["push", "schedule"],
                other => panic!("{path}: which events has mode {other}?"),
            };
            // The job of the baseline skips the other events.
            let condition = step.job["if"].as_str().unwrap_or_default();
            if is_gate
                && condition
                    .starts_with("(github.event_name == 'push' || github.event_name == 'schedule')")
            {
                fit.extend(on.keys().map(String::as_str));
            }
            for event in on.keys() {
                assert!(
                    fit.contains(&event.as_str()),
                    "{path}: mode {} on {event}",
                    step.mode()
                );
            }
        }
        let is_privileged = on.contains_key("pull_request_target");
        for job in jobs(&workflow) {
            assert!(job["timeout-minutes"].is_u64(), "{path}");
            for step in steps(job).filter(|step| uses(step, "actions/checkout")) {
                assert!(
                    with(step)
                        .get("persist-credentials")
                        .is_some_and(|kept| kept == "false"),
                    "{path}"
                );
                let is_of_baseline = !job["if"].is_null();
                assert!(
                    !is_privileged || !workflow.is_shipped || is_of_baseline,
                    "{path}: a checkout beside a token that may write"
                );
                assert!(
                    step["with"]["ref"].is_null() || !workflow.is_shipped,
                    "{path}"
                );
            }
        }
    }
}

/// What each mode needs, as docs/security.md tells.
fn needs(step: &Step<'_>) -> &'static [(&'static str, &'static str)] {
    match step.mode() {
        "run" if step.says("tier", "model") => &[
            ("contents", "read"),
            ("pull-requests", "write"),
            ("checks", "write"),
        ],
        // On the default branch there is no comment.
        "run" if step.says("blocking", "false") => &[("contents", "read")],
        "run" => &[
            ("actions", "write"),
            ("contents", "read"),
            ("pull-requests", "write"),
        ],
        "record" => &[("contents", "write"), ("pull-requests", "write")],
        "baseline-pr" => &[
            ("actions", "read"),
            ("contents", "write"),
            ("pull-requests", "write"),
        ],
        other => panic!("what does mode {other} need?"),
    }
}

fn rights() {
    for workflow in workflows() {
        for job in jobs(&workflow) {
            let own: Vec<Step<'_>> = gates(&workflow)
                .into_iter()
                .filter(|step| std::ptr::eq(step.job, job))
                .collect();
            if own.is_empty() {
                continue;
            }
            let app = steps(job).find(|step| uses(step, "actions/create-github-app-token"));
            assert!(
                own.iter()
                    .all(|step| step.with.contains_key("token") == app.is_some()),
                "{}: all modes of a job write as one account",
                workflow.path
            );
            let mut wanted: BTreeMap<&str, &str> = BTreeMap::new();
            let checkout = steps(job)
                .any(|step| uses(step, "actions/checkout"))
                .then_some(&("contents", "read"));
            for (scope, level) in own.iter().flat_map(|step| needs(step)).chain(checkout) {
                let standing = wanted.entry(scope).or_insert(level);
                if *level == "write" {
                    *standing = level;
                }
            }
            let of_job = job["permissions"].as_object().unwrap().iter();
            let given: BTreeMap<String, String> = match app {
                None => of_job
                    .map(|(scope, level)| (scope.clone(), level.as_str().unwrap().to_owned()))
                    .collect(),
                Some(app) => of_app(app),
            };
            let wanted = wanted
                .iter()
                .map(|(scope, level)| ((*scope).to_owned(), (*level).to_owned()))
                .collect();
            assert_eq!(given, wanted, "{}: {}", workflow.path, job["name"]);
            assert!(
                app.is_none() || job["permissions"] == serde_json::json!({}),
                "{}",
                workflow.path
            );
        }
    }
}

/// The permissions that a step asks for an app's token.
fn of_app(step: &Value) -> BTreeMap<String, String> {
    let asked = with(step).into_iter();
    asked
        .filter_map(|(name, level)| Some((name.strip_prefix("permission-")?.to_owned(), level)))
        .collect()
}

/// The names of the checks that a workflow's head says to require.
fn required_checks(text: &str) -> Vec<String> {
    let head: String = text
        .lines()
        .take_while(|line| line.starts_with('#'))
        .collect();
    let named = head.split("equire the check \"").skip(1);
    named
        .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
        .collect()
}

/// Why a job that is required can be skipped, or does not run where it has to. GitHub reports a skipped job as a success, and a
/// job whose `needs` failed is skipped (GitHub docs, "Troubleshooting required status checks"; github/docs#32064,
/// actions/runner#2566). A check belongs to a commit, so a retargeted pull request keeps it unless the workflow runs on `edited`.
fn unsound(form: &Value, check: &str) -> Option<String> {
    let named = form["jobs"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(id, job)| job["name"].as_str().unwrap_or(id) == check);
    let [(_, job)] = named.collect::<Vec<_>>()[..] else {
        return Some("there is not one job of this name".to_owned());
    };
    for key in ["if", "needs", "concurrency"] {
        if !job[key].is_null() {
            return Some(format!("it has `{key}`"));
        }
    }
    if !form["run-name"]
        .as_str()
        .is_some_and(|name| name.contains("github.sha"))
    {
        return Some("its runs do not say which commits they judge".to_owned());
    }
    let on = form["on"].as_object().unwrap();
    for (event, about) in on
        .iter()
        .filter(|(event, _)| event.starts_with("pull_request"))
    {
        let types: Vec<&str> = about["types"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for wanted in [
            "opened",
            "synchronize",
            "reopened",
            "edited",
            "labeled",
            "unlabeled",
        ] {
            if !types.contains(&wanted) {
                return Some(format!("{event} does not listen to {wanted}"));
            }
        }
        for filter in ["paths", "paths-ignore", "branches", "branches-ignore"] {
            if !about[filter].is_null() {
                return Some(format!(
                    "{event} is filtered by {filter}, so the check may never come"
                ));
            }
        }
    }
    (on.contains_key("pull_request") && !on.contains_key("merge_group"))
        .then(|| "it has no merge_group".to_owned())
}

fn required() {
    let mut count = 0;
    for workflow in workflows() {
        let judges = gates(&workflow).iter().any(|step| {
            step.mode() == "run" && !step.says("blocking", "false") && !step.says("tier", "model")
        });
        let named = required_checks(&workflow.text);
        assert_eq!(judges, !named.is_empty(), "{}", workflow.path);
        for check in named {
            assert_eq!(check, "goldgate");
            assert_eq!(unsound(&workflow.form, &check), None, "{}", workflow.path);
            count += 1;
        }
    }
    assert_eq!(count, 3);
}

fn skippable() {
    let sound = "run-name: a ${{ github.sha }}\non: { pull_request: { types: [opened, synchronize, reopened, labeled, unlabeled, edited] }, merge_group: {} }\njobs:\n  gate: { name: gate, timeout-minutes: 1 }\n";
    let found = |text: &str| unsound(&serde_yaml::from_str(text).unwrap(), "gate");
    assert_eq!(found(sound), None);
    for (from, to, wanted) in [
        (
            "timeout-minutes: 1",
            "if: github.actor != 'a'",
            "it has `if`",
        ),
        ("timeout-minutes: 1", "needs: a", "it has `needs`"),
        (
            "timeout-minutes: 1",
            "concurrency: a",
            "it has `concurrency`",
        ),
        (", edited", "", "does not listen to edited"),
        (", unlabeled", "", "does not listen to unlabeled"),
        ("github.sha", "github.ref", "which commits"),
        (
            "edited]",
            "edited], branches: [main]",
            "filtered by branches",
        ),
        (", merge_group: {}", "", "no merge_group"),
        ("name: gate", "name: other", "not one job"),
    ] {
        let changed = sound.replace(from, to);
        assert_ne!(changed, sound);
        assert!(
            found(&changed).is_some_and(|why| why.contains(wanted)),
            "{wanted}: {:?}",
            found(&changed)
        );
    }
}

fn pages() {
    let mut text = fs::read_to_string(root().join("README.md"))
        .unwrap()
        .replace("docs/workflows/", "workflows/");
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    for workflow in workflows().iter().filter(|workflow| workflow.is_shipped) {
        let link = workflow.path.strip_prefix("docs/").unwrap();
        assert!(
            text.contains(&format!("({link})")),
            "no page links {}",
            workflow.path
        );
        assert!(
            workflow.text.starts_with("# "),
            "{} does not say what it is for",
            workflow.path
        );
    }
}
