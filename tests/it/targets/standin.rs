//! A server of the test's own that answers as it is told and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// What came in.
#[derive(Debug, Clone)]
pub struct Received {
    pub method: String,
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub text: String,
    pub body: Value,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// What goes out.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A whole answer: status, further headers, body.
    Whole(u16, Vec<(&'static str, String)>, String),
    /// A head that promises more than comes, and then the connection's end.
    CutOff(String),
    /// A head and a first piece, and then nothing for this long.
    Stalls(String, Duration),
    /// Nothing at all for this long.
    Silent(Duration),
    /// The connection's end before anything.
    Gone,
}

/// JSON with status 200.
pub fn json(body: &Value) -> Reply {
    typed(200, "application/json", &body.to_string())
}

/// A body of some type.
pub fn typed(status: u16, kind: &str, body: &str) -> Reply {
    Reply::Whole(
        status,
        vec![("content-type", kind.to_owned())],
        body.to_owned(),
    )
}

/// The server; it ends with the test's process.
pub struct Standin {
    port: u16,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Standin {
    pub fn new(answer: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer) = (received.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (kept.clone(), answer.clone());
                thread::spawn(move || serve(stream, &kept, answer.as_ref()));
            }
        });
        Self { port, received }
    }

    /// One that always answers the same.
    pub fn always(reply: Reply) -> Self {
        Self::new(move |_| reply.clone())
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// The only request that came.
    pub fn only(&self) -> Received {
        let received = self.received();
        assert_eq!(received.len(), 1, "{received:?}");
        received[0].clone()
    }
}

fn serve(stream: TcpStream, kept: &Mutex<Vec<Received>>, answer: &dyn Fn(&Received) -> Reply) {
    let mut reader = BufReader::new(stream);
    while let Some(received) = read(&mut reader) {
        kept.lock().unwrap().push(received.clone());
        let stream = reader.get_mut();
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n";
        match answer(&received) {
            Reply::Whole(status, headers, body) => {
                let headers: String = headers
                    .iter()
                    .map(|(name, value)| format!("{name}: {value}\r\n"))
                    .collect();
                let text = format!(
                    "HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n{body}",
                    body.len()
                );
                if stream.write_all(text.as_bytes()).is_err() {
                    return;
                }
            }
            Reply::CutOff(body) => {
                let _ = stream.write_all(format!("{head}{body}").as_bytes());
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
            Reply::Stalls(body, time) => {
                let _ = stream.write_all(format!("{head}{body}").as_bytes());
                thread::sleep(time);
                return;
            }
            Reply::Silent(time) => {
                thread::sleep(time);
                return;
            }
            Reply::Gone => return,
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut first = String::new();
    reader
        .read_line(&mut first)
        .ok()
        .filter(|count| *count > 0)?;
    let mut parts = first.split_whitespace();
    let (method, target) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut headers = Vec::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        let name = name.to_ascii_lowercase();
        if name == "content-length" {
            length = value.parse().unwrap();
        }
        headers.push((name, value.to_owned()));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let text = String::from_utf8(body).unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    Some(Received {
        method,
        target,
        headers,
        text,
        body,
    })
}
