//! Reads the prompt packages of agents.

use crate::diag::Diagnostic;
use crate::files::{EntryKind, Files, OtherCommit};
use crate::model::RepoPath;
use crate::suites::PromptPackage;
use crate::text::norm;

/// Reads a prompt package: a file, or all files of a folder.
pub fn prompt_package(
    files: &dyn Files,
    other_commit: Option<&dyn OtherCommit>,
    path: &RepoPath,
) -> Result<PromptPackage, Diagnostic> {
    let package = read_package(files, path)?;
    // An unreadable package of the other commit counts as missing.
    let other_package = other_commit.and_then(|commit| read_package(commit.files(), path).ok());
    let other_text = other_package.map(|package| package.text);
    Ok(PromptPackage {
        before: other_text.filter(|text| *text != package.text),
        ..package
    })
}

fn read_package(files: &dyn Files, path: &RepoPath) -> Result<PromptPackage, Diagnostic> {
    let Ok(entries) = files.list(path) else {
        let text = files.text(path)?.text;
        return Ok(package(text));
    };
    let mut texts = Vec::new();
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File) {
        let file = path.child(&entry.name);
        // A picture is not sent.
        if let Ok(source) = files.text(&file) {
            texts.push(source.text);
        }
    }
    Ok(package(texts.join("\n")))
}

fn package(text: String) -> PromptPackage {
    PromptPackage {
        normal: norm(&text),
        text,
        before: None,
    }
}
