//! One process per sample: the request on stdin, the run record on stdout.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::spawn;
use tokio::time::timeout;

use super::process::{Complaints, FLOOD, Launch, OutputBudget, Process, ProcessGroup};
use super::{MAX_ANSWER_BYTES, lasting};
use crate::model::CallError;

/// How long to wait for the output of an ended process, which another process may have inherited.
const DRAIN: Duration = Duration::from_secs(2);

/// Runs a program on a request and returns its output.
///
/// # Errors
/// It cannot be started, failed, or wrote too much.
pub async fn printed(
    launch: &Launch,
    request: String,
    stderr: &Complaints,
) -> Result<Vec<u8>, CallError> {
    let mut process = Process::start(launch)?;
    let group = process.group;
    let writer = spawn(ask(process.stdin.take(), request));
    let listener = spawn(stderr.clone().listen(process.stderr.take(), group));
    let reader = spawn(read_stdout(process.stdout.take(), group));
    let ended = process.child.wait().await;
    // Its remaining children would keep the output open.
    group.kill();
    writer.abort();
    if let Ok(Ok(OutputBudget::Flood)) = timeout(DRAIN, listener).await {
        return Err(lasting(format!(
            "the program wrote more than {} MiB to stderr{}",
            FLOOD >> 20,
            stderr.last_words()
        )));
    }
    let output = match timeout(DRAIN, reader).await {
        Ok(Ok(Some(output))) => output,
        Ok(Ok(None)) => {
            return Err(lasting(format!(
                "the program printed more than {} MiB",
                MAX_ANSWER_BYTES >> 20
            )));
        }
        Ok(Err(_)) | Err(_) => {
            return Err(lasting(
                "the program ended, but its output stayed open".to_owned(),
            ));
        }
    };
    match ended {
        Ok(status) if status.success() => Ok(output),
        Ok(status) => Err(lasting(format!(
            "the program ended with {status}{}",
            stderr.last_words()
        ))),
        Err(error) => Err(lasting(format!("the program is lost: {error}"))),
    }
}

/// Writes the request. Errors are ignored, because a program may end without reading it; its output decides.
async fn ask(stdin: Option<ChildStdin>, request: String) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(request.as_bytes()).await;
        let _ = stdin.write_all(b"\n").await;
        let _ = stdin.shutdown().await;
    }
}

/// The complete output; `None` if it is too large.
async fn read_stdout(stdout: Option<ChildStdout>, group: ProcessGroup) -> Option<Vec<u8>> {
    let mut output = Vec::new();
    let mut stdout = stdout?.take(MAX_ANSWER_BYTES as u64 + 1);
    // Output before a read error is still used.
    let _ = stdout.read_to_end(&mut output).await;
    if output.len() > MAX_ANSWER_BYTES {
        group.kill();
        return None;
    }
    Some(output)
}
