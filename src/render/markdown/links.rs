//! Where the names in a comment lead to.

use crate::model::PairResult;
use crate::text::encoded_path;

/// How people accept what a report shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Acceptance {
    /// The report asks nobody.
    #[default]
    Unasked,
    /// It is pushed first, so that a workflow shows it.
    PushedFirst,
    /// Somebody adds a label.
    Label {
        /// The label.
        name: String,
        /// The line with a reason to copy, if a worse number needs one.
        reason: Option<&'static str>,
    },
}

/// Links to more information.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// The address of a file of the repository at the head commit, without the file: `https://…/blob/SHA`.
    pub files: Option<String>,
    /// The address of the run.
    pub run: Option<String>,
    /// How people accept what the report shows.
    pub acceptance: Acceptance,
}

impl Links {
    /// The label that accepts what the report shows, if it asks for one.
    pub fn label(&self) -> Option<&str> {
        match &self.acceptance {
            Acceptance::Label { name, .. } => Some(name),
            Acceptance::Unasked | Acceptance::PushedFirst => None,
        }
    }

    /// A link to the recording of a case, to be put behind its name; empty if there is none.
    pub fn recording(&self, case: Option<&PairResult>) -> String {
        match (&self.files, case.and_then(|case| case.recording.as_ref())) {
            (Some(address), Some(path)) => {
                format!(" ([recording]({address}/{}))", encoded_path(path.as_str()))
            }
            (_, _) => String::new(),
        }
    }
}
