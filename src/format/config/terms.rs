//! Checks term lists, and the flags that require a term.

use std::collections::BTreeMap;

use super::ConfigReader;
use super::form::FlagForm;
use crate::format::yaml::Step::{At, Key};
use crate::model::{Flag, RepoPath};

impl ConfigReader<'_> {
    pub(super) fn named(
        &mut self,
        index: usize,
        key: &'static str,
        paths: BTreeMap<String, String>,
    ) -> BTreeMap<String, RepoPath> {
        let read = paths.into_iter().map(|(name, path)| {
            let path = self.path(&[Key("suites"), At(index), Key(key), Key(&name)], &path);
            (name, path)
        });
        read.collect()
    }

    pub(super) fn flags(&mut self, index: usize, flags: BTreeMap<String, FlagForm>) -> BTreeMap<String, Flag> {
        let read = flags.into_iter().map(|(name, FlagForm { when, terms })| {
            let at = [Key("suites"), At(index), Key("flags"), Key(&name), Key("terms")];
            let flag = Flag { when, terms: self.path(&at, &terms) };
            (name, flag)
        });
        read.collect()
    }
}
