//! Reads how long a server asks to wait.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// The retry headers of an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct RetryHint<'a> {
    /// `retry-after`: seconds, or a date.
    pub after: Option<&'a str>,
    /// `retry-after-ms`, which Azure sends.
    pub after_ms: Option<&'a str>,
    /// `date`: the server's clock, to which its dates relate.
    pub date: Option<&'a str>,
}

/// The minimum wait. A date without the server's own clock is ignored as unreliable.
pub fn wait(hint: RetryHint<'_>) -> Option<Duration> {
    let seconds = match (hint.after_ms.and_then(number), hint.after) {
        (Some(milliseconds), _) => Some(milliseconds / 1000.0),
        (None, Some(after)) => number(after).or_else(|| Some(moment(after)? - moment(hint.date?)?)),
        (None, None) => None,
    };
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok())
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// Seconds since 1970.
fn moment(text: &str) -> Option<f64> {
    let at: Timestamp = DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    Some(at.as_second() as f64)
}
