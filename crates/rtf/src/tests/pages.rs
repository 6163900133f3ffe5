//! All code pages and character sets that a document or a font may name.

use super::read;

/// The page, escaped bytes, and their text.
const PAGES: &[(u32, &str, &str)] = &[
    (866, r"\'80", "\u{410}"),
    (874, r"\'a1", "\u{e01}"),
    (936, r"\'b0\'a1", "\u{554a}"),
    (54936, r"\'b0\'a1", "\u{554a}"),
    (10008, r"\'b0\'a1", "\u{554a}"),
    (949, r"\'b0\'a1", "\u{ac00}"),
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
    (819, r"\'e9", "\u{e9}"),
    (708, r"\'c7", "\u{627}"),
    (28596, r"\'c7", "\u{627}"),
    (10017, r"\'80", "\u{410}"),
    (437, r"\'e1", "\u{df}"),
    (720, r"\'9f", "\u{627}"),
    (737, r"\'98", "\u{3b1}"),
    (775, r"\'d0", "\u{105}"),
    (850, r"\'d5", "\u{131}"),
    (852, r"\'88", "\u{142}"),
    (855, r"\'a1", "\u{410}"),
    (857, r"\'a7", "\u{11f}"),
    (858, r"\'d5", "\u{20ac}"),
    (860, r"\'84", "\u{e3}"),
    (861, r"\'8c", "\u{f0}"),
    (862, r"\'80", "\u{5d0}"),
    (863, r"\'84", "\u{c2}"),
    (864, r"\'c7", "\u{fe8d}"),
    (865, r"\'9d", "\u{d8}"),
    (869, r"\'d6", "\u{3b1}"),
    (10004, r"\'c7", "\u{627}"),
    (10006, r"\'e1", "\u{3b1}"),
    (10010, r"\'be", "\u{103}"),
    (10029, r"\'b8", "\u{142}"),
    (10079, r"\'dc", "\u{d0}"),
    (10081, r"\'db", "\u{11f}"),
    (10082, r"\'e8", "\u{10d}"),
    (65001, r"\'e2\'82\'ac", "\u{20ac}"),
    (65001, r"\'f0\'9f\'98\'80", "\u{1f600}"),
];

/// The character set of a font, bytes, and their text; the document's own page is Cyrillic.
const CHARSETS: &[(u32, &str, &str)] = &[
    (0, r"\'e9", "\u{e9}"),
    (77, r"\'8e", "\u{e9}"),
    (78, r"\'82\'a0", "\u{3042}"),
    (79, r"\'b0\'a1", "\u{ac00}"),
    (80, r"\'b0\'a1", "\u{554a}"),
    (81, r"\'a4\'40", "\u{4e00}"),
    (84, r"\'c7", "\u{627}"),
    (85, r"\'e1", "\u{3b1}"),
    (86, r"\'db", "\u{11f}"),
    (88, r"\'b8", "\u{142}"),
    (89, r"\'80", "\u{410}"),
    (129, r"\'b0\'a1", "\u{ac00}"),
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
    (256, r"\'cf", "\u{41f}"),
];

fn assert_text(source: &str, wanted: &str) {
    let document = read(source.as_bytes());
    assert_eq!(document.flaws, [], "{source}");
    assert_eq!(document.paragraphs[0].text, wanted, "{source}");
}

#[test]
fn every_page_of_a_document_is_known() {
    for (page, bytes, text) in PAGES {
        assert_text(
            &format!("{{\\rtf1\\ansicpg{page} {bytes}x}}"),
            &format!("{text}x"),
        );
    }
}

#[test]
fn every_character_set_of_a_font_is_known() {
    for (set, bytes, text) in CHARSETS {
        let fonts = format!("{{\\fonttbl{{\\f0\\fcharset0 A;}}{{\\f1\\fcharset{set} B;}}}}");
        assert_text(
            &format!("{{\\rtf1\\ansicpg1251{fonts}\\f1 {bytes}x}}"),
            &format!("{text}x"),
        );
    }
    let hebrew =
        r"{\rtf1{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset177 B;}}\rtlch\af1 \'e0\ltrch\f0 \'e0}";
    assert_text(hebrew, "\u{5d0}\u{e0}");
    assert_text(
        r"{\rtf1{\fonttbl{\f0\fcharset2 Wingdings;}}\f0\'a7\'41}",
        "\u{25aa}A",
    );
}

/// Text in a font with this name and numbering, and its visible form.
const SHAPES: &[(&str, &str, &str)] = &[
    (
        r"\fcharset2 Symbol;",
        r"\'b3\'b7ab\'41 5",
        "\u{2265}\u{2022}\u{3b1}\u{3b2}\u{391} 5",
    ),
    (
        r"\fcharset2{\*\panose 05}Symbol{\*\falt S};",
        r"\u-3933?\u61617?\'f1\'2d",
        "\u{2264}\u{b1}\u{27e9}\u{2212}",
    ),
    (r"\ftech Symbol;", "d = \u{e9}", "\u{3b4} = \u{e9}"),
    (
        r"\fcharset2 Symbol;",
        r"\'80\'f0\'ff",
        "\u{20ac}\u{f0}\u{ff}",
    ),
    // As written by LibreOffice.
    (
        r"\fcharset0 Symbol;",
        r"ab\'b3\u61603\'3f\u183\'b7",
        "ab\u{b3}\u{2264}\u{b7}",
    ),
    (r"\fcharset2 Wingdings;", r"ab\u-3929?", "ab\u{25aa}"),
];

#[test]
fn shapes_are_what_they_look_like() {
    for (font, inner, shown) in SHAPES {
        assert_text(
            &format!("{{\\rtf1{{\\fonttbl{{\\f0\\fnil A;}}{{\\f1{font}}}}}\\f1 {inner}}}"),
            shown,
        );
    }
}

/// Invalid byte pairs in page 950, 932 or 936, and the result.
const NONE: &[(u32, &str, &str)] = &[
    (950, r"\'84\'68x", "\u{fffd}x"),
    (950, r"\'84h\'a4\'40", "\u{fffd}\u{4e00}"),
    (950, r"\'84 x", "\u{fffd} x"),
    (936, r"\'845x", "\u{fffd}5x"),
    (932, r"{\'84}x", "\u{fffd}x"),
    (1252, r"\'e9h", "\u{e9}h"),
];

#[test]
fn an_invalid_byte_pair_becomes_one_replacement_character() {
    for (page, bytes, text) in NONE {
        assert_text(&format!("{{\\rtf1\\ansicpg{page} {bytes}}}"), text);
    }
}

#[test]
fn the_tables_are_complete() {
    let pages = super::super::pages::PAGES;
    assert!(pages.is_sorted_by(|one, other| one.0 < other.0));
    for (number, page) in pages {
        assert_eq!(page.chars().count(), 128, "{number}");
    }
}
