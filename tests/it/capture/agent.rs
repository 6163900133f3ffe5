//! An agent as a user would write it, in this test binary: it knows its model's server from its environment alone.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an agent prints its answer, and its complaints"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

/// The argument that makes this binary the agent; the next ones say how it behaves.
pub const AGENT: &str = "act-as-agent";

/// One answer over HTTP.
pub struct Answer {
    pub status: u16,
    reader: BufReader<TcpStream>,
    is_chunked: bool,
    length: usize,
}

impl Answer {
    /// The next piece of the body; `None` at its end.
    pub fn piece(&mut self) -> Option<Vec<u8>> {
        let length = match self.is_chunked {
            false => std::mem::take(&mut self.length),
            true => {
                let mut line = String::new();
                self.reader.read_line(&mut line).unwrap();
                usize::from_str_radix(line.trim(), 16).unwrap_or(0)
            }
        };
        let mut piece = vec![0; length];
        self.reader.read_exact(&mut piece).unwrap();
        if self.is_chunked {
            self.reader.read_line(&mut String::new()).unwrap();
        }
        (length > 0).then_some(piece)
    }

    pub fn text(mut self) -> String {
        let mut whole = Vec::new();
        while let Some(piece) = self.piece() {
            whole.extend(piece);
        }
        String::from_utf8(whole).unwrap()
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Sends a request to an address below a base of the environment.
pub fn ask(method: &str, address: &str, key: &str, body: &str) -> Answer {
    let (host, path) = address
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let text = format!(
        "{method} /{path} HTTP/1.1\r\nhost: {host}\r\n{key}\r\ncontent-type: application/json\r\nx-run: {}\r\ncontent-length: {}\r\n\r\n{body}",
        std::process::id(),
        body.len()
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    let (mut is_chunked, mut length) = (false, 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let header = header.to_ascii_lowercase();
        is_chunked |= header.starts_with("transfer-encoding: chunked");
        if let Some(value) = header.strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        if header.trim().is_empty() {
            return Answer {
                status,
                reader,
                is_chunked,
                length,
            };
        }
    }
}

fn own_key() -> String {
    format!("authorization: Bearer {}", variable("OPENAI_API_KEY"))
}

/// The header that OpenTelemetry's exporters send.
fn exporter_key() -> String {
    variable("OTEL_EXPORTER_OTLP_HEADERS").replacen('=', ": ", 1)
}

/// The status of a request with these headers to the endpoint.
fn status_of(host: &str, key: &str, path: &str) -> String {
    let address = variable("OPENAI_BASE_URL");
    let own = address.strip_prefix("http://").unwrap().split('/').next();
    let mut stream = TcpStream::connect(own.unwrap()).unwrap();
    let body = json!({ "model": "m-1", "messages": [{ "role": "user", "content": "a stranger" }] });
    let body = body.to_string();
    let text = format!(
        "POST {path} HTTP/1.1\r\n{host}{key}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().to_owned()
}

/// What others on this machine can send: each request is refused, and the agent's own ones are answered.
fn strangers() {
    let address = variable("OPENAI_BASE_URL");
    let own = address
        .strip_prefix("http://")
        .unwrap()
        .split('/')
        .next()
        .unwrap();
    let (_, port) = own.split_once(':').unwrap();
    let host = format!("host: {own}\r\n");
    let key = format!("{}\r\n", own_key());
    let token = variable("OPENAI_API_KEY");
    let (chat, traces) = ("/openai/v1/chat/completions", "/otlp/v1/traces");
    for (host, key, path, expected) in [
        ("host: evil.example\r\n", &*key, chat, "403"),
        (&format!("host: evil.example:{port}\r\n"), &key, chat, "403"),
        ("host: 127.0.0.1\r\n", &key, chat, "403"),
        ("", &key, chat, "403"),
        (&format!("{host}host: evil.example\r\n"), &key, chat, "403"),
        (&host, "", chat, "401"),
        (
            &host,
            "authorization: Bearer goldgate-placeholder\r\n",
            chat,
            "401",
        ),
        (
            &host,
            "x-api-key: sk-goldgate-00000000000000000000000000000000\r\n",
            chat,
            "401",
        ),
        (&host, "", &format!("{chat}?key=other"), "401"),
        (&host, "", traces, "401"),
        (&host, "", "/unknown", "401"),
        (&host, &format!("x-api-key: {token}\r\n"), traces, "200"),
        (&format!("host: LocalHost:{port}\r\n"), &key, chat, "200"),
        (&host, &format!("x-api-key: {token}\r\n"), chat, "200"),
        (&host, &format!("api-key: {token}\r\n"), chat, "200"),
        (&host, &format!("x-goog-api-key: {token}\r\n"), chat, "200"),
        (&host, "", &format!("{chat}?key={token}"), "200"),
    ] {
        assert_eq!(status_of(host, key, path), expected, "{host}{key}{path}");
    }
}

fn chat(body: &Value) -> Value {
    let key = own_key();
    let address = format!("{}/chat/completions", variable("OPENAI_BASE_URL"));
    let answer = ask("POST", &address, &key, &body.to_string());
    let status = answer.status;
    let text = answer.text();
    assert_eq!(status, 200, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// A loop over OpenAI's wire format: the model calls a tool, sees its result, and answers.
fn tool_loop(query: &str, system: &str, result: &str) -> String {
    chat_loop(
        vec![
            json!({ "role": "system", "content": system }),
            json!({ "role": "user", "content": query }),
        ],
        result,
    )
}

/// The same in a conversation: the turns before, each with a call of the tool, then the query.
fn talk(query: &str) -> String {
    let before: Vec<Value> = serde_json::from_str(&variable("GOLDGATE_TURNS_BEFORE")).unwrap();
    assert_eq!(
        variable("GOLDGATE_CONVERSATION"),
        "chat/support/happy_path-0/0"
    );
    let mut messages = Vec::new();
    for turn in before {
        let function = json!({ "name": "find_order", "arguments": "{\"order\": 17}" });
        messages.extend([
            json!({ "role": "user", "content": turn["user"] }),
            json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "h1", "type": "function", "function": function }] }),
            json!({ "role": "tool", "tool_call_id": "h1", "content": "sent on Monday" }),
            json!({ "role": "assistant", "content": turn["text"] }),
        ]);
    }
    messages.push(json!({ "role": "user", "content": query }));
    chat_loop(messages, "sent on Monday")
}

fn chat_loop(mut messages: Vec<Value>, result: &str) -> String {
    loop {
        let answer = chat(
            &json!({ "model": "m-1", "messages": messages, "user": std::process::id().to_string() }),
        );
        let message = answer["choices"][0]["message"].clone();
        let calls = message["tool_calls"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        messages.push(message.clone());
        if calls.is_empty() {
            return message["content"].as_str().unwrap().to_owned();
        }
        for call in calls {
            messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": result }));
        }
    }
}

/// What the agent's file says: to print nothing, to ask once and run no tool, or to print a run record.
fn as_file(query: &str, system: &str) -> String {
    let file = std::fs::read_to_string("agent.txt").unwrap();
    let says = "Order 17 was sent on Monday.";
    if file.trim() == "is guarded" {
        let address = format!("{}/moderations", variable("OPENAI_BASE_URL"));
        ask(
            "POST",
            &address,
            &own_key(),
            &json!({ "input": query }).to_string(),
        )
        .text();
    }
    let call = json!({ "name": "find_order", "arguments": { "order": 17 } });
    let other = json!({ "name": "delete_account", "arguments": {} });
    match file.trim() {
        "runs no tool" => {
            let messages = [("system", system), ("user", query)];
            let messages =
                messages.map(|(role, content)| json!({ "role": role, "content": content }));
            chat(
                &json!({ "model": "m-1", "messages": messages, "user": std::process::id().to_string() }),
            );
            return says.to_owned();
        }
        _ => drop(tool_loop(query, system, "sent on Monday")),
    }
    match file.trim() {
        "prints a failed run" => json!({ "outputs": { "text": says }, "status": "error", "error": "lost" }).to_string(),
        "counts a call" => {
            json!({ "outputs": { "text": says }, "metrics": { "toolCallCounts": { "delete_account": 1 } } }).to_string()
        }
        "states a call otherwise" => {
            json!({ "outputs": { "text": says }, "intermediate": { "toolCalls": [other] } }).to_string()
        }
        "states a call" => {
            json!({ "outputs": { "text": says }, "intermediate": { "tool_calls": [call, other] } }).to_string()
        }
        _ => says.to_owned(),
    }
}

fn message_loop(query: &str) -> String {
    let key = format!("x-api-key: {}", variable("ANTHROPIC_API_KEY"));
    let address = format!("{}/v1/messages", variable("ANTHROPIC_BASE_URL"));
    let mut messages = vec![json!({ "role": "user", "content": query })];
    loop {
        let body = json!({ "model": "m-1", "max_tokens": 100, "messages": messages });
        let answer: Value =
            serde_json::from_str(&ask("POST", &address, &key, &body.to_string()).text()).unwrap();
        messages.push(json!({ "role": "assistant", "content": answer["content"] }));
        let block = &answer["content"][0];
        match block["type"].as_str().unwrap() {
            "tool_use" => messages.push(json!({ "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": block["id"], "content": "sent on Monday" }] })),
            _ => return block["text"].as_str().unwrap().to_owned(),
        }
    }
}

/// How a streamed answer arrives.
#[derive(PartialEq)]
enum Arrival {
    InPieces,
    AtOnce,
}

/// Reads a streamed answer. If it arrives in pieces, the server sends the first event alone until it hears that it was seen.
fn stream(query: &str, arrival: Arrival) -> String {
    let base = variable("OPENAI_BASE_URL");
    let body = json!({ "model": "m-1", "stream": true, "messages": [{ "role": "user", "content": query }] });
    let mut answer = ask(
        "POST",
        &format!("{base}/chat/completions"),
        &own_key(),
        &body.to_string(),
    );
    let mut whole = String::from_utf8(answer.piece().unwrap()).unwrap();
    if arrival == Arrival::InPieces {
        assert!(
            !whole.contains("[DONE]"),
            "the first event came alone: {whole}"
        );
    }
    assert_eq!(
        ask("GET", &format!("{base}/seen"), &own_key(), "").text(),
        "{}"
    );
    while let Some(piece) = answer.piece() {
        whole.push_str(&String::from_utf8(piece).unwrap());
    }
    let events = whole
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]");
    let deltas = events.map(|data| {
        serde_json::from_str::<Value>(data).unwrap()["choices"][0]["delta"]["content"].clone()
    });
    deltas
        .filter_map(|delta| delta.as_str().map(str::to_owned))
        .collect()
}

/// Exports a trace with a call of a tool.
fn export(query: &str) -> String {
    let text = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
    let span = |id: &str, parent: &str, name: &str, attributes: Value| {
        json!({ "traceId": "5b8efff798038103d269b633813fc60c", "spanId": id, "parentSpanId": parent, "name": name,
            "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000001000000000", "attributes": attributes })
    };
    let spans = json!([
        span(
            "eee19b7ec3c1b174",
            "",
            "invoke_agent",
            json!([
                text("gen_ai.operation.name", "invoke_agent"),
                text(
                    "gen_ai.input.messages",
                    &json!([{ "role": "user", "parts": [{ "type": "text", "content": query }] }])
                        .to_string()
                )
            ])
        ),
        span(
            "eee19b7ec3c1b175",
            "eee19b7ec3c1b174",
            "execute_tool find_order",
            json!([
                text("gen_ai.operation.name", "execute_tool"),
                text("gen_ai.tool.name", "find_order"),
                text("gen_ai.tool.call.arguments", "{\"order\": 17}")
            ])
        ),
    ]);
    let body = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] });
    let address = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    assert_eq!(
        address,
        format!("{}/v1/traces", variable("OTEL_EXPORTER_OTLP_ENDPOINT"))
    );
    assert_eq!(
        ask("POST", &address, &exporter_key(), &body.to_string()).text(),
        "{}"
    );
    "Order 17 was sent on Monday.".to_owned()
}

/// Acts as the agent that the arguments describe, and prints its answer.
pub fn act(arguments: &[String]) {
    let named = std::fs::read_to_string("agent.txt").unwrap_or_default();
    let behaviour = match arguments.first().map_or("", String::as_str) {
        "named" => named.trim(),
        stated => stated,
    };
    let mut query = String::new();
    match arguments.get(1) {
        Some(stated) => query.clone_from(stated),
        None => drop(std::io::stdin().read_to_string(&mut query).unwrap()),
    }
    let query = query.trim();
    let system = "Help customers of Acme.";
    let answer = match behaviour {
        "loop" => tool_loop(query, system, "sent on Monday"),
        "other-system" => tool_loop(query, "Be brief.", "sent on Monday"),
        "other-result" => tool_loop(query, system, "lost"),
        "other-answer" => tool_loop(query, system, "sent on Monday").replace("Monday", "someday"),
        "as-file" => as_file(query, system),
        "talk" => talk(query),
        "messages" => message_loop(query),
        "stream" => stream(query, Arrival::InPieces),
        "stream-replayed" => stream(query, Arrival::AtOnce),
        "spans" => export(query),
        "variables" => ["OPENAI_API_KEY", "ACME_REGION", "ACME_TOKEN", "HTTPS_PROXY"]
            .map(variable)
            .join(" "),
        "strangers" => {
            strangers();
            tool_loop(query, system, "sent on Monday")
        }
        "without-key" => {
            let address = format!("{}/chat/completions", variable("OPENAI_BASE_URL"));
            ask("POST", &address, "authorization: Bearer none", "{}").text();
            "Order 17 was sent on Monday.".to_owned()
        }
        "silent" => String::new(),
        "unprinted" => {
            tool_loop(query, system, "sent on Monday");
            String::new()
        }
        "flood" => {
            (0..1001).for_each(|number| {
                drop(chat(&json!({ "model": "m-1", "messages": [{ "role": "user", "content": number.to_string() }] })))
            });
            "Order 17 was sent on Monday.".to_owned()
        }
        "huge" => {
            let text = "x".repeat(17 << 20);
            chat(&json!({ "messages": [{ "role": "user", "content": text }] })).to_string()
        }
        "nowhere" => ask(
            "GET",
            &variable("OPENAI_BASE_URL").replace("/openai/v1", "/v2/x"),
            &own_key(),
            "",
        )
        .text(),
        "elsewhere" => {
            let proxy = variable("HTTP_PROXY");
            let host = proxy.strip_prefix("http://").unwrap().to_owned();
            let mut stream = TcpStream::connect(host).unwrap();
            let text = "GET http://api.example.com/v1/models HTTP/1.1\r\nhost: api.example.com\r\nconnection: close\r\n\r\n";
            stream.write_all(text.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            "Order 17 was sent on Monday.".to_owned()
        }
        "sleeps" => {
            std::thread::sleep(std::time::Duration::from_secs(60));
            String::new()
        }
        "broken" => {
            eprintln!("the tool is missing");
            std::process::exit(7)
        }
        other => panic!("no behaviour is called {other:?}"),
    };
    println!("{answer}");
}
