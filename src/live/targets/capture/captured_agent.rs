//! A program that is started once for each sample, with an endpoint of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use import::OwnCalls;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::endpoint::CaptureEndpoint;
use super::endpoint_state::EndpointMode;
use super::recorded_answers::RecordedAnswers;
use super::sample_key::SampleKey;
use super::upstream::{UpstreamChoice, Upstreams};
use crate::format::capture::{
    AnswerBefore, CapturedRun, RecordedExchanges, answers, captured_record,
};
use crate::format::request_v1;
use crate::live::targets::process::{Complaints, Launch, too_slow};
use crate::live::targets::{Timeouts, Unopened, lasting, oneshot};
use crate::model::{CallError, CaptureSource, SampleRequest};
use crate::world::env::Env;

/// The recorded exchanges of each sample by the id of its request, or why there are none.
pub type RecordedSamples = BTreeMap<String, SampleExchanges>;

/// What was recorded of a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleExchanges {
    /// Its exchanges, or why there are none.
    pub exchanges: Result<RecordedExchanges, String>,
    /// What to do to record its case again.
    pub again: String,
}

/// A program whose model calls are recorded, or answered from a recording.
pub struct CapturedAgent {
    launch: Launch,
    source: CaptureSource,
    answers: AnswerSource,
}

enum AnswerSource {
    Upstream(Arc<Upstreams>),
    Recorded(RecordedSamples),
}

/// How the endpoint answers a sample, and what its recording states.
struct AnswerPlan {
    mode: EndpointMode,
    /// The time of the recorded run, in milliseconds.
    latency_ms: Option<u64>,
    before: AnswerBefore,
    /// `None` where a model answers.
    replay: Option<ReplayPlan>,
}

/// What a replay has to take from its recording.
struct ReplayPlan {
    /// The number of recorded answers; `None` where several starts of the program share them.
    answers: Option<usize>,
    /// What to do to record the case again.
    again: String,
}

/// The variable with the id of the conversation, the same in all its turns.
const SESSION: &str = "GOLDGATE_CONVERSATION";

/// The variable with the turns before: a JSON list of objects with `user` and `text`.
const TURNS_BEFORE: &str = "GOLDGATE_TURNS_BEFORE";

/// In a command, the place of the query.
const QUERY: &str = "{query}";

impl CapturedAgent {
    /// A program whose calls are passed on and recorded. `passed_on` names the variables of `env` that it also gets.
    pub fn recording(
        launch: Launch,
        source: CaptureSource,
        upstream: &UpstreamChoice,
        (passed_on, env): (&[String], &Env),
    ) -> Result<Self, Unopened> {
        let upstreams = Upstreams::open(upstream, source, passed_on, env)?;
        Ok(Self {
            launch,
            source,
            answers: AnswerSource::Upstream(Arc::new(upstreams)),
        })
    }

    /// A program whose calls are answered from recordings.
    pub fn replaying(launch: Launch, source: CaptureSource, recorded: RecordedSamples) -> Self {
        Self {
            launch,
            source,
            answers: AnswerSource::Recorded(recorded),
        }
    }

    /// Makes one run and returns its record.
    ///
    /// # Errors
    /// The program failed, or asked what is not recorded.
    pub async fn run(
        &self,
        request: &SampleRequest,
        timeouts: Timeouts,
        stderr: &Complaints,
    ) -> Result<String, CallError> {
        let AnswerPlan {
            mode,
            latency_ms,
            before,
            replay,
        } = self.answer_plan(request)?;
        let own_keys = self.launch.env.iter();
        let own_keys = own_keys
            .filter(|(name, _)| Env::is_secret(name))
            .map(|(_, value)| value.clone());
        let key = SampleKey::new(own_keys.collect())?;
        let endpoint = CaptureEndpoint::start(mode, key).await?;
        let (launch, input) = self.launch_for(request, endpoint.variables());
        let begun = Instant::now();
        let printed = timeout(timeouts.call, oneshot::printed(&launch, input, stderr)).await;
        let printed = printed.unwrap_or_else(|_| Err(too_slow(timeouts.call, stderr)));
        let took = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let seen = endpoint.finish().await;
        // However the program ended: it went on without the answers that it asked for.
        if let Some(why) = seen.refusal {
            return Err(lasting(match &replay {
                None => why,
                Some(replay) => format!("{why}; {}", replay.again),
            }));
        }
        if let Some(why) = seen.unreachable {
            return Err(lasting(why));
        }
        let printed = printed?;
        if let (Some(why), [], []) = (seen.rejected, &*seen.exchanges, &*seen.spans) {
            return Err(lasting(why.to_owned()));
        }
        let taken = answers(&seen.exchanges);
        if let Some(ReplayPlan {
            answers: Some(recorded),
            again,
        }) = replay.filter(|replay| Some(taken) < replay.answers)
        {
            return Err(lasting(format!(
                "the code took {taken} of the {recorded} recorded answers, so it does less than before; {again}"
            )));
        }
        let printed = String::from_utf8(printed)
            .map_err(|_| lasting("the program printed text that is not UTF-8".to_owned()))?;
        let spent = match (&self.answers, seen.exchanges.as_slice()) {
            // Its model is one that the endpoint does not see, or it has none.
            (AnswerSource::Upstream(_), []) => took,
            (_, exchanges) => exchanges.iter().map(|exchange| exchange.latency_ms).sum(),
        };
        let SampleRequest { key, sample, .. } = request;
        let record = captured_record(&CapturedRun {
            source: self.source,
            agent: &key.agent,
            case: &key.case,
            sample: *sample,
            printed: &printed,
            exchanges: &seen.exchanges,
            spans: &seen.spans,
            latency_ms: latency_ms.unwrap_or(spent),
            // In the first turn, the calls before the user's message are its own as well.
            calls: match &request.conversation {
                Some(so_far) if !so_far.before.is_empty() => OwnCalls::OfLastTurn,
                Some(_) | None => OwnCalls::All,
            },
            before,
        });
        record.map_err(|why| lasting(format!("its run cannot be graded: {why}")))
    }

    fn answer_plan(&self, request: &SampleRequest) -> Result<AnswerPlan, CallError> {
        match &self.answers {
            AnswerSource::Upstream(upstreams) => {
                let mode = EndpointMode::Forward(upstreams.clone());
                Ok(AnswerPlan {
                    mode,
                    latency_ms: None,
                    before: AnswerBefore::None,
                    replay: None,
                })
            }
            AnswerSource::Recorded(samples) => match samples.get(&request_v1::sample_id(request)) {
                Some(SampleExchanges {
                    exchanges: Ok(recorded),
                    again,
                }) => {
                    let mode = EndpointMode::Replay(RecordedAnswers::new(&recorded.exchanges));
                    let turn = request
                        .conversation
                        .as_ref()
                        .map_or(0, |so_far| so_far.before.len());
                    // The recording states the time of all turns.
                    let latency_ms = if turn == 0 {
                        recorded.latency_ms
                    } else {
                        Some(0)
                    };
                    let is_alone = request.conversation.is_none();
                    let answers = is_alone.then(|| answers(&recorded.exchanges));
                    let replay = Some(ReplayPlan {
                        answers,
                        again: again.clone(),
                    });
                    Ok(AnswerPlan {
                        mode,
                        latency_ms,
                        before: recorded.answer_of(turn),
                        replay,
                    })
                }
                Some(SampleExchanges {
                    exchanges: Err(why),
                    ..
                }) => Err(lasting(why.clone())),
                None => Err(lasting("this sample is not recorded".to_owned())),
            },
        }
    }

    /// The program with its variables, and its input: the query, unless the command contains it.
    fn launch_for(
        &self,
        request: &SampleRequest,
        variables: Vec<(String, String)>,
    ) -> (Launch, String) {
        let query = &request.ask.prompt;
        let argv: Vec<String> = self
            .launch
            .argv
            .iter()
            .map(|argument| argument.replace(QUERY, query))
            .collect();
        let has_query = argv != self.launch.argv;
        let mut env = self.launch.env.clone();
        if let Some(conversation) = &request.conversation {
            let turns = conversation
                .before
                .iter()
                .map(|turn| json!({ "user": turn.user, "text": turn.text }));
            env.push((SESSION.to_owned(), request_v1::sample_id(request)));
            env.push((TURNS_BEFORE.to_owned(), Value::from_iter(turns).to_string()));
        }
        for (name, value) in variables {
            // A key that the target passes on is the agent's own.
            let is_own_key =
                name.ends_with("_API_KEY") && env.iter().any(|(known, _)| *known == name);
            if !is_own_key {
                env.retain(|(known, _)| *known != name);
                env.push((name, value));
            }
        }
        let input = if has_query {
            String::new()
        } else {
            query.clone()
        };
        (
            Launch {
                argv,
                root: self.launch.root.clone(),
                env,
            },
            input,
        )
    }
}
