//! The files that an agent is made of, on both sides.

use super::Sides;
use super::files::{are_alike, below};
use crate::model::{Agent, PathGlob};
use crate::suites::{FilePaths, Files};

/// Whether the files that an agent is made of have changed.
pub enum AgentFileChange {
    /// They have.
    Changed,
    /// They have not; what they are.
    Unchanged(String),
    /// It names none.
    Unknown,
}

/// Looks at the files that either side names, on both sides: to name more files changes no agent.
///
/// # Errors
/// Why they cannot be compared, in words.
pub fn inputs(sides: &Sides<'_>, before: &Agent, after: &Agent) -> Result<AgentFileChange, String> {
    let of_both = |files: &dyn Files| -> Result<FilePaths, String> {
        let (old, new) = (agent_files(files, before)?, agent_files(files, after)?);
        Ok(old.into_iter().chain(new).flat_map(|(files, _)| files).collect())
    };
    let Some((_, of)) = agent_files(sides.head, after)? else { return Ok(AgentFileChange::Unknown) };
    let alike = are_alike(sides.base, &of_both(sides.base)?, &of_both(sides.head)?);
    Ok(if alike { AgentFileChange::Unchanged(of) } else { AgentFileChange::Changed })
}

/// The files of an agent on one side, by their whole paths, and how people call them; `None` where it names none.
///
/// # Errors
/// Why they cannot be listed, in words.
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
