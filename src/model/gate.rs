//! A gate: the limit that a metric has to keep.

/// Which side of the threshold is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitSide {
    /// The value has to reach the threshold.
    Min,
    /// The value must not exceed the threshold.
    Max,
}

/// Where a threshold comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// The number that was written.
    Number(f64),
    /// The agent's number in the baseline; without an entry `otherwise`, else the gate is skipped.
    Baseline {
        /// The threshold while the agent has no baseline.
        otherwise: Option<f64>,
    },
}

/// What happens next to the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Edge {
    /// Beyond the threshold is a fail.
    Hard,
    /// Up to this far beyond it is inconclusive; the number lies in 0..0.5, for points in 0..6.
    Band(f64),
    /// Beyond the threshold nothing can be told, however far: it is inconclusive and never a fail.
    Open,
}

impl Edge {
    /// The width of the inconclusive band: 0 where the gate is hard, and where there is no end to it.
    pub fn zone(self) -> f64 {
        match self {
            Self::Hard | Self::Open => 0.0,
            Self::Band(zone) => zone,
        }
    }
}

/// In which direction a value may move away from its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Drift {
    /// At most this far below the baseline.
    Drop,
    /// At most this far above the baseline.
    Rise,
}

/// One limit of one metric (grading.md 3, formats.md "A gate is").
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gate {
    /// A floor or a ceiling.
    Threshold {
        /// Floor or ceiling.
        side: LimitSide,
        /// Its number.
        limit: Limit,
        /// Hard, or with a band.
        edge: Edge,
    },
    /// A regression check against the baseline; the boundary passes and there is no band.
    Change {
        /// The direction that is limited.
        drift: Drift,
        /// How far the value may move, in the metric's own unit, at least 0.
        tolerance: f64,
        /// What the value has to reach while the agent has no baseline; without it the gate is skipped then.
        otherwise: Option<f64>,
    },
}

impl Gate {
    /// Nothing less than 1, without a band.
    pub const PERFECT: Self = Self::Threshold { side: LimitSide::Min, limit: Limit::Number(1.0), edge: Edge::Hard };

    /// As good as the baseline, and perfect while there is none, without a band.
    pub const AS_THE_BASELINE: Self =
        Self::Threshold { side: LimitSide::Min, limit: Limit::Baseline { otherwise: Some(1.0) }, edge: Edge::Hard };

    /// Nothing above 0, without a band.
    pub const NONE: Self = Self::Threshold { side: LimitSide::Max, limit: Limit::Number(0.0), edge: Edge::Hard };

    /// At most 15 percentage points below the baseline.
    pub const NO_LARGE_DROP: Self = Self::Change { drift: Drift::Drop, tolerance: 0.15, otherwise: None };

    /// The same, and at least half of it without a baseline: an agent that fails most of its cases is seen at once.
    pub const NO_LARGE_DROP_ELSE_HALF: Self =
        Self::Change { drift: Drift::Drop, tolerance: 0.15, otherwise: Some(0.5) };

    /// At most 15 percentage points above the baseline.
    pub const NO_LARGE_RISE: Self = Self::Change { drift: Drift::Rise, tolerance: 0.15, otherwise: None };

    /// The key under which the gate is written: `min`, `max`, `max_drop`, `max_rise`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Threshold { side: LimitSide::Min, .. } => "min",
            Self::Threshold { side: LimitSide::Max, .. } => "max",
            Self::Change { drift: Drift::Drop, .. } => "max_drop",
            Self::Change { drift: Drift::Rise, .. } => "max_rise",
        }
    }
}
