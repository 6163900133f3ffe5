//! The yardstick of whole runs: what reading, parsing and matching the workload of `cases.py` costs a program that does
//! nothing else. No config, no errors with places, no checks of keys, no samples, no gates, no report.
//!
//! usage: bare FOLDER (the folder that `cases.py` wrote, for one agent)

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bare program reads and prints by itself"
)]

use std::borrow::Cow;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden<'a> {
    #[serde(borrow)]
    expected_findings: Vec<Expected<'a>>,
}

#[derive(Deserialize)]
struct Expected<'a> {
    category: &'a str,
    must_contain_keywords: Vec<&'a str>,
    citation_must_reference: &'a str,
    #[serde(default = "yes")]
    required: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct Recorded<'a> {
    #[serde(borrow)]
    outputs: Outputs<'a>,
}

#[derive(Deserialize)]
struct Outputs<'a> {
    #[serde(borrow)]
    findings: Vec<Finding<'a>>,
}

#[derive(Deserialize)]
struct Finding<'a> {
    #[serde(borrow)]
    category: Cow<'a, str>,
    #[serde(borrow)]
    title: Cow<'a, str>,
    #[serde(borrow)]
    description: Cow<'a, str>,
    #[serde(borrow)]
    citations: Vec<Citation<'a>>,
}

#[derive(Deserialize)]
struct Citation<'a> {
    #[serde(borrow)]
    file: Cow<'a, str>,
    #[serde(borrow)]
    quote: Cow<'a, str>,
}

impl Expected<'_> {
    fn matches(&self, finding: &Finding<'_>, text: &str) -> bool {
        self.category == finding.category
            && self
                .must_contain_keywords
                .iter()
                .all(|word| text.contains(word))
            && finding
                .citations
                .iter()
                .any(|citation| citation.file == self.citation_must_reference)
    }
}

/// Recall and the share of quotes that stand in the document.
fn case(folder: &Path, golden: &Path) -> Result<(f64, f64), Box<dyn Error + Send + Sync>> {
    let name = golden.file_name().ok_or("no name")?;
    let expected = fs::read(golden)?;
    let expected: Golden<'_> = serde_json::from_slice(&expected)?;
    let recorded = fs::read(folder.join("golden/runs/agent-0").join(name))?;
    let recorded: Recorded<'_> = serde_json::from_slice(&recorded)?;
    let document = fs::read_to_string(
        folder
            .join("golden/contracts")
            .join(name)
            .with_extension("md"),
    )?
    .to_lowercase();
    let findings = &recorded.outputs.findings;
    let texts: Vec<String> = findings
        .iter()
        .map(|finding| format!("{}\n{}", finding.title, finding.description).to_lowercase())
        .collect();
    let required: Vec<&Expected<'_>> = expected
        .expected_findings
        .iter()
        .filter(|one| one.required)
        .collect();
    let met = required.iter().filter(|one| {
        findings
            .iter()
            .zip(&texts)
            .any(|(finding, text)| one.matches(finding, text))
    });
    let quotes: Vec<&str> = findings
        .iter()
        .flat_map(|finding| &finding.citations)
        .map(|citation| citation.quote.as_ref())
        .collect();
    let found = quotes
        .iter()
        .filter(|quote| document.contains(**quote))
        .count();
    Ok((
        met.count() as f64 / required.len() as f64,
        found as f64 / quotes.len() as f64,
    ))
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: bare FOLDER")?);
    let mut goldens = Vec::new();
    for entry in fs::read_dir(folder.join("golden/expected/agent-0"))? {
        goldens.push(entry?.path());
    }
    goldens.sort();
    let cases: Vec<(f64, f64)> = goldens
        .par_iter()
        .map(|golden| case(&folder, golden))
        .collect::<Result<_, _>>()?;
    let mean =
        |one: fn(&(f64, f64)) -> f64| cases.iter().map(one).sum::<f64>() / cases.len() as f64;
    println!(
        "{} cases: recall {:.4}, quotes found {:.4}",
        cases.len(),
        mean(|case| case.0),
        mean(|case| case.1)
    );
    Ok(())
}
