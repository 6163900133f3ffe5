//! A pool of persistent workers: a request line in, an answer line out, matched by id.

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

/// How long a worker is listened to after its answer: one that answers twice mostly does so in one breath.
const SETTLE: Duration = Duration::from_millis(20);

/// How long workers may take to end when their input has ended.
const FAREWELL: Duration = Duration::from_secs(2);

/// The workers of one target. A worker that did anything wrong is ended, and the next request gets a new one.
pub struct Pool {
    launch: Launch,
    idle: Mutex<Vec<Worker>>,
    seats: Semaphore,
}

/// A process that waits for its next request.
struct Worker {
    process: Process,
    stdin: ChildStdin,
    heard: Receiver<WorkerMessage>,
    said: Complaints,
    /// The request that it answered last.
    answered: Option<String>,
}

/// What comes from a worker.
enum WorkerMessage {
    /// A line.
    Line(Vec<u8>),
    /// A line without an end.
    Endless,
    /// No end of complaints.
    Flood,
}

/// Why a worker's sample has no answer.
enum WorkerError {
    /// The worker did wrong by this sample.
    Its(CallError),
    /// The worker did wrong by the sample before, and this one can have another.
    Before,
}

impl Pool {
    /// A pool of at most this many workers; they are started when they are needed.
    pub fn new(launch: Launch, workers: usize) -> Self {
        Self { launch, idle: Mutex::default(), seats: Semaphore::new(workers.max(1)) }
    }

    /// Waits for a free worker, and asks it; beside what it answered is what it wrote to stderr meanwhile.
    pub async fn answer(&self, id: &str, request: &str, call: Duration) -> (Result<Vec<u8>, CallError>, String) {
        let Ok(_seat) = self.seats.acquire().await else {
            return (Err(lasting("the pool is closed".to_owned())), String::new());
        };
        loop {
            let mut worker = match self.free() {
                Ok(worker) => worker,
                Err(fault) => return (Err(fault), String::new()),
            };
            worker.said.begin();
            let answer = match timeout(call, worker.ask(id, request)).await {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(WorkerError::Before)) => continue,
                Ok(Err(WorkerError::Its(fault))) => Err(fault),
                Err(_) => Err(too_slow(call, &worker.said)),
            };
            let said = worker.said.text();
            if answer.is_ok() {
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
            }
            return (answer, said);
        }
    }

    /// A worker that waits, or a new one.
    fn free(&self) -> Result<Worker, CallError> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(mut worker) = idle.pop() {
            if worker.is_quiet() {
                return Ok(worker);
            }
        }
        Worker::start(&self.launch)
    }

    /// Ends the workers: their input ends, and what has not ended soon after is killed.
    pub async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        let deadline = Instant::now() + FAREWELL;
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
        let (tell, heard) = channel(1);
        let said = Complaints::default();
        let listening = said.clone().listen(process.stderr.take(), process.group);
        let alarm = tell.clone();
        spawn(async move {
            if listening.await == OutputBudget::Flood {
                let _ = alarm.send(WorkerMessage::Flood).await;
            }
        });
        if let Some(stdout) = process.stdout.take() {
            spawn(pass_on(stdout, tell));
        }
        let stdin = process.stdin.take().ok_or_else(|| lasting("the worker has no input".to_owned()))?;
        Ok(Self { process, stdin, heard, said, answered: None })
    }

    /// Whether it says nothing that nobody asked for, and still lives.
    fn is_quiet(&mut self) -> bool {
        self.heard.is_empty() && !self.heard.is_closed() && matches!(self.process.child.try_wait(), Ok(None))
    }

    async fn ask(&mut self, id: &str, request: &str) -> Result<Vec<u8>, WorkerError> {
        // A worker that is gone is found so when its answer is waited for.
        let _ = self.stdin.write_all(request.as_bytes()).await;
        let _ = self.stdin.write_all(b"\n").await;
        let _ = self.stdin.flush().await;
        let answer = match self.heard.recv().await {
            Some(WorkerMessage::Line(line)) => line,
            other => return Err(WorkerError::Its(self.failed(other).await)),
        };
        match id_of(&answer) {
            Some(found) if found == id => {}
            Some(found) if Some(&found) == self.answered.as_ref() => return Err(WorkerError::Before),
            Some(found) => {
                let what = format!("the worker answered request {} in its place", line(&found, 100));
                return Err(self.its(what));
            }
            None => {
                let start = line(&String::from_utf8_lossy(&answer[..answer.len().min(800)]), 200);
                return Err(self.its(format!("the worker's line is no answer with an id: {start}")));
            }
        }
        match timeout(SETTLE, self.heard.recv()).await {
            // It is quiet, or has ended after its answer.
            Err(_) | Ok(None) => {}
            Ok(Some(WorkerMessage::Line(more))) if id_of(&more).as_deref() == Some(id) => {
                return Err(self.its("the worker answered twice".to_owned()));
            }
            Ok(Some(WorkerMessage::Line(more))) => {
                let start = line(&String::from_utf8_lossy(&more[..more.len().min(800)]), 200);
                return Err(self.its(format!("the worker went on after its answer: {start}")));
            }
            Ok(other) => return Err(WorkerError::Its(self.failed(other).await)),
        }
        self.answered = Some(id.to_owned());
        Ok(answer)
    }

    fn its(&self, what: String) -> WorkerError {
        WorkerError::Its(lasting(format!("{what}{}", self.said.last_words())))
    }

    /// The fault where something else came than a line.
    async fn failed(&mut self, heard: Option<WorkerMessage>) -> CallError {
        let what = match heard {
            Some(WorkerMessage::Flood) => format!("the worker wrote more than {} MiB to stderr", FLOOD >> 20),
            Some(WorkerMessage::Endless) => {
                format!("the worker printed a line of more than {} MiB", MAX_ANSWER_BYTES >> 20)
            }
            Some(WorkerMessage::Line(_)) | None => match timeout(FAREWELL, self.process.child.wait()).await {
                Ok(Ok(status)) => format!("the worker ended with {status}"),
                Ok(Err(_)) | Err(_) => "the worker closed its output".to_owned(),
            },
        };
        lasting(format!("{what}{}", self.said.last_words()))
    }
}

/// Passes on line by line; blank ones say nothing.
async fn pass_on(stdout: ChildStdout, tell: Sender<WorkerMessage>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut found = Vec::new();
        let mut limited = (&mut stdout).take(MAX_ANSWER_BYTES as u64 + 1);
        let heard = match limited.read_until(b'\n', &mut found).await {
            Ok(0) | Err(_) => return,
            Ok(length) if length > MAX_ANSWER_BYTES => WorkerMessage::Endless,
            Ok(_) if found.trim_ascii().is_empty() => continue,
            Ok(_) => WorkerMessage::Line(found),
        };
        let last = matches!(heard, WorkerMessage::Endless);
        if tell.send(heard).await.is_err() || last {
            return;
        }
    }
}

/// The id of an answer.
fn id_of(answer: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct AnswerId {
        id: String,
    }
    serde_json::from_slice(answer).ok().map(|AnswerId { id }| id)
}
