//! What the command line chooses of the suites.

use std::collections::BTreeSet;

use globset::{Glob, GlobMatcher};

use super::cli::SelectionArgs;
use super::plan::Selection;
use crate::diag::{Diagnostic, Diagnostics, nearest};
use crate::model::RepoPath;

/// The suites, agents and cases that the command line asks for, in no tier yet.
///
/// # Errors
/// A pattern that is none.
pub fn chosen(args: &SelectionArgs) -> Result<Selection, Diagnostics> {
    Ok(Selection {
        suites: args.suite.clone(),
        agents: args.agent.clone(),
        cases: patterns(&args.case)?,
        ..Selection::default()
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

/// That no case is left, with the case that was perhaps meant.
pub fn nothing_selected(file: &RepoPath, wanted: &Selection, cases: &BTreeSet<String>) -> Diagnostic {
    let asked: Vec<&str> = wanted.cases.iter().map(|pattern| pattern.glob().glob()).collect();
    let near = asked.iter().find_map(|text| nearest(text, cases.iter().map(String::as_str)));
    let what = match asked.as_slice() {
        [] => "no case matches the options".to_owned(),
        asked => format!("no case matches \"{}\"", asked.join("\", \"")),
    };
    let help = match near {
        Some(near) if !asked.contains(&near) => format!("did you mean \"{near}\"?"),
        Some(_) | None => "check --tier, --suite, --agent and --case".to_owned(),
    };
    Diagnostic::of_file(file, "nothing-selected", what, help)
}
