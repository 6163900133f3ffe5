//! The command line of git, which runs no hook, filter or file monitor, contacts no remote, and reads only the repository's own settings.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Timeout of one git command, and of one answer of a git that gives several.
pub(super) const TIMEOUTS: Duration = Duration::from_secs(60);

/// A git command for the repository at this folder, without its arguments.
pub(super) fn git_command(root: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args(["--no-replace-objects", "--no-pager"]);
    let settings =
        ["core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never", "safe.bareRepository=explicit"];
    for setting in settings {
        command.args(["-c", setting]);
    }
    // Pass only what git needs to find itself and its helpers; nothing may redirect it.
    let kept =
        ["PATH", "SYSTEMROOT", "TEMP", "TMP"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let kept: Vec<_> = kept.collect();
    command.env_clear().envs(kept).env("GIT_DIR", root.join(".git")).envs([
        ("GIT_ALLOW_PROTOCOL", ""),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("LC_ALL", "C"),
    ]);
    // Do not search folders above the repository.
    command.envs(root.parent().map(|above| ("GIT_CEILING_DIRECTORIES", above)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // Ctrl-C reaches only this process, which ends git itself and reports the interruption.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}
