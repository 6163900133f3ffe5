//! A pool of persistent workers: one request line in, one answer line out, matched by id.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::spawn;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Instant, timeout, timeout_at};

use super::process::{Complaints, FLOOD, Launch, OutputBudget, Process, too_slow};
use super::{MAX_ANSWER_BYTES, lasting};
use crate::model::CallError;
use crate::text::line;

/// How long a worker is watched after its answer, to detect a second one.
const SETTLE: Duration = Duration::from_millis(20);

/// How long workers may take to end after their input is closed.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// The workers of one target. A worker that makes an error is ended, and the next request gets a new one.
pub struct Pool {
    launch: Launch,
    idle: Mutex<Vec<Worker>>,
    permits: Semaphore,
}

struct Worker {
    process: Process,
    stdin: ChildStdin,
    events: Receiver<WorkerMessage>,
    stderr: Complaints,
    /// The id of the last answered request.
    answered: Option<String>,
}

enum WorkerMessage {
    Line(Vec<u8>),
    /// A line that is too long.
    Endless,
    /// Too much output on stderr.
    Flood,
}

/// Why a worker gave no answer to a sample.
enum WorkerError {
    /// An error with this sample.
    Current(CallError),
    /// A late second answer to the previous sample; this sample can use another worker.
    Previous,
}

impl Pool {
    /// A pool of at most `workers` workers, started on demand.
    pub fn new(launch: Launch, workers: usize) -> Self {
        Self {
            launch,
            idle: Mutex::default(),
            permits: Semaphore::new(workers.max(1)),
        }
    }

    /// Sends the request to a free worker; returns its answer and what it wrote to stderr meanwhile.
    pub async fn answer(
        &self,
        id: &str,
        request: &str,
        call: Duration,
    ) -> (Result<Vec<u8>, CallError>, String) {
        let Ok(_permit) = self.permits.acquire().await else {
            return (Err(lasting("the pool is closed".to_owned())), String::new());
        };
        loop {
            let mut worker = match self.free() {
                Ok(worker) => worker,
                Err(fault) => return (Err(fault), String::new()),
            };
            worker.stderr.begin();
            let answer = match timeout(call, worker.ask(id, request)).await {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(WorkerError::Previous)) => continue,
                Ok(Err(WorkerError::Current(fault))) => Err(fault),
                Err(_) => Err(too_slow(call, &worker.stderr)),
            };
            let stderr = worker.stderr.text();
            if answer.is_ok() {
                self.idle
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(worker);
            }
            return (answer, stderr);
        }
    }

    /// An idle worker, or a new one.
    fn free(&self) -> Result<Worker, CallError> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(mut worker) = idle.pop() {
            if worker.is_quiet() {
                return Ok(worker);
            }
        }
        Worker::start(&self.launch)
    }

    /// Ends the workers: closes their input, then kills those that do not end soon.
    pub async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        let deadline = Instant::now() + END_TIMEOUT;
        let mut ending: Vec<Process> = Vec::new();
        for Worker { process, stdin, .. } in idle {
            drop(stdin);
            ending.push(process);
        }
        for process in &mut ending {
            let _ = timeout_at(deadline, process.child.wait()).await;
        }
    }
}

impl Worker {
    fn start(launch: &Launch) -> Result<Self, CallError> {
        let mut process = Process::start(launch)?;
        let (sender, events) = channel(1);
        let stderr = Complaints::default();
        let listening = stderr.clone().listen(process.stderr.take(), process.group);
        let alarm = sender.clone();
        spawn(async move {
            if listening.await == OutputBudget::Flood {
                let _ = alarm.send(WorkerMessage::Flood).await;
            }
        });
        if let Some(stdout) = process.stdout.take() {
            spawn(pass_on(stdout, sender));
        }
        let stdin = process
            .stdin
            .take()
            .ok_or_else(|| lasting("the worker has no input".to_owned()))?;
        Ok(Self {
            process,
            stdin,
            events,
            stderr,
            answered: None,
        })
    }

    /// Whether it is running and has sent nothing unrequested.
    fn is_quiet(&mut self) -> bool {
        self.events.is_empty()
            && !self.events.is_closed()
            && matches!(self.process.child.try_wait(), Ok(None))
    }

    async fn ask(&mut self, id: &str, request: &str) -> Result<Vec<u8>, WorkerError> {
        // A write error is ignored: reading the answer reports a worker that has ended.
        let _ = self.stdin.write_all(request.as_bytes()).await;
        let _ = self.stdin.write_all(b"\n").await;
        let _ = self.stdin.flush().await;
        let answer = match self.events.recv().await {
            Some(WorkerMessage::Line(line)) => line,
            event => return Err(WorkerError::Current(self.failed(event).await)),
        };
        match id_of(&answer) {
            Some(answered_id) if answered_id == id => {}
            Some(answered_id) if Some(&answered_id) == self.answered.as_ref() => {
                return Err(WorkerError::Previous);
            }
            Some(answered_id) => {
                let message = format!(
                    "the worker answered request {} instead",
                    line(&answered_id, 100)
                );
                return Err(self.its(message));
            }
            None => {
                let start = line(
                    &String::from_utf8_lossy(&answer[..answer.len().min(800)]),
                    200,
                );
                return Err(self.its(format!(
                    "the worker's line is not an answer with an id: {start}"
                )));
            }
        }
        match timeout(SETTLE, self.events.recv()).await {
            // No second line, or the worker ended after its answer.
            Err(_) | Ok(None) => {}
            Ok(Some(WorkerMessage::Line(more))) if id_of(&more).as_deref() == Some(id) => {
                return Err(self.its("the worker answered twice".to_owned()));
            }
            Ok(Some(WorkerMessage::Line(more))) => {
                let start = line(&String::from_utf8_lossy(&more[..more.len().min(800)]), 200);
                return Err(self.its(format!("the worker printed more after its answer: {start}")));
            }
            Ok(event) => return Err(WorkerError::Current(self.failed(event).await)),
        }
        self.answered = Some(id.to_owned());
        Ok(answer)
    }

    fn its(&self, message: String) -> WorkerError {
        WorkerError::Current(lasting(format!("{message}{}", self.stderr.last_words())))
    }

    /// The failure for an event that is not a line.
    async fn failed(&mut self, event: Option<WorkerMessage>) -> CallError {
        let message = match event {
            Some(WorkerMessage::Flood) => {
                format!("the worker wrote more than {} MiB to stderr", FLOOD >> 20)
            }
            Some(WorkerMessage::Endless) => {
                format!(
                    "the worker printed a line of more than {} MiB",
                    MAX_ANSWER_BYTES >> 20
                )
            }
            Some(WorkerMessage::Line(_)) | None => {
                match timeout(END_TIMEOUT, self.process.child.wait()).await {
                    Ok(Ok(status)) => format!("the worker ended with {status}"),
                    Ok(Err(_)) | Err(_) => "the worker closed its output".to_owned(),
                }
            }
        };
        lasting(format!("{message}{}", self.stderr.last_words()))
    }
}

/// Forwards stdout line by line, without blank lines.
async fn pass_on(stdout: ChildStdout, sender: Sender<WorkerMessage>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut bytes = Vec::new();
        let mut limited = (&mut stdout).take(MAX_ANSWER_BYTES as u64 + 1);
        let event = match limited.read_until(b'\n', &mut bytes).await {
            Ok(0) | Err(_) => return,
            Ok(length) if length > MAX_ANSWER_BYTES => WorkerMessage::Endless,
            Ok(_) if bytes.trim_ascii().is_empty() => continue,
            Ok(_) => WorkerMessage::Line(bytes),
        };
        let last = matches!(event, WorkerMessage::Endless);
        if sender.send(event).await.is_err() || last {
            return;
        }
    }
}

fn id_of(answer: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct AnswerId {
        id: String,
    }
    serde_json::from_slice(answer)
        .ok()
        .map(|AnswerId { id }| id)
}
