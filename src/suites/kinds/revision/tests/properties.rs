//! Properties of every contract and every revision, on generated contracts.

use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::proptest;
use proptest::test_runner::Config;

use super::document;
use crate::suites::kinds::revision::draft::Draft;
use crate::suites::kinds::revision::instructions::Instructions;
use crate::suites::kinds::revision::score::{Verification, verify};
use crate::suites::kinds::revision::scoring::{PenaltyMode, Scoring};

#[derive(Debug, Clone, Copy)]
enum ClauseText {
    /// The party's name.
    Name,
    /// A reference to some section.
    Reference(usize),
    /// Words of its own.
    Words(u8),
}

/// A contract: its sections of clauses, after a first one with the law, the indemnity and a term.
type Contract = Vec<Vec<ClauseText>>;

fn contracts() -> impl Strategy<Value = Contract> {
    let says = (0..4_u8, any::<u8>()).prop_map(|(kind, which)| match kind {
        0 => ClauseText::Name,
        1 => ClauseText::Reference(usize::from(which)),
        _ => ClauseText::Words(which),
    });
    vec(vec(says, 0..4), 1..6)
}

#[derive(Debug, Clone, Copy)]
enum ExtraFault {
    Name,
    Law,
    Direction,
    Reference,
    Definition,
    Words,
    Brace,
}

const WRONG: [ExtraFault; 7] = [
    ExtraFault::Name,
    ExtraFault::Law,
    ExtraFault::Direction,
    ExtraFault::Reference,
    ExtraFault::Definition,
    ExtraFault::Words,
    ExtraFault::Brace,
];

const ASKED: &str = r#"{
    "entities": [{"from": "Acme Ltd", "to": "Borealis plc"}, {"from": "Corin", "to": "Doreen"}],
    "jurisdiction": {"from": "Northmark", "to": "Westhaven"},
    "liability": {"indemnifier": "Supplier", "indemnitee": "Customer"},
    "clauses": [{"operation": "delete", "section": "2"}, {"operation": "edit", "section": "1.1", "must_contain": ["weekly"]}]
}"#;

/// The paragraphs of a contract; revised as requested, apart from the added faults.
fn written(contract: &Contract, revised: bool, wrong: &[ExtraFault]) -> String {
    let (name, law) = if revised {
        ("Borealis plc", "Westhaven")
    } else {
        ("Acme Ltd", "Northmark")
    };
    let (giver, taker) = if revised {
        ("Supplier", "Customer")
    } else {
        ("Customer", "Supplier")
    };
    let often = if revised { "weekly" } else { "monthly" };
    let mut text = format!(
        "1. Basics\n1.1 Invoices are sent {often} to Corin.\n1.2 \"Wares\" means goods of {name}.\n1.3 The Wares are new.\n\
         1.4 The law of {law} applies.\n1.5 The {giver} shall indemnify the {taker}.\n"
    );
    if revised {
        text = text.replace("Corin", "Doreen");
    } else {
        text += "2. Exclusivity\n2.1 Nobody else buys here.\n";
    }
    let own = |section: usize| if revised { section + 2 } else { section + 3 };
    for (section, clauses) in contract.iter().enumerate() {
        let _ = writeln!(text, "{}. Subject {section}", own(section));
        for (clause, says) in clauses.iter().enumerate() {
            let words = match says {
                ClauseText::Name => format!("Here {name} pays for part {section} of it."),
                ClauseText::Reference(other) => {
                    format!("Section {} applies here.", own(other % contract.len()))
                }
                ClauseText::Words(which) => {
                    format!("Words numbered {which} appear under this heading.")
                }
            };
            let _ = writeln!(text, "{}.{} {words}", own(section), clause + 1);
        }
    }
    for (index, one) in wrong.iter().enumerate() {
        let words = match one {
            ExtraFault::Name => "ACME LTD was here.",
            ExtraFault::Law => "Northmark is far.",
            ExtraFault::Direction => "The Customer shall indemnify the Supplier.",
            ExtraFault::Reference => "See Section 99.",
            ExtraFault::Definition => "\"Widgets\" means nothing.",
            ExtraFault::Words => "This was never agreed.",
            ExtraFault::Brace => "A brace} too many.",
        };
        let words = words.replace("Widgets", &format!("Widget {index}"));
        let _ = writeln!(text, "{words}");
    }
    text
}

fn read(contract: &Contract, revised: bool, wrong: &[ExtraFault]) -> Draft {
    document(&written(contract, revised, wrong))
}

fn asked(text: &str) -> Instructions {
    serde_json::from_str(text).unwrap()
}

/// Asserts that no score of the first is lower, and that it passes if the other does.
fn no_worse(one: &Verification, other: &Verification) {
    for (one, other) in one.scores.iter().zip(&other.scores) {
        assert!(one >= other, "{one} {other}");
    }
    assert!(one.overall >= other.overall);
    assert!(one.satisfied || !other.satisfied);
}

proptest! {
    #![proptest_config(Config { cases: 64, ..Config::default() })]

    #[test]
    fn an_unchanged_document_has_no_fault_without_instructions(contract in contracts(), revised in any::<bool>()) {
        let draft = read(&contract, revised, &[]);
        let verdict = verify(&draft, &draft, &Instructions::default(), &Scoring::default());
        assert_eq!((verdict.overall.to_bits(), verdict.satisfied), (1.0_f64.to_bits(), true), "{:?}", verdict.faults);
    }

    #[test]
    fn a_correct_revision_is_clean(contract in contracts()) {
        let (before, after) = (read(&contract, false, &[]), read(&contract, true, &[]));
        let verdict = verify(&before, &after, &asked(ASKED), &Scoring::default());
        assert_eq!(verdict.faults, []);
        assert!(verdict.satisfied);
    }

    #[test]
    fn a_further_fault_never_helps(contract in contracts(), wrong in vec(0..WRONG.len(), 1..5), inside in any::<bool>()) {
        let wrong: Vec<ExtraFault> = wrong.into_iter().map(|which| WRONG[which]).collect();
        let before = read(&contract, false, &[]);
        let mode = if inside { PenaltyMode::Criterion } else { PenaltyMode::Overall };
        let scoring = Scoring { penalty_mode: mode, ..Scoring::default() };
        let mut last = verify(&before, &read(&contract, true, &[]), &asked(ASKED), &scoring);
        // Text after an extra closing brace is not read, so that fault comes last.
        let (end, mut wrong): (Vec<ExtraFault>, Vec<ExtraFault>) = wrong.into_iter().partition(|one| matches!(one, ExtraFault::Brace));
        wrong.extend(end.first());
        for count in 1..=wrong.len() {
            let next = verify(&before, &read(&contract, true, &wrong[..count]), &asked(ASKED), &scoring);
            assert!(next.faults.len() > last.faults.len(), "{wrong:?} {:?}", next.faults);
            no_worse(&last, &next);
            last = next;
        }
    }

    #[test]
    fn any_two_documents_have_a_verdict(one in contracts(), other in contracts(), cut in any::<proptest::sample::Index>(), revised in any::<bool>()) {
        let before = read(&one, false, &[]);
        let source = written(&other, revised, &[]);
        let half: String = source.chars().take(cut.index(source.len() + 1)).collect();
        let after = document(&half);
        let verdict = verify(&before, &after, &asked(ASKED), &Scoring::default());
        for score in verdict.scores.iter().chain([&verdict.overall]) {
            assert!((0.0..=1.0).contains(score), "{verdict:?}");
        }
        assert_eq!(verdict, verify(&before, &after, &asked(ASKED), &Scoring::default()));
        let mut turned = asked(ASKED);
        turned.entities.reverse();
        turned.clauses.reverse();
        let turned = verify(&before, &after, &turned, &Scoring::default());
        let sorted = |verdict: &Verification| {
            let mut faults: Vec<String> = verdict.faults.iter().map(|fault| fault.detail.clone()).collect();
            faults.sort_unstable();
            faults
        };
        assert_eq!(sorted(&verdict), sorted(&turned));
        assert_eq!((verdict.scores, verdict.satisfied), (turned.scores, turned.satisfied));
        assert!((verdict.overall - turned.overall).abs() < 1e-12);
    }
}
