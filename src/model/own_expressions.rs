//! The checks and metrics that a suite states itself, as expressions.

use std::collections::BTreeMap;

use serde::Serialize;

use super::interned::interned;
use super::metric::{Aggregate, Better, ExplainedBy, MetricSpec, Unit, ValueSource};

/// The checks and metrics of a suite, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct OwnExpressions {
    pub checks: BTreeMap<String, OwnCheck>,
    pub metrics: BTreeMap<String, OwnMetric>,
}

impl OwnExpressions {
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.metrics.is_empty()
    }

    /// The texts of all expressions.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let checks = self.checks.values().map(|check| check.expr.as_str());
        checks.chain(self.metrics.values().map(|metric| metric.expr.as_str()))
    }

    pub fn specs(&self) -> impl Iterator<Item = MetricSpec> {
        self.metrics.iter().map(|(name, metric)| metric.spec(name))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OwnCheck {
    /// The expression; true if the check passes.
    pub expr: String,
    /// The rule of the prompt package that it tests, by id or text.
    pub rule: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnMetric {
    /// The expression of a sample's value: a number, or null if there is nothing to measure.
    pub expr: String,
    pub better: Better,
    #[serde(serialize_with = "as_word")]
    pub aggregate: Aggregate,
    pub unit: Unit,
}

fn as_word<S: serde::Serializer>(aggregate: &Aggregate, writer: S) -> Result<S::Ok, S::Error> {
    writer.serialize_str(aggregate.as_str())
}

impl OwnMetric {
    /// How its cases may be aggregated.
    pub const AGGREGATES: [Aggregate; 5] = [
        Aggregate::Mean,
        Aggregate::Worst,
        Aggregate::Median,
        Aggregate::P95,
        Aggregate::Sum,
    ];

    /// The smallest and the largest value: only a share has limits.
    fn range(&self) -> (f64, Option<f64>) {
        match self.unit {
            Unit::Share => (0.0, None),
            Unit::Count | Unit::Points | Unit::Spread | Unit::Dollars => {
                (f64::NEG_INFINITY, Some(f64::INFINITY))
            }
        }
    }

    pub fn spec(&self, name: &str) -> MetricSpec {
        let (least, most) = self.range();
        MetricSpec {
            name: interned(name),
            better: self.better,
            aggregate: self.aggregate,
            unit: self.unit,
            least,
            most,
            source: ValueSource::Expression,
            explained_by: ExplainedBy::Shortfalls,
            meaning: interned(&self.expr),
            ..MetricSpec::PLAIN
        }
    }
}
