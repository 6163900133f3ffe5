//! Clauses that are added, deleted and replaced, and the references to them.

use super::{clean, kinds, verified};
use crate::suites::revision::fault::FaultKind;

const BEFORE: &str = "
1. Delivery
1.1 The Supplier delivers the Goods within ten days.
1.2 Risk passes upon delivery.
2. Exclusivity
2.1 The Customer buys from nobody else while this Agreement lasts.
3. Price
3.1 The price stands in Schedule 1 and is paid under Section 4.2.1.
4. Payment
4.1 Invoices are sent monthly, subject to Clauses 3.1 to 4.2.
4.2 Payment terms
4.2.1 The price is due within thirty days, see Articles 3.1, 4.1 & 4.2.1(a).
";
const DELETE: &str = r#"{"clauses": [{"operation": "delete", "section": "2", "heading": "Exclusivity"}]}"#;
const AFTER: &str = "
1. Delivery
1.1 The Supplier delivers the Goods within ten days.
1.2 Risk passes upon delivery.
2. Price
2.1 The price stands in Schedule 1 and is paid under Section 3.2.1.
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
        assert_eq!(kinds(BEFORE, &after, DELETE), [FaultKind::BrokenReference], "{stale}");
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
        let after =
            BEFORE.replace("2. Exclusivity\n2.1 The Customer buys from nobody else while this Agreement lasts.", words);
        assert_eq!(kinds(BEFORE, &after, DELETE), [], "{words}");
    }
    let before = BEFORE.replace("see Articles", "see Section 2 and Articles");
    let after = before
        .replace("2. Exclusivity\n2.1 The Customer buys from nobody else while this Agreement lasts.", "2. [Deleted]");
    assert_eq!(kinds(&before, &after, DELETE), [FaultKind::BrokenReference]);
}

#[test]
fn a_heading_that_is_left_of_a_clause_is_no_deletion() {
    for words in ["2. Exclusivity", "2. Exclusivity\nOther Goods\n[Intentionally deleted]"] {
        let after =
            BEFORE.replace("2. Exclusivity\n2.1 The Customer buys from nobody else while this Agreement lasts.", words);
        assert!(kinds(BEFORE, &after, DELETE).contains(&FaultKind::Undone), "{words}");
    }
}

#[test]
fn what_mentions_the_number_of_a_deleted_clause_is_no_reference_to_it() {
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
fn a_clause_that_takes_the_place_of_a_deleted_one_is_another_one() {
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
fn a_renumbered_clause_is_not_replaced_by_that() {
    let asked = r#"{"clauses": [{"operation": "delete", "section": "2"}, {"operation": "replace", "section": "4.1"}]}"#;
    let verdict = verified(BEFORE, AFTER, asked);
    assert_eq!(verdict.of(FaultKind::Undone).count(), 1, "{verdict:?}");
}

#[test]
fn a_clause_that_moved_is_an_unasked_change() {
    let moved = BEFORE.replace("1.2 Risk passes upon delivery.\n", "") + "4.3 Risk passes upon delivery.";
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
fn what_a_deleted_clause_leaves_without_sense_may_go_with_it() {
    let delete = r#"{"clauses": [{"operation": "delete", "section": "2"}]}"#;
    assert_eq!(kinds(SHORT, SHORTER, delete), []);
    let more = format!("{SHORTER}\n2.2 A further sentence stands here.");
    assert_eq!(kinds(SHORT, &more, delete), [FaultKind::Unintended]);
}

#[test]
fn a_clause_to_delete_is_there_as_long_as_its_words_are_alike() {
    let delete = r#"{"clauses": [{"operation": "delete", "section": "2.1"}]}"#;
    for (words, there) in [("shall not sell Samples from the first hour", true), ("may sell what it likes", false)] {
        let after = SHORT.replace("shall not buy Samples from a third party", words);
        assert_eq!(kinds(SHORT, &after, delete).contains(&FaultKind::Undone), there, "{words}");
    }
}

#[test]
fn a_further_clause_beside_the_one_to_add_is_unasked() {
    let asked = r#"{"clauses": [{"operation": "add", "section": "4", "heading": "Audit"}]}"#;
    let added = format!("{SHORT}\n4. Audit\n4.1 The books are open.");
    assert_eq!(kinds(SHORT, &added, asked), []);
    let two = format!("{added}\n5. Extra\n5.1 The books are shut.");
    assert_eq!(kinds(SHORT, &two, asked), [FaultKind::Unintended]);
}

#[test]
fn a_clause_above_its_parent_does_not_stand_behind_it() {
    let asked = r#"{"clauses": [{"operation": "add", "section": "1.2", "after": "1", "must_contain": ["books"]}]}"#;
    let after = format!("1.2 The books are open.{SHORT}");
    assert!(kinds(SHORT, &after, asked).contains(&FaultKind::Undone));
}

#[test]
fn a_section_that_moves_is_known_by_its_heading() {
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
    assert!(broken.detail.starts_with("section 2: what was section 2 is section 3 now"), "{broken:?}");
}

#[test]
fn a_clause_that_only_its_heading_names_is_the_one_that_was_asked_for() {
    // The original has no section 9: the heading alone says which one is meant.
    let before = "1. Delivery\nAt once.\n2. Exclusivity\nNobody else buys here.\n3. Price\nSee the list.";
    let delete = r#"{"clauses": [{"operation": "delete", "section": "9", "heading": "Exclusivity"}]}"#;
    clean(before, "1. Delivery\nAt once.\n2. Price\nSee the list.", delete);
    let edit = r#"{"clauses": [{"operation": "edit", "section": "9", "heading": "Price", "must_contain": ["annex"]}]}"#;
    clean(before, &before.replace("list", "annex"), edit);
    // What nothing names may still not change.
    let other = before.replace("list", "annex").replace("At once", "Later");
    assert_eq!(kinds(before, &other, edit), [FaultKind::Unintended]);
}
