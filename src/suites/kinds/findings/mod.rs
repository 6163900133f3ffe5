//! Kind `findings`: specialist agents that report findings on documents.

use std::collections::BTreeSet;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use serde_json::json;

use self::asked::ask;
use self::audit::AuditedFindings;
use self::checks::FindingsChecker;
use self::fits::{Fit, Fits};
use self::golden::{Expectation, ExpectedFile, expectation};
use self::grounding::Grounding;
use self::settings::{FindingsSettings, MatchSettings};
use self::shortfalls::shortfalls;
use crate::diag::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::files::{EntryKind, Files, SourceText, sha256_hex};
use crate::format::JsonCursor;
use crate::format::Step::Key;
use crate::format::json::golden;
use crate::model::{
    AgentName, Aggregate, Ask, Better, CaseId, Check, ExplainedBy, Gate, Grade, Limit, LimitSide,
    MetricSpec, NeverClass, RepoPath, Run, RunKey, Strictness, SuiteConfig, Unit, all_hold,
    harmonic, indicator, share,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, CaseIndex, CasePairs, FixtureFolder, GoldenForm, GuardClass, LegacyOutput, Pair,
    RunCaching, SampleScore, Sampling, SeedGates, Suite, SuiteKind,
};
use crate::suites::settings::SettingsSpec;
use crate::suites::shared::answer::reader::AnswerReader;
use crate::suites::shared::answer::text::AnswerOutput;
use crate::suites::shared::audit::Audit;
use crate::suites::shared::case_files::{
    CaseSource, entries_of_file, files_of_cases, is_case_file, keep_first_of_name, suite_folder,
};
use crate::suites::shared::case_frame::Framed;
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::every_kind::CASE_PASS_RATE;
use crate::suites::shared::failure_classifier::FailureClassifier;
use crate::suites::shared::finding::DocumentNames;
use crate::suites::shared::match_rules::MatchRules;
use crate::suites::shared::matching;
use crate::suites::shared::meaning::digested_case;
use crate::suites::shared::own_metrics::{metrics, values_of_sample};
use crate::suites::shared::produced::{FINDINGS, FINDINGS_FIELDS, FindingsOutput, produced};
use crate::suites::shared::synonyms::Synonyms;
use crate::text::{norm, same_category};

mod asked;
mod audit;
mod checks;
mod fits;
mod golden;
mod grounding;
mod settings;
mod shortfalls;

pub const KIND: SuiteKind = SuiteKind {
    name: "findings",
    scorer: "findings/1",
    metrics: FindingsMetrics::TABLE,
    family: None,
    agents: AgentPolicy::Named,
    score: SampleScore::Harmonic("finding_recall", "finding_precision"),
    never: &[GuardClass::of_checks(
        NeverClass::MustNotFind,
        &["must_not_find"],
    )],
    seed_gates: SeedGates::Stated,
    sampling: Sampling::Sampled,
    settings: SettingsSpec::of::<FindingsSettings>(),
    legacy_output: LegacyOutput::None,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[],
    meaning: "agents that report findings on documents, compared with the findings of a person",
    open: open_suite,
    outputs: FINDINGS,
    fields: FINDINGS_FIELDS,
    answer: AnswerOutput::TextOrList("findings"),
    caching: RunCaching::Usual,
    golden: GoldenForm::OneCaseOfAgent,
    description: DescriptionKeys::USUAL,
    schemas: || {
        vec![(
            "expected-findings",
            schemars::schema_for!(Framed<ExpectedFile<'_>>),
        )]
    },
};

const NEAR_BASELINE: &[Gate] = &[Gate::Threshold {
    side: LimitSide::Min,
    limit: Limit::Baseline { otherwise: None },
    strictness: Strictness::Band(0.05),
}];

metrics!(FindingsMetrics {
    finding_recall: MetricSpec {
        explained_by: ExplainedBy::Checks(&["expected_finding"]),
        aggregate: Aggregate::Worst,
        gates: &[Gate::Threshold {
            side: LimitSide::Min,
            limit: Limit::Number(0.80),
            strictness: Strictness::Hard
        }],
        meaning: "produced required findings / required findings; one produced finding counts for at most two",
        ..MetricSpec::PLAIN
    },
    finding_precision: MetricSpec {
        meaning: "largest one-to-one matching between produced and expected findings / produced findings",
        ..MetricSpec::PLAIN
    },
    citation_accuracy: MetricSpec {
        gates: NEAR_BASELINE,
        meaning: "findings that cite the right file and section / findings that match by category and keywords",
        ..MetricSpec::PLAIN
    },
    severity_accuracy: MetricSpec {
        gates: NEAR_BASELINE,
        meaning: "findings with a severity in the expected range / findings that match",
        ..MetricSpec::PLAIN
    },
    false_positive_rate: MetricSpec {
        explained_by: ExplainedBy::Checks(&["must_not_find"]),
        better: Better::Lower,
        aggregate: Aggregate::Worst,
        gates: &[Gate::Threshold {
            side: LimitSide::Max,
            limit: Limit::Number(0.15),
            strictness: Strictness::Hard
        }],
        meaning: "produced findings that hit a guard (must_not_find) / produced findings",
        ..MetricSpec::PLAIN
    },
    f1_score: MetricSpec {
        aggregate: Aggregate::Harmonic("finding_recall", "finding_precision"),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "harmonic mean of recall and precision",
        ..MetricSpec::PLAIN
    },
    gap_recall: MetricSpec {
        explained_by: ExplainedBy::Checks(&["expected_gap"]),
        meaning: "reported expected gap types / expected gap types",
        ..MetricSpec::PLAIN
    },
    quote_grounding: MetricSpec {
        meaning: "quotes found in the cited document / quotes",
        ..MetricSpec::PLAIN
    },
    count_in_range: MetricSpec {
        explained_by: ExplainedBy::Checks(&["count_in_range"]),
        aggregate: Aggregate::Worst,
        gates: &[Gate::PERFECT],
        meaning: "1 if the number of findings is between min_expected_findings and max_expected_findings, else 0",
        ..MetricSpec::PLAIN
    },
    finding_count: MetricSpec {
        better: Better::Neither,
        aggregate: Aggregate::Sum,
        unit: Unit::Count,
        meaning: "findings produced",
        ..MetricSpec::PLAIN
    },
    case_pass_rate: CASE_PASS_RATE,
});

/// Files per parallel task; small, so that no core waits long for the last task.
const AT_ONCE: usize = 16;

struct Findings {
    agents: BTreeSet<AgentName>,
    documents: RepoPath,
    /// The file names in the folder of documents.
    files: DocumentNames,
    /// The allowed categories; every category if empty.
    categories: Vec<String>,
    /// How many expected findings one produced finding counts for at most.
    per_finding: usize,
    table: CaseTable<Expectation>,
}

fn open_suite(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let documents = suite_folder(&suite.path).child("contracts");
    let (listed, jobs) = rayon::join(|| files.list(&documents), || expectations(suite, files));
    let listed = problems.keep(listed).unwrap_or_default();
    let contracts: DocumentNames = listed
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::File)
        .map(|entry| entry.name)
        .collect();
    let settings: FindingsSettings = suite.settings.get().cloned().unwrap_or_default();
    let rules = problems
        .keep(match_rules(&settings, files))
        .unwrap_or_default();
    let ExpectedCases {
        mut jobs,
        problems: others,
    } = jobs;
    problems.extend(others);
    jobs.sort_by(|(agent, left), (other_agent, right)| {
        (&left.id.text, agent).cmp(&(&right.id.text, other_agent))
    });
    let reader = PairReader {
        suite,
        rules: &rules,
        measured_with: settings.measured_with() + rules.categories.text() + rules.keywords.text(),
        // If the folder cannot be listed, that is the only problem.
        contracts: Some(&contracts).filter(|_| problems.is_empty()),
        documents: &documents,
    };
    let read: Vec<Result<(Pair, Expectation), Diagnostic>> = jobs
        .into_par_iter()
        .with_max_len(AT_ONCE)
        .map(|(agent, case)| {
            case.read(files, |source, case_files| {
                reader.read(case_files, agent, &case, source)
            })
        })
        .collect();
    let read = read.into_iter().filter_map(|case| problems.keep(case));
    let table = CaseTable::of(
        suite.path.child("expected"),
        read.map(|(pair, expectation)| (expectation, [pair])),
    );
    let agents = suite.agents.keys().cloned().collect();
    problems.or(Box::new(Findings {
        agents,
        documents,
        files: contracts,
        categories: settings.categories.unwrap_or_default(),
        per_finding: settings.recall.per_finding,
        table,
    }))
}

fn match_rules(settings: &FindingsSettings, files: &dyn Files) -> Result<MatchRules, Diagnostic> {
    let MatchSettings { mode, synonyms } = &settings.matching;
    Ok(MatchRules {
        known: settings.categories.clone(),
        mode: *mode,
        categories: Synonyms::open(synonyms.categories.as_ref(), files, same_category)?,
        keywords: Synonyms::open(synonyms.keywords.as_ref(), files, norm)?,
    })
}

/// The cases of each agent.
struct ExpectedCases<'a> {
    jobs: Vec<(&'a AgentName, CaseSource)>,
    problems: Diagnostics,
}

/// The files of `expected/{agent}/`, or the entries of the suite's file.
fn expectations<'a>(suite: &'a SuiteConfig, files: &dyn Files) -> ExpectedCases<'a> {
    let (mut problems, mut jobs) = (Diagnostics::default(), Vec::new());
    if is_case_file(&suite.path) {
        let entries = entries_of_file(
            files,
            &suite.path,
            GoldenForm::OneCaseOfAgent,
            &mut problems,
        );
        for case in problems.keep(entries).unwrap_or_default() {
            let Some(stated) = &case.agent else { continue };
            match suite
                .agents
                .keys()
                .find(|agent| agent.as_str() == stated.text)
            {
                Some(agent) => jobs.push((agent, case)),
                None => {
                    let message = format!("the suite has no agent \"{}\"", stated.text);
                    let known = suite.agents.keys().map(AgentName::as_str);
                    let help = did_you_mean(
                        &stated.text,
                        known,
                        "add the agent to the config, or remove the case",
                    );
                    problems.push(case.problem(stated, Code::UNKNOWN_AGENT, message, help));
                }
            }
        }
        return ExpectedCases { jobs, problems };
    }
    let folders: Vec<(&AgentName, RepoPath)> = suite
        .agents
        .keys()
        .map(|agent| (agent, suite.path.child("expected").child(agent.as_str())))
        .collect();
    let cases_by_agent: Vec<_> = folders
        .into_par_iter()
        .map(|(agent, folder)| (agent, files_of_cases(files, &folder)))
        .collect();
    for (agent, cases) in cases_by_agent {
        let cases = problems.keep(cases).unwrap_or_default();
        jobs.extend(
            keep_first_of_name(cases, &mut problems)
                .into_iter()
                .map(|case| (agent, case)),
        );
    }
    ExpectedCases { jobs, problems }
}

/// Reads the golden files of a suite.
struct PairReader<'a> {
    suite: &'a SuiteConfig,
    rules: &'a MatchRules,
    /// The settings and synonyms, for the digests of the cases.
    measured_with: String,
    /// The documents; `None` if they are unknown.
    contracts: Option<&'a DocumentNames>,
    documents: &'a RepoPath,
}

impl PairReader<'_> {
    fn read(
        &self,
        files: &dyn Files,
        agent: &AgentName,
        file: &CaseSource,
        source: &SourceText,
    ) -> Result<(Pair, Expectation), Diagnostic> {
        let case = CaseId::new(&file.id.text)
            .map_err(|bad| file.problem(&file.id, Code::BAD_ID, bad.to_string(), bad.help()))?;
        let Framed { frame, form: text } = golden::<Framed<ExpectedFile<'_>>>(source)?;
        let cursor = JsonCursor::whole(source);
        if let Some(stated) = text.agent.as_deref().filter(|name| *name != agent.as_str()) {
            let message =
                format!("the agent is \"{stated}\", but the file is in the folder \"{agent}\"");
            let help = "move the file to the folder of its agent, or remove `agent`";
            return Err(cursor.problem_of_key(&[Key("agent")], Code::CONTRADICTION, message, help));
        }
        let document = self.document(&text, file, &cursor)?;
        let (expectation, zone) = expectation(source, &text, self.rules, document)?;
        let stated = frame.case(&cursor, ())?;
        let answer = AnswerReader::new(self.suite, files).read(stated.answer, &cursor)?;
        let of_answer = answer
            .as_ref()
            .map_or("", |answer| answer.measured_with.as_str());
        let measured = [
            &digested_case(&source.text, DescriptionKeys::USUAL),
            of_answer,
            &self.measured_with,
        ]
        .concat();
        let pair = Pair {
            runs: vec![RunKey {
                suite: self.suite.id.clone(),
                agent: agent.clone(),
                case: case.clone(),
            }],
            case,
            agent: agent.clone(),
            golden: source.file.clone(),
            digest: sha256_hex(measured.as_bytes()),
            samples: None,
            marks: stated.marks,
            quarantine: stated.quarantine,
            answer,
            zone,
            case_index: CaseIndex::NOT_SET,
        };
        Ok((pair, expectation))
    }

    /// The name of the document's file.
    fn document(
        &self,
        form: &ExpectedFile<'_>,
        file: &CaseSource,
        cursor: &JsonCursor<'_>,
    ) -> Result<String, Diagnostic> {
        let stated = form.contract.as_deref();
        let name = stated.map_or_else(|| format!("{}.md", file.id.text), str::to_owned);
        let Some(contracts) = self.contracts else {
            return Ok(name);
        };
        if let Some(name) = contracts.named(&name) {
            return Ok(name.to_owned());
        }
        let message = format!("contract \"{name}\" does not exist");
        if stated.is_some() {
            let names = contracts.iter().map(String::as_str);
            let help = did_you_mean(&name, names, format!("add it to {}", self.documents));
            let path = [Key("contract")];
            return Err(cursor.problem(&path, Code::MISSING_CONTRACT, message, help));
        }
        let noun = if file.is_entry() { "case" } else { "file" };
        let help = format!("add {}, or remove this {noun}", self.documents.child(&name));
        Err(file.problem(&file.id, Code::MISSING_CONTRACT, message, help))
    }
}

impl Suite for Findings {
    fn case_pairs(&self) -> &CasePairs {
        &self.table.pairs
    }

    fn grade(
        &self,
        pair: &Pair,
        runs: &[Run],
        context: &GradeContext<'_>,
    ) -> Result<Grade, Diagnostic> {
        let (expectation, run) = (self.table.case(pair), &runs[0]);
        let produced = produced(run);
        let grounding = Grounding::of(&produced, &self.documents, &self.files, context)?;
        let fits = Fits::of(&expectation.expected, &produced.findings);
        let edges: Vec<Vec<usize>> = (0..expectation.expected.len())
            .map(|expected| fits.matching(expected).collect())
            .collect();
        let count = produced.findings.len();
        let matched = matching::maximum(&edges, count);
        let credited = credited(expectation, &edges, count, self.per_finding);
        let shortfalls = shortfalls(expectation, &produced.findings, &fits, matched, &grounding);
        let classifier = FailureClassifier::new(pair, run, context, &produced.flaws);
        let checks = FindingsChecker {
            expectation,
            produced: &produced,
            fits: &fits,
            files: &self.files,
            credited: &credited,
            classifier,
        }
        .checks();
        let compared = Compared {
            fits: &fits,
            matched,
            credited: &credited,
        };
        let values = values(expectation, &produced, &compared, &grounding, &checks);
        Ok(Grade {
            values: values_of_sample(FindingsMetrics::TABLE, produced.layer.into(), values),
            checks,
            shortfalls,
            layer: produced.layer,
            kept: None,
        })
    }

    fn ask(
        &self,
        pair: &Pair,
        _run: &RunKey,
        files: &dyn Files,
    ) -> Result<Option<Ask>, Diagnostic> {
        let file = self.document(pair);
        Ok(Some(ask(&file, &files.text(&file)?.text, &self.categories)))
    }

    fn read_inputs(&self, pair: &Pair, files: &dyn Files) {
        // The request depends on this document alone, so it need not be built.
        drop(files.bytes(&self.document(pair)));
    }

    /// One finding of a category that several required findings share, with the right citation.
    fn stuffed_answer(&self, pair: &Pair, golden: &str) -> Option<String> {
        let expectation = self.table.case(pair);
        let (category, count) = expectation.most_shared_category()?;
        let citation = json!({"file": expectation.document, "section": golden});
        let finding = json!({
            "category": category, "severity": "high", "title": golden, "description": golden, "citations": [citation]
        });
        (count > 1).then(|| json!({"findings": [finding], "gaps": []}).to_string())
    }

    fn audit(&self, files: &dyn Files) -> Audit {
        let Self {
            agents,
            documents,
            files: listed,
            table,
            ..
        } = self;
        AuditedFindings {
            agents,
            documents,
            listed,
            table,
        }
        .audit(files)
    }
}

impl Findings {
    fn document(&self, pair: &Pair) -> RepoPath {
        self.documents.child(&self.table.case(pair).document)
    }
}

/// Whether a produced finding counts for each expected one. A finding that is worded for everything counts for a few only, and never for
/// an optional one at the cost of a required one.
fn credited(
    expectation: &Expectation,
    edges: &[Vec<usize>],
    produced: usize,
    per_finding: usize,
) -> Vec<bool> {
    let (places, required): (Vec<usize>, Vec<Vec<usize>>) = expectation
        .required()
        .map(|(place, _)| (place, edges[place].clone()))
        .unzip();
    let mut credited: Vec<bool> = edges.iter().map(|edges| !edges.is_empty()).collect();
    for (place, is_matched) in
        places
            .into_iter()
            .zip(matching::matched(&required, produced, per_finding))
    {
        credited[place] = is_matched;
    }
    credited
}

/// How the findings of one sample compare with the expected ones.
struct Compared<'a> {
    fits: &'a Fits,
    /// The size of the largest one-to-one matching.
    matched: usize,
    /// Whether a produced finding counts for each expected one.
    credited: &'a [bool],
}

/// The metrics of one sample.
fn values(
    expectation: &Expectation,
    produced: &FindingsOutput,
    compared: &Compared<'_>,
    grounding: &Grounding<'_>,
    checks: &[Check],
) -> FindingsMetrics<Option<f64>> {
    let findings = &produced.findings;
    let Compared {
        fits,
        matched: matching,
        credited,
    } = compared;
    let required: Vec<usize> = expectation.required().map(|(place, _)| place).collect();
    let credited_count = required.iter().filter(|place| credited[**place]).count();
    let recall = share(credited_count, required.len()).unwrap_or(1.0);
    let precision = share(*matching, findings.len()).unwrap_or(indicator(required.is_empty()));
    let matched = fits.at_least(Fit::OtherSection);
    let mut well_rated = 0;
    for finding in &matched {
        let is_well_rated = expectation
            .expected
            .iter()
            .enumerate()
            .any(|(index, expected)| {
                fits.is_match(index, *finding) && expected.fits_severity(&findings[*finding])
            });
        well_rated += usize::from(is_well_rated);
    }
    let hits = findings
        .iter()
        .filter(|finding| expectation.guards.iter().any(|guard| guard.is_hit(finding)))
        .count();
    let reported = expectation
        .gaps
        .iter()
        .filter(|gap| produced.gaps.contains(&gap.key))
        .count();
    let in_range = expectation
        .count
        .map(|(least, most)| indicator((least..=most).contains(&(findings.len() as u64))));
    FindingsMetrics {
        finding_recall: Some(recall),
        finding_precision: Some(precision),
        citation_accuracy: share(
            fits.at_least(Fit::Match).len(),
            fits.at_least(Fit::Loose).len(),
        ),
        severity_accuracy: share(well_rated, matched.len()),
        false_positive_rate: share(hits, findings.len()).or(Some(0.0)),
        f1_score: Some(harmonic(recall, precision)),
        gap_recall: share(reported, expectation.gaps.len()),
        quote_grounding: grounding.share(),
        count_in_range: in_range,
        finding_count: Some(findings.len() as f64),
        case_pass_rate: Some(indicator(all_hold(checks))),
    }
}
