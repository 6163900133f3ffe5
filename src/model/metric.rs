//! Definitions of metrics: name, direction, aggregation, default gates.

use super::gate::Gate;
use super::tag::Tag;
use super::words::words;

words! {
    pub enum Better {
        Higher = "higher",
        Lower = "lower",
        /// Neither; the metric is informational.
        Neither = "neither",
    }
}

/// How an agent's value is computed from its pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// The worst pair, because an average could hide it.
    Worst,
    /// The arithmetic mean.
    Mean,
    /// The sum.
    Sum,
    /// The middle pair.
    Median,
    /// The pair that 95 % of the pairs do not exceed.
    P95,
    /// The share of pairs that passed.
    Rate,
    /// The harmonic mean of two of the agent's own metrics, 0 where both are 0.
    Harmonic(&'static str, &'static str),
    /// The share of measured pairs among the planned ones; pairs in quarantine are not planned.
    Coverage,
    /// The number of cases that passed in the baseline and fail now.
    NewlyFailing,
}

impl Aggregate {
    /// The two metrics that a harmonic mean is made of; `None` for every other aggregate.
    pub fn parts(self) -> Option<[&'static str; 2]> {
        match self {
            Self::Harmonic(left, right) => Some([left, right]),
            Self::Worst
            | Self::Mean
            | Self::Sum
            | Self::Median
            | Self::P95
            | Self::Rate
            | Self::Coverage
            | Self::NewlyFailing => None,
        }
    }
}

/// How a pair's value is computed from its completed samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleFold {
    /// The median; for an even count the worse of the two middle values.
    Median,
    /// The mean, for kinds that measure variability itself.
    Mean,
    /// The worst sample, for what must never happen.
    Worst,
}

/// The origin of a sample's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSource {
    /// The kind's grade.
    Grade,
    /// An expression of the config.
    Expression,
    /// What the sample used. The value of an agent needs that of every pair.
    Use,
}

/// The elements of a case that explain its part in the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainedBy {
    /// The shortfalls that name the metric.
    Shortfalls,
    /// The failed checks with one of these words, and the shortfalls that name the metric.
    Checks(&'static [&'static str]),
    /// Every failed check.
    AllChecks,
}

words! {
    /// The unit; it decides the number format.
    pub enum Unit {
        /// A share in 0..1; differences are shown in percentage points.
        Share = "share",
        /// A count.
        Count = "count",
        /// Rubric points.
        Points = "points",
        /// A spread such as a variance: small, shown with four decimal places.
        Spread = "spread",
        /// US dollars, shown with four decimal places.
        Dollars = "usd",
    }
}

/// One metric of a kind. Docs tables, reports and gates all derive from this table.
#[derive(Debug, Clone, Copy)]
pub struct MetricSpec {
    /// The name used in configs, baselines and reports.
    pub name: &'static str,
    /// Its better direction.
    pub better: Better,
    /// How its samples are aggregated.
    pub fold: SampleFold,
    /// How its cases are aggregated.
    pub aggregate: Aggregate,
    /// Its unit.
    pub unit: Unit,
    /// The smallest possible value.
    pub least: f64,
    /// The largest possible value, if the unit does not imply it: rubric points.
    pub most: Option<f64>,
    /// The origin of a sample's value.
    pub source: ValueSource,
    /// The elements of a case that explain its value.
    pub explained_by: ExplainedBy,
    /// The likely cause of a difference that no check covers.
    pub tag: Tag,
    /// The default gates.
    pub gates: &'static [Gate],
    /// The default gates of the model tier, if they differ.
    pub model_gates: Option<&'static [Gate]>,
    /// Gates that a switch of the suite activates.
    pub switched_gates: &'static [Gate],
    /// Its meaning in one line for people.
    pub meaning: &'static str,
}

impl Aggregate {
    /// The value in reports and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Worst => "worst",
            Self::Mean => "mean",
            Self::Sum => "sum",
            Self::Median => "median",
            Self::P95 => "p95",
            Self::Rate => "rate",
            Self::Harmonic(..) => "harmonic",
            Self::Coverage => "coverage",
            Self::NewlyFailing => "count",
        }
    }
}

impl Better {
    /// How much worse `after` is than `before`; negative if it is better. Without a direction every difference counts.
    pub fn loss(self, before: f64, after: f64) -> f64 {
        match self {
            Self::Higher => before - after,
            Self::Lower => after - before,
            Self::Neither => (after - before).abs(),
        }
    }
}

impl MetricSpec {
    /// The defaults of most metrics: a share, higher is better, median of samples, mean of cases, no gate.
    pub const PLAIN: Self = Self {
        name: "",
        better: Better::Higher,
        fold: SampleFold::Median,
        aggregate: Aggregate::Mean,
        unit: Unit::Share,
        least: 0.0,
        most: None,
        source: ValueSource::Grade,
        explained_by: ExplainedBy::Shortfalls,
        tag: Tag::Prompt,
        gates: &[],
        model_gates: None,
        switched_gates: &[],
        meaning: "",
    };

    /// The defaults for shares of cases that passed.
    pub const RATE: Self = Self {
        aggregate: Aggregate::Rate,
        explained_by: ExplainedBy::AllChecks,
        ..Self::PLAIN
    };

    /// Whether it only states that an agent was measured, not how good the agent is: such a metric alone never makes a verdict pass.
    pub fn is_precondition(&self) -> bool {
        self.aggregate == Aggregate::Coverage
    }

    /// The largest possible value; infinite for a count.
    pub fn greatest(&self) -> f64 {
        let of_unit = match self.unit {
            Unit::Share | Unit::Spread => 1.0,
            Unit::Count | Unit::Points | Unit::Dollars => f64::INFINITY,
        };
        self.most.unwrap_or(of_unit)
    }
}

/// The share of planned pairs that were measured.
pub const COVERAGE: &str = "coverage";

/// The number of cases that passed in the baseline and fail now.
pub const NEWLY_FAILING: &str = "newly_failing";

/// Smallest difference that counts as a change: a baseline has six decimal places.
pub const MOVED: f64 = 1e-5;

/// Tolerance at the exact boundary; numbers of a baseline have a larger one.
pub const EPSILON: f64 = 1e-9;

/// Whether a value reaches a threshold, within [`EPSILON`].
pub fn reaches(value: f64, threshold: f64) -> bool {
    value >= threshold - EPSILON
}

/// `part / whole`; `None` if `whole` is 0.
pub fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// 1 if true, else 0.
pub fn indicator(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// The harmonic mean of two shares; 0 if both are 0.
pub fn harmonic(left: f64, right: f64) -> f64 {
    match left + right {
        0.0 => 0.0,
        sum => 2.0 * left * right / sum,
    }
}

#[cfg(test)]
mod tests {
    use super::Better;

    #[test]
    fn a_loss_follows_the_direction_of_its_metric() {
        for (better, before, after, loss) in [
            (Better::Higher, 0.75, 0.5, 0.25),
            (Better::Higher, 0.5, 0.75, -0.25),
            (Better::Lower, 0.5, 0.75, 0.25),
            (Better::Lower, 0.75, 0.5, -0.25),
            (Better::Neither, 0.75, 0.5, 0.25),
            (Better::Neither, 0.5, 0.75, 0.25),
        ] {
            assert!(
                (better.loss(before, after) - loss).abs() < f64::EPSILON,
                "{better:?} {before} {after}"
            );
        }
    }
}
