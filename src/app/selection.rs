//! What the command line chooses of the suites.

use globset::Glob;
use globset::GlobMatcher;

use super::cli::Chosen;
use super::plan::Wanted;
use crate::diag::Diagnostic;
use crate::diag::Diagnostics;

/// The suites, agents and cases that the command line asks for, in no tier yet.
///
/// # Errors
/// A pattern that is none.
pub fn chosen(args: &Chosen) -> Result<Wanted, Diagnostics> {
    Ok(Wanted {
        suites: args.suite.clone(),
        agents: args.agent.clone(),
        cases: patterns(&args.case)?,
        ..Wanted::default()
    })
}

/// Patterns of case ids.
///
/// # Errors
/// A text that is no pattern.
pub fn patterns(texts: &[String]) -> Result<Vec<GlobMatcher>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let globs = texts.iter().filter_map(|text| match Glob::new(text) {
        Ok(glob) => Some(glob.compile_matcher()),
        Err(error) => {
            let what = format!("--case {text}: {}", error.kind());
            problems.push(Diagnostic::of_file("command line", "bad-glob", what, "write a pattern such as 'lease-*'"));
            None
        }
    });
    let globs = globs.collect();
    problems.or(globs)
}
