//! Why a run ended early.

use super::words::words;

words! {
    /// Why a run was interrupted. Such a run has no verdict, whatever it measured. Ordered by weight: of several reasons the last one counts.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Interruption {
        /// The token budget is used up.
        Tokens = "max_tokens",
        /// The cost budget is used up.
        Cost = "max_cost_usd",
        /// The time budget is used up.
        Time = "max_minutes",
        /// SIGHUP: the terminal or the connection was closed.
        HungUp = "sighup",
        /// SIGTERM: the runner ended the run.
        Terminated = "sigterm",
        /// SIGINT: a person pressed Ctrl-C.
        Interrupted = "sigint",
    }
}

impl Interruption {
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
