//! `goldgate import`: converts transcripts of other tools into recordings.

use std::collections::BTreeMap;

use crate::app::cli::{ImportArgs, ImportFormat};
use crate::app::cli_error::CliError;
use crate::app::pipeline::imported_runs::{ExistingRecordings, NamedRuns, RecordingsPlace, write_recordings};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Files, SourceText};
use crate::format::transcript;
use crate::format::transcript::{Transcript, TranscriptFormat};
use crate::model::{AgentName, BadId, CaseId};
use crate::render::plural;
use crate::world::{Disk, World};

/// Reads one file and writes a recording for each run in it: all of them, or none. Returns the exit code.
///
/// # Errors
/// A file that cannot be read, missing names, or existing recordings.
pub fn import(args: &ImportArgs, world: &World) -> Result<u8, CliError> {
    let form = form(args.format);
    let source = source(&args.file, world)?;
    let runs = transcript::read_transcripts(form, &source, args.case_from.as_deref())?;
    let named = ImportNames::of(args)?.assign(form, &source, &runs)?;
    let existing = if args.force { ExistingRecordings::Replaced } else { ExistingRecordings::Refused };
    let place = RecordingsPlace { out: &args.out, config: args.config.as_deref(), existing };
    let written = write_recordings(&place, form, &source, &named, world)?;
    world.say(&written.iter().map(|file| format!("{file}\n")).collect::<String>());
    notes(&runs).iter().for_each(|note| world.tell(note));
    Ok(0)
}

fn form(format: ImportFormat) -> TranscriptFormat {
    match format {
        ImportFormat::Openai => TranscriptFormat::OpenAi,
        ImportFormat::Anthropic => TranscriptFormat::Anthropic,
        ImportFormat::Otlp => TranscriptFormat::Otlp,
    }
}

fn source(file: &str, world: &World) -> Result<SourceText, CliError> {
    if file == "-" {
        return Ok(world.input()?);
    }
    let (disk, path) = Disk::of_file(file)?;
    Ok(disk.text(&path)?)
}

/// The names given on the command line.
struct ImportNames {
    agent: Option<AgentName>,
    case: Option<CaseId>,
}

impl ImportNames {
    fn of(args: &ImportArgs) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::default();
        let bad = |option: &str, bad: BadId| {
            Diagnostic::of_file("command line", Code::BAD_ID, format!("{option}: {bad}"), bad.help())
        };
        let agent = args.agent.as_deref().map(|name| AgentName::new(name).map_err(|id| bad("--agent", id)));
        let case = args.case.as_deref().map(|id| CaseId::new(id).map_err(|id| bad("--case", id)));
        let agent = agent.and_then(|agent| problems.keep(agent));
        let case = case.and_then(|case| problems.keep(case));
        problems.or(Self { agent, case })
    }

    /// Assigns an agent and a case to every run. Names of the command line win over those of the transcript.
    fn assign<'a>(
        &self,
        form: TranscriptFormat,
        source: &SourceText,
        runs: &'a [Transcript],
    ) -> Result<NamedRuns<'a>, Diagnostics> {
        let mut problems = Diagnostics::default();
        let mut named = NamedRuns::new();
        self.one_case(form, source, runs)?;
        for run in runs {
            let agent = self.agent.clone().map_or_else(|| agent_of(source, run), Ok);
            let case = self.case.clone().map_or_else(|| case_of(source, run), Ok);
            if let (Some(agent), Some(case)) = (problems.keep(agent), problems.keep(case)) {
                named.entry((agent, case)).or_default().push(run);
            }
        }
        problems.or(named)
    }

    /// Checks that all runs can be samples of the one case of `--case`: refuses runs of different cases, and several traces without a
    /// case.
    fn one_case(&self, form: TranscriptFormat, source: &SourceText, runs: &[Transcript]) -> Result<(), Diagnostic> {
        let (Some(case), Some((first, rest))) = (&self.case, runs.split_first()) else { return Ok(()) };
        if let Some(other) = rest.iter().find(|run| run.case != first.case) {
            let [first, other_case] = [first, other].map(|run| run.case.as_deref().unwrap_or("none"));
            let what = format!("this run has the case {other_case:?}, but the first one has {first:?}");
            return Err(source.problem(other.at, Code::OTHER_CASE, what, "omit --case, or split the file"));
        }
        match (form, first.case.is_none(), rest.first()) {
            (TranscriptFormat::Otlp, true, Some(second)) => {
                let what = format!("the file has {} traces, but --case {case} names one case", runs.len());
                let help = "name the attribute with the case id: --case-from ATTRIBUTE";
                Err(source.problem(second.at, Code::MANY_TRACES, what, help))
            }
            (TranscriptFormat::OpenAi | TranscriptFormat::Anthropic | TranscriptFormat::Otlp, ..) => Ok(()),
        }
    }
}

fn agent_of(source: &SourceText, run: &Transcript) -> Result<AgentName, Diagnostic> {
    let Some(name) = &run.agent else {
        let help = "use --agent NAME";
        return Err(source.problem(run.at, Code::NO_AGENT, "this run has no agent name", help));
    };
    AgentName::new(name).map_err(|bad| {
        let help = format!("use --agent NAME: {}", bad.help());
        source.problem(run.at, Code::BAD_ID, format!("this run's agent: {bad}"), help)
    })
}

fn case_of(source: &SourceText, run: &Transcript) -> Result<CaseId, Diagnostic> {
    let Some(id) = &run.case else {
        let help = "use --case ID, or, for traces, --case-from ATTRIBUTE";
        return Err(source.problem(run.at, Code::NO_CASE, "this run has no case id", help));
    };
    CaseId::new(id).map_err(|bad| {
        let help = format!("use --case ID: {}", bad.help());
        source.problem(run.at, Code::BAD_ID, format!("this run's case: {bad}"), help)
    })
}

/// Returns notes about content that the recordings do not contain.
fn notes(runs: &[Transcript]) -> Vec<String> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for (what, count) in runs.iter().flat_map(|run| &run.left_out) {
        *counts.entry(what).or_default() += count;
    }
    let mut notes: Vec<String> = counts.iter().map(|(what, count)| format!("left out: {count} x {what:?}")).collect();
    let silent = runs.iter().filter(|run| run.text.is_none()).count();
    if silent > 0 {
        notes.push(format!(
            "{} without an answer text: the trace does not contain the messages' content",
            plural(silent, "run", "runs")
        ));
    }
    notes
}
