//! Defined terms: where they are defined, and where they are used.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use rtf::ParagraphPlace;

use super::draft::Draft;
use super::fault::{FaultKind, RevisionFault};
use super::instructions::{Entity, Instructions};
use crate::text::{Folded, NameSet, pattern};

static MEANS: LazyLock<Regex> = LazyLock::new(|| {
    let verb = r"(?:(?:shall\s+)?means?\b|(?:shall\s+)?ha(?:s|ve)\s+the\s+meaning|is\s+defined|refers?\s+to|includes?\b)";
    pattern(&format!(
        r#""([^"]{{2,60}})"\s+{verb}|(?:^|[\s(])'([^'"]{{2,60}})'\s+{verb}"#
    ))
});
static INLINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"\((?:[^()"]{0,60}\s)?"([^"]{2,60})"(?:\s+or\s+"[^"]{2,60}")?\)|\((?:[^()"']{0,60}\s)?'([^"']{2,60})'\)"#,
    )
});
/// A table cell that contains only a term: the next cell defines it.
static ALONE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^(?:"([^"]{2,60})"|'([^"']{2,60})'):?$"#));

#[derive(Clone, Copy)]
pub struct Term {
    /// The line that defines it.
    pub line: usize,
    /// Whether it is written with a capital: then "notice" is not a use of "Notice".
    capital: bool,
    uses: usize,
}

/// All defined terms, folded, with their definition and number of uses.
pub type DefinedTerms = BTreeMap<String, Term>;

/// Finds the defined terms of a document and counts their uses.
pub fn terms(draft: &Draft) -> DefinedTerms {
    let mut terms = DefinedTerms::new();
    for (index, line) in draft.lines.iter().enumerate() {
        if !line.folded.text.contains(['"', '\'']) {
            continue;
        }
        let in_table = line.place == ParagraphPlace::Cell;
        let patterns = [&*MEANS, &*INLINE, &*ALONE];
        for pattern in patterns.into_iter().take(if in_table { 3 } else { 2 }) {
            let captures = pattern.captures_iter(&line.folded.text);
            for term in captures.filter_map(|capture| capture.get(1).or(capture.get(2))) {
                let capital = is_capital(draft, index, term.start());
                terms.entry(term.as_str().to_owned()).or_insert(Term {
                    line: index,
                    capital,
                    uses: 0,
                });
            }
        }
    }
    for (term, known) in &mut terms {
        // A longer term that contains this one also counts as a use, so each term is counted on its own.
        let mut in_own = 0;
        for (line, start) in draft.words_from(stem(term), endings(term)) {
            if known.capital && !is_capital(draft, line, start) {
                continue;
            }
            known.uses += 1;
            in_own += usize::from(line == known.line);
        }
        // Another mention in the line of the definition is a use; the definition itself does not count.
        known.uses -= in_own.min(1);
    }
    terms
}

/// The part that a term and its plurals have in common.
fn stem(term: &str) -> &str {
    term.strip_suffix('y').unwrap_or(term)
}

/// The endings of a term and its plurals after the stem.
fn endings(term: &str) -> [&'static str; 3] {
    if term.ends_with('y') {
        ["y", "yes", "ies"]
    } else {
        ["", "s", "es"]
    }
}

fn is_capital(draft: &Draft, line: usize, at: usize) -> bool {
    let draft_line = &draft.lines[line];
    let at = draft_line.folded.original(&(at..at)).start;
    draft_line.text[at..].starts_with(char::is_uppercase)
}

/// The names that are replaced, and those that replace them.
pub fn replaced_names(asked: &Instructions) -> NameSet {
    NameSet::new(asked.entities.iter().flat_map(Entity::names))
}

pub fn has_name(names: &NameSet, term: &str) -> bool {
    !names.find(&Folded::of(term)).is_empty()
}

/// Definitions that lost their last use, and used terms that lost their definition.
pub fn definitions(
    old_terms: &DefinedTerms,
    new_terms: &DefinedTerms,
    revised: &Draft,
    asked: &Instructions,
) -> Vec<RevisionFault> {
    // A term that contains a replaced name is checked as a name instead.
    let replaced = replaced_names(asked);
    let mut faults = Vec::new();
    for (term, Term { line, uses, .. }) in new_terms {
        let already = old_terms
            .get(term)
            .is_some_and(|old_term| old_term.uses == 0);
        if *uses == 0 && !already && !has_name(&replaced, term) {
            let message = format!(
                "the definition of \"{term}\" is not used: {}",
                revised.excerpt(*line)
            );
            faults.push(RevisionFault::new(FaultKind::OrphanedDefinition, message));
        }
    }
    for (term, known) in old_terms {
        if new_terms.contains_key(term) || has_name(&replaced, term) {
            continue;
        }
        if let Some((line, at)) = used(revised, term, known) {
            let message = format!(
                "\"{term}\" is used but no longer defined: {}",
                revised.quote(line, &at)
            );
            faults.push(RevisionFault::new(FaultKind::Undefined, message));
        }
    }
    faults
}

/// The first use of a term, as its line and byte range in the line's text.
pub fn used(draft: &Draft, term: &str, known: &Term) -> Option<(usize, Range<usize>)> {
    let mut uses = draft.places(&NameSet::new([term])).into_iter();
    let (line, hit) =
        uses.find(|(line, hit)| !known.capital || is_capital(draft, *line, hit.at.start))?;
    Some((line, draft.lines[line].folded.original(&hit.at)))
}
