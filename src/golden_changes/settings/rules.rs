//! The settings whose weight depends on the change: suites, agents, tiers, samples, sources, targets.

use std::collections::{BTreeMap, BTreeSet};

use crate::golden_changes::found::ChangeCollector;
use crate::model::{
    Agent, ChangeClass, Config, Judge, LiveSource, RecordPolicy, RepoPath, RunSource, SuiteConfig,
    Target, Tier, Transport, Weight,
};
use crate::text::counted;

/// Compares the settings that the table marks as `Depends`.
pub fn compare(before: &Config, after: &Config, deciding: &[Tier], found: &mut ChangeCollector) {
    let ids = |suites: &[SuiteConfig], others: &[SuiteConfig]| -> Vec<String> {
        let alone = suites
            .iter()
            .filter(|suite| !others.iter().any(|other| other.id == suite.id));
        alone.map(|suite| suite.id.to_string()).collect()
    };
    let (gone, fresh) = (
        ids(&before.suites, &after.suites),
        ids(&after.suites, &before.suites),
    );
    found.removed(&gone, ["suite", "suites"], "removed", Some(&after.file));
    found.added(&fresh, ["suite", "suites"], "added", Some(&after.file));
    for new in &after.suites {
        let Some(old) = before.suite(&new.id) else {
            continue;
        };
        let mut one = SuiteSettings {
            file: &after.file,
            suite: new,
            deciding,
            found,
        };
        one.tiers(&old.tiers, &new.tiers);
        one.judges(&old.judges, &new.judges);
        one.own("check", &old.expressions.checks, &new.expressions.checks);
        one.own("metric", &old.expressions.metrics, &new.expressions.metrics);
        one.samples(
            old.samples.or(before.samples),
            new.samples.or(after.samples),
        );
        one.agents(old);
    }
    targets(before, after, deciding, found);
    prices(before, after, found);
}

/// A lower price makes the cost of a run lower, which gates and checks may limit. A missing one leaves the cost unknown, which passes none, and
/// the next change could add a lower one.
fn prices(before: &Config, after: &Config, found: &mut ChangeCollector) {
    let models: BTreeSet<&String> = before.prices.keys().chain(after.prices.keys()).collect();
    for model in models {
        match (before.prices.get(model), after.prices.get(model)) {
            (old, new) if old == new => {}
            (None, _) => found.lists(format!("price of {model} added"), Some(&after.file)),
            (_, None) => {
                let is_called = after
                    .targets
                    .values()
                    .any(|target| model_of(target).as_ref() == Some(model));
                let words = format!("price of {model} removed");
                match is_called {
                    true => found.needs(
                        format!("{words}, which a target still has"),
                        Some(&after.file),
                    ),
                    false => found.lists(words, Some(&after.file)),
                }
            }
            (Some(old), Some(new)) if new.is_lower(old) => {
                found.needs(
                    format!("price of {model} lowered, so its runs cost less"),
                    Some(&after.file),
                );
            }
            (Some(_), Some(_)) => {
                found.lists(format!("price of {model} raised"), Some(&after.file))
            }
        }
    }
}

/// The targets that agents call in a tier whose verdict counts, with the tier.
fn blocking_targets<'a>(config: &'a Config, deciding: &[Tier]) -> BTreeMap<&'a String, Tier> {
    let mut targets = BTreeMap::new();
    for tier in deciding {
        let suites = config
            .suites
            .iter()
            .filter(|suite| suite.tiers.contains(tier));
        let sources = suites
            .flat_map(|suite| suite.agents.values())
            .filter_map(|agent| agent.source(*tier)?.live());
        for target in sources.flat_map(LiveSource::targets) {
            targets.entry(target).or_insert(*tier);
        }
    }
    targets
}

/// The targets that no agent calls, with the model tier if it decides: they play the users of cases, or judge.
fn further_targets<'a>(config: &'a Config, deciding: &[Tier]) -> BTreeMap<&'a String, Tier> {
    let called = blocking_targets(config, &Tier::ALL);
    let further = config
        .targets
        .keys()
        .filter(|name| deciding.contains(&Tier::Model) && !called.contains_key(name));
    further.map(|name| (name, Tier::Model)).collect()
}

fn targets(before: &Config, after: &Config, deciding: &[Tier], found: &mut ChangeCollector) {
    let mut blocking = blocking_targets(after, deciding);
    blocking.extend(blocking_targets(before, deciding));
    blocking.extend(further_targets(before, deciding));
    let names: BTreeSet<&String> = before.targets.keys().chain(after.targets.keys()).collect();
    for name in names {
        let (old, new) = (before.targets.get(name), after.targets.get(name));
        if old == new {
            continue;
        }
        recorded_target(name, (old, new), after, found);
        let is_same =
            |of: fn(&Target) -> Target| old.zip(new).is_some_and(|(old, new)| of(old) == of(new));
        if is_same(|target| Target {
            record: RecordPolicy::default(),
            ..target.clone()
        }) {
            continue;
        }
        // Limits on concurrency and time: a call beyond them is inconclusive, never a pass.
        let only_limits = is_same(|target| Target {
            concurrency: None,
            timeout: None,
            stall: None,
            ..target.clone()
        });
        let words = match (old, new) {
            (None, _) => format!("target {name} added"),
            (_, None) => format!("target {name} removed"),
            (Some(_), Some(_)) if only_limits => format!("limits of the target {name} changed"),
            (Some(_), Some(_)) if is_same(calls) => {
                format!("the key of the target {name} is in another variable")
            }
            (Some(_), Some(_)) => format!("target {name} has another program, address or model"),
        };
        match blocking.get(name).filter(|_| !only_limits && old.is_some()) {
            Some(tier) => {
                found.needs(
                    format!("{words}; the {} tier calls it and blocks", tier.as_str()),
                    Some(&after.file),
                );
            }
            None => found.lists(words, Some(&after.file)),
        }
    }
}

/// Reports whether `mode: record` may call a target that it could not call before.
fn recorded_target(
    name: &str,
    (old, new): (Option<&Target>, Option<&Target>),
    after: &Config,
    found: &mut ChangeCollector,
) {
    let policy = |target: Option<&Target>| target.map(|target| target.record).unwrap_or_default();
    match (policy(old), policy(new)) {
        (RecordPolicy::Models, RecordPolicy::Trusted) => {
            let words = format!(
                "target {name}: `mode: record` may call it with the texts of pull requests"
            );
            found.needs(words, Some(&after.file));
        }
        (RecordPolicy::Trusted, RecordPolicy::Models) => {
            found.lists(
                format!("target {name}: `mode: record` may no longer call it"),
                Some(&after.file),
            );
        }
        (RecordPolicy::Models, RecordPolicy::Models)
        | (RecordPolicy::Trusted, RecordPolicy::Trusted) => {}
    }
}

struct SuiteSettings<'a> {
    file: &'a RepoPath,
    suite: &'a SuiteConfig,
    /// The tiers whose verdicts count.
    deciding: &'a [Tier],
    found: &'a mut ChangeCollector,
}

impl SuiteSettings<'_> {
    fn needs(&mut self, words: String) {
        self.found.needs(words, Some(self.file));
    }

    fn lists(&mut self, words: String) {
        self.found.lists(words, Some(self.file));
    }

    /// Compares the checks or the metrics that the suite states itself. The base commit's rules do not know an added one, so it cannot
    /// make them milder.
    fn own<T: PartialEq>(
        &mut self,
        what: &str,
        old: &BTreeMap<String, T>,
        new: &BTreeMap<String, T>,
    ) {
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names {
            let id = &self.suite.id;
            match (old.get(name), new.get(name)) {
                (None, _) => self.lists(format!("{what} {name} of `{id}` added")),
                (Some(_), None) => self.needs(format!("{what} {name} of `{id}` removed")),
                (Some(old), Some(new)) if old == new => {}
                (Some(_), Some(_)) => self.needs(format!("{what} {name} of `{id}` changed")),
            }
        }
    }

    fn tiers(&mut self, old: &[Tier], new: &[Tier]) {
        let id = &self.suite.id;
        let alone = |some: &[Tier], others: &[Tier]| -> Vec<&str> {
            some.iter()
                .filter(|tier| !others.contains(tier))
                .map(|tier| tier.as_str())
                .collect()
        };
        let (gone, fresh) = (alone(old, new), alone(new, old));
        if !gone.is_empty() {
            let words = format!("`{id}` no longer runs in the {} tier", gone.join(" and "));
            self.found.add(
                ChangeClass::Removed,
                Weight::NeedsApproval,
                words,
                Some(self.file),
            );
        }
        if !fresh.is_empty() {
            self.lists(format!(
                "`{id}` also runs in the {} tier",
                fresh.join(" and ")
            ));
        }
    }

    /// Judges are advisory, so their changes are only listed.
    fn judges(&mut self, old: &[Judge], new: &[Judge]) {
        let id = &self.suite.id;
        let alone = |some: &[Judge], others: &[Judge]| -> Vec<String> {
            let alone = some
                .iter()
                .filter(|one| !others.iter().any(|other| other.name == one.name));
            alone.map(|one| one.name.to_string()).collect()
        };
        for (names, what) in [(alone(old, new), "removed"), (alone(new, old), "added")] {
            if !names.is_empty() {
                self.lists(counted(
                    &names,
                    "judge",
                    "judges",
                    &format!("of `{id}` {what}"),
                ));
            }
        }
        for now in new {
            let Some(before) = old
                .iter()
                .find(|one| one.name == now.name)
                .filter(|one| *one != now)
            else {
                continue;
            };
            let render = |judge: &Judge| {
                let Judge {
                    name: _,
                    source,
                    rubric,
                    votes,
                    labels,
                    floor,
                } = judge;
                let labels = labels
                    .as_ref()
                    .map_or("none".to_owned(), ToString::to_string);
                format!(
                    "{} by {rubric}, {votes} votes, kappa above {floor}, labels {labels}",
                    source.target
                )
            };
            self.lists(format!(
                "judge {} of `{id}`: {} -> {}",
                now.name,
                render(before),
                render(now)
            ));
        }
    }

    /// The planned samples; without a number the recordings or the case decide.
    fn samples(&mut self, old: Option<u32>, new: Option<u32>) {
        if old == new {
            return;
        }
        let render = |count: Option<u32>| {
            count.map_or("all that are recorded".to_owned(), |count| {
                count.to_string()
            })
        };
        let words = format!(
            "samples of `{}` {} -> {}",
            self.suite.id,
            render(old),
            render(new)
        );
        let is_lower = match (old, new) {
            (Some(old), Some(new)) => new < old,
            // All recordings are graded anyway, so a number can only require more of them.
            (None, Some(_)) => !self.is_replayed(),
            (Some(_), None) => true,
            (None, None) => false,
        };
        if is_lower {
            self.needs(words)
        } else {
            self.lists(words)
        }
    }

    /// Whether all runs of the suite in the deterministic tier are recordings.
    fn is_replayed(&self) -> bool {
        let replays = |agent: &Agent| matches!(agent.deterministic, Some(RunSource::Replay(_)));
        self.suite.runs_of.is_none() && self.suite.agents.values().all(replays)
    }

    fn agents(&mut self, old: &SuiteConfig) {
        let suite = self.suite;
        let alone = |some: &BTreeMap<_, Agent>, others: &BTreeMap<_, Agent>| -> Vec<String> {
            some.keys()
                .filter(|name| !others.contains_key(*name))
                .map(ToString::to_string)
                .collect()
        };
        let (gone, fresh) = (
            alone(&old.agents, &suite.agents),
            alone(&suite.agents, &old.agents),
        );
        self.found.removed(
            &gone,
            ["agent", "agents"],
            &format!("of `{}` removed", suite.id),
            Some(self.file),
        );
        self.found.added(
            &fresh,
            ["agent", "agents"],
            &format!("of `{}` added", suite.id),
            Some(self.file),
        );
        for (name, new) in &suite.agents {
            if let Some(old) = old.agents.get(name) {
                self.agent(&format!("{}/{name}", suite.id), old, new);
            }
        }
    }

    fn agent(&mut self, who: &str, old: &Agent, new: &Agent) {
        let render = |source: Option<&RunSource>| match source {
            None => "none".to_owned(),
            Some(RunSource::Replay(folder)) => folder.to_string(),
            Some(RunSource::Live(live)) => match (&live.critic, &live.exchanges) {
                (None, None) => format!("the live target {}", live.target),
                (None, Some(folder)) => {
                    format!("the target {} with the exchanges of {folder}", live.target)
                }
                (Some(critic), _) => format!("the live targets {} and {critic}", live.target),
            },
        };
        for tier in self.deciding {
            let (old, new) = (old.source(*tier), new.source(*tier));
            let (before, now) = (render(old), render(new));
            let words = match tier {
                Tier::Deterministic => format!("recordings of `{who}`: {before} -> {now}"),
                Tier::Model => format!("runs of `{who}` in the model tier: {before} -> {now}"),
            };
            match (old, new) {
                _ if before == now => {}
                (None, Some(_)) => {
                    self.lists(format!("`{who}` runs in the {} tier: {now}", tier.as_str()))
                }
                // The content of recordings is compared separately.
                (Some(RunSource::Replay(_)), Some(RunSource::Replay(_))) => self.lists(words),
                (Some(_), _) => self.needs(words),
                (None, None) => {}
            }
        }
        if old.no_fingerprint != new.no_fingerprint {
            let words = |reason: &Option<String>| reason.clone().unwrap_or("none".to_owned());
            let (before, after) = (words(&old.no_fingerprint), words(&new.no_fingerprint));
            match new.no_fingerprint {
                None if !new.fingerprint.is_empty() => {
                    self.lists(format!(
                        "the files of `{who}` are named now; they were not: {before}"
                    ));
                }
                Some(_) | None => self.needs(format!(
                    "why the files of `{who}` are not named: {before} -> {after}"
                )),
            }
        }
    }
}

/// A target without what does not change its answers: limits, the name of its key, and who may call it.
fn calls(target: &Target) -> Target {
    let mut transport = target.transport.clone();
    if let Transport::Model(provider) = &mut transport {
        provider.api_key_env = None;
    }
    Target {
        transport,
        concurrency: None,
        timeout: None,
        stall: None,
        record: RecordPolicy::default(),
    }
}

fn model_of(target: &Target) -> Option<String> {
    match &target.transport {
        Transport::Model(provider) => Some(provider.model.clone()),
        Transport::Command { .. } | Transport::Http(_) => None,
    }
}
