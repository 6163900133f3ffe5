//! Gates: limits for metrics.

use super::words::words;

/// The allowed side of the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitSide {
    /// The value must reach the threshold.
    Min,
    /// The value must not exceed the threshold.
    Max,
}

/// The origin of a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// A number in the config.
    Number(f64),
    /// The agent's value in the baseline; without one `otherwise`, else the gate is skipped.
    Baseline {
        /// The threshold while the agent has no baseline.
        otherwise: Option<f64>,
    },
}

/// The result just beyond the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Strictness {
    /// Every value beyond the threshold fails.
    Hard,
    /// Values up to this far beyond it are inconclusive. Range: 0..0.5, for points 0..6; any for counts and amounts.
    Band(f64),
    /// Values up to `zone` beyond it are compared with the baseline; without one they are inconclusive.
    ComparedBand {
        /// The width of the band.
        zone: f64,
        /// How much worse than the baseline a value in the band may be.
        tolerance: f64,
    },
    /// Every value beyond the threshold is inconclusive and never a fail.
    Open,
}

impl Strictness {
    /// The width of the inconclusive band: 0 for a hard gate and for an unlimited band.
    pub fn zone(self) -> f64 {
        match self {
            Self::Hard | Self::Open => 0.0,
            Self::Band(zone) | Self::ComparedBand { zone, .. } => zone,
        }
    }

    /// The same with another width of its band, if it has one.
    pub fn with_zone(self, zone: f64) -> Self {
        match self {
            Self::Band(_) => Self::Band(zone),
            Self::ComparedBand { tolerance, .. } => Self::ComparedBand { zone, tolerance },
            Self::Hard | Self::Open => self,
        }
    }

    /// How much worse than the baseline a value in the band may be, if that decides.
    pub fn tolerance(self) -> Option<f64> {
        match self {
            Self::ComparedBand { tolerance, .. } => Some(tolerance),
            Self::Band(_) | Self::Hard | Self::Open => None,
        }
    }
}

/// The direction of a change from the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeDirection {
    /// A drop below the baseline.
    Drop,
    /// A rise above the baseline.
    Rise,
}

impl ChangeDirection {
    /// The side on which a value may not go beyond the limit.
    pub fn limit_side(self) -> LimitSide {
        match self {
            Self::Drop => LimitSide::Min,
            Self::Rise => LimitSide::Max,
        }
    }
}

/// One limit of one metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gate {
    /// A lower or upper limit.
    Threshold {
        /// Lower or upper.
        side: LimitSide,
        /// The threshold.
        limit: Limit,
        /// Hard, or with a band.
        strictness: Strictness,
    },
    /// A limit on the change from the baseline; the boundary passes, without a band.
    Change {
        /// The direction that is limited.
        direction: ChangeDirection,
        /// The largest allowed change, in the metric's unit, at least 0.
        tolerance: f64,
    },
}

impl Gate {
    /// At least 1, without a band.
    pub const PERFECT: Self = Self::Threshold {
        side: LimitSide::Min,
        limit: Limit::Number(1.0),
        strictness: Strictness::Hard,
    };

    /// At least the baseline, and 1 without a baseline; no band.
    pub const AS_THE_BASELINE: Self = Self::Threshold {
        side: LimitSide::Min,
        limit: Limit::Baseline {
            otherwise: Some(1.0),
        },
        strictness: Strictness::Hard,
    };

    /// At most 0, without a band.
    pub const NONE: Self = Self::Threshold {
        side: LimitSide::Max,
        limit: Limit::Number(0.0),
        strictness: Strictness::Hard,
    };

    /// At most 15 percentage points below the baseline.
    pub const NO_LARGE_DROP: Self = Self::Change {
        direction: ChangeDirection::Drop,
        tolerance: 0.15,
    };

    /// The kind of the gate.
    pub fn kind(&self) -> GateKind {
        match self {
            Self::Threshold {
                side: LimitSide::Min,
                ..
            } => GateKind::Min,
            Self::Threshold {
                side: LimitSide::Max,
                ..
            } => GateKind::Max,
            Self::Change {
                direction: ChangeDirection::Drop,
                ..
            } => GateKind::MaxDrop,
            Self::Change {
                direction: ChangeDirection::Rise,
                ..
            } => GateKind::MaxRise,
        }
    }
}

words! {
    /// What a gate limits, by the key under which configs and reports write it.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum GateKind {
        /// `min`: the value reaches the threshold.
        Min = "min",
        /// `max`: the value does not exceed the threshold.
        Max = "max",
        /// `max_drop`: the value is at most this far below the baseline.
        MaxDrop = "max_drop",
        /// `max_rise`: the value is at most this far above the baseline.
        MaxRise = "max_rise",
        /// `regression`: the test of the policy `regression` against its share of the chance of a false alarm.
        Test = "regression",
        /// `lost`: no case is lost.
        Lost = "lost",
        /// `never`: no class of what an agent never does is broken.
        Never = "never",
        /// `floor`: the pass rate reaches the least one.
        Floor = "floor",
    }
}

impl std::fmt::Display for GateKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.as_str())
    }
}
