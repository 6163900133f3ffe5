//! What people may type.

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::model::Shard;

/// The gate for LLM agents in pull requests.
///
/// Exit codes: 0 the gates hold; 1 a blocking gate fails; 2 bad usage, config or input; 3 no verdict can be given or the
/// work could not be done; 130, 143, 129 a signal ended the run.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Grade the runs of every suite and compare with the baseline: the main job
    Run(RunArgs),
    /// Say everything that can be known without grading a run
    Check(CheckArgs),
    /// Prove that the suites can fail: agents that know nothing, and recordings with one thing broken, are graded
    Selftest(SelftestArgs),
    /// Join the parts that `run --shard` wrote, as if one machine had graded all
    Merge(MergeArgs),
    /// Two reports or two baselines, side by side
    Diff(DiffArgs),
    /// Render a stored report again
    Report(ReportArgs),
    /// One case: expected beside produced, why each check failed, and what to do next
    Explain(ExplainArgs),
    /// Turn transcripts of other tools into recordings of runs
    Import(ImportArgs),
    /// How wide the gates have to be for an unchanged agent to pass them, out of repeated runs; writes nothing
    Calibrate(CalibrateArgs),
    /// Ask a person for pass, weak or fail on sampled cases, and tell how far the automatic scores agree
    Label(LabelArgs),
    /// Ask the suites' judges about recorded outputs, and write their votes into the recordings
    #[cfg(feature = "models")]
    Judge(JudgeArgs),
    /// Read the JSON out of a model's answer on standard input; the layer that succeeded goes to standard error
    Repair,
    /// Print the JSON Schema of a file format
    Schema(SchemaArgs),
    /// The container's entry point on GitHub: inputs from INPUT_*, context from GITHUB_*
    #[cfg(feature = "github")]
    Action,
}

/// Which of the config's suites, agents and cases; all where nothing is named.
#[derive(Args, Debug, Clone)]
pub struct SelectionArgs {
    /// Only this suite; may be repeated
    #[arg(long, value_name = "ID")]
    pub suite: Vec<String>,
    /// Only this agent; may be repeated
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Only cases whose id fits; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub case: Vec<String>,
}

/// Options of `run`.
#[derive(Args, Debug, Clone)]
pub struct RunArgs {
    /// The config
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// Which runs are graded
    #[arg(long, value_enum, default_value = "deterministic")]
    pub tier: TierArg,
    /// What is looked at
    #[command(flatten)]
    pub chosen: SelectionArgs,
    /// Samples per pair of agent and case
    #[arg(long, value_name = "N", env = "GOLDGATE_SAMPLES", value_parser = samples)]
    pub samples: Option<Samples>,
    /// Write report.json, summary.json, junit.xml, report.md, report.html and proposed-baseline.json here
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
    /// What is printed
    #[arg(long, value_enum, default_value = "table")]
    pub format: FormatArg,
    /// Write this run's numbers into the baseline; only the suites and agents that ran
    #[arg(long)]
    pub update_baseline: bool,
    /// Keep the graded essence of every case under the suite's snapshots/; later runs tell what differs
    #[arg(long)]
    pub update_snapshots: bool,
    /// Another baseline than the config's
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<String>,
    /// Let this target of the config answer in the model tier, in place of those that the agents name
    #[arg(long, value_name = "NAME", env = "GOLDGATE_TARGET")]
    pub target: Option<String>,
    /// Write every live sample as a recording: DIR/{agent}/{case}/{sample}.json
    #[arg(long, value_name = "DIR")]
    pub record: Option<String>,
    /// Take answers of earlier live runs from the cache, and keep new ones; `all` also where suites measure how answers vary
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, default_missing_value = "usual")]
    pub cache: Option<CacheArg>,
    /// Go on with a run that was called off or killed: its finished samples are taken over
    #[arg(long)]
    pub resume: bool,
    /// Another limit of US dollars than the config's budget
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub max_cost_usd: Option<f64>,
    /// The commit to compare with: its baseline counts, and changes of the golden set since then need approval
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Grade a part of the cases, such as 1/4: `goldgate merge` joins the parts that --out wrote, and judges
    #[arg(long, value_name = "i/n", requires = "out", conflicts_with_all = ["update_baseline", "update_snapshots"])]
    pub shard: Option<Shard>,
    /// A failed gate exits with 1, in the model tier too
    #[arg(long, conflicts_with = "non_blocking")]
    pub blocking: bool,
    /// A failed gate is shown, and the exit code stays 0
    #[arg(long)]
    pub non_blocking: bool,
    /// Say nothing beside the result
    #[arg(long)]
    pub quiet: bool,
}

/// Which tiers.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum TierArg {
    /// Recorded runs; blocks
    Deterministic,
    /// Live targets; informs
    Model,
    /// Both
    All,
}

/// Which answers are cached.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheArg {
    /// Those of suites that do not measure how answers vary
    Usual,
    /// Those of all suites
    All,
}

/// What is printed.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatArg {
    /// A table for a terminal
    Table,
    /// The report, and nothing else, on standard output
    Json,
    /// The comment's text
    Markdown,
    /// JUnit XML
    Junit,
    /// A page
    Html,
}

/// Options of `merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// The folders that --out of each part wrote, in any order
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<String>,
    /// The config; it has to be as it was for the parts
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// Write what `run --out` writes here
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
    /// What is printed
    #[arg(long, value_enum, default_value = "table")]
    pub format: FormatArg,
    /// Another baseline than the config's
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<String>,
    /// The commit to compare with, where the parts name none
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
}

/// Options of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The config
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
}

/// Options of `selftest`.
#[derive(Args, Debug)]
pub struct SelftestArgs {
    /// The config
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// What is looked at
    #[command(flatten)]
    pub chosen: SelectionArgs,
}

/// Options of `diff`.
#[derive(Args, Debug)]
pub struct DiffArgs {
    /// A report.json or a baseline: the earlier one
    #[arg(value_name = "A.json")]
    pub before: String,
    /// The later one
    #[arg(value_name = "B.json")]
    pub after: String,
}

/// Options of `report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The folder that --out wrote
    #[arg(value_name = "DIR")]
    pub folder: String,
    /// What is printed
    #[arg(long, value_enum, default_value = "table")]
    pub format: FormatArg,
}

/// Options of `explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The case: CASE, AGENT/CASE, SUITE/CASE or SUITE/AGENT/CASE
    #[arg(value_name = "CASE")]
    pub case: String,
    /// The config
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// Only this suite
    #[arg(long, value_name = "ID")]
    pub suite: Vec<String>,
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Show what a live agent is asked, and grade nothing
    #[arg(long)]
    pub asked: bool,
}

/// Options of `import`.
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// Whose transcript it is
    #[arg(value_enum, value_name = "FORMAT")]
    pub format: ImportFormat,
    /// The transcript: JSON, or JSON lines; - is standard input
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Write DIR/AGENT/CASE.json here, or DIR/AGENT/CASE/0.json, 1.json, … where there are several samples
    #[arg(long, value_name = "DIR")]
    pub out: String,
    /// The agent, where the transcript does not say it, or says another name
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The case, where the transcript does not say it, or says another id; several conversations are its samples
    #[arg(long, value_name = "ID")]
    pub case: Option<String>,
    /// The attribute of a trace's spans that says the case
    #[arg(long, value_name = "ATTRIBUTE", conflicts_with = "case")]
    pub case_from: Option<String>,
    /// The config that has the agent and the case; goldgate.yaml where there is one
    #[arg(long, value_name = "FILE")]
    pub config: Option<String>,
    /// Replace recordings that are there already, and keep a run that was asked something else than its case asks
    #[arg(long)]
    pub force: bool,
}

/// Whose transcript it is.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportFormat {
    /// Message lists of OpenAI's chat completions, or items of its Responses API
    Openai,
    /// Message lists of Anthropic's messages
    Anthropic,
    /// OpenTelemetry traces in JSON, with the GenAI semantic conventions
    Otlp,
}

/// Options of `calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateArgs {
    /// Folders that --out wrote: each report is a run; of a single one, or without any, each sample of a case is
    #[arg(value_name = "DIR")]
    pub reports: Vec<String>,
    /// The config whose recordings are graded where no DIR is given
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// Only this suite; may be repeated
    #[arg(long, value_name = "ID")]
    pub suite: Vec<String>,
    /// Only this agent; may be repeated
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// How often an unchanged agent may fail a gate, in percent
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    pub false_alarms: f64,
}

/// A rate in percent, between 0.1 and 50.
fn percent(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|percent| (0.1..=50.0).contains(percent));
    found.ok_or_else(|| "write a number from 0.1 to 50".to_owned())
}

/// An amount of money: not below nothing, and with an end.
fn dollars(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
    found.ok_or_else(|| "write US dollars, such as 2.50".to_owned())
}

/// Options of `label`.
#[derive(Args, Debug)]
pub struct LabelArgs {
    /// The config
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// What is looked at
    #[command(flatten)]
    pub chosen: SelectionArgs,
    /// How many cases are asked about
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub count: u32,
    /// Another number draws other cases, in another order
    #[arg(long, value_name = "SEED", default_value = "0")]
    pub seed: u64,
    /// Who answers; else git's user.name
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Score this dimension of the rubric (kind interview) instead of marking the case
    #[arg(long, value_name = "NAME", conflicts_with_all = ["judge", "agreement"])]
    pub dimension: Option<String>,
    /// Mark by this judge's rubric, and tell how far the judge agrees
    #[arg(long, value_name = "NAME")]
    pub judge: Option<String>,
    /// Ask nothing: tell how far the automatic scores agree with the labels that there are
    #[arg(long)]
    pub agreement: bool,
}

/// Options of `judge`.
#[cfg(feature = "models")]
#[derive(Args, Debug)]
pub struct JudgeArgs {
    /// The config
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// What is looked at
    #[command(flatten)]
    pub chosen: SelectionArgs,
    /// Ask again where the votes are whole, on today's output and by today's rubric
    #[arg(long)]
    pub again: bool,
    /// Take answers of earlier votes from the cache, and keep new ones
    #[arg(long)]
    pub cache: bool,
    /// Go on with votes that were called off or killed
    #[arg(long)]
    pub resume: bool,
    /// Another limit of US dollars than the config's budget
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub max_cost_usd: Option<f64>,
    /// Say nothing beside the result
    #[arg(long)]
    pub quiet: bool,
}

/// Options of `schema`.
#[derive(Args, Debug)]
pub struct SchemaArgs {
    /// The format; without it the names are listed
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// A stated number of samples; none where the text is empty, as of a variable that a workflow sets to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Samples(pub Option<u32>);

fn samples(text: &str) -> Result<Samples, String> {
    if text.is_empty() {
        return Ok(Samples(None));
    }
    match text.parse() {
        Ok(number @ 1..=1000) => Ok(Samples(Some(number))),
        Ok(_) | Err(_) => Err("write a number from 1 to 1000 here, or into GOLDGATE_SAMPLES".to_owned()),
    }
}
