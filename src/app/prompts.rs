//! Reads the rules that agents were given.

use crate::diag::Diagnostic;
use crate::guard::OtherCommit;
use crate::model::RepoPath;
use crate::suites::EntryKind;
use crate::suites::PromptPackage;
use crate::suites::Shelf;
use crate::suites::sha256_hex;
use crate::text::norm;

/// Reads a prompt package: a file, or all files of a folder. The digest of a file is that of its bytes; of a folder, that
/// of the lines `{digest}  {name}` of its files, sorted by name, as `sha256sum *` prints them.
///
/// # Errors
/// Why it cannot be read.
pub fn prompt_package(
    shelf: &dyn Shelf,
    other: Option<&dyn OtherCommit>,
    path: &RepoPath,
) -> Result<PromptPackage, Diagnostic> {
    let package = read_package(shelf, path)?;
    // What cannot be read in the other commit is not there to be compared with.
    let before = other.and_then(|other| read_package(other.files(), path).ok()).map(|before| before.text);
    Ok(PromptPackage { before: before.filter(|before| *before != package.text), ..package })
}

fn read_package(shelf: &dyn Shelf, path: &RepoPath) -> Result<PromptPackage, Diagnostic> {
    let Ok(entries) = shelf.list(path) else {
        let source = shelf.text(path)?;
        return Ok(package(&source.text, source.text.clone()));
    };
    let (mut lines, mut texts) = (String::new(), Vec::new());
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File) {
        let source = shelf.text(&path.child(&entry.name))?;
        lines.push_str(&format!("{}  {}\n", sha256_hex(source.text.as_bytes()), entry.name));
        texts.push(source.text);
    }
    Ok(package(&lines, texts.join("\n")))
}

fn package(digested: &str, text: String) -> PromptPackage {
    PromptPackage { sha256: sha256_hex(digested.as_bytes()), normal: norm(&text), text, before: None }
}
