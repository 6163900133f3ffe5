//! How long a server asks to wait.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// What an answer's headers say about when to come back.
#[derive(Debug, Clone, Copy, Default)]
pub struct RetryHint<'a> {
    /// `retry-after`: seconds, or a date.
    pub after: Option<&'a str>,
    /// `retry-after-ms`, which Azure sends.
    pub after_ms: Option<&'a str>,
    /// `date`: the server's own clock, against which its dates are read.
    pub date: Option<&'a str>,
}

/// The least time to wait. A date without the server's own clock says nothing that could be trusted.
pub fn wait(told: RetryHint<'_>) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let seconds = match (told.after_ms.and_then(number), told.after) {
        (Some(milliseconds), _) => Some(milliseconds / 1000.0),
        (None, Some(after)) => number(after).or_else(|| Some(moment(after)? - moment(told.date?)?)),
        (None, None) => None,
    };
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok())
}

/// Seconds since 1970.
fn moment(text: &str) -> Option<f64> {
    let at: Timestamp = DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    Some(at.as_second() as f64)
}
