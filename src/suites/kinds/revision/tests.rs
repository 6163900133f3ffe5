//! Small contracts as lawyers write them, each with the verifier's expected result.

mod liability;
mod operations;
mod properties;
mod replaced;
mod structure;

use super::draft::Draft;
use super::fault::FaultKind;
use super::instructions::Instructions;
use super::score::{Verification, verify};
use crate::suites::kinds::revision::scoring::Scoring;

fn document(paragraphs: &str) -> Draft {
    let body: String = paragraphs
        .trim()
        .lines()
        .map(|line| format!("{}\\par\n", line.trim()))
        .collect();
    Draft::read(format!("{{\\rtf1\\ansi\n{body}}}").as_bytes())
}

fn verified(before: &str, after: &str, asked: &str) -> Verification {
    let asked: Instructions = serde_json::from_str(asked).unwrap();
    verify(
        &document(before),
        &document(after),
        &asked,
        &Scoring::default(),
    )
}

/// The distinct kinds of fault of a revision.
fn kinds(before: &str, after: &str, asked: &str) -> Vec<FaultKind> {
    let mut kinds: Vec<FaultKind> = verified(before, after, asked)
        .faults
        .into_iter()
        .map(|fault| fault.kind)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Fails if the verifier finds any fault in a correct revision.
fn clean(before: &str, after: &str, asked: &str) {
    let verdict = verified(before, after, asked);
    assert_eq!(verdict.faults, [], "{after}");
    assert!(
        verdict.satisfied && (verdict.overall - 1.0).abs() < 1e-9,
        "{verdict:?}"
    );
}
