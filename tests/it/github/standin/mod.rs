//! A stand-in of the parts of GitHub's API that goldgate uses. It keeps state, and refuses what GitHub refuses. Each area of
//! routes has a file of its own; this one speaks HTTP and knows who is asked.

pub mod account;
mod approval;
mod archives;
mod checks;
mod comments;
pub mod commits;
mod comparisons;
mod contents;
mod git_data;
mod graphql;
mod labels;
pub mod pulls;
mod renamed;
pub mod runs;
pub mod settings;
mod trees;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// The name under which a workflow's own token writes.
pub const BOT: &str = "github-actions[bot]";

/// What goes wrong with requests of one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Every one is answered so.
    Always(u16),
    /// One is answered so.
    Once(u16),
    /// Every one is answered with 403 and this message.
    Says(&'static str),
    /// One is answered with 429 and this `Retry-After`.
    Limited(u32),
    /// Every one is answered with 403, because the hour's requests are used up until so many seconds later.
    UsedUp(u64),
    /// One is answered with 403, because of a secondary limit with this `Retry-After`.
    Secondary(u32),
    /// One is done, and its connection breaks before the answer.
    DoneButLost,
    /// One is done, and another writer's text stands there right after.
    Overwritten,
}

impl Fault {
    /// Whether an interruption by it hits one request, or all that follow.
    fn is_of_one(self) -> bool {
        match self {
            Self::Once(_) | Self::DoneButLost | Self::Overwritten => true,
            Self::Always(_)
            | Self::Says(_)
            | Self::Limited(_)
            | Self::UsedUp(_)
            | Self::Secondary(_) => false,
        }
    }
}

/// All that the stand-in keeps; an area's file changes its own part.
#[derive(Default)]
pub struct State {
    account: account::Account,
    comments: comments::Comments,
    contents: contents::Contents,
    approval: approval::Approvals,
    archives: archives::Archives,
    checks: checks::Checks,
    commits: commits::Commits,
    graphql: graphql::Commits,
    labels: labels::Labels,
    pulls: pulls::Pulls,
    runs: runs::Runs,
    settings: settings::Settings,
    trees: trees::Trees,
    port: u16,
    renamed: Option<String>,
    faults: Vec<(&'static str, Fault)>,
    denied: Vec<&'static str>,
    /// The number of requests that are answered before this fault.
    left: Option<(usize, Fault)>,
    /// Parts of paths that this server does not know.
    lacking: Vec<&'static str>,
    /// Seconds since the beginning: every change of this server's state has a time of its own.
    seconds: u64,
    requests: Vec<String>,
    tokens: Vec<String>,
}

/// The server; it ends with the test's process. A copy is the same server.
#[derive(Clone)]
pub struct Standin {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Standin {
    pub fn new(head: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State {
            port,
            ..State::default()
        }));
        state.lock().unwrap().pulls.open(head);
        let served = state.clone();
        thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| {
                let served = served.clone();
                thread::spawn(move || serve(stream, &served));
            });
        });
        Self { port, state }
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn fault(&self, method: &'static str, fault: Fault) {
        self.change(|state| state.faults.push((method, fault)));
    }

    /// The token lacks a permission, such as `statuses: write`: what needs it is answered with 403.
    pub fn deny(&self, permission: &'static str) {
        self.change(|state| state.denied.push(permission));
    }

    /// The token gets a permission that it lacked.
    pub fn allow(&self, permission: &'static str) {
        self.change(|state| state.denied.retain(|denied| *denied != permission));
    }

    /// After this number of requests, whatever their method, this goes wrong: with one of them, or with all that follow.
    pub fn interrupt_after(&self, requests: usize, fault: Fault) {
        self.change(|state| state.left = Some((requests, fault)));
    }

    /// An older server, which does not know these parts of paths: it answers 404.
    pub fn lack(&self, parts: &[&'static str]) {
        self.change(|state| state.lacking = parts.to_vec());
    }

    pub fn requests(&self) -> Vec<String> {
        self.change(|state| state.requests.clone())
    }

    pub fn tokens(&self) -> Vec<String> {
        self.change(|state| state.tokens.clone())
    }

    /// Changes or reads the state.
    pub fn change<T>(&self, what: impl FnOnce(&mut State) -> T) -> T {
        what(&mut self.state.lock().unwrap())
    }
}

impl State {
    /// The fault that the next request of this method meets.
    fn meets(&mut self, method: &str, path: &str) -> Option<Fault> {
        match &mut self.left {
            Some((0, fault)) => {
                let fault = *fault;
                if fault.is_of_one() {
                    self.left = None;
                }
                return Some(fault);
            }
            Some((left, _)) => *left -= 1,
            None => {}
        }
        // The faults of a method are those of REST.
        if path == "/graphql" {
            return None;
        }
        let place = self.faults.iter().position(|(of, _)| *of == method)?;
        let fault = self.faults[place].1;
        if !matches!(fault, Fault::Always(_) | Fault::Says(_) | Fault::UsedUp(_)) {
            self.faults.remove(place);
        }
        Some(fault)
    }

    /// The time of a change, in GitHub's form.
    pub fn tick(&mut self) -> String {
        self.seconds += 1;
        format!(
            "2026-11-21T{:02}:{:02}:{:02}Z",
            self.seconds / 3600,
            self.seconds / 60 % 60,
            self.seconds % 60
        )
    }

    /// What somebody does while a job works.
    fn meanwhile(&mut self) {
        let (unlabels, pushed, relabels) = self.approval.happens_meanwhile();
        let at = self.tick();
        if let Some(run) = relabels {
            let label = crate::github::approval::LABEL;
            self.approval.unlabel_all(&at);
            self.approval.add_label(2, ["mallory", label, &at]);
            self.runs.begin_again(run);
        }
        if unlabels {
            self.approval.unlabel_all(&at);
        }
        if let Some(commit) = pushed {
            self.approval.push("Codertocat", &commit, &at);
            self.pulls.push("changes", &commit);
        }
    }

    /// Nothing goes wrong any more.
    pub fn heal(&mut self) {
        self.faults.clear();
        self.left = None;
    }

    /// Whether the token has a permission.
    fn allows(&self, permission: &str) -> bool {
        !self.denied.contains(&permission)
    }
}

/// A request as it came.
pub struct Request {
    pub method: String,
    pub path: String,
    pub query: String,
    /// Whether the bytes of a file are asked for as they are.
    pub raw: bool,
    /// Whether it carries a token.
    pub has_token: bool,
    pub body: Value,
}

impl Request {
    /// A value of the query, with `%2F` and `%3A` read.
    pub fn asked(&self, name: &str) -> Option<String> {
        let value = self
            .query
            .split('&')
            .find_map(|part| part.strip_prefix(name)?.strip_prefix('='))?;
        Some(decoded(value))
    }

    /// The page of a list, with the header that says whether there is a next one.
    pub fn page<T>(&self, all: &[T], shown: impl FnMut(&T) -> Value) -> Answer {
        Answer {
            headers: self.more(all.len()),
            ..ok(self.slice(all, shown))
        }
    }

    /// The page of a list alone, for an answer that wraps it.
    pub fn slice<T>(&self, all: &[T], shown: impl FnMut(&T) -> Value) -> Value {
        let (page, size) = self.window();
        Value::Array(
            all.iter()
                .skip((page - 1) * size)
                .take(size)
                .map(shown)
                .collect(),
        )
    }

    /// The header that says whether there is a next page.
    pub fn more(&self, count: usize) -> String {
        let (page, size) = self.window();
        if page * size < count {
            "link: <http://next>; rel=\"next\"\r\n".to_owned()
        } else {
            String::new()
        }
    }

    fn window(&self) -> (usize, usize) {
        let number = |name: &str| self.asked(name).and_then(|text| text.parse::<usize>().ok());
        (
            number("page").unwrap_or(1),
            number("per_page").unwrap_or(30).min(100),
        )
    }
}

/// What is answered.
pub struct Answer {
    pub status: u16,
    /// Further header lines, each with its line end.
    pub headers: String,
    pub body: Body,
}

/// The body of an answer.
pub enum Body {
    Json(Value),
    Bytes(Vec<u8>),
}

pub fn ok(body: Value) -> Answer {
    status(200, body)
}

pub fn status(status: u16, body: Value) -> Answer {
    Answer {
        status,
        headers: String::new(),
        body: Body::Json(body),
    }
}

pub fn missing() -> Answer {
    status(404, json!({ "message": "Not Found" }))
}

/// What GitHub answers to a token that lacks a permission. The header names what would do: permissions of a set are separated by
/// commas, sets by semicolons (docs, "Troubleshooting the REST API", "Insufficient permissions errors").
pub fn forbidden(accepted: &str) -> Answer {
    let answer = status(
        403,
        json!({ "message": "Resource not accessible by integration" }),
    );
    Answer {
        headers: format!(
            "x-accepted-github-permissions: {accepted}\r\nx-ratelimit-remaining: 900\r\n"
        ),
        ..answer
    }
}

/// The hour's requests of the token are used up (docs, "Rate limits for the REST API": 403 or 429, `x-ratelimit-remaining` is 0).
fn used_up(seconds: u64) -> Answer {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let answer = status(
        403,
        json!({ "message": "API rate limit exceeded for installation ID 1." }),
    );
    Answer {
        headers: format!(
            "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: {}\r\n",
            now + seconds
        ),
        ..answer
    }
}

/// Too many requests in a short time (docs, "Rate limits for the REST API", "Exceeding the rate limit").
fn secondary(seconds: u32) -> Answer {
    let text =
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    Answer {
        headers: format!("retry-after: {seconds}\r\n"),
        ..status(403, json!({ "message": text }))
    }
}

pub fn invalid() -> Answer {
    status(422, json!({ "message": "Validation Failed" }))
}

pub fn nothing() -> Answer {
    Answer {
        status: 204,
        headers: String::new(),
        body: Body::Bytes(Vec::new()),
    }
}

/// A percent-encoded text.
pub fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        match (first, after) {
            (b'%', [high, low, left @ ..]) => {
                let digits = [*high, *low];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
                rest = left;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn serve(stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader, state) {
        let mut state = state.lock().unwrap();
        let fault = state.meets(&request.method, &request.path);
        let answered = match fault {
            // What GitHub says to a token that lacks a permission, where it names none.
            Some(Fault::Always(403) | Fault::Once(403)) => status(
                403,
                json!({ "message": "Resource not accessible by integration" }),
            ),
            // GitHub gives the cause of another 403 in its message alone (docs, "Troubleshooting the REST API").
            Some(Fault::Says(message)) => status(403, json!({ "message": message })),
            Some(Fault::Always(code) | Fault::Once(code)) => {
                status(code, json!({ "message": "a fault of the test" }))
            }
            Some(Fault::UsedUp(_)) if request.path == "/graphql" => graphql::used_up(),
            Some(Fault::UsedUp(seconds)) => used_up(seconds),
            Some(Fault::Secondary(seconds)) => secondary(seconds),
            Some(Fault::Limited(seconds)) => {
                let slow = status(429, json!({ "message": "slow down" }));
                Answer {
                    headers: format!("retry-after: {seconds}\r\n"),
                    ..slow
                }
            }
            Some(Fault::DoneButLost) => {
                answer(&request, &mut state);
                return;
            }
            Some(Fault::Overwritten) => {
                let answered = answer(&request, &mut state);
                state.comments.overwrite();
                answered
            }
            None => renamed::answer(request, &mut state),
        };
        drop(state);
        let body = match answered.body {
            Body::Json(Value::String(text)) => text.into_bytes(),
            Body::Json(other) => other.to_string().into_bytes(),
            Body::Bytes(bytes) => bytes,
        };
        let head = format!(
            "HTTP/1.1 {} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{}\r\n",
            answered.status,
            body.len(),
            answered.headers
        );
        let sent = reader
            .get_mut()
            .write_all(head.as_bytes())
            .and_then(|()| reader.get_mut().write_all(&body));
        if sent.is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>, state: &Mutex<State>) -> Option<Request> {
    let mut first = String::new();
    reader
        .read_line(&mut first)
        .ok()
        .filter(|count| *count > 0)?;
    let mut parts = first.split_whitespace();
    let (method, target) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut length = 0;
    let (mut agent, mut raw, mut has_token) = (false, false, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => {
                has_token = true;
                state.lock().unwrap().tokens.push(value.to_owned());
            }
            "user-agent" => agent = true,
            "accept" => raw = value == "application/vnd.github.raw+json",
            _ => {}
        }
    }
    assert!(agent, "GitHub refuses a request without a user agent");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    state
        .lock()
        .unwrap()
        .requests
        .push(format!("{method} {target}"));
    // A proxy is asked with the whole address.
    let target = target
        .strip_prefix("http://github.example")
        .unwrap_or(&target);
    // GitHub Enterprise Server: REST is below /api/v3, GraphQL below /api.
    let target = ["/api/v3", "/api"]
        .iter()
        .find_map(|prefix| target.strip_prefix(prefix))
        .unwrap_or(target);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    Some(Request {
        method,
        path,
        query,
        raw,
        has_token,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    })
}

/// Asks every area in turn; the first that knows the route answers.
fn answer(request: &Request, state: &mut State) -> Answer {
    match (request.method.as_str(), request.path.as_str()) {
        // No installation token may ask it, and GITHUB_TOKEN is one (actions/create-github-app-token#258).
        ("GET", "/user") => return forbidden(""),
        ("POST", "/graphql") => return graphql::answer(request, state),
        _ => {}
    }
    if let Some(answered) = archives::stored(request, state) {
        return answered;
    }
    if state.lacking.iter().any(|part| request.path.contains(part)) {
        return missing();
    }
    if let Some(answered) = settings::elsewhere(request, state) {
        return answered;
    }
    // Anybody may read the activity of a public fork.
    let of_fork = request
        .path
        .strip_prefix("/repos/mallory/agents")
        .filter(|rest| *rest == "/activity");
    let Some(rest) = request.path.strip_prefix("/repos/acme/agents").or(of_fork) else {
        return missing();
    };
    let segments: Vec<&str> = rest
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    let areas = [
        comments::answer,
        contents::answer,
        approval::answer,
        labels::answer,
        archives::answer,
        runs::answer,
        commits::answer,
        checks::answer,
        pulls::answer,
        settings::answer,
        trees::answer,
    ];
    areas
        .into_iter()
        .find_map(|area| area(request, &segments, state))
        .unwrap_or_else(missing)
}
