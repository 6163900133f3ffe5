//! `fingerprint:` of an agent: the files that a recording is of.

use super::Reader;
use super::form::StaleForm;
use crate::format::yaml::Step::At;
use crate::format::yaml::Step::Key;
use crate::model::PathGlob;
use crate::model::Stale;

impl Reader<'_> {
    pub(super) fn fingerprint(&mut self, index: usize, name: &str, patterns: Option<Vec<String>>) -> Vec<PathGlob> {
        let base = [Key("suites"), At(index), Key("agents"), Key(name), Key("fingerprint")];
        let Some(patterns) = patterns else { return Vec::new() };
        if patterns.is_empty() {
            self.refuse(&base, "empty-list", "the list of patterns is empty", "name files, or leave fingerprint out");
        }
        let mut globs = Vec::new();
        for (place, text) in patterns.iter().enumerate() {
            match PathGlob::new(&self.folder, text) {
                Ok(glob) => globs.push(glob),
                Err(why) => {
                    let help = "write a pattern of files inside the repository, such as prompts/**/*.md";
                    self.refuse(&[&base[..], &[At(place)]].concat(), "bad-glob", format!("{text:?} {why}"), help);
                }
            }
        }
        globs
    }

    pub(super) fn stale(&mut self, index: usize, name: &str, globs: &[PathGlob], form: Option<StaleForm>) -> Stale {
        if form.is_some() && globs.is_empty() {
            let at = [Key("suites"), At(index), Key("agents"), Key(name), Key("stale")];
            let help = "name the agent's files in fingerprint, or remove stale";
            self.refuse(&at, "no-effect", "without a fingerprint no recording can be told to be stale", help);
        }
        match form {
            None | Some(StaleForm::Fail) => Stale::Refused,
            Some(StaleForm::Warn) => Stale::Told,
        }
    }
}
