//! The filters of the command line.

use std::collections::BTreeSet;

use globset::{Glob, GlobMatcher};

use super::plan::Selection;
use crate::app::cli::SelectionArgs;
use crate::diag::{Diagnostic, Diagnostics, nearest};
use crate::model::RepoPath;

/// Returns the filters for suites, agents and cases, without tiers.
///
/// # Errors
/// An invalid pattern.
pub fn chosen(args: &SelectionArgs) -> Result<Selection, Diagnostics> {
    Ok(Selection {
        suites: args.suite.clone(),
        agents: args.agent.clone(),
        cases: patterns(&args.case)?,
        ..Selection::default()
    })
}

/// Parses patterns of case ids.
///
/// # Errors
/// An invalid pattern.
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

/// Returns the error that no case matches, with a suggestion if a case has a similar id.
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
