//! Problems of golden files that are known before grading: expectations that cannot be satisfied, and unused entries.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{EntryKind, Files};
use crate::format::GoldenFormat;
use crate::model::RepoPath;

/// The findings of `goldgate check` on one suite.
#[derive(Debug, Default)]
pub struct Audit {
    /// Expectations that no answer can satisfy.
    pub problems: Diagnostics,
    /// Entries without effect.
    pub notes: Vec<Diagnostic>,
}

impl Audit {
    /// The entries of a golden folder that are not golden files.
    pub fn of_folder(files: &dyn Files, folder: &RepoPath) -> Self {
        let mut audit = Self::default();
        audit.strays(files, folder);
        audit
    }

    /// Adds an entry without effect.
    pub fn note(
        &mut self,
        file: &RepoPath,
        description: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.notes
            .push(Diagnostic::of_file(file, Code::UNUSED, description, help));
    }

    /// Reports entries of the golden folder that are not golden files.
    pub fn strays(&mut self, files: &dyn Files, folder: &RepoPath) {
        for entry in files.list(folder).unwrap_or_default() {
            let format = GoldenFormat::of_name(&entry.name).map(|(_, format)| format);
            if entry.kind != EntryKind::File || format.is_none_or(GoldenFormat::is_of_many) {
                let help = match format {
                    Some(format) if format.is_of_many() => {
                        "name it as the path of the suite, or move it elsewhere"
                    }
                    Some(_) | None => {
                        "rename it to {case}.json or {case}.yaml, or move it elsewhere"
                    }
                };
                self.note(
                    &folder.child(&entry.name),
                    "not a golden file: it is ignored",
                    help,
                );
            }
        }
    }
}
