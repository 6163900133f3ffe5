//! An endpoint behind both vendors' wire formats that answers as a careful reviewer would, and misbehaves as asked.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// What is answered, by the number of the request and the prompt's text.
pub type Script = dyn Fn(usize, &str) -> Answer + Send + Sync;

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The model says this.
    Says(String),
    /// The model calls this tool, without arguments.
    Calls(&'static str),
    /// The model says this, and the server does not tell how many tokens that took, or tells what cannot be.
    Unmetered(String),
    /// A status, with headers and a body.
    Status(u16, &'static str, &'static str),
    /// The connection is closed without a word.
    Reset,
    /// The answer begins and then stops.
    Stalls,
    /// The answer is cut in the middle, though its length was told.
    Truncated,
    /// A page for people, with the status of success.
    Page,
}

#[derive(Default)]
struct State {
    requests: usize,
    /// How often each prompt was answered in full.
    answered: BTreeMap<String, usize>,
    bodies: Vec<Value>,
    keys: Vec<String>,
}

/// The server; it ends with the test's process.
pub struct Endpoint {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Endpoint {
    pub fn new(
        latency: Duration,
        script: impl Fn(usize, &str) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state: Arc<Mutex<State>> = Arc::default();
        let (served, script): (_, Arc<Script>) = (state.clone(), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, script) = (served.clone(), script.clone());
                thread::spawn(move || {
                    // A client that went away ends its connection, and nothing else.
                    let _ = serve(stream, latency, &state, &*script);
                });
            }
        });
        Self { port, state }
    }

    /// The address, without a path.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn requests(&self) -> usize {
        self.state.lock().unwrap().requests
    }

    pub fn answered(&self) -> usize {
        self.state.lock().unwrap().answered.values().sum()
    }

    pub fn bodies(&self) -> Vec<Value> {
        self.state.lock().unwrap().bodies.clone()
    }

    pub fn keys(&self) -> Vec<String> {
        self.state.lock().unwrap().keys.clone()
    }
}

#[allow(clippy::too_many_lines, reason = "one scenario, told in its order")]
fn serve(
    stream: TcpStream,
    latency: Duration,
    state: &Mutex<State>,
    script: &Script,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let (mut length, mut key) = (0, String::new());
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            let lower = header.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if lower.starts_with("authorization:") || lower.starts_with("x-api-key:") {
                key = header.split_once(':').unwrap().1.trim().to_owned();
            }
            if header.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let prompt = prompt(&body);
        let number = {
            let mut state = state.lock().unwrap();
            state.requests += 1;
            state.bodies.push(body.clone());
            state.keys.push(key);
            state.requests - 1
        };
        thread::sleep(latency);
        match script(number, &prompt) {
            Answer::Says(text) => {
                *state.lock().unwrap().answered.entry(prompt).or_insert(0) += 1;
                write(
                    &mut stream,
                    200,
                    "",
                    "application/json",
                    &turn(&path, &text, &body),
                )?;
            }
            Answer::Calls(tool) => {
                write(
                    &mut stream,
                    200,
                    "",
                    "application/json",
                    &call(&path, tool, &body),
                )?;
            }
            Answer::Unmetered(text) => {
                let mut answer: Value = serde_json::from_str(&turn(&path, &text, &body)).unwrap();
                let usages = [
                    json!(null),
                    json!({ "prompt_tokens": 0, "completion_tokens": 0 }),
                    json!({ "prompt_tokens": -5, "completion_tokens": -7 }),
                    json!({ "prompt_tokens": "9", "completion_tokens": 1.5 }),
                    json!([]),
                ];
                answer["usage"] = usages[number % usages.len()].clone();
                if number % 2 == 0 {
                    answer.as_object_mut().unwrap().remove("usage");
                }
                write(
                    &mut stream,
                    200,
                    "",
                    "application/json",
                    &answer.to_string(),
                )?;
            }
            Answer::Status(code, headers, body) => {
                write(&mut stream, code, headers, "application/json", body)?
            }
            Answer::Reset => return Ok(()),
            Answer::Stalls => {
                stream.write_all(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{\"id\"",
                )?;
                stream.flush()?;
                thread::sleep(Duration::from_secs(30));
                return Ok(());
            }
            Answer::Truncated => {
                let whole = turn(&path, "cut", &body);
                let half = &whole[..whole.len() / 2];
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                    whole.len()
                );
                stream.write_all(format!("{head}{half}").as_bytes())?;
                return stream.flush();
            }
            Answer::Page => write(
                &mut stream,
                200,
                "",
                "text/html",
                "<html><body>Please sign in</body></html>",
            )?,
        }
    }
}

/// What the user said first.
fn prompt(body: &Value) -> String {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let user = messages
        .iter()
        .find(|message| message["role"] == "user")
        .cloned()
        .unwrap_or_default();
    match &user["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

fn turn(path: &str, text: &str, body: &Value) -> String {
    let model = body["model"].clone();
    if path.ends_with("/messages") {
        let forced = body["tool_choice"]["name"].as_str();
        let content = match (forced, serde_json::from_str::<Value>(text)) {
            (Some(tool), Ok(input)) => {
                json!([{ "type": "tool_use", "id": "t1", "name": tool, "input": input }])
            }
            _ => json!([{ "type": "text", "text": text }]),
        };
        let stop = if forced.is_some() {
            "tool_use"
        } else {
            "end_turn"
        };
        let usage = json!({ "input_tokens": 100, "output_tokens": 20 });
        return json!({ "id": "m", "type": "message", "role": "assistant", "model": model, "content": content, "stop_reason": stop, "usage": usage })
            .to_string();
    }
    let message = json!({ "role": "assistant", "content": text });
    json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": model,
        "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 },
    })
    .to_string()
}

fn call(path: &str, tool: &str, body: &Value) -> String {
    let mut answer: Value = serde_json::from_str(&turn(path, "", body)).unwrap();
    let id = format!("t{}", body["messages"].as_array().map_or(0, Vec::len));
    match path.ends_with("/messages") {
        true => {
            answer["content"] =
                json!([{ "type": "tool_use", "id": id, "name": tool, "input": {} }]);
            answer["stop_reason"] = json!("tool_use");
        }
        false => {
            let function = json!({ "name": tool, "arguments": "{}" });
            answer["choices"][0]["message"] = json!({ "role": "assistant", "content": null,
                "tool_calls": [{ "id": id, "type": "function", "function": function }] });
            answer["choices"][0]["finish_reason"] = json!("tool_calls");
        }
    }
    answer.to_string()
}

fn write(
    stream: &mut TcpStream,
    code: u16,
    headers: &str,
    kind: &str,
    body: &str,
) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {code} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes())?;
    stream.flush()
}
