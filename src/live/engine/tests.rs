//! The engine on a paused clock, with models that follow a script.

mod unanswered;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::pending;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::runtime::Builder;
use tokio::time::{Instant, sleep};

use super::{
    Engine, EngineEvents, EngineOutcome, JobOutcome, Model, Pending, Prices, RefinementSetup,
    RetryPolicy, SampleJob, Spending, SpendingLimits, TargetClient, TargetQueue,
};
use crate::model::{
    AgentName, Ask, AskedCall, CallError, CannedResult, CannedTool, CaseId, Charge, Conversation,
    Interruption, Json, LoopRole, Message, ModelTurn, NextRole, Price, Retry, RunKey,
    RunProvenance, RunRecord, RunStatus, SampleRequest, SimulatedUser, StopReason, SuiteId,
    TokenUsage, ToolSpec, Toolbox, UserTurns,
};
use crate::suites::Refinement;

/// A model that follows a script, which gets the number of the call and the conversation.
struct Scripted<F>(F, Cell<usize>);

impl<F> Model for Scripted<F>
where
    F: Fn(usize, &Conversation) -> (Duration, Result<ModelTurn, CallError>),
{
    fn turn<'a>(&'a self, conversation: &'a Conversation) -> Pending<'a, ModelTurn> {
        let number = self.1.replace(self.1.get() + 1);
        let (latency, outcome) = (self.0)(number, conversation);
        Box::pin(async move {
            sleep(latency).await;
            outcome
        })
    }
}

fn says(text: &str) -> ModelTurn {
    let spent = TokenUsage {
        input: 8,
        cached_input: 0,
        output: 2,
    };
    ModelTurn {
        text: text.to_owned(),
        calls: Vec::new(),
        stop: StopReason::End,
        spent,
        model: Some("m-1".to_owned()),
    }
}

fn fault(retry: Retry) -> CallError {
    CallError {
        status: RunStatus::Error,
        what: "503 from the server".to_owned(),
        retry,
        charge: Charge::Never,
    }
}

fn request(case: &str, sample: u32, tools: Toolbox) -> SampleRequest {
    let key = RunKey {
        suite: SuiteId::new("s").unwrap(),
        agent: AgentName::new("a").unwrap(),
        case: CaseId::new(case).unwrap(),
    };
    let ask = Ask {
        prompt: format!("{case}/{sample}"),
        inputs: json!({}),
        answer: None,
        tools,
        turns: UserTurns::Single,
    };
    SampleRequest {
        key,
        sample,
        system: String::new(),
        ask,
        conversation: None,
    }
}

fn jobs(cases: usize, samples: u32) -> Vec<SampleJob> {
    let job = |case: usize, sample| SampleJob {
        request: request(&format!("c{case}"), sample, Toolbox::Empty),
        queue: 0,
        origin: RunProvenance::default(),
        round: 0,
        refining: None,
    };
    (0..cases)
        .flat_map(|case| (0..samples).map(move |sample| job(case, sample)))
        .collect()
}

#[derive(Default)]
struct Seen {
    ends: RefCell<Vec<usize>>,
    unneeded: Vec<usize>,
}

impl EngineEvents for Seen {
    fn is_needed(&self, job: usize) -> bool {
        !self.unneeded.contains(&job)
    }

    fn finished(&self, job: usize, _finished: &JobOutcome) {
        self.ends.borrow_mut().push(job);
    }
}

struct Ran {
    finished: Vec<JobOutcome>,
    spending: Spending,
    took: Duration,
    ends: Vec<usize>,
}

fn run(
    script: impl Fn(usize, &Conversation) -> (Duration, Result<ModelTurn, CallError>) + Clone + 'static,
    places: u32,
    jobs: &[SampleJob],
    limits: SpendingLimits,
    seen: Seen,
    stop: Option<Duration>,
) -> Ran {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let folders = BTreeMap::new();
    let price = Price {
        input: 1_000_000.0,
        output: 1_000_000.0,
        cached_input: None,
    };
    let engine = Engine {
        queues: [0, 1]
            .map(|_| {
                TargetQueue::new(
                    TargetClient::Model(Box::new(Scripted(script.clone(), Cell::new(0)))),
                    Some("m".to_owned()),
                    places,
                )
            })
            .into(),
        indices: BTreeMap::from([("agent".to_owned(), 0), ("user".to_owned(), 1)]),
        retry: RetryPolicy::default(),
        limits,
        prices: Prices::new(BTreeMap::from([("m".to_owned(), price)])),
        folders: &folders,
    };
    let jobs: Vec<&SampleJob> = jobs.iter().collect();
    runtime.block_on(async {
        let begun = Instant::now();
        let stopping = async {
            match stop {
                Some(after) => sleep(after).await,
                None => pending().await,
            }
            Interruption::Interrupted
        };
        let EngineOutcome {
            finished, spending, ..
        } = engine.run(&jobs, &seen, stopping).await;
        Ran {
            finished,
            spending,
            took: begun.elapsed(),
            ends: seen.ends.take(),
        }
    })
}

fn texts(ran: &Ran) -> Vec<Option<String>> {
    let text = |finished: &JobOutcome| match finished {
        JobOutcome::Made(record) if record.status == RunStatus::Completed => {
            let outputs: serde_json::Value = serde_json::from_str(record.outputs.text()).unwrap();
            Some(outputs["text"].as_str().unwrap().to_owned())
        }
        JobOutcome::Made(_) | JobOutcome::Spared | JobOutcome::CalledOff { .. } => None,
    };
    ran.finished.iter().map(text).collect()
}

fn prompt(conversation: &Conversation) -> String {
    match &conversation.messages[0] {
        Message::User(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// 50 ms with jitter, 5 % 429 with Retry-After, 2 % 5xx, 1 % resets. The number of the call decides, so that runs repeat.
fn faulty(number: usize, conversation: &Conversation) -> (Duration, Result<ModelTurn, CallError>) {
    let latency = Duration::from_millis(40 + (number as u64 * 7) % 21);
    let outcome = match (number * 37) % 100 {
        0..5 => Err(fault(Retry::Later {
            after: Some(Duration::from_secs(1)),
        })),
        5..8 => Err(fault(Retry::Later { after: None })),
        _ => Ok(says(&prompt(conversation))),
    };
    (latency, outcome)
}

#[test]
fn a_faulty_endpoint_loses_no_sample_and_costs_only_its_waits() {
    let jobs = jobs(200, 3);
    let ran = run(
        faulty,
        32,
        &jobs,
        SpendingLimits::default(),
        Seen::default(),
        None,
    );
    let expected: Vec<Option<String>> = jobs
        .iter()
        .map(|job| Some(format!("{}/{}", job.request.key.case, job.request.sample)))
        .collect();
    assert_eq!(
        texts(&ran),
        expected,
        "every sample has its own answer, in the order of the jobs"
    );
    let mut ends = ran.ends.clone();
    ends.sort_unstable();
    assert_eq!(ends, (0..600).collect::<Vec<_>>(), "every job ended once");
    let ideal = Duration::from_millis(50 * 600 / 32);
    // A sample may have to wait twice, each time for the server's second and half a second of jitter.
    assert!(
        ran.took <= ideal.mul_f64(1.1) + Duration::from_secs(3),
        "{:?}",
        ran.took
    );
    assert_eq!(ran.spending.calls - ran.spending.retries, 600);
    assert!(ran.spending.retries > 40, "{}", ran.spending.retries);
}

#[test]
fn a_waiting_sample_occupies_no_slot() {
    let script = |number: usize, _: &Conversation| match number {
        0 => (
            Duration::from_millis(1),
            Err(fault(Retry::Later {
                after: Some(Duration::from_secs(100)),
            })),
        ),
        _ => (Duration::from_secs(1), Ok(says("x"))),
    };
    let ran = run(
        script,
        1,
        &jobs(50, 1),
        SpendingLimits::default(),
        Seen::default(),
        None,
    );
    // 49 seconds of the others fit into the wait of the first.
    assert!(
        ran.took >= Duration::from_secs(101) && ran.took < Duration::from_secs(103),
        "{:?}",
        ran.took
    );
}

#[test]
fn an_error_that_is_not_retried_is_reported_with_its_reason() {
    let script = |number: usize, _: &Conversation| match number {
        0 => (
            Duration::ZERO,
            Err(CallError {
                status: RunStatus::Stalled,
                what: "no byte for 30 s".to_owned(),
                ..fault(Retry::Never).charged()
            }),
        ),
        _ => (Duration::ZERO, Ok(says("x"))),
    };
    let ran = run(
        script,
        1,
        &jobs(2, 1),
        SpendingLimits::default(),
        Seen::default(),
        None,
    );
    let JobOutcome::Made(record) = &ran.finished[0] else {
        panic!("{:?}", ran.finished[0])
    };
    assert_eq!(
        (record.status, record.error.as_deref()),
        (RunStatus::Stalled, Some("no byte for 30 s"))
    );
    assert_eq!(ran.spending.calls, 2);
}

#[test]
fn a_server_that_is_always_down_is_given_up() {
    let script =
        |_: usize, _: &Conversation| (Duration::ZERO, Err(fault(Retry::Later { after: None })));
    let ran = run(
        script,
        1,
        &jobs(1, 1),
        SpendingLimits::default(),
        Seen::default(),
        None,
    );
    assert_eq!((ran.spending.calls, ran.spending.retries), (6, 5));
    assert!(
        matches!(&ran.finished[0], JobOutcome::Made(record) if record.status == RunStatus::Error)
    );
}

#[test]
fn beyond_the_budget_samples_are_interrupted_and_never_failed() {
    // A call costs 10 dollars; after the first three, each open call is expected to cost the same.
    let limits = SpendingLimits {
        cost_usd: Some(95.0),
        tokens: None,
    };
    let script = |_: usize, _: &Conversation| (Duration::from_secs(1), Ok(says("x")));
    let ran = run(script, 3, &jobs(30, 1), limits, Seen::default(), None);
    let made = ran
        .finished
        .iter()
        .filter(|end| matches!(end, JobOutcome::Made(_)))
        .count();
    assert_eq!((made, ran.spending.cost_usd), (9, Some(90.0)));
    let off = ran.finished.iter().filter(|end| {
        matches!(
            end,
            JobOutcome::CalledOff {
                why: Interruption::Cost,
                ..
            }
        )
    });
    assert_eq!(off.count(), 21);
}

#[test]
fn calls_that_were_charged_without_an_answer_count_in_the_budget() {
    let limits = SpendingLimits {
        cost_usd: None,
        tokens: Some(20),
    };
    for (fault, tries) in [
        (fault(Retry::Later { after: None }).charged(), 1..20),
        (fault(Retry::Never), 9..10),
    ] {
        let script = move |_: usize, _: &Conversation| (Duration::ZERO, Err(fault.clone()));
        let ran = run(script, 1, &jobs(9, 1), limits, Seen::default(), None);
        let spent = matches!(
            ran.finished[8],
            JobOutcome::CalledOff {
                why: Interruption::Tokens,
                ..
            }
        );
        let made = ran.spending.calls + ran.spending.retries;
        assert!(
            spent == (tries.end == 20) && tries.contains(&made),
            "{made}"
        );
        assert_eq!(ran.spending.unreported.calls, if spent { made } else { 0 });
    }
}

#[test]
fn finished_samples_are_kept_when_the_run_is_interrupted() {
    let script = |_: usize, _: &Conversation| (Duration::from_secs(1), Ok(says("x")));
    let ran = run(
        script,
        2,
        &jobs(10, 1),
        SpendingLimits::default(),
        Seen::default(),
        Some(Duration::from_millis(2500)),
    );
    let made = ran
        .finished
        .iter()
        .filter(|end| matches!(end, JobOutcome::Made(_)))
        .count();
    assert_eq!(made, 4);
    let off = ran.finished.iter().filter(|end| {
        matches!(
            end,
            JobOutcome::CalledOff {
                why: Interruption::Interrupted,
                ..
            }
        )
    });
    assert_eq!(off.count(), 6);
    assert!(ran.took < Duration::from_secs(3), "{:?}", ran.took);
}

#[test]
fn an_unneeded_sample_is_skipped() {
    let seen = Seen {
        unneeded: vec![1, 3],
        ..Seen::default()
    };
    let ran = run(
        |_, _| (Duration::ZERO, Ok(says("x"))),
        2,
        &jobs(4, 1),
        SpendingLimits::default(),
        seen,
        None,
    );
    assert_eq!(ran.spending.calls, 2);
    assert_eq!(
        (&ran.finished[1], &ran.finished[3]),
        (&JobOutcome::Spared, &JobOutcome::Spared)
    );
}

#[test]
fn lower_rounds_start_first() {
    let mut jobs = jobs(2, 2);
    jobs.iter_mut()
        .for_each(|job| job.round = job.request.sample);
    let order: Rc<RefCell<Vec<String>>> = Rc::default();
    let asked = order.clone();
    let script = move |_: usize, conversation: &Conversation| {
        asked.borrow_mut().push(prompt(conversation));
        (Duration::from_secs(1), Ok(says("x")))
    };
    run(
        script,
        1,
        &jobs,
        SpendingLimits::default(),
        Seen::default(),
        None,
    );
    assert_eq!(*order.borrow(), ["c0/0", "c1/0", "c0/1", "c1/1"]);
}

#[test]
fn a_model_gets_its_tool_results_and_the_record_has_every_call() {
    let canned = CannedTool {
        spec: ToolSpec {
            name: "weather".to_owned(),
            description: String::new(),
            parameters: json!({}),
        },
        results: vec![CannedResult {
            when: json!({ "town": "Acme Bay" }),
            says: json!({ "rain": true }),
        }],
    };
    let job = SampleJob {
        request: request("c", 0, Toolbox::Canned(vec![canned])),
        refining: None,
        ..jobs(1, 1).remove(0)
    };
    let call = |name: &str, arguments| AskedCall {
        id: name.to_owned(),
        name: name.to_owned(),
        arguments,
    };
    let script = move |number: usize, conversation: &Conversation| match number {
        0 => {
            let calls = vec![
                call("weather", json!({ "town": "acme bay", "day": 1 })),
                call("fly", json!({})),
            ];
            (Duration::ZERO, Ok(ModelTurn { calls, ..says("") }))
        }
        _ => {
            let Some(Message::Tools(answers)) = conversation.messages.last() else {
                panic!("no answers")
            };
            assert_eq!(answers[0].outcome, Ok(json!({ "rain": true })));
            assert!(answers[1].outcome.is_err());
            (Duration::ZERO, Ok(says("Take an umbrella.")))
        }
    };
    let ran = run(
        script,
        1,
        &[job],
        SpendingLimits::default(),
        Seen::default(),
        None,
    );
    let JobOutcome::Made(record) = &ran.finished[0] else {
        panic!("{:?}", ran.finished[0])
    };
    let calls = record.intermediate.seen_calls();
    assert_eq!(
        calls
            .iter()
            .map(|call| call.name.as_str())
            .collect::<Vec<_>>(),
        ["weather", "fly"]
    );
    assert_eq!(calls[0].result.text(), r#"{"rain":true}"#);
    assert_eq!(
        calls[1].error.as_deref(),
        Some("there is no tool \"fly\"; there are weather")
    );
    assert_eq!(
        record.metrics.tool_call_counts,
        BTreeMap::from([("fly".to_owned(), 1), ("weather".to_owned(), 1)])
    );
    assert_eq!(
        (record.metrics.input_tokens, record.metrics.cost_usd),
        (Some(16), Some(20.0))
    );
    assert_eq!(ran.spending.calls, 2);
}

/// A conversation with a user that the model "user" plays.
fn simulated(max_turns: u32) -> SampleJob {
    let user = SimulatedUser {
        target: "user".to_owned(),
        goal: "Cancel order 17.".to_owned(),
        max_turns,
    };
    let mut job = jobs(1, 1).remove(0);
    job.request.ask = Ask {
        prompt: "Hello.".to_owned(),
        turns: UserTurns::Simulated(user),
        ..job.request.ask
    };
    job
}

/// What the agent and the user say by turns; both take a second for each message.
fn two_sides(
    number: usize,
    conversation: &Conversation,
) -> (Duration, Result<ModelTurn, CallError>) {
    let is_user = conversation.system.contains("Cancel order 17.");
    let text = match (is_user, number) {
        (true, 0) => "<think>hm</think>\nOrder 17, please.",
        (true, _) => " [DONE]",
        (false, _) => "Which order?",
    };
    (Duration::from_secs(1), Ok(says(text)))
}

fn conversed(job: SampleJob, limits: SpendingLimits) -> (serde_json::Value, RunRecord, Ran) {
    let ran = run(two_sides, 1, &[job], limits, Seen::default(), None);
    let JobOutcome::Made(record) = &ran.finished[0] else {
        panic!("{:?}", ran.finished[0])
    };
    (
        serde_json::from_str(record.outputs.text()).unwrap(),
        (**record).clone(),
        ran,
    )
}

#[test]
fn a_model_plays_the_user_until_it_is_done() {
    let (outputs, record, ran) = conversed(simulated(5), SpendingLimits::default());
    let turns = json!([{ "user": "Hello.", "text": "Which order?" }, { "user": "Order 17, please.", "text": "Which order?" }]);
    let expected =
        json!({ "text": "Which order?", "turns": turns, "user": { "model": "m-1", "done": true } });
    assert_eq!(outputs, expected);
    // The record is the agent's: two of four calls, and their time.
    let metrics = &record.metrics;
    assert_eq!(
        (
            metrics.total_tokens,
            metrics.cost_usd,
            metrics.total_latency_ms
        ),
        (Some(20), Some(20.0), Some(2000))
    );
    assert_eq!((ran.spending.calls, ran.spending.cost_usd), (4, Some(40.0)));
}

#[test]
fn a_simulated_user_says_no_more_than_the_case_allows() {
    let (outputs, _, ran) = conversed(simulated(1), SpendingLimits::default());
    assert_eq!(
        (
            outputs["turns"].as_array().unwrap().len(),
            &outputs["user"]["done"]
        ),
        (1, &json!(false))
    );
    assert_eq!(ran.spending.calls, 1);
}

#[test]
fn the_budget_counts_the_calls_of_a_simulated_user() {
    let limits = SpendingLimits {
        tokens: Some(15),
        ..SpendingLimits::default()
    };
    let ran = run(two_sides, 1, &[simulated(5)], limits, Seen::default(), None);
    assert!(
        matches!(ran.finished[0], JobOutcome::CalledOff { .. }),
        "{:?}",
        ran.finished[0]
    );
}

#[test]
fn a_user_that_no_model_can_play_fails_the_sample() {
    let mut job = simulated(5);
    let user = SimulatedUser {
        target: "nobody".to_owned(),
        goal: "x".to_owned(),
        max_turns: 5,
    };
    job.request.ask.turns = UserTurns::Simulated(user);
    let (_, record, _) = conversed(job, SpendingLimits::default());
    assert_eq!(
        record.error.as_deref(),
        Some("nobody, which plays the user: no such model can be called")
    );
}

/// One attempt: an actor, then a critic.
struct ActorThenCritic;

impl Refinement for ActorThenCritic {
    fn next(&self, answers: &[Json]) -> NextRole {
        let ask = |words: &str| Ask {
            prompt: words.to_owned(),
            ..request("c", 0, Toolbox::Empty).ask
        };
        match answers.len() {
            0 => NextRole::Ask(LoopRole::Actor, ask("act")),
            1 => NextRole::Ask(LoopRole::Critic, ask("judge")),
            _ => NextRole::End,
        }
    }

    fn outputs(&self, answers: &[Json]) -> Json {
        Json::from(json!({ "text": answers.len().to_string() }).to_string())
    }

    fn identity(&self) -> String {
        "once".to_owned()
    }
}

fn loops(count: usize) -> Vec<SampleJob> {
    let refining = || RefinementSetup {
        course: Arc::new(ActorThenCritic),
        critic: 1,
        target: "judge".to_owned(),
    };
    jobs(count, 1)
        .into_iter()
        .map(|job| SampleJob {
            refining: Some(refining()),
            ..job
        })
        .collect()
}

#[test]
fn a_loop_occupies_no_slot_of_its_actor_while_its_critic_runs() {
    let script = |_: usize, _: &Conversation| (Duration::from_secs(1), Ok(says("x")));
    let ran = run(
        script,
        1,
        &loops(20),
        SpendingLimits::default(),
        Seen::default(),
        None,
    );
    assert_eq!(ran.spending.calls, 40);
    assert!(texts(&ran).iter().all(|text| text.as_deref() == Some("2")));
    // Each queue has one slot: the actor works on the next loop while the critic judges the previous one.
    assert!(
        ran.took >= Duration::from_secs(21) && ran.took < Duration::from_secs(23),
        "{:?}",
        ran.took
    );
}

#[test]
fn an_interrupted_loop_keeps_its_outputs_so_far() {
    let script = |_: usize, _: &Conversation| (Duration::from_secs(1), Ok(says("x")));
    let ran = run(
        script,
        1,
        &loops(1),
        SpendingLimits::default(),
        Seen::default(),
        Some(Duration::from_millis(1500)),
    );
    let JobOutcome::CalledOff { why, outputs } = &ran.finished[0] else {
        panic!("{:?}", ran.finished[0])
    };
    assert_eq!(
        (*why, outputs.text()),
        (Interruption::Interrupted, r#"{"text":"1"}"#)
    );
}

#[test]
fn a_loop_reports_the_role_that_failed_and_the_usage_of_each_role() {
    let script = |_: usize, conversation: &Conversation| match prompt(conversation).as_str() {
        "act" => (Duration::from_secs(2), Ok(says("x"))),
        _ => (
            Duration::from_secs(3),
            Err(CallError {
                status: RunStatus::Stalled,
                ..fault(Retry::Never)
            }),
        ),
    };
    let ran = run(
        script,
        1,
        &loops(1),
        SpendingLimits::default(),
        Seen::default(),
        None,
    );
    let JobOutcome::Made(record) = &ran.finished[0] else {
        panic!("{:?}", ran.finished[0])
    };
    assert_eq!(
        (record.status, record.error.as_deref()),
        (
            RunStatus::Stalled,
            Some("attempt 1, critic: 503 from the server")
        )
    );
    assert_eq!(record.outputs.text(), r#"{"text":"1"}"#);
    let by_part = |actor, critic| {
        BTreeMap::from([("actor".to_owned(), actor), ("critic".to_owned(), critic)])
    };
    assert_eq!(
        (
            &record.metrics.tokens_per_node,
            &record.metrics.latency_per_node
        ),
        (&by_part(10, 0), &by_part(2000, 3000))
    );
    assert_eq!(record.provenance.provenance.model.as_deref(), Some("m-1"));
}
