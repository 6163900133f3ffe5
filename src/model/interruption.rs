//! Why a run ended before all its samples were made.

/// Why a run was called off. Such a run gives no verdict, whatever was measured until then. The order is by weight: where a
/// run has several reasons, the last one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interruption {
    /// The budget of tokens is spent.
    Tokens,
    /// The budget of US dollars is spent.
    Cost,
    /// The time of the budget is over.
    Time,
    /// SIGHUP: the terminal or the connection was closed.
    HungUp,
    /// SIGTERM: the runner ended the run.
    Terminated,
    /// SIGINT: a person pressed Ctrl-C.
    Interrupted,
}

impl Interruption {
    /// All of them, from light to heavy.
    pub const ALL: [Self; 6] =
        [Self::Tokens, Self::Cost, Self::Time, Self::HungUp, Self::Terminated, Self::Interrupted];

    /// The exit code of a run that ended so: 128 and the signal's number, or 3 for a budget.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Tokens | Self::Cost | Self::Time => 3,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// Whether somebody ended the run from outside: then nothing further is begun.
    pub fn is_signal(self) -> bool {
        match self {
            Self::Tokens | Self::Cost | Self::Time => false,
            Self::HungUp | Self::Interrupted | Self::Terminated => true,
        }
    }

    /// The word used in reports.
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

    /// What happened, for people.
    pub fn message(self) -> &'static str {
        match self {
            Self::Tokens => "the budget of tokens is spent",
            Self::Cost => "the budget of dollars is spent",
            Self::Time => "the time of the budget is over",
            Self::HungUp => "the run was called off (SIGHUP)",
            Self::Terminated => "the run was called off (SIGTERM)",
            Self::Interrupted => "the run was called off (SIGINT)",
        }
    }
}
