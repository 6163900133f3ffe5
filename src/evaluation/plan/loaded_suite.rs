//! The config and its suites, as loaded for a run.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diag::Diagnostic;
use crate::evaluation::selection::Selection;
use crate::files::{Files, ReadLog};
use crate::gate::GatedMetric;
use crate::model::{
    AgentName, Ask, CaseId, Config, Grade, Judge, Layer, MetricSpec, PairResult, Reasoning, Run,
    SuiteConfig, SuiteId, Tier,
};
use crate::suites::{
    CaseStage, Exhibit, GradeContext, GradedSuite, HiddenReasoning, Labels, Pair,
    ParsedExpressions, PromptPackage, Refinement, Suite, SuiteKind, graded, with_hidden_reasoning,
};

/// The config and its suites, read and checked.
pub struct Plan {
    pub config: Config,
    /// The suites with a selected case, in the order of the config.
    pub suites: Vec<LoadedSuite>,
    /// The suites of which the filters select no case. They are only compared with the base commit, which may select some.
    pub unselected: Vec<LoadedSuite>,
    /// The filters and options.
    pub wanted: Selection,
    /// The day of the run as `YYYY-MM-DD`, for quarantines.
    pub today: String,
    /// The commit that these rules come from.
    pub rules: RulesSource,
}

impl Plan {
    /// The suite with a selected case and this id.
    pub fn suite(&self, id: &SuiteId) -> Option<&LoadedSuite> {
        self.suites.iter().find(|loaded| loaded.config.id == *id)
    }

    /// Returns all suites that were read, with or without a selected case.
    pub fn read_suites(&self) -> impl Iterator<Item = &LoadedSuite> + Clone {
        self.suites.iter().chain(&self.unselected)
    }

    /// Returns the golden set of a suite that this plan has already read with the same settings, if no file read for it differs
    /// between the two commits. The other commit's golden set is then equal.
    pub(super) fn golden_set(&self, for_reading: &SuiteConfig) -> Option<Arc<dyn Suite>> {
        let loaded = self
            .read_suites()
            .find(|loaded| loaded.config.for_reading() == *for_reading)?;
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

pub struct LoadedSuite {
    pub config: SuiteConfig,
    pub kind: &'static SuiteKind,
    /// Its golden files.
    pub suite: Arc<dyn Suite>,
    /// The checks and metrics that it states itself.
    pub expressions: ParsedExpressions,
    /// The metrics of the suite: those of the kind, then the others that a case or a gate uses.
    pub specs: Vec<MetricSpec>,
    /// The metrics of its drafts. They have no gates.
    pub draft_specs: Vec<MetricSpec>,
    /// The metrics with their gates in the deterministic tier.
    pub metrics: Vec<GatedMetric>,
    /// The metrics with their gates in the model tier.
    pub model_metrics: Vec<GatedMetric>,
    pub prompts: BTreeMap<AgentName, PromptPackage>,
    pub labels: Labels,
    pub judges: Vec<LoadedJudge>,
    /// The files read for it that differ on the other commit.
    pub reads: ReadLog,
    /// The pairs to grade; `None` for all.
    pub known: Option<BTreeSet<(CaseId, AgentName)>>,
}

impl LoadedSuite {
    /// Grades one completed sample of a pair.
    pub fn grade(
        &self,
        pair: &Pair,
        runs: &[Run],
        context: &GradeContext<'_>,
    ) -> Result<Grade, Diagnostic> {
        let Self {
            kind,
            suite,
            expressions,
            ..
        } = self;
        let grade = graded(
            &GradedSuite {
                kind,
                golden: suite.as_ref(),
                expressions,
            },
            self.specs_of(pair),
            pair,
            &self.answers(runs),
            context,
        )?;
        let of_texts = runs.iter().filter_map(|run| run.text_layer);
        Ok(Grade {
            layer: of_texts.fold(grade.layer, Layer::max),
            ..grade
        })
    }

    /// Sets the values of a pair that need all samples.
    pub fn set_values_of_all(
        &self,
        pair: &Pair,
        samples: &[Vec<Run>],
        context: &GradeContext<'_>,
        result: &mut PairResult,
    ) {
        match self.config.reasoning {
            Reasoning::Shown => self.suite.together(pair, samples, context, result),
            Reasoning::Hidden => {
                let samples: Vec<Vec<Run>> = samples
                    .iter()
                    .map(|runs| self.answers(runs).into_owned())
                    .collect();
                self.suite.together(pair, &samples, context, result);
            }
        }
    }

    /// The actor-critic loop of a pair, if it has one.
    pub fn refinement(
        &self,
        pair: &Pair,
        files: &dyn Files,
    ) -> Result<Option<Box<dyn Refinement>>, Diagnostic> {
        let refinement = self.suite.refinement(pair, files)?;
        Ok(match self.config.reasoning {
            Reasoning::Shown => refinement,
            Reasoning::Hidden => {
                refinement.map(|inner| Box::new(HiddenReasoning(inner)) as Box<dyn Refinement>)
            }
        })
    }

    /// What a judge sees of a run.
    pub fn exhibit(&self, ask: &Ask, run: &Run) -> Exhibit {
        match self.config.reasoning {
            Reasoning::Shown => Exhibit::of(self.kind, ask, run),
            Reasoning::Hidden => Exhibit::of(self.kind, ask, &with_hidden_reasoning(run)),
        }
    }

    /// The runs with what counts as their answers. Everything that grades or judges a run reads it so.
    pub fn answers<'r>(&self, runs: &'r [Run]) -> Cow<'r, [Run]> {
        match self.config.reasoning {
            Reasoning::Shown => Cow::Borrowed(runs),
            Reasoning::Hidden => Cow::Owned(runs.iter().map(with_hidden_reasoning).collect()),
        }
    }

    pub fn specs_of(&self, pair: &Pair) -> &[MetricSpec] {
        match pair.marks.stage {
            CaseStage::Accepted => &self.specs,
            CaseStage::Draft => &self.draft_specs,
        }
    }

    /// Returns the metrics of the suite with their gates in a tier.
    pub fn metrics_of(&self, tier: Tier) -> &[GatedMetric] {
        match tier {
            Tier::Deterministic => &self.metrics,
            Tier::Model => &self.model_metrics,
        }
    }

    /// Returns the selected pairs that count.
    pub fn chosen<'a>(&'a self, wanted: &'a Selection) -> impl Iterator<Item = &'a Pair> + 'a {
        self.suite
            .pairs()
            .iter()
            .filter(|pair| self.is_chosen(wanted, pair))
    }

    /// Returns the selected drafts. Shards are joined to a verdict, so they have none.
    pub fn chosen_drafts<'a>(
        &'a self,
        wanted: &'a Selection,
    ) -> impl Iterator<Item = &'a Pair> + 'a {
        let drafts = if wanted.shard.is_some() {
            &[]
        } else {
            self.suite.drafts()
        };
        drafts.iter().filter(|pair| self.is_chosen(wanted, pair))
    }

    /// Returns the selected pairs to run: those that count, then the drafts.
    pub fn chosen_to_run<'a>(
        &'a self,
        wanted: &'a Selection,
    ) -> impl Iterator<Item = &'a Pair> + 'a {
        self.chosen(wanted).chain(self.chosen_drafts(wanted))
    }

    fn is_chosen(&self, wanted: &Selection, pair: &Pair) -> bool {
        let known = |known: &BTreeSet<(CaseId, AgentName)>| {
            known.contains(&(pair.case.clone(), pair.agent.clone()))
        };
        wanted.agent(&pair.agent)
            && !wanted.leaves_out(&self.config.id, &pair.agent)
            && wanted.case(&self.config.id, pair)
            && wanted.is_of_shard(&self.config.id, &pair.case)
            && self.known.as_ref().is_none_or(known)
    }
}

pub struct LoadedJudge {
    pub config: Judge,
    pub rubric: String,
    pub rubric_sha256: String,
    /// The human labels by the same rubric.
    pub labels: Labels,
}
