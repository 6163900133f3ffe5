//! Opens a page in the browser of the person at this machine.

use std::path::Path;

use anyhow::Context;

/// Opens a file in the default browser, and does not wait for it.
pub fn open_in_browser(file: &Path) -> anyhow::Result<()> {
    opener::open_browser(file)
        .with_context(|| format!("{} cannot be opened in a browser", file.display()))
}
