//! The sum of values that are drawn without replacement, by its first three moments.

use statrs::distribution::{ContinuousCDF, Normal};

/// The moments of a sum.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moments {
    pub mean: f64,
    pub variance: f64,
    /// The third central moment.
    third: f64,
}

impl Moments {
    /// Those of the sum of `drawn` of these values, at least two, each choice as likely (Cochran 1977, "Sampling Techniques", 2.5 and 2.15).
    pub fn of_choice(values: &[u32], drawn: usize) -> Self {
        let (all, drawn) = (values.len() as f64, drawn as f64);
        let mean = values.iter().map(|value| f64::from(*value)).sum::<f64>() / all;
        let left = all - drawn;
        let variance = drawn * left / (all * (all - 1.0)) * sum_of_powers(values, mean, 2);
        let third = match values.len() {
            2 => 0.0,
            _ => {
                let pairs = all * (all - 1.0) * (all - 2.0);
                drawn * left * (left - drawn) / pairs * sum_of_powers(values, mean, 3)
            }
        };
        Self {
            mean: drawn * mean,
            variance,
            third,
        }
    }

    /// Those of a sum of two independent sums.
    pub fn with(self, addend: Self) -> Self {
        Self {
            mean: self.mean + addend.mean,
            variance: self.variance + addend.variance,
            third: self.third + addend.third,
        }
    }

    /// Without a variance that was added elsewhere, as long as most of the own one is left.
    pub fn without_variance(self, added: f64) -> Self {
        Self {
            variance: (self.variance - added).max(self.variance / 4.0),
            ..self
        }
    }

    /// The probability that the sum is less than a value, with half of that it is equal: the normal distribution, corrected for the third
    /// moment (Edgeworth's series to its first term; Feller 1971, XVI.4).
    pub fn below(self, value: f64) -> f64 {
        let deviation = self.variance.sqrt();
        let z = (value - self.mean) / deviation;
        let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let skew = self.third / (deviation * self.variance);
        (Normal::standard().cdf(z) - density * skew * (z * z - 1.0) / 6.0).clamp(0.0, 1.0)
    }
}

/// The sum of the powers of the deviations from the mean.
fn sum_of_powers(values: &[u32], mean: f64, exponent: i32) -> f64 {
    values
        .iter()
        .map(|value| (f64::from(*value) - mean).powi(exponent))
        .sum()
}
