//! Odd machines: few files, no variables, odd clocks, odd paths, and commands that are killed while they write.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::cases::copy;
use crate::repository::{Ran, Repository, program, ran};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("too few file descriptors are the machine's fault, and exit with 3", few_files),
        trial("a small stack is enough", small_stack),
        trial("with too little memory a command ends with an error and leaves the baseline old or new", little_memory),
        trial("a machine without HOME, TMPDIR, PATH and locale is enough", bare),
        trial("more threads than are useful are not started", threads),
        trial("in 1970 and in 2100 the verdict is the same", clocks),
        trial("a repository may lie below a path that is not UTF-8, and a file in it is named", odd_paths),
        trial("a path that is too long for the system is refused with a line", long_paths),
        trial("a command that is killed while it writes leaves every file old or new", killed),
    ]
}

/// Runs the program in a shell that limits it first.
fn limited(repository: &Repository, limit: &str, arguments: &str) -> Ran {
    let goldgate = program(&repository.path(""));
    let script = format!("{limit}; exec {} {arguments}", goldgate.get_program().to_str().unwrap());
    let mut shell = Command::new("/bin/sh");
    ran(shell.args(["-c", &script]).current_dir(repository.path("")).stdin(Stdio::null()))
}

fn few_files() {
    let repository = Repository::small();
    let ran = limited(&repository, "ulimit -n 5", "run");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("too many open files") && ran.stderr.contains("[machine]"), "{}", ran.stderr);
    let ran = limited(&repository, "ulimit -n 16", "run");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// Kilobytes, as `sh` understands them.
fn small_stack() {
    let repository = Repository::small();
    for limit in [64, 128, 8192] {
        let ran = limited(&repository, &format!("ulimit -s {limit}"), "run");
        assert_eq!(ran.code, 0, "{limit} kB: {}", ran.stderr);
    }
}

fn little_memory() {
    let repository = Repository::small();
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    let before = repository.read("baselines/latest.json");
    let mut refused = 0;
    // From too little to start with to enough, in kilobytes of addresses; a debug build needs more than a release build.
    for limit in (20_000..400_000).step_by(20_000) {
        let ran = limited(&repository, &format!("ulimit -v {limit}"), "run --update-baseline");
        // -1: ended by a signal, as the runtime does if it cannot start a thread or get memory.
        assert!([0, 3, 127, -1].contains(&ran.code), "{limit} kB: {} {}", ran.code, ran.stderr);
        assert!(ran.code != 3 || ran.stderr.contains("[machine]"), "{limit} kB: {}", ran.stderr);
        refused += usize::from(ran.code != 0);
        let now = repository.read("baselines/latest.json");
        // The memory may end after the baseline was written.
        assert!(now == before || now.ends_with("}\n"), "{limit} kB: the baseline is {now}");
    }
    assert!(refused > 0, "no limit was too small");
}

fn bare() {
    let repository = Repository::small();
    for variables in [&[][..], &[("LANG", "C"), ("LC_ALL", "C")], &[("HOME", "/nowhere"), ("TMPDIR", "/nowhere")]] {
        let mut command = program(&repository.path(""));
        let ran =
            ran(command.env_clear().envs(variables.iter().copied()).args(["run", "--update-baseline", "--out", "out"]));
        assert_eq!(ran.code, 0, "{variables:?}: {}", ran.stderr);
    }
}

fn threads() {
    let begun = Instant::now();
    let ran = Repository::small().goldgate_with(&["run"], &[("RAYON_NUM_THREADS", "100000")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

fn clocks() {
    let repository = Repository::small();
    let times = ["0", "2147483648", "253402207200", "4102444800"];
    for time in times {
        let ran = repository.goldgate_with(&["run", "--update-baseline"], &[("SOURCE_DATE_EPOCH", time)]);
        assert_eq!(ran.code, 0, "{time}: {}", ran.stderr);
    }
    assert!(repository.read("baselines/latest.json").contains("\"captured_at\": \"2100-01-01T00:00:00Z\""));
}

fn odd_paths() {
    let repository = Repository::small();
    let below = repository.path("").join(OsStr::from_bytes(b"w\xff"));
    std::fs::create_dir_all(below.join(".git")).unwrap();
    for part in ["golden", "prompts"] {
        copy(&repository.path(part), &below.join(part));
    }
    std::fs::copy(repository.path("goldgate.yaml"), below.join("goldgate.yaml")).unwrap();
    let outcome = ran(program(&below).args(["run", "--update-baseline", "--out", "out"]));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(below.join("out/report.json").exists() && below.join("baselines/latest.json").exists());
    std::fs::write(below.join("golden/contracts").join(OsStr::from_bytes(b"a\xff.md")), "x").unwrap();
    let outcome = ran(program(&below).arg("run"));
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("golden/contracts: the name \"a\\xFF.md\" is not UTF-8"), "{}", outcome.stderr);
}

fn long_paths() {
    let repository = Repository::small();
    let name = "x".repeat(300);
    for (arguments, code) in [
        (["run", "--out", name.as_str()], 3),
        (["run", "--config", name.as_str()], 2),
        (["run", "--baseline", name.as_str()], 2),
    ] {
        let ran = repository.goldgate(&arguments);
        assert_eq!(ran.code, code, "{}", ran.stderr);
        assert!(ran.stderr.to_lowercase().contains("name too long"), "{}", ran.stderr);
    }
}

/// The files below a folder, by name.
fn files(repository: &Repository, folder: &str) -> BTreeMap<String, String> {
    let Ok(entries) = std::fs::read_dir(repository.path(folder)) else { return BTreeMap::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.map(|name| (name.clone(), repository.read(&format!("{folder}/{name}")))).collect()
}

/// Twenty kills; `tests/chaos/run.sh` has many more, and also of imports and live runs.
fn killed() {
    let repository = Repository::small();
    let run = repository.read("golden/runs/legal/lease.json");
    let enter = |state: usize| {
        let text = if state == 0 { run.clone() } else { run.replace("\"P1\"", "\"P4\"") };
        repository.write("golden/runs/legal/lease.json", text);
    };
    let start = || {
        let mut command = program(&repository.path(""));
        command.args(["run", "--quiet", "-v", "--out", "out", "--update-baseline"]);
        let command = command.env("SOURCE_DATE_EPOCH", "1750000000");
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let all = || [files(&repository, "out"), files(&repository, "baselines")];
    // Both states twice, because a run is compared with the baseline of the one before it.
    let mut whole = Vec::new();
    let mut took = Duration::ZERO;
    for state in [0, 1, 0, 1, 0] {
        enter(state);
        let begun = Instant::now();
        assert!(start().wait().unwrap().code().is_some_and(|code| code < 2));
        took = begun.elapsed();
        whole.push(all());
        // The same state again: now its own baseline is there.
        start().wait().unwrap();
        whole.push(all());
    }
    for number in 0..20 {
        enter(number % 2);
        let mut child = start();
        thread::sleep(took.mul_f64(0.05 * (number as f64 + 1.0)));
        let _ = child.kill();
        child.wait().unwrap();
        for (index, found) in all().iter().enumerate() {
            assert_eq!(found.len(), whole[0][index].len(), "kill {number}: a file is lost or left over");
            for (name, text) in found {
                let known = whole.iter().any(|whole| whole[index].get(name) == Some(text));
                assert!(known, "kill {number}: {name} is neither old nor new");
            }
        }
    }
}
