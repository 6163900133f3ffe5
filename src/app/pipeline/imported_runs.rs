//! Writes the runs of transcripts as recordings.

mod digests;
mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use self::digests::{ComparedMessages, Digests};
pub use self::place::{ExistingRecordings, ImportedRun, RecordingsPlace, SHOWN};
use crate::app::cli_error::CliError;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Entry, EntryKind, Files};
use crate::format::recording_layout::{RecordingPaths, sample_number};
use crate::format::redact::redacted_record;
use crate::format::run_v1;
use crate::model::{AgentName, CaseId, InputLimit, RepoPath};
use crate::suites::are_same_texts;
use crate::text::line;
use crate::world::{Disk, NoFile, RecordingFiles, RecordingSet, World};

/// The runs by agent and case, in order.
pub type NamedRuns<'a> = BTreeMap<(AgentName, CaseId), Vec<ImportedRun<'a>>>;

/// Writes the recordings of named runs, and returns their paths: all of them, or none.
///
/// # Errors
/// Existing recordings, or runs that do not belong to their cases.
pub fn write_recordings(
    place: &RecordingsPlace<'_>,
    named: &NamedRuns<'_>,
    world: &World,
) -> Result<Vec<String>, CliError> {
    let digests = Digests::open(place, world)?;
    let redactor = world.redactor();
    let folder = Disk::create(Path::new(place.out))?;
    let mut problems = Diagnostics::default();
    let (mut recordings, mut unknown) = (Vec::new(), BTreeSet::new());
    for ((agent, case), runs) in named {
        problems.keep_all(same_input(
            case,
            runs,
            digests.compared_messages(agent, case),
        ));
        let destination = RecordingDestination {
            out: place.out,
            folder: &folder,
            paths: RecordingPaths::new(&RepoPath::root(), agent, case),
        };
        let paths = destination.checked_paths(runs.len(), place.existing);
        let mut texts = Vec::new();
        for (path, (sample, run)) in problems
            .keep_all(paths)
            .unwrap_or_default()
            .into_iter()
            .zip((0_u32..).zip(runs))
        {
            let mut record = run
                .run
                .record(run.form, agent.clone(), case.clone(), sample);
            if let Some(note) = problems.keep_all(digests.add(&mut record, run, place.existing)) {
                unknown.extend(note);
            }
            let record = redacted_record(record, &redactor);
            texts.push((sample, path, run_v1::written(&record)));
        }
        recordings.push((destination.paths, texts));
    }
    problems.or(())?;
    let sets: Vec<RecordingSet<'_>> = recordings
        .iter()
        .map(|(paths, texts)| set(paths, texts))
        .collect();
    folder.swap(&sets)?;
    let (around, out) = Disk::around(Path::new(place.out))?;
    let files = recordings
        .iter()
        .map(|(paths, _)| out.below(paths.single().as_str()));
    around
        .ignored_note(files)
        .iter()
        .for_each(|note| world.tell(note));
    unknown.iter().for_each(|note| world.tell(note));
    digests.tell_unread(named.keys().map(|(agent, _)| agent), world);
    let texts = recordings.iter().flat_map(|(_, texts)| texts);
    Ok(texts
        .map(|(_, path, _)| display_path(place.out, path))
        .collect())
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
    for other in rest {
        let (asked, asks) = (first.run.messages(), other.run.messages());
        let (asked, asks) = (compared.of(&asked), compared.of(&asks));
        if !asked.is_empty() && !asks.is_empty() && !are_same_texts(asked, asks) {
            let (asked, asks) = (asked.join(" / "), asks.join(" / "));
            let what = format!(
                "this conversation asks {:?}, but the first one for the case \"{case}\" asks {:?}: they are not samples of one case",
                line(&asks, SHOWN),
                line(&asked, SHOWN)
            );
            let help = "name each case: leave --case out, and name the key of the case with --case-key PATH";
            problems.push(
                other
                    .source
                    .problem(other.run.at, Code::DIFFERENT_INPUTS, what, help),
            );
        }
    }
    problems.or(())
}

/// Returns the recordings of one case as a set, which replaces the old ones at once.
fn set<'a>(paths: &RecordingPaths, texts: &'a [(u32, RepoPath, String)]) -> RecordingSet<'a> {
    let files = match texts {
        [(_, _, text)] => RecordingFiles::Single(text.as_bytes()),
        texts => RecordingFiles::Several(
            texts
                .iter()
                .map(|(sample, _, text)| (*sample, text.as_bytes()))
                .collect(),
        ),
    };
    RecordingSet {
        paths: paths.clone(),
        files,
    }
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
    /// Returns the paths to write: one file for one sample, a folder for several. Existing recordings that would be overwritten or mixed
    /// with new ones are errors.
    fn checked_paths(
        &self,
        samples: usize,
        existing: ExistingRecordings,
    ) -> Result<Vec<RepoPath>, Diagnostics> {
        let (file, inner) = (self.paths.single(), self.paths.folder());
        let alone = samples == 1;
        let numbered = (0_u32..)
            .take(samples)
            .map(|sample| self.paths.sample(sample));
        let paths: Vec<RepoPath> = if alone {
            vec![file.clone()]
        } else {
            numbered.collect()
        };
        let mut problems = Diagnostics::default();
        if samples > MOST_SAMPLES {
            let what =
                format!("this case has {samples} samples; a run grades at most {MOST_SAMPLES}");
            problems.push(self.problem(
                &inner,
                Code::TOO_MANY_SAMPLES,
                &what,
                "split the file, or add a case id to each run",
            ));
            return problems.or(paths);
        }
        if existing == ExistingRecordings::Replaced {
            // The new set takes the place of every recording of the case, in both layouts, and of nothing else.
            let there = self.folder.list(&inner).unwrap_or_default();
            for other in there
                .iter()
                .filter(|entry| sample_number(&entry.name).is_none())
            {
                let what = "this is not a recording, and it would be lost with the old ones";
                problems.push(self.problem(
                    &inner.child(&other.name),
                    Code::OTHER_SAMPLES,
                    what,
                    "move it elsewhere",
                ));
            }
            return problems.or(paths);
        }
        let (other, kind) = if alone {
            (&inner, EntryKind::Folder)
        } else {
            (&file, EntryKind::File)
        };
        let other_layout = Entry {
            name: other.name().to_owned(),
            kind,
        };
        if self
            .folder
            .list(self.paths.agent_folder())
            .unwrap_or_default()
            .contains(&other_layout)
        {
            let what = "the case already has recordings in the other layout: one file for one sample, a folder for several";
            problems.push(self.problem(
                other,
                Code::OTHER_FORM,
                what,
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
            .filter(|path| !paths.contains(path))
        {
            let what = "this sample would be mixed with the new ones";
            problems.push(self.problem(
                &more,
                Code::OTHER_SAMPLES,
                what,
                "use --force to replace it, or another --out",
            ));
        }
        for path in paths
            .iter()
            .filter(|path| self.folder.read(path) != Err(NoFile::Missing))
        {
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
