//! Refuses checks and metrics of a suite that could have no effect, or that have the name of another metric.

use super::plan_reader::PlanReader;
use crate::diag::{Code, Diagnostics};
use crate::format::Step::{At, Key};
use crate::model::SuiteConfig;
use crate::suites::{AnswerOutput, SuiteKind};

impl PlanReader<'_> {
    pub(super) fn check_own_expressions(
        &self,
        suite: &SuiteConfig,
        kind: &SuiteKind,
        problems: &mut Diagnostics,
    ) {
        let own = &suite.expressions;
        let lists = [
            ("checks", own.checks.is_empty()),
            ("metrics", own.metrics.is_empty()),
        ];
        for (list, _) in lists
            .into_iter()
            .filter(|(_, is_empty)| !is_empty && kind.answer == AnswerOutput::None)
        {
            let path = [Key("suites"), At(suite.index), Key(list)];
            let what = format!(
                "{list} have no effect on kind {}, because its suites have no runs of their own",
                kind.name
            );
            problems.push(self.problem(
                &path,
                Code::NO_EFFECT,
                what,
                "state them in the suite whose agents run",
            ));
        }
        for name in own
            .metrics
            .keys()
            .filter(|name| kind.every_metric().any(|spec| spec.name == name.as_str()))
        {
            let path = [Key("suites"), At(suite.index), Key("metrics")];
            let what = format!("kind {} already has a metric \"{name}\"", kind.name);
            problems.push(self.problem(
                &path,
                Code::DUPLICATE_NAME,
                what,
                "give the metric another name",
            ));
        }
    }
}
