//! What is sent of live samples, as receivers read it.

mod receiver;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use goldgate::format::otlp;
use goldgate::format::otlp::{Content, ExportedRun};
use goldgate::model::{
    AgentName, CaseId, Json, Measures, ModelCall, ModelCallResult, Period, Provenance, RunEvidence,
    RunInputs, RunProvenance, RunRecord, RunStatus, Steps, StopReason, SuiteId, TokenUsage,
    ToolCall, Traced,
};
use goldgate::world::{Env, export};
use libtest_mimic::Trial;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;
use serde_json::{Value, json};

use self::receiver::{environment, faults, real_receiver, settings};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a finished sample arrives as an agent's span with its calls in it",
            whole_sample,
        ),
        trial(
            "no text of an agent is sent unless it is asked for",
            no_texts,
        ),
        trial(
            "a sample without an answer arrives as failed",
            failed_sample,
        ),
        trial(
            "what is sent and imported again is the same run",
            round_trip,
        ),
        trial(
            "the same samples make the same bytes and no two samples share a trace",
            ids,
        ),
        trial(
            "many samples and long texts make several requests of bounded size",
            bounds,
        ),
        trial(
            "the environment says where traces go and with which headers",
            environment,
        ),
        trial(
            "a receiver that is busy is asked again, and one that refuses is told in one line",
            faults,
        ),
        trial(
            "a wrong setting is told in one line and shows no key",
            settings,
        ),
        // Said as ignored where there is none: tests/live/traces.sh starts one.
        trial("a real receiver takes a finished sample", real_receiver)
            .with_ignored_flag(std::env::var_os("GOLDGATE_TRACES_TO").is_none()),
    ]
}

const SECOND: u64 = 1_000_000_000;
const START: u64 = 1_767_225_600 * SECOND;

fn period(from: u64, to: u64) -> Period {
    Period {
        start: START + from * SECOND,
        end: START + to * SECOND,
    }
}

fn sample(number: u32) -> Traced {
    let call = ToolCall {
        result: Json::from(r#"{"state": "shipped"}"#),
        latency_ms: Some(1000),
        ..ToolCall::of("find_order", Json::from(r#"{"order": 17}"#))
    };
    let provenance = Provenance {
        model: Some("model-a-1".to_owned()),
        cache: Some("miss".to_owned()),
        ..Provenance::default()
    };
    let record = RunRecord {
        agent: AgentName::new("helper").unwrap(),
        case: CaseId::new("order-status").unwrap(),
        sample: number,
        status: RunStatus::Completed,
        error: None,
        inputs: RunInputs {
            prompt: Some("Where is my order?".to_owned()),
            ..RunInputs::default()
        },
        outputs: Json::from(r#"{"text": "It was shipped."}"#),
        intermediate: Steps::Seen {
            node_transitions: Vec::new(),
            tool_calls: vec![call],
            events: Vec::new(),
        },
        evidence: RunEvidence::default(),
        metrics: Measures {
            input_tokens: Some(30),
            output_tokens: Some(7),
            cost_usd: Some(0.5),
            ..Measures::default()
        },
        provenance: RunProvenance {
            target: Some("claude".to_owned()),
            provenance,
            ..RunProvenance::default()
        },
    };
    let turn = |stop, input| ModelCallResult::Turn {
        model: Some("model-a-1".to_owned()),
        stop,
        spent: TokenUsage {
            input,
            cached_input: 4,
            output: 3,
        },
    };
    let chat = |from, to, outcome| ModelCall {
        period: period(from, to),
        provider: "anthropic".to_owned(),
        asked: "model-a".to_owned(),
        outcome,
    };
    Traced {
        suite: SuiteId::new("support").unwrap(),
        record,
        period: period(0, 6),
        provider: Some("anthropic".to_owned()),
        chats: vec![
            chat(0, 1, ModelCallResult::Fault("429".to_owned())),
            chat(1, 3, turn(StopReason::Other("tool_use".to_owned()), 10)),
            chat(4, 6, turn(StopReason::End, 20)),
        ],
        tools: vec![period(3, 4)],
    }
}

fn telling(content: Content) -> ExportedRun {
    let resource = vec![("service.name".to_owned(), "acme".to_owned())];
    ExportedRun {
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        resource,
        content,
    }
}

/// The spans as a receiver reads them, in OTLP's JSON.
fn read(bodies: &[Vec<u8>]) -> Vec<Value> {
    let requests = bodies
        .iter()
        .map(|body| ExportTraceServiceRequest::decode(&body[..]).unwrap());
    let spans = requests.flat_map(|request| {
        let json = serde_json::to_value(&request).unwrap();
        json["resourceSpans"][0]["scopeSpans"][0]["spans"]
            .as_array()
            .unwrap()
            .clone()
    });
    spans.collect()
}

fn sent(content: Content, sample: Traced) -> Vec<Value> {
    read(&otlp::requests(&telling(content), &[sample]))
}

/// The attributes of a span, each as its plain value.
fn said(span: &Value) -> Value {
    let value = |attribute: &Value| {
        let (form, value) = attribute["value"]
            .as_object()
            .unwrap()
            .iter()
            .next()
            .unwrap();
        match form.as_str() {
            "arrayValue" => value["values"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["stringValue"].clone())
                .collect(),
            "intValue" => json!(value.as_str().unwrap().parse::<i64>().unwrap()),
            _ => value.clone(),
        }
    };
    let pairs = span["attributes"].as_array().unwrap().iter();
    Value::Object(
        pairs
            .map(|one| (one["key"].as_str().unwrap().to_owned(), value(one)))
            .collect(),
    )
}

fn whole_sample() {
    let bodies = otlp::requests(&telling(Content::Kept), &[sample(2)]);
    let request = ExportTraceServiceRequest::decode(&bodies[0][..]).unwrap();
    let of_resource = &request.resource_spans[0];
    assert_eq!(
        of_resource.resource.as_ref().unwrap().attributes[0].key,
        "service.name"
    );
    assert_eq!(
        of_resource.scope_spans[0].scope.as_ref().unwrap().name,
        "goldgate"
    );
    let spans = read(&bodies);
    let names: Vec<&str> = spans
        .iter()
        .map(|span| span["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "invoke_agent helper",
            "chat model-a",
            "chat model-a",
            "chat model-a",
            "execute_tool find_order"
        ]
    );
    let (agent, calls) = spans.split_first().unwrap();
    assert_eq!(
        (
            agent["traceId"].as_str().unwrap().len(),
            agent["spanId"].as_str().unwrap().len()
        ),
        (32, 16)
    );
    assert_eq!(agent["parentSpanId"], "");
    for call in calls {
        assert_eq!(
            (&call["traceId"], &call["parentSpanId"]),
            (&agent["traceId"], &agent["spanId"])
        );
    }
    let times = |span: &Value| {
        [&span["startTimeUnixNano"], &span["endTimeUnixNano"]]
            .map(|time| time.as_str().unwrap().to_owned())
    };
    assert_eq!(
        times(agent),
        [START.to_string(), (START + 6 * SECOND).to_string()]
    );
    assert_eq!(
        times(&spans[4]),
        [
            (START + 3 * SECOND).to_string(),
            (START + 4 * SECOND).to_string()
        ]
    );
    let wanted = json!({
        "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper", "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "model-a", "gen_ai.response.model": "model-a-1", "gen_ai.usage.input_tokens": 30,
        "gen_ai.usage.output_tokens": 7, "goldgate.suite": "support", "goldgate.agent": "helper", "goldgate.case": "order-status",
        "goldgate.sample": 2, "goldgate.status": "completed", "goldgate.target": "claude", "goldgate.cache": "miss",
        "goldgate.cost_usd": 0.5 });
    assert_eq!(said(agent), wanted);
    let wanted = json!({
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "model-a",
        "gen_ai.response.model": "model-a-1", "gen_ai.response.finish_reasons": ["tool_use"], "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 4, "gen_ai.usage.output_tokens": 3 });
    assert_eq!(
        (said(&spans[2]), &spans[2]["kind"], &spans[2]["status"]),
        (wanted, &json!(3), &Value::Null)
    );
    assert_eq!(
        (&said(&spans[1])["error.type"], &spans[1]["status"]["code"]),
        (&json!("429"), &json!(2))
    );
    let wanted = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find_order", "gen_ai.tool.type": "function" });
    assert_eq!((said(&spans[4]), &spans[4]["kind"]), (wanted, &json!(1)));
}

fn no_texts() {
    let mut secret = sample(0);
    secret.record.status = RunStatus::Error;
    secret.record.error = Some("an agent's words".to_owned());
    let Steps::Seen { tool_calls, .. } = &mut secret.record.intermediate else {
        panic!("seen")
    };
    tool_calls[0].error = Some("a tool's words".to_owned());
    for (content, holds) in [(Content::Kept, false), (Content::Sent, true)] {
        let text = Value::from(sent(content, secret.clone())).to_string();
        for part in [
            "Where is my order",
            "It was shipped",
            "17}",
            "state",
            "an agent's words",
            "a tool's words",
        ] {
            assert_eq!(text.contains(part), holds, "{part}: {text}");
        }
    }
}

fn failed_sample() {
    let statuses = [
        RunStatus::Error,
        RunStatus::Timeout,
        RunStatus::Stalled,
        RunStatus::Cancelled,
    ];
    for status in statuses {
        let mut failed = sample(0);
        failed.record.status = status;
        failed.record.error = Some("no answer in 60 s".to_owned());
        let agent = &sent(Content::Sent, failed)[0];
        assert_eq!(
            agent["status"],
            json!({ "message": "no answer in 60 s", "code": 2 })
        );
        assert_eq!(
            (&said(agent)["error.type"], &said(agent)["goldgate.status"]),
            (&json!(status.as_str()), &json!(status.as_str()))
        );
    }
}

fn round_trip() {
    let repository = Repository::empty();
    let samples = [sample(0), {
        let mut second = sample(1);
        second.record.status = RunStatus::Stalled;
        second.period = period(9, 12);
        second
    }];
    let bodies = otlp::requests(&telling(Content::Sent), &samples);
    let lines: String = bodies
        .iter()
        .map(|body| {
            serde_json::to_string(&ExportTraceServiceRequest::decode(&body[..]).unwrap()).unwrap()
                + "\n"
        })
        .collect();
    repository.write("t.jsonl", lines);
    let ran = repository.goldgate(&["import", "otlp", "t.jsonl", "--out", "runs"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (
            0,
            "runs/helper/order-status/0.json\nruns/helper/order-status/1.json\n"
        ),
        "{}",
        ran.stderr
    );
    let record = |number: u32| -> Value {
        serde_json::from_str(&repository.read(&format!("runs/helper/order-status/{number}.json")))
            .unwrap()
    };
    let first = record(0);
    assert_eq!(
        (&first["inputs"]["prompt"], &first["outputs"]),
        (
            &json!("Where is my order?"),
            &json!({ "text": "It was shipped." })
        )
    );
    let call = &first["intermediate"]["tool_calls"][0];
    assert_eq!(
        (&call["name"], &call["arguments"], &call["latency_ms"]),
        (&json!("find_order"), &json!({ "order": 17 }), &json!(1000))
    );
    assert_eq!(
        (
            &first["provenance"]["model"],
            &first["metrics"]["input_tokens"]
        ),
        (&json!("model-a-1"), &json!(30))
    );
    assert_eq!(
        (&first["status"], &record(1)["status"]),
        (&json!("completed"), &json!("stalled"))
    );
}

fn ids() {
    let bytes = || otlp::requests(&telling(Content::Sent), &[sample(0), sample(1)]);
    assert_eq!(bytes(), bytes());
    let other_run = ExportedRun {
        started_at: "2026-01-02T00:00:00Z".to_owned(),
        ..telling(Content::Sent)
    };
    let other_case = {
        let mut other = sample(0);
        other.record.case = CaseId::new("other").unwrap();
        other
    };
    let mut spans = read(&bytes());
    spans.extend(read(&otlp::requests(&other_run, &[sample(0)])));
    spans.extend(sent(Content::Sent, other_case));
    let unique = |key: &str| {
        spans
            .iter()
            .map(|span| span[key].as_str().unwrap())
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    };
    assert_eq!((unique("traceId"), unique("spanId")), (4, 20));
}

fn bounds() {
    let mut long = sample(0);
    long.record.inputs.prompt = Some("ä".repeat(1_000_000));
    let spans = sent(Content::Sent, long.clone());
    let messages = said(&spans[0])["gen_ai.input.messages"]
        .as_str()
        .unwrap()
        .to_owned();
    let messages: Value = serde_json::from_str(&messages).unwrap();
    let text = messages[0]["parts"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        text.len() < 33_000 && text.ends_with(" … 1967232 bytes left out"),
        "{}",
        &text[text.len() - 40..]
    );
    let Steps::Seen { tool_calls, .. } = &mut long.record.intermediate else {
        panic!("seen")
    };
    let call = ToolCall {
        name: "n".repeat(100_000),
        ..tool_calls[0].clone()
    };
    *tool_calls = vec![call; 1234];
    let bodies = otlp::requests(&telling(Content::Kept), &vec![long; 3]);
    assert!(
        bodies.len() > 3 && bodies.iter().all(|body| body.len() < 2_200_000),
        "{} requests",
        bodies.len()
    );
    let spans = read(&bodies);
    assert_eq!(
        (spans.len(), &said(&spans[0])["goldgate.spans_left_out"]),
        (3 * 1004, &json!(234))
    );
    assert!(
        spans
            .iter()
            .all(|span| span["name"].as_str().unwrap().len() < 200)
    );
}
