//! Everything that is tested through the real program, in one binary; a test's name is the sentence that holds.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and has the outside at hand"
)]

mod adopt;
mod answers;
mod asks;
mod bad_goldens;
mod bad_input;
mod bad_revisions;
mod base_names;
mod book;
mod broken_agents;
#[cfg(feature = "models")]
mod capture;
mod case_formats;
mod cases;
mod chaos;
mod checks_and_gates;
mod circles;
mod clones;
mod codes;
mod config_page;
mod custom;
mod diff;
mod dirty;
mod docs;
mod drafts;
mod evidence;
mod explain;
mod failed;
mod files;
mod freshness;
#[cfg(feature = "github")]
mod github;
mod golden_changes;
mod history;
mod import;
mod init;
mod inputs;
mod judges;
mod kinds;
mod label;
mod limits;
mod links;
#[cfg(feature = "models")]
mod live;
mod measured;
mod numbers;
mod own_files;
mod quarantine;
mod rates;
mod reader_findings;
mod readers;
mod recordings;
mod refused;
mod regression;
mod repository;
mod review;
mod revision;
mod rule_changes;
mod run;
mod secrets;
mod selftest;
mod shards;
mod shell;
mod snapshots;
mod soundness;
mod stumbles;
mod tags;
#[cfg(feature = "models")]
mod targets;
mod tidy;
#[cfg(feature = "models")]
mod traces;
mod uses;
#[cfg(feature = "github")]
mod workflows;

use libtest_mimic::{Arguments, Trial};

/// A test function that fails by panicking, as everywhere.
fn trial(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(test)).map_err(|panic| {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or(panic.downcast_ref::<&str>().copied());
            text.unwrap_or("it panicked").to_owned().into()
        })
    })
}

#[allow(clippy::too_many_lines, reason = "one line for each module")]
fn main() {
    // The tests of captured agents start this binary as their agent.
    #[cfg(feature = "models")]
    if let [first, behaviour @ ..] = std::env::args().skip(1).collect::<Vec<_>>().as_slice()
        && first == capture::agent::AGENT
    {
        return capture::agent::act(behaviour);
    }
    let mut arguments = Arguments::from_args();
    // Many tests mostly wait: for retries, and for programs that they kill.
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    arguments.test_threads = arguments.test_threads.or(Some(4 * cores));
    let mut trials = bad_input::trials();
    trials.extend(adopt::trials());
    trials.extend(stumbles::trials());
    trials.extend(answers::trials());
    trials.extend(asks::trials());
    trials.extend(bad_goldens::trials());
    trials.extend(bad_revisions::trials());
    trials.extend(base_names::trials());
    trials.extend(dirty::trials());
    trials.extend(links::trials());
    trials.extend(book::trials());
    trials.extend(broken_agents::trials());
    #[cfg(feature = "models")]
    trials.extend(capture::trials());
    trials.extend(case_formats::trials());
    trials.extend(cases::trials());
    trials.extend(chaos::trials());
    trials.extend(checks_and_gates::trials());
    trials.extend(circles::trials());
    trials.extend(clones::trials());
    trials.extend(codes::trials());
    trials.extend(config_page::trials());
    trials.extend(custom::trials());
    trials.extend(diff::trials());
    trials.extend(docs::trials());
    trials.extend(drafts::trials());
    trials.extend(evidence::trials());
    trials.extend(explain::trials());
    trials.extend(failed::trials());
    trials.extend(freshness::trials());
    trials.extend(history::trials());
    trials.extend(import::trials());
    trials.extend(init::trials());
    trials.extend(inputs::trials());
    trials.extend(rates::trials());
    trials.extend(regression::trials());
    trials.extend(reader_findings::trials());
    trials.extend(recordings::trials());
    trials.extend(readers::trials());
    #[cfg(feature = "github")]
    trials.extend(github::trials());
    #[cfg(feature = "models")]
    trials.extend(live::trials());
    trials.extend(judges::trials());
    trials.extend(kinds::trials());
    trials.extend(label::trials());
    trials.extend(limits::trials());
    trials.extend(files::trials());
    trials.extend(measured::trials());
    trials.extend(numbers::trials());
    trials.extend(own_files::trials());
    trials.extend(golden_changes::trials());
    trials.extend(quarantine::trials());
    trials.extend(refused::trials());
    trials.extend(review::trials());
    trials.extend(revision::trials());
    trials.extend(rule_changes::trials());
    trials.extend(run::trials());
    trials.extend(secrets::trials());
    trials.extend(selftest::trials());
    trials.extend(shell::trials());
    trials.extend(shards::trials());
    trials.extend(snapshots::trials());
    trials.extend(soundness::trials());
    trials.extend(tags::trials());
    #[cfg(feature = "models")]
    trials.extend(targets::trials());
    trials.extend(tidy::trials());
    #[cfg(feature = "models")]
    trials.extend(traces::trials());
    trials.extend(uses::trials());
    #[cfg(feature = "github")]
    trials.extend(workflows::trials());
    trials.push(soundness::rules::trial_of(&trials));
    libtest_mimic::run(&arguments, trials).exit();
}
