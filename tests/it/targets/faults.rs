//! What a server does wrong, and what goldgate makes of it.

use std::time::{Duration, Instant};

use goldgate::live::targets::{ChatModel, Live, Timeouts};
use goldgate::model::{CallError, Charge, RecordPolicy, Retry, RunStatus, Target, Transport, Wire};
use libtest_mimic::Trial;
use serde_json::json;

use super::standin::{Reply, Standin, json, typed};
use super::{PATIENCE, conversation, env, provider, request, wait};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "every status of a server is told apart: try again, later, or never",
            statuses,
        ),
        trial(
            "an answer that is cut off or no JSON can be tried again",
            bodies,
        ),
        trial("a connection that breaks can be tried again", connections),
        trial("an answer that does not come is a timeout", silent),
        trial("an answer that stops in the middle is stalled", stalled),
        trial(
            "an answer that comes slowly but goes on is waited for",
            thinking,
        ),
        trial("an answer that never ends is not read for ever", endless),
        trial("no redirection is followed with a key", redirected),
        trial(
            "an agent behind HTTP is asked with a request and answers with its record",
            posted,
        ),
    ]
}

const SHORT: Timeouts = Timeouts {
    call: Duration::from_millis(700),
    stall: Duration::from_millis(300),
};

fn fault_of(wire: Wire, reply: Reply, retry: Timeouts) -> CallError {
    let server = Standin::always(reply);
    let mut provider = provider(wire, Some(server.address()));
    provider.api_key_env = Some("KEY".to_owned());
    let chat = ChatModel::open(&provider, retry, &env(&[("KEY", "sk-secret-1")])).unwrap();
    let fault = wait(chat.turn(&conversation())).unwrap_err();
    assert!(
        !fault.what.contains("sk-secret") && !fault.what.contains('\n'),
        "{}",
        fault.what
    );
    assert!(fault.what.chars().count() < 600, "{}", fault.what);
    fault
}

fn later(seconds: f64) -> Retry {
    Retry::Later {
        after: Some(Duration::from_secs_f64(seconds)),
    }
}

const AGAIN: Retry = Retry::Later { after: None };

fn statuses() {
    let openai = json!({ "error": { "message": "bad\nthings \u{1b}[31m", "type": "x", "param": null, "code": null } });
    let anthropic = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    for (wire, body, said) in [
        (Wire::OpenAi, &openai, "bad things [31m"),
        (Wire::Anthropic, &anthropic, "Overloaded"),
    ] {
        for status in [400, 401, 403, 404, 413, 422] {
            let fault = fault_of(
                wire,
                typed(status, "application/json", &body.to_string()),
                PATIENCE,
            );
            let what = format!("HTTP {status}: {said}");
            assert_eq!(
                fault,
                CallError {
                    status: RunStatus::Error,
                    what,
                    retry: Retry::Never,
                    charge: Charge::Never
                }
            );
        }
        for status in [408, 409, 429, 500, 502, 503, 529] {
            let fault = fault_of(
                wire,
                typed(status, "application/json", &body.to_string()),
                PATIENCE,
            );
            let what = format!("HTTP {status}: {said}");
            assert_eq!(
                fault,
                CallError {
                    status: RunStatus::Error,
                    what,
                    retry: AGAIN,
                    charge: Charge::Never
                }
            );
        }
    }
    let date = ("date", "Wed, 21 Oct 2026 07:28:00 GMT".to_owned());
    for (headers, retry) in [
        (vec![("retry-after", "7".to_owned())], later(7.0)),
        (vec![("retry-after", "0".to_owned())], later(0.0)),
        (vec![("retry-after", "1.5".to_owned())], later(1.5)),
        (vec![("retry-after", "-3".to_owned())], later(0.0)),
        (vec![("retry-after", "soon".to_owned())], AGAIN),
        (vec![("retry-after", "inf".to_owned())], AGAIN),
        (
            vec![
                ("retry-after-ms", "250".to_owned()),
                ("retry-after", "1".to_owned()),
            ],
            later(0.25),
        ),
        (
            vec![
                ("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT".to_owned()),
                date.clone(),
            ],
            later(30.0),
        ),
        (
            vec![
                ("retry-after", "Wed, 21 Oct 2026 07:20:00 GMT".to_owned()),
                date,
            ],
            later(0.0),
        ),
        (
            vec![("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT".to_owned())],
            AGAIN,
        ),
        (vec![("x-should-retry", "false".to_owned())], Retry::Never),
    ] {
        let reply = Reply::Whole(429, headers.clone(), openai.to_string());
        assert_eq!(
            fault_of(Wire::OpenAi, reply, PATIENCE).retry,
            retry,
            "{headers:?}"
        );
    }
    let poor = json!({ "error": { "message": "no money", "code": "insufficient_quota" } });
    let fault = fault_of(
        Wire::OpenAi,
        typed(429, "application/json", &poor.to_string()),
        PATIENCE,
    );
    assert_eq!(fault.retry, Retry::Never);
    let page = typed(502, "text/html", "<html>\n<h1>Bad Gateway</h1>");
    assert_eq!(
        fault_of(Wire::OpenAi, page, PATIENCE).what,
        "HTTP 502: <html> <h1>Bad Gateway</h1>"
    );
}

fn bodies() {
    for (reply, what) in [
        (
            typed(200, "application/json", "{\"choices\": [{\"mess"),
            "the answer of 19 bytes is cut off: {\"choices\": [{\"mess",
        ),
        (
            typed(200, "application/json", "{oops}"),
            "the answer of 6 bytes is not valid JSON: {oops}",
        ),
        (
            typed(200, "application/json", ""),
            "the answer of 0 bytes is cut off: ",
        ),
        (
            typed(200, "text/html; charset=utf-8", "<html>\n\u{7}hi"),
            "the answer is text/html, not JSON: <html> hi",
        ),
        (
            typed(200, "text/plain", "{}"),
            "the answer is text/plain, not JSON: {}",
        ),
        (json(&json!({})), "the answer has no choices[0].message: {}"),
        (
            json(&json!({ "error": { "message": "upstream\nfailed" } })),
            "the answer has no choices[0].message: the server says upstream failed",
        ),
        (
            json(&json!([1])),
            "the answer has no choices[0].message: [1]",
        ),
    ] {
        let fault = fault_of(Wire::OpenAi, reply, PATIENCE);
        assert_eq!(
            fault,
            CallError {
                status: RunStatus::Error,
                what: what.to_owned(),
                retry: AGAIN,
                charge: Charge::Possible
            }
        );
    }
    let fault = fault_of(
        Wire::Anthropic,
        json(&json!({ "content": "text" })),
        PATIENCE,
    );
    assert_eq!(
        fault.what,
        "the answer has no content: {\"content\":\"text\"}"
    );
}

fn connections() {
    for reply in [Reply::Gone, Reply::CutOff("{\"choices\"".to_owned())] {
        let fault = fault_of(Wire::OpenAi, reply, PATIENCE);
        let found = (fault.status, fault.retry, fault.charge);
        assert_eq!(
            found,
            (RunStatus::Error, AGAIN, Charge::Possible),
            "{}",
            fault.what
        );
    }
    // Nothing listens there.
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let provider = provider(
        Wire::OpenAi,
        Some(format!("http://127.0.0.1:{free}/v1?key=sk-secret-1")),
    );
    let chat = ChatModel::open(&provider, PATIENCE, &env(&[])).unwrap();
    let fault = wait(chat.turn(&conversation())).unwrap_err();
    assert_eq!(
        (fault.status, fault.retry, fault.charge),
        (RunStatus::Error, AGAIN, Charge::Never)
    );
    assert!(
        fault.what.contains("refused") && !fault.what.contains("sk-secret"),
        "{}",
        fault.what
    );
}

fn silent() {
    let fault = fault_of(Wire::OpenAi, Reply::Silent(Duration::from_secs(3)), SHORT);
    let what = "no answer within 700 ms".to_owned();
    assert_eq!(
        fault,
        CallError {
            status: RunStatus::Timeout,
            what,
            retry: AGAIN,
            charge: Charge::Possible
        }
    );
}

fn stalled() {
    let reply = Reply::Stalls("{\"choices\"".to_owned(), Duration::from_secs(3));
    let fault = fault_of(Wire::OpenAi, reply, SHORT);
    let what = "the answer stopped after 10 bytes for 300 ms".to_owned();
    assert_eq!(
        fault,
        CallError {
            status: RunStatus::Stalled,
            what,
            retry: AGAIN,
            charge: Charge::Possible
        }
    );
}

fn thinking() {
    // Longer than the limit for a stall, and nothing has begun yet.
    let server = Standin::new(|_| {
        std::thread::sleep(Duration::from_millis(450));
        json(&super::chat::spoken(Wire::OpenAi))
    });
    let chat = ChatModel::open(
        &provider(Wire::OpenAi, Some(server.address())),
        SHORT,
        &env(&[]),
    )
    .unwrap();
    assert_eq!(wait(chat.turn(&conversation())).unwrap().text, "A model.");
}

fn endless() {
    let text = super::chat::spoken(Wire::OpenAi).to_string();
    let at_limit = typed(
        200,
        "application/json",
        &format!("{}{text}", " ".repeat((32 << 20) - text.len())),
    );
    let server = Standin::always(at_limit);
    let chat = ChatModel::open(
        &provider(Wire::OpenAi, Some(server.address())),
        PATIENCE,
        &env(&[]),
    )
    .unwrap();
    assert_eq!(wait(chat.turn(&conversation())).unwrap().text, "A model.");
    let large = typed(200, "application/json", &" ".repeat((32 << 20) + 1));
    let fault = fault_of(Wire::OpenAi, large, PATIENCE);
    assert_eq!(
        (fault.what.as_str(), fault.retry),
        ("the answer is larger than 32 MiB", Retry::Never)
    );
}

fn redirected() {
    let thief = Standin::always(json(&json!({})));
    let headers = vec![("location", thief.address())];
    for status in [301, 302, 307, 308] {
        let fault = fault_of(
            Wire::Anthropic,
            Reply::Whole(status, headers.clone(), String::new()),
            PATIENCE,
        );
        assert_eq!(
            (fault.what, fault.retry),
            (format!("HTTP {status}"), Retry::Never)
        );
    }
    assert!(thief.received().is_empty());
}

fn posted() {
    let record = "{\"schema\": \"goldgate.run/1\", \"status\":  \"completed\", \"outputs\": {\"text\": \"1.10\"}}";
    let server = Standin::always(typed(200, "application/json", record));
    let target = |address: String| Target {
        transport: Transport::Http(address),
        concurrency: None,
        timeout: None,
        stall: None,
        record: RecordPolicy::Models,
    };
    let open =
        |address: String| match Live::open(&target(address), std::path::Path::new("/"), &env(&[]))
            .unwrap()
        {
            Live::Agent(agent) => agent,
            Live::Chat(_) => panic!("it is an agent"),
        };
    let agent = open(format!("{}/run?x=1", server.address()));
    assert_eq!(wait(agent.run(&request("lease"))).unwrap(), record);
    let received = server.only();
    assert_eq!(
        (received.method.as_str(), received.target.as_str()),
        ("POST", "/run?x=1")
    );
    let wanted = json!({ "schema": "goldgate.request/1", "id": "contracts/legal/lease/0", "agent": "legal", "suite": "contracts",
        "case": "lease", "sample": 0, "inputs": { "documents": ["lease.md"], "prompt": "Read the lease.", "system": "Be brief." } });
    assert_eq!(received.body, wanted);
    let busy = Standin::always(Reply::Whole(
        503,
        vec![("retry-after", "2".to_owned())],
        "busy".to_owned(),
    ));
    let fault = wait(open(busy.address()).run(&request("lease"))).unwrap_err();
    assert_eq!(
        (fault.what.as_str(), fault.retry),
        ("HTTP 503: busy", later(2.0))
    );
    let list = Standin::always(json(&json!([1])));
    let fault = wait(open(list.address()).run(&request("lease"))).unwrap_err();
    assert!(
        fault.what.starts_with("the answer is not a run record: "),
        "{}",
        fault.what
    );
    let started = Instant::now();
    let slow = Standin::always(Reply::Silent(Duration::from_secs(3)));
    let hurried = Target {
        timeout: Some(Duration::from_millis(200)),
        ..target(slow.address())
    };
    let Live::Agent(agent) = Live::open(&hurried, std::path::Path::new("/"), &env(&[])).unwrap()
    else {
        panic!()
    };
    assert_eq!(
        wait(agent.run(&request("lease"))).unwrap_err().status,
        RunStatus::Timeout
    );
    assert!(started.elapsed() < Duration::from_secs(2));
}
