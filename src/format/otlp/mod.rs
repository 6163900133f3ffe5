//! Converts finished live samples to OTLP requests: spans of the GenAI semantic conventions, as protobuf. It is the only encoding that
//! every receiver accepts: Phoenix answers JSON with 415, and MLflow did so until 2026.

mod attributes;
mod exported_run;
mod spans;
mod wire;

use prost::Message;

use self::attributes::text;
pub use self::exported_run::{Content, ExportedRun};
use self::wire::{ExportRequest, OtlpSpan, Resource, ResourceSpans, Scope, ScopeSpans};
use crate::model::Traced;

/// Size in bytes at which the next request starts: receivers refuse large ones.
const REQUEST_BYTES: usize = 2 * 1024 * 1024;

/// The request bodies for all samples. Equal samples always give equal bytes.
pub fn requests(run: &ExportedRun, samples: &[Traced]) -> Vec<Vec<u8>> {
    let (mut requests, mut spans, mut bytes) = (Vec::new(), Vec::new(), 0);
    for span in samples.iter().flat_map(|sample| spans::of(run, sample)) {
        let size = span.encoded_len();
        if bytes + size > REQUEST_BYTES && !spans.is_empty() {
            requests.push(request(run, std::mem::take(&mut spans)));
            bytes = 0;
        }
        bytes += size;
        spans.push(span);
    }
    if !spans.is_empty() {
        requests.push(request(run, spans));
    }
    requests
}

fn request(run: &ExportedRun, spans: Vec<OtlpSpan>) -> Vec<u8> {
    let attributes = run
        .resource
        .iter()
        .map(|(key, value)| text(key, value))
        .collect();
    let scope = Scope {
        name: "goldgate".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let scoped = ScopeSpans {
        scope: Some(scope),
        spans,
    };
    let of_resource = ResourceSpans {
        resource: Some(Resource { attributes }),
        scope_spans: vec![scoped],
    };
    ExportRequest {
        resource_spans: vec![of_resource],
    }
    .encode_to_vec()
}

/// The number of spans that the receiver rejected, from its answer.
pub fn rejected(answer: &[u8]) -> u64 {
    let answer = wire::Response::decode(answer).unwrap_or_default();
    answer.partial_success.map_or(0, |partial| {
        u64::try_from(partial.rejected_spans).unwrap_or(0)
    })
}
