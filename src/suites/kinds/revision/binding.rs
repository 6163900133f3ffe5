//! The words of a clause that bind: numbers, units, negations and duties. A change that was not requested may not touch them.

use imara_diff::{Algorithm, Diff, InternedInput};

/// Longest phrase, in words, that may go with a reference to a deleted section: "except as otherwise expressly provided for in Section 4".
const PHRASE: usize = 8;

const NEGATIONS: &[&str] = &[
    "not", "no", "never", "nor", "neither", "none", "nothing", "nobody", "cannot",
];
const DUTIES: &[&str] = &[
    "shall",
    "must",
    "may",
    "will",
    "can",
    "should",
    "needs",
    "need",
    "required",
    "obliged",
    "liable",
    "entitled",
    "exclusive",
    "exclusively",
    "solely",
];
const UNITS: &[&str] = &[
    "hour", "hours", "day", "days", "week", "weeks", "month", "months", "year", "years", "percent",
    "cent", "%", "eur", "euro", "euros", "usd", "dollar", "dollars", "gbp", "pound", "pounds",
    "chf", "francs", "half", "double", "twice",
];
const DIGITS: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: &[&str] = &[
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];
const LARGE: &[&str] = &["hundred", "thousand", "million", "billion"];

/// Whether two masked texts differ only in phrases with a reference, with at most this number of removed ones; an empty text lacks all of its words.
pub fn only_references_differ(was: &str, is: &str, removed: usize) -> bool {
    let (was, is) = (words(was), words(is));
    let mut input = InternedInput::default();
    input.update_before(was.iter().copied());
    input.update_after(is.iter().copied());
    let mut lost = 0;
    let hunks = Diff::compute(Algorithm::Myers, &input);
    for hunk in hunks.hunks() {
        let old = &was[hunk.before.start as usize..hunk.before.end as usize];
        let new = &is[hunk.after.start as usize..hunk.after.end as usize];
        let (had, has) = (count_references(old), count_references(new));
        lost += had.saturating_sub(has);
        let is_phrase = had > 0
            && old.len() - had <= PHRASE
            && new.len() <= old.len()
            && has <= had
            && binding(old) == binding(new);
        if !is_phrase {
            return false;
        }
    }
    lost <= removed
}

fn count_references(words: &[&str]) -> usize {
    words.iter().filter(|word| **word == REFERENCE).count()
}

/// A reference to a section in a masked text.
const REFERENCE: &str = "#";

/// The words of a masked text; a reference is one word, and "Sections" is "section".
fn words(text: &str) -> Vec<&str> {
    let bare = text
        .split_whitespace()
        .map(|word| word.trim_matches([',', '.', ';', ':', '(', ')', '"', '\'']));
    bare.filter(|word| !word.is_empty())
        .map(compared_word)
        .collect()
}

fn compared_word(word: &str) -> &str {
    match word {
        "sections" => "section",
        "clauses" => "clause",
        "articles" => "article",
        word if word.contains(REFERENCE) => REFERENCE,
        word => word,
    }
}

/// The words that bind, sorted.
fn binding(words: &[&str]) -> Vec<String> {
    let mut binding = Vec::new();
    for word in words {
        if let Some(number) = number(word) {
            binding.push(number);
            continue;
        }
        let mut lists = [NEGATIONS, DUTIES, UNITS].into_iter();
        binding.extend(lists.find_map(|list| listed(word, list)));
    }
    binding.sort_unstable();
    binding
}

fn listed(word: &str, list: &[&str]) -> Option<String> {
    list.contains(&word).then(|| word.to_owned())
}

/// The number that a word is, in digits.
fn number(word: &str) -> Option<String> {
    if word.contains(char::is_control) {
        // A placeholder, which has the index of its name.
        return None;
    }
    if word.chars().any(|char| char.is_ascii_digit()) {
        return Some(word.to_owned());
    }
    match small_number(word) {
        Some(value) => Some(value.to_string()),
        None => listed(word, LARGE),
    }
}

/// A number below a hundred, in words.
fn small_number(word: &str) -> Option<usize> {
    if let Some(value) = unit(word).or(ten(word)) {
        return Some(value);
    }
    let (tens, units) = word.split_once('-')?;
    Some(ten(tens)? + unit(units)?)
}

fn unit(word: &str) -> Option<usize> {
    DIGITS.iter().position(|digit| *digit == word)
}

fn ten(word: &str) -> Option<usize> {
    let index = TENS.iter().position(|ten| *ten == word)?;
    Some(10 * (index + 2))
}

#[cfg(test)]
mod tests {
    use super::only_references_differ;

    #[test]
    fn a_phrase_with_a_reference_may_go() {
        let was = "subject to section #, the customer pays 100 eur within 30 days, and may not be charged more.";
        for (is, so) in [
            (
                "the customer pays 100 eur within 30 days, and may not be charged more.",
                true,
            ),
            (
                "at once the customer pays 100 eur within 30 days, and may not be charged more.",
                true,
            ),
            (
                "subject to the list of prices in force at that time, the customer pays 100 eur within 30 days, and may not be charged more.",
                false,
            ),
            (
                "subject to section #, the customer pays 100 eur within 30 days, and may be charged more.",
                false,
            ),
            (
                "the customer pays 100000 eur within 30 days, and may not be charged more.",
                false,
            ),
            (
                "the customer pays 100 eur within 3 days, and may not be charged more.",
                false,
            ),
            (
                "the customer pays 100 eur within 30 weeks, and may not be charged more.",
                false,
            ),
            (
                "the customer pays 100 eur within 30 days, and may be charged more.",
                false,
            ),
            ("the customer pays 100 eur within 30 days.", false),
            (
                "the supplier pays 100 eur within 30 days, and may not be charged more.",
                false,
            ),
            ("", false),
        ] {
            assert_eq!(only_references_differ(was, is, 1), so, "{is}");
        }
    }

    #[test]
    fn only_as_many_references_go_as_sections_were_removed() {
        for (was, is, removed, so) in [
            ("sections # and # apply.", "section # apply.", 1, true),
            (
                "see sections #, # and #(a).",
                "see sections # and #.",
                1,
                true,
            ),
            ("see section # and section #.", "see.", 1, false),
            ("see section # and section #.", "see.", 2, true),
            ("see section #.", "see sections # and #.", 1, false),
            ("section # also applies to discounts.", "", 1, true),
            (
                "the goods are sold as section # says.",
                "the goods are sold at once.",
                1,
                true,
            ),
            (
                "the goods are sold as section # says.",
                "the goods are never sold.",
                1,
                false,
            ),
        ] {
            assert_eq!(only_references_differ(was, is, removed), so, "{was} {is}");
        }
    }
}
