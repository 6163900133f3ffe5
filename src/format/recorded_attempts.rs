//! Recordings that consist of a folder for each attempt, with a file for each part of it: [`recording_text`], [`stamped_file`].

use serde_json::{Map, Value, json};

use super::lenient;
use super::recording_layout::in_number_order;
use crate::diag::{Code, Diagnostic};
use crate::files::{EntryKind, Files, SourceText};
use crate::model::{AttemptNames, RepoPath};

/// The text of a recording: that of its file, or a completed run with its attempts.
///
/// # Errors
/// A file that cannot be read, and two files of one part.
pub fn recording_text(files: &dyn Files, recording: &RepoPath) -> Result<SourceText, Diagnostic> {
    let Some((folder, names)) = AttemptNames::of_recording(recording) else {
        return files.text(recording);
    };
    let entries = files.list(&folder)?;
    let mut attempts: Vec<(&str, RepoPath)> = entries
        .iter()
        .filter(|entry| entry.kind == EntryKind::Folder)
        .filter_map(|entry| Some((names.varying(&entry.name)?, folder.child(&entry.name))))
        .collect();
    attempts.sort_by(|(left, _), (right, _)| in_number_order(left).cmp(&in_number_order(right)));
    let attempts: Vec<Value> = attempts
        .iter()
        .map(|(_, attempt)| parts(files, attempt))
        .collect::<Result<_, _>>()?;
    let mut record = json!({ "status": "completed", "outputs": { "attempts": attempts } });
    if entries
        .iter()
        .any(|entry| entry.name == AttemptNames::PROVENANCE)
    {
        let provenance = files.text(&folder.child(AttemptNames::PROVENANCE))?;
        record["provenance"] = value(&provenance);
    }
    Ok(SourceText::from_text(recording.clone(), record.to_string()))
}

/// The parts of an attempt by the names of their files: JSON as its value, every other file as its text.
fn parts(files: &dyn Files, attempt: &RepoPath) -> Result<Value, Diagnostic> {
    let mut parts = Map::new();
    for entry in files.list(attempt)? {
        if entry.kind != EntryKind::File {
            continue;
        }
        let file = attempt.child(&entry.name);
        let (name, ending) = entry.name.rsplit_once('.').unwrap_or((&entry.name, ""));
        let source = files.text(&file)?;
        let part = match ending {
            "json" => value(&source),
            _ => Value::from(source.text),
        };
        if parts.insert(name.to_owned(), part).is_some() {
            let description = format!("this attempt has two files \"{name}\"");
            let help = "keep one of them";
            return Err(Diagnostic::of_file(
                &file,
                Code::DUPLICATE_RECORDING,
                description,
                help,
            ));
        }
    }
    Ok(Value::Object(parts))
}

/// The value of a JSON text, or the text itself if it is broken.
fn value(source: &SourceText) -> Value {
    lenient::any(&source.text).unwrap_or_else(|_| Value::from(&*source.text))
}

/// The file that is written, with its text, when a recording gets this one with other digests.
pub fn stamped_file(recording: RepoPath, text: String) -> (RepoPath, String) {
    let Some((folder, _)) = AttemptNames::of_recording(&recording) else {
        return (recording, text);
    };
    let record = lenient::any(&text).unwrap_or_default();
    let provenance = format!("{:#}\n", record["provenance"]);
    (folder.child(AttemptNames::PROVENANCE), provenance)
}
