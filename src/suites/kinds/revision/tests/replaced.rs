//! Old names, laws and courts in every form.

use super::{clean, kinds, verified};
use crate::suites::kinds::revision::fault::FaultKind;

fn left(name: &str, new: &str, after: &str) -> usize {
    let asked = format!(r#"{{"entities": [{{"from": "{name}", "to": "{new}"}}]}}"#);
    let verdict = verified(&format!("{name} pays."), after, &asked);
    verdict.of(FaultKind::MissedEntity).count()
}

#[test]
fn old_names_are_found_in_every_form() {
    for (name, new, after, expected) in [
        (
            "Acme",
            "Borealis",
            "ACME, Acme's, non-Acme goods and the Acme-owned plant; acmesthetic",
            4,
        ),
        (
            "Acme & Co. KG",
            "Borealis",
            "Acme & Co. KG pays. ACME &  CO. KG's price. Acme & Co. KGaA.",
            2,
        ),
        (
            "A.B.C. Ltd.",
            "Borealis",
            "A.B.C. Ltd. pays and A.B.C. Ltd.'s agent; A.B.C. Ltd is short",
            2,
        ),
        (
            "Acme",
            "Acme International plc",
            "Acme International plc pays, Acme pays",
            1,
        ),
        ("Acme", "New Acme plc", "New Acme plc pays, Acme pays", 1),
        (
            "Acme Ltd",
            "Acme Ltd Holdings",
            "Acme Ltd Holdings pays, ACME LTD pays",
            1,
        ),
        (
            "Acme Ltd",
            "Borealis",
            "{\\b Ac}{\\i me} L{\\ul td} pays",
            1,
        ),
        (
            "Acme Ltd",
            "Borealis",
            "Acme\\line Ltd pays, Acme\\~Ltd, Acme\\tab Ltd",
            3,
        ),
        (
            "Acme Ltd",
            "Borealis",
            "x{\\footnote Acme Ltd}{\\header Acme Ltd\\par}{\\*\\annotation Acme Ltd}",
            3,
        ),
        (
            "Acme Ltd",
            "Borealis",
            "{\\shp{\\*\\shpinst{\\shptxt Acme Ltd\\par}}}",
            1,
        ),
        (
            "Acme Ltd",
            "Borealis",
            "\\trowd\\cellx900\\intbl Acme Ltd\\cell\\row\\pard x",
            1,
        ),
        (
            "Acme Ltd",
            "Borealis",
            "{\\revised Acme Ltd} {\\deleted Acme Ltd}",
            1,
        ),
    ] {
        assert_eq!(left(name, new, after), expected, "{name} in {after}");
    }
}

const LAW: &str = r#"{"jurisdiction": {"from": "State of Northmark", "to": "State of Westhaven",
    "phrases": [{"from": "courts of Northmark City", "to": "courts of Port Westhaven"}]}}"#;
const BEFORE: &str = "1. Law. The laws of the\\line State of Northmark govern.\n2. Forum. THE COURTS OF NORTHMARK CITY decide.";

#[test]
fn the_new_forum_must_replace_the_old_one() {
    clean(
        BEFORE,
        "1. Law. The laws of the State of Westhaven govern.\n2. Forum. The courts of Port Westhaven decide.",
        LAW,
    );
    let old = "1. Law. The laws of the State of Westhaven govern.\n2. Forum. THE COURTS OF NORTHMARK CITY decide.";
    assert_eq!(kinds(BEFORE, old, LAW), [FaultKind::MissedJurisdiction]);
    let third = "1. Law. The laws of the State of Westhaven govern.\n2. Forum. The courts of Easton decide.";
    let verdict = verified(BEFORE, third, LAW);
    assert!(
        verdict
            .of(FaultKind::MissedJurisdiction)
            .any(|fault| fault.detail.contains("Port Westhaven")),
        "{verdict:?}"
    );
    assert!((verdict.scores[1] - 0.5).abs() < 1e-9);
}

#[test]
fn a_forum_deleted_with_its_clause_is_not_a_fault() {
    let asked = LAW.replacen(
        '{',
        r#"{"clauses": [{"operation": "delete", "section": "2"}], "#,
        1,
    );
    clean(
        BEFORE,
        "1. Law. The laws of the State of Westhaven govern.",
        &asked,
    );
}
