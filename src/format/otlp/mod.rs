//! Finished live samples as OTLP requests: spans of the GenAI semantic conventions, in protobuf.

mod attributes;
mod spans;
mod wire;

use prost::Message;

use self::attributes::text;
use self::wire::{ExportRequest, OtlpSpan, Resource, ResourceSpans, Scope, ScopeSpans};
use crate::model::Traced;

/// The run whose samples are sent.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedRun {
    /// When the run started: with a sample's names it makes the ids of the sample's trace.
    pub started_at: String,
    /// What is said of the sender, such as `service.name`, in the order in which it is sent.
    pub resource: Vec<(String, String)>,
    /// Whether texts go along.
    pub content: Content,
}

/// Whether what agents were asked, called and answered goes along: it may be anybody's secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// It stays here.
    Kept,
    /// It is sent.
    Sent,
}

/// The size at which another request is begun, in bytes: receivers refuse large ones.
const REQUEST_BYTES: usize = 2 * 1024 * 1024;

/// The requests that tell of all samples, each a body to be posted. The same samples always make the same bytes.
pub fn requests(telling: &ExportedRun, samples: &[Traced]) -> Vec<Vec<u8>> {
    let (mut requests, mut spans, mut bytes) = (Vec::new(), Vec::new(), 0);
    for span in samples.iter().flat_map(|sample| spans::of(telling, sample)) {
        let size = span.encoded_len();
        if bytes + size > REQUEST_BYTES && !spans.is_empty() {
            requests.push(request(telling, std::mem::take(&mut spans)));
            bytes = 0;
        }
        bytes += size;
        spans.push(span);
    }
    if !spans.is_empty() {
        requests.push(request(telling, spans));
    }
    requests
}

fn request(telling: &ExportedRun, spans: Vec<OtlpSpan>) -> Vec<u8> {
    let attributes = telling.resource.iter().map(|(key, value)| text(key, value)).collect();
    let scope = Scope { name: "goldgate".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let scoped = ScopeSpans { scope: Some(scope), spans };
    let of_resource = ResourceSpans { resource: Some(Resource { attributes }), scope_spans: vec![scoped] };
    ExportRequest { resource_spans: vec![of_resource] }.encode_to_vec()
}

/// How many spans a receiver did not take, as it answered.
pub fn rejected(answer: &[u8]) -> u64 {
    let answer = wire::Response::decode(answer).unwrap_or_default();
    answer.partial_success.map_or(0, |partial| u64::try_from(partial.rejected_spans).unwrap_or(0))
}
