//! Kind `cross_agent`: compares the runs of several agents on one document.

mod golden;
mod passages;
mod view;

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use self::golden::{CrossAgentCase, CrossAgentCaseForm, read_golden};
use self::passages::Documents;
use self::view::View;
use super::triggers::trigger_checks;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::Files;
use crate::model::{
    Better, ExplainedBy, Gate, Grade, InputLimit, Layer, Limit, LimitSide, MetricSpec, NeverClass,
    RepoPath, Run, Strictness, SuiteConfig, all_hold, indicator, share,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, CasePairs, FixtureFolder, GoldenForm, GuardClass, LegacyOutput, Pair, RunCaching,
    SampleScore, Sampling, SeedGates, Suite, SuiteKind,
};
use crate::suites::settings::{NoSettings, SettingsSpec};
use crate::suites::shared::answer::text::AnswerOutput;
use crate::suites::shared::case_files::{named_cases, suite_folder};
use crate::suites::shared::case_frame::Framed;
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::every_kind::CASE_PASS_RATE;
use crate::suites::shared::failure_classifier::FailureClassifier;
use crate::suites::shared::own_metrics::{metrics, values_of_sample};
use crate::suites::shared::produced::{FINDINGS, FINDINGS_FIELDS, FindingsOutput, produced};
use crate::suites::shared::rules::Rules;

pub const KIND: SuiteKind = SuiteKind {
    name: "cross_agent",
    scorer: "cross_agent/1",
    metrics: CrossAgentMetrics::TABLE,
    family: None,
    agents: AgentPolicy::OwnWithRunsOf("all"),
    score: SampleScore::Checks,
    never: &[GuardClass::of_checks(
        NeverClass::MustNotFind,
        &["must_not_trigger"],
    )],
    seed_gates: SeedGates::Stated,
    sampling: Sampling::Computed,
    settings: SettingsSpec::of::<NoSettings>(),
    legacy_output: LegacyOutput::None,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[],
    meaning: "several agents on one document: what they should share, repeat and agree on",
    open: open_suite,
    outputs: FINDINGS,
    fields: FINDINGS_FIELDS,
    answer: AnswerOutput::None,
    caching: RunCaching::Usual,
    golden: GoldenForm::OneCase,
    description: DescriptionKeys::USUAL,
    schemas: || {
        vec![(
            "cross-agent-case",
            schemars::schema_for!(Framed<CrossAgentCaseForm<'_>>),
        )]
    },
};

metrics!(CrossAgentMetrics {
    cross_recall: MetricSpec {
        explained_by: ExplainedBy::Checks(&["shared_finding"]),
        gates: &[Gate::Threshold {
            side: LimitSide::Min,
            limit: Limit::Number(0.80),
            strictness: Strictness::Hard
        }],
        meaning: "shared findings that enough agents produced / shared findings",
        ..MetricSpec::PLAIN
    },
    duplicate_rate: MetricSpec {
        better: Better::Lower,
        meaning: "findings that another agent also produced, by category and quote or wording / findings",
        ..MetricSpec::PLAIN
    },
    contradiction_rate: MetricSpec {
        explained_by: ExplainedBy::Checks(&["no_contradiction"]),
        better: Better::Lower,
        gates: &[Gate::NONE],
        meaning: "shared findings whose severities differ too much between agents / shared findings",
        ..MetricSpec::PLAIN
    },
    case_pass_rate: CASE_PASS_RATE,
});

struct CrossAgent {
    /// The documents that the agents may cite; `None` if they are unknown.
    documents: Option<Documents>,
    rules: Rules,
    table: CaseTable<CrossAgentCase>,
}

fn open_suite(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let Some(runs_of) = suite.runs_of.as_ref() else {
        let help = "name the suite whose runs are compared";
        return Err(Diagnostic::of_file(
            &suite.path,
            Code::MISSING_KEY,
            format!("the suite \"{}\" has no runs_of", suite.id),
            help,
        )
        .into());
    };
    let own_folder = suite_folder(&suite.path);
    let has_rules = files
        .list(&own_folder)
        .is_ok_and(|entries| entries.iter().any(|entry| entry.name == "rules.yaml"));
    let rules = if has_rules {
        files
            .text(&own_folder.child("rules.yaml"))
            .map_err(Diagnostics::from)
            .and_then(|source| Rules::read(&source))
    } else {
        Ok(Rules::default())
    };
    let rules = problems.keep_all(rules).unwrap_or_default();
    let documents = suite
        .runs_in
        .as_ref()
        .and_then(|path| list_documents(path, files));
    let folder = suite.path.child("cases");
    let cases = named_cases(suite, files, &folder, &mut problems);
    let read: Vec<_> = cases
        .par_iter()
        .map(|case| {
            case.read(files, |source, _| {
                read_golden(case, source, &rules, runs_of)
            })
        })
        .collect();
    let mut rows: Vec<(CrossAgentCase, [Pair; 1])> = Vec::new();
    for case in read {
        if let Some((pair, case)) = problems.keep(case) {
            rows.push((case, [pair]));
        }
    }
    let table = CaseTable::of(folder, rows);
    problems.or(Box::new(CrossAgent {
        documents,
        rules,
        table,
    }))
}

/// The documents of the suite whose runs are compared; if they cannot be listed, that suite reports it.
fn list_documents(suite: &RepoPath, files: &dyn Files) -> Option<Documents> {
    let folder = suite_folder(suite).child("contracts");
    let entries = files.list(&folder).ok()?;
    let names = entries.into_iter().map(|entry| entry.name).collect();
    Some(Documents { folder, names })
}

impl Suite for CrossAgent {
    fn case_pairs(&self) -> &CasePairs {
        &self.table.pairs
    }

    fn grade(
        &self,
        pair: &Pair,
        runs: &[Run],
        context: &GradeContext<'_>,
    ) -> Result<Grade, Diagnostic> {
        let case = self.table.case(pair);
        let produced: Vec<FindingsOutput> = runs
            .iter()
            .map(|run| comparable(Arc::unwrap_or_clone(produced(run))))
            .collect();
        let mut blames = Vec::with_capacity(runs.len());
        for ((agent, run), output) in case.agents.iter().zip(runs).zip(&produced) {
            blames.push(FailureClassifier::of(agent, run, context, &output.flaws));
        }
        let view = View {
            case,
            produced: &produced,
            blames: &blames,
            documents: self.documents.as_ref(),
        };
        let doubled = view.duplicates(context)?;
        let all = produced.iter().map(|output| output.findings.len()).sum();
        let agreed = case
            .shared
            .iter()
            .filter(|shared| view.finders(shared).len() >= shared.min_agents)
            .count();
        // Without a required agreement nothing is measured, so that no gate can fail on it.
        let contradictions = if case.no_contradictions {
            let contradicted = case
                .shared
                .iter()
                .filter(|shared| view.spread(shared) > shared.max_spread)
                .count();
            Some(share(contradicted, case.shared.len()).unwrap_or(0.0))
        } else {
            None
        };
        let mut checks = view.checks(&doubled);
        let fired = view.fired(&self.rules);
        let all_fired: BTreeSet<&str> = fired.iter().flatten().copied().collect();
        checks.extend(trigger_checks(
            &self.rules,
            &case.expected,
            &case.forbidden,
            &all_fired,
            &|id, detail, action| view.wrongly_called(&self.rules, &fired, id, &detail, &action),
        ));
        let layer = produced
            .iter()
            .map(|output| output.layer)
            .max()
            .unwrap_or(Layer::Structured);
        let values = CrossAgentMetrics {
            cross_recall: share(agreed, case.shared.len()),
            duplicate_rate: Some(share(doubled.len(), all).unwrap_or(0.0)),
            contradiction_rate: contradictions,
            case_pass_rate: Some(indicator(all_hold(&checks))),
        };
        let shortfalls = view.shortfalls(&doubled);
        Ok(Grade {
            values: values_of_sample(CrossAgentMetrics::TABLE, layer.into(), values),
            checks,
            shortfalls,
            layer,
            kept: None,
        })
    }
}

/// Takes an answer for unreadable that has more findings than [`InputLimit::COMPARED_FINDINGS`]: each is compared with each of another
/// agent.
fn comparable(output: FindingsOutput) -> FindingsOutput {
    let limit = &InputLimit::COMPARED_FINDINGS;
    if !limit.is_exceeded_by(output.findings.len()) {
        return output;
    }
    let flaw = format!(
        "{} findings; the agents of a case are compared by at most {limit} each",
        output.findings.len()
    );
    let (findings, gaps) = (Vec::new(), Vec::new());
    FindingsOutput {
        findings,
        unreadable_quotes: 0,
        gaps,
        layer: Layer::Unreadable,
        flaws: vec![flaw],
    }
}
