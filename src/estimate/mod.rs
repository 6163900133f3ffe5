//! Statistics about the reliability of numbers: intervals, detectable changes, repeated runs. Informational; gates do not use them.
//!
//! Every formula cites its source; `docs/statistics.md` explains each reported number.

mod agreement;
mod bootstrap;
mod power;
mod proportion;
mod quantile;
mod reliability;

pub use agreement::agreement;
pub use bootstrap::{PairedCases, intervals};
pub use power::detectable;
pub use proportion::share_interval;
pub use reliability::{CaseDependence, reliability};

/// Minimum number of independent cases for any interval. With four, even the whole range of the differences contains the truth in only
/// seven of eight runs.
const FEWEST_CASES: usize = 5;
