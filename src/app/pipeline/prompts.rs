//! Reads the prompt packages of agents.

use crate::diag::Diagnostic;
use crate::files::{CheckoutDigest, DigestList, EntryKind, Files, OtherCommit};
use crate::model::RepoPath;
use crate::suites::PromptPackage;
use crate::text::norm;

/// Reads a prompt package: a file, or all files of a folder. The digest of a file is that of its bytes. The digest of a folder is
/// that of the lines `{digest}  {name}` of its files, sorted by name, as `sha256sum *` prints them. A checkout with other line
/// ends than git stores is the same package.
pub fn prompt_package(
    files: &dyn Files,
    other: Option<&dyn OtherCommit>,
    path: &RepoPath,
) -> Result<PromptPackage, Diagnostic> {
    let package = read_package(files, path)?;
    // An unreadable package of the other commit counts as missing.
    let before = other
        .and_then(|other| read_package(other.files(), path).ok())
        .map(|before| before.text);
    Ok(PromptPackage {
        before: before.filter(|before| *before != package.text),
        ..package
    })
}

fn read_package(files: &dyn Files, path: &RepoPath) -> Result<PromptPackage, Diagnostic> {
    let Ok(entries) = files.list(path) else {
        let text = files.text(path)?.text;
        return Ok(package(CheckoutDigest::of(text.as_bytes()), text));
    };
    let (mut list, mut texts) = (DigestList::default(), Vec::new());
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File) {
        let file = path.child(&entry.name);
        match files.text(&file) {
            Ok(source) => {
                list.add_file(source.text.as_bytes(), &entry.name);
                texts.push(source.text);
            }
            // A picture is part of the package, too.
            Err(_) => list.add_file(&files.bytes(&file)?, &entry.name),
        }
    }
    Ok(package(list.digest(), texts.join("\n")))
}

fn package(digest: CheckoutDigest, text: String) -> PromptPackage {
    PromptPackage {
        digest,
        normal: norm(&text),
        text,
        before: None,
    }
}
