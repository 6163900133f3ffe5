//! Kind `tool_use`: agents that call tools and answer in text.

use std::collections::BTreeSet;

pub use self::cases::entries;
use self::cases::{CATEGORIES, Flags, ToolUseCase, ToolUseCaseForm, cases, unanswerable};
use self::checks::ToolUseChecker;
use self::produced::ToolUseOutput;
use self::settings::{BUILT_IN_FLAG, ToolUseSettings};
use self::tool_counts::UNEXPECTED_TOOL_RATE;
use self::tools::{ToolForm, tools};
use crate::diag::{Diagnostic, Diagnostics, Point, nearest};
use crate::files::Files;
use crate::model::{
    Ask, Better, CannedTool, CaseTag, Check, ExplainedBy, Gate, Grade, Layer, MetricSpec,
    NeverClass, OutputField, RecordPart, Run, RunKey, SimulatedUser, SuiteConfig, Tag, Toolbox,
    all_hold, indicator, interned, share,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, CasePairs, FixtureFolder, GoldenForm, GuardClass, LegacyOutput, OutputLists, Pair,
    RunCaching, SampleScore, Sampling, SeedGates, Suite, SuiteKind,
};
use crate::suites::settings::SettingsSpec;
use crate::suites::shared::answer::reader::AnswerReader;
use crate::suites::shared::answer::text::AnswerOutput;
use crate::suites::shared::audit::Audit;
use crate::suites::shared::case_files::golden_text;
use crate::suites::shared::case_frame::Framed;
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::every_kind::CASE_PASS_RATE;
use crate::suites::shared::failure_classifier::FailureClassifier;
use crate::suites::shared::folder::paired_cases;
use crate::suites::shared::own_metrics::{ReadPart, metrics, values_of_sample};
use crate::suites::shared::terms::{BuiltInTerms, TermList};

mod cases;
mod checks;
mod produced;
mod settings;
mod tool_counts;
mod tools;
mod trajectory;
mod turn_checks;
mod turns;

/// The names of its outputs, and of the calls among the steps.
const FIELDS: &[OutputField] = &[
    OutputField::named("text", &[]),
    of_calls("tool_calls"),
    of_calls("tool_calls.name"),
    of_calls("tool_calls.arguments"),
    of_calls("tool_calls.result"),
];

const fn of_calls(name: &'static str) -> OutputField {
    OutputField {
        part: RecordPart::Intermediate,
        ..OutputField::named(name, &[])
    }
}

pub const KIND: SuiteKind = SuiteKind {
    name: "tool_use",
    scorer: "tool_use/1",
    metrics: ToolUseMetrics::TABLE,
    family: Some(category_metric),
    agents: AgentPolicy::Named,
    score: SampleScore::Checks,
    never: &[
        GuardClass::of_checks(NeverClass::ForbiddenTool, &["forbidden_tools", "no_tool"]),
        GuardClass::on_request(NeverClass::UnexpectedTool, "unexpected_tool_rate"),
    ],
    seed_gates: SeedGates::Stated,
    sampling: Sampling::Sampled,
    settings: SettingsSpec::of::<ToolUseSettings>(),
    legacy_output: LegacyOutput::History,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[DISCLAIMER],
    meaning: "agents that call tools and answer in text, checked for the expected tools, phrases and data",
    open: open_suite,
    outputs: OutputLists::NONE,
    fields: FIELDS,
    answer: AnswerOutput::Under(&["text"]),
    caching: RunCaching::Usual,
    golden: GoldenForm::Entries(entries),
    description: DescriptionKeys::USUAL,
    schemas: || {
        vec![
            (
                "tool-use-case",
                schemars::schema_for!(Framed<ToolUseCaseForm>),
            ),
            ("tool-use-tools", schemars::schema_for!(Vec<ToolForm>)),
        ]
    },
};

/// The phrases that admit a limit.
const DISCLAIMER: BuiltInTerms = BuiltInTerms {
    name: "disclaimer",
    text: include_str!("terms/disclaimer.txt"),
};

metrics!(ToolUseMetrics {
    case_pass_rate: MetricSpec {
        gates: &[Gate::PERFECT],
        ..CASE_PASS_RATE
    },
    case_pass_rate_happy_path: MetricSpec {
        name: "case_pass_rate[happy_path]",
        meaning: "the same for the happy-path cases",
        ..MetricSpec::RATE
    },
    case_pass_rate_edge_case: MetricSpec {
        name: "case_pass_rate[edge_case]",
        meaning: "the same for the edge cases",
        ..MetricSpec::RATE
    },
    case_pass_rate_adversarial: MetricSpec {
        name: "case_pass_rate[adversarial]",
        meaning: "the same for the adversarial cases",
        ..MetricSpec::RATE
    },
    case_pass_rate_multi_step: MetricSpec {
        name: "case_pass_rate[multi_step]",
        meaning: "the same for the cases with several steps",
        ..MetricSpec::RATE
    },
    tool_recall: MetricSpec {
        explained_by: ExplainedBy::Checks(&["expected_tool"]),
        meaning: "called expected tools / expected tools; 1 if no tool is expected",
        ..MetricSpec::PLAIN
    },
    unexpected_tool_rate: MetricSpec {
        name: UNEXPECTED_TOOL_RATE,
        tag: Tag::Routing,
        better: Better::Lower,
        meaning: "calls of unexpected tools / calls; 0 without calls",
        ..MetricSpec::PLAIN
    },
    trajectory_f1: MetricSpec {
        explained_by: ExplainedBy::Checks(&["trajectory"]),
        meaning: "harmonic mean of precision and recall of the calls, compared with the case's trajectory",
        ..MetricSpec::PLAIN
    },
});

/// The category of a metric such as `case_pass_rate[CATEGORY]`.
fn category_of(metric: &str) -> Option<&str> {
    metric.strip_prefix("case_pass_rate[")?.strip_suffix(']')
}

fn category_metric(name: &str) -> Option<MetricSpec> {
    let category = category_of(name)?;
    CaseTag::new(category).ok()?;
    let meaning = interned(&format!("the same for the cases of category {category}"));
    Some(MetricSpec {
        name: interned(name),
        meaning,
        ..MetricSpec::RATE
    })
}

struct ToolUse {
    table: CaseTable<ToolUseCase>,
    /// The tools of a live agent; empty if the suite declares none.
    tools: Vec<CannedTool>,
}

fn open_suite(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let settings = suite.settings.get().cloned().unwrap_or_default();
    let ToolUseSettings {
        flags: stated,
        tools: declared,
    } = settings;
    let mut flags = Flags::default();
    if let Some(terms) = problems.keep(TermList::open(&DISCLAIMER, suite, files)) {
        flags.add(BUILT_IN_FLAG, false, terms);
    }
    for (name, flag) in &stated {
        if let Some(terms) = problems.keep(TermList::of_file(&flag.terms, files)) {
            flags.add(name, flag.when, terms);
        }
    }
    let Some(source) = problems.keep(golden_text(files, &suite.path)) else {
        return Err(problems);
    };
    let cases = problems
        .keep_all(cases(&source, &flags, &AnswerReader::new(suite, files)))
        .unwrap_or_default();
    let declared = declared.and_then(|file| problems.keep(files.text(&file)));
    let tools = declared
        .and_then(|source| problems.keep_all(tools(&source)))
        .unwrap_or_default();
    problems.or(Box::new(ToolUse {
        table: paired_cases(suite, suite.path.clone(), cases),
        tools,
    }))
}

impl Suite for ToolUse {
    fn case_pairs(&self) -> &CasePairs {
        &self.table.pairs
    }

    fn grade(
        &self,
        pair: &Pair,
        runs: &[Run],
        context: &GradeContext<'_>,
    ) -> Result<Grade, Diagnostic> {
        let (case, run) = (self.table.case(pair), &runs[0]);
        let produced = ToolUseOutput::read(run, &case.messages);
        let path = case
            .trajectory
            .as_ref()
            .map(|trajectory| trajectory.followed(&produced.calls));
        let classifier = FailureClassifier::new(pair, run, context, &produced.flaws);
        let checks = ToolUseChecker {
            case,
            produced: &produced,
            path: path.as_ref(),
            classifier,
        }
        .checks();
        let layer = if produced.flaws.is_empty() {
            Layer::Structured
        } else {
            Layer::Unreadable
        };
        let shortfalls = case.unexpected_calls(&produced.calls);
        let passed = indicator(all_hold(&checks));
        let (used, expected) = case.used_tools(&produced);
        let unexpected = produced
            .calls
            .iter()
            .filter(|call| case.is_unexpected(call))
            .count();
        // What a case does not state, its calls cannot miss.
        let (tool_recall, unexpected_tool_rate) = if case.states_tools() {
            (
                share(used, expected).or(Some(1.0)),
                share(unexpected, produced.calls.len()).or(Some(0.0)),
            )
        } else {
            (share(used, expected), None)
        };
        let read_part = if produced.answer.is_empty() && produced.calls.is_empty() {
            ReadPart::Nothing
        } else {
            ReadPart::Some
        };
        let values = ToolUseMetrics {
            case_pass_rate: Some(passed),
            case_pass_rate_happy_path: case.value_in("happy_path", passed),
            case_pass_rate_edge_case: case.value_in("edge_case", passed),
            case_pass_rate_adversarial: case.value_in("adversarial", passed),
            case_pass_rate_multi_step: case.value_in("multi_step", passed),
            tool_recall,
            unexpected_tool_rate,
            trajectory_f1: case.trajectory_f1(path.as_ref(), &produced),
        };
        Ok(Grade {
            values: values_of_sample(ToolUseMetrics::TABLE, read_part, values),
            checks,
            layer,
            shortfalls,
            kept: None,
        })
    }

    fn family_metrics(&self) -> Vec<MetricSpec> {
        let there: BTreeSet<&str> = self
            .table
            .cases
            .iter()
            .filter_map(|case| case.category.as_deref())
            .collect();
        let family = there
            .into_iter()
            .filter(|category| !CATEGORIES.contains(category));
        family
            .filter_map(|category| category_metric(&format!("case_pass_rate[{category}]")))
            .collect()
    }

    fn family_value(&self, pair: &Pair, metric: &str, checks: &[Check]) -> Option<f64> {
        let category = category_of(metric)?;
        let stated = self.table.case(pair).category.as_deref();
        (stated == Some(category)).then(|| indicator(all_hold(checks)))
    }

    fn ask(
        &self,
        pair: &Pair,
        _run: &RunKey,
        _files: &dyn Files,
    ) -> Result<Option<Ask>, Diagnostic> {
        let tools = if self.tools.is_empty() {
            Toolbox::Empty
        } else {
            Toolbox::Canned(self.tools.clone())
        };
        Ok(Some(self.table.case(pair).messages.ask(tools)))
    }

    fn simulated_user(&self, pair: &Pair) -> Option<(&SimulatedUser, Point)> {
        let case = self.table.case(pair);
        Some((
            case.messages.simulated()?,
            Point {
                line: case.line,
                column: 1,
            },
        ))
    }

    /// The request depends on the case alone.
    fn read_inputs(&self, _pair: &Pair, _files: &dyn Files) {}

    fn audit(&self, files: &dyn Files) -> Audit {
        let mut audit = Audit::default();
        if let (false, Ok(source)) = (
            self.tools.is_empty(),
            golden_text(files, &self.table.pairs.path),
        ) {
            unanswerable(&source, &self.tools)
                .into_iter()
                .for_each(|problem| audit.problems.push(problem));
        }
        let there: BTreeSet<&str> = self
            .table
            .cases
            .iter()
            .filter_map(|case| case.category.as_deref())
            .collect();
        for category in there
            .iter()
            .filter(|category| !CATEGORIES.contains(category))
        {
            if let Some(near) = nearest(category, CATEGORIES) {
                let message = format!("{category} is a category of its own");
                audit.note(
                    &self.table.pairs.path,
                    message,
                    format!("did you mean \"{near}\"?"),
                );
            }
        }
        audit
    }
}
