//! Clauses that are added, deleted and replaced, and the references to them.

use super::{clean, kinds, verified};
use crate::suites::kinds::revision::fault::FaultKind;

const BEFORE: &str = "
1. Delivery
1.1 The Supplier delivers the Goods within ten days.
1.2 Risk passes upon delivery.
2. Exclusivity
2.1 The Customer buys from nobody else while this Agreement lasts.
3. Price
3.1 The price appears in Schedule 1 and is paid under Section 4.2.1.
4. Payment
4.1 Invoices are sent monthly, subject to Clauses 3.1 to 4.2.
4.2 Payment terms
4.2.1 The price is due within thirty days, see Articles 3.1, 4.1 & 4.2.1(a).
";
const DELETE: &str =
    r#"{"clauses": [{"operation": "delete", "section": "2", "heading": "Exclusivity"}]}"#;
const AFTER: &str = "
1. Delivery
1.1 The Supplier delivers the Goods within ten days.
1.2 Risk passes upon delivery.
2. Price
2.1 The price appears in Schedule 1 and is paid under Section 3.2.1.
3. Payment
3.1 Invoices are sent monthly, subject to Clauses 2.1 to 3.2.
3.2 Payment terms
3.2.1 The price is due within thirty days, see Articles 2.1, 3.1 & 3.2.1(a).
";

#[test]
fn numbers_and_references_follow_a_deleted_clause() {
    clean(BEFORE, AFTER, DELETE);
    for (right, stale) in [
        ("Section 3.2.1", "Section 4.2.1"),
        ("2.1 to 3.2", "2.1 to 4.2"),
        ("& 3.2.1(a)", "& 4.2.1(a)"),
        ("Articles 2.1", "Articles 3.1"),
    ] {
        let after = AFTER.replace(right, stale);
        assert_eq!(
            kinds(BEFORE, &after, DELETE),
            [FaultKind::BrokenReference],
            "{stale}"
        );
    }
}

#[test]
fn a_deleted_clause_may_keep_its_number() {
    for words in [
        "2. [Intentionally deleted]",
        "2. Exclusivity [Intentionally deleted]",
        "2. Exclusivity. [Deleted.]",
        "2. Exclusivity\n2.1 [Intentionally left blank]",
        "2. [This Section has been deleted in its entirety.]",
        "2. RESERVED",
    ] {
        let after = BEFORE.replace(
            "2. Exclusivity\n2.1 The Customer buys from nobody else while this Agreement lasts.",
            words,
        );
        assert_eq!(kinds(BEFORE, &after, DELETE), [], "{words}");
    }
    let before = BEFORE.replace("see Articles", "see Section 2 and Articles");
    let after = before.replace(
        "2. Exclusivity\n2.1 The Customer buys from nobody else while this Agreement lasts.",
        "2. [Deleted]",
    );
    assert_eq!(kinds(&before, &after, DELETE), [FaultKind::BrokenReference]);
}

#[test]
fn a_clause_whose_heading_remains_is_not_deleted() {
    for words in [
        "2. Exclusivity",
        "2. Exclusivity\nOther Goods\n[Intentionally deleted]",
    ] {
        let after = BEFORE.replace(
            "2. Exclusivity\n2.1 The Customer buys from nobody else while this Agreement lasts.",
            words,
        );
        assert!(
            kinds(BEFORE, &after, DELETE).contains(&FaultKind::Undone),
            "{words}"
        );
    }
}

#[test]
fn an_amount_equal_to_a_deleted_number_is_not_a_reference() {
    let before = BEFORE.replace("within ten days", "within 2 days");
    let after = AFTER.replace("within ten days", "within five weeks");
    assert_eq!(kinds(&before, &after, DELETE), [FaultKind::Unintended]);
}

#[test]
fn roman_articles_are_referred_to() {
    let before = "
ARTICLE I Delivery
The Goods are delivered as Article III says.
ARTICLE II Exclusivity
The Customer buys from nobody else.
ARTICLE III Price
The price is fixed.";
    let delete = r#"{"clauses": [{"operation": "delete", "section": "Article II"}]}"#;
    let after = "
ARTICLE I Delivery
The Goods are delivered as Article II says.
ARTICLE II Price
The price is fixed.";
    clean(before, after, delete);
    let stale = after.replace("as Article II", "as Article III");
    assert_eq!(kinds(before, &stale, delete), [FaultKind::BrokenReference]);
}

#[test]
fn a_clause_in_the_position_of_a_deleted_one_is_a_new_one() {
    let before = "
1. Delivery
1.1 The Supplier shall deliver the Goods to the Customer within ten days of the order.
1.2 The Customer shall not buy the Goods from a third party during the Term of this Agreement.
1.3 Risk passes upon delivery.";
    let after = "
1. Delivery
1.1 The Supplier shall deliver the Goods to the Customer within ten days of the order.
1.2 The Customer shall audit the Supplier during the Term of this Agreement at the expense of a third party.
1.3 Risk passes upon delivery.";
    let asked = r#"{"clauses": [{"operation": "delete", "section": "1.2"},
        {"operation": "add", "section": "1.2", "after": "1.1", "must_contain": ["audit"]}]}"#;
    clean(before, after, asked);
    let kept = before.replace("during the Term", "for the Term");
    assert!(kinds(before, &kept, asked).contains(&FaultKind::Undone));
}

#[test]
fn renumbering_a_clause_does_not_replace_it() {
    let asked = r#"{"clauses": [{"operation": "delete", "section": "2"}, {"operation": "replace", "section": "4.1"}]}"#;
    let verdict = verified(BEFORE, AFTER, asked);
    assert_eq!(verdict.of(FaultKind::Undone).count(), 1, "{verdict:?}");
}

#[test]
fn moving_a_clause_is_an_unrequested_change() {
    let moved =
        BEFORE.replace("1.2 Risk passes upon delivery.\n", "") + "4.3 Risk passes upon delivery.";
    assert!(kinds(BEFORE, &moved, "{}").contains(&FaultKind::Unintended));
}

const SHORT: &str = "
1. Scope
1.1 The Wares are sold as Section 2 says.
2. Samples
2.1 The Customer shall not buy Samples from a third party.
3. Terms
3.1 \"Samples\" means what is free.
3.2 \"Wares\" means what is not.";
const SHORTER: &str = "
1. Scope
1.1 The Wares are sold at once.
2. Terms
2.1 \"Wares\" means what is not.";

#[test]
fn a_definition_used_only_by_a_deleted_clause_may_be_removed() {
    let delete = r#"{"clauses": [{"operation": "delete", "section": "2"}]}"#;
    assert_eq!(kinds(SHORT, SHORTER, delete), []);
    let more = format!("{SHORTER}\n2.2 A further sentence appears here.");
    assert_eq!(kinds(SHORT, &more, delete), [FaultKind::Unintended]);
}

#[test]
fn a_clause_is_not_deleted_while_similar_words_remain() {
    let delete = r#"{"clauses": [{"operation": "delete", "section": "2.1"}]}"#;
    for (words, there) in [
        ("shall not sell Samples from the first hour", true),
        ("may sell what it likes", false),
    ] {
        let after = SHORT.replace("shall not buy Samples from a third party", words);
        assert_eq!(
            kinds(SHORT, &after, delete).contains(&FaultKind::Undone),
            there,
            "{words}"
        );
    }
}

#[test]
fn a_second_added_clause_is_an_unrequested_change() {
    let asked = r#"{"clauses": [{"operation": "add", "section": "4", "heading": "Audit"}]}"#;
    let added = format!("{SHORT}\n4. Audit\n4.1 The books are open.");
    assert_eq!(kinds(SHORT, &added, asked), []);
    let two = format!("{added}\n5. Extra\n5.1 The books are shut.");
    assert_eq!(kinds(SHORT, &two, asked), [FaultKind::Unintended]);
}

#[test]
fn a_clause_above_its_parent_does_not_follow_it() {
    let asked = r#"{"clauses": [{"operation": "add", "section": "1.2", "after": "1", "must_contain": ["books"]}]}"#;
    let after = format!("1.2 The books are open.{SHORT}");
    assert!(kinds(SHORT, &after, asked).contains(&FaultKind::Undone));
}

#[test]
fn a_moved_section_is_recognized_by_its_heading() {
    let before = "
1. Scope
The Goods are sold as Section 2 says.
2. Price
The price is fixed.
3. Term
It lasts a year.
The year ends in May.";
    let after = "
1. Scope
The Goods are sold as Section 2 says.
2. Term
It lasts a year.
The year ends in May.
3. Price
The price is fixed.";
    let verdict = verified(before, after, "{}");
    let broken = verdict.of(FaultKind::BrokenReference).next().unwrap();
    assert!(
        broken
            .detail
            .starts_with("section 2: the former section 2 is now section 3"),
        "{broken:?}"
    );
}

#[test]
fn a_line_loses_only_its_reference_to_a_deleted_section() {
    let before = "
1. Term. The agreement ends after one year.
2. Price. Subject to Section 4, the Customer pays 100 EUR within 30 days, and may not be charged more.
3. Law. The law of Norway applies.
4. Discounts. A discount of 5 percent is granted.";
    let delete = r#"{"clauses": [{"operation": "delete", "section": "4"}]}"#;
    let after = before
        .replace("Subject to Section 4, the", "The")
        .replace("\n4. Discounts. A discount of 5 percent is granted.", "");
    clean(before, &after, delete);
    for (was, is) in [
        ("100 EUR", "100000 EUR"),
        ("30 days", "3 days"),
        ("may not", "may"),
        ("and may not be charged more", "and waives all rights"),
        ("the Customer", "the Supplier"),
        (
            "2. Price. The Customer pays 100 EUR within 30 days, and may not be charged more.\n3.",
            "2.",
        ),
    ] {
        let other = after
            .replacen(was, is, 1)
            .replacen(&was.replacen('t', "T", 1), is, 1);
        assert!(
            kinds(before, &other, delete).contains(&FaultKind::Unintended),
            "{other}"
        );
    }
    // A sentence that only says something of the deleted section may go with it.
    let more = before.replace("year.", "year.\n1.1 Section 4 also applies to gifts.");
    clean(&more, &after, delete);
}

const BY_TEXT: &str = "
The Supplier is Acme Ltd of 1 Main Street.
1. Price
The price is 10 EUR. Acme Ltd may raise it at any time.
2. Term
The term is one year.";

#[test]
fn an_operation_may_be_found_by_its_text() {
    let asked = r#"{"entities": [{"from": "Acme Ltd", "to": "Borealis plc"}], "clauses": [
        {"operation": "delete", "text": "Acme Ltd may raise it at any time."},
        {"operation": "modify", "old_text": "one year", "new_text": "two years"}]}"#;
    let after = BY_TEXT
        .replace(" Acme Ltd may raise it at any time.", "")
        .replace("one year", "two years")
        .replace("Acme Ltd", "Borealis plc");
    clean(BY_TEXT, &after, asked);
    let renamed = after.replace("10 EUR.", "10 EUR. Borealis plc may raise it at any time.");
    assert_eq!(kinds(BY_TEXT, &renamed, asked), [FaultKind::Undone]);
    let kept = after.replace("two years", "one year");
    assert_eq!(kinds(BY_TEXT, &kept, asked), [FaultKind::Undone]);
    let neither = after.replace("two years", "three years");
    assert_eq!(kinds(BY_TEXT, &neither, asked), [FaultKind::Undone]);
    let elsewhere = after.replace("1 Main Street", "2 Main Street");
    assert_eq!(kinds(BY_TEXT, &elsewhere, asked), [FaultKind::Unintended]);
}

#[test]
fn paragraphs_without_a_number_may_be_allowed_to_change_by_their_text() {
    let asked = r#"{"allowed_changes": [{"text": "Acme Ltd of 1 Main Street"}, {"text": "company number"}]}"#;
    let moved = BY_TEXT.replace(
        "of 1 Main Street.",
        "of 7 High Street.\nIts company number is 12.",
    );
    clean(BY_TEXT, &moved, asked);
    let more = moved.replace("10 EUR", "11 EUR");
    assert_eq!(kinds(BY_TEXT, &more, asked), [FaultKind::Unintended]);
}
