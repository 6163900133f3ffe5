//! How many cases pass, and how surely they do.

/// Cases that passed out of those that were counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passing {
    /// Cases that passed.
    pub passed: u32,
    /// Cases that were counted.
    pub of: u32,
    /// A 95 % interval of the share, where the cases are independent of each other.
    pub ci95: Option<(f64, f64)>,
}

impl Passing {
    /// The share that passed; `None` of nothing.
    pub fn share(&self) -> Option<f64> {
        super::share(self.passed as usize, self.of as usize)
    }
}

/// An agent's cases by majority and by every sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reliability {
    /// Cases that pass in more than half of their completed samples.
    pub majority: Passing,
    /// Cases that pass in each of their samples (pass^N); `None` where no case has more than one sample.
    pub every: Option<Passing>,
    /// Cases of which this cannot be told: every completed sample passed, and at least one was lost.
    pub untold: u32,
}
