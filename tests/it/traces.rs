//! What is sent of live samples, as receivers read it.

use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::TcpListener;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::Mutex;
use std::thread;

use goldgate::format::otlp;
use goldgate::format::otlp::Content;
use goldgate::format::otlp::Telling;
use goldgate::model::AgentName;
use goldgate::model::Answered;
use goldgate::model::CaseId;
use goldgate::model::Chat;
use goldgate::model::Evidence;
use goldgate::model::Inputs;
use goldgate::model::Json;
use goldgate::model::Measures;
use goldgate::model::Period;
use goldgate::model::Provenance;
use goldgate::model::Record;
use goldgate::model::Recorded;
use goldgate::model::Spent;
use goldgate::model::Status;
use goldgate::model::Steps;
use goldgate::model::Stop;
use goldgate::model::SuiteId;
use goldgate::model::ToolCall;
use goldgate::model::Traced;
use goldgate::world::Env;
use goldgate::world::export;
use libtest_mimic::Trial;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTracePartialSuccess;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use serde_json::Value;
use serde_json::json;

use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a finished sample arrives as an agent's span with its calls in it", whole_sample),
        trial("no text of an agent is sent unless it is asked for", no_texts),
        trial("a sample without an answer arrives as failed", failed_sample),
        trial("what is sent and imported again is the same run", round_trip),
        trial("the same samples make the same bytes and no two samples share a trace", ids),
        trial("many samples and long texts make several requests of bounded size", bounds),
        trial("the environment says where traces go and with which headers", environment),
        trial("a receiver that is busy is asked again, and one that refuses is told in one line", faults),
        trial("a wrong setting is told in one line and shows no key", settings),
        // Said as ignored where there is none: tests/live/traces.sh starts one.
        trial("a real receiver takes a finished sample", real_receiver)
            .with_ignored_flag(std::env::var_os("GOLDGATE_TRACES_TO").is_none()),
    ]
}

const SECOND: u64 = 1_000_000_000;
const START: u64 = 1_767_225_600 * SECOND;

fn period(from: u64, to: u64) -> Period {
    Period { start: START + from * SECOND, end: START + to * SECOND }
}

fn sample(number: u32) -> Traced {
    let call = ToolCall {
        name: "find_order".to_owned(),
        arguments: Json::from(r#"{"order": 17}"#),
        result: Json::from(r#"{"state": "shipped"}"#),
        error: None,
        latency_ms: Some(1000),
    };
    let provenance =
        Provenance { model: Some("model-a-1".to_owned()), cache: Some("miss".to_owned()), ..Provenance::default() };
    let record = Record {
        agent: AgentName::new("helper").unwrap(),
        case: CaseId::new("order-status").unwrap(),
        sample: number,
        status: Status::Completed,
        error: None,
        inputs: Inputs { prompt: Some("Where is my order?".to_owned()), ..Inputs::default() },
        outputs: Json::from(r#"{"text": "It was shipped."}"#),
        intermediate: Steps::Seen { node_transitions: Vec::new(), tool_calls: vec![call], events: Vec::new() },
        evidence: Evidence::default(),
        metrics: Measures {
            input_tokens: Some(30),
            output_tokens: Some(7),
            cost_usd: Some(0.5),
            ..Measures::default()
        },
        provenance: Recorded { target: Some("claude".to_owned()), provenance, ..Recorded::default() },
    };
    let turn = |stop, input| Answered::Turn {
        model: Some("model-a-1".to_owned()),
        stop,
        spent: Spent { input, cached_input: 4, output: 3 },
    };
    let chat = |from, to, outcome| Chat {
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
            chat(0, 1, Answered::Fault("429".to_owned())),
            chat(1, 3, turn(Stop::Other("tool_use".to_owned()), 10)),
            chat(4, 6, turn(Stop::End, 20)),
        ],
        tools: vec![period(3, 4)],
    }
}

fn telling(content: Content) -> Telling {
    let resource = vec![("service.name".to_owned(), "acme".to_owned())];
    Telling { started_at: "2026-01-01T00:00:00Z".to_owned(), resource, content }
}

/// The spans as a receiver reads them, in OTLP's JSON.
fn read(bodies: &[Vec<u8>]) -> Vec<Value> {
    let requests = bodies.iter().map(|body| ExportTraceServiceRequest::decode(&body[..]).unwrap());
    let spans = requests.flat_map(|request| {
        let json = serde_json::to_value(&request).unwrap();
        json["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
    });
    spans.collect()
}

fn sent(content: Content, sample: Traced) -> Vec<Value> {
    read(&otlp::requests(&telling(content), &[sample]))
}

/// The attributes of a span, each as its plain value.
fn said(span: &Value) -> Value {
    let value = |attribute: &Value| {
        let (form, value) = attribute["value"].as_object().unwrap().iter().next().unwrap();
        match form.as_str() {
            "arrayValue" => value["values"].as_array().unwrap().iter().map(|one| one["stringValue"].clone()).collect(),
            "intValue" => json!(value.as_str().unwrap().parse::<i64>().unwrap()),
            _ => value.clone(),
        }
    };
    let pairs = span["attributes"].as_array().unwrap().iter();
    Value::Object(pairs.map(|one| (one["key"].as_str().unwrap().to_owned(), value(one))).collect())
}

fn whole_sample() {
    let bodies = otlp::requests(&telling(Content::Kept), &[sample(2)]);
    let request = ExportTraceServiceRequest::decode(&bodies[0][..]).unwrap();
    let of_resource = &request.resource_spans[0];
    assert_eq!(of_resource.resource.as_ref().unwrap().attributes[0].key, "service.name");
    assert_eq!(of_resource.scope_spans[0].scope.as_ref().unwrap().name, "goldgate");
    let spans = read(&bodies);
    let names: Vec<&str> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["invoke_agent helper", "chat model-a", "chat model-a", "chat model-a", "execute_tool find_order"]
    );
    let (agent, calls) = spans.split_first().unwrap();
    assert_eq!((agent["traceId"].as_str().unwrap().len(), agent["spanId"].as_str().unwrap().len()), (32, 16));
    assert_eq!(agent["parentSpanId"], "");
    for call in calls {
        assert_eq!((&call["traceId"], &call["parentSpanId"]), (&agent["traceId"], &agent["spanId"]));
    }
    let times = |span: &Value| {
        [&span["startTimeUnixNano"], &span["endTimeUnixNano"]].map(|time| time.as_str().unwrap().to_owned())
    };
    assert_eq!(times(agent), [START.to_string(), (START + 6 * SECOND).to_string()]);
    assert_eq!(times(&spans[4]), [(START + 3 * SECOND).to_string(), (START + 4 * SECOND).to_string()]);
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
    assert_eq!((said(&spans[2]), &spans[2]["kind"], &spans[2]["status"]), (wanted, &json!(3), &Value::Null));
    assert_eq!((&said(&spans[1])["error.type"], &spans[1]["status"]["code"]), (&json!("429"), &json!(2)));
    let wanted = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find_order", "gen_ai.tool.type": "function" });
    assert_eq!((said(&spans[4]), &spans[4]["kind"]), (wanted, &json!(1)));
}

fn no_texts() {
    let mut secret = sample(0);
    secret.record.status = Status::Error;
    secret.record.error = Some("an agent's words".to_owned());
    let Steps::Seen { tool_calls, .. } = &mut secret.record.intermediate else { panic!("seen") };
    tool_calls[0].error = Some("a tool's words".to_owned());
    for (content, holds) in [(Content::Kept, false), (Content::Sent, true)] {
        let text = Value::from(sent(content, secret.clone())).to_string();
        for part in ["Where is my order", "It was shipped", "17}", "state", "an agent's words", "a tool's words"] {
            assert_eq!(text.contains(part), holds, "{part}: {text}");
        }
    }
}

fn failed_sample() {
    let statuses = [Status::Error, Status::Timeout, Status::Stalled, Status::Cancelled];
    for status in statuses {
        let mut failed = sample(0);
        failed.record.status = status;
        failed.record.error = Some("no answer in 60 s".to_owned());
        let agent = &sent(Content::Sent, failed)[0];
        assert_eq!(agent["status"], json!({ "message": "no answer in 60 s", "code": 2 }));
        assert_eq!(
            (&said(agent)["error.type"], &said(agent)["goldgate.status"]),
            (&json!(status.word()), &json!(status.word()))
        );
    }
}

fn round_trip() {
    let repository = Repository::empty();
    let samples = [sample(0), {
        let mut second = sample(1);
        second.record.status = Status::Stalled;
        second.period = period(9, 12);
        second
    }];
    let bodies = otlp::requests(&telling(Content::Sent), &samples);
    let lines: String = bodies
        .iter()
        .map(|body| serde_json::to_string(&ExportTraceServiceRequest::decode(&body[..]).unwrap()).unwrap() + "\n")
        .collect();
    repository.write("t.jsonl", lines);
    let ran = repository.goldgate(&["import", "otlp", "t.jsonl", "--out", "runs"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "runs/helper/order-status/0.json\nruns/helper/order-status/1.json\n"),
        "{}",
        ran.stderr
    );
    let record = |number: u32| -> Value {
        serde_json::from_str(&repository.read(&format!("runs/helper/order-status/{number}.json"))).unwrap()
    };
    let first = record(0);
    assert_eq!(
        (&first["inputs"]["prompt"], &first["outputs"]),
        (&json!("Where is my order?"), &json!({ "text": "It was shipped." }))
    );
    let call = &first["intermediate"]["tool_calls"][0];
    assert_eq!(
        (&call["name"], &call["arguments"], &call["latency_ms"]),
        (&json!("find_order"), &json!({ "order": 17 }), &json!(1000))
    );
    assert_eq!((&first["provenance"]["model"], &first["metrics"]["input_tokens"]), (&json!("model-a-1"), &json!(30)));
    assert_eq!((&first["status"], &record(1)["status"]), (&json!("completed"), &json!("stalled")));
}

fn ids() {
    let bytes = || otlp::requests(&telling(Content::Sent), &[sample(0), sample(1)]);
    assert_eq!(bytes(), bytes());
    let other_run = Telling { started_at: "2026-01-02T00:00:00Z".to_owned(), ..telling(Content::Sent) };
    let other_case = {
        let mut other = sample(0);
        other.record.case = CaseId::new("other").unwrap();
        other
    };
    let mut spans = read(&bytes());
    spans.extend(read(&otlp::requests(&other_run, &[sample(0)])));
    spans.extend(sent(Content::Sent, other_case));
    let unique = |key: &str| {
        spans.iter().map(|span| span[key].as_str().unwrap()).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!((unique("traceId"), unique("spanId")), (4, 20));
}

fn bounds() {
    let mut long = sample(0);
    long.record.inputs.prompt = Some("ä".repeat(1_000_000));
    let spans = sent(Content::Sent, long.clone());
    let messages = said(&spans[0])["gen_ai.input.messages"].as_str().unwrap().to_owned();
    let messages: Value = serde_json::from_str(&messages).unwrap();
    let text = messages[0]["parts"][0]["content"].as_str().unwrap().to_owned();
    assert!(text.len() < 33_000 && text.ends_with(" … 1967232 bytes left out"), "{}", &text[text.len() - 40..]);
    let Steps::Seen { tool_calls, .. } = &mut long.record.intermediate else { panic!("seen") };
    let call = ToolCall { name: "n".repeat(100_000), ..tool_calls[0].clone() };
    *tool_calls = vec![call; 1234];
    let bodies = otlp::requests(&telling(Content::Kept), &vec![long; 3]);
    assert!(bodies.len() > 3 && bodies.iter().all(|body| body.len() < 2_200_000), "{} requests", bodies.len());
    let spans = read(&bodies);
    assert_eq!((spans.len(), &said(&spans[0])["goldgate.spans_left_out"]), (3 * 1004, &json!(234)));
    assert!(spans.iter().all(|span| span["name"].as_str().unwrap().len() < 200));
}

/// A receiver that keeps what it is sent and answers as it is told; it ends with the test's process.
struct Receiver {
    port: u16,
    requests: Arc<Mutex<Vec<Received>>>,
}

struct Received {
    head: String,
    body: Vec<u8>,
}

impl Receiver {
    /// Each request is met with the next of these answers, the last one ever after.
    fn answering(answers: &[&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, answers) = (requests.clone(), answers.to_vec());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let received = receive(&stream);
                let mut kept = kept.lock().unwrap();
                let answer = answers[kept.len().min(answers.len() - 1)];
                kept.push(received);
                respond(stream, answer);
            }
        });
        Self { port, requests }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn received(&self) -> Vec<Received> {
        std::mem::take(&mut *self.requests.lock().unwrap())
    }
}

fn receive(stream: &TcpStream) -> Received {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "the request's head ends");
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Received { head, body }
}

fn respond(mut stream: TcpStream, answer: &str) {
    let partial = ExportTracePartialSuccess { rejected_spans: 3, error_message: "no".to_owned() };
    let partial = ExportTraceServiceResponse { partial_success: Some(partial) }.encode_to_vec();
    let (head, body) = match answer {
        "partial" => ("200 OK", partial),
        other => (other, Vec::new()),
    };
    let length = body.len();
    let _ = write!(stream, "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    let _ = stream.write_all(&body);
}

fn exported(variables: &[(&str, &str)]) -> Vec<String> {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    export(&Env::of(variables), "2026-01-01T00:00:00Z", || vec![sample(0)])
}

fn environment() {
    let receiver = Receiver::answering(&["200 OK"]);
    let (base, own) = (receiver.address(), format!("{}/own/path", receiver.address()));
    let sent = |variables: &[(&str, &str)]| {
        assert_eq!(exported(variables), [""; 0]);
        receiver.received()
    };
    let [got] = &sent(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("{base}/")),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-acme=a%20b, y = c"),
        ("OTEL_RESOURCE_ATTRIBUTES", "team=gate,service.name=other"),
        ("OTEL_SERVICE_NAME", "acme"),
    ])[..] else {
        panic!("one request")
    };
    assert!(got.head.starts_with("post /v1/traces http/1.1\r\n"), "{}", got.head);
    for line in ["content-type: application/x-protobuf", "x-acme: a b", "y: c"] {
        assert!(got.head.contains(&format!("\r\n{line}\r\n")), "{line}: {}", got.head);
    }
    let request = ExportTraceServiceRequest::decode(&got.body[..]).unwrap();
    let resource = serde_json::to_value(request.resource_spans[0].resource.as_ref().unwrap()).unwrap();
    assert_eq!(said(&resource), json!({ "service.name": "acme", "team": "gate" }));
    assert!(!String::from_utf8_lossy(&got.body).contains("Where is my order"));
    let own_path = sent(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &own),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ]);
    assert!(own_path[0].head.starts_with("post /own/path http"), "{}", own_path[0].head);
    assert!(String::from_utf8_lossy(&own_path[0].body).contains("Where is my order"));
    let newer = [
        ("LANGSMITH_TRACING", "true"),
        ("LANGSMITH_ENDPOINT", &base),
        ("LANGSMITH_API_KEY", "k1"),
        ("LANGSMITH_PROJECT", "p1"),
    ];
    let older = [
        ("LANGCHAIN_TRACING_V2", "true"),
        ("LANGCHAIN_ENDPOINT", &base),
        ("LANGCHAIN_API_KEY", "k1"),
        ("LANGCHAIN_PROJECT", "p1"),
    ];
    for variables in [newer, older] {
        let [got] = &sent(&variables)[..] else { panic!("one request") };
        assert!(got.head.starts_with("post /otel/v1/traces http"), "{}", got.head);
        assert!(
            got.head.contains("\r\nx-api-key: k1\r\n") && got.head.contains("\r\nlangsmith-project: p1\r\n"),
            "{}",
            got.head
        );
    }
    assert_eq!(sent(&[&newer[..], &[("OTEL_EXPORTER_OTLP_ENDPOINT", &base)]].concat()).len(), 2, "both get it");
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", base.as_str());
    for off in [
        &[][..],
        &[("LANGSMITH_API_KEY", "k")],
        &[endpoint, ("OTEL_TRACES_EXPORTER", "none")],
        &[endpoint, ("OTEL_SDK_DISABLED", "true")],
    ] {
        assert_eq!(sent(off).len(), 0, "{off:?}");
    }
}

fn faults() {
    let warned = |answers: &[&'static str]| {
        let receiver = Receiver::answering(answers);
        let told = exported(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("{}/secret-path", receiver.address()))]);
        (told, receiver.received().len())
    };
    assert_eq!(
        warned(&["503 Service Unavailable", "429 Too Many Requests\r\nretry-after: 0", "200 OK"]),
        (Vec::new(), 3)
    );
    let line = |what: &str| vec![format!("warning: traces were not sent: while sending to 127.0.0.1: {what}")];
    assert_eq!(warned(&["400 Bad Request"]), (line("the receiver answered 400 Bad Request"), 1));
    assert_eq!(warned(&["503 Service Unavailable"]), (line("the receiver answered 503 Service Unavailable"), 3));
    assert_eq!(warned(&["partial"]), (line("the receiver did not take 3 spans"), 1));
    // A key in a header must not go where an answer points.
    let elsewhere = Receiver::answering(&["200 OK"]);
    let moved: &'static str = format!("307 Temporary Redirect\r\nlocation: {}", elsewhere.address()).leak();
    assert_eq!(warned(&[moved]), (line("the receiver answered 307 Temporary Redirect"), 1));
    assert_eq!(elsewhere.received().len(), 0);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let told = exported(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://{closed}/secret-path"))]);
    assert!(told.len() == 1 && !told[0].contains("secret-path") && !told[0].contains('\n'), "{told:?}");
    assert!(told[0].starts_with("warning: traces were not sent: while sending to 127.0.0.1: "), "{told:?}");
}

fn settings() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let table = [
        (vec![("LANGSMITH_TRACING", "true")], "LangSmith's tracing is on, and LANGSMITH_API_KEY is not set"),
        (
            vec![("OTEL_EXPORTER_OTLP_ENDPOINT", "key.example:4318")],
            "OTEL_EXPORTER_OTLP_ENDPOINT is no address; http://host:4318 would be right",
        ),
        (
            vec![endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
            "OTEL_EXPORTER_OTLP_PROTOCOL is \"grpc\"; goldgate sends http/protobuf",
        ),
        (
            vec![endpoint, ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s")],
            "OTEL_EXPORTER_OTLP_TIMEOUT is \"10s\"; milliseconds would be right",
        ),
        (
            vec![endpoint, ("OTEL_EXPORTER_OTLP_HEADERS", "key")],
            "OTEL_EXPORTER_OTLP_HEADERS is no list of name=value: a part of it has no name, or no value",
        ),
        (
            vec![endpoint, ("OTEL_EXPORTER_OTLP_HEADERS", "a b=key")],
            "the header \"a b\" cannot be sent: its name or value is no header's",
        ),
        (
            vec![endpoint, ("OTEL_EXPORTER_OTLP_HEADERS", "a=key%0Ab")],
            "the header \"a\" cannot be sent: its name or value is no header's",
        ),
    ];
    for (variables, what) in table {
        let told = exported(&variables);
        assert_eq!(told, [format!("warning: traces were not sent: {what}")]);
        assert!(!told[0].contains("key"), "{told:?}");
    }
    let receiver = Receiver::answering(&["200 OK"]);
    let told = exported(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.address()), ("OTEL_RESOURCE_ATTRIBUTES", "team")]);
    assert_eq!(told, ["warning: OTEL_RESOURCE_ATTRIBUTES is no list of name=value: it is not sent"]);
    assert_eq!(receiver.received().len(), 1, "the traces are");
}

fn real_receiver() {
    let endpoint = std::env::var("GOLDGATE_TRACES_TO").unwrap();
    assert_eq!(exported(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]), [""; 0]);
}
