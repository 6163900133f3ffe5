//! The files of an agent (`fingerprint`, `prompt`), on both sides.

use super::Sides;
use super::files::{are_alike, below};
use crate::files::{FilePaths, Files};
use crate::model::{Agent, PathGlob};

/// Whether the files of an agent have changed.
pub enum AgentFileChange {
    /// At least one file changed.
    Changed,
    /// No file changed; a description of the files.
    Unchanged(String),
    /// The agent names no files.
    Unknown,
}

/// Compares all files that either side names. Naming more files does not count as a change of the agent.
///
/// # Errors
/// Why they cannot be compared.
pub fn inputs(sides: &Sides<'_>, before: &Agent, after: &Agent) -> Result<AgentFileChange, String> {
    let of_both = |files: &dyn Files| -> Result<FilePaths, String> {
        let (old, new) = (agent_files(files, before)?, agent_files(files, after)?);
        Ok(old.into_iter().chain(new).flat_map(|(files, _)| files).collect())
    };
    let Some((_, of)) = agent_files(sides.head, after)? else { return Ok(AgentFileChange::Unknown) };
    let alike = are_alike(sides.base, &of_both(sides.base)?, &of_both(sides.head)?);
    Ok(if alike { AgentFileChange::Unchanged(of) } else { AgentFileChange::Changed })
}

/// The files of an agent on one side by path, and a description of them; `None` if the agent names no files.
///
/// # Errors
/// Why they cannot be listed.
pub fn agent_files(files: &dyn Files, agent: &Agent) -> Result<Option<(FilePaths, String)>, String> {
    if !agent.fingerprint.is_empty() {
        let mut fitting = FilePaths::new();
        for glob in &agent.fingerprint {
            let paths = below(files, glob.folder())?.into_values().filter(|file| glob.fits(file));
            fitting.extend(paths.map(|file| (file.as_str().to_owned(), file)));
        }
        let of: Vec<&str> = agent.fingerprint.iter().map(PathGlob::as_str).collect();
        return Ok(Some((fitting, of.join(", "))));
    }
    let Some(prompt) = &agent.prompt else { return Ok(None) };
    let paths = below(files, prompt)?.into_values().map(|file| (file.as_str().to_owned(), file));
    Ok(Some((paths.collect(), format!("its prompt package {prompt}"))))
}
