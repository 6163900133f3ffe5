//! Reads the prompt packages of agents.

use crate::diag::Diagnostic;
use crate::golden_changes::OtherCommit;
use crate::model::RepoPath;
use crate::suites::{EntryKind, Files, PromptPackage, sha256_hex};
use crate::text::{norm, without_returns};

/// Reads a prompt package: a file, or all files of a folder. The digest of a file is that of its bytes. The digest of a folder is
/// that of the lines `{digest}  {name}` of its files, sorted by name, as `sha256sum *` prints them. A checkout with other line
/// ends than git stores is the same package.
///
/// # Errors
/// A file that cannot be read.
pub fn prompt_package(
    files: &dyn Files,
    other: Option<&dyn OtherCommit>,
    path: &RepoPath,
) -> Result<PromptPackage, Diagnostic> {
    let package = read_package(files, path)?;
    // An unreadable package of the other commit counts as missing.
    let before = other.and_then(|other| read_package(other.files(), path).ok()).map(|before| before.text);
    Ok(PromptPackage { before: before.filter(|before| *before != package.text), ..package })
}

fn read_package(files: &dyn Files, path: &RepoPath) -> Result<PromptPackage, Diagnostic> {
    let Ok(entries) = files.list(path) else {
        let text = files.text(path)?.text;
        return Ok(package(&without_returns(text.as_bytes()), text.as_bytes(), text.clone()));
    };
    let (mut lines, mut raw_lines, mut texts) = (String::new(), String::new(), Vec::new());
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File) {
        let text = files.text(&path.child(&entry.name))?.text;
        let line = |bytes: &[u8]| format!("{}  {}\n", sha256_hex(bytes), entry.name);
        lines.push_str(&line(&without_returns(text.as_bytes())));
        raw_lines.push_str(&line(text.as_bytes()));
        texts.push(text);
    }
    Ok(package(lines.as_bytes(), raw_lines.as_bytes(), texts.join("\n")))
}

fn package(digested: &[u8], raw: &[u8], text: String) -> PromptPackage {
    PromptPackage { sha256: sha256_hex(digested), raw_sha256: sha256_hex(raw), normal: norm(&text), text, before: None }
}
