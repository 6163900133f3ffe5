//! `goldgate import`: converts transcripts of other tools into recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use import::{Format, Transcript};
use serde::Serialize;

use crate::app::cli::ImportArgs;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Files, SourceText};
use crate::format::foreign_cases::ForeignCase;
use crate::model::{AgentName, BadId, CaseId};
use crate::render::{CliError, plural};
use crate::suites::read_config;
use crate::text::{first_of, line};
use crate::workspace::case_queries::{AddedDrafts, KnownCases, NewRun};
use crate::workspace::imported_runs::{
    CaseRuns, ExistingRecordings, ImportedRun, NamedRuns, RecordingsPlace, SHOWN, SamplesOfCase,
    import_arguments, write_recordings,
};
use crate::workspace::personal_data::personal_data_note;
use crate::workspace::proposed_case::Origin;
use crate::workspace::run_record_file::RunRecordFile;
use crate::workspace::transcript_files::{
    TranscriptFile, TranscriptFiles, TranscriptReading, read_transcript_files,
};
use crate::world::{Disk, World};

/// Reads files and writes a recording for each run in them: all of them, or none. Returns the exit code.
///
/// # Errors
/// A file that cannot be read, missing names, or existing recordings.
pub fn import(args: &ImportArgs, world: &World) -> Result<u8, CliError> {
    if let Some((disk, file)) = Disk::of_config_if_any(args.config.as_deref())? {
        let config = read_config(&disk.text(&file)?)?;
        world.redact_by(&config, &config);
    }
    if args.redact_personal {
        world.replace_personal_data();
    }
    let (form, paths) = named_format(&args.paths);
    let reading = TranscriptReading {
        form,
        case_key: args.case_key.as_deref(),
        agent: args.agent.as_deref(),
        ..TranscriptReading::default()
    };
    let TranscriptFiles {
        files,
        records,
        skipped,
    } = read_transcript_files(paths, reading, world)?;
    let existing = if args.force {
        ExistingRecordings::Replaced
    } else {
        ExistingRecordings::Refused
    };
    let cases: Vec<&ForeignCase> = files.iter().flat_map(|file| &file.cases).collect();
    if let Some(out) = &args.out {
        if let Some(file) = files.iter().find(|file| file.runs.is_empty()) {
            let help = "write its cases with --cases FILE, without --out";
            return Err(file
                .source
                .problem(0, Code::NO_RUN, "this file has cases, but no runs", help)
                .into());
        }
        write_runs(out, args, &files, &records, existing, world)?;
    }
    if let Some(path) = &args.cases {
        write_cases(path, &cases, existing)?;
        world.say(&format!("{path}\n"));
    }
    if let Some(note) = personal_data_note(&files, &records) {
        world.tell(&note);
    }
    let runs: Vec<&Transcript> = files.iter().flat_map(|file| &file.runs).collect();
    let unanswered: Vec<String> = files.iter().flat_map(unanswered_places).collect();
    if !unanswered.is_empty() {
        world.tell(&format!(
            "left out: {} without an answer: {}",
            plural(unanswered.len(), "conversation", "conversations"),
            first_of(&unanswered)
        ));
    }
    notes(&runs, &cases, &skipped)
        .iter()
        .for_each(|note| world.tell(note));
    Ok(0)
}

fn unanswered_places(file: &TranscriptFile) -> Vec<String> {
    let lines = file.unanswered.iter();
    lines
        .map(|line| format!("{}:{line}", file.source.file))
        .collect()
}

/// Writes the recordings of all runs, and names them.
fn write_runs(
    out: &str,
    args: &ImportArgs,
    files: &[TranscriptFile],
    records: &[RunRecordFile],
    existing: ExistingRecordings,
    world: &World,
) -> Result<(), CliError> {
    let known = KnownCases::open(args.config.as_deref(), world)?;
    let unknown = match (args.new_cases, &known) {
        (true, None) => {
            let help = "set up a repository with goldgate init";
            return Err(Diagnostic::of_command_line(
                Code::NOTHING_SELECTED,
                "--new-cases needs a config",
                help,
            )
            .into());
        }
        (true, Some(_)) => UnknownCase::Drafted,
        (false, _) => UnknownCase::Refused,
    };
    let names = ImportNames {
        known: known.as_ref(),
        unknown,
        ..ImportNames::of(args)?
    };
    let AssignedRuns {
        named,
        drafts,
        left_out,
    } = names.assign(files, records)?;
    let place = RecordingsPlace {
        out,
        config: args.config.as_deref(),
        existing,
        samples: args.samples(),
        arguments: args.stated(),
    };
    let written = match write_recordings(&place, &named, world) {
        Ok(written) => written,
        // A draft without its recording would be left behind.
        Err(error) => return Err(drafts.undo().map_or(error, CliError::from)),
    };
    world.say(
        &written
            .iter()
            .map(|file| format!("{file}\n"))
            .collect::<String>(),
    );
    if !left_out.is_empty() {
        let conversations = plural(left_out.len(), "conversation", "conversations");
        let files: Vec<&str> = left_out.iter().map(|source| source.file.as_str()).collect();
        world.tell(&format!(
            "left out: {conversations} without an answer, which no case asks: {}",
            first_of(&files)
        ));
    }
    let failed: Vec<&str> = named
        .values()
        .flat_map(CaseRuns::failed)
        .map(|source| source.file.as_str())
        .collect();
    if !failed.is_empty() {
        let runs = plural(
            failed.len(),
            "run did not complete, and gives",
            "runs did not complete, and give",
        );
        world.tell(&format!("{runs} no result to grade: {}", first_of(&failed)));
    }
    Ok(())
}

#[derive(Serialize)]
struct CaseFile<'a> {
    cases: &'a [&'a ForeignCase],
}

/// Writes the cases of other tools into a new file.
fn write_cases(
    path: &str,
    cases: &[&ForeignCase],
    existing: ExistingRecordings,
) -> Result<(), CliError> {
    if cases.is_empty() {
        let help = "name a promptfoo config or output, a set of cases of ADK, goldens, samples of OpenAI's evals, or a table; goldgate init --from proposes cases for transcripts";
        return Err(
            Diagnostic::of_file(path, Code::NOTHING_SELECTED, "no file has cases", help).into(),
        );
    }
    let mut known = BTreeSet::new();
    if let Some(twice) = cases.iter().find(|case| !known.insert(case.id.as_str())) {
        let message = format!("two tests have the id {:?}", twice.id);
        let help = "give each test a description, or a metadata.id, of its own";
        return Err(Diagnostic::of_file(path, Code::BAD_ID, message, help).into());
    }
    if let Some(folder) = Path::new(path)
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        Disk::create(folder)?;
    }
    let (disk, file) = Disk::of_file(path)?;
    if existing == ExistingRecordings::Refused && disk.holds(&file) {
        return Err(Diagnostic::of_file(
            path,
            Code::WOULD_OVERWRITE,
            "this file already exists",
            "use --force, or name another file",
        )
        .into());
    }
    let text = serde_json::to_string_pretty(&CaseFile { cases }).map_err(anyhow::Error::from)?;
    Ok(disk.replace_input(&file, format!("{text}\n").as_bytes())?)
}

/// The format, if the first of several words is one, and the paths.
fn named_format(words: &[String]) -> (Option<Format>, &[String]) {
    let named = words.split_first().filter(|(_, paths)| !paths.is_empty());
    let named_form = named.and_then(|(word, paths)| Some((Format::named(word)?, paths)));
    named_form.map_or((None, words), |(form, paths)| (Some(form), paths))
}

impl ImportArgs {
    fn samples(&self) -> SamplesOfCase {
        SamplesOfCase::of(self.trials)
    }

    /// What its recordings state of it.
    fn stated(&self) -> Vec<String> {
        let (format, paths) = named_format(&self.paths);
        let named = [
            ("--agent", &self.agent),
            ("--case", &self.case),
            ("--case-key", &self.case_key),
        ];
        let mut options: Vec<String> = named
            .into_iter()
            .filter_map(|(option, value)| Some([option.to_owned(), value.clone()?]))
            .flatten()
            .collect();
        options.extend(self.trials.then(|| "--trials".to_owned()));
        import_arguments(format, paths, &options)
    }
}

/// The names given on the command line.
struct ImportNames<'k> {
    agent: Option<AgentName>,
    case: Option<CaseId>,
    /// The cases of the config, for runs that do not name theirs.
    known: Option<&'k KnownCases>,
    unknown: UnknownCase,
    samples: SamplesOfCase,
}

/// What happens to runs without a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnknownCase {
    /// They are problems.
    Refused,
    /// They become draft cases.
    Drafted,
}

/// The runs with their agents and cases.
struct AssignedRuns<'a, 'k> {
    named: NamedRuns<'a>,
    drafts: AddedDrafts<'k>,
    /// The files of runs without an answer that no case asks: there is nothing to expect of them, and nothing to grade.
    left_out: Vec<&'a SourceText>,
}

impl<'k> ImportNames<'k> {
    fn of(args: &ImportArgs) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::default();
        let agent = args
            .agent
            .as_deref()
            .map(|name| AgentName::new(name).map_err(|bad| bad_id("--agent", &bad)));
        let case = args
            .case
            .as_deref()
            .map(|id| CaseId::new(id).map_err(|bad| bad_id("--case", &bad)));
        let agent = agent.and_then(|agent| problems.keep(agent));
        let case = case.and_then(|case| problems.keep(case));
        problems.or(Self {
            agent,
            case,
            known: None,
            unknown: UnknownCase::Refused,
            samples: args.samples(),
        })
    }

    /// Assigns an agent and a case to every run, and adds drafts for new cases. Names of the command line win over those of the
    /// transcript.
    fn assign<'a>(
        &self,
        files: &'a [TranscriptFile],
        records: &'a [RunRecordFile],
    ) -> Result<AssignedRuns<'a, 'k>, CliError> {
        let mut problems = Diagnostics::default();
        let (mut named, mut new, mut left_out) = (NamedRuns::new(), Vec::new(), Vec::new());
        let mut unanswered = Diagnostics::default();
        let mut runs: Vec<ImportedRun<'a>> = Vec::new();
        let mut run_origins: Vec<Origin<'a>> = Vec::new();
        for file in files {
            let origins = file.origins();
            for run in &file.runs {
                runs.push(ImportedRun {
                    run,
                    source: &file.source,
                    form: file.form,
                });
                run_origins.push(origins.of(run));
            }
        }
        self.one_case(&runs)?;
        for (imported, origin) in runs.into_iter().zip(run_origins) {
            let ImportedRun {
                run,
                source,
                form: _,
            } = imported;
            let agent = self
                .agent
                .clone()
                .map_or_else(|| agent_of(source, run.at, run.agent.as_deref()), Ok);
            let Some(agent) = problems.keep(agent) else {
                continue;
            };
            match (
                self.case_for(&agent, run, origin.file),
                self.unknown,
                self.known,
            ) {
                (Some(case), ..) => add_run(&mut named, agent, case, imported),
                (None, UnknownCase::Drafted, Some(_)) => new.push((agent, imported, origin)),
                (None, UnknownCase::Drafted, None) | (None, UnknownCase::Refused, _) => {
                    let case = case_of_transcript(source, run)
                        .map_err(|problem| self.unknown_case(&agent, imported, problem));
                    let of_run = if run.is_answered() {
                        &mut problems
                    } else {
                        &mut unanswered
                    };
                    match of_run.keep(case) {
                        Some(case) => add_run(&mut named, agent, case, imported),
                        None if run.is_answered() => {}
                        None => left_out.push(source),
                    }
                }
            }
        }
        for runs in named.values() {
            problems.keep(one_variant(&runs.transcripts));
        }
        problems.keep_all(self.add_records(&mut named, records));
        // Where nothing else is imported, they were meant.
        if named.is_empty() && new.is_empty() {
            problems.extend(unanswered);
        }
        problems.or(())?;
        let mut drafts = AddedDrafts::default();
        if let (Some(known), false) = (self.known, new.is_empty()) {
            let runs: Vec<NewRun<'_>> = new
                .iter()
                .map(|(agent, imported, origin)| NewRun {
                    run: imported.run,
                    origin: *origin,
                    agent: agent.clone(),
                })
                .collect();
            drafts = known.add_drafts(&runs, self.samples)?;
            for ((agent, imported, _), case) in new.iter().zip(&drafts.cases) {
                match case {
                    Some(case) => add_run(&mut named, agent.clone(), case.clone(), *imported),
                    None => left_out.push(imported.source),
                }
            }
        }
        Ok(AssignedRuns {
            named,
            drafts,
            left_out,
        })
    }

    /// Why a run that names no case has none, where the config's cases are known.
    fn unknown_case(
        &self,
        agent: &AgentName,
        imported: ImportedRun<'_>,
        problem: Diagnostic,
    ) -> Diagnostic {
        let ImportedRun {
            run,
            source,
            form: _,
        } = imported;
        let (Some(known), None, false) = (self.known, &run.case, run.messages().is_empty()) else {
            return problem;
        };
        if let Some(help) = known.help_with_agent(agent) {
            return source.problem(
                run.at,
                Code::NO_CASE,
                format!("no suite has an agent \"{agent}\""),
                help,
            );
        }
        let asked = line(&run.messages().join(" / "), SHOWN);
        let cases: Vec<String> = known
            .cases_asking(agent, run)
            .into_iter()
            .map(|case| case.to_string())
            .collect();
        let (message, help) = match cases.as_slice() {
            [] => (
                format!("no case of the agent \"{agent}\" asks {asked:?}"),
                "add it as a draft with --new-cases, or name its case with --case ID",
            ),
            several => (
                format!(
                    "several cases of the agent \"{agent}\" ask {asked:?}: {}",
                    several.join(", ")
                ),
                "name its case with --case ID, or the key of the case with --case-key PATH",
            ),
        };
        source.problem(run.at, Code::NO_CASE, message, help)
    }

    /// The case of a run: that of the command line, that of the transcript, or the one with its query; of several, the one with the
    /// name of the file. With new cases, it has to exist.
    fn case_for(&self, agent: &AgentName, run: &Transcript, file: &str) -> Option<CaseId> {
        let stated = match &self.case {
            Some(case) => Some(case.clone()),
            None => run.case.as_deref().and_then(|id| CaseId::new(id).ok()),
        };
        if let Some(case) = stated {
            let is_known = match (self.unknown, self.known) {
                (UnknownCase::Refused, _) | (UnknownCase::Drafted, None) => true,
                (UnknownCase::Drafted, Some(known)) => known.has(agent, &case),
            };
            if is_known {
                return Some(case);
            }
        }
        if run.case.is_some() {
            return None;
        }
        self.known?.case_of(agent, run, file)
    }

    /// Adds run records to the runs of their cases. Names of the command line win over those of a record, and those over its path.
    fn add_records<'a>(
        &self,
        named: &mut NamedRuns<'a>,
        records: &'a [RunRecordFile],
    ) -> Result<(), Diagnostics> {
        let mut problems = Diagnostics::default();
        let first_case = records
            .first()
            .and_then(|first| first.place.case.as_deref());
        for record in records {
            let RunRecordFile { source, place, .. } = record;
            let stated = place.case.as_deref();
            if self.case.is_some() && stated != first_case {
                problems.push(another_case(source, 0, first_case, stated));
            }
            let agent = self
                .agent
                .clone()
                .map_or_else(|| agent_of(source, 0, place.agent.as_deref()), Ok);
            let case = self
                .case
                .clone()
                .map_or_else(|| case_of(source, 0, stated, "use --case ID"), Ok);
            let (agent, case) = (problems.keep(agent), problems.keep(case));
            if let Some(key) = agent.zip(case) {
                named.entry(key).or_default().records.push(record);
            }
        }
        problems.or(())
    }

    /// Checks that all runs can be samples of the one case of `--case`: refuses runs of different cases, and several traces whose input is
    /// not known.
    fn one_case(&self, runs: &[ImportedRun<'_>]) -> Result<(), Diagnostic> {
        let (Some(case), Some((first, rest))) = (&self.case, runs.split_first()) else {
            return Ok(());
        };
        for later in rest {
            let (first_case, case) = (first.run.case.as_deref(), later.run.case.as_deref());
            if case != first_case {
                return Err(another_case(later.source, later.run.at, first_case, case));
            }
        }
        let later = rest
            .iter()
            .find(|later| is_unknown_trace(first) || is_unknown_trace(later));
        match later {
            Some(later) if later.form.is_trace() => {
                let message = format!(
                    "these are {} traces, but --case {case} names one case",
                    runs.len()
                );
                let help = "name the attribute with the case id: --case-key PATH";
                Err(later
                    .source
                    .problem(later.run.at, Code::MANY_TRACES, message, help))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn is_unknown_trace(imported: &ImportedRun<'_>) -> bool {
    imported.form.is_trace() && imported.run.case.is_none() && imported.run.query.is_none()
}

fn bad_id(option: &str, bad: &BadId) -> Diagnostic {
    Diagnostic::of_command_line(Code::BAD_ID, format!("{option}: {bad}"), bad.help())
}

/// Refuses promptfoo's runs of several providers or prompts, which it tries side by side: as samples of one agent, the good ones would hide the bad ones.
fn one_variant(runs: &[ImportedRun<'_>]) -> Result<(), Diagnostic> {
    let mut runs = runs.iter().filter(|run| run.form == Format::Promptfoo);
    let Some(first) = runs.next() else {
        return Ok(());
    };
    let Some(later) = runs.find(|later| variant_name(later) != variant_name(first)) else {
        return Ok(());
    };
    let message = format!(
        "this run is of {:?}, but another one of its case is of {:?}",
        variant_name(later),
        variant_name(first)
    );
    let help = "import the results of one (`promptfoo eval --filter-providers …`), or of each as an agent of its own: without --agent";
    Err(later
        .source
        .problem(later.run.at, Code::MANY_AGENTS, message, help))
}

/// The agent and the variant of a run.
fn variant_name(imported: &ImportedRun<'_>) -> String {
    let parts = [
        imported.run.agent.as_deref(),
        imported.run.variant.as_deref(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn add_run<'a>(
    named: &mut NamedRuns<'a>,
    agent: AgentName,
    case: CaseId,
    imported: ImportedRun<'a>,
) {
    let of_case = named.entry((agent, case)).or_default();
    of_case.transcripts.push(imported);
}

fn agent_of(source: &SourceText, at: usize, name: Option<&str>) -> Result<AgentName, Diagnostic> {
    let Some(name) = name else {
        let help = "use --agent NAME";
        return Err(source.problem(at, Code::NO_AGENT, "this run has no agent name", help));
    };
    AgentName::new(name).map_err(|bad| {
        let help = format!("use --agent NAME: {}", bad.help());
        source.problem(at, Code::BAD_ID, format!("this run's agent: {bad}"), help)
    })
}

fn case_of_transcript(source: &SourceText, run: &Transcript) -> Result<CaseId, Diagnostic> {
    let help = "use --case ID, or name the key of the case with --case-key PATH";
    case_of(source, run.at, run.case.as_deref(), help)
}

/// The case that a run states; `help` says what to do if it states none.
fn case_of(
    source: &SourceText,
    at: usize,
    id: Option<&str>,
    help: &str,
) -> Result<CaseId, Diagnostic> {
    let Some(id) = id else {
        return Err(source.problem(at, Code::NO_CASE, "this run has no case id", help));
    };
    CaseId::new(id).map_err(|bad| {
        let help = format!("use --case ID: {}", bad.help());
        source.problem(at, Code::BAD_ID, format!("this run's case: {bad}"), help)
    })
}

fn another_case(
    source: &SourceText,
    at: usize,
    first: Option<&str>,
    later: Option<&str>,
) -> Diagnostic {
    let message = format!(
        "this run has the case {:?}, but the first one has {:?}",
        later.unwrap_or("none"),
        first.unwrap_or("none")
    );
    let help = "omit --case, or split the file";
    source.problem(at, Code::OTHER_CASE, message, help)
}

/// Returns notes about files that were not read, and about content that the recordings do not contain.
fn notes(runs: &[&Transcript], cases: &[&ForeignCase], skipped: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for (feature, count) in runs.iter().flat_map(|run| &run.left_out) {
        *counts.entry(feature).or_default() += count;
    }
    let mut notes: Vec<String> = counts
        .iter()
        .map(|(feature, count)| format!("left out: {count} x {feature:?}"))
        .collect();
    for case in cases {
        for feature in &case.left_out {
            notes.push(format!("{}: not imported: {feature}", case.id));
        }
    }
    let silent = runs
        .iter()
        .filter(|run| run.text.is_none() && run.record.is_none())
        .count();
    if silent > 0 {
        notes.push(format!(
            "{} without an answer text: the trace does not contain the messages' content",
            plural(silent, "run", "runs")
        ));
    }
    let cut_off = runs.iter().filter(|run| run.is_cut_off).count();
    if cut_off > 0 {
        notes.push(format!(
            "{}: the model reached its limit of tokens",
            plural(cut_off, "answer is cut off", "answers are cut off")
        ));
    }
    if let Some((first, more)) = skipped.split_first() {
        let others = if more.is_empty() {
            String::new()
        } else {
            format!(" and {} more", more.len())
        };
        notes.push(format!("skipped {first}{others}: the format is not known"));
    }
    notes
}
