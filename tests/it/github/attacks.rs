//! The attacks of `tests/it/soundness`, through the action: on a pull request's own checkout, and on a stranger's that is read as data.

use libtest_mimic::Trial;

use super::standin::Standin;
use super::standin::pulls::MERGE;
use super::{BOT, Job, head_sha, payload};
use crate::repository::{Ran, Repository};
use crate::soundness::Attack;
use crate::{soundness, trial};

pub fn trials() -> Vec<Trial> {
    let trials = soundness::attacks().into_iter().flat_map(|(name, folder)| {
        let other = folder.clone();
        let checkout = trial(format!("no green in a pull request: {name}"), move || {
            in_checkout(&soundness::read(&folder))
        });
        // What is read as data has the deterministic tier alone.
        let is_of_the_tier = after(&soundness::read(&other).run, "--tier").is_none();
        let data = is_of_the_tier.then(|| {
            trial(format!("no green for a stranger: {name}"), move || {
                as_data(&soundness::read(&other))
            })
        });
        [checkout].into_iter().chain(data)
    });
    trials.collect()
}

/// The value of an option.
fn after<'a>(arguments: &'a [String], option: &str) -> Option<&'a str> {
    arguments
        .iter()
        .skip_while(|argument| *argument != option)
        .nth(1)
        .map(String::as_str)
}

/// The config that a job names.
fn config(arguments: &[String]) -> &str {
    after(arguments, "--config").unwrap_or("goldgate.yaml")
}

fn has(arguments: &[String], option: &str) -> bool {
    arguments.iter().any(|argument| argument == option)
}

fn is_not_green(attack: &Attack, ran: &Ran, job: &Repository, github: &Standin) {
    let said = format!("{}: {}{}", attack.why, ran.stdout, ran.stderr);
    assert_ne!(ran.code, 0, "{said}");
    assert!(
        !job.read(".runner/output").contains("verdict=pass"),
        "{said}"
    );
    for body in github.bodies(BOT) {
        assert!(!body.contains("[!TIP]"), "{body}");
    }
}

/// `mode: run`: the base commit comes by the API, the head is checked out.
fn in_checkout(attack: &Attack) {
    let path = std::env::var("PATH").unwrap();
    let head = soundness::committed(&attack.base);
    let github = Standin::new(&head_sha());
    github.files(&head);
    let run = |arguments: &[String]| {
        let job = Job::new(&head, &github, "pull_request.opened", "pull_request");
        let mut job = job
            .keep_recordings()
            .input("config", config(arguments))
            .variable("PATH", &path);
        if let Some(tier) = after(arguments, "--tier") {
            job = job.input("tier", tier);
        }
        if has(arguments, "--blocking") {
            job = job.input("blocking", "true");
        }
        let ran = job.runs();
        is_not_green(attack, &ran, &head, &github);
        ran
    };
    attack.regression.iter().for_each(|edit| edit.apply(&head));
    let ran = run(&attack.control_run);
    assert_eq!(
        ran.code, attack.control,
        "the control: {}{}",
        ran.stdout, ran.stderr
    );
    attack.attack.iter().for_each(|edit| edit.apply(&head));
    let ran = run(&attack.run);
    assert_eq!(
        ran.code, attack.verdict,
        "{}: {}{}",
        attack.why, ran.stdout, ran.stderr
    );
    // The action takes no answers of earlier runs, and it selects no cases, so that there is nothing to say of them.
    if ["--cache", "--resume", "--tag", "--case"]
        .iter()
        .any(|option| has(&attack.run, option))
    {
        return;
    }
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(
        said.contains(&attack.says),
        "{:?} is not said: {said}",
        attack.says
    );
}

/// `mode: trusted`: both commits come by the API, and nothing of either is checked out. The workflow is the base's, and so is the
/// config that it names.
fn as_data(attack: &Attack) {
    let head = soundness::committed(&attack.base);
    let (job, github) = (Repository::empty(), Standin::new(&head_sha()));
    let base = payload("pull_request.opened")["pull_request"]["base"]["sha"]
        .as_str()
        .unwrap()
        .to_owned();
    github.commit_as_is(&base, &head);
    let run = || {
        github.commit_as_is(&head_sha(), &head);
        github.commit_as_is(MERGE, &head);
        let event = Job::new(&job, &github, "pull_request.opened", "pull_request_target");
        let ran = event
            .keep_recordings()
            .input("config", config(&attack.control_run))
            .runs();
        is_not_green(attack, &ran, &job, &github);
    };
    attack.regression.iter().for_each(|edit| edit.apply(&head));
    run();
    attack.attack.iter().for_each(|edit| edit.apply(&head));
    run();
}
