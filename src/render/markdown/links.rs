//! Where the names in a comment lead to.

use crate::model::PairResult;
use crate::text::encoded_path;

/// Links to more information.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// The address of a file of the repository at the head commit, without the file: `https://…/blob/SHA`.
    pub files: Option<String>,
    /// The address of the run.
    pub run: Option<String>,
    /// The label that approves moved numbers.
    pub label: Option<String>,
    /// The line that gives the reason for a worse number, if one is needed.
    pub reason: Option<&'static str>,
}

impl Links {
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
