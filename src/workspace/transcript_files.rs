//! Finds the files of transcripts and run records that a user names, and reads their runs.

use std::collections::HashMap;

use import::{Format, Hints, Source, Transcript};

use super::proposed_case::{Origin, QueryCount};
use super::run_record_file::RunRecordFile;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Files, SourceText, all_files_below, files_below};
use crate::format::foreign_cases::{ForeignCase, adk_cases, golden_cases, promptfoo_cases};
use crate::format::redact::redacted_transcript;
use crate::format::run_v1::{is_run, states_schema};
use crate::format::transcript::{hints, parsed, read_runs, source_texts};
use crate::model::{PathGlob, RepoPath};
use crate::render::CliError;
use crate::text::Redactor;
use crate::world::{Disk, World};

pub struct TranscriptFile {
    /// The file, for problems of its runs.
    pub source: SourceText,
    /// The name of the file without secrets.
    pub name: String,
    pub form: Format,
    /// Its runs, in order.
    pub runs: Vec<Transcript>,
    /// Its cases, in order.
    pub cases: Vec<ForeignCase>,
    /// The lines of its conversations without an answer, which are left out.
    pub unanswered: Vec<u32>,
}

pub struct Origins<'a> {
    file: &'a TranscriptFile,
    queries: QueryCount,
    cases: HashMap<&'a str, &'a ForeignCase>,
}

impl TranscriptFile {
    /// The same file; what becomes recordings and cases has no secrets.
    pub fn redacted(self, redactor: &Redactor) -> Self {
        let Self {
            source,
            name,
            form,
            runs,
            cases,
            unanswered,
        } = self;
        Self {
            source,
            name: redactor.text(&name).into_owned(),
            form,
            runs: runs
                .into_iter()
                .map(|run| redacted_transcript(run, redactor))
                .collect(),
            cases: cases
                .into_iter()
                .map(|case| case.redacted(redactor))
                .collect(),
            unanswered,
        }
    }

    pub fn origins(&self) -> Origins<'_> {
        Origins {
            file: self,
            queries: QueryCount::of(&self.runs),
            cases: self
                .cases
                .iter()
                .map(|case| (case.id.as_str(), case))
                .collect(),
        }
    }
}

/// The ends of names of files with a run on each line.
const OF_LINES: [&str; 2] = [".jsonl", ".ndjson"];

impl<'a> Origins<'a> {
    /// The line of a run, or its number in a file that is not one of lines.
    fn position(&self, run: &Transcript) -> u32 {
        let TranscriptFile { source, runs, .. } = self.file;
        if has_lines(source) {
            return source.line(run.at);
        }
        let numbered = (1..).zip(runs);
        numbered
            .into_iter()
            .find(|(_, listed)| std::ptr::eq(*listed, run))
            .map_or(1, |(number, _)| number)
    }

    pub fn of(&self, run: &Transcript) -> Origin<'a> {
        let case = run
            .case
            .as_deref()
            .and_then(|id| self.cases.get(id).copied());
        Origin {
            file: &self.file.name,
            queries: self.queries,
            position: self.position(run),
            case,
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct TranscriptReading<'a> {
    /// Their format; `None` to find it out for each file.
    pub form: Option<Format>,
    /// The key of a record, or the attribute of a span, with the case.
    pub case_key: Option<&'a str>,
    /// The agent. Of several agents in a trace, its answer is that of the run.
    pub agent: Option<&'a str>,
    /// What becomes of a file of which no conversation has an answer.
    pub unanswered: UnansweredFile,
}

/// What becomes of a file of which no conversation has an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnansweredFile {
    /// It is a problem.
    #[default]
    Refused,
    /// Its conversations are left out.
    LeftOut,
}

pub struct TranscriptFiles {
    /// The files with runs, in order.
    pub files: Vec<TranscriptFile>,
    /// The run records, in order.
    pub records: Vec<RunRecordFile>,
    /// The files in named folders whose format is unknown.
    pub skipped: Vec<String>,
}

/// The ends of names of files that folders are searched for.
const SUFFIXES: [&str; 9] = [
    ".json", ".jsonl", ".ndjson", ".gz", ".sse", ".pb", ".eval", ".har", ".traj",
];

/// Whether a file was named or found in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FoundBy {
    Name,
    Folder,
}

/// Reads files, the files in folders, and the files that patterns match; `-` is standard input.
///
/// # Errors
/// Files that cannot be read, and patterns that match nothing.
pub fn read_transcript_files(
    paths: &[String],
    reading: TranscriptReading<'_>,
    world: &World,
) -> Result<TranscriptFiles, CliError> {
    let redactor = world.redactor();
    let mut problems = Diagnostics::default();
    let mut transcripts = TranscriptFiles {
        files: Vec::new(),
        records: Vec::new(),
        skipped: Vec::new(),
    };
    for path in paths {
        if path == "-" {
            let read = world
                .input()
                .map_err(Diagnostics::from)
                .and_then(|source| read_file(source, Place::default(), reading, &redactor));
            if let Some(read) = problems.keep_all(read) {
                problems.keep(transcripts.add(read, FoundBy::Name));
            }
            continue;
        }
        let Some(named) = problems.keep(files_of(path)) else {
            continue;
        };
        for file in &named.files {
            let texts = problems.keep(
                named
                    .disk
                    .bytes(file)
                    .and_then(|bytes| source_texts(file, bytes)),
            );
            for source in texts.unwrap_or_default() {
                let place = Place {
                    inner: named.inner(file),
                    disk: Some(&named.disk),
                };
                let read = read_file(source, place, reading, &redactor);
                if let Some(read) = problems.keep_all(read) {
                    problems.keep(transcripts.add(read, named.found_by));
                }
            }
        }
    }
    problems.or(())?;
    if transcripts.files.is_empty() && transcripts.records.is_empty() {
        let message = "no file of a known format was found";
        let help = format!(
            "{}; for inputs without answers write cases, and record them (docs/recipes/extraction.md)",
            formats()
        );
        return Err(
            Diagnostic::of_file(paths.join(" "), Code::NO_TRANSCRIPT, message, help).into(),
        );
    }
    Ok(transcripts)
}

/// What reading one file gave.
enum ReadFile {
    Runs(TranscriptFile),
    Record(RunRecordFile),
    /// The format is not known.
    Unknown(SourceText),
}

impl TranscriptFiles {
    /// Adds a file. One that a folder has may be of any format.
    ///
    /// # Errors
    /// A named file of an unknown format.
    fn add(&mut self, read: ReadFile, found_by: FoundBy) -> Result<(), Diagnostic> {
        match (read, found_by) {
            (ReadFile::Runs(file), _) => self.files.push(file),
            (ReadFile::Record(record), _) => self.records.push(record),
            (ReadFile::Unknown(source), FoundBy::Folder) => {
                self.skipped.push(source.file.to_string());
            }
            (ReadFile::Unknown(source), FoundBy::Name) => return Err(unknown(&source)),
        }
        Ok(())
    }
}

/// Where a file is; nowhere if it is standard input.
#[derive(Clone, Copy, Default)]
struct Place<'a> {
    /// Its path below the folder that was named.
    inner: Option<&'a str>,
    /// The disk with the files of its folder.
    disk: Option<&'a Disk>,
}

fn read_file(
    source: SourceText,
    place: Place<'_>,
    reading: TranscriptReading<'_>,
    redactor: &Redactor,
) -> Result<ReadFile, Diagnostics> {
    let says_record = reading.form.is_none() && states_schema(&source);
    let file = (!says_record).then(|| parsed(&source)).transpose()?;
    let known_form = file.and_then(|file| Some((reading.form.or_else(|| file.format())?, file)));
    let Some((form, file)) = known_form else {
        if says_record || is_run(&source) {
            let record = RunRecordFile::read(source, place.inner, redactor)?;
            return Ok(ReadFile::Record(record));
        }
        return Ok(ReadFile::Unknown(source));
    };
    let hints = hints(reading.case_key, reading.agent);
    let read = read_answered_runs(&source, &file, form, hints);
    let is_left_out = reading.unanswered == UnansweredFile::LeftOut;
    let AnsweredRuns { runs, unanswered } = match read {
        Err(problems) if is_left_out && problems.are_all(Code::NO_ANSWER) => AnsweredRuns {
            runs: Vec::new(),
            unanswered: problems.lines(),
        },
        answered => answered?,
    };
    let files = place.disk.map(|disk| disk as &dyn Files);
    let cases = foreign_cases(form, &source, &file, &runs, files)?;
    drop(file);
    let file = TranscriptFile {
        name: source.file.name().to_owned(),
        source,
        form,
        runs,
        cases,
        unanswered,
    };
    Ok(ReadFile::Runs(file.redacted(redactor)))
}

/// The runs of a file that have an answer.
pub struct AnsweredRuns {
    pub runs: Vec<Transcript>,
    /// The lines of the conversations without an answer.
    pub unanswered: Vec<u32>,
}

/// Reads the runs of a file. Of a file with a conversation on each line, those without an answer are left out if any other has one.
///
/// # Errors
/// What cannot be read.
pub fn read_answered_runs(
    source: &SourceText,
    file: &Source<'_>,
    form: Format,
    hints: Hints<'_>,
) -> Result<AnsweredRuns, Diagnostics> {
    let problems = match read_runs(source, file, form, hints) {
        Ok(runs) => {
            return Ok(AnsweredRuns {
                runs,
                unanswered: Vec::new(),
            });
        }
        Err(problems) => problems,
    };
    let unanswered = problems.lines();
    if !problems.are_all(Code::NO_ANSWER) || !has_lines(source) {
        return Err(problems);
    }
    // Blanks in place of a line leave every other one where it is.
    let numbered = (1_u32..).zip(source.text.split_inclusive('\n'));
    let mut answered = String::new();
    for (number, line) in numbered {
        if unanswered.contains(&number) {
            let length = line.trim_end_matches('\n').len();
            answered.push_str(&" ".repeat(length));
            answered.push_str(&line[length..]);
        } else {
            answered.push_str(line);
        }
    }
    let answered = SourceText::from_text(source.file.clone(), answered);
    let read = parsed(&answered)
        .map_err(Diagnostics::from)
        .and_then(|file| read_runs(&answered, &file, form, hints));
    match read {
        Ok(runs) if !runs.is_empty() => Ok(AnsweredRuns { runs, unanswered }),
        Ok(_) | Err(_) => Err(problems),
    }
}

/// Whether a file has a run on each line.
fn has_lines(source: &SourceText) -> bool {
    let name = source.file.name();
    OF_LINES.iter().any(|end| name.ends_with(end))
}

/// The cases of another tool in a file with these runs; `files` has those that it may name.
///
/// # Errors
/// A file without cases in a format of cases.
fn foreign_cases(
    form: Format,
    source: &SourceText,
    file: &Source<'_>,
    runs: &[Transcript],
    files: Option<&dyn Files>,
) -> Result<Vec<ForeignCase>, Diagnostics> {
    match form {
        Format::Promptfoo => Ok(promptfoo_cases(source, files)?),
        Format::OpenaiEvals | Format::Deepeval | Format::Csv => Ok(golden_cases(file)),
        Format::Adk => Ok(adk_cases(source, runs, files)?),
        Format::OpenAi
        | Format::Anthropic
        | Format::Otlp
        | Format::Inspect
        | Format::Langchain
        | Format::Langsmith
        | Format::Langfuse
        | Format::ClaudeCode
        | Format::Codex
        | Format::Gemini
        | Format::Bedrock
        | Format::Ollama
        | Format::TauBench
        | Format::SweAgent
        | Format::OpenHands
        | Format::Results => Ok(Vec::new()),
    }
}

fn unknown(source: &SourceText) -> Diagnostic {
    source.problem(
        0,
        Code::UNKNOWN_FORMAT,
        "the format of this file is not known",
        formats(),
    )
}

/// The formats that can be read.
fn formats() -> String {
    format!(
        "use one of the formats {} (docs/traces.md), or name the format before the path",
        Format::names()
    )
}

/// The wanted files below a folder without those that git ignores; if there are none, with those, as in a folder that git ignores.
fn wanted_files(
    disk: &Disk,
    folder: &RepoPath,
    is_wanted: impl Fn(&str, &RepoPath) -> bool,
) -> Result<Vec<RepoPath>, Diagnostic> {
    let disk = disk as &dyn Files;
    let mut files = files_below(disk, folder)?;
    files.retain(|name, file| is_wanted(name, file));
    if files.is_empty() {
        files = all_files_below(disk, folder)?;
        files.retain(|name, file| is_wanted(name, file));
    }
    Ok(files.into_values().collect())
}

/// The files that a path names.
struct NamedFiles {
    disk: Disk,
    files: Vec<RepoPath>,
    found_by: FoundBy,
    /// The folder that was named, or in which the pattern begins.
    folder: Option<RepoPath>,
}

impl NamedFiles {
    /// The path of one of the files below the folder that was named.
    fn inner<'f>(&self, file: &'f RepoPath) -> Option<&'f str> {
        let folder = self.folder.as_ref()?.as_str();
        let below = file.as_str().strip_prefix(folder)?;
        Some(below.trim_start_matches('/'))
    }
}

/// The files that a path names: itself, those in a folder, or those that match a pattern.
fn files_of(path: &str) -> Result<NamedFiles, Diagnostic> {
    let plain = path.split(['*', '?', '[', '{']).next().unwrap_or_default();
    let is_pattern = plain.len() < path.len() && !std::path::Path::new(path).exists();
    if !is_pattern {
        let trimmed = path.trim_end_matches('/');
        let (disk, place) = match trimmed {
            "." | ".." => Disk::of_file(&format!("{trimmed}/x"))
                .map(|(disk, inner)| (disk, inner.parent()))?,
            named => Disk::of_file(named)?,
        };
        return match disk.list(&place) {
            Ok(_) => {
                let files = wanted_files(&disk, &place, |name, _| {
                    SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) && !is_hidden(name)
                })?;
                Ok(NamedFiles {
                    disk,
                    files,
                    found_by: FoundBy::Folder,
                    folder: Some(place),
                })
            }
            Err(_) => Ok(NamedFiles {
                disk,
                files: vec![place],
                found_by: FoundBy::Name,
                folder: None,
            }),
        };
    }
    let folder = plain.rsplit_once('/').map_or("", |(folder, _)| folder);
    let around = if folder.is_empty() {
        "x".to_owned()
    } else {
        format!("{folder}/x")
    };
    let (disk, inside) = Disk::of_file(&around).map_err(|problem| Diagnostic {
        file: path.to_owned(),
        ..problem
    })?;
    let rest = path[folder.len()..].trim_start_matches('/');
    let glob = PathGlob::new(&inside.parent(), rest).map_err(|why| {
        Diagnostic::of_file(
            path,
            Code::BAD_PATTERN,
            format!("this pattern {why}"),
            "correct it",
        )
    })?;
    let files = wanted_files(&disk, glob.folder(), |name, file| {
        glob.matches(file) && (!is_hidden(name) || is_hidden(rest))
    })?;
    if files.is_empty() {
        let help = "correct it; * matches within a folder, ** across folders";
        return Err(Diagnostic::of_file(
            path,
            Code::NO_TRANSCRIPT,
            "no file matches this pattern",
            help,
        ));
    }
    Ok(NamedFiles {
        disk,
        files,
        found_by: FoundBy::Name,
        folder: Some(glob.folder().clone()),
    })
}

/// Whether a file or one of its folders is hidden.
fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}
