//! Odd machines: few files, no variables, odd clocks, odd paths, and commands that are killed while they write.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::cases::copy;
use crate::golden_changes::{commit_all, git};
#[cfg(feature = "models")]
use crate::repository::RUN;
use crate::repository::{Ran, Repository, binary, program, ran};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "too few file descriptors are the machine's fault, and exit with 3",
            few_files,
        ),
        #[cfg(feature = "models")]
        trial(
            "too few file descriptors end a live run with an error",
            few_files_live,
        ),
        #[cfg(feature = "models")]
        trial(
            "a full disk leaves the recordings that a live run would replace",
            full_disk_live,
        ),
        trial(
            "where no process may be started, goldgate grades alone, and says so where it needs one",
            no_processes,
        ),
        trial(
            "what is written is read again whatever the umask says",
            umasks,
        ),
        trial(
            "where nothing may be written, the error names the file and nothing is lost",
            read_only,
        ),
        trial("closed streams stop no command", closed_streams),
        trial(
            "a .git that is a file, a pipe or garbage stops no run without a base commit",
            odd_git,
        ),
        trial("a small stack is enough", small_stack),
        trial(
            "with too little memory a command ends with an error and leaves the baseline old or new",
            little_memory,
        ),
        trial(
            "a machine without HOME, TMPDIR, PATH and locale is enough",
            bare,
        ),
        trial("more threads than are useful are not started", threads),
        trial("in 1970 and in 2100 the verdict is the same", clocks),
        trial(
            "a repository may lie below a path that is not UTF-8, and a file in it is named",
            odd_paths,
        ),
        trial(
            "a path that is too long for the system is refused with a line",
            long_paths,
        ),
        trial(
            "a command that is killed while it writes leaves every file old or new",
            killed,
        ),
    ]
}

/// Runs the program in a shell that limits it first.
fn limited(repository: &Repository, limit: &str, arguments: &str) -> Ran {
    let goldgate = program(&repository.path(""));
    let script = format!(
        "{limit}; exec {} {arguments}",
        goldgate.get_program().to_str().unwrap()
    );
    let mut shell = Command::new("/bin/sh");
    ran(shell
        .args(["-c", &script])
        .current_dir(repository.path(""))
        .stdin(Stdio::null()))
}

fn few_files() {
    let repository = Repository::small();
    let ran = limited(&repository, "ulimit -n 5", "run");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("too many open files") && ran.stderr.contains("[machine]"),
        "{}",
        ran.stderr
    );
    let ran = limited(&repository, "ulimit -n 16", "run");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// The small repository with an agent that is started for each sample.
#[cfg(feature = "models")]
fn live() -> Repository {
    let repository = Repository::small();
    repository.write(
        "agent.sh",
        format!(
            "cat > /dev/null\ncat <<'END'\n{}END\n",
            RUN.replace('\n', " ") + "\n"
        ),
    );
    repository.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    tier: [deterministic, model]\n",
    );
    repository.replace(
        "goldgate.yaml",
        "runs }, ",
        "runs }, model: { target: mine }, ",
    );
    let target = "targets:\n  mine: { command: [\"/bin/sh\", \"agent.sh\"], protocol: oneshot }\n";
    repository.write("goldgate.yaml", repository.read("goldgate.yaml") + target);
    repository
}

/// tokio panics if it cannot open the sockets of its signal handler.
#[cfg(feature = "models")]
fn few_files_live() {
    let repository = live();
    let mut ended = Vec::new();
    for files in 5..20 {
        let ran = limited(
            &repository,
            &format!("ulimit -n {files}"),
            "run --tier model --blocking",
        );
        assert!(
            [0, 3].contains(&ran.code),
            "{files} files: {} {}",
            ran.code,
            ran.stderr
        );
        assert!(
            !ran.stderr.contains("panicked"),
            "{files} files: {}",
            ran.stderr
        );
        ended.push(ran.code);
    }
    // From too few to start with to enough.
    assert!(
        ended.first() == Some(&3) && ended.last() == Some(&0),
        "{ended:?}"
    );
}

/// No file may have more than 512 bytes; the system then refuses to write as it does on a full disk.
#[cfg(feature = "models")]
fn full_disk_live() {
    let repository = live();
    let recording = repository.read("golden/runs/legal/lease.json");
    let record = "run --tier model --samples 3 --record golden/runs";
    let refused = limited(&repository, "trap '' XFSZ; ulimit -f 1", record);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("while writing "),
        "{}",
        refused.stderr
    );
    assert_eq!(repository.read("golden/runs/legal/lease.json"), recording);
    assert!(!repository.path("golden/runs/legal/lease").exists());
    let ran = limited(&repository, "true", record);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(repository.path("golden/runs/legal/lease/2.json").exists());
}

/// The program as a user who has no rights beyond those of other users; root has no limits. Returns `None` where neither is possible.
fn unprivileged(repository: &Repository, limit: &str, arguments: &str) -> Option<Ran> {
    let folder = repository.path("");
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "bash"]);
    if rustix::process::geteuid().as_raw() != 0 {
        command = Command::new("bash");
    } else if !Command::new("chown")
        .args(["-R", "65534:65534"])
        .arg(&folder)
        .status()
        .ok()?
        .success()
    {
        return None;
    }
    let script = format!("{limit}; exec {} {arguments}", binary().to_str().unwrap());
    let ran = ran(command
        .args(["-c", &script])
        .current_dir(&folder)
        .env_clear()
        .stdin(Stdio::null()));
    // 126: the other user must not start the program.
    (ran.code != 126).then_some(ran)
}

#[allow(clippy::print_stderr)]
fn skipped() {
    eprintln!("skipped: no other user can start the program here");
}

fn no_processes() {
    let repository = Repository::small();
    repository.remove(".git");
    git(&repository.path(""), &["init", "--quiet"]);
    commit_all(&repository);
    for (arguments, code) in [
        ("run --update-baseline", 0),
        ("run", 0),
        ("check", 0),
        ("run --base HEAD", 3),
    ] {
        let Some(ran) = unprivileged(&repository, "ulimit -u 0", arguments) else {
            return skipped();
        };
        assert_eq!(ran.code, code, "{arguments}: {}", ran.stderr);
        assert!(
            code == 0 || ran.stderr.contains("git cannot be started: "),
            "{arguments}: {}",
            ran.stderr
        );
    }
}

fn umasks() {
    for umask in ["777", "222", "077", "000"] {
        let repository = Repository::small();
        for arguments in ["run --update-baseline --out out", "run", "report out"] {
            let Some(ran) = unprivileged(&repository, &format!("umask {umask}"), arguments) else {
                return skipped();
            };
            assert_eq!(ran.code, 0, "umask {umask}: {arguments}: {}", ran.stderr);
        }
    }
}

fn read_only() {
    for (folder, arguments, file) in [
        (
            "baselines",
            "run --update-baseline",
            "baselines/latest.json",
        ),
        ("out", "run --out out", "out/report.json"),
        (
            "golden/runs/legal",
            "import openai chats.jsonl --out golden/runs --agent legal --case lease --force",
            "golden/runs/legal/lease.json",
        ),
    ] {
        let repository = Repository::small();
        let chat = "[{\"role\": \"user\", \"content\": \"x\"}, {\"role\": \"assistant\", \"content\": \"y\"}]\n";
        repository.write("chats.jsonl", chat);
        assert_eq!(
            repository
                .goldgate(&["run", "--update-baseline", "--out", "out"])
                .code,
            0
        );
        let before = repository.read(file);
        let allow = |mode: u32| {
            fs::set_permissions(repository.path(folder), Permissions::from_mode(mode)).unwrap()
        };
        allow(0o555);
        let ran = unprivileged(&repository, "true", arguments);
        allow(0o755);
        let Some(ran) = ran else { return skipped() };
        assert_eq!(ran.code, 3, "{arguments}: {}", ran.stderr);
        let words = format!("while writing {file}: Permission denied");
        assert!(ran.stderr.contains(&words), "{arguments}: {}", ran.stderr);
        assert_eq!(repository.read(file), before, "{arguments}");
    }
}

fn closed_streams() {
    let repository = Repository::small();
    for streams in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        for arguments in ["run --update-baseline --out out", "check", "run --quiet"] {
            let ran = limited(&repository, "true", &format!("{arguments} {streams}"));
            assert_eq!(ran.code, 0, "{arguments} {streams}: {}", ran.stderr);
        }
        assert!(
            repository.read("baselines/latest.json").ends_with("}\n"),
            "{streams}"
        );
    }
}

fn odd_git() {
    for place in [".git", ".git/HEAD", ".git/config", ".git/objects"] {
        for odd in [
            "printf garbage >",
            "printf 'gitdir: /nowhere' >",
            "mkfifo",
            "ln -s nowhere",
        ] {
            // git waits for a pipe in its folder, and goldgate gives it up after a minute.
            if odd == "mkfifo" && place != ".git" {
                continue;
            }
            let repository = Repository::small();
            repository.remove(".git");
            git(&repository.path(""), &["init", "--quiet"]);
            commit_all(&repository);
            let script = format!("rm -r {place}; {odd} {place}");
            let made = Command::new("sh")
                .args(["-c", &script])
                .current_dir(repository.path(""))
                .status()
                .unwrap();
            assert!(made.success(), "{script}");
            for (arguments, codes) in [
                (&["run"][..], &[0][..]),
                (&["check"], &[0]),
                (&["run", "--base", "HEAD"], &[0, 3]),
            ] {
                let mut command = Command::new("timeout");
                command
                    .arg("20")
                    .arg(binary())
                    .args(arguments)
                    .current_dir(repository.path(""))
                    .env_clear();
                let ran = ran(command
                    .env("PATH", std::env::var_os("PATH").unwrap_or_default())
                    .stdin(Stdio::null()));
                assert!(
                    codes.contains(&ran.code),
                    "{script}: {arguments:?}: {} {}",
                    ran.code,
                    ran.stderr
                );
                let is_said = ran
                    .stderr
                    .contains("--base HEAD: git does not know this commit here");
                assert!(
                    ran.code == 0 || is_said,
                    "{script}: {arguments:?}: {}",
                    ran.stderr
                );
            }
        }
    }
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
        let ran = limited(
            &repository,
            &format!("ulimit -v {limit}"),
            "run --update-baseline",
        );
        // -1: ended by a signal, as the runtime does if it cannot start a thread or get memory.
        assert!(
            [0, 3, 127, -1].contains(&ran.code),
            "{limit} kB: {} {}",
            ran.code,
            ran.stderr
        );
        assert!(
            ran.code != 3 || ran.stderr.contains("[machine]"),
            "{limit} kB: {}",
            ran.stderr
        );
        refused += usize::from(ran.code != 0);
        let now = repository.read("baselines/latest.json");
        // The memory may end after the baseline was written.
        assert!(
            now == before || now.ends_with("}\n"),
            "{limit} kB: the baseline is {now}"
        );
    }
    assert!(refused > 0, "no limit was too small");
}

fn bare() {
    let repository = Repository::small();
    for variables in [
        &[][..],
        &[("LANG", "C"), ("LC_ALL", "C")],
        &[("HOME", "/nowhere"), ("TMPDIR", "/nowhere")],
    ] {
        let mut command = program(&repository.path(""));
        let ran = ran(command.env_clear().envs(variables.iter().copied()).args([
            "run",
            "--update-baseline",
            "--out",
            "out",
        ]));
        assert_eq!(ran.code, 0, "{variables:?}: {}", ran.stderr);
    }
}

fn threads() {
    let begun = Instant::now();
    let ran = Repository::small().goldgate_with(&["run"], &[("RAYON_NUM_THREADS", "100000")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
}

fn clocks() {
    let repository = Repository::small();
    let times = ["0", "2147483648", "253402207200", "4102444800"];
    for time in times {
        let ran = repository.goldgate_with(
            &["run", "--update-baseline"],
            &[("SOURCE_DATE_EPOCH", time)],
        );
        assert_eq!(ran.code, 0, "{time}: {}", ran.stderr);
    }
    assert!(
        repository
            .read("baselines/latest.json")
            .contains("\"captured_at\": \"2100-01-01T00:00:00Z\"")
    );
}

fn odd_paths() {
    let repository = Repository::small();
    let below = repository.path("").join(OsStr::from_bytes(b"w\xff"));
    fs::create_dir_all(below.join(".git")).unwrap();
    for part in ["golden", "prompts"] {
        copy(&repository.path(part), &below.join(part));
    }
    fs::copy(
        repository.path("goldgate.yaml"),
        below.join("goldgate.yaml"),
    )
    .unwrap();
    let outcome = ran(program(&below).args(["run", "--update-baseline", "--out", "out"]));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(below.join("out/report.json").exists() && below.join("baselines/latest.json").exists());
    fs::write(
        below
            .join("golden/contracts")
            .join(OsStr::from_bytes(b"a\xff.md")),
        "x",
    )
    .unwrap();
    let outcome = ran(program(&below).arg("run"));
    assert_eq!(outcome.code, 2);
    assert!(
        outcome
            .stderr
            .contains("golden/contracts: the name \"a\\xFF.md\" is not UTF-8"),
        "{}",
        outcome.stderr
    );
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
        assert!(
            ran.stderr.to_lowercase().contains("name too long"),
            "{}",
            ran.stderr
        );
    }
}

/// The files below a folder, by name.
fn files(repository: &Repository, folder: &str) -> BTreeMap<String, String> {
    let Ok(entries) = fs::read_dir(repository.path(folder)) else {
        return BTreeMap::new();
    };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .map(|name| (name.clone(), repository.read(&format!("{folder}/{name}"))))
        .collect()
}

/// Twenty kills; `tests/chaos/run.sh` has many more, and also of imports and live runs.
fn killed() {
    let repository = Repository::small();
    let run = repository.read("golden/runs/legal/lease.json");
    let enter = |state: usize| {
        let text = if state == 0 {
            run.clone()
        } else {
            run.replace("\"P1\"", "\"P4\"")
        };
        repository.write("golden/runs/legal/lease.json", text);
    };
    let start = || {
        let mut command = program(&repository.path(""));
        command.args(["run", "--quiet", "-v", "--out", "out", "--update-baseline"]);
        let command = command.env("SOURCE_DATE_EPOCH", "1750000000");
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
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
            assert_eq!(
                found.len(),
                whole[0][index].len(),
                "kill {number}: a file is lost or left over"
            );
            for (name, text) in found {
                let known = whole
                    .iter()
                    .any(|whole| whole[index].get(name) == Some(text));
                assert!(known, "kill {number}: {name} is neither old nor new");
            }
        }
    }
}
