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
            .flat_map(|(agent, one)| one.findings.iter().map(move |finding| (agent, finding)))
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
        let rank = |one: &&(usize, u32)| one.1;
        let (Some(lowest), Some(highest)) =
            (rated.iter().min_by_key(rank), rated.iter().max_by_key(rank))
        else {
            return 0;
        };
        // One side of the largest difference is the lowest or the highest of all.
        let not_by = |agent: usize| {
            rated
                .iter()
                .filter(move |one| one.0 != agent)
                .map(|one| one.1)
        };
        let below = not_by(highest.0).min().map(|other| highest.1 - other);
        let above = not_by(lowest.0).max().map(|other| other - lowest.1);
        below.max(above).unwrap_or(0)
    }

    /// Findings that some other agent also produced, as (agent index, finding index).
    pub fn duplicates(
        &self,
        context: &GradeContext<'_>,
    ) -> Result<Vec<(usize, usize)>, Diagnostic> {
        let mut passages: Vec<Vec<Vec<Passage<'_>>>> = Vec::new();
        for one in self.produced {
            let of_finding = |finding: &'a Finding| Passage::all(finding, self.documents, context);
            passages.push(
                one.findings
                    .iter()
                    .map(of_finding)
                    .collect::<Result<_, _>>()?,
            );
        }
        let mut doubled = Vec::new();
        for (agent, one) in self.produced.iter().enumerate() {
            for (index, finding) in one.findings.iter().enumerate() {
                let own = (finding, &passages[agent][index]);
                let others = self
                    .produced
                    .iter()
                    .zip(&passages)
                    .enumerate()
                    .filter(|(other, _)| *other != agent);
                let mut others =
                    others.flat_map(|(_, (other, passages))| other.findings.iter().zip(passages));
                if others.any(|other| is_duplicate(own, other)) {
                    doubled.push((agent, index));
                }
            }
        }
        Ok(doubled)
    }

    pub fn checks(&self, doubled: &[(usize, usize)]) -> Vec<Check> {
        let mut checks = Vec::new();
        for (agent, one) in self.case.agents.iter().zip(self.produced) {
            let failure = one.flaws.first().map(|flaw| Failure {
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
            let at = shared.expected.line;
            let expected = || {
                format!(
                    "{} by at least {} agents",
                    shared.expected, shared.min_agents
                )
            };
            checks.push(Check::of(
                "shared_finding",
                key.clone(),
                at,
                expected,
                self.missed(shared),
            ));
            if shared.expected.states_severity() {
                let expected = || {
                    format!(
                        "{} with severity {}",
                        shared.expected.category,
                        shared.expected.severity_range()
                    )
                };
                checks.push(Check::of(
                    "shared_severity",
                    key.clone(),
                    at,
                    expected,
                    self.wrong_severity(shared),
                ));
            }
            if self.case.no_contradictions {
                let expected = || {
                    let category = &shared.expected.category;
                    format!(
                        "severity difference of {category}: at most {}",
                        shared.max_spread
                    )
                };
                checks.push(Check::of(
                    "no_contradiction",
                    key,
                    at,
                    expected,
                    self.contradiction(shared),
                ));
            }
        }
        if self.case.no_duplicates {
            let expected = || "each finding by one agent alone".to_owned();
            checks.push(Check::only(
                "no_duplicates",
                expected,
                self.repeated(doubled),
            ));
        }
        checks
    }

    /// Losses in metrics without a check: findings that another agent also produced.
    pub fn shortfalls(&self, doubled: &[(usize, usize)]) -> Vec<Shortfall> {
        let mut found = Shortfalls::default();
        for (agent, place) in doubled {
            found.add(&["duplicate_rate"], || {
                let finding = &self.produced[*agent].findings[*place];
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
        found.into()
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
        let (category, found, expected) =
            (&shared.expected.category, finders.len(), shared.min_agents);
        let detail = format!(
            "{category}: found by {found} of {expected} required agents, not by {}",
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
        let severity = |finding: &Finding| {
            finding
                .severity
                .map_or("none".to_owned(), |one| one.to_string())
        };
        let got: Vec<String> = wrong
            .iter()
            .map(|(agent, finding)| {
                format!(
                    "{} rated it {}",
                    self.case.agents[*agent],
                    severity(finding)
                )
            })
            .collect();
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

    fn repeated(&self, doubled: &[(usize, usize)]) -> Option<Failure> {
        let first = doubled.first()?;
        let titled = |(agent, place): &(usize, usize)| {
            format!(
                "\"{}\" of {}",
                self.produced[*agent].findings[*place].title, self.case.agents[*agent]
            )
        };
        let other = doubled.iter().find(|(agent, _)| *agent != first.0);
        let other = other.map_or(String::new(), |other| format!(" and {}", titled(other)));
        let detail = format!(
            "findings in two agents' results: {}, first {}{other}",
            doubled.len(),
            titled(first)
        );
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
            .map(|(agent, one)| rules.fired(agent.as_str(), &one.findings))
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

fn is_duplicate(
    (one, quoted): (&Finding, &Vec<Passage<'_>>),
    (other, quoted_too): (&Finding, &Vec<Passage<'_>>),
) -> bool {
    one.category_key == other.category_key
        && (quoted
            .iter()
            .any(|passage| quoted_too.iter().any(|twin| passage.overlaps(twin)))
            || reaches(token_overlap(&one.text, &other.text), DUPLICATE_OVERLAP))
}
