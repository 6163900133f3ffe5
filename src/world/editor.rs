//! Opens a file in the editor of the person at this terminal.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

/// Opens a file in an editor, such as `vim` or `code --wait`, and waits until it is closed.
///
/// # Errors
/// The editor cannot be started, or reports a failure.
pub fn edit_file(editor: &str, file: &Path) -> anyhow::Result<()> {
    let action = format!("while editing {} with {editor}", file.display());
    let mut words = editor.split_whitespace();
    let Some(program) = words.next() else {
        bail!("{action}: EDITOR is empty")
    };
    let status = Command::new(program)
        .args(words)
        .arg(file)
        .status()
        .with_context(|| action.clone())?;
    if !status.success() {
        bail!("{action}: {status}");
    }
    Ok(())
}
