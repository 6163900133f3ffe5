//! A document as the verifier looks at it: lines of text in sections.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::text::Folded;
use crate::text::norm;
use crate::text::rtf;
use crate::text::rtf::Place;

/// A document, read and divided.
pub struct Draft {
    /// What the reader made of the source.
    pub document: rtf::Document,
    /// Its paragraphs that hold text.
    pub lines: Vec<Line>,
    /// Its numbered sections, in their order.
    pub sections: Vec<Section>,
}

/// A paragraph with text.
pub struct Line {
    /// Which paragraph of the document.
    pub paragraph: usize,
    /// Where it stands.
    pub place: Place,
    /// Its text.
    pub text: String,
    /// Its text as it is compared.
    pub folded: Folded,
    /// Where its own words begin in the text: after a number that is written out.
    pub words_from: usize,
    /// The section that it is part of, by its place in the list.
    pub section: Option<usize>,
}

/// The number of a section, such as 4.2.
pub type Number = Vec<u32>;

/// A numbered section: its heading or first paragraph, and all up to the next number.
pub struct Section {
    /// Its number.
    pub number: Number,
    /// Which schedule or annex it stands in; 0 is the contract itself. Each counts from its own beginning.
    pub part: usize,
    /// Its heading in the normal form; empty where it has none.
    pub heading: String,
    /// Its lines; those of its sub-sections are theirs.
    pub lines: Range<usize>,
}

impl Draft {
    /// Reads a document.
    pub fn read(source: &[u8]) -> Self {
        let document = rtf::read(source);
        let mut draft = Self { document, lines: Vec::new(), sections: Vec::new() };
        let mut part = 0;
        for (place, paragraph) in draft.document.paragraphs.iter().enumerate() {
            if paragraph.text.trim().is_empty() {
                continue;
            }
            let at = draft.lines.len();
            let mut words_from = 0;
            if paragraph.place == Place::Body {
                if PART.is_match(&paragraph.text) {
                    part += 1;
                }
                if let Some((number, from)) = numbered(&paragraph.text, paragraph.number.as_deref()) {
                    words_from = from;
                    let heading = heading(&paragraph.text[from..]);
                    draft.sections.push(Section { number, part, heading, lines: at..at });
                }
            }
            // Notes, heads and tables belong to the section around them only where they stand in it.
            let inside = matches!(paragraph.place, Place::Body | Place::Cell | Place::TextBox);
            let section = draft.sections.len().checked_sub(1).filter(|_| inside);
            if let Some(section) = section {
                draft.sections[section].lines.end = at + 1;
            }
            draft.lines.push(Line {
                paragraph: place,
                place: paragraph.place,
                folded: Folded::of(&paragraph.text),
                text: paragraph.text.clone(),
                words_from,
                section,
            });
        }
        draft
    }

    /// The section of this number, in the contract itself first.
    pub fn section(&self, number: &[u32]) -> Option<usize> {
        self.sections.iter().position(|section| section.number == number)
    }

    /// The section and everything below it, as places in the list.
    pub fn tree(&self, root: usize) -> impl Iterator<Item = usize> + '_ {
        let (number, part) = (&self.sections[root].number, self.sections[root].part);
        let below = move |section: &&Section| section.part == part && section.number.starts_with(number);
        let after = self.sections.iter().enumerate().skip(root);
        after.take_while(move |(_, section)| below(section)).map(|(place, _)| place)
    }

    /// The words of a section and everything below it, folded.
    pub fn words(&self, root: usize) -> String {
        let lines = self.tree(root).flat_map(|section| self.sections[section].lines.clone());
        lines.map(|line| self.lines[line].folded.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Where a line stands, for people: its section, or the part of the page.
    pub fn whereabouts(&self, line: usize) -> String {
        let Line { place, section, .. } = &self.lines[line];
        let within = match section {
            Some(section) => format!("section {}", dotted(&self.sections[*section].number)),
            None => "the opening".to_owned(),
        };
        match place {
            Place::Body => within,
            Place::Cell => format!("a table in {within}"),
            Place::TextBox => format!("a text box in {within}"),
            Place::Header => "a header".to_owned(),
            Place::Footer => "a footer".to_owned(),
            Place::Footnote => "a footnote".to_owned(),
            Place::Annotation => "an annotation".to_owned(),
        }
    }

    /// A place in a line with some words around it, and its byte in the source.
    pub fn quote(&self, line: usize, at: &Range<usize>) -> String {
        let Line { text, paragraph, .. } = &self.lines[line];
        let before: Vec<char> = text[..at.start].chars().rev().take(24).collect();
        let after: String = text[at.end..].chars().take(24).collect();
        let before: String = before.into_iter().rev().collect();
        let cut = |whole: bool| if whole { "" } else { "…" };
        let byte = self.document.paragraphs[*paragraph].source_at(at.start);
        let quoted = format!(
            "{}{before}{}{after}{}",
            cut(before.len() == at.start),
            &text[at.clone()],
            cut(at.end + after.len() == text.len())
        );
        format!("\"{}\" ({}, byte {byte})", quoted.replace(['\n', '\t'], " "), self.whereabouts(line))
    }

    /// A line's beginning, for people.
    pub fn excerpt(&self, line: usize) -> String {
        let Line { text, .. } = &self.lines[line];
        let short: String = text.chars().take(60).collect();
        let more = if short.len() < text.len() { "…" } else { "" };
        format!("\"{}{more}\" ({})", short.replace(['\n', '\t'], " "), self.whereabouts(line))
    }
}

/// A number as it is written.
pub fn dotted(number: &[u32]) -> String {
    number.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
}

/// A number out of a text such as `4.2`, `Section 4.2.` or `Article IV`.
pub fn number(text: &str) -> Option<Number> {
    let text = text.trim();
    let text = WORD.find(text).map_or(text, |word| &text[word.end()..]);
    let text = text.trim_end_matches(['.', ')', ':']).trim_start_matches('(');
    roman(text).or_else(|| {
        // "1.000" counts units.
        let part = |part: &str| part.parse().ok().filter(|_| part.len() <= 3 && !part.starts_with('0'));
        let parts: Option<Number> = text.split('.').map(part).collect();
        parts.filter(|parts| parts.len() <= 6)
    })
}

static PART: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^\s*(schedule|annex|annexe|appendix|exhibit|attachment)\s+([0-9]{1,3}|[A-Z]|[IVX]+)\b")
});
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)^(section|article|clause|paragraph|§)\s*"));
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:((?i:section|article|clause)|§)\s*)?([0-9]{1,3}(?:\.[0-9]{1,3}){0,5}|[IVXLC]+)([.):]?)(\s*[–—-]\s+|\s+|$)",
    )
});

/// A pattern that is part of this program.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this program are patterns")
}

/// The number at a paragraph's beginning, automatic or written out, and where its own words begin.
fn numbered(text: &str, automatic: Option<&str>) -> Option<(Number, usize)> {
    if let Some(number) = automatic.and_then(number) {
        return Some((number, 0));
    }
    let found = WRITTEN.captures(text)?;
    let (word, digits, mark) = (found.get(1), found.get(2)?.as_str(), found.get(3).map_or("", |mark| mark.as_str()));
    let end = found.get(0)?.end();
    let number = match word {
        Some(_) => number(digits)?,
        // A roman number alone is a word as often as not.
        None if digits.starts_with(|char: char| char.is_ascii_digit()) => number(digits)?,
        None => return None,
    };
    // "30 days after delivery" is no section 30: without a mark, a single number has to stand before a heading.
    let tabbed = found.get(4).is_some_and(|gap| gap.as_str().contains('\t'));
    let plain = word.is_none() && number.len() == 1 && mark.is_empty() && !tabbed;
    let rest = text[end..].trim_end();
    let heads = rest.len() <= 80 && rest.starts_with(char::is_uppercase) && !rest.ends_with(['.', ';', ',']);
    (!plain || heads).then_some((number, end))
}

fn roman(text: &str) -> Option<Number> {
    let value = |byte: u8| match byte {
        b'I' => Some(1_u32),
        b'V' => Some(5),
        b'X' => Some(10),
        b'L' => Some(50),
        b'C' => Some(100),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().map(value).collect::<Option<_>>()?;
    let mut sum = 0;
    for (place, digit) in digits.iter().enumerate() {
        let next = digits.get(place + 1).copied().unwrap_or(0);
        sum = if *digit < next { sum - i64::from(*digit) } else { sum + i64::from(*digit) };
    }
    u32::try_from(sum).ok().filter(|sum| *sum > 0 && digits.len() <= 8).map(|sum| vec![sum])
}

/// The heading at the beginning of a section: a short line, or a few words before the first full stop.
fn heading(words: &str) -> String {
    let words = words.trim();
    let first = words.split_once(['.', ':', '\n']).map_or(words, |(first, _)| first);
    let short = first.chars().count() <= 60 && first.split_whitespace().count() <= 8;
    if short { norm(first) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::heading;
    use super::number;
    use super::numbered;

    #[test]
    fn a_section_begins_with_its_number() {
        type Row = (&'static str, Option<&'static str>, Option<(&'static [u32], usize)>);
        let table: [Row; 13] = [
            ("4.2 Payment. The Customer pays.", None, Some((&[4, 2], 4))),
            ("4. Payment", None, Some((&[4], 3))),
            ("4\tPayment of all sums that are due, and of interest on them.", None, Some((&[4], 2))),
            ("Section 4.2. Payment", None, Some((&[4, 2], 13))),
            ("ARTICLE IV – Payment", None, Some((&[4], 15))),
            ("Article IV Payment", None, Some((&[4], 11))),
            ("Payment", Some("4.2."), Some((&[4, 2], 0))),
            ("Payment", Some("(a)"), None),
            ("30 days after delivery the price is due.", None, None),
            ("30 Days", None, Some((&[30], 3))),
            ("2024 was a year", None, None),
            ("I agree", None, None),
            ("1.000 units", None, None),
        ];
        for (text, automatic, wanted) in table {
            let found = numbered(text, automatic);
            assert_eq!(found.as_ref().map(|(number, from)| (number.as_slice(), *from)), wanted, "{text}");
        }
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, wanted) in
            [("4.2", "4.2"), ("Section 4.2.", "4.2"), ("Article XIV", "14"), ("§ 3", "3"), ("(7)", "7")]
        {
            assert_eq!(number(text).map(|number| super::dotted(&number)).as_deref(), Some(wanted), "{text}");
        }
        for text in ["", "4..2", "a", "4.2000", "1.2.3.4.5.6.7"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_heading_is_short() {
        assert_eq!(heading(" Payment. The Customer pays."), "payment");
        assert_eq!(heading("The Customer pays all sums that are due under this Agreement within thirty days."), "");
    }
}
