//! The options for printing a report.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::render::{Detail, RENDERERS, Renderer, TABLE};

/// How a report is printed.
#[derive(Args, Debug, Clone)]
pub struct ViewArgs {
    /// Output format
    #[arg(long, value_parser = formats(), default_value = TABLE.name)]
    pub format: &'static Renderer,
    /// Show all numbers, statistics and notes, not only what moved or failed
    #[arg(short, long, overrides_with = "verbose")]
    pub verbose: bool,
    /// Print only the verdict, and no progress
    #[arg(short, long)]
    pub quiet: bool,
}

impl ViewArgs {
    /// How much a terminal shows.
    pub fn detail(&self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, false) => Detail::Verdict,
            (_, true) => Detail::Everything,
            (false, false) => Detail::Changes,
        }
    }
}

/// Reads the name of a format of the report.
fn formats() -> impl TypedValueParser<Value = &'static Renderer> {
    let names = RENDERERS
        .iter()
        .map(|format| PossibleValue::new(format.name).help(format.about));
    PossibleValuesParser::new(names).map(|name| {
        RENDERERS
            .iter()
            .find(|format| format.name == name)
            .unwrap_or(&RENDERERS[0])
    })
}
