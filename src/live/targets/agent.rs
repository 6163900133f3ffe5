//! An agent's own program: a process, or an HTTP server that takes requests as POST.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Url};
use serde::de::IgnoredAny;
use tokio::time::timeout;

use super::capture::{CapturedAgent, RecordedSamples, UpstreamChoice};
use super::http_request::TargetRequest;
use super::pool::Pool;
use super::process::{Complaints, Launch, too_slow};
use super::{Timeouts, Unopened, lasting, oneshot};
use crate::format::request_v1;
use crate::model::{CallError, Protocol, SampleRequest, Target, Transport};
use crate::text::line;
use crate::world::env::Env;
use crate::world::web::client_for_targets;

/// A program that answers requests.
pub struct AgentProgram {
    means: Means,
    timeouts: Timeouts,
    complaints: Mutex<BTreeMap<String, String>>,
}

enum Means {
    Http { client: Client, url: Url },
    Oneshot(Launch),
    Jsonl(Pool),
    Captured(CapturedAgent),
}

/// Where the model calls of a captured agent are answered.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelAnswers {
    /// By this server, and recorded.
    Server(UpstreamChoice),
    /// From recordings; no model is called.
    Recorded(RecordedSamples),
}

impl fmt::Debug for AgentProgram {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Agent").finish_non_exhaustive()
    }
}

impl AgentProgram {
    /// Opens a target that is a program. Programs run in `root`, the repository's folder. Nothing is started yet.
    pub fn open(target: &Target, root: &Path, env: &Env) -> Result<Self, Unopened> {
        Self::open_answered(
            target,
            root,
            env,
            ModelAnswers::Server(UpstreamChoice::Usual),
        )
    }

    /// The same, for a captured agent whose model calls are answered like this.
    pub fn open_answered(
        target: &Target,
        root: &Path,
        env: &Env,
        answers: ModelAnswers,
    ) -> Result<Self, Unopened> {
        let means = match &target.transport {
            Transport::Http(address) => http(address)?,
            Transport::Command {
                argv,
                protocol: Protocol::Oneshot,
                env: names,
            } => Means::Oneshot(launch(argv, root, env.passed_on(names))),
            Transport::Command {
                argv,
                protocol: Protocol::Jsonl,
                env: names,
            } => {
                let workers = target.concurrency.map_or(1, |workers| workers as usize);
                let launch = launch(argv, root, env.passed_on(names));
                Means::Jsonl(Pool::new(launch, workers))
            }
            Transport::Command {
                argv,
                protocol: Protocol::Captured(source),
                env: names,
            } => match answers {
                ModelAnswers::Server(upstream) => Means::Captured(CapturedAgent::recording(
                    launch(argv, root, env.passed_on(names)),
                    *source,
                    &upstream,
                    (names.as_slice(), env),
                )?),
                ModelAnswers::Recorded(recorded) => {
                    // Its code is that of a pull request, and needs no key.
                    let names: Vec<String> = names
                        .iter()
                        .filter(|name| !Env::is_secret(name))
                        .cloned()
                        .collect();
                    Means::Captured(CapturedAgent::replaying(
                        launch(argv, root, env.passed_on(&names)),
                        *source,
                        recorded,
                    ))
                }
            },
            Transport::Model(_) => {
                return Err(Unopened::Unusable("a model is not a program".to_owned()));
            }
        };
        Ok(Self {
            means,
            timeouts: Timeouts::of(target),
            complaints: Mutex::default(),
        })
    }

    /// Makes one run and returns its record, the text of a JSON object.
    pub async fn run(&self, request: &SampleRequest) -> Result<String, CallError> {
        let request_text = request_v1::written(request);
        match &self.means {
            Means::Http { client, url } => {
                let headers = HeaderMap::from_iter([(
                    CONTENT_TYPE,
                    HeaderValue::from_static("application/json"),
                )]);
                let (url, timeouts) = (url.clone(), self.timeouts);
                let text = TargetRequest {
                    method: Method::POST,
                    client,
                    url,
                    headers,
                    body: request_text,
                    timeouts,
                }
                .text()
                .await?;
                record(text.into_bytes())
            }
            Means::Oneshot(launch) => {
                let stderr = Complaints::default();
                let call = self.timeouts.call;
                let printed = timeout(call, oneshot::printed(launch, request_text, &stderr)).await;
                self.keep(request, stderr.text());
                printed
                    .unwrap_or_else(|_| Err(too_slow(call, &stderr)))
                    .and_then(record)
            }
            Means::Captured(agent) => {
                let stderr = Complaints::default();
                let ran = agent.run(request, self.timeouts, &stderr).await;
                self.keep(request, stderr.text());
                ran
            }
            Means::Jsonl(pool) => {
                let id = request_v1::id(request);
                let (answer, stderr) = pool.answer(&id, &request_text, self.timeouts.call).await;
                self.keep(request, stderr);
                answer.and_then(record)
            }
        }
    }

    /// What the program wrote to stderr during this request, at most the last 64 KiB. Returned once, for the report.
    pub fn complaints(&self, request: &SampleRequest) -> Option<String> {
        self.complaints
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&request_v1::id(request))
    }

    /// Ends the workers, if there are any. Without this call they are killed.
    pub async fn close(&self) {
        match &self.means {
            Means::Jsonl(pool) => pool.close().await,
            Means::Http { .. } | Means::Oneshot(_) | Means::Captured(_) => {}
        }
    }

    fn keep(&self, request: &SampleRequest, text: String) {
        if !text.is_empty() {
            self.complaints
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(request_v1::id(request), text);
        }
    }
}

fn launch(argv: &[String], root: &Path, env: Vec<(String, String)>) -> Launch {
    Launch {
        argv: argv.to_vec(),
        root: root.to_owned(),
        env,
    }
}

fn http(address: &str) -> Result<Means, Unopened> {
    let client = client_for_targets().map_err(|error| Unopened::Unusable(format!("{error:#}")))?;
    let url: Option<Url> = address.trim().parse().ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    let url = url.ok_or_else(|| {
        Unopened::Unusable("the target's address is not an http address".to_owned())
    })?;
    Ok(Means::Http { client, url })
}

/// How a program answers.
const FORM: &str = "print {\"status\": \"completed\", \"outputs\": {\"text\": …}}; goldgate record takes a plain answer";

/// Checks that the output is a JSON object; its fields are checked by the reader of records.
fn record(printed: Vec<u8>) -> Result<String, CallError> {
    let text =
        String::from_utf8(printed).map_err(|_| unusable("the answer is not UTF-8".to_owned()))?;
    let read: Result<BTreeMap<String, IgnoredAny>, _> = serde_json::from_str(&text);
    match read {
        Ok(_) => Ok(text),
        Err(_) if text.trim().is_empty() => Err(unusable(format!(
            "the answer is not a run record: nothing was printed; {FORM}"
        ))),
        Err(error) => Err(unusable(format!(
            "the answer is not a run record: {error}: {}; {FORM}",
            line(&text, 200)
        ))),
    }
}

/// The failure of an answered call whose answer cannot be used.
fn unusable(message: String) -> CallError {
    lasting(message).charged()
}
