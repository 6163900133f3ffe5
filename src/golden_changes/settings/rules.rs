//! The settings whose weight depends on the change: suites, agents, tiers, samples, sources, targets.

use std::collections::{BTreeMap, BTreeSet};

use crate::golden_changes::found::ChangeCollector;
use crate::model::{
    Agent, AgentName, ChangeClass, Config, Judge, LiveSource, RecordPolicy, RepoPath, RunSource,
    SuiteConfig, Target, Tier, Transport, Weight,
};
use crate::text::counted;

/// Compares the settings that the table marks as `Depends`.
pub fn compare(base: &Config, head: &Config, deciding: &[Tier], collector: &mut ChangeCollector) {
    let gone = suites_without(&base.suites, &head.suites);
    let fresh = suites_without(&head.suites, &base.suites);
    collector.removed(&gone, ["suite", "suites"], "removed", Some(&head.file));
    collector.added(&fresh, ["suite", "suites"], "added", Some(&head.file));
    for new in &head.suites {
        let Some(old) = base.suite(&new.id) else {
            continue;
        };
        let mut settings = SuiteSettings {
            file: &head.file,
            suite: new,
            deciding,
            collector,
        };
        settings.tiers(&old.tiers, &new.tiers);
        settings.judges(&old.judges, &new.judges);
        settings.own("check", &old.expressions.checks, &new.expressions.checks);
        settings.own("metric", &old.expressions.metrics, &new.expressions.metrics);
        settings.samples(old.samples.or(base.samples), new.samples.or(head.samples));
        settings.agents(old);
    }
    targets(base, head, deciding, collector);
    prices(base, head, collector);
}

/// The ids of the suites that are not among the others.
fn suites_without(suites: &[SuiteConfig], others: &[SuiteConfig]) -> Vec<String> {
    let mut ids = Vec::new();
    for suite in suites {
        if !others.iter().any(|counterpart| counterpart.id == suite.id) {
            ids.push(suite.id.to_string());
        }
    }
    ids
}

/// A lower price makes the cost of a run lower, which gates and checks may limit. A missing one leaves the cost unknown, which passes none, and
/// the next change could add a lower one.
fn prices(base: &Config, head: &Config, collector: &mut ChangeCollector) {
    let models: BTreeSet<&String> = base.prices.keys().chain(head.prices.keys()).collect();
    for model in models {
        match (base.prices.get(model), head.prices.get(model)) {
            (old, new) if old == new => {}
            (None, _) => collector.lists(format!("price of {model} added"), Some(&head.file)),
            (_, None) => {
                let is_called = head
                    .targets
                    .values()
                    .any(|target| model_of(target).as_ref() == Some(model));
                let words = format!("price of {model} removed");
                if is_called {
                    let words = format!("{words}, which a target still has");
                    collector.needs(words, Some(&head.file));
                } else {
                    collector.lists(words, Some(&head.file));
                }
            }
            (Some(old), Some(new)) if new.is_lower(old) => {
                collector.needs(
                    format!("price of {model} lowered, so its runs cost less"),
                    Some(&head.file),
                );
            }
            (Some(_), Some(_)) => {
                collector.lists(format!("price of {model} raised"), Some(&head.file))
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

fn targets(base: &Config, head: &Config, deciding: &[Tier], collector: &mut ChangeCollector) {
    let mut blocking = blocking_targets(head, deciding);
    blocking.extend(blocking_targets(base, deciding));
    blocking.extend(further_targets(base, deciding));
    let names: BTreeSet<&String> = base.targets.keys().chain(head.targets.keys()).collect();
    for name in names {
        let (old, new) = (base.targets.get(name), head.targets.get(name));
        if old == new {
            continue;
        }
        recorded_target(name, old, new, head, collector);
        if is_same_in(old, new, recorded_as_default) {
            continue;
        }
        // Limits on concurrency and time: a call beyond them is inconclusive, never a pass.
        let only_limits = is_same_in(old, new, without_limits);
        let words = match (old, new) {
            (None, _) => format!("target {name} added"),
            (_, None) => format!("target {name} removed"),
            (Some(_), Some(_)) if only_limits => format!("limits of the target {name} changed"),
            (Some(_), Some(_)) if is_same_in(old, new, calls) => {
                format!("the key of the target {name} is in another variable")
            }
            (Some(_), Some(_)) => format!("target {name} has another program, address or model"),
        };
        match blocking.get(name).filter(|_| !only_limits && old.is_some()) {
            Some(tier) => {
                collector.needs(
                    format!("{words}; the {} tier calls it and blocks", tier.as_str()),
                    Some(&head.file),
                );
            }
            None => collector.lists(words, Some(&head.file)),
        }
    }
}

/// Whether two targets are the same after this function.
fn is_same_in(old: Option<&Target>, new: Option<&Target>, part: fn(&Target) -> Target) -> bool {
    old.zip(new)
        .is_some_and(|(old, new)| part(old) == part(new))
}

fn recorded_as_default(target: &Target) -> Target {
    Target {
        record: RecordPolicy::default(),
        ..target.clone()
    }
}

fn without_limits(target: &Target) -> Target {
    Target {
        concurrency: None,
        timeout: None,
        stall: None,
        ..target.clone()
    }
}

/// Reports whether `mode: record` may call a target that it could not call before.
fn recorded_target(
    name: &str,
    old: Option<&Target>,
    new: Option<&Target>,
    head: &Config,
    collector: &mut ChangeCollector,
) {
    match (record_policy(old), record_policy(new)) {
        (RecordPolicy::Models, RecordPolicy::Trusted) => {
            let words = format!(
                "target {name}: `mode: record` may call it with the texts of pull requests"
            );
            collector.needs(words, Some(&head.file));
        }
        (RecordPolicy::Trusted, RecordPolicy::Models) => {
            collector.lists(
                format!("target {name}: `mode: record` may no longer call it"),
                Some(&head.file),
            );
        }
        (RecordPolicy::Models, RecordPolicy::Models)
        | (RecordPolicy::Trusted, RecordPolicy::Trusted) => {}
    }
}

fn record_policy(target: Option<&Target>) -> RecordPolicy {
    target.map(|target| target.record).unwrap_or_default()
}

struct SuiteSettings<'a> {
    file: &'a RepoPath,
    suite: &'a SuiteConfig,
    /// The tiers whose verdicts count.
    deciding: &'a [Tier],
    collector: &'a mut ChangeCollector,
}

impl SuiteSettings<'_> {
    fn needs(&mut self, words: String) {
        self.collector.needs(words, Some(self.file));
    }

    fn lists(&mut self, words: String) {
        self.collector.lists(words, Some(self.file));
    }

    /// Compares the checks or the metrics that the suite states itself. The base commit's rules do not know an added one, so it cannot
    /// make them milder.
    fn own<T: PartialEq>(
        &mut self,
        noun: &str,
        old: &BTreeMap<String, T>,
        new: &BTreeMap<String, T>,
    ) {
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names {
            let id = &self.suite.id;
            match (old.get(name), new.get(name)) {
                (None, _) => self.lists(format!("{noun} {name} of `{id}` added")),
                (Some(_), None) => self.needs(format!("{noun} {name} of `{id}` removed")),
                (Some(old), Some(new)) if old == new => {}
                (Some(_), Some(_)) => self.needs(format!("{noun} {name} of `{id}` changed")),
            }
        }
    }

    fn tiers(&mut self, old: &[Tier], new: &[Tier]) {
        let id = &self.suite.id;
        let (gone, fresh) = (tiers_without(old, new), tiers_without(new, old));
        if !gone.is_empty() {
            let words = format!("`{id}` no longer runs in the {} tier", gone.join(" and "));
            self.collector.add(
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
        let (gone, fresh) = (judges_without(old, new), judges_without(new, old));
        for (names, verb) in [(gone, "removed"), (fresh, "added")] {
            if !names.is_empty() {
                self.lists(counted(
                    &names,
                    "judge",
                    "judges",
                    &format!("of `{id}` {verb}"),
                ));
            }
        }
        for head in new {
            let base = old.iter().find(|judge| judge.name == head.name);
            let Some(base) = base.filter(|base| *base != head) else {
                continue;
            };
            self.lists(format!(
                "judge {} of `{id}`: {} -> {}",
                head.name,
                judge_words(base),
                judge_words(head)
            ));
        }
    }

    /// The planned samples; without a number the recordings or the case decide.
    fn samples(&mut self, old: Option<u32>, new: Option<u32>) {
        if old == new {
            return;
        }
        let words = format!(
            "samples of `{}` {} -> {}",
            self.suite.id,
            samples_words(old),
            samples_words(new)
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
        let mut agents = self.suite.agents.values();
        self.suite.runs_of.is_none()
            && agents.all(|agent| matches!(agent.deterministic, Some(RunSource::Replay(_))))
    }

    fn agents(&mut self, old: &SuiteConfig) {
        let suite = self.suite;
        let gone = agents_without(&old.agents, &suite.agents);
        let fresh = agents_without(&suite.agents, &old.agents);
        self.collector.removed(
            &gone,
            ["agent", "agents"],
            &format!("of `{}` removed", suite.id),
            Some(self.file),
        );
        self.collector.added(
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
        for tier in self.deciding {
            let (old, new) = (old.source(*tier), new.source(*tier));
            let (base, head) = (source_words(old), source_words(new));
            let words = match tier {
                Tier::Deterministic => format!("recordings of `{who}`: {base} -> {head}"),
                Tier::Model => format!("runs of `{who}` in the model tier: {base} -> {head}"),
            };
            match (old, new) {
                _ if base == head => {}
                (None, Some(_)) => self.lists(format!(
                    "`{who}` runs in the {} tier: {head}",
                    tier.as_str()
                )),
                // The content of recordings is compared separately.
                (Some(RunSource::Replay(_)), Some(RunSource::Replay(_))) => self.lists(words),
                (Some(_), _) => self.needs(words),
                (None, None) => {}
            }
        }
        if old.no_fingerprint != new.no_fingerprint {
            let base = old.no_fingerprint.as_deref().unwrap_or("none");
            let head = new.no_fingerprint.as_deref().unwrap_or("none");
            match new.no_fingerprint {
                None if !new.fingerprint.is_empty() => {
                    self.lists(format!(
                        "the files of `{who}` are named now; they were not: {base}"
                    ));
                }
                Some(_) | None => self.needs(format!(
                    "why the files of `{who}` are not named: {base} -> {head}"
                )),
            }
        }
    }
}

fn tiers_without(tiers: &[Tier], others: &[Tier]) -> Vec<&'static str> {
    let alone = tiers.iter().filter(|tier| !others.contains(tier));
    alone.map(|tier| tier.as_str()).collect()
}

fn judges_without(judges: &[Judge], others: &[Judge]) -> Vec<String> {
    let mut names = Vec::new();
    for judge in judges {
        if !others
            .iter()
            .any(|counterpart| counterpart.name == judge.name)
        {
            names.push(judge.name.to_string());
        }
    }
    names
}

fn agents_without(
    agents: &BTreeMap<AgentName, Agent>,
    others: &BTreeMap<AgentName, Agent>,
) -> Vec<String> {
    let alone = agents.keys().filter(|name| !others.contains_key(*name));
    alone.map(ToString::to_string).collect()
}

fn judge_words(judge: &Judge) -> String {
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
}

fn samples_words(count: Option<u32>) -> String {
    match count {
        Some(count) => count.to_string(),
        None => "all that are recorded".to_owned(),
    }
}

fn source_words(source: Option<&RunSource>) -> String {
    match source {
        None => "none".to_owned(),
        Some(RunSource::Replay(folder)) => folder.to_string(),
        Some(RunSource::Live(live)) => match (&live.critic, &live.exchanges) {
            (None, None) => format!("the live target {}", live.target),
            (None, Some(folder)) => {
                format!("the target {} with the exchanges of {folder}", live.target)
            }
            (Some(critic), _) => format!("the live targets {} and {critic}", live.target),
        },
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
