//! The plan of a run: config, suites, gates and filters, checked before anything runs.

mod agent_policy;
mod judges;
mod pairs;
mod quarantines;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use globset::GlobMatcher;

pub use self::judges::LoadedJudge;
use super::prompts::prompt_package;
use super::selection;
use crate::diag::{Diagnostic, Diagnostics, nearest};
use crate::files::{Files, OtherCommit, ReadFor, ReadLog, RecordedFiles, SourceText, sha256_hex};
use crate::format::yaml;
use crate::format::yaml::Step;
use crate::format::yaml::Step::{At, Key};
use crate::gate::{CaseSelection, PlannedGate, planned_in};
use crate::model::{Agent, AgentName, CaseId, Config, RepoPath, RunSource, Shard, SuiteConfig, SuiteId, Tier};
use crate::suites::{KINDS, Labels, Pair, PromptPackage, Suite, SuiteKind, kind, read_config};
use crate::world::Clock;

/// The filters and options that select what is graded.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The tiers; empty for all of a suite.
    pub tiers: Vec<Tier>,
    /// Suites by id; empty for all.
    pub suites: Vec<String>,
    /// Agents by name; empty for all.
    pub agents: Vec<String>,
    /// Patterns of case ids; empty for all.
    pub cases: Vec<GlobMatcher>,
    /// Samples per pair of agent and case.
    pub samples: Option<u32>,
    /// The shard of the cases that this machine grades; `None` for all cases.
    pub shard: Option<Shard>,
    /// A target that the model tier calls instead of the config's.
    pub target: Option<String>,
}

impl Selection {
    /// Whether a case is in the selected shard. Its name decides, so a new case does not move other cases to another machine.
    fn is_of_shard(&self, suite: &SuiteId, case: &CaseId) -> bool {
        let Some(shard) = self.shard else { return true };
        let digest = sha256_hex(format!("{suite}\n{case}").as_bytes());
        shard.has(digest.get(..15).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default())
    }

    /// Whether a case matches the filters.
    pub fn case(&self, pair: &Pair) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|glob| glob.is_match(pair.case.as_str()))
    }

    /// Whether an agent matches the filters.
    pub fn agent(&self, agent: &AgentName) -> bool {
        self.agents.is_empty() || self.agents.iter().any(|name| name == agent.as_str())
    }

    /// Returns whether all cases are selected.
    pub fn selection(&self) -> CaseSelection {
        if self.cases.is_empty() && self.shard.is_none() { CaseSelection::Whole } else { CaseSelection::Part }
    }
}

/// The config and its suites, read and checked.
pub struct Plan {
    /// The config.
    pub config: Config,
    /// The suites, in the order of the config.
    pub suites: Vec<LoadedSuite>,
    /// The filters and options.
    pub wanted: Selection,
    /// The day of the run as `YYYY-MM-DD`, for quarantines.
    pub today: String,
    /// The commit that these rules come from.
    pub rules: RulesSource,
}

impl Plan {
    /// Returns the golden set of a suite that this plan has already read with the same settings, if no file read for it differs
    /// between the two commits. The other commit's golden set is then equal.
    fn golden_set(&self, for_reading: &SuiteConfig) -> Option<Arc<dyn Suite>> {
        let loaded = self.suites.iter().find(|loaded| loaded.config.for_reading() == *for_reading)?;
        loaded.reads.opens_alike().then(|| loaded.suite.clone())
    }
}

/// The commit whose rules judge the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulesSource {
    /// The graded commit.
    Head,
    /// The base commit: a case's runs may be missing, and its agents may have changed since.
    Base,
}

/// A suite with its files read.
pub struct LoadedSuite {
    /// Its config.
    pub config: SuiteConfig,
    /// Its kind.
    pub kind: &'static SuiteKind,
    /// Its golden files.
    pub suite: Arc<dyn Suite>,
    /// The gates of each metric of the kind in the deterministic tier.
    pub gates: Vec<Vec<PlannedGate>>,
    /// The gates of each metric of the kind in the model tier.
    pub model_gates: Vec<Vec<PlannedGate>>,
    /// The prompt packages of its agents.
    pub prompts: BTreeMap<AgentName, PromptPackage>,
    /// The human labels of its cases.
    pub labels: Labels,
    /// Its LLM judges.
    pub judges: Vec<LoadedJudge>,
    /// The files read for it that differ on the other commit.
    pub reads: ReadLog,
    /// The pairs to grade; `None` for all.
    pub known: Option<BTreeSet<(CaseId, AgentName)>>,
}

impl LoadedSuite {
    /// Returns the gates of each metric of the kind in a tier.
    pub fn gates_of(&self, tier: Tier) -> &[Vec<PlannedGate>] {
        match tier {
            Tier::Deterministic => &self.gates,
            Tier::Model => &self.model_gates,
        }
    }

    /// Returns the indices of the selected pairs.
    pub fn chosen<'a>(&'a self, wanted: &'a Selection) -> impl Iterator<Item = usize> + 'a {
        let pairs = self.suite.pairs().iter().enumerate();
        let known = |pair: &Pair| {
            self.known.as_ref().is_none_or(|known| known.contains(&(pair.case.clone(), pair.agent.clone())))
        };
        let chosen = move |pair: &Pair| {
            wanted.agent(&pair.agent)
                && wanted.case(pair)
                && wanted.is_of_shard(&self.config.id, &pair.case)
                && known(pair)
        };
        pairs.filter(move |(_, pair)| chosen(pair)).map(|(index, _)| index)
    }
}

/// Returns the source of an agent's runs in a tier.
pub fn source_of(agent: &Agent, tier: Tier) -> Option<&RunSource> {
    agent.source(tier)
}

/// Reads the config and the selected suites.
///
/// # Errors
/// All problems in them, or filters that match nothing.
pub fn plan(files: &dyn Files, file: &RepoPath, wanted: Selection, clock: &Clock) -> Result<Plan, Diagnostics> {
    plan_with_reads(files, None, file, wanted, clock)
}

/// Like [`plan`], and also records which read files differ from another commit.
///
/// # Errors
/// As [`plan`].
pub fn plan_with_reads(
    files: &dyn Files,
    other: Option<&dyn OtherCommit>,
    file: &RepoPath,
    wanted: Selection,
    clock: &Clock,
) -> Result<Plan, Diagnostics> {
    let source = files.text(file)?;
    let mut config = read_config(&source)?;
    let reader = PlanReader {
        files,
        source: &source,
        locations: yaml::YamlLocations::of(&source),
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
    let chosen = config
        .suites
        .iter()
        .filter(|suite| wanted.suites.is_empty() || wanted.suites.iter().any(|id| id == suite.id.as_str()));
    let chosen: Vec<&SuiteConfig> = chosen
        .filter(|suite| wanted.tiers.is_empty() || suite.tiers.iter().any(|tier| wanted.tiers.contains(tier)))
        .collect();
    let suites: Vec<LoadedSuite> =
        chosen.iter().filter_map(|suite| problems.keep_all(reader.open(suite, &config))).collect();
    let mut plan =
        problems.or(Plan { config: config.clone(), suites, wanted, today: clock.today(), rules: RulesSource::Head })?;
    problems = Diagnostics::default();
    plan.suites.iter().for_each(|loaded| pairs::check(loaded, &config, &mut problems));
    plan.suites.iter().for_each(|loaded| quarantines::quarantines(loaded, clock, &mut problems));
    for name in &plan.wanted.agents {
        let known = plan.suites.iter().flat_map(|loaded| loaded.suite.pairs()).map(|pair| pair.agent.as_str());
        if let Some(problem) = reader.unknown("agent", name, known) {
            problems.push(problem);
        }
    }
    let cases = plan.suites.iter().flat_map(|loaded| loaded.suite.pairs()).map(|pair| pair.case.to_string());
    let all_cases: BTreeSet<String> = cases.collect();
    plan.suites.retain(|loaded| loaded.chosen(&plan.wanted).next().is_some());
    // A shard may be empty; `merge` checks that the whole is not.
    if problems.is_empty() && plan.suites.is_empty() && plan.wanted.shard.is_none() {
        problems.push(selection::nothing_selected(file, &plan.wanted, &all_cases));
    }
    problems.or(plan)
}

/// Reads the suites of the base commit that are in `known`, to judge their pairs in `known`. `head` is the head's plan, which was
/// compared with this commit when it was read.
///
/// # Errors
/// Files that this version cannot read.
pub fn base_plan(
    files: &dyn Files,
    other: &dyn OtherCommit,
    head: &Plan,
    config: &Config,
    known: BTreeMap<SuiteId, BTreeSet<(CaseId, AgentName)>>,
    wanted: Selection,
    clock: &Clock,
) -> Result<Plan, Diagnostics> {
    let source = files.text(&config.file)?;
    let locations = yaml::YamlLocations::of(&source);
    let reader = PlanReader {
        files,
        source: &source,
        locations,
        other: Some(other),
        rules: RulesSource::Base,
        head: Some(head),
    };
    let mut problems = Diagnostics::default();
    let mut suites = Vec::new();
    for suite in config.suites.iter().filter(|suite| known.contains_key(&suite.id)) {
        let Some(loaded) = problems.keep_all(reader.open(suite, config)) else { continue };
        suites.push(LoadedSuite { known: known.get(&suite.id).cloned(), ..loaded });
    }
    problems.or(Plan { config: config.clone(), suites, wanted, today: clock.today(), rules: RulesSource::Base })
}

/// Reports labels of unknown cases and agents, and labels without effect.
fn strays(labels: &Labels, suite: &SuiteConfig, golden: &dyn Suite, problems: &mut Diagnostics) {
    let cases: BTreeSet<&str> = golden.pairs().iter().map(|pair| pair.case.as_str()).collect();
    let graded = golden.pairs().iter().map(|pair| pair.agent.as_str());
    let agents: BTreeSet<&str> = graded.chain(suite.agents.keys().map(AgentName::as_str)).collect();
    labels.strays(&cases, &agents).into_iter().for_each(|problem| problems.push(problem));
    kind(&suite.kind)
        .map(|kind| labels.without_effect(kind))
        .unwrap_or_default()
        .into_iter()
        .for_each(|problem| problems.push(problem));
}

/// Replaces the target of all live agents in the model tier.
fn redirect(config: &mut Config, target: &str) {
    for agent in config.suites.iter_mut().flat_map(|suite| suite.agents.values_mut()) {
        if let Some(RunSource::Live(live)) = &mut agent.model {
            target.clone_into(&mut live.target);
            live.critic.iter_mut().for_each(|critic| target.clone_into(critic));
        }
    }
}

struct PlanReader<'a> {
    files: &'a dyn Files,
    source: &'a SourceText,
    locations: yaml::YamlLocations<'a>,
    /// The commit to compare the read files with.
    other: Option<&'a dyn OtherCommit>,
    rules: RulesSource,
    /// The head's plan, if this reads the base commit.
    head: Option<&'a Plan>,
}

impl PlanReader<'_> {
    fn problem(
        &self,
        path: &[Step<'_>],
        code: &'static str,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::of_file(&self.source.file, code, what, help).at(self.locations.at(path))
    }

    fn unknown<'k>(&self, word: &str, name: &str, known: impl Iterator<Item = &'k str>) -> Option<Diagnostic> {
        let known: BTreeSet<&str> = known.collect();
        if known.contains(name) {
            return None;
        }
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("use one of {}", known.into_iter().collect::<Vec<_>>().join(", ")),
        };
        let what = format!("--{word}: unknown {word} \"{name}\"");
        Some(Diagnostic::of_file(&self.source.file, "nothing-selected", what, help))
    }

    fn open(&self, suite: &SuiteConfig, config: &Config) -> Result<LoadedSuite, Diagnostics> {
        let at = |key| [Key("suites"), At(suite.index), Key(key)];
        let Some(kind) = kind(&suite.kind) else {
            let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            let help = match nearest(&suite.kind, names.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("the kinds are {}", names.join(", ")),
            };
            return Err(self
                .problem(&at("kind"), "unknown-kind", format!("unknown kind \"{}\"", suite.kind), help)
                .into());
        };
        let mut problems = Diagnostics::default();
        self.check_agents(suite, kind, &mut problems);
        let gates = self.gates(suite, kind, &mut problems);
        let in_the_model_tier = |spec| planned_in(spec, suite, Tier::Model).unwrap_or_default();
        let model_gates = kind.metrics.iter().map(in_the_model_tier).collect();
        // Only the head's rules use prompts.
        let prompts = match self.rules {
            RulesSource::Head => self.prompts(suite, config, &mut problems),
            RulesSource::Base => BTreeMap::new(),
        };
        let reads = ReadLog::comparing(self.other);
        let recorded = self.other.map(|other| RecordedFiles::new(self.files, other, &reads, ReadFor::Suite));
        let files: &dyn Files = recorded.as_ref().map_or(self.files, |recorded| recorded);
        let labels = problems.keep_all(Labels::open(suite.labels.as_ref(), files)).unwrap_or_default();
        let for_reading = suite.for_reading();
        let known = self.head.and_then(|head| head.golden_set(&for_reading));
        let loaded: Option<Arc<dyn Suite>> = match known {
            Some(known) => Some(known),
            None => problems.keep_all((kind.open)(&for_reading, files)).map(Arc::from),
        };
        drop(recorded);
        if let Some(loaded) = &loaded {
            strays(&labels, suite, loaded.as_ref(), &mut problems);
        }
        if loaded.as_ref().is_some_and(|loaded| loaded.pairs().is_empty()) {
            let what = format!("the suite \"{}\" has no case", suite.id);
            problems.push(self.problem(
                &at("path"),
                "empty-suite",
                what,
                format!("add golden files under {}", suite.path),
            ));
        }
        let judges = match self.rules {
            RulesSource::Head => loaded.as_deref().map(|golden| self.judges(suite, kind, golden, &mut problems)),
            RulesSource::Base => None,
        };
        match loaded {
            Some(suite_files) => problems.or(LoadedSuite {
                config: suite.clone(),
                kind,
                suite: suite_files,
                gates,
                model_gates,
                prompts,
                labels,
                judges: judges.unwrap_or_default(),
                reads,
                known: None,
            }),
            None => Err(problems),
        }
    }

    /// Reads the prompt packages of the agents whose runs the suite grades: its own, or those of another suite.
    fn prompts(
        &self,
        suite: &SuiteConfig,
        config: &Config,
        problems: &mut Diagnostics,
    ) -> BTreeMap<AgentName, PromptPackage> {
        let of = |other: &&SuiteConfig| other.id == suite.id || suite.runs_of.as_ref() == Some(&other.id);
        let mut prompts = BTreeMap::new();
        for (name, agent) in config.suites.iter().filter(of).flat_map(|other| &other.agents) {
            let Some(path) = &agent.prompt else { continue };
            if let Some(package) = problems.keep(prompt_package(self.files, self.other, path)) {
                prompts.insert(name.clone(), package);
            }
        }
        prompts
    }

    fn gates(&self, suite: &SuiteConfig, kind: &SuiteKind, problems: &mut Diagnostics) -> Vec<Vec<PlannedGate>> {
        for metric in suite.gates.keys().filter(|metric| !judges::is_known(suite, kind, metric)) {
            let names: Vec<&str> = kind.metrics.iter().map(|spec| spec.name).collect();
            let help = match nearest(metric, names.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("the metrics of {} are {}", kind.name, names.join(", ")),
            };
            let path = [Key("suites"), At(suite.index), Key("gates"), Key(metric)];
            problems.push(self.problem(&path, "unknown-metric", format!("unknown metric \"{metric}\""), help));
        }
        let mut gates = Vec::with_capacity(kind.metrics.len());
        for spec in kind.metrics {
            let stated = suite.gates.get(spec.name).map_or(&[][..], Vec::as_slice);
            gates.push(planned_in(spec, suite, Tier::Deterministic).unwrap_or_else(|found| {
                for problem in found {
                    let path = [Key("suites"), At(suite.index), Key("gates"), Key(spec.name), Key(problem.key)];
                    let listed = [
                        Key("suites"),
                        At(suite.index),
                        Key("gates"),
                        Key(spec.name),
                        At(problem.index),
                        Key(problem.key),
                    ];
                    let path: &[Step<'_>] = if stated.len() > 1 { &listed } else { &path };
                    problems.push(self.problem(path, "bad-gate", problem.what, problem.help));
                }
                Vec::new()
            }));
        }
        gates
    }
}
