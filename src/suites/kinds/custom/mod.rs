//! Kind `custom`: any input, any expected values, and checks that the case or the suite states as expressions.

mod case;

use serde_json::{Value, json};

use self::case::{CustomCase, CustomCaseForm, read_case};
use crate::diag::{Diagnostic, Diagnostics};
use crate::files::Files;
use crate::format::lenient;
use crate::model::{
    Ask, Check, Grade, INPUT, Layer, Run, RunKey, SuiteConfig, all_hold, indicator,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, CasePairs, FixtureFolder, GoldenForm, LegacyOutput, OutputLists, Pair, RunCaching,
    SampleScore, Sampling, SeedGates, Suite, SuiteKind,
};
use crate::suites::settings::{NoSettings, SettingsSpec};
use crate::suites::shared::answer::text::{AnswerOutput, AnswerText};
use crate::suites::shared::calls::calls;
use crate::suites::shared::case_frame::Framed;
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::every_kind::CASE_PASS_RATE;
use crate::suites::shared::failure_classifier::FailureClassifier;
use crate::suites::shared::folder;
use crate::suites::shared::own_metrics::{ByMetric, metrics};

pub const KIND: SuiteKind = SuiteKind {
    name: "custom",
    scorer: "custom/1",
    metrics: CustomMetrics::TABLE,
    family: None,
    agents: AgentPolicy::Named,
    score: SampleScore::Checks,
    never: &[],
    seed_gates: SeedGates::None,
    sampling: Sampling::Sampled,
    settings: SettingsSpec::of::<NoSettings>(),
    legacy_output: LegacyOutput::None,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[],
    meaning: "agents of any other sort, checked by expressions over their outputs",
    open: open_suite,
    outputs: OutputLists::NONE,
    fields: &[],
    answer: ANSWER,
    caching: RunCaching::Usual,
    golden: GoldenForm::OneCase,
    description: DescriptionKeys::NONE,
    schemas: || vec![("custom-case", schemars::schema_for!(Framed<CustomCaseForm>))],
};

/// Where the outputs have the answer.
const ANSWER: AnswerOutput = AnswerOutput::UnderOrWhole(&["text"]);

metrics!(CustomMetrics {
    case_pass_rate: CASE_PASS_RATE,
});

struct Custom {
    table: CaseTable<CustomCase>,
}

fn open_suite(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let table = folder::open_cases(suite, files, suite.path.clone(), |source, _| {
        read_case(suite, source)
    })?;
    Ok(Box::new(Custom { table }))
}

impl Suite for Custom {
    fn case_pairs(&self) -> &CasePairs {
        &self.table.pairs
    }

    /// Only whether there is an answer: the checks of the case and of the suite are added to it.
    fn grade(
        &self,
        pair: &Pair,
        runs: &[Run],
        context: &GradeContext<'_>,
    ) -> Result<Grade, Diagnostic> {
        let run = &runs[0];
        let flaws = flaws(run);
        let classifier = FailureClassifier::new(pair, run, context, &flaws);
        let failure =
            classifier.schema("make the agent answer with a text, or with fields in `outputs`");
        let checks = vec![Check::only(
            "schema",
            || "an answer, or fields in `outputs`".to_owned(),
            failure,
        )];
        let layer = if flaws.is_empty() {
            Layer::Structured
        } else {
            Layer::Unreadable
        };
        let values = CustomMetrics {
            case_pass_rate: Some(indicator(all_hold(&checks))),
        };
        Ok(Grade {
            values: values.into_table_order(),
            checks,
            layer,
            shortfalls: Vec::new(),
            kept: None,
        })
    }

    fn ask(
        &self,
        pair: &Pair,
        _run: &RunKey,
        _files: &dyn Files,
    ) -> Result<Option<Ask>, Diagnostic> {
        let (prompt, inputs) = match &self.table.case(pair).input {
            Value::String(text) => (text.clone(), json!({"query": text})),
            value => (format!("{value:#}"), json!({INPUT: value})),
        };
        Ok(Some(Ask::plain(prompt, inputs, None)))
    }

    /// The request depends on the case alone.
    fn read_inputs(&self, _pair: &Pair, _files: &dyn Files) {}
}

/// What is wrong with the form of the output.
fn flaws(run: &Run) -> Vec<String> {
    let (calls, mut flaws) = calls(run);
    let has_fields = match lenient::any(&run.outputs) {
        Ok(Value::Object(fields)) => fields
            .iter()
            .any(|(key, value)| key != "text" && !value.is_null()),
        Ok(_) => false,
        Err(error) => {
            flaws.push(format!("\"outputs\" cannot be read: {error}"));
            false
        }
    };
    if flaws.is_empty() && !has_fields && calls.is_empty() && AnswerText::of(run, ANSWER).is_none()
    {
        flaws.push("the outputs are empty, and no tool was called".to_owned());
    }
    flaws
}
