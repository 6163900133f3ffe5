//! A model's server of the test's own, behind both wire formats: it calls a tool, and answers when it has the result.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use serde_json::{Value, json};

#[derive(Default)]
struct State {
    requests: Mutex<Vec<String>>,
    seen: (Mutex<bool>, Condvar),
}

/// The server; it ends with the test's process.
pub struct ModelServer {
    port: u16,
    state: Arc<State>,
}

impl ModelServer {
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let served = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = served.clone();
                thread::spawn(move || serve(stream, &state));
            }
        });
        Self { port, state }
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The heads of all requests, with their paths and headers.
    pub fn requests(&self) -> Vec<String> {
        self.state.requests.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, state: &State) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some((head, body)) = request(&mut reader) {
        state.requests.lock().unwrap().push(head.clone());
        let path = head.split(' ').nth(1).unwrap().to_owned();
        match path.as_str() {
            "/v1/seen" => {
                *state.seen.0.lock().unwrap() = true;
                state.seen.1.notify_all();
                whole(&mut stream, "{}");
            }
            "/v1/moderations" => whole(&mut stream, "{\"results\": [{\"flagged\": false}]}"),
            "/v1/deployments/m-1/chat/completions/" => {
                whole(&mut stream, &completion(&body).to_string())
            }
            "/v1/messages" => whole(&mut stream, &message(&body).to_string()),
            "/v1/chat/completions" if body["stream"] == json!(true) => pieces(&mut stream, state),
            "/v1/chat/completions" => whole(&mut stream, &completion(&body).to_string()),
            other => panic!("no path is called {other:?}"),
        }
    }
}

fn request(reader: &mut BufReader<TcpStream>) -> Option<(String, Value)> {
    let mut head = String::new();
    reader
        .read_line(&mut head)
        .ok()
        .filter(|count| *count > 0)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, serde_json::from_slice(&body).unwrap_or_default()))
}

fn whole(stream: &mut TcpStream, body: &str) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nset-cookie: session=secret-cookie\r\n";
    let _ =
        stream.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes());
}

/// The first event at once, and the others when the first one has been seen.
fn pieces(stream: &mut TcpStream, state: &State) {
    let event = |delta: &str| {
        let chunk = json!({ "id": "s-1", "model": "m-1", "choices": [{ "index": 0, "delta": { "content": delta } }] });
        format!("data: {chunk}\n\n")
    };
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let _ = stream.write_all(head.as_bytes());
    let mut send = |text: &str| {
        let _ = stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
    };
    send(&event("Order 17 was "));
    let mut seen = state.seen.0.lock().unwrap();
    while !*seen {
        seen = state.seen.1.wait(seen).unwrap();
    }
    drop(seen);
    send(&event("sent on Monday."));
    send(
        "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 11, \"completion_tokens\": 6, \"total_tokens\": 17}}\n\n",
    );
    send("data: [DONE]\n\n");
    let _ = stream.write_all(b"0\r\n\r\n");
}

fn completion(body: &Value) -> Value {
    let messages = body["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    let message = match last["role"].as_str().unwrap() {
        "user" => {
            let is_of_both = last["content"].as_str().unwrap().contains("Both orders");
            let orders = if is_of_both { vec![17, 18] } else { vec![17] };
            // Another id in every answer, as real servers do.
            let call = |order| {
                json!({ "id": format!("call_{order}_{}", number()), "type": "function",
                "function": { "name": "find_order", "arguments": json!({ "order": order }).to_string() } })
            };
            json!({ "role": "assistant", "content": null, "tool_calls": orders.into_iter().map(call).collect::<Vec<_>>() })
        }
        _ => {
            json!({ "role": "assistant", "content": format!("Order 17 was {}.", last["content"].as_str().unwrap()) })
        }
    };
    json!({ "id": format!("chatcmpl-{}", number()), "object": "chat.completion", "model": "m-1-2026",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": message }],
        "usage": { "prompt_tokens": 10 * messages.len(), "completion_tokens": 5, "total_tokens": 10 * messages.len() + 5 } })
}

fn message(body: &Value) -> Value {
    let messages = body["messages"].as_array().unwrap();
    let block = match messages.len() {
        1 => {
            json!({ "type": "tool_use", "id": format!("toolu_{}", number()), "name": "find_order", "input": { "order": 17 } })
        }
        _ => json!({ "type": "text", "text": "Order 17 was sent on Monday." }),
    };
    json!({ "id": format!("msg_{}", number()), "type": "message", "role": "assistant", "model": "m-1-2026", "content": [block],
        "stop_reason": "end_turn", "usage": { "input_tokens": 12, "output_tokens": 4 } })
}

fn number() -> u32 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .subsec_nanos()
}
