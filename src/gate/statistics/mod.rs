//! How sure a number is: intervals, what can be seen at all, what repeated runs say. It informs, it decides nothing.
//!
//! Every formula names its source where it stands; `docs/statistics.md` says what each shown number means.

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
