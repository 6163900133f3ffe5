//! One sample of several agents, looked at together.

use std::collections::BTreeSet;

use super::Case;
use super::Shared;
use crate::model::Check;
use crate::model::CheckKey;
use crate::model::Failure;
use crate::model::Tag;
use crate::model::reaches;
use crate::suites::finding::Finding;
use crate::suites::produced::Produced;
use crate::text::token_overlap;

/// Two findings of one category are duplicates from this overlap of their tokens on (grading.md 4).
const DUPLICATE_OVERLAP: f64 = 0.8;

/// One sample of all agents of a case.
pub struct View<'a> {
    /// The case.
    pub case: &'a Case,
    /// What each of its agents produced.
    pub produced: &'a [Produced],
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
        self.matching(shared).into_iter().map(|(agent, _)| agent).collect()
    }

    /// How many steps the severities of a shared finding lie apart between two agents, at most.
    pub fn spread(&self, shared: &Shared) -> u32 {
        let rated: Vec<(usize, u32)> = self
            .matching(shared)
            .into_iter()
            .filter_map(|(agent, finding)| Some((agent, finding.severity?.rank())))
            .collect();
        let pairs = rated.iter().flat_map(|one| rated.iter().map(move |other| (one, other)));
        pairs.filter(|(one, other)| one.0 != other.0).map(|(one, other)| one.1.abs_diff(other.1)).max().unwrap_or(0)
    }

    /// The findings, as agent and place, that some other agent produced as well.
    pub fn duplicates(&self) -> Vec<(usize, usize)> {
        let mut doubled = Vec::new();
        for (agent, one) in self.produced.iter().enumerate() {
            for (place, finding) in one.findings.iter().enumerate() {
                let others = self.produced.iter().enumerate().filter(|(other, _)| *other != agent);
                if others.flat_map(|(_, other)| &other.findings).any(|other| is_duplicate(finding, other)) {
                    doubled.push((agent, place));
                }
            }
        }
        doubled
    }

    /// Every check of the case that looks at findings.
    pub fn checks(&self, doubled: &[(usize, usize)]) -> Vec<Check> {
        let mut checks = Vec::new();
        for (agent, one) in self.case.agents.iter().zip(self.produced) {
            let failure = one.flaws.first().map(|flaw| Failure {
                tag: Tag::Schema,
                detail: format!("{agent}: {flaw}"),
                next_action: format!(
                    "look at the same document in the agent's own suite and mend the output of {agent}"
                ),
            });
            checks.push(Check::of("schema", CheckKey::Named(agent.as_str().into()), 1, failure));
        }
        for (place, shared) in self.case.shared.iter().enumerate() {
            let key = CheckKey::At(u32::try_from(place).unwrap_or(u32::MAX));
            checks.push(Check::of("shared_finding", key.clone(), shared.expected.line, self.missed(shared)));
            if self.case.no_contradictions {
                checks.push(Check::of("no_contradiction", key, shared.expected.line, self.contradiction(shared)));
            }
        }
        if self.case.no_duplicates {
            let failure = doubled.first().map(|(agent, place)| Failure {
                tag: Tag::Prompt,
                detail: format!(
                    "{} findings stand in two agents' results, first \"{}\" of {}",
                    doubled.len(),
                    self.produced[*agent].findings[*place].title,
                    self.case.agents[*agent]
                ),
                next_action: "divide the category between the agents' prompts, or drop no_duplicates".to_owned(),
            });
            checks.push(Check::of("no_duplicates", CheckKey::Only, 1, failure));
        }
        checks
    }

    fn missed(&self, shared: &Shared) -> Option<Failure> {
        let finders = self.finders(shared);
        (finders.len() < shared.min_agents).then(|| {
            let missing: Vec<&str> = self
                .case
                .agents
                .iter()
                .enumerate()
                .filter(|(place, _)| !finders.contains(place))
                .map(|(_, agent)| agent.as_str())
                .collect();
            Failure {
                tag: if self.produced.iter().any(|one| !one.flaws.is_empty()) { Tag::Schema } else { Tag::Prompt },
                detail: format!(
                    "{}: found by {} of {} agents that should, not by {}",
                    shared.expected.category,
                    finders.len(),
                    shared.min_agents,
                    missing.join(", ")
                ),
                next_action:
                    "run `goldgate explain` on the same document in the agents' own suite: one of them missed it"
                        .to_owned(),
            }
        })
    }

    fn contradiction(&self, shared: &Shared) -> Option<Failure> {
        let spread = self.spread(shared);
        (spread > shared.max_spread).then(|| {
            let rated: Vec<String> = self
                .matching(shared)
                .iter()
                .filter_map(|(agent, finding)| Some(format!("{} {}", self.case.agents[*agent], finding.severity?)))
                .collect();
            Failure {
                tag: Tag::Prompt,
                detail: format!(
                    "{}: severities lie {spread} steps apart ({})",
                    shared.expected.category,
                    rated.join(", ")
                ),
                next_action: "align the severity rules of the agents' prompts".to_owned(),
            }
        })
    }
}

fn is_duplicate(one: &Finding, other: &Finding) -> bool {
    let quotes = |finding: &'_ Finding| {
        finding
            .citations
            .iter()
            .map(|citation| citation.quote.clone())
            .filter(|quote| !quote.is_empty())
            .collect::<Vec<_>>()
    };
    one.category_key == other.category_key
        && (quotes(one).iter().any(|quote| {
            quotes(other).iter().any(|twin| quote.contains(twin.as_str()) || twin.contains(quote.as_str()))
        }) || reaches(token_overlap(&one.text, &other.text), DUPLICATE_OVERLAP))
}
