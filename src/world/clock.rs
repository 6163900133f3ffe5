//! The time of day.

use std::time::{Instant, SystemTime};

use jiff::Timestamp;

use crate::model::RunDays;

/// The machine's clock, or a fixed one for reproducible output (`SOURCE_DATE_EPOCH`).
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    fixed: Option<Timestamp>,
    started: Instant,
}

impl Clock {
    /// A clock fixed at `epoch` seconds after 1970, which measures no time; otherwise the machine's clock. An epoch that is not such a
    /// number, or beyond the calendar, is ignored: other programs set it, too.
    pub fn new(epoch: Option<&str>) -> Self {
        let fixed = epoch
            .and_then(|text| text.trim().parse().ok())
            .and_then(|seconds| Timestamp::from_second(seconds).ok());
        Self {
            fixed,
            started: Instant::now(),
        }
    }

    fn timestamp(&self) -> Timestamp {
        self.fixed
            .unwrap_or_else(|| within_calendar(SystemTime::now()))
    }

    /// The current time in UTC, to the second.
    pub fn now(&self) -> String {
        let timestamp = self.timestamp();
        timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
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
        let today = self.timestamp();
        let then = today
            .checked_add(jiff::SignedDuration::from_hours(24 * days))
            .unwrap_or(today);
        then.strftime("%Y-%m-%d").to_string()
    }

    /// The day of a run that starts now.
    pub fn days(&self) -> RunDays {
        RunDays {
            today: self.today(),
            last: self.in_days(RunDays::QUARANTINE),
        }
    }

    /// Milliseconds since the process started; 0 for a fixed clock.
    pub fn elapsed_ms(&self) -> u64 {
        match self.fixed {
            Some(_) => 0,
            None => u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// A machine's time. Beyond the calendar it becomes the calendar's last moment.
fn within_calendar(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{Clock, within_calendar};

    #[test]
    fn a_machine_without_a_clock_has_a_date() {
        for (seconds, date) in [
            (0, "1970-01-01"),
            (4_102_444_800, "2100-01-01"),
            (300_000_000_000, "9999-12-30"),
        ] {
            let time = within_calendar(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
            let clock = Clock {
                fixed: Some(time),
                ..Clock::new(None)
            };
            assert_eq!(clock.today(), date);
            assert!(
                clock.now().starts_with(date) && clock.in_days(30) >= clock.today(),
                "{}",
                clock.in_days(30)
            );
        }
    }

    #[test]
    fn an_epoch_that_is_no_time_is_ignored() {
        for epoch in ["soon", "253402300799", "1.5", ""] {
            assert!(Clock::new(Some(epoch)).fixed.is_none(), "{epoch}");
        }
        assert_eq!(Clock::new(Some(" 0 ")).now(), "1970-01-01T00:00:00Z");
    }
}
