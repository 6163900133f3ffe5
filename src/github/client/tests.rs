//! Servers that answer slowly, never, or without end. The clock of these tests moves on as soon as nothing else can happen.

use std::future::pending;
use std::time::Duration;

use http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep};

use super::{GitHub, GitHubError};
use crate::world::env::Secret;

/// A client of a server that treats every connection alike.
fn client<F: Future<Output = ()> + Send + 'static>(
    serve: impl Fn(TcpStream) -> F + Send + 'static,
) -> GitHub {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let api = format!("http://{}", listener.local_addr().unwrap());
    runtime.spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(stream));
        }
    });
    GitHub::open_on(runtime, &api, "acme/agents", &Secret::new("token")).unwrap()
}

/// How a request failed, and how long that took.
fn failed(github: &GitHub) -> (String, Duration) {
    let now = |runtime: &Runtime| runtime.block_on(async { Instant::now() });
    let start = now(&github.runtime);
    let answer = github.ask(
        &Method::GET,
        "/repos/acme/agents",
        None,
        "while reading the repository",
    );
    let Err(GitHubError::Failed(error)) = answer else {
        unreachable!("it has not failed")
    };
    (format!("{error:#}"), now(&github.runtime) - start)
}

/// Reads the request and starts an answer of this many bytes.
async fn answer(stream: &mut TcpStream, length: usize) {
    assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
    stream
        .write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n").as_bytes())
        .await
        .unwrap();
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let github = client(|stream| async move {
        let _open = stream;
        pending::<()>().await;
    });
    let (said, took) = failed(&github);
    assert!(
        said.starts_with("while reading the repository (GET /repos/acme/agents): "),
        "{said}"
    );
    // Five times 30 seconds, and the waits between them.
    assert!((150..180).contains(&took.as_secs()), "{took:?}");
}

#[test]
fn an_answer_that_never_ends_is_given_up() {
    let github = client(|mut stream| async move {
        answer(&mut stream, 1_000_000).await;
        while stream.write_all(b" ").await.is_ok() {
            sleep(Duration::from_secs(20)).await;
        }
    });
    let (said, took) = failed(&github);
    assert!(said.ends_with("it took longer than 600 s"), "{said}");
    assert_eq!(took.as_secs(), 600);
}

#[test]
fn an_answer_without_bounds_is_not_kept() {
    let github = client(|mut stream| async move {
        answer(&mut stream, 1 << 40).await;
        while stream.write_all(&[b' '; 1 << 16]).await.is_ok() {}
    });
    let (said, _) = failed(&github);
    assert!(said.ends_with("it is larger than 128 MiB"), "{said}");
}

#[test]
fn an_answer_of_at_most_128_mib_is_read() {
    for (length, is_read) in [(128 << 20, true), ((128 << 20) + 1, false)] {
        let github = client(move |mut stream| async move {
            answer(&mut stream, length).await;
            let piece = [b' '; 1 << 16];
            let mut left = length;
            while left > 0
                && stream
                    .write_all(&piece[..left.min(piece.len())])
                    .await
                    .is_ok()
            {
                left -= left.min(piece.len());
            }
        });
        let answer = github.ask(
            &Method::GET,
            "/repos/acme/agents",
            None,
            "while reading the repository",
        );
        assert_eq!(answer.is_ok(), is_read, "{length}");
    }
}
