//! `goldgate.recorded/1`: what one run of the recording workflow wrote, as the digests of each recording. It is in the run's artifact, and is
//! what `recordings: { trust: ci }` asks for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::run_v1::{content_sha256, stated_origin};
use crate::model::RepoPath;

/// Where the list is in the artifact. A folder that git does not keep: who unpacks the recordings in a checkout commits no list.
pub const FILE: &str = ".goldgate/recorded.json";

const SCHEMA: &str = "goldgate.recorded/1";

/// The digests of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedDigests {
    agent_sha256: Option<String>,
    input_sha256: Option<String>,
    target_sha256: Option<String>,
    content_sha256: Option<String>,
}

impl RecordedDigests {
    /// Those of a recording's text. The digest of its content is computed, whatever the recording states.
    pub fn of(text: &str) -> Self {
        let stated = stated_origin(text);
        Self {
            agent_sha256: stated.agent_sha256,
            input_sha256: stated.input_sha256,
            target_sha256: stated.target_sha256,
            content_sha256: content_sha256(text),
        }
    }
}

/// What one run recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    schema: String,
    /// The pull request.
    pub pull_request: u64,
    /// The digests by the path of the recording.
    pub recordings: BTreeMap<String, RecordedDigests>,
}

impl Recorded {
    /// The list of recordings that were written for a pull request.
    pub fn new<'a>(
        pull_request: u64,
        recordings: impl IntoIterator<Item = (&'a RepoPath, &'a String)>,
    ) -> Self {
        let recordings = recordings.into_iter();
        Self {
            schema: SCHEMA.to_owned(),
            pull_request,
            recordings: recordings
                .map(|(file, text)| (file.to_string(), RecordedDigests::of(text)))
                .collect(),
        }
    }

    /// Reads a list; `None` for another format.
    pub fn read(text: &[u8]) -> Option<Self> {
        let list: Self = serde_json::from_slice(text).ok()?;
        (list.schema == SCHEMA).then_some(list)
    }

    /// The list as a file.
    pub fn written(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}
