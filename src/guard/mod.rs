//! What changed between the base commit and the head in what agents are measured with: the baseline, gates, golden files,
//! recordings. Pure: it compares two shelves and says the difference in words.

mod baseline;
mod cases;
mod edits;
mod files;
mod found;
mod gates;
mod recordings;
mod scoring;
mod seen;
mod settings;

use crate::format::SourceText;
use crate::format::config;
use crate::model::Config;
use crate::model::GoldenChange;
use crate::model::RepoPath;
use crate::suites::Shelf;

use self::found::Found;

/// The files of the base commit.
pub trait Base: Shelf {
    /// Whether the base commit's file `before` holds the same as the head's file `after`.
    fn likeness(&self, before: &RepoPath, after: &RepoPath) -> Likeness;
}

/// How a file of the base commit stands beside one of the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// They hold the same.
    Same,
    /// They differ, or one of them cannot be read.
    Differs,
}

/// The two sides of a comparison.
pub struct Sides<'a> {
    /// The files of the base commit.
    pub base: &'a dyn Base,
    /// The files of the head.
    pub head: &'a dyn Shelf,
}

/// Where people keep the config.
const USUAL: &str = "goldgate.yaml";

/// What changed, in no order: `after` is the config of the head.
pub fn changes(sides: &Sides<'_>, after: &Config) -> Vec<GoldenChange> {
    let mut found = Found::default();
    match config_before(sides.base, &after.file) {
        Ok(Some(before)) => compared(sides, &before, after, &mut found),
        Ok(None) => {
            let usual = RepoPath::root().child(USUAL);
            match after.file != usual && sides.base.bytes(&usual).is_ok() {
                true => found.needs(
                    format!("the config is {}, which the base commit does not have; its own is {usual}", after.file),
                    Some(&after.file),
                ),
                false => found.lists(
                    format!("the config {} is new: there is nothing on the base commit to compare with", after.file),
                    Some(&after.file),
                ),
            }
        }
        Err(why) => found.needs(
            format!("the config of the base commit cannot be read any more, so nothing is compared: {why}"),
            Some(&after.file),
        ),
    }
    found.all()
}

/// The config of the base commit; `None` where there is none.
fn config_before(base: &dyn Base, file: &RepoPath) -> Result<Option<Config>, String> {
    let bytes = match base.bytes(file) {
        Err(problem) if problem.code == "missing-file" => return Ok(None),
        Err(problem) => return Err(problem.to_string()),
        Ok(bytes) => bytes,
    };
    let source = SourceText::new(file.clone(), bytes).map_err(|problem| problem.to_string())?;
    match config::read(&source) {
        Ok(config) => Ok(Some(config)),
        Err(problems) => Err(problems.sorted().first().map(ToString::to_string).unwrap_or_default()),
    }
}

fn compared(sides: &Sides<'_>, before: &Config, after: &Config, found: &mut Found) {
    baseline::compare(sides, before, after, found);
    settings::compare(before, after, found);
    for suite in &after.suites {
        let Some(old) = before.suites.iter().find(|old| old.id == suite.id && old.kind == suite.kind) else { continue };
        gates::compare(old, suite, found);
        scoring::compare(old, suite, found);
        cases::compare(sides, before, old, suite, found);
        for (name, agent) in &suite.agents {
            if let Some(agent_before) = old.agents.get(name) {
                let who = recordings::Who { suite: &suite.id, agent: name, file: &after.file };
                recordings::compare(sides, &who, agent_before, agent, found);
            }
        }
    }
}
