//! The filters of the command line.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use globset::{Glob, GlobMatcher};

use crate::diag::{Code, Diagnostic, Diagnostics, nearest};
use crate::files::sha256_hex;
use crate::format::failed_v1::FailedCase;
use crate::gate::CaseSelection;
use crate::model::{AgentName, CaseChoice, CaseId, RepoPath, Shard, SuiteId, Tier};
use crate::suites::Pair;

/// Parses patterns of case ids.
pub fn patterns(texts: &[String]) -> Result<Vec<GlobMatcher>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut globs = Vec::new();
    for text in texts {
        match Glob::new(text) {
            Ok(glob) => globs.push(glob.compile_matcher()),
            Err(error) => problems.push(Diagnostic::of_command_line(
                Code::BAD_GLOB,
                format!("--case {text}: {}", error.kind()),
                "write a pattern such as 'lease-*'",
            )),
        }
    }
    problems.or(globs)
}

/// Returns the error that no case matches a pattern, or all filters together, with a suggestion if a case has a similar id.
pub fn nothing_selected(
    file: &RepoPath,
    wanted: &Selection,
    cases: &BTreeSet<String>,
) -> Diagnostic {
    let unmatched = wanted.unmatched(cases);
    if wanted.failed.is_some() && unmatched.is_empty() {
        let message = "none of the cases that failed in the last run is left under the options";
        return Diagnostic::of_file(
            file,
            Code::NOTHING_SELECTED,
            message,
            "run without --failed",
        );
    }
    let asked: Vec<&str> = if unmatched.is_empty() {
        let patterns = wanted.cases.iter();
        patterns.map(|pattern| pattern.glob().glob()).collect()
    } else {
        unmatched
    };
    let ids = cases.iter().map(String::as_str);
    let near = asked
        .iter()
        .find_map(|text| nearest(text, ids.clone()).or_else(|| with_words_of(text, ids.clone())));
    let message = match asked.as_slice() {
        [] => "no case matches the options".to_owned(),
        asked => format!("no case matches \"{}\"", asked.join("\", \"")),
    };
    let help = match near {
        Some(near) if !asked.contains(&near) => format!("did you mean \"{near}\"?"),
        Some(_) | None => {
            "correct the options; `goldgate explain SUITE` lists the cases of a suite".to_owned()
        }
    };
    Diagnostic::of_file(file, Code::NOTHING_SELECTED, message, help)
}

/// The first id with the most words of a text, if it has at least half of them.
fn with_words_of<'a>(text: &str, ids: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = long_words(text);
    let best = ids
        .into_iter()
        .map(|id| (Reverse(long_words(id).intersection(&wanted).count()), id))
        .min()?;
    let (Reverse(count), id) = best;
    (count > 0 && 2 * count >= wanted.len()).then_some(id)
}

/// Whether a case that failed in the last run is this one of the suite.
fn is_of_pair(failed: &FailedCase, suite: &SuiteId, pair: &Pair) -> bool {
    let FailedCase {
        tier: _,
        suite: failed_suite,
        agent,
        case,
    } = failed;
    failed_suite == suite && *agent == pair.agent && *case == pair.case
}

fn long_words(text: &str) -> BTreeSet<String> {
    let split = text.split(|char: char| !char.is_alphanumeric());
    let words = split.filter(|word| word.len() > 2);
    words.map(str::to_lowercase).collect()
}

/// The filters and options that select what is graded.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The tiers; empty for all of a suite.
    pub tiers: Vec<Tier>,
    /// Suites by id; empty for all.
    pub suites: Vec<String>,
    /// Agents by name; empty for all.
    pub agents: Vec<String>,
    /// Patterns of case ids; empty for all.
    pub cases: Vec<GlobMatcher>,
    /// Tags, of which a case needs one; empty for all.
    pub tags: Vec<String>,
    /// The pairs that failed in the run before; `None` for all.
    pub failed: Option<BTreeSet<FailedCase>>,
    /// Samples per pair of agent and case.
    pub samples: Option<u32>,
    /// The shard of the cases that this machine grades; `None` for all cases.
    pub shard: Option<Shard>,
    /// Agents that are not graded, although the filters select them.
    pub left_out: BTreeSet<(SuiteId, AgentName)>,
    /// A target that the model tier calls instead of the config's.
    pub target: Option<String>,
}

impl Selection {
    /// Whether it selects some cases or agents of a suite only.
    pub fn is_part(&self) -> bool {
        !self.agents.is_empty()
            || !self.cases.is_empty()
            || !self.tags.is_empty()
            || self.failed.is_some()
            || self.shard.is_some()
            || !self.left_out.is_empty()
    }

    /// The patterns that match none of some case ids.
    pub fn unmatched(&self, cases: &BTreeSet<String>) -> Vec<&str> {
        let mut unmatched = Vec::new();
        for pattern in &self.cases {
            if !cases.iter().any(|case| pattern.is_match(case)) {
                unmatched.push(pattern.glob().glob());
            }
        }
        unmatched
    }

    /// Whether a case is in the selected shard. Its name decides, so a new case does not move other cases to another machine.
    pub fn is_of_shard(&self, suite: &SuiteId, case: &CaseId) -> bool {
        let Some(shard) = self.shard else { return true };
        let digest = sha256_hex(format!("{suite}\n{case}").as_bytes());
        shard.has(
            digest
                .get(..15)
                .and_then(|digits| u64::from_str_radix(digits, 16).ok())
                .unwrap_or_default(),
        )
    }

    /// Whether a case of a suite matches the filters.
    pub fn case(&self, suite: &SuiteId, pair: &Pair) -> bool {
        self.failed
            .as_ref()
            .is_none_or(|failed| failed.iter().any(|case| is_of_pair(case, suite, pair)))
            && (self.cases.is_empty()
                || self
                    .cases
                    .iter()
                    .any(|glob| glob.is_match(pair.case.as_str())))
            && (self.tags.is_empty()
                || pair
                    .marks
                    .tags
                    .iter()
                    .any(|tag| self.tags.iter().any(|wanted| wanted == tag.as_str())))
    }

    pub fn leaves_out(&self, suite: &SuiteId, agent: &AgentName) -> bool {
        !self.left_out.is_empty() && self.left_out.contains(&(suite.clone(), agent.clone()))
    }

    /// Whether an agent matches the filters.
    pub fn agent(&self, agent: &AgentName) -> bool {
        self.agents.is_empty() || self.agents.iter().any(|name| name == agent.as_str())
    }

    pub fn choice(&self) -> CaseChoice {
        match (&self.failed, self.cases.is_empty() && self.tags.is_empty()) {
            (Some(_), _) => CaseChoice::Failed,
            (None, false) => CaseChoice::Matching,
            (None, true) => CaseChoice::All,
        }
    }

    pub fn selection(&self) -> CaseSelection {
        if self.choice().is_all() && self.shard.is_none() {
            CaseSelection::Whole
        } else {
            CaseSelection::Part
        }
    }
}

#[cfg(test)]
mod tests {
    use super::with_words_of;

    #[test]
    fn a_part_of_an_id_suggests_the_id() {
        let ids = [
            "can-you-write-my-history-essay",
            "late-order",
            "order-cancelled",
        ];
        for (text, found) in [
            ("history-essay", Some("can-you-write-my-history-essay")),
            (
                "history essay napoleon",
                Some("can-you-write-my-history-essay"),
            ),
            ("Order", Some("late-order")),
            ("refund-of-a-tent", None),
            ("", None),
        ] {
            assert_eq!(with_words_of(text, ids), found, "{text}");
        }
    }
}
