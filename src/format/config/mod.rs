//! Reads `goldgate.yaml` into the model: checks every setting and reports every problem with its position.

mod approval;
mod capture;
mod config_reader;
mod expressions;
mod fingerprint;
mod form;
mod judges;
mod kind_keys;
mod recordings;
mod sources;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::SignedDuration;

use self::config_reader::ConfigReader;
use self::form::{
    BudgetForm, ConfigFile, FieldPaths, GateForm, GateForms, LimitForm, PriceForm,
    RecordPolicyForm, SuiteForm, TargetForm, TermFileForm, TermsForm, TierForm,
};
use self::kind_keys::CheckedSuiteKeys;
pub use self::kind_keys::{FromKeys, KindKeys, KindTable, SuiteKeyReader, config_schema};
use super::step::Step;
use super::step::Step::{At, Key};
use super::yaml::{YamlDialect, yaml_as_json};
use super::{JsonIndex, json};
use crate::diag::{Code, Diagnostics};
use crate::files::SourceText;
use crate::model::{
    Agent, AgentName, Alpha, Budget, Config, Policy, Price, Provider, RecordPolicy, RedactPattern,
    RepoPath, StatedBand, StatedFields, StatedGate, StatedLimit, SuiteConfig, SuiteId, Target,
    TermFile, Tier, Transport, Wire,
};

/// Reads a config whose suites are of these kinds; paths are relative to its folder.
pub fn read_config(source: &SourceText, kinds: KindTable<'_>) -> Result<Config, Diagnostics> {
    let json = yaml_as_json(source.clone(), YamlDialect::Config)?;
    let form: ConfigFile = json::with_unique_keys(&json)?;
    let mut reader = ConfigReader {
        source: &json,
        folder: source.file.parent(),
        problems: Diagnostics::default(),
        locations: JsonIndex::of(&json),
    };
    let unknown = reader.unknown_keys(&form, kinds);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let settings = reader.suite_settings(&form.suites, kinds)?;
    let config = reader.config(form, settings);
    reader.problems.or(config)
}

impl ConfigReader<'_> {
    fn config(&mut self, form: ConfigFile, settings: Vec<CheckedSuiteKeys>) -> Config {
        if form.version != 1 {
            let what = format!("unknown version {}", form.version);
            self.refuse(
                &[Key("version")],
                Code::UNKNOWN_VERSION,
                what,
                "this goldgate reads version 1; a newer file needs a newer goldgate",
            );
        }
        if form.suites.is_empty() {
            self.refuse(
                &[Key("suites")],
                Code::NO_SUITES,
                "the config has no suites",
                "add at least one suite",
            );
        }
        let targets: BTreeMap<String, Target> = form
            .targets
            .into_iter()
            .map(|(name, target)| {
                let target = self.target(&name, target);
                (name, target)
            })
            .collect();
        let mut suites: Vec<SuiteConfig> = Vec::new();
        for (index, (suite, settings)) in form.suites.into_iter().zip(settings).enumerate() {
            if let Some(suite) = self.suite(index, suite, settings, &targets) {
                if suites.iter().any(|other| other.id == suite.id) {
                    let what = format!("duplicate suite id \"{}\"", suite.id);
                    self.refuse(
                        &[Key("suites"), At(index), Key("id")],
                        Code::DUPLICATE_ID,
                        what,
                        "give each suite a unique id",
                    );
                }
                suites.push(suite);
            }
        }
        self.suites_were(&suites);
        self.find_runs_of(&mut suites);
        sources::share_recordings(&mut suites);
        Config {
            file: self.source.file.clone(),
            baseline: form
                .baseline
                .map(|path| self.path(&[Key("baseline")], &path)),
            results: self.path(
                &[Key("results")],
                form.results.as_deref().unwrap_or(".goldgate"),
            ),
            samples: self.samples(&[Key("samples")], form.samples),
            regression: self.alpha(form.regression.as_deref()),
            early_stop: form.early_stop.unwrap_or(true),
            suites,
            targets,
            budget: self.budget(&form.budget),
            prices: form
                .prices
                .into_iter()
                .map(|(model, price)| {
                    let price = self.price(&model, &price);
                    (model, price)
                })
                .collect(),
            redact: self.redact_patterns(&form.redact),
            recordings: form.recordings.into(),
            approval: form.approval.into(),
        }
    }

    /// Refuses old names of suites that are still in use, or that two suites claim.
    fn suites_were(&mut self, suites: &[SuiteConfig]) {
        let mut taken: BTreeSet<&str> = suites.iter().map(|suite| suite.id.as_str()).collect();
        for suite in suites {
            if let Some(was) = suite.was.as_ref().filter(|was| !taken.insert(was.as_str())) {
                self.old_name_in_use(
                    &[Key("suites"), At(suite.index), Key("was")],
                    "suite",
                    was.as_str(),
                );
            }
        }
    }

    /// The same for the agents of a suite.
    fn agents_were(&mut self, index: usize, agents: &BTreeMap<AgentName, Agent>) {
        let mut taken: BTreeSet<&str> = agents.keys().map(AgentName::as_str).collect();
        for (name, agent) in agents {
            if let Some(was) = agent.was.as_ref().filter(|was| !taken.insert(was.as_str())) {
                let at = [
                    Key("suites"),
                    At(index),
                    Key("agents"),
                    Key(name.as_str()),
                    Key("was"),
                ];
                self.old_name_in_use(&at, "agent", was.as_str());
            }
        }
    }

    fn old_name_in_use(&mut self, at: &[Step<'_>], what: &str, was: &str) {
        self.refuse(
            at,
            Code::DUPLICATE_ID,
            format!("another {what} is or was \"{was}\""),
            format!("one {what} can take over what belonged to \"{was}\", and only where no {what} has that name any more"),
        );
    }

    fn find_runs_of(&mut self, suites: &mut [SuiteConfig]) {
        let known: Vec<(SuiteId, RepoPath)> = suites
            .iter()
            .map(|suite| (suite.id.clone(), suite.path.clone()))
            .collect();
        for suite in suites {
            let Some(runs_of) = &suite.runs_of else {
                continue;
            };
            suite.runs_in = known
                .iter()
                .find(|(id, _)| id == runs_of)
                .map(|(_, path)| path.clone());
            if suite.runs_in.is_none() {
                let ids: Vec<&str> = known.iter().map(|(id, _)| id.as_str()).collect();
                let at = [Key("suites"), At(suite.index), Key("runs_of")];
                self.refuse(
                    &at,
                    Code::UNKNOWN_SUITE,
                    format!("no suite is called \"{runs_of}\""),
                    format!("the suites are {}", ids.join(", ")),
                );
            }
        }
    }

    fn suite(
        &mut self,
        index: usize,
        form: SuiteForm,
        settings: CheckedSuiteKeys,
        targets: &BTreeMap<String, Target>,
    ) -> Option<SuiteConfig> {
        let at = |key| [Key("suites"), At(index), Key(key)];
        let id = SuiteId::new(&form.id)
            .map_err(|bad| self.refuse(&at("id"), Code::BAD_ID, bad.to_string(), bad.help()))
            .ok();
        let mut other = |key, text: Option<String>| {
            SuiteId::new(&text?)
                .map_err(|bad| self.refuse(&at(key), Code::BAD_ID, bad.to_string(), bad.help()))
                .ok()
        };
        let (was, runs_of) = (other("was", form.was), other("runs_of", form.runs_of));
        let tiers = form.tier.unwrap_or_else(|| vec![TierForm::Deterministic]);
        if tiers.is_empty() {
            self.refuse(
                &at("tier"),
                Code::EMPTY_TIER,
                "the list of tiers is empty",
                "write deterministic, model or both, or remove the suite",
            );
        }
        let mut tiers: Vec<Tier> = tiers.into_iter().map(Tier::from).collect();
        tiers.sort_unstable();
        tiers.dedup();
        let mut agents = BTreeMap::new();
        for (name, agent) in form.agents {
            match AgentName::new(&name) {
                Err(bad) => self.refuse(
                    &[Key("suites"), At(index), Key("agents"), Key(&name)],
                    Code::BAD_ID,
                    bad.to_string(),
                    bad.help(),
                ),
                Ok(agent_name) => {
                    let agent = self.agent(index, &name, agent, targets);
                    agents.insert(agent_name, agent);
                }
            }
        }
        let stated = form
            .gates
            .into_iter()
            .map(|(metric, forms)| (self.gates(index, &metric, forms), metric));
        let gates = stated.map(|(stated, metric)| (metric, stated)).collect();
        self.agents_were(index, &agents);
        Some(SuiteConfig {
            index,
            id: id?,
            was,
            kind: form.kind,
            path: self.path(&at("path"), &form.path),
            tiers,
            samples: self.samples(&at("samples"), form.samples),
            agents,
            policy: form.policy,
            never: form.never,
            floor: self.floor(index, form.policy, form.floor),
            gates,
            no_newly_failing: form.no_newly_failing,
            reasoning: form.reasoning,
            runs_of,
            runs_in: None,
            terms: self.terms(index, form.terms),
            fields: self.fields(index, form.fields),
            labels: form.labels.map(|path| self.path(&at("labels"), &path)),
            judges: self.judges(index, form.judges, targets),
            expressions: self.own_expressions(index, form.checks, form.metrics),
            settings: settings.settings,
            without_effect: settings.without_effect,
        })
    }

    /// The least pass rate of a suite.
    fn floor(&mut self, index: usize, policy: Policy, stated: Option<f64>) -> Option<f64> {
        let path = [Key("suites"), At(index), Key("floor")];
        let floor = stated?;
        if policy == Policy::Seed {
            let what = "floor has no effect with the policy seed".to_owned();
            self.refuse(
                &path,
                Code::NO_EFFECT,
                what,
                "remove it, or write policy: regression",
            );
        } else if !(0.0..=1.0).contains(&floor) || floor == 0.0 {
            let what = format!("floor is {floor}");
            let help =
                "write a share of the samples, more than 0 and at most 1: 0.5 for half of them";
            self.refuse(&path, Code::BAD_NUMBER, what, help);
        }
        stated
    }

    /// The chance of a false alarm.
    fn alpha(&mut self, stated: Option<&str>) -> Alpha {
        let Some(text) = stated else {
            return Alpha::default();
        };
        let percent = text
            .trim()
            .strip_suffix('%')
            .and_then(|number| number.trim().parse::<f64>().ok());
        let alpha = percent.and_then(|percent| Alpha::new(percent / 100.0));
        alpha.unwrap_or_else(|| {
            let what = format!("regression is {text}");
            let help = "write a percentage from 0.1% to 20%; 5% is the default";
            self.refuse(&[Key("regression")], Code::BAD_NUMBER, what, help);
            Alpha::default()
        })
    }

    fn terms(
        &mut self,
        index: usize,
        forms: BTreeMap<String, TermsForm>,
    ) -> BTreeMap<String, TermFile> {
        let read = forms.into_iter().map(|(name, form)| {
            let (file, whole_words) = match form {
                TermsForm::File(file) => (file, true),
                TermsForm::Stated(TermFileForm { file, whole_words }) => {
                    (file, whole_words.unwrap_or(true))
                }
            };
            let file = self.path(&[Key("suites"), At(index), Key("terms"), Key(&name)], &file);
            (name, TermFile { file, whole_words })
        });
        read.collect()
    }

    fn fields(&mut self, index: usize, forms: BTreeMap<String, FieldPaths>) -> StatedFields {
        let mut fields = StatedFields::new();
        for (name, paths) in forms {
            let paths = match paths {
                FieldPaths::One(path) => vec![path],
                FieldPaths::Several(paths) => paths,
            };
            let is_path = |path: &String| path.split('.').all(|key| !key.trim().is_empty());
            if paths.is_empty() || !paths.iter().all(is_path) {
                self.refuse(
                    &[Key("suites"), At(index), Key("fields"), Key(&name)],
                    Code::BAD_PATH,
                    format!("the field {name} has no path"),
                    "write the keys that lead to it, with dots between them, such as output.items",
                );
            }
            fields.insert(name, paths);
        }
        fields
    }

    fn gates(&mut self, index: usize, metric: &str, forms: GateForms) -> Vec<StatedGate> {
        let (forms, listed) = match forms {
            GateForms::One(form) => (vec![form], false),
            GateForms::Many(forms) => (forms, true),
        };
        let base = [Key("suites"), At(index), Key("gates"), Key(metric)];
        let checked = forms.into_iter().enumerate().map(|(index, form)| {
            let mut at = base.to_vec();
            if listed {
                at.push(At(index));
            }
            self.gate(&at, &form)
        });
        checked.collect()
    }

    fn gate(&mut self, at: &[Step<'_>], form: &GateForm) -> StatedGate {
        let numbers = [
            ("otherwise", form.otherwise),
            ("zone", form.zone),
            ("max_drop", form.max_drop),
            ("max_rise", form.max_rise),
            ("min", form.min.and_then(LimitForm::number)),
            ("max", form.max.and_then(LimitForm::number)),
        ]
        .map(|(key, number)| (vec![Key(key)], key, number));
        let of_band = [
            ("max_drop", form.in_zone.and_then(|band| band.max_drop)),
            ("max_rise", form.in_zone.and_then(|band| band.max_rise)),
        ]
        .map(|(key, number)| (vec![Key("in_zone"), Key(key)], key, number));
        for (path, key, number) in numbers.into_iter().chain(of_band) {
            let path = [at, &path].concat();
            match number {
                Some(number) if number < 0.0 && matches!(key, "zone" | "max_drop" | "max_rise") => {
                    self.refuse(
                        &path,
                        Code::NEGATIVE,
                        format!("{key} is {number}"),
                        "write 0 or more: it is the allowed change of the value",
                    );
                }
                Some(_) | None => {}
            }
        }
        let off = match (form.off, &form.reason) {
            (Some(true), Some(reason)) if !reason.trim().is_empty() => {
                Some(reason.trim().to_owned())
            }
            (Some(true), _) => {
                self.refuse(
                    at,
                    Code::NO_REASON,
                    "a gate is disabled without a reason",
                    "add reason: why the default gate does not apply here",
                );
                None
            }
            (None | Some(false), Some(_)) => {
                self.refuse(
                    &[at, &[Key("reason")]].concat(),
                    Code::NO_EFFECT,
                    "reason has no effect without off: true",
                    "remove it, or add off: true",
                );
                None
            }
            (None | Some(false), None) => None,
        };
        StatedGate {
            min: form.min.map(StatedLimit::from),
            max: form.max.map(StatedLimit::from),
            otherwise: form.otherwise,
            zone: form.zone,
            in_zone: form.in_zone.map(|band| StatedBand {
                max_drop: band.max_drop,
                max_rise: band.max_rise,
            }),
            hard: form.hard,
            max_drop: form.max_drop,
            max_rise: form.max_rise,
            off,
        }
    }

    fn target(&mut self, name: &str, mut form: TargetForm) -> Target {
        let at = [Key("targets"), Key(name)];
        self.variables(name, &form);
        let timeout = self.duration(name, "timeout", form.timeout.as_deref());
        let stall = self.duration(name, "stall", form.stall.as_deref());
        let transport = match (form.provider, form.command, form.http) {
            (Some(wire), None, None) => {
                if form.model.is_none() {
                    self.refuse(
                        &at,
                        Code::MISSING_KEY,
                        "the key \"model\" is missing",
                        "write the name of the provider's model",
                    );
                }
                Transport::Model(Provider {
                    wire: Wire::from(wire),
                    model: form.model.unwrap_or_default(),
                    base_url: form.base_url,
                    api_key_env: form.api_key_env,
                    region: form.region,
                    temperature: form.temperature,
                    max_tokens: form.max_tokens,
                })
            }
            (None, Some(argv), None) if !argv.is_empty() => {
                let protocol = self.protocol(name, form.protocol, form.capture);
                Transport::Command {
                    argv,
                    protocol,
                    env: self.passed_on(name, form.env.take()),
                }
            }
            (None, None, Some(address)) => Transport::Http(address),
            _ => {
                self.refuse(
                    &at,
                    Code::BAD_TARGET,
                    "a target needs exactly one of provider, command and http",
                    "keep or add one of them",
                );
                Transport::Http(String::new())
            }
        };
        let record = match (form.record, &transport) {
            (None, _) => RecordPolicy::Models,
            (Some(RecordPolicyForm::Trusted), Transport::Command { .. } | Transport::Http(_)) => {
                RecordPolicy::Trusted
            }
            (Some(RecordPolicyForm::Trusted), Transport::Model(_)) => {
                let what = "record has no effect on a model, which is always recorded";
                self.refuse(
                    &[&at[..], &[Key("record")]].concat(),
                    Code::NO_EFFECT,
                    what,
                    "remove it",
                );
                RecordPolicy::Models
            }
        };
        Target {
            transport,
            concurrency: form.concurrency,
            timeout,
            stall,
            record,
        }
    }

    fn duration(
        &mut self,
        target: &str,
        key: &'static str,
        text: Option<&str>,
    ) -> Option<Duration> {
        let text = text?;
        let parsed = duration(text).filter(|time| !time.is_zero());
        if parsed.is_none() {
            let help = "write a number with ms, s or m, such as 60s";
            let at = [Key("targets"), Key(target), Key(key)];
            self.refuse(
                &at,
                Code::BAD_DURATION,
                format!("invalid duration {text:?}"),
                help,
            );
        }
        parsed
    }

    fn redact_patterns(&mut self, stated: &[String]) -> Vec<RedactPattern> {
        let mut patterns = Vec::new();
        for (index, text) in stated.iter().enumerate() {
            match RedactPattern::new(text) {
                Ok(pattern) => patterns.push(pattern),
                Err(why) => self.refuse(
                    &[Key("redact"), At(index)],
                    Code::BAD_PATTERN,
                    format!("redact: {why}"),
                    "write a regular expression",
                ),
            }
        }
        patterns
    }

    fn budget(&mut self, form: &BudgetForm) -> Budget {
        for (key, number) in [
            ("max_cost_usd", form.max_cost_usd),
            ("max_minutes", form.max_minutes),
        ] {
            if number.is_some_and(|number| number < 0.0) {
                self.refuse(
                    &[Key("budget"), Key(key)],
                    Code::BAD_NUMBER,
                    format!("{key} is not a valid amount"),
                    "write 0 or more",
                );
            }
        }
        Budget {
            max_cost_usd: form.max_cost_usd,
            max_tokens: form.max_tokens,
            max_minutes: form.max_minutes,
        }
    }

    fn price(&mut self, model: &str, form: &PriceForm) -> Price {
        if [Some(form.input), Some(form.output), form.cached_input]
            .into_iter()
            .flatten()
            .any(|usd| usd < 0.0)
        {
            self.refuse(
                &[Key("prices"), Key(model)],
                Code::BAD_NUMBER,
                "a price is not a valid amount",
                "write US dollars per million tokens, 0 or more",
            );
        }
        Price {
            input: form.input,
            output: form.output,
            cached_input: form.cached_input,
        }
    }
}

/// A time as people write it, such as `60s` or `1m 30s`; `None` for any other text and for a negative time.
pub fn duration(text: &str) -> Option<Duration> {
    text.parse::<SignedDuration>().ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::{duration, read_config};
    use crate::files::SourceText;
    use crate::model::{RepoPath, SuiteConfig};

    #[test]
    fn an_old_name_belongs_to_one_suite_or_agent() {
        let read = |suites: &str| {
            let text = format!("version: 1\nsuites:\n{suites}");
            let file = RepoPath::root().child("goldgate.yaml");
            let read = read_config(&SourceText::from_text(file, text), &[]);
            read.map(drop).map_err(|problems| problems.first_line())
        };
        let suite = |id: &str, was: &str, agents: &str| {
            format!("  - {{ id: {id}, {was} kind: custom, path: p, agents: {{ {agents} }} }}\n")
        };
        let two = |was: &str| suite("a", "was: x,", "") + &suite("b", was, "");
        assert_eq!(read(&two("was: y,")), Ok(()));
        for was in ["was: x,", "was: a,"] {
            let said = read(&two(was)).unwrap_err();
            assert!(
                said.starts_with("goldgate.yaml:4:14: another suite is or was"),
                "{said}"
            );
        }
        let agents =
            |other: &str| suite("a", "", &format!("c: {{ was: z }}, d: {{ was: {other} }}"));
        assert_eq!(read(&agents("y")), Ok(()));
        for other in ["z", "c"] {
            let said = read(&agents(other)).unwrap_err();
            assert!(said.contains("another agent is or was"), "{said}");
        }
    }

    #[test]
    fn a_duration_has_a_unit_and_is_not_negative() {
        for (text, milliseconds) in [
            ("60s", 60_000),
            ("500ms", 500),
            ("2m", 120_000),
            ("1m 30s", 90_000),
            ("1h", 3_600_000),
            ("0s", 0),
        ] {
            assert_eq!(
                duration(text),
                Some(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
        for text in [
            "",
            "60",
            "soon",
            "-5s",
            "5s ago",
            "5 parsecs",
            "99999999999999999999s",
        ] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    fn suite(lines: &str) -> SuiteConfig {
        let text = format!(
            "version: 1\nsuites:\n  - id: s\n    kind: findings\n    path: golden\n{lines}"
        );
        let source = SourceText::from_text(RepoPath::root().child("goldgate.yaml"), text);
        read_config(&source, &[]).unwrap().suites.remove(0)
    }

    #[test]
    fn golden_files_depend_only_on_the_settings_for_reading() {
        let agent = "    agents: { a: { deterministic: { replay: runs }, fingerprint: { none: made up } } }\n";
        let read = |lines: &str| suite(&format!("{agent}{lines}")).for_reading();
        let plain = read("");
        for lines in [
            "    gates: { finding_recall: { min: 0.9 } }\n",
            "    samples: 3\n",
            "    no_newly_failing: true\n",
        ] {
            assert_eq!(read(lines), plain, "{lines}");
        }
        for lines in [
            "    terms: { vague: vague.txt }\n",
            "    labels: labels.yaml\n",
        ] {
            assert_ne!(read(lines), plain, "{lines}");
        }
        assert_ne!(
            SuiteConfig {
                path: RepoPath::root(),
                ..plain.clone()
            },
            plain
        );
        assert_ne!(
            SuiteConfig {
                agents: BTreeMap::new(),
                ..plain.clone()
            },
            plain
        );
    }
}
