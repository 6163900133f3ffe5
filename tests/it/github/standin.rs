//! A stand-in of the parts of GitHub's REST API that goldgate uses. It keeps state, and refuses what GitHub refuses.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::TcpListener;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::Mutex;
use std::thread;

use serde_json::Value;
use serde_json::json;

/// What goes wrong with requests of one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Every one is answered so.
    Always(u16),
    /// One is answered so.
    Once(u16),
    /// One is answered with 429 and this `Retry-After`.
    Limited(u32),
    /// One is done, and its connection breaks before the answer.
    DoneButLost,
    /// One is done, and another writer's text stands there right after.
    Overwritten,
}

#[derive(Default)]
struct State {
    head: String,
    comments: Vec<(u64, String, String)>,
    next: u64,
    files: BTreeMap<String, String>,
    faults: Vec<(&'static str, Fault)>,
    requests: Vec<String>,
    tokens: Vec<String>,
}

/// The server; it ends with the test's process.
pub struct Standin {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Standin {
    pub fn new(head: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State { head: head.to_owned(), ..State::default() }));
        let served = state.clone();
        thread::spawn(move || listener.incoming().flatten().for_each(|stream| serve(stream, &served)));
        Self { port, state }
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn comment(&self, author: &str, body: &str) {
        self.state.lock().unwrap().add(author, body);
    }

    pub fn file(&self, path: &str, text: &str) {
        self.state.lock().unwrap().files.insert(path.to_owned(), text.to_owned());
    }

    pub fn fault(&self, method: &'static str, fault: Fault) {
        self.state.lock().unwrap().faults.push((method, fault));
    }

    pub fn bodies(&self, author: &str) -> Vec<String> {
        self.state
            .lock()
            .unwrap()
            .comments
            .iter()
            .filter(|(_, by, _)| by == author)
            .map(|(_, _, body)| body.clone())
            .collect()
    }

    pub fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }

    pub fn tokens(&self) -> Vec<String> {
        self.state.lock().unwrap().tokens.clone()
    }
}

impl State {
    fn add(&mut self, author: &str, body: &str) -> u64 {
        self.next += 1;
        self.comments.push((self.next, author.to_owned(), body.to_owned()));
        self.next
    }

    /// The fault that the next request of this method meets.
    fn meets(&mut self, method: &str) -> Option<Fault> {
        let place = self.faults.iter().position(|(of, _)| *of == method)?;
        let fault = self.faults[place].1;
        if !matches!(fault, Fault::Always(_)) {
            self.faults.remove(place);
        }
        Some(fault)
    }

    fn shown(&self, id: u64) -> Value {
        let (id, author, body) = self.comments.iter().find(|(found, ..)| *found == id).unwrap();
        json!({ "id": id, "body": body, "html_url": format!("https://github.example/c/{id}"), "user": { "login": author, "type": "Bot" } })
    }
}

struct Request {
    method: String,
    target: String,
    /// Whether the bytes of a file are asked for as they are.
    raw: bool,
    body: Value,
}

fn serve(stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader, state) {
        let fault = state.lock().unwrap().meets(&request.method);
        let (status, more, body) = match fault {
            Some(Fault::Always(status) | Fault::Once(status)) => {
                (status, String::new(), json!({ "message": "a fault of the test" }))
            }
            Some(Fault::Limited(seconds)) => {
                (429, format!("retry-after: {seconds}\r\n"), json!({ "message": "slow down" }))
            }
            Some(Fault::DoneButLost) => {
                answer(&request, &mut state.lock().unwrap());
                return;
            }
            Some(Fault::Overwritten) => {
                let answered = answer(&request, &mut state.lock().unwrap());
                let mut state = state.lock().unwrap();
                let old = state.comments[0].2.replace("\"run\":8", "\"run\":7");
                state.comments[0].2 = old;
                answered
            }
            None => answer(&request, &mut state.lock().unwrap()),
        };
        let text = match &body {
            _ if status == 204 => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{more}\r\n",
            text.len()
        );
        if reader.get_mut().write_all(format!("{head}{text}").as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>, state: &Mutex<State>) -> Option<Request> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|count| *count > 0)?;
    let mut parts = first.split_whitespace();
    let (method, target) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut length = 0;
    let (mut agent, mut raw) = (false, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => state.lock().unwrap().tokens.push(value.to_owned()),
            "user-agent" => agent = true,
            "accept" => raw = value == "application/vnd.github.raw+json",
            _ => {}
        }
    }
    assert!(agent, "GitHub refuses a request without a user agent");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    state.lock().unwrap().requests.push(format!("{method} {target}"));
    Some(Request { method, target, raw, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}

fn answer(request: &Request, state: &mut State) -> (u16, String, Value) {
    // A proxy is asked with the whole address.
    let target = request.target.strip_prefix("http://github.example").unwrap_or(&request.target);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let missing = (404, String::new(), json!({ "message": "Not Found" }));
    if (request.method.as_str(), path) == ("GET", "/user") {
        // A workflow's own token may not ask who it is.
        return (403, String::new(), json!({ "message": "Resource not accessible by integration" }));
    }
    let Some(rest) = path.strip_prefix("/repos/acme/agents/") else { return missing };
    let segments: Vec<&str> = rest.split('/').collect();
    match (request.method.as_str(), segments.as_slice()) {
        ("GET", ["pulls", _]) => (200, String::new(), json!({ "head": { "sha": state.head } })),
        ("GET", ["issues", _, "comments"]) => list(state, query),
        ("POST", ["issues", _, "comments"]) => {
            match request.body["body"].as_str().filter(|body| body.chars().count() <= 65_536) {
                Some(body) => {
                    let id = state.add("github-actions[bot]", body);
                    (201, String::new(), state.shown(id))
                }
                None => (422, String::new(), json!({ "message": "Validation Failed" })),
            }
        }
        (method, ["issues", "comments", id]) => {
            let id: u64 = id.parse().unwrap();
            if !state.comments.iter().any(|(found, ..)| *found == id) {
                return missing;
            }
            match method {
                "GET" => (200, String::new(), state.shown(id)),
                "PATCH" => {
                    let body = request.body["body"].as_str().unwrap().to_owned();
                    state
                        .comments
                        .iter_mut()
                        .filter(|(found, ..)| *found == id)
                        .for_each(|comment| comment.2.clone_from(&body));
                    (200, String::new(), state.shown(id))
                }
                "DELETE" => {
                    state.comments.retain(|(found, ..)| *found != id);
                    (204, String::new(), Value::Null)
                }
                // GitHub documents PATCH; a POST here is a mistake.
                _ => missing,
            }
        }
        ("GET", ["contents", path]) => match state.files.get(&path.replace("%2F", "/")) {
            Some(text) if request.raw => (200, String::new(), Value::from(text.as_str())),
            // GitHub gives no content of files above 1 MB in this form.
            Some(text) if text.len() > 1_000_000 => (200, String::new(), json!({ "encoding": "none", "content": "" })),
            Some(text) => (200, String::new(), json!({ "encoding": "base64", "content": encoded(text.as_bytes()) })),
            None => missing,
        },
        _ => missing,
    }
}

fn list(state: &State, query: &str) -> (u16, String, Value) {
    let number = |name: &str| {
        query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('=')?.parse::<usize>().ok())
    };
    let (page, size) = (number("page").unwrap_or(1), number("per_page").unwrap_or(30).min(100));
    let shown: Vec<Value> =
        state.comments.iter().skip((page - 1) * size).take(size).map(|(id, ..)| state.shown(*id)).collect();
    let link = if page * size < state.comments.len() {
        "link: <http://next>; rel=\"next\"\r\n".to_owned()
    } else {
        String::new()
    };
    (200, link, Value::Array(shown))
}

/// Base64 in lines of 60, as GitHub sends it.
fn encoded(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for (place, chunk) in bytes.chunks(3).enumerate() {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for letter in 0..4 {
            let shown = LETTERS[(group >> (18 - 6 * letter)) as usize & 63];
            out.push(if letter > chunk.len() { '=' } else { char::from(shown) });
        }
        if place % 15 == 14 {
            out.push('\n');
        }
    }
    out
}
