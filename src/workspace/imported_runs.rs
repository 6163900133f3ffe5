//! Writes the runs of transcripts, and run records, as recordings.

mod digests;
mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use self::digests::{ComparedMessages, Digests, StampedRecord, StatedDigests};
pub use self::place::{
    CaseRuns, ExistingRecordings, ImportedRun, NamedRuns, RecordingsPlace, SHOWN, SamplesOfCase,
    import_arguments,
};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::evaluation::recorded_agents::with_other_digests;
use crate::files::{Entry, EntryKind, Files};
use crate::format::recording_layout::{RecordingPaths, sample_number};
use crate::format::redact::redacted_record;
use crate::format::run_v1;
use crate::format::transcript::run_record;
use crate::model::{AgentName, CaseId, InputLimit, RepoPath};
use crate::render::{CliError, plural};
use crate::suites::are_same_texts;
use crate::text::{Redactor, first_of, line};
use crate::world::{Disk, NoFile, RecordingFiles, RecordingSet, World};

/// Writes the recordings of named runs, and returns the paths of those that it wrote: all of them, or none. A recording that is there with
/// the same content stays unchanged.
///
/// # Errors
/// Existing recordings with other content, or runs that do not belong to their cases.
pub fn write_recordings(
    place: &RecordingsPlace<'_>,
    named: &NamedRuns<'_>,
    world: &World,
) -> Result<Vec<String>, CliError> {
    let writer = RecordingWriter {
        digests: Digests::open(place, world)?,
        folder: Disk::create(Path::new(place.out))?,
        redactor: world.redactor(),
        place,
    };
    let mut problems = Diagnostics::default();
    let mut notes = ImportNotes::default();
    let mut cases = Vec::new();
    for ((agent, case), runs) in named {
        let recordings = writer.case(agent, case, runs, &mut notes);
        cases.extend(problems.keep_all(recordings));
    }
    problems.or(())?;
    let changed: Vec<&CaseRecordings> = cases.iter().filter(|case| case.is_changed).collect();
    let sets: Vec<RecordingSet<'_>> = changed.iter().map(|case| case.set()).collect();
    writer.folder.swap(&sets)?;
    let (around, out) = Disk::around(Path::new(place.out))?;
    let files = cases
        .iter()
        .map(|case| out.below(case.paths.single().as_str()));
    around
        .ignored_note(files)
        .iter()
        .for_each(|note| world.tell(note));
    notes.tell(world);
    writer
        .digests
        .tell_unread(named.keys().map(|(agent, _)| agent), world);
    let samples = cases.iter().flat_map(|case| &case.samples);
    Ok(samples
        .filter(|sample| sample.content == SampleContent::New)
        .map(|sample| display_path(place.out, &sample.path))
        .collect())
}

/// Where a run says when it was made: then another run with the same answer has other content.
const DATES: &str = "created_at of a transcript, provenance.recorded_at of a run record";

/// What is said about recordings, each once.
#[derive(Default)]
struct ImportNotes {
    unknown: BTreeSet<String>,
    /// The recordings that keep other digests.
    other_digests: BTreeSet<String>,
    /// The recordings that were there with the same content.
    left: BTreeSet<String>,
}

impl ImportNotes {
    fn tell(&self, world: &World) {
        let Self {
            unknown,
            other_digests,
            left,
        } = self;
        unknown.iter().for_each(|note| world.tell(note));
        if !other_digests.is_empty() {
            world.tell(&format!(
                "{}: record again, or use goldgate stamp --stale if the change cannot alter an answer",
                with_other_digests(other_digests)
            ));
        }
        if !left.is_empty() {
            let names: Vec<&String> = left.iter().collect();
            world.tell(&format!(
                "unchanged, digests too: {} with the same content ({}); if the agent ran again, write when it did: {DATES}; or say that it did: `goldgate stamp --stale`",
                plural(left.len(), "recording", "recordings"),
                first_of(&names)
            ));
        }
    }
}

/// The recordings of one case, as they will be.
struct CaseRecordings {
    paths: RecordingPaths,
    samples: Vec<SampleRecording>,
    /// Whether a file will differ.
    is_changed: bool,
}

struct SampleRecording {
    sample: u32,
    path: RepoPath,
    text: String,
    content: SampleContent,
}

/// Whether the recording was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SampleContent {
    /// With the same content.
    Same,
    /// Not, or with other content.
    New,
}

impl CaseRecordings {
    /// The recordings as a set, which replaces the old ones at once.
    fn set(&self) -> RecordingSet<'_> {
        let files = match self.samples.as_slice() {
            [only] => RecordingFiles::Single(only.text.as_bytes()),
            several => RecordingFiles::Several(
                several
                    .iter()
                    .map(|sample| (sample.sample, sample.text.as_bytes()))
                    .collect(),
            ),
        };
        RecordingSet {
            paths: self.paths.clone(),
            files,
        }
    }
}

struct RecordingWriter<'a> {
    digests: Digests,
    folder: Disk,
    redactor: Redactor,
    place: &'a RecordingsPlace<'a>,
}

impl RecordingWriter<'_> {
    /// The recordings of one case.
    fn case(
        &self,
        agent: &AgentName,
        case: &CaseId,
        runs: &CaseRuns<'_>,
        notes: &mut ImportNotes,
    ) -> Result<CaseRecordings, Diagnostics> {
        let mut problems = Diagnostics::default();
        if self.place.samples == SamplesOfCase::SameMessages {
            let compared = self.digests.compared_messages(agent, case);
            problems.keep_all(same_input(case, &runs.transcripts, compared));
        }
        let destination = RecordingDestination {
            out: self.place.out,
            folder: &self.folder,
            paths: RecordingPaths::new(&RepoPath::root(), agent, case),
        };
        let Some(paths) = problems.keep(destination.paths_of_samples(runs.len())) else {
            return Err(problems);
        };
        let texts = problems.keep_all(self.texts(agent, case, runs, notes));
        let old = problems.keep(destination.old_texts());
        let Some((texts, old)) = texts.zip(old) else {
            return Err(problems);
        };
        let mut samples = Vec::new();
        for (path, (sample, stamped)) in paths.into_iter().zip((0_u32..).zip(texts)) {
            let same = old.get(&sample).filter(|(_, old)| {
                run_v1::content(old).is_some_and(|old| Some(old) == run_v1::content(&stamped.text))
            });
            let shown = display_path(self.place.out, &path);
            let (text, content) = match same {
                Some((_, old)) => {
                    notes.left.insert(shown);
                    (old.clone(), SampleContent::Same)
                }
                None => {
                    if stamped.states == StatedDigests::Other {
                        notes.other_digests.insert(shown);
                    }
                    (stamped.text, SampleContent::New)
                }
            };
            samples.push(SampleRecording {
                sample,
                path,
                text,
                content,
            });
        }
        problems.keep_all(destination.refuse_losses(&samples, self.place.existing));
        let are_there = samples.iter().all(|recording| {
            recording.content == SampleContent::Same
                && old
                    .get(&recording.sample)
                    .is_some_and(|(path, _)| *path == recording.path)
        });
        let is_changed = old.len() != samples.len() || !are_there;
        problems.or(CaseRecordings {
            paths: destination.paths,
            samples,
            is_changed,
        })
    }

    /// The texts of the samples of a case with their digests, in order.
    fn texts(
        &self,
        agent: &AgentName,
        case: &CaseId,
        runs: &CaseRuns<'_>,
        notes: &mut ImportNotes,
    ) -> Result<Vec<StampedRecord>, Diagnostics> {
        let mut problems = Diagnostics::default();
        let mut texts = Vec::new();
        let mut samples = 0_u32..;
        for (run, sample) in runs.transcripts.iter().zip(&mut samples) {
            let mut record = run_record(run.run, run.form, agent.clone(), case.clone(), sample);
            record.provenance.arguments = self.place.arguments.clone();
            let note = self.digests.add(&mut record, run, self.place);
            notes.unknown.extend(problems.keep_all(note).flatten());
            let record = redacted_record(record, &self.redactor);
            texts.push(StampedRecord::current(run_v1::written(&record)));
        }
        let mut records = runs.records.clone();
        records.sort_by_key(|record| record.sample());
        for (record, sample) in records.into_iter().zip(samples) {
            let text = record.text_for(agent, case, sample);
            let stamped = problems.keep(self.digests.stamp(text, agent, case));
            let Some(stamped) = stamped else { continue };
            notes.unknown.extend(stamped.note.clone());
            texts.push(stamped);
        }
        problems.or(texts)
    }
}

/// Checks that all runs of a case answer the same input: only then are they its samples.
fn same_input(
    case: &CaseId,
    runs: &[ImportedRun<'_>],
    compared: ComparedMessages,
) -> Result<(), Diagnostics> {
    let Some((first, rest)) = runs.split_first() else {
        return Ok(());
    };
    let mut problems = Diagnostics::default();
    for later in rest {
        let (asked, asks) = (first.run.messages(), later.run.messages());
        let (asked, asks) = (compared.of(&asked), compared.of(&asks));
        if !asked.is_empty() && !asks.is_empty() && !are_same_texts(asked, asks) {
            let (asked, asks) = (asked.join(" / "), asks.join(" / "));
            let message = format!(
                "this conversation asks {:?}, but the first one for the case \"{case}\" asks {:?}: they are not samples of one case",
                line(&asks, SHOWN),
                line(&asked, SHOWN)
            );
            let help = "name each case: leave --case out, and name the key of the case with --case-key PATH";
            problems.push(later.source.problem(
                later.run.at,
                Code::DIFFERENT_INPUTS,
                message,
                help,
            ));
        }
    }
    problems.or(())
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
    paths: RecordingPaths,
}

impl RecordingDestination<'_> {
    /// The paths to write: one file for one sample, a folder for several.
    ///
    /// # Errors
    /// More samples than a run grades.
    fn paths_of_samples(&self, samples: usize) -> Result<Vec<RepoPath>, Diagnostic> {
        if samples > MOST_SAMPLES {
            let message =
                format!("this case has {samples} samples; a run grades at most {MOST_SAMPLES}");
            let help = "split the file, or add a case id to each run";
            let folder = self.paths.folder();
            return Err(self.problem(&folder, Code::TOO_MANY_SAMPLES, &message, help));
        }
        if samples == 1 {
            return Ok(vec![self.paths.single()]);
        }
        let numbers = (0_u32..).take(samples);
        Ok(numbers.map(|sample| self.paths.sample(sample)).collect())
    }

    /// The recordings that are there, in both layouts. One that cannot be read has no content.
    ///
    /// # Errors
    /// A folder that cannot be listed.
    fn old_texts(&self) -> Result<BTreeMap<u32, (RepoPath, String)>, Diagnostic> {
        let mut texts = BTreeMap::new();
        for (sample, path) in self.paths.list(self.folder)? {
            let text = self.folder.text(&path).map(|source| source.text);
            texts.insert(sample, (path, text.unwrap_or_default()));
        }
        Ok(texts)
    }

    /// Refuses that existing recordings are overwritten or mixed with new ones.
    fn refuse_losses(
        &self,
        samples: &[SampleRecording],
        existing: ExistingRecordings,
    ) -> Result<(), Diagnostics> {
        let (file, inner) = (self.paths.single(), self.paths.folder());
        let alone = samples.len() == 1;
        let mut problems = Diagnostics::default();
        if existing == ExistingRecordings::Replaced {
            // The new set takes the place of every recording of the case, in both layouts, and of nothing else.
            let there = self.folder.list(&inner).unwrap_or_default();
            for entry in there
                .iter()
                .filter(|entry| sample_number(&entry.name).is_none())
            {
                let message = "this is not a recording, and it would be lost with the old ones";
                problems.push(self.problem(
                    &inner.child(&entry.name),
                    Code::OTHER_SAMPLES,
                    message,
                    "move it elsewhere",
                ));
            }
            return problems.or(());
        }
        let (other_path, kind) = if alone {
            (&inner, EntryKind::Folder)
        } else {
            (&file, EntryKind::File)
        };
        let other_layout = Entry {
            name: other_path.name().to_owned(),
            kind,
        };
        if self
            .folder
            .list(self.paths.agent_folder())
            .unwrap_or_default()
            .contains(&other_layout)
        {
            let message = "the case already has recordings in the other layout: one file for one sample, a folder for several";
            problems.push(self.problem(
                other_path,
                Code::OTHER_FORM,
                message,
                "use --force to replace it, or another --out",
            ));
        }
        let there = if alone {
            Vec::new()
        } else {
            self.folder.list(&inner).unwrap_or_default()
        };
        for more in there
            .iter()
            .map(|entry| inner.child(&entry.name))
            .filter(|path| samples.iter().all(|sample| sample.path != *path))
        {
            let message = "this sample would be mixed with the new ones";
            problems.push(self.problem(
                &more,
                Code::OTHER_SAMPLES,
                message,
                "use --force to replace it, or another --out",
            ));
        }
        for sample in samples {
            if sample.content == SampleContent::New
                && self.folder.read(&sample.path) != Err(NoFile::Missing)
            {
                problems.push(self.problem(
                    &sample.path,
                    Code::WOULD_OVERWRITE,
                    "this recording already exists",
                    "use --force to replace it, or another --out",
                ));
            }
        }
        problems.or(())
    }

    fn problem(&self, path: &RepoPath, code: Code, message: &str, help: &str) -> Diagnostic {
        Diagnostic::of_file(display_path(self.out, path), code, message, help)
    }
}
