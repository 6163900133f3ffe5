//! When a failed call is retried: exponential backoff with full jitter, never sooner than the server requested.

use std::time::Duration;

use crate::model::{CallError, Retry};

/// How often and how long a call is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum number of tries of one call.
    pub tries: u32,
    /// Upper bound of the first wait; it doubles with every further try.
    pub first: Duration,
    /// Upper bound of any wait that goldgate chooses.
    pub longest: Duration,
    /// Longest wait that a server may request; a call that would have to wait longer fails.
    pub longest_requested: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: 6,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            longest_requested: Duration::from_secs(120),
        }
    }
}

impl RetryPolicy {
    /// The wait before the next try, after `tries` of them; `None` if the call is not retried. `random` is in 0..1: full
    /// jitter spreads simultaneous failures over the whole wait.
    pub fn wait(&self, error: &CallError, tries: u32, random: f64) -> Option<Duration> {
        let Retry::Later { after } = error.retry else {
            return None;
        };
        if tries >= self.tries || after.is_some_and(|after| after > self.longest_requested) {
            return None;
        }
        let doubled = self.first.saturating_mul(
            1_u32
                .checked_shl(tries.saturating_sub(1))
                .unwrap_or(u32::MAX),
        );
        let backoff = doubled.min(self.longest).mul_f64(random.clamp(0.0, 1.0));
        Some(after.map_or(backoff, |after| after + backoff.min(self.first)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::RetryPolicy;
    use crate::model::{CallError, Charge, Retry, RunStatus};

    fn error(retry: Retry) -> CallError {
        CallError {
            status: RunStatus::Error,
            what: "503".to_owned(),
            retry,
            charge: Charge::Never,
        }
    }

    #[test]
    fn waits_double_up_to_a_maximum_and_end() {
        let retry = RetryPolicy::default();
        let later = error(Retry::Later { after: None });
        let waits: Vec<Option<u128>> = (1..=7)
            .map(|tries| retry.wait(&later, tries, 1.0).map(|wait| wait.as_millis()))
            .collect();
        assert_eq!(
            waits,
            [
                Some(500),
                Some(1000),
                Some(2000),
                Some(4000),
                Some(8000),
                None,
                None
            ]
        );
        let long = RetryPolicy { tries: 99, ..retry };
        assert_eq!(long.wait(&later, 98, 1.0), Some(Duration::from_secs(30)));
        assert_eq!(retry.wait(&later, 3, 0.0), Some(Duration::ZERO));
        assert_eq!(retry.wait(&error(Retry::Never), 1, 1.0), None);
    }

    #[test]
    fn a_server_is_never_asked_sooner_than_it_requested() {
        let retry = RetryPolicy::default();
        let after = |seconds| {
            error(Retry::Later {
                after: Some(Duration::from_secs(seconds)),
            })
        };
        for random in [0.0, 0.3, 1.0] {
            let wait = retry.wait(&after(7), 1, random).expect("a try is left");
            assert!(
                wait >= Duration::from_secs(7) && wait <= Duration::from_millis(7500),
                "{wait:?}"
            );
        }
        assert_eq!(retry.wait(&after(121), 1, 0.5), None);
    }
}
