//! What a kind of suite is, and what a loaded suite can do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use recover::Anchor;
use serde_json::Value;

use super::settings::SettingsSpec;
use super::shared::answer::checks::AnswerChecks;
use super::shared::answer::metrics::ANSWER_METRICS;
use super::shared::answer::reader::REFUSAL;
use super::shared::answer::text::AnswerOutput;
use super::shared::audit::Audit;
use super::shared::case_keys::DescriptionKeys;
use super::shared::case_marks::CaseMarks;
use super::shared::every_kind::COMMON;
use super::shared::grade_context::GradeContext;
use super::shared::quarantine::Stated;
use super::shared::terms::BuiltInTerms;
use super::shared::use_metrics::USE_METRICS;
use crate::diag::{Diagnostic, Diagnostics, Point};
use crate::files::{Files, files_below};
use crate::format::output_fields::OutputFields;
use crate::model::{
    AgentName, Ask, CaseId, Check, Grade, Json, MetricSpec, NeverClass, NextRole, OutputField,
    PairResult, RepoPath, Ruling, Run, RunKey, SimulatedUser, SuiteConfig, Toolbox, UngradedReason,
    ValueSource,
};

/// A kind of suite.
pub struct SuiteKind {
    /// Its name in configs.
    pub name: &'static str,
    /// Its scorer and the revision of the scorer; values of different revisions are not compared.
    pub scorer: &'static str,
    /// Its metrics.
    pub metrics: &'static [MetricSpec],
    /// The metrics whose names depend on the cases.
    pub family: Option<MetricFamily>,
    /// Which agents are graded.
    pub agents: AgentPolicy,
    /// How the score of a sample is made.
    pub score: SampleScore,
    /// The classes of checks that an agent may be required never to fail.
    pub never: &'static [GuardClass],
    /// Whether a document states gates for it.
    pub seed_gates: SeedGates,
    /// Whether its results need samples.
    pub sampling: Sampling,
    /// The settings that it adds to its suites.
    pub settings: SettingsSpec,
    /// The files that the seed's own system wrote next to its report.
    pub legacy_output: LegacyOutput,
    /// Where the fixtures of its cases may be.
    pub fixtures: FixtureFolder,
    /// The dimensions that people may score; empty if the kind has none.
    pub label_dimensions: &'static [&'static str],
    /// The built-in lists of terms that a suite may replace.
    pub terms: &'static [BuiltInTerms],
    /// A description in one line.
    pub meaning: &'static str,
    /// Reads the golden files of a suite.
    pub open: SuiteOpener,
    /// The lists of its outputs.
    pub outputs: OutputLists,
    /// What it reads of outputs, and the names of other systems for it; a suite of a kind without a table may name any key.
    pub fields: &'static [OutputField],
    /// Where its outputs hold the answer that cases state conditions on.
    pub answer: AnswerOutput,
    /// Whether an earlier run may answer the same request again.
    pub caching: RunCaching,
    /// The cases of a golden file.
    pub golden: GoldenForm,
    /// The keys of a case that describe it; they affect no grade.
    pub description: DescriptionKeys,
    /// The JSON Schemas of its golden files, by name; the schema of a case comes first.
    pub schemas: fn() -> Vec<(&'static str, schemars::Schema)>,
}

impl SuiteKind {
    /// Its metrics without the common ones.
    pub fn own_metrics(&self) -> &'static [MetricSpec] {
        &self.metrics[..self.metrics.len() - COMMON.len()]
    }

    /// The lists of terms that its suites may replace: those of the kind, and that of checks of answers.
    pub fn term_lists(&self) -> impl Iterator<Item = &BuiltInTerms> {
        let of_answers = match self.answer {
            AnswerOutput::None => None,
            AnswerOutput::Under(_)
            | AnswerOutput::UnderOrWhole(_)
            | AnswerOutput::TextOrList(_) => Some(&REFUSAL),
        };
        self.terms.iter().chain(of_answers)
    }

    /// Every metric that its suites may have: those of the kind, those of checks of answers, and those of what runs use.
    pub fn every_metric(&self) -> impl Iterator<Item = &'static MetricSpec> {
        let of_answers = match self.answer {
            AnswerOutput::None => &[],
            AnswerOutput::Under(_)
            | AnswerOutput::UnderOrWhole(_)
            | AnswerOutput::TextOrList(_) => ANSWER_METRICS,
        };
        let of_use = match self.agents {
            AgentPolicy::Own(_) => &[],
            AgentPolicy::Named | AgentPolicy::ActorsAndCritics | AgentPolicy::OwnWithRunsOf(_) => {
                USE_METRICS
            }
        };
        self.metrics.iter().chain(of_answers).chain(of_use)
    }

    /// The metrics of a suite with these pairs: those of the kind, those of checks of answers if a case or the suite states any, those of
    /// what runs use that have a gate, those of the family that its cases have, and the suite's own.
    pub fn metrics_of<'a>(
        &self,
        suite: &SuiteConfig,
        golden: Option<&dyn Suite>,
        pairs: impl IntoIterator<Item = &'a Pair>,
    ) -> Vec<MetricSpec> {
        let states_answer = !suite.expressions.is_empty()
            || pairs.into_iter().any(|pair| {
                pair.answer
                    .as_ref()
                    .is_some_and(|checks| !checks.is_empty())
            });
        let mut specs = self.metrics.to_vec();
        for spec in self.every_metric().skip(self.metrics.len()) {
            let is_used = match spec.source {
                ValueSource::Use => suite.gates.contains_key(spec.name),
                ValueSource::Grade | ValueSource::Expression => states_answer,
            };
            if is_used {
                specs.push(*spec);
            }
        }
        specs.extend(golden.map_or(Vec::new(), Suite::family_metrics));
        specs.extend(suite.expressions.specs());
        specs
    }

    /// Every metric that a suite may have: those of the kind, those of its family that have a gate, and the suite's own.
    pub fn metrics_in(&self, suite: &SuiteConfig) -> Vec<MetricSpec> {
        let of_family = suite.gates.keys().filter_map(|name| self.of_family(name));
        self.every_metric()
            .copied()
            .chain(of_family)
            .chain(suite.expressions.specs())
            .collect()
    }

    /// Where the agents of a suite write what the kind reads.
    pub fn output_fields(&self, suite: &SuiteConfig) -> OutputFields {
        OutputFields::new(self.fields, &suite.fields)
    }

    /// The metric of the family with this name.
    pub fn of_family(&self, name: &str) -> Option<MetricSpec> {
        let is_listed = self.every_metric().any(|spec| spec.name == name);
        self.family
            .filter(|_| !is_listed)
            .and_then(|family| family(name))
    }

    /// The metric with this name: one of the kind, or of its family.
    pub fn metric_named(&self, name: &str) -> Option<MetricSpec> {
        self.every_metric()
            .find(|spec| spec.name == name)
            .copied()
            .or_else(|| self.of_family(name))
    }
}

/// How the score of a sample is made, 0 to 1.
#[derive(Debug, Clone, Copy)]
pub enum SampleScore {
    /// The share of its checks that pass.
    Checks,
    /// The value of a metric, divided by this. Without the value, the share of checks.
    Value(&'static str, f64),
    /// The harmonic mean of two metrics. Without either, the share of checks.
    Harmonic(&'static str, &'static str),
}

/// A class of what an agent never does, as a kind checks it.
#[derive(Debug, Clone, Copy)]
pub struct GuardClass {
    pub class: NeverClass,
    /// Whether a suite that names no class has it.
    pub selection: GuardSelection,
    pub broken_by: BrokenBy,
}

/// Whether a suite has a class of guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardSelection {
    /// Unless it names others.
    Default,
    /// Only if it names it.
    OnRequest,
}

/// What breaks a class.
#[derive(Debug, Clone, Copy)]
pub enum BrokenBy {
    /// A failed check with one of these words.
    Checks(&'static [&'static str]),
    /// A value of this metric above 0.
    Metric(&'static str),
}

impl GuardClass {
    /// A class that suites have by default.
    pub const fn of_checks(class: NeverClass, words: &'static [&'static str]) -> Self {
        Self {
            class,
            selection: GuardSelection::Default,
            broken_by: BrokenBy::Checks(words),
        }
    }

    /// A class that a suite has to name.
    pub const fn on_request(class: NeverClass, metric: &'static str) -> Self {
        Self {
            class,
            selection: GuardSelection::OnRequest,
            broken_by: BrokenBy::Metric(metric),
        }
    }
}

/// Whether a document of an evaluation system states gates for a kind: the policy `seed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeedGates {
    Stated,
    None,
}

/// Whether another sample of the same agent may have another result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// A model answers.
    Sampled,
    /// The result is computed.
    Computed,
}

/// The metric with this name, if it is one of a family such as `case_pass_rate[CATEGORY]`.
pub type MetricFamily = fn(&str) -> Option<MetricSpec>;

/// Reads the golden files of a suite, or returns every problem in them.
pub type SuiteOpener = fn(&SuiteConfig, &dyn Files) -> Result<Box<dyn Suite>, Diagnostics>;

#[derive(Debug, Clone, Copy)]
pub struct OutputLists {
    /// The list that is recovered from a model's text.
    pub anchor: Option<Anchor<'static>>,
    /// The lists whose order has no meaning.
    pub unordered: &'static [&'static str],
    /// What not every agent writes: a metric of it is not measured if no run of the agent has it.
    pub optional: OptionalParts,
}

/// The parts of an output that an agent may never write.
#[derive(Debug, Clone, Copy)]
pub struct OptionalParts {
    pub names: &'static [&'static str],
    /// Those that a run has.
    pub of_run: fn(&Run) -> BTreeSet<&'static str>,
}

impl OptionalParts {
    /// An agent that leaves out a part is wrong.
    pub const NONE: Self = Self {
        names: &[],
        of_run: |_| BTreeSet::new(),
    };
}

impl OutputLists {
    /// No lists.
    pub const NONE: Self = Self {
        anchor: None,
        unordered: &[],
        optional: OptionalParts::NONE,
    };
}

/// Whether an earlier run may answer the same request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunCaching {
    /// Yes, if the user keeps a cache.
    Usual,
    /// No: the kind measures how much runs differ. The user can still ask for it.
    Never,
}

#[derive(Debug, Clone, Copy)]
pub enum GoldenForm {
    /// The file is one case, or a list of cases that each state their id.
    OneCase,
    /// The same, and a case is of one agent; in a list it states the agent as well.
    OneCaseOfAgent,
    /// The file has several cases: the part of each, by the case's id.
    Entries(GoldenEntriesOf),
}

impl GoldenForm {
    pub fn is_of_agent(self) -> bool {
        match self {
            Self::OneCaseOfAgent => true,
            Self::OneCase | Self::Entries(_) => false,
        }
    }
}

/// The part of each case in the value of a golden file, by the case's id.
pub type GoldenEntriesOf = fn(&Value) -> BTreeMap<String, &Value>;

/// Where the fixtures of cases may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixtureFolder {
    /// In the suite's own folder.
    InSuite,
    /// In the suite's folder, or in its parent folder.
    BesideSuite,
}

/// Files in the format of the seed's own system, written below the folder of `--out`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyOutput {
    /// No such files.
    None,
    /// `{suite}/latest.json`, and `{suite}/history/eval_{time}Z.json` for every run.
    History,
    /// `evaluation-{time}.json`, `summary-{time}.json` and `golden/{suite}-{time}.json`.
    Evaluations,
    /// `{suite}/attempts/{agent}-{case}-{sample}.json` for each loop, with every attempt of it.
    Attempts,
}

/// Which agents a kind's suites grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentPolicy {
    /// The agents of the config.
    Named,
    /// The agents of the config, each an actor or a critic; an actor's run may be a loop with a critic.
    ActorsAndCritics,
    /// A single agent with this name, which the config does not name.
    Own(&'static str),
    /// Such an agent that grades the runs of the suite in `runs_of`.
    OwnWithRunsOf(&'static str),
}

impl AgentPolicy {
    /// The name of the single agent that the config does not name.
    pub fn own_agent(self) -> Option<&'static str> {
        match self {
            Self::Named | Self::ActorsAndCritics => None,
            Self::Own(name) | Self::OwnWithRunsOf(name) => Some(name),
        }
    }

    /// Whether agents are actors or critics.
    pub fn has_roles(self) -> bool {
        match self {
            Self::ActorsAndCritics => true,
            Self::Named | Self::Own(_) | Self::OwnWithRunsOf(_) => false,
        }
    }

    /// Whether a suite needs `runs_of`.
    pub fn needs_runs_of(self) -> bool {
        match self {
            Self::OwnWithRunsOf(_) => true,
            Self::Named | Self::ActorsAndCritics | Self::Own(_) => false,
        }
    }
}

pub struct CasePairs {
    /// The folder of the cases, or the file that contains all of them.
    pub path: RepoPath,
    /// The pairs that count, ordered by case, then agent.
    pub counted: Vec<Pair>,
    /// The pairs of drafts, in the same order.
    pub drafts: Vec<Pair>,
    /// Cases that are listed and not run, each with its reason.
    pub retired: Vec<(CaseId, String)>,
}

/// A loaded suite with its golden files.
pub trait Suite: Send + Sync {
    /// Its pairs, and the folder of its cases.
    fn case_pairs(&self) -> &CasePairs;

    /// The pairs that count, ordered by case, then agent. Drafts are not among them.
    fn pairs(&self) -> &[Pair] {
        &self.case_pairs().counted
    }

    /// The pairs of draft cases, in the same order: they run and are shown, and count for nothing.
    fn drafts(&self) -> &[Pair] {
        &self.case_pairs().drafts
    }

    /// Grades one completed sample of one of its pairs; `runs` are the runs of the pair, in its order.
    fn grade(
        &self,
        pair: &Pair,
        runs: &[Run],
        context: &GradeContext<'_>,
    ) -> Result<Grade, Diagnostic>;

    /// The metrics of the kind's family that the cases have.
    fn family_metrics(&self) -> Vec<MetricSpec> {
        Vec::new()
    }

    /// The value of one of these metrics for a graded sample of a pair.
    fn family_value(&self, _pair: &Pair, _metric: &str, _checks: &[Check]) -> Option<f64> {
        None
    }

    /// Sets the values of a pair that need all samples, such as a variance; `samples` are the runs of the completed
    /// samples.
    fn together(
        &self,
        _pair: &Pair,
        _samples: &[Vec<Run>],
        _context: &GradeContext<'_>,
        _result: &mut PairResult,
    ) {
    }

    /// The request to a live agent for one of the pair's runs. It must not reveal expectations. `None` if the kind asks no
    /// agent, as with rules.
    ///
    /// # Errors
    /// A file of the suite cannot be read, or the case has too little content for a request.
    fn ask(
        &self,
        _pair: &Pair,
        _run: &RunKey,
        _files: &dyn Files,
    ) -> Result<Option<Ask>, Diagnostic> {
        Ok(None)
    }

    /// The user that a model plays in a case, and where the case states it.
    fn simulated_user(&self, _pair: &Pair) -> Option<(&SimulatedUser, Point)> {
        None
    }

    /// Reads the files of the request of a pair, so that a changed document counts as a change even if no
    /// answer cites it.
    ///
    /// Errors are ignored here; they are reported where the file is needed.
    fn read_inputs(&self, pair: &Pair, files: &dyn Files) {
        for run in &pair.runs {
            let Ok(Some(Ask {
                tools: Toolbox::Folder { root, .. },
                ..
            })) = self.ask(pair, run, files)
            else {
                continue;
            };
            let below = files_below(files, &root).unwrap_or_default();
            below.values().for_each(|file| drop(files.bytes(file)));
        }
    }

    /// The actor-critic loop of a pair. `None` if the kind has no loops, or the agent has no critic or is the
    /// critic.
    fn refinement(
        &self,
        _pair: &Pair,
        _files: &dyn Files,
    ) -> Result<Option<Box<dyn Refinement>>, Diagnostic> {
        Ok(None)
    }

    /// What the report keeps of an incomplete run, as JSON: the attempts of a loop before it stopped. It is not a result.
    fn unfinished(&self, _pair: &Pair, _run: &Run, _why: &UngradedReason) -> Option<Box<str>> {
        None
    }

    /// The answer of a dummy agent that puts all texts of the golden file into as few elements as possible; `None` if the kind knows no
    /// better one than the form of the answer gives.
    fn stuffed_answer(&self, _pair: &Pair, _golden: &str) -> Option<String> {
        None
    }

    /// Cases that are listed and no longer run, each with its reason.
    fn retired(&self) -> &[(CaseId, String)] {
        &self.case_pairs().retired
    }

    /// Remarks of the kind on one agent's results, in addition to the metrics.
    fn remarks(&self, _pairs: &[PairResult], _verdict: &Ruling) -> Vec<String> {
        Vec::new()
    }

    /// Problems and notes on the golden files that need no run and are not already errors of [`SuiteKind::open`]; those that the names in
    /// the folder of the cases show, for most kinds.
    fn audit(&self, files: &dyn Files) -> Audit {
        Audit::of_folder(files, &self.case_pairs().path)
    }
}

impl dyn Suite + '_ {
    /// The pairs to run: those that count, then the drafts.
    pub fn pairs_to_run(&self) -> impl Iterator<Item = &Pair> {
        self.pairs().iter().chain(self.drafts())
    }
}

/// A bounded loop of an actor and a critic, as pure decisions: the answers so far determine the next request.
pub trait Refinement: Send + Sync {
    /// The next step after these answers, each the `outputs` of one call; empty at the start.
    fn next(&self, answers: &[Json]) -> NextRole;

    /// The `outputs` of the whole run so far; graded and replayed like those of a recorded loop.
    fn outputs(&self, answers: &[Json]) -> Json;

    /// Everything but the first request that later requests depend on. Loops with the same identity ask the same after the
    /// same answers.
    fn identity(&self) -> String;
}

/// One agent on one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The case.
    pub case: CaseId,
    /// The agent.
    pub agent: AgentName,
    /// The golden file.
    pub golden: RepoPath,
    /// The digest of the expectations.
    pub digest: String,
    /// The runs of a sample; empty if the case itself contains what is graded.
    pub runs: Vec<RunKey>,
    /// Number of samples, if neither command line nor config states it.
    pub samples: Option<u32>,
    /// Whether the case is a draft, and its tags.
    pub marks: CaseMarks,
    /// Its quarantine, if the golden file states one.
    pub quarantine: Option<Box<Stated>>,
    /// The checks of the answer, if the golden file states them.
    pub answer: Option<Arc<AnswerChecks>>,
    /// The ambiguity zone of its own verdict, in place of the gates'; only shown to the reader.
    pub zone: Option<f64>,
    /// Its case in the table of its suite.
    pub case_index: CaseIndex,
}

impl Pair {
    /// The document of the pair: the case of its runs (a contract shared by several cases), else the case itself.
    pub fn document(&self) -> &CaseId {
        self.runs.first().map_or(&self.case, |key| &key.case)
    }
}

/// Which case of its suite a pair belongs to. Only the suite's table of cases sets and reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseIndex(pub(super) usize);

impl CaseIndex {
    /// Of a pair that is not in a table yet.
    pub(super) const NOT_SET: Self = Self(usize::MAX);
}
