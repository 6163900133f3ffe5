//! Properties of all sources.

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any};
use proptest::sample::select;
use proptest::{prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::super::{Document, portable};
use super::read;

/// Pieces of a source, valid or not.
const PIECES: &[&str] = &[
    "{",
    "}",
    "{",
    "}",
    "\\",
    "\\'",
    "\\'9",
    "\\'93",
    "\\'82",
    "\\'a0",
    "\\u8364?",
    "\\u8232 ",
    "{\\field{\\*\\fldinst SYMBOL 167 }{\\fldrslt }}",
    "{\\*\\fldinst SYMBOL 0xb3 \\\\f Symbol}",
    "{\\fonttbl{\\f1\\fcharset2 Symbol;}{\\f2\\fcharset128 A;}{\\f3\\fcharset99 B;}}",
    "\\f1 ",
    "\\f2 ",
    "\\f3 ",
    "\\u-10179",
    "\\u-8704 ?",
    "\\u",
    "\\uc0 ",
    "\\uc2 ",
    "\\uc99999999 ",
    "\\b ",
    "\\b0 ",
    "\\v ",
    "\\deleted ",
    "\\plain ",
    "\\pard ",
    "\\par ",
    "\\line ",
    "\\tab ",
    "\\~",
    "\\-",
    "\\*",
    "{\\*",
    "\\rtf1",
    "\\ansicpg932 ",
    "\\ansicpg65001 ",
    "\\f1 ",
    "\\f",
    "{\\fonttbl{\\f1\\fcharset128 A;}}",
    "{\\fonttbl",
    "{\\header ",
    "{\\footnote ",
    "{\\*\\annotation ",
    "\\chftn ",
    "{\\field{\\*\\fldinst PAGE}{\\fldrslt ",
    "{\\listtext ",
    "{\\pntext 1.}",
    "{\\*\\pn\\pnlvlblt}",
    "{\\upr{a}",
    "{\\*\\ud b}",
    "\\intbl ",
    "\\itap2 ",
    "\\itap-3 ",
    "\\trowd ",
    "\\cellx100 ",
    "\\cell ",
    "\\row ",
    "\\nestcell ",
    "{\\*\\nesttableprops\\nestrow}",
    "\\nestrow ",
    "\\bin3 ",
    "\\bin99999 ",
    "\\bin-1 ",
    "{\\pict ",
    "{\\shp{\\*\\shpinst ",
    "{\\shptxt ",
    "{\\*\\bkmkstart a}",
    "{\\*\\bkmkend a}",
    "\\sect ",
    "\\page ",
    "\\brdrt ",
    "\\brdrs ",
    "\\chbrdr ",
    "\\tqr",
    "\\tx99 ",
    "\\dbch\\af1 ",
    "\\rtlch ",
    "\n",
    "\r",
    "\t",
    "\0",
    "text",
    "é",
    "語",
    "\u{ad}",
    " ",
    "\\s99999999999999999999 ",
];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 1..4),
    ];
    vec(piece, 0..60).prop_map(|pieces| [b"{\\rtf1".as_slice(), &pieces.concat()].concat())
}

fn check_invariants(source: &[u8]) -> Result<(), proptest::test_runner::TestCaseError> {
    let document = read(source);
    prop_assert_eq!(&document, &read(source));
    for paragraph in &document.paragraphs {
        prop_assert!(paragraph.source.start <= paragraph.source.end);
        prop_assert!(paragraph.source.end <= source.len());
        prop_assert_eq!(paragraph.map.is_empty(), paragraph.text.is_empty());
        let mut last = None;
        for (text, place) in &paragraph.map {
            let entry = (
                usize::try_from(*text).unwrap(),
                usize::try_from(*place).unwrap(),
            );
            prop_assert!(
                last.is_none_or(|last: (usize, usize)| last.0 < entry.0 && last.1 < entry.1)
            );
            prop_assert!(
                paragraph.text.is_char_boundary(entry.0) && entry.0 < paragraph.text.len()
            );
            prop_assert!(paragraph.source.contains(&entry.1));
            prop_assert_eq!(paragraph.source_at(entry.0), entry.1);
            last = Some(entry);
        }
        let mut before = 0;
        for offset in 0..=paragraph.text.len() + 1 {
            let at = paragraph.source_at(offset);
            prop_assert!(before <= at && at <= paragraph.source.end);
            before = at;
        }
        let hyphen = paragraph.text.contains('\u{ad}');
        prop_assert!(!hyphen);
    }
    prop_assert!(
        document
            .paragraphs
            .windows(2)
            .all(|pair| pair[0].source.start <= pair[1].source.start)
    );
    prop_assert!(
        document
            .flaws
            .windows(2)
            .all(|pair| pair[0].at <= pair[1].at)
    );
    prop_assert!(document.flaws.iter().all(|flaw| flaw.at <= source.len()));
    prop_assert!(
        document
            .bookmarks
            .iter()
            .all(|bookmark| bookmark.source.start <= bookmark.source.end)
    );
    prop_assert!(
        document
            .bookmarks
            .iter()
            .all(|bookmark| bookmark.source.end <= source.len())
    );
    let text = read(portable(source).as_bytes());
    prop_assert_eq!(&text.tables, &document.tables);
    prop_assert_eq!(text.hidden, document.hidden);
    let alike = |document: &Document| -> Vec<_> {
        document
            .paragraphs
            .iter()
            .map(|one| (one.place, one.text.clone(), one.signature.clone(), one.cell))
            .collect()
    };
    prop_assert_eq!(alike(&text), alike(&document));
    let kinds = |document: &Document| {
        document
            .flaws
            .iter()
            .map(|flaw| flaw.kind)
            .collect::<Vec<_>>()
    };
    prop_assert_eq!(kinds(&text), kinds(&document));
    Ok(())
}

/// A run of letters and its source.
#[derive(Debug, Clone)]
struct LetterRun {
    text: String,
    bold: bool,
    size: u8,
    group: bool,
    escape: u8,
}

fn runs() -> impl Strategy<Value = Vec<Vec<LetterRun>>> {
    let run = (
        "[a-z {}\\\\é€“語😀\t]{1,8}",
        any::<bool>(),
        8_u8..40,
        any::<bool>(),
        0_u8..3,
    )
        .prop_map(|(text, bold, size, group, escape)| LetterRun {
            text,
            bold,
            size,
            group,
            escape,
        });
    vec(vec(run, 1..5), 1..5)
}

fn written(letter: char, escape: u8) -> String {
    match (letter, escape) {
        ('{' | '}' | '\\', _) => format!("\\{letter}"),
        ('\t', _) => "\\tab ".to_owned(),
        (' '..='~', 0 | 1) => letter.to_string(),
        (_, 0) => letter.to_string(),
        (_, 1) => letter
            .encode_utf16(&mut [0; 2])
            .iter()
            .map(|unit| format!("\\u{}?", unit.cast_signed()))
            .collect(),
        ('é', _) => "\\'e9".to_owned(),
        ('€', _) => "\\'80".to_owned(),
        ('“', _) => "\\ldblquote ".to_owned(),
        (' '..='~', _) => format!("\\'{:02x}", u32::from(letter)),
        _ => format!("{{\\uc0\\u{}}}", u32::from(letter)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(source in vec(any::<u8>(), 0..300)) {
        check_invariants(&source)?;
        check_invariants(&[b"{\\rtf1 ".as_slice(), &source].concat())?;
    }

    #[test]
    fn any_pieces(source in bytes()) {
        check_invariants(&source)?;
    }

    #[test]
    fn a_document_reads_back(paragraphs in runs()) {
        let mut source = String::from("{\\rtf1\\ansi\\uc1\\deff0{\\fonttbl{\\f0 A;}}");
        let mut plain = String::from(source.as_str());
        for runs in &paragraphs {
            source.push_str("\\pard\\plain ");
            plain.push_str("\\pard\\plain");
            for run in runs {
                let (open, close) = if run.group { ("{", "}") } else { ("", "") };
                let words = format!("{}\\fs{} ", if run.bold { "\\b" } else { "\\b0" }, run.size);
                let text: String = run.text.chars().map(|letter| written(letter, run.escape)).collect();
                source.push_str(&format!("{open}{words}{text}{close}"));
                plain.push_str(&format!("\n\\b{}\\fs{} x", u8::from(run.bold), run.size));
            }
            source.push_str("\\par\n");
            plain.push_str("\\par");
        }
        source.push('}');
        plain.push('}');
        let document = read(source.as_bytes());
        let expected: Vec<String> =
            paragraphs.iter().map(|runs| runs.iter().map(|run| run.text.as_str()).collect()).collect();
        prop_assert_eq!(&document.flaws, &[]);
        prop_assert_eq!(document.text(), expected.join("\n"));
        let plain = read(plain.as_bytes());
        for (one, other) in document.paragraphs.iter().zip(&plain.paragraphs) {
            prop_assert_eq!(&one.signature, &other.signature);
        }
        check_invariants(source.as_bytes())?;
    }
}
