//! Why a run ended early.

/// Why a run was interrupted. Such a run has no verdict, whatever it measured. Ordered by weight: of several reasons the last one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interruption {
    /// The token budget is used up.
    Tokens,
    /// The cost budget is used up.
    Cost,
    /// The time budget is used up.
    Time,
    /// SIGHUP: the terminal or the connection was closed.
    HungUp,
    /// SIGTERM: the runner ended the run.
    Terminated,
    /// SIGINT: a person pressed Ctrl-C.
    Interrupted,
}

impl Interruption {
    /// All reasons, lightest first.
    pub const ALL: [Self; 6] =
        [Self::Tokens, Self::Cost, Self::Time, Self::HungUp, Self::Terminated, Self::Interrupted];

    /// The exit code of such a run: 128 plus the signal number, or 3 for a budget.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Tokens | Self::Cost | Self::Time => 3,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// Whether it was a signal: then nothing further is started.
    pub fn is_signal(self) -> bool {
        match self {
            Self::Tokens | Self::Cost | Self::Time => false,
            Self::HungUp | Self::Interrupted | Self::Terminated => true,
        }
    }

    /// The value in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "max_tokens",
            Self::Cost => "max_cost_usd",
            Self::Time => "max_minutes",
            Self::HungUp => "sighup",
            Self::Terminated => "sigterm",
            Self::Interrupted => "sigint",
        }
    }

    /// The message for people.
    pub fn message(self) -> &'static str {
        match self {
            Self::Tokens => "the token budget is used up",
            Self::Cost => "the cost budget is used up",
            Self::Time => "the time budget is used up",
            Self::HungUp => "the run was interrupted (SIGHUP)",
            Self::Terminated => "the run was interrupted (SIGTERM)",
            Self::Interrupted => "the run was interrupted (SIGINT)",
        }
    }
}
