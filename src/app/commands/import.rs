//! `goldgate import`: converts transcripts of other tools into recordings.

mod digests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use self::digests::Digests;
use crate::app::cli::{ImportArgs, ImportFormat};
use crate::app::cli_error::CliError;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Entry, EntryKind, Files, SourceText};
use crate::format::transcript::{Transcript, TranscriptFormat};
use crate::format::{run_v1, transcript};
use crate::model::{AgentName, BadId, CaseId, InputLimit, RepoPath};
use crate::render::plural;
use crate::world::{Disk, FileSet, NoFile, SetFiles, World};

/// Reads one file and writes a recording for each run in it: all of them, or none. Returns the exit code.
///
/// # Errors
/// A file that cannot be read, missing names, or existing recordings.
pub fn import(args: &ImportArgs, world: &World) -> Result<u8, CliError> {
    let form = form(args.format);
    let source = source(&args.file, world)?;
    let runs = transcript::read_transcripts(form, &source, args.case_from.as_deref())?;
    let named = ImportNames::of(args)?.assign(form, &source, &runs)?;
    let written = write_recordings(args, form, &source, &named, world)?;
    world.say(&written.iter().map(|file| format!("{file}\n")).collect::<String>());
    notes(&runs).iter().for_each(|note| world.tell(note));
    Ok(0)
}

/// Writes the recordings of named runs, and returns their paths: all of them, or none.
///
/// # Errors
/// Existing recordings, or runs that do not belong to their cases.
pub fn write_recordings(
    args: &ImportArgs,
    form: TranscriptFormat,
    source: &SourceText,
    named: &NamedRuns<'_>,
    world: &World,
) -> Result<Vec<String>, CliError> {
    let digests = Digests::open(args, world)?;
    let folder = Disk::create(Path::new(&args.out))?;
    let mut problems = Diagnostics::default();
    let (mut recordings, mut unknown) = (Vec::new(), BTreeSet::new());
    for ((agent, case), runs) in named {
        let destination =
            RecordingDestination { out: &args.out, folder: &folder, own: RepoPath::root().child(agent.as_str()), case };
        let paths = destination.checked_paths(runs.len(), args.force);
        let mut texts = Vec::new();
        for (path, (sample, run)) in problems.keep_all(paths).unwrap_or_default().into_iter().zip((0_u32..).zip(runs)) {
            let mut record = run.record(form, agent.clone(), case.clone(), sample);
            if let Some(note) = problems.keep_all(digests.add(&mut record, run, source, args.force)) {
                unknown.extend(note);
            }
            texts.push((path, run_v1::written(&record)));
        }
        recordings.push((destination.own, case, texts));
    }
    problems.or(())?;
    let sets: Vec<FileSet<'_>> = recordings.iter().map(|(own, case, texts)| set(own, case, texts)).collect();
    folder.swap(&sets)?;
    unknown.iter().for_each(|note| world.tell(note));
    let texts = recordings.iter().flat_map(|(_, _, texts)| texts);
    Ok(texts.map(|(path, _)| display_path(&args.out, path)).collect())
}

/// Returns the recordings of one case as a set, which replaces the old ones at once.
fn set<'a>(own: &RepoPath, case: &CaseId, texts: &'a [(RepoPath, String)]) -> FileSet<'a> {
    let files = match texts {
        [(_, text)] => SetFiles::Single(text.as_bytes()),
        texts => {
            SetFiles::Several(texts.iter().map(|(path, text)| (path.name().to_owned(), text.as_bytes())).collect())
        }
    };
    FileSet { folder: own.clone(), name: case.to_string(), files }
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

fn display_path(out: &str, path: &RepoPath) -> String {
    format!("{}/{path}", out.trim_end_matches('/'))
}

/// The most samples of a case that a run can grade.
const MOST_SAMPLES: usize = InputLimit::SAMPLES.count();

/// The destination of the recordings of one case.
struct RecordingDestination<'a> {
    out: &'a str,
    folder: &'a Disk,
    own: RepoPath,
    case: &'a CaseId,
}

impl RecordingDestination<'_> {
    /// Returns the paths to write: one file for one sample, a folder for several. Existing recordings that would be overwritten or mixed
    /// with new ones are errors.
    fn checked_paths(&self, samples: usize, force: bool) -> Result<Vec<RepoPath>, Diagnostics> {
        let (file, inner) = (self.own.child(&format!("{}.json", self.case)), self.own.child(self.case.as_str()));
        let alone = samples == 1;
        let numbered = (0..samples).map(|sample| inner.child(&format!("{sample}.json")));
        let paths: Vec<RepoPath> = if alone { vec![file.clone()] } else { numbered.collect() };
        let mut problems = Diagnostics::default();
        if samples > MOST_SAMPLES {
            let what = format!("this case has {samples} samples; a run grades at most {MOST_SAMPLES}");
            problems.push(self.problem(
                &inner,
                Code::TOO_MANY_SAMPLES,
                &what,
                "split the file, or add a case id to each run",
            ));
            return problems.or(paths);
        }
        let (other, kind) = if alone { (&inner, EntryKind::Folder) } else { (&file, EntryKind::File) };
        let existing = Entry { name: other.name().to_owned(), kind };
        if self.folder.list(&self.own).unwrap_or_default().contains(&existing) {
            let what =
                "the case already has recordings in the other layout: one file for one sample, a folder for several";
            problems.push(self.problem(other, Code::OTHER_FORM, what, "remove it, or use another --out"));
        }
        let there = if alone { Vec::new() } else { self.folder.list(&inner).unwrap_or_default() };
        for more in there.iter().map(|entry| inner.child(&entry.name)).filter(|path| !paths.contains(path)) {
            let what = "this sample would be mixed with the new ones";
            problems.push(self.problem(&more, Code::OTHER_SAMPLES, what, "remove it, or use another --out"));
        }
        for path in paths.iter().filter(|path| !force && self.folder.read(path) != Err(NoFile::Missing)) {
            let what = "this recording already exists";
            problems.push(self.problem(
                path,
                Code::WOULD_OVERWRITE,
                what,
                "use --force to replace it, or another --out",
            ));
        }
        problems.or(paths)
    }

    fn problem(&self, path: &RepoPath, code: Code, what: &str, help: &str) -> Diagnostic {
        Diagnostic::of_file(display_path(self.out, path), code, what, help)
    }
}

/// The names given on the command line.
struct ImportNames {
    agent: Option<AgentName>,
    case: Option<CaseId>,
}

/// The runs by agent and case, in order.
pub type NamedRuns<'a> = BTreeMap<(AgentName, CaseId), Vec<&'a Transcript>>;

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
