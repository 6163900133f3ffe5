//! What a revision must not break: definitions, numbers, and what nobody asked to change.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::alignment::Fate;
use super::clauses::Clauses;
use super::draft::Draft;
use super::draft::Number;
use super::draft::Section;
use super::draft::dotted;
use super::draft::number;
use super::draft::pattern;
use super::fault::Fault;
use super::fault::FaultKind;
use super::instructions::Instructions;
use super::instructions::Operation;
use super::liability;
use crate::text::Folded;
use crate::text::Names;
use crate::text::norm;
use crate::text::rtf::Place;

static MEANS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#""([^"]{2,60})"\s+(?:(?:shall\s+)?means?\b|(?:shall\s+)?ha(?:s|ve)\s+the\s+meaning|is\s+defined|refers?\s+to|includes?\b)"#,
    )
});
static INLINE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\((?:[^()"]{0,60}\s)?"([^"]{2,60})"(?:\s+or\s+"[^"]{2,60}")?\)"#));

/// Where each defined term is defined, and how often it is used elsewhere.
fn terms(draft: &Draft) -> BTreeMap<String, Term> {
    let mut terms: BTreeMap<String, Term> = BTreeMap::new();
    for (place, line) in draft.lines.iter().enumerate() {
        for (pattern, own_line) in [(&*MEANS, true), (&*INLINE, false)] {
            for term in pattern.captures_iter(&line.folded.text).filter_map(|found| found.get(1)) {
                terms.entry(term.as_str().to_owned()).or_insert(Term { line: place, own_line, uses: 0 });
            }
        }
    }
    let words: Vec<(String, String)> = terms
        .keys()
        .flat_map(|term| {
            let plural = term.strip_suffix('y').map_or(format!("{term}s"), |stem| format!("{stem}ies"));
            [term.clone(), format!("{term}es"), plural].map(|form| (form, term.clone()))
        })
        .collect();
    // A term that is part of a longer one is used by it, so each is counted for itself.
    for (form, term) in &words {
        let names = Names::new([form.as_str()]);
        let Some(known) = terms.get(term).copied() else { continue };
        let mut uses = 0;
        for (place, line) in draft.lines.iter().enumerate() {
            let hits = names.find(&line.folded).len();
            let own = if place == known.line { if known.own_line { hits } else { hits.min(1) } } else { 0 };
            uses += hits - own;
        }
        if let Some(known) = terms.get_mut(term) {
            known.uses += uses;
        }
    }
    terms
}

#[derive(Clone, Copy)]
struct Term {
    line: usize,
    /// Whether the whole line is its definition.
    own_line: bool,
    uses: usize,
}

/// Definitions that nothing uses any more, and terms that are used and not defined any more.
pub fn definitions(original: &Draft, revised: &Draft, asked: &Instructions) -> Vec<Fault> {
    let (before, now) = (terms(original), terms(revised));
    let replaced = asked
        .entities
        .iter()
        .flat_map(|one| [&one.from, &one.to].into_iter().chain(&one.defined_as).chain(&one.becomes));
    // A term with an old name in it is counted as a name, not as a term, too.
    let replaced = Names::new(replaced.map(String::as_str));
    let is_name = |term: &str| !replaced.find(&Folded::of(term)).is_empty();
    let mut faults = Vec::new();
    for (term, Term { line, uses, .. }) in &now {
        let already = before.get(term).is_some_and(|before| before.uses == 0);
        if *uses == 0 && !already && !is_name(term) {
            let what = format!("nothing uses the definition of \"{term}\": {}", revised.excerpt(*line));
            faults.push(Fault::new(FaultKind::OrphanedDefinition, what));
        }
    }
    for term in before.keys().filter(|term| !now.contains_key(*term) && !is_name(term)) {
        let names = Names::new([term.as_str()]);
        if let Some((line, hit)) = revised
            .lines
            .iter()
            .enumerate()
            .find_map(|(place, line)| Some((place, names.find(&line.folded).into_iter().next()?)))
        {
            let at = revised.lines[line].folded.original(&hit.at);
            let what = format!("\"{term}\" is used and not defined any more: {}", revised.quote(line, &at));
            faults.push(Fault::new(FaultKind::Undefined, what));
        }
    }
    faults
}

/// Gaps and doubles in the numbers, and sub-clauses whose clause is gone, that the original did not have.
pub fn numbering(original: &Draft, revised: &Draft) -> Vec<Fault> {
    let before: BTreeSet<(Kind, Number)> =
        slips(original).into_iter().map(|(kind, _, number)| (kind, number)).collect();
    let mut faults = Vec::new();
    for (kind, line, number) in slips(revised) {
        if before.contains(&(kind, number.clone())) {
            continue;
        }
        let (fault, what) = match kind {
            Kind::Double => (FaultKind::Numbering, "stands twice"),
            Kind::Gap => (FaultKind::Numbering, "follows a gap"),
            Kind::Back => (FaultKind::Numbering, "is out of order"),
            Kind::Orphan => (FaultKind::OrphanedClause, "has no clause above it any more"),
        };
        faults.push(Fault::new(fault, format!("section {} {what}: {}", dotted(&number), revised.excerpt(line))));
    }
    faults
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Double,
    Gap,
    Back,
    Orphan,
}

fn slips(draft: &Draft) -> Vec<(Kind, usize, Number)> {
    let mut slips = Vec::new();
    let mut seen: BTreeSet<(usize, &[u32])> = BTreeSet::new();
    let mut last: BTreeMap<(usize, &[u32]), u32> = BTreeMap::new();
    for section in &draft.sections {
        let Some((own, parent)) = section.number.split_last() else { continue };
        let mut slip = |kind| slips.push((kind, section.lines.start, section.number.clone()));
        if !seen.insert((section.part, &section.number)) {
            slip(Kind::Double);
            continue;
        }
        if !parent.is_empty() && !seen.contains(&(section.part, parent)) {
            slip(Kind::Orphan);
        } else {
            match last.get(&(section.part, parent)).copied().unwrap_or(0) {
                before if *own < before => slip(Kind::Back),
                before if *own > before + 1 => slip(Kind::Gap),
                _ => {}
            }
        }
        last.insert((section.part, parent), *own);
    }
    slips
}

/// Changes that nobody asked for: their faults, and how many lines of running text are gone without being asked for.
pub fn unintended(clauses: &Clauses<'_>, asked: &Instructions) -> (Vec<Fault>, usize) {
    let Clauses { original, revised, alignment } = clauses;
    let targets = Targets::of(clauses, asked);
    let mut faults = Vec::new();
    let mut omitted = 0;
    let fault = |what: String| Fault::new(FaultKind::Unintended, what);
    for (line, fate) in alignment.fates.iter().enumerate() {
        let may = targets.may_change(original, line, asked);
        match fate {
            Fate::Changed(to) if !may => {
                faults.push(fault(format!("{} became {}", original.excerpt(line), revised.excerpt(*to))));
            }
            Fate::Gone if !may => {
                omitted += usize::from(original.lines[line].place == Place::Body);
                faults.push(fault(format!("{} is gone", original.excerpt(line))));
            }
            Fate::Kept(to) => {
                let (old, new) = (&original.lines[line], &revised.lines[*to]);
                // Its words are the same when names and numbers are left out; are its letters, where it has none of them?
                let (was, is) = (&old.text[old.words_from..], &new.text[new.words_from..]);
                if old.folded.text == new.folded.text && was.trim() != is.trim() && !may {
                    faults.push(fault(format!("{} is written in another way", revised.excerpt(*to))));
                }
            }
            Fate::Changed(_) | Fate::Gone => {}
        }
    }
    for line in alignment.added.iter().filter(|line| !targets.may_be_new(revised, **line)) {
        faults.push(fault(format!("{} is new", revised.excerpt(*line))));
    }
    (faults, omitted)
}

/// The sections that may change.
struct Targets {
    original: BTreeSet<usize>,
    revised: BTreeSet<usize>,
    /// Numbers of sections that are to go: what refers to them has to change.
    removed: BTreeSet<String>,
    unused: BTreeSet<usize>,
}

impl Targets {
    fn of(clauses: &Clauses<'_>, asked: &Instructions) -> Self {
        let Clauses { original, revised, .. } = clauses;
        let mut targets = Self {
            original: BTreeSet::new(),
            revised: BTreeSet::new(),
            removed: BTreeSet::new(),
            unused: BTreeSet::new(),
        };
        for clause in &asked.clauses {
            let Some(wanted) = number(&clause.section) else { continue };
            if clause.operation == Operation::Add {
                // Where it should not stand, it is an operation that is not done, and no second fault.
                let heading = clause.heading.as_deref().map(norm);
                let fresh = |place: &usize| !clauses.alignment.sections.values().any(|taken| taken == place);
                let fits = |section: &Section| section.number == wanted || heading.as_ref() == Some(&section.heading);
                let added = (0..revised.sections.len()).filter(|place| fresh(place) && fits(&revised.sections[*place]));
                targets.revised.extend(added.flat_map(|place| revised.tree(place)));
                continue;
            }
            let Some(section) = original.section(&wanted) else { continue };
            targets.original.extend(original.tree(section));
            if clause.operation == Operation::Delete {
                targets.removed.extend(original.tree(section).map(|place| dotted(&original.sections[place].number)));
            }
        }
        for section in asked.allowed_changes.iter().filter_map(|text| original.section(&number(text)?)) {
            targets.original.extend(original.tree(section));
        }
        let became: Vec<usize> = targets.original.iter().filter_map(|section| clauses.became(*section)).collect();
        targets.revised.extend(became);
        // A definition that lost its last use may go with it.
        let used = terms(revised);
        let unused = terms(original).into_iter().filter(|(term, _)| !used.contains_key(term));
        let gone = |term: &str| {
            let names = Names::new([term]);
            revised.lines.iter().all(|line| names.find(&line.folded).is_empty())
        };
        targets.unused = unused.filter(|(term, _)| gone(term)).map(|(_, term)| term.line).collect();
        targets
    }

    fn may_change(&self, original: &Draft, line: usize, asked: &Instructions) -> bool {
        let own = &original.lines[line];
        let named = own.section.is_some_and(|section| self.original.contains(&section));
        let indemnity = asked.liability.is_some() && liability::speaks_of_indemnity(&own.folded.text);
        let refers = self.removed.iter().any(|gone| !Names::new([gone.as_str()]).find(&own.folded).is_empty());
        named || indemnity || refers || self.unused.contains(&line)
    }

    fn may_be_new(&self, revised: &Draft, line: usize) -> bool {
        revised.lines[line].section.is_some_and(|section| self.revised.contains(&section))
    }
}
