//! What a number means: its name, its direction, how it is folded, and its default gates.

use super::gate::Gate;

/// In which direction a metric is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// It informs only.
    Neither,
}

/// How an agent's value comes from its pairs (grading.md 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// The worst pair decides: an average cannot hide it.
    Worst,
    /// The arithmetic mean.
    Mean,
    /// The sum.
    Sum,
    /// The share of pairs that passed.
    Rate,
    /// The harmonic mean of two of the agent's own metrics, 0 where both are 0.
    Harmonic(&'static str, &'static str),
    /// Pairs that were measured out of those that were planned; what is in quarantine is not planned.
    Coverage,
    /// The number of cases that passed in the baseline and fail now.
    NewlyFailing,
}

/// How a pair's value comes from its completed samples (grading.md 2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleFold {
    /// The median, the mean of the two middle values where the count is even.
    Median,
    /// The mean, for kinds that measure variability itself.
    Mean,
    /// The worst sample, for what must not happen even once.
    Worst,
}

/// Where the value of a sample comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSource {
    /// The grade that the kind gives.
    Grade,
    /// Whether the sample could be read at all.
    Layer,
}

/// Which elements of a case are shown for its part in the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainedBy {
    /// The shortfalls that name the metric.
    Shortfalls,
    /// The failed checks with one of these words, and the shortfalls that name the metric.
    Checks(&'static [&'static str]),
    /// Every failed check.
    AllChecks,
}

/// What the number counts; it decides how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A share of a whole in 0..1; differences are shown in percentage points.
    Share,
    /// A number of things.
    Count,
    /// Rubric points.
    Points,
    /// A spread, such as a variance: small, and shown with four places.
    Spread,
}

/// One metric of a kind. Docs tables, reports and gates are all made from this table.
#[derive(Debug, Clone, Copy)]
pub struct MetricSpec {
    /// The name used in configs, baselines and reports.
    pub name: &'static str,
    /// In which direction it is good.
    pub better: Better,
    /// How it is folded over samples.
    pub fold: SampleFold,
    /// How it is folded over cases.
    pub aggregate: Aggregate,
    /// What it counts.
    pub unit: Unit,
    /// The greatest value that it can take, where its unit does not say: points of a rubric.
    pub most: Option<f64>,
    /// Where a sample's value comes from.
    pub source: ValueSource,
    /// Which elements of a case explain its value.
    pub explained_by: ExplainedBy,
    /// The gates that hold where the config states none.
    pub gates: &'static [Gate],
    /// The gates of the model tier, where they differ.
    pub model_gates: Option<&'static [Gate]>,
    /// The gates that one word of the suite switches on.
    pub switched_gates: &'static [Gate],
    /// One line for people: what the number is.
    pub meaning: &'static str,
}

impl Aggregate {
    /// The word used in reports and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Worst => "worst",
            Self::Mean => "mean",
            Self::Sum => "sum",
            Self::Rate => "rate",
            Self::Harmonic(..) => "harmonic",
            Self::Coverage => "coverage",
            Self::NewlyFailing => "count",
        }
    }
}

impl Better {
    /// The word used in reports and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Neither => "neither",
        }
    }

    /// How much worse a value is than the one before; below zero where it is better. Without a direction every difference counts.
    pub fn loss(self, before: f64, after: f64) -> f64 {
        match self {
            Self::Higher => before - after,
            Self::Lower => after - before,
            Self::Neither => (after - before).abs(),
        }
    }
}

impl MetricSpec {
    /// What most metrics have in common: a share that is better higher, the median of samples, the mean of cases, no gate.
    pub const PLAIN: Self = Self {
        name: "",
        better: Better::Higher,
        fold: SampleFold::Median,
        aggregate: Aggregate::Mean,
        unit: Unit::Share,
        most: None,
        source: ValueSource::Grade,
        explained_by: ExplainedBy::Shortfalls,
        gates: &[],
        model_gates: None,
        switched_gates: &[],
        meaning: "",
    };

    /// The same for shares of cases that passed.
    pub const RATE: Self = Self { aggregate: Aggregate::Rate, explained_by: ExplainedBy::AllChecks, ..Self::PLAIN };

    /// Whether it only says that an agent was measured, and nothing of how good the agent is: it alone makes no verdict a pass.
    pub fn is_precondition(&self) -> bool {
        self.aggregate == Aggregate::Coverage || self.source == ValueSource::Layer
    }

    /// The greatest value that the metric can take; infinite for a count.
    pub fn greatest(&self) -> f64 {
        let of_unit = match self.unit {
            Unit::Share | Unit::Spread => 1.0,
            Unit::Count | Unit::Points => f64::INFINITY,
        };
        self.most.unwrap_or(of_unit)
    }
}

/// The share of planned pairs that were measured.
pub const COVERAGE: &str = "coverage";

/// The share of pairs whose answers could be read.
pub const READABLE: &str = "readable";

/// The number of cases that passed in the baseline and fail now.
pub const NEWLY_FAILING: &str = "newly_failing";

/// From this difference on a number moved: a baseline keeps six places.
pub const MOVED: f64 = 1e-5;

/// How far a comparison favours the exact boundary (grading.md 15); numbers of a baseline have a coarser one.
pub const EPSILON: f64 = 1e-9;

/// Whether a value reaches a threshold.
pub fn reaches(value: f64, threshold: f64) -> bool {
    value >= threshold - EPSILON
}

/// A share of a whole; `None` of nothing.
pub fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// 1 where something holds, else 0.
pub fn indicator(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// The harmonic mean of two shares; 0 where both are 0.
pub fn harmonic(one: f64, other: f64) -> f64 {
    match one + other {
        0.0 => 0.0,
        sum => 2.0 * one * other / sum,
    }
}

#[cfg(test)]
mod tests {
    use super::Better;

    #[test]
    fn a_loss_has_the_direction_of_its_metric() {
        for (better, before, after, loss) in [
            (Better::Higher, 0.75, 0.5, 0.25),
            (Better::Higher, 0.5, 0.75, -0.25),
            (Better::Lower, 0.5, 0.75, 0.25),
            (Better::Lower, 0.75, 0.5, -0.25),
            (Better::Neither, 0.75, 0.5, 0.25),
            (Better::Neither, 0.5, 0.75, 0.25),
        ] {
            assert!((better.loss(before, after) - loss).abs() < f64::EPSILON, "{better:?} {before} {after}");
        }
    }
}
