//! Indemnities as contracts write them: who gives them, and sentences that only mention them.

use super::super::instructions::Liability;
use super::super::liability::{IndemnityDirection, Parties};
use super::{document, kinds, verified};
use crate::suites::kinds::revision::fault::FaultKind;

/// Counts the sentences of a text in the requested direction and the others.
fn ways(text: &str) -> (usize, usize) {
    let asked = Liability {
        indemnifier: "Supplier".to_owned(),
        indemnitee: "Customer".to_owned(),
    };
    let sentences = Parties::of(&asked).sentences(&document(text));
    let right = sentences
        .iter()
        .filter(|sentence| sentence.direction == IndemnityDirection::Asked)
        .count();
    (right, sentences.len() - right)
}

#[test]
fn sentences_in_the_requested_direction() {
    for text in [
        "The Supplier shall save harmless and keep indemnified the Customer.",
        "The Supplier shall keep the Customer harmless from all claims.",
        "If the Customer is sued, the Supplier (at its own cost) shall indemnify the Customer.",
        "If either party is sued, the Supplier shall indemnify the Customer.",
        "The Supplier shall not be liable for delay and shall indemnify the Customer.",
        "In no event later than ten days shall the Supplier pay; the Supplier shall indemnify the Customer.",
        "The Supplier shall indemnify the Customer for any loss that the Customer may suffer.",
        "The Supplier and its affiliates shall indemnify the Customer.",
        "The Supplier is obliged to indemnify the Customer.",
        "THE SUPPLIER SHALL INDEMNIFY AND HOLD HARMLESS THE CUSTOMER.",
        "The Supplier shall give the Customer a full indemnity against all claims.",
        "The Supplier agrees that the Customer shall be indemnified against all claims.",
        "The Supplier shall indemnify the Customer for any loss of the Supplier.",
        "The Customer shall be indemnified for losses of the Customer by the Supplier.",
    ] {
        assert_eq!(ways(text), (1, 0), "{text}");
    }
}

#[test]
fn sentences_in_another_direction() {
    for text in [
        "The Customer shall save the Supplier harmless.",
        "The Customer shall keep the Supplier indemnified.",
        "The parties shall indemnify each other.",
        "The Customer shall not sue and shall indemnify the Supplier.",
        "The Customer will in no event delay, and will indemnify the Supplier.",
        "The Customer shall grant the Supplier an indemnity against all claims.",
        "Losses of the Supplier shall be borne, and the Supplier shall be held harmless, by the Customer.",
        "The Customer shall be held harmless, and the Supplier shall be paid, by the Customer.",
    ] {
        assert_eq!(ways(text), (0, 1), "{text}");
    }
}

#[test]
fn the_fault_of_a_sentence_is_named() {
    let asked = Liability {
        indemnifier: "Supplier".to_owned(),
        indemnitee: "Customer".to_owned(),
    };
    for (text, expected) in [
        (
            "The Customer shall indemnify the Supplier.",
            "Customer indemnifies Supplier",
        ),
        ("The Customer indemnifies.", "Customer indemnifies"),
        (
            "The Supplier shall be indemnified.",
            "Supplier is indemnified",
        ),
        (
            "The Supplier shall be indemnified by the Supplier.",
            "it is unclear which party Supplier indemnifies",
        ),
        (
            "The parties shall indemnify each other, the Supplier first.",
            "each party indemnifies the other",
        ),
    ] {
        let sentences = Parties::of(&asked).sentences(&document(text));
        assert_eq!(
            sentences[0].direction,
            IndemnityDirection::Wrong(expected.to_owned()),
            "{text}"
        );
    }
}

#[test]
fn each_indemnity_of_a_sentence_counts() {
    let both =
        "The Supplier shall indemnify the Customer, and the Customer shall indemnify the Supplier.";
    assert_eq!(ways(both), (1, 1));
    assert_eq!(
        ways(&format!(
            "The Customer shall indemnify the Supplier. {both}"
        )),
        (1, 2)
    );
    let three = both.replace(", and", ",").replace(
        "Supplier.",
        "Supplier, and the Supplier shall hold the Customer harmless.",
    );
    assert_eq!(ways(&format!("Acme pays. {three}")), (2, 1));
    assert_eq!(
        ways(
            "The Supplier shall indemnify the Customer and shall defend and hold harmless the Customer."
        ),
        (1, 0)
    );
}

#[test]
fn the_procedure_of_an_indemnity_is_not_an_indemnity() {
    for text in [
        "The indemnified party shall promptly notify the Supplier of any claim.",
        "The Customer shall notify the Supplier of any claim for which it seeks to be indemnified.",
        "Neither party shall indemnify the other.",
        "The Customer shall under no circumstances be required to indemnify or hold harmless the Supplier.",
        "The indemnity in this Section survives.",
    ] {
        assert_eq!(ways(text), (0, 0), "{text}");
    }
}

const BEFORE: &str = "1. Indemnity. The Customer shall indemnify the Supplier up to EUR 10,000. Claims are made within ten days.";
const ASKED: &str = r#"{"liability": {"indemnifier": "Supplier", "indemnitee": "Customer"}}"#;

#[test]
fn a_reversed_indemnity_must_keep_its_other_words() {
    let turned = "1. Indemnity. The Supplier shall indemnify the Customer up to EUR 10,000. Claims are made within ten days.";
    assert_eq!(kinds(BEFORE, turned, ASKED), []);
    let passive = "1. Indemnity. The Customer shall be indemnified by the Supplier up to EUR 10,000. Claims are made within ten days.";
    assert_eq!(kinds(BEFORE, passive, ASKED), []);
    let survives = "1. Indemnity. The Customer shall indemnify the Supplier. The indemnity in this Section survives two years.";
    let shorter = "1. Indemnity. The Supplier shall indemnify the Customer. The indemnity in this Section survives one month.";
    assert_eq!(kinds(survives, shorter, ASKED), [FaultKind::Unintended]);
    for other in [
        "1. Indemnity. The Supplier shall indemnify the Customer up to EUR 99,000. Claims are made within ten days.",
        "1. Indemnity. The Supplier shall indemnify the Customer up to EUR 10,000. Claims are made within two days.",
        "1. Indemnity. The Supplier shall indemnify the Customer up to EUR 10,000.",
    ] {
        assert_eq!(
            kinds(BEFORE, other, ASKED),
            [FaultKind::Unintended],
            "{other}"
        );
    }
}

#[test]
fn an_indemnity_that_is_negated_goes_the_wrong_way() {
    let negated = BEFORE.replace(
        "Customer shall indemnify the Supplier",
        "Supplier shall not indemnify the Customer",
    );
    assert_eq!(
        kinds(BEFORE, &negated, ASKED),
        [FaultKind::WrongDirection, FaultKind::Unintended]
    );
    // Also next to another indemnity, and in a section that may change.
    let before = format!(
        "{BEFORE}\n2. More. The Customer shall indemnify the Supplier against claims of third parties."
    );
    let after = before.replace(
        "Customer shall indemnify the Supplier",
        "Supplier shall indemnify the Customer",
    );
    assert_eq!(kinds(&before, &after, ASKED), []);
    let one = after.replace(
        "shall indemnify the Customer against",
        "shall not indemnify the Customer against",
    );
    let edited = ASKED.replacen(
        '{',
        r#"{"clauses": [{"operation": "replace", "section": "2"}], "#,
        1,
    );
    assert_eq!(kinds(&before, &one, &edited), [FaultKind::WrongDirection]);
    let verdict = verified(&before, &one, &edited);
    assert!(
        (verdict.scores[2] - 0.5).abs() < 1e-9 && !verdict.satisfied,
        "{verdict:?}"
    );
}

#[test]
fn the_name_of_a_party_that_is_replaced_may_be_swapped() {
    let asked = r#"{"liability": {"indemnifier": "Borealis", "indemnitee": "Customer"},
        "entities": [{"from": "Acme Ltd", "to": "Borealis plc", "defined_as": ["Acme"], "becomes": ["Borealis"]}]}"#;
    let before =
        "1. Indemnity. The Customer shall indemnify Acme against claims. Acme pays all taxes.";
    let after = "1. Indemnity. Borealis shall indemnify the Customer against claims. Borealis pays all taxes.";
    assert_eq!(kinds(before, after, asked), []);
    for other in [
        after.replace("Borealis pays", "The Customer pays"),
        after.replace("against claims", "against no claims"),
    ] {
        assert_eq!(
            kinds(before, &other, asked),
            [FaultKind::Unintended],
            "{other}"
        );
    }
}

#[test]
fn a_reversed_indemnity_without_a_request_is_a_change() {
    let turned = "1. Indemnity. The Supplier shall indemnify the Customer up to EUR 10,000. Claims are made within ten days.";
    assert_eq!(kinds(BEFORE, turned, "{}"), [FaultKind::Unintended]);
}

#[test]
fn parties_may_be_swapped_only_in_indemnities() {
    let before = "1. Indemnity. The Customer shall indemnify the Supplier. \n2. Price. The Customer pays the Supplier.";
    let turned = before.replace(
        "Customer shall indemnify the Supplier",
        "Supplier shall indemnify the Customer",
    );
    assert_eq!(kinds(before, &turned, ASKED), []);
    let both = turned.replace("Customer pays the Supplier", "Supplier pays the Customer");
    assert_eq!(kinds(before, &both, ASKED), [FaultKind::Unintended]);
    let centred = turned
        .replacen("1. Indemnity", "\\qc 1. Indemnity", 1)
        .replacen("2. Price", "\\ql 2. Price", 1);
    assert_eq!(kinds(before, &centred, ASKED), [FaultKind::Corrupt]);
}
