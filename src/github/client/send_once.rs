//! One request and its answer, without retries.

use http::Request;
use http_body_util::BodyExt;
use octocrab::{Error, Octocrab};

use super::response::GitHubResponse;

/// Why a request has no answer.
pub(super) enum SendError {
    /// A permanent failure; a retry would not help.
    Refused(anyhow::Error),
    /// The connection broke.
    Broken(anyhow::Error),
}

/// Sends a request and reads an answer of at most `limit` bytes; `describe` explains a broken connection.
pub(super) async fn send_once(
    client: &Octocrab,
    request: Request<String>,
    limit: u64,
    describe: impl Fn(Error) -> anyhow::Error,
) -> Result<GitHubResponse, SendError> {
    let response = client
        .execute(request)
        .await
        .map_err(|error| SendError::Broken(describe(error)))?;
    let (parts, mut frames) = response.into_parts();
    let mut body = Vec::new();
    while let Some(frame) = frames.frame().await {
        let frame = frame.map_err(|error| SendError::Broken(describe(error)))?;
        let Some(bytes) = frame.data_ref() else {
            continue;
        };
        if (body.len() + bytes.len()) as u64 > limit {
            let limit = limit / 1_048_576;
            return Err(SendError::Refused(anyhow::anyhow!(
                "it is larger than {limit} MiB"
            )));
        }
        body.extend_from_slice(bytes);
    }
    Ok(GitHubResponse {
        status: parts.status,
        headers: parts.headers,
        body,
    })
}
