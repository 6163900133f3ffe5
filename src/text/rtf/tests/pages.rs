//! Every code page and character set that a document or a font may name.

use super::read;

/// The page, bytes as they are escaped, and what they are.
const PAGES: &[(u32, &str, &str)] = &[
    (866, r"\'80", "\u{410}"),
    (874, r"\'a1", "\u{e01}"),
    (936, r"\'b0\'a1", "\u{554a}"),
    (54936, r"\'b0\'a1", "\u{554a}"),
    (10008, r"\'b0\'a1", "\u{554a}"),
    (949, r"\'b0\'a1", "\u{ac00}"),
    (1361, r"\'b0\'a1", "\u{ac00}"),
    (10003, r"\'b0\'a1", "\u{ac00}"),
    (950, r"\'a4\'40", "\u{4e00}"),
    (10002, r"\'a4\'40", "\u{4e00}"),
    (932, r"\'b1", "\u{ff71}"),
    (10001, r"\'b1", "\u{ff71}"),
    (1250, r"\'b3", "\u{142}"),
    (1253, r"\'e1", "\u{3b1}"),
    (1254, r"\'f0", "\u{11f}"),
    (1255, r"\'e0", "\u{5d0}"),
    (1256, r"\'c7", "\u{627}"),
    (1257, r"\'e0", "\u{105}"),
    (1258, r"\'d0", "\u{110}"),
    (10007, r"\'80", "\u{410}"),
    (20866, r"\'c1", "\u{430}"),
    (21866, r"\'a4", "\u{454}"),
    (28591, r"\'e9", "\u{e9}"),
    (28592, r"\'b1", "\u{105}"),
    (28595, r"\'b0", "\u{410}"),
    (28597, r"\'c1", "\u{391}"),
    (28605, r"\'a4", "\u{20ac}"),
    (20127, r"\'e9", "\u{e9}"),
    (65001, r"\'e2\'82\'ac", "\u{20ac}"),
    (65001, r"\'f0\'9f\'98\'80", "\u{1f600}"),
];

/// The character set of a font, bytes, and what they are; where it is the document's, that one is Cyrillic.
const CHARSETS: &[(u32, &str, &str)] = &[
    (0, r"\'e9", "\u{e9}"),
    (77, r"\'8e", "\u{e9}"),
    (129, r"\'b0\'a1", "\u{ac00}"),
    (130, r"\'b0\'a1", "\u{ac00}"),
    (134, r"\'b0\'a1", "\u{554a}"),
    (136, r"\'a4\'40", "\u{4e00}"),
    (161, r"\'e1", "\u{3b1}"),
    (162, r"\'f0", "\u{11f}"),
    (163, r"\'d0", "\u{110}"),
    (177, r"\'e0", "\u{5d0}"),
    (178, r"\'c7", "\u{627}"),
    (180, r"\'c7", "\u{627}"),
    (186, r"\'e0", "\u{105}"),
    (222, r"\'a1", "\u{e01}"),
    (238, r"\'b3", "\u{142}"),
    (254, r"\'e1", "\u{df}"),
    (255, r"\'9b", "\u{f8}"),
    (1, r"\'cf", "\u{41f}"),
];

fn holds(source: &str, wanted: &str) {
    let document = read(source.as_bytes());
    assert_eq!(document.flaws, [], "{source}");
    assert_eq!(document.paragraphs[0].text, wanted, "{source}");
}

#[test]
fn every_page_of_a_document_is_known() {
    for (page, bytes, text) in PAGES {
        holds(&format!("{{\\rtf1\\ansicpg{page} {bytes}x}}"), &format!("{text}x"));
    }
}

#[test]
fn every_character_set_of_a_font_is_known() {
    for (set, bytes, text) in CHARSETS {
        let fonts = format!("{{\\fonttbl{{\\f0\\fcharset0 A;}}{{\\f1\\fcharset{set} B;}}}}");
        holds(&format!("{{\\rtf1\\ansicpg1251{fonts}\\f1 {bytes}x}}"), &format!("{text}x"));
    }
    let hebrew = r"{\rtf1{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset177 B;}}\rtlch\af1 \'e0\ltrch\f0 \'e0}";
    holds(hebrew, "\u{5d0}\u{e0}");
    holds(r"{\rtf1{\fonttbl{\f0\fcharset2 Symbol;}}\f0\'a7\'41}", "\u{25aa}A");
}
