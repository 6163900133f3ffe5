//! A receiver of traces, and what it is sent.

use super::*;

/// A receiver that keeps what it is sent and answers as it is told; it ends with the test's process.
pub struct Receiver {
    port: u16,
    requests: Arc<Mutex<Vec<Received>>>,
}

pub struct Received {
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

pub fn receive(stream: &TcpStream) -> Received {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(
            reader.read_line(&mut head).unwrap() > 0,
            "the request's head ends"
        );
    }
    let head = head.to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .unwrap()
        .parse()
        .unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Received { head, body }
}

pub fn respond(mut stream: TcpStream, answer: &str) {
    let partial = ExportTracePartialSuccess {
        rejected_spans: 3,
        error_message: "no".to_owned(),
    };
    let partial = ExportTraceServiceResponse {
        partial_success: Some(partial),
    }
    .encode_to_vec();
    let (head, body) = match answer {
        "partial" => ("200 OK", partial),
        other => (other, Vec::new()),
    };
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    let _ = stream.write_all(&body);
}

pub fn exported(variables: &[(&str, &str)]) -> Vec<String> {
    let variables = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    export(&Env::of(variables), "2026-01-01T00:00:00Z", || {
        vec![sample(0)]
    })
}

pub fn environment() {
    let receiver = Receiver::answering(&["200 OK"]);
    let (base, own) = (
        receiver.address(),
        format!("{}/own/path", receiver.address()),
    );
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
    assert!(
        got.head.starts_with("post /v1/traces http/1.1\r\n"),
        "{}",
        got.head
    );
    for line in [
        "content-type: application/x-protobuf",
        "x-acme: a b",
        "y: c",
    ] {
        assert!(
            got.head.contains(&format!("\r\n{line}\r\n")),
            "{line}: {}",
            got.head
        );
    }
    let request = ExportTraceServiceRequest::decode(&got.body[..]).unwrap();
    let resource =
        serde_json::to_value(request.resource_spans[0].resource.as_ref().unwrap()).unwrap();
    assert_eq!(
        said(&resource),
        json!({ "service.name": "acme", "team": "gate" })
    );
    assert!(!String::from_utf8_lossy(&got.body).contains("Where is my order"));
    let own_path = sent(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &own),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ]);
    assert!(
        own_path[0].head.starts_with("post /own/path http"),
        "{}",
        own_path[0].head
    );
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
        let [got] = &sent(&variables)[..] else {
            panic!("one request")
        };
        assert!(
            got.head.starts_with("post /otel/v1/traces http"),
            "{}",
            got.head
        );
        assert!(
            got.head.contains("\r\nx-api-key: k1\r\n")
                && got.head.contains("\r\nlangsmith-project: p1\r\n"),
            "{}",
            got.head
        );
    }
    assert_eq!(
        sent(&[&newer[..], &[("OTEL_EXPORTER_OTLP_ENDPOINT", &base)]].concat()).len(),
        2,
        "both get it"
    );
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

pub fn faults() {
    let warned = |answers: &[&'static str]| {
        let receiver = Receiver::answering(answers);
        let told = exported(&[(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            &format!("{}/secret-path", receiver.address()),
        )]);
        (told, receiver.received().len())
    };
    assert_eq!(
        warned(&[
            "503 Service Unavailable",
            "429 Too Many Requests\r\nretry-after: 0",
            "200 OK"
        ]),
        (Vec::new(), 3)
    );
    let line = |what: &str| {
        vec![format!(
            "warning: traces were not sent: while sending to 127.0.0.1: {what}"
        )]
    };
    assert_eq!(
        warned(&["400 Bad Request"]),
        (line("the receiver answered 400 Bad Request"), 1)
    );
    assert_eq!(
        warned(&["503 Service Unavailable"]),
        (line("the receiver answered 503 Service Unavailable"), 3)
    );
    assert_eq!(
        warned(&["partial"]),
        (line("the receiver rejected 3 spans"), 1)
    );
    // A key in a header must not go where an answer points.
    let elsewhere = Receiver::answering(&["200 OK"]);
    let moved: &'static str = format!(
        "307 Temporary Redirect\r\nlocation: {}",
        elsewhere.address()
    )
    .leak();
    assert_eq!(
        warned(&[moved]),
        (line("the receiver answered 307 Temporary Redirect"), 1)
    );
    assert_eq!(elsewhere.received().len(), 0);
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let told = exported(&[(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        &format!("http://{closed}/secret-path"),
    )]);
    assert!(
        told.len() == 1 && !told[0].contains("secret-path") && !told[0].contains('\n'),
        "{told:?}"
    );
    assert!(
        told[0].starts_with("warning: traces were not sent: while sending to 127.0.0.1: "),
        "{told:?}"
    );
}

pub fn settings() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let table = [
        (
            vec![("LANGSMITH_TRACING", "true")],
            "LangSmith tracing is on, but LANGSMITH_API_KEY is not set",
        ),
        (
            vec![("OTEL_EXPORTER_OTLP_ENDPOINT", "key.example:4318")],
            "OTEL_EXPORTER_OTLP_ENDPOINT is not a valid address; use one such as http://host:4318",
        ),
        (
            vec![endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
            "OTEL_EXPORTER_OTLP_PROTOCOL is \"grpc\"; goldgate sends http/protobuf",
        ),
        (
            vec![endpoint, ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s")],
            "OTEL_EXPORTER_OTLP_TIMEOUT is \"10s\"; use milliseconds",
        ),
        (
            vec![endpoint, ("OTEL_EXPORTER_OTLP_HEADERS", "key")],
            "OTEL_EXPORTER_OTLP_HEADERS is not a list of name=value: an entry has no name or no value",
        ),
        (
            vec![endpoint, ("OTEL_EXPORTER_OTLP_HEADERS", "a b=key")],
            "the header \"a b\" cannot be sent: its name or value is not a valid header",
        ),
        (
            vec![endpoint, ("OTEL_EXPORTER_OTLP_HEADERS", "a=key%0Ab")],
            "the header \"a\" cannot be sent: its name or value is not a valid header",
        ),
    ];
    for (variables, what) in table {
        let told = exported(&variables);
        assert_eq!(told, [format!("warning: traces were not sent: {what}")]);
        assert!(!told[0].contains("key"), "{told:?}");
    }
    let receiver = Receiver::answering(&["200 OK"]);
    let told = exported(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.address()),
        ("OTEL_RESOURCE_ATTRIBUTES", "team"),
    ]);
    assert_eq!(
        told,
        ["warning: OTEL_RESOURCE_ATTRIBUTES is not a list of name=value and is not sent"]
    );
    assert_eq!(receiver.received().len(), 1, "the traces are");
}

pub fn real_receiver() {
    let endpoint = std::env::var("GOLDGATE_TRACES_TO").unwrap();
    assert_eq!(
        exported(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]),
        [""; 0]
    );
}
