//! Which changes of a source change its formatting.

use super::super::first_difference;
use super::read;

fn formatting(inner: &str) -> Vec<String> {
    let document = read(format!("{{\\rtf1\\deff0{inner}}}").as_bytes());
    document
        .paragraphs
        .iter()
        .map(|paragraph| {
            paragraph
                .signature
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        })
        .collect()
}

/// Sources with equal formatting.
const EQUAL: &[(&str, &str)] = &[
    (
        r"\b Acme\b0  text",
        r"\b Borealis Group\b0  other and longer text",
    ),
    (r"\pard\plain\fs22 one", r"\fs22\pard two"),
    (r"{\b one two}", r"{\b one}{\b  two}"),
    (r"{\b one two}", r"{\b one}\b  two"),
    (
        r"{\rtlch\fcs1 \af0 \ltrch\fcs0 \insrsid123 one}",
        r"{\rtlch\fcs1 \af0 \ltrch\fcs0 \insrsid99\charrsid7 one}",
    ),
    (r"\pard\ql\rsid5 one", r"\pard one"),
    (r"caf\'e9 \'93x", r"caf\u233? \ldblquote x"),
    (r"caf\'e9", "café"),
    (r"one two", "one \r\ntwo"),
    (r"\uc1\u233?x", r"\uc0\u233 x"),
    (
        r"{\*\bkmkstart a}one{\*\bkmkend a}",
        r"{\*\bkmkstart b}one{\*\bkmkend b}",
    ),
    (
        r"{\*\generator A;}{\info{\title a}}one",
        r"{\*\generator B;}one",
    ),
    (r"\b one\b0", r"\b1 one\b0"),
    (r"\ul one\ulnone  two", r"{\ul one} two"),
    (r"\super a\nosupersub b", r"{\super a}b"),
    (r"\fs24\f0 one", r"one"),
    (r"\i\b one", r"\b\i one"),
    (r"\qc\li720 one", r"\li720\qc one"),
    (r"\tqr\tx900\tx100 one", r"\tx100\tqr\tx900\tqr\tx900 one"),
    (r"{\listtext 1.\tab}\ls1 one", r"{\listtext 2.\tab}\ls1 one"),
    (
        r"\trowd\cellx10\intbl a\cell\row",
        r"\trowd\cellx10\intbl b\cell\trowd\cellx10\row",
    ),
    (
        r"\trowd\irow0\cellx10\intbl a\cell\row",
        r"\trowd\irow1\lastrow\cellx10\intbl a\cell\row",
    ),
    (
        r"{\field{\*\fldinst REF a}{\fldrslt 1}}x",
        r"{\field{\*\fldinst  REF b \\h}{\fldrslt 22}}y",
    ),
    (r"one{\pict 00 01}", "one{\\pict 00\r\n01}"),
    (
        r#"{\field{\*\fldinst HYPERLINK \\l "a"}{\fldrslt x}}"#,
        r#"{\field{\*\fldinst HYPERLINK \\l "b"}{\fldrslt x}}"#,
    ),
    (r"\dbch a\loch b", r"ab"),
    (r"\uldb\uldb0 one", r"one"),
    (r"\cf one", r"\cf0 one"),
    (r"\hyphpar\hyphpar1 one", r"one"),
    (r"\hyphpar0\hyphpar one", r"one"),
    (r"\super\super0 one", r"one"),
    (
        r"\tqr\tqr\tqr\tqr\tqr\tqr\tx900 one",
        r"\tqr\tqr\tqr\tqr\tqr\tx900 one",
    ),
];

#[test]
fn sources_with_equal_formatting() {
    for (one, other) in EQUAL {
        assert_eq!(formatting(one), formatting(other), "{one} and {other}");
    }
}

/// Sources with different formatting.
const DIFFERENT: &[(&str, &str)] = &[
    (r"\hyphpar0 one", r"one"),
    (r"\brdrt\brdrs one", r"\brdrb\brdrs one"),
    (r"\li99999999999 one", r"\li-99999999999 one"),
    (r"one", r"\b one"),
    (r"\b one two", r"\b one\b0  two"),
    (r"one", r"\fs28 one"),
    (r"one", r"\f2 one"),
    (r"\cf1 one", r"\cf2 one"),
    (r"\s1 one", r"\s2 one"),
    (r"one", r"\qc one"),
    (r"\qj one", r"\qr one"),
    (r"one", r"\li720 one"),
    (r"\fi-360 one", r"\fi360 one"),
    (r"\sb120 one", r"\sb240 one"),
    (r"\ls1\ilvl0 one", r"\ls1\ilvl1 one"),
    (r"\ls1 one", r"\ls2 one"),
    (r"one", r"\outlinelevel0 one"),
    (r"\lang1033 one", r"\lang2057 one"),
    (r"\ul one", r"\uldb one"),
    (r"\tx100 one", r"\tqr\tx100 one"),
    (r"\brdrt\brdrs\brdrw10 one", r"\brdrb\brdrs\brdrw10 one"),
    (r"\brdrt\brdrs one", r"\brdrt\brdrdb one"),
    (r"\widctlpar one", r"one"),
    (r"\intbl one\cell\row", r"one\par"),
    (
        r"\trowd\cellx10\intbl one\cell\row",
        r"\trowd\cellx20\intbl one\cell\row",
    ),
    (
        r"\trowd\clbrdrt\brdrs\cellx10\intbl a\cell\row",
        r"\trowd\clbrdrt\brdrdb\cellx10\intbl a\cell\row",
    ),
    (r"one{\footnote n}", r"one"),
    (r"one{\pict 00}", r"one"),
    (r"one\page two", r"one two"),
    (r"{\field{\*\fldinst PAGE}{\fldrslt 1}}", r"1"),
    (
        r"{\field{\*\fldinst PAGE}{\fldrslt 1}}",
        r"{\field{\*\fldinst DATE}{\fldrslt 1}}",
    ),
    (r"one{\pict 00}", r"one{\pict 01}"),
    (r"{\mmath{\mr 100}}one", r"{\mmath{\mr 1000}}one"),
    (
        r#"{\field{\*\fldinst HYPERLINK "https://a.example"}{\fldrslt one}}"#,
        r#"{\field{\*\fldinst HYPERLINK "https://b.example"}{\fldrslt one}}"#,
    ),
    (r"one", r"{\*\template http://a.example/b.dotm}one"),
    (r"one\par", r"one\par{\object\objemb{\*\objdata 01}}"),
    (r"one", r"{\pntext You owe everything.}one"),
    (r"{\*\pn\pnlvlblt}one", r"{\*\pn\pnlvlbody\pndec}one"),
    (r"one", r"{\revised one}"),
];

#[test]
fn sources_with_different_formatting() {
    for (one, other) in DIFFERENT {
        assert_ne!(formatting(one), formatting(other), "{one} and {other}");
    }
}

#[test]
fn too_many_tab_stops_are_dropped() {
    let stops = |most: usize| (1..=most).map(|at| format!("\\tx{at}")).collect::<String>() + " one";
    assert_ne!(formatting(&stops(99)), formatting(&stops(100)));
    assert_eq!(formatting(&stops(100)), formatting(&stops(101)));
}

#[test]
fn the_first_difference_is_readable() {
    let one = read(br"{\rtf1\qc a\b b}");
    let other = read(br"{\rtf1\qc a\b\fs28 b}");
    let (one, other) = (&one.paragraphs[0].signature, &other.paragraphs[0].signature);
    let (left, right) = first_difference(one, other).unwrap();
    assert_eq!(left.unwrap().to_string(), r"run \b");
    assert_eq!(right.unwrap().to_string(), r"run \b \fs28");
    assert_eq!(one[0].to_string(), r"paragraph \qc");
    assert_eq!(one[1].to_string(), "run (plain)");
    assert_eq!(first_difference(one, one), None);
    assert_eq!(first_difference(one, &one[..1]).unwrap().1, None);
}

#[test]
fn tables_of_the_header() {
    let one = read(
        br"{\rtf1{\fonttbl{\f0\fcharset0 Times  New Roman;}}{\colortbl;\red1\green2\blue3;}{\stylesheet{\s1 Heading 1;}}{\*\listtable{\list\listtemplateid77{\listlevel\levelnfc0}\listid123}}{\*\listoverridetable{\listoverride\listid123\ls1}}{\*\rsidtbl\rsid1}}",
    );
    let other = read(
        b"{\\rtf1{\\fonttbl\n{\\f0 \\fcharset0 Times New\n Roman;}\n}{\\colortbl ;\\red1\\green2\\blue3;}{\\stylesheet\n{\\s1\\styrsid4 Heading 1;}}{\\*\\listtable{\\list\\listtemplateid5{\\listlevel\\levelnfc0}\\listid9}}{\\*\\listoverridetable{\\listoverride\\listid9\\ls1}}}",
    );
    assert_eq!(one.tables, other.tables);
    assert_eq!(one.tables.fonts, r"{\f0 \fcharset0 Times New Roman;}");
    assert_eq!(one.tables.colours, r";\red1 \green2 \blue3 ;");
    assert_eq!(one.tables.styles, r"{\s1 Heading 1;}");
    assert!(
        one.tables.lists.contains(r"\levelnfc0 }\listid1 }"),
        "{}",
        one.tables.lists
    );
    let third = read(br"{\rtf1{\fonttbl{\f0\fcharset0 Arial;}}{\colortbl;\red1\green2\blue4;}}");
    assert_ne!(one.tables.fonts, third.tables.fonts);
    assert_ne!(one.tables.colours, third.tables.colours);
}

#[test]
fn formatting_is_described_by_its_control_words() {
    for (inner, word) in [
        (r"\tb100 one", r"\tb\tx100"),
        (r"\tx100 one", r"paragraph \tx100"),
        (r"\brdrb\brdrs one", r"\brdrb:brdrs1"),
        (r"\li-99999999999 one", r"\li-2147483648"),
        (r"{\pict 00}one", "picture"),
        (r"{\mmath x}one", "formula"),
    ] {
        let described = formatting(inner).join(", ");
        assert!(described.contains(word), "{inner}: {described}");
    }
}
