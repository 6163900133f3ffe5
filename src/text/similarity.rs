//! Similarity of two texts, 0 to 1, by tokens and by characters.

use std::collections::BTreeMap;

use strsim::generic_levenshtein;

/// The alphanumeric tokens of a text.
fn tokens(text: &str) -> Vec<&str> {
    text.split(|char: char| !char.is_alphanumeric())
        .filter(|token| !token.is_empty())
        .collect()
}

/// `2 * common / (left + right)`; 1 if both are empty.
fn dice(common: usize, left: usize, right: usize) -> f64 {
    match left + right {
        0 => 1.0,
        sum => 2.0 * common as f64 / sum as f64,
    }
}

/// ROUGE-L: the harmonic mean of precision and recall of the longest common subsequence of tokens.
///
/// If the numbers of tokens alone keep it below `minimum`, returns the highest value that they allow, without comparing.
pub fn rouge_l(left: &str, right: &str, minimum: f64) -> f64 {
    let (left, right) = (tokens(left), tokens(right));
    let most = dice(left.len().min(right.len()), left.len(), right.len());
    if most < minimum {
        most
    } else {
        dice(longest_common(&left, &right), left.len(), right.len())
    }
}

/// The harmonic mean of precision and recall of the tokens, in any order; a repeated token counts as often as both have it.
pub fn token_f1(left: &str, right: &str) -> f64 {
    let (left, right) = (tokens(left), tokens(right));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for token in &left {
        *counts.entry(token).or_default() += 1;
    }
    let mut common = 0;
    for token in &right {
        if let Some(unmatched) = counts.get_mut(*token)
            && *unmatched > 0
        {
            *unmatched -= 1;
            common += 1;
        }
    }
    dice(common, left.len(), right.len())
}

/// `1 - edits / length of the longer text`, in characters; 1 if both are empty.
///
/// If the lengths alone keep it below `minimum`, returns the highest value that they allow, without comparing.
pub fn levenshtein(left: &str, right: &str, minimum: f64) -> f64 {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let (shorter, longer) = (left.len().min(right.len()), left.len().max(right.len()));
    if longer == 0 {
        return 1.0;
    }
    let most = shorter as f64 / longer as f64;
    if most < minimum {
        most
    } else {
        1.0 - generic_levenshtein(&left, &right) as f64 / longer as f64
    }
}

/// The length of the longest common subsequence.
fn longest_common(left: &[&str], right: &[&str]) -> usize {
    let mut previous_row = vec![0_usize; right.len() + 1];
    for token in left {
        let mut row = vec![0_usize; right.len() + 1];
        for (index, opposite) in right.iter().enumerate() {
            row[index + 1] = if token == opposite {
                previous_row[index] + 1
            } else {
                row[index].max(previous_row[index + 1])
            };
        }
        previous_row = row;
    }
    previous_row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{levenshtein, rouge_l, token_f1};

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} {expected}");
    }

    #[test]
    fn order_counts_for_rouge_and_not_for_tokens() {
        let (one, other) = ("the refund takes five days", "five days the refund takes");
        near(token_f1(one, other), 1.0);
        near(rouge_l(one, other, 0.0), 0.6);
        near(rouge_l("the cat sat", "the cat", 0.0), 0.8);
        near(token_f1("a a b", "a b b"), 2.0 / 3.0);
        near(token_f1("", ""), 1.0);
        near(rouge_l("a", "", 0.0), 0.0);
    }

    #[test]
    fn edits_are_counted_in_characters() {
        near(levenshtein("kitten", "sitting", 0.0), 1.0 - 3.0 / 7.0);
        near(levenshtein("äö", "aö", 0.0), 0.5);
        near(levenshtein("", "", 0.9), 1.0);
    }

    #[test]
    fn texts_of_very_different_lengths_are_not_compared() {
        let long = "word ".repeat(2_000_000);
        near(levenshtein("word", &long, 0.5), 4.0 / 10_000_000.0);
        assert!(rouge_l("word", &long, 0.5) < 0.001);
    }
}
