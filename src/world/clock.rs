//! The time of day.

use std::time::{Instant, SystemTime};

use jiff::Timestamp;

/// The machine's clock, or a fixed one for reproducible output (`SOURCE_DATE_EPOCH`).
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    fixed: Option<Timestamp>,
    started: Instant,
}

impl Clock {
    /// A clock fixed at `epoch` seconds after 1970, which measures no time; otherwise the machine's clock.
    pub fn new(epoch: Option<&str>) -> Self {
        let fixed =
            epoch.and_then(|text| text.trim().parse().ok()).and_then(|seconds| Timestamp::from_second(seconds).ok());
        Self { fixed, started: Instant::now() }
    }

    /// The current time. A machine's time beyond the calendar becomes its last moment.
    fn timestamp(&self) -> Timestamp {
        self.fixed.unwrap_or_else(|| Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX))
    }

    /// The current time in UTC, to the second.
    pub fn now(&self) -> String {
        let now = self.timestamp();
        now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// The current time in nanoseconds after 1970.
    pub fn nanoseconds(&self) -> u64 {
        u64::try_from(self.timestamp().as_nanosecond()).unwrap_or(0)
    }

    /// The current date in UTC as `YYYY-MM-DD`.
    pub fn today(&self) -> String {
        self.in_days(0)
    }

    /// The UTC date this many days from now.
    pub fn in_days(&self, days: i64) -> String {
        let now = self.timestamp();
        let then = now.checked_add(jiff::SignedDuration::from_hours(24 * days)).unwrap_or(now);
        then.strftime("%Y-%m-%d").to_string()
    }

    /// Milliseconds since the process started; 0 for a fixed clock.
    pub fn elapsed_ms(&self) -> u64 {
        match self.fixed {
            Some(_) => 0,
            None => u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }
}
