//! Statistics about the reliability of numbers: intervals, detectable changes, repeated runs. Informational; gates do not use them.
//!
//! Every formula cites its source; `docs/statistics.md` explains each reported number.

mod agreement;
mod bootstrap;
mod power;
mod proportion;
mod quantile;
mod reliability;
mod repeated;

pub use agreement::agreement;
pub use bootstrap::{PairedCases, intervals};
pub use power::detectable;
pub use proportion::wilson;
pub use reliability::{CaseDependence, reliability};
pub use repeated::{ComparisonTarget, RepeatedMetric};
