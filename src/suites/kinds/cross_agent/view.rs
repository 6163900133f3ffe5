//! One sample of several agents, compared.

use std::collections::BTreeSet;

use super::golden::{CrossAgentCase, Shared};
use super::passages::{Documents, Passage};
use crate::diag::Diagnostic;
use crate::model::{Check, CheckKey, Difference, Failure, Shortfall, Shortfalls, Tag, reaches};
use crate::suites::GradeContext;
use crate::suites::shared::failure_classifier::{CheckFailure, FailureClassifier};
use crate::suites::shared::finding::Finding;
use crate::suites::shared::produced::FindingsOutput;
use crate::suites::shared::rules::Rules;
use crate::text::{line, token_overlap};

/// Findings of one category are duplicates if their tokens overlap at least this much, from 0 to 1.
const DUPLICATE_OVERLAP: f64 = 0.8;

/// One sample of all agents of a case.
pub struct View<'a> {
    pub case: &'a CrossAgentCase,
    pub produced: &'a [FindingsOutput],
    /// One failure classifier for each agent's sample.
    pub blames: &'a [FailureClassifier<'a>],
    /// The documents that may be cited; `None` if they are unknown.
    pub documents: Option<&'a Documents>,
}

impl<'a> View<'a> {
    fn matching(&self, shared: &Shared) -> Vec<(usize, &'a Finding)> {
        let produced = self.produced.iter().enumerate();
        produced
            .flat_map(|(agent, output)| output.findings.iter().map(move |finding| (agent, finding)))
            .filter(|(_, finding)| shared.expected.matches(finding))
            .collect()
    }

    /// The agents that produced a shared finding.
    pub fn finders(&self, shared: &Shared) -> BTreeSet<usize> {
        self.matching(shared)
            .into_iter()
            .map(|(agent, _)| agent)
            .collect()
    }

    /// The largest difference between two agents' severities of a shared finding, in steps.
    pub fn spread(&self, shared: &Shared) -> u32 {
        let rated: Vec<(usize, u32)> = self
            .matching(shared)
            .into_iter()
            .filter_map(|(agent, finding)| Some((agent, finding.severity?.rank())))
            .collect();
        let lowest = rated.iter().min_by_key(|(_, rank)| *rank);
        let highest = rated.iter().max_by_key(|(_, rank)| *rank);
        let (Some(lowest), Some(highest)) = (lowest, highest) else {
            return 0;
        };
        // One side of the largest difference is the lowest or the highest of all.
        let below = ranks_of_others(&rated, highest.0)
            .min()
            .map(|rank| highest.1 - rank);
        let above = ranks_of_others(&rated, lowest.0)
            .max()
            .map(|rank| rank - lowest.1);
        below.max(above).unwrap_or(0)
    }

    /// Findings that some other agent also produced, as (agent index, finding index).
    pub fn duplicates(
        &self,
        context: &GradeContext<'_>,
    ) -> Result<Vec<(usize, usize)>, Diagnostic> {
        let mut by_agent: Vec<Vec<QuotedFinding<'_>>> = Vec::new();
        for output in self.produced {
            let mut findings = Vec::with_capacity(output.findings.len());
            for finding in &output.findings {
                let passages = Passage::all(finding, self.documents, context)?;
                findings.push(QuotedFinding { finding, passages });
            }
            by_agent.push(findings);
        }
        let mut doubled = Vec::new();
        for (agent, findings) in by_agent.iter().enumerate() {
            let others: Vec<&QuotedFinding<'_>> = by_agent
                .iter()
                .enumerate()
                .filter(|(other_agent, _)| *other_agent != agent)
                .flat_map(|(_, findings)| findings)
                .collect();
            for (index, finding) in findings.iter().enumerate() {
                if others.iter().any(|twin| finding.is_duplicate_of(twin)) {
                    doubled.push((agent, index));
                }
            }
        }
        Ok(doubled)
    }

    pub fn checks(&self, doubled: &[(usize, usize)]) -> Vec<Check> {
        let mut checks = Vec::new();
        for (agent, output) in self.case.agents.iter().zip(self.produced) {
            let failure = output.flaws.first().map(|flaw| Failure {
                tag: Tag::Schema,
                detail: format!("{agent}: {flaw}"),
                next_action: format!(
                    "fix the output format of {agent}; see the same document in the agent's own suite"
                ),
            });
            checks.push(Check::of(
                "schema",
                CheckKey::named(agent.as_str()),
                1,
                || format!("{agent} answers {{findings: []}}"),
                failure,
            ));
        }
        for (index, shared) in self.case.shared.iter().enumerate() {
            let key = CheckKey::at(index);
            let line = shared.expected.line;
            let category = &shared.expected.category;
            checks.push(Check::of(
                "shared_finding",
                key.clone(),
                line,
                || {
                    format!(
                        "{} by at least {} agents",
                        shared.expected, shared.min_agents
                    )
                },
                self.missed(shared),
            ));
            if shared.expected.states_severity() {
                let range = shared.expected.severity_range();
                checks.push(Check::of(
                    "shared_severity",
                    key.clone(),
                    line,
                    || format!("{category} with severity {range}"),
                    self.wrong_severity(shared),
                ));
            }
            if self.case.no_contradictions {
                let most = shared.max_spread;
                checks.push(Check::of(
                    "no_contradiction",
                    key,
                    line,
                    || format!("severity difference of {category}: at most {most}"),
                    self.contradiction(shared),
                ));
            }
        }
        if self.case.no_duplicates {
            checks.push(Check::only(
                "no_duplicates",
                || "each finding by one agent alone".to_owned(),
                self.repeated(doubled),
            ));
        }
        checks
    }

    /// Losses in metrics without a check: findings that another agent also produced.
    pub fn shortfalls(&self, doubled: &[(usize, usize)]) -> Vec<Shortfall> {
        let mut shortfalls = Shortfalls::default();
        for (agent, index) in doubled {
            shortfalls.add(&["duplicate_rate"], || {
                let finding = &self.produced[*agent].findings[*index];
                let title = line(&finding.title, 120);
                let who = &self.case.agents[*agent];
                Difference {
                    line: 1,
                    expected: "each finding by one agent alone".to_owned(),
                    produced: format!(
                        "{} (\"{title}\") of {who} is also in another agent's result",
                        finding.category
                    ),
                }
            });
        }
        shortfalls.into()
    }

    fn missed(&self, shared: &Shared) -> Option<Failure> {
        let finders = self.finders(shared);
        if finders.len() >= shared.min_agents {
            return None;
        }
        let missing: Vec<usize> = (0..self.case.agents.len())
            .filter(|agent| !finders.contains(agent))
            .collect();
        let names: Vec<&str> = missing
            .iter()
            .map(|agent| self.case.agents[*agent].as_str())
            .collect();
        let (category, finder_count, expected) =
            (&shared.expected.category, finders.len(), shared.min_agents);
        let detail = format!(
            "{category}: found by {finder_count} of {expected} required agents, not by {}",
            names.join(", ")
        );
        self.first(missing.into_iter(), |agent, classifier| {
            let name = &self.case.agents[agent];
            if let Some(file) = self.unmapped(shared, agent) {
                let action = format!("\"{file}\" is not a document of the suite: fix how {name} names its sources");
                return classifier.failure(
                    CheckFailure::Unmapped,
                    None,
                    format!("{detail}; {name} cites \"{file}\""),
                    action,
                );
            }
            let rule = shared.expected.rule.as_deref();
            let action = match rule {
                Some(rule) if classifier.had_rule(rule) => {
                    format!("{name} had rule {rule} and did not follow it: give {category} an example, or more weight")
                }
                Some(rule) => format!("write rule {rule} into the prompt package of {name}: when to report {category}"),
                None => "run `goldgate explain` on the same document in the agents' own suite to see who missed it"
                    .to_owned(),
            };
            classifier.failure(CheckFailure::Content, rule, detail.clone(), action)
        })
    }

    /// The file that an agent's nearest finding cites, if it is not a document of the suite.
    fn unmapped(&self, shared: &Shared, agent: usize) -> Option<&'a str> {
        let documents = self.documents?;
        let near = self.produced[agent]
            .findings
            .iter()
            .find(|finding| shared.expected.matches_loosely(finding))?;
        near.cited_outside(&documents.names)
    }

    /// Fails if enough agents produced the finding, but too few with an expected severity.
    fn wrong_severity(&self, shared: &Shared) -> Option<Failure> {
        let matching = self.matching(shared);
        let right: BTreeSet<usize> = matching
            .iter()
            .filter(|(_, finding)| shared.expected.fits_severity(finding))
            .map(|(agent, _)| *agent)
            .collect();
        if right.len() >= shared.min_agents || self.finders(shared).len() < shared.min_agents {
            return None;
        }
        let wrong: Vec<(usize, &Finding)> = matching
            .into_iter()
            .filter(|(agent, _)| !right.contains(agent))
            .collect();
        let mut got = Vec::with_capacity(wrong.len());
        for (agent, finding) in &wrong {
            let name = &self.case.agents[*agent];
            match finding.severity {
                Some(severity) => got.push(format!("{name} rated it {severity}")),
                None => got.push(format!("{name} rated it none")),
            }
        }
        let (category, range) = (&shared.expected.category, shared.expected.severity_range());
        let detail = format!("{category}: expected severity {range}, {}", got.join(", "));
        self.first(
            wrong.iter().map(|(agent, _)| *agent),
            |agent, classifier| {
                let action = format!(
                    "fix the severity rules in the prompt of {}",
                    self.case.agents[agent]
                );
                classifier.failure(
                    CheckFailure::Content,
                    shared.expected.rule.as_deref(),
                    detail.clone(),
                    action,
                )
            },
        )
    }

    fn contradiction(&self, shared: &Shared) -> Option<Failure> {
        let spread = self.spread(shared);
        if spread <= shared.max_spread {
            return None;
        }
        let matching = self.matching(shared);
        let rated = matching
            .iter()
            .filter_map(|(agent, finding)| Some((*agent, finding.severity?)));
        let rated_by: Vec<String> = rated
            .clone()
            .map(|(agent, severity)| format!("{} {severity}", self.case.agents[agent]))
            .collect();
        let detail = format!(
            "{}: severities differ by {spread} ({})",
            shared.expected.category,
            rated_by.join(", ")
        );
        self.first(rated.map(|(agent, _)| agent), |_, classifier| {
            let action = "align the severity rules of the agents' prompts".to_owned();
            classifier.failure(
                CheckFailure::Content,
                shared.expected.rule.as_deref(),
                detail.clone(),
                action,
            )
        })
    }

    fn titled(&self, (agent, index): (usize, usize)) -> String {
        let title = &self.produced[agent].findings[index].title;
        format!("\"{title}\" of {}", self.case.agents[agent])
    }

    fn repeated(&self, doubled: &[(usize, usize)]) -> Option<Failure> {
        let first = doubled.first()?;
        let mut detail = format!(
            "findings in two agents' results: {}, first {}",
            doubled.len(),
            self.titled(*first)
        );
        if let Some(twin) = doubled.iter().find(|(agent, _)| *agent != first.0) {
            detail.push_str(&format!(" and {}", self.titled(*twin)));
        }
        self.first(doubled.iter().map(|(agent, _)| *agent), |_, classifier| {
            let action =
                "divide the category between the agents' prompts, or drop no_duplicates".to_owned();
            classifier.failure(CheckFailure::Content, None, detail.clone(), action)
        })
    }

    /// The rules that fire on each agent's findings.
    pub fn fired<'r>(&self, rules: &'r Rules) -> Vec<BTreeSet<&'r str>> {
        let produced = self.case.agents.iter().zip(self.produced);
        produced
            .map(|(agent, output)| rules.fired(agent.as_str(), &output.findings))
            .collect()
    }

    /// The failure of a rule that fired wrongly or did not fire: of the agents whose findings fired it, else of those that
    /// the rule reads.
    pub fn wrongly_called(
        &self,
        rules: &Rules,
        fired: &[BTreeSet<&str>],
        id: &str,
        detail: &str,
        next_action: &str,
    ) -> Failure {
        let agents = 0..self.case.agents.len();
        let made: Vec<usize> = agents
            .clone()
            .filter(|agent| fired[*agent].contains(id))
            .collect();
        let looked_at =
            agents.filter(|agent| rules.looks_at(id, self.case.agents[*agent].as_str()));
        let concerned = if made.is_empty() {
            looked_at.collect()
        } else {
            made
        };
        let failure = self.first(concerned.into_iter(), |_, classifier| {
            classifier.failure(
                CheckFailure::Choice,
                None,
                detail.to_owned(),
                next_action.to_owned(),
            )
        });
        // A rule may read an agent that the case does not name.
        failure.unwrap_or_else(|| Failure {
            tag: Tag::Routing,
            detail: detail.to_owned(),
            next_action: next_action.to_owned(),
        })
    }

    /// The failure with the highest precedence among the agents concerned.
    fn first(
        &self,
        concerned: impl Iterator<Item = usize>,
        failure: impl Fn(usize, &FailureClassifier<'_>) -> Failure,
    ) -> Option<Failure> {
        let failures = concerned.map(|agent| (agent, failure(agent, &self.blames[agent])));
        let (agent, mut first) = failures.min_by_key(|(_, failure)| failure.tag.precedence())?;
        if matches!(first.tag, Tag::Schema | Tag::Tooling) {
            first.detail = format!(
                "{}; look at {} first",
                first.detail, self.case.agents[agent]
            );
        }
        Some(first)
    }
}

/// The severity ranks that the other agents gave.
fn ranks_of_others(rated: &[(usize, u32)], agent: usize) -> impl Iterator<Item = u32> {
    rated
        .iter()
        .filter(move |(rater, _)| *rater != agent)
        .map(|(_, rank)| *rank)
}

/// A finding with the passages that it quotes.
struct QuotedFinding<'a> {
    finding: &'a Finding,
    passages: Vec<Passage<'a>>,
}

impl QuotedFinding<'_> {
    fn is_duplicate_of(&self, twin: &QuotedFinding<'_>) -> bool {
        if self.finding.category_key != twin.finding.category_key {
            return false;
        }
        self.passages
            .iter()
            .any(|passage| twin.passages.iter().any(|quoted| passage.overlaps(quoted)))
            || reaches(
                token_overlap(&self.finding.text, &twin.finding.text),
                DUPLICATE_OVERLAP,
            )
    }
}
