//! The plan of a run: config, suites, gates and filters, checked before anything runs.

mod agent_policy;
mod judges;
mod loaded_suite;
mod own_expressions;
mod pairs;
mod plan_reader;
mod quarantines;
mod simulated_users;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use self::loaded_suite::{LoadedJudge, LoadedSuite, Plan, RulesSource};
use self::plan_reader::{PlanReader, strays};
use super::prompts::prompt_package;
use super::selection;
use super::selection::Selection;
use crate::diag::{Code, Diagnostic, Diagnostics, ReadFailure, did_you_mean, nearest};
use crate::files::{Files, OtherCommit, ReadFor, ReadLog, RecordedFiles, SourceText};
use crate::format::Step::{At, Key};
use crate::format::yaml::{YamlDialect, yaml_as_json};
use crate::format::{JsonIndex, Step};
use crate::gate::{GatedMetric, planned_in};
use crate::model::{
    Agent, AgentName, CaseId, CaseTag, Config, MetricSpec, RepoPath, RunDays, RunSource,
    SuiteConfig, SuiteId, Tier,
};
use crate::suites::{
    KINDS, Labels, ParsedExpressions, PromptPackage, Suite, SuiteKind, kind, read_config,
};

/// Returns the source of an agent's runs in a tier.
pub fn source_of(agent: &Agent, tier: Tier) -> Option<&RunSource> {
    agent.source(tier)
}

/// Reads the config and the selected suites.
pub fn plan(
    files: &dyn Files,
    file: &RepoPath,
    wanted: Selection,
    days: &RunDays,
) -> Result<Plan, Diagnostics> {
    let source = config_text(files, file)?;
    let config = read_config(&source)?;
    plan_with_reads(files, None, (&source, config), wanted, days)
}

/// Reads the text of the config. If there is none, the help says how to get one.
pub fn config_text(files: &dyn Files, file: &RepoPath) -> Result<SourceText, Diagnostic> {
    files.text(file).map_err(|problem| {
        if !problem.is_read_failure(ReadFailure::MissingFile) {
            return problem;
        }
        Diagnostic {
            help: config_above(files, file).unwrap_or(NO_CONFIG.to_owned()),
            ..problem
        }
    })
}

/// Where a folder above has a config, from the root of the repository; `None` if none has.
fn config_above(files: &dyn Files, file: &RepoPath) -> Option<String> {
    let mut folder = file.parent();
    while folder != RepoPath::root() {
        folder = folder.parent();
        let above = folder.child(file.name());
        if files.bytes(&above).is_ok() {
            return Some(format!(
                "this repository has {above}: name it with --config"
            ));
        }
    }
    None
}

/// How to get a config.
const NO_CONFIG: &str = "`goldgate init` writes one; --config names one in another folder";

/// Reads the selected suites of a config, and records which read files differ from another commit.
pub fn plan_with_reads(
    files: &dyn Files,
    other: Option<&dyn OtherCommit>,
    (source, mut config): (&SourceText, Config),
    wanted: Selection,
    days: &RunDays,
) -> Result<Plan, Diagnostics> {
    let source = yaml_as_json(source.clone(), YamlDialect::Config)?;
    let reader = PlanReader {
        files,
        source: &source,
        locations: JsonIndex::of(&source),
        other,
        rules: RulesSource::Head,
        head: None,
    };
    let mut problems = Diagnostics::default();
    for id in &wanted.suites {
        let known = config.suites.iter().map(|suite| suite.id.as_str());
        if let Some(problem) = reader.unknown("suite", id, known) {
            problems.push(problem);
        }
    }
    if let Some(target) = &wanted.target {
        let known = config.targets.keys().map(String::as_str);
        match reader.unknown("target", target, known) {
            Some(problem) => problems.push(problem),
            None => redirect(&mut config, target),
        }
    }
    let chosen = config.suites.iter().filter(|suite| {
        wanted.suites.is_empty() || wanted.suites.iter().any(|id| id == suite.id.as_str())
    });
    let chosen: Vec<&SuiteConfig> = chosen
        .filter(|suite| {
            wanted.tiers.is_empty() || suite.tiers.iter().any(|tier| wanted.tiers.contains(tier))
        })
        .collect();
    let suites: Vec<LoadedSuite> = chosen
        .iter()
        .filter_map(|suite| problems.keep_all(reader.open(suite, &config)))
        .collect();
    let today = days.today.clone();
    let config = config.clone();
    let mut plan = problems.or(Plan {
        config,
        suites,
        unselected: Vec::new(),
        wanted,
        today,
        rules: RulesSource::Head,
    })?;
    problems = Diagnostics::default();
    plan.suites
        .iter()
        .for_each(|loaded| pairs::check(loaded, &plan.config, &mut problems));
    plan.suites
        .iter()
        .for_each(|loaded| simulated_users::check(loaded, &plan.config, &mut problems));
    plan.suites
        .iter()
        .for_each(|loaded| quarantines::quarantines(loaded, days, &mut problems));
    reader.refuse_unknown_names(&plan, &mut problems);
    let cases = plan
        .suites
        .iter()
        .flat_map(|loaded| loaded.suite.pairs_to_run())
        .map(|pair| pair.case.to_string());
    let all_cases: BTreeSet<String> = cases.collect();
    let (suites, unselected) = plan
        .suites
        .into_iter()
        .partition(|loaded| loaded.chosen_to_run(&plan.wanted).next().is_some());
    (plan.suites, plan.unselected) = (suites, unselected);
    // A shard may be empty; `merge` checks that the whole is not. A change that affects no agent gives no verdict.
    let may_be_empty = plan.wanted.shard.is_some() || !plan.wanted.left_out.is_empty();
    let is_empty = plan.suites.is_empty() && !may_be_empty;
    // A misspelled name next to a right one would otherwise be silent.
    if problems.is_empty() && (is_empty || !plan.wanted.unmatched(&all_cases).is_empty()) {
        problems.push(selection::nothing_selected(
            &source.file,
            &plan.wanted,
            &all_cases,
        ));
    }
    problems.or(plan)
}

/// What the plan of the base commit is read from.
pub struct BasePlanInputs<'a> {
    /// The files of the base commit.
    pub files: &'a dyn Files,
    /// The head, to compare the read files with.
    pub other: &'a dyn OtherCommit,
    /// The head's plan, which was compared with this commit when it was read.
    pub head: &'a Plan,
    /// The config that judges.
    pub config: &'a Config,
    /// The suites to read, with the pairs to judge.
    pub known: BTreeMap<SuiteId, BTreeSet<(CaseId, AgentName)>>,
    /// The filters and options.
    pub wanted: Selection,
}

/// Reads suites of the base commit, to judge the runs by its rules.
///
/// # Errors
/// Files that this version cannot read.
pub fn base_plan(inputs: BasePlanInputs<'_>, days: &RunDays) -> Result<Plan, Diagnostics> {
    let BasePlanInputs {
        files,
        other,
        head,
        config,
        known,
        wanted,
    } = inputs;
    let source = yaml_as_json(files.text(&config.file)?, YamlDialect::Config)?;
    let reader = PlanReader {
        files,
        source: &source,
        locations: JsonIndex::of(&source),
        other: Some(other),
        rules: RulesSource::Base,
        head: Some(head),
    };
    let mut problems = Diagnostics::default();
    let mut suites = Vec::new();
    for suite in config
        .suites
        .iter()
        .filter(|suite| known.contains_key(&suite.id))
    {
        let Some(loaded) = problems.keep_all(reader.open(suite, config)) else {
            continue;
        };
        suites.push(LoadedSuite {
            known: known.get(&suite.id).cloned(),
            ..loaded
        });
    }
    let (config, today, unselected) = (config.clone(), days.today.clone(), Vec::new());
    problems.or(Plan {
        config,
        suites,
        unselected,
        wanted,
        today,
        rules: RulesSource::Base,
    })
}

/// Replaces the target of all live agents in the model tier.
fn redirect(config: &mut Config, target: &str) {
    for agent in config
        .suites
        .iter_mut()
        .flat_map(|suite| suite.agents.values_mut())
    {
        if let Some(RunSource::Live(live)) = &mut agent.model {
            target.clone_into(&mut live.target);
            live.critic
                .iter_mut()
                .for_each(|critic| target.clone_into(critic));
        }
    }
}

impl PlanReader<'_> {
    fn open(&self, suite: &SuiteConfig, config: &Config) -> Result<LoadedSuite, Diagnostics> {
        let Some(kind) = kind(&suite.kind) else {
            return Err(self.unknown_kind(suite).into());
        };
        let mut problems = Diagnostics::default();
        self.check_agents(suite, kind, &mut problems);
        self.check_own_expressions(suite, kind, &mut problems);
        self.check_fields(suite, kind, &mut problems);
        // Only the head's rules use prompts.
        let prompts = match self.rules {
            RulesSource::Head => self.prompts(suite, config, &mut problems),
            RulesSource::Base => BTreeMap::new(),
        };
        let reads = ReadLog::comparing(self.other);
        let recorded = self
            .other
            .map(|other| RecordedFiles::new(self.files, other, &reads, ReadFor::Suite));
        let files: &dyn Files = recorded.as_ref().map_or(self.files, |recorded| recorded);
        let labels = problems
            .keep_all(Labels::open(suite.labels.as_ref(), files))
            .unwrap_or_default();
        let for_reading = suite.for_reading();
        let known = self.head.and_then(|head| head.golden_set(&for_reading));
        let loaded: Option<Arc<dyn Suite>> = match known {
            Some(known) => Some(known),
            None => problems
                .keep_all((kind.open)(&for_reading, files))
                .map(Arc::from),
        };
        drop(recorded);
        let golden = loaded.as_deref();
        let specs = kind.metrics_of(suite, golden, golden.into_iter().flat_map(Suite::pairs));
        let draft_specs =
            kind.metrics_of(suite, golden, golden.into_iter().flat_map(Suite::drafts));
        if loaded.is_some() {
            self.refuse_idle_gates(suite, kind, [&specs, &draft_specs], &mut problems);
        }
        let metrics = self.gated_metrics(suite, kind, &specs, &mut problems);
        let in_the_model_tier = |spec: &MetricSpec| GatedMetric {
            spec: *spec,
            gates: planned_in(spec, suite, Tier::Model).unwrap_or_default(),
        };
        let model_metrics = specs.iter().map(in_the_model_tier).collect();
        if let Some(loaded) = &loaded {
            strays(&labels, suite, loaded.as_ref(), &mut problems);
        }
        if loaded
            .as_ref()
            .is_some_and(|loaded| loaded.pairs_to_run().next().is_none())
        {
            problems.push(self.no_case(suite));
        }
        let judges = match self.rules {
            RulesSource::Head => loaded
                .as_deref()
                .map(|golden| self.judges(suite, kind, golden, &mut problems)),
            RulesSource::Base => None,
        };
        match loaded {
            Some(suite_files) => problems.or(LoadedSuite {
                config: suite.clone(),
                kind,
                suite: suite_files,
                expressions: ParsedExpressions::of(&suite.expressions),
                specs,
                draft_specs,
                metrics,
                model_metrics,
                prompts,
                labels,
                judges: judges.unwrap_or_default(),
                reads,
                known: None,
            }),
            None => Err(problems),
        }
    }

    /// Refuses agents and tags of the selection that no case has.
    fn refuse_unknown_names(&self, plan: &Plan, problems: &mut Diagnostics) {
        let pairs = || {
            plan.suites
                .iter()
                .flat_map(|loaded| loaded.suite.pairs_to_run())
        };
        for name in &plan.wanted.agents {
            let known = pairs().map(|pair| pair.agent.as_str());
            self.unknown("agent", name, known)
                .into_iter()
                .for_each(|problem| problems.push(problem));
        }
        for tag in &plan.wanted.tags {
            let known = pairs()
                .flat_map(|pair| &pair.marks.tags)
                .map(CaseTag::as_str);
            self.unknown("tag", tag, known)
                .into_iter()
                .for_each(|problem| problems.push(problem));
        }
    }

    fn no_case(&self, suite: &SuiteConfig) -> Diagnostic {
        let path = [Key("suites"), At(suite.index), Key("path")];
        let what = format!("the suite \"{}\" has no case", suite.id);
        self.problem(
            &path,
            Code::EMPTY_SUITE,
            what,
            format!("add golden files under {}", suite.path),
        )
    }

    fn unknown_kind(&self, suite: &SuiteConfig) -> Diagnostic {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        let help = match nearest(&suite.kind, names.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("the kinds are {}", names.join(", ")),
        };
        let path = [Key("suites"), At(suite.index), Key("kind")];
        self.problem(
            &path,
            Code::UNKNOWN_KIND,
            format!("unknown kind \"{}\"", suite.kind),
            help,
        )
    }

    /// Reads the prompt packages of the agents whose runs the suite grades: its own, or those of another suite.
    fn prompts(
        &self,
        suite: &SuiteConfig,
        config: &Config,
        problems: &mut Diagnostics,
    ) -> BTreeMap<AgentName, PromptPackage> {
        let of = |other: &&SuiteConfig| {
            other.id == suite.id || suite.runs_of.as_ref() == Some(&other.id)
        };
        let mut prompts = BTreeMap::new();
        for (name, agent) in config
            .suites
            .iter()
            .filter(of)
            .flat_map(|other| &other.agents)
        {
            let Some(path) = &agent.prompt else { continue };
            if let Some(package) = problems.keep(prompt_package(self.files, self.other, path)) {
                prompts.insert(name.clone(), package);
            }
        }
        prompts
    }

    /// Refuses gates on metrics that no case gives a value.
    fn refuse_idle_gates(
        &self,
        suite: &SuiteConfig,
        kind: &SuiteKind,
        specs: [&[MetricSpec]; 2],
        problems: &mut Diagnostics,
    ) {
        let measured: BTreeSet<&str> = specs.into_iter().flatten().map(|spec| spec.name).collect();
        let is_idle = |name: &&str| suite.gates.contains_key(*name) && !measured.contains(name);
        for name in kind
            .metrics_in(suite)
            .iter()
            .map(|spec| spec.name)
            .filter(is_idle)
        {
            let path = [Key("suites"), At(suite.index), Key("gates"), Key(name)];
            let (missing, help) = if kind.every_metric().any(|spec| spec.name == name) {
                (
                    "no case of the suite states answer",
                    "state answer in a case, or remove the gate",
                )
            } else {
                (
                    "no case of the suite has this category",
                    "correct the category, or remove the gate",
                )
            };
            let what = format!("the gate on {name} has no effect: {missing}");
            problems.push(self.problem(&path, Code::NO_EFFECT, what, help));
        }
    }

    /// Refuses fields that the kind does not read.
    fn check_fields(&self, suite: &SuiteConfig, kind: &SuiteKind, problems: &mut Diagnostics) {
        let known: Vec<&str> = kind.fields.iter().map(|field| field.name).collect();
        let unknown = suite
            .fields
            .keys()
            .filter(|name| !known.is_empty() && !known.contains(&name.as_str()));
        for name in unknown {
            let help = did_you_mean(
                name,
                &known,
                format!("the fields of {} are {}", kind.name, known.join(", ")),
            );
            let path = [Key("suites"), At(suite.index), Key("fields"), Key(name)];
            let what = format!("unknown field \"{name}\"");
            problems.push(self.problem(&path, Code::UNKNOWN_KEY, what, help));
        }
    }

    fn gated_metrics(
        &self,
        suite: &SuiteConfig,
        kind: &SuiteKind,
        specs: &[MetricSpec],
        problems: &mut Diagnostics,
    ) -> Vec<GatedMetric> {
        let names: Vec<&str> = kind
            .metrics_in(suite)
            .iter()
            .map(|spec| spec.name)
            .collect();
        for metric in suite
            .gates
            .keys()
            .filter(|metric| !judges::is_known(suite, kind, metric))
        {
            let help = match nearest(metric, names.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("the metrics of {} are {}", kind.name, names.join(", ")),
            };
            let path = [Key("suites"), At(suite.index), Key("gates"), Key(metric)];
            problems.push(self.problem(
                &path,
                Code::UNKNOWN_METRIC,
                format!("unknown metric \"{metric}\""),
                help,
            ));
        }
        let mut metrics = Vec::with_capacity(specs.len());
        for spec in specs {
            let stated = suite.gates.get(spec.name).map_or(&[][..], Vec::as_slice);
            let gates = planned_in(spec, suite, Tier::Deterministic).unwrap_or_else(|found| {
                for problem in found {
                    let path = [
                        Key("suites"),
                        At(suite.index),
                        Key("gates"),
                        Key(spec.name),
                        Key(problem.key),
                    ];
                    let listed = [
                        Key("suites"),
                        At(suite.index),
                        Key("gates"),
                        Key(spec.name),
                        At(problem.index),
                        Key(problem.key),
                    ];
                    let path: &[Step<'_>] = if stated.len() > 1 { &listed } else { &path };
                    problems.push(self.problem(path, Code::BAD_GATE, problem.what, problem.help));
                }
                Vec::new()
            });
            metrics.push(GatedMetric { spec: *spec, gates });
        }
        metrics
    }
}
