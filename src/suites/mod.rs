//! The kinds of suites: their golden files, their metrics, their pure grading.
//!
//! A kind is one module with one `KIND`; adding one is a file, a `mod` line and a line of [`KINDS`].

mod asking;
mod atoms;
mod audit;
mod calls;
mod client;
mod cross_agent;
mod deltas;
mod digest;
mod entries;
mod every_kind;
mod evidence;
mod expected;
mod expected_deltas;
mod failure_classifier;
mod finding;
mod findings;
mod folder;
mod golden;
mod grade_context;
mod input;
mod interview;
mod judged;
mod labels;
mod matching;
mod meaning;
mod person_scores;
mod produced;
mod property;
mod quarantine;
mod reading;
mod reconciliation;
mod revision;
mod rubric;
mod rule_text;
mod rules;
mod snapshot;
mod stochastic;
mod terms;
mod tool_use;
mod triggers;
mod walk;

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{
    AgentName, Ask, CaseId, Grade, Json, MetricSpec, NextRole, PairResult, RepoPath, Ruling, Run, RunKey, SuiteConfig,
    Toolbox, UngradedReason,
};

pub use asking::in_words;
pub use audit::Audit;
pub use digest::{outputs_digest, sha256_hex, suite_digest};
pub use entries::{GoldenEntries, shipped_flags};
pub use every_kind::COMMON;
pub use grade_context::{Entry, EntryKind, Files, GradeContext, PromptPackage, is_of_the_system};
pub use input::{InputDigest, has_rounds, input_digest, is_of_another_case, is_same_text, is_shown_in, query};
pub use judged::{Exhibit, vote};
pub use labels::{GivenLabel, Label, LabelContent, LabelForm, Labels, NewLabel, with_label};
pub use meaning::MeaningReader;
pub use quarantine::Stated;
pub use rubric::DIMENSIONS;
pub use walk::{FilePaths, files_below};

/// Every kind there is.
pub const KINDS: &[&SuiteKind] = &[
    &findings::KIND,
    &triggers::KIND,
    &cross_agent::KIND,
    &interview::KIND,
    &stochastic::KIND,
    &reconciliation::KIND,
    &property::KIND,
    &evidence::KIND,
    &tool_use::KIND,
    &revision::KIND,
];

/// A kind of suite.
pub struct SuiteKind {
    /// Its name in configs.
    pub name: &'static str,
    /// Its scorer and the scorer's revision; numbers of two revisions are not compared.
    pub scorer: &'static str,
    /// Its metrics.
    pub metrics: &'static [MetricSpec],
    /// Who is graded.
    pub agents: AgentPolicy,
    /// The files that its own system wrote with a report.
    pub legacy_output: LegacyOutput,
    /// Where the fixtures that its cases name may lie.
    pub fixtures: FixtureFolder,
    /// The dimensions that people score; empty where a kind has none.
    pub label_dimensions: &'static [&'static str],
    /// The lists of terms that its suites may replace.
    pub terms: &'static [&'static str],
    /// One line for people.
    pub meaning: &'static str,
    /// Reads the golden files of a suite.
    pub open: SuiteOpener,
    /// The JSON Schemas of its golden files, by name; that of a case comes first.
    pub schemas: fn() -> Vec<(&'static str, schemars::Schema)>,
}

impl SuiteKind {
    /// Its metrics without those that every kind has.
    pub fn own_metrics(&self) -> &'static [MetricSpec] {
        &self.metrics[..self.metrics.len() - COMMON.len()]
    }
}

/// Reads the golden files of a suite, or gives everything in them that cannot be.
pub type SuiteOpener = fn(&SuiteConfig, &dyn Files) -> Result<Box<dyn Suite>, Diagnostics>;

/// Where the fixtures that cases name may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixtureFolder {
    /// In the suite's own folder.
    InSuite,
    /// In the suite's folder, or in its parent folder.
    BesideSuite,
}

/// The files that a kind's own system wrote beside a report, under the folder of `--out`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyOutput {
    /// None.
    None,
    /// `{suite}/latest.json`, and `{suite}/history/eval_{time}Z.json` for every run (seed 004).
    History,
    /// `evaluation-{time}.json`, `summary-{time}.json` and `golden/{suite}-{time}.json` (seed 001).
    Evaluations,
    /// `{suite}/attempts/{agent}-{case}-{sample}.json` for each loop, with every attempt of it (seed 003).
    Attempts,
}

/// Who is graded on a kind's suites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentPolicy {
    /// The agents that the config names.
    Named,
    /// One agent of this name, that the config does not name.
    Own(&'static str),
}

/// The golden files of one suite, read.
pub trait Suite: Send + Sync {
    /// The pairs to be graded, ordered by case, then agent.
    fn pairs(&self) -> &[Pair];

    /// Grades one completed sample of the pair at `place`: `runs` are those that the pair names, in its order.
    ///
    /// # Errors
    /// A file of the suite that cannot be read.
    fn grade(&self, index: usize, runs: &[Run], context: &GradeContext<'_>) -> Result<Grade, Diagnostic>;

    /// Sets what of a pair no single sample has, such as a variance, once the samples are folded: `samples` are the runs of the
    /// completed ones.
    fn together(&self, _index: usize, _samples: &[Vec<Run>], _pair: &mut PairResult) {}

    /// What the run at `run` of the pair at `place` asks of a live agent; nothing of what is expected is in it. `None` where
    /// the kind's agents are never asked, as rules are.
    ///
    /// # Errors
    /// A file of the suite that cannot be read, and a case that says too little to be asked.
    fn ask(&self, _index: usize, _run: usize, _shelf: &dyn Files) -> Result<Option<Ask>, Diagnostic> {
        Ok(None)
    }

    /// Reads the files that the agents of the pair at `place` are asked with, so that a document that no answer cites is compared, too.
    ///
    /// What cannot be read is refused where it is needed; here it counts as read.
    fn read_inputs(&self, index: usize, files: &dyn Files) {
        for run in 0..self.pairs()[index].runs.len() {
            let Ok(Some(Ask { tools: Toolbox::Folder { root, .. }, .. })) = self.ask(index, run, files) else {
                continue;
            };
            let below = files_below(files, &root).unwrap_or_default();
            below.values().for_each(|file| drop(files.bytes(file)));
        }
    }

    /// The loop that makes a run of the pair at `place`, where its agent has a critic beside it. `None` where the kind knows none,
    /// or the agent is the critic itself.
    ///
    /// # Errors
    /// A file of the suite that cannot be read.
    fn refinement(&self, _index: usize, _shelf: &dyn Files) -> Result<Option<Box<dyn Refinement>>, Diagnostic> {
        Ok(None)
    }

    /// What is kept for an audit of a run that did not complete, as JSON: the attempts of a loop until it broke off. It is no result.
    fn unfinished(&self, _index: usize, _run: &Run, _why: &UngradedReason) -> Option<Box<str>> {
        None
    }

    /// Cases that are listed and not run any more, each with its reason.
    fn retired(&self) -> &[(CaseId, String)] {
        &[]
    }

    /// What the kind has to say about one agent's results beside its numbers.
    fn remarks(&self, _pairs: &[PairResult], _verdict: &Ruling) -> Vec<String> {
        Vec::new()
    }

    /// What can be said of the golden files without a run, beside the problems that [`SuiteKind::open`] already refuses.
    fn audit(&self, files: &dyn Files) -> Audit;
}

/// A bounded loop of an actor and a critic, as pure decisions: what was answered so far says what is asked next.
pub trait Refinement: Send + Sync {
    /// What follows after these answers, each the `outputs` of who was asked; the loop begins with none.
    fn next(&self, answers: &[Json]) -> NextRole;

    /// The `outputs` of the whole run, as far as it came: they are graded and replayed like those of a recorded loop.
    fn outputs(&self, answers: &[Json]) -> Json;

    /// Everything beside the first request that the others depend on: two loops of one identity ask the same after the same answers.
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
    /// The digest of what is expected.
    pub digest: String,
    /// The runs that make up a sample; none where the case itself holds what is graded.
    pub runs: Vec<RunKey>,
    /// Samples planned where neither the command line nor the config says.
    pub samples: Option<u32>,
    /// Its quarantine, where its golden file states one.
    pub quarantine: Option<Box<Stated>>,
    /// The band of its own verdict, in place of the gates'; shown to the reader only.
    pub zone: Option<f64>,
}

impl Pair {
    /// The document that it is about: that of its runs (a contract that several cases look at), else the case itself.
    pub fn document(&self) -> &CaseId {
        self.runs.first().map_or(&self.case, |key| &key.case)
    }
}

/// The kind of this name.
pub fn kind(name: &str) -> Option<&'static SuiteKind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}
