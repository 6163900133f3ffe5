//! Opens the targets of a run, each with its concurrency.

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::Pin;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::evaluation::plan::Plan;
use crate::files::SourceText;
use crate::format::run_v1;
use crate::live::engine::{Model, Pending, Program, TargetClient, TargetQueue};
use crate::live::keys::refused;
use crate::live::planned_run::PlannedRun;
use crate::live::recorded_samples::recorded_samples;
use crate::live::targets::{
    AgentProgram, ChatModel, Live, ModelAnswers, RecordedSamples, Unopened, UpstreamChoice,
};
use crate::live::{EarlyStopping, LiveOptions};
use crate::model::{
    CallError, Charge, Conversation, Json, Measures, ModelTurn, Protocol, RepoPath, Retry,
    RunEvidence, RunInputs, RunProvenance, RunRecord, RunStatus, SampleRequest, Steps, Transport,
};
use crate::world::{Disk, World};

/// Default concurrency: for remote targets, and for processes on this machine.
const REMOTE: u32 = 8;
const LOCAL: u32 = 2;

/// The targets that a run needs.
pub struct TargetQueues {
    /// The targets that can be called.
    pub queues: Vec<TargetQueue>,
    /// The index of each queue, by the name of the target.
    pub indices: BTreeMap<String, usize>,
    /// Why the other targets cannot be called: their key is missing or not allowed.
    pub closed: BTreeMap<String, String>,
}

impl TargetQueues {
    /// Opens all targets of the planned runs. A target without a key stays closed, which is not an error.
    ///
    /// # Errors
    /// Targets that can never be called.
    pub fn open(
        plan: &Plan,
        wanted: &[PlannedRun<'_>],
        (root, disk): (&Path, &Disk),
        world: &World,
        options: &LiveOptions,
    ) -> Result<Self, Diagnostics> {
        let recorded = recorded_exchanges(plan, wanted, disk);
        let mut problems = Diagnostics::default();
        let mut queues = Self {
            queues: Vec::new(),
            indices: BTreeMap::new(),
            closed: BTreeMap::new(),
        };
        for name in wanted.iter().flat_map(PlannedRun::targets) {
            if queues.indices.contains_key(name) || queues.closed.contains_key(name) {
                continue;
            }
            let Some(target) = plan.config.targets.get(name) else {
                continue;
            };
            let usual = match &target.transport {
                Transport::Model(_) | Transport::Http(_) => REMOTE,
                // One worker, so that no call waits for it.
                Transport::Command {
                    protocol: Protocol::Jsonl,
                    ..
                } => 1,
                Transport::Command { .. } => LOCAL,
            };
            let model = match &target.transport {
                Transport::Model(provider) => {
                    if let Some(why) = refused(provider, &options.keys) {
                        queues.closed.insert(name.clone(), why);
                        continue;
                    }
                    Some(provider.model.clone())
                }
                Transport::Command { .. } | Transport::Http(_) => None,
            };
            let answers = match recorded.get(name) {
                Some(samples) => ModelAnswers::Recorded(samples.clone()),
                None => ModelAnswers::Server(
                    options
                        .upstream
                        .clone()
                        .map_or(UpstreamChoice::Usual, UpstreamChoice::Stated),
                ),
            };
            let client = match Live::open_answered(target, root, &world.env, answers) {
                Ok(Live::Chat(chat)) => TargetClient::Model(Box::new(ModelTarget(chat))),
                Ok(Live::Agent(agent)) => TargetClient::Program(Box::new(ProgramTarget(agent))),
                Err(Unopened::NoKey { wanted }) => {
                    queues
                        .closed
                        .insert(name.clone(), format!("has no key; {wanted}"));
                    continue;
                }
                Err(Unopened::Unusable(why)) => {
                    let what = format!("the target \"{name}\" cannot be called: {why}");
                    problems.push(Diagnostic::of_file(
                        &plan.config.file,
                        Code::BAD_TARGET,
                        what,
                        "correct it under targets",
                    ));
                    continue;
                }
            };
            queues.indices.insert(name.clone(), queues.queues.len());
            let most_output = match &target.transport {
                Transport::Model(provider) => provider.max_tokens,
                Transport::Command { .. } | Transport::Http(_) => None,
            };
            let concurrency = match options.sparing {
                EarlyStopping::FirstRight => 1,
                EarlyStopping::Exact | EarlyStopping::Off => target.concurrency.unwrap_or(usual),
            };
            let queue = TargetQueue::new(client, model, concurrency);
            queues.queues.push(queue.with_most_output(most_output));
        }
        problems.or(queues)
    }
}

/// The recorded exchanges of the planned runs, by target. A target with any of them calls no model.
fn recorded_exchanges(
    plan: &Plan,
    wanted: &[PlannedRun<'_>],
    files: &Disk,
) -> BTreeMap<String, RecordedSamples> {
    let mut recorded: BTreeMap<String, RecordedSamples> = BTreeMap::new();
    for one in wanted {
        let Some(folder) = &one.live.exchanges else {
            continue;
        };
        let samples = recorded_samples(
            files,
            &plan.config,
            folder,
            &one.request,
            one.first..one.first + one.samples,
        );
        recorded
            .entry(one.live.target.clone())
            .or_default()
            .extend(samples);
    }
    recorded
}

struct ModelTarget(ChatModel);

impl Model for ModelTarget {
    fn turn<'a>(&'a self, conversation: &'a Conversation) -> Pending<'a, ModelTurn> {
        Box::pin(self.0.turn(conversation))
    }
}

struct ProgramTarget(AgentProgram);

impl Program for ProgramTarget {
    fn run<'a>(&'a self, request: &'a SampleRequest) -> Pending<'a, RunRecord> {
        Box::pin(async move { record(self.0.run(request).await?, request) })
    }

    fn complaints(&self, request: &SampleRequest) -> Option<String> {
        self.0.complaints(request)
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        Box::pin(self.0.close())
    }
}

/// Parses the record that an agent's program answered with. The request's own values replace those of the answer.
fn record(text: String, request: &SampleRequest) -> Result<RunRecord, CallError> {
    let source = SourceText::from_text(RepoPath::root().child("answer"), text);
    let run =
        run_v1::read_run(&source, &request.key, request.sample).map_err(|problem| CallError {
            status: RunStatus::Error,
            what: format!("the answer is not a run record: {problem}"),
            retry: Retry::Never,
            charge: Charge::Possible,
        })?;
    let count = |count: Option<u64>| count.filter(|count| *count > 0);
    Ok(RunRecord {
        agent: request.key.agent.clone(),
        case: request.key.case.clone(),
        sample: request.sample,
        status: run.status,
        error: run.error,
        inputs: RunInputs {
            prompt: Some(request.ask.prompt.clone()),
            ..RunInputs::default()
        },
        outputs: Json::from(run.outputs.to_string()),
        intermediate: run.intermediate.map_or_else(Steps::default, |json| {
            Steps::Own(Json::from(String::from(json)))
        }),
        evidence: RunEvidence::default(),
        metrics: Measures {
            total_tokens: run.tokens.total.map(|total| total.round() as u64),
            input_tokens: count(run.tokens.input),
            output_tokens: count(run.tokens.output),
            total_latency_ms: run.tokens.latency_ms.map(|latency| latency.round() as u64),
            model_calls: run
                .tokens
                .model_calls
                .map(|calls| calls.max(0.0).round() as u64),
            cost_usd: run.tokens.cost_usd,
            tool_call_counts: run.counted_tools.calls,
            ..Measures::default()
        },
        provenance: RunProvenance {
            provenance: run.provenance,
            ..RunProvenance::default()
        },
    })
}
