//! Whole documents as written by word processors.

use super::super::{Document, ParagraphPlace, first_difference};
use super::{read, shown};

const CONTRACT: &[u8] = include_bytes!("../testdata/contract.rtf");
const EDITED: &[u8] = include_bytes!("../testdata/edited.rtf");
const NESTED: &[u8] = include_bytes!("../testdata/nested.rtf");
const RESAVED: &[u8] = include_bytes!("../testdata/resaved.rtf");
const WORD: &[u8] = include_bytes!("../testdata/word.rtf");
const WORDPAD: &[u8] = include_bytes!("../testdata/wordpad.rtf");

fn lines(document: &Document) -> Vec<String> {
    shown(document).split('|').map(str::to_owned).collect()
}

fn sound(source: &[u8]) -> Document {
    let document = read(source);
    assert_eq!(document.flaws, []);
    document
}

#[test]
fn a_contract() {
    let document = sound(CONTRACT);
    assert_eq!(
        lines(&document),
        [
            "Header Master Agreement – Acme Holdings Ltd",
            "Footer Page 1 of the agreement",
            "[1.] Services 0",
            "[1.1] Scope",
            "Acme Holdings Ltd (“Acme”) supplies Subject A with the services – a naïve résumé costs €00,000. ",
            "Footnote \\tA note about Łódź and 東京 😀.",
            "[•] first bullet",
            "[•] second\\nbullet",
            "1:0:0:0 Item",
            "1:0:0:1 Fee",
            "1:0:1:0 Audit",
            "1:0:1:0 twice a year",
            "1:0:1:1 EUR 40,000",
            "Marked words,  seen\u{a0}words, softhyphen. See Marked words. a link",
            "Annotation A remark",
            "Left\\tright {brace} back\\slash",
        ]
    );
    assert_eq!(document.bookmarks.len(), 1);
}

#[test]
fn nested_tables_boxes_and_endnotes() {
    assert_eq!(
        lines(&sound(NESTED)),
        [
            "Header Master Agreement – Acme Holdings Ltd",
            "Footer Page 1 of the agreement",
            "Before",
            "1:0:0:0 Outer one",
            "2:1:0:0 Inner one",
            "2:1:0:1 Inner two",
            "1:0:0:0 Outer after",
            "1:0:0:1 Outer two",
            "1:0:0:2 ",
            "After",
            "With a box beside it",
            "TextBox Words in a box",
            "Endnote here",
            "Footnote \\tAt the end.",
        ]
    );
}

#[test]
fn other_words_do_not_change_the_formatting() {
    let (one, other) = (sound(CONTRACT), sound(EDITED));
    assert_ne!(one.text(), other.text());
    assert_eq!(one.tables, other.tables);
    assert_eq!(one.paragraphs.len(), other.paragraphs.len());
    for (one, other) in one.paragraphs.iter().zip(&other.paragraphs) {
        assert_eq!(
            first_difference(&one.signature, &other.signature),
            None,
            "{}",
            one.text
        );
    }
}

#[test]
fn another_save_does_not_change_the_text() {
    let (one, other) = (sound(CONTRACT), sound(RESAVED));
    let body = |document: &Document| {
        let kept = document.paragraphs.iter().filter(|paragraph| {
            matches!(paragraph.place, ParagraphPlace::Body | ParagraphPlace::Cell)
        });
        kept.map(|paragraph| (paragraph.number.clone(), paragraph.text.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(body(&one), body(&other));
}

#[test]
fn a_document_written_by_word() {
    let document = sound(WORD);
    assert_eq!(
        lines(&document),
        [
            "Header Acme services",
            "[1.] Services",
            "Acme’s duty under 1 ends. ",
            "Footnote  In full.",
            "1:0:0:0 Fee",
            "1:0:0:1 EUR 25,000",
            "Łódź",
        ]
    );
    let runs: Vec<_> = document.paragraphs[2]
        .signature
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        runs,
        [
            r"paragraph \sa160 \widctlpar",
            r"run \af31505 \afs22 \f37 \fs22 \lang1033",
            "mark field REF",
            "mark note",
        ]
    );
    assert_eq!(document.bookmarks[0].name, "_Ref1");
}

#[test]
fn a_document_written_by_wordpad() {
    assert_eq!(
        lines(&sound(WORDPAD)),
        [
            "1. Services",
            "Acme (\u{201c}the Supplier\u{201d}) pays \u{20ac}25,000 to Subject A.",
            "[\u{2022}] one",
            "[\u{2022}] two",
        ]
    );
}
