//! The command line of git, which runs no hook, filter or file monitor, contacts no remote, and reads only the repository's own settings.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Context;

/// Timeout of one git command, and of one answer of a git that gives several.
pub(super) const TIMEOUTS: Duration = Duration::from_secs(60);

/// A git command for the repository at this folder, without its arguments.
pub(super) fn git_command(root: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(root)
        .args(["--no-replace-objects", "--no-pager"]);
    let settings = [
        "core.fsmonitor=false",
        "core.hooksPath=/dev/null",
        "protocol.allow=never",
        "safe.bareRepository=explicit",
    ];
    for setting in settings {
        command.args(["-c", setting]);
    }
    // Pass only what git needs to find itself and its helpers; nothing may redirect it.
    let kept = ["PATH", "SYSTEMROOT", "TEMP", "TMP"]
        .into_iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    let kept: Vec<_> = kept.collect();
    command
        .env_clear()
        .envs(kept)
        .env("GIT_DIR", root.join(".git"))
        .envs([
            ("GIT_ALLOW_PROTOCOL", ""),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("LC_ALL", "C"),
        ]);
    // Do not search folders above the repository.
    command.envs(
        root.parent()
            .map(|above| ("GIT_CEILING_DIRECTORIES", above)),
    );
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    // Ctrl-C reaches only this process, which ends git itself and reports the interruption.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// The complete output of a git command in the repository at this folder.
pub(super) fn git_output(root: &Path, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
    let mut child = git_command(root)
        .args(arguments)
        .spawn()
        .context("git cannot be started")?;
    let mut stdout = child.stdout.take().context("git has no output")?;
    let (sender, receiver) = mpsc::channel();
    let started = thread::Builder::new().spawn(move || {
        let mut out = Vec::new();
        let read = stdout.read_to_end(&mut out);
        // The receiver is gone after a timeout.
        let _ = sender.send(read.map(|_| out));
    });
    let out = receiver.recv_timeout(TIMEOUTS);
    if out.is_err() {
        // A hanging git must not block this process.
        let _ = child.kill();
    }
    let status = child.wait().context("while waiting for git")?;
    started.context("the machine starts no thread")?;
    let out =
        out.map_err(|_| anyhow::anyhow!("git {} took longer than {TIMEOUTS:?}", arguments[0]))??;
    anyhow::ensure!(status.success(), "git {} failed", arguments[0]);
    Ok(out)
}
