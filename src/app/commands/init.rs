//! `goldgate init`: sets up config, cases, recordings and the workflow in a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use import::{Ending, Format, Transcript};
use serde::Serialize;
use serde_json::Value;

use crate::app::cli::InitArgs;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Files, SourceText, files_below};
use crate::format::foreign_cases::ForeignCase;
use crate::format::transcript::{hints, parsed};
use crate::model::{AgentName, CaseId, PathGlob, RepoPath};
use crate::render::{CliError, plural};
use crate::suites::{CaseStage, config_schema};
use crate::text::first_of;
use crate::workspace::imported_runs::{
    ExistingRecordings, ImportedRun, NamedRuns, RecordingsPlace, SamplesOfCase, import_arguments,
    write_recordings,
};
use crate::workspace::personal_data::personal_data_note;
use crate::workspace::proposed_case::{Origin, ProposedCase, ProposedSamples, id_of_file};
use crate::workspace::transcript_files::{
    AnsweredRuns, TranscriptFile, TranscriptFiles, TranscriptReading, UnansweredFile,
    read_answered_runs, read_transcript_files,
};
use crate::world::{Disk, World};

/// The samples of a case that tell chance from change.
const ADVISED: usize = 3;
const CONFIG: &str = "goldgate.yaml";
const CASES: &str = "golden/cases.json";
const RUNS: &str = "golden/runs";
const SCHEMA: &str = ".goldgate/schemas/config.json";
const WORKFLOW: &str = ".github/workflows/goldgate.yml";
/// Equal to docs/workflows/goldgate.yml.
const WORKFLOW_TEXT: &str = include_str!("init/goldgate.yml");

/// The action in the workflow, before its owner and commit are known.
const UNNAMED_ACTION: &str = "OWNER/goldgate@0000000000000000000000000000000000000000";

/// Writes a config, cases and recordings from transcripts, or an example, and prints what it wrote and what to do next. An existing file
/// is never replaced. Returns the exit code.
///
/// # Errors
/// Files that exist already, and transcripts that cannot be read.
pub fn init(args: &InitArgs, world: &World) -> Result<u8, CliError> {
    let is_asked = world.is_interactive() && !args.yes && args.from.is_empty();
    let asked = if is_asked {
        Some(ask(args, world)?)
    } else {
        None
    };
    let args = asked.as_ref().unwrap_or(args);
    let agent = AgentName::new(&args.agent).map_err(|bad| {
        let help = bad.help();
        Diagnostic::of_command_line(Code::BAD_ID, format!("--agent: {bad}"), help)
    })?;
    if args.redact_personal {
        world.replace_personal_data();
    }
    let TranscriptFiles {
        files: transcripts,
        records,
        skipped,
    } = if args.from.is_empty() {
        example()?
    } else {
        transcripts(&args.from, world)?
    };
    // The example is known to be right.
    let stage = if args.from.is_empty() {
        CaseStage::Accepted
    } else {
        CaseStage::Draft
    };
    let redactor = world.redactor();
    let transcripts: Vec<TranscriptFile> = transcripts
        .into_iter()
        .map(|file| file.redacted(&redactor))
        .collect();
    let samples = SamplesOfCase::of(args.trials);
    let mut proposed = proposed(&transcripts, stage, samples)?;
    proposed.leave_out(
        "a run record: import it when its case exists",
        records.iter().map(|record| record.source.file.to_string()),
    );
    proposed.leave_out("of an unknown format", skipped);
    if proposed.cases.is_empty() && proposed.taken.is_empty() {
        let message = "no transcript has a user's message and an answer";
        let help = "use transcripts of complete conversations, one for each file or line: {\"messages\": [{\"role\": \"user\", \
                    \"content\": …}, {\"role\": \"assistant\", \"content\": …}]}; docs/traces.md lists other formats";
        return Err(Diagnostic::of_file(
            args.from.join(" "),
            Code::NOTHING_SELECTED,
            message,
            help,
        )
        .into());
    }
    let disk = Disk::create(Path::new("."))?;
    refuse_existing(&disk)?;
    refuse_unmatched(&disk, &args.files)?;
    let (_, config) = Disk::of_config(CONFIG)?;
    let root = match config.as_str() {
        CONFIG => ConfigRoot::Repository,
        _ => ConfigRoot::Folder,
    };
    let args = &InitArgs {
        no_workflow: args.no_workflow || root == ConfigRoot::Folder,
        ..args.clone()
    };
    let texts = texts(args, &agent, &proposed, &transcripts)?;
    let (kept, new): (Vec<_>, Vec<_>) = texts
        .into_iter()
        .partition(|(path, _)| is_there(&disk, path));
    world.say(
        &kept
            .iter()
            .map(|(path, _)| format!("kept {path}\n"))
            .collect::<String>(),
    );
    let set_up = SetUp {
        agent: &agent,
        transcripts: &transcripts,
        proposed: &proposed,
        samples,
        arguments: import_arguments(None, &args.from, &["--agent".to_owned(), agent.to_string()]),
        new: &new,
    };
    let folders: Vec<&str> = [".goldgate", "golden"]
        .into_iter()
        .filter(|folder| !is_there(&disk, folder))
        .collect();
    let written = set_up.write(&disk, world).inspect_err(|_| {
        // A second `init` would refuse the files of one that failed.
        for path in new
            .iter()
            .map(|(path, _)| *path)
            .chain([RUNS])
            .chain(folders)
        {
            let _ = disk.remove(&RepoPath::root().below(path));
        }
    })?;
    world.say(&proposed.left_out_lines());
    if let Some(note) = personal_data_note(&transcripts, &[]) {
        world.say(&format!("{note}\n"));
    }
    let mut open = set_up.open(args);
    if root == ConfigRoot::Folder {
        open.push(format!(
            "write a workflow in .github/workflows of the repository's root, with the input config: {config} (docs/github.md, \"Several configs\")"
        ));
    }
    world.say(&set_up.closing_lines(args, written, &open));
    Ok(0)
}

/// Where the config is: GitHub reads only the workflows of a repository's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConfigRoot {
    Repository,
    /// A folder of the repository.
    Folder,
}

/// What `init` writes.
struct SetUp<'a> {
    agent: &'a AgentName,
    transcripts: &'a [TranscriptFile],
    proposed: &'a ProposedCases,
    samples: SamplesOfCase,
    /// What `goldgate import` is given to make the recordings again.
    arguments: Vec<String>,
    /// The files that do not exist yet, with their texts.
    new: &'a [(&'static str, String)],
}

impl SetUp<'_> {
    /// Writes everything. Returns the number of recordings.
    fn write(&self, disk: &Disk, world: &World) -> Result<usize, CliError> {
        for (path, text) in self.new {
            disk.replace(&RepoPath::root().below(path), text.as_bytes())?;
        }
        // Recordings have digests of what the config names.
        let place = RecordingsPlace {
            out: RUNS,
            config: None,
            existing: ExistingRecordings::Refused,
            samples: self.samples,
            arguments: self.arguments.clone(),
        };
        let named = self.proposed.of_files(self.agent, self.transcripts);
        Ok(write_recordings(&place, &named, world)?.len())
    }

    /// What the files still need.
    fn open(&self, args: &InitArgs) -> Vec<String> {
        let mut open = Vec::new();
        if !args.from.is_empty() && !self.proposed.cases.is_empty() {
            let cases = &self.proposed.cases;
            let unchecked = cases.iter().filter(|case| !case.checks_an_answer()).count();
            let drafts = plural(cases.len(), "draft", "drafts");
            open.push(match unchecked {
                0 => format!("review {drafts}"),
                _ => format!(
                    "review {drafts}, and add what the answer must have to the {unchecked} that check calls alone"
                ),
            });
        }
        if !self.proposed.taken.is_empty() {
            open.push(format!(
                "record or import the answers to {}",
                plural(self.proposed.taken.len(), "case", "cases")
            ));
        }
        if args.files.is_empty() {
            open.push(format!(
                "name the agent's files under `fingerprint` in {CONFIG}"
            ));
        }
        if !args.no_workflow && args.action.is_none() {
            open.push(format!(
                "replace OWNER and the zeros in {WORKFLOW} by the action's owner and commit"
            ));
        }
        let fewest = self.proposed.sample_counts().into_iter().min().unwrap_or(0);
        if !self.proposed.cases.is_empty() && !args.from.is_empty() && fewest < ADVISED {
            open.push(format!(
                "record {ADVISED} samples of each case, so that one odd answer is not taken for a change"
            ));
        }
        let mut runs = self.transcripts.iter().flat_map(|file| &file.runs);
        if !self.proposed.cases.is_empty()
            && !args.from.is_empty()
            && runs.all(|run| run.started_at.is_none())
        {
            open.push(
                "write the date of each transcript (created_at), so that a new one with the same answer counts as new"
                    .to_owned(),
            );
        }
        open
    }

    /// What was written, what is open, and the next command: a line each.
    fn closing_lines(&self, args: &InitArgs, recordings: usize, open: &[String]) -> String {
        let stage = if args.from.is_empty() {
            CaseStage::Accepted
        } else {
            CaseStage::Draft
        };
        let cases = self.proposed.count(stage);
        let files = self.new.iter().map(|(path, _)| match *path {
            CASES => format!("{CASES} ({cases})"),
            file => file.to_owned(),
        });
        let recordings = plural(recordings, "recording", "recordings");
        let written: Vec<String> = files.chain([format!("{RUNS} ({recordings})")]).collect();
        let open = if open.is_empty() {
            "nothing".to_owned()
        } else {
            open.join("; ")
        };
        let next = if args.from.is_empty() {
            "goldgate run --update-baseline"
        } else if self.proposed.cases.is_empty() {
            "goldgate record -- COMMAND"
        } else {
            "goldgate review"
        };
        format!(
            "Wrote {}.\nOpen: {open}.\nNext: {next}\n",
            written.join(", ")
        )
    }
}

/// Asks a person for what no option says.
fn ask(args: &InitArgs, world: &World) -> anyhow::Result<InitArgs> {
    let mut asked = args.clone();
    asked.from.extend(answer(
        world,
        "Transcripts of the agent, a file or a folder (Enter writes an example) > ",
    )?);
    if let Some(name) = answer(
        world,
        &format!("Name of the agent (Enter for {}) > ", args.agent),
    )? {
        asked.agent = name;
    }
    if args.files.is_empty() {
        asked.files.extend(answer(
            world,
            "Files that define the agent, such as prompts/** (Enter to name them later) > ",
        )?);
    }
    if !args.no_workflow {
        asked.no_workflow = answer(
            world,
            "Write the GitHub workflow? (Enter for yes, n for no) > ",
        )?
        .is_some_and(|word| word.starts_with(['n', 'N']));
    }
    Ok(asked)
}

/// A person's answer; `None` if it is empty.
fn answer(world: &World, question: &str) -> anyhow::Result<Option<String>> {
    Ok(world.ask(question)?.filter(|answer| !answer.is_empty()))
}

/// The proposed cases, and which runs are their samples.
struct ProposedCases {
    cases: Vec<ProposedCase>,
    /// The cases of other tools' files without runs.
    taken: Vec<Value>,
    assigned: Vec<Vec<Option<usize>>>,
    /// Where the conversations are of which no case was made, by the reason.
    left_out: LeftOut,
}

/// Whether the recorded samples of a case differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SampleAnswers {
    /// Each case has two or more, and they are the same.
    Alike,
    Different,
}

impl ProposedCases {
    /// The number of recorded samples of each case.
    fn sample_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.cases.len()];
        for case in self.assigned.iter().flatten().flatten() {
            counts[*case] += 1;
        }
        counts
    }

    /// Whether each case has several samples that are the same.
    fn answers(&self, files: &[TranscriptFile]) -> SampleAnswers {
        let mut answers: Vec<BTreeSet<String>> = vec![BTreeSet::new(); self.cases.len()];
        for (file, assigned) in files.iter().zip(&self.assigned) {
            for (run, case) in file.runs.iter().zip(assigned) {
                if let Some(case) = case {
                    answers[*case].insert(format!("{:?} {:?}", run.text, run.calls));
                }
            }
        }
        let counts = self.sample_counts();
        let has_several = !counts.is_empty() && counts.iter().all(|count| *count >= 2);
        if has_several && answers.iter().all(|of_case| of_case.len() == 1) {
            SampleAnswers::Alike
        } else {
            SampleAnswers::Different
        }
    }

    /// Names files of which no case was made.
    fn leave_out(&mut self, why: &'static str, files: impl IntoIterator<Item = String>) {
        let mut files = files.into_iter().peekable();
        if files.peek().is_some() {
            self.left_out.entry(why).or_default().extend(files);
        }
    }

    /// The cases and the drafts in words: `2 cases and 3 drafts`.
    fn count(&self, stage: CaseStage) -> String {
        let (cases, drafts) = match stage {
            CaseStage::Draft => (self.taken.len(), self.cases.len()),
            CaseStage::Accepted => (self.taken.len() + self.cases.len(), 0),
        };
        let parts = [(cases, "case", "cases"), (drafts, "draft", "drafts")];
        let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, singular, plural_form)| plural(count, singular, plural_form))
            .collect();
        parts.join(" and ")
    }

    /// The conversations of which no case was made, and why.
    fn left_out_lines(&self) -> String {
        let lines = self.left_out.iter().map(|(why, places)| {
            let count = plural(places.len(), "conversation", "conversations");
            format!("left out: {count} {why}: {}\n", first_of(places))
        });
        lines.collect()
    }

    fn of_files<'a>(&self, agent: &AgentName, files: &'a [TranscriptFile]) -> NamedRuns<'a> {
        let mut named = NamedRuns::new();
        for (from, assigned) in files.iter().zip(&self.assigned) {
            for (run, case) in from.runs.iter().zip(assigned) {
                let id = case.and_then(|case| CaseId::new(&self.cases[case].id).ok());
                if let Some(id) = id {
                    let imported = ImportedRun {
                        run,
                        source: &from.source,
                        form: from.form,
                    };
                    let of_case = named.entry((agent.clone(), id)).or_default();
                    of_case.transcripts.push(imported);
                }
            }
        }
        named
    }
}

/// One case per messages of the user and stated case. Several conversations of it in a file are its samples. One in another file is a case of
/// its own if the file can name it: else a later import could not tell the two cases apart.
///
/// The cases of another tool's file without runs are taken over.
///
/// # Errors
/// A case that cannot be written.
fn proposed(
    files: &[TranscriptFile],
    stage: CaseStage,
    samples: SamplesOfCase,
) -> Result<ProposedCases, CliError> {
    let samples = ProposedSamples::of(files.iter().flat_map(|file| &file.runs), samples);
    let mut left_out = LeftOut::new();
    let mut groups: Vec<CaseGroup<'_>> = Vec::new();
    let mut group_of_run: Vec<Vec<Option<usize>>> = Vec::with_capacity(files.len());
    let mut unnamed: BTreeMap<(Option<&str>, Vec<&str>), usize> = BTreeMap::new();
    for file in files {
        let mut of_this_file = BTreeMap::new();
        let known = match id_of_file(&file.name) {
            Some(_) => &mut of_this_file,
            None => &mut unnamed,
        };
        let origins = file.origins();
        let mut of_file = Vec::with_capacity(file.runs.len());
        for run in &file.runs {
            if let Some(why) = unusable(run) {
                left_out.entry(why).or_default().push(place_of(file, run));
                of_file.push(None);
                continue;
            }
            let key = (run.case.as_deref(), samples.messages(run));
            let group = *known.entry(key).or_insert_with(|| {
                groups.push(CaseGroup {
                    origin: origins.of(run),
                    runs: Vec::new(),
                });
                groups.len() - 1
            });
            groups[group].runs.push((file, run));
            of_file.push(Some(group));
        }
        for line in &file.unanswered {
            let place = format!("{}:{line}", file.source.file);
            left_out.entry("without an answer").or_default().push(place);
        }
        group_of_run.push(of_file);
    }
    let without_runs = files.iter().filter(|file| file.runs.is_empty());
    let foreign: Vec<&ForeignCase> = without_runs.flat_map(|file| &file.cases).collect();
    let taken: Result<Vec<Value>, _> = foreign.iter().map(serde_json::to_value).collect();
    let mut used: BTreeSet<String> = foreign.iter().map(|case| case.id.clone()).collect();
    let mut cases: Vec<ProposedCase> = Vec::new();
    let mut case_of_group = Vec::with_capacity(groups.len());
    for CaseGroup { origin, runs } in &groups {
        let of_group: Vec<&Transcript> = runs.iter().map(|(_, run)| *run).collect();
        match samples.case(&of_group, *origin, stage) {
            Ok(mut case) => {
                case.renamed(&mut used);
                cases.push(case);
                case_of_group.push(Some(cases.len() - 1));
            }
            Err(why) => {
                let places = runs.iter().map(|(file, run)| place_of(file, run));
                left_out.entry(why).or_default().extend(places);
                case_of_group.push(None);
            }
        }
    }
    let mut assigned: Vec<Vec<Option<usize>>> = Vec::new();
    for groups in group_of_run {
        let case_of_run = groups
            .into_iter()
            .map(|group| group.and_then(|group| case_of_group[group]));
        assigned.push(case_of_run.collect());
    }
    Ok(ProposedCases {
        cases,
        taken: taken.map_err(anyhow::Error::from)?,
        assigned,
        left_out,
    })
}

/// Where the conversations are of which no case was made, by the reason.
type LeftOut = BTreeMap<&'static str, Vec<String>>;

/// The runs of one case, each with its file.
struct CaseGroup<'a> {
    origin: Origin<'a>,
    runs: Vec<(&'a TranscriptFile, &'a Transcript)>,
}

fn place_of(file: &TranscriptFile, run: &Transcript) -> String {
    format!("{}:{}", file.source.file, file.source.line(run.at))
}

/// Why no case can be made of a run.
fn unusable(run: &Transcript) -> Option<&'static str> {
    if run.instructed.is_some() {
        Some("with a system message after the first user message")
    } else if run.interjected.is_some() && run.turns.is_empty() {
        Some("whose turns are not known")
    } else if run.ending != Ending::Completed {
        Some("that did not complete")
    } else if run.messages().is_empty() {
        Some("without a user's message")
    } else {
        None
    }
}

/// Reads files and folders of any format.
fn transcripts(from: &[String], world: &World) -> Result<TranscriptFiles, CliError> {
    let reading = TranscriptReading {
        unanswered: UnansweredFile::LeftOut,
        ..TranscriptReading::default()
    };
    read_transcript_files(from, reading, world)
}

/// The example of a new repository.
fn example() -> Result<TranscriptFiles, CliError> {
    let source = SourceText::from_text(RepoPath::root().below("example.json"), EXAMPLE.to_owned());
    let file = parsed(&source)?;
    let form = file.format().unwrap_or(Format::OpenAi);
    let AnsweredRuns { runs, unanswered } =
        read_answered_runs(&source, &file, form, hints(None, None))?;
    drop(file);
    let example = TranscriptFile {
        name: source.file.name().to_owned(),
        source,
        form,
        runs,
        cases: Vec::new(),
        unanswered,
    };
    Ok(TranscriptFiles {
        files: vec![example],
        records: Vec::new(),
        skipped: Vec::new(),
    })
}

/// A conversation for a first look.
const EXAMPLE: &str = include_str!("init/example.json");

/// The file of all cases.
#[derive(Serialize)]
struct CasesDocument<'a> {
    cases: Vec<AnyCase<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnyCase<'a> {
    Taken(&'a Value),
    Proposed(&'a ProposedCase),
}

fn cases_text(proposed: &ProposedCases) -> Result<String, CliError> {
    let taken = proposed.taken.iter().map(AnyCase::Taken);
    let cases = taken.chain(proposed.cases.iter().map(AnyCase::Proposed));
    let document = CasesDocument {
        cases: cases.collect(),
    };
    let text = serde_json::to_string_pretty(&document).map_err(anyhow::Error::from)?;
    Ok(format!("{text}\n"))
}

/// The files to write, by path.
fn texts(
    args: &InitArgs,
    agent: &AgentName,
    proposed: &ProposedCases,
    transcripts: &[TranscriptFile],
) -> Result<Vec<(&'static str, String)>, CliError> {
    let schema = serde_json::to_string_pretty(&config_schema()).map_err(anyhow::Error::from)?;
    let mut texts = vec![
        (CASES, cases_text(proposed)?),
        (".goldgate/.gitignore", "# What goldgate writes here is not committed, except the schema.\n*\n!.gitignore\n!schemas/\n!schemas/**\n".to_owned()),
        (SCHEMA, format!("{schema}\n")),
    ];
    if !args.no_workflow {
        let action = args
            .action
            .as_deref()
            .map_or(WORKFLOW_TEXT.to_owned(), |action| {
                WORKFLOW_TEXT.replace(UNNAMED_ACTION, action)
            });
        texts.push((WORKFLOW, action));
    }
    // The config is the last: where it is, the cases that it names were written.
    let answers = proposed.answers(transcripts);
    texts.push((CONFIG, config(args, agent, answers)?));
    Ok(texts)
}

fn config(args: &InitArgs, agent: &AgentName, answers: SampleAnswers) -> Result<String, CliError> {
    let fingerprint = if args.files.is_empty() {
        "{ none: the files of the agent are not named yet }".to_owned()
    } else {
        serde_json::to_string(&args.files).map_err(anyhow::Error::from)?
    };
    let steady = match answers {
        SampleAnswers::Alike => {
            "    # Each sample of a case gave the same answer, so every newly failing case is a change.\n    no_newly_failing: true\n"
        }
        SampleAnswers::Different => "",
    };
    Ok(format!(
        "# yaml-language-server: $schema={SCHEMA}\n\
         version: 1\n\
         baseline: baselines/latest.json\n\
         suites:\n\
         \x20 - id: answers\n\
         \x20   kind: tool_use\n\
         \x20   policy: regression\n\
         {steady}\
         \x20   path: {CASES}\n\
         \x20   agents:\n\
         \x20     {agent}:\n\
         \x20       deterministic: {{ replay: {RUNS} }}\n\
         \x20       # The prompts, tools and sources of the agent, such as ['prompts/**']: when they change, its recordings are out of date.\n\
         \x20       fingerprint: {fingerprint}\n"
    ))
}

/// The config, the cases and the recordings must be new; other files stay if they exist.
fn refuse_existing(disk: &Disk) -> Result<(), CliError> {
    let mut problems = Diagnostics::default();
    for path in [CONFIG, CASES, RUNS]
        .into_iter()
        .filter(|path| is_there(disk, path))
    {
        let help = "init replaces nothing: add conversations with `goldgate import PATH… --out golden/runs --agent NAME --new-cases`, or remove it to start again";
        problems.push(Diagnostic::of_file(
            path,
            Code::WOULD_OVERWRITE,
            "this already exists",
            help,
        ));
    }
    Ok(problems.or(())?)
}

/// Refuses patterns of `--files` that match nothing: there would be no verdict until they are corrected.
fn refuse_unmatched(disk: &Disk, patterns: &[String]) -> Result<(), CliError> {
    let mut problems = Diagnostics::default();
    for pattern in patterns {
        match PathGlob::new(&RepoPath::root(), pattern) {
            Err(bad) => {
                let help = "write a pattern such as prompts/**";
                problems.push(Diagnostic::of_command_line(
                    Code::BAD_GLOB,
                    format!("--files {pattern:?} {bad}"),
                    help,
                ));
            }
            Ok(glob)
                if !files_below(disk, glob.folder())?
                    .values()
                    .any(|file| glob.matches(file)) =>
            {
                let message = format!("--files {pattern:?} matches no file");
                let folder = RepoPath::root()
                    .join(pattern)
                    .ok()
                    .filter(|folder| disk.list(folder).is_ok());
                let help = match folder {
                    Some(_) => format!(
                        "write {:?} for the files in this folder",
                        format!("{}/**", pattern.trim_end_matches('/'))
                    ),
                    None => {
                        "correct it, or leave --files out and name the files in the config later"
                            .to_owned()
                    }
                };
                problems.push(Diagnostic::of_command_line(
                    Code::NOTHING_SELECTED,
                    message,
                    help,
                ));
            }
            Ok(_) => {}
        }
    }
    Ok(problems.or(())?)
}

fn is_there(disk: &Disk, path: &str) -> bool {
    disk.holds(&RepoPath::root().below(path)) || disk.list(&RepoPath::root().below(path)).is_ok()
}
