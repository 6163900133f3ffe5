//! The options of `record`.

use std::time::Duration;

use clap::Args;

use super::selection::SelectionArgs;
use super::values::{Samples, dollars, samples};
use crate::format::config::duration;

/// Options of `record`.
#[derive(Args, Debug)]
pub struct RecordArgs {
    /// Config file
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// The filters.
    #[command(flatten)]
    pub chosen: SelectionArgs,
    /// Number of samples per agent and case
    #[arg(long, value_name = "N", value_parser = samples)]
    pub samples: Option<Samples>,
    /// Keep recordings that are of this agent and its present input, and record only what is missing or outdated
    #[arg(long)]
    pub missing: bool,
    /// The same, one sample of a case at a time; those after the first right one are not made
    #[arg(long, conflicts_with = "missing")]
    pub until_right: bool,
    /// Write to DIR/AGENT/CASE.json instead of the agents' folders of recordings
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
    /// Forward model calls to this server; otherwise to OPENAI_BASE_URL or ANTHROPIC_BASE_URL, else to the vendor
    #[arg(long, value_name = "URL")]
    pub upstream: Option<String>,
    /// Environment variable that the program also sees, with PATH, HOME, LANG, TZ and TMPDIR; may be repeated
    #[arg(long, value_name = "NAME")]
    pub env: Vec<String>,
    /// Longest time of one run, such as 60s
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = time)]
    pub timeout: Duration,
    /// Maximum number of programs that run at once
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub concurrency: u32,
    /// Budget in US dollars instead of the config's
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub max_cost_usd: Option<f64>,
    /// Print no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// The agent: a program that reads the query from standard input, or gets it as {query}, and prints its answer. Without it, the
    /// targets with capture of the config are used
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Parses a time such as `60s`.
fn time(text: &str) -> Result<Duration, String> {
    duration(text)
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "write a number with ms, s or m, such as 60s".to_owned())
}
