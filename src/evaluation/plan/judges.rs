//! Reads the LLM judges of a suite with their rubrics and labels.

use super::loaded_suite::LoadedJudge;
use super::plan_reader::{PlanReader, strays};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::sha256_hex;
use crate::format::Step::{At, Key};
use crate::model::{Judge, SuiteConfig};
use crate::suites::{Labels, Suite, SuiteKind};

/// Whether a gate's name is a metric or a judge. A gate on a judge gets its own error.
pub(super) fn is_known(suite: &SuiteConfig, kind: &SuiteKind, name: &str) -> bool {
    kind.metric_named(name).is_some()
        || suite.expressions.specs().any(|spec| spec.name == name)
        || suite.judges.iter().any(|judge| judge.name.as_str() == name)
}

impl PlanReader<'_> {
    /// Reads the judges of a suite, in the order of their names.
    pub(super) fn judges(
        &self,
        suite: &SuiteConfig,
        kind: &SuiteKind,
        golden: &dyn Suite,
        problems: &mut Diagnostics,
    ) -> Vec<LoadedJudge> {
        let mut loaded = Vec::new();
        for judge in &suite.judges {
            let name = judge.name.as_str();
            let at = |key| {
                [
                    Key("suites"),
                    At(suite.index),
                    Key("judges"),
                    Key(name),
                    Key(key),
                ]
            };
            if suite.gates.contains_key(name) {
                let path = [Key("suites"), At(suite.index), Key("gates"), Key(name)];
                let what = format!(
                    "the judge \"{name}\" has a gate, but LLM judges are advisory and never gate"
                );
                let help = "remove the gate: judges are reported separately, and make recommendations once they agree with human labels";
                problems.push(self.problem(&path, Code::JUDGE_IN_GATE, what, help));
            }
            let owner = match kind.metric_named(name) {
                Some(_) => Some(format!("kind {}", kind.name)),
                None => suite
                    .expressions
                    .metrics
                    .contains_key(name)
                    .then(|| "the suite".to_owned()),
            };
            if let Some(owner) = owner {
                let what = format!("{owner} already has a metric \"{name}\"");
                let help = format!("give the judge another name, such as judged_{name}");
                problems.push(self.problem(&at("target")[..4], Code::DUPLICATE_NAME, what, help));
            }
            let own =
                |pair: &crate::suites::Pair| pair.runs.len() == 1 && pair.runs[0].suite == suite.id;
            if !golden.pairs_to_run().all(own) {
                let what = format!(
                    "judges cannot be used with kind {}, because its samples are not single runs",
                    kind.name
                );
                problems.push(self.problem(
                    &at("target")[..4],
                    Code::NO_EFFECT,
                    what,
                    "remove the judge",
                ));
            }
            loaded.extend(problems.keep_all(self.judge(judge, suite, golden)));
        }
        loaded
    }

    fn judge(
        &self,
        judge: &Judge,
        suite: &SuiteConfig,
        golden: &dyn Suite,
    ) -> Result<LoadedJudge, Diagnostics> {
        let mut problems = Diagnostics::default();
        let rubric = problems
            .keep(self.files.text(&judge.rubric))
            .map_or(String::new(), |source| source.text);
        if problems.is_empty() && rubric.trim().is_empty() {
            let help = "describe when an output is a pass, weak or a fail";
            problems.push(Diagnostic::of_file(
                &judge.rubric,
                Code::EMPTY_RUBRIC,
                "the rubric is empty",
                help,
            ));
        }
        let labels = problems
            .keep_all(Labels::open(judge.labels.as_ref(), self.files))
            .unwrap_or_default();
        strays(&labels, suite, golden, &mut problems);
        problems.or(LoadedJudge {
            config: judge.clone(),
            rubric_sha256: sha256_hex(rubric.as_bytes()),
            rubric,
            labels,
        })
    }
}
