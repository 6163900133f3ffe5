//! What a report is printed on.

/// The terminal that a report is printed on.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Whether it shows colours.
    pub style: Style,
    /// Its width in characters.
    pub columns: u16,
    /// How much of the report it shows.
    pub detail: Detail,
}

/// How much of a report a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The verdict alone.
    Verdict,
    /// One line for each agent, then what moved or failed, and why.
    Changes,
    /// All numbers, statistics and notes.
    Everything,
}

/// Whether the terminal shows colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// With colours.
    Coloured,
    /// Without.
    Plain,
}
