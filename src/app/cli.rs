//! The command line.

mod help;
mod names;
#[cfg(feature = "models")]
mod record;
mod results;
mod selection;
mod values;
mod view;

pub use self::help::command_line;
pub use self::names::{NameKind, NamesArgs};
#[cfg(feature = "models")]
pub use self::record::RecordArgs;
pub use self::results::{DiffArgs, ExplainArgs, HistoryArgs, ReportArgs, ReviewArgs};
pub use self::selection::{AgentSelectionArgs, SelectionArgs};
use self::values::{Samples, dollars, samples};
pub use self::view::ViewArgs;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use import::Format;

use crate::model::Shard;
use crate::render::{PROPOSED_BASELINE, RENDERERS, SUMMARY};
use crate::text::is_commit;

/// The gate for LLM agents in pull requests.
///
/// Exit codes: 0 no blocking gate fails; 1 a blocking gate fails, or a golden change needs an approval; 2 bad usage, config
/// or input; 3 no verdict, or the work could not be done; 130, 143, 129 interrupted by a signal.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 110)]
pub struct Cli {
    /// When to print in colour: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        hide_default_value = true,
        display_order = 900
    )]
    pub color: ColorArg,
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// When output has colours.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorArg {
    /// On a terminal, unless NO_COLOR is set; FORCE_COLOR also colours files and pipes
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Grade the runs of all suites and compare with the baseline: the main command
    Run(RunArgs),
    /// Show on an example what goldgate does: an agent, one changed line of its prompt, the red run
    Demo(DemoArgs),
    /// Set up goldgate in this folder: config, cases and recordings from transcripts, and the workflow
    Init(InitArgs),
    /// Validate config, cases and recordings, and show how often the gates would fail by chance
    Check(CheckArgs),
    /// Find weak test cases: grade dummy agents and deliberately broken recordings, and list the cases that still pass
    Selftest(SelftestArgs),
    /// Join the shards that `run --shard` wrote, as if one machine had graded all cases
    Merge(MergeArgs),
    /// Compare two reports, baselines or commits, by metric and by case
    Diff(DiffArgs),
    /// Show how the numbers moved over the committed baselines, and which commits moved them
    History(HistoryArgs),
    /// Render a stored report
    Report(ReportArgs),
    /// Show one case: expected and actual output, why each check failed, and what to do next. Or explain the code of a problem
    Explain(ExplainArgs),
    /// Decide on draft cases, and look at the cases that fail or moved since the baseline, one by one
    Review(ReviewArgs),
    /// Run an agent once for each case, and record its answers, tool calls and model calls
    #[cfg(feature = "models")]
    Record(RecordArgs),
    /// Convert transcripts of other tools, and run records, into recordings
    Import(ImportArgs),
    /// Take over the baseline of another system: numbers of agents, without cases
    Baseline(BaselineArgs),
    /// Write today's digests into recordings: you say that they were made with the present files
    Stamp(StampArgs),
    /// Say where the pass rate of each agent lies, and how often these cases and samples see a loss
    Calibrate(CalibrateArgs),
    /// Label sampled cases by hand as pass, weak or fail, and measure how well the automatic scores agree
    Label(LabelArgs),
    /// Run the suites' LLM judges on recorded outputs and save their votes in the recordings
    #[cfg(feature = "models")]
    Judge(JudgeArgs),
    /// Extract the JSON from a model's answer on standard input; print the parsing layer used to standard error
    Repair,
    /// Print the JSON Schema of a file format
    Schema(SchemaArgs),
    /// Print a script that completes commands and options in a shell
    Completions(CompletionsArgs),
    /// Print the names that a shell completes
    #[command(hide = true)]
    Names(NamesArgs),
    /// Print the manual page of goldgate or of one command
    Man(ManArgs),
    /// Run as a GitHub Action: inputs from INPUT_*, context from GITHUB_*
    #[cfg(feature = "github")]
    Action,
}

/// Options of `demo`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// The folder to write the example to, which must not exist [default: a new folder for temporary files]
    #[arg(value_name = "FOLDER")]
    pub folder: Option<String>,
}

/// Options of `run`.
#[derive(Args, Debug, Clone)]
pub struct RunArgs {
    /// Config file
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// Which tier to grade
    #[arg(long, value_enum, default_value = "deterministic")]
    pub tier: TierArg,
    /// The filters.
    #[command(flatten)]
    pub chosen: SelectionArgs,
    /// Only the cases that failed in the last run of this working tree; other cases stay ungraded
    #[arg(long, conflicts_with_all = ["base", "update_baseline", "shard"])]
    pub failed: bool,
    /// Number of samples per agent and case
    #[arg(long, value_name = "N", env = "GOLDGATE_SAMPLES", value_parser = samples)]
    pub samples: Option<Samples>,
    /// Write the report in every format to this folder
    #[arg(long, value_name = "DIR", help = files())]
    pub out: Option<String>,
    /// How the report is printed.
    #[command(flatten)]
    pub view: ViewArgs,
    /// Open the HTML report in a browser
    #[arg(long)]
    pub open: bool,
    /// Save this run's numbers in the baseline, for the suites and agents that ran
    #[arg(long)]
    pub update_baseline: bool,
    /// With --update-baseline, also replaces the samples that are worse or not better than the baseline's, and writes numbers that fail a hard gate
    #[arg(long, requires = "update_baseline")]
    pub all: bool,
    /// Save what each case was graded on in the suite's snapshots/; later runs show what changed
    #[arg(long)]
    pub update_snapshots: bool,
    /// Baseline file to use instead of the config's
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<String>,
    /// Use this target of the config for all agents in the model tier
    #[arg(long, value_name = "NAME", env = "GOLDGATE_TARGET")]
    pub target: Option<String>,
    /// Save every live sample as a recording: DIR/{agent}/{case}/{sample}.json
    #[arg(long, value_name = "DIR")]
    pub record: Option<String>,
    /// With --record: keep the recordings that are up to date, and make only the others
    #[arg(long, requires = "record")]
    pub missing: bool,
    /// The same, one sample of a case at a time; those after the first right one are not made
    #[arg(long, requires = "record", conflicts_with = "missing")]
    pub until_right: bool,
    /// Cache the answers of live runs; `all` also caches suites that measure variance
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, default_missing_value = "usual")]
    pub cache: Option<CacheArg>,
    /// Resume an interrupted run and keep its finished samples
    #[arg(long)]
    pub resume: bool,
    /// Budget in US dollars instead of the config's
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub max_cost_usd: Option<f64>,
    /// Compare with this commit: use its baseline, and require approval for golden changes since then
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Which commit and which files are compared.
    #[command(flatten)]
    pub base_options: BaseArgs,
    /// With --tier model: run only the agents that the change since --base can affect
    #[arg(long, requires = "base", conflicts_with_all = ["update_baseline", "shard", "blocking", "failed"])]
    pub affected: bool,
    /// Grade one shard of the cases, such as 1/4; `goldgate merge` joins and judges the shards that --out wrote
    #[arg(long, value_name = "i/n", requires = "out", conflicts_with_all = ["update_baseline", "update_snapshots", "tag"])]
    pub shard: Option<Shard>,
    /// Exit with 1 if a gate fails, also in the model tier
    #[arg(long, conflicts_with = "non_blocking")]
    pub blocking: bool,
    /// Report failed gates, but exit with 0
    #[arg(long)]
    pub non_blocking: bool,
}

/// Options that go with `--base`.
#[derive(Args, Debug, Clone)]
pub struct BaseArgs {
    /// Compare with the commit where this branch left --base, for everything
    #[arg(long, requires = "base")]
    pub merge_base: bool,
    /// Also judge files that the checked-out commit has otherwise or not at all; the report names them
    #[arg(long, requires = "base")]
    pub dirty: bool,
}

/// The tiers to grade.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum TierArg {
    /// Recorded runs; a failed gate blocks
    Deterministic,
    /// Live targets; advisory
    Model,
    /// Both tiers
    All,
}

/// Which answers are cached.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheArg {
    /// Answers of suites that do not measure variance
    Usual,
    /// Answers of all suites
    All,
}

/// The help of `--out`.
fn files() -> String {
    let formats = RENDERERS.iter().filter_map(|format| format.file);
    let names: Vec<&str> = formats.chain([SUMMARY]).collect();
    format!(
        "Write {} and {PROPOSED_BASELINE} to this folder",
        names.join(", ")
    )
}

/// Options of `merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// The --out folders of all shards, in any order
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<String>,
    /// Config file; it must be the same as for the shards
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// Write the same files as `run --out` to this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
    /// How the report is printed.
    #[command(flatten)]
    pub view: ViewArgs,
    /// Baseline file to use instead of the config's
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<String>,
    /// Compare with this commit, if the shards do not name one
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Which commit and which files are compared.
    #[command(flatten)]
    pub base_options: BaseArgs,
}

/// Options of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// Config file
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// Check the setup on GitHub instead: workflows, required checks, merge queue, label, image. Needs GITHUB_REPOSITORY and
    /// GITHUB_TOKEN
    #[cfg(feature = "github")]
    #[arg(long)]
    pub github: bool,
}

/// Options of `selftest`.
#[derive(Args, Debug)]
pub struct SelftestArgs {
    /// Config file
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// Also list the broken recordings that no check and no metric notices
    #[arg(short, long, overrides_with = "verbose")]
    pub verbose: bool,
    /// The filters.
    #[command(flatten)]
    pub chosen: SelectionArgs,
}

/// Options of `import`.
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// A format if the first word is one, and the files.
    #[arg(required = true, value_name = "[FORMAT] PATH", help = paths())]
    pub paths: Vec<String>,
    /// Write recordings to DIR/AGENT/CASE.json, or to DIR/AGENT/CASE/0.json, 1.json, … for several samples
    #[arg(long, value_name = "DIR", required_unless_present = "cases")]
    pub out: Option<String>,
    /// Write the cases that promptfoo, ADK, deepeval, OpenAI's evals or a table have to this file
    #[arg(long, value_name = "FILE")]
    pub cases: Option<String>,
    /// Agent, if the transcript has no or another agent name
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Case, if the transcript has no or another case id; several conversations become its samples
    #[arg(long, value_name = "ID")]
    pub case: Option<String>,
    /// Where each record has its case id: keys separated by dots, such as metadata.thread_id, or the attribute of a span
    #[arg(long, value_name = "PATH", conflicts_with = "case")]
    pub case_key: Option<String>,
    /// Config with the agent and the case; goldgate.yaml if it exists
    #[arg(long, value_name = "FILE")]
    pub config: Option<String>,
    /// The runs of a case are trials with a simulated user, whose words differ: their messages are not compared
    #[arg(long)]
    pub trials: bool,
    /// Add a draft case to the agent's suite for each query that no case has
    #[arg(long, conflicts_with = "case")]
    pub new_cases: bool,
    /// Replace e-mail addresses and telephone numbers by placeholders in everything that is written; then use it for every import
    #[arg(long)]
    pub redact_personal: bool,
    /// Replace recordings with other content, and import a run even if its input differs from the case's
    #[arg(long)]
    pub force: bool,
}

/// The help of the paths of `import`.
fn paths() -> String {
    format!(
        "Files, folders or patterns of transcripts and run records; - reads standard input. The first word may be the format ({}); without it, the \
         format of each file is detected",
        Format::names()
    )
}

/// Options of `init`. Without --from and --yes it asks for them on a terminal.
#[derive(Args, Debug, Clone)]
pub struct InitArgs {
    /// Transcripts, or folders of them, in any format that `goldgate import` reads; may be repeated. Without it, an example is written
    #[arg(long, value_name = "PATH")]
    pub from: Vec<String>,
    /// The runs of a case are trials with a simulated user, whose words differ: they are samples of one case
    #[arg(long)]
    pub trials: bool,
    /// Name of the agent in the config
    #[arg(long, value_name = "NAME", default_value = "agent")]
    pub agent: String,
    /// Files that define the agent, such as 'prompts/**'; may be repeated. When they change, the recordings are out of date
    #[arg(long, value_name = "PATTERN")]
    pub files: Vec<String>,
    /// Replace e-mail addresses and telephone numbers by placeholders in everything that is written; then use it for every import
    #[arg(long)]
    pub redact_personal: bool,
    /// Write no GitHub workflow
    #[arg(long)]
    pub no_workflow: bool,
    /// Action of the workflow with the commit of a release
    #[arg(long, value_name = "OWNER/goldgate@COMMIT", conflicts_with = "no_workflow", value_parser = action)]
    pub action: Option<String>,
    /// Ask nothing, also on a terminal
    #[arg(long)]
    pub yes: bool,
}

/// Options of `baseline`.
#[derive(Args, Debug)]
pub struct BaselineArgs {
    /// What to do
    #[arg(value_enum, value_name = "ACTION")]
    pub action: BaselineAction,
    /// File with {"metrics": {AGENT: {METRIC: NUMBER}}}
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Suite whose agents the numbers are of
    #[arg(long, value_name = "SUITE")]
    pub suite: String,
    /// Config file
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
}

/// What `baseline` does.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaselineAction {
    /// Write the numbers of a file into the config's baseline
    Import,
}

/// Options of `calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateArgs {
    /// Config file
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// Which suites and agents.
    #[command(flatten)]
    pub agents: AgentSelectionArgs,
}

/// Parses an action at a commit, in the form in which a workflow uses it.
fn action(text: &str) -> Result<String, String> {
    let parts = text
        .split_once('@')
        .and_then(|(action, commit)| Some((action.split_once('/')?, commit)));
    let is_pinned = parts.is_some_and(|((owner, name), commit)| {
        is_action_name(owner) && is_action_name(name) && is_commit(commit)
    });
    if is_pinned {
        Ok(text.to_owned())
    } else {
        Err("write OWNER/goldgate@COMMIT with the 40 digits of a commit".to_owned())
    }
}

fn is_action_name(part: &str) -> bool {
    !part.is_empty()
        && part
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char))
}

/// Options of `label`.
#[derive(Args, Debug)]
pub struct LabelArgs {
    /// Config file
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// The filters.
    #[command(flatten)]
    pub chosen: SelectionArgs,
    /// Number of cases to label
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub count: u32,
    /// Seed for drawing the cases
    #[arg(long, value_name = "SEED", default_value = "0")]
    pub seed: u64,
    /// Name of the labeler; default: git's user.name
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Score this dimension of the rubric (kind interview) instead of the case
    #[arg(long, value_name = "NAME", conflicts_with_all = ["judge", "agreement"])]
    pub dimension: Option<String>,
    /// Label by this judge's rubric, and measure how well the judge agrees
    #[arg(long, value_name = "NAME")]
    pub judge: Option<String>,
    /// Only measure how well the automatic scores agree with the existing labels
    #[arg(long)]
    pub agreement: bool,
}

/// Options of `judge`.
#[cfg(feature = "models")]
#[derive(Args, Debug)]
pub struct JudgeArgs {
    /// Config file
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// The filters.
    #[command(flatten)]
    pub chosen: SelectionArgs,
    /// Ask again even if votes for the current output and rubric exist
    #[arg(long)]
    pub again: bool,
    /// Cache the answers of the judges
    #[arg(long)]
    pub cache: bool,
    /// Resume an interrupted command and keep its finished votes
    #[arg(long)]
    pub resume: bool,
    /// Budget in US dollars instead of the config's
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub max_cost_usd: Option<f64>,
    /// Print only the result, no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Options of `stamp`.
#[derive(Args, Debug)]
pub struct StampArgs {
    /// Config file
    #[arg(long, value_name = "FILE", default_value = "goldgate.yaml")]
    pub config: String,
    /// The filters.
    #[command(flatten)]
    pub chosen: SelectionArgs,
    /// Also replace digests of other files: the change cannot alter an answer
    #[arg(long)]
    pub stale: bool,
}

/// Options of `schema`.
#[derive(Args, Debug)]
pub struct SchemaArgs {
    /// Name of the format; without it the names are listed
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// Options of `completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// Options of `man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// Command to describe; without it, goldgate itself
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub command: Option<String>,
    /// Write the pages of goldgate and of all commands to this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
}
