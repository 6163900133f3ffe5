//! Golden files and cases: removed, retired, put into quarantine, edited, added.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::Likeness;
use super::Sides;
use super::edits::Look;
use super::files::below;
use super::files::difference;
use super::files::is_within;
use super::found::Found;
use super::found::counted;
use super::found::named;
use super::seen;
use super::seen::Seen;
use crate::model::AgentName;
use crate::model::CaseId;
use crate::model::Config;
use crate::model::Quarantine;
use crate::model::RepoPath;
use crate::model::Source;
use crate::model::Suite;
use crate::suites::Files;
use crate::suites::Pair;
use crate::suites::Shelf;
use crate::suites::kind;

/// Compares the cases and the files of one suite. `config` is the base commit's: which files are golden is its word.
pub fn compare(sides: &Sides<'_>, config: &Config, before: &Suite, after: &Suite, found: &mut Found) {
    beside(sides, before, after, found);
    of_judges(sides, before, after, found);
    let skip = |path: &RepoPath| is_elsewhere(config, before, path);
    let reading = Seen::new(sides.base);
    let opened = Listed::open(before, &reading);
    seen::compare(sides, after, &reading.but(|path| is_within(path, &before.path) || skip(path)), found);
    let (old, new) = match (below(sides.base, &before.path, &skip), below(sides.head, &after.path, &skip)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(why), _) | (_, Err(why)) => {
            return found.needs(format!("golden files of `{}` cannot be compared: {why}", after.id), None);
        }
    };
    let differs = |inner: &&String| match (old.get(*inner), new.get(*inner)) {
        (Some(before), Some(after)) => sides.base.likeness(before, after) == Likeness::Differs,
        (None, _) | (_, None) => true,
    };
    let changed: Vec<&String> =
        old.keys().chain(new.keys()).collect::<BTreeSet<_>>().into_iter().filter(differs).collect();
    if changed.is_empty() {
        return;
    }
    let listed = match (opened, Listed::open(after, sides.head)) {
        (Ok(before), Ok(after)) => Some((before, after)),
        (Err(why), _) => {
            let words = format!("golden files of `{}` on the base commit cannot be read any more: {why}", after.id);
            found.needs(words, None);
            None
        }
        (_, Err(why)) => {
            found.needs(format!("golden files of `{}` cannot be read: {why}", after.id), None);
            None
        }
    };
    if let Some((before, now)) = &listed {
        told_cases(after, before, now, found);
    }
    let one = Told { sides, suite: after, listed: listed.as_ref(), old: &old, new: &new };
    for inner in changed {
        one.file(inner, found);
    }
}

/// Files that stand beside the suite: labels, tools, lists of terms.
fn beside(sides: &Sides<'_>, before: &Suite, after: &Suite, found: &mut Found) {
    let mut one = |what: String, old: &RepoPath, new: &RepoPath| {
        if let Some(difference) = difference(sides, old, new, Look::Whole) {
            found.needs(format!("{what} of `{}` edited: {difference}", after.id), Some(new));
        }
    };
    if let (Some(old), Some(new)) = (&before.labels, &after.labels) {
        one("labels".to_owned(), old, new);
    }
    if let (Some(old), Some(new)) = (&before.tools, &after.tools) {
        one("tools".to_owned(), old, new);
    }
    for (name, new) in &after.terms {
        if let Some(old) = before.terms.get(name) {
            one(format!("list of terms {name}"), old, new);
        }
    }
    for (name, new) in &after.flags {
        if let Some(old) = before.flags.get(name) {
            one(format!("terms of the flag {name}"), &old.terms, &new.terms);
        }
    }
}

/// What judges go by. They decide nothing, so a change is listed and asks for no approval.
fn of_judges(sides: &Sides<'_>, before: &Suite, after: &Suite, found: &mut Found) {
    for new in &after.judges {
        let Some(old) = before.judges.iter().find(|old| old.name == new.name) else { continue };
        let files =
            [("rubric", Some(&old.rubric), Some(&new.rubric)), ("labels", old.labels.as_ref(), new.labels.as_ref())];
        for (what, old, new_file) in files {
            let (Some(old), Some(new_file)) = (old, new_file) else { continue };
            if let Some(difference) = difference(sides, old, new_file, Look::Whole) {
                let words = format!("{what} of the judge {} of `{}` edited: {difference}", new.name, after.id);
                found.lists(words, Some(new_file));
            }
        }
    }
}

/// Whether a file below a suite's folder is none of its golden files: a recording, a prompt, a list that is compared by itself.
fn is_elsewhere(config: &Config, suite: &Suite, path: &RepoPath) -> bool {
    if is_within(path, &suite.path.child("snapshots")) || is_within(path, &config.results) {
        return true;
    }
    let agents = config.suites.iter().flat_map(|suite| suite.agents.values());
    let of_agents = agents.flat_map(|agent| {
        let replays = [&agent.deterministic, &agent.model].into_iter().filter_map(|source| match source {
            Some(Source::Replay(folder)) => Some(folder),
            Some(Source::Live(_)) | None => None,
        });
        replays.chain(&agent.prompt)
    });
    let lists = suite.terms.values().chain(suite.flags.values().map(|flag| &flag.terms));
    let of_judges = suite.judges.iter().flat_map(|judge| judge.labels.iter().chain([&judge.rubric]));
    let mut others =
        of_agents.chain(lists).chain(of_judges).chain(&suite.labels).chain(&suite.tools).chain(&config.baseline);
    let fingerprinted =
        config.suites.iter().flat_map(|suite| suite.agents.values()).flat_map(|agent| &agent.fingerprint);
    // A pattern or a folder that holds the whole suite does not take its golden files out of it.
    others.any(|other| !is_within(&suite.path, other) && is_within(path, other))
        || fingerprinted.into_iter().any(|glob| !is_within(&suite.path, glob.folder()) && glob.fits(path))
}

/// The cases of a suite on one side.
struct Listed {
    pairs: BTreeMap<(CaseId, AgentName), Pair>,
    retired: BTreeMap<CaseId, String>,
}

impl Listed {
    fn open(suite: &Suite, shelf: &dyn Shelf) -> Result<Self, String> {
        let kind = kind(&suite.kind).ok_or_else(|| format!("unknown kind \"{}\"", suite.kind))?;
        let opened = (kind.open)(suite, shelf)
            .map_err(|problems| problems.sorted().first().map(ToString::to_string).unwrap_or_default())?;
        let pairs = opened.pairs().iter().map(|pair| ((pair.case.clone(), pair.agent.clone()), pair.clone()));
        Ok(Self { pairs: pairs.collect(), retired: opened.retired().iter().cloned().collect() })
    }

    fn cases(&self) -> BTreeSet<&CaseId> {
        self.pairs.keys().map(|(case, _)| case).collect()
    }

    fn has_golden(&self, file: &RepoPath) -> bool {
        self.pairs.values().any(|pair| pair.golden == *file)
    }
}

fn told_cases(suite: &Suite, before: &Listed, after: &Listed, found: &mut Found) {
    let (old, new) = (before.cases(), after.cases());
    let removed: Vec<&str> = old
        .iter()
        .filter(|case| !new.contains(*case) && !after.retired.contains_key(*case))
        .map(|case| case.as_str())
        .collect();
    if !removed.is_empty() {
        found.needs(counted(&removed, "case", "cases", &format!("of `{}` removed", suite.id)), None);
    }
    for (case, why) in after.retired.iter().filter(|(case, _)| old.contains(case)) {
        found.needs(format!("case {case} of `{}` {why}", suite.id), None);
    }
    let added: Vec<&str> = new.iter().filter(|case| !old.contains(*case)).map(|case| case.as_str()).collect();
    if !added.is_empty() {
        found.lists(counted(&added, "case", "cases", &format!("of `{}` added", suite.id)), None);
    }
    let mut fewer: BTreeMap<&AgentName, Vec<&str>> = BTreeMap::new();
    for (case, agent) in before.pairs.keys().filter(|key| !after.pairs.contains_key(*key) && new.contains(&key.0)) {
        fewer.entry(agent).or_default().push(case.as_str());
    }
    for (agent, cases) in fewer.into_iter().filter(|(agent, _)| suite.agents.contains_key(*agent)) {
        let words = format!("of `{}/{agent}` removed", suite.id);
        found.needs(counted(&cases, "case", "cases", &words), None);
    }
    quarantines(suite, before, after, found);
}

fn quarantines(suite: &Suite, before: &Listed, after: &Listed, found: &mut Found) {
    let mut said = BTreeSet::new();
    for (key, pair) in &after.pairs {
        let now = pair.quarantine.as_deref().map(|stated| &*stated.terms);
        let then = before.pairs.get(key).and_then(|pair| pair.quarantine.as_deref()).map(|stated| &*stated.terms);
        if now == then || !before.pairs.contains_key(key) || !said.insert((&key.0, &pair.golden)) {
            continue;
        }
        let who = format!("case {} of `{}`", key.0, suite.id);
        match (then, now) {
            (None, Some(Quarantine { owner, reason, expires })) => {
                found.needs(
                    format!("{who} put into quarantine until {expires} by {owner}: {reason}"),
                    Some(&pair.golden),
                );
            }
            (Some(then), Some(now)) if now.expires > then.expires => {
                let words = format!("quarantine of {who} made longer: {} -> {}", then.expires, now.expires);
                found.needs(words, Some(&pair.golden));
            }
            (Some(_), Some(_)) => found.lists(format!("quarantine of {who} edited"), Some(&pair.golden)),
            (_, None) => found.lists(format!("{who} taken out of quarantine"), Some(&pair.golden)),
        }
    }
}

/// What is said of single files.
struct Told<'a> {
    sides: &'a Sides<'a>,
    suite: &'a Suite,
    listed: Option<&'a (Listed, Listed)>,
    old: &'a Files,
    new: &'a Files,
}

impl Told<'_> {
    fn file(&self, inner: &str, found: &mut Found) {
        let id = &self.suite.id;
        if inner.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("readme.md")) {
            return;
        }
        match (self.old.get(inner), self.new.get(inner)) {
            (Some(before), Some(after)) => self.edited(before, after, found),
            (Some(file), None) if !self.is_of_removed(inner, file) => {
                found.needs(format!("{file} of `{id}` removed"), Some(file));
            }
            (None, Some(file)) if !self.is_of_added(inner, file) => {
                found.needs(format!("{file} added to `{id}`, and belongs to no new case"), Some(file));
            }
            (Some(_), None) | (None, Some(_)) | (None, None) => {}
        }
    }

    fn edited(&self, before: &RepoPath, after: &RepoPath, found: &mut Found) {
        let id = &self.suite.id;
        let cases = self.expectation_of(after);
        let look = if cases.is_some() { Look::Expectation } else { Look::Whole };
        let Some(what) = difference(self.sides, before, after, look) else { return };
        match cases {
            // A retired case is told as such.
            Some(cases) if cases.is_empty() => {}
            Some(cases) => {
                found.needs(format!("expectation of {} of `{id}` edited: {what}", named(&cases)), Some(after));
            }
            None => found.needs(format!("{after} of `{id}` edited: {what}"), Some(after)),
        }
    }

    /// The cases whose golden file it is, none for a case that is retired now; `None` where it is no case's.
    fn expectation_of(&self, file: &RepoPath) -> Option<Vec<String>> {
        let (before, after) = self.listed?;
        let of = |listed: &Listed| -> BTreeSet<String> {
            listed.pairs.values().filter(|pair| pair.golden == *file).map(|pair| pair.case.to_string()).collect()
        };
        let (old, new) = (of(before), of(after));
        match (old.is_empty(), new.is_empty()) {
            (true, true) => None,
            (false, true) => Some(Vec::new()),
            // One file with many cases is told by the paths of the edits.
            (_, false) if new.len() > 1 => Some(vec![format!("{} cases in {file}", new.len())]),
            (_, false) => Some(new.into_iter().collect()),
        }
    }

    /// Whether all that used a file is told as removed: it was the golden file of removed pairs, or is called as a removed case.
    fn is_of_removed(&self, inner: &str, file: &RepoPath) -> bool {
        let Some((before, after)) = self.listed else { return false };
        if before.has_golden(file) {
            let mut users = before.pairs.iter().filter(|(_, pair)| pair.golden == *file);
            return users.all(|(key, _)| !after.pairs.contains_key(key));
        }
        let left = after.cases();
        before.cases().into_iter().any(|case| !left.contains(case) && is_called(inner, case))
    }

    /// Whether a new file comes with a new case: it is its golden file, is called as it, or lies in a folder that is new.
    fn is_of_added(&self, inner: &str, file: &RepoPath) -> bool {
        let Some((before, after)) = self.listed else { return false };
        let fresh: Vec<&Pair> =
            after.pairs.iter().filter(|(key, _)| !before.pairs.contains_key(*key)).map(|(_, pair)| pair).collect();
        if fresh.is_empty() {
            return false;
        }
        if after.has_golden(file) {
            return fresh.iter().any(|pair| pair.golden == *file);
        }
        let in_new_folder = inner.match_indices('/').any(|(end, _)| {
            let folder = &inner[..=end];
            !self.old.keys().any(|old| old.starts_with(folder))
        });
        in_new_folder || fresh.iter().any(|pair| is_called(inner, &pair.case))
    }
}

/// Whether a part of a path is the case's id, with any ending.
fn is_called(inner: &str, case: &CaseId) -> bool {
    let fits =
        |part: &str| part.strip_prefix(case.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    inner.split('/').any(fits)
}
