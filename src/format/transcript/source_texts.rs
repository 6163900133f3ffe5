//! The texts in the bytes of a file of transcripts: unpacked, decoded, and event streams and YAML as JSON.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use import::{is_event_stream, json_of_protobuf, streamed_answer};
use serde_json::Value;

use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::archive::{ArchiveLimits, zip};
use crate::format::csv::csv_objects;
use crate::format::yaml;
use crate::model::{InputLimit, RepoPath};

/// The limits for a log of inspect-ai.
const LOG: ArchiveLimits = ArchiveLimits {
    entries: InputLimit::ARCHIVE_ENTRIES.count(),
    file: InputLimit::FILE.most,
    kept: InputLimit::ARCHIVE.most,
    inflated: InputLimit::ARCHIVE.most,
};

/// The texts of a file. A zip archive must be a log of inspect-ai: each of its samples is a text.
///
/// # Errors
/// Content that is broken, too large, or not a text.
pub fn source_texts(file: &RepoPath, bytes: Vec<u8>) -> Result<Vec<SourceText>, Diagnostic> {
    match bytes.as_slice() {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => samples(file, &bytes),
        [0x1f, 0x8b, ..] => Ok(vec![text_of(file, inflated(file, &bytes)?)?]),
        _ => Ok(vec![text_of(file, bytes)?]),
    }
}

/// The samples in a log of inspect-ai.
fn samples(file: &RepoPath, bytes: &[u8]) -> Result<Vec<SourceText>, Diagnostic> {
    let unpacked = zip(bytes, LOG, &is_sample).map_err(|error| {
        let help = "write the log again, or as .json";
        Diagnostic::of_file(file, Code::BROKEN_ARCHIVE, error.to_string(), help)
    })?;
    if unpacked.files.is_empty() {
        let description = "this archive has no samples/*.json: it is not a log of inspect-ai";
        return Err(Diagnostic::of_file(
            file,
            Code::UNKNOWN_FORMAT,
            description,
            "unpack it, and import the files in it",
        ));
    }
    let mut texts = Vec::new();
    for (path, bytes) in unpacked.files {
        texts.push(SourceText::new(file.below(path.as_str()), bytes)?);
    }
    Ok(texts)
}

fn is_sample(path: &RepoPath) -> bool {
    path.as_str().starts_with("samples/") && path.as_str().ends_with(".json")
}

fn inflated(file: &RepoPath, bytes: &[u8]) -> Result<Vec<u8>, Diagnostic> {
    let most = InputLimit::FILE.most;
    let mut inflated = Vec::new();
    MultiGzDecoder::new(bytes)
        .take(most + 1)
        .read_to_end(&mut inflated)
        .map_err(|error| {
            let description = format!("the file cannot be unpacked: {error}");
            let help = "compress it again with gzip";
            Diagnostic::of_file(file, Code::BROKEN_ARCHIVE, description, help)
        })?;
    if InputLimit::FILE.is_exceeded_by(inflated.len()) {
        return Err(Diagnostic::of_file(
            file,
            Code::BROKEN_ARCHIVE,
            format!("the file unpacks to more than {} MiB", most / 1024 / 1024),
            InputLimit::FILE.help,
        ));
    }
    Ok(inflated)
}

fn text_of(file: &RepoPath, bytes: Vec<u8>) -> Result<SourceText, Diagnostic> {
    let name = file.name().trim_end_matches(".gz");
    let may_be_protobuf =
        name.ends_with(".pb") || name.ends_with(".binpb") || std::str::from_utf8(&bytes).is_err();
    if may_be_protobuf && let Some(text) = json_of_protobuf(&bytes) {
        return Ok(SourceText::from_text(file.clone(), text));
    }
    let source = SourceText::new(file.clone(), bytes)?;
    if name.ends_with(".yaml") || name.ends_with(".yml") {
        let value = yaml::merged(&source)?;
        return Ok(SourceText::from_text(file.clone(), value.to_string()));
    }
    if name.ends_with(".csv") {
        let rows: Value = csv_objects(&source)?
            .into_iter()
            .map(Value::Object)
            .collect();
        return Ok(SourceText::from_text(file.clone(), rows.to_string()));
    }
    if !is_event_stream(&source.text) {
        return Ok(source);
    }
    let Some(answer) = streamed_answer(&source.text) else {
        let description = "this event stream has no answer of a model";
        let help = "provide the whole body of the streamed answer, as the vendor sent it";
        return Err(source.problem(0, Code::NO_ANSWER, description, help));
    };
    Ok(SourceText::from_text(file.clone(), answer.to_string()))
}
