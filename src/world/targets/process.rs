//! A child process with a group of its own, which ends with it.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::descendants::descendants;
use super::{display_timeout, lasting};
use crate::model::{CallError, Retry, RunStatus};
use crate::text::line;

/// How much of stderr is kept.
const KEPT: usize = 64 << 10;

/// How much a process may write to stderr about one sample before it is ended.
pub const FLOOD: usize = 16 << 20;

/// A running process. When this goes, so does it, with everything that it started.
pub struct Process {
    /// The child itself.
    pub child: Child,
    /// Its input.
    pub stdin: Option<ChildStdin>,
    /// Its output.
    pub stdout: Option<ChildStdout>,
    /// What it complains about.
    pub stderr: Option<ChildStderr>,
    /// Its group.
    pub group: ProcessGroup,
}

/// A process and everything that it started.
#[derive(Debug, Clone, Copy)]
pub struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// Ends them all, those too that left the group; what they wrote can still be read.
    pub fn kill(self) {
        if let Some(leader) = self.0 {
            // Looked for first: whose parent has ended is not found any more.
            for process in descendants(leader) {
                let _ = kill_process(process, Signal::KILL);
            }
            // Gone already: that is what was wanted.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// A program as it is started.
#[derive(Clone)]
pub struct Launch {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The folder that it runs in.
    pub root: PathBuf,
    /// All that it sees of the environment.
    pub env: Vec<(String, String)>,
}

impl Process {
    /// Starts a program.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub fn start(launch: &Launch) -> Result<Self, CallError> {
        let Launch { argv, root, env } = launch;
        let [program, arguments @ ..] = argv.as_slice() else { return Err(lasting("the command is empty".to_owned())) };
        // Whether a relative path counts from this folder or the child's is the platform's choice otherwise.
        let path = if program.contains('/') { root.join(program) } else { program.into() };
        let mut command = Command::new(path);
        command.args(arguments).current_dir(root).kill_on_drop(true).process_group(0);
        // A key that the program was not meant to have is not in its environment either.
        command.env_clear().envs(env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| lasting(format!("cannot start {}: {error}", line(program, 100))))?;
        let group = ProcessGroup(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw));
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Ok(Self { child, stdin, stdout, stderr, group })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.group.kill();
    }
}

/// The fault of a program that took too long.
pub fn too_slow(call: Duration, said: &Complaints) -> CallError {
    let what = format!("no answer within {}{}", display_timeout(call), said.last_words());
    CallError { status: RunStatus::Timeout, what, retry: Retry::Never }
}

/// The end of what a process wrote to stderr.
#[derive(Clone, Default)]
pub struct Complaints(Arc<Mutex<Tail>>);

#[derive(Default)]
struct Tail {
    kept: Vec<u8>,
    since: usize,
}

/// Whether a process may go on writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputBudget {
    /// It may.
    Fine,
    /// It has written far more than anybody will read.
    Flood,
}

impl Complaints {
    /// Takes everything that comes, so that the process never waits for a reader. Ends with it; at a flood it ends the process.
    pub async fn listen(self, from: Option<ChildStderr>, group: ProcessGroup) -> OutputBudget {
        let Some(mut from) = from else { return OutputBudget::Fine };
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
        if tail.since > FLOOD { OutputBudget::Flood } else { OutputBudget::Fine }
    }

    /// Forgets what was said about the sample before.
    pub fn begin(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Tail::default();
    }

    /// The last 64 KiB.
    pub fn text(&self) -> String {
        let tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail.kept).into_owned()
    }

    /// A sentence with the last words, where there are any.
    pub fn last_words(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines[lines.len().saturating_sub(3)..].join(" | ");
        if last.is_empty() { String::new() } else { format!("; stderr ends with: {}", line(&last, 300)) }
    }
}
