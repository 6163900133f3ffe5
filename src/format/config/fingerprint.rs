//! Checks `fingerprint:` of an agent: the files that a recording depends on.

use super::ConfigReader;
use super::form::FingerprintForm;
use crate::diag::Code;
use crate::format::Step::{At, Key};
use crate::model::{PathGlob, RepoPath};

impl ConfigReader<'_> {
    /// The patterns, or the reason why the config gives none.
    pub(super) fn fingerprint(
        &mut self,
        index: usize,
        name: &str,
        form: Option<FingerprintForm>,
        prompt: Option<&RepoPath>,
    ) -> (Vec<PathGlob>, Option<String>) {
        let base = [
            Key("suites"),
            At(index),
            Key("agents"),
            Key(name),
            Key("fingerprint"),
        ];
        let patterns = match form {
            None => return (Vec::new(), None),
            Some(FingerprintForm::Patterns(patterns)) => patterns,
            Some(FingerprintForm::None(form)) => {
                let why = form.none.trim();
                if why.is_empty() {
                    let help = "give the reason why the agent's files are unknown, or list them: fingerprint: [prompts/**]";
                    self.refuse(
                        &[&base[..], &[Key("none")]].concat(),
                        Code::NO_REASON,
                        "the reason is empty",
                        help,
                    );
                }
                if let Some(prompt) = prompt {
                    let what = format!(
                        "fingerprint has the key none, but the agent has the prompt {prompt}"
                    );
                    self.refuse(
                        &base,
                        Code::CONTRADICTION,
                        what,
                        format!("write fingerprint: [{prompt}], or remove it"),
                    );
                }
                return (Vec::new(), Some(why.to_owned()));
            }
        };
        if patterns.is_empty() {
            self.refuse(
                &base,
                Code::EMPTY_LIST,
                "the list of patterns is empty",
                "list files, or remove fingerprint",
            );
        }
        let mut globs = Vec::new();
        for (index, text) in patterns.iter().enumerate() {
            match PathGlob::new(&self.folder, text) {
                Ok(glob) => globs.push(glob),
                Err(why) => {
                    let help =
                        "write a pattern of files inside the repository, such as prompts/**/*.md";
                    self.refuse(
                        &[&base[..], &[At(index)]].concat(),
                        Code::BAD_GLOB,
                        format!("{text:?} {why}"),
                        help,
                    );
                }
            }
        }
        (globs, None)
    }
}
