//! The options of the commands that show results.

use clap::Args;

use super::selection::{AgentSelectionArgs, SelectionArgs};
use super::view::ViewArgs;

/// Options of `diff`.
#[derive(Args, Debug)]
pub struct DiffArgs {
    /// The earlier one: a folder that --out wrote, a report.json, a baseline, or a commit such as main
    #[arg(value_name = "BEFORE")]
    pub before: String,
    /// The later one; a path comes before a commit of the same name
    #[arg(value_name = "AFTER")]
    pub after: String,
    /// Config of the commits
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// Show also what is equal
    #[arg(short, long, overrides_with = "verbose")]
    pub verbose: bool,
}

/// Options of `history`.
#[derive(Args, Debug)]
pub struct HistoryArgs {
    /// Folders that --out wrote; their reports follow the committed baselines
    #[arg(value_name = "DIR")]
    pub reports: Vec<String>,
    /// Config that names the baseline
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// Which suites and agents.
    #[command(flatten)]
    pub agents: AgentSelectionArgs,
    /// Only this metric; may be repeated
    #[arg(long, value_name = "NAME")]
    pub metric: Vec<String>,
    /// Read at most this number of commits that changed the baseline, the newest ones
    #[arg(long, value_name = "N", default_value = "30", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub limit: u32,
    /// Also write an HTML page with a plot for each number that moved
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// Show also the numbers that never moved, and every moved number of a commit
    #[arg(short, long, overrides_with = "verbose")]
    pub verbose: bool,
}

/// Options of `report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Folder that `run --out` wrote
    #[arg(value_name = "DIR")]
    pub folder: String,
    /// How the report is printed.
    #[command(flatten)]
    pub view: ViewArgs,
    /// Write DIR/report.html and open it in a browser
    #[arg(long)]
    pub open: bool,
}

/// Options of `explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// Case to explain: CASE, AGENT/CASE, SUITE/CASE or SUITE/AGENT/CASE. A suite or an agent lists its cases. Or the code of a
    /// problem, such as unknown-key
    #[arg(value_name = "CASE|CODE", required_unless_present = "codes")]
    pub case: Option<String>,
    /// Config file
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// Which suites and agents.
    #[command(flatten)]
    pub agents: AgentSelectionArgs,
    /// Compare the output with the one at this commit, instead of the last commit that changed the baseline
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Show the request to a live agent, without grading
    #[arg(long)]
    pub asked: bool,
    /// List the codes of all problems; with CODE, explain it even if a case has the same name
    #[arg(long)]
    pub codes: bool,
}

/// Options of `review`. Without a decision it asks on a terminal, and lists elsewhere.
#[derive(Args, Debug)]
pub struct ReviewArgs {
    /// Config file
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// The filters.
    #[command(flatten)]
    pub chosen: SelectionArgs,
    /// Make this draft a case: CASE, SUITE/CASE or a pattern such as '*'; may be repeated
    #[arg(long, value_name = "ID")]
    pub accept: Vec<String>,
    /// Remove this draft and its recordings; may be repeated
    #[arg(long, value_name = "ID")]
    pub reject: Vec<String>,
}
