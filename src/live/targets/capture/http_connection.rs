//! A connection of a client on this machine, by HTTP/1.1: one request, and its answer, whole or in pieces.

use std::io;

use reqwest::header::{
    CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The longest head of a request, in bytes.
const LONGEST_HEAD: usize = 64 << 10;

const MOST_HEADERS: usize = 128;

#[derive(Debug, Clone, PartialEq)]
pub struct ClientRequest {
    pub method: String,
    /// The target: a path with its query, or the address of another server.
    pub target: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoRequest {
    /// The client has ended the connection before it asked anything.
    Ended,
    /// It is larger than the limit.
    TooLarge,
    /// It broke off, or is not HTTP.
    Broken(String),
}

pub struct HttpConnection {
    stream: TcpStream,
    /// Bytes that were read and not used.
    buffer: Vec<u8>,
}

impl HttpConnection {
    /// A connection that was accepted.
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    /// Reads the request, with a body of at most `most` bytes.
    pub async fn request(&mut self, most: usize) -> Result<ClientRequest, NoRequest> {
        let mut request = loop {
            if let Some((request, length)) = parsed_head(&self.buffer)? {
                self.buffer.drain(..length);
                break request;
            }
            if self.buffer.len() > LONGEST_HEAD {
                return Err(NoRequest::TooLarge);
            }
            if self.fill().await? == 0 {
                return Err(NoRequest::Ended);
            }
        };
        if request.headers.contains_key(EXPECT) {
            let sent = self
                .stream
                .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
                .await;
            sent.map_err(|error| NoRequest::Broken(error.to_string()))?;
        }
        let is_chunked = request
            .headers
            .get(TRANSFER_ENCODING)
            .is_some_and(|value| value.as_bytes().ends_with(b"chunked"));
        request.body = if is_chunked {
            self.chunked_body(most).await?
        } else {
            let length = request
                .headers
                .get(CONTENT_LENGTH)
                .and_then(|value| value.to_str().ok());
            let length = length.map_or(Ok(0), str::parse::<usize>);
            let length = length
                .map_err(|_| NoRequest::Broken("content-length is not a number".to_owned()))?;
            if length > most {
                return Err(NoRequest::TooLarge);
            }
            self.exactly(length).await?
        };
        Ok(request)
    }

    /// Answers with a whole body, and ends the connection.
    pub async fn answer(
        &mut self,
        status: u16,
        kind: &str,
        more: &str,
        body: &[u8],
    ) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {status} {}\r\ncontent-type: {kind}\r\n{more}content-length: {}\r\nconnection: close\r\n\r\n",
            reason(status),
            body.len()
        );
        self.stream.write_all(head.as_bytes()).await?;
        self.stream.write_all(body).await?;
        self.stream.shutdown().await
    }

    /// Begins an answer whose body comes in pieces.
    pub async fn begin(&mut self, status: u16, headers: &HeaderMap) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status)).into_bytes();
        for (name, value) in headers {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        if !headers.contains_key(CONTENT_TYPE) {
            head.extend_from_slice(b"content-type: application/octet-stream\r\n");
        }
        head.extend_from_slice(b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
        self.stream.write_all(&head).await
    }

    /// Sends a piece of the body at once.
    pub async fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        // An empty piece would end the body.
        if bytes.is_empty() {
            return Ok(());
        }
        self.stream
            .write_all(format!("{:x}\r\n", bytes.len()).as_bytes())
            .await?;
        self.stream.write_all(bytes).await?;
        self.stream.write_all(b"\r\n").await?;
        self.stream.flush().await
    }

    /// Ends the body. A connection that is dropped before shows the client that the answer broke off.
    pub async fn end(&mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n").await?;
        self.stream.shutdown().await
    }

    /// Reads more bytes; returns how many.
    async fn fill(&mut self) -> Result<usize, NoRequest> {
        let mut piece = vec![0; 16 << 10];
        let count = self
            .stream
            .read(&mut piece)
            .await
            .map_err(|error| NoRequest::Broken(error.to_string()))?;
        self.buffer.extend_from_slice(&piece[..count]);
        if count == 0 && !self.buffer.is_empty() {
            return Err(NoRequest::Broken("it ended in the middle".to_owned()));
        }
        Ok(count)
    }

    /// Takes exactly this number of bytes.
    async fn exactly(&mut self, length: usize) -> Result<Vec<u8>, NoRequest> {
        while self.buffer.len() < length {
            if self.fill().await? == 0 {
                return Err(NoRequest::Broken("it ended in the middle".to_owned()));
            }
        }
        Ok(self.buffer.drain(..length).collect())
    }

    async fn chunked_body(&mut self, most: usize) -> Result<Vec<u8>, NoRequest> {
        let mut body = Vec::new();
        loop {
            let (used, length) = match httparse::parse_chunk_size(&self.buffer) {
                Ok(httparse::Status::Complete(parsed)) => parsed,
                Ok(httparse::Status::Partial) if self.buffer.len() < LONGEST_HEAD => {
                    if self.fill().await? == 0 {
                        return Err(NoRequest::Broken("it ended in the middle".to_owned()));
                    }
                    continue;
                }
                Ok(httparse::Status::Partial) | Err(_) => {
                    return Err(NoRequest::Broken(
                        "a length of its body is not a number".to_owned(),
                    ));
                }
            };
            self.buffer.drain(..used);
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            if length > most.saturating_sub(body.len()) {
                return Err(NoRequest::TooLarge);
            }
            body.extend(self.exactly(length).await?);
            self.exactly(2).await?;
            if length == 0 {
                return Ok(body);
            }
        }
    }
}

/// The head of a request and its length; `None` if more of it has to come.
fn parsed_head(bytes: &[u8]) -> Result<Option<(ClientRequest, usize)>, NoRequest> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let length = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(NoRequest::Broken(error.to_string())),
    };
    let mut request = ClientRequest {
        method: head.method.unwrap_or_default().to_owned(),
        target: head.path.unwrap_or_default().to_owned(),
        headers: HeaderMap::new(),
        body: Vec::new(),
    };
    for header in head.headers.iter() {
        let name = HeaderName::from_bytes(header.name.as_bytes());
        let value = HeaderValue::from_bytes(header.value);
        if let (Ok(name), Ok(value)) = (name, value) {
            request.headers.append(name, value);
        }
    }
    Ok(Some((request, length)))
}

fn reason(status: u16) -> &'static str {
    reqwest::StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Status")
}

#[cfg(test)]
mod tests {
    use futures_util::future::join;
    use proptest::prelude::any;
    use proptest::proptest;
    use tokio::io::AsyncWriteExt;
    use tokio::net::{TcpListener, TcpStream};

    use super::{ClientRequest, HttpConnection, NoRequest, parsed_head};

    /// What is read of these bytes, sent one piece after the other.
    fn read(pieces: &[&[u8]], most: usize) -> Result<ClientRequest, NoRequest> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap())
                .await
                .unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let send = async {
                for piece in pieces {
                    // A request that was refused is not read to its end.
                    let _ = client.write_all(piece).await;
                    tokio::task::yield_now().await;
                }
                let _ = client.shutdown().await;
            };
            let mut connection = HttpConnection::new(stream);
            let (_, request) = join(send, connection.request(most)).await;
            request
        })
    }

    #[test]
    fn a_body_is_read_by_its_length_and_in_chunks() {
        let whole = read(
            &[
                b"POST /a HTTP/1.1\r\nhost: h\r\ncontent-len",
                b"gth: 5\r\n\r\nhe",
                b"llo",
            ],
            5,
        )
        .unwrap();
        assert_eq!(
            (whole.method.as_str(), whole.target.as_str(), whole.body),
            ("POST", "/a", b"hello".to_vec())
        );
        let chunks: &[&[u8]] = &[
            b"POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r",
            b"\nllo\r\n0\r\n\r\n",
        ];
        assert_eq!(read(chunks, 5).unwrap().body, b"hello");
        assert_eq!(read(chunks, 4), Err(NoRequest::TooLarge));
        assert_eq!(read(&[b"GET / HTTP/1.1\r\n\r\n"], 5).unwrap().body, b"");
    }

    #[test]
    fn anything_but_a_request_is_refused() {
        assert_eq!(read(&[], 5), Err(NoRequest::Ended));
        assert_eq!(
            read(&[b"POST / HTTP/1.1\r\ncontent-length: 6\r\n\r\n"], 5),
            Err(NoRequest::TooLarge)
        );
        let huge = [b"GET / HTTP/1.1\r\nx: ".as_slice(), &[b'a'; 70 << 10]].concat();
        assert_eq!(read(&[&huge], 5), Err(NoRequest::TooLarge));
        for broken in [
            b"POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nhe".as_slice(),
            b"POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n",
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nx\r\n",
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhe",
            b"POST / HT",
            b"\x16\x03\x01\x02\x00\x01\x00\x01",
        ] {
            assert!(
                matches!(read(&[broken], 5), Err(NoRequest::Broken(_))),
                "{broken:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_head_or_are_refused(bytes in any::<Vec<u8>>()) {
            let _ = parsed_head(&bytes);
        }
    }
}
