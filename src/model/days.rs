//! The day of a run.

/// Today, and the last day on which a quarantine may end, in UTC as `YYYY-MM-DD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDays {
    /// The day of the run.
    pub today: String,
    /// The last day of a quarantine that is stated today.
    pub last: String,
}

impl RunDays {
    /// The longest quarantine, in days.
    pub const QUARANTINE: i64 = 30;
}
