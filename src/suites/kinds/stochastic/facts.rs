//! Which decided facts the atoms of a run have.

use serde::Serialize;

use crate::model::reaches;
use crate::suites::shared::atoms::Atom;
use crate::text::Keyword;

/// A fact of the client.
pub struct Fact {
    pub text: String,
    /// Its distinct keywords.
    pub keywords: Vec<Keyword>,
    /// Its category, normalized for comparison; empty if it has none.
    pub category: String,
}

/// How facts of a list of facts are paired with atoms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairRule {
    /// What an equal category adds to the score of a fact and an atom; the keywords give the rest.
    pub category_weight: f64,
    /// The least score of a match.
    pub threshold: f64,
    /// Whether an atom matches one fact at most.
    pub one_to_one: bool,
}

impl Default for PairRule {
    fn default() -> Self {
        Self {
            category_weight: 0.3,
            threshold: 0.4,
            one_to_one: true,
        }
    }
}

impl PairRule {
    /// The score of a fact and an atom, 0 to 1: two of the keywords count whole, one counts half.
    fn score(self, fact: &Fact, atom: &Atom) -> f64 {
        let of_keywords = match fact.found_in(atom) {
            0 => 0.0,
            1 => 0.5,
            _ => 1.0,
        };
        let has_category = !fact.category.is_empty() && fact.category == atom.category;
        let of_category = if has_category {
            self.category_weight
        } else {
            0.0
        };
        (1.0 - self.category_weight) * of_keywords + of_category
    }

    /// Whether each fact is matched. With `one_to_one` the pairs are taken in falling score, each fact and each atom once; on a tie the first
    /// fact, then the first atom.
    fn matched(self, facts: &[Fact], atoms: &[Atom]) -> Vec<bool> {
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for (fact_index, fact) in facts.iter().enumerate() {
            for (atom_index, atom) in atoms.iter().enumerate() {
                let score = self.score(fact, atom);
                if reaches(score, self.threshold) {
                    pairs.push((score, fact_index, atom_index));
                }
            }
        }
        pairs.sort_by(|left, right| right.0.total_cmp(&left.0));
        let (mut matched, mut used) = (vec![false; facts.len()], vec![false; atoms.len()]);
        for (_, fact, atom) in pairs {
            let is_taken = matched[fact] || self.one_to_one && used[atom];
            if !is_taken {
                (matched[fact], used[atom]) = (true, true);
            }
        }
        matched
    }
}

impl Fact {
    /// How many of its keywords an atom has.
    fn found_in(&self, atom: &Atom) -> usize {
        self.keywords
            .iter()
            .filter(|word| word.is_in(&atom.text))
            .count()
    }
}

/// The score of each fact, 0 to 1. Without a rule: 1 if one atom has two of its keywords (or its only one), 0.5 if it has one of several,
/// else 0.
pub fn fact_scores(rule: Option<PairRule>, facts: &[Fact], atoms: &[Atom]) -> Vec<f64> {
    if let Some(rule) = rule {
        let matched = rule.matched(facts, atoms).into_iter();
        return matched
            .map(|is_matched| if is_matched { 1.0 } else { 0.0 })
            .collect();
    }
    facts
        .iter()
        .map(|fact| keyword_score(fact, atoms))
        .collect()
}

fn keyword_score(fact: &Fact, atoms: &[Atom]) -> f64 {
    let best = atoms.iter().map(|atom| fact.found_in(atom)).max();
    match best.unwrap_or(0) {
        best if best >= fact.keywords.len().min(2) => 1.0,
        0 => 0.0,
        _ => 0.5,
    }
}

/// The first atom that has a fact for itself.
pub fn matching_atom<'a>(
    rule: Option<PairRule>,
    fact: &Fact,
    atoms: &'a [Atom],
) -> Option<&'a Atom> {
    atoms.iter().find(|atom| match rule {
        Some(rule) => reaches(rule.score(fact, atom), rule.threshold),
        None => keyword_score(fact, std::slice::from_ref(*atom)) == 1.0,
    })
}

#[cfg(test)]
mod tests {
    use super::{Fact, PairRule, fact_scores, matching_atom};
    use crate::suites::shared::atoms::Atom;
    use crate::text::Keyword;

    fn fact(category: &str, keywords: &[&str]) -> Fact {
        let keywords = keywords.iter().map(|text| Keyword::new(text).unwrap());
        Fact {
            text: String::new(),
            keywords: keywords.collect(),
            category: category.to_owned(),
        }
    }

    fn atom(category: &str, text: &str) -> Atom {
        Atom {
            category: category.to_owned(),
            text: text.to_owned(),
            ..Atom::default()
        }
    }

    #[test]
    fn a_fact_counts_by_its_keywords_in_one_atom() {
        let refund = || fact("", &["refund", "days", "invoice"]);
        for (fact, texts, expected, why) in [
            (
                refund(),
                vec!["a refund within thirty days"],
                1.0,
                "two of three",
            ),
            (
                refund(),
                vec!["a refund", "thirty days"],
                0.5,
                "keywords in two atoms do not add up",
            ),
            (refund(), vec!["nothing"], 0.0, "none"),
            (
                fact("", &["refund"]),
                vec!["a refund"],
                1.0,
                "the only keyword is enough",
            ),
            (fact("", &["refund"]), vec![], 0.0, "no atom"),
        ] {
            let atoms: Vec<Atom> = texts.iter().map(|text| atom("", text)).collect();
            assert_eq!(fact_scores(None, &[fact], &atoms), [expected], "{why}");
        }
    }

    #[test]
    fn a_category_makes_up_for_a_keyword() {
        for (fact, atom, expected) in [
            (fact("security", &["saml"]), atom("ux", "has saml"), 0.0),
            (
                fact("security", &["saml"]),
                atom("security", "has saml"),
                1.0,
            ),
            (
                fact("security", &["saml", "sso"]),
                atom("ux", "has saml, an sso"),
                1.0,
            ),
            (
                fact("security", &["saml"]),
                atom("security", "has a login"),
                0.0,
            ),
            (fact("", &["saml"]), atom("", "has saml"), 0.0),
        ] {
            let scores = fact_scores(
                Some(PairRule::default()),
                &[fact],
                std::slice::from_ref(&atom),
            );
            assert_eq!(scores, [expected], "{atom:?}");
        }
    }

    #[test]
    fn an_atom_matches_one_fact_the_better_one() {
        let facts = || {
            [
                fact("ux", &["export", "csv"]),
                fact("ux", &["export", "filter"]),
                fact("ux", &["login"]),
            ]
        };
        let one = [atom("ux", "export what the filter shows")];
        let scores = |rule, atoms| fact_scores(Some(rule), &facts(), atoms);
        assert_eq!(scores(PairRule::default(), &one), [0.0, 1.0, 0.0]);
        let many = PairRule {
            one_to_one: false,
            ..PairRule::default()
        };
        assert_eq!(scores(many, &one), [1.0, 1.0, 0.0]);
        let two = [one[0].clone(), atom("ux", "export a file")];
        assert_eq!(scores(PairRule::default(), &two), [1.0, 1.0, 0.0]);
    }

    #[test]
    fn a_fact_that_is_not_decided_is_found_like_any_other() {
        let atoms = [atom("ux", "refund"), atom("ux", "refund in days")];
        let undecided = fact("ux", &["refund", "days"]);
        assert_eq!(matching_atom(None, &undecided, &atoms), Some(&atoms[1]));
        assert_eq!(
            matching_atom(Some(PairRule::default()), &undecided, &atoms),
            Some(&atoms[0])
        );
        assert_eq!(matching_atom(None, &undecided, &atoms[..1]), None);
    }
}
