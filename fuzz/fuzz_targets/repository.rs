//! A small repository of each kind with edits in its files, and the whole program run in it: no panic, no other exit code than 0 to 3,
//! and every problem is at a line that exists. A recording that was removed never leaves the report as it was.
//!
//! The seeds are the repositories of `tests/cases`, each committed, so that a run can compare the edited files with them. Send standard
//! output to /dev/null: the program prints its results there.
#![no_main]

mod edits;
mod repositories;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::OnceLock;

use edits::{Edit, edited};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use repositories::{own_folder, run, small_repositories, write};

const RUN: &[&str] = &["run", "--quiet", "--out", "out"];
const RUN_WITH_BASE: &[&str] = &["run", "--quiet", "--out", "out", "--base", "HEAD"];

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Command {
    Run,
    RunWithBase,
    UpdateBaseline,
    Check,
    Selftest,
    Calibrate,
}

#[derive(Debug, Arbitrary)]
struct Plan {
    seed: u8,
    command: Command,
    first: Edit,
    more: Option<Edit>,
}

/// A repository on disk, in the state of its seed between two inputs.
struct Seed {
    folder: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
    /// The reports of the files as they are, without and with a base commit; none where they are refused.
    report: Option<Vec<u8>>,
    report_with_base: Option<Vec<u8>>,
}

fuzz_target!(|plan: Plan| {
    static SEEDS: OnceLock<Vec<Seed>> = OnceLock::new();
    let seeds = SEEDS.get_or_init(seeds);
    let seed = &seeds[usize::from(plan.seed) % seeds.len()];
    let mut files = seed.files.clone();
    for edit in [Some(&plan.first), plan.more.as_ref()].into_iter().flatten() {
        edited(&mut files, edit);
    }
    if files == seed.files {
        return;
    }
    lay(&seed.folder, &seed.files, &files);
    let arguments: &[&str] = match plan.command {
        Command::Run => RUN,
        Command::RunWithBase => RUN_WITH_BASE,
        Command::UpdateBaseline => &["run", "--quiet", "--update-baseline"],
        Command::Check => &["check"],
        Command::Selftest => &["selftest"],
        Command::Calibrate => &["calibrate"],
    };
    let ended = run(&seed.folder, arguments);
    assert!(ended.code <= 3, "exit code {}", ended.code);
    if ended.code == 2 {
        assert!(!ended.problems.is_empty(), "refused without a reason");
        ended.problems.iter().for_each(|problem| has_a_place(problem, &files));
    }
    let removed = seed.files.keys().find(|file| !files.contains_key(*file));
    let report = match plan.command {
        Command::Run => Some(&seed.report),
        Command::RunWithBase => Some(&seed.report_with_base),
        Command::UpdateBaseline | Command::Check | Command::Selftest | Command::Calibrate => None,
    };
    if let (Some(report), 0, Some(removed)) = (report, ended.code, removed)
        && is_recording(removed)
    {
        assert!(fs::read(seed.folder.join("out/report.json")).ok() != *report, "{removed} was removed silently");
    }
    lay(&seed.folder, &files, &seed.files);
});

fn is_recording(file: &str) -> bool {
    file.ends_with(".json") && file.split('/').any(|part| part == "runs")
}

/// A problem `FILE:LINE:COLUMN: …` is in a file that exists, at a line that it has.
fn has_a_place(problem: &str, files: &BTreeMap<String, Vec<u8>>) {
    let mut parts = problem.splitn(4, ':');
    let (Some(file), Some(Ok(line)), Some(Ok(_))) =
        (parts.next(), parts.next().map(str::parse::<usize>), parts.next().map(str::parse::<usize>))
    else {
        return;
    };
    let text = files.get(file).unwrap_or_else(|| panic!("{problem}: there is no such file"));
    let lines = 1 + text.iter().filter(|byte| **byte == b'\n').count();
    assert!((1..=lines).contains(&line), "{problem}: the file has {lines} lines");
}

/// Makes the files on disk those of another state, and removes what the program wrote.
fn lay(folder: &Path, before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) {
    for written in ["out", ".goldgate"] {
        let _ = fs::remove_dir_all(folder.join(written));
    }
    for file in before.keys().filter(|file| !after.contains_key(*file)) {
        let _ = fs::remove_file(folder.join(file));
    }
    // A baseline may have been written again, or for the first time.
    let baselines = after.keys().filter(|file| file.contains("baseline"));
    if baselines.count() == 0 {
        let _ = fs::remove_dir_all(folder.join("baselines"));
    }
    for (file, bytes) in after {
        if before.get(file) != Some(bytes) || file.contains("baseline") {
            write(&folder.join(file), bytes);
        }
    }
}

fn commit(folder: &Path) {
    let identity = ["-c", "user.name=Subject", "-c", "user.email=a@example.org"];
    for arguments in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "--message", "seed"]] {
        let ended = Process::new("git").args(identity).args(arguments).current_dir(folder).status();
        assert!(ended.expect("git is installed").success(), "git {arguments:?}");
    }
}

fn seeds() -> Vec<Seed> {
    let place = own_folder();
    let mut seeds = Vec::new();
    for files in small_repositories() {
        let folder = place.join(seeds.len().to_string());
        fs::create_dir_all(&folder).expect("the temporary folder can be written");
        lay(&folder, &BTreeMap::new(), &files);
        commit(&folder);
        let report = |arguments| {
            run(&folder, arguments);
            fs::read(folder.join("out/report.json")).ok()
        };
        let (report, report_with_base) = (report(RUN), report(RUN_WITH_BASE));
        seeds.push(Seed { folder, files, report, report_with_base });
    }
    seeds
}
