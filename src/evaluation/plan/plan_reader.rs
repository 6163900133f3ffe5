//! What the readers of all parts of a plan share.

use std::collections::BTreeSet;

use super::loaded_suite::{Plan, RulesSource};
use crate::diag::{Code, Diagnostic, Diagnostics, nearest};
use crate::files::{Files, OtherCommit, SourceText};
use crate::format::{JsonIndex, Step};
use crate::model::{AgentName, SuiteConfig};
use crate::suites::{Labels, Suite, kind};

/// Reports labels of unknown cases and agents, and labels without effect.
pub(super) fn strays(
    labels: &Labels,
    suite: &SuiteConfig,
    golden: &dyn Suite,
    problems: &mut Diagnostics,
) {
    let cases: BTreeSet<&str> = golden
        .pairs_to_run()
        .map(|pair| pair.case.as_str())
        .collect();
    let graded = golden.pairs_to_run().map(|pair| pair.agent.as_str());
    let agents: BTreeSet<&str> = graded
        .chain(suite.agents.keys().map(AgentName::as_str))
        .collect();
    labels
        .strays(&cases, &agents)
        .into_iter()
        .for_each(|problem| problems.push(problem));
    kind(&suite.kind)
        .map(|kind| labels.without_effect(kind))
        .unwrap_or_default()
        .into_iter()
        .for_each(|problem| problems.push(problem));
}

/// Reads the suites of a config.
pub(super) struct PlanReader<'a> {
    pub(super) files: &'a dyn Files,
    /// The config as JSON.
    pub(super) source: &'a SourceText,
    pub(super) locations: JsonIndex<'a>,
    /// The commit to compare the read files with.
    pub(super) other: Option<&'a dyn OtherCommit>,
    pub(super) rules: RulesSource,
    /// The head's plan, if this reads the base commit.
    pub(super) head: Option<&'a Plan>,
}

impl PlanReader<'_> {
    pub(super) fn problem(
        &self,
        path: &[Step<'_>],
        code: Code,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        self.locations.problem(path, code, what, help)
    }

    pub(super) fn unknown<'k>(
        &self,
        word: &str,
        name: &str,
        known: impl Iterator<Item = &'k str>,
    ) -> Option<Diagnostic> {
        let known: BTreeSet<&str> = known.collect();
        if known.contains(name) {
            return None;
        }
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!(
                "use one of {}",
                known.into_iter().collect::<Vec<_>>().join(", ")
            ),
        };
        let what = format!("--{word}: unknown {word} \"{name}\"");
        Some(Diagnostic::of_file(
            &self.source.file,
            Code::NOTHING_SELECTED,
            what,
            help,
        ))
    }
}
