//! Checks `checks:` and `metrics:` of a suite: expressions over every run.

use schemars::JsonSchema;
use serde::Deserialize;

use super::ConfigReader;
use crate::diag::Code;
use crate::format::Step;
use crate::format::Step::{At, Key};
use crate::format::expression::parsed;
use crate::model::{
    Aggregate, Better, CaseTag, InputLimit, OwnCheck, OwnExpressions, OwnMetric, PASSED, Unit,
};

/// A check of every case of the suite.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnCheckForm {
    /// Its name: `check[NAME]` in reports.
    name: String,
    /// An expression in CEL that is true if the check passes, such as `output.total == expected.total`.
    expr: String,
    /// The rule of the prompt package that it tests, by id or text.
    rule: Option<String>,
}

/// A metric of the suite.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnMetricForm {
    /// Its name in gates and reports.
    name: String,
    /// An expression in CEL of a sample's value: a number, or null if there is nothing to measure.
    expr: String,
    /// Its better direction.
    better: Better,
    /// How the cases are aggregated; default `mean`.
    aggregate: Option<OwnAggregateForm>,
    /// Its unit; default `count`. A `share` lies in 0 to 1 and is shown in percent.
    unit: Option<Unit>,
}

/// How the cases of a metric are aggregated.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum OwnAggregateForm {
    /// The arithmetic mean.
    Mean,
    /// The worst case.
    Worst,
    /// The middle case.
    Median,
    /// The case that 95% of the cases do not exceed.
    P95,
    /// The sum.
    Sum,
}

impl From<OwnAggregateForm> for Aggregate {
    fn from(form: OwnAggregateForm) -> Self {
        match form {
            OwnAggregateForm::Mean => Self::Mean,
            OwnAggregateForm::Worst => Self::Worst,
            OwnAggregateForm::Median => Self::Median,
            OwnAggregateForm::P95 => Self::P95,
            OwnAggregateForm::Sum => Self::Sum,
        }
    }
}

impl ConfigReader<'_> {
    pub(super) fn own_expressions(
        &mut self,
        suite: usize,
        checks: Vec<OwnCheckForm>,
        metrics: Vec<OwnMetricForm>,
    ) -> OwnExpressions {
        let mut own = OwnExpressions::default();
        self.few(suite, "checks", checks.len());
        for (index, OwnCheckForm { name, expr, rule }) in checks.into_iter().enumerate() {
            let at = OwnEntry {
                suite,
                list: "checks",
                index,
            };
            self.own_name(at, &name, own.checks.contains_key(&name));
            self.own_expression(at, &expr);
            if rule.as_deref().is_some_and(|rule| rule.trim().is_empty()) {
                self.refuse(
                    &at.path("rule"),
                    Code::EMPTY_TEXT,
                    "the rule is empty",
                    "write it, or remove it",
                );
            }
            own.checks.insert(name, OwnCheck { expr, rule });
        }
        self.few(suite, "metrics", metrics.len());
        for (
            index,
            OwnMetricForm {
                name,
                expr,
                better,
                aggregate,
                unit,
            },
        ) in metrics.into_iter().enumerate()
        {
            let at = OwnEntry {
                suite,
                list: "metrics",
                index,
            };
            self.own_name(at, &name, own.metrics.contains_key(&name));
            if name == PASSED {
                let what = format!(
                    "a metric cannot be called \"{name}\": the baseline keeps which samples pass under this name"
                );
                self.refuse(
                    &at.path("name"),
                    Code::DUPLICATE_NAME,
                    what,
                    "give it another name",
                );
            }
            self.own_expression(at, &expr);
            if let (Some(OwnAggregateForm::Worst), Better::Neither) = (aggregate, better) {
                let what = "no case is the worst where no direction is better";
                let help = "write `better: higher` or `better: lower`, or another aggregate, such as `mean`";
                self.refuse(&at.path("aggregate"), Code::CONTRADICTION, what, help);
            }
            let aggregate = aggregate.map_or(Aggregate::Mean, Aggregate::from);
            own.metrics.insert(
                name,
                OwnMetric {
                    expr,
                    better,
                    aggregate,
                    unit: unit.unwrap_or(Unit::Count),
                },
            );
        }
        own
    }

    fn few(&mut self, suite: usize, list: &str, count: usize) {
        let limit = &InputLimit::OWN_EXPRESSIONS;
        if limit.is_exceeded_by(count) {
            let path = [Key("suites"), At(suite), Key(list), At(limit.count())];
            let what = format!("{count} entries in `{list}`; the limit is {limit}");
            self.refuse(&path, Code::TOO_MANY, what, limit.help);
        }
    }

    fn own_name(&mut self, at: OwnEntry, name: &str, is_taken: bool) {
        let path = at.path("name");
        if let Err(bad) = CaseTag::new(name) {
            self.refuse(&path, Code::BAD_ID, bad.to_string(), bad.help());
        } else if is_taken {
            let what = format!("duplicate name \"{name}\"");
            self.refuse(
                &path,
                Code::DUPLICATE_NAME,
                what,
                "give each entry its own name",
            );
        }
    }

    fn own_expression(&mut self, at: OwnEntry, text: &str) {
        if let Err(bad) = parsed(text) {
            self.refuse(&at.path("expr"), Code::BAD_EXPRESSION, bad.what, bad.help);
        }
    }
}

/// An entry of one of the two lists of a suite.
#[derive(Clone, Copy)]
struct OwnEntry {
    suite: usize,
    list: &'static str,
    index: usize,
}

impl OwnEntry {
    fn path(self, key: &'static str) -> [Step<'static>; 5] {
        [
            Key("suites"),
            At(self.suite),
            Key(self.list),
            At(self.index),
            Key(key),
        ]
    }
}
