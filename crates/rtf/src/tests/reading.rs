//! Small sources with the paragraphs and flaws that are read from them.

use super::super::{FlawKind, portable};
use super::{read, shown};

/// The text between `{\rtf1` and its end, and the expected paragraphs.
const INNER: &[(&str, &str)] = &[
    // Text and ends of paragraphs.
    (r"Hello", "Hello"),
    (r"\ansi Hello\par", "Hello"),
    // A paragraph begins with its number or note, also before a page header.
    (
        r"{\listtext 1.}{\header Head}Price",
        "[1.] Price|Header Head",
    ),
    (
        r"{\footnote Note}{\header Head}Price",
        "Price|Footnote Note|Header Head",
    ),
    (r"one\par two\par", "one|two"),
    (r"one\par\par two", "one||two"),
    ("one\\\ntwo\\\r\nthree", "one|two|three"),
    (
        "split\r\n over lines\nof source",
        "split over linesof source",
    ),
    (r"a\tab b\line c", r"a\tb\nc"),
    ("a\tb", r"a\tb"),
    (r"\{x\}\\y", r"{x}\y"),
    (r"one\page two", "onetwo"),
    (r"one\sect two", "one|two"),
    (r"one\par\sect two", "one|two"),
    (r"{\b bo}ld", "bold"),
    (r"\b0bold\b  text", "bold text"),
    (r"\li-720text", "text"),
    (r"\unknownword12 text", "text"),
    (r"a\~b\_c\-d", "a\u{a0}b\u{2011}cd"),
    (
        r"\ldblquote a\rdblquote\lquote b\rquote",
        "\u{201c}a\u{201d}\u{2018}b\u{2019}",
    ),
    (r"a\emdash b\endash\bullet c", "a\u{2014}b\u{2013}\u{2022}c"),
    ("one\\\rtwo", "one|two"),
    ("a\\\tb", r"a\tb"),
    ("a\u{1}\u{2}b", "ab"),
    ("raw soft\u{ad}hyphen", "raw softhyphen"),
    (r"a\enspace b\qmspace c", "a\u{2002}b\u{2005}c"),
    (r"\mac\ansi\'8e", "\u{17d}"),
    (r"{\stylesheet{\s1{\footnote no}Name;}}x", "x"),
    (r"{\deleted{\listtext 1.\tab}gone}kept", "kept"),
    (r"a\emspace b\zwnj c\zwj d", "a\u{2003}b\u{200c}c\u{200d}d"),
    (r"a{\v hidden}b\v c\v0 d", "abd"),
    (r"a{\deleted gone}b{\revised new}c", "abnewc"),
    (r"one{\deleted\par }two", "onetwo"),
    (r"a\v b\plain c", "ac"),
    // Characters beyond ASCII.
    (r"\'93a\'94", "\u{201c}a\u{201d}"),
    (r"\'e9\'E9", "\u{e9}\u{e9}"),
    (r"soft\'adhyphen\u173-ed", "softhyphened"),
    (r"\u8364?x", "\u{20ac}x"),
    (r"\u8364\'80x", "\u{20ac}x"),
    (r"\uc2\u8364\'a2\'e3x", "\u{20ac}x"),
    (r"\uc0\u8364x", "\u{20ac}x"),
    (r"{\uc0\u8364x}\u8364?y", "\u{20ac}x\u{20ac}y"),
    (r"\u-4?", "\u{fffc}"),
    (r"\u55357?\u56832?x", "\u{1f600}x"),
    (r"\u-10179?\u-8704?x", "\u{1f600}x"),
    (r"\uc0 \u55357\uc1 \u56832\'3fx", "\u{1f600}x"),
    (r"\u128512?x", "\u{1f600}x"),
    (r"\u55357?x", "\u{fffd}x"),
    (r"\u56832?x", "\u{fffd}x"),
    (r"\u99999999999?x", "\u{fffd}x"),
    (r"{\u8364}x", "\u{20ac}x"),
    (r"\u8364\b x", "\u{20ac}x"),
    (r"\u8364\~x", "\u{20ac}x"),
    (r"\u8226\bullet x", "\u{2022}x"),
    (r"\u8364\{x", "\u{20ac}x"),
    (r"\ansicpg1251\'cf\'f0", "\u{41f}\u{440}"),
    (r"\ansicpg932\'82\'a0x", "\u{3042}x"),
    (r"\ansicpg932\'83A", "\u{30a2}"),
    (r"\ansicpg65001\'c3\'a9", "\u{e9}"),
    (r"\mac\'8e", "\u{e9}"),
    (r"\pc\'82\pca\'b5", "\u{e9}\u{c1}"),
    (
        r"{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}\f1\'cf{\f0\'e9}\'cf",
        "\u{41f}\u{e9}\u{41f}",
    ),
    (
        r"{\fonttbl\f0\fcharset0 A;\f1\fcharset238 B;}\f1\'b3\plain\'b3",
        "\u{142}\u{b3}",
    ),
    (r"{\fonttbl{\f7\cpg1253 A;}}\deff7\'e1", "\u{3b1}"),
    (
        r"{\fonttbl{\f3\fcharset2 Symbol;}}{\f3\'b7\u-3913?}x",
        "\u{2022}\u{2022}x",
    ),
    (
        r"{\fonttbl{\f1 A;}{\f2\fcharset128 B;}}\loch\f1\hich\af1\dbch\af2\'82\'a0\loch\'e9",
        "\u{3042}\u{e9}",
    ),
    ("é raw – text", "\u{e9} raw \u{2013} text"),
    ("\\u233é raw", "\u{e9} raw"),
    (r"one\u8232?two{\uc0\u8232}three", r"one\ntwo\nthree"),
    // A field without a result: its character.
    (
        r#"a{\field{\*\fldinst SYMBOL 179 \\f "Symbol" \\s 10}{\fldrslt\f3\fs20}}b"#,
        "a\u{2265}b",
    ),
    (
        r#"{\field{\*\fldinst {SYMBOL 0xA7 \\f "Times New Roman"}}{\fldrslt{}}}1"#,
        "\u{a7}1",
    ),
    (
        r"{\field{\*\fldinst SYMBOL 167 \\f Wingdings}}{\field{\fldinst SYMBOL 8364 \\u}}x",
        "\u{25aa}\u{20ac}x",
    ),
    (
        r"{\field{\*\fldinst SYMBOL 167}{\fldrslt yes}}{\field{\fldinst SYMBOL no}}{\field{\fldinst SYMBOL}}x",
        "yesx",
    ),
    (
        r"{\v{\field{\*\fldinst SYMBOL 167}}}{\deleted{\field{\*\fldinst SYMBOL 167}}}x",
        "x",
    ),
    (r"{\field{\*\fldinst PAGE}{\fldrslt}}x", "x"),
    // Destinations.
    (
        r"{\fonttbl{\f0 Arial;}}{\colortbl;\red0;}{\stylesheet{\s0 Normal;}}x",
        "x",
    ),
    (r"{\info{\title No}{\author No}}x", "x"),
    (r"{\*\generator No;}{\*\unknown No {too}}x", "x"),
    (r"{\unknown seen}x", "seenx"),
    (r"{\*\cs10\b seen}x", "seenx"),
    (
        r"{\header Top\par}{\footerf Foot}x",
        "Header Top|Footer Foot|x",
    ),
    (
        r"{\headerl L}{\headerr R}{\headerf F}x",
        "Header L|Header R|Header F|x",
    ),
    (
        r"one{\footnote note}two\par three",
        "onetwo|Footnote note|three",
    ),
    (
        r"one{\*\footnote\ftnalt end\par more}two",
        "onetwo|Footnote end|Footnote more",
    ),
    (
        r"a{\*\atnid A}{\*\annotation{\*\atndate 0}remark}b",
        "ab|Annotation remark",
    ),
    (
        r"{\shp{\*\shpinst\shpz0{\sp{\sn n}{\sv v}}{\shptxt box\par}}{\shprslt no}}x",
        "x|TextBox box",
    ),
    (r"{\*\do\dptxbx{\dptxbxtext box}}x", "x|TextBox box"),
    (r"{\field{\*\fldinst PAGE}{\fldrslt 7}}x", "7x"),
    (
        r"{\field{\fldinst HYPERLINK {a}}{\fldrslt {\ul link}}}x",
        "linkx",
    ),
    (
        r"{\field{\*\fldinst IF {\field{\*\fldinst A}{\fldrslt no}}}{\fldrslt yes}}",
        "yes",
    ),
    (r"{\*\bkmkstart name}marked{\*\bkmkend name}", "marked"),
    (r"{\listtext\pard\plain 4.2\tab}text", "[4.2] text"),
    (
        r"{\pntext\f3\'b7\tab}{\*\pn\pnlvlblt{\pntxtb\'b7}}text",
        "[\u{b7}] text",
    ),
    (r"{\listtext\tab}text", "text"),
    (r"{\upr{No}{\*\ud Yes}}x", "Yesx"),
    (r"{\upr{\*\bkmkstart a}{\*\ud{\*\bkmkstart b}}}x", "x"),
    (r"{\pict\wmetafile8 0123abcd}x", "x"),
    (r"{\*\shppict{\pict ab}}{\nonshppict{\pict ab}}x", "x"),
    (r"{\pict\bin4 }}{{ab}x", "x"),
    (r"a\bin3 }}}b", "ab"),
    (
        r"{\object\objemb{\*\objclass C}{\*\objdata 00ff}{\result{shown}}}x",
        "shownx",
    ),
    (r"{\xe{\v no}}{\tc no}{\ftnsep\chftnsep}x", "x"),
    (
        r"{\*\ftnsep Loan\par}{\*\aftnsep\pard\chftnsep\par}x",
        "Footer Loan|x",
    ),
    (
        r"{\shp{\*\shpinst{\sp{\sn gtextUNICODE}{\sv Loan}}{\sp{\sn fFilled}{\sv 0}}}}x",
        "x|TextBox Loan",
    ),
    // Tables.
    (
        r"\trowd\cellx1\cellx2\intbl a\cell b\cell\row\pard c",
        "1:0:0:0 a|1:0:0:1 b|c",
    ),
    (
        r"\trowd\intbl a\cell\row\intbl b\cell\row\pard c",
        "1:0:0:0 a|1:0:1:0 b|c",
    ),
    (
        r"\trowd\intbl a\par b\cell c\cell\row",
        "1:0:0:0 a|1:0:0:0 b|1:0:0:1 c",
    ),
    (r"\trowd\intbl\cell\cell\row", "1:0:0:0 |1:0:0:1 "),
    (r"\trowd\intbl a\row x", "1:0:0:0 a|1:0:1:0 x"),
    (
        r"\intbl a\cell\row\pard x\par\intbl b\cell\row",
        "1:0:0:0 a|x|1:1:0:0 b",
    ),
    // A nested row ends at its properties, or at its word alone; each ends one row.
    (
        r"\intbl o\par\itap2 i\nestcell{\*\nesttableprops\trowd\cellx9\nestrow}j\nestcell{\*\nesttableprops\trowd\cellx9\nestrow}\pard\intbl p\cell\row",
        "1:0:0:0 o|2:1:0:0 i|2:1:1:0 j|1:0:0:0 p",
    ),
    (
        r"\itap2 i\nestcell\nestrow j\nestcell\nestrow",
        "2:1:0:0 i|2:1:1:0 j",
    ),
    (
        r"\itap2 i\nestcell{\*\nesttableprops\par\cell}j\nestcell\nestrow",
        "2:1:0:0 i|2:1:0:1 j",
    ),
    // A writer that puts the whole row where only its definition belongs.
    (
        r"\intbl\itap2{\*\nesttableprops\trowd\cellx9 i { }\par j\nestcell\nestcell k\nestcell\nestrow}\itap1 o\cell\row",
        "2:1:0:0 i  |2:1:0:0 j|2:1:0:1 |2:1:0:2 k|1:0:0:0 o",
    ),
    // Other content of a font's entry does not affect the font.
    (
        r"{\fonttbl{\f0\fcharset0 A{\*\vendorx\fcharset128 B};}}\f0\'82",
        "\u{201a}",
    ),
    (
        r"{\fonttbl{\f0\fcharset0 A{\falt\fcharset128 B};}}\f0\'82",
        "\u{201a}",
    ),
    (
        r"\intbl o\par\itap2 i\nestcell j\nestcell{\*\nesttableprops\trowd\cellx9\nestrow}{\nonesttables\par}\pard\intbl p\cell\row",
        "1:0:0:0 o|2:1:0:0 i|2:1:0:1 j|1:0:0:0 p",
    ),
    (r"{\header\intbl a\cell\row}x", "Header a|x"),
    (
        r"\intbl a{\footnote n}\cell b\cell\row",
        "1:0:0:0 a|Footnote n|1:0:0:1 b",
    ),
];

#[test]
fn small_sources() {
    for (inner, expected) in INNER {
        let document = read(format!("{{\\rtf1{inner}}}").as_bytes());
        assert_eq!(shown(&document), *expected, "{inner}");
    }
}

type FlawCase = (&'static [u8], &'static str, &'static [(usize, FlawKind)]);

/// Faulty sources with their text and flaws.
const WRONG: &[FlawCase] = &[
    (b"", "", &[(0, FlawKind::NotRtf)]),
    (b"Hello", "", &[(0, FlawKind::NotRtf)]),
    (b"Here: {\\rtf1 x}", "x", &[(0, FlawKind::NotRtf)]),
    (b"\xEF\xBB\xBF{\\rtf1 x}", "x", &[]),
    (b"\xEF\xBB\xBF\n{\\rtf1 x}", "x", &[(0, FlawKind::LeadingBlanks)]),
    (b"\\rtf1 x{\\b y}}", "xy", &[(0, FlawKind::NoFirstBrace)]),
    (b"\n\\rtf1 x", "x", &[(0, FlawKind::LeadingBlanks), (1, FlawKind::NoFirstBrace), (1, FlawKind::UnclosedGroup)]),
    (b"{\\rtf1 x", "x", &[(0, FlawKind::UnclosedGroup)]),
    (b"{\\rtf1 x{\\b y}", "xy", &[(0, FlawKind::UnclosedGroup)]),
    (b"{\\rtf1 x{\\b y", "xy", &[(0, FlawKind::UnclosedGroup), (8, FlawKind::UnclosedGroup)]),
    (b"{\\rtf1 x{\\footnote y", "x|Footnote y", &[(0, FlawKind::UnclosedGroup), (8, FlawKind::UnclosedGroup)]),
    (b"{\\rtf1 x}}", "x", &[(9, FlawKind::ExtraClose)]),
    (b"{\\rtf1 x}\r\n\0", "x", &[]),
    (b"{\\rtf1 x} y}", "x", &[(10, FlawKind::TextAfterEnd)]),
    (b"{\\rtf1 a}b}", "a", &[(9, FlawKind::TextAfterEnd)]),
    (b"{\\rtf1 a\\'zzb}", "azzb", &[(8, FlawKind::BadEscape)]),
    (b"{\\rtf1 a\\'}", "a", &[(8, FlawKind::BadEscape)]),
    (b"{\\rtf1 a\\", "a", &[(0, FlawKind::UnclosedGroup), (8, FlawKind::TruncatedControl)]),
    (b"{\\rtf1 a\\'", "a", &[(0, FlawKind::UnclosedGroup), (8, FlawKind::TruncatedControl)]),
    (b"{\\rtf1 a\\bin999999999 b}", "ab", &[(8, FlawKind::BadBinary)]),
    (b"{\\rtf1 a\\bin-1 b}", "ab", &[(8, FlawKind::BadBinary)]),
    (b"{\\rtf1\\ansicpg12345{\\fonttbl{\\f1\\fcharset99 A;}}\\f1 read by none}", "read by none", &[]),
    (b"{\\rtf1\\ansicpg12345\\ansicpg1251 \\'cf}", "\u{41f}", &[]),
    (b"{\\rtf1\\ansicpg1361 \\'e9\\'e9 \\'e9}", "\u{e9}\u{e9} \u{e9}", &[(6, FlawKind::UnknownCodePage)]),
    (
        b"{\\rtf1\\ansicpg12345{\\fonttbl{\\f0 A;}{\\f1\\fcharset130 B;}{\\f2\\fcharset99\\fcharset204 C;}}\\f2\\'cf\\f1\\'e9\\f0\\'e9}",
        "\u{41f}\u{e9}\u{e9}",
        &[(6, FlawKind::UnknownCodePage), (40, FlawKind::UnknownCodePage)],
    ),
    (b"{\\rtf1 a\\ b\\&c{\\info d\\;}}", "abc", &[(8, FlawKind::UnknownSymbol), (11, FlawKind::UnknownSymbol)]),
    (b"{\\rtf1\\ansicpg12345 \\'e9}", "\u{e9}", &[(6, FlawKind::UnknownCodePage)]),
    (b"{\\rtf1{\\fonttbl{\\f0\\fcharset99 A;}}\\f0 \\'e9}", "\u{e9}", &[(19, FlawKind::UnknownCodePage)]),
    (b"{\\rtf1 \\u99999999999 ?x}", "\u{fffd}x", &[(7, FlawKind::BadUnicode)]),
    (b"{\\rtf1 raw \xE9\x93}", "raw \u{e9}\u{201c}", &[]),
    (b"{\\rtf1\\ansicpg1251 \xCF}", "\u{41f}", &[]),
    (b"{\\rtf1\\header Top\\par x}", "Top|x", &[]),
];

#[test]
fn faulty_sources() {
    for (source, expected, flaws) in WRONG {
        let document = read(source);
        let name = String::from_utf8_lossy(source);
        assert_eq!(shown(&document), *expected, "{name}");
        let found: Vec<_> = document
            .flaws
            .iter()
            .map(|flaw| (flaw.at, flaw.kind))
            .collect();
        assert_eq!(found, *flaws, "{name}");
        assert!(
            document
                .flaws
                .iter()
                .all(|flaw| flaw.kind.to_string().len() > 10)
        );
    }
}

#[test]
fn hostile_sizes() {
    let mut deep = b"{\\rtf1 a".to_vec();
    deep.extend(b"{".repeat(100_000));
    let document = read(&deep);
    assert_eq!(document.text(), "a");
    assert!(
        document
            .flaws
            .iter()
            .any(|flaw| flaw.kind == FlawKind::TooDeep)
    );
    deep.extend(b"}".repeat(100_000));
    deep.extend(b"b}");
    let document = read(&deep);
    assert_eq!(document.text(), "ab");
    assert_eq!(document.flaws.len(), 1);

    let many = [
        b"{\\rtf1 ".as_slice(),
        &b"\\trowd\\cellx1\\intbl a\\cell\\row".repeat(20_000),
        b"}",
    ]
    .concat();
    assert_eq!(read(&many).paragraphs.len(), 20_000);
    let grows = [
        b"{\\rtf1\\trowd".as_slice(),
        &b"\\cellx1\\intbl a\\cell\\row".repeat(20_000),
        b"}",
    ]
    .concat();
    assert_eq!(read(&grows).paragraphs.len(), 20_000);
    let tabs = [
        b"{\\rtf1 ".as_slice(),
        &b"{\\tx1\\tx2\\b x\\par}".repeat(20_000),
        b"}",
    ]
    .concat();
    assert_eq!(read(&tabs).paragraphs.len(), 20_000);
    let notes = [
        b"{\\rtf1 ".as_slice(),
        &b"{\\footnote ".repeat(20_000),
        b"x",
    ]
    .concat();
    assert_eq!(read(&notes).text(), "");
    let zeros = b"{\\rtf1\\b-0\\fs99999999999999999999 a\\itap9999999 b\\par\\itap-5 c}";
    assert_eq!(read(zeros).text(), "ab\nc");
}

#[test]
fn places() {
    let source = br"{\rtf1 \b Acme\b0  Ltd \u8364?5 {\i and\par}more\par}";
    let document = read(source);
    let paragraph = &document.paragraphs[0];
    assert_eq!(paragraph.text, "Acme Ltd \u{20ac}5 and");
    for (word, at) in [
        ("Acme", 10),
        (" Ltd", 18),
        ("\u{20ac}", 23),
        ("5", 30),
        ("and", 36),
    ] {
        let offset = paragraph.text.find(word).unwrap();
        assert_eq!(paragraph.source_at(offset), at, "{word}");
    }
    assert_eq!(
        &source[paragraph.source.clone()],
        br"\b Acme\b0  Ltd \u8364?5 {\i and\par"
    );
    assert_eq!(paragraph.source_at(paragraph.text.len()), 39);
    assert_eq!(&source[document.paragraphs[1].source.clone()], br"more\par");
}

#[test]
fn bookmarks() {
    let source = br"{\rtf1 a{\*\bkmkstart one}b{\*\bkmkstart two}c{\*\bkmkend one}d}";
    let document = read(source);
    let found: Vec<_> = document
        .bookmarks
        .iter()
        .map(|bookmark| (bookmark.name.as_str(), &source[bookmark.source.clone()]))
        .collect();
    assert_eq!(
        found,
        [("one", br"b{\*\bkmkstart two}c".as_slice()), ("two", b"")]
    );
}

#[test]
fn searched_tables_are_sorted() {
    assert!(super::super::words::WORDS.is_sorted_by(|one, other| one.name < other.name));
    assert!(super::super::words::BORDER.is_sorted());
    assert!(super::super::destination::SKIPPED.is_sorted());
}

#[test]
fn invisible_characters_do_not_shift_positions() {
    let document = read("{\\rtf1 a\u{1}b\u{ad}cd}".as_bytes());
    let paragraph = &document.paragraphs[0];
    assert_eq!(paragraph.text, "abcd");
    assert_eq!(
        [0, 1, 2, 3].map(|place| paragraph.source_at(place)),
        [7, 9, 12, 13]
    );
}

#[test]
fn a_number_is_kept_to_its_limit() {
    let ones = "1".repeat(3_000);
    let document = read(format!("{{\\rtf1 {{\\listtext {ones}{{}}{ones}}}Price}}").as_bytes());
    assert_eq!(
        document.paragraphs[0]
            .number
            .as_ref()
            .map(|number| number.len()),
        Some(4_096)
    );
}

#[test]
fn letters_keep_their_places_and_hidden_ones_are_counted() {
    let document = read(b"{\\rtf1 a\x01bc{\\v hidden text}\\\xe9} x");
    assert_eq!(
        (document.paragraphs[0].text.as_str(), document.hidden),
        ("abc\u{e9}", 10)
    );
    assert_eq!(
        (
            document.paragraphs[0].source_at(1),
            document.paragraphs[0].source_at(2)
        ),
        (9, 10)
    );
    assert_eq!(
        document
            .flaws
            .iter()
            .map(|flaw| (flaw.at, flaw.kind))
            .collect::<Vec<_>>(),
        [(31, FlawKind::TextAfterEnd)]
    );
    let braces = format!("{{\\rtf1 x}}{}", "}".repeat(2_000));
    assert_eq!(read(braces.as_bytes()).flaws.len(), 1_000);
}

/// Sources that are not UTF-8, and the equivalent texts.
const PORTABLE: &[(&[u8], &str)] = &[
    (b"{\\rtf1 The \x93Lessee\x94 pays 5\xa0\x80.}", r"{\rtf1 The \'93Lessee\'94 pays 5\'a0\'80.}"),
    (b"{\\rtf1\\\xe9\\'\xe9}\r\n\xff", "{\\rtf1\\'e9\\'\\'e9}\r\n\\'ff"),
    (b"{\\rtf1{\\pict\\picw9\\bin4 {\xff\\}a}x}", r"{\rtf1{\pict\picw9 7bff5c7da}x}"),
    (b"{\\rtf1{\\object{\\*\\objdata\\bin2\xff}}}{}}x}", r"{\rtf1{\object{\*\objdata ff7d}}{}}x}"),
    (
        b"{\\rtf1{\\fonttbl{\\f0 \x82;}}{\\*\\listtable{\\*\\listpicture{\\pict\\bin2 \x01\xff}}}x}",
        r"{\rtf1{\fonttbl{\f0 \'82;}}{\*\listtable{\*\listpicture{\pict 01ff}}}x}",
    ),
    (b"{\\rtf1\\b\\bin3 {\xff}a\\bin99 \xff}", r"{\rtf1\b\bin0 a\bin-1 \'ff}"),
];

#[test]
fn a_source_of_an_old_code_page_is_the_same_as_a_text() {
    for (source, text) in PORTABLE {
        assert_eq!(portable(source), *text);
        let (bytes, text) = (read(source), read(text.as_bytes()));
        assert_eq!((shown(&bytes), bytes.tables), (shown(&text), text.tables));
    }
    assert_eq!(
        portable("{\\rtf1 é\\bin1 }}".as_bytes()),
        "{\\rtf1 é\\bin1 }}"
    );
}

#[test]
fn an_appended_paragraph_keeps_its_places_and_formats() {
    let source = br"{\rtf1 Hong  \par Kong {\b bold}\par\pard\qc right\par}";
    let mut paragraphs = read(source).paragraphs.into_iter();
    let mut first = paragraphs.next().unwrap();
    let own = first.signature.clone();
    first.append(paragraphs.next().unwrap());
    assert_eq!(first.text, "Hong Kong bold");
    let at = |word: &[u8]| source.windows(word.len()).position(|part| part == word);
    assert_eq!(Some(first.source_at(5)), at(b"Kong"));
    assert_eq!(Some(first.source_at(10)), at(b"bold"));
    // The same format is there once, another one is added.
    assert_eq!(first.signature.len(), own.len() + 1);
    first.append(paragraphs.next().unwrap());
    assert_eq!(first.signature.len(), own.len() + 3);
}
