//! Parts, numbers, definitions and formatting.

use super::{clean, document, kinds, verified};
use crate::suites::kinds::revision::draft::Draft;
use crate::suites::kinds::revision::fault::{Criterion, FaultKind};
use crate::suites::kinds::revision::instructions::Instructions;
use crate::suites::kinds::revision::score::verify;
use crate::suites::kinds::revision::scoring::Scoring;

const DELETE: &str = r#"{"clauses": [{"operation": "delete", "section": "2"}]}"#;

#[test]
fn a_sentence_about_a_schedule_does_not_begin_one() {
    let before = "
1. Price
Schedule 1 sets out the price.
2. Exclusivity
3. Payment
3.1 Annex a copy to each invoice.
4. Term
4.1 It lasts a year.
SCHEDULE 1 - Prices
1. Goods
2. Services";
    let after = "
1. Price
Schedule 1 sets out the price.
2. Payment
2.1 Annex a copy to each invoice.
3. Term
3.1 It lasts a year.
SCHEDULE 1 - Prices
1. Goods
2. Services";
    clean(before, after, DELETE);
}

#[test]
fn a_date_is_not_a_section() {
    let before = "3 March 2025\n1. Price\n2. Exclusivity\n3. Payment\nMonthly.";
    clean(
        before,
        "3 March 2025\n1. Price\n2. Payment\nMonthly.",
        DELETE,
    );
    let delete = DELETE.replace("\"2\"", "\"3\"");
    clean(before, "3 March 2025\n1. Price\n2. Exclusivity", &delete);
}

#[test]
fn a_gap_in_the_original_is_not_a_fault() {
    let before = "1. Price\n2. Exclusivity\n3. Payment\n5. Term\n6. Law";
    clean(before, "1. Price\n2. Payment\n4. Term\n5. Law", DELETE);
    assert_eq!(
        kinds(before, "1. Price\n2. Payment\n4. Term\n6. Law", DELETE),
        [FaultKind::Numbering]
    );
}

#[test]
fn letters_that_number_a_list_are_not_roman_numbers() {
    let list = |letters: &[&str]| -> String {
        let items = letters
            .iter()
            .map(|letter| format!("{{\\listtext {letter}.\\tab}}Item of the list {letter}"));
        format!(
            "1. Price\n{}\n2. Exclusivity\n3. Payment\n",
            items.collect::<Vec<_>>().join("\n")
        )
    };
    let (before, after) = (
        list(&["A", "B", "C", "D"]),
        list(&["A", "B", "C", "D"]).replace("2. Exclusivity\n3.", "2."),
    );
    clean(&before, &after, DELETE);
}

#[test]
fn a_term_is_written_with_a_capital() {
    let before = "
1. Goods
\"Notice\" means a letter.
2. Exclusivity
\"Products\" means what is sold.
Products are exclusive.
3. Duty
Each party gives Notice. It sells products of any kind.";
    let after = "
1. Goods
\"Notice\" means a letter.
2. Duty
Each party gives Notice. It sells products of any kind.";
    clean(before, after, DELETE);
    let orphaned = after.replace("gives Notice", "gives notice");
    assert_eq!(
        kinds(before, &orphaned, DELETE),
        [FaultKind::OrphanedDefinition, FaultKind::Unintended]
    );
}

#[test]
fn terms_are_defined_in_tables_and_in_single_quotes() {
    let row = |term: &str, words: &str| {
        format!("\\trowd\\cellx900\\cellx1900\\pard\\intbl {term}\\cell {words}\\cell\\row\\pard")
    };
    let tail = "1. Price\n2. Exclusivity\nOnly Wares are exclusive, and each Shop is.\n3. Payment\nMonthly.";
    let before = format!(
        "{}\n'Shop' means a place.\n{tail}",
        row("\"Wares\"", "what is sold")
    );
    let after = before.replace(
        "2. Exclusivity\nOnly Wares are exclusive, and each Shop is.\n3.",
        "2.",
    );
    let verdict = verified(&before, &after, DELETE);
    assert_eq!(
        verdict.of(FaultKind::OrphanedDefinition).count(),
        2,
        "{verdict:?}"
    );
}

#[test]
fn statutes_keep_their_sections() {
    let before = "1. Law\nSection 5 of the Companies Act applies, and so does Section 1.";
    clean(before, before, "{}");
    let other = before.replace("Section 5", "Section 6");
    assert_eq!(kinds(before, &other, "{}"), [FaultKind::Unintended]);
}

#[test]
fn hidden_text_is_not_removed() {
    let before = "1. Price\n2. Exclusivity\n3. Payment";
    let after = "1. Price\n{\\v 2. Exclusivity}\n2. Payment";
    assert!(kinds(before, after, DELETE).contains(&FaultKind::Corrupt));
    clean("{\\v secret}x\n1. Price", "{\\v secret}x\n1. Price", "{}");
}

#[test]
fn a_paragraph_whose_words_change_keeps_its_own_format() {
    let asked = r#"{"entities": [{"from": "Acme", "to": "Borealis"}]}"#;
    let before = "\\pard\\li720 Acme pays {\\b monthly}.\n\\pard\\li720 Nobody else does.";
    clean(before, &before.replace("Acme", "Borealis"), asked);
    let moved = "\\pard\\li0 Borealis pays {\\b monthly}.\n\\pard\\li720 Nobody else does.";
    assert_eq!(kinds(before, moved, asked), [FaultKind::Corrupt]);
}

#[test]
fn a_longer_word_is_not_a_use_of_a_term() {
    let before = "1. Terms. \"Party\" means who signs.\n2. Duty. The Parties pay.";
    let asked = r#"{"clauses": [{"operation": "edit", "section": "2"}]}"#;
    assert_eq!(
        kinds(before, &before.replace("Parties", "Partygoers"), asked),
        [FaultKind::OrphanedDefinition]
    );
}

#[test]
fn every_criterion_of_an_unreadable_document_has_its_reason() {
    let before = document("1. Price\nSee the list.");
    let asked = Instructions::default();
    for after in ["", "no document at all", "{\\rtf1\\ansi }"] {
        let verdict = verify(
            &before,
            &Draft::read(after.as_bytes()),
            &asked,
            &Scoring::default(),
        );
        assert_eq!(
            (verdict.scores, verdict.satisfied),
            ([0.0; 5], false),
            "{after}"
        );
        for criterion in Criterion::ALL {
            assert_eq!(
                verdict.against(criterion).count(),
                1,
                "{after}: {criterion:?}"
            );
        }
        assert_eq!(verdict.of(FaultKind::Corrupt).count(), 1, "{after}");
        // Only the penalty for damage applies, once.
        assert_eq!(
            verdict
                .penalties
                .iter()
                .map(|penalty| penalty.times)
                .sum::<usize>(),
            1
        );
    }
}

#[test]
fn a_paragraph_with_a_replaced_name_may_not_be_struck_through() {
    let asked = r#"{"entities": [{"from": "Acme", "to": "Borealis"}]}"#;
    let before = "1. Crane\nAcme shall use the crane with care.";
    clean(
        before,
        "1. Crane\nBorealis shall use the crane with care.",
        asked,
    );
    for format in ["\\strike ", "\\striked1 ", "\\fs1 "] {
        let after = format!("1. Crane\nBorealis {{{format}shall use the crane}} with care.");
        assert!(!kinds(before, &after, asked).is_empty(), "{format}");
    }
}

#[test]
fn a_definition_whose_name_is_replaced_keeps_its_meaning() {
    let asked = r#"{"entities": [{"from": "Acme", "to": "Borealis"}]}"#;
    let before = "1. Words\n\"Acme Hotline\" means the line that is always open.\n2. Use\nThe Acme Hotline is free.";
    let after = before.replace("Acme", "Borealis");
    clean(before, &after, asked);
    for (from, to) in [
        ("always", "never"),
        ("open.", "open. Nobody has to pay anything at all."),
    ] {
        assert_eq!(
            kinds(before, &after.replace(from, to), asked),
            [FaultKind::Unintended],
            "{to}"
        );
    }
    let gone = "1. Words\n2. Use\nThe Borealis Hotline is free.";
    assert!(kinds(before, gone, asked).contains(&FaultKind::Unintended));
}

#[test]
fn a_picture_alone_in_a_paragraph_counts() {
    let asked = r#"{"entities": [{"from": "Acme", "to": "Borealis"}]}"#;
    let before = "1. Crane\nAcme lends it.\n{\\pict 00}\n2. Exclusivity\nNone.\n{\\pict 01}\n3. Payment\nThe Customer pays monthly.";
    let after = before.replace("Acme", "Borealis");
    clean(before, &after, asked);
    clean(
        before,
        &after.replace("\n{\\pict 01}\n3. Payment", "\n3. Payment\n{\\pict 01}"),
        asked,
    );
    clean(
        before,
        &before.replace("2. Exclusivity\nNone.\n{\\pict 01}\n3.", "2."),
        DELETE,
    );
    for other in [
        "",
        "{\\pict 02}",
        "{\\pict 00}\n{\\pict 00}",
        "{\\pict 00}\n{\\mmath{\\mr The Customer pays.}}",
        "{\\pict 00}\n{\\object\\objemb{\\*\\objdata 0105}}",
        "{\\pict 00}\n{\\field{\\*\\fldinst INCLUDETEXT x}{\\fldrslt }}",
        "{\\pict 00}{\\header {\\pict 02}\\par}",
    ] {
        assert_eq!(
            kinds(before, &after.replace("{\\pict 00}", other), asked),
            [FaultKind::Corrupt],
            "{other}"
        );
    }
    for shown in [
        "{\\*\\ftnsep The Customer owes more.\\par}",
        "{\\shp{\\*\\shpinst{\\sp{\\sn gtextUNICODE}{\\sv The Customer owes more.}}}}",
    ] {
        let found = kinds(
            before,
            &after.replace("{\\pict 01}", &format!("{shown}{{\\pict 01}}")),
            asked,
        );
        assert!(found.contains(&FaultKind::Unintended), "{shown}: {found:?}");
    }
}

const WRAPPED: &str = "
1. Law. This agreement is governed by the laws of Hong
Kong. Disputes go to the courts of Hong Kong.
2. Notices. Letters go to Northwind Trading
Limited. Northwind Trading Limited is the Supplier.";

#[test]
fn lines_of_one_sentence_are_joined() {
    let asked = r#"{"entities": [{"from": "Northwind Trading Limited", "to": "Borealis Trading plc"}],
        "jurisdiction": {"from": "Hong Kong", "to": "Singapore"}}"#;
    let whole_lines = WRAPPED
        .replace("Northwind Trading Limited", "Borealis Trading plc")
        .replace("of Hong Kong", "of Singapore");
    let left = [FaultKind::MissedEntity, FaultKind::MissedJurisdiction];
    assert_eq!(kinds(WRAPPED, &whole_lines, asked), left);
    let all = "
1. Law. This agreement is governed by the laws of
Singapore. Disputes go to the courts of Singapore.
2. Notices. Letters go to Borealis Trading plc. Borealis Trading
plc is the Supplier.";
    clean(WRAPPED, all, asked);
}

#[test]
fn headings_items_and_names_are_lines_of_their_own() {
    let lines = |text: &str| document(text).lines.len();
    for text in [
        "Northwind Trading Limited\nThe Supplier delivers.",
        "1. LIMITATION OF LIABILITY AND INDEMNIFICATION OF THE PARTIES\nNobody is liable.",
        "The Supplier delivers each of these goods every month\n(a) oranges\n(iv) pears\n- plums",
        "The Supplier delivers each of these goods every month:\noranges and pears;\nplums.",
        "The Customer pays the price in thirty days without deduction\n2. Law\nHouse law applies.",
        "The Customer pays the price in thirty days without deduction\nSchedule 1\nprices are monthly.",
    ] {
        assert_eq!(lines(text), text.lines().count(), "{text}");
    }
    let sentence = "the price is due in thirty days, and interest is due after\nthirty days and not before\nthe end of the year.";
    assert_eq!(lines(sentence), 1);
}

#[test]
fn a_broken_reference_of_the_original_may_move() {
    let before = "
1. Start. The term is five years.
2. Words. In this agreement these words are used.
\"Order\" means a bid under Clause 9 by the Customer.
3. Acceptance. The Supplier may at its discretion accept or reject any order, and any acceptance is a binding transaction.";
    let asked =
        r#"{"clauses": [{"operation": "edit", "section": "2", "must_contain": ["these words"]}]}"#;
    let moved = "by the Customer, and the Supplier may at its discretion accept or reject any order, and any acceptance is a binding transaction.";
    let after = before.replace("by the Customer.", moved);
    clean(before, &after, asked);
    let twice = after.replace("Clause 9", "Clause 9 or Clause 9");
    assert_eq!(kinds(before, &twice, asked), [FaultKind::BrokenReference]);
    let another = after.replace("Clause 9", "Clause 8");
    assert_eq!(kinds(before, &another, asked), [FaultKind::BrokenReference]);
}

#[test]
fn a_mention_in_the_paragraph_that_defines_a_term_is_a_use() {
    let before = "1. Words\n\"Products\" means the goods; each order of Products is binding.\n2. Exclusivity\nThe Products are exclusive.\n3. Law\nHouse law.";
    let after = "1. Words\n\"Products\" means the goods; each order of Products is binding.\n2. Law\nHouse law.";
    clean(before, after, DELETE);
    let only_defined = before.replace("; each order of Products is binding", "");
    let revised = after.replace("; each order of Products is binding", "");
    assert_eq!(
        kinds(&only_defined, &revised, DELETE),
        [FaultKind::OrphanedDefinition]
    );
}

#[test]
fn a_document_with_a_displaced_beginning_is_damaged() {
    let original = Draft::read(br"{\rtf1 1. Law. House law applies.\par}");
    for source in [
        r"  {\rtf1 1. Law. House law applies.\par}",
        r"\rtf1 1. Law. House law applies.\par}",
    ] {
        let revised = Draft::read(source.as_bytes());
        let asked = Instructions::default();
        let verdict = verify(&original, &revised, &asked, &Scoring::default());
        let found: Vec<FaultKind> = verdict.faults.iter().map(|fault| fault.kind).collect();
        assert_eq!(
            found,
            [FaultKind::Corrupt],
            "{source}: {:?}",
            verdict.faults
        );
    }
}
