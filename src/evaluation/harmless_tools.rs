//! A failed tool does not explain a failed sample if passing samples have the same failure.

use std::collections::BTreeSet;

use super::plan::LoadedSuite;
use crate::diag::Diagnostic;
use crate::fold::GradedSample;
use crate::model::{CheckOutcome, Grade, Run, Tag};
use crate::suites::{GradeContext, Pair, broken_tools};

/// Grades failed samples again without blaming a tool that fails in passing samples as well.
pub fn without_harmless_tools(
    loaded: &LoadedSuite,
    pair: &Pair,
    context: &GradeContext<'_>,
    completed: &[Vec<Run>],
    graded: &mut [GradedSample],
) -> Result<(), Diagnostic> {
    let grades = graded.iter_mut().filter_map(|sample| match sample {
        GradedSample::Completed(grade) => Some(grade),
        GradedSample::Lost(_) | GradedSample::Spared => None,
    });
    let (passed, failed): (Vec<_>, Vec<_>) =
        grades.zip(completed).partition(|(grade, _)| grade.passed());
    if !failed.iter().any(|(grade, _)| blames_tool(grade)) {
        return Ok(());
    }
    let harmless: BTreeSet<String> = passed
        .iter()
        .flat_map(|(_, runs)| runs.iter().flat_map(broken_tools))
        .collect();
    if harmless.is_empty() {
        return Ok(());
    }
    context.set_harmless_tools(harmless);
    for (grade, runs) in failed {
        *grade = loaded.grade(pair, runs, context)?;
    }
    context.set_harmless_tools(BTreeSet::new());
    Ok(())
}

fn blames_tool(grade: &Grade) -> bool {
    grade.checks.iter().any(|check| match &check.outcome {
        CheckOutcome::Failed(failure) => failure.tag == Tag::Tooling,
        CheckOutcome::Passed | CheckOutcome::Unknown(_) => false,
    })
}
