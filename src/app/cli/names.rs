//! The options of `names`, which the completion scripts call.

use clap::{Args, ValueEnum};

/// Options of `names`.
#[derive(Args, Debug)]
pub struct NamesArgs {
    /// What is named
    #[arg(value_enum, value_name = "KIND")]
    pub kind: NameKind,
    /// Config file
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
}

/// What a shell completes by name.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// The ids of suites
    Suites,
    /// The names of agents
    Agents,
    /// The ids of cases
    Cases,
}
