//! A child process in its own process group; all of its processes end with it.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::descendants::descendants;
use super::{display_timeout, lasting};
use crate::model::{CallError, InputLimit, RunStatus};
use crate::text::line;

/// Bytes of stderr that are kept.
const KEPT: usize = 64 << 10;

/// Maximum bytes of stderr per sample; a process that writes more is ended.
pub const FLOOD: usize = InputLimit::COMPLAINTS.count();

/// A running process. Dropping it kills the process and everything that it started.
pub struct Process {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
    pub group: ProcessGroup,
}

/// A process and everything that it started.
#[derive(Debug, Clone, Copy)]
pub struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// Kills them all, including those that left the group. Output written before can still be read.
    pub fn kill(self) {
        if let Some(leader) = self.0 {
            // First, because processes whose parent has ended cannot be found.
            for process in descendants(leader) {
                let _ = kill_process(process, Signal::KILL);
            }
            // An error means that they have ended already.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// How a program is started.
#[derive(Clone)]
pub struct Launch {
    pub argv: Vec<String>,
    pub root: PathBuf,
    /// Its complete environment.
    pub env: Vec<(String, String)>,
}

impl Process {
    /// Starts a program.
    pub fn start(launch: &Launch) -> Result<Self, CallError> {
        let Launch { argv, root, env } = launch;
        let [program, arguments @ ..] = argv.as_slice() else {
            return Err(lasting("the command is empty".to_owned()));
        };
        // Otherwise the platform decides whether a relative path starts from this folder or the child's.
        let path = if program.contains('/') {
            root.join(program)
        } else {
            program.into()
        };
        let mut command = Command::new(path);
        command
            .args(arguments)
            .current_dir(root)
            .kill_on_drop(true)
            .process_group(0);
        // The program gets no key that is not passed to it explicitly.
        command
            .env_clear()
            .envs(env.iter().map(|(name, value)| (name, value)));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| lasting(format!("cannot start {}: {error}", line(program, 100))))?;
        let group = ProcessGroup(
            child
                .id()
                .and_then(|id| i32::try_from(id).ok())
                .and_then(Pid::from_raw),
        );
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Ok(Self {
            child,
            stdin,
            stdout,
            stderr,
            group,
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.group.kill();
    }
}

/// The failure of a program that took too long.
pub fn too_slow(call: Duration, stderr: &Complaints) -> CallError {
    let message = format!(
        "no answer within {}{}",
        display_timeout(call),
        stderr.last_words()
    );
    CallError {
        status: RunStatus::Timeout,
        ..lasting(message)
    }
    .charged()
}

/// The end of a process's stderr.
#[derive(Clone, Default)]
pub struct Complaints(Arc<Mutex<Tail>>);

#[derive(Default)]
struct Tail {
    kept: Vec<u8>,
    since: usize,
}

/// Whether a process may write more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputBudget {
    /// It is within the limit.
    Fine,
    /// It wrote more than [`FLOOD`].
    Flood,
}

impl Complaints {
    /// Reads stderr until it ends, so that the process never blocks. Kills the process if it writes too much.
    pub async fn listen(self, from: Option<ChildStderr>, group: ProcessGroup) -> OutputBudget {
        let Some(mut from) = from else {
            return OutputBudget::Fine;
        };
        let mut piece = vec![0; 16 << 10];
        loop {
            match from.read(&mut piece).await {
                Ok(0) | Err(_) => return OutputBudget::Fine,
                Ok(length) => {
                    if self.add(&piece[..length]) == OutputBudget::Flood {
                        group.kill();
                        return OutputBudget::Flood;
                    }
                }
            }
        }
    }

    fn add(&self, piece: &[u8]) -> OutputBudget {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.kept.extend_from_slice(piece);
        tail.since += piece.len();
        let more = tail.kept.len().saturating_sub(KEPT);
        tail.kept.drain(..more);
        if tail.since > FLOOD {
            OutputBudget::Flood
        } else {
            OutputBudget::Fine
        }
    }

    /// Discards the output about the previous sample.
    pub fn begin(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Tail::default();
    }

    /// The last 64 KiB.
    pub fn text(&self) -> String {
        let tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail.kept).into_owned()
    }

    /// The last three lines as a part of a sentence; empty if stderr is empty.
    pub fn last_words(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let last = lines[lines.len().saturating_sub(3)..].join(" | ");
        if last.is_empty() {
            String::new()
        } else {
            format!("; stderr ends with: {}", line(&last, 300))
        }
    }
}
