//! Kind `property`: input changes that must not change an agent's classification.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Files, SourceText};
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, json};
use crate::model::{
    Aggregate, Ask, Check, CheckKey, ExplainedBy, Gate, Grade, Layer, MetricSpec, Run, RunKey,
    SuiteConfig, all_hold, indicator, share,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, CasePairs, FixtureFolder, GoldenForm, LegacyOutput, Pair, RunCaching, SampleScore,
    Sampling, SeedGates, Suite, SuiteKind,
};
use crate::suites::settings::{NoSettings, SettingsSpec};
use crate::suites::shared::answer::text::AnswerOutput;
use crate::suites::shared::case_frame::{CaseForm, Framed};
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::deltas::{DELTAS, DeltasOutput, form, kinds_by_item, produced};
use crate::suites::shared::every_kind::CASE_PASS_RATE;
use crate::suites::shared::expected_deltas::{ExpectedDeltaForm, ExpectedDeltas};
use crate::suites::shared::failure_classifier::{CheckFailure, FailureClassifier};
use crate::suites::shared::folder;
use crate::suites::shared::folder::{GoldenCase, StatedName};
use crate::suites::shared::own_metrics::{ReadPart, metrics, values_of_sample};
use crate::suites::shared::snapshot::RepositorySnapshot;

pub const KIND: SuiteKind = SuiteKind {
    name: "property",
    scorer: "property/1",
    metrics: PropertyMetrics::TABLE,
    family: None,
    agents: AgentPolicy::Named,
    score: SampleScore::Checks,
    never: &[],
    seed_gates: SeedGates::Stated,
    sampling: Sampling::Sampled,
    settings: SettingsSpec::of::<NoSettings>(),
    legacy_output: LegacyOutput::Evaluations,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[],
    meaning: "agents that must classify code the same if its meaning did not change",
    open: open_suite,
    outputs: DELTAS,
    fields: &[],
    answer: AnswerOutput::TextOrList("deltas"),
    caching: RunCaching::Usual,
    golden: GoldenForm::OneCase,
    description: DescriptionKeys::USUAL,
    schemas: || {
        vec![(
            "property-case",
            schemars::schema_for!(Framed<PropertyCaseForm>),
        )]
    },
};

metrics!(PropertyMetrics {
    classification_stability: MetricSpec {
        explained_by: ExplainedBy::Checks(&["stable"]),
        aggregate: Aggregate::Worst,
        gates: &[Gate::PERFECT],
        meaning: "variants with the same kinds by item as the base run / variants",
        ..MetricSpec::PLAIN
    },
    delta_precision: MetricSpec {
        explained_by: ExplainedBy::Checks(&["base_classified"]),
        meaning: "pairs of item and kind of the base run that were expected / those of the base run; null without expected_deltas",
        ..MetricSpec::PLAIN
    },
    case_pass_rate: CASE_PASS_RATE,
});

/// `cases/{case}.json`: a base run `{case}` and its variants `{case}--{name}`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "property case")]
struct PropertyCaseForm {
    /// The input of a live agent for the base run; without it, only an agent's own program can be asked.
    snapshot: Option<RepositorySnapshot>,
    /// The expected deltas of the base run; without them, an agent that always answers the same is stable.
    #[serde(default)]
    expected_deltas: Vec<ExpectedDeltaForm>,
    /// The variants.
    variants: Vec<VariantForm>,
}

impl CaseForm for PropertyCaseForm {}

/// One variant.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VariantForm {
    /// Its name; its run is `{case}--{name}`.
    name: String,
    /// How the input was changed, in words.
    transform: String,
    /// The input of a live agent for this variant; required for all variants or for none.
    snapshot: Option<RepositorySnapshot>,
}

struct PropertyCase {
    snapshot: Option<RepositorySnapshot>,
    expected: ExpectedDeltas,
    variants: Vec<VariantForm>,
}

struct Property {
    table: CaseTable<PropertyCase>,
}

fn open_suite(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let table =
        folder::open_named_cases(suite, files, suite.path.child("cases"), |source, _, id| {
            read_case(source, id)
        })?;
    Ok(Box::new(Property { table }))
}

fn read_case(source: &SourceText, id: &str) -> Result<GoldenCase<PropertyCase>, Diagnostic> {
    let Framed { frame, form } = json::golden(source)?;
    let PropertyCaseForm {
        snapshot,
        expected_deltas,
        variants,
    } = form;
    let cursor = JsonCursor::whole(source);
    if variants.is_empty() {
        let help = "add a variant: a base run alone cannot show stability";
        return Err(cursor.problem(
            &[Key("variants")],
            Code::NO_VARIANTS,
            "the list of variants is empty",
            help,
        ));
    }
    if let Some(snapshot) = &snapshot {
        snapshot.ranges(&cursor.inner(&[Key("snapshot")]))?;
    }
    let expected = ExpectedDeltas::read(&cursor, expected_deltas)?;
    let mut runs = vec![StatedName {
        text: id.to_owned(),
        at: 0,
    }];
    for (index, variant) in variants.iter().enumerate() {
        let VariantForm {
            name,
            transform,
            snapshot: variant_snapshot,
        } = variant;
        let name_path = [Key("variants"), At(index), Key("name")];
        let transform_path = [Key("variants"), At(index), Key("transform")];
        let snapshot_path = [Key("variants"), At(index), Key("snapshot")];
        cursor.filled(&name_path, "the name of a variant", name)?;
        cursor.filled(&transform_path, "the transform of a variant", transform)?;
        if variants[..index]
            .iter()
            .any(|earlier| earlier.name == *name)
        {
            let message = format!("duplicate variant \"{name}\"");
            return Err(cursor.problem(
                &name_path,
                Code::DUPLICATE_ID,
                message,
                "give each variant its own name",
            ));
        }
        match (&snapshot, variant_snapshot) {
            (Some(_), Some(variant_snapshot)) => {
                variant_snapshot.ranges(&cursor.inner(&snapshot_path))?;
            }
            (None, None) => {}
            (Some(_), None) | (None, Some(_)) => {
                let message =
                    format!("only one of the case and its variant \"{name}\" has a snapshot");
                let help = "give a snapshot to the case and every variant, or to none of them";
                return Err(cursor.problem(&name_path, Code::NO_SNAPSHOT, message, help));
            }
        }
        runs.push(StatedName {
            text: format!("{id}--{name}"),
            at: cursor.value(&name_path),
        });
    }
    let case = PropertyCase {
        snapshot,
        expected,
        variants,
    };
    Ok(GoldenCase {
        runs,
        ..frame.case(&cursor, case)?
    })
}

/// How the base run differs from the expected deltas.
fn misread(expected: &ExpectedDeltas, kinds: &BTreeMap<&str, BTreeSet<&str>>) -> Option<String> {
    let (missing, wrong) = (expected.missing(kinds), expected.wrong(kinds));
    let missing = (!missing.is_empty()).then(|| format!("not found: {}", missing.join(", ")));
    let parts: Vec<String> = missing.into_iter().chain(wrong).collect();
    (!parts.is_empty()).then(|| format!("the base run: {}", parts.join("; ")))
}

impl Suite for Property {
    fn case_pairs(&self) -> &CasePairs {
        &self.table.pairs
    }

    fn grade(
        &self,
        pair: &Pair,
        runs: &[Run],
        context: &GradeContext<'_>,
    ) -> Result<Grade, Diagnostic> {
        let PropertyCase {
            expected, variants, ..
        } = self.table.case(pair);
        let read: Vec<(DeltasOutput, Layer)> = runs.iter().map(produced).collect();
        let (mut flaws, mut kinds) = (Vec::new(), Vec::new());
        for (output, _) in &read {
            flaws.extend(output.flaws.iter().cloned());
            kinds.push(kinds_by_item(&output.deltas));
        }
        let form_hint = "make the agent answer {\"deltas\": [{item, kind, evidence}]}";
        let classifier = FailureClassifier::new(pair, &runs[0], context, &flaws);
        let mut checks = vec![Check::only(
            "schema",
            || "JSON with the list deltas".to_owned(),
            classifier.schema(form_hint),
        )];
        if !expected.is_empty() {
            let failure = misread(expected, &kinds[0]).map(|detail| {
                let action =
                    "fix the classification itself first, with kind reconciliation: a stable wrong one has no value";
                classifier.failure(CheckFailure::Content, None, detail, action.to_owned())
            });
            checks.push(Check::only(
                "base_classified",
                || format!("the base run reports {expected}"),
                failure,
            ));
        }
        let mut stable = 0_usize;
        let base_output = &read[0].0;
        for (index, variant) in variants.iter().enumerate() {
            let variant_kinds = &kinds[index + 1];
            let variant_output = &read[index + 1].0;
            // Two unreadable runs do not agree.
            let unread = [("the base run", base_output), ("its run", variant_output)]
                .into_iter()
                .find(|(_, output)| !output.whole);
            let same = unread.is_none() && kinds[0] == *variant_kinds;
            stable += usize::from(same);
            let failure = if same {
                None
            } else {
                let classifier = classifier.compared_with(&runs[index + 1]);
                let (detail, action) = match unread {
                    Some((which, output)) => {
                        let flaw = output.flaws.first().map_or("", String::as_str);
                        (
                            format!("nothing to compare, {which} cannot be read: {flaw}"),
                            form_hint,
                        )
                    }
                    None => {
                        let moved = moved_items(&kinds[0], variant_kinds);
                        (
                            format!("classified differently: {}", moved.join(", ")),
                            "make the prompt say what a classification depends on, and that this change does not matter",
                        )
                    }
                };
                let detail = format!("{}: {detail}", variant.transform);
                Some(classifier.failure(CheckFailure::Content, None, detail, action.to_owned()))
            };
            checks.push(Check::of(
                "stable",
                CheckKey::named(variant.name.as_str()),
                1,
                || format!("the same kinds after \"{}\"", variant.transform),
                failure,
            ));
        }
        let layer = read
            .iter()
            .map(|(_, layer)| *layer)
            .max()
            .unwrap_or(Layer::Structured);
        let read_part = if read.iter().all(|(_, layer)| *layer == Layer::Unreadable) {
            ReadPart::Nothing
        } else {
            ReadPart::Some
        };
        // Of an unreadable base run, nothing can be counted.
        let is_counted = !expected.is_empty() && read[0].0.whole;
        let made: usize = kinds[0].values().map(BTreeSet::len).sum();
        let precision = share(expected.hit(&kinds[0]), made).unwrap_or(0.0);
        let shortfalls = if is_counted {
            expected.surplus(&kinds[0])
        } else {
            Vec::new()
        };
        let values = PropertyMetrics {
            classification_stability: Some(stable as f64 / variants.len() as f64),
            delta_precision: is_counted.then_some(precision),
            case_pass_rate: Some(indicator(all_hold(&checks))),
        };
        Ok(Grade {
            values: values_of_sample(PropertyMetrics::TABLE, read_part, values),
            checks,
            layer,
            shortfalls,
            kept: None,
        })
    }

    fn ask(
        &self,
        pair: &Pair,
        run: &RunKey,
        _files: &dyn Files,
    ) -> Result<Option<Ask>, Diagnostic> {
        let PropertyCase {
            snapshot, variants, ..
        } = self.table.case(pair);
        // The first run is the base run, the others are those of the variants.
        let variant = pair
            .runs
            .iter()
            .skip(1)
            .zip(variants)
            .find(|(key, _)| *key == run)
            .map(|(_, variant)| variant);
        let variant_snapshot = variant.map_or(snapshot, |variant| &variant.snapshot);
        Ok(Some(match variant_snapshot {
            // The prompt does not reveal that this is a variant: an agent would know what is measured.
            Some(snapshot) => snapshot.ask(None, &BTreeMap::new()),
            None => {
                let inputs = json!({
                    "case": pair.case.as_str(),
                    "variant": variant.map(|variant| &variant.name),
                    "transform": variant.map(|variant| &variant.transform),
                });
                Ask::plain(String::new(), inputs, Some(form()))
            }
        }))
    }
}

/// The items whose kinds differ.
fn moved_items<'a>(
    left: &BTreeMap<&'a str, BTreeSet<&str>>,
    right: &BTreeMap<&'a str, BTreeSet<&str>>,
) -> Vec<&'a str> {
    let items: BTreeSet<&str> = left.keys().chain(right.keys()).copied().collect();
    let mut moved = Vec::new();
    for item in items {
        if left.get(item) != right.get(item) {
            moved.push(item);
        }
    }
    moved
}
