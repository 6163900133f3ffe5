//! A run record that is imported: [`RunRecordFile`]. Its text is kept, and not made again from what this version knows of it.

use crate::diag::Diagnostic;
use crate::files::SourceText;
use crate::format::recording_layout::case_and_sample;
use crate::format::redact::redacted_json;
use crate::format::run_v1::{
    StatedPlace, content_sha256, read_unplaced_run, stated_origin, with_content_sha256, with_place,
};
use crate::model::{AgentName, CaseId, RunStatus};
use crate::text::Redactor;

/// A file with a run record.
pub struct RunRecordFile {
    /// The file, for problems of the record.
    pub source: SourceText,
    /// How the run ended.
    pub status: RunStatus,
    /// What the record or its path says of where it belongs.
    pub place: StatedPlace,
    /// The text without secrets.
    text: String,
}

impl RunRecordFile {
    /// Reads a record. `inner` is its path below the folder that was named, which is read as a folder of recordings; what the record says
    /// goes before it.
    ///
    /// # Errors
    /// A record that cannot be graded.
    pub fn read(
        source: SourceText,
        inner: Option<&str>,
        redactor: &Redactor,
    ) -> Result<Self, Diagnostic> {
        let (stated, run) = read_unplaced_run(&source)?;
        let by_path = inner.map(place_of_path).unwrap_or_default();
        Ok(Self {
            status: run.status,
            place: StatedPlace {
                agent: stated.agent.or(by_path.agent),
                case: stated.case.or(by_path.case),
                sample: stated.sample.or(by_path.sample),
            },
            text: without_secrets(&source.text, redactor),
            source,
        })
    }

    /// Its text without secrets.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its number among the samples of its case; 0 if that is not stated.
    pub fn sample(&self) -> u32 {
        self.place.sample.unwrap_or_default()
    }

    /// The text for a path.
    pub fn text_for(&self, agent: &AgentName, case: &CaseId, sample: u32) -> String {
        with_place(&self.text, agent, case, sample)
    }
}

/// What the path of a recording in a folder of recordings says: `AGENT/CASE.json` or `AGENT/CASE/SAMPLE.json`.
fn place_of_path(inner: &str) -> StatedPlace {
    let placed = inner
        .split_once('/')
        .and_then(|(agent, rest)| Some((agent, case_and_sample(rest)?)));
    let Some((agent, (case, sample))) = placed else {
        return StatedPlace::default();
    };
    StatedPlace {
        agent: Some(agent.to_owned()),
        case: Some(case.to_owned()),
        sample: Some(sample),
    }
}

/// The text without secrets; a text without any is unchanged to the byte. A digest of the content that was right stays right.
fn without_secrets(text: &str, redactor: &Redactor) -> String {
    let plain = redacted_json(text, redactor);
    let stated = stated_origin(text).content_sha256;
    if plain != text && stated.is_some() && stated == content_sha256(text) {
        with_content_sha256(&plain)
    } else {
        plain.into_owned()
    }
}
