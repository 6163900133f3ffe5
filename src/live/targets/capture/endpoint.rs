//! An HTTP endpoint on loopback, which an agent takes for the server of its model.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use tokio::net::TcpListener;
use tokio::spawn;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::endpoint_answers::{EndpointAnswer, accepted, recorded_body, refusal};
use super::endpoint_paths::{EndpointPath, endpoint_variables, proxy_variables};
use super::endpoint_state::{EndpointMode, EndpointState, OpenRequest};
use super::forward::{ForwardedCall, sent_body};
use super::http_connection::{ClientRequest, HttpConnection, NoRequest};
use super::observed::Observation;
use super::recorded_answers::RecordedAnswers;
use super::sample_key::SampleKey;
use crate::live::targets::lasting;
use crate::model::{CallError, ExchangeWire, InputLimit, RecordedRequest};
use crate::text::line;

/// A running endpoint. Dropping it ends it.
pub struct CaptureEndpoint {
    state: Arc<EndpointState>,
    accepting: AbortHandle,
}

/// How long the last requests of an ended program may take to be noticed as ended.
const DRAIN: Duration = Duration::from_secs(2);

impl CaptureEndpoint {
    /// Starts an endpoint on a free port of 127.0.0.1, which answers only requests with this key.
    ///
    /// # Errors
    /// All ports are in use.
    pub async fn start(mode: EndpointMode, key: SampleKey) -> Result<Self, CallError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(cannot_listen)?;
        let port = listener.local_addr().map_err(cannot_listen)?.port();
        let state = Arc::new(EndpointState::new(mode, port, key));
        let accepting = spawn(accept(listener, state.clone())).abort_handle();
        Ok(Self { state, accepting })
    }

    /// The variables by which an agent finds this endpoint.
    pub fn variables(&self) -> Vec<(String, String)> {
        let EndpointState {
            mode, port, key, ..
        } = &*self.state;
        let mut variables = endpoint_variables(*port, key.token());
        match mode {
            EndpointMode::Forward(_) => {}
            EndpointMode::Replay(_) => variables.extend(proxy_variables(*port)),
        }
        variables
    }

    /// Ends the endpoint, and returns what it saw. Call it after the agent has ended.
    pub async fn finish(self) -> Observation {
        let idle = async {
            while self.state.open_requests() > 0 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = timeout(DRAIN, idle).await;
        self.state.observed.observation()
    }
}

fn cannot_listen(error: io::Error) -> CallError {
    lasting(format!("cannot listen on 127.0.0.1: {error}"))
}

impl Drop for CaptureEndpoint {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, state: Arc<EndpointState>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors: the next attempt may succeed.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let state = state.clone();
        spawn(async move {
            let mut connection = HttpConnection::new(stream);
            if let Err(answer) = serve(&state, &mut connection).await {
                let EndpointAnswer {
                    status,
                    kind,
                    more,
                    body,
                } = answer;
                // A client that is gone needs no answer.
                let _ = connection.answer(status, &kind, more, &body).await;
            }
        });
    }
}

/// Serves the request of a connection.
///
/// # Errors
/// The answer that is still to be sent.
async fn serve(
    state: &Arc<EndpointState>,
    connection: &mut HttpConnection,
) -> Result<(), EndpointAnswer> {
    let request = match connection.request(InputLimit::EXCHANGED.count()).await {
        Ok(request) => request,
        Err(NoRequest::Ended) => return Ok(()),
        Err(NoRequest::TooLarge) => {
            return Err(refused(
                state,
                413,
                format!(
                    "a request of the agent is larger than {}",
                    InputLimit::EXCHANGED
                ),
            ));
        }
        Err(NoRequest::Broken(why)) => {
            return Err(refused(
                state,
                400,
                format!("a request of the agent cannot be read: {}", line(&why, 100)),
            ));
        }
    };
    let _open = OpenRequest::new(state);
    let ClientRequest {
        method,
        target,
        mut headers,
        body,
    } = request;
    let names = header_names(&headers);
    let target = state.key.move_to_header(&target, &mut headers);
    let path = EndpointPath::of(&target);
    // A request to another server was never meant for this one, so it has neither address nor key.
    if !matches!(path, EndpointPath::Elsewhere(_)) {
        check_sender(state, &headers)?;
    }
    state
        .observed
        .count(body.len())
        .map_err(|why| refusal(413, &why))?;
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .map(str::to_owned);
    match path {
        EndpointPath::Model(wire, path) => {
            let request = RecordedRequest {
                method,
                path,
                headers: names,
                body: recorded_body(&body),
            };
            match &state.mode {
                EndpointMode::Forward(upstreams) => {
                    let observed = &state.observed;
                    ForwardedCall {
                        upstreams,
                        observed,
                        key: &state.key,
                        wire,
                        request,
                        headers,
                        body,
                    }
                    .pass(connection)
                    .await
                }
                EndpointMode::Replay(answers) => Err(replay_answer(state, answers, wire, &request)),
            }
        }
        EndpointPath::Spans => {
            state.observed.keep_spans(body);
            Err(accepted(kind.as_deref()))
        }
        EndpointPath::OtherTelemetry => Err(accepted(kind.as_deref())),
        EndpointPath::Elsewhere(host) => {
            let why = format!(
                "the agent sends a request to {}, but a replay has no network",
                line(&host, 100)
            );
            Err(refused(state, 403, why))
        }
        EndpointPath::Unknown(path) => Err(refused(
            state,
            404,
            format!(
                "the endpoint of goldgate record has no path {}",
                line(&path, 100)
            ),
        )),
    }
}

/// Refuses a request that the program of this sample did not send: another program on this machine, or a page in a browser. It is not
/// passed on, and the sample does not suffer from it.
fn check_sender(state: &EndpointState, headers: &HeaderMap) -> Result<(), EndpointAnswer> {
    let hosts: Vec<&[u8]> = headers
        .get_all(HOST)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    let addresses = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", state.port));
    let is_own = matches!(hosts.as_slice(), [host] if addresses
        .iter()
        .any(|address| host.eq_ignore_ascii_case(address.as_bytes())));
    if !is_own {
        let why = format!(
            "this is the endpoint of goldgate record; its address is {}",
            addresses[0]
        );
        return Err(refusal(403, &why));
    }
    if !state.key.is_in(headers) {
        let why = "the request lacks the key of this sample; send the value of OPENAI_API_KEY or ANTHROPIC_API_KEY as the key, and the headers \
                   of OTEL_EXPORTER_OTLP_HEADERS with traces";
        state.observed.reject(why);
        return Err(refusal(401, why));
    }
    Ok(())
}

/// Notes why the run cannot be recorded or replayed, and tells the agent.
fn refused(state: &EndpointState, status: u16, why: String) -> EndpointAnswer {
    let answer = refusal(status, &why);
    state.observed.refuse(why);
    answer
}

fn replay_answer(
    state: &EndpointState,
    answers: &RecordedAnswers,
    wire: ExchangeWire,
    request: &RecordedRequest,
) -> EndpointAnswer {
    let exchange = match (answers.answer(wire, request), state.observed.begin()) {
        (Ok(exchange), Ok(place)) => {
            state.observed.keep(place, exchange.clone());
            exchange
        }
        (Err(why), _) | (Ok(_), Err(why)) => {
            return refused(state, 400, format!("not recorded: {why}"));
        }
    };
    let kind = exchange
        .response
        .content_type
        .as_deref()
        .unwrap_or("application/json");
    EndpointAnswer {
        status: exchange.response.status,
        // A recording is a file that somebody may have edited.
        kind: kind.chars().filter(|char| !char.is_control()).collect(),
        more: "",
        body: sent_body(&exchange.response.body),
    }
}

/// The names of headers in order, each once. Values are never kept: some are keys.
fn header_names(headers: &HeaderMap) -> Vec<String> {
    let mut names: Vec<String> = headers
        .keys()
        .map(|name| name.as_str().to_owned())
        .collect();
    names.sort();
    names
}
