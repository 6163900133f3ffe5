//! The score of a sample.

/// Parts of one: the least common multiple of 1 to 8, so that shares of up to eight checks are exact.
const PARTS: f64 = 840.0;

/// A score between 0 and 1, as a number of 840ths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u16);

impl Score {
    /// Every check failed.
    pub const ZERO: Self = Self(0);
    /// Every check passed.
    pub const ONE: Self = Self(PARTS as u16);

    /// Rounds a share to 6 places, as files keep it, and then to 840ths, half up. What is outside of 0 to 1 is its border.
    pub fn of(share: f64) -> Self {
        let kept = (share.clamp(0.0, 1.0) * 1e6).round() / 1e6;
        Self((kept * PARTS + 0.5).floor() as u16)
    }

    /// The number of 840ths.
    pub fn parts(self) -> u32 {
        u32::from(self.0)
    }
}
