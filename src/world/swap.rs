//! Replaces sets of files atomically: writes everything new to disk, then renames, then removes what is left over. After an
//! interruption each set is complete: either the old one or the new one.

use std::panic::resume_unwind;
use std::{io, thread};

use anyhow::Context;

use super::disk::Disk;
use super::draft_name::draft_file;
use super::limited_writer::beyond;
use crate::format::recording_layout::{RecordingPaths, sample_name};
use crate::model::{InputLimit, RepoPath};

/// The new recordings of a case. They replace the old ones in both layouts.
pub struct RecordingSet<'a> {
    /// Where they are.
    pub paths: RecordingPaths,
    pub files: RecordingFiles<'a>,
}

impl RecordingSet<'_> {
    /// Refuses a file that goldgate would not read again.
    fn ensure_readable(&self, disk: &Disk) -> anyhow::Result<()> {
        let longest = match &self.files {
            RecordingFiles::Single(bytes) => bytes.len(),
            RecordingFiles::Several(files) => files
                .iter()
                .map(|(_, bytes)| bytes.len())
                .max()
                .unwrap_or(0),
        };
        let limit = &InputLimit::FILE;
        if limit.is_exceeded_by(longest) {
            let set = disk.shown(&self.paths.folder());
            return Err(beyond(limit)).with_context(|| format!("while writing {set}"));
        }
        Ok(())
    }
}

pub enum RecordingFiles<'a> {
    Single(&'a [u8]),
    /// A folder with a file for each sample.
    Several(Vec<(u32, &'a [u8])>),
}

impl RecordingFiles<'_> {
    pub fn count(&self) -> usize {
        match self {
            Self::Single(_) => 1,
            Self::Several(files) => files.len(),
        }
    }
}

/// One step of a swap. Drafts may be below another root than the files.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SwapStep<'a> {
    DraftFolder(RepoPath),
    /// Write a draft, and wait until it is on disk.
    Draft(RepoPath, &'a [u8]),
    /// Wait until the names of drafts are on disk.
    SyncDrafts(RepoPath),
    Folder(RepoPath),
    /// Rename the draft to the name; an existing folder of that name may take the draft's name.
    Put(RepoPath, RepoPath),
    /// Wait until the names in a folder are on disk.
    Sync(RepoPath),
    /// Remove a file or a folder.
    Remove(RepoPath),
}

/// All steps, in an order that changes no existing file before everything new is on disk.
struct SwapSteps<'a> {
    /// The drafts of each set, which do not depend on those of others.
    drafts: Vec<Vec<SwapStep<'a>>>,
    /// What follows once all drafts are written, in order.
    swap: Vec<SwapStep<'a>>,
}

fn steps<'a>(sets: &[RecordingSet<'a>], drafts: &RepoPath) -> SwapSteps<'a> {
    let mut all_drafts = Vec::new();
    let (mut puts, mut removes, mut folders) = (Vec::new(), Vec::new(), Vec::new());
    for (number, set) in sets.iter().enumerate() {
        let (draft, mut steps) = (drafts.child(&number.to_string()), Vec::new());
        let (single, folder) = (set.paths.single(), set.paths.folder());
        match &set.files {
            RecordingFiles::Single(bytes) => {
                steps.push(SwapStep::Draft(draft.clone(), bytes));
                puts.push(SwapStep::Put(draft, single));
                removes.push(SwapStep::Remove(folder));
            }
            RecordingFiles::Several(files) => {
                steps.push(SwapStep::DraftFolder(draft.clone()));
                steps.extend(files.iter().map(|(sample, bytes)| {
                    SwapStep::Draft(draft.child(&sample_name(*sample)), bytes)
                }));
                steps.push(SwapStep::SyncDrafts(draft.clone()));
                puts.push(SwapStep::Put(draft, folder));
                removes.push(SwapStep::Remove(single));
            }
        }
        all_drafts.push(steps);
        if !folders.contains(set.paths.agent_folder()) {
            folders.push(set.paths.agent_folder().clone());
        }
    }
    let mut swap = vec![SwapStep::SyncDrafts(drafts.clone())];
    swap.extend(folders.iter().cloned().map(SwapStep::Folder));
    swap.extend(puts);
    swap.extend(folders.iter().cloned().map(SwapStep::Sync));
    swap.extend(removes);
    SwapSteps {
        drafts: all_drafts,
        swap,
    }
}

/// How many drafts are written at a time: most of the time goes into waiting for the disk.
const WRITERS: usize = 8;

impl Disk {
    /// Replaces sets of files; no old file changes before all new ones are on disk.
    ///
    /// # Errors
    /// Why it failed. Every set is then either the old one or the new one.
    pub fn swap(&self, sets: &[RecordingSet<'_>]) -> anyhow::Result<()> {
        if sets.is_empty() {
            return Ok(());
        }
        sets.iter().try_for_each(|set| set.ensure_readable(self))?;
        let (home, drafts) = self.draft().context("while writing recordings")?;
        match self.swap_by(home, &drafts, sets) {
            // The folder of drafts is on another device. No existing file has changed yet.
            Err(error) if error.root_cause().downcast_ref().is_some_and(is_elsewhere) => {
                self.swap_by(self, &RepoPath::root().child(&draft_file()), sets)
            }
            result => result,
        }
    }

    fn swap_by(
        &self,
        home: &Self,
        drafts: &RepoPath,
        sets: &[RecordingSet<'_>],
    ) -> anyhow::Result<()> {
        let steps = steps(sets, drafts);
        let done = self
            .step(home, &SwapStep::DraftFolder(drafts.clone()))
            .and_then(|()| self.write_drafts(home, &steps.drafts))
            .and_then(|()| steps.swap.iter().try_for_each(|step| self.step(home, step)));
        // Remaining drafts are useless.
        let _ = home.remove(drafts);
        done
    }

    /// Writes the drafts of all sets. Of several failures the first set's counts.
    fn write_drafts(&self, home: &Self, drafts: &[Vec<SwapStep<'_>>]) -> anyhow::Result<()> {
        let share = drafts.len().div_ceil(WRITERS).max(1);
        thread::scope(|scope| {
            let writers: Vec<_> = drafts
                .chunks(share)
                .map(|share| {
                    scope.spawn(move || {
                        let mut steps = share.iter().flatten();
                        steps.try_for_each(|step| self.step(home, step))
                    })
                })
                .collect();
            let mut done = writers
                .into_iter()
                .map(|writer| writer.join().unwrap_or_else(|panic| resume_unwind(panic)));
            done.find(anyhow::Result::is_err).unwrap_or(Ok(()))
        })
    }

    fn step(&self, home: &Self, step: &SwapStep<'_>) -> anyhow::Result<()> {
        match step {
            SwapStep::DraftFolder(folder) => home
                .make_folder(folder)
                .with_context(|| writing(home, folder)),
            SwapStep::Draft(file, bytes) => home
                .write_new(file, &|out| out.write_all(bytes))
                .with_context(|| writing(home, file)),
            SwapStep::SyncDrafts(folder) => home
                .sync_folder(folder)
                .with_context(|| writing(home, folder)),
            SwapStep::Folder(folder) => self
                .make_folder(folder)
                .with_context(|| writing(self, folder)),
            SwapStep::Put(draft, name) => self
                .swap_in(home, draft, name)
                .with_context(|| writing(self, name)),
            SwapStep::Sync(folder) => self
                .sync_folder(folder)
                .with_context(|| writing(self, folder)),
            SwapStep::Remove(path) => self.remove(path),
        }
    }

    /// Renames the draft. If the name is an existing folder, both are exchanged in one step where the system supports it.
    fn swap_in(&self, home: &Self, draft: &RepoPath, name: &RepoPath) -> io::Result<()> {
        let (old, new) = (draft.as_str(), name.as_str());
        let is_folder = home.root.symlink_metadata(old)?.is_dir();
        let is_taken = self
            .root
            .symlink_metadata(new)
            .is_ok_and(|metadata| metadata.is_dir());
        if !(is_folder && is_taken) {
            return home.root.rename(old, &self.root, new);
        }
        #[cfg(target_os = "linux")]
        if rustix::fs::renameat_with(
            &home.root,
            old,
            &self.root,
            new,
            rustix::fs::RenameFlags::EXCHANGE,
        )
        .is_ok()
        {
            return Ok(());
        }
        self.one_by_one(home, draft, name)
    }

    /// Renames each file over its counterpart, then removes the files without one.
    fn one_by_one(&self, home: &Self, draft: &RepoPath, name: &RepoPath) -> io::Result<()> {
        let new = file_names(home, draft)?;
        for file in &new {
            home.root.rename(
                draft.child(file).as_str(),
                &self.root,
                name.child(file).as_str(),
            )?;
        }
        for old in file_names(self, name)?
            .iter()
            .filter(|old| !new.contains(old))
        {
            self.root.remove_file(name.child(old).as_str())?;
        }
        Ok(())
    }
}

fn writing(disk: &Disk, path: &RepoPath) -> String {
    format!("while writing {}", disk.shown(path))
}

fn file_names(disk: &Disk, folder: &RepoPath) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in disk.root.read_dir(folder.as_str())? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

fn is_elsewhere(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::CrossesDevices
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{RecordingFiles, RecordingSet, SwapStep, SwapSteps, steps};
    use crate::format::recording_layout::RecordingPaths;
    use crate::model::RepoPath;
    use crate::world::Disk;

    fn set<'a>(name: &str, files: RecordingFiles<'a>) -> RecordingSet<'a> {
        RecordingSet {
            paths: RecordingPaths::in_agent_folder(
                RepoPath::root().child("runs").child("legal"),
                name,
            ),
            files,
        }
    }

    /// The files of a set on disk.
    fn found(root: &Path, name: &str) -> Vec<(String, String)> {
        let folder = root.join("runs/legal");
        let mut files = Vec::new();
        if let Ok(text) = std::fs::read_to_string(folder.join(format!("{name}.json"))) {
            files.push(("single".to_owned(), text));
        }
        for entry in std::fs::read_dir(folder.join(name))
            .into_iter()
            .flatten()
            .flatten()
        {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            files.push((entry.file_name().into_string().unwrap(), text));
        }
        files.sort();
        files
    }

    fn old(root: &Path) {
        let folder = root.join("runs/legal");
        std::fs::create_dir_all(folder.join("several")).unwrap();
        for number in 0..3 {
            std::fs::write(folder.join(format!("several/{number}.json")), "old").unwrap();
        }
        std::fs::write(folder.join("single.json"), "old").unwrap();
        std::fs::write(folder.join("becomes-several.json"), "old").unwrap();
    }

    #[test]
    fn after_an_interruption_each_set_is_complete() {
        let new: &[u8] = b"new";
        let sets = || {
            let two = || vec![(0, new), (1, new)];
            vec![
                set("several", RecordingFiles::Several(two())),
                set("single", RecordingFiles::Single(new)),
                set("becomes-several", RecordingFiles::Several(two())),
                set("fresh", RecordingFiles::Several(two())),
            ]
        };
        let drafts = RepoPath::root().child("drafts");
        let in_order = |sets: &[RecordingSet<'static>]| -> Vec<SwapStep<'static>> {
            let SwapSteps {
                drafts: of_sets,
                swap,
            } = steps(sets, &drafts);
            let folder = SwapStep::DraftFolder(drafts.clone());
            let of_sets = of_sets.into_iter().flatten();
            std::iter::once(folder).chain(of_sets).chain(swap).collect()
        };
        let all = in_order(&sets()).len();
        for end in 0..=all {
            let folder = tempfile::tempdir().unwrap();
            old(folder.path());
            let disk = Disk::open(folder.path()).unwrap();
            for step in &in_order(&sets())[..end] {
                disk.step(&disk, step).unwrap();
            }
            for (name, olds) in [("several", 3), ("single", 1), ("becomes-several", 1)] {
                let texts = found(folder.path(), name);
                let count = |wanted: &str| texts.iter().filter(|(_, text)| text == wanted).count();
                let news = if name == "single" { 1 } else { 2 };
                let (is_old, is_new) = (count("old") == olds, count("new") == news);
                assert!(
                    is_old || is_new,
                    "{name} after {end} of {all} steps: {texts:?}"
                );
            }
        }
    }

    #[test]
    fn a_file_that_could_not_be_read_again_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        old(folder.path());
        let disk = Disk::open(folder.path()).unwrap();
        let bytes = vec![b' '; 32 * 1024 * 1024 + 1];
        let sets = |bytes| {
            [
                set("single", RecordingFiles::Single(b"new")),
                set("several", RecordingFiles::Several(vec![(0, bytes)])),
            ]
        };
        let refused = disk.swap(&sets(&bytes)).unwrap_err();
        assert_eq!(
            format!("{refused:#}"),
            "while writing runs/legal/several: it is larger than 32 MiB, so goldgate could not read it again; \
             split it, or remove parts that are not graded"
        );
        assert_eq!(
            found(folder.path(), "single"),
            [("single".to_owned(), "old".to_owned())]
        );
        assert_eq!(found(folder.path(), "several").len(), 3);
        disk.swap(&sets(&bytes[1..])).unwrap();
        assert_eq!(
            found(folder.path(), "single"),
            [("single".to_owned(), "new".to_owned())]
        );
    }

    #[test]
    fn a_finished_swap_leaves_only_the_new_files() {
        let folder = tempfile::tempdir().unwrap();
        old(folder.path());
        let disk = Disk::open(folder.path()).unwrap();
        let long = "x".repeat(245);
        disk.swap(&[
            set("several", RecordingFiles::Single(b"new")),
            set(
                "becomes-several",
                RecordingFiles::Several(vec![(0, b"new")]),
            ),
            set(&long, RecordingFiles::Single(b"new")),
        ])
        .unwrap();
        let pair = |name: &str| (name.to_owned(), "new".to_owned());
        assert_eq!(found(folder.path(), "several"), [pair("single")]);
        assert_eq!(found(folder.path(), "becomes-several"), [pair("0.json")]);
        assert_eq!(found(folder.path(), &long), [pair("single")]);
        assert_eq!(
            found(folder.path(), "single"),
            [("single".to_owned(), "old".to_owned())],
            "it belongs to no set"
        );
        let names = std::fs::read_dir(folder.path().join("runs/legal"))
            .unwrap()
            .count();
        assert_eq!(names, 4, "drafts remain");
    }

    #[test]
    fn without_an_atomic_exchange_files_are_renamed_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        old(folder.path());
        std::fs::create_dir(folder.path().join("draft")).unwrap();
        std::fs::write(folder.path().join("draft/0.json"), "new").unwrap();
        let disk = Disk::open(folder.path()).unwrap();
        let several = RepoPath::root()
            .child("runs")
            .child("legal")
            .child("several");
        disk.one_by_one(&disk, &RepoPath::root().child("draft"), &several)
            .unwrap();
        assert_eq!(
            found(folder.path(), "several"),
            [("0.json".to_owned(), "new".to_owned())]
        );
    }
}
