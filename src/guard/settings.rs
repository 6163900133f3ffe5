//! What the config says of suites and agents: who is graded, where, on what, how often.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::found::Found;
use super::found::counted;
use super::found::named;
use crate::model::Agent;
use crate::model::Config;
use crate::model::Judge;
use crate::model::RepoPath;
use crate::model::Role;
use crate::model::Source;
use crate::model::Suite;
use crate::model::Tier;

/// Compares the suites of two configs.
pub fn compare(before: &Config, after: &Config, found: &mut Found) {
    let ids = |suites: &[Suite], others: &[Suite]| -> Vec<String> {
        let alone = suites.iter().filter(|suite| !others.iter().any(|other| other.id == suite.id));
        alone.map(|suite| suite.id.to_string()).collect()
    };
    let (gone, fresh) = (ids(&before.suites, &after.suites), ids(&after.suites, &before.suites));
    if !gone.is_empty() {
        found.needs(counted(&gone, "suite", "suites", "removed"), Some(&after.file));
    }
    if !fresh.is_empty() {
        found.lists(counted(&fresh, "suite", "suites", "added"), Some(&after.file));
    }
    for new in &after.suites {
        let Some(old) = before.suites.iter().find(|old| old.id == new.id) else { continue };
        let mut one = Compared { file: &after.file, suite: new, found };
        one.suite(old);
        one.samples(old.samples.or(before.samples), new.samples.or(after.samples));
        one.agents(old);
    }
}

struct Compared<'a> {
    file: &'a RepoPath,
    suite: &'a Suite,
    found: &'a mut Found,
}

impl Compared<'_> {
    fn needs(&mut self, words: String) {
        self.found.needs(words, Some(self.file));
    }

    fn lists(&mut self, words: String) {
        self.found.lists(words, Some(self.file));
    }

    /// A setting that leads elsewhere.
    fn led(&mut self, what: &str, old: Option<&str>, new: Option<&str>) {
        if old != new {
            let shown = |text: Option<&str>| text.unwrap_or("none").to_owned();
            self.needs(format!("{what} {} -> {}", shown(old), shown(new)));
        }
    }

    fn suite(&mut self, old: &Suite) {
        let new = self.suite;
        let id = &new.id;
        self.led(&format!("kind of `{id}`"), Some(&old.kind), Some(&new.kind));
        self.led(&format!("golden files of `{id}`:"), Some(old.path.as_str()), Some(new.path.as_str()));
        let runs_of = |suite: &Suite| suite.runs_of.as_ref().map(ToString::to_string);
        self.led(&format!("runs that `{id}` looks at:"), runs_of(old).as_deref(), runs_of(new).as_deref());
        let path = |file: &Option<RepoPath>| file.as_ref().map(|file| file.as_str().to_owned());
        self.led(&format!("labels file of `{id}`:"), path(&old.labels).as_deref(), path(&new.labels).as_deref());
        self.led(&format!("tools file of `{id}`:"), path(&old.tools).as_deref(), path(&new.tools).as_deref());
        self.judges(&old.judges, &new.judges);
        self.tiers(&old.tiers, &new.tiers);
        self.categories(old.categories.as_deref(), new.categories.as_deref());
        let names: BTreeSet<&String> = old.terms.keys().chain(new.terms.keys()).collect();
        for name in names {
            let shown =
                |suite: &Suite| suite.terms.get(name).map_or("the shipped list".to_owned(), ToString::to_string);
            self.led(&format!("list of terms {name} of `{id}`:"), Some(&shown(old)), Some(&shown(new)));
        }
        let names: BTreeSet<&String> = old.flags.keys().chain(new.flags.keys()).collect();
        for name in names {
            let shown = |suite: &Suite| suite.flags.get(name).map(|flag| format!("{} when {}", flag.terms, flag.when));
            match (shown(old), shown(new)) {
                (None, Some(new)) => self.lists(format!("flag {name} of `{id}` added: {new}")),
                (old, new) => self.led(&format!("flag {name} of `{id}`:"), old.as_deref(), new.as_deref()),
            }
        }
    }

    /// Judges decide nothing: what changes in them is listed.
    fn judges(&mut self, old: &[Judge], new: &[Judge]) {
        let id = &self.suite.id;
        let alone = |some: &[Judge], others: &[Judge]| -> Vec<String> {
            let alone = some.iter().filter(|one| !others.iter().any(|other| other.name == one.name));
            alone.map(|one| one.name.to_string()).collect()
        };
        for (names, what) in [(alone(old, new), "removed"), (alone(new, old), "added")] {
            if !names.is_empty() {
                self.lists(counted(&names, "judge", "judges", &format!("of `{id}` {what}")));
            }
        }
        for now in new {
            let Some(before) = old.iter().find(|one| one.name == now.name).filter(|one| *one != now) else { continue };
            let shown = |judge: &Judge| {
                let Judge { name: _, source, rubric, votes, labels, floor } = judge;
                let labels = labels.as_ref().map_or("none".to_owned(), ToString::to_string);
                format!("{} by {rubric}, {votes} votes, kappa above {floor}, labels {labels}", source.target)
            };
            self.lists(format!("judge {} of `{id}`: {} -> {}", now.name, shown(before), shown(now)));
        }
    }

    fn tiers(&mut self, old: &[Tier], new: &[Tier]) {
        let id = &self.suite.id;
        let alone = |some: &[Tier], others: &[Tier]| -> Vec<&str> {
            some.iter().filter(|tier| !others.contains(tier)).map(|tier| tier.word()).collect()
        };
        let (gone, fresh) = (alone(old, new), alone(new, old));
        if !gone.is_empty() {
            self.needs(format!("`{id}` does not run in the {} tier any more", gone.join(" and ")));
        }
        if !fresh.is_empty() {
            self.lists(format!("`{id}` runs in the {} tier, too", fresh.join(" and ")));
        }
    }

    fn categories(&mut self, old: Option<&[String]>, new: Option<&[String]>) {
        let id = &self.suite.id;
        match (old, new) {
            (None, None) => {}
            (None, Some(_)) => self.lists(format!("`{id}` lists its categories")),
            (Some(_), None) => self.needs(format!("`{id}` lists no categories any more: any word is one")),
            (Some(old), Some(new)) => {
                let alone = |some: &[String], others: &[String]| -> Vec<String> {
                    some.iter().filter(|one| !others.contains(one)).cloned().collect()
                };
                let (gone, fresh) = (alone(old, new), alone(new, old));
                if !gone.is_empty() {
                    self.needs(counted(&gone, "category", "categories", &format!("of `{id}` removed")));
                }
                if !fresh.is_empty() {
                    self.lists(counted(&fresh, "category", "categories", &format!("of `{id}` added")));
                }
            }
        }
    }

    /// Samples planned, where a config says; without it the recordings or the case decide.
    fn samples(&mut self, old: Option<u32>, new: Option<u32>) {
        if old == new {
            return;
        }
        let shown = |count: Option<u32>| count.map_or("as many as there are".to_owned(), |count| count.to_string());
        let words = format!("samples of `{}` {} -> {}", self.suite.id, shown(old), shown(new));
        match (old, new) {
            (Some(old), Some(new)) if new > old => self.lists(words),
            _ => self.needs(words),
        }
    }

    fn agents(&mut self, old: &Suite) {
        let suite = self.suite;
        let alone = |some: &BTreeMap<_, Agent>, others: &BTreeMap<_, Agent>| -> Vec<String> {
            some.keys().filter(|name| !others.contains_key(*name)).map(ToString::to_string).collect()
        };
        let (gone, fresh) = (alone(&old.agents, &suite.agents), alone(&suite.agents, &old.agents));
        if !gone.is_empty() {
            self.needs(counted(&gone, "agent", "agents", &format!("of `{}` removed", suite.id)));
        }
        if !fresh.is_empty() {
            self.lists(counted(&fresh, "agent", "agents", &format!("of `{}` added", suite.id)));
        }
        for (name, new) in &suite.agents {
            if let Some(old) = old.agents.get(name) {
                self.agent(&format!("{}/{name}", suite.id), old, new);
            }
        }
    }

    fn agent(&mut self, who: &str, old: &Agent, new: &Agent) {
        let source = |source: &Option<Source>| match source {
            None => "none".to_owned(),
            Some(Source::Replay(folder)) => folder.to_string(),
            Some(Source::Live(live)) => format!("the live target {}", live.target),
        };
        let (before, now) = (source(&old.deterministic), source(&new.deterministic));
        match old.deterministic {
            None if new.deterministic.is_some() => self.lists(format!("`{who}` runs in the deterministic tier: {now}")),
            _ => self.led(&format!("recordings of `{who}`:"), Some(&before), Some(&now)),
        }
        let role = |role| match role {
            Role::Actor => "actor",
            Role::Critic => "critic",
        };
        self.led(&format!("role of `{who}`:"), Some(role(old.role)), Some(role(new.role)));
        let gone: Vec<&str> =
            old.fingerprint.iter().filter(|glob| !new.fingerprint.contains(glob)).map(|glob| glob.as_str()).collect();
        if !gone.is_empty() {
            self.needs(format!("fingerprint of `{who}` leaves out {}", named(&gone)));
        }
    }
}
