//! How often chance alone makes a run as bad as this one, or worse.
//!
//! What is said here holds by construction, whatever the true rates of an agent are. The [test](mid_p) sees losses that are spread over the
//! cases; a [lost case](samples_to_lose) is a loss in one of them. Several tests share one error rate by [Holm's method](holm).

mod detection;
mod holm;
mod lost;
mod moments;
mod null;
mod pass_rate;
mod regression;
mod score;
mod test;

pub use detection::{Detection, FEWEST_CASES, detection, samples_to_see};
pub use holm::{Share, holm};
pub use lost::samples_to_lose;
pub use null::NullDistribution;
pub use pass_rate::{CaseCount, pass_rate_range};
pub use regression::{
    BETTER, CaseSamples, Regression, RegressionInput, Sample, null_distribution, regression,
};
pub use score::Score;
pub use test::{ScoredCase, mid_p};

#[cfg(test)]
mod properties;
